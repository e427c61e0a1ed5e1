package storage

import (
	"bytes"
	"slices"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// audit checks a log's own account against a full scan of its files: indexes,
// sizes, epochs, end.
func audit(t failer, l *Log) {
	t.Helper()
	end := l.segments[0].base
	for i, s := range l.segments {
		if i > 0 && s.base < end {
			t.Fatalf("segment %d begins before %d, where the one before ends", s.base, end)
		}
		end = max(end, s.base)
		raw, err := readAll(s.log)
		if err != nil || int64(len(raw)) != s.size {
			t.Fatalf("segment %d has %d bytes in its file, %d in memory: %v", s.base, len(raw), s.size, err)
		}
		if i == len(l.segments)-1 || l.segments[i+1].base > l.start { // an old segment may lack its time index
			auditIndexes(t, s, raw, i == len(l.segments)-1)
		}
		for len(raw) > 0 {
			b, rest, err := record.Next(raw)
			if err != nil || b.Check() != nil || b.BaseOffset() < end {
				t.Fatalf("segment %d holds a batch at %d after %d: %v, %v", s.base, b.BaseOffset(), end, err, b.Check())
			}
			if e, _ := l.epochs.EpochAt(b.LastOffset()); e != b.LeaderEpoch() && b.LastOffset() >= l.start {
				t.Fatalf("batch at %d has epoch %d, the cache is %v", b.BaseOffset(), b.LeaderEpoch(), l.epochs.entries)
			}
			end, raw = b.NextOffset(), rest
		}
	}
	if end != l.end {
		t.Fatalf("the files end at %d, the log at %d", end, l.end)
	}
	auditProducers(t, l)
	auditTransactions(t, l)
}

// auditProducers checks what the log knows of its producers against its batches.
// What lies below the log start it may have forgotten, or not.
func auditProducers(t failer, l *Log) {
	t.Helper()
	sent := map[kafka.ProducerID][]record.Batch{}
	fenced := map[kafka.ProducerID]kafka.ProducerEpoch{} // by a marker of a higher epoch than the last batch
	for _, b := range stored(t, l.segments) {
		id := b.ProducerID()
		n := len(sent[id])
		switch {
		case id == kafka.NoProducerID:
		case !b.IsControl():
			sent[id] = append(sent[id], b)
			delete(fenced, id)
		case n > 0 && sent[id][n-1].ProducerEpoch() != b.ProducerEpoch():
			fenced[id] = b.ProducerEpoch()
		}
	}
	if l.producers.end != l.end {
		t.Fatalf("producers are known up to %d, the log ends at %d", l.producers.end, l.end)
	}
	for id, batches := range sent {
		last := batches[len(batches)-1]
		s := l.producers.states[id]
		if last.LastOffset() < l.start && (s == nil || s.n == 0) {
			continue
		}
		if l.cfg.Compacted && s != nil && s.n > 0 && s.batches[s.n-1].lastOffset > last.LastOffset() {
			continue // compaction took a batch that a later one, truncated since, made old
		}
		if epoch, ok := fenced[id]; ok {
			if s == nil || s.epoch != epoch || s.n > 0 {
				t.Fatalf("producer %d, fenced by a marker of epoch %d: the log knows %+v", id, epoch, s)
			}
			continue
		}
		if s == nil || s.epoch != last.ProducerEpoch() || s.lastSequence() != last.LastSequence() || s.batches[s.n-1].lastOffset != last.LastOffset() {
			t.Fatalf("producer %d, whose last batch at %d has epoch %d, sequence %d: the log knows %+v", id, last.LastOffset(), last.ProducerEpoch(), last.LastSequence(), s)
		}
	}
	for id, s := range l.producers.states {
		for _, known := range s.batches[:s.n] {
			there := slices.ContainsFunc(sent[id], func(b record.Batch) bool {
				return b.BaseOffset() == known.firstOffset() && b.LastOffset() == known.lastOffset && b.BaseSequence() == known.firstSequence()
			})
			if !there && known.lastOffset >= l.segments[0].base && !l.cfg.Compacted {
				t.Fatalf("producer %d: the log knows a batch that it does not hold: %+v", id, known)
			}
		}
	}
}

func auditIndexes(t failer, s *segment, raw []byte, active bool) {
	t.Helper()
	for _, x := range []indexFile{s.index.indexFile, s.times.indexFile, s.txns.indexFile} {
		if x.file == nil {
			continue
		}
		file, err := readAll(x.file)
		if err != nil || len(file) != x.saved || !bytes.HasPrefix(x.data, file) {
			t.Fatalf("segment %d: an index file differs from memory: %v", s.base, err)
		}
		if held := x.held(); held >= heldEntries || held > 0 && !active {
			t.Fatalf("segment %d: the file of an index lacks the last %d of %d entries", s.base, held, x.count())
		}
	}
	lasts := map[int64]record.Batch{}
	largest := map[timePoint]bool{}
	so := timePoint{record.NoTimestamp, s.base}
	for pos := 0; pos < len(raw); {
		b, _, err := record.Next(raw[pos:])
		if err != nil {
			t.Fatalf("segment %d at %d: %v", s.base, pos, err)
		}
		if b.MaxTimestamp() > so.timestamp {
			so = timePoint{b.MaxTimestamp(), b.LastOffset()}
		}
		lasts[int64(pos)], largest[so] = b, true
		pos += len(b)
	}
	for i := range s.index.count() {
		last, pos := s.index.at(i)
		if b, ok := lasts[pos]; !ok || b.LastOffset() != last || pos == 0 {
			t.Fatalf("segment %d: index entry %d says offset %d at %d", s.base, i, last, pos)
		}
	}
	for i := range s.times.count() {
		if p := s.times.at(i); !largest[p] || i > 0 && p.timestamp <= s.times.at(i-1).timestamp {
			t.Fatalf("segment %d: time index entry %d says %v", s.base, i, p)
		}
	}
	if s.largest != so {
		t.Fatalf("segment %d: largest timestamp %v, scan says %v", s.base, s.largest, so)
	}
}
