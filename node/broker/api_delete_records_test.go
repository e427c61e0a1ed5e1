package broker

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/metadata"
)

// deleteRecords asks partitions of orders, in order, to begin at an offset.
func deleteRecords(before map[int32]kafka.Offset) *kmsg.DeleteRecordsRequest {
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Version, req.TimeoutMillis = 2, 10_000
	t := kmsg.NewDeleteRecordsRequestTopic()
	t.Topic = "orders"
	for n := int32(0); len(t.Partitions) < len(before); n++ {
		if o, ok := before[n]; ok {
			p := kmsg.NewDeleteRecordsRequestTopicPartition()
			p.Partition, p.Offset = n, int64(o)
			t.Partitions = append(t.Partitions, p)
		}
	}
	req.Topics = append(req.Topics, t)
	return req
}

// deletedAnswer is the last answer to DeleteRecords, by partition: code and low
// watermark.
func deletedAnswer(b *bench) (codes []kafka.ErrorCode, low []int64) {
	res, _ := take[*kmsg.DeleteRecordsResponse](b, node.Router)
	for _, p := range res.Topics[0].Partitions {
		codes, low = append(codes, kafka.ErrorCode(p.ErrorCode)), append(low, p.LowWatermark)
	}
	return codes, low
}

func TestDeleteRecordsRaisesLogStartsAcrossLanesInRequestOrder(t *testing.T) {
	c := newCluster(2)
	c.topic(3, 1, 1)
	c.commit(metadata.PartitionChange{PartitionID: 2, TopicID: ordersID, Leader: 2, RecoveryState: metadata.KeepRecoveryState})
	b := boot(t, testConfig(2), simdisk.New(), c.whole())
	b.produce(1, map[int32][]byte{0: batchOf("a", "b"), 1: batchOf("c")})
	b.request(node.Router, client, deleteRecords(map[int32]kafka.Offset{0: -1, 1: 5, 2: 0, 9: 0}))
	codes, low := deletedAnswer(b)
	for i, want := range []kafka.ErrorCode{kafka.None, kafka.OffsetOutOfRange, kafka.NotLeaderOrFollower, kafka.UnknownTopicOrPartition} {
		if codes[i] != want {
			t.Errorf("partition %d: %v, want %v", i, codes[i], want)
		}
	}
	if low[0] != 2 || low[1] != -1 {
		t.Errorf("low watermarks %v, want 2 (the high watermark) and none", low)
	}
	if e := b.saw(event.LogStartMoved); len(e) != 1 || e[0].Offset != 2 || e[0].Text != "delete-records" {
		t.Errorf("the trace says %+v", e)
	}
	b.advance(30 * time.Second)
	if got, want := b.file(string(logStarts)), "0\n1\norders 0 2\n"; got != want {
		t.Errorf("log starts in the checkpoint %q, want %q", got, want)
	}
}

func TestDeleteRecordsWaitsForEveryLiveReplica(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1, 2)
	b.produceOn(9, 0, batchOf("a", "b", "c"))
	b.request(node.Router, 2, followerFetch(2, 20, 0, 3))
	sent := b.sentCount(node.Router)
	b.request(node.Router, client, deleteRecords(map[int32]kafka.Offset{0: 2}))
	if n := b.sentCount(node.Router) - sent; n != 0 {
		t.Fatalf("%d answers before the follower has raised its log start", n)
	}
	fetch := followerFetch(2, 20, 0, 3)
	fetch.Topics[0].Partitions[0].LogStartOffset = 2
	b.request(node.Router, 2, fetch)
	last, ok := b.lane(node.Router).lastTo(client)
	if !ok {
		t.Fatal("no answer once the follower has raised its log start")
	}
	if p := last.Response.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.LowWatermark != 2 {
		t.Errorf("answered %+v", p)
	}
	b.request(node.Router, client, deleteRecords(map[int32]kafka.Offset{0: 3}))
	b.advance(10 * time.Second)
	if codes, _ := deletedAnswer(b); codes[0] != kafka.RequestTimedOut {
		t.Errorf("at the deadline: %v, want REQUEST_TIMED_OUT", codes[0])
	}
}

// oldBatch is a batch whose record is as old as the test's clock at its start.
func oldBatch(value string, age time.Duration) []byte {
	b := record.NewBuilder(record.NoProducer())
	b.Append(1_700_000_000_000-kafka.Timestamp(age.Milliseconds()), nil, []byte(value), nil)
	return b.Build()
}

