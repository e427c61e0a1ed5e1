package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// leaderEpochRegression: along a log leader epochs never fall (KIP-101), for one
// reader in one poll and over all that was read, unless the log was cut. So a record
// has one epoch for everybody.
type leaderEpochRegression struct{ tally }

func (*leaderEpochRegression) name() string { return "leader-epoch-regression" }

func (w *leaderEpochRegression) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		o := f.orderOf(rd)
		for _, s := range rd.log.epochsBack {
			if p, rec := rd.poll(s.poll), rd.record(s.record); !r.full(w.name(), rd.tp) {
				w.fell(f, r, rd, rd.record(s.record-1).Offset, rd.record(s.record-1).Epoch, p, rec, p.seq)
			}
		}
		if len(o.cuts) > 0 {
			continue
		}
		for _, s := range rd.log.epochs {
			if !r.full(w.name(), rd.tp) {
				w.differs(f, r, rd, s)
			}
		}
		var highest *place
		for i := range o.places {
			p := &o.places[i]
			if p.epoch == kafka.NoEpoch || p.last != p.cover {
				continue
			}
			w.checks++
			switch {
			case highest == nil || p.epoch >= highest.epoch:
				highest = p
			case p.first != highest.first && !r.full(w.name(), rd.tp): // else the poll has told
				w.fell(f, r, rd, highest.offset, highest.epoch, rd.poll(p.first), rd.record(p.record), rd.poll(highest.first).seq)
			}
		}
	}
}

// differs tells that a record was read in two epochs. One of them falls, below or
// above it.
func (w *leaderEpochRegression) differs(f *facts, r *Report, rd *reading, s sight) {
	p, rec := rd.poll(s.poll), rd.record(s.record)
	i := rd.log.find(rec.Offset)
	for rd.log.places[i].record < 0 || rd.log.places[i].attempt != rec.Attempt || rd.log.places[i].hash != rec.Hash {
		if i++; i == len(rd.log.places) || rd.log.places[i].offset != rec.Offset {
			return
		}
	}
	q := &rd.log.places[i]
	first := rd.poll(q.first)
	x := f.history.sighting(w.name(), rd, p, rec, fmt.Sprintf("it was written in epoch %d, and %s had read it in epoch %d (event %d)", rec.Epoch, first.client, q.epoch, first.seq))
	x.Witness = []uint64{first.seq, p.seq}
	if part := f.partition(rd.tp); part != nil {
		x = x.excuse(part.excuseBetween(rec.Offset, 0, p.seq))
	}
	r.settle(f, x, circumstances{client: p.client})
}

// fell tells that a record has a lower epoch than one below it, which was read
// at event by.
func (w *leaderEpochRegression) fell(f *facts, r *Report, rd *reading, below kafka.Offset, was kafka.LeaderEpoch, p *poll, rec event.Record, by uint64) {
	x := f.history.sighting(w.name(), rd, p, rec, fmt.Sprintf("it was written in epoch %d, and offset %d below it in epoch %d (event %d)", rec.Epoch, below, was, by))
	x.Witness = []uint64{by, p.seq}
	if part := f.partition(rd.tp); part != nil {
		x = x.excuse(part.excuseBetween(rec.Offset, 0, p.seq))
	}
	r.settle(f, x, circumstances{client: p.client})
}
