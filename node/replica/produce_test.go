package replica

import (
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node/storage"
)

// waiting appends one batch with acks=all at A and waits for it.
type waiting struct {
	k       *cluster
	delayed *DelayedProduce
	codes   []kafka.ErrorCode
}

func (k *cluster) produceAll() *waiting {
	k.t.Helper()
	w := k.appendAll()
	k.at(A).purgatory.TryProduce(w.delayed)
	k.at(A).purgatory.Complete()
	return w
}

// appendAll is produceAll while the fsync of the append lasts.
func (k *cluster) appendAll() *waiting {
	k.t.Helper()
	r, code := k.at(A).p.AppendAsLeader(k.batch(), AcksAll)
	w := &waiting{k: k}
	w.delayed = &DelayedProduce{Partitions: []ProduceStatus{{TP: testTP, Required: r.Last + 1, Result: r, Code: code}},
		Done: func(s []ProduceStatus) { w.codes = append(w.codes, s[0].Code) }}
	k.at(A).purgatory.WatchProduce(w.delayed)
	return w
}

func (w *waiting) want(codes ...kafka.ErrorCode) {
	w.k.t.Helper()
	if len(w.codes) != len(codes) || len(codes) == 1 && w.codes[0] != codes[0] {
		w.k.t.Fatalf("produce was answered %v, want %v", w.codes, codes)
	}
}

func TestAcksDecideWhetherAShortISRRefuses(t *testing.T) {
	for _, c := range []struct {
		acks int16
		want kafka.ErrorCode
		end  kafka.Offset
	}{
		{AcksNone, kafka.None, 1},
		{AcksLeader, kafka.None, 1},
		{AcksAll, kafka.NotEnoughReplicas, 0},
	} {
		k := replicated(t, 3, 0, rules.Current(), 2)
		k.setISR(A)
		k.tell(A)
		if _, code := k.at(A).p.AppendAsLeader(k.batch(), c.acks); code != c.want {
			t.Errorf("acks=%d: %v, want %v", c.acks, code, c.want)
		}
		k.wantEnd(A, c.end)
	}
}

func TestOnlyThreeValuesOfAcksAreValid(t *testing.T) {
	for acks := int16(-3); acks <= 3; acks++ {
		if want := acks >= -1 && acks <= 1; ValidAcks(acks) != want {
			t.Errorf("ValidAcks(%d) = %v", acks, !want)
		}
	}
}

func TestFollowerRefusesToAppend(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	if _, code := k.at(B).p.AppendAsLeader(k.batch(), AcksLeader); code != kafka.NotLeaderOrFollower {
		t.Errorf("follower answers %v, want NOT_LEADER_OR_FOLLOWER", code)
	}
	k.wantEnd(B, 1)
}

func TestAcksAllIsAnsweredWhenTheWholeISRHasTheRecord(t *testing.T) {
	k := replicated(t, 3, 1, rules.Current(), 2)
	w := k.produceAll()
	k.fetch(B, 2)
	w.want()
	k.fetch(C, 1)
	w.want() // C was sent the record; it has not said that it has it
	k.fetch(C, 1)
	w.want(kafka.None)
	k.fetch(C, 1)
	w.want(kafka.None)
}

func TestAcksAllWithOneReplicaIsAnsweredAtOnce(t *testing.T) {
	k := replicated(t, 1, 0, rules.Current(), 1)
	k.produceAll().want(kafka.None)
}

func TestAcksAllFailsWhenTheISRShrinksBeforeTheAnswer(t *testing.T) {
	k := replicated(t, 3, 1, rules.Current(), 2)
	w := k.produceAll()
	k.fetch(B, 2)
	k.fetch(C, 1)
	// In one callback C's fetch commits the record, and metadata takes B and C out.
	k.at(A).p.Fetch(k.request(C, k.ask(C).Fetch[0]))
	k.wantHW(A, 2)
	k.setISR(A)
	k.tell(A)
	w.want(kafka.NotEnoughReplicasAfterAppend)
}

func TestAcksAllFailsWhenLeadershipIsLost(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	w := k.produceAll()
	k.elect(B)
	w.want(kafka.NotLeaderOrFollower)
}

func TestAcksAllIsNotAnsweredByALaterLeadershipOfTheSameBroker(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	a := k.at(A)
	w := k.appendAll() // and its fsync lasts
	k.elect(B)
	a.purgatory.Complete()
	k.produce(B, 3)
	k.fetch(A, 3)
	k.elect(A)
	k.fetch(B, 3)
	if a.p.HighWatermark() < 2 || !a.p.IsLeader() {
		t.Fatalf("A leads: %v, up to %d", a.p.IsLeader(), a.p.HighWatermark())
	}
	if !a.purgatory.TryProduce(w.delayed) {
		t.Error("the request waits on")
	}
	w.want(kafka.NotLeaderOrFollower)
}

