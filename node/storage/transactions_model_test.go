package storage

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// txnTest drives a Log with transactions and keeps nothing but the batches.
type txnTest struct {
	w       *world
	l       *Log
	batches []record.Batch // of the log, also those below its start
	start   kafka.Offset
	hw      kafka.Offset
	// blur: the log may have forgotten that a transaction with a marker below is
	// not replicated yet, because it was read back, from snapshots and batches.
	blur kafka.Offset
}

func (x *txnTest) end() kafka.Offset {
	if n := len(x.batches); n > 0 {
		return x.batches[n-1].NextOffset()
	}
	return 0
}

// producer draws a producer, its epoch and next sequence.
func (x *txnTest) producer(t *rapid.T) (id kafka.ProducerID, epoch kafka.ProducerEpoch, next kafka.Sequence) {
	id = kafka.ProducerID(rapid.IntRange(1, 3).Draw(t, "producer"))
	for _, b := range x.batches {
		if b.ProducerID() != id {
			continue
		}
		if b.ProducerEpoch() > epoch {
			epoch, next = b.ProducerEpoch(), 0
		}
		if !b.IsControl() {
			next = b.LastSequence().Add(1)
		}
	}
	return id, epoch, next
}

// append adds a batch as leader or as follower.
func (x *txnTest) append(t *rapid.T, b record.Batch) {
	b.SetBaseOffset(x.end())
	b.SetLeaderEpoch(1)
	x.batches = append(x.batches, bytes.Clone(b))
	if b.IsControl() || x.forgotten(b.ProducerID()) || rapid.Bool().Draw(t, "as follower") {
		if _, err := x.l.AppendAsFollower(b, 1); err != nil {
			t.Fatal(err)
		}
		return
	}
	b.SetBaseOffset(0)
	if _, code, err := x.l.AppendAsLeader(b, 1, 1000); code != kafka.None || err != nil {
		t.Fatal(code, err)
	}
}

// forgotten tells that the log may know a marker of the producer and none of its
// data, which lie below the log start: a leader then wants sequence 0.
func (x *txnTest) forgotten(id kafka.ProducerID) bool {
	return id != kafka.NoProducerID && x.start > 0 && !slices.ContainsFunc(x.batches[:len(x.batches)-1], func(b record.Batch) bool {
		return b.ProducerID() == id && !b.IsControl() && b.LastOffset() >= x.start
	})
}

func (x *txnTest) Transactional(t *rapid.T) {
	id, epoch, next := x.producer(t)
	x.append(t, transactional(id, epoch, next, rapid.IntRange(1, 3).Draw(t, "records")))
}

func (x *txnTest) Plain(t *rapid.T) { x.append(t, batch(1000, "plain")) }

// Marker ends a producer's transaction, whether it has one or not.
func (x *txnTest) Marker(t *rapid.T) {
	id, epoch, _ := x.producer(t)
	m := Marker{ProducerID: id, ProducerEpoch: epoch, CoordinatorEpoch: 3, TransactionVersion: 1,
		Type: rapid.SampledFrom([]record.ControlType{record.Abort, record.Commit}).Draw(t, "type")}
	if rapid.Bool().Draw(t, "transaction.version=2") {
		m.ProducerEpoch, m.TransactionVersion = epoch+1, 2
	}
	b := record.EndTransaction{Type: m.Type, CoordinatorEpoch: 3}.Batch(id, m.ProducerEpoch, 1000)
	if rapid.Bool().Draw(t, "fetched") {
		x.append(t, b)
		return
	}
	b.SetBaseOffset(x.end())
	b.SetLeaderEpoch(1)
	if _, code, err := x.l.AppendMarker(m, 1, 1000); code != kafka.None || err != nil {
		t.Fatal(code, err)
	}
	x.batches = append(x.batches, b)
}

// Commit moves the high watermark, to where a follower's next fetch would begin.
func (x *txnTest) Commit(t *rapid.T) {
	if len(x.batches) == 0 {
		t.Skip("nothing to commit")
	}
	x.hw = max(x.hw, x.batches[rapid.IntRange(0, len(x.batches)-1).Draw(t, "batch")].NextOffset())
	x.l.SetHighWatermark(x.hw)
}

func (x *txnTest) TruncateTo(t *rapid.T) {
	o := kafka.Offset(rapid.Int64Range(int64(x.start), int64(x.end())).Draw(t, "offset"))
	left := slices.DeleteFunc(slices.Clone(x.batches), func(b record.Batch) bool { return b.LastOffset() >= o })
	naive := readTransactions(left)
	if len(left) == 0 || left[len(left)-1].NextOffset() < x.start || naive.firstOpen(o) < x.start {
		t.Skip("the cut opens a transaction whose beginning is gone")
	}
	x.batches = left
	if err := x.l.TruncateTo(o); err != nil {
		t.Fatal(err)
	}
	x.hw, x.blur = min(x.hw, x.end()), x.end()
	x.w.drain()
}

