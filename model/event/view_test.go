package event_test

import (
	"slices"
	"testing"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
)

var _ plan.View = (*event.View)(nil)

var t0 = kafka.TopicPartition{Topic: "t"}

func observe(v *event.View, k event.Kind, set func(*event.Event)) {
	e := event.New(k)
	e.Topic = t0.Topic
	set(&e)
	v.Observe(&e)
}

func TestViewTakesLeaderAndISRFromTheControllerAlone(t *testing.T) {
	v := event.NewView()
	if _, known := v.Leader(t0); known {
		t.Error("a partition that was never created has a leader")
	}
	observe(v, event.Elected, func(e *event.Event) { e.Peer, e.ISR = 2, []kafka.BrokerID{3, 1, 2} })
	observe(v, event.BecameLeader, func(e *event.Event) { e.Node, e.ISR = 1, []kafka.BrokerID{1} })
	observe(v, event.ISRProposed, func(e *event.Event) { e.Node, e.ISR = 2, []kafka.BrokerID{2} })
	if l, _ := v.Leader(t0); l != 2 {
		t.Errorf("leader %d, want 2", l)
	}
	if isr, _ := v.ISR(t0); !slices.Equal(isr, []kafka.BrokerID{1, 2, 3}) {
		t.Errorf("ISR %v, want 1 2 3", isr)
	}
	observe(v, event.ISRChanged, func(e *event.Event) { e.Peer, e.ISR = 2, []kafka.BrokerID{2} })
	if isr, _ := v.ISR(t0); !slices.Equal(isr, []kafka.BrokerID{2}) {
		t.Errorf("ISR %v, want 2", isr)
	}
	observe(v, event.Elected, func(e *event.Event) { e.Peer, e.Text = kafka.NoBroker, "none" })
	if l, known := v.Leader(t0); l != kafka.NoBroker || !known {
		t.Errorf("leader %d (known %v), want none, known", l, known)
	}
}

func TestViewForgetsTheReplicaOfADeadNodeUntilItIsBack(t *testing.T) {
	v := event.NewView()
	observe(v, event.BecameFollower, func(e *event.Event) { e.Node, e.Epoch, e.End, e.HighWatermark = 2, 1, 0, 0 })
	observe(v, event.Appended, func(e *event.Event) { e.Node, e.Offset, e.End = 2, 0, 5 })
	observe(v, event.HighWatermarkMoved, func(e *event.Event) { e.Node, e.Offset, e.HighWatermark = 2, 0, 4 })
	if leo, _ := v.LogEnd(2, t0); leo != 5 {
		t.Errorf("log end %d, want 5", leo)
	}
	if hw, _ := v.HighWatermark(2, t0); hw != 4 {
		t.Errorf("high watermark %d, want 4", hw)
	}
	if epoch, _ := v.Epoch(2, t0); epoch != 1 {
		t.Errorf("epoch %d, want 1", epoch)
	}

	observe(v, event.Died, func(e *event.Event) { e.Node, e.Text = 2, "power" })
	if leo, known := v.LogEnd(2, t0); known {
		t.Errorf("a dead replica's log end is said to be %d", leo)
	}
	observe(v, event.Recovered, func(e *event.Event) { e.Node, e.Offset, e.End = 2, 0, 3 })
	if leo, known := v.LogEnd(2, t0); leo != 3 || !known {
		t.Errorf("log end %d (known %v), want 3", leo, known)
	}
	if hw, known := v.HighWatermark(2, t0); known {
		t.Errorf("high watermark %d of the life before", hw)
	}
}

func TestViewClampsTheHighWatermarkToATruncatedLog(t *testing.T) {
	v := event.NewView()
	observe(v, event.BecameFollower, func(e *event.Event) { e.Node, e.End, e.HighWatermark = 1, 9, 7 })
	observe(v, event.Truncated, func(e *event.Event) { e.Node, e.Offset, e.End = 1, 9, 5 })
	if hw, _ := v.HighWatermark(1, t0); hw != 5 {
		t.Errorf("high watermark %d, want 5", hw)
	}
}

func TestViewCountsAcksAndFollowsPositionsByClient(t *testing.T) {
	v := event.NewView()
	for range 3 {
		observe(v, event.SendOK, func(e *event.Event) { e.Client = "p" })
	}
	observe(v, event.SendUnknown, func(e *event.Event) { e.Client = "p" })
	observe(v, event.PollOK, func(e *event.Event) { e.Client, e.Offset, e.End = "c", 0, 7 })
	observe(v, event.PositionReset, func(e *event.Event) { e.Client, e.Offset, e.End = "d", 7, 2 })
	if n := v.Acked("p"); n != 3 {
		t.Errorf("%d acks, want 3", n)
	}
	if o, _ := v.Position("c", t0); o != 7 {
		t.Errorf("position %d, want 7", o)
	}
	if o, _ := v.Position("d", t0); o != 2 {
		t.Errorf("position %d, want 2", o)
	}
	if _, known := v.Position("e", t0); known {
		t.Error("a client that never polled has a position")
	}
}

func TestViewHoldsABrokerFencedFromRegistrationOn(t *testing.T) {
	v := event.NewView()
	if _, known := v.Fenced(3); known {
		t.Error("a broker that never registered is known")
	}
	for _, c := range []struct {
		kind event.Kind
		want bool
	}{{event.Registered, true}, {event.Unfenced, false}, {event.Fenced, true}} {
		observe(v, c.kind, func(e *event.Event) { e.Node, e.Peer = 101, 3 })
		if fenced, known := v.Fenced(3); fenced != c.want || !known {
			t.Errorf("after %s: fenced %v (known %v)", c.kind, fenced, known)
		}
	}
}
