package storage

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// modelRecord and modelBatch are what a naive reader of rules.md would keep of a
// log: whole, in memory, and looked through from the start each time.
type modelRecord struct {
	Offset     kafka.Offset
	Timestamp  kafka.Timestamp
	Key, Value string // "-" is null
}

type modelBatch struct {
	Base, Last kafka.Offset
	Producer   kafka.ProducerID
	Epoch      kafka.ProducerEpoch
	Sequence   kafka.Sequence
	Control    bool
	Codec      record.Codec
	Horizon    kafka.Timestamp
	Records    []modelRecord

	txn int // number of its transaction, 0 for none
	typ record.ControlType
}

func modelOf(t failer, b record.Batch) modelBatch {
	m := modelBatch{Base: b.BaseOffset(), Last: b.LastOffset(), Producer: b.ProducerID(), Epoch: b.ProducerEpoch(), Sequence: b.BaseSequence(),
		Control: b.IsControl(), Codec: b.Compression()}
	m.Horizon, _ = b.DeleteHorizon()
	err := b.Each(func(r record.Record) error {
		x := modelRecord{r.Offset, r.Timestamp, "-", "-"}
		if r.Key != nil {
			x.Key = string(r.Key)
		}
		if r.Value != nil {
			x.Value = string(r.Value)
		}
		m.Records = append(m.Records, x)
		return nil
	})
	if err != nil {
		t.Fatalf("batch at %d: %v", m.Base, err)
	}
	return m
}

// naive is a log beside its model.
type naive struct {
	t       *rapid.T
	w       *world
	l       *Log
	j       *janitor
	batches []modelBatch
	txns    int
	limit   int            // keys that the map takes
	bases   []kafka.Offset // of the segments, before the pass
	passes  int
	dropped int
}

// watch is the janitor that compares at the end of each pass.
type watch struct {
	*janitor
	n *naive
}

func (x watch) Cleaned(l *Log, s CleanerStats) {
	x.janitor.Cleaned(l, s)
	x.n.check(s)
}

// openTxn is the number of the transaction that a producer has open, 0 for none.
func (n *naive) openTxn(id kafka.ProducerID) (txn int) {
	for _, b := range n.batches {
		if b.Producer == id && b.Control {
			txn = 0
		} else if b.Producer == id && b.txn > 0 {
			txn = b.txn
		}
	}
	return txn
}

func (n *naive) aborted(txn int) bool {
	return txn > 0 && slices.ContainsFunc(n.batches, func(b modelBatch) bool { return b.Control && b.txn == txn && b.typ == record.Abort })
}

// append appends a batch of keyed records, of producer 0 (none), 1 and 2
// (idempotent), 7 and 8 (transactional).
func (n *naive) append() {
	t := n.t
	id := rapid.SampledFrom([]kafka.ProducerID{0, 0, 1, 2, 7, 8}).Draw(t, "producer")
	records := rapid.SliceOfN(rapid.SampledFrom([]string{"a=1", "b=1", "c=1", "d=1", "e=1", "a", "b", "c", "=keyless", "a=2", "f=1"}), 1, 4).Draw(t, "records")
	o, txn := record.NoProducer(), 0
	if id > 0 {
		o.ProducerID, o.ProducerEpoch, o.BaseSequence, o.Transactional = id, 0, 0, id >= 7
		if s := n.l.producers.states[id]; s != nil {
			o.ProducerEpoch, o.BaseSequence = s.epoch, s.lastSequence().Add(1)
		}
	}
	if id >= 7 {
		if txn = n.openTxn(id); txn == 0 {
			n.txns++
			txn = n.txns
		}
	}
	storeAs(t, n.l, o, rapid.SampledFrom([]record.Codec{record.None, record.None, record.LZ4, record.Zstd}).Draw(t, "codec"), records...)
	n.note(txn, 0)
}

// note adds the log's last batch to the model.
func (n *naive) note(txn int, typ record.ControlType) {
	all := content(n.t, n.l)
	m := modelOf(n.t, all[len(all)-1])
	m.txn, m.typ = txn, typ
	n.batches = append(n.batches, m)
}

