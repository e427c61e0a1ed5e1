package controller

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

func TestAnswersAndEventsWaitForTheCommitAndTheImageDoesNot(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.env.events = nil
	answered := false
	b, _ := w.Image().Broker(1)
	w.Heartbeat(HeartbeatRequest{BrokerID: 1, BrokerEpoch: b.Epoch, WantFence: true}, func(kafka.ErrorCode, HeartbeatReply) { answered = true })
	w.want(2, brokers(2, 3), nil)
	if answered || len(w.env.events) != 0 {
		t.Fatal("an answer or an event ran ahead of the commit")
	}
	// An operation that only read the uncommitted state waits too.
	read := kafka.ErrorCode(-100)
	w.AlterPartition(w.proposal(2, 3), func(code kafka.ErrorCode, _ []PartitionAnswer) { read = code })
	if read != -100 {
		t.Fatal("a read of uncommitted state was answered")
	}
	w.commit()
	if !answered || read != kafka.None || !slices.Equal(w.env.kinds(), []event.Kind{event.Fenced, event.Elected}) {
		t.Errorf("after the commit: answered %v and %s, events %v", answered, read, w.env.kinds())
	}
}

// K9: what was replayed ahead of its commit is undone whole.
func TestLosingLeadershipFailsWhatWaitsAndForgetsWhatIsNotCommitted(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	committed := w.Image()
	w.env.events = nil
	var codes []kafka.ErrorCode
	b, _ := w.Image().Broker(1)
	w.Heartbeat(HeartbeatRequest{BrokerID: 1, BrokerEpoch: b.Epoch, WantFence: true}, func(c kafka.ErrorCode, _ HeartbeatReply) { codes = append(codes, c) })
	w.CreateTopics(CreateTopicsRequest{Topics: []NewTopic{{Name: "lost", Partitions: 1, ReplicationFactor: 1}}},
		func(c kafka.ErrorCode, _ []TopicResult) { codes = append(codes, c) })
	w.HandleLeaderChange(102, 2)
	if !slices.Equal(codes, []kafka.ErrorCode{kafka.NotController, kafka.NotController}) {
		t.Errorf("answered %v", codes)
	}
	if !metadata.Diff(committed, w.Image()).Empty() || len(w.env.events) != 0 {
		t.Error("something that was not committed is left, or told")
	}
	if len(w.env.due) != 0 {
		t.Errorf("%d timers go on after the term", len(w.env.due))
	}
	for name, ask := range map[string]func(){
		"heartbeat": func() {
			w.Heartbeat(HeartbeatRequest{}, func(c kafka.ErrorCode, _ HeartbeatReply) { codes = append(codes, c) })
		},
		"register": func() {
			w.RegisterBroker(request(1, 9, -1), func(c kafka.ErrorCode, _ kafka.BrokerEpoch) { codes = append(codes, c) })
		},
		"alter": func() {
			w.AlterPartition(AlterPartitionRequest{}, func(c kafka.ErrorCode, _ []PartitionAnswer) { codes = append(codes, c) })
		},
		"elect": func() {
			w.ElectLeaders(ElectLeadersRequest{}, func(c kafka.ErrorCode, _ []ElectionResult) { codes = append(codes, c) })
		},
		"create": func() {
			w.CreateTopics(CreateTopicsRequest{}, func(c kafka.ErrorCode, _ []TopicResult) { codes = append(codes, c) })
		},
		"delete": func() { w.DeleteTopics(nil, func(c kafka.ErrorCode, _ []TopicResult) { codes = append(codes, c) }) },
	} {
		codes = nil
		ask()
		if !slices.Equal(codes, []kafka.ErrorCode{kafka.NotController}) {
			t.Errorf("%s at a standby: %v", name, codes)
		}
	}
}

func TestANewTermGivesEveryUnfencedBrokerAWholeSession(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.after(8 * time.Second)
	w.HandleLeaderChange(kafka.NoBroker, 2)
	w.HandleLeaderChange(101, 3)
	w.after(8 * time.Second)
	w.want(1, brokers(1, 2, 3), nil)
	w.after(3 * time.Second)
	if p := w.orders(); p.Leader != kafka.NoBroker {
		t.Errorf("nobody sends heartbeats, yet %d leads", p.Leader)
	}
}

// imageDiff compares two images that share nothing.
func imageDiff(a, b *metadata.Image) string {
	type content struct {
		Offset   kafka.Offset
		Brokers  []*metadata.BrokerImage
		Topics   []*metadata.TopicImage
		Features []metadata.FeatureLevel
	}
	of := func(im *metadata.Image) content {
		return content{im.Offset(), im.Brokers(), im.Topics(), im.Features()}
	}
	return cmp.Diff(of(a), of(b), cmpopts.EquateEmpty())
}

func TestAStandbyThatReplaysTheLogHoldsTheSameImage(t *testing.T) {
	w := newWorld(t, elr).threeBrokers(minISR("2"))
	w.fenceNow(1)
	w.fenceNow(2)
	standby := New(Config{ID: 102}, w.env, w.timers, nil)
	for _, b := range w.log.batches {
		standby.HandleCommit(b)
	}
	if diff := imageDiff(w.Image(), standby.Image()); diff != "" {
		t.Errorf("-active +standby:\n%s", diff)
	}
	p, _ := standby.Image().Partition(orders)
	if p.Leader != 3 || !slices.Equal(p.ELR, brokers(2)) {
		t.Errorf("the standby's orders-0 is %+v", p)
	}
}
