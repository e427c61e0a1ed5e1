package checker

import (
	"fmt"
	"slices"

	"tidemark/model/event"
)

// fencedCommit: a commit of an older generation than one that is known to have
// begun is refused. In a group of the classic protocol all members share one
// generation; with KIP-848 each has an epoch of its own, so only the same member
// counts, and an older epoch may still commit what the member holds (KIP-1251).
type fencedCommit struct{ tally }

func (*fencedCommit) name() string { return "fenced-commit" }

func (w *fencedCommit) finish(f *facts, r *Report) {
	f.groups.place(f)
	for _, g := range f.groups.byName {
		newest := g.newest(func(generation) bool { return true })
		byMember := map[string][]generation{}
		for _, c := range g.commits {
			if c.result != event.CommitOK || c.session.Generation < 0 {
				continue
			}
			w.checks++
			seen := newest
			if perMember := f.profile.perMember(c.client); perMember {
				member := c.session.Member
				if byMember[member] == nil {
					byMember[member] = g.newest(func(x generation) bool { return x.member == member })
				}
				seen = byMember[member]
			}
			x := newestBefore(seen, c.invoked.seq)
			if x == nil || x.number <= c.session.Generation || r.full(w.name(), c.tp) {
				continue
			}
			why := fmt.Sprintf("it was of generation %d, and member %s of generation %d %s before (event %d)", c.session.Generation, x.member, x.number, x.what(), x.seq)
			finding := c.finding(w.name(), why, x.seq, c.invoked.seq, c.done.seq)
			held := f.profile.perMember(c.client) && f.groups.holds(c)
			r.settleTxn(f, finding, circumstances{client: c.client, held: held}, [2]stamp{x.stamp, c.invoked})
		}
	}
}

// newest lists the sights of generations that are newer than all before, by
// event.
func (g *group) newest(of func(generation) bool) []generation {
	seen := slices.Clone(g.generations)
	slices.SortStableFunc(seen, func(a, b generation) int {
		if a.seq < b.seq {
			return -1
		}
		return 1
	})
	rising := []generation{}
	for _, x := range seen {
		if n := len(rising); of(x) && (n == 0 || x.number > rising[n-1].number) {
			rising = append(rising, x)
		}
	}
	return rising
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
