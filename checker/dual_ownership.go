package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// dualOwnership: no two members of a group hold a partition at the same time, as
// far as that is certain. What a member believes is not: one whose session ran
// out does not know it. Certain is that it holds the partition
//
//	from its assignment, the last one: not every client tells what it gives up
//	to the last commit that the coordinator took from it in that generation, or
//	to its own revocation, if that came within its session's timeout of either;
//	a static member may be replaced at any time (KIP-345)
//
// because the coordinator gives the partition away only after the one or the
// other. That holds for the eager, the cooperative and the new protocol.
type dualOwnership struct{ tally }

func (*dualOwnership) name() string { return "dual-ownership" }

// hold is a certain interval of an ownership.
type hold struct {
	*ownership
	until stamp
	why   string
}

func (w *dualOwnership) finish(f *facts, r *Report) {
	for _, p := range f.groups.order {
		var holds []hold
		for _, o := range p.owners {
			holds = append(holds, f.certain(o))
		}
		slices.SortStableFunc(holds, func(a, b hold) int { return cmp.Compare(a.from.seq, b.from.seq) })
		w.checks += len(holds)
		for _, pair := range overlaps(holds) {
			a, b := pair[0], pair[1]
			if r.full(w.name(), p.tp) {
				break
			}
			r.settleTxn(f, Finding{Rule: w.name(), Verdict: Violation, Seq: max(a.until.seq, b.from.seq), At: max(a.until.at, b.from.at),
				TP: p.tp, Offset: kafka.NoOffset, Last: kafka.NoOffset, Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: b.client,
				Witness: witnesses(a.from.seq, b.from.seq, a.until.seq),
				Text: fmt.Sprintf("%s: %s was assigned it in group %s (event %d) while %s held it: that one was assigned it (event %d) and %s (event %d)",
					p.tp, b.client, p.group, b.from.seq, a.client, a.from.seq, a.why, a.until.seq)}, circumstances{client: b.client}, [2]stamp{b.from, a.until}, [2]stamp{a.from, b.until})
		}
	}
}

// overlaps finds, for intervals by their start, each that begins within an
// earlier one of another client: with the one that lasts longest.
func overlaps(holds []hold) [][2]hold {
	var found [][2]hold
	var longest, other *hold // of any client, and of any but that one
	for i := range holds {
		h := &holds[i]
		before := longest
		if before != nil && before.client == h.client {
			before = other
		}
		if before != nil && h.from.seq < before.until.seq {
			found = append(found, [2]hold{*before, *h})
		}
		switch {
		case longest == nil || h.until.seq > longest.until.seq:
			if longest != nil && longest.client != h.client {
				other = longest
			}
			longest = h
		case h.client != longest.client && (other == nil || h.until.seq > other.until.seq):
			other = h
		}
	}
	return found
}

// certain is how long an ownership lasts for certain.
func (f *facts) certain(o *ownership) hold {
	h := hold{o, o.proven, o.provenText}
	static := f.profile.settings[scopedKey{"consumer " + o.client, "group.instance.id"}] != ""
	if o.how != event.Revoked || o.to.seq < o.proven.seq || static {
		return h
	}
	if f.clocks.most(o.proven, o.to) < f.sessionTimeout(o.client) {
		h.until, h.why = o.to, "gave it up"
	}
	return h
}
