package metadata

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tidemark/model/kafka"
)

var orders0 = kafka.TopicPartition{Topic: "orders"}

// cluster is an image with brokers 1 to 3 (epochs 0 to 2, fenced) and orders-0
// on all of them, led by 1.
func cluster() *Image {
	im, _ := Empty().Apply(0, 1, []Record{
		RegisterBroker{BrokerID: 1, BrokerEpoch: 0, Fenced: true},
		RegisterBroker{BrokerID: 2, BrokerEpoch: 1, Fenced: true},
		RegisterBroker{BrokerID: 3, BrokerEpoch: 2, Fenced: true},
		Topic{Name: "orders", TopicID: id(7)},
		Partition{TopicID: id(7), Replicas: []kafka.BrokerID{1, 2, 3}, ISR: []kafka.BrokerID{1, 2, 3}, Leader: 1},
	})
	return im
}

func partition(t *testing.T, im *Image) PartitionImage {
	t.Helper()
	p, ok := im.Partition(orders0)
	if !ok {
		t.Fatal("orders-0 is not in the image")
	}
	return *p
}

func mustPanic(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, text) {
			t.Errorf("panic %q, want one that says %q", got, text)
		}
	}()
	f()
}

func TestEveryPartitionChangeRaisesThePartitionEpochAndOnlyALeaderFieldTheLeaderEpoch(t *testing.T) {
	im := cluster()
	shrink := NewPartitionChange(id(7), 0)
	shrink.ISR = []kafka.BrokerID{1, 2}
	im, _ = im.Apply(5, 1, []Record{shrink})
	if p := partition(t, im); p.PartitionEpoch != 1 || p.LeaderEpoch != 0 || p.Leader != 1 {
		t.Errorf("after a shrink: %+v", p)
	}
	same := NewPartitionChange(id(7), 0)
	same.Leader = 1
	im, _ = im.Apply(6, 1, []Record{same})
	if p := partition(t, im); p.PartitionEpoch != 2 || p.LeaderEpoch != 1 || !slices.Equal(p.ISR, []kafka.BrokerID{1, 2}) {
		t.Errorf("after a record that names the same leader: %+v", p)
	}
	none := NewPartitionChange(id(7), 0)
	none.Leader, none.ISR, none.ELR, none.LastKnownELR = kafka.NoBroker, []kafka.BrokerID{}, []kafka.BrokerID{1, 2}, []kafka.BrokerID{1}
	im, _ = im.Apply(7, 1, []Record{none})
	p := partition(t, im)
	if p.PartitionEpoch != 3 || p.LeaderEpoch != 2 || p.Leader != kafka.NoBroker || len(p.ISR) != 0 || len(p.ELR) != 2 || len(p.LastKnownELR) != 1 {
		t.Errorf("after the leader is gone: %+v", p)
	}
}

func TestRegistrationReplacesTheWholeRegistrationAndKeepsItsOwnOffset(t *testing.T) {
	im := cluster()
	im, _ = im.Apply(5, 1, []Record{
		BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 0, Fencing: Unfence},
		BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 0, InControlledShutdown: true},
	})
	b, _ := im.Broker(1)
	if b.Fenced || !b.InControlledShutdown || b.Active() {
		t.Fatalf("unfenced and in controlled shutdown: %+v", b)
	}
	im, d := im.Apply(7, 1, []Record{NoOp{}, RegisterBroker{BrokerID: 1, BrokerEpoch: 7, Fenced: true}})
	b, _ = im.Broker(1)
	if !b.Fenced || b.InControlledShutdown || b.Epoch != 7 || b.RegistrationOffset != 8 {
		t.Errorf("the new life is %+v", b)
	}
	if !slices.Equal(d.Brokers, []kafka.BrokerID{1}) {
		t.Errorf("changed brokers %v", d.Brokers)
	}
}

func TestARecordThatContradictsTheImageIsFatal(t *testing.T) {
	change := NewPartitionChange(id(8), 0)
	gap := Partition{TopicID: id(7), PartitionID: 2}
	for _, c := range []struct {
		rec  Record
		text string
	}{
		{BrokerRegistrationChange{BrokerID: 2, BrokerEpoch: 9, Fencing: Fence}, "registered in epoch 1"},
		{UnregisterBroker{BrokerID: 2, BrokerEpoch: 9}, "registered in epoch 1"},
		{BrokerRegistrationChange{BrokerID: 9, Fencing: Fence}, "broker 9 is not registered"},
		{change, "no topic has the id"},
		{gap, "partition 2 of orders cannot follow 1 others"},
		{Topic{Name: "orders", TopicID: id(9)}, "exists already"},
		{Topic{Name: "other", TopicID: id(7)}, "exists already"},
		{RemoveTopic{TopicID: id(9)}, "no topic has the id"},
		{ProducerIDs{BrokerID: 1, NextProducerID: 0}, "handed out before"},
	} {
		mustPanic(t, c.text, func() { cluster().Apply(5, 1, []Record{c.rec}) })
	}
}

