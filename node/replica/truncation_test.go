package replica

import (
	"testing"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
)

// R1: a follower that knows a high watermark of 1 follows a new leader while it
// holds a committed record at 1, and is elected before it can fetch it again.
func fastFailoverAfterCommit(t *testing.T, r rules.Rules) (k *cluster, m2 entry) {
	k = newCluster(t, 3, r, Config{LagTimeMax: lagTimeMax, MinISR: 1})
	k.elect(B)
	k.produce(B, 1)
	k.fetch(A, 3)
	k.fetch(C, 3)
	k.fetch(A, 1) // all know m1 committed
	k.produce(B, 1)
	for range 2 { // m2 reaches A and C; their next fetch commits it at B
		k.fetch(A, 1)
		k.fetch(C, 1)
	}
	k.wantHW(B, 2)
	k.wantHW(A, 1)
	k.wantHW(C, 1)
	m2 = k.entries(B)[1]

	k.elect(C)
	k.setISR(A, B) // C dies at once, before anybody fetches from it
	k.elect(A)
	k.produce(A, 1)
	k.fetch(B, 4)
	k.produce(A, 1)
	k.fetch(B, 4)
	return k, m2
}

func TestCommittedRecordSurvivesFailoverOfItsLeaderRightAfterAnElection(t *testing.T) {
	k, m2 := fastFailoverAfterCommit(t, rules.Current())
	if got := k.entries(A)[1]; got != m2 {
		t.Errorf("leader A holds %v at offset 1, want the committed %v", got, m2)
	}
	if o, parted := k.parted(A, B); parted {
		t.Errorf("A and B parted at %d: %v %v", o, k.entries(A), k.entries(B))
	}
}

func TestTruncationToHighWatermarkLosesACommittedRecord(t *testing.T) {
	k, m2 := fastFailoverAfterCommit(t, variant(t, "truncate=toHW"))
	if got := k.entries(A)[1]; got == m2 {
		t.Errorf("leader A still holds %v: the old rule should have cut it", m2)
	}
	if o, parted := k.parted(A, B); !parted || o != 1 {
		t.Errorf("A and B parted at %d, %v; want at 1, below both high watermarks", o, parted)
	}
	if n := k.count(event.Truncated, "to-hw"); n == 0 {
		t.Error("no truncation to the high watermark is in the trace")
	}
}

// R2: both replicas lose power; the one that is elected had not synced m2, the
// other one had, and comes back with a high watermark of 2.
func doublePowerFailure(t *testing.T, r rules.Rules) *cluster {
	k := replicated(t, 2, 2, r, 1)
	if err := k.at(B).log.TruncateTo(1); err != nil {
		t.Fatal(err)
	}
	k.at(A).boot(r.Replica, 2)
	k.at(B).boot(r.Replica, 2)
	k.setISR(B)
	k.elect(B, B)
	k.produce(B, 1)
	k.wantHW(B, 2)
	k.tell(A)
	k.fetch(A, 4)
	return k
}

func TestReplicaWithAnotherRecordAtTheSameOffsetIsCutAfterDoublePowerFailure(t *testing.T) {
	k := doublePowerFailure(t, rules.Current())
	if o, parted := k.parted(A, B); parted {
		t.Errorf("A and B parted at %d: %v %v", o, k.entries(A), k.entries(B))
	}
	k.wantEnd(A, 2)
}

func TestTruncationToHighWatermarkLeavesLogsPartedAfterDoublePowerFailure(t *testing.T) {
	k := doublePowerFailure(t, variant(t, "truncate=toHW"))
	if o, parted := k.parted(A, B); !parted || o != 1 {
		t.Errorf("A and B parted at %d, %v; want at 1", o, parted)
	}
}

// R3: B led an epoch that A, its leader again, never heard of.
func TestFollowerTruncatesToLeaderEpochAfterFastFailover(t *testing.T) {
	k := replicated(t, 3, 1, rules.Current(), 2)
	k.produce(A, 2) // r1, r2 reach C alone
	k.fetch(C, 1)
	k.elect(B, B) // A and C do not hear of it
	k.produce(B, 2)
	k.setISR(A, C) // B dies
	k.elect(A, A, C)
	k.fetch(C, 2)
	k.wantHW(A, 3) // r1, r2 are committed

	k.tell(B)
	k.fetch(B, 4)
	if a, b := k.entries(A), k.entries(B); len(b) != 3 || a[1] != b[1] || a[2] != b[2] {
		t.Errorf("B holds %v, want what A holds: %v", b, a)
	}
	k.wantISR(A, A, C)
	if code := k.settleISR(); code != kafka.None {
		t.Errorf("B is as far as the leader and was refused: %v", code)
	}
	k.wantISR(A, A, C, B)
}

// seed writes one batch of each epoch.
func (k *cluster) seed(id kafka.BrokerID, epochs ...kafka.LeaderEpoch) {
	k.t.Helper()
	for _, e := range epochs {
		if _, code, err := k.at(id).log.AppendAsLeader(k.batch(), e, 0); code != kafka.None || err != nil {
			k.t.Fatalf("seed %d: %v %v", id, code, err)
		}
	}
}

