package replica

import (
	"testing"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/rules"
)

// aside takes C out of the ISR and lets it lag for so long that nobody waits for
// it any more, while B keeps up.
func aside(t *testing.T, n, minISR int) *cluster {
	t.Helper()
	k := replicated(t, 3, n, rules.Current(), minISR)
	k.setISR(A, B)
	k.tell()
	k.now += lagTimeMax + 1
	k.fetch(B, 1)
	return k
}

// R8: the new leader's high watermark is stale, and C has reached it, but not
// what the old leader had committed.
func TestReplicaJoinsOnlyOnceItHasReachedTheEpochStart(t *testing.T) {
	k := aside(t, 5, 2)
	k.produce(A, 5)
	k.fetch(B, 2)
	k.wantHW(A, 10)
	k.wantHW(B, 5)
	k.setISR(B) // A dies
	k.elect(B, B, C)

	ask := k.ask(C)
	k.deliver(C, k.serve(C, ask))
	if ask.Fetch[0].FetchOffset != 5 || len(k.proposals) != 0 {
		t.Fatalf("C fetched from %d, which is the high watermark, and was proposed %d times", ask.Fetch[0].FetchOffset, len(k.proposals))
	}
	k.fetch(C, 1) // from 10, the epoch start
	if code := k.settleISR(); code != kafka.None {
		t.Fatalf("C has everything and was refused: %v", code)
	}
	k.wantISR(B, B, C)
	k.wantHW(B, 10)
}

func TestReplicaBelowTheHighWatermarkDoesNotJoin(t *testing.T) {
	k := aside(t, 5, 1)
	k.produce(A, 5)
	k.fetch(B, 2)
	k.wantHW(A, 10)
	k.fetch(C, 1) // from 5, past the epoch start
	if len(k.proposals) != 0 {
		t.Error("C was proposed while it lacks committed records")
	}
}

// R9: C is in the ISR as far as the controller is concerned, and A does not
// know yet.
func TestLeaderWaitsForAReplicaFromTheMomentItProposesIt(t *testing.T) {
	k := aside(t, 0, 1)
	k.fetch(C, 1)
	s, a := k.alterPartition() // committed; the answer is held
	k.now += lagTimeMax + 1    // C is not caught up any more either
	k.produce(A, 10)
	k.fetch(B, 2)
	k.wantISR(A, A, B)
	k.wantHW(A, 0)

	k.answer(s, a)
	k.wantISR(A, A, B, C)
	k.wantHW(A, 0)
	k.fetch(C, 2)
	k.wantHW(A, 10)
}

func TestShrunkISRCountsOnlyOnceItIsConfirmed(t *testing.T) {
	k := replicated(t, 3, 1, rules.Current(), 1)
	k.produce(A, 1)
	k.now += lagTimeMax
	k.fetch(B, 2)
	k.now++
	k.at(A).p.MaybeShrinkISR()
	s, a := k.alterPartition()
	k.fetch(B, 1)
	k.wantHW(A, 1)
	k.answer(s, a)
	k.wantISR(A, A, B)
	k.wantHW(A, 2)
}

// R11: nothing happens on the partition after C has left the ISR.
func TestHighWatermarkMovesWhenAShrinkIsConfirmed(t *testing.T) {
	k := replicated(t, 3, 0, rules.Current(), 2)
	w := k.produceAll()
	k.fetch(B, 2)
	w.want() // C, in the ISR, lacks the record
	k.now += lagTimeMax
	k.fetch(B, 1)
	k.now++
	k.at(A).p.MaybeShrinkISR()
	k.settleISR()
	w.want(kafka.None)
}

// R12: below min.insync.replicas the controller may elect a replica that lacks
// the newest record, so nobody may have read it.
func TestHighWatermarkStandsStillBelowMinISR(t *testing.T) {
	k := replicated(t, 3, 10, rules.Current(), 2)
	k.setISR(A)
	k.tell(A)
	k.now += lagTimeMax + 1 // B and C are not waited for any more
	k.produce(A, 1)         // acks=1 is taken
	k.wantHW(A, 10)
	if seen := k.consume(A, 10); seen.Slice.Bytes != 0 {
		t.Error("a consumer sees the record")
	}
	if _, code := k.at(A).p.AppendAsLeader(k.batch(), AcksAll); code != kafka.NotEnoughReplicas {
		t.Errorf("acks=all got %v, want NOT_ENOUGH_REPLICAS", code)
	}
	k.wantEnd(A, 11)
}

func TestMinISRIsCappedByTheNumberOfReplicas(t *testing.T) {
	k := replicated(t, 2, 0, rules.Current(), 3)
	k.produce(A, 1)
	k.fetch(B, 2)
	k.wantHW(A, 1)
}

