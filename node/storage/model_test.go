package storage

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// modelLog is a log as a list of batches, the trivial thing that Log has to be.
type modelLog struct {
	batches    []record.Batch
	start, end kafka.Offset
	epochs     []EpochEntry // also of epochs without records
	flushed    kafka.Offset // everything below was flushed
}

func (m *modelLog) append(b record.Batch) {
	m.lead(b.LeaderEpoch(), b.BaseOffset())
	m.batches = append(m.batches, bytes.Clone(b))
	m.end = b.NextOffset()
}

func (m *modelLog) lead(e kafka.LeaderEpoch, at kafka.Offset) {
	n := len(m.epochs)
	if n > 0 && m.epochs[n-1].Epoch == e && m.epochs[n-1].Start <= at {
		return
	}
	m.epochs = slices.DeleteFunc(m.epochs, func(x EpochEntry) bool { return x.Epoch >= e || x.Start >= at })
	m.epochs = append(m.epochs, EpochEntry{e, at})
}

// cut drops every batch that reaches o; base is where the log begins.
func (m *modelLog) cut(o, base kafka.Offset) {
	if o < m.end {
		m.batches = slices.DeleteFunc(m.batches, func(b record.Batch) bool { return b.LastOffset() >= o })
		m.end = base
		if n := len(m.batches); n > 0 {
			m.end = max(base, m.batches[n-1].NextOffset())
		}
		o = m.end
	}
	m.epochs = slices.DeleteFunc(m.epochs, func(x EpochEntry) bool { return x.Start >= o })
	m.start, m.flushed = min(m.start, o), min(m.flushed, o)
}

func (m *modelLog) startAt(o kafka.Offset) {
	*m = modelLog{start: o, end: o, flushed: min(m.flushed, o)}
}

func (m *modelLog) raise(o kafka.Offset) {
	if o <= m.start {
		return
	}
	m.start = o
	for i := len(m.epochs) - 1; i >= 0; i-- {
		if m.epochs[i].Start <= o {
			m.epochs[i].Start = o
			m.epochs = m.epochs[i:]
			return
		}
	}
}

func (m *modelLog) holds(o kafka.Offset) bool {
	return slices.ContainsFunc(m.batches, func(b record.Batch) bool { return b.BaseOffset() <= o && o <= b.LastOffset() })
}

// endOf is EndOffsetFor, as the rule reads.
func (m *modelLog) endOf(e kafka.LeaderEpoch) string {
	n := len(m.epochs)
	if e == kafka.NoEpoch || n == 0 || e > m.epochs[n-1].Epoch {
		return "undefined"
	}
	end := m.end
	for i := n - 1; i >= 0; i-- {
		if m.epochs[i].Epoch <= e {
			return fmt.Sprint(m.epochs[i].Epoch, end)
		}
		end = m.epochs[i].Start
	}
	return fmt.Sprint(e, end)
}

// read is every byte that a read may give.
func (m *modelLog) read(from, upTo kafka.Offset) (out []byte) {
	for _, b := range m.batches {
		if b.LastOffset() >= upTo && upTo < m.end {
			break
		}
		if b.LastOffset() >= from {
			out = append(out, b...)
		}
	}
	return out
}

// modelTest drives a Log and a modelLog with the same commands.
type modelTest struct {
	w     *world
	l     *Log
	m     modelLog
	epoch kafka.LeaderEpoch
	clock kafka.Timestamp
	sent  map[kafka.ProducerID][]record.Batch // by producer what is in the log, or was before its start rose
}

func (x *modelTest) values(t *rapid.T) []string {
	n := rapid.IntRange(1, 3).Draw(t, "records")
	values := make([]string, n)
	for i := range values {
		values[i] = string(make([]byte, rapid.IntRange(0, 60).Draw(t, "bytes")))
	}
	x.clock += kafka.Timestamp(rapid.IntRange(0, 20).Draw(t, "ms"))
	return values
}

func (x *modelTest) AppendAsLeader(t *rapid.T) {
	x.newEpoch(t)
	b := batch(1000+x.clock, x.values(t)...)
	if _, code, err := x.l.AppendAsLeader(b, x.epoch, 1000+x.clock); code != kafka.None || err != nil {
		t.Fatalf("%s, %v", code, err)
	}
	x.m.append(b)
}

func (x *modelTest) AppendAsFollower(t *rapid.T) {
	x.newEpoch(t)
	var set []byte
	next := x.m.end
	for i := range rapid.IntRange(1, 12).Draw(t, "batches") {
		if i > 0 { // compaction keeps the first batch of an epoch where a walk would look for it
			next += kafka.Offset(rapid.SampledFrom([]int{0, 0, 0, 0, 1, 5}).Draw(t, "gap"))
		}
		b := replica(next, x.epoch, 1000+x.clock, x.values(t)...)
		set, next = append(set, b...), b.NextOffset()
		x.m.append(b)
	}
	if _, err := x.l.AppendAsFollower(set, x.epoch); err != nil {
		t.Fatal(err)
	}
}

