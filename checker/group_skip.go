package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// groupSkip: a group's committed offset passes no record that none of its members
// was given. Where the members were led past it by what they were told (a
// position to start at), a record is lost to the group, and that is a violation;
// where the application moved a position or committed on its own account, or a
// transaction that was given the records was aborted and they were not asked for
// again, it is the application's doing, and a note. So is what lies between an offset
// that expired, or went with its group (groupLife), and where auto.offset.reset led.
type groupSkip struct{ tally }

func (*groupSkip) name() string { return "group-skip" }

func (w *groupSkip) finish(f *facts, r *Report) {
	f.txns.closure(f)
	f.groups.place(f)
	deliveries := map[kafka.TopicPartition]map[string][]*poll{}
	for _, p := range f.groups.order {
		if len(p.commits) == 0 {
			continue
		}
		if deliveries[p.tp] == nil {
			deliveries[p.tp] = f.deliveries(p.tp)
		}
		w.partition(f, p, deliveries[p.tp][p.group], r)
	}
}

// deliveries lists the polls of a partition by the group of the consumer.
func (f *facts) deliveries(tp kafka.TopicPartition) map[string][]*poll {
	by := map[string][]*poll{}
	if rd := f.history.readings[tp]; rd != nil {
		for i := range rd.polls.len() {
			p := rd.polls.at(i)
			if g := f.groups.groupOf(p); g != "" {
				by[g] = append(by[g], p)
			}
		}
	}
	return by
}

// partition goes through deliveries and commits in order of events. A delivery
// within a transaction that was aborted is none.
func (w *groupSkip) partition(f *facts, p *groupPartition, polls []*poll, r *Report) {
	var given, void intervals // void: within aborted transactions
	checked := kafka.NoOffset // what lies below was judged; nothing was given before
	commits := slices.Clone(p.commits)
	slices.SortStableFunc(commits, func(a, b *commitOp) int { return cmp.Compare(a.invoked.seq, b.invoked.seq) })
	for _, c := range commits {
		for ; len(polls) > 0 && !f.clocks.before(c.invoked, polls[0].stamp()); polls = polls[1:] {
			q := polls[0]
			if checked == kafka.NoOffset {
				checked = q.from
			}
			if x := f.txns.inside(q); x != nil && (x.outcome == txnAborted || x.outcome == txnOpen) {
				void.add(q.from, q.end)
				continue
			}
			given.add(q.from, q.end)
		}
		if c.result != event.CommitOK || c.txn != nil && c.txn.outcome != txnCommitted || checked == kafka.NoOffset {
			continue
		}
		w.checks++
		if from, to, missed := given.hole(checked, c.offset); missed && !r.full(w.name(), p.tp) {
			w.skipped(f, p, c, from, to, &void, r)
		}
		checked = max(checked, c.offset)
	}
}

// inside is the transaction that a poll belongs to, nil for none.
func (t *txnIndex) inside(p *poll) *txn {
	if p.session == nil || p.session.Txn == 0 {
		return nil
	}
	return t.txns[p.session.Txn]
}

func (w *groupSkip) skipped(f *facts, p *groupPartition, c *commitOp, from, to kafka.Offset, void *intervals, r *Report) {
	reset := f.groups.movedOver(p, from, c.invoked.seq)
	whose := ""
	switch {
	case void.holds(from):
		whose = "it was given only within a transaction that was aborted, and not asked for again"
	case c.position != kafka.NoOffset && c.offset > c.position:
		whose = "the application committed beyond its position"
	case reset != nil && !p.committedBefore(f, reset.stamp):
		whose = fmt.Sprintf("nothing was committed yet when %s started at %d (event %d), so auto.offset.reset decided", reset.client, reset.to, reset.seq)
	case reset != nil && p.removed(f, reset.seq, reset.stamp):
		whose = fmt.Sprintf("what was committed may have expired or the group been deleted when %s started at %d (event %d), so auto.offset.reset decided", reset.client, reset.to, reset.seq)
	case reset != nil && reset.reason != "assign":
		whose = fmt.Sprintf("the position of %s was moved from %d to %d (%s, event %d)", reset.client, reset.from, reset.to, reset.reason, reset.seq)
	}
	why := fmt.Sprintf("%s was given to no member before", nth(int64(from), int64(to)-1))
	if whose != "" {
		why += "; " + whose
	}
	witness := []uint64{c.invoked.seq, c.done.seq}
	if reset != nil && whose == "" {
		why += fmt.Sprintf("; %s started at %d (event %d)", reset.client, reset.to, reset.seq)
		witness = append(witness, reset.seq)
	}
	x := c.finding(w.name(), why, witness...)
	x.Offset, x.Last, x.Count = from, to-1, int(to-from)
	r.settleTxn(f, x, circumstances{client: c.client, application: whose != ""})
}

// committedBefore reports whether the group had a committed offset at an event for
// certain.
func (p *groupPartition) committedBefore(f *facts, by stamp) bool {
	return slices.ContainsFunc(p.commits, func(c *commitOp) bool {
		return c.effective() && c.result == event.CommitOK && f.clocks.before(c.done, by)
	})
}

// movedOver is the last reset of a member's position over an offset before an
// event, nil for none.
func (g *groupIndex) movedOver(p *groupPartition, o kafka.Offset, before uint64) *positionReset {
	resets := g.resets[p.tp]
	for i := len(resets) - 1; i >= 0; i-- {
		if m := &resets[i]; m.seq < before && m.to > o && (m.from <= o || m.reason == "assign") && g.clients[m.client] == p.group {
			return m
		}
	}
	return nil
}

// intervals is a set of offsets as disjoint intervals [from, to), ascending.
type intervals struct{ list []interval }

type interval struct{ from, to kafka.Offset }

// add puts an interval in. Most extend the last one.
func (s *intervals) add(from, to kafka.Offset) {
	if from >= to {
		return
	}
	i, _ := slices.BinarySearchFunc(s.list, from, func(x interval, o kafka.Offset) int { return cmp.Compare(x.to, o) })
	j := i
	for j < len(s.list) && s.list[j].from <= to {
		from, to = min(from, s.list[j].from), max(to, s.list[j].to)
		j++
	}
	s.list = slices.Replace(s.list, i, j, interval{from, to})
}

// hole is the first part of [from, to) that is not in the set.
func (s *intervals) hole(from, to kafka.Offset) (kafka.Offset, kafka.Offset, bool) {
	for i, _ := slices.BinarySearchFunc(s.list, from, func(x interval, o kafka.Offset) int { return cmp.Compare(x.to, o+1) }); i < len(s.list) && from < to; i++ {
		if x := s.list[i]; x.from > from {
			return from, min(to, x.from), true
		} else if x.to > from {
			from = x.to
		}
	}
	return from, to, from < to
}

// holds reports whether an offset is in the set.
func (s *intervals) holds(o kafka.Offset) bool {
	_, _, missing := s.hole(o, o+1)
	return !missing
}
