package producer

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
	"tidemark/node/client/clienttest"
)

func TestMurmur2GivesKafkasValues(t *testing.T) {
	for _, c := range []struct {
		key  string
		want int32
	}{
		{"21", -973932308}, {"foobar", -790332482}, {"a-little-bit-long-string", -985981536}, {"abc", 479470107},
	} {
		if got := int32(murmur2([]byte(c.key))); got != c.want {
			t.Errorf("murmur2(%q) = %d, want %d", c.key, got, c.want)
		}
	}
	// The hash of "21" is negative: the sign bit is masked, not negated.
	if got, want := PartitionForKey([]byte("21"), 10), int32((uint32(0xffffffff-973932308+1)&0x7fffffff)%10); got != want {
		t.Errorf("partition for a negative hash is %d, want %d", got, want)
	}
}

func TestRecordsOfAKeyGoToThePartitionOfItsHash(t *testing.T) {
	l := start(t, 1, 7, set("linger.ms", "0"))
	want := PartitionForKey([]byte("abc"), 7)
	for range 3 {
		l.p.Send(Record{Topic: "t", Partition: -1, Key: []byte("abc"), Value: []byte("v")}, func(r Result) {
			if r.TP.Partition != want {
				t.Errorf("partition is %d, want %d", r.TP.Partition, want)
			}
		})
		l.p.Poll()
		l.Run()
		l.take().reply(kafka.None, 0)
	}
	if l.p.Open() != 0 {
		t.Fatal("a record has no result")
	}
}

func TestRecordsThatArriveWithinTheLingerShareABatch(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "20"))
	l.send(0, "a")
	l.Advance(19 * time.Millisecond)
	l.send(0, "b")
	if n := l.Waits(clienttest.Produce); n != 0 {
		t.Fatalf("%d requests before the linger was over", n)
	}
	l.Advance(time.Millisecond)
	r := l.take()
	if got := r.values(); got != "0:[a b]" {
		t.Fatalf("request holds %s, want both records", got)
	}
	r.reply(kafka.None, 40)
	l.want("a", 40, kafka.None, Acked)
	l.want("b", 41, kafka.None, Acked)
}

func TestAFullBatchGoesWithoutLingering(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "60000"), set("batch.size", "200"))
	big := strings.Repeat("x", 80)
	l.send(0, "1"+big)
	if n := l.Waits(clienttest.Produce); n != 0 {
		t.Fatal("a batch with room went before its linger")
	}
	l.send(0, "2"+big) // needs a second batch, which closes the first
	r := l.take()
	if got := r.values(); got != "0:[1"+big+"]" {
		t.Fatalf("request holds %s, want the first record alone", got)
	}
	if n := l.Waits(clienttest.Produce); n != 0 {
		t.Fatal("the batch that has room went too")
	}
}

func TestARequestTakesOneBatchOfEachPartitionUpToItsSize(t *testing.T) {
	l := start(t, 1, 3, set("linger.ms", "10"), set("batch.size", "400"), set("max.request.size", "700"))
	big := strings.Repeat("x", 250)
	for p := range int32(3) {
		l.p.Send(Record{Topic: "t", Partition: p, Value: []byte(big)}, func(Result) {})
	}
	l.p.Poll()
	l.Advance(10 * time.Millisecond)
	first, second := l.take().values(), l.take().values()
	if !strings.Contains(first, "0:") || !strings.Contains(first, "1:") || strings.Contains(first, "2:") {
		t.Errorf("first request holds partitions of %.40s…, want 0 and 1: three batches do not fit", first)
	}
	if !strings.HasPrefix(second, "2:") {
		t.Errorf("second request holds %.20s…, want partition 2", second)
	}
}

func TestNotLeaderIsRetriedAtTheNewLeaderWithoutWaitingForTheBackoff(t *testing.T) {
	l := start(t, 2, 1, set("linger.ms", "0"), set("retry.backoff.ms", "60000"), set("retry.backoff.max.ms", "60000"))
	l.Advance(2 * time.Minute) // the back-off of metadata is over
	l.send(0, "a")
	l.Lead("t", 0, 2, 1)
	l.take().reply(kafka.NotLeaderOrFollower, -1)
	r := l.take()
	if r.Broker != 2 || r.values() != "0:[a]" {
		t.Fatalf("retry of %s went to broker %d, want 2", r.values(), r.Broker)
	}
	r.reply(kafka.None, 7)
	l.want("a", 7, kafka.None, Acked)
}

func TestARetryWaitsForTheBackoffWhileTheLeaderStays(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"))
	l.send(0, "a")
	l.take().reply(kafka.NotEnoughReplicas, -1)
	l.Advance(79 * time.Millisecond)
	if n := l.Waits(clienttest.Produce); n != 0 {
		t.Fatal("retried before 100 ms less a fifth")
	}
	l.Advance(41 * time.Millisecond)
	l.take().reply(kafka.None, 0)
	l.want("a", 0, kafka.None, Acked)
}

