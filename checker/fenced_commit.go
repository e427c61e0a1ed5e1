package checker

import (
	"fmt"
	"slices"

	"tidemark/model/event"
)

// fencedCommit: a commit of an older generation than one that is known to have
// begun is refused. In a group of the classic protocol all members share one
// generation; with KIP-848 each has an epoch of its own, so only the same member
// counts, and an older epoch may still commit what the member holds (KIP-1251). Of a
// group that was removed and made again (groupLife) the old numbers say nothing.
type fencedCommit struct{ tally }

func (*fencedCommit) name() string { return "fenced-commit" }

func (w *fencedCommit) finish(f *facts, r *Report) {
	f.groups.place(f)
	for _, g := range f.groups.byName {
		lives := f.livesOf(g)
		for _, c := range g.commits {
			if c.result != event.CommitOK || c.session.Generation < 0 {
				continue
			}
			w.checks++
			perMember := f.profile.perMember(c.client)
			x, anew := c.fenced(lives, perMember)
			if x == nil || r.full(w.name(), c.tp) {
				continue
			}
			why := fmt.Sprintf("it was of generation %d, and member %s of generation %d %s before (event %d)", c.session.Generation, x.member, x.number, x.what(), x.seq)
			finding := c.finding(w.name(), why, x.seq, c.invoked.seq, c.done.seq)
			if anew {
				r.settleTxn(f, finding, circumstances{client: c.client, anew: true})
				continue
			}
			r.settleTxn(f, finding, circumstances{client: c.client, held: perMember && f.groups.holds(c)}, [2]stamp{x.stamp, c.invoked})
		}
	}
}

// fenced is the newest sight of the group before a commit, if its generation is newer
// than the commit's; nil if not. anew: the group may have been removed and made again
// in between.
func (c *commitOp) fenced(lives []*groupLife, perMember bool) (x *generation, anew bool) {
	seen := c.as.life.rising
	if perMember {
		seen = c.as.rising
	}
	if x = newestBefore(seen, c.invoked.seq); x != nil && x.number > c.session.Generation {
		return x, false
	}
	newer := func(rising []generation) bool {
		x = &rising[len(rising)-1]
		return x.number > c.session.Generation
	}
	if perMember {
		for m := c.as.before; m != nil; m = m.before {
			if newer(m.rising) {
				return x, true
			}
		}
		return nil, false
	}
	for _, l := range lives {
		if l == c.as.life {
			break
		}
		if newer(l.rising) {
			return x, true
		}
	}
	return nil, false
}

// newestBefore is the newest generation that was seen before an event.
func newestBefore(rising []generation, seq uint64) *generation {
	i, _ := slices.BinarySearchFunc(rising, seq, func(x generation, s uint64) int {
		if x.seq < s {
			return -1
		}
		return 1
	})
	if i == 0 {
		return nil
	}
	return &rising[i-1]
}

// holds reports whether the committing member held the partition when it
// committed, as it knows itself.
func (g *groupIndex) holds(c *commitOp) bool {
	p := g.partition(c.group, c.tp)
	return slices.ContainsFunc(p.owners, func(o *ownership) bool {
		return o.session.Member == c.session.Member && o.from.seq < c.invoked.seq && (!o.to.came() || o.to.seq > c.invoked.seq)
	})
}
