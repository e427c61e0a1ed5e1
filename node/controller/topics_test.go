package controller

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

func TestATopicIsOneBatchOfTopicConfigurationAndPartitions(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.fenceNow(1)
	w.env.events = nil
	res := w.create(NewTopic{Name: "t", Partitions: -1, ReplicationFactor: -1, Configs: []metadata.ConfigEntry{minISR("2")},
		Assignment: []ManualAssignment{{1, brokers(3, 2)}, {0, brokers(1, 3)}}})
	dir := func(id byte) kafka.UUID { return kafka.UUID{0: 1, 15: id} }
	want := []metadata.Record{
		metadata.Topic{Name: "t", TopicID: res.ID},
		metadata.Config{ResourceType: metadata.TopicResource, ResourceName: "t", Name: "min.insync.replicas", Value: "2"},
		metadata.Partition{PartitionID: 0, TopicID: res.ID, Replicas: brokers(1, 3), ISR: brokers(3), Leader: 3, Directories: []kafka.UUID{dir(1), dir(3)}},
		metadata.Partition{PartitionID: 1, TopicID: res.ID, Replicas: brokers(3, 2), ISR: brokers(3, 2), Leader: 3, Directories: []kafka.UUID{dir(3), dir(2)}},
	}
	if diff := cmp.Diff(want, w.log.batches[len(w.log.batches)-1].Records); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if res.Partitions != 2 || res.ReplicationFactor != 2 || res.ID.IsZero() {
		t.Errorf("answered %+v", res)
	}
	if !slices.Equal(w.env.kinds(), []event.Kind{event.TopicCreated, event.Elected, event.Elected}) || w.env.events[1].Text != howCreate {
		t.Errorf("the trace tells of %v", w.env.events)
	}
}

func TestTopicsThatCannotBeAreRefused(t *testing.T) {
	manual := func(as ...ManualAssignment) NewTopic {
		return NewTopic{Name: "t", Partitions: -1, ReplicationFactor: -1, Assignment: as}
	}
	numbers := func(partitions int32, factor int16) NewTopic {
		return NewTopic{Name: "t", Partitions: partitions, ReplicationFactor: factor}
	}
	for _, c := range []struct {
		name  string
		topic NewTopic
		want  kafka.ErrorCode
	}{
		{"bad name", NewTopic{Name: "a b"}, kafka.InvalidTopic},
		{"exists", NewTopic{Name: "orders"}, kafka.TopicAlreadyExists},
		{"collides", NewTopic{Name: "my.topic"}, kafka.InvalidTopic},
		{"bad setting", NewTopic{Name: "t", Configs: []metadata.ConfigEntry{minISR("0")}}, kafka.InvalidConfig},
		{"settings that exclude each other", NewTopic{Name: "t", Configs: []metadata.ConfigEntry{{Key: kafka.MinCompactionLagMs, Value: "2"}, {Key: kafka.MaxCompactionLagMs, Value: "1"}}}, kafka.InvalidConfig},
		{"unknown setting", NewTopic{Name: "t", Configs: []metadata.ConfigEntry{{Key: "min.isr", Value: "1"}}}, kafka.InvalidConfig},
		{"no partitions", numbers(0, 1), kafka.InvalidPartitions},
		{"no replicas", numbers(1, 0), kafka.InvalidReplicationFactor},
		{"more replicas than brokers", numbers(1, 4), kafka.InvalidReplicationFactor},
		{"more partitions than a batch", numbers(MaxBatchRecords, 1), kafka.PolicyViolation},
		{"assignment and numbers", NewTopic{Name: "t", Partitions: 1, ReplicationFactor: -1, Assignment: []ManualAssignment{{0, brokers(1)}}}, kafka.InvalidRequest},
		{"gap in the assignment", manual(ManualAssignment{0, brokers(1)}, ManualAssignment{2, brokers(1)}), kafka.InvalidReplicaAssignment},
		{"partition twice", manual(ManualAssignment{0, brokers(1)}, ManualAssignment{0, brokers(1)}), kafka.InvalidReplicaAssignment},
		{"replica twice", manual(ManualAssignment{0, brokers(1, 1)}), kafka.InvalidReplicaAssignment},
		{"uneven", manual(ManualAssignment{0, brokers(1)}, ManualAssignment{1, brokers(1, 2)}), kafka.InvalidReplicaAssignment},
		{"unknown broker", manual(ManualAssignment{0, brokers(1, 9)}), kafka.InvalidReplicaAssignment},
		{"nobody", manual(ManualAssignment{0, nil}), kafka.InvalidReplicaAssignment},
		{"all fenced", manual(ManualAssignment{0, brokers(3)}), kafka.InvalidReplicaAssignment},
		{"nothing wrong", numbers(2, 3), kafka.None},
	} {
		w := newWorld(t, elr).threeBrokers()
		w.create(NewTopic{Name: "my_topic", Partitions: 1, ReplicationFactor: 1})
		w.fenceNow(3)
		next := w.log.next
		if res := w.tryCreate(c.topic); res.Code != c.want || (res.Message == "") != (c.want == kafka.None) {
			t.Errorf("%s: %s %q, want %s", c.name, res.Code, res.Message, c.want)
		}
		if wrote := w.log.next > next; wrote != (c.want == kafka.None) {
			t.Errorf("%s: wrote records %v", c.name, wrote)
		}
	}
}

