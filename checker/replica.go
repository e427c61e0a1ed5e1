package checker

import (
	"fmt"
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// replica is what the trace tells of one copy of a partition.
type replica struct {
	node kafka.BrokerID
	log  batches
	// leading is the epoch in which the replica last became leader, NoEpoch
	// while it follows; role is the epoch in which it leads or follows.
	leading, role kafka.LeaderEpoch
	// idle: it leads by metadata that is older than the broker's registration,
	// which took every leadership from it and which it must have read before it
	// serves; or in an epoch that the controller has ended meanwhile. Such a
	// leader counts from the first record on that it takes.
	idle bool

	isr []kafka.BrokerID // as it knows it while it leads
	// hw is the high watermark that the replica claims in the present lineage.
	// After another leader cut the lineage it is lowered to the cut, and stale
	// keeps the old claim until the replica takes part in the new lineage: then
	// it has had its chance to truncate, and its claim counts again.
	hw, stale kafka.Offset
	// verified: the log equals the partition's truth below it.
	verified kafka.Offset
	// damaged: its disk may have lost bytes without a power loss; betrayed: it did
	// so under a log that was stopped cleanly.
	damaged, betrayed bool
	// differs: a mismatch was found and the log was not cut since.
	differs bool
	// cleaned: below it records may be missing, because the cleaner passed here, or
	// because they were copied from a replica where it had passed.
	cleaned kafka.Offset

	losses []loss
	// what the disk lost and the replica did not copy again: [lostFrom, lostTo)
	lostFrom, lostTo kafka.Offset
}

// loss is one event that took records from a replica: [from, to).
type loss struct {
	Moment
	from, to kafka.Offset
}

func newReplica(node kafka.BrokerID) *replica {
	return &replica{node: node, leading: kafka.NoEpoch, role: kafka.NoEpoch}
}

// append takes a batch in, in the partition whose truth is given. Somewhere in
// that partition the cleaner has been below an offset: a follower that copies
// there may be given less than was once committed.
func (r *replica) append(e *event.Event, truth *batches, cleaned kafka.Offset) {
	b := batch{base: e.Offset, end: e.End, crc: e.Hash, epoch: e.Epoch, known: true}
	if e.Text == "follower" && r.log.end < cleaned {
		b.cleaned = b.base < cleaned
		r.cleaned = max(r.cleaned, min(b.end, cleaned))
	}
	r.log.add(b)
	r.lower(e.Offset)
	if b.base <= r.lostFrom && r.lostFrom < b.end && firstDifference(&r.log, truth, r.lostFrom, min(b.end, truth.end)) >= min(b.end, truth.end) {
		r.lostFrom = b.end
	}
}

// lower takes back what was said of the log from o on.
func (r *replica) lower(o kafka.Offset) {
	if o < r.verified {
		r.verified = o
	}
}

// cutTo truncates the log to end and remembers what was lost by which event.
func (r *replica) cutTo(end kafka.Offset, e *event.Event, text string) {
	if end >= r.log.end {
		return
	}
	r.losses = append(r.losses, loss{Moment{e.Seq, e.At, e.Node, text}, end, r.log.end})
	r.log.cutTo(end)
	r.lower(end)
	r.hw, r.stale = min(r.hw, end), min(r.stale, end)
	r.cleaned = min(r.cleaned, end)
	r.differs = false
}

// truncated takes a Truncated event in. A full truncation starts a new log.
func (r *replica) truncated(e *event.Event) {
	if e.Text == "full" || e.End > r.log.end {
		r.cutTo(0, e, fmt.Sprintf("broker %d emptied its log (%s) and started again at %d", r.node, e.Text, e.End))
		r.log.restart(e.End)
		r.verified, r.hw = e.End, e.End
		return
	}
	r.cutTo(e.End, e, fmt.Sprintf("broker %d truncated its log from %d to %d (%s)", r.node, e.Offset, e.End, e.Text))
}

// recovered takes the opening of the log in; died is how the last life ended.
// Only a power loss and a fault of the disk are held against it: a process that was killed within
// a truncation has lost what it was about to give up.
func (r *replica) recovered(e *event.Event, died string) {
	if e.End < r.log.end {
		if r.damaged || strings.Contains(died, "power") {
			r.diskLost(e.End)
			r.betrayed = r.damaged && strings.HasPrefix(died, "stop")
		}
		cause, _, _ := strings.Cut(died, " ")
		if cause == "" {
			cause = "restart"
		}
		r.cutTo(e.End, e, fmt.Sprintf("broker %d came back from %s with its log ending at %d, not %d", r.node, cause, e.End, r.log.end))
	}
	r.log.fill(e.End)
	r.leading = kafka.NoEpoch
}

// wiped takes a death that empties the disk in.
func (r *replica) wiped(e *event.Event) {
	if r.log.end > 0 {
		r.diskLost(0)
		r.cutTo(0, e, fmt.Sprintf("broker %d lost its disk", r.node))
	}
	r.log.restart(0)
	r.hw, r.stale = 0, 0
}

// diskLost marks [end, log end) as lost by the disk; call it before the cut.
func (r *replica) diskLost(end kafka.Offset) {
	if r.lostFrom >= r.lostTo {
		r.lostFrom, r.lostTo = end, r.log.end
		return
	}
	r.lostFrom, r.lostTo = min(r.lostFrom, end), max(r.lostTo, r.log.end)
}

// agreeOnEnd corrects the log end to what the replica says when it takes a role,
// and reports whether it says less than its log held without an event that
// explains it. After a power loss (died is how the last life ended) the whole
// directory may be gone; its log is then a new one that nobody recovered.
func (r *replica) agreeOnEnd(e *event.Event, died string) (unexplained bool) {
	if e.End == kafka.NoOffset || e.End == r.log.end {
		return false
	}
	if e.End > r.log.end {
		r.log.fill(e.End)
		return false
	}
	if r.damaged || strings.Contains(died, "power") {
		r.recovered(e, died)
		return false
	}
	r.cutTo(e.End, e, fmt.Sprintf("the log of broker %d ends at %d, not %d, and no event says why", r.node, e.End, r.log.end))
	return true
}

// doom is the last event before an event number that took offset o from this
// replica; its Seq is 0 if none did.
func (r *replica) doom(o kafka.Offset, before uint64) Moment {
	for i := len(r.losses) - 1; i >= 0; i-- {
		if l := &r.losses[i]; l.Seq < before && l.from <= o && o < l.to {
			return l.Moment
		}
	}
	return Moment{}
}

// rejoin lets the claim that was set aside at a cut count again.
func (r *replica) rejoin() {
	r.hw, r.stale = max(r.hw, r.stale), 0
}