// end ends a transaction, with a raised epoch as transaction.version 2 does or
// without.
func (n *naive) end() {
	id := rapid.SampledFrom([]kafka.ProducerID{7, 8}).Draw(n.t, "producer")
	m := Marker{ProducerID: id, Type: rapid.SampledFrom([]record.ControlType{record.Commit, record.Abort}).Draw(n.t, "type"), TransactionVersion: 1}
	if s := n.l.producers.states[id]; s != nil {
		m.ProducerEpoch = s.epoch + kafka.ProducerEpoch(rapid.IntRange(0, 1).Draw(n.t, "epoch raised by"))
	}
	if _, code, err := n.l.AppendMarker(m, 1, n.j.now); code != kafka.None || err != nil {
		n.t.Fatalf("%+v: %s, %v", m, code, err)
	}
	n.note(n.openTxn(id), m.Type)
}

// check applies to the model the pass that the cleaner just ended, and compares.
func (n *naive) check(s CleanerStats) {
	n.passes++
	if s.FirstUncleanable > n.l.LastStable() || s.FirstUncleanable > n.l.HighWatermark() || !slices.Contains(n.bases, s.FirstUncleanable) || s.FirstUncleanable > n.bases[len(n.bases)-1] {
		n.t.Fatalf("cleaned up to %d of segments %v, last stable offset %d, high watermark %d", s.FirstUncleanable, n.bases, n.l.LastStable(), n.l.HighWatermark())
	}
	keys, latest := n.mapKeys(s.FirstDirty, s.FirstUncleanable)
	if s.End != latest+1 {
		n.t.Fatalf("the pass ended at %d, the model at %d", s.End, latest+1)
	}
	whole := s.FirstUncleanable
	for _, b := range slices.Backward(n.bases) {
		if b >= s.End {
			whole = b
		}
	}
	var after []modelBatch
	for _, b := range n.batches {
		stays := true
		if b.Last < whole {
			b, stays = n.keep(b, keys, latest, s.FirstUncleanable)
		}
		if stays {
			after = append(after, b)
		}
	}
	n.dropped += len(n.batches) - len(after)
	n.batches = after
	n.compare("after a pass")
}

func (n *naive) mapKeys(dirty, upTo kafka.Offset) (keys map[string]kafka.Offset, latest kafka.Offset) {
	keys, latest = map[string]kafka.Offset{}, kafka.NoOffset
	for _, b := range n.batches {
		if b.Last < dirty || b.Base >= upTo {
			continue
		}
		for _, base := range n.bases { // nobody has the offsets between two segments any more
			if base > dirty && base <= b.Base {
				latest = max(latest, base-1)
			}
		}
		for _, r := range b.Records {
			if b.Control || n.aborted(b.txn) || r.Key == "-" || r.Offset < dirty {
				continue
			}
			if len(keys) >= n.limit {
				return keys, latest
			}
			keys[r.Key], latest = r.Offset, r.Offset
		}
		latest = b.Last
	}
	return keys, upTo - 1
}

// keep is what stays of a batch.
func (n *naive) keep(b modelBatch, keys map[string]kafka.Offset, latest, upTo kafka.Offset) (modelBatch, bool) {
	met := slices.ContainsFunc(n.batches, func(d modelBatch) bool { return b.txn > 0 && !d.Control && d.txn == b.txn })
	gone := b.Control && (!met || len(b.Records) == 0) || !b.Control && n.aborted(b.txn)
	mayDrop := b.Horizon != record.NoTimestamp && b.Horizon <= n.j.now
	kept, tombstone := []modelRecord(nil), false
	for _, r := range b.Records {
		last, mapped := keys[r.Key]
		switch {
		case gone && (!b.Control || mayDrop):
		case b.Control, r.Offset > latest, r.Key != "-" && (!mapped || r.Offset >= last) && (r.Value != "-" || !mayDrop):
			kept, tombstone = append(kept, r), tombstone || r.Value == "-"
		}
	}
	if len(kept) == 0 {
		b.Records, b.Codec, b.Horizon = nil, record.None, record.NoTimestamp
		s := n.l.producers.states[b.Producer]
		switch {
		case s != nil && s.n > 0 && s.batches[s.n-1].lastOffset == b.Last, s != nil && s.n == 0 && b.Control && b.Epoch == s.epoch:
			return b, true
		}
		return b, b.Last+1 == upTo
	}
	if b.Horizon == record.NoTimestamp && (tombstone || gone && b.Control) {
		b.Horizon = n.j.now + kafka.Timestamp(n.l.cfg.DeleteRetentionMs)
	}
	b.Records = kept
	return b, true
}