func TestValidateOnlyWritesNothing(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	next := w.log.next
	w.CreateTopics(CreateTopicsRequest{Topics: []NewTopic{{Name: "t", Partitions: 2, ReplicationFactor: 2}}, ValidateOnly: true},
		func(_ kafka.ErrorCode, res []TopicResult) {
			if res[0].Code != kafka.None || res[0].Partitions != 2 {
				t.Errorf("answered %+v", res[0])
			}
		})
	if w.log.next != next {
		t.Error("records were written")
	}
}

func TestDeletedTopicsAreGoneByNameOrByID(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	other := w.create(NewTopic{Name: "other", Partitions: 1, ReplicationFactor: 1})
	w.DeleteTopics([]TopicRef{{Name: "orders"}, {ID: other.ID}, {Name: "other"}, {Name: "nope"}, {ID: kafka.UUID{9}}},
		func(_ kafka.ErrorCode, res []TopicResult) {
			var codes []kafka.ErrorCode
			for _, r := range res {
				codes = append(codes, r.Code)
			}
			want := []kafka.ErrorCode{kafka.None, kafka.None, kafka.None, kafka.UnknownTopicOrPartition, kafka.UnknownTopicID}
			if !slices.Equal(codes, want) {
				t.Errorf("answered %v", codes)
			}
		})
	w.commit()
	if len(w.Image().Topics()) != 0 {
		t.Errorf("left: %v", w.Image().Topics())
	}
}

func TestStripesSpreadLeadersOverBrokersAndReplicasOverRacks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, elr)
		w.env.draws = rapid.Uint64().Draw(rt, "draws")
		racks := rapid.IntRange(1, 3).Draw(rt, "racks")
		count := rapid.IntRange(1, 7).Draw(rt, "brokers")
		rackOf := map[kafka.BrokerID]string{}
		live := 0
		for i := range count {
			id := kafka.BrokerID(i + 1)
			req := request(id, 1, kafka.NoBrokerEpoch)
			req.Rack = string(rune('a' + i%racks))
			rackOf[id] = req.Rack
			w.RegisterBroker(req, func(kafka.ErrorCode, kafka.BrokerEpoch) {})
			w.commit()
			if i == 0 || rapid.Bool().Draw(rt, "unfenced") {
				w.beat(id)
				live++
			}
		}
		factor := rapid.IntRange(1, count).Draw(rt, "factor")
		assignment, err := w.place(live, factor)
		if err != nil {
			rt.Fatal(err)
		}
		for _, replicas := range assignment {
			seen := map[string]bool{}
			for i, id := range replicas {
				if slices.Contains(replicas[:i], id) {
					rt.Fatalf("%v names %d twice", replicas, id)
				}
				seen[rackOf[id]] = true
			}
			if b, _ := w.Image().Broker(replicas[0]); b.Fenced {
				rt.Errorf("%v begins with a fenced broker", replicas)
			}
			if want := min(factor, racks, count); len(seen) != want {
				rt.Errorf("%v lies on %d racks, want %d", replicas, len(seen), want)
			}
		}
	})
}

func TestWithoutRacksEachOfThreeBrokersLeadsAThird(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.create(NewTopic{Name: "t", Partitions: 30, ReplicationFactor: 3})
	topic, _ := w.Image().Topic("t")
	leads := map[kafka.BrokerID]int{}
	for _, p := range topic.Partitions {
		leads[p.Leader]++
	}
	if leads[1] != 10 || leads[2] != 10 || leads[3] != 10 {
		t.Errorf("leaders: %v", leads)
	}
}
