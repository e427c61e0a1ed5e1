package broker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/storage"
)

// fetchOn sends a Fetch on a connection; it may not be answered yet.
func (b *bench) fetchOn(conn node.ConnID, req *kmsg.FetchRequest) (*kmsg.FetchResponse, *node.Message) {
	b.t.Helper()
	n := b.sentCount(node.Router)
	b.request(node.Router, conn, req)
	if b.sentCount(node.Router) == n {
		return nil, nil
	}
	return b.lastFetch(conn)
}

func (b *bench) lastFetch(conn node.ConnID) (*kmsg.FetchResponse, *node.Message) {
	b.t.Helper()
	m, ok := b.lane(node.Router).lastTo(conn)
	if !ok {
		b.t.Fatal("no answer to the fetch")
	}
	return m.Response.(*kmsg.FetchResponse), m
}

// waitingFetch lets the request wait for min bytes.
func waitingFetch(req *kmsg.FetchRequest, wait time.Duration, min int32) *kmsg.FetchRequest {
	req.MaxWaitMillis, req.MinBytes = int32(wait.Milliseconds()), min
	return req
}

func TestConsumerReadsTheBytesOfTheLogUpToTheHighWatermark(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1, 2)
	b.produce(1, map[int32][]byte{0: batchOf("a")})
	b.produce(1, map[int32][]byte{0: batchOf("b")})
	b.fetchOn(2, followerFetch(2, 20, 0, 1)) // the follower has the first batch
	res, m := b.fetchOn(client, fetchRequest(map[int32]kafka.Offset{0: 0}))
	p := res.Topics[0].Partitions[0]
	if p.ErrorCode != 0 || p.HighWatermark != 1 || p.LastStableOffset != 1 || p.LogStartOffset != 0 {
		t.Errorf("answer %+v", p)
	}
	want := record.Batch(batchOf("a"))
	want.SetLeaderEpoch(0)
	if diff := cmp.Diff([]byte(want), records(t, m, 0)); diff != "" {
		t.Errorf("records differ from the one committed batch: %s", diff)
	}
}

func TestFetchErrorCodes(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*kmsg.FetchRequest)
		want   kafka.ErrorCode
	}{
		{"good", func(*kmsg.FetchRequest) {}, kafka.None},
		{"unknown id", func(r *kmsg.FetchRequest) { r.Topics[0].TopicID[5]++ }, kafka.UnknownTopicID},
		{"known name in version 12", func(r *kmsg.FetchRequest) { r.Version, r.Topics[0].Topic = 12, "orders" }, kafka.None},
		{"known name in version 4", func(r *kmsg.FetchRequest) { r.Version, r.Topics[0].Topic = 4, "orders" }, kafka.None},
		{"unknown name", func(r *kmsg.FetchRequest) { r.Version, r.Topics[0].Topic = 12, "nope" }, kafka.UnknownTopicOrPartition},
		{"unknown partition", func(r *kmsg.FetchRequest) { r.Topics[0].Partitions[0].Partition = 9 }, kafka.UnknownTopicOrPartition},
		{"beyond the end", func(r *kmsg.FetchRequest) { r.Topics[0].Partitions[0].FetchOffset = 7 }, kafka.OffsetOutOfRange},
		{"old leader epoch", func(r *kmsg.FetchRequest) {
			r.Topics[0].Partitions[0].Partition, r.Topics[0].Partitions[0].CurrentLeaderEpoch = 1, 0
		}, kafka.FencedLeaderEpoch},
		{"later leader epoch", func(r *kmsg.FetchRequest) { r.Topics[0].Partitions[0].CurrentLeaderEpoch = 5 }, kafka.UnknownLeaderEpoch},
		{"led by another, before followers could be read", func(r *kmsg.FetchRequest) {
			r.Version, r.Topics[0].Topic, r.Topics[0].Partitions[0].Partition = 10, "orders", 1
		}, kafka.NotLeaderOrFollower},
		{"follower that is no replica", func(r *kmsg.FetchRequest) { r.ReplicaState.ID, r.ReplicaState.Epoch = 3, 30 }, kafka.NotLeaderOrFollower},
	} {
		b, cl := leaderBench(t, 2, 2, 1, 2)
		b.image(cl.commit(metadata.PartitionChange{PartitionID: 1, TopicID: ordersID, Leader: 2, RecoveryState: metadata.KeepRecoveryState}))
		req := fetchRequest(map[int32]kafka.Offset{0: 0})
		c.change(req)
		res, _ := b.fetchOn(client, req)
		if res == nil {
			t.Errorf("%s: no answer", c.name)
			continue
		}
		p := res.Topics[0].Partitions[0]
		if got := kafka.ErrorCode(p.ErrorCode); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if c.want == kafka.FencedLeaderEpoch && (p.CurrentLeader.LeaderID != 2 || len(res.Brokers) != 1) {
			t.Errorf("%s: hint %+v at %+v", c.name, p.CurrentLeader, res.Brokers)
		}
		if c.want != kafka.None && p.HighWatermark != -1 {
			t.Errorf("%s: high watermark %d with an error", c.name, p.HighWatermark)
		}
	}
}

