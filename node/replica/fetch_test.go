package replica

import (
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/rules"
	"tidemark/node/storage"
)

func TestFetchIsRefusedInKafkasOrder(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.elect(A) // leader epoch 1
	good := FetchRequest{Replica: B, BrokerEpoch: 101, TopicID: kafka.UUID{1}, CurrentLeaderEpoch: 1, LastFetchedEpoch: 0,
		FetchOffset: 3, MaxBytes: 1 << 20, MinOneBatch: true}
	for name, c := range map[string]struct {
		at   kafka.BrokerID
		edit func(*FetchRequest)
		want kafka.ErrorCode
	}{
		"valid":                         {A, func(*FetchRequest) {}, kafka.None},
		"other topic of the name":       {A, func(r *FetchRequest) { r.TopicID = kafka.UUID{2}; r.CurrentLeaderEpoch = 0 }, kafka.InconsistentTopicID},
		"version without topic ids":     {A, func(r *FetchRequest) { r.TopicID = kafka.UUID{} }, kafka.None},
		"older leader epoch":            {A, func(r *FetchRequest) { r.CurrentLeaderEpoch = 0 }, kafka.FencedLeaderEpoch},
		"newer leader epoch":            {A, func(r *FetchRequest) { r.CurrentLeaderEpoch = 2 }, kafka.UnknownLeaderEpoch},
		"older epoch at a follower":     {B, func(r *FetchRequest) { r.Replica = A; r.CurrentLeaderEpoch = 0 }, kafka.FencedLeaderEpoch},
		"follower asked by a replica":   {B, func(r *FetchRequest) { r.Replica = A }, kafka.NotLeaderOrFollower},
		"not assigned":                  {A, func(r *FetchRequest) { r.Replica = C }, kafka.UnknownLeaderEpoch},
		"not assigned, no leader epoch": {A, func(r *FetchRequest) { r.Replica = C; r.CurrentLeaderEpoch = -1 }, kafka.NotLeaderOrFollower},
		"unknown last epoch":            {A, func(r *FetchRequest) { r.LastFetchedEpoch = 7 }, kafka.OffsetOutOfRange},
		"past the end":                  {A, func(r *FetchRequest) { r.LastFetchedEpoch = -1; r.FetchOffset = 4 }, kafka.OffsetOutOfRange},
		"consumer at a follower":        {B, func(r *FetchRequest) { r.Replica = -1 }, kafka.None},
		"old consumer at a follower":    {B, func(r *FetchRequest) { r.Replica = -1; r.OnlyLeader = true }, kafka.NotLeaderOrFollower},
	} {
		t.Run(name, func(t *testing.T) {
			r := good
			c.edit(&r)
			if got := k.at(c.at).p.ReadAgain(r); got.Code != c.want || got.Diverging != noEpochEnd {
				t.Errorf("answer is %v, diverging %v, want %v", got.Code, got.Diverging, c.want)
			}
		})
	}
}

func TestOffsetBelowTheLogStartIsOutOfRangeEvenIfDiverging(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.elect(A)
	if err := k.at(A).log.RaiseLogStart(2); err != nil {
		t.Fatal(err)
	}
	r := k.at(A).p.Fetch(FetchRequest{Replica: B, BrokerEpoch: 101, CurrentLeaderEpoch: 1, LastFetchedEpoch: 1, FetchOffset: 1, MaxBytes: 1 << 20})
	if r.Code != kafka.OffsetOutOfRange {
		t.Errorf("answer is %v, want OFFSET_OUT_OF_RANGE", r.Code)
	}
}

func TestDivergingFetchTeachesTheLeaderNothing(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.elect(B)
	k.produce(B, 4)
	k.setISR(A)
	k.elect(A)
	if r := k.serve(B, k.ask(B)); r.fetch[0].Diverging == noEpochEnd {
		t.Fatalf("answer is %+v, want a divergence", r.fetch[0])
	}
	if got := k.at(A).p.remote(B); got.logEnd != kafka.NoOffset || got.fetched {
		t.Errorf("A has learned %+v from a diverging fetch", got)
	}
}

func TestReadAgainTeachesTheLeaderNothing(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.produce(A, 1)
	k.now++
	before := *k.at(A).p.remote(B)
	if r := k.at(A).p.ReadAgain(k.request(B, k.ask(B).Fetch[0])); r.Code != kafka.None || len(k.bytes(r.Slice)) == 0 {
		t.Fatalf("answer is %+v, want a batch", r)
	}
	if after := *k.at(A).p.remote(B); after != before {
		t.Errorf("A knew %+v, now %+v", before, after)
	}
}

func TestAnswerCarriesTheOffsetsOfBeforeTheFetch(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.produce(A, 1)
	k.fetch(B, 1)
	r := k.serve(B, k.ask(B)) // commits offset 3
	k.wantHW(A, 4)
	if got := r.fetch[0].HighWatermark; got != 3 {
		t.Errorf("answer tells high watermark %d, want 3: followers learn one fetch later", got)
	}
}

