package controller

import (
	"slices"
	"testing"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

func TestHeartbeatMovesABrokerAsTheStateTableSays(t *testing.T) {
	leads := func(w *world) {} // broker 1 leads orders-0
	idle := func(w *world) { w.loseLeadership() }
	fenced := func(w *world) { w.fenceNow(1) }
	for _, c := range []struct {
		name   string
		before func(*world)
		want   []func(*HeartbeatRequest)
		reply  HeartbeatReply
		kind   event.Kind // of the first event of the heartbeat, 0: none
	}{
		{"fenced stays fenced", fenced, []func(*HeartbeatRequest){wantFence}, HeartbeatReply{CaughtUp: true, Fenced: true}, 0},
		{"fenced, caught up", fenced, nil, HeartbeatReply{CaughtUp: true}, event.Unfenced},
		{"fenced, behind its registration", fenced, []func(*HeartbeatRequest){at(2)}, HeartbeatReply{Fenced: true}, 0},
		{"fenced, at its registration", fenced, []func(*HeartbeatRequest){at(3)}, HeartbeatReply{CaughtUp: true}, event.Unfenced},
		{"fenced, wants to stop", fenced, []func(*HeartbeatRequest){wantShutdown}, HeartbeatReply{CaughtUp: true, Fenced: true, ShouldShutdown: true}, 0},
		{"unfenced goes on", leads, nil, HeartbeatReply{CaughtUp: true}, 0},
		{"unfenced wants the fence", leads, []func(*HeartbeatRequest){wantFence}, HeartbeatReply{CaughtUp: true, Fenced: true}, event.Fenced},
		{"unfenced wants fence and stop", leads, []func(*HeartbeatRequest){wantFence, wantShutdown},
			HeartbeatReply{CaughtUp: true, Fenced: true, ShouldShutdown: true}, event.Fenced},
		{"leader wants to stop", leads, []func(*HeartbeatRequest){wantShutdown}, HeartbeatReply{CaughtUp: true}, event.ShutdownStarted},
		{"idle broker wants to stop", idle, []func(*HeartbeatRequest){wantShutdown},
			HeartbeatReply{CaughtUp: true, Fenced: true, ShouldShutdown: true}, event.Fenced},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, elr).threeBrokers()
			c.before(w)
			w.env.events = nil
			if got := w.beat(1, c.want...); got != c.reply {
				t.Errorf("answered %+v, want %+v", got, c.reply)
			}
			var kind event.Kind
			if len(w.env.events) > 0 {
				kind = w.env.events[0].Kind
			}
			if kind != c.kind {
				t.Errorf("the trace tells of %v, want %d", w.env.kinds(), c.kind)
			}
		})
	}
}

// loseLeadership makes broker 1 lead nothing while it stays unfenced.
func (w *world) loseLeadership() {
	w.fenceNow(1)
	w.beat(1)
}

func TestControlledShutdownEndsWhenEveryActiveBrokerHasHeardOfIt(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.beat(1, wantShutdown)
	start := w.Image().Offset()
	w.want(2, brokers(2, 3), nil)
	w.beat(2, at(start))
	w.beat(3, at(start-1))
	w.after(time.Second) // no-op records do not move the goal
	if r := w.beat(1, wantShutdown); r.ShouldShutdown {
		t.Fatal("broker 3 may still fetch from a leader that is let go")
	}
	w.beat(3, at(start))
	if r := w.beat(1, wantShutdown); !r.ShouldShutdown || !r.Fenced {
		t.Errorf("answered %+v", r)
	}
	if b, _ := w.Image().Broker(1); !b.Fenced || !b.InControlledShutdown {
		t.Errorf("after the grant the registration is %+v", b)
	}
}

func TestNobodyWaitsForAFencedBrokerAtAControlledShutdown(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.beat(1, wantShutdown)
	w.beat(2)
	w.fenceNow(3)
	w.beat(2)
	if r := w.beat(1, wantShutdown); !r.ShouldShutdown {
		t.Errorf("answered %+v", r)
	}
}

func TestABrokerFencedInControlledShutdownIsLetGoAtOnce(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.beat(1, wantShutdown)
	for range 3 {
		w.after(4 * time.Second)
		w.beat(2, at(0))
		w.beat(3, at(0))
	}
	if b, _ := w.Image().Broker(1); !b.Fenced {
		t.Fatal("the session did not end")
	}
	if r := w.beat(1, wantShutdown); !r.ShouldShutdown {
		t.Errorf("answered %+v", r)
	}
}

func TestAHeartbeatOfAnotherLifeIsStale(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	for _, req := range []HeartbeatRequest{{BrokerID: 1, BrokerEpoch: 999}, {BrokerID: 9, BrokerEpoch: 0}} {
		w.Heartbeat(req, func(code kafka.ErrorCode, _ HeartbeatReply) {
			if code != kafka.StaleBrokerEpoch {
				t.Errorf("broker %d in epoch %d: %s", req.BrokerID, req.BrokerEpoch, code)
			}
		})
	}
}

// KAFKA-13173: each expiry sees the one before.
func TestSilentBrokersAreFencedOneByOneEachOnTheStateTheLastOneLeft(t *testing.T) {
	w := newWorld(t, elr).threeBrokers(minISR("1"))
	w.after(3 * time.Second)
	w.beat(3)
	w.env.events = nil
	w.after(9 * time.Second)
	w.want(3, brokers(3), nil)
	var fenced []kafka.BrokerID
	for _, e := range w.env.events {
		if e.Kind == event.Fenced {
			fenced = append(fenced, e.Peer)
		}
	}
	if !slices.Equal(fenced, brokers(1, 2)) {
		t.Errorf("fenced in order %v", fenced)
	}
	w.after(5 * time.Second)
	w.want(kafka.NoBroker, nil, brokers(3))
}

func TestASessionLastsNineSecondsAndIsCheckedEightTimesInThem(t *testing.T) {
	w := newWorld(t, elr)
	w.register(1, 1, kafka.NoBrokerEpoch)
	w.beat(1)
	w.after(9 * time.Second) // checks at 1.125 s, 2.25 s ... 9 s
	if b, _ := w.Image().Broker(1); b.Fenced {
		t.Error("fenced within the session")
	}
	w.after(1125 * time.Millisecond)
	if b, _ := w.Image().Broker(1); !b.Fenced {
		t.Error("not fenced at the first check after the session")
	}
}

func TestAnIdleControllerWritesANoOpEveryHalfSecond(t *testing.T) {
	w := newWorld(t, elr)
	before := w.log.next
	w.after(2 * time.Second)
	if got := w.log.next - before; got != 4 {
		t.Errorf("%d records in two idle seconds", got)
	}
	quiet := newWorld(t, elr, kafka.Pair{Key: kafka.MetadataMaxIdleMs, Value: "0"})
	before = quiet.log.next
	quiet.after(2 * time.Second)
	if quiet.log.next != before {
		t.Error("no-op records although they are turned off")
	}
}