func TestRetentionDeletesWhatIsTooOldAndTellsTheTrace(t *testing.T) {
	c := newCluster(1)
	c.topic(1, 1, 1)
	for key, value := range map[string]string{kafka.SegmentBytes: "100", kafka.RetentionMs: "3600000"} { // unordered: both count
		c.commit(metadata.Config{ResourceType: metadata.TopicResource, ResourceName: "orders", Name: key, Value: value})
	}
	b := boot(t, testConfig(1, kafka.Pair{Key: kafka.LogRetentionCheckMs, Value: "60000"}), simdisk.New(), c.whole())
	b.produce(1, map[int32][]byte{0: oldBatch("a", 2*time.Hour)})
	b.produce(1, map[int32][]byte{0: oldBatch("b", 0)})
	b.produce(1, map[int32][]byte{0: oldBatch("c", 0)})
	b.advance(29 * time.Second)
	if e := b.saw(event.LogStartMoved); len(e) != 0 {
		t.Fatalf("before log.initial.task.delay.ms: %+v", e)
	}
	b.advance(time.Second)
	if e := b.saw(event.LogStartMoved); len(e) != 1 || e[0].Offset != 1 || e[0].Text != "retention" {
		t.Fatalf("the trace says %+v, want a log start of 1", e)
	}
	b.advance(90 * time.Second)
	if b.file("orders-0/00000000000000000000.log.deleted") != "" || b.file("orders-0/00000000000000000001.log") == "" {
		t.Error("after file.delete.delay.ms the first segment is still there, or the second is not")
	}
	b.request(node.Router, client, fetchRequest(map[int32]kafka.Offset{0: 0}))
	res, _ := take[*kmsg.FetchResponse](b, node.Router)
	if p := res.Topics[0].Partitions[0]; kafka.ErrorCode(p.ErrorCode) != kafka.OffsetOutOfRange {
		t.Errorf("a read of what was deleted: %v", kafka.ErrorCode(p.ErrorCode))
	}
}

// firstValue is what a consumer of orders-0 reads first from an offset on.
func (b *bench) firstValue(from kafka.Offset) (value string) {
	b.t.Helper()
	b.request(node.Router, client, fetchRequest(map[int32]kafka.Offset{0: from}))
	_, m := take[*kmsg.FetchResponse](b, node.Router)
	batch, _, err := record.Next(records(b.t, m.m, 0))
	if err != nil {
		b.t.Fatal(err)
	}
	var first record.Iterator
	if first.Reset(batch); !first.Next() {
		b.t.Fatalf("an empty batch at %d", from)
	}
	return string(first.Record().Value)
}

func TestCleanerRunsOnTheLanesTimerAndItsCheckpointIsTakenUp(t *testing.T) {
	c := newCluster(1)
	c.topic(1, 1, 1)
	for _, kv := range [][2]string{{kafka.CleanupPolicy, "compact"}, {kafka.SegmentBytes, "100"}, {"min.cleanable.dirty.ratio", "0"}} {
		c.commit(metadata.Config{ResourceType: metadata.TopicResource, ResourceName: "orders", Name: kv[0], Value: kv[1]})
	}
	d := simdisk.New()
	b := boot(t, testConfig(1), d, c.whole())
	for _, value := range []string{"v1", "v2", "v3"} {
		w := record.NewBuilder(record.NoProducer())
		w.Append(1_700_000_000_000, []byte("key"), []byte(value), nil)
		b.produce(1, map[int32][]byte{0: w.Build()})
	}
	b.advance(16 * time.Second)
	e := b.saw(event.Cleaned)
	if len(e) != 1 || e[0].Offset != 0 || e[0].End != 2 {
		t.Fatalf("the trace says %+v, want a pass from 0 to 2", e)
	}
	if got, want := b.file(string(cleanedOffsets)), "0\n1\norders 0 2\n"; got != want {
		t.Errorf("cleaner-offset-checkpoint %q, want %q", got, want)
	}
	if got := b.firstValue(0); got != "v2" {
		t.Errorf("a reader from the start sees %q, want the newest of what may be cleaned", got)
	}
	if got := b.firstValue(2); got != "v3" {
		t.Errorf("a reader from 2 sees %q, want the active segment", got)
	}
	d.Kill()
	b = boot(t, testConfig(1), d, c.whole())
	b.advance(16 * time.Second)
	if e := b.saw(event.Cleaned); len(e) != 0 {
		t.Errorf("after a restart nothing is dirty, and yet %+v", e)
	}
}
