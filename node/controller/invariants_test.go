package controller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// TestWhateverHappensPartitionsStayWellFormed drives a cluster of three through
// random lives, with topics that are created meanwhile, and checks every step of
// every partition against what no sequence of events may break, then replays the log
// from its first record.
func TestWhateverHappensPartitionsStayWellFormed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		features := rapid.SampledFrom([][]metadata.FeatureLevel{elr, noELR}).Draw(rt, "features")
		w := newWorld(t, features)
		configs := []metadata.ConfigEntry{minISR(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(rt, "min ISR"))}
		if rapid.Bool().Draw(rt, "unclean") {
			configs = append(configs, uncleanOn)
		}
		w.threeBrokers(configs...)
		incarnation := byte(1)
		for step := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			id := kafka.BrokerID(rapid.IntRange(1, 3).Draw(rt, "broker"))
			before := w.Image()
			b, _ := before.Broker(id)
			switch rapid.IntRange(0, 8).Draw(rt, "what") {
			case 0:
				w.beat(id)
			case 1:
				w.beat(id, wantFence)
			case 2:
				w.beat(id, wantShutdown)
			case 3: // let its session end, then it comes back, clean or not
				incarnation++
				w.after(12 * time.Second)
				previous := rapid.SampledFrom([]kafka.BrokerEpoch{kafka.NoBrokerEpoch, b.Epoch}).Draw(rt, "marker")
				w.register(id, incarnation, previous)
			case 4, 5:
				if w.orders().Leader != kafka.NoBroker {
					w.propose(rapid.SliceOfNDistinct(rapid.SampledFrom(brokers(1, 2, 3)), 1, 3, rapid.ID).Draw(rt, "ISR")...)
				}
			case 6:
				typ := rapid.SampledFrom([]ElectionType{PreferredElection, UncleanElection}).Draw(rt, "election")
				w.ElectLeaders(ElectLeadersRequest{Type: typ, All: true}, func(kafka.ErrorCode, []ElectionResult) {})
				w.commit()
			case 7:
				w.tryCreate(NewTopic{Name: fmt.Sprint("more-", step), Partitions: 2, ReplicationFactor: int16(rapid.IntRange(1, 3).Draw(rt, "factor"))})
			case 8:
				dir := rapid.SampledFrom([]kafka.UUID{b.LogDirs[0], metadata.UnassignedDirectory, {}}).Draw(rt, "directory")
				w.placeAll(id, dir)
			}
			checkLed(rt, w)
		}
		checkHistory(rt, w)
	})
}

// placeAll has a broker tell that all its replicas lie in one directory.
func (w *world) placeAll(id kafka.BrokerID, dir kafka.UUID) {
	b, _ := w.Image().Broker(id)
	req := AssignmentRequest{BrokerID: id, BrokerEpoch: b.Epoch}
	for _, t := range w.Image().Topics() {
		for i, p := range t.Partitions {
			if slices.Contains(p.Replicas, id) {
				req.Assignments = append(req.Assignments, Assignment{Directory: dir, TopicID: t.ID, Partition: int32(i)})
			}
		}
	}
	w.AssignReplicasToDirs(req, func(kafka.ErrorCode, []kafka.ErrorCode) {})
	w.commit()
}

// checkLed: nobody leads only while nobody may, which is an active broker of the ISR,
// or of the ELR if the ISR is empty.
func checkLed(t *rapid.T, w *world) {
	for _, topic := range w.Image().Topics() {
		for i, p := range topic.Partitions {
			inSync := p.ISR
			if len(inSync) == 0 {
				inSync = p.ELR
			}
			for _, id := range inSync {
				if b, _ := w.Image().Broker(id); p.Leader == kafka.NoBroker && b.Active() {
					t.Fatalf("nobody leads %s-%d though broker %d may: %+v", topic.Name, i, id, p)
				}
			}
		}
	}
}

// checkHistory replays every record and checks each change of orders-0.
func checkHistory(t *rapid.T, w *world) {
	im := metadata.Empty()
	for _, b := range w.log.batches {
		for i, rec := range b.Records {
			before, known := im.Partition(orders)
			im = im.Replay(b.Base+kafka.Offset(i), b.Epoch, []metadata.Record{rec})
			after, ok := im.Partition(orders)
			if !ok {
				continue
			}
			checkPartition(t, w, im, after)
			if known && after != before {
				checkStep(t, before, after)
			}
		}
	}
	if diff := imageDiff(w.Image(), im); diff != "" {
		t.Fatalf("-in memory +replayed:\n%s", diff)
	}
}

func checkPartition(t *rapid.T, w *world, im *metadata.Image, p *metadata.PartitionImage) {
	if p.Leader != kafka.NoBroker && !slices.Contains(p.ISR, p.Leader) {
		t.Fatalf("leader %d is not in the ISR %v", p.Leader, p.ISR)
	}
	if !distinctReplicas(p.ISR, p.Replicas) || !distinctReplicas(p.ELR, p.Replicas) {
		t.Fatalf("ISR %v or ELR %v are not distinct replicas", p.ISR, p.ELR)
	}
	for _, id := range p.ELR {
		if slices.Contains(p.ISR, id) {
			t.Fatalf("%d is in ISR %v and ELR %v", id, p.ISR, p.ELR)
		}
	}
	topic, _ := im.Topic(orders.Topic)
	elrOn := im.Feature(metadata.FeatureEligibleLeaderReplicas) > 0
	if !elrOn && (len(p.ELR) > 0 || len(p.LastKnownELR) > 0 || len(p.ISR) == 0) {
		t.Fatalf("without ELR the partition is %+v", p)
	}
	if elrOn && len(p.ISR) >= w.minISR(topic) && len(p.ELR) > 0 {
		t.Fatalf("ELR %v beside ISR %v", p.ELR, p.ISR)
	}
}

func checkStep(t *rapid.T, before, after *metadata.PartitionImage) {
	if after.PartitionEpoch != before.PartitionEpoch+1 {
		t.Fatalf("partition epoch went from %d to %d", before.PartitionEpoch, after.PartitionEpoch)
	}
	bump := after.LeaderEpoch - before.LeaderEpoch
	if after.Leader != before.Leader && bump != 1 || after.Leader == before.Leader && bump != 0 {
		t.Fatalf("leader went from %d to %d and the leader epoch by %d", before.Leader, after.Leader, bump)
	}
}
