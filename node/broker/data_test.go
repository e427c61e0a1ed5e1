package broker

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/replica"
)

// client is the connection on which the tests' requests come.
const client node.ConnID = 1

// produceRequest is a Produce of batches by partition of orders, in order.
func produceRequest(acks int16, batches map[int32][]byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Version = 13
	req.Acks, req.TimeoutMillis = acks, 30000
	topic := kmsg.NewProduceRequestTopic()
	topic.TopicID = ordersID
	for n := int32(0); len(topic.Partitions) < len(batches); n++ {
		if batch, ok := batches[n]; ok {
			p := kmsg.NewProduceRequestTopicPartition()
			p.Partition, p.Records = n, batch
			topic.Partitions = append(topic.Partitions, p)
		}
	}
	req.Topics = append(req.Topics, topic)
	return req
}

// produce sends batches and fails the test unless all are acknowledged at once.
func (b *bench) produce(acks int16, batches map[int32][]byte) {
	b.t.Helper()
	b.request(node.Router, client, produceRequest(acks, batches))
	res, _ := take[*kmsg.ProduceResponse](b, node.Router)
	for _, p := range res.Topics[0].Partitions {
		if p.ErrorCode != 0 {
			b.t.Fatalf("produce to orders-%d: %v", p.Partition, kafka.ErrorCode(p.ErrorCode))
		}
	}
}

// durableEnd is where a replica's log would end after a power loss: the end of
// the whole batches in its durable first segment.
func durableEnd(t *testing.T, d *simdisk.Disk, tp kafka.TopicPartition) kafka.Offset {
	t.Helper()
	content, err := d.ReadFile(durableSide, tp.String()+"/00000000000000000000.log")
	if err != nil {
		return 0
	}
	var end kafka.Offset
	for len(content) > 0 {
		batch, rest, err := record.Next(content)
		if err != nil || batch.Check() != nil {
			break
		}
		end, content = batch.NextOffset(), rest
	}
	return end
}

// followerFetch is a Fetch of one partition of orders by a follower, without a
// session, that does not wait.
func followerFetch(id kafka.BrokerID, epoch kafka.BrokerEpoch, partition int32, offset kafka.Offset) *kmsg.FetchRequest {
	req := fetchRequest(map[int32]kafka.Offset{partition: offset})
	req.ReplicaState.ID, req.ReplicaState.Epoch = int32(id), int64(epoch)
	return req
}

// fetchRequest is a consumer's Fetch of partitions of orders, without a session,
// that does not wait.
func fetchRequest(offsets map[int32]kafka.Offset) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version = 18
	req.MinBytes, req.MaxBytes = 1, 1<<20
	topic := kmsg.NewFetchRequestTopic()
	topic.TopicID = ordersID
	for n := int32(0); len(topic.Partitions) < len(offsets); n++ {
		if offset, ok := offsets[n]; ok {
			p := kmsg.NewFetchRequestTopicPartition()
			p.Partition, p.FetchOffset, p.PartitionMaxBytes = n, int64(offset), 1<<20
			topic.Partitions = append(topic.Partitions, p)
		}
	}
	req.Topics = append(req.Topics, topic)
	return req
}

// lastTo is the last message that the lane sent on a connection.
func (l *benchLane) lastTo(conn node.ConnID) (*node.Message, bool) {
	for i := len(l.sent) - 1; i >= 0; i-- {
		if l.sent[i].conn == conn {
			return l.sent[i].m, true
		}
	}
	return nil, false
}