// R13: B fetches and has everything, but is on its way out.
func TestFencedOrStoppingReplicaStaysOutOfTheISR(t *testing.T) {
	for name, b := range map[string]Broker{
		"fenced":   {Epoch: 101, Fenced: true},
		"stopping": {Epoch: 101, InControlledShutdown: true},
	} {
		t.Run(name, func(t *testing.T) {
			k := replicated(t, 2, 3, rules.Current(), 1)
			k.image[B] = b
			k.setISR(A)
			k.tell(A)
			k.fetch(B, 2)
			if len(k.proposals) != 0 {
				t.Error("B was proposed")
			}
			k.produce(A, 1) // and the high watermark does not wait for it
			k.wantHW(A, 4)
		})
	}
}

func TestHighWatermarkWaitsForAReplicaThatIsAboutToJoin(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.setISR(A)
	k.tell(A)
	k.produce(A, 1)
	k.wantHW(A, 3)
	k.now += lagTimeMax + 1
	k.produce(A, 1)
	k.wantHW(A, 5)
}

// R14: B loses its disk between the proposal and its arrival.
func TestEmptiedReplicaIsNotAdmittedByAStaleProposal(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.setISR(A)
	k.tell(A)
	k.fetch(B, 1)
	if m := k.proposals[0].proposal.ISR[1]; m != (Member{B, 101}) {
		t.Fatalf("proposal names %v, want B with the broker epoch of its fetch", m)
	}
	k.image[B] = Broker{Epoch: 250}
	if code := k.settleISR(); code != kafka.IneligibleReplica {
		t.Fatalf("controller answers %v, want INELIGIBLE_REPLICA", code)
	}
	k.wantISR(A, A)

	// A fetch that the old life sent says nothing of the new one.
	r := k.serve(B, k.ask(B))
	if r.fetch[0].Code != kafka.NotLeaderOrFollower || len(k.proposals) != 0 {
		t.Errorf("fetch of the past life got %v and %d proposals", r.fetch[0].Code, len(k.proposals))
	}
	if n := k.count(event.Effect, "fetch of a past broker epoch"); n != 1 {
		t.Errorf("%d fenced fetches in the trace, want 1", n)
	}
}

func TestReplicaOfAnUnknownLifeDoesNotJoin(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.setISR(A)
	k.tell(A)
	k.at(B).life = 250 // A's metadata does not have the registration yet
	k.fetch(B, 1)
	if len(k.proposals) != 0 {
		t.Fatal("B was proposed with an epoch that the metadata does not know")
	}
	k.image[B] = Broker{Epoch: 250}
	k.fetch(B, 1)
	if len(k.proposals) != 1 {
		t.Error("B was not proposed")
	}
}

func TestFollowerLeavesTheISRAfterTheLagTime(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.produce(A, 1)
	k.now += lagTimeMax
	k.at(A).p.MaybeShrinkISR()
	if len(k.proposals) != 0 {
		t.Fatal("B was proposed to leave when it was behind for exactly the lag time")
	}
	k.now++
	k.at(A).p.MaybeShrinkISR()
	k.at(A).p.MaybeShrinkISR() // one change at a time
	if len(k.proposals) != 1 {
		t.Fatalf("%d proposals, want 1", len(k.proposals))
	}
	k.settleISR()
	k.wantISR(A, A)
}

func TestIdleFollowerStaysInTheISRWithoutFetching(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.now += 10 * lagTimeMax
	k.at(A).p.MaybeShrinkISR()
	if len(k.proposals) != 0 {
		t.Error("B has everything and was proposed to leave")
	}
}

// Behind a busy leader a follower never reaches the log end at its fetch, but it
// reaches the end of the fetch before.
func TestFollowerThatReachesThePreviousEndStaysInTheISR(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	k.produce(A, 1)
	for range 10 {
		ask := k.ask(B)
		k.now += lagTimeMax / 3
		k.produce(A, 1)
		k.deliver(B, k.serve(B, ask))
		k.produce(A, 1)
		k.at(A).p.MaybeShrinkISR()
	}
	if len(k.proposals) != 0 {
		t.Error("B was proposed to leave")
	}
}

func TestNewLeaderGivesTheISRTheLagTimeToFetch(t *testing.T) {
	k := replicated(t, 3, 1, rules.Current(), 1)
	k.elect(B)
	k.produce(B, 1)
	k.now += lagTimeMax
	k.at(B).p.MaybeShrinkISR()
	if len(k.proposals) != 0 {
		t.Fatal("members were proposed to leave before their time")
	}
	k.wantHW(B, 1) // it cannot move without them
	k.now++
	k.at(B).p.MaybeShrinkISR()
	k.settleISR()
	k.wantISR(B, B)
	k.wantHW(B, 2)
}

func TestNewLeaderKnowsNothingOfFollowers(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.elect(B)
	if k.at(A).p.ISR() != nil {
		t.Error("A still has an ISR")
	}
	k.elect(A)
	want := unknownReplica(B)
	want.lastCaughtUp = k.now
	if got := *k.at(A).p.remote(B); got != want {
		t.Errorf("A knows %+v of B, want %+v", got, want)
	}
}

