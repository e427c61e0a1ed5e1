package checker

import (
	"slices"
	"sort"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// partition is the lineage of one partition: what each replica holds and what
// was ever committed.
//
//	truth     what leaders committed: the log below the true high watermark
//	            ├── equal to it below `verified` ──┤ may still differ │
//	replica   [ b0 ][ b1 ][ b2 ]...................[ b7 ][ b8 ]       log end
//
// The true high watermark is the largest that any leader reached. A leader that
// starts without a record below it cuts the lineage: the truth goes on from
// what that leader holds, so that one loss is found once.
type partition struct {
	tp      kafka.TopicPartition
	truth   batches
	commits []commit // ascending ends: by whom the truth was extended
	// The newest epoch in which a leader started, and that leader.
	epoch     kafka.LeaderEpoch
	leader    *replica
	elections []election
	isr       []kafka.BrokerID
	sizes     []isrSize  // of the ISR, as the controller committed it
	replicas  []*replica // by node
	cuts      []*cut
}

// commit is one step of the true high watermark to end.
type commit struct {
	Moment
	end   kafka.Offset
	epoch kafka.LeaderEpoch
	isr   int // its size as the leader knew it, 0 for not known
}

// isrSize is the size of the ISR from an event on.
type isrSize struct {
	seq  uint64
	size int
}

// election is what the controller decided.
type election struct {
	Moment
	leader kafka.BrokerID
	epoch  kafka.LeaderEpoch
	how    string
}

// unclean reports whether the election gave up the promise of durability.
func (l *election) unclean() bool { return l.how == "unclean" || l.how == "last-known-leader" }

// cut is one loss of committed records: [from, to) is not what the leader holds.
type cut struct {
	Moment  // the leader's start
	from    kafka.Offset
	to      kafka.Offset // the true high watermark before
	logEnd  kafka.Offset // of the new leader
	epoch   kafka.LeaderEpoch
	by      commit // who had committed the record at from
	doom    Moment // what took it from the new leader; Seq 0: it never had it
	premise string // which premise was broken before, "" for none
}

// mismatch is a replica that differs from the truth at an offset below its own
// high watermark.
type mismatch struct {
	replica *replica
	at      kafka.Offset
}

func newPartition(tp kafka.TopicPartition) *partition {
	return &partition{tp: tp, epoch: kafka.NoEpoch}
}

func (p *partition) replica(node kafka.BrokerID) *replica {
	i := sort.Search(len(p.replicas), func(i int) bool { return p.replicas[i].node >= node })
	if i == len(p.replicas) || p.replicas[i].node != node {
		p.replicas = slices.Insert(p.replicas, i, newReplica(node))
	}
	return p.replicas[i]
}

// cleaned takes a pass of the cleaner in: of one replica, or of all.
func (p *partition) cleaned(e *event.Event) {
	for _, r := range p.replicas {
		if r.node == e.Node || e.Node == kafka.NoBroker {
			r.cleaned = max(r.cleaned, min(e.End, r.log.end))
		}
	}
}

// cleanedUpTo is where the cleaner has been on any replica; each cleans for itself.
func (p *partition) cleanedUpTo() kafka.Offset {
	upTo := kafka.Offset(0)
	for _, r := range p.replicas {
		upTo = max(upTo, r.cleaned)
	}
	return upTo
}

// elected takes a decision of the controller in.
func (p *partition) elected(e *event.Event) {
	p.elections = append(p.elections, election{Moment{Seq: e.Seq, At: e.At, Node: e.Node}, e.Peer, e.Epoch, e.Text})
	p.setISR(e)
	for _, b := range e.ISR {
		p.replica(b)
	}
}

// superseded reports whether the controller has decided on a later leader.
func (p *partition) superseded(epoch kafka.LeaderEpoch) bool {
	n := len(p.elections)
	return n > 0 && p.elections[n-1].epoch > epoch
}

// isrChanged takes a committed ISR in. A replica that comes back into the ISR
// has been checked by the leader: its claims count again.
func (p *partition) isrChanged(e *event.Event) {
	for _, b := range e.ISR {
		if !slices.Contains(p.isr, b) && e.Epoch >= p.epoch {
			p.replica(b).rejoin()
		}
	}
	p.setISR(e)
}

func (p *partition) setISR(e *event.Event) {
	p.isr = slices.Clone(e.ISR)
	p.sizes = append(p.sizes, isrSize{e.Seq, len(e.ISR)})
}

// largestISR is the largest size of the ISR between two events, 0 if it is not
// known.
func (p *partition) largestISR(from, to uint64) int {
	largest := 0
	for i := len(p.sizes) - 1; i >= 0; i-- {
		if p.sizes[i].seq < to {
			largest = max(largest, p.sizes[i].size)
		}
		if p.sizes[i].seq < from {
			break
		}
	}
	return largest
}

// uncleanSince returns an unclean election of an epoch in (after, upTo].
func (p *partition) uncleanSince(after, upTo kafka.LeaderEpoch) *election {
	for i := range p.elections {
		if l := &p.elections[i]; l.epoch > after && l.epoch <= upTo && l.unclean() {
			return l
		}
	}
	return nil
}

// committer is the commit that covered offset o.
func (p *partition) committer(o kafka.Offset) commit {
	i := sort.Search(len(p.commits), func(i int) bool { return p.commits[i].end > o })
	if i == len(p.commits) {
		return commit{}
	}
	return p.commits[i]
}

// cutOver is the cut that took the record at offset o, which was sent at event
// invoked and acknowledged at event acked: the first after the acknowledgement,
// else the last before it (the answer was on its way); nil for none.
func (p *partition) cutOver(o kafka.Offset, invoked, acked uint64) *cut {
	var found *cut
	for _, c := range p.cuts {
		if c.Seq < invoked || o < c.from || o >= c.to {
			continue
		}
		found = c
		if c.Seq > acked {
			return c
		}
	}
	return found
}

// excuseBetween is the premise that was broken for offset o between two events:
// by a cut, or, where no replica was watched, by an unclean election. "" for none.
func (p *partition) excuseBetween(o kafka.Offset, after, before uint64) string {
	for _, c := range p.cuts {
		if c.premise != "" && c.from <= o && o < c.to && c.Seq > after && c.Seq < before {
			return c.premise
		}
	}
	if p.leader != nil {
		return ""
	}
	for i := range p.elections {
		if l := &p.elections[i]; l.unclean() && l.Seq > after && l.Seq < before {
			return uncleanPremise(l)
		}
	}
	return ""
}

// lead takes the start of a leader in and returns the cut that it makes, if
// any. The start of a leader that is older than the present one cuts nothing.
func (p *partition) lead(r *replica, e *event.Event, minISR int) *cut {
	if r.leading < p.epoch {
		return nil
	}
	start := max(r.verified, r.log.start)
	from := firstDifference(&r.log, &p.truth, min(start, p.truth.end), p.truth.end)
	r.verified = from
	var c *cut
	if from < p.truth.end {
		c = &cut{Moment: Moment{e.Seq, e.At, e.Node, ""}, from: from, to: p.truth.end, logEnd: r.log.end, epoch: r.leading, by: p.committer(from)}
		c.doom = r.doom(from, e.Seq)
		c.premise = p.brokenPremise(from, r.leading, minISR)
		p.cut(c, r)
	}
	p.epoch, p.leader = r.leading, r
	return c
}

// cut lets the truth go on from what the leader holds.
func (p *partition) cut(c *cut, leader *replica) {
	p.cuts = append(p.cuts, c)
	p.truth.cutTo(c.from)
	if i := sort.Search(len(p.commits), func(i int) bool { return p.commits[i].end > c.from }); i < len(p.commits) {
		p.commits[i].end = c.from
		p.commits = p.commits[:i+1]
	}
	for _, r := range p.replicas {
		r.lower(c.from)
		r.lostTo = min(r.lostTo, c.from)
		if r != leader && r.hw > c.from {
			r.hw, r.stale = c.from, r.hw
		}
	}
}

// commit extends the truth to the high watermark of a leader. It returns the
// offset from which the present leader, of a later epoch, does not hold what
// this one committed; or hw if there is no such offset.
func (p *partition) commit(r *replica, hw kafka.Offset, e *event.Event) kafka.Offset {
	if hw <= p.truth.end {
		return hw
	}
	if r != p.leader && p.leader != nil && r.leading < p.epoch {
		if at := firstDifference(&r.log, &p.leader.log, p.truth.end, hw); at < hw {
			return at
		}
	}
	contiguous := r.verified >= p.truth.end
	p.truth.copyFrom(&r.log, hw)
	if contiguous {
		r.verified = max(r.verified, hw)
	}
	by := commit{Moment: Moment{Seq: e.Seq, At: e.At, Node: r.node}, end: hw, epoch: r.leading}
	if e.Kind == event.HighWatermarkMoved {
		by.isr = len(r.isr)
	}
	p.commits = append(p.commits, by)
	return hw
}

// verify compares every replica with the truth as far as both high watermarks
// reach and it was not compared before.
func (p *partition) verify(found []mismatch) (int, []mismatch) {
	checks := 0
	for _, r := range p.replicas {
		from, to := max(r.verified, r.log.start), min(r.hw, p.truth.end, r.log.end)
		if r.differs || from >= to {
			continue
		}
		checks++
		r.verified = firstDifference(&r.log, &p.truth, from, to)
		if r.verified < to {
			r.differs = true
			found = append(found, mismatch{r, r.verified})
		}
	}
	return checks, found
}
