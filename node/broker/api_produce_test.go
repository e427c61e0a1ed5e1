package broker

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

// leaderBench is broker 1 leading all partitions of orders, with the given
// replicas (and ISR), out of three brokers.
func leaderBench(t *testing.T, lanes, partitions int, replicas ...kafka.BrokerID) (*bench, *cluster) {
	t.Helper()
	c := newCluster(3)
	c.topic(partitions, 1, replicas...)
	return boot(t, testConfig(lanes), simdisk.New(), c.whole()), c
}

func TestProduceToSeveralLanesIsAnsweredInRequestOrder(t *testing.T) {
	b, _ := leaderBench(t, 3, 4, 1)
	b.produce(1, map[int32][]byte{0: batchOf("a"), 1: batchOf("b", "c"), 2: batchOf("d"), 3: batchOf("e")})
	b.produce(1, map[int32][]byte{1: batchOf("f"), 3: batchOf("g")})
	res, _ := take[*kmsg.ProduceResponse](b, node.Router)
	parts := res.Topics[0].Partitions
	if len(parts) != 2 || parts[0].Partition != 1 || parts[0].BaseOffset != 2 || parts[1].Partition != 3 || parts[1].BaseOffset != 1 {
		t.Errorf("answer %+v", parts)
	}
	if kafka.UUID(res.Topics[0].TopicID) != ordersID {
		t.Errorf("topic id %v", res.Topics[0].TopicID)
	}
}

func TestProduceErrorCodes(t *testing.T) {
	corrupt := batchOf("a")
	corrupt[len(corrupt)-1] ^= 1
	oldMagic := batchOf("a")
	oldMagic[16] = 1
	for _, c := range []struct {
		name   string
		change func(*kmsg.ProduceRequest)
		want   kafka.ErrorCode
	}{
		{"good", func(*kmsg.ProduceRequest) {}, kafka.None},
		{"unknown id", func(r *kmsg.ProduceRequest) { r.Topics[0].TopicID[5]++ }, kafka.UnknownTopicID},
		{"unknown name", func(r *kmsg.ProduceRequest) { r.Version, r.Topics[0].Topic = 12, "nope" }, kafka.UnknownTopicOrPartition},
		{"known name", func(r *kmsg.ProduceRequest) { r.Version, r.Topics[0].Topic = 3, "orders" }, kafka.None},
		{"unknown partition", func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions[0].Partition = 9 }, kafka.UnknownTopicOrPartition},
		{"two batches", func(r *kmsg.ProduceRequest) {
			r.Topics[0].Partitions[0].Records = append(batchOf("a"), batchOf("b")...)
		}, kafka.InvalidRecord},
		{"no batch", func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions[0].Records = nil }, kafka.InvalidRecord},
		{"corrupt batch", func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions[0].Records = corrupt }, kafka.CorruptMessage},
		{"batch of an old format", func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions[0].Records = oldMagic }, kafka.InvalidRecord},
		{"acks of 2", func(r *kmsg.ProduceRequest) { r.Acks = 2 }, kafka.InvalidRequiredAcks},
		{"partition led by another", func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions[0].Partition = 1 }, kafka.NotLeaderOrFollower},
		{"too few in sync for acks=all", func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions[0].Partition, r.Acks = 2, -1 }, kafka.NotEnoughReplicas},
		{"too few in sync for acks=1", func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions[0].Partition, r.Acks = 2, 1 }, kafka.None},
	} {
		b, cl := leaderBench(t, 2, 3, 1, 2)
		b.image(cl.commit(metadata.Config{ResourceType: metadata.TopicResource, ResourceName: "orders", Name: kafka.MinInsyncReplicas, Value: "2"},
			metadata.PartitionChange{PartitionID: 1, TopicID: ordersID, Leader: 2, RecoveryState: metadata.KeepRecoveryState},
			metadata.PartitionChange{PartitionID: 2, TopicID: ordersID, Leader: metadata.KeepLeader, ISR: []kafka.BrokerID{1}, RecoveryState: metadata.KeepRecoveryState}))
		req := produceRequest(1, map[int32][]byte{0: batchOf("a")})
		c.change(req)
		b.request(node.Router, client, req)
		res, _ := take[*kmsg.ProduceResponse](b, node.Router)
		if got := kafka.ErrorCode(res.Topics[0].Partitions[0].ErrorCode); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if c.want == kafka.NotLeaderOrFollower {
			hint := res.Topics[0].Partitions[0].CurrentLeader
			if hint.LeaderID != 2 || hint.LeaderEpoch != 1 || len(res.Brokers) != 1 || res.Brokers[0].Host != "b2" {
				t.Errorf("%s: hint %+v at %+v, want broker 2 in epoch 1", c.name, hint, res.Brokers)
			}
		}
	}
}

func TestProduceWithoutAcksIsNotAnsweredAndAnErrorEndsTheConnection(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1)
	sent := b.sentCount(node.Router)
	b.request(node.Router, client, produceRequest(0, map[int32][]byte{0: batchOf("a")}))
	router := b.lane(node.Router)
	if len(router.released) != 1 || len(router.closed) != 0 || b.sentCount(node.Router) != sent {
		t.Fatalf("released %v, closed %v, sent %d", router.released, router.closed, b.sentCount(node.Router)-sent)
	}
	b.request(node.Router, client, produceRequest(0, map[int32][]byte{5: batchOf("a")}))
	if len(router.released) != 1 || len(router.closed) != 1 || b.sentCount(node.Router) != sent {
		t.Errorf("after an error: released %v, closed %v", router.released, router.closed)
	}
}