func TestFollowerStepsDownEpochByEpochUntilTheLogsAgree(t *testing.T) {
	k := newCluster(t, 2, rules.Current(), Config{LagTimeMax: lagTimeMax, MinISR: 1})
	k.seed(A, 0)
	b, err := k.at(A).log.ReadBatches(0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.at(B).log.AppendAsFollower(b, 0); err != nil {
		t.Fatal(err)
	}
	k.seed(A, 0, 2, 2)
	k.seed(B, 1, 1, 1, 1, 3)
	k.state.LeaderEpoch, k.state.ISR = 3, []kafka.BrokerID{A}
	k.elect(A)

	k.fetch(B, 1) // of epoch 3 A knows (2, 4); B ends its epoch 1 at 5
	k.wantEnd(B, 5)
	k.fetch(B, 1) // of epoch 1 A knows (0, 2); B ends its epoch 0 at 1
	k.wantEnd(B, 1)
	k.fetch(B, 1)
	if n := k.count(event.Effect, "diverging answer"); n != 2 {
		t.Errorf("%d diverging answers, want 2", n)
	}
	k.wantEnd(B, 4)
	if o, parted := k.parted(A, B); parted {
		t.Errorf("A and B parted at %d", o)
	}
}

// R19: B was elected and deposed before anybody wrote, so its last epoch starts
// at its log end, and the leader has never heard of that epoch.
func TestFollowerForgetsAnEmptyEpochThatTheLeaderLacks(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.elect(B, B)
	k.elect(A, A, B)
	k.fetch(B, 1)
	if n := k.count(event.Effect, "diverging answer"); n != 1 {
		t.Fatalf("%d diverging answers, want 1", n)
	}
	k.fetch(B, 3)
	if n := k.count(event.Effect, "diverging answer"); n != 1 {
		t.Errorf("%d diverging answers: the follower asks about the same epoch for ever", n)
	}
	k.wantEnd(B, 3)
	k.produce(A, 1)
	k.fetch(B, 1)
	k.wantEnd(B, 4)
}

// R17: the diverging answer carries the new leader's high watermark, which
// belongs to records that the follower does not have.
func TestFollowerCutsBeforeItTakesTheHighWatermark(t *testing.T) {
	k := replicated(t, 2, 5, rules.Current(), 1)
	k.produce(A, 5) // never committed
	k.setISR(B)
	k.elect(B, B)
	k.produce(B, 3)
	k.wantHW(B, 8)

	k.tell(A)
	r := k.serve(A, k.ask(A))
	if d := r.fetch[0].Diverging; d != (EpochEnd{0, 5}) || r.fetch[0].HighWatermark != 8 {
		t.Fatalf("answer is %+v, want diverging (0, 5) with high watermark 8", r.fetch[0])
	}
	seen := len(k.events)
	k.deliver(A, r)
	k.wantEnd(A, 5)
	k.wantHW(A, 5)
	for _, e := range k.events[seen:] {
		if e.Kind == event.HighWatermarkMoved {
			t.Errorf("high watermark of A moved to %d on the way", e.HighWatermark)
		}
	}
	if seen := k.consume(A, 5); seen.Code != kafka.None || seen.Slice.Bytes != 0 {
		t.Errorf("a consumer at A sees %d bytes (%v) from 5 on, want none", seen.Slice.Bytes, seen.Code)
	}
	k.fetch(A, 2)
	k.wantEnd(A, 8)
	k.wantHW(A, 8)
}

// R23: an answer holds a batch of a later epoch than the one asked in.
func TestFollowerAppendsOnlyUpToTheEpochItFetchedIn(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	k.produce(A, 2)
	r := k.serve(B, k.ask(B))
	_, second, err := record.Next(r.fetch[0].Records)
	if err != nil {
		t.Fatal(err)
	}
	record.Batch(second).SetLeaderEpoch(7)
	k.deliver(B, r)
	k.wantEnd(B, 2)
	if got := k.at(B).log.LastEpoch(); got != 0 {
		t.Errorf("last epoch of B is %d: the poisoned batch is in its epoch cache", got)
	}
	k.fetch(B, 2) // asks again and gets it whole
	k.wantEnd(B, 3)
}

func TestCheckpointedHighWatermarkIsBroughtIntoTheLog(t *testing.T) {
	k := replicated(t, 1, 4, rules.Current(), 1)
	if err := k.at(A).log.RaiseLogStart(2); err != nil {
		t.Fatal(err)
	}
	for checkpoint, want := range map[kafka.Offset]kafka.Offset{0: 2, 3: 3, 9: 4} {
		k.at(A).boot(rules.Current().Replica, checkpoint)
		k.wantHW(A, want)
	}
}

func TestLogWithoutEpochsIsCutToItsHighWatermark(t *testing.T) {
	start := rules.Current().Replica.StartFollowing
	if got := start(rules.FollowerLog{HighWatermark: 3, LogEnd: 5, LastEpoch: kafka.NoEpoch}); got != 3 {
		t.Errorf("log without epochs starts at %d, want its high watermark 3", got)
	}
	if got := start(rules.FollowerLog{HighWatermark: 3, LogEnd: 5, LastEpoch: 0}); got != 5 {
		t.Errorf("log with epochs starts at %d, want its end 5", got)
	}
}