func TestFetchParksUntilEnoughBytesAreThere(t *testing.T) {
	for _, lanes := range []int{1, 2} {
		b, _ := leaderBench(t, lanes, 2, 1)
		size := int32(len(batchOf("a")))
		res, _ := b.fetchOn(client, waitingFetch(fetchRequest(map[int32]kafka.Offset{0: 0, 1: 0}), time.Second, 2*size))
		if res != nil {
			t.Fatalf("%d lanes: answered an empty fetch at once", lanes)
		}
		const producer node.ConnID = 9
		b.request(node.Router, producer, produceRequest(1, map[int32][]byte{0: batchOf("a")}))
		if _, ok := b.lane(node.Router).lastTo(client); ok {
			t.Fatalf("%d lanes: answered with half of min bytes", lanes)
		}
		b.request(node.Router, producer, produceRequest(1, map[int32][]byte{1: batchOf("b")}))
		res, m := b.lastFetch(client)
		if got := len(records(t, m, 0)) + len(records(t, m, 1)); got != 2*int(size) || len(res.Topics[0].Partitions) != 2 {
			t.Errorf("%d lanes: answered with %d bytes, want %d", lanes, got, 2*size)
		}
		for _, lane := range b.cfg.dataLanes() {
			if n := len(b.lane(lane).process.(*dataLane).parked); n != 0 {
				t.Errorf("%d lanes: %d watches are left on %v", lanes, n, lane)
			}
		}
	}
}

func TestParkedFetchIsAnsweredAtItsDeadline(t *testing.T) {
	b, _ := leaderBench(t, 2, 2, 1)
	b.fetchOn(client, waitingFetch(fetchRequest(map[int32]kafka.Offset{0: 0, 1: 0}), 500*time.Millisecond, 1))
	b.advance(499 * time.Millisecond)
	if _, ok := b.lane(node.Router).lastTo(client); ok {
		t.Fatal("answered early")
	}
	b.advance(time.Millisecond)
	res, _ := b.lastFetch(client)
	if p := res.Topics[0].Partitions[0]; p.ErrorCode != 0 || p.HighWatermark != 0 {
		t.Errorf("answer %+v", p)
	}
}

func TestParkedFetchIsAnsweredWhenItsPartitionChangesLeader(t *testing.T) {
	b, c := leaderBench(t, 1, 1, 1, 2)
	b.fetchOn(2, waitingFetch(followerFetch(2, 20, 0, 0), time.Second, 1))
	b.image(c.elect(2, 2))
	res, _ := b.lastFetch(2)
	if code := kafka.ErrorCode(res.Topics[0].Partitions[0].ErrorCode); code != kafka.NotLeaderOrFollower {
		t.Errorf("answer %v", code)
	}
}

func TestParkedFetchIsAnsweredWhenItsTopicIsDeleted(t *testing.T) {
	b, c := leaderBench(t, 1, 1, 1)
	b.fetchOn(client, waitingFetch(fetchRequest(map[int32]kafka.Offset{0: 0}), time.Second, 1))
	b.image(c.commit(metadata.RemoveTopic{TopicID: ordersID}))
	res, _ := b.lastFetch(client)
	if code := kafka.ErrorCode(res.Topics[0].Partitions[0].ErrorCode); code != kafka.UnknownTopicOrPartition {
		t.Errorf("answer %v", code)
	}
}

