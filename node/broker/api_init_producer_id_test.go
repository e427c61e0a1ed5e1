package broker

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/replica"
)

// initProducerID asks the router for a producer id.
func (b *bench) initProducerID(change ...func(*kmsg.InitProducerIDRequest)) (kafka.ProducerID, kafka.ErrorCode) {
	b.t.Helper()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version = 5
	for _, c := range change {
		c(req)
	}
	b.request(node.Router, client, req)
	res, _ := take[*kmsg.InitProducerIDResponse](b, node.Router)
	if (res.ProducerEpoch == 0) != (res.ErrorCode == 0) {
		b.t.Errorf("epoch %d with %v", res.ProducerEpoch, kafka.ErrorCode(res.ErrorCode))
	}
	return kafka.ProducerID(res.ProducerID), kafka.ErrorCode(res.ErrorCode)
}

// routerBench is a router that serves, alone.
func routerBench(t *testing.T) *bench {
	b := newBench(t, testConfig(1), simdisk.New(), node.Router)
	b.post(node.Quorum, node.Router, newCluster(1).whole())
	b.post(node.Lifecycle, node.Router, servePost{})
	return b
}

// allocations is how often the router asked for a block so far.
func (b *bench) allocations() int { return len(postedTo[allocatePost](b, node.Lifecycle)) }

func TestProducerIDsComeFromBlocksAndTheNextOneIsAskedForInTime(t *testing.T) {
	b := routerBench(t)
	if id, code := b.initProducerID(); id != -1 || code != kafka.CoordinatorLoadInProgress || b.allocations() != 1 {
		t.Fatalf("without a block: %d, %v, %d requests for one", id, code, b.allocations())
	}
	if _, code := b.initProducerID(); code != kafka.CoordinatorLoadInProgress || b.allocations() != 1 {
		t.Fatalf("while one is on its way: %v, %d requests", code, b.allocations())
	}
	b.post(node.Lifecycle, node.Router, allocatedPost{First: 5000, Count: 1000})
	for want := kafka.ProducerID(5000); want < 6000; want++ {
		before := b.allocations()
		if id, code := b.initProducerID(); id != want || code != kafka.None {
			t.Fatalf("id %d, %v; want %d", id, code, want)
		}
		if asked := b.allocations() > before; asked != (want == 5900) {
			t.Fatalf("at id %d a block was asked for: %t", want, asked)
		}
	}
	b.post(node.Lifecycle, node.Router, allocatedPost{First: 9000, Count: 1000})
	if id, code := b.initProducerID(); id != 9000 || code != kafka.None {
		t.Errorf("behind the block: %d, %v; want 9000", id, code)
	}
}

func TestAFailedRequestForProducerIDsIsMadeAgainAfterAPause(t *testing.T) {
	b := routerBench(t)
	b.initProducerID()
	b.post(node.Lifecycle, node.Router, allocatedPost{})
	if b.initProducerID(); b.allocations() != 1 {
		t.Fatalf("%d requests within the pause", b.allocations())
	}
	b.advance(allocateBackoff)
	if b.initProducerID(); b.allocations() != 2 {
		t.Errorf("%d requests after the pause, want a second one", b.allocations())
	}
}

func TestInitProducerIDIsForProducersWithoutTransactionalID(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*kmsg.InitProducerIDRequest)
		want   kafka.ErrorCode
	}{
		{"the oldest version", func(r *kmsg.InitProducerIDRequest) { r.Version = 0 }, kafka.None},
		{"a transactional id", func(r *kmsg.InitProducerIDRequest) { r.TransactionalID = kmsg.StringPtr("t") }, kafka.NotCoordinator},
		{"an empty one", func(r *kmsg.InitProducerIDRequest) { r.TransactionalID = kmsg.StringPtr("") }, kafka.InvalidRequest},
		{"an id without an epoch", func(r *kmsg.InitProducerIDRequest) { r.ProducerID = 7 }, kafka.InvalidRequest},
		{"an epoch without an id", func(r *kmsg.InitProducerIDRequest) { r.ProducerEpoch = 7 }, kafka.InvalidRequest},
		{"both, as after an epoch that ran out", func(r *kmsg.InitProducerIDRequest) { r.ProducerID, r.ProducerEpoch = 7, 7 }, kafka.None},
	} {
		b := routerBench(t)
		b.post(node.Lifecycle, node.Router, allocatedPost{First: 5000, Count: 1000})
		if id, code := b.initProducerID(c.change); code != c.want || (id == 5000) != (c.want == kafka.None) {
			t.Errorf("%s: %d, %v; want %v", c.name, id, code, c.want)
		}
	}
}

