package consumer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/client/clienttest"
)

// want compares lists of text.
func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRecordsAreReturnedFromThePositionOn(t *testing.T) {
	l := start(t, 1, 1)
	l.assign(1, 1)
	r := l.fetched()
	if p := r.part(0); p.FetchOffset != 1 || p.CurrentLeaderEpoch != 0 || p.LastFetchedEpoch != -1 {
		t.Fatalf("fetch is from %d, leader epoch %d, last fetched epoch %d; want 1, 0, none", p.FetchOffset, p.CurrentLeaderEpoch, p.LastFetchedEpoch)
	}
	r.with(0, kafka.None, 3, batch(1, 0, "b", "c")).reply()
	want(t, "records", l.values, "0:1=b", "0:2=c")
	if r := l.fetched(); r.part(0).FetchOffset != 3 {
		t.Errorf("the next fetch is from %d, want 3", r.part(0).FetchOffset)
	}
}

func TestOnlyOneFetchIsInFlightToABroker(t *testing.T) {
	l := start(t, 1, 2)
	l.assign(2, 0)
	if n := l.Waits(clienttest.Fetch); n != 1 {
		t.Fatalf("%d fetches are in flight, want 1 for both partitions", n)
	}
	r := l.fetched()
	if r.part(0) == nil || r.part(1) == nil {
		t.Fatal("a partition is missing from the fetch")
	}
	r.with(0, kafka.None, 2, append(batch(0, 0, "a", "b"), batch(2, 0, "c")[:40]...)).with(1, kafka.None, 0, nil).reply()
	want(t, "records", l.values, "0:0=a", "0:1=b")
	if hw, ok := l.con.HighWatermark(tp(1)); !ok || hw != 0 {
		t.Errorf("high watermark of the empty partition is %d, %v; want 0", hw, ok)
	}
	if n := l.Waits(clienttest.Fetch); n != 1 {
		t.Fatalf("%d fetches follow the answer, want 1", n)
	}
}

func TestABatchThatBeginsBelowThePositionIsReturnedFromItOn(t *testing.T) {
	l := start(t, 1, 1)
	l.assign(1, 1)
	l.fetched().with(0, kafka.None, 3, batch(0, 4, "a", "b", "c")).reply()
	want(t, "records", l.values, "0:1=b", "0:2=c")
	if p := l.con.Position(tp(0)); p.Offset != 3 || p.Epoch != 4 {
		t.Errorf("position is offset %d epoch %d, want 3 and the batch's epoch 4", p.Offset, p.Epoch)
	}
}

func TestMaxPollRecordsCutsAcrossPartitions(t *testing.T) {
	l := start(t, 1, 2, set("max.poll.records", "2"))
	l.assign(2, 0)
	l.fetched().with(1, kafka.None, 3, append(batch(0, 0, "a", "b"), batch(2, 0, "c")...)).
		with(0, kafka.None, 2, batch(0, 0, "x", "y")).reply()
	if diff := cmp.Diff([]int{2, 2, 1}, l.sizes); diff != "" {
		t.Errorf("records of each poll (-want +got):\n%s", diff)
	}
	want(t, "records", l.values, "1:0=a", "1:1=b", "1:2=c", "0:0=x", "0:1=y")
}

func TestSessionsSayOnlyWhatChanged(t *testing.T) {
	l := start(t, 1, 2)
	l.assign(2, 0)
	r := l.fetched()
	if r.body.SessionID != 0 || r.body.SessionEpoch != 0 {
		t.Fatalf("first fetch is session %d epoch %d, want a full one", r.body.SessionID, r.body.SessionEpoch)
	}
	r.with(0, kafka.None, 1, batch(0, 0, "a")).with(1, kafka.None, 0, nil).reply()

	r = l.fetched()
	if r.body.SessionID != 77 || r.body.SessionEpoch != 1 || r.part(0) == nil || r.part(1) != nil {
		t.Fatalf("second fetch is session %d epoch %d with %d topics, want 77, 1 and the moved partition alone",
			r.body.SessionID, r.body.SessionEpoch, len(r.body.Topics))
	}
	r.reply() // no news

	r = l.fetched()
	if r.body.SessionEpoch != 2 || len(r.body.Topics) != 0 {
		t.Fatalf("third fetch is epoch %d with %d topics, want 2 and none", r.body.SessionEpoch, len(r.body.Topics))
	}
	l.con.Assign(l.con.Assignment()[:1])
	r.reply()
	r = l.fetched()
	if len(r.body.ForgottenTopics) != 1 || r.body.ForgottenTopics[0].Partitions[0] != 1 {
		t.Fatalf("forgotten is %v, want partition 1", r.body.ForgottenTopics)
	}
	r.code, r.session = kafka.FetchSessionIDNotFound, 0
	r.reply()
	r = l.fetched()
	if r.body.SessionID != 0 || r.body.SessionEpoch != 0 || r.part(0) == nil {
		t.Fatalf("after a lost session the fetch is session %d epoch %d, want a full one", r.body.SessionID, r.body.SessionEpoch)
	}
}

