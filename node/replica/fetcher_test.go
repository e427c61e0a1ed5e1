package replica

import (
	"testing"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node/storage"
)

// The follower's log goes past the leader's end, and no epoch tells: the fetch
// without the delay of R1 loses the record but does not part the logs.
func TestFollowerPastTheLeadersEndIsCutToIt(t *testing.T) {
	k := replicated(t, 2, 3, variant(t, "truncate=toHW"), 1)
	if err := k.at(B).log.TruncateTo(1); err != nil {
		t.Fatal(err)
	}
	k.at(B).boot(k.at(A).p.rules, 1)
	k.setISR(B)
	k.elect(B)
	k.fetch(A, 1)
	if ask := k.ask(A); ask.Kind != AskLatest || ask.TP != testTP || ask.CurrentLeaderEpoch != 1 {
		t.Fatalf("A asks %+v, want the latest offset", ask)
	} else {
		k.deliver(A, k.serve(A, ask))
	}
	k.wantEnd(A, 1)
	k.wantHW(A, 1)
	if k.count(event.Truncated, "out-of-range") != 1 {
		t.Error("no out-of-range truncation is in the trace")
	}
	k.produce(B, 1)
	k.fetch(A, 1)
	k.wantEnd(A, 2)
}

func TestFollowerBelowTheLeadersStartBeginsAnewThere(t *testing.T) {
	k := aside(t, 2, 1)
	k.produce(A, 5)
	k.fetch(B, 2)
	if err := k.at(A).log.RaiseLogStart(5); err != nil {
		t.Fatal(err)
	}
	k.fetch(C, 3) // fetch, latest, earliest
	k.wantEnd(C, 5)
	k.wantHW(C, 5)
	if got := k.at(C).log.LogStart(); got != 5 {
		t.Errorf("log start of C is %d, want 5", got)
	}
	k.fetch(C, 1)
	k.wantEnd(C, 7)
}

func TestFollowerInRangeAfterAllFetchesOn(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	r := k.serve(B, k.ask(B))
	r.fetch[0].Code = kafka.OffsetOutOfRange
	k.deliver(B, r)
	k.fetch(B, 2) // latest, earliest
	k.wantEnd(B, 3)
	if ask := k.ask(B); ask.Kind != AskFetch || ask.Fetch[0].FetchOffset != 3 {
		t.Errorf("B asks %+v, want a fetch from 3", ask)
	}
}

func TestFollowerTakesTheLeadersLogStart(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	if err := k.at(A).log.RaiseLogStart(2); err != nil {
		t.Fatal(err)
	}
	k.fetch(B, 1)
	if got := k.at(B).log.LogStart(); got != 2 {
		t.Errorf("log start of B is %d, want 2", got)
	}
	if ask := k.ask(B); ask.Fetch[0].LogStart != 2 {
		t.Errorf("B tells log start %d, want 2", ask.Fetch[0].LogStart)
	}
}

func TestErrorDecidesWhetherTheFollowerRetries(t *testing.T) {
	for _, c := range []struct {
		code    kafka.ErrorCode
		dropped bool
	}{
		{kafka.FencedLeaderEpoch, true},
		{kafka.UnknownLeaderEpoch, false},
		{kafka.NotLeaderOrFollower, false},
		{kafka.UnknownTopicOrPartition, false},
		{kafka.UnknownTopicID, false},
		{kafka.KafkaStorageError, false},
	} {
		t.Run(c.code.String(), func(t *testing.T) {
			k := replicated(t, 2, 3, rules.Current(), 1)
			r := k.serve(B, k.ask(B))
			r.fetch[0].Code = c.code
			k.deliver(B, r)
			f := k.at(B).fetcher
			if ask, ok := f.Next(); ok {
				t.Fatalf("B asks %+v at once", ask)
			}
			at, waits := f.Wake()
			if waits == c.dropped || waits && at != k.now+time.Second {
				t.Fatalf("B waits until %v, %v", at, waits)
			}
			k.now += time.Second
			if _, ok := f.Next(); ok == c.dropped {
				t.Errorf("after the back-off B asks: %v", ok)
			}
		})
	}
}

func TestFencedPartitionIsFetchedAgainInTheNextEpoch(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	r := k.serve(B, k.ask(B))
	r.fetch[0].Code = kafka.FencedLeaderEpoch
	k.deliver(B, r)
	k.elect(A)
	k.produce(A, 1)
	k.fetch(B, 1)
	k.wantEnd(B, 4)
}