func TestOneRequestInFlightKeepsTheOrderOverRetries(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"), set("max.in.flight.requests.per.connection", "1"))
	l.send(0, "a")
	l.send(0, "b")
	l.send(0, "c")
	if n := l.Waits(clienttest.Produce); n != 1 {
		t.Fatalf("%d requests are in flight, want 1", n)
	}
	l.take().reply(kafka.NotEnoughReplicas, -1)
	l.Advance(time.Second)
	var got []string
	for len(l.Held) > 0 {
		r := l.take()
		got = append(got, r.values())
		r.reply(kafka.None, kafka.Offset(len(got)))
		l.Advance(time.Millisecond)
	}
	if diff := cmp.Diff([]string{"0:[a]", "0:[b c]"}, got); diff != "" {
		t.Errorf("order of appends (-want +got):\n%s", diff)
	}
}

func TestOneInFlightHoldsAPartitionBackWhileItsLeaderMoves(t *testing.T) {
	l := start(t, 2, 1, set("linger.ms", "0"), set("max.in.flight.requests.per.connection", "1"))
	l.Advance(2 * time.Minute)
	l.send(0, "a")
	first := l.take()
	l.Lead("t", 0, 2, 1)
	l.c.RequestUpdate()
	l.Advance(time.Second)
	l.send(0, "b")
	if n := l.Waits(clienttest.Produce); n != 0 {
		t.Fatal("b went to the new leader while a is in flight to the old one")
	}
	first.reply(kafka.NotLeaderOrFollower, -1)
	l.Advance(time.Second)
	if got := l.take().values(); got != "0:[a]" {
		t.Fatalf("the new leader gets %s first, want a", got)
	}
}

