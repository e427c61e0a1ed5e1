package broker

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/replica"
)

// openSession starts a fetch session over two partitions and returns its id.
func openSession(t *testing.T, b *bench) int32 {
	t.Helper()
	req := fetchRequest(map[int32]kafka.Offset{0: 0, 1: 0})
	req.SessionID, req.SessionEpoch = 0, newSessionEpoch
	res, _ := b.fetchOn(client, req)
	if res.SessionID == 0 || len(res.Topics[0].Partitions) != 2 {
		t.Fatalf("full answer %+v", res)
	}
	return res.SessionID
}

// inSession is an incremental request that changes the named offsets.
func inSession(id, epoch int32, offsets map[int32]kafka.Offset) *kmsg.FetchRequest {
	req := fetchRequest(offsets)
	req.SessionID, req.SessionEpoch = id, epoch
	if len(offsets) == 0 {
		req.Topics = nil
	}
	return req
}

// told lists the partitions in an answer.
func told(res *kmsg.FetchResponse) []int32 {
	parts := []int32{}
	for _, t := range res.Topics {
		for _, p := range t.Partitions {
			parts = append(parts, p.Partition)
		}
	}
	return parts
}

func equalParts(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestIncrementalFetchTellsOnlyWhatIsNew(t *testing.T) {
	b, c := leaderBench(t, 2, 2, 1)
	id := openSession(t, b)
	for i, step := range []struct {
		name    string
		before  func()
		offsets map[int32]kafka.Offset
		want    []int32
	}{
		{"nothing new", func() {}, nil, []int32{}},
		{"records", func() { b.produceOn(9, 1, batchOf("a")) }, nil, []int32{1}},
		{"records again, if they are not passed", func() {}, nil, []int32{1}},
		{"nothing new after them", func() {}, map[int32]kafka.Offset{1: 1}, []int32{}},
		{"an error each time", func() {}, map[int32]kafka.Offset{0: 7}, []int32{0}},
		{"an error again", func() {}, nil, []int32{0}},
		{"the end of the error", func() {}, map[int32]kafka.Offset{0: 0}, []int32{0}},
		{"nothing new after that", func() {}, nil, []int32{}},
		{"a partition that is gone", func() { b.image(c.commit(metadata.RemoveTopic{TopicID: ordersID})) }, nil, []int32{0, 1}},
	} {
		step.before()
		res, _ := b.fetchOn(client, inSession(id, int32(i+1), step.offsets))
		if res == nil {
			t.Fatalf("%s: no answer", step.name)
		}
		if res.ErrorCode != 0 || res.SessionID != id || !equalParts(told(res), step.want) {
			t.Errorf("%s: %v, session %d, partitions %v, want %v", step.name, kafka.ErrorCode(res.ErrorCode), res.SessionID, told(res), step.want)
		}
	}
}

// produceOn produces one batch with acks=1 on a connection of its own.
func (b *bench) produceOn(conn node.ConnID, partition int32, batch []byte) {
	b.t.Helper()
	b.request(node.Router, conn, produceRequest(1, map[int32][]byte{partition: batch}))
}

func TestPartitionIsToldAgainAfterADivergence(t *testing.T) {
	good := fetchResult{FetchResult: replica.FetchResult{HighWatermark: 5, Diverging: replica.EpochEnd{Epoch: kafka.NoEpoch}}}
	diverging := fetchResult{FetchResult: replica.FetchResult{HighWatermark: 5, Diverging: replica.EpochEnd{Epoch: 1, End: 3}}}
	p := &sessionPart{toldHW: kafka.NoOffset}
	for i, step := range []struct {
		result fetchResult
		want   bool
	}{{good, true}, {good, false}, {diverging, true}, {good, true}, {good, false}} {
		if got := p.tell(&step.result); got != step.want {
			t.Errorf("step %d: told %v, want %v", i, got, step.want)
		}
	}
}

func TestForgottenPartitionsLeaveTheSession(t *testing.T) {
	b, _ := leaderBench(t, 1, 2, 1)
	id := openSession(t, b)
	req := inSession(id, 1, nil)
	forgotten := kmsg.NewFetchRequestForgottenTopic()
	forgotten.TopicID, forgotten.Partitions = ordersID, []int32{0}
	req.ForgottenTopics = append(req.ForgottenTopics, forgotten)
	b.fetchOn(client, req)
	b.produceOn(9, 0, batchOf("a"))
	b.produceOn(9, 1, batchOf("b"))
	res, _ := b.fetchOn(client, inSession(id, 2, nil))
	if !equalParts(told(res), []int32{1}) {
		t.Errorf("told of %v, want 1 alone", told(res))
	}
}

func TestSessionRequestsThatDoNotFitAreRefusedWhole(t *testing.T) {
	b, _ := leaderBench(t, 1, 2, 1)
	id := openSession(t, b)
	byName := inSession(id, 1, nil)
	byName.Version = 12
	for _, c := range []struct {
		name string
		req  *kmsg.FetchRequest
		want kafka.ErrorCode
	}{
		{"unknown session", inSession(id+1, 1, nil), kafka.FetchSessionIDNotFound},
		{"wrong epoch", inSession(id, 2, nil), kafka.InvalidFetchSessionEpoch},
		{"names in a session of ids", byName, kafka.FetchSessionTopicIDError},
	} {
		res, _ := b.fetchOn(client, c.req)
		if kafka.ErrorCode(res.ErrorCode) != c.want || len(res.Topics) != 0 {
			t.Errorf("%s: %v, want %v", c.name, kafka.ErrorCode(res.ErrorCode), c.want)
		}
	}
	if res, _ := b.fetchOn(client, inSession(id, 1, nil)); res.ErrorCode != 0 {
		t.Errorf("the session was hurt by the refused requests: %v", kafka.ErrorCode(res.ErrorCode))
	}
}

func TestFinalEpochClosesTheSession(t *testing.T) {
	b, _ := leaderBench(t, 1, 2, 1)
	id := openSession(t, b)
	last := fetchRequest(map[int32]kafka.Offset{0: 0})
	last.SessionID, last.SessionEpoch = id, noSessionEpoch
	if res, _ := b.fetchOn(client, last); res.SessionID != 0 || len(told(res)) != 1 {
		t.Errorf("answer %+v", res)
	}
	if res, _ := b.fetchOn(client, inSession(id, 1, nil)); kafka.ErrorCode(res.ErrorCode) != kafka.FetchSessionIDNotFound {
		t.Errorf("answer %v", kafka.ErrorCode(res.ErrorCode))
	}
}

func TestFollowersPushConsumersOutOfAFullSessionCache(t *testing.T) {
	parts := func(n int) fetchContext {
		f := fetchContext{epoch: newSessionEpoch}
		for i := range n {
			f.parts = append(f.parts, &sessionPart{topic: "orders", partition: int32(i)})
		}
		return f
	}
	b, _ := leaderBench(t, 1, 1, 1)
	env := b.lane(node.Router)
	cache := newSessionCache(2)
	grant := func(follower bool, n int) int32 {
		req := followerFetch(2, 20, 0, 0)
		if !follower {
			req.ReplicaState.ID = -1
		}
		return cache.grant(parts(n), req, make([]fetchResult, n), env)
	}
	consumer := grant(false, 3)
	first := grant(true, 1)
	if grant(false, 5) != 0 {
		t.Error("a consumer pushed a young session out")
	}
	second := grant(true, 1)
	if second == 0 || cache.sessions[consumer] != nil || cache.sessions[first] == nil {
		t.Error("a follower did not push the consumer out")
	}
	if grant(true, 1) != 0 {
		t.Error("a follower pushed a follower out")
	}
	b.advance(sessionEviction + time.Millisecond)
	if grant(false, 1) == 0 {
		t.Error("a session that rested for two minutes kept its slot")
	}
}
