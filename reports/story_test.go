package reports_test

import (
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// story writes a trace by hand; times are in microseconds.
type story struct{ events []event.Event }

func (s *story) add(us int64, k event.Kind, node kafka.BrokerID, set func(*event.Event)) {
	e := event.New(k)
	e.Seq, e.At, e.Node = uint64(len(s.events)+1), us*1000, node
	if set != nil {
		set(&e)
	}
	s.events = append(s.events, e)
}

// of adds an event of partition orders-0.
func (s *story) of(us int64, k event.Kind, node kafka.BrokerID, set func(*event.Event)) {
	s.add(us, k, node, func(e *event.Event) {
		e.Topic = "orders"
		if set != nil {
			set(e)
		}
	})
}

func (s *story) elect(us int64, leader kafka.BrokerID, epoch kafka.LeaderEpoch, how string, isr ...kafka.BrokerID) {
	s.of(us, event.Elected, 101, func(e *event.Event) { e.Peer, e.Epoch, e.Text, e.ISR = leader, epoch, how, isr })
}

func (s *story) isr(us int64, leader kafka.BrokerID, epoch kafka.LeaderEpoch, isr ...kafka.BrokerID) {
	s.of(us, event.ISRChanged, 101, func(e *event.Event) { e.Peer, e.Epoch, e.ISR = leader, epoch, isr })
}

func (s *story) role(us int64, k event.Kind, node kafka.BrokerID, epoch kafka.LeaderEpoch, end, hw kafka.Offset) {
	s.of(us, k, node, func(e *event.Event) { e.Epoch, e.End, e.HighWatermark = epoch, end, hw })
}

func (s *story) append(us int64, node kafka.BrokerID, epoch kafka.LeaderEpoch, base, end kafka.Offset, crc uint64, role string) {
	s.of(us, event.Appended, node, func(e *event.Event) { e.Epoch, e.Offset, e.End, e.Hash, e.Text = epoch, base, end, crc, role })
}

func (s *story) hw(us int64, node kafka.BrokerID, before, after kafka.Offset, role string) {
	s.of(us, event.HighWatermarkMoved, node, func(e *event.Event) { e.Offset, e.HighWatermark, e.Text = before, after, role })
}

func (s *story) send(us int64, k event.Kind, client string, attempt uint64, offset kafka.Offset) {
	s.of(us, k, 1001, func(e *event.Event) {
		e.Client, e.Attempt, e.Hash, e.Offset, e.Acks = client, attempt, attempt*7, offset, -1
	})
}

// highWatermarkTruncation is the first story of KIP-101 as KRaft can tell it: a
// follower of a preferred election cuts its log to its high watermark, and the
// leader that it would have copied from dies.
func highWatermarkTruncation() []event.Event {
	s := &story{}
	for id := kafka.BrokerID(1); id <= 3; id++ {
		s.add(10, event.Ready, id, nil)
	}
	s.add(20, event.Profile, -1, func(e *event.Event) { e.Text = "min.insync.replicas=2" })
	s.elect(512_000, 2, 0, "create", 1, 2, 3)
	s.role(512_400, event.BecameLeader, 2, 0, 0, 0)
	s.role(512_500, event.BecameFollower, 1, 0, 0, 0)
	s.role(512_500, event.BecameFollower, 3, 0, 0, 0)
	s.send(700_000, event.SendInvoke, "p", 1, -1)
	s.append(700_900, 2, 0, 0, 1, 11, "leader")
	s.append(701_800, 1, 0, 0, 1, 11, "follower")
	s.append(701_900, 3, 0, 0, 1, 11, "follower")
	s.hw(702_900, 2, 0, 1, "leader")
	s.send(703_300, event.SendOK, "p", 1, 0)
	s.hw(703_700, 1, 0, 1, "follower")
	s.hw(703_800, 3, 0, 1, "follower")
	s.add(900_000, event.Fault, 2, func(e *event.Event) { e.Peer, e.Text = 1, "hold 2 -> 1 fetch answer" })
	s.send(950_000, event.SendInvoke, "p", 2, -1)
	s.append(950_800, 2, 0, 1, 2, 12, "leader")
	s.append(951_700, 1, 0, 1, 2, 12, "follower")
	s.append(951_800, 3, 0, 1, 2, 12, "follower")
	s.hw(952_800, 2, 1, 2, "leader")
	s.send(953_200, event.SendOK, "p", 2, 1)
	s.elect(1_200_000, 3, 1, "preferred", 1, 2, 3)
	s.role(1_200_600, event.BecameLeader, 3, 1, 2, 1)
	s.role(1_200_700, event.BecameFollower, 1, 1, 2, 1)
	s.of(1_200_750, event.Truncated, 1, func(e *event.Event) { e.Offset, e.End, e.Epoch, e.Text = 2, 1, 1, "to-hw" })
	s.role(1_200_900, event.BecameFollower, 2, 1, 2, 2)
	s.add(1_201_000, event.Died, 3, func(e *event.Event) { e.Text = "kill" })
	s.elect(10_204_000, 1, 2, "clean", 1, 2)
	s.role(10_204_500, event.BecameLeader, 1, 2, 1, 1)
	s.send(10_300_000, event.SendInvoke, "p", 3, -1)
	s.append(10_300_700, 1, 2, 1, 2, 13, "leader")
	s.role(10_301_000, event.BecameFollower, 2, 2, 2, 2)
	s.hw(10_302_000, 1, 1, 2, "leader")
	s.send(10_302_500, event.SendOK, "p", 3, 1)
	s.add(11_000_000, event.Boot, 3, nil)
	s.of(11_100_000, event.Recovered, 3, func(e *event.Event) { e.Offset, e.End, e.Text = 0, 2, "unclean" })
	s.role(12_400_000, event.BecameFollower, 3, 2, 2, 1)
	s.of(12_400_100, event.Truncated, 3, func(e *event.Event) { e.Offset, e.End, e.Text = 2, 1, "to-hw" })
	s.append(12_402_000, 3, 2, 1, 2, 13, "follower")
	s.isr(12_410_000, 1, 2, 1, 2, 3)
	s.hw(12_411_000, 3, 1, 2, "follower")
	s.of(13_000_000, event.PositionReset, 1002, func(e *event.Event) { e.Client, e.Offset, e.End, e.Text = "verify", 0, 0, "assign" })
	s.of(13_004_000, event.PollOK, 1002, func(e *event.Event) {
		e.Client, e.Offset, e.End, e.HighWatermark, e.Drained = "verify", 0, 2, 2, true
		e.Records = []event.Record{{Offset: 0, Epoch: 0, Attempt: 1, Hash: 7}, {Offset: 1, Epoch: 2, Attempt: 3, Hash: 21}}
	})
	return s.events
}

// crowdedRun has two hundred records, a slow follower, a shrinking ISR, power
// losses and an unclean election: a picture with little room.
func crowdedRun() []event.Event {
	s := &story{}
	s.add(20, event.Profile, -1, func(e *event.Event) { e.Text = "min.insync.replicas=1" })
	s.elect(100_000, 1, 0, "create", 1, 2, 3)
	s.role(100_400, event.BecameLeader, 1, 0, 0, 0)
	at := int64(200_000)
	for i := int64(0); i < 200; i++ {
		o := kafka.Offset(i)
		s.send(at, event.SendInvoke, "p", uint64(i+1), -1)
		s.append(at+800, 1, 0, o, o+1, uint64(i+1), "leader")
		if i < 120 {
			s.append(at+1700, 2, 0, o, o+1, uint64(i+1), "follower")
			s.append(at+1800, 3, 0, o, o+1, uint64(i+1), "follower")
		}
		if i == 120 {
			s.add(at+1000, event.Fault, 1, func(e *event.Event) { e.Peer, e.Text = 2, "cut 1 <-> 2" })
			s.add(at+1000, event.Fault, 1, func(e *event.Event) { e.Peer, e.Text = 3, "cut 1 <-> 3" })
		}
		if i == 150 {
			s.isr(at+1500, 1, 0, 1, 2)
			s.isr(at+1600, 1, 0, 1)
		}
		if i < 120 || i > 150 {
			s.hw(at+2000, 1, o, o+1, "leader")
			s.send(at+2300, event.SendOK, "p", uint64(i+1), o)
		}
		at += 40_000
	}
	s.add(at, event.Died, 1, func(e *event.Event) { e.Text = "power lose=all" })
	s.elect(at+9_000_000, -1, 1, "none", 1)
	s.elect(at+9_100_000, 2, 2, "unclean", 2)
	s.role(at+9_100_900, event.BecameLeader, 2, 2, 120, 119)
	s.send(at+9_200_000, event.SendInvoke, "p", 900, -1)
	s.append(at+9_200_400, 2, 2, 120, 121, 900, "leader")
	s.hw(at+9_200_500, 2, 119, 121, "leader")
	s.send(at+9_200_900, event.SendOK, "p", 900, 120)
	s.add(at+9_400_000, event.Boot, 1, nil)
	s.of(at+9_500_000, event.Recovered, 1, func(e *event.Event) { e.End = 170 })
	s.role(at+9_900_000, event.BecameFollower, 1, 2, 170, 120)
	s.of(at+9_901_000, event.Truncated, 1, func(e *event.Event) { e.Offset, e.End, e.Text = 170, 120, "diverging" })
	s.of(at+10_000_000, event.PollOK, 1002, func(e *event.Event) {
		e.Client, e.Offset, e.End, e.Drained = "verify", 0, 121, true
		for i := range kafka.Offset(121) {
			a := uint64(i + 1)
			if i == 120 {
				a = 900
			}
			e.Records = append(e.Records, event.Record{Offset: i, Attempt: a, Hash: a * 7})
		}
	})
	return s.events
}

// keptRun is a log that is compacted, loses its beginning twice, and the disk of one
// replica before the second time.
func keptRun() []event.Event {
	s := &story{}
	s.elect(1000, 1, 0, "create", 1, 2)
	s.role(1100, event.BecameLeader, 1, 0, 0, 0)
	s.role(1200, event.BecameFollower, 2, 0, 0, 0)
	s.append(2000, 1, 0, 0, 6, 1, "leader")
	s.append(2100, 2, 0, 0, 6, 1, "follower")
	s.of(3_000_000, event.Cleaned, 1, func(e *event.Event) { e.Offset, e.End = 2, 5 })
	s.of(9_000_000, event.LogStartMoved, 1, func(e *event.Event) { e.Offset, e.Text = 3, "retention" })
	s.of(15_000_000, event.StorageFailed, 2, func(e *event.Event) { e.Text = "input/output error" })
	s.of(21_000_000, event.LogStartMoved, 1001, func(e *event.Event) { e.Client, e.Offset, e.Text = "admin", 4, "delete-records" })
	s.of(27_000_000, event.Cleaned, -1, func(e *event.Event) { e.Offset, e.End = 0, 6 })
	return s.events
}

// restlessRun has every kind of event that neither of the others has.
func restlessRun() []event.Event {
	s := &story{}
	s.elect(1000, 1, 0, "create", 1, 2)
	s.role(1100, event.BecameLeader, 1, 0, 0, 0)
	s.send(2000, event.SendInvoke, "p", 1001<<32|1, -1)
	s.of(2100, event.SendUnknown, 1001, func(e *event.Event) {
		e.Client, e.Attempt, e.Hash, e.Acks, e.Code = "p", 1001<<32|1, 7, -1, kafka.RequestTimedOut
	})
	s.send(2200, event.SendInvoke, "p", 1001<<32|2, -1)
	s.of(2300, event.SendFail, 1001, func(e *event.Event) {
		e.Client, e.Attempt, e.Hash, e.Acks, e.Code = "p", 1001<<32|2, 7, -1, kafka.NotEnoughReplicas
	})
	s.add(3000, event.Paused, 2, nil)
	s.add(3500, event.Fenced, 101, func(e *event.Event) { e.Peer = 2 })
	s.of(3600, event.AlterPartitionRefused, 101, func(e *event.Event) { e.Peer, e.Code = 1, kafka.InvalidUpdateVersion })
	s.add(4000, event.Resumed, 2, nil)
	s.add(4100, event.Unfenced, 101, func(e *event.Event) { e.Peer = 2 })
	s.of(4200, event.StorageFailed, 1, func(e *event.Event) { e.Text = "input/output error" })
	s.of(5000, event.PollOK, 1002, func(e *event.Event) {
		e.Client, e.Offset, e.End = "c", 0, 1
		e.Records = []event.Record{{Offset: 0, Attempt: 1001<<32 | 1, Hash: 7}}
	})
	s.of(5100, event.TruncationDetected, 1002, func(e *event.Event) { e.Client, e.Offset, e.End = "c", 1, 0 })
	s.of(5200, event.PositionReset, 1002, func(e *event.Event) { e.Client, e.Offset, e.End, e.Text = "c", 1, 0, "truncated" })
	s.add(6000, event.WaitFailed, -1, func(e *event.Event) { e.Line, e.Text = 9, "wait leader orders-0 = 2" })
	s.add(7000, event.Invariant, 101, func(e *event.Event) { e.Text = "epoch 3 after epoch 4" })
	return s.events
}
