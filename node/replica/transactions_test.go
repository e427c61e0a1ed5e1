package replica

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node/storage"
)

// transact appends one batch of a transactional producer to the leader A.
func (k *cluster) transact(id kafka.ProducerID, first kafka.Sequence) {
	k.t.Helper()
	k.next++
	w := record.NewBuilder(record.BuilderOptions{LeaderEpoch: kafka.NoEpoch, ProducerID: id, BaseSequence: first, Transactional: true})
	w.Append(kafka.Timestamp(k.now.Milliseconds()), nil, []byte{byte(k.next)}, nil)
	if _, code := k.at(A).p.AppendAsLeader(w.Build(), AcksAll); code != kafka.None {
		k.t.Fatalf("transactional produce: %v", code)
	}
	k.at(A).purgatory.Complete()
}

func (k *cluster) mark(id kafka.ProducerID, typ record.ControlType) (ProduceResult, kafka.ErrorCode) {
	r, code := k.at(A).p.AppendMarker(storage.Marker{ProducerID: id, Type: typ})
	k.at(A).purgatory.Complete()
	return r, code
}

// committed reads as a consumer with isolation.level=read_committed.
func committed(from kafka.Offset) FetchRequest {
	return FetchRequest{Replica: kafka.NoBroker, CurrentLeaderEpoch: kafka.NoEpoch, LastFetchedEpoch: kafka.NoEpoch,
		FetchOffset: from, MaxBytes: 1 << 20, MinOneBatch: true, ReadCommitted: true}
}

func TestReadCommittedEndsAtTheLastStableOffset(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	k.transact(7, 0) // 1
	k.transact(8, 0) // 2
	k.fetch(B, 3)
	k.wantHW(A, 3)
	r := k.at(A).p.Fetch(committed(0))
	if n := len(k.bytes(r.Slice)); r.LastStable != 1 || r.HighWatermark != 3 || n != len(k.batch()) || len(r.Aborted) > 0 {
		t.Fatalf("%d bytes, last stable offset %d, aborted %v", n, r.LastStable, r.Aborted)
	}
	if r := k.consume(A, 0); r.LastStable != 1 || r.Aborted != nil || r.Slice.Bytes == 0 {
		t.Fatalf("read_uncommitted: %+v", r)
	} else if all := k.bytes(r.Slice); len(all) <= len(k.batch()) {
		t.Fatalf("read_uncommitted sees %d bytes", len(all))
	}
	if _, code := k.mark(7, record.Abort); code != kafka.None { // 3
		t.Fatal(code)
	}
	if r := k.at(A).p.Fetch(committed(1)); r.LastStable != 1 || r.Slice.Bytes > 0 {
		t.Fatalf("the marker is not replicated: %+v", r)
	}
	k.fetch(B, 2)
	if _, code := k.mark(8, record.Commit); code != kafka.None { // 4
		t.Fatal(code)
	}
	k.fetch(B, 3)
	for _, at := range []kafka.BrokerID{A, B} { // followers are read too (KIP-392)
		r = k.at(at).p.Fetch(committed(0))
		k.bytes(r.Slice)
		if diff := cmp.Diff([]storage.AbortedTransaction{{ProducerID: 7, First: 1, Last: 3, LastStable: 2}}, r.Aborted); diff != "" || r.LastStable != 5 {
			t.Errorf("at %d: last stable offset %d, aborted (-want +got):\n%s", at, r.LastStable, diff)
		}
	}
}

func TestAParkedReadCommittedFetchIsReadyWhenTheTransactionIsDecided(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	k.transact(7, 0)
	k.fetch(B, 3)
	bytes := 0
	d := &DelayedFetch{Reads: []ParkedRead{{TP: testTP, Request: committed(1)}}, Grown: func(n int, _ bool) { bytes = n }}
	a := k.at(A)
	a.purgatory.WatchFetch(d)
	if bytes > 0 {
		t.Fatalf("%d bytes of an open transaction", bytes)
	}
	k.mark(7, record.Commit)
	if bytes > 0 {
		t.Fatalf("%d bytes before the marker is replicated", bytes)
	}
	k.fetch(B, 2)
	if bytes == 0 {
		t.Fatal("nothing was told")
	}
	a.purgatory.UnwatchFetch(d)
}

func TestListOffsetsOfReadCommittedEndsAtTheLastStableOffset(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	k.now += time.Second
	k.transact(7, 0)
	k.fetch(B, 3)
	for _, c := range []struct {
		at        kafka.Timestamp
		committed bool
		replica   bool
		want      kafka.Offset
	}{
		{LatestTimestamp, false, false, 2},
		{LatestTimestamp, true, false, 1},
		{LatestTimestamp, true, true, 2},
		{EarliestTimestamp, true, false, 0},
		{kafka.Timestamp(k.now.Milliseconds()), false, false, 1},
		{kafka.Timestamp(k.now.Milliseconds()), true, false, kafka.NoOffset},
		{LargestTimestamp, true, false, kafka.NoOffset},
	} {
		r, code := k.at(A).p.ListOffset(ListOffsetRequest{Timestamp: c.at, CurrentLeaderEpoch: kafka.NoEpoch, FromReplica: c.replica, ReadCommitted: c.committed})
		if r.Offset != c.want || code != kafka.None {
			t.Errorf("%+v: offset %d, %v", c, r.Offset, code)
		}
	}
}

func TestAMarkerIsAppendedAsWithAcksAll(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 2)
	k.transact(7, 0)
	if _, code := k.at(B).p.AppendMarker(storage.Marker{ProducerID: 7, Type: record.Commit}); code != kafka.NotLeaderOrFollower {
		t.Errorf("follower: %v", code)
	}
	r, code := k.mark(7, record.Commit)
	if code != kafka.None || r.First != 2 || r.Last != 2 {
		t.Fatalf("%+v, %v", r, code)
	}
	if done, _ := k.at(A).p.committed(r.Last + 1); done {
		t.Error("committed before the follower has it")
	}
	k.fetch(B, 3)
	if done, code := k.at(A).p.committed(r.Last + 1); !done || code != kafka.None {
		t.Error("not committed", code)
	}
	k.setISR(A)
	k.tell(A)
	if _, code := k.mark(7, record.Commit); code != kafka.NotEnoughReplicas {
		t.Errorf("below min.insync.replicas: %v", code)
	}
}

func TestTheLastStableOffsetOfANewLeaderIsThatOfItsBatches(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	k.transact(7, 0)
	k.transact(8, 0)
	k.mark(7, record.Abort)
	k.fetch(B, 3)
	k.elect(B)
	k.fetch(A, 3)
	if lso := k.at(B).p.LastStable(); lso != 2 {
		t.Fatalf("last stable offset %d", lso)
	}
}