// RaiseLogStart deletes what no transaction needs that is not decided.
func (x *txnTest) RaiseLogStart(t *rapid.T) {
	naive := readTransactions(x.batches)
	most := max(x.start, min(naive.firstOpen(x.hw), x.hw))
	o := kafka.Offset(rapid.Int64Range(int64(x.start), int64(most)).Draw(t, "offset"))
	if err := x.l.RaiseLogStart(o); err != nil {
		t.Fatal(err)
	}
	if _, err := x.l.DeleteOldSegments(1000); err != nil {
		t.Fatal(err)
	}
	x.start = o
}

func (x *txnTest) Flush(*rapid.T) {
	x.l.Flush(nil)
	x.w.drain()
}

func (x *txnTest) Restart(t *rapid.T) {
	stop(t, x.w, x.l)
	x.reopen(true, x.end())
}

func (x *txnTest) Kill(t *rapid.T) {
	point := rapid.SampledFrom([]kafka.Offset{0, x.l.RecoveryPoint()}).Draw(t, "recovery point")
	x.w.kill()
	x.reopen(false, point)
}

func (x *txnTest) reopen(clean bool, point kafka.Offset) {
	x.l, _ = x.w.open(clean, point, x.start)
	x.l.SetHighWatermark(x.hw)
	x.blur = x.end()
}

// Check compares what the log tells with what the batches say.
func (x *txnTest) Check(t *rapid.T) {
	if x.l.LogEnd() != x.end() || x.l.LogStart() != x.start {
		t.Fatalf("log %d to %d, want %d to %d", x.l.LogStart(), x.l.LogEnd(), x.start, x.end())
	}
	naive := readTransactions(x.batches)
	low, high := naive.firstOpen(x.hw), naive.firstOpen(x.hw)
	for _, e := range naive.ended {
		if e.last >= x.hw {
			low = min(low, e.first)
		}
		if e.last >= max(x.hw, x.blur) {
			high = min(high, e.first)
		}
	}
	low, high = max(min(low, x.hw), x.start), max(min(high, x.hw), x.start)
	lso := x.l.LastStable()
	if lso < low || lso > high {
		t.Fatalf("last stable offset %d, want %d to %d at high watermark %d; %+v", lso, low, high, x.hw, x.l.producers.txns)
	}
	x.checkReader(t, naive, lso)
}

// checkReader reads committed transactions from a place on, as a consumer does.
func (x *txnTest) checkReader(t *rapid.T, naive naiveTransactions, lso kafka.Offset) {
	if x.start == lso {
		return
	}
	from := kafka.Offset(rapid.Int64Range(int64(x.start), int64(lso)-1).Draw(t, "from"))
	slice, err := x.l.Read(from, lso, rapid.IntRange(0, 600).Draw(t, "max bytes"), true)
	if err != nil {
		t.Fatal(err)
	}
	list := x.l.AbortedTransactions(from, slice)
	raw := make([]byte, slice.Bytes)
	if err := slice.Region.Read(raw); err != nil {
		t.Fatal(err)
	}
	slice.Region.Release()
	for len(raw) > 0 {
		b, rest, err := record.Next(raw)
		if err != nil {
			break // cut off by the size
		}
		raw = rest
		if b.IsControl() || !b.IsTransactional() {
			continue
		}
		told := inAborted(list, b)
		if want := inAborted(naive.aborted, b); told != want {
			t.Fatalf("batch of producer %d at %d: aborted %t, want %t; told %+v of %+v", b.ProducerID(), b.BaseOffset(), told, want, list, naive.aborted)
		}
	}
}

func inAborted(list []AbortedTransaction, b record.Batch) bool {
	return slices.ContainsFunc(list, func(a AbortedTransaction) bool {
		return a.ProducerID == b.ProducerID() && a.First <= b.BaseOffset() && b.BaseOffset() < a.Last
	})
}

func TestTransactionsAreThoseOfTheBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := &txnTest{w: newWorld(t)}
		x.l, _ = x.w.open(false, 0, 0)
		t.Repeat(map[string]func(*rapid.T){
			"": x.Check, "transactional": x.Transactional, "plain": x.Plain, "marker": x.Marker, "commit": x.Commit,
			"truncate": x.TruncateTo, "raise log start": x.RaiseLogStart, "flush": x.Flush, "restart": x.Restart, "kill": x.Kill,
		})
		audit(t, x.l)
	})
}
