package checker

import (
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// leaderInISR: the controller elects a leader out of the ISR, or out of the
// eligible leader replicas when the ISR is empty, or says that it is unclean.
type leaderInISR struct {
	tally
	isr map[kafka.TopicPartition]committedISR
}

// committedISR is the ISR as the controller left it, and who may be an eligible
// leader replica besides: whoever left the ISR since it has fewer members than
// min.insync.replicas (KIP-966). An unclean shutdown takes a broker off that
// list, which no event tells, so it is the longest that the list can be.
type committedISR struct {
	seq      uint64
	isr      []kafka.BrokerID
	eligible []kafka.BrokerID
}

// after is the ISR after another change.
func (c *committedISR) after(f *facts, e *event.Event) committedISR {
	next := committedISR{seq: e.Seq, isr: slices.Clone(e.ISR)}
	if unclean(e) || len(e.ISR) >= f.profile.minISR(e.Topic) || f.profile.topic(e.Topic, eligibleLeaders) == "0" {
		return next
	}
	for _, b := range slices.Concat(c.eligible, c.isr) {
		if !slices.Contains(e.ISR, b) && !slices.Contains(next.eligible, b) {
			next.eligible = append(next.eligible, b)
		}
	}
	return next
}

// unclean reports whether an election gave up the promise of durability.
func unclean(e *event.Event) bool { return e.Text == "unclean" || e.Text == "last-known-leader" }

func (*leaderInISR) name() string { return "leader-in-isr" }

func (*leaderInISR) kinds() []event.Kind { return []event.Kind{event.Elected, event.ISRChanged} }

func (w *leaderInISR) observe(f *facts, e *event.Event, r *Report) {
	if w.isr == nil {
		w.isr = map[kafka.TopicPartition]committedISR{}
	}
	was := w.isr[e.TP()]
	w.isr[e.TP()] = was.after(f, e)
	if e.Kind != event.Elected || e.Peer == kafka.NoBroker || unclean(e) {
		return
	}
	w.checks++
	why := ""
	switch {
	case !slices.Contains(e.ISR, e.Peer):
		why = "it is not in the ISR that the election sets"
	case len(was.isr) > 0 && !slices.Contains(was.isr, e.Peer) && !slices.Contains(was.eligible, e.Peer) && e.Text != "create":
		why = fmt.Sprintf("the ISR was %s (event %d), and the election is called %s", isrText(was.isr), was.seq, e.Text)
	}
	if why != "" && !r.full(w.name(), e.TP()) {
		witness := []uint64{e.Seq}
		if was.seq > 0 {
			witness = append(witness, was.seq)
		}
		r.settle(f, Finding{Rule: w.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: e.TP(), Offset: kafka.NoOffset, Last: kafka.NoOffset,
			Node: e.Peer, Epoch: e.Epoch, Witness: witness,
			Text: fmt.Sprintf("%s: broker %d was elected in epoch %d (event %d): %s", e.TP(), e.Peer, e.Epoch, e.Seq, why)}, circumstances{inside: true})
	}
}
