package controller

import (
	"slices"
	"testing"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// Each case breaks one rule and every rule after it that it can, so the code
// tells which is looked at first.
func TestAlterPartitionIsRefusedForTheFirstReasonThatHolds(t *testing.T) {
	type change func(w *world, req *AlterPartitionRequest, p *PartitionProposal)
	ineligible := func(w *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.ISR[1].Epoch += 100 }
	recovering := func(_ *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.RecoveryState = metadata.Recovering }
	noLeader := func(_ *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.ISR = p.ISR[1:] }
	twice := func(_ *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.ISR = append(p.ISR, p.ISR[1]) }
	oldPartition := func(_ *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.PartitionEpoch-- }
	notLeader := func(w *world, req *AlterPartitionRequest, _ *PartitionProposal) {
		b, _ := w.Image().Broker(3)
		req.BrokerID, req.BrokerEpoch = 3, b.Epoch
	}
	oldLeader := func(_ *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.LeaderEpoch-- }
	newLeader := func(_ *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.LeaderEpoch++ }
	newPartition := func(_ *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.PartitionEpoch++ }
	noPartition := func(_ *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.Partition = 7 }
	noTopic := func(_ *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.TopicID[0]++ }
	staleBroker := func(_ *world, req *AlterPartitionRequest, _ *PartitionProposal) { req.BrokerEpoch++ }
	stranger := func(_ *world, _ *AlterPartitionRequest, p *PartitionProposal) { p.ISR = append(p.ISR, Member{9, -1}) }
	for _, c := range []struct {
		name    string
		changes []change
		want    kafka.ErrorCode
	}{
		{"nothing wrong", nil, kafka.None},
		{"member in another life", []change{ineligible}, kafka.IneligibleReplica},
		{"recovering with two members", []change{ineligible, recovering}, kafka.InvalidRequest},
		{"leader not in the ISR", []change{ineligible, recovering, noLeader}, kafka.InvalidRequest},
		{"member twice", []change{ineligible, recovering, twice}, kafka.InvalidRequest},
		{"not a replica", []change{ineligible, stranger}, kafka.InvalidRequest},
		{"older partition epoch", []change{ineligible, twice, oldPartition}, kafka.InvalidUpdateVersion},
		{"sender does not lead", []change{ineligible, twice, oldPartition, notLeader}, kafka.InvalidRequest},
		{"older leader epoch", []change{ineligible, twice, oldPartition, notLeader, oldLeader}, kafka.FencedLeaderEpoch},
		{"newer leader epoch", []change{ineligible, twice, oldPartition, notLeader, newLeader}, kafka.NotController},
		{"newer partition epoch", []change{ineligible, twice, notLeader, oldLeader, newPartition}, kafka.NotController},
		{"unknown partition", []change{ineligible, notLeader, newLeader, noPartition}, kafka.UnknownTopicOrPartition},
		{"unknown topic", []change{ineligible, notLeader, newLeader, noPartition, noTopic}, kafka.UnknownTopicID},
		{"stale broker epoch", []change{ineligible, noPartition, noTopic, staleBroker}, kafka.StaleBrokerEpoch},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, elr).threeBrokers()
			w.fenceNow(1) // so that no epoch is 0
			w.beat(1)
			before := w.orders()
			req := w.proposal(2, 1)
			for _, f := range c.changes {
				f(w, &req, &req.Partitions[0])
			}
			w.env.events = nil
			if got := w.alter(req).Code; got != c.want {
				t.Fatalf("answered %s, want %s", got, c.want)
			}
			if changed := w.orders() != before; changed != (c.want == kafka.None) {
				t.Errorf("changed the partition: %v", changed)
			}
			known := c.want != kafka.None && c.want != kafka.UnknownTopicID && c.want != kafka.StaleBrokerEpoch
			if told := len(w.env.events) == 1 && w.env.events[0].Kind == event.AlterPartitionRefused && w.env.events[0].Code == c.want; told != known {
				t.Errorf("the trace holds %v", w.env.events)
			}
		})
	}
}

func TestARecoveringReportIsRefusedOncePartitionIsRecovered(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	req := w.proposal(1)
	req.Partitions[0].RecoveryState = metadata.Recovering
	if got := w.alter(req).Code; got != kafka.InvalidRequest {
		t.Error(got)
	}
}

func TestAcceptedAlterPartitionAnswersTheNewState(t *testing.T) {
	w := newWorld(t, elr).threeBrokers(minISR("2"))
	epoch := w.orders().PartitionEpoch
	a := w.propose(1)
	if a.Code != kafka.None || a.Leader != 1 || a.PartitionEpoch != epoch+1 || !slices.Equal(a.ISR, brokers(1)) {
		t.Errorf("answered %+v", a)
	}
	w.want(1, brokers(1), brokers(2, 3))
	again := w.propose(1)
	if again.Code != kafka.None || again.PartitionEpoch != epoch+1 || w.orders().PartitionEpoch != epoch+1 {
		t.Errorf("a wish that is fulfilled was written again: %+v", again)
	}
}

// R13: whoever is fenced or on its way out is not let back in, however well it
// is caught up.
func TestFencedAndStoppingReplicasAreIneligible(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.fenceNow(3)
	if got := w.propose(1, 2, 3).Code; got != kafka.IneligibleReplica {
		t.Errorf("fenced: %s", got)
	}
	w.create(NewTopic{Name: "led-by-2", Partitions: -1, ReplicationFactor: -1, Assignment: []ManualAssignment{{0, brokers(2, 1)}}})
	w.propose(1)
	w.beat(2, wantShutdown)
	if b, _ := w.Image().Broker(2); !b.InControlledShutdown {
		t.Fatal("broker 2 is not in controlled shutdown")
	}
	if got := w.propose(1, 2).Code; got != kafka.IneligibleReplica {
		t.Errorf("in controlled shutdown: %s", got)
	}
}

// R14, KAFKA-14139: a request that was held up while the replica lost its disk.
func TestAHeldAlterPartitionDoesNotReAddAReplicaThatBegan(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.propose(1, 3)
	held := w.proposal(1, 3, 2)
	unchecked := w.proposal(1, 3, 2)
	unchecked.Partitions[0].ISR[2].Epoch = kafka.NoBrokerEpoch
	w.after(5 * time.Second)
	w.beat(1)
	w.beat(3)
	w.after(6 * time.Second)
	w.register(2, 2, kafka.NoBrokerEpoch)
	w.beat(2)
	w.want(1, brokers(1, 3), nil)
	if p := w.orders(); p.PartitionEpoch != held.Partitions[0].PartitionEpoch {
		t.Fatal("the story needs a partition epoch that did not move")
	}
	if got := w.alter(held).Code; got != kafka.IneligibleReplica {
		t.Errorf("answered %s", got)
	}
	w.want(1, brokers(1, 3), nil)
	if got := w.alter(unchecked).Code; got != kafka.None {
		t.Errorf("without broker epochs, as before KIP-903: %s", got)
	}
}