func (n *naive) compare(when string) {
	var got []modelBatch
	for i, b := range content(n.t, n.l) {
		m := modelOf(n.t, b)
		if i < len(n.batches) {
			m.txn, m.typ = n.batches[i].txn, n.batches[i].typ
		}
		got = append(got, m)
	}
	if d := cmp.Diff(n.batches, got, cmp.AllowUnexported(modelBatch{}), cmpopts.EquateEmpty()); d != "" {
		n.t.Fatalf("%s the log differs (-model +log):\n%s", when, d)
	}
	audit(n.t, n.l)
}

// clean lets the cleaner work until it rests.
func (n *naive) clean() {
	for range 100_000 {
		if n.j.c.pass == nil {
			n.bases = nil
			for _, s := range n.l.segments {
				n.bases = append(n.bases, s.base)
			}
		}
		if n.j.step() > 0 {
			return
		}
	}
	n.t.Fatalf("the cleaner never rests")
}

// truncate cuts what is not committed. All else is: a log that reads what it knows
// of its producers again, from a snapshot, forgets that a transaction was decided
// above the high watermark, as Kafka's does.
func (n *naive) truncate() {
	o := kafka.Offset(rapid.Int64Range(int64(n.l.HighWatermark()), int64(n.l.LogEnd())).Draw(n.t, "truncate to"))
	n.batches = slices.DeleteFunc(n.batches, func(b modelBatch) bool { return b.Last >= o })
	n.l.SetHighWatermark(o)
	if err := n.l.TruncateTo(o); err != nil {
		n.t.Fatalf("%v", err)
	}
	n.j.points[n.l] = min(n.j.points[n.l], n.l.RecoveryPoint())
	n.w.drain()
}

// reopen is a kill when everything is committed, for the same reason, and the next
// life.
func (n *naive) reopen() {
	hw, point, cleaned := n.l.LogEnd(), n.j.points[n.l], n.l.CleanedUpTo()
	n.w.kill()
	n.l = n.w.openAs(compacted(), Opening{RecoveryPoint: point, CleanedUpTo: cleaned})
	n.l.SetHighWatermark(hw)
	n.begin()
	n.j.points[n.l] = point
}

// begin gives the log a lane with a cleaner whose map takes few keys.
func (n *naive) begin() {
	now := kafka.Timestamp(5000)
	if n.j != nil {
		now = n.j.now
	}
	n.j = newJanitor(n.w, "", n.l)
	n.j.now = now
	slots := rapid.SampledFrom([]int64{2, 4, 1000}).Draw(n.t, "slots of the map")
	n.limit = int(slots * 9 / 10)
	n.j.c = NewCleaner(CleanerConfig{DedupeBufferBytes: 24 * slots, LoadFactor: 900_000, IOBufferBytes: rapid.Int32Range(100, 2000).Draw(n.t, "buffer"),
		BackoffMs: 15_000, MaxBytesPerSecond: 1 << 40}, n.j.c.rules, watch{n.j, n})
}

func TestTheCleanerKeepsExactlyWhatTheRulesKeep(t *testing.T) {
	passes, dropped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := &naive{t: t, w: newWorld(t)}
		n.l = n.w.openAs(compacted(), Opening{})
		n.begin()
		t.Repeat(map[string]func(*rapid.T){
			"append":  func(t *rapid.T) { n.t = t; n.append() },
			"append2": func(t *rapid.T) { n.t = t; n.append() },
			"end":     func(t *rapid.T) { n.t = t; n.end() },
			"roll":    func(t *rapid.T) { n.j.roll(n.l) },
			"commit": func(t *rapid.T) {
				n.l.Flush(nil)
				n.w.drain()
				n.l.SetHighWatermark(kafka.Offset(rapid.Int64Range(int64(n.l.HighWatermark()), int64(n.l.LogEnd())).Draw(t, "high watermark")))
			},
			"time":     func(t *rapid.T) { n.j.now += kafka.Timestamp(rapid.Int64Range(1, 2*day).Draw(t, "ms")) },
			"clean":    func(t *rapid.T) { n.t = t; n.clean() },
			"truncate": func(t *rapid.T) { n.t = t; n.truncate(); n.compare("after a truncation") },
			"reopen":   func(t *rapid.T) { n.t = t; n.reopen(); n.compare("after a kill") },
		})
		passes, dropped = passes+n.passes, dropped+n.dropped
	})
	t.Log(fmt.Sprintf("%d passes dropped %d batches", passes, dropped))
}