func (x *modelTest) newEpoch(t *rapid.T) {
	if rapid.IntRange(0, 4).Draw(t, "new epoch") == 0 {
		x.epoch++
	}
	x.epoch = max(x.epoch, x.l.LastEpoch())
}

func (x *modelTest) AssignEpoch(t *rapid.T) {
	x.epoch = max(x.epoch, x.l.LastEpoch()) + 1
	if err := x.l.AssignEpoch(x.epoch, x.l.LogEnd()); err != nil {
		t.Fatal(err)
	}
	x.m.lead(x.epoch, x.m.end)
}

func (x *modelTest) TruncateTo(t *rapid.T) {
	o := kafka.Offset(rapid.Int64Range(0, int64(x.m.end)+2).Draw(t, "offset"))
	first := x.l.segments[0].base
	base := x.l.SegmentBase(o)
	if err := x.l.TruncateTo(o); err != nil {
		t.Fatal(err)
	}
	if o < x.m.end && o < first {
		x.m.startAt(o)
	} else {
		x.m.cut(o, base)
	}
	x.forget(x.m.end)
	x.w.drain() // as a fetcher, which goes on when the cut is durable
}

func (x *modelTest) TruncateFully(t *rapid.T) {
	o := kafka.Offset(rapid.Int64Range(0, int64(x.m.end)+50).Draw(t, "offset"))
	if err := x.l.TruncateFullyAndStartAt(o); err != nil {
		t.Fatal(err)
	}
	x.m.startAt(o)
	x.forget(0)
	x.w.drain()
}

func (x *modelTest) RaiseLogStart(t *rapid.T) {
	o := kafka.Offset(rapid.Int64Range(0, int64(x.m.end)+1).Draw(t, "offset"))
	if err := x.l.RaiseLogStart(o); (o > x.m.end) != errors.Is(err, ErrOffsetOutOfRange) {
		t.Fatalf("to %d of %d: %v", o, x.m.end, err)
	}
	if o <= x.m.end {
		x.m.raise(o)
		x.l.SetHighWatermark(o)
		if _, err := x.l.DeleteOldSegments(1000 + x.clock); err != nil {
			t.Fatal(err)
		}
		x.w.drain() // a kill before brings segments back
		base := x.l.segments[0].base
		x.m.batches = slices.DeleteFunc(x.m.batches, func(b record.Batch) bool { return b.BaseOffset() < base })
	}
}

func (x *modelTest) Flush(t *rapid.T) {
	end := x.m.end
	x.l.Flush(func(err error) {
		if err != nil {
			t.Fatal(err)
		}
		x.m.flushed = max(x.m.flushed, min(end, x.m.end))
	})
}

// Complete delivers one completion, whichever.
func (x *modelTest) Complete(t *rapid.T) {
	if n := len(x.w.dues); n > 0 {
		x.w.complete(rapid.IntRange(0, n-1).Draw(t, "completion"))
	}
}

func (x *modelTest) Restart(t *rapid.T) {
	stop(t, x.w, x.l)
	x.reopen(t, true)
}

func (x *modelTest) Kill(t *rapid.T) {
	x.w.kill()
	x.reopen(t, false)
}

// reopen opens the log in the next life. What a death leaves of epochs without
// records, and of the empty end of the log, is what the next start trims.
func (x *modelTest) reopen(t *rapid.T, clean bool) {
	point := rapid.SampledFrom([]kafka.Offset{0, x.l.RecoveryPoint()}).Draw(t, "recovery point")
	x.l, _ = x.w.open(clean, point, x.m.start)
	base := x.l.SegmentBase(x.m.end)
	if n := len(x.m.batches); n > 0 && x.m.batches[n-1].NextOffset() > base {
		base = x.m.batches[n-1].NextOffset()
	}
	x.m.end = base
	x.forget(base)
	x.m.epochs = slices.DeleteFunc(x.m.epochs, func(e EpochEntry) bool { return e.Start >= x.m.end })
	if !x.m.holds(x.m.start) { // whether an epoch is known whose records are gone depends on what is walked
		x.m.epochs = x.l.Epochs().Entries()
	}
	x.m.flushed = x.l.RecoveryPoint()
	audit(t, x.l)
}