func TestFetchIsTrimmedToMaxBytesInRequestOrder(t *testing.T) {
	for _, lanes := range []int{1, 3} {
		b, _ := leaderBench(t, lanes, 3, 1)
		b.produce(1, map[int32][]byte{0: batchOf("a"), 1: batchOf("b"), 2: batchOf("c")})
		req := fetchRequest(map[int32]kafka.Offset{0: 0, 1: 0, 2: 0})
		req.MaxBytes = int32(2*len(batchOf("a"))) + 5
		_, m := b.fetchOn(client, req)
		for i, want := range []int{len(batchOf("a")), len(batchOf("b")), 0} {
			if got := m.Regions[i].N; got != want {
				t.Errorf("%d lanes: partition %d has %d bytes, want %d", lanes, i, got, want)
			}
		}
		req = fetchRequest(map[int32]kafka.Offset{0: 0, 1: 0, 2: 0})
		req.MaxBytes = 10
		_, m = b.fetchOn(client, req)
		if got := []int{m.Regions[0].N, m.Regions[1].N, m.Regions[2].N}; !cmp.Equal(got, []int{len(batchOf("a")), 0, 0}) {
			t.Errorf("%d lanes: with 10 bytes: %v, want the first batch whole and nothing else", lanes, got)
		}
	}
}

func TestFetchThatIsGoneLeavesNothingBehind(t *testing.T) {
	b, _ := leaderBench(t, 2, 2, 1)
	b.fetchOn(client, waitingFetch(fetchRequest(map[int32]kafka.Offset{0: 0, 1: 0}), time.Second, 1))
	b.disconnect(node.Router, client)
	r := b.lane(node.Router).process.(*router)
	if len(r.work) != 0 || len(r.busy) != 0 {
		t.Errorf("router keeps %d requests of %d connections", len(r.work), len(r.busy))
	}
	for _, lane := range b.cfg.dataLanes() {
		if n := len(b.lane(lane).process.(*dataLane).parked); n != 0 {
			t.Errorf("%d watches are left on %v", n, lane)
		}
	}
	n := b.sentCount(node.Router)
	b.advance(2 * time.Second)
	if b.sentCount(node.Router) != n {
		t.Error("answered a connection that is gone")
	}
}

func TestOnlyReadCommittedIsToldOfAbortedTransactions(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1)
	w := record.NewBuilder(record.BuilderOptions{LeaderEpoch: kafka.NoEpoch, ProducerID: 7, Transactional: true})
	w.Append(0, nil, []byte("aborted"), nil)
	b.produce(1, map[int32][]byte{0: w.Build()})
	ask := func(isolation int8) *kmsg.FetchResponseTopicPartition {
		req := fetchRequest(map[int32]kafka.Offset{0: 0})
		req.IsolationLevel = isolation
		res, m := b.fetchOn(client, req)
		p := &res.Topics[0].Partitions[0]
		p.RecordBatches = records(t, m, 0)
		return p
	}
	if p := ask(1); p.LastStableOffset != 0 || p.HighWatermark != 1 || len(p.RecordBatches) > 0 || p.AbortedTransactions == nil {
		t.Errorf("of an open transaction: %+v", p)
	}
	data := b.lane(node.Data(0)).process.(*dataLane)
	b.call(func() {
		data.hosted[kafka.TopicPartition{Topic: "orders"}].partition.AppendMarker(storage.Marker{ProducerID: 7, Type: record.Abort})
	})
	p := ask(1)
	if p.LastStableOffset != 2 || len(p.RecordBatches) == 0 || len(p.AbortedTransactions) != 1 ||
		p.AbortedTransactions[0].ProducerID != 7 || p.AbortedTransactions[0].FirstOffset != 0 {
		t.Errorf("of an aborted transaction: %+v", p)
	}
	if p := ask(0); p.AbortedTransactions != nil || p.LastStableOffset != 2 || len(p.RecordBatches) == 0 {
		t.Errorf("read_uncommitted: %+v", p)
	}
}
