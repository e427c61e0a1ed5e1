package storage

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

func TestCompactionKeepsTheLastRecordOfEachKey(t *testing.T) {
	_, l, j := keyed(t, "")
	store(t, l, "a=1", "b=1", "c=1")
	store(t, l, "a=2")
	j.roll(l)
	store(t, l, "b=2", "d=1")
	j.roll(l)
	store(t, l, "c=2") // active: neither cleaned nor looked at
	done := j.round()
	wantHolds(t, l, "2:c=1 3:a=2 4:b=2 5:d=1 6:c=2")
	want := CleanerStats{FirstDirty: 0, FirstUncleanable: 6, End: 6, RecordsRead: 6, RecordsKept: 4, SegmentsBefore: 2, SegmentsAfter: 1}
	if len(done) != 1 {
		t.Fatalf("passes: %+v", done)
	}
	got := done[0]
	got.BytesRead, got.BytesKept = 0, 0
	if got != want || l.CleanedUpTo() != 6 {
		t.Errorf("the pass did %+v, cleaned up to %d", done[0], l.CleanedUpTo())
	}
	audit(t, l)
}

func TestWhatIsLeftOfABatchKeepsItsCodecAndItsPlace(t *testing.T) {
	_, l, j := keyed(t, "")
	for c := record.None; c <= record.Zstd; c++ {
		storeAs(t, l, record.NoProducer(), c, fmt.Sprintf("%s=1", c), "same=1", fmt.Sprintf("too %s=1", c))
	}
	untouched := storeAs(t, l, record.NoProducer(), record.LZ4, "x=1", "same=2")
	before := content(t, l)
	j.roll(l)
	j.round()
	after := content(t, l)
	for i, b := range after {
		if b.BaseOffset() != before[i].BaseOffset() || b.LastOffset() != before[i].LastOffset() || b.Compression() != before[i].Compression() || b.LeaderEpoch() != 1 {
			t.Errorf("batch of offsets %d to %d, codec %s, became one of %d to %d, codec %s", before[i].BaseOffset(), before[i].LastOffset(),
				before[i].Compression(), b.BaseOffset(), b.LastOffset(), b.Compression())
		}
		if whole := b.BaseOffset() == untouched; (b.CRC() == before[i].CRC()) != whole || !whole && b.Count() != 2 {
			t.Errorf("batch at %d holds %d of %d records", b.BaseOffset(), b.Count(), before[i].Count())
		}
	}
	audit(t, l)
}

func TestRecordsWithoutAKeyAreDropped(t *testing.T) {
	_, l, j := keyed(t, "")
	store(t, l, "a=1", "=lost", "b=1")
	store(t, l, "=lost")
	store(t, l, "c=1")
	j.roll(l)
	if done := j.round(); done[0].Invalid != 2 {
		t.Errorf("%d records without a key, want 2", done[0].Invalid)
	}
	wantHolds(t, l, "0:a=1 2:b=1 4:c=1")
}

func TestATombstoneStaysUntilTheHorizonThatItsFirstPassStamped(t *testing.T) {
	_, l, j := keyed(t, "")
	store(t, l, "a=1", "b=1")
	store(t, l, "a")
	j.roll(l)
	j.now = 100_000
	j.round()
	wantHolds(t, l, "1:b=1 2:a")
	stamped := content(t, l)[1]
	if h, ok := stamped.DeleteHorizon(); !ok || h != 100_000+day {
		t.Fatalf("horizon is %d, %t: want %d", h, ok, 100_000+day)
	}
	if _, ok := content(t, l)[0].DeleteHorizon(); ok {
		t.Error("a batch without tombstones is stamped")
	}
	for _, at := range []kafka.Timestamp{100_000 + day - 1, 100_000 + day} {
		store(t, l, "b=2", "c=2", "d=3", "e=3")
		store(t, l, "b=3", "c=3", "d=3", "e=3")
		j.roll(l)
		j.now = at
		j.round()
		if gone := !strings.Contains(holds(t, l), "2:a"); gone != (at == 100_000+day) {
			t.Errorf("%d ms before the horizon the tombstone is gone: %t\n%s", 100_000+day-at, gone, holds(t, l))
		}
	}
}

