package controller

import (
	"slices"
	"testing"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

func TestFencingTheLeaderElectsTheNextInSyncReplicaInAssignmentOrder(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	epoch, partitionEpoch := w.orders().LeaderEpoch, w.orders().PartitionEpoch
	w.fenceNow(1)
	w.want(2, brokers(2, 3), nil)
	if p := w.orders(); p.LeaderEpoch != epoch+1 || p.PartitionEpoch != partitionEpoch+1 || p.RecoveryState != metadata.Recovered {
		t.Errorf("a clean election left %+v", p)
	}
}

func TestFencingAFollowerShrinksTheISRWithoutANewLeaderEpoch(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	before := *w.orders()
	w.fenceNow(3)
	w.want(1, brokers(1, 2), nil)
	if p := w.orders(); p.LeaderEpoch != before.LeaderEpoch || p.PartitionEpoch != before.PartitionEpoch+1 {
		t.Errorf("epochs went from %d/%d to %d/%d", before.LeaderEpoch, before.PartitionEpoch, p.LeaderEpoch, p.PartitionEpoch)
	}
}

func TestAnUnfencedBrokerIsPutIntoNoISR(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.fenceNow(3)
	w.beat(3)
	w.want(1, brokers(1, 2), nil)
}

// R12, KIP-966: below min ISR the high watermark stands, so who falls out then
// still has every committed record.
func TestReplicasThatLeaveBelowMinISRBecomeEligible(t *testing.T) {
	w := newWorld(t, elr).threeBrokers(minISR("2"))
	w.fenceNow(1)
	w.want(2, brokers(2, 3), nil)
	w.fenceNow(2)
	w.want(3, brokers(3), brokers(2))
	w.fenceNow(3)
	w.want(kafka.NoBroker, nil, brokers(2, 3))
	if p := w.orders(); !slices.Equal(p.LastKnownELR, brokers(3)) {
		t.Errorf("last known leader %v, want 3", p.LastKnownELR)
	}
	w.beat(2)
	w.want(2, brokers(2), brokers(3))
	if p := w.orders(); len(p.LastKnownELR) != 0 || p.RecoveryState != metadata.Recovered {
		t.Errorf("after an election from the ELR: %+v", p)
	}
	w.beat(3)
	if a := w.propose(2, 3); a.Code != kafka.None {
		t.Fatal(a.Code)
	}
	w.want(2, brokers(2, 3), nil) // enough in sync: nobody else is needed
}

// E4: the same failures as above with one switch off.
func TestWithoutELRTheLastReplicaStaysInTheISRAndIsWaitedFor(t *testing.T) {
	w := newWorld(t, noELR).threeBrokers(minISR("2"))
	for id := kafka.BrokerID(1); id <= 3; id++ {
		w.fenceNow(id)
	}
	w.want(kafka.NoBroker, brokers(3), nil)
	w.beat(1)
	w.beat(2)
	w.want(kafka.NoBroker, brokers(3), nil)
	w.after(10 * time.Second)             // session of 3
	w.register(3, 2, kafka.NoBrokerEpoch) // without its clean shutdown marker
	w.want(kafka.NoBroker, brokers(3), nil)
	w.beat(3)
	w.want(3, brokers(3), nil)
	if last := w.env.events[len(w.env.events)-1]; last.Kind != event.Elected || last.Text != howClean {
		t.Errorf("the trace calls it %v %q; the controller does not know that the log is short", last.Kind, last.Text)
	}
}

// E4 as it ends today: the unclean replica is struck off, the eligible one leads.
func TestWithELRAnUncleanReplicaLosesItsPlaceAndAnEligibleOneLeads(t *testing.T) {
	w := newWorld(t, elr).threeBrokers(minISR("2"))
	for id := kafka.BrokerID(1); id <= 3; id++ {
		w.fenceNow(id)
	}
	w.want(kafka.NoBroker, nil, brokers(2, 3))
	w.after(10 * time.Second)
	w.register(3, 2, kafka.NoBrokerEpoch)
	w.want(kafka.NoBroker, nil, brokers(2))
	w.beat(3)
	w.want(kafka.NoBroker, nil, brokers(2))
	w.beat(2)
	w.want(2, brokers(2), nil)
}

// E6: everybody is unclean, so the last known leader leads although another
// may hold more, and although unclean election is off.
func TestTheLastKnownLeaderLeadsWhenISRAndELRAreEmpty(t *testing.T) {
	w := newWorld(t, elr).threeBrokers(minISR("2"))
	for id := kafka.BrokerID(1); id <= 3; id++ {
		w.fenceNow(id)
	}
	w.after(10 * time.Second)
	for id := kafka.BrokerID(1); id <= 3; id++ {
		w.register(id, 2, kafka.NoBrokerEpoch)
	}
	w.want(kafka.NoBroker, nil, nil)
	w.beat(1)
	w.want(kafka.NoBroker, nil, nil)
	w.beat(3)
	w.want(3, brokers(3), nil)
	if p := w.orders(); p.RecoveryState != metadata.Recovering || len(p.LastKnownELR) != 0 {
		t.Errorf("after an election of the last known leader: %+v", p)
	}
	if last := w.env.events[len(w.env.events)-1]; last.Text != howLastKnownLeader {
		t.Errorf("the trace calls it %q", last.Text)
	}
}

func TestUncleanElectionTakesTheFirstLiveReplicaAndMarksItRecovering(t *testing.T) {
	w := newWorld(t, noELR).threeBrokers(uncleanOn)
	w.fenceNow(2)
	w.fenceNow(3)
	w.beat(3)
	w.fenceNow(1)
	w.want(3, brokers(3), nil)
	p := w.orders()
	if p.RecoveryState != metadata.Recovering {
		t.Error("the partition does not know that it lost records")
	}
	if last := w.env.events[len(w.env.events)-1]; last.Kind != event.Elected || last.Text != howUnclean {
		t.Errorf("the trace calls it %v %q", last.Kind, last.Text)
	}
	if a := w.propose(3); a.Code != kafka.None || w.orders().RecoveryState != metadata.Recovered {
		t.Errorf("the leader's report of recovery: %s, state %d", a.Code, w.orders().RecoveryState)
	}
}

// A clean shutdown keeps the log whole, so the replica stays eligible.
func TestACleanBounceKeepsEligibilityAndAnUncleanOneLosesIt(t *testing.T) {
	for _, clean := range []bool{true, false} {
		w := newWorld(t, elr).threeBrokers(minISR("3"))
		old, _ := w.Image().Broker(2)
		w.fenceNow(2)
		w.want(1, brokers(1, 3), brokers(2))
		w.after(10 * time.Second)
		previous := kafka.NoBrokerEpoch
		if clean {
			previous = old.Epoch
		}
		w.register(2, 2, previous)
		if got := slices.Contains(w.orders().ELR, 2); got != clean {
			t.Errorf("clean %v: eligible %v", clean, got)
		}
	}
}

func TestPreferredElectionNeedsThePreferredReplicaInSync(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	elect := func(typ ElectionType, tps ...kafka.TopicPartition) (codes []kafka.ErrorCode) {
		w.ElectLeaders(ElectLeadersRequest{Type: typ, Partitions: tps, All: tps == nil}, func(code kafka.ErrorCode, rs []ElectionResult) {
			if code != kafka.None {
				t.Fatal(code)
			}
			for _, r := range rs {
				codes = append(codes, r.Code)
			}
		})
		w.commit()
		return codes
	}
	if got := elect(PreferredElection, orders); !slices.Equal(got, []kafka.ErrorCode{kafka.ElectionNotNeeded}) {
		t.Error(got)
	}
	if got := elect(PreferredElection); len(got) != 0 {
		t.Errorf("asked for all, it lists %v", got)
	}
	w.fenceNow(1)
	if got := elect(PreferredElection, orders); !slices.Equal(got, []kafka.ErrorCode{kafka.PreferredLeaderNotAvailable}) {
		t.Error(got)
	}
	w.beat(1)
	w.propose(2, 3, 1)
	if got := elect(PreferredElection, orders); !slices.Equal(got, []kafka.ErrorCode{kafka.None}) {
		t.Error(got)
	}
	w.want(1, brokers(2, 3, 1), nil)
	if got := elect(UncleanElection, orders); !slices.Equal(got, []kafka.ErrorCode{kafka.ElectionNotNeeded}) {
		t.Error(got)
	}
	if got := elect(UncleanElection, kafka.TopicPartition{Topic: "nope"}); !slices.Equal(got, []kafka.ErrorCode{kafka.UnknownTopicOrPartition}) {
		t.Error(got)
	}
}

func TestAnUncleanElectionOnRequestNeedsALiveReplica(t *testing.T) {
	w := newWorld(t, noELR).threeBrokers()
	for id := kafka.BrokerID(1); id <= 3; id++ {
		w.fenceNow(id)
	}
	elect := func() (code kafka.ErrorCode) {
		w.ElectLeaders(ElectLeadersRequest{Type: UncleanElection, Partitions: []kafka.TopicPartition{orders}},
			func(_ kafka.ErrorCode, rs []ElectionResult) { code = rs[0].Code })
		w.commit()
		return code
	}
	if got := elect(); got != kafka.EligibleLeadersNotAvailable {
		t.Error(got)
	}
	w.beat(2)
	if got := elect(); got != kafka.None {
		t.Error(got)
	}
	w.want(2, brokers(2), nil)
}

func TestLeadershipGoesBackToThePreferredReplicaAfterFiveMinutes(t *testing.T) {
	for _, c := range []struct {
		enabled string
		leader  kafka.BrokerID
	}{{"true", 1}, {"false", 2}} {
		w := newWorld(t, elr, kafka.Pair{Key: kafka.AutoLeaderRebalance, Value: c.enabled},
			kafka.Pair{Key: kafka.BrokerSessionTimeoutMs, Value: "10000000"}).threeBrokers()
		w.after(299 * time.Second)
		w.fenceNow(1)
		w.beat(1)
		w.propose(2, 3, 1)
		w.after(299 * time.Second)
		w.want(2, brokers(2, 3, 1), nil)
		w.after(2 * time.Second)
		w.want(c.leader, brokers(2, 3, 1), nil)
	}
}

func TestALeaderlessPartitionIsRetriedWhenUncleanElectionIsOn(t *testing.T) {
	w := newWorld(t, noELR, kafka.Pair{Key: kafka.BrokerSessionTimeoutMs, Value: "10000000"}).threeBrokers()
	for _, id := range []kafka.BrokerID{1, 2, 3} {
		w.fenceNow(id)
	}
	w.beat(2)
	w.want(kafka.NoBroker, brokers(3), nil)
	w.write(result{records: []metadata.Record{metadata.Config{ResourceType: metadata.TopicResource, ResourceName: "orders",
		Name: kafka.UncleanLeaderElection, Value: "true"}}}, func(kafka.ErrorCode) {})
	w.after(5*time.Minute + time.Second)
	w.want(2, brokers(2), nil)
}