func TestLifecycleFetchesABlockOfProducerIDs(t *testing.T) {
	b := runningBench(t)
	b.post(node.Router, node.Lifecycle, allocatePost{})
	req, first := take[*kmsg.AllocateProducerIDsRequest](b, node.Lifecycle)
	if req.BrokerID != 1 || req.BrokerEpoch != 77 {
		t.Fatalf("request %+v, want broker 1 in epoch 77", req)
	}
	no := kmsg.NewPtrAllocateProducerIDsResponse()
	no.ErrorCode = int16(kafka.NotController)
	b.answer(node.Lifecycle, no)
	b.advance(channelBackoff)
	_, second := take[*kmsg.AllocateProducerIDsRequest](b, node.Lifecycle)
	if second.m.CorrelationID == first.m.CorrelationID || len(postedTo[allocatedPost](b, node.Router)) > 0 {
		t.Fatal("NOT_CONTROLLER was not tried again")
	}
	yes := kmsg.NewPtrAllocateProducerIDsResponse()
	yes.ProducerIDStart, yes.ProducerIDLen = 3000, 1000
	b.answer(node.Lifecycle, yes)
	b.post(node.Router, node.Lifecycle, allocatePost{})
	stale := kmsg.NewPtrAllocateProducerIDsResponse()
	stale.ErrorCode = int16(kafka.StaleBrokerEpoch)
	b.answer(node.Lifecycle, stale)
	if got, want := fmt.Sprint(postedTo[allocatedPost](b, node.Router)), "[{3000 1000} {0 0}]"; got != want {
		t.Errorf("the router was told %s, want %s", got, want)
	}
}

func TestTheControllerGivesBlocksToItsBrokers(t *testing.T) {
	d := newDuo(t)
	epoch := d.register(1)
	req := kmsg.NewPtrAllocateProducerIDsRequest()
	req.BrokerID, req.BrokerEpoch = 1, int64(epoch)
	for want := range int64(2) {
		res := ask[*kmsg.AllocateProducerIDsResponse](d, req)
		if res.ErrorCode != 0 || res.ProducerIDStart != 1000*want || res.ProducerIDLen != 1000 {
			t.Errorf("block %d: %+v", want, res)
		}
	}
	req.BrokerEpoch++
	if res := ask[*kmsg.AllocateProducerIDsResponse](d, req); kafka.ErrorCode(res.ErrorCode) != kafka.StaleBrokerEpoch {
		t.Errorf("another epoch: %v", kafka.ErrorCode(res.ErrorCode))
	}
}

// ofProducer is a batch of producer 7.
func ofProducer(first kafka.Sequence, values ...string) []byte {
	b := record.Batch(batchOf(values...))
	b.SetProducer(7, 0, first)
	return b
}

func (b *bench) produced(batch []byte) (base int64, code kafka.ErrorCode) {
	b.t.Helper()
	b.request(node.Router, client, produceRequest(1, map[int32][]byte{0: append([]byte(nil), batch...)}))
	res, _ := take[*kmsg.ProduceResponse](b, node.Router)
	p := res.Topics[0].Partitions[0]
	return p.BaseOffset, kafka.ErrorCode(p.ErrorCode)
}

func TestARetriedBatchIsAnsweredLikeTheFirstTimeAndAppendedOnce(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1)
	first := ofProducer(0, "a", "b")
	b.produced(batchOf("other"))
	for range 2 {
		if base, code := b.produced(first); base != 1 || code != kafka.None {
			t.Fatalf("at %d, %v; want 1", base, code)
		}
	}
	if _, code := b.produced(ofProducer(3, "d")); code != kafka.OutOfOrderSequenceNumber {
		t.Errorf("behind a gap: %v", code)
	}
	if n := len(b.saw(event.Appended)); n != 2 {
		t.Errorf("%d batches were appended, want 2", n)
	}
	effects := b.saw(event.Effect)
	if len(effects) != 1 || effects[0].Text != replica.DuplicateEffect || effects[0].Offset != 1 || effects[0].End != 3 {
		t.Errorf("effects %+v", effects)
	}
}

func TestARetryWithAcksAllWaitsForTheCommitOfTheFirstCopy(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1, 2)
	batch := ofProducer(0, "a")
	const second node.ConnID = 5
	for _, conn := range []node.ConnID{client, second} {
		b.request(node.Router, conn, produceRequest(-1, map[int32][]byte{0: append([]byte(nil), batch...)}))
	}
	if n := b.sentCount(node.Router); n != 0 {
		t.Fatalf("%d answers before the follower fetched", n)
	}
	const follower node.ConnID = 2
	b.request(node.Router, follower, followerFetch(2, 20, 0, 0))
	b.request(node.Router, follower, followerFetch(2, 20, 0, 1))
	for _, conn := range []node.ConnID{client, second} {
		m, ok := b.lane(node.Router).lastTo(conn)
		if !ok {
			t.Fatalf("no answer on connection %d", conn)
		}
		if p := m.Response.(*kmsg.ProduceResponse).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.BaseOffset != 0 {
			t.Errorf("connection %d: %v at %d", conn, kafka.ErrorCode(p.ErrorCode), p.BaseOffset)
		}
	}
}

func TestProducersAreForgottenAfterTheirExpiryIsLookedFor(t *testing.T) {
	c := newCluster(3)
	c.topic(1, 1, 1)
	b := boot(t, testConfig(1, kafka.Pair{Key: kafka.ProducerIDExpirationMs, Value: "1000"}), simdisk.New(), c.whole())
	batch := ofProducer(0, "a")
	b.produced(batch)
	b.advance(producerExpiryCheck - time.Second)
	if base, _ := b.produced(batch); base != 0 {
		t.Fatalf("forgotten before the check: at %d", base)
	}
	b.advance(2 * time.Second)
	if base, _ := b.produced(batch); base != 1 {
		t.Errorf("at %d, want it appended again at 1", base)
	}
}