// Story C2.
func TestTheOldHorizonTakesATombstoneThatNobodyCouldSeeInTime(t *testing.T) {
	for names, lost := range map[string]bool{"": false, "deleteHorizon=segmentMtime": true} {
		_, l, j := keyed(t, names)
		store(t, l, "k=1")
		store(t, l, "k")
		j.roll(l)
		l.cfg.SegmentBytes = 200 // too small for the next segment beside the first
		o := record.NoProducer()
		o.BaseOffset, o.LeaderEpoch = l.LogEnd(), 1
		if _, err := l.AppendAsFollower(keyedBatch(o, record.None, 1000+2*day, "x="+strings.Repeat("1", 100)), 1); err != nil {
			t.Fatal(err)
		}
		j.roll(l)
		j.now = 1000 + 2*day // the cleaner comes late: the value goes now
		j.round()
		wantHolds(t, l, "1:k 2:x="+strings.Repeat("1", 100))
		store(t, l, "x=2", "y=2", "z=2")
		store(t, l, "x=3", "y=3", "z=3")
		j.roll(l)
		j.now += 60_000 // and a minute later
		j.round()
		if got := !strings.Contains(holds(t, l), "1:k"); got != lost {
			t.Errorf("%q: tombstone gone %t\n%s", names, got, holds(t, l))
		}
	}
}

func TestOnlyWhatIsDecidedEverywhereIsCleaned(t *testing.T) {
	for names, want := range map[string]string{"": "0:k=1 1:k=2 2:x=1", "cleanBound=activeSegment": "1:k=2 2:x=1"} {
		_, l, j := keyed(t, names)
		store(t, l, "k=1")
		j.roll(l)
		store(t, l, "k=2") // no follower has it yet
		j.roll(l)
		store(t, l, "x=1")
		l.SetHighWatermark(1)
		j.round()
		wantHolds(t, l, want) // story C1: k is lost with the second record
	}
}

func TestAnOpenTransactionStopsTheCleaner(t *testing.T) {
	_, l, j := keyed(t, "")
	store(t, l, "k=1")
	j.roll(l)
	base := inTransaction(t, l, 7, 0, 0, "k=2")
	j.roll(l)
	store(t, l, "x=1")
	j.roll(l)
	j.round()
	if got := j.cleaned[0]; got.FirstUncleanable != base {
		t.Errorf("cleaned up to %d, the transaction is open from %d on", got.FirstUncleanable, base)
	}
	wantHolds(t, l, "0:k=1 1:k=2 2:x=1")
	end(t, l, 7, 0, record.Commit, kafka.None)
	j.roll(l)
	j.round()
	wantHolds(t, l, "1:k=2 2:x=1 3:commit")
}

func TestNoSnapshotOlderThanTheCleanerOpensADecidedTransactionAgain(t *testing.T) {
	w, l, j := keyed(t, "")
	store(t, l, "live=1")
	inTransaction(t, l, 7, 0, 0, "k=1")
	j.roll(l)
	l.cfg.SegmentBytes = 100 // so that no segment joins another
	old := l.LogEnd()        // its snapshot tells of an open transaction
	end(t, l, 7, 1, record.Abort, kafka.None)
	for range 4 {
		store(t, l, "x=1", "y=1", "z=1", "u=1", "v=1", "w=1")
		store(t, l, "x=2", "y=2", "z=2", "u=2", "v=2", "w=2")
		j.roll(l)
		j.now += 2 * day
		j.round()
	}
	if strings.Contains(holds(t, l), "abort") || l.segments[1].base != old {
		t.Fatalf("the marker is there, or its segment joined the first: %s", holds(t, l))
	}
	stop, cleaned := l.LogEnd(), l.CleanedUpTo()
	w.kill()
	l = w.openAs(compacted(), Opening{RecoveryPoint: old + 1, CleanedUpTo: cleaned}) // an old checkpoint
	l.SetHighWatermark(stop)
	if l.LogEnd() != stop || l.LastStable() != stop {
		t.Errorf("the last stable offset is %d, the log ends at %d", l.LastStable(), l.LogEnd())
	}
	audit(t, l)
}

// inTransaction appends a batch of a transactional producer.
func inTransaction(t failer, l *Log, id kafka.ProducerID, epoch kafka.ProducerEpoch, first kafka.Sequence, records ...string) kafka.Offset {
	t.Helper()
	return storeAs(t, l, record.BuilderOptions{ProducerID: id, ProducerEpoch: epoch, BaseSequence: first, Transactional: true}, record.None, records...)
}