func TestProduceBelowVersion3EndsTheConnection(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1)
	req := produceRequest(1, map[int32][]byte{0: batchOf("a")})
	req.Version = 2
	b.request(node.Router, client, req)
	if closed := b.lane(node.Router).closed; len(closed) != 1 {
		t.Errorf("closed %v", closed)
	}
}

func TestProduceWithAcksAllIsAnsweredWhenTheFollowerHasIt(t *testing.T) {
	b, _ := leaderBench(t, 2, 2, 1, 2)
	b.request(node.Router, client, produceRequest(-1, map[int32][]byte{0: batchOf("a"), 1: batchOf("b")}))
	if n := b.sentCount(node.Router); n != 0 {
		t.Fatalf("%d answers before the follower fetched", n)
	}
	const follower node.ConnID = 2
	for n := range int32(2) {
		b.request(node.Router, follower, followerFetch(2, 20, n, 0))
		b.request(node.Router, follower, followerFetch(2, 20, n, 1))
		if n == 0 {
			if _, ok := b.lane(node.Router).lastTo(client); ok {
				t.Fatal("answered while one partition is not committed")
			}
		}
	}
	m, ok := b.lane(node.Router).lastTo(client)
	if !ok {
		t.Fatal("no answer although both partitions are committed")
	}
	for _, p := range m.Response.(*kmsg.ProduceResponse).Topics[0].Partitions {
		if p.ErrorCode != 0 || p.BaseOffset != 0 {
			t.Errorf("orders-%d: %v at %d", p.Partition, kafka.ErrorCode(p.ErrorCode), p.BaseOffset)
		}
	}
}

func TestProduceWithAcksAllTimesOutAtItsDeadlineAndSaysSo(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1, 2)
	b.request(node.Router, client, produceRequest(-1, map[int32][]byte{0: batchOf("a")}))
	b.advance(29_999 * time.Millisecond)
	if _, ok := b.lane(node.Router).lastTo(client); ok {
		t.Fatal("answered before the deadline")
	}
	b.advance(time.Millisecond)
	m, ok := b.lane(node.Router).lastTo(client)
	if !ok {
		t.Fatal("no answer at the deadline")
	}
	if code := m.Response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; kafka.ErrorCode(code) != kafka.RequestTimedOut {
		t.Errorf("answer %v", kafka.ErrorCode(code))
	}
}

func TestProduceThatWaitsIsToldWhenLeadershipIsLost(t *testing.T) {
	b, c := leaderBench(t, 1, 1, 1, 2)
	b.request(node.Router, client, produceRequest(-1, map[int32][]byte{0: batchOf("a")}))
	b.image(c.elect(2, 2))
	m, ok := b.lane(node.Router).lastTo(client)
	if !ok {
		t.Fatal("no answer")
	}
	if code := m.Response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; kafka.ErrorCode(code) != kafka.NotLeaderOrFollower {
		t.Errorf("answer %v", kafka.ErrorCode(code))
	}
}

func TestFlushMessagesIsObeyedBeforeTheAnswer(t *testing.T) {
	b, _ := flushingBench(t, 1)
	answered := false
	b.onSync = func() {
		_, ok := b.lane(node.Router).lastTo(client)
		answered = answered || ok && durableEnd(t, b.disk, orders(0)) == 0
	}
	b.produce(1, map[int32][]byte{0: batchOf("a")})
	if answered || durableEnd(t, b.disk, orders(0)) != 1 {
		t.Errorf("answered before the sync: %v; durable up to %d", answered, durableEnd(t, b.disk, orders(0)))
	}
}

// flushingBench is broker 1 leading orders-0, whose every append is due for a flush.
func flushingBench(t *testing.T, replicas ...kafka.BrokerID) (*bench, *cluster) {
	t.Helper()
	b, c := leaderBench(t, 1, 1, replicas...)
	b.image(c.commit(metadata.Config{ResourceType: metadata.TopicResource, ResourceName: "orders", Name: kafka.FlushMessages, Value: "1"}))
	return b, c
}

func (b *bench) produceCode() (kafka.ErrorCode, bool) {
	m, ok := b.lane(node.Router).lastTo(client)
	if !ok {
		return kafka.None, false
	}
	return kafka.ErrorCode(m.Response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode), true
}

func TestProduceLosesItsLeaderWhileItsFlushLastsEvenIfThisBrokerLeadsAgain(t *testing.T) {
	b, c := flushingBench(t, 1, 2)
	b.stall = true
	b.request(node.Router, client, produceRequest(-1, map[int32][]byte{0: batchOf("a")}))
	if _, ok := b.produceCode(); ok {
		t.Fatal("answered before the fsync")
	}
	b.image(c.elect(2, 2))
	b.image(c.elect(1, 1))
	b.stall = false
	b.settle()
	if code, ok := b.produceCode(); !ok || code != kafka.NotLeaderOrFollower {
		t.Errorf("answered %v with %v, want NOT_LEADER_OR_FOLLOWER", ok, code)
	}
}