// P1 of Kafka's history: without idempotence the default of five in flight
// lets a later batch overtake a failed one.
func TestFiveInFlightLetALaterBatchOvertakeAFailedOne(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"), set("enable.idempotence", "false"))
	l.send(0, "a")
	l.send(0, "b")
	a, b := l.take(), l.take()
	a.reply(kafka.NotEnoughReplicas, -1)
	b.reply(kafka.None, 0)
	l.Advance(time.Second)
	l.take().reply(kafka.None, 1)
	if diff := cmp.Diff([]string{"b", "a"}, l.order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestDeliveryTimeoutLeavesTheOutcomeUnknown(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"), set("request.timeout.ms", "4000"), set("delivery.timeout.ms", "10000"))
	l.send(0, "a")
	r := l.take()
	r.reply(kafka.NotEnoughReplicasAfterAppend, -1)
	for len(l.results) == 0 && l.Env().Now() < time.Minute {
		if l.Waits(clienttest.Produce) > 0 {
			l.take().reply(kafka.NotEnoughReplicasAfterAppend, -1)
		}
		l.Advance(10 * time.Millisecond)
	}
	l.want("a", kafka.NoOffset, kafka.RequestTimedOut, Unknown)
	if now := l.Env().Now(); now < 11*time.Second || now > 11*time.Second+20*time.Millisecond {
		t.Errorf("ended at %v, want 10 s after the send at 1 s", now)
	}
}

func TestABatchInFlightExpiresAndItsLateAnswerIsIgnored(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"), set("request.timeout.ms", "8000"), set("delivery.timeout.ms", "10000"))
	l.send(0, "a")
	l.Advance(5 * time.Second)
	l.take().reply(kafka.NotEnoughReplicas, -1)
	l.Advance(time.Second)
	retry := l.take()
	held := l.p.acc.memory
	l.Advance(3999 * time.Millisecond)
	if len(l.results) != 0 {
		t.Fatal("expired before its time")
	}
	l.Advance(time.Millisecond)
	l.want("a", kafka.NoOffset, kafka.RequestTimedOut, Unknown)
	if l.p.acc.memory != held || held == 0 {
		t.Errorf("%d of %d bytes are held, want all: the request still reads them", l.p.acc.memory, held)
	}
	retry.reply(kafka.None, 3)
	l.want("a", kafka.NoOffset, kafka.RequestTimedOut, Unknown)
	if l.p.acc.memory != 0 {
		t.Errorf("%d bytes are still held after the request ended", l.p.acc.memory)
	}
}

func TestErrorsAreDefiniteOnTheFirstAttemptAlone(t *testing.T) {
	for _, c := range []struct {
		code    kafka.ErrorCode
		retries string
		want    Outcome
	}{
		{kafka.InvalidRecord, "5", Failed},
		{kafka.MessageTooLarge, "5", Failed},
		{kafka.InvalidTimestamp, "5", Failed},
		{kafka.NotEnoughReplicas, "0", Failed},
		{kafka.UnknownTopicOrPartition, "0", Failed},
		{kafka.NotEnoughReplicasAfterAppend, "0", Unknown},
		{kafka.NotLeaderOrFollower, "0", Unknown},
		{kafka.RequestTimedOut, "0", Unknown},
		{kafka.KafkaStorageError, "0", Unknown},
		{kafka.UnknownServerError, "5", Unknown},
	} {
		l := start(t, 1, 1, set("linger.ms", "0"), set("retries", c.retries))
		l.send(0, "a")
		l.take().reply(c.code, -1)
		l.want("a", kafka.NoOffset, c.code, c.want)
	}
	l := start(t, 1, 1, set("linger.ms", "0"))
	l.send(0, "a")
	l.take().reply(kafka.NotEnoughReplicasAfterAppend, -1)
	l.Advance(time.Second)
	l.take().reply(kafka.InvalidRecord, -1)
	l.want("a", kafka.NoOffset, kafka.InvalidRecord, Unknown)
}

func TestABrokenConnectionIsRetriedOnANewOne(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"))
	l.send(0, "a")
	l.take().Break()
	l.Advance(2 * time.Second)
	l.take().reply(kafka.None, 5)
	l.want("a", 5, kafka.None, Acked)
}

func TestABatchThatIsTooLargeForTheBrokerIsSplitInOrder(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "10"))
	l.send(0, "a", "b", "c", "d")
	l.Advance(10 * time.Millisecond)
	l.take().reply(kafka.MessageTooLarge, -1) // one part of batch.size: the same again
	r := l.take()
	if got := r.values(); got != "0:[a b c d]" {
		t.Fatalf("first split sends %s, want all within batch.size", got)
	}
	r.reply(kafka.MessageTooLarge, -1) // now halves
	var got []string
	for len(l.Held) > 0 {
		r := l.take()
		got = append(got, r.values())
		r.reply(kafka.None, kafka.Offset(len(l.results)))
	}
	if len(got) < 2 || strings.Join(got, "") == "0:[a b c d]" {
		t.Fatalf("second split sends %v, want smaller batches", got)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, l.order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestARecordLargerThanARequestFailsAtOnce(t *testing.T) {
	l := start(t, 1, 1, set("max.request.size", "100"))
	v := strings.Repeat("x", 101)
	l.send(0, v)
	l.want(v, kafka.NoOffset, kafka.MessageTooLarge, Failed)
	if n := l.Waits(clienttest.Produce); n != 0 {
		t.Error("it was sent")
	}
}

func TestAcksZeroIsAcknowledgedUnansweredWithoutOffset(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"), set("acks", "0"))
	l.send(0, "a")
	l.want("a", kafka.NoOffset, kafka.None, Acked)
	if n := l.Waits(clienttest.Produce); n != 1 {
		t.Errorf("%d requests were sent, want 1", n)
	}
}

func TestASendWaitsForItsTopicUpToMaxBlock(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"), set("max.block.ms", "5000"))
	l.p.Send(Record{Topic: "late", Partition: -1, Value: []byte("a")}, l.note("a"))
	l.send(0, "b") // the application's thread is blocked: this one waits behind
	l.Advance(2 * time.Second)
	if len(l.results) != 0 || l.Waits(clienttest.Produce) != 0 {
		t.Fatal("a record of an unknown topic, or one behind it, went on")
	}
	l.Topic("late", 1)
	l.Advance(2 * time.Second)
	l.take().reply(kafka.None, 0)
	if l.Waits(clienttest.Produce) > 0 {
		l.take().reply(kafka.None, 0)
	}
	l.want("a", 0, kafka.None, Acked)
	l.want("b", 0, kafka.None, Acked)

	l.p.Send(Record{Topic: "never", Partition: -1, Value: []byte("c")}, l.note("c"))
	l.Advance(4999 * time.Millisecond)
	if _, ok := l.results["c"]; ok {
		t.Fatal("gave up before max.block.ms")
	}
	l.Advance(time.Millisecond)
	l.want("c", kafka.NoOffset, kafka.RequestTimedOut, Failed)
}

func TestASendWaitsForMemoryThatAnAnswerFrees(t *testing.T) {
	l := start(t, 1, 2, set("linger.ms", "60000"), set("batch.size", "300"), set("buffer.memory", "300"))
	l.send(0, "a")
	if l.Waits(clienttest.Produce) != 0 {
		t.Fatal("sent though memory is free and the linger on")
	}
	l.send(1, "b")
	r := l.take() // a batch with room goes, as a record waits for its memory
	if got := r.values(); got != "0:[a]" {
		t.Fatalf("request holds %s, want a alone", got)
	}
	r.reply(kafka.None, 0)
	l.want("a", 0, kafka.None, Acked)
	if l.p.Open() != 1 || len(l.p.blocked) != 0 {
		t.Fatalf("%d records are open and %d blocked, want b accepted", l.p.Open(), len(l.p.blocked))
	}
}

func TestCloseSendsWhatLingersAndThenEnds(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "60000"))
	l.send(0, "a")
	closed := false
	l.p.Close(func() { closed = true })
	l.p.Poll()
	l.Run()
	if closed {
		t.Fatal("closed before the record was acknowledged")
	}
	l.take().reply(kafka.None, 0)
	l.want("a", 0, kafka.None, Acked)
	if !closed {
		t.Fatal("not closed")
	}
}