func TestAbortedRecordsGoAtOnceAndTheirMarkerWhenItsHorizonPassed(t *testing.T) {
	w, l, j := keyed(t, "")
	store(t, l, "k=1")
	inTransaction(t, l, 7, 0, 0, "k=2", "m=2")
	end(t, l, 7, 0, record.Abort, kafka.None)
	inTransaction(t, l, 7, 0, 2, "n=3") // the producer goes on
	end(t, l, 7, 0, record.Commit, kafka.None)
	j.roll(l)
	j.now = 100_000
	j.round()
	wantHolds(t, l, "0:k=1 3:abort 4:n=3 5:commit")
	if !strings.Contains(files(t, w), "0.txnindex") || l.segments[0].txns.count() != 1 {
		t.Errorf("a pass that met the records keeps the entry: %s", files(t, w))
	}
	if _, ok := content(t, l)[1].DeleteHorizon(); ok {
		t.Error("the marker is stamped by the pass that met its records")
	}
	again := func(at kafka.Timestamp, want string) {
		t.Helper()
		store(t, l, "x=1", "y=1", "z=1", "u=1", "v=1", "w=1")
		store(t, l, "x=2", "y=2", "z=2", "u=2", "v=2", "w=2")
		j.roll(l)
		j.now = at
		j.round()
		if got := holds(t, l); !strings.HasPrefix(got, want) {
			t.Errorf("at %d the log holds\n%s\nwant\n%s", at, got, want)
		}
	}
	again(200_000, "0:k=1 3:abort 4:n=3 5:commit")
	if h, ok := content(t, l)[1].DeleteHorizon(); !ok || h != 200_000+day {
		t.Errorf("the marker's horizon is %d %t", h, ok)
	}
	if l.segments[0].txns.count() != 0 {
		t.Error("the index names a transaction of which nothing is left")
	}
	again(200_000+day-1, "0:k=1 3:abort 4:n=3 5:commit")
	again(200_000+day, "0:k=1 4:n=3 5:commit")
	audit(t, l)
}

func TestACommitMarkerStaysAsLongAsARecordOfItsTransaction(t *testing.T) {
	_, l, j := keyed(t, "")
	inTransaction(t, l, 7, 0, 0, "k=1")
	end(t, l, 7, 0, record.Commit, kafka.None)
	j.roll(l)
	store(t, l, "x=1", "y=1", "z=1", "u=1", "v=1", "w=1")
	j.roll(l)
	for range 3 {
		j.now += 2 * day
		j.round()
		store(t, l, "x=2", "y=2", "z=2", "u=2", "v=2", "w=2")
		store(t, l, "x=3", "y=3", "z=3", "u=3", "v=3", "w=3")
		j.roll(l)
	}
	if got := holds(t, l); !strings.HasPrefix(got, "0:k=1 1:commit ") {
		t.Errorf("the log holds %s", got)
	}
}

func idempotent(id kafka.ProducerID, first kafka.Sequence) record.BuilderOptions {
	return record.BuilderOptions{ProducerID: id, BaseSequence: first}
}

// Story C4.
func TestTheLastBatchOfAProducerStaysEmptySoThatItsSequencesAreKnown(t *testing.T) {
	for names, want := range map[string]struct {
		holds string
		code  kafka.ErrorCode
	}{
		"":                    {"1:- 2:k=3 3:x=1", kafka.None},
		"cleanLastBatch=drop": {"2:k=3 3:x=1", kafka.None},
	} {
		w, l, j := keyed(t, names)
		storeAs(t, l, idempotent(7, 0), record.None, "k=1")
		last := storeAs(t, l, idempotent(7, 1), record.Gzip, "k=2")
		store(t, l, "k=3")
		j.roll(l)
		store(t, l, "x=1")
		j.roll(l)
		j.round()
		wantHolds(t, l, want.holds)
		// A replica that has only what is left, and no snapshot.
		l.Close()
		for _, n := range []string{"2.snapshot", "3.snapshot", "4.snapshot"} {
			_ = w.fs.Remove(dir + "/" + strings.Repeat("0", 19) + n)
		}
		l = w.openAs(compacted(), Opening{RecoveryPoint: l.RecoveryPoint()})
		retry := keyedBatch(idempotent(7, 1), record.Gzip, 1000+int64(last), "k=2")
		a, code, err := l.AppendAsLeader(retry, 1, 6000)
		if code != want.code || err != nil || a.Duplicate != (names == "") {
			t.Errorf("%q: the retry of the last batch: %+v, %s, %v", names, a, code, err)
		}
	}
}

