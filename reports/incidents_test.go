package reports_test

import (
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// tornTail has a leader that acknowledges 40 records alone, in four stretches
// with acks=all and others in between with acks=1, and an unclean election that
// gives all of them up; three records before them are on both brokers.
func tornTail() []event.Event {
	s := &story{}
	s.add(20, event.Profile, -1, func(e *event.Event) { e.Text = "min.insync.replicas=1" })
	s.elect(100_000, 1, 0, "create", 1, 2)
	s.role(100_400, event.BecameLeader, 1, 0, 0, 0)
	s.role(100_500, event.BecameFollower, 2, 0, 0, 0)
	at := int64(200_000)
	for o := range kafka.Offset(43) {
		client, acks := "p", int16(-1)
		if o >= 3 && (o-3)%11 >= 8 {
			client, acks = "q", 1
		}
		ack := func(k event.Kind, us int64, to kafka.Offset) {
			s.send(us, k, client, uint64(o+1), to)
			s.events[len(s.events)-1].Acks = acks
		}
		ack(event.SendInvoke, at, -1)
		s.append(at+100, 1, 0, o, o+1, uint64(o+1), "leader")
		if o < 3 {
			s.append(at+200, 2, 0, o, o+1, uint64(o+1), "follower")
		}
		if o == 3 {
			s.isr(at+300, 1, 0, 1)
		}
		s.hw(at+400, 1, o, o+1, "leader")
		ack(event.SendOK, at+500, o)
		at += 40_000
	}
	s.add(at, event.Died, 1, func(e *event.Event) { e.Text = "kill" })
	s.add(at, event.Fault, 1, func(e *event.Event) { e.Text = "heal" })
	s.elect(at+9_000_000, 2, 1, "unclean", 2)
	s.role(at+9_000_400, event.BecameLeader, 2, 1, 3, 2)
	s.hw(at+9_000_500, 2, 2, 3, "leader")
	s.of(at+10_000_000, event.PollOK, 1002, func(e *event.Event) {
		e.Client, e.Offset, e.End, e.Drained = "verify", 0, 3, true
		for o := range kafka.Offset(3) {
			e.Records = append(e.Records, event.Record{Offset: o, Attempt: uint64(o + 1), Hash: uint64(o+1) * 7})
		}
	})
	return s.events
}

// neverPromised loses two records that were acknowledged with acks=1, and
// nothing else.
func neverPromised() []event.Event {
	s := &story{}
	s.elect(100_000, 1, 0, "create", 1, 2)
	s.role(100_400, event.BecameLeader, 1, 0, 0, 0)
	for o := range kafka.Offset(3) {
		at := 200_000 + int64(o)*1000
		for _, k := range []event.Kind{event.SendInvoke, event.SendOK} {
			s.send(at, k, "p", uint64(o+1), o)
			s.events[len(s.events)-1].Acks = 1
		}
		s.append(at, 1, 0, o, o+1, uint64(o+1), "leader")
	}
	s.append(210_000, 2, 0, 0, 1, 1, "follower")
	s.add(300_000, event.Died, 1, func(e *event.Event) { e.Text = "kill" })
	s.elect(9_000_000, 2, 1, "clean", 2)
	s.role(9_000_400, event.BecameLeader, 2, 1, 1, 0)
	s.hw(9_000_500, 2, 0, 1, "leader")
	s.of(9_100_000, event.PollOK, 1002, func(e *event.Event) {
		e.Client, e.Offset, e.End, e.Drained = "verify", 0, 1, true
		e.Records = []event.Record{{Offset: 0, Attempt: 1, Hash: 7}}
	})
	return s.events
}

// emptied is one broker whose power failure takes its log directory. It reads
// in old metadata that it leads, is fenced, and then elected anew.
func emptied() []event.Event {
	s := &story{}
	s.add(20, event.Profile, -1, func(e *event.Event) { e.Text = "min.insync.replicas=1" })
	s.elect(100_000, 1, 0, "create", 1)
	s.role(100_400, event.BecameLeader, 1, 0, 0, 0)
	named := func(us int64, k event.Kind, attempt uint64, offset kafka.Offset, value string) {
		s.send(us, k, "p", attempt, offset)
		s.events[len(s.events)-1].Text = value
	}
	for o := range kafka.Offset(20) {
		at := 200_000 + int64(o)*1000
		named(at, event.SendInvoke, uint64(o+1), -1, "old")
		s.append(at+100, 1, 0, o, o+1, uint64(o+1), "leader")
		s.hw(at+200, 1, o, o+1, "leader")
		named(at+300, event.SendOK, uint64(o+1), o, "old")
	}
	s.add(300_000, event.Died, 1, func(e *event.Event) { e.Text = "power" })
	s.add(1_300_000, event.Boot, 1, nil)
	s.role(1_305_000, event.BecameLeader, 1, 0, 0, 0)
	s.elect(10_000_000, -1, 1, "none")
	s.role(10_000_400, event.BecameFollower, 1, 1, 0, 0)
	s.add(13_900_000, event.Ready, 1, nil)
	s.elect(14_000_000, 1, 2, "last-known-leader", 1)
	s.role(14_000_400, event.BecameLeader, 1, 2, 0, 0)
	named(14_100_000, event.SendInvoke, 21, -1, "new")
	s.append(14_100_100, 1, 2, 0, 1, 21, "leader")
	s.hw(14_100_200, 1, 0, 1, "leader")
	named(14_100_300, event.SendOK, 21, 0, "new")
	s.of(14_200_000, event.PollOK, 1002, func(e *event.Event) {
		e.Client, e.Offset, e.End, e.Drained = "verify", 0, 1, true
		e.Records = []event.Record{{Offset: 0, Attempt: 21, Hash: 147}}
	})
	return s.events
}
