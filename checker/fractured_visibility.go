package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tidemark/model/kafka"
)

// fracturedVisibility: a reader sees a committed transaction in one partition
// and, asking later, not yet in another. Kafka writes a marker in each partition
// and promises no order among them, so this is a note, with the time that it
// took.
type fracturedVisibility struct{ tally }

func (*fracturedVisibility) name() string { return "fractured-visibility" }

func (w *fracturedVisibility) finish(f *facts, r *Report) {
	f.txns.closure(f)
	polls := map[session][]*poll{} // committed reads, by event
	if len(f.txns.order) > 0 {
		for _, rd := range f.history.sorted() {
			for i := range rd.polls.len() {
				if p := rd.polls.at(i); p.committedRead() {
					polls[session{p.client, rd.tp}] = append(polls[session{p.client, rd.tp}], p)
				}
			}
		}
	}
	fractured := 0
	var longest int64 = -1
	var text string
	var seq uint64
	for _, x := range f.txns.order {
		for _, v := range x.views() {
			w.checks++
			blind := v.blind(polls)
			if blind == nil {
				continue
			}
			fractured++
			if d := v.last.poll.at - v.first.poll.at; d > longest {
				longest, seq = d, v.last.poll.seq
				text = fmt.Sprintf("%s saw %s in %s (event %d), then not yet in %s (event %d), and there %s later (event %d)",
					v.client, x.what(), v.first.rd.tp, v.first.poll.seq, v.last.rd.tp, blind.seq, time.Duration(d), v.last.poll.seq)
			}
		}
	}
	if fractured > 0 {
		r.Notes = append(r.Notes, Note{w.name(), seq, fmt.Sprintf("%s seen in parts (%s); the longest: %s", count(fractured, "transaction"), "not promised to be atomic across partitions", text)})
	}
}

// txnView is what one reader saw of a transaction: its first partition and its
// last one.
type txnView struct {
	client      string
	first, last *sighting
}

// views lists the readers that saw the transaction in more than one partition.
func (x *txn) views() []txnView {
	if !slices.ContainsFunc(x.sightings, func(s sighting) bool { return s.rd != x.sightings[0].rd }) {
		return nil
	}
	type seenIn struct {
		client string
		tp     kafka.TopicPartition
	}
	firsts := map[seenIn]bool{}
	var views []txnView
	sorted := slices.Clone(x.sightings)
	slices.SortStableFunc(sorted, func(a, b sighting) int { return cmp.Compare(a.poll.seq, b.poll.seq) })
	for i := range sorted {
		s := &sorted[i]
		key := seenIn{s.poll.client, s.rd.tp}
		if firsts[key] {
			continue
		}
		firsts[key] = true
		at := slices.IndexFunc(views, func(v txnView) bool { return v.client == s.poll.client })
		if at < 0 {
			views = append(views, txnView{s.poll.client, s, s})
			continue
		}
		views[at].last = s
	}
	return slices.DeleteFunc(views, func(v txnView) bool { return v.first.rd == v.last.rd })
}

// blind is a poll of the last partition, asked for after the reader had seen the
// first one, that stood before the record and did not show it. nil for none.
func (v *txnView) blind(polls map[session][]*poll) *poll {
	ps := polls[session{v.client, v.last.rd.tp}]
	i, _ := slices.BinarySearchFunc(ps, v.last.poll.seq, func(p *poll, s uint64) int { return cmp.Compare(p.seq, s) })
	if i == 0 {
		return nil
	}
	if p := ps[i-1]; p.seq > v.first.poll.seq && (p.invoked == 0 || p.invoked > v.first.poll.seq) && p.end <= v.last.rec.Offset {
		return p
	}
	return nil
}