func TestTheMarkerOfAProducerWithoutDataStays(t *testing.T) {
	_, l, j := keyed(t, "")
	endAs(t, l, Marker{ProducerID: 7, ProducerEpoch: 3, Type: record.Abort}, kafka.None)
	store(t, l, "k=1")
	j.roll(l)
	for range 3 {
		store(t, l, "x=2", "y=2", "z=2", "u=2", "v=2", "w=2")
		store(t, l, "x=3", "y=3", "z=3", "u=3", "v=3", "w=3")
		j.roll(l)
		j.now += 2 * day
		j.round()
	}
	if got := content(t, l)[0]; got.BaseOffset() != 0 || !got.IsControl() || got.Count() != 0 || got.ProducerEpoch() != 3 {
		t.Errorf("the log begins with %s: the producer's epoch is forgotten", text([]record.Batch{got}))
	}
}

func TestTheBatchWhereThePassEndsStaysEmpty(t *testing.T) {
	_, l, j := keyed(t, "")
	store(t, l, "k=1")
	store(t, l, "=invalid")
	j.roll(l)
	j.round()
	wantHolds(t, l, "0:k=1 1:-")
	if l.segments[0].base != 0 || l.segments[1].base != 2 {
		t.Fatalf("segments of %d and %d", l.segments[0].base, l.segments[1].base)
	}
	audit(t, l)
}

func TestAPassCoversTheKeysThatFitIntoTheMapAndTheNextGoesOnThere(t *testing.T) {
	_, l, j := keyed(t, "")
	j.c.keys = newOffsetMap(5*24, 800_000) // 4 keys
	for _, r := range []string{"a", "b", "c", "d", "a", "e", "b", "a"} {
		store(t, l, r+"=1")
	}
	store(t, l, "f=1")
	j.roll(l)
	done := j.round()
	// The map is full at e although a has a slot: only offset 3 is sure.
	if len(done) < 2 || done[0].End != 4 || done[1].FirstDirty != 4 || done[len(done)-1].End != 9 {
		t.Errorf("passes %+v", done)
	}
	wantHolds(t, l, "2:c=1 3:d=1 5:e=1 6:b=1 7:a=1 8:f=1")
}

func TestTheFilthiestLogIsCleanedFirst(t *testing.T) {
	w := newWorld(t)
	var logs []*Log
	for i, dirty := range []int{1, 3, 2} {
		l := w.openIn(fmt.Sprintf("orders-%d", i), compacted(), Opening{})
		logs = append(logs, l)
		j := newJanitor(w, "", l)
		for range 3 {
			store(t, l, "a=1", "b=1", "c=1")
			j.roll(l)
		}
		l.cleanedUpTo = l.end
		for range dirty {
			store(t, l, "a=2", "b=2", "c=2")
			j.roll(l)
		}
		l.cfg.MinCleanableRatio = 0
	}
	j := newJanitor(w, "", logs...)
	var order []int
	for len(order) < 3 {
		j.step()
		if p := j.c.pass; p != nil && (len(order) == 0 || logs[order[len(order)-1]] != p.log) {
			order = append(order, slices.Index(logs, p.log))
		}
	}
	if !slices.Equal(order, []int{1, 2, 0}) {
		t.Errorf("logs are cleaned in the order %v", order)
	}
}