// records reads the record bytes of a fetch answer's i-th partition, as the
// socket's writer would.
func records(t *testing.T, m *node.Message, i int) []byte {
	t.Helper()
	region := m.Regions[i]
	b := make([]byte, region.N)
	if err := region.Read(b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRequestThatComesWhileTheLogsCloseFindsNoReplica(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1)
	lane := b.lane(node.Data(0))
	b.call(func() { lane.process.Posted(node.Lifecycle, closePost{Epoch: 77}) })
	b.request(node.Router, client, produceRequest(1, map[int32][]byte{0: batchOf("late")}))
	res, _ := take[*kmsg.ProduceResponse](b, node.Router)
	if code := kafka.ErrorCode(res.Topics[0].Partitions[0].ErrorCode); code != kafka.NotLeaderOrFollower {
		t.Errorf("produce: %v", code)
	}
	fetched, _ := b.fetchOn(client, fetchRequest(map[int32]kafka.Offset{0: 0}))
	if code := kafka.ErrorCode(fetched.Topics[0].Partitions[0].ErrorCode); code != kafka.NotLeaderOrFollower {
		t.Errorf("fetch: %v", code)
	}
}

func TestPartitionsOfATopicGoRoundTheLanes(t *testing.T) {
	for lanes := 1; lanes <= maxDataLanes; lanes++ {
		counts := make([]int, lanes)
		for n := range int32(4 * lanes) {
			counts[laneOf(orders(n), lanes)]++
		}
		for lane, n := range counts {
			if n != 4 {
				t.Errorf("%d lanes: data-%d has %d of %d partitions", lanes, lane, n, 4*lanes)
			}
		}
	}
}

// dataBench is the data lane alone; the test plays the others.
func dataBench(t *testing.T, first imagePost) *bench {
	t.Helper()
	b := newBench(t, testConfig(1), simdisk.New(), node.Data(0))
	b.post(node.Quorum, node.Data(0), first)
	b.post(node.Logs, node.Data(0), loadPost{Dirs: make([]loadedDir, 1)})
	return b
}

func TestDiskErrorIsAnsweredWithStorageErrorAndTakesTheNodeOffline(t *testing.T) {
	c := newCluster(1)
	c.topic(1, 1, 1)
	b := dataBench(t, c.whole())
	b.broken = true
	for id := workID(1); id <= 2; id++ {
		b.post(node.Router, node.Data(0), producePost{ID: id, Acks: 1, Parts: []producePart{{TP: orders(0), Batch: batchOf("a")}}})
		answers := postedTo[producedPost](b, node.Router)
		if got := answers[len(answers)-1]; got.ID != id || got.Results[0].Code != kafka.KafkaStorageError {
			t.Errorf("answer %+v, want KAFKA_STORAGE_ERROR", got)
		}
	}
	if n := len(b.saw(event.StorageFailed)); n != 1 {
		t.Errorf("the directory failed %d times, want once", n)
	}
	if got := postedTo[failedPost](b, node.Logs); len(got) != 1 {
		t.Fatalf("logs was told %v", got)
	}
	logs := newBench(t, testConfig(1), simdisk.New(), node.Logs)
	logs.post(node.Data(0), node.Logs, postedTo[failedPost](b, node.Logs)[0])
	if !strings.Contains(logs.exit, disk.ErrIO.Error()) {
		t.Errorf("exit %q, want the disk's error", logs.exit)
	}
}

func TestFlushThatFailsIsAnsweredWithStorageErrorWhateverTheAcks(t *testing.T) {
	for _, acks := range []int16{replica.AcksLeader, replica.AcksAll} {
		c := newCluster(1)
		c.topic(1, 1, 1)
		c.commit(metadata.Config{ResourceType: metadata.TopicResource, ResourceName: "orders", Name: kafka.FlushMessages, Value: "1"})
		b := dataBench(t, c.whole())
		b.torn = true
		b.post(node.Router, node.Data(0), producePost{Acks: acks, Parts: []producePart{{TP: orders(0), Batch: batchOf("a")}}})
		answers := postedTo[producedPost](b, node.Router)
		if len(answers) != 1 || answers[0].Results[0].Code != kafka.KafkaStorageError {
			t.Errorf("acks=%d: answered %+v, want KAFKA_STORAGE_ERROR", acks, answers)
		}
		if failed := b.saw(event.StorageFailed); len(failed) != 1 || failed[0].Topic != "orders" {
			t.Errorf("acks=%d: the directory failed as %v", acks, failed)
		}
	}
}

func TestNoLogIsOpenedBeforeBothImageAndCheckpointsAreThere(t *testing.T) {
	c := newCluster(1)
	c.topic(1, 1, 1)
	for name, first := range map[string]any{"image first": c.whole(), "checkpoints first": loadPost{Dirs: make([]loadedDir, 1)}} {
		b := newBench(t, testConfig(1), simdisk.New(), node.Data(0))
		b.post(node.Quorum, node.Data(0), first)
		if n := len(b.disk.Paths(cachedSide)); n != 0 || len(postedTo[appliedPost](b, node.Lifecycle)) != 0 {
			t.Errorf("%s: %d files, applied %v", name, n, postedTo[appliedPost](b, node.Lifecycle))
		}
		b.post(node.Quorum, node.Data(0), loadPost{Dirs: make([]loadedDir, 1)})
		b.post(node.Quorum, node.Data(0), c.whole())
		if n := len(b.saw(event.BecameLeader)); n == 0 {
			t.Errorf("%s: not leading after both", name)
		}
	}
}

func TestDeltaIsAppliedInOrderOfRemovalsLeadersFollowers(t *testing.T) {
	c := newCluster(2)
	c.topic(3, 1, 1, 2)
	b := dataBench(t, c.whole())
	b.events = nil
	b.post(node.Quorum, node.Data(0), c.commit(
		metadata.PartitionChange{PartitionID: 0, TopicID: ordersID, Leader: 2, RecoveryState: metadata.KeepRecoveryState},
		metadata.PartitionChange{PartitionID: 1, TopicID: ordersID, Leader: 1, RecoveryState: metadata.KeepRecoveryState},
		metadata.PartitionChange{PartitionID: 2, TopicID: ordersID, Leader: 2, ISR: []kafka.BrokerID{2}, Replicas: []kafka.BrokerID{2}, RecoveryState: metadata.KeepRecoveryState}))
	var order []event.Kind
	for _, e := range b.events {
		if e.Kind == event.BecameLeader || e.Kind == event.BecameFollower {
			order = append(order, e.Kind)
		}
	}
	if len(order) != 2 || order[0] != event.BecameLeader || order[1] != event.BecameFollower {
		t.Errorf("roles in order %v, want the new leader before the follower", order)
	}
	if lane := b.lane(node.Data(0)).process.(*dataLane); lane.hosted[orders(2)] != nil || len(lane.order) != 2 {
		t.Errorf("hosted %v after the replica left", lane.order)
	}
}