func TestConsumerSeesOnlyWhatIsCommitted(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.produce(A, 2)
	for from, batches := range []int{3, 2, 1, 0, 0, 0} {
		r := k.consume(A, kafka.Offset(from))
		got := 0
		for _, e := range k.entries(A) {
			if e.Base >= kafka.Offset(from) && e.Base < 3 {
				got++
			}
		}
		if r.Code != kafka.None || got != batches || (r.Slice.Bytes > 0) != (batches > 0) || r.HighWatermark != 3 || r.LastStable != 3 {
			t.Errorf("from %d: %d bytes, high watermark %d, %v", from, r.Slice.Bytes, r.HighWatermark, r.Code)
		}
	}
	if r := k.consume(A, 6); r.Code != kafka.OffsetOutOfRange {
		t.Errorf("from 6: %v, want OFFSET_OUT_OF_RANGE", r.Code)
	}
}

// R20: consumers saw 10 at the old leader; the new one knows 5.
func TestLatestOffsetIsRefusedUntilTheEpochStartIsCommitted(t *testing.T) {
	k := replicated(t, 2, 5, rules.Current(), 1)
	k.produce(A, 5)
	k.fetch(B, 2)
	k.wantHW(A, 10)
	k.wantHW(B, 5)
	k.elect(B)
	ask := func(timestamp kafka.Timestamp, replica bool) (kafka.Offset, kafka.ErrorCode) {
		r, code := k.at(B).p.ListOffset(ListOffsetRequest{Timestamp: timestamp, CurrentLeaderEpoch: 1, FromReplica: replica})
		return r.Offset, code
	}
	if o, code := ask(LatestTimestamp, false); code != kafka.OffsetNotAvailable {
		t.Errorf("latest is %d, %v; want OFFSET_NOT_AVAILABLE", o, code)
	}
	if o, code := ask(kafka.Timestamp(k.now.Milliseconds())+1, false); code != kafka.OffsetNotAvailable {
		t.Errorf("by timestamp beyond all: %d, %v; want OFFSET_NOT_AVAILABLE", o, code)
	}
	if o, code := ask(kafka.Timestamp(k.now.Milliseconds()), false); code != kafka.None || o != 0 {
		t.Errorf("by timestamp, below the high watermark: %d, %v; want 0", o, code)
	}
	if o, code := ask(EarliestTimestamp, false); code != kafka.None || o != 0 {
		t.Errorf("earliest is %d, %v; want 0", o, code)
	}
	if o, code := ask(LatestTimestamp, true); code != kafka.None || o != 10 {
		t.Errorf("latest of a replica is %d, %v; want the log end 10", o, code)
	}
	k.fetch(A, 2)
	if o, code := ask(LatestTimestamp, false); code != kafka.None || o != 10 {
		t.Errorf("latest is %d, %v; want 10", o, code)
	}
	if o, code := ask(kafka.Timestamp(k.now.Milliseconds())+1, false); code != kafka.None || o != kafka.NoOffset {
		t.Errorf("by timestamp beyond all: %d, %v; want none", o, code)
	}
}

func TestListOffsetsTellTheLeaderEpochThere(t *testing.T) {
	k := replicated(t, 1, 2, rules.Current(), 1)
	k.elect(A)
	k.elect(A)
	k.produce(A, 1)
	for timestamp, want := range map[kafka.Timestamp]ListOffsetResult{
		EarliestTimestamp: {0, 0, -1},
		LatestTimestamp:   {3, 2, -1},
	} {
		got, code := k.at(A).p.ListOffset(ListOffsetRequest{Timestamp: timestamp, CurrentLeaderEpoch: 2})
		if code != kafka.None || got != want {
			t.Errorf("timestamp %d: %+v, %v; want %+v", timestamp, got, code, want)
		}
	}
	if _, code := k.at(A).p.ListOffset(ListOffsetRequest{Timestamp: LatestTimestamp, CurrentLeaderEpoch: 1}); code != kafka.FencedLeaderEpoch {
		t.Errorf("old epoch gets %v, want FENCED_LEADER_EPOCH", code)
	}
}

func TestEndOfAnEpochIsThatOfTheLargestKnownBelow(t *testing.T) {
	k := newCluster(t, 1, rules.Current(), Config{LagTimeMax: lagTimeMax, MinISR: 1})
	k.seed(A, 1, 1, 4)
	k.state.LeaderEpoch = 5
	k.elect(A)
	for asked, want := range map[kafka.LeaderEpoch]EpochEnd{
		-1: noEpochEnd, 0: {0, 0}, 1: {1, 2}, 3: {1, 2}, 4: {4, 3}, 5: {4, 3}, 6: {6, 3}, 7: noEpochEnd,
	} {
		if got, code := k.at(A).p.EndOffsetForEpoch(6, asked); code != kafka.None || got != want {
			t.Errorf("end of %d is %+v, %v; want %+v", asked, got, code, want)
		}
	}
	if _, code := k.at(A).p.EndOffsetForEpoch(7, 1); code != kafka.UnknownLeaderEpoch {
		t.Errorf("newer epoch gets %v, want UNKNOWN_LEADER_EPOCH", code)
	}
}