func TestRemovingATopicDropsItsConfigurationAndNothingElse(t *testing.T) {
	im, d := cluster().Apply(5, 1, []Record{
		Config{ResourceType: TopicResource, ResourceName: "orders", Name: "min.insync.replicas", Value: "2"},
		Config{ResourceType: BrokerResource, Name: "min.insync.replicas", Value: "1"},
	})
	if v, ok := im.ConfigValue(TopicResource, "orders", "min.insync.replicas"); !ok || v != "2" {
		t.Errorf("the topic's value is %q, %v", v, ok)
	}
	if len(d.Configs) != 2 || d.Configs[0].String() != "topic orders" || d.Configs[1].String() != "broker <default>" {
		t.Errorf("changed configs %v", d.Configs)
	}
	gone, d := im.Apply(7, 1, []Record{RemoveTopic{TopicID: id(7)}})
	if _, ok := gone.TopicByID(id(7)); ok || len(gone.Configs(TopicResource, "orders")) != 0 {
		t.Error("the topic or its configuration is still there")
	}
	if v, _ := gone.ConfigValue(BrokerResource, "", "min.insync.replicas"); v != "1" {
		t.Error("the cluster's value went with the topic")
	}
	if len(d.RemovedTopics) != 1 || d.RemovedTopics[0].Name != "orders" || len(d.Partitions) != 0 {
		t.Errorf("delta %+v", d)
	}
}

func TestATopicMadeAgainUnderItsNameIsRemovedAndNewInOneDelta(t *testing.T) {
	before := cluster()
	after, d := before.Apply(5, 1, []Record{
		RemoveTopic{TopicID: id(7)},
		Topic{Name: "orders", TopicID: id(8)},
		Partition{TopicID: id(8), Replicas: []kafka.BrokerID{2}, ISR: []kafka.BrokerID{2}, Leader: 2},
	})
	if len(d.RemovedTopics) != 1 || d.RemovedTopics[0].ID != id(7) {
		t.Errorf("removed %v", d.RemovedTopics)
	}
	if len(d.Partitions) != 1 || d.Partitions[0].Before != nil || d.Partitions[0].TopicID != id(8) || d.Partitions[0].After.Leader != 2 {
		t.Errorf("changed %+v", d.Partitions)
	}
	if topic, ok := after.Topic("orders"); !ok || topic.ID != id(8) {
		t.Errorf("the topic is %+v", topic)
	}
}

func TestAnImageNeverChangesAndSharesWhatARecordDidNotTouch(t *testing.T) {
	before, _ := cluster().Apply(5, 1, []Record{
		Topic{Name: "a", TopicID: id(1)}, Partition{TopicID: id(1), Leader: 1}, Partition{TopicID: id(1), PartitionID: 1, Leader: 2},
	})
	change := NewPartitionChange(id(1), 1)
	change.Leader = 3
	after, d := before.Apply(8, 2, []Record{change})
	a0 := kafka.TopicPartition{Topic: "a"}
	a1 := kafka.TopicPartition{Topic: "a", Partition: 1}
	if p, _ := before.Partition(a1); p.Leader != 2 || before.Offset() != 7 || before.Epoch() != 1 {
		t.Errorf("the older image changed: %+v", p)
	}
	for _, tp := range []kafka.TopicPartition{a0, orders0} {
		b, _ := before.Partition(tp)
		if a, _ := after.Partition(tp); a != b {
			t.Errorf("%s was copied", tp)
		}
	}
	if len(d.Partitions) != 1 || d.Partitions[0].TP != a1 || d.Partitions[0].Before.Leader != 2 || d.Partitions[0].After.Leader != 3 {
		t.Errorf("delta %+v", d)
	}
	if after.Offset() != 8 || after.Epoch() != 2 {
		t.Errorf("the newer image is at %d, epoch %d", after.Offset(), after.Epoch())
	}
	if skipped := after.Skip(9, 3); !Diff(after, skipped).Empty() || skipped.Offset() != 9 || skipped.Epoch() != 3 {
		t.Error("records without metadata changed more than offset and epoch")
	}
}