func TestLostRequestBacksOff(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	f := k.at(B).fetcher
	k.deliver(B, reply{ask: k.ask(B), failed: true})
	if _, ok := f.Next(); ok {
		t.Fatal("B asks at once")
	}
	k.now += time.Second
	r := k.serve(B, k.ask(B))
	r.fetch[0].Code = kafka.OffsetOutOfRange
	k.deliver(B, r)
	k.deliver(B, reply{ask: k.ask(B), failed: true}) // of the ListOffsets
	if _, ok := f.Next(); ok {
		t.Fatal("B asks at once after a lost ListOffsets")
	}
	k.now += time.Second
	if ask := k.ask(B); ask.Kind != AskFetch {
		t.Errorf("B asks %+v, want a fetch", ask)
	}
}

func TestOneRequestIsInFlight(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	ask := k.ask(B)
	f := k.at(B).fetcher
	if _, ok := f.Next(); ok {
		t.Error("B asks a second time before it has its answer")
	}
	if _, ok := f.Wake(); ok {
		t.Error("B wants to be woken while its request is in flight")
	}
	k.deliver(B, k.serve(B, ask))
	k.ask(B)
}

func TestAnswerOfAnEarlierEpochIsIgnored(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.produce(A, 1)
	f := k.at(B).fetcher
	r := k.serve(B, k.ask(B))
	k.at(B).p.BecomeFollower(State{Leader: A, LeaderEpoch: 1, PartitionEpoch: 1, Replicas: k.state.Replicas})
	f.Add(k.at(B).p)
	f.HandleFetch(r.fetch)
	k.wantEnd(B, 3)
}

func TestAnswerToAnotherOffsetIsIgnored(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	k.produce(A, 1)
	r := k.serve(B, k.ask(B))
	k.deliver(B, r)
	k.deliver(B, r)
	k.wantEnd(B, 4)
	if k.at(B).fetcher.Len() != 1 {
		t.Error("the partition was dropped")
	}
}

func TestFollowersHighWatermarkStaysWithinItsLog(t *testing.T) {
	k := aside(t, 2, 1)
	k.produce(A, 5)
	k.fetch(B, 2)
	k.wantHW(A, 7)
	r := k.serve(C, k.ask(C))
	_, rest, err := record.Next(r.fetch[0].Records)
	if err != nil {
		t.Fatal(err)
	}
	r.fetch[0].Records = r.fetch[0].Records[:len(r.fetch[0].Records)-len(rest)]
	k.deliver(C, r)
	k.wantEnd(C, 3)
	k.wantHW(C, 3)
}

func TestEntryOfTheSameEpochIsKept(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	f := k.at(B).fetcher
	k.deliver(B, reply{ask: k.ask(B), failed: true})
	f.Add(k.at(B).p)
	if _, ok := f.Next(); ok || f.Len() != 1 {
		t.Error("the back-off of the entry is forgotten")
	}
	f.Remove(testTP)
	if _, ok := f.Wake(); ok || f.Len() != 0 {
		t.Error("a removed partition is still there")
	}
}

func TestCorruptBatchKeepsWhatCameBeforeIt(t *testing.T) {
	k := replicated(t, 2, 1, rules.Current(), 1)
	k.produce(A, 2)
	r := k.serve(B, k.ask(B))
	r.fetch[0].Records[len(r.fetch[0].Records)-1] ^= 1
	k.deliver(B, r)
	k.wantEnd(B, 2)
	if _, ok := k.at(B).fetcher.Next(); ok {
		t.Fatal("B asks again at once")
	}
	k.now += time.Second
	k.fetch(B, 1)
	k.wantEnd(B, 3)
}

func TestBatchThatBeginsBelowTheLeadersLogStartBeginsTheLog(t *testing.T) {
	k := newCluster(t, 2, rules.Current(), Config{LagTimeMax: lagTimeMax, MinISR: 1})
	k.elect(A)
	k.produce(A, 2)
	b := k.at(B)
	if err := b.log.TruncateFullyAndStartAt(1); err != nil {
		t.Fatal(err)
	}
	b.boot(rules.Current().Replica, 1)
	b.apply(k.state)
	r := k.serve(B, k.ask(B))
	// The leader's log starts at 1 too, in the middle of this batch of 0 and 1.
	whole := k.batchOf(2)
	whole.SetLeaderEpoch(0)
	r.fetch[0].Records = whole
	k.deliver(B, r)
	k.wantEnd(B, 2)
	if got := b.log.LogStart(); got != 0 {
		t.Errorf("log start is %d, want 0: batches come whole", got)
	}
}