func TestALogIsCleanedAboveItsDirtyRatioOrWhenItIsOverdue(t *testing.T) {
	cleanedAt := func(ratio, maxLag int64, dirty int, now kafka.Timestamp) bool {
		_, l, j := keyed(t, "")
		for range 2 {
			store(t, l, "a=1")
			j.roll(l)
		}
		l.cleanedUpTo = l.end
		for range dirty {
			store(t, l, "a=1")
			j.roll(l)
		}
		l.cfg.MinCleanableRatio, l.cfg.MaxCompactionLagMs = ratio, maxLag
		j.now = now
		return len(j.round()) > 0
	}
	const never = 1<<63 - 1
	for _, c := range []struct {
		ratio, maxLag int64
		dirty         int
		now           kafka.Timestamp
		want          bool
	}{
		{500_000, never, 2, 5000, false}, // exactly half
		{499_999, never, 2, 5000, true},
		{500_000, never, 3, 5000, true},
		{1_000_000, 4000, 2, 1002 + 4000, false}, // the first dirty batch is of 1002
		{1_000_000, 4000, 2, 1002 + 4001, true},
		{1_000_000, 4000, 0, 9999, false},
	} {
		if got := cleanedAt(c.ratio, c.maxLag, c.dirty, c.now); got != c.want {
			t.Errorf("%+v: cleaned %t", c, got)
		}
	}
}

func TestAYoungRecordKeepsItsSegmentAndThoseBehindFromBeingCleaned(t *testing.T) {
	_, l, j := keyed(t, "")
	for range 4 {
		store(t, l, "a=1") // at 1000, 1001, ...
		j.roll(l)
	}
	l.cfg.MinCompactionLagMs = 500
	j.now = 1501 // 1002 is younger than 500 ms, 1001 is not
	done := j.round()
	if len(done) != 1 || done[0].FirstUncleanable != 2 {
		t.Errorf("passes %+v", done)
	}
	wantHolds(t, l, "1:a=1 2:a=1 3:a=1")
}

func TestTheCheckpointStartsAnewWhereTheLogDoes(t *testing.T) {
	_, l, j := keyed(t, "")
	for range 4 {
		store(t, l, "a=1")
		j.roll(l)
	}
	if err := l.RaiseLogStart(2); err != nil {
		t.Fatal(err)
	}
	if r, err := l.dirtyRange(j.c.rules.Bound, 5000); err != nil || r.dirty != 2 {
		t.Errorf("first dirty offset is %d (%v), the log starts at 2", r.dirty, err)
	}
	l.cleanedUpTo = 99
	if r, _ := l.dirtyRange(j.c.rules.Bound, 5000); r.dirty != 2 {
		t.Errorf("first dirty offset is %d with a checkpoint after the log end", r.dirty)
	}
}

func TestAStepReadsOneBufferAndKeepsToTheThroughput(t *testing.T) {
	_, l, j := keyed(t, "")
	for i := range 40 {
		store(t, l, fmt.Sprintf("key %d=%s", i, strings.Repeat("v", 100)))
	}
	j.roll(l)
	j.c.cfg.IOBufferBytes, j.c.cfg.MaxBytesPerSecond = 600, 1000
	steps, slept := 0, int64(0)
	for len(j.cleaned) == 0 {
		reads := l.Size()
		wait := j.step()
		steps++
		if wait > 2*1000 {
			t.Fatalf("a step of one buffer of 600 bytes, copied, waits %d ms at 1000 bytes/s", wait)
		}
		slept += max(wait, 0)
		if l.Size() > reads {
			t.Fatal("the log grew")
		}
	}
	s := j.cleaned[0]
	moved := 2*s.BytesRead + s.BytesKept // mapped, read again, written
	if slept < moved-int64(steps) || slept > moved {
		t.Errorf("%d bytes took %d ms at 1000 bytes/s", moved, slept)
	}
	if got := j.round(); len(got) != 0 || j.step() != 15_000 {
		t.Error("a cleaner without work backs off for log.cleaner.backoff.ms")
	}
}

func TestTheLaneIsWokenOnceForEachWait(t *testing.T) {
	w := newWorld(t)
	l, j := mess(w)
	waits := 0
	for len(j.cleaned) == 0 {
		if j.c.Step(j.now) < 0 {
			waits++
			for j.wakes < waits && len(w.dues) > 0 {
				w.complete(0)
			}
		}
		if j.wakes != waits {
			t.Fatalf("%d waits, woken %d times", waits, j.wakes)
		}
	}
	if waits == 0 {
		t.Error("the cleaner never waited")
	}
	j.hold = []func(){}
	store(t, l, "a=5")
	j.roll(l)
	for j.c.Step(j.now) >= 0 {
	}
	if err := l.TruncateTo(1); err != nil || j.wakes != waits+1 {
		t.Errorf("%v; the end of a pass that waits wakes the lane %d times", err, j.wakes-waits)
	}
	for _, done := range j.hold {
		done() // the checkpoint is there, for nobody
	}
	if j.wakes != waits+1 {
		t.Error("a pass that is over wakes the lane again")
	}
}