// parked lets B's fetch wait at A and tells what it is told.
func (k *cluster) parked(r FetchRequest) (d *DelayedFetch, bytes *int, ready *bool) {
	bytes, ready = new(int), new(bool)
	d = &DelayedFetch{Reads: []ParkedRead{{testTP, r}}, Grown: func(n int, r bool) { *bytes, *ready = n, r }}
	k.at(A).purgatory.WatchFetch(d)
	return d, bytes, ready
}

func TestParkedFollowerFetchSeesTheLogGrow(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	d, bytes, ready := k.parked(k.request(B, k.ask(B).Fetch[0]))
	if *bytes != 0 || *ready {
		t.Fatalf("%d bytes, ready %v before anything happened", *bytes, *ready)
	}
	k.produce(A, 1)
	one := *bytes
	k.produce(A, 1)
	if one == 0 || *bytes <= one || *ready {
		t.Errorf("%d, then %d bytes, ready %v", one, *bytes, *ready)
	}
	k.at(A).purgatory.UnwatchFetch(d)
	k.produce(A, 1)
	if len(k.at(A).purgatory.watched) != 0 {
		t.Error("an answered fetch is still watched")
	}
}

func TestParkedConsumerFetchSeesTheHighWatermarkMove(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	_, bytes, _ := k.parked(FetchRequest{Replica: kafka.NoBroker, CurrentLeaderEpoch: 0, LastFetchedEpoch: -1, FetchOffset: 3, MaxBytes: 1 << 20, MinOneBatch: true})
	k.produce(A, 1)
	if *bytes != 0 {
		t.Fatalf("%d bytes of an uncommitted record", *bytes)
	}
	k.fetch(B, 2)
	if *bytes == 0 {
		t.Error("the record is committed and the fetch still waits")
	}
}

func TestParkedFetchDoesNotOutliveTheLeadership(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	_, _, ready := k.parked(k.request(B, k.ask(B).Fetch[0]))
	k.elect(B)
	if !*ready {
		t.Error("the fetch waits for a leader that is none any more")
	}
}

func TestParkedFetchOnAnOlderSegmentDoesNotWait(t *testing.T) {
	k := replicated(t, 1, 1, rules.Current(), 1)
	_, bytes, ready := k.parked(FetchRequest{Replica: kafka.NoBroker, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, FetchOffset: 0, MaxBytes: 1 << 20})
	if *bytes == 0 || *ready {
		t.Fatalf("%d bytes, ready %v in one segment", *bytes, *ready)
	}
	c := storage.DefaultConfig()
	c.SegmentBytes = 100
	k.at(A).log.SetConfig(c)
	k.produce(A, 2)
	if !*ready {
		t.Error("the fetch waits on an older segment")
	}
}

func TestDivergingFetchDoesNotWait(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	r := k.request(B, k.ask(B).Fetch[0])
	k.at(A).log.AssignEpoch(5, 3)
	r.LastFetchedEpoch = 4
	if _, _, ready := k.parked(r); !*ready {
		t.Error("a fetch that diverges is parked")
	}
}

func TestPurgatoryTriesAllPartitionsThatChangedInACallback(t *testing.T) {
	p0, p1 := kafka.TopicPartition{Topic: "orders", Partition: 0}, kafka.TopicPartition{Topic: "orders", Partition: 1}
	hosted := true
	g := NewPurgatory(func(kafka.TopicPartition) (*Partition, kafka.ErrorCode) {
		if hosted {
			return &Partition{leader: A, local: A, highWatermark: 0}, kafka.None
		}
		return nil, kafka.NotLeaderOrFollower
	})
	var answered []kafka.TopicPartition
	for _, tp := range []kafka.TopicPartition{p0, p1} {
		g.WatchProduce(&DelayedProduce{Partitions: []ProduceStatus{{TP: tp, Required: 1}},
			Done: func(s []ProduceStatus) { answered = append(answered, s[0].TP) }})
	}
	hosted = false
	g.Changed(p1)
	g.Changed(p0)
	g.Changed(p1)
	if len(answered) != 0 {
		t.Fatal("answered before the end of the callback")
	}
	g.Complete()
	if len(answered) != 2 || answered[0] != p1 || answered[1] != p0 {
		t.Errorf("answered %v, want each once, in the order of the changes", answered)
	}
}

func TestParkedFetchIsReadyWhenItsOffsetIsCutOff(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.produce(A, 2)
	_, _, ready := k.parked(FetchRequest{Replica: kafka.NoBroker, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, FetchOffset: 3, MaxBytes: 1 << 20})
	if *ready {
		t.Fatal("ready before the cut")
	}
	k.setISR(B)
	k.elect(B)
	if err := k.at(A).p.truncateTo(2, "diverging"); err != nil {
		t.Fatal(err)
	}
	k.at(A).purgatory.Complete()
	if !*ready {
		t.Error("the fetch waits above the end of the log")
	}
}