func TestFetcherIsQuietWhileTheDiskHasToFinish(t *testing.T) {
	k := replicated(t, 2, 3, rules.Current(), 1)
	b := k.at(B)
	c := storage.DefaultConfig()
	c.FlushMessages = 1
	b.log.SetConfig(c)
	k.produce(A, 1)
	k.fetch(B, 1)
	if _, ok := b.fetcher.Next(); ok {
		t.Fatal("B fetches, which acknowledges the record, before its flush is done")
	}
	b.finishSyncs()
	if ask := k.ask(B); ask.Fetch[0].FetchOffset != 4 {
		t.Errorf("B fetches from %d, want 4", ask.Fetch[0].FetchOffset)
	}
	k.at(B).fetcher.HandleFailure()

	// A cut below the recovery point waits for the checkpoint of the lower one.
	b.holdDisk = true
	k.now += time.Second
	r := k.serve(B, k.ask(B))
	r.fetch[0].Diverging = EpochEnd{0, 2}
	k.deliver(B, r)
	if _, ok := b.fetcher.Next(); ok || len(b.held) != 1 {
		t.Fatal("B fetches before its lower recovery point is durable")
	}
	b.held[0]()
	if ask := k.ask(B); ask.Fetch[0].FetchOffset != 2 {
		t.Errorf("B fetches from %d, want 2", ask.Fetch[0].FetchOffset)
	}
}

// eager asks for the next request as soon as the disk allows it.
type eager struct {
	*broker
	asks []Ask
}

func (e *eager) Ready(f *Fetcher) {
	if ask, ok := f.Next(); ok {
		e.asks = append(e.asks, ask)
	}
}

func TestFetchAfterACutBeginsAtTheNewEnd(t *testing.T) {
	k := replicated(t, 2, 3, variant(t, "truncate=toHW"), 1)
	k.produce(A, 1)
	k.fetch(B, 1)
	b := k.at(B)
	b.log.Flush(nil)
	b.finishSyncs()
	host := &eager{broker: b}
	f := NewFetcher(A, b.p.rules, FetcherConfig{Backoff: time.Second, PartitionMaxBytes: 1 << 20}, host)
	f.Add(b.p)
	k.wantEnd(B, 3)
	if len(host.asks) != 1 || host.asks[0].Fetch[0].FetchOffset != 3 {
		t.Errorf("asked %+v, want one fetch from 3", host.asks)
	}
}

func TestPartitionsTakeTurnsInTheRequest(t *testing.T) {
	k := newCluster(t, 1, rules.Current(), Config{LagTimeMax: lagTimeMax, MinISR: 1})
	f := NewFetcher(B, rules.Current().Replica, FetcherConfig{Backoff: time.Second, PartitionMaxBytes: 77}, k.at(A))
	for i := range int32(3) {
		f.Add(New(Options{TP: kafka.TopicPartition{Topic: "orders", Partition: i}, Local: A, Log: k.at(A).openLog(), Config: k.config,
			Rules: rules.Current().Replica, Host: k.at(A)}))
	}
	order := func() (ids []int32) {
		ask, ok := f.Next()
		if !ok {
			t.Fatal("nothing to ask")
		}
		for _, a := range ask.Fetch {
			if a.MaxBytes != 77 || a.LastFetchedEpoch != kafka.NoEpoch {
				t.Errorf("ask is %+v", a)
			}
			ids = append(ids, a.TP.Partition)
		}
		return ids
	}
	if got := order(); got[0] != 0 || got[1] != 1 || got[2] != 2 {
		t.Fatalf("first request is %v", got)
	}
	b := k.batch()
	b.SetLeaderEpoch(-1)
	f.HandleFetch([]FetchAnswer{{TP: kafka.TopicPartition{Topic: "orders", Partition: 0}, Diverging: noEpochEnd, Records: b}})
	if got := order(); got[0] != 1 || got[1] != 2 || got[2] != 0 {
		t.Errorf("second request is %v, want the partition that got records last", got)
	}
}