func TestAcksAllIsNoSuccessBeforeItsFsyncIsDone(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	a := k.at(A)
	w := k.appendAll()
	k.fetch(B, 3)
	k.wantHW(A, 2)
	w.want()
	a.purgatory.TryProduce(w.delayed)
	w.want(kafka.None)
}

func TestAcksAllTimesOutWithAnUnknownOutcome(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	w := k.produceAll()
	k.at(A).purgatory.ExpireProduce(w.delayed)
	w.want(kafka.RequestTimedOut)
	k.fetch(B, 2) // it commits after all, and nobody is told twice
	k.wantHW(A, 2)
	w.want(kafka.RequestTimedOut)
}

func TestProduceIsAnsweredOnceAllItsPartitionsAre(t *testing.T) {
	other := kafka.TopicPartition{Topic: "orders", Partition: 1}
	k := replicated(t, 2, 1, rules.Current(), 1)
	a := k.at(A)
	gone := false
	g := NewPurgatory(func(tp kafka.TopicPartition) (*Partition, kafka.ErrorCode) {
		if tp == other && gone {
			return nil, kafka.UnknownTopicOrPartition
		}
		return a.p, kafka.None
	})
	a.purgatory = g
	refused := kafka.TopicPartition{Topic: "orders", Partition: 2}
	r, _ := a.p.AppendAsLeader(k.batch(), AcksAll)
	var got []ProduceStatus
	d := &DelayedProduce{
		Partitions: []ProduceStatus{{TP: testTP, Required: r.Last + 1}, {TP: other, Required: r.Last + 2},
			{TP: refused, Code: kafka.MessageTooLarge}},
		Done: func(s []ProduceStatus) { got = s }}
	g.WatchProduce(d)
	done := g.TryProduce(d)
	k.fetch(B, 2)
	if done || got != nil {
		t.Fatalf("answered before the second partition is committed: %v", got)
	}
	gone = true
	g.Changed(other)
	g.Complete()
	if len(got) != 3 || got[0].Code != kafka.None || got[1].Code != kafka.UnknownTopicOrPartition || got[2].Code != kafka.MessageTooLarge {
		t.Errorf("answer is %+v", got)
	}
	if len(g.watched) != 0 {
		t.Errorf("%d partitions are still watched", len(g.watched))
	}
}

func TestBrokersTimeIsToldIfTheTopicStampsIt(t *testing.T) {
	k := replicated(t, 1, 0, rules.Current(), 1)
	c := storage.DefaultConfig()
	c.TimestampType = record.LogAppendTime
	k.at(A).log.SetConfig(c)
	r, code := k.at(A).p.AppendAsLeader(k.batch(), AcksLeader)
	if want := k.at(A).Wall(); code != kafka.None || r.LogAppendTime != want {
		t.Errorf("log append time is %d, %v; want %d", r.LogAppendTime, code, want)
	}
}

func TestRefusedBatchIsNotAppended(t *testing.T) {
	k := replicated(t, 1, 1, rules.Current(), 1)
	b := k.batch()
	b[len(b)-1] ^= 1
	if _, code := k.at(A).p.AppendAsLeader(b, AcksLeader); code != kafka.CorruptMessage {
		t.Errorf("answer is %v, want CORRUPT_MESSAGE", code)
	}
	k.wantEnd(A, 1)
	k.wantHW(A, 1)
}

func TestDiskErrorTakesTheReplicaOffline(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	k.produce(A, 1)
	r := k.serve(B, k.ask(B))
	k.at(A).disk.Kill()
	k.at(B).disk.Kill()
	if _, code := k.at(A).p.AppendAsLeader(k.batch(), AcksLeader); code != kafka.KafkaStorageError || k.at(A).failed == nil {
		t.Errorf("leader answers %v, and reports %v", code, k.at(A).failed)
	}
	if seen := k.consume(A, 0); seen.Code != kafka.KafkaStorageError {
		t.Errorf("later fetch gets %v, want KAFKA_STORAGE_ERROR", seen.Code)
	}
	k.deliver(B, r)
	if k.at(B).failed == nil || k.at(B).fetcher.Len() != 0 {
		t.Errorf("follower reports %v and fetches %d partitions", k.at(B).failed, k.at(B).fetcher.Len())
	}
}

func TestProduceResultTellsWhereTheBatchWent(t *testing.T) {
	k := replicated(t, 1, 4, rules.Current(), 1)
	r, code := k.at(A).p.AppendAsLeader(k.batch(), AcksLeader)
	if code != kafka.None || r.First != 4 || r.Last != 4 || r.LogStart != 0 || r.LogAppendTime != -1 {
		t.Errorf("result is %+v, %v", r, code)
	}
}