func TestFeatureLevelZeroIsOff(t *testing.T) {
	on, d := Empty().Apply(0, 1, []Record{FeatureLevel{FeatureMetadataVersion, 27}, FeatureLevel{FeatureEligibleLeaderReplicas, 1}})
	if on.Feature(FeatureMetadataVersion) != 27 || on.Feature(FeatureEligibleLeaderReplicas) != 1 || !d.Features {
		t.Errorf("features %v", on.Features())
	}
	off, d := on.Apply(2, 1, []Record{FeatureLevel{FeatureEligibleLeaderReplicas, 0}})
	if off.Feature(FeatureEligibleLeaderReplicas) != 0 || len(off.Features()) != 1 || !d.Features {
		t.Errorf("features %v", off.Features())
	}
}

// The delta of two images and the deltas of the steps between them tell the
// same story, however the records were split into batches.
func TestReplayInOneBatchOrManyGivesTheSameImage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var recs []Record
		topics := 0
		parts := map[byte]int32{}
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			switch k := rapid.IntRange(0, 4).Draw(t, "kind"); {
			case k == 0 || topics == 0:
				topics++
				recs = append(recs, Topic{Name: strings.Repeat("t", topics), TopicID: id(byte(topics))})
			case k == 1:
				of := byte(rapid.IntRange(1, topics).Draw(t, "of"))
				recs = append(recs, Partition{TopicID: id(of), PartitionID: parts[of], Leader: 1, ISR: []kafka.BrokerID{1}})
				parts[of]++
			case k == 2:
				of := byte(rapid.IntRange(1, topics).Draw(t, "of"))
				if parts[of] == 0 {
					continue
				}
				c := NewPartitionChange(id(of), rapid.Int32Range(0, parts[of]-1).Draw(t, "p"))
				c.Leader = kafka.BrokerID(rapid.Int32Range(-2, 3).Draw(t, "leader"))
				recs = append(recs, c)
			case k == 3:
				recs = append(recs, Config{ResourceType: TopicResource, ResourceName: rapid.StringMatching("[ab]").Draw(t, "r"),
					Name: rapid.StringMatching("[xy]").Draw(t, "key"), Value: "1", Delete: rapid.Bool().Draw(t, "delete")})
			default:
				recs = append(recs, RegisterBroker{BrokerID: kafka.BrokerID(rapid.IntRange(1, 3).Draw(t, "broker")), Fenced: true})
			}
		}
		whole := Empty().Replay(0, 1, recs)
		parted := Empty()
		for base := 0; base < len(recs); {
			n := rapid.IntRange(1, len(recs)-base).Draw(t, "batch")
			parted, base = parted.Replay(kafka.Offset(base), 1, recs[base:base+n]), base+n
		}
		all := cmp.AllowUnexported(Image{}, topicName{}, configImage{})
		if diff := cmp.Diff(whole, parted, all); diff != "" {
			t.Fatalf("-whole +parted:\n%s", diff)
		}
		if diff := cmp.Diff(Diff(Empty(), whole), Diff(Empty(), parted), all); diff != "" {
			t.Fatalf("deltas from the start, -whole +parted:\n%s", diff)
		}
	})
}

// KIP-858's ids that are no directory's: MIGRATING (zero) and UNASSIGNED are online,
// LOST is not, whatever the broker named.
func TestADirectoryIsOnlineAsItsReservedIDsSay(t *testing.T) {
	zero, unassigned, lost := kafka.UUID{}, kafka.UUID{15: 1}, kafka.UUID{15: 2}
	for name, c := range map[string]struct {
		named, online, offline []kafka.UUID
	}{
		"directories": {named: []kafka.UUID{id(201), id(202)}, online: []kafka.UUID{id(201), id(202), zero, unassigned}, offline: []kafka.UUID{id(203), lost}},
		"none named":  {online: []kafka.UUID{id(203), zero, unassigned}, offline: []kafka.UUID{lost}},
	} {
		b := BrokerImage{LogDirs: c.named}
		for _, dir := range c.online {
			if !b.Online(dir) {
				t.Errorf("%s: %v is offline", name, dir)
			}
		}
		for _, dir := range c.offline {
			if b.Online(dir) {
				t.Errorf("%s: %v is online", name, dir)
			}
		}
	}
}
