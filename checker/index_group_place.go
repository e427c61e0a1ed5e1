package checker

import (
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// moved is a consumer's position in one partition from one event on.
type moved struct {
	stamp
	position kafka.Offset
}

// track is the positions of the consumers of one partition, by client, each in
// order of events.
type track map[string][]moved

// at is a client's position before an event, NoOffset for not known, and when it moved
// next.
func (t track) at(client string, seq uint64) (position kafka.Offset, next stamp) {
	ms := t[client]
	i, _ := slices.BinarySearchFunc(ms, seq, func(m moved, s uint64) int {
		if m.seq < s {
			return -1
		}
		return 1
	})
	if i < len(ms) {
		next = ms[i].stamp
	}
	if i == 0 {
		return kafka.NoOffset, next
	}
	return ms[i-1].position, next
}

// trackOf gathers the positions of the consumers of a partition.
func (f *facts) trackOf(tp kafka.TopicPartition) track {
	t := track{}
	for _, m := range f.groups.resets[tp] {
		t[m.client] = append(t[m.client], moved{m.stamp, m.to})
	}
	if rd := f.history.readings[tp]; rd != nil {
		for i := range rd.polls.len() {
			p := rd.polls.at(i)
			t[p.client] = append(t[p.client], moved{p.stamp(), p.end})
		}
	}
	// unordered: each list is sorted by itself.
	for _, ms := range t {
		slices.SortStableFunc(ms, func(a, b moved) int {
			if a.seq < b.seq {
				return -1
			}
			return 1
		})
	}
	return t
}

// place gives each commit the position of the consumer that it speaks for, once.
// Call it when the history is complete.
func (g *groupIndex) place(f *facts) {
	if g.placed {
		return
	}
	g.placed = true
	tracks := map[kafka.TopicPartition]track{}
	for _, p := range g.order {
		if len(p.commits) == 0 {
			continue
		}
		t := tracks[p.tp]
		if t == nil {
			t = f.trackOf(p.tp)
			tracks[p.tp] = t
		}
		for _, c := range p.commits {
			who := g.consumer(c, t)
			c.position, c.moved = t.at(who, c.invoked.seq)
			if who == c.client && c.polled != 0 {
				c.consumed, _ = t.at(who, c.polled)
			}
		}
	}
}

// consumer is the client whose position a commit carries: the committing one,
// or, where a producer commits for it, the group's member.
func (g *groupIndex) consumer(c *commitOp, t track) string {
	if _, polls := t[c.client]; !polls {
		if client, known := g.members[groupMember{c.group, c.session.Member}]; known {
			return client
		}
	}
	return c.client
}

// proveCommits takes committed offsets that somebody fetched as proof: nobody
// is told an offset of a transaction that is not committed. Only an offset that
// nothing else wrote proves anything.
func (g *groupIndex) proveCommits(f *facts) {
	for _, p := range g.order {
		if !slices.ContainsFunc(p.commits, func(c *commitOp) bool { return c.txn != nil && c.txn.outcome == txnUnknown }) {
			continue
		}
		writer := map[kafka.Offset]*commitOp{}
		for _, c := range p.commits {
			if old := writer[c.offset]; old != nil && old.txn != c.txn {
				writer[c.offset] = &commitOp{}
				continue
			}
			writer[c.offset] = c
		}
		for _, q := range p.fetches {
			c := writer[q.offset]
			if c == nil || c.txn == nil || c.txn.outcome != txnUnknown || f.clocks.before(q.done, c.invoked) {
				continue
			}
			c.txn.decide(txnCommitted, q.done, fmt.Sprintf("%s found its offset %d of group %s at %s", q.client, q.offset, p.group, p.tp))
			c.txn.applied = q
		}
	}
}

// groupOf is the group that a poll belongs to, "" for none.
func (g *groupIndex) groupOf(p *poll) string {
	if p.session != nil && p.session.Group != "" {
		return p.session.Group
	}
	return g.clients[p.client]
}

// effective reports whether a commit may have become the committed offset.
func (c *commitOp) effective() bool {
	if c.result == event.CommitFail {
		return false
	}
	return c.txn == nil || c.txn.outcome == txnCommitted || c.txn.outcome == txnUnknown
}