func TestReElectedLeaderKeepsWhatItKnowsOfFollowers(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.elect(A, A)
	k.produce(A, 1)
	k.wantHW(A, 3)
	if r := k.at(A).p.remote(B); r.logEnd != 3 || r.brokerEpoch != 101 {
		t.Errorf("A knows %+v of B, want its log end 3 and broker epoch 101", r)
	}
}

func TestAnswerToAlterPartitionDecidesWhatTheLeaderHolds(t *testing.T) {
	const again = "again"
	for _, c := range []struct {
		code    kafka.ErrorCode
		pending bool
		what    string
	}{
		{kafka.IneligibleReplica, false, ""},
		{kafka.OperationNotAttempted, false, ""},
		{kafka.UnknownTopicOrPartition, true, ""},
		{kafka.UnknownTopicID, true, ""},
		{kafka.FencedLeaderEpoch, true, ""},
		{kafka.InvalidUpdateVersion, true, ""},
		{kafka.InvalidRequest, true, ""},
		{kafka.NewLeaderElected, true, ""},
		{kafka.UnknownServerError, true, again},
		{kafka.NotController, true, again},
	} {
		t.Run(c.code.String(), func(t *testing.T) {
			k := aside(t, 1, 1)
			k.fetch(C, 1)
			s := k.proposals[0]
			k.proposals = nil
			k.answer(s, ISRAnswer{Code: c.code})
			if resent := len(k.proposals) == 1 && k.proposals[0].proposal == s.proposal; resent != (c.what == again) {
				t.Errorf("proposed again: %v", resent)
			}
			// Only a pending proposal makes the leader wait for C, which lags.
			k.now += lagTimeMax + 1
			k.produce(A, 1)
			k.fetch(B, 2)
			if waits := k.at(A).p.HighWatermark() == 1; waits != c.pending {
				t.Errorf("leader waits for C: %v, want %v", waits, c.pending)
			}
		})
	}
}

func TestLateAnswerIsIgnoredOnceMetadataHasDecided(t *testing.T) {
	k := aside(t, 1, 1)
	k.fetch(C, 1)
	s, a := k.alterPartition()
	k.tell(A) // the metadata overtakes the answer
	k.wantISR(A, A, B, C)
	k.setISR(A, B)
	k.tell(A)
	k.answer(s, a)
	k.wantISR(A, A, B)
	if got := k.at(A).p.PartitionEpoch(); got != k.state.PartitionEpoch {
		t.Errorf("partition epoch is %d, want %d", got, k.state.PartitionEpoch)
	}
}

func TestLateRefusalLeavesTheNextProposalAlone(t *testing.T) {
	k := aside(t, 1, 1)
	k.fetch(C, 1)
	late := k.proposals[0]
	k.proposals = nil
	k.setISR(A, B)
	k.tell(A)
	k.fetch(C, 1)
	next := k.proposals[0]
	k.answer(late, ISRAnswer{Code: kafka.IneligibleReplica})
	if k.at(A).p.isr.pending != next.proposal {
		t.Error("the next proposal is forgotten")
	}
}

// The answer to a proposal tells a partition epoch, then C is proposed, then the
// metadata of that epoch comes: the proposal is dropped, and may still succeed.
func TestProposedReplicaIsWaitedForAfterMetadataThatTheLeaderKnows(t *testing.T) {
	k := aside(t, 1, 1)
	k.fetch(C, 1)
	k.tell(A)
	k.produce(A, 1)
	k.fetch(B, 2)
	k.wantHW(A, 1)
}

func TestStaleMetadataIsIgnored(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	old := k.state
	k.setISR(A)
	k.tell(A)
	if k.at(A).p.BecomeLeader(old) || k.at(A).p.BecomeFollower(old) {
		t.Error("metadata of an older partition epoch began an epoch")
	}
	k.wantISR(A, A)
	if !k.at(A).p.IsLeader() {
		t.Error("A does not lead any more")
	}
}

func TestProposalCarriesTheEpochsThatVouchForIt(t *testing.T) {
	k := replicated(t, 3, 1, rules.Current(), 1)
	k.elect(B) // knows nothing of A and C
	k.produce(B, 1)
	k.fetch(A, 2)
	k.now += lagTimeMax + time.Second
	k.fetch(A, 1)
	k.at(B).p.MaybeShrinkISR()
	p := k.proposals[0].proposal
	if want := []Member{{A, 100}, {B, 101}}; len(p.ISR) != 2 || p.ISR[0] != want[0] || p.ISR[1] != want[1] {
		t.Errorf("proposed %v, want %v", p.ISR, want)
	}
	if p.LeaderEpoch != 1 || p.PartitionEpoch != 1 || p.TopicID != (kafka.UUID{1}) || p.TP != testTP {
		t.Errorf("proposal is %+v", p)
	}
}
