package storage

import (
	"io"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// pass is one cleaning of a log, from the choice to the note of its end.
type pass struct {
	cleaner *Cleaner
	log     *Log
	now     kafka.Timestamp // when it began, ms: the time by which it judges
	clean   kafka.Timestamp // the time of the last segment that was cleaned before
	dirty   kafka.Offset
	end     kafka.Offset // first uncleanable offset

	phase   func(*pass) (moved int64, err error)
	waiting bool // for the disk
	over    bool // done, aborted, or the log failed

	read batchReader
	txns cleanedTransactions
	todo []*segment // to read: of the dirty part, then of a group

	groups [][]*segment // to copy, the first of them under way
	made   *segment     // what it is copied into; nil between groups
	lasts  map[kafka.ProducerID]lastBatch
	keep   []bool // of the records of a batch, in order

	stats CleanerStats
}

// begin starts a pass over the range.
func (c *Cleaner) begin(r dirtyRange, now kafka.Timestamp) *pass {
	p := &pass{cleaner: c, log: r.log, now: now, dirty: r.dirty, end: r.end, phase: (*pass).mapKeys, txns: newCleanedTransactions()}
	l := r.log
	l.cleaning = p
	c.keys.clear()
	p.clean = l.cleanTime(r.dirty)
	i := l.floor(r.dirty)
	for _, s := range l.segments[i:] {
		if s.base < r.end {
			p.todo = append(p.todo, s)
		}
	}
	p.txns.add(l.abortedIn(i, r.dirty, r.end))
	p.stats = CleanerStats{FirstDirty: r.dirty, FirstUncleanable: r.end}
	return p
}

// cleanTime is the time of the last segment that was cleaned before, -1 if none
// was.
func (l *Log) cleanTime(dirty kafka.Offset) kafka.Timestamp {
	t := record.NoTimestamp
	for _, s := range l.segments {
		if s.base < dirty {
			t = s.largest.timestamp
		}
	}
	return t
}

// mapKeys reads one buffer of the dirty part into the map.
func (p *pass) mapKeys() (moved int64, err error) {
	keys := p.cleaner.keys
	if len(p.todo) == 0 {
		p.mapped()
		return 0, nil
	}
	s := p.todo[0]
	if p.read.segment != s {
		p.read.start(s, s.index.lookup(p.dirty))
	}
	batches, err := p.read.next(p.cleaner)
	if err == io.EOF {
		p.cleaner.restoreBuffer()
		// Offsets that nobody has any more are mapped, too.
		next := p.end
		if len(p.todo) > 1 {
			next = p.todo[1].base
		}
		keys.latest = max(keys.latest, next-1)
		p.todo = p.todo[1:]
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	moved = int64(len(batches))
	for len(batches) > 0 {
		b, rest, _ := record.Next(batches) // the reader saw that it is one
		full, err := p.mapBatch(b)
		if err != nil {
			return moved, err
		}
		if full {
			p.todo = nil
			break
		}
		batches = rest
	}
	return moved, nil
}

// mapBatch notes the keys of a batch, unless it is aborted; full tells that the
// map has no room for the rest of it.
func (p *pass) mapBatch(b record.Batch) (full bool, err error) {
	keys := p.cleaner.keys
	if b.IsControl() {
		_, err = p.txns.control(b)
	} else if !p.txns.data(b) {
		full, err = p.mapRecords(b)
	}
	if err == nil && !full && b.LastOffset() >= p.dirty {
		keys.latest = b.LastOffset()
	}
	return full, err
}

func (p *pass) mapRecords(b record.Batch) (full bool, err error) {
	it, keys := &p.log.records, p.cleaner.keys
	for it.ResetWith(p.log.inflater, b); it.Next(); {
		r := it.Record()
		if r.Key == nil || r.Offset < p.dirty {
			continue
		}
		if keys.full() {
			return true, nil
		}
		keys.put(r.Key, r.Offset)
	}
	return false, it.Err()
}

// mapped ends the mapping: everything from the log's first segment up to the
// mapped end is copied, with what is known of transactions begun anew.
func (p *pass) mapped() {
	p.stats.End = p.cleaner.keys.latest + 1
	var all []*segment
	for _, s := range p.log.segments {
		if s.base < p.stats.End {
			all = append(all, s)
		}
	}
	p.stats.SegmentsBefore = len(all)
	p.groups = groupSegments(all, p.log.cfg, p.end)
	p.txns = newCleanedTransactions()
	p.waiting = true
	p.phase = (*pass).copyOn
	p.cleaner.host.CheckpointRecoveryPoint(p.log, p.wake)
}

// wake goes on after a wait. What came before the step was over needs no call.
func (p *pass) wake() {
	p.waiting = false
	if c := p.cleaner; c.pass == p && c.idle {
		c.idle = false
		c.host.CleanerWake()
	}
}

// leavePass ends the log's pass, if one is under way, and leaves its files as they
// are: the log failed or is closed.
func (l *Log) leavePass() (p *pass) {
	if p = l.cleaning; p != nil {
		l.cleaning = nil
		p.over = true
		p.wake()
	}
	return p
}

// abortCleaning ends the log's pass, if one is under way, and removes what it
// wrote, unless that is part of the log already: because segments are going
// away, as Kafka's abortAndPauseCleaning does.
func (l *Log) abortCleaning() error {
	p := l.leavePass()
	switch {
	case p == nil || p.made == nil:
		return nil
	case l.swap != nil:
		return l.abortSwap()
	}
	return l.discard(p.made)
}

// closeCleaning ends the log's pass for good, and gives up the handles of what
// never became part of the log.
func (l *Log) closeCleaning() error {
	p := l.leavePass()
	if p == nil || p.made == nil || l.swap != nil && l.swap.replaced() {
		return nil
	}
	return p.made.close()
}
