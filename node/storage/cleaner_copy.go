package storage

import (
	"errors"
	"fmt"
	"io"
	"math"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
)

// errTooLarge: a cleaned segment would not fit into a file.
var errTooLarge = errors.New("cleaned segment exceeds 2 GiB")

// lastBatch is what the log remembers of the end of a producer's history: its
// last data batch, or, if it has none, the epoch of its last marker.
type lastBatch struct {
	offset kafka.Offset // last offset of the batch, NoOffset for none
	epoch  kafka.ProducerEpoch
}

// copyOn copies what stays of one buffer.
func (p *pass) copyOn() (moved int64, err error) {
	switch {
	case len(p.groups) == 0:
		p.finish()
		return 0, nil
	case p.made == nil:
		return 0, p.startGroup()
	case len(p.todo) == 0:
		return 0, p.endGroup()
	}
	s := p.todo[0]
	if p.read.segment != s {
		p.startSource(s)
	}
	batches, err := p.read.next(p.cleaner)
	if err == io.EOF {
		p.cleaner.restoreBuffer()
		p.todo = p.todo[1:]
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	read := int64(len(batches))
	out := p.cleaner.out[:0]
	for len(batches) > 0 {
		b, rest, _ := record.Next(batches) // the reader saw that it is one
		if out, err = p.copyBatch(out, s, b); err != nil {
			return read, err
		}
		batches = rest
	}
	p.cleaner.out = out
	p.stats.BytesRead += read
	p.stats.BytesKept += int64(len(out))
	if len(out) == 0 {
		return read, nil
	}
	if int64(len(out)) > math.MaxInt32-p.made.size {
		return read, errTooLarge
	}
	return read + int64(len(out)), p.made.append(out, p.log.cfg.IndexIntervalBytes)
}

// startGroup makes the segment that the first group is copied into. What the log
// remembers of its producers now decides which of their batches are the last.
func (p *pass) startGroup() (err error) {
	p.lasts = map[kafka.ProducerID]lastBatch{}
	for id, s := range p.log.producers.states { // unordered: into a map
		last := lastBatch{kafka.NoOffset, s.epoch}
		if s.n > 0 {
			last.offset = s.batches[s.n-1].lastOffset
		}
		p.lasts[id] = last
	}
	p.todo = p.groups[0]
	p.read = batchReader{}
	p.made, err = p.log.createCleaned(p.todo[0].base)
	return err
}

// startSource starts to copy a segment of the group.
func (p *pass) startSource(s *segment) {
	l := p.log
	i := l.floor(s.base)
	next := l.end
	if i+1 < len(l.segments) {
		next = l.segments[i+1].base
	}
	p.txns.add(l.abortedIn(i, s.base, next))
	p.read.start(s, 0)
}

// copyBatch appends to out what stays of a batch of segment s. A batch of which
// all stays is copied as it is; else its records that stay make a new one. Kafka
// does not look at the CRC, and gives damage a new one.
func (p *pass) copyBatch(out []byte, s *segment, b record.Batch) ([]byte, error) {
	if err := b.Check(); err != nil {
		return out, p.read.at(err)
	}
	gone, err := p.transactionGone(b)
	if err != nil {
		return out, p.read.at(err)
	}
	horizon, stamped := b.DeleteHorizon()
	mayDrop := p.cleaner.rules.MayDrop(rules.DeleteAge{Now: p.now, Horizon: horizon, Segment: s.largest.timestamp, Clean: p.clean,
		DeleteRetentionMs: p.log.cfg.DeleteRetentionMs})
	kept := keptRecords{}
	if !gone || b.IsControl() && !mayDrop {
		if kept, err = p.judgeRecords(b, mayDrop); err != nil {
			return out, p.read.at(err)
		}
	}
	p.stats.RecordsRead += int64(b.Count())
	p.stats.RecordsKept += int64(kept.count)
	if kept.count == 0 {
		if p.cleaner.rules.KeepEmpty(rules.LastBatch{OfProducer: p.isLast(b), OfPass: b.NextOffset() == p.end}) {
			return append(out, b.Emptied()...), nil
		}
		return out, nil
	}
	stamp := false
	if !stamped && (kept.tombstone || gone && b.IsControl()) {
		if h, ok := p.cleaner.rules.Horizon(p.now, p.log.cfg.DeleteRetentionMs); ok {
			horizon, stamp = h, true
		}
	}
	if kept.count == int(b.Count()) && !stamp {
		return append(out, b...), nil
	}
	return p.retained(out, b, horizon), nil
}

// transactionGone tells whether a batch is of no use as part of its transaction:
// data of an aborted one, a marker without data.
func (p *pass) transactionGone(b record.Batch) (bool, error) {
	if b.IsControl() {
		return p.txns.control(b)
	}
	return p.txns.data(b), nil
}

// isLast tells whether a batch is what the log remembers last of its producer.
func (p *pass) isLast(b record.Batch) bool {
	last, known := p.lasts[b.ProducerID()]
	switch {
	case b.ProducerID() == kafka.NoProducerID || !known:
		return false
	case last.offset != kafka.NoOffset:
		return b.LastOffset() == last.offset
	}
	return b.IsControl() && b.ProducerEpoch() == last.epoch
}

// keptRecords sums up which records of a batch stay; p.keep has each.
type keptRecords struct {
	count     int
	tombstone bool // one of them is
}

// judgeRecords decides on every record of a batch.
func (p *pass) judgeRecords(b record.Batch, mayDrop bool) (k keptRecords, err error) {
	it := &p.log.records
	p.keep = p.keep[:0]
	for it.ResetWith(p.log.inflater, b); it.Next(); {
		r := it.Record()
		keep := b.IsControl() || p.stays(r, mayDrop)
		p.keep = append(p.keep, keep)
		if keep {
			k.count++
			k.tombstone = k.tombstone || r.Value == nil
		}
	}
	return k, it.Err()
}

// stays tells whether a data record does: it is beyond what was mapped, or the
// last of its key and no tombstone whose time has come.
func (p *pass) stays(r record.Record, mayDrop bool) bool {
	keys := p.cleaner.keys
	switch {
	case r.Offset > keys.latest:
		return true
	case r.Key == nil:
		p.stats.Invalid++
		return false
	}
	return r.Offset >= keys.get(r.Key) && (r.Value != nil || !mayDrop)
}

// retained appends the batch of the records of b that p.keep names.
func (p *pass) retained(out []byte, b record.Batch, horizon kafka.Timestamp) []byte {
	w, it := &p.cleaner.builder, &p.log.records
	w.ResetTo(b, horizon)
	it.ResetWith(p.log.inflater, b)
	for i := 0; it.Next(); i++ {
		if p.keep[i] {
			w.Retain(it.Record())
		}
	}
	if b.Compression() == record.None {
		return append(out, w.Build()...)
	}
	return append(out, w.BuildCompressed(p.log.deflater, b.Compression())...)
}

// endGroup swaps the copy in. It is as old as the youngest that it replaces.
func (p *pass) endGroup() error {
	l, s := p.log, p.made
	for _, a := range p.txns.kept {
		if err := s.txns.append(l.fs, segmentPath(l.dir, s.base)+txnSuffix+s.suffix, a); err != nil {
			return err
		}
	}
	p.txns.kept = nil
	if err := s.seal(); err != nil {
		return err
	}
	group := p.groups[0]
	s.created = group[len(group)-1].created
	p.groups = p.groups[1:]
	p.stats.SegmentsAfter++
	p.waiting = true
	l.startSwap(s, group, p.swapped)
	return nil
}

// swapped goes on with the next group.
func (p *pass) swapped() {
	if !p.over {
		p.made = nil
		p.wake()
	}
}

// finish notes how far the log is clean.
func (p *pass) finish() {
	l := p.log
	l.cleanedUpTo = p.stats.End
	l.cleaning = nil
	p.over = true
	p.cleaner.host.Cleaned(l, p.stats)
}

// fail ends a pass that met an error. Damage is the log's only as far as it cannot
// be cleaned.
func (p *pass) fail(err error) {
	l := p.log
	if !l.damaged(fmt.Errorf("clean %s: %w", l.dir, err)) {
		return // the log has failed, and left the pass
	}
	l.uncleanable = true
	if err := l.abortCleaning(); err != nil {
		_ = l.failing("clean", err)
	}
}
