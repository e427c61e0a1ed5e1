package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Kafka bounds neither lag nor recovery. A profile may (bound.lag.ms,
// bound.recovery.ms, bound.stuck.ms), and then these rules judge by it.

// recovery: so long after the last fault every partition has a leader, every
// send is acknowledged and every reader reaches the end.
type recovery struct{ tally }

// faults is when the cluster was disturbed.
type faults struct {
	last stamp
	all  []stamp
	down []kafka.BrokerID // dead or fenced
}

// disturbs reports whether an event is a fault or the mending of one.
func disturbs(e *event.Event) bool {
	switch e.Kind {
	case event.Died, event.Boot, event.Ready, event.Paused, event.Resumed, event.Fault, event.StorageFailed, event.ShutdownStarted:
		return true
	}
	return false
}

func (x *faults) observe(e *event.Event) {
	if disturbs(e) {
		x.last = stampOf(e)
		x.all = append(x.all, x.last)
	}
	switch e.Kind {
	case event.Died:
		x.away(e.Node)
	case event.Fenced:
		x.away(e.Peer)
	case event.Unfenced:
		x.down = slices.DeleteFunc(x.down, func(b kafka.BrokerID) bool { return b == e.Peer })
	}
}

func (x *faults) away(b kafka.BrokerID) {
	if !slices.Contains(x.down, b) {
		x.down = append(x.down, b)
	}
}

func (*recovery) name() string { return "recovery" }

func (w *recovery) finish(f *facts, r *Report) {
	bound := f.profile.millis("", boundRecovery, 0)
	if bound > 0 {
		bound += 2 * f.clocks.largest
	}
	deadline := f.faults.last.at + bound
	if bound <= 0 || f.ended.at < deadline {
		return
	}
	for _, p := range f.sorted() {
		w.leader(f, r, p, deadline)
	}
	for s := range f.history.sends.each() {
		if s.at < f.faults.last.at || s.at+bound > f.ended.at {
			continue
		}
		w.checks++
		if (s.outcome != event.SendOK || s.doneAt > s.at+bound) && !r.full(w.name(), s.tp) {
			r.settle(f, w.late(f, s.tp, s.client, s.invoked, s.at, fmt.Sprintf("%s was sent (event %d) and not acknowledged within %d ms", s.what(), s.invoked, bound/1_000_000)), circumstances{client: s.client})
		}
	}
	for _, rd := range f.history.sorted() {
		w.readers(f, r, rd, deadline, bound)
	}
}

func (w *recovery) leader(f *facts, r *Report, p *partition, deadline int64) {
	var last *election
	for i := range p.elections {
		if l := &p.elections[i]; l.At <= deadline {
			last = l
		}
	}
	if last == nil {
		return
	}
	w.checks++
	if last.leader == kafka.NoBroker && !r.full(w.name(), p.tp) {
		r.settle(f, w.late(f, p.tp, "", last.Seq, last.At, fmt.Sprintf("it has no leader since event %d", last.Seq)), circumstances{})
	}
}

// readers judges each client that polls after the deadline: its first poll that
// began after it must reach, or have gone past, all that was acknowledged by then.
func (w *recovery) readers(f *facts, r *Report, rd *reading, deadline, bound int64) {
	end := kafka.Offset(0)
	x := rd.index(&f.history)
	for i := range x.places {
		if p := &x.places[i]; p.acked && p.send.doneAt <= deadline-bound {
			end = max(end, p.offset+1)
		}
	}
	last := map[string]*poll{}
	var readers []*poll
	for i := range rd.polls.len() {
		p := rd.polls.at(i)
		if last[p.client] == nil {
			readers = append(readers, p)
		}
		last[p.client] = p
	}
	for _, first := range readers {
		p := last[first.client]
		if p.at < deadline {
			continue
		}
		w.checks++
		if p.end < end && !r.full(w.name(), rd.tp) {
			r.settle(f, w.late(f, rd.tp, p.client, p.seq, p.at, fmt.Sprintf("%s reads at %d (event %d), and %d was acknowledged before", p.client, p.end, p.seq, end-1)), circumstances{client: p.client})
		}
	}
}

func (w *recovery) late(f *facts, tp kafka.TopicPartition, client string, seq uint64, at int64, what string) Finding {
	x := Finding{Rule: w.name(), Verdict: Violation, Seq: seq, At: at, TP: tp, Offset: kafka.NoOffset, Last: kafka.NoOffset, Node: kafka.NoBroker, Epoch: kafka.NoEpoch,
		Client: client, Witness: []uint64{seq}, Text: fmt.Sprintf("%s: %s; the last fault was event %d", tp, what, f.faults.last.seq)}
	if f.faults.last.seq > 0 {
		x.Witness = append(x.Witness, f.faults.last.seq)
	}
	return x
}

// disturbed reports whether a fault, or its mending, lies or may lie between an event
// and a time.
func (f *facts) disturbed(after stamp, until int64) bool {
	all := f.faults.all
	i, _ := slices.BinarySearchFunc(all, after.seq, func(s stamp, seq uint64) int { return cmp.Compare(s.seq, seq) })
	if i > 0 && !f.clocks.before(all[i-1], after) {
		return true
	}
	return i < len(all) && all[i].at <= until
}