// consumed reads records 0 to 9 of epoch 1 from broker 1.
func consumed(t *testing.T, pairs ...kafka.Pair) *lane {
	t.Helper()
	l := start(t, 2, 1, pairs...)
	l.Lead("t", 0, 1, 1)
	l.c.RequestUpdate()
	l.Advance(2 * time.Second)
	l.assign(1, 0)
	l.fetched().with(0, kafka.None, 10, batch(0, 1, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")).reply()
	if p := l.con.Position(tp(0)); p.Offset != 10 || p.Epoch != 1 {
		t.Fatalf("position is %+v, want offset 10 epoch 1", p)
	}
	l.said, l.values = nil, nil
	return l
}

// elect makes broker 2 the leader in epoch 2 and lets the consumer find out.
func (l *lane) elect() {
	l.Lead("t", 0, 2, 2)
	l.fetched().with(0, kafka.NotLeaderOrFollower, -1, nil).reply()
	l.Advance(2 * time.Second)
}

// R7: after an unclean election the log below the position is another one.
func TestTruncationBelowThePositionIsDetectedAndReadAgainFromTheDivergence(t *testing.T) {
	l := consumed(t)
	l.elect()
	if n := l.Waits(clienttest.Fetch); n != 0 {
		t.Fatal("fetched from the new leader before the position was validated")
	}
	q := l.tellEpochEnd(kafka.None, 1, 5)
	if p := q.Topics[0].Partitions[0]; p.LeaderEpoch != 1 || p.CurrentLeaderEpoch != 2 {
		t.Errorf("asked for the end of epoch %d in %d, want 1 in 2", p.LeaderEpoch, p.CurrentLeaderEpoch)
	}
	want(t, "listener", l.said, "t-0 truncated at 10: end 5 epoch 1", "t-0 10->5 truncated")
	r := l.fetched()
	if r.Broker != 2 || r.part(0).FetchOffset != 5 {
		t.Fatalf("fetch goes to broker %d from %d, want 2 from 5", r.Broker, r.part(0).FetchOffset)
	}
	r.with(0, kafka.None, 7, batch(5, 2, "x", "y")).reply()
	want(t, "records", l.values, "0:5=x", "0:6=y")
}

func TestALogThatReachesThePositionIsReadOnAfterValidation(t *testing.T) {
	l := consumed(t)
	l.elect()
	l.tellEpochEnd(kafka.None, 1, 12)
	want(t, "listener", l.said)
	if r := l.fetched(); r.Broker != 2 || r.part(0).FetchOffset != 10 {
		t.Fatalf("fetch goes to broker %d from %d, want 2 from 10", r.Broker, r.part(0).FetchOffset)
	}
}

func TestTruncationWithoutResetPolicyStopsThePartition(t *testing.T) {
	l := consumed(t, set("auto.offset.reset", "none"))
	l.elect()
	l.tellEpochEnd(kafka.None, 1, 5)
	l.Advance(time.Minute)
	want(t, "listener", l.said, "t-0 truncated at 10: end 5 epoch 1")
	if n := l.Waits(clienttest.Fetch); n != 0 {
		t.Fatal("went on fetching")
	}
	l.con.Seek(tp(0), 5)
	l.poll()
	l.Run()
	if r := l.fetched(); r.part(0).FetchOffset != 5 {
		t.Fatalf("after a seek the fetch is from %d, want 5", r.part(0).FetchOffset)
	}
}

func TestALeaderThatCannotTellTheEndSendsThePositionToTheResetPolicy(t *testing.T) {
	l := consumed(t, set("auto.offset.reset", "earliest"))
	l.elect()
	l.tellEpochEnd(kafka.None, kafka.NoEpoch, kafka.NoOffset)
	if q := l.tellOffset(0, kafka.None, 3, 2); q.Topics[0].Partitions[0].Timestamp != -2 {
		t.Errorf("asked for timestamp %d, want -2", q.Topics[0].Partitions[0].Timestamp)
	}
	want(t, "listener", l.said, "t-0 truncated at 10: end -1 epoch -1", "t-0 10->3 truncated")
}

func TestAValidationAnswerForAPositionThatMovedIsIgnored(t *testing.T) {
	l := consumed(t)
	l.elect()
	l.con.Seek(tp(0), 2)
	l.tellEpochEnd(kafka.None, 1, 5)
	want(t, "listener", l.said, "t-0 10->2 seek")
}

func TestAValidationAnswerOfADeposedLeaderIsIgnored(t *testing.T) {
	l := consumed(t)
	l.elect()
	l.Lead("t", 0, 1, 3)
	l.c.RequestUpdate()
	l.Advance(2 * time.Second)
	l.tellEpochEnd(kafka.None, 1, 5) // broker 2, which had lost the records
	want(t, "listener", l.said)
	if q := l.tellEpochEnd(kafka.None, 1, 10); q.Topics[0].Partitions[0].CurrentLeaderEpoch != 3 {
		t.Error("the new leader was not asked")
	}
	want(t, "listener", l.said)
}

func TestASeekWhileAResetIsAskedForWins(t *testing.T) {
	l := start(t, 1, 1, set("auto.offset.reset", "earliest"))
	l.con.Assign([]kafka.TopicPartition{tp(0)})
	l.poll()
	l.Run()
	l.con.Seek(tp(0), 4)
	l.tellOffset(0, kafka.None, 0, 0)
	want(t, "listener", l.said, "t-0 -1->4 assign")
}

func TestAFencedValidationIsAskedAgainInTheNewEpoch(t *testing.T) {
	l := consumed(t)
	l.elect()
	l.Lead("t", 0, 1, 3)
	l.tellEpochEnd(kafka.FencedLeaderEpoch, kafka.NoEpoch, kafka.NoOffset)
	l.Advance(2 * time.Second)
	q := l.tellEpochEnd(kafka.None, 1, 10)
	if p := q.Topics[0].Partitions[0]; p.CurrentLeaderEpoch != 3 {
		t.Errorf("asked in epoch %d, want 3", p.CurrentLeaderEpoch)
	}
	want(t, "listener", l.said)
}

func TestOutOfRangeGoesWhereThePolicySays(t *testing.T) {
	for _, c := range []struct {
		policy string
		at     int64
	}{{"earliest", -2}, {"latest", -1}} {
		l := start(t, 1, 1, set("auto.offset.reset", c.policy))
		l.assign(1, 50)
		l.fetched().with(0, kafka.OffsetOutOfRange, -1, nil).reply()
		if q := l.tellOffset(0, kafka.None, 7, 0); q.Topics[0].Partitions[0].Timestamp != c.at {
			t.Errorf("%s asks for timestamp %d, want %d", c.policy, q.Topics[0].Partitions[0].Timestamp, c.at)
		}
		want(t, c.policy, l.said, "t-0 -1->50 assign", "t-0 50->7 out-of-range")
		if r := l.fetched(); r.part(0).FetchOffset != 7 {
			t.Errorf("%s goes on from %d, want 7", c.policy, r.part(0).FetchOffset)
		}
	}
}

func TestOutOfRangeWithoutPolicyIsAnError(t *testing.T) {
	l := start(t, 1, 1, set("auto.offset.reset", "none"))
	l.assign(1, 50)
	l.fetched().with(0, kafka.OffsetOutOfRange, -1, nil).reply()
	l.Advance(time.Minute)
	want(t, "listener", l.said, "t-0 -1->50 assign", "t-0 failed at 50: OFFSET_OUT_OF_RANGE")
	if n := l.Waits(clienttest.Fetch) + l.Waits(clienttest.ListOffsets); n != 0 {
		t.Errorf("%d requests follow", n)
	}
}

func TestAResetIsAskedAgainWhileTheLeaderCannotTell(t *testing.T) {
	l := start(t, 1, 1, set("auto.offset.reset", "latest"))
	l.con.Assign([]kafka.TopicPartition{tp(0)})
	l.poll()
	l.Run()
	l.tellOffset(0, kafka.OffsetNotAvailable, -1, -1)
	if n := l.Waits(clienttest.ListOffsets); n != 0 {
		t.Fatal("asked again without back-off")
	}
	l.Advance(time.Second)
	l.tellOffset(0, kafka.None, 9, 3)
	want(t, "listener", l.said, "t-0 -1->9 assign")
	if p := l.con.Position(tp(0)); p.Offset != 9 || p.Epoch != 3 {
		t.Errorf("position is %+v, want offset 9 with the epoch of the answer", p)
	}
}

func TestDataFetchedBeforeASeekIsDropped(t *testing.T) {
	l := start(t, 1, 1)
	l.assign(1, 0)
	r := l.fetched()
	l.con.Seek(tp(0), 5)
	r.with(0, kafka.None, 6, batch(0, 0, "a", "b")).reply()
	want(t, "records", l.values)
	if r := l.fetched(); r.part(0).FetchOffset != 5 {
		t.Errorf("fetch is from %d, want 5", r.part(0).FetchOffset)
	}
}

func TestACorruptBatchStopsThePartitionAfterTheRecordsBeforeIt(t *testing.T) {
	l := start(t, 1, 1)
	l.assign(1, 0)
	bad := batch(1, 0, "b")
	bad[len(bad)-2] ^= 1
	l.fetched().with(0, kafka.None, 2, append(batch(0, 0, "a"), bad...)).reply()
	want(t, "records", l.values, "0:0=a")
	want(t, "listener", l.said, "t-0 -1->0 assign", "t-0 failed at 1: CORRUPT_MESSAGE")
	l.Advance(time.Minute)
	if n := l.Waits(clienttest.Fetch); n != 0 {
		t.Error("went on fetching")
	}
}

func TestABrokenConnectionIsFollowedByAFullFetchFromTheSamePosition(t *testing.T) {
	l := start(t, 1, 1)
	l.assign(1, 0)
	l.fetched().with(0, kafka.None, 1, batch(0, 0, "a")).reply()
	l.fetched().Break()
	l.Run()
	if _, ok := l.con.HighWatermark(tp(0)); ok {
		t.Error("the high watermark of a connection that is gone is still believed")
	}
	l.Advance(2 * time.Second)
	r := l.fetched()
	if r.body.SessionEpoch != 0 || r.part(0).FetchOffset != 1 {
		t.Errorf("fetch is session epoch %d from %d, want a full one from 1", r.body.SessionEpoch, r.part(0).FetchOffset)
	}
}

func TestEndOffsetIsAskedUntilTheLeaderTells(t *testing.T) {
	l := start(t, 1, 1)
	end := kafka.NoOffset
	l.con.EndOffset(tp(0), func(o kafka.Offset) { end = o })
	l.Run()
	l.tellOffset(0, kafka.OffsetNotAvailable, -1, -1)
	l.Advance(time.Second)
	l.tellOffset(0, kafka.None, 12, 0)
	if end != 12 {
		t.Errorf("end is %d, want 12", end)
	}
}

func TestThePositionMovesOverControlBatches(t *testing.T) {
	l := start(t, 1, 1)
	l.assign(1, 0)
	o := record.NoProducer()
	o.BaseOffset, o.Control = 0, true
	b := record.NewBuilder(o)
	b.Append(1, []byte{0, 0, 0, 1}, []byte{0, 0, 0, 0, 0, 0}, nil)
	l.fetched().with(0, kafka.None, 2, append(b.Build(), batch(1, 0, "a")...)).reply()
	want(t, "records", l.values, "0:1=a")
	if len(l.polls) != 1 || l.polls[0].Before != 0 || l.polls[0].After != 2 {
		t.Errorf("polls are %+v, want one from 0 to 2", l.polls)
	}
}