func TestABatchLargerThanTheBufferIsCleanedToo(t *testing.T) {
	_, l, j := keyed(t, "")
	l.cfg.SegmentBytes = 1 << 20
	store(t, l, "a="+strings.Repeat("x", 50_000), "b=1")
	store(t, l, "a=2")
	j.roll(l)
	j.c.cfg.IOBufferBytes = 512
	j.round()
	wantHolds(t, l, "1:b=1 2:a=2")
	if cap(j.c.buf) > 512 {
		t.Errorf("the buffer stays at %d bytes", cap(j.c.buf))
	}
}

func TestDamageMakesALogUncleanableAndNothingElse(t *testing.T) {
	w, l, j := keyed(t, "")
	other := w.openIn("orders-1", compacted(), Opening{})
	j.logs = append(j.logs, other)
	for _, l := range j.logs {
		store(t, l, "a=1")
		store(t, l, "a=2")
		store(t, l, "a=3")
		j.roll(l)
	}
	s := l.segments[0]
	if _, err := s.log.WriteAt([]byte{0xff}, 70); err != nil {
		t.Fatal(err)
	}
	done := j.round()
	if len(done) != 1 || other.CleanedUpTo() != 3 || l.CleanedUpTo() != 0 {
		t.Errorf("cleaned %+v, up to %d and %d", done, l.CleanedUpTo(), other.CleanedUpTo())
	}
	if l.Failed() != nil || !l.uncleanable || strings.Contains(files(t, w), "cleaned") {
		t.Errorf("failed %v, uncleanable %t, files %s", l.Failed(), l.uncleanable, files(t, w))
	}
	store(t, l, "a=4")
	j.roll(l)
	if len(j.round()) != 0 {
		t.Error("the cleaner tried again")
	}
}

func TestCompactAndDeleteAppliesRetentionAfterEachPass(t *testing.T) {
	_, l, j := keyed(t, "")
	l.cfg.Delete, l.cfg.RetentionMs, l.cfg.MinCleanableRatio = true, 10_000, million
	store(t, l, "a=1")
	j.roll(l)
	store(t, l, "b=1")
	j.roll(l)
	j.now = 1000 + 10_001
	j.round()
	wantHolds(t, l, "1:b=1")
	if l.LogStart() != 1 {
		t.Errorf("the log starts at %d", l.LogStart())
	}
}

// A batch that is kept for its producer's sequence alone has no record, and its header
// still the largest timestamp of what it had. The time index goes by headers, as Kafka's
// cleaner and Kafka's rebuild do.
func TestAnEmptiedBatchKeepsItsTimestampInTheTimeIndex(t *testing.T) {
	w, l, j := keyed(t, "")
	store(t, l, "x=1")
	b := keyedBatch(record.BuilderOptions{ProducerID: 9, BaseOffset: l.LogEnd(), LeaderEpoch: 1}, record.None, 9000, "k=1")
	if _, err := l.AppendAsFollower(b, 1); err != nil {
		t.Fatal(err)
	}
	store(t, l, "k=2")
	j.roll(l)
	j.round()
	wantHolds(t, l, "0:x=1 1:- 2:k=2")
	want := []byte{0, 0, 0, 0, 0, 0, 9000 >> 8, 9000 & 255, 0, 0, 0, 1}
	path := segmentPath(dir, 0)
	if got, err := ReadFile(w.fs, path+timeSuffix); err != nil || !bytes.HasSuffix(got, want) {
		t.Errorf("the cleaner left the time index %x, %v; its last entry is to be %x", got, err, want)
	}
	audit(t, l)
	end := l.LogEnd()
	l.Flush(nil)
	w.drain()
	w.kill()
	if err := w.fs.Remove(path + indexSuffix); err != nil {
		t.Fatal(err)
	}
	l = w.openAs(l.cfg, Opening{RecoveryPoint: end})
	if got := l.segments[0].times.data; !bytes.HasSuffix(got, want) {
		t.Errorf("a rebuild makes the time index %x; its last entry is to be %x", got, want)
	}
}