// Check compares everything that can be asked.
func (x *modelTest) Check(t *rapid.T) {
	if x.l.LogStart() != x.m.start || x.l.LogEnd() != x.m.end {
		t.Fatalf("log %d to %d, want %d to %d", x.l.LogStart(), x.l.LogEnd(), x.m.start, x.m.end)
	}
	if x.l.RecoveryPoint() < x.m.flushed || x.l.RecoveryPoint() > x.l.LogEnd() {
		t.Fatalf("recovery point %d, flushed %d, log end %d", x.l.RecoveryPoint(), x.m.flushed, x.l.LogEnd())
	}
	for e := kafka.NoEpoch; e <= x.epoch+1; e++ {
		got := "undefined"
		if found, end, ok := x.l.Epochs().EndOffsetFor(e, x.l.LogEnd()); ok {
			got = fmt.Sprint(found, end)
		}
		if want := x.m.endOf(e); got != want {
			t.Fatalf("epoch %d ends at %s, want %s; cache %v", e, got, want, x.l.Epochs().Entries())
		}
	}
	x.checkRead(t)
	x.checkTimestamp(t)
}

func (x *modelTest) checkRead(t *rapid.T) {
	from := kafka.Offset(rapid.Int64Range(int64(x.m.start)-1, int64(x.m.end)+1).Draw(t, "from"))
	upTo := kafka.Offset(rapid.Int64Range(0, int64(x.m.end)+1).Draw(t, "up to"))
	limit := rapid.IntRange(0, 600).Draw(t, "max bytes")
	one := rapid.Bool().Draw(t, "one batch")
	slice, err := x.l.Read(from, upTo, limit, one)
	if from < x.m.start || from > x.m.end {
		if !errors.Is(err, ErrOffsetOutOfRange) {
			t.Fatalf("read from %d: %v", from, err)
		}
		return
	}
	got := make([]byte, slice.Bytes)
	if err := errors.Join(err, slice.Region.Read(got)); err != nil {
		t.Fatal(err)
	}
	slice.Region.Release()
	want := x.m.read(from, upTo)
	if from >= upTo {
		want = nil
	}
	first := 0
	if len(want) > 0 {
		b, _, _ := record.Next(want)
		first = len(b)
		if one {
			limit = max(limit, first)
		}
		if slice.Bytes > 0 && (slice.First != b.BaseOffset() || slice.FirstBatchOversize != (limit < first)) {
			t.Fatalf("first batch %d, oversize %t; want %d, %t", slice.First, slice.FirstBatchOversize, b.BaseOffset(), limit < first)
		}
	}
	full := min(len(want), limit)
	if len(got) > full || !bytes.Equal(got, want[:len(got)]) {
		t.Fatalf("read %d to %d: %d bytes, want %d", from, upTo, len(got), full)
	}
	if len(got) < full && !x.endsSegment(want[:len(got)], want[len(got):]) {
		t.Fatalf("read %d to %d: %d bytes, want %d, and no segment ends there", from, upTo, len(got), full)
	}
}

// endsSegment tells that a segment ends between two stretches of batches.
func (x *modelTest) endsSegment(before, after []byte) bool {
	b, _, err := record.Next(after)
	if len(before) == 0 || err != nil {
		return false
	}
	return slices.ContainsFunc(x.l.segments, func(s *segment) bool {
		return s.base <= b.BaseOffset() && s.base > record.Batch(before).BaseOffset()
	})
}

func (x *modelTest) checkTimestamp(t *rapid.T) {
	ts := 1000 + kafka.Timestamp(rapid.Int64Range(-1, int64(x.clock)+5).Draw(t, "timestamp"))
	got, ok, err := x.l.FindTimestamp(ts)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range x.m.batches {
		for i := range b.Count() {
			want := TimestampOffset{b.BaseTimestamp() + kafka.Timestamp(i), b.BaseOffset() + kafka.Offset(i), b.LeaderEpoch()}
			if want.Timestamp < ts || want.Offset < x.m.start {
				continue
			}
			if !ok || got != want {
				t.Fatalf("timestamp %d is at %v (%t), want %v", ts, got, ok, want)
			}
			return
		}
	}
	if ok {
		t.Fatalf("timestamp %d is at %v, want none", ts, got)
	}
}

func TestLogBehavesAsAListOfBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := &modelTest{w: newWorld(t), sent: map[kafka.ProducerID][]record.Batch{}}
		x.l, _ = x.w.open(false, 0, 0)
		t.Repeat(map[string]func(*rapid.T){
			"": x.Check, "leader append": x.AppendAsLeader, "follower append": x.AppendAsFollower, "epoch": x.AssignEpoch,
			"truncate": x.TruncateTo, "truncate fully": x.TruncateFully, "raise log start": x.RaiseLogStart,
			"produce": x.Produce, "retry": x.Retry, "gap": x.Gap,
			"flush": x.Flush, "complete": x.Complete, "restart": x.Restart, "kill": x.Kill,
		})
		audit(t, x.l)
	})
}
