package checker

import (
	"cmp"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// A group that everybody has left is removed once it holds no offset any more: when
// its offsets expired (offsets.retention.minutes), at the next look if it had none,
// or by DeleteGroups. Whoever joins next makes another group of the same name, whose
// generations and member epochs begin at the bottom again and which has no committed
// offset:
//
//	generation 1 ── 2 ── ... ── 7 ── everybody leaves ── removed ── 1 ── 2 ── ...
//	                            over                                began
//
// No client is told of a removal. What shows it is an epoch that fell, of a member
// that the group did not know yet (with KIP-848 a member keeps its id when it joins
// again: there its own epoch falls). It is believed only where everybody who was seen
// before may have been gone by then; else the epoch is one that was told late, or a
// commit that should have been refused.
type groupLife struct {
	// The last sight of the life before and the first of this one: the removal lies
	// in between. Zero for the first life.
	over, began stamp
	newest      int32
	last        stamp
	rising      []generation // each newer than all before
	members     []*membership
	stays       *membership // one that was there when it was asked last
}

// membership is what a life of a group shows of a member.
type membership struct {
	life        *groupLife
	client      string
	number      int32        // its newest
	rising      []generation // each newer than all before
	first, seen stamp        // its first sight and its last one
	held        int          // partitions that it believes to hold
	left        bool         // it gave up its last one, and did not crash
	forGood     bool         // its id does not come back
	id          *memberID
	before      *membership // of the same id in the life before, nil for none
}

// memberID is an id that members of a group had.
type memberID struct {
	comes stamp       // the last sight of it
	now   *membership // the latest so far
}

// departure is that a member holds a partition no more.
type departure struct {
	stamp
	member  string
	crashed bool
}

// who is the member that was seen, by its id if that is told.
func (x *generation) who() string { return cmp.Or(x.member, x.client) }

// begun is the event from which on the group was at the generation.
func (x *generation) begun() stamp {
	if x.commit != nil {
		return x.commit.invoked
	}
	return x.stamp
}

// livesOf parts the history of a group where it may have been removed. Call it when
// the history is complete.
func (f *facts) livesOf(g *group) []*groupLife {
	if g.lives != nil {
		return g.lives
	}
	ids := g.memberIDs()
	life := &groupLife{newest: -1}
	g.lives = []*groupLife{life}
	gone := g.departures
	var id *memberID
	for i := range g.generations {
		x := &g.generations[i]
		for ; len(gone) > 0 && !f.clocks.before(x.stamp, gone[0].stamp); gone = gone[1:] {
			if of := ids[gone[0].member]; of != nil && of.now != nil {
				of.now.held, of.now.left = of.now.held-1, !gone[0].crashed
			}
		}
		if i == 0 || x.who() != g.generations[i-1].who() {
			id = ids[x.who()]
		}
		m, perMember := id.now, f.profile.perMember(x.client)
		if m != nil && m.life != life && !perMember {
			m.see(x) // what was told late of a life that is over
			continue
		}
		rejoins := m == nil || perMember && x.commit == nil && x.number < m.number
		if rejoins && x.number < life.newest && f.everybodyGone(life, x, m) {
			life = &groupLife{over: life.last, began: x.begun(), newest: -1}
			g.lives = append(g.lives, life)
		}
		if m == nil || m.life != life {
			id.now = &membership{life: life, client: x.client, first: x.begun(), forGood: !perMember, id: id, before: m}
			life.members = append(life.members, id.now)
		}
		id.now.see(x)
	}
	return g.lives
}

// memberIDs are the ids of a group's members, and when each was seen last.
func (g *group) memberIDs() map[string]*memberID {
	ids := map[string]*memberID{}
	var id *memberID
	for i := range g.generations {
		x := &g.generations[i]
		if i == 0 || x.who() != g.generations[i-1].who() {
			if id = ids[x.who()]; id == nil {
				id = &memberID{}
				ids[x.who()] = id
			}
		}
		id.comes = x.begun()
	}
	return ids
}

// see takes a sight of a member in.
func (m *membership) see(x *generation) {
	l := m.life
	l.last, m.seen, m.number = x.stamp, x.begun(), x.number
	if x.takes {
		m.held++
	}
	if x.commit != nil {
		x.commit.as = m
	}
	if x.number > l.newest {
		l.newest, l.rising = x.number, append(l.rising, *x)
	}
	if n := len(m.rising); n == 0 || x.number > m.rising[n-1].number {
		m.rising = append(m.rising, *x)
	}
}

// everybodyGone reports whether every member that a life of a group shows, but one, may
// have been out of the group by a sight.
func (f *facts) everybodyGone(l *groupLife, by *generation, but *membership) bool {
	if l.stays != nil && l.stays != but && !f.mayBeGone(l.stays, by) {
		return false
	}
	for _, m := range l.members {
		if m != but && !f.mayBeGone(m, by) {
			l.stays = m
			return false
		}
	}
	return true
}

// mayBeGone reports whether a member may have left the group by a sight of another: it
// gave up what it held, or its session ran out, and it is never seen there again.
func (f *facts) mayBeGone(m *membership, by *generation) bool {
	if m.forGood && f.clocks.before(by.stamp, m.id.comes) {
		return false
	}
	if !f.clocks.before(m.first, by.begun()) {
		return true // it may have come later
	}
	return m.held <= 0 && m.left || f.clocks.most(m.seen, by.begun()) >= f.sessionTimeout(m.client)
}

// sessionTimeout is how long, ns, a member of a group stays in it without a word: it
// is put out, or leaves of its own accord because its application polls no more.
func (f *facts) sessionTimeout(consumer string) int64 {
	poll := f.profile.consumerMs(consumer, "max.poll.interval.ms", 300_000)
	if f.profile.perMember(consumer) {
		return 1_000_000 * min(poll, f.profile.ms(clusterScope, "group.consumer.session.timeout.ms", 45_000))
	}
	byDefault := int64(45_000)
	if v, known := f.profile.version(); known && v[0] < 3 {
		byDefault = 10_000 // KIP-735
	}
	return 1_000_000 * min(poll, f.profile.consumerMs(consumer, "session.timeout.ms", byDefault))
}

// removed reports whether the group's committed offset of the partition may have been
// removed by an event, and not committed again before another: it expired, or the
// group was removed.
func (p *groupPartition) removed(f *facts, asked uint64, by stamp) bool {
	i, _ := slices.BinarySearchFunc(p.commits, by.seq+1, func(c *commitOp, s uint64) int { return cmp.Compare(c.invoked.seq, s) })
	last := int64(0)
	if i > 0 {
		last = p.commits[i-1].latest()
	}
	if f.clocks.largest+by.at-last >= f.offsetsRetention() {
		return true
	}
	for _, l := range slices.Backward(f.livesOf(f.groups.group(p.group))) {
		if l.began.came() && l.over.seq < by.seq {
			return !p.committedWithin(l.began.seq, asked)
		}
	}
	return false
}

// afterRemoval reports whether a fetch found nothing and the group's offset may have
// been removed by then.
func (q *fetchOp) afterRemoval(f *facts, p *groupPartition) bool {
	return q.offset == kafka.NoOffset && p.removed(f, q.invoked.seq, q.done)
}

// removedBetween reports whether the group's committed offset of the partition may
// have been removed between two events.
func (p *groupPartition) removedBetween(f *facts, after, before stamp) bool {
	for _, l := range f.livesOf(f.groups.group(p.group)) {
		if l.began.came() && l.over.seq < before.seq && l.began.seq > after.seq {
			return true
		}
	}
	last := int64(-1)
	for _, c := range p.commits {
		if last >= 0 && c.invoked.seq > after.seq && min(c.invoked.at, before.at)-last >= f.offsetsRetention() {
			return true
		}
		if c.invoked.seq > before.seq {
			break
		}
		last = c.latest()
	}
	return last >= 0 && before.at-last >= f.offsetsRetention()
}

// latest is when the commit can have taken place at the latest, ns.
func (c *commitOp) latest() int64 { return max(c.invoked.at, c.done.at) }

// offsetsRetention is how long committed offsets are kept in a group without members, ns.
func (f *facts) offsetsRetention() int64 {
	return f.profile.ms(clusterScope, "offsets.retention.minutes", 7*24*60) * 60_000_000_000
}

// committedWithin reports whether a commit was called at one event or later and had
// succeeded before another.
func (p *groupPartition) committedWithin(from, before uint64) bool {
	i, _ := slices.BinarySearchFunc(p.commits, from, func(c *commitOp, s uint64) int { return cmp.Compare(c.invoked.seq, s) })
	return slices.ContainsFunc(p.commits[i:], func(c *commitOp) bool {
		return c.effective() && c.result == event.CommitOK && c.done.seq < before
	})
}
