package producer

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/client/clienttest"
)

// numbers are a request's batches with who sends them: "0:[a]1/0@3" is a batch of
// producer 1 in epoch 0 from sequence 3 on.
func (r request) numbers() string {
	var out []string
	for _, t := range r.Body.(*kmsg.ProduceRequest).Topics {
		for _, p := range t.Partitions {
			b := record.Batch(p.Records)
			if err := b.Check(); err != nil {
				r.l.t.Fatalf("batch of partition %d: %v", p.Partition, err)
			}
			var vs []string
			_ = b.Each(func(rec record.Record) error {
				vs = append(vs, string(rec.Value))
				return nil
			})
			out = append(out, fmt.Sprintf("%d:[%s]%d/%d@%d", p.Partition, strings.Join(vs, " "), b.ProducerID(), b.ProducerEpoch(), b.BaseSequence()))
		}
	}
	return strings.Join(out, " ")
}

// takes takes the held produce requests, which must be the wanted ones.
func (l *lane) takes(want ...string) []request {
	l.t.Helper()
	var got []string
	var all []request
	for l.Waits(clienttest.Produce) > 0 {
		r := l.take()
		all, got = append(all, r), append(got, r.numbers())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Fatalf("requests (-want +got):\n%s", diff)
	}
	return all
}

// later lets every back-off end.
func (l *lane) later() { l.Advance(2 * time.Second) }

// bumps counts the partitions that were numbered anew.
func (l *lane) bumps() (n int) {
	for i := range l.Events {
		if l.Events[i].Kind == event.Effect && l.Events[i].Text == EpochBumpEffect {
			n++
		}
	}
	return n
}

// quick has no linger.
func quick(t *testing.T, partitions int, pairs ...kafka.Pair) *lane {
	return start(t, 1, partitions, append(pairs, set("linger.ms", "0"))...)
}

// each sends records in batches of their own, as far as they may be in flight.
func (l *lane) each(partition int32, values ...string) {
	for _, v := range values {
		l.send(partition, v)
	}
}

func TestNoBatchIsSentBeforeTheProducerHasItsID(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"), set("enable.idempotence", "true"))
	l.p.as = noIdentity
	delete(l.On, clienttest.InitProducerID)
	l.send(0, "a")
	r := l.Take(clienttest.InitProducerID)
	req := r.Body.(*kmsg.InitProducerIDRequest)
	if req.Version != 5 || req.TransactionalID != nil || req.ProducerID != -1 || req.ProducerEpoch != -1 || req.TransactionTimeoutMillis != math.MaxInt32 {
		t.Errorf("request is %+v", req)
	}
	l.takes()
	loading := kmsg.NewPtrInitProducerIDResponse()
	loading.ErrorCode = int16(kafka.CoordinatorLoadInProgress)
	r.Answer(loading)
	l.Advance(99 * time.Millisecond)
	if n := l.Waits(clienttest.InitProducerID); n != 0 {
		t.Fatal("asked again before retry.backoff.ms")
	}
	l.Advance(time.Millisecond)
	id := kmsg.NewPtrInitProducerIDResponse()
	id.ProducerID = 4000
	l.Take(clienttest.InitProducerID).Answer(id)
	l.Run()
	l.takes("0:[a]4000/0@0")
}

func TestAFatalErrorEndsEveryRecord(t *testing.T) {
	l := start(t, 2, 2, set("linger.ms", "0"), set("max.in.flight.requests.per.connection", "1"))
	l.send(0, "first")
	l.send(1, "in flight")
	l.send(0, "queued")
	first, second := l.take(), l.take()
	first.reply(kafka.UnsupportedVersion, -1)
	l.want("first", kafka.NoOffset, kafka.UnsupportedVersion, Failed)
	l.want("in flight", kafka.NoOffset, kafka.UnsupportedVersion, Unknown)
	l.want("queued", kafka.NoOffset, kafka.UnsupportedVersion, Failed)
	second.reply(kafka.None, 0)
	l.send(0, "late")
	l.want("late", kafka.NoOffset, kafka.UnsupportedVersion, Failed)
	if l.p.acc.memory != 0 {
		t.Errorf("%d bytes are held in the end", l.p.acc.memory)
	}
}

func TestAProducerThatGetsNoIDForGoodSendsNothing(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"))
	l.p.as = noIdentity
	delete(l.On, clienttest.InitProducerID)
	l.send(0, "a")
	no := kmsg.NewPtrInitProducerIDResponse()
	no.ErrorCode = int16(kafka.InvalidRequest)
	l.Take(clienttest.InitProducerID).Answer(no)
	l.Run()
	l.takes()
	l.want("a", kafka.NoOffset, kafka.InvalidRequest, Failed)
}

func TestEachPartitionNumbersItsRecords(t *testing.T) {
	l := start(t, 1, 2, set("linger.ms", "10"))
	l.send(0, "a", "b", "c")
	l.send(1, "d")
	l.Advance(10 * time.Millisecond)
	l.takes("0:[a b c]1/0@0 1:[d]1/0@0")[0].reply(kafka.None, 0)
	l.send(0, "e")
	l.send(1, "f")
	l.Advance(10 * time.Millisecond)
	l.takes("0:[e]1/0@3 1:[f]1/0@1")
}

func TestSequencesGoOnAtZeroBehindTheLargest(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "10"))
	l.p.acc.topic("t").queue(0).sequencer = sequencer{as: l.p.as, next: math.MaxInt32 - 1, acked: math.MaxInt32 - 2}
	l.send(0, "a", "b", "c")
	l.Advance(10 * time.Millisecond)
	first := l.takes(fmt.Sprintf("0:[a b c]1/0@%d", math.MaxInt32-1))[0]
	l.send(0, "d")
	l.Advance(10 * time.Millisecond)
	second := l.takes("0:[d]1/0@1")[0]
	// The answers come together, so the order of sequences counts.
	first.reply(kafka.None, 0)
	second.reply(kafka.OutOfOrderSequenceNumber, -1)
	if l.later(); l.bumps() != 1 {
		t.Errorf("%d bumps, want one: d came next and was refused", l.bumps())
	}
}

func TestAtMostFiveRequestsAreInFlight(t *testing.T) {
	l := quick(t, 1)
	l.each(0, "a", "b", "c", "d", "e", "f")
	r := l.takes("0:[a]1/0@0", "0:[b]1/0@1", "0:[c]1/0@2", "0:[d]1/0@3", "0:[e]1/0@4")
	r[0].reply(kafka.None, 0)
	l.takes("0:[f]1/0@5")
}

func TestRetriesGoOneAtATimeInTheOrderOfTheirSequences(t *testing.T) {
	l := quick(t, 1)
	l.each(0, "a", "b", "c")
	r := l.takes("0:[a]1/0@0", "0:[b]1/0@1", "0:[c]1/0@2")
	r[0].reply(kafka.NotEnoughReplicas, -1)
	r[1].reply(kafka.OutOfOrderSequenceNumber, -1)
	r[2].reply(kafka.OutOfOrderSequenceNumber, -1)
	l.later()
	l.send(0, "d")
	l.takes("0:[a]1/0@0")[0].reply(kafka.None, 0) // d has no sequence yet, and waits behind b
	l.takes("0:[b]1/0@1")[0].reply(kafka.None, 1)
	r = l.takes("0:[c]1/0@2", "0:[d]1/0@3")
	r[0].reply(kafka.None, 2)
	r[1].reply(kafka.None, 3)
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, l.order); diff != "" || l.bumps() > 0 {
		t.Errorf("%d bumps, order (-want +got):\n%s", l.bumps(), diff)
	}
}

func TestABatchThatTheLeaderHasAlreadyIsAcknowledged(t *testing.T) {
	l := quick(t, 1)
	l.send(0, "a")
	l.take().reply(kafka.DuplicateSequenceNumber, -1)
	l.want("a", kafka.NoOffset, kafka.None, Acked)
	l.send(0, "b")
	l.take().reply(kafka.OutOfOrderSequenceNumber, -1) // so a counted as the last one acknowledged
	if l.later(); l.bumps() != 1 {
		t.Errorf("%d bumps, want one", l.bumps())
	}
}

// The leader lost what it had acknowledged, or its memory of it.
func TestAGapBeforeTheNextBatchBumpsTheEpochAndNumbersWhatIsInFlightAnew(t *testing.T) {
	l := quick(t, 2)
	l.send(0, "a")
	l.send(1, "other")
	for _, r := range l.takes("0:[a]1/0@0", "1:[other]1/0@0") {
		r.reply(kafka.None, 0)
	}
	l.each(0, "b", "c")
	r := l.takes("0:[b]1/0@1", "0:[c]1/0@2")
	r[0].reply(kafka.OutOfOrderSequenceNumber, -1)
	r[1].reply(kafka.OutOfOrderSequenceNumber, -1) // of the attempt under the old numbers: says nothing
	l.later()
	l.takes("0:[b]1/1@0")[0].reply(kafka.None, 7)
	l.takes("0:[c]1/1@1")[0].reply(kafka.None, 8)
	l.send(1, "idle") // P6: it had nothing in flight at the bump
	l.takes("1:[idle]1/1@0")
	if l.bumps() != 1 {
		t.Errorf("%d bumps, want one", l.bumps())
	}
}

func TestAPartitionInFlightKeepsItsEpochUntilItIsDone(t *testing.T) {
	l := start(t, 2, 2, set("linger.ms", "0"))
	l.send(1, "x")
	x := l.takes("1:[x]1/0@0")[0]
	l.send(0, "a")
	l.takes("0:[a]1/0@0")[0].reply(kafka.OutOfOrderSequenceNumber, -1)
	l.later()
	l.takes("0:[a]1/1@0")
	l.send(1, "y")
	l.takes() // x is in flight in the old epoch
	x.reply(kafka.NotEnoughReplicas, -1)
	l.later()
	l.takes("1:[x]1/0@0")[0].reply(kafka.None, 0)
	l.takes("1:[y]1/1@0")
}

func TestABatchRefusedForGoodBumpsTheEpochForThoseBehindIt(t *testing.T) {
	l := quick(t, 1)
	l.each(0, "a", "b")
	r := l.takes("0:[a]1/0@0", "0:[b]1/0@1")
	r[0].reply(kafka.InvalidRecord, -1)
	l.want("a", kafka.NoOffset, kafka.InvalidRecord, Failed)
	r[1].reply(kafka.OutOfOrderSequenceNumber, -1)
	l.later()
	l.takes("0:[b]1/1@0")[0].reply(kafka.None, 0)
	l.want("b", 0, kafka.None, Acked)
}

// expiring has a batch a that expires after a retry, while b, sent later, is in
// flight.
func expiring(t *testing.T) (l *lane, b request) {
	t.Helper()
	l = quick(t, 1, set("request.timeout.ms", "9950"), set("delivery.timeout.ms", "10000"))
	l.send(0, "a")
	l.take().reply(kafka.NotEnoughReplicasAfterAppend, -1)
	l.Advance(time.Second)
	a := l.takes("0:[a]1/0@0")[0]
	l.Advance(4 * time.Second)
	l.send(0, "b")
	b = l.takes("0:[b]1/0@1")[0]
	l.Advance(5 * time.Second)
	l.want("a", kafka.NoOffset, kafka.RequestTimedOut, Unknown)
	a.reply(kafka.NotEnoughReplicasAfterAppend, -1) // too late
	return l, b
}

func TestNothingNewIsSentWhileTheFateOfAnExpiredBatchIsOpen(t *testing.T) {
	l, b := expiring(t)
	l.send(0, "c")
	l.takes()
	if l.bumps() != 0 {
		t.Fatal("bumped while b may still tell")
	}
	b.reply(kafka.None, 1) // so a was written
	l.takes("0:[c]1/0@2")
	if l.bumps() != 0 {
		t.Error("bumped, although b tells that there is no gap")
	}
}

func TestTheBatchBehindAnExpiredOneTellsOfTheGap(t *testing.T) {
	l, b := expiring(t)
	b.reply(kafka.OutOfOrderSequenceNumber, -1)
	l.Advance(time.Second)
	l.takes("0:[b]1/1@0")
}

func TestAnExpiredBatchWithNothingBehindItBumpsTheEpoch(t *testing.T) {
	l := quick(t, 1, set("request.timeout.ms", "9950"), set("delivery.timeout.ms", "10000"))
	l.send(0, "a")
	l.take().reply(kafka.NotEnoughReplicasAfterAppend, -1)
	l.Advance(time.Second)
	a := l.take()
	l.Advance(9 * time.Second)
	l.want("a", kafka.NoOffset, kafka.RequestTimedOut, Unknown)
	a.reply(kafka.NotEnoughReplicasAfterAppend, -1)
	l.send(0, "b")
	l.takes("0:[b]1/1@0")
}

func TestALateAnswerStillTellsThatAnExpiredBatchIsWritten(t *testing.T) {
	l := quick(t, 1, set("request.timeout.ms", "9000"), set("delivery.timeout.ms", "10000"))
	l.send(0, "a")
	l.Advance(5 * time.Second)
	a := l.take()
	a.reply(kafka.RequestTimedOut, -1)
	l.Advance(time.Second)
	a = l.take()
	l.send(0, "b")
	b := l.takes("0:[b]1/0@1")[0]
	l.Advance(4 * time.Second) // a expires in flight
	a.reply(kafka.None, 0)
	b.reply(kafka.None, 1)
	l.send(0, "c")
	l.takes("0:[c]1/0@2")
	if l.bumps() != 0 {
		t.Errorf("%d bumps", l.bumps())
	}
}

func TestABatchThatExpiresOnItsFirstAttemptLeavesTheGapToLaterOnes(t *testing.T) {
	l := quick(t, 2, set("request.timeout.ms", "9000"), set("delivery.timeout.ms", "10000"))
	l.each(1, "1", "2", "3", "4", "5") // until these are answered a has to wait
	others := l.takes("1:[1]1/0@0", "1:[2]1/0@1", "1:[3]1/0@2", "1:[4]1/0@3", "1:[5]1/0@4")
	l.send(0, "a")
	l.Advance(2 * time.Second)
	for i, r := range others {
		r.reply(kafka.None, kafka.Offset(i))
	}
	a := l.takes("0:[a]1/0@0")[0]
	l.Advance(5 * time.Second)
	l.send(0, "b")
	b := l.takes("0:[b]1/0@1")[0]
	l.Advance(3 * time.Second)
	l.want("a", kafka.NoOffset, kafka.RequestTimedOut, Unknown)
	a.reply(kafka.NotEnoughReplicas, -1) // too late to tell the sender
	b.reply(kafka.OutOfOrderSequenceNumber, -1)
	l.Advance(time.Second)
	l.takes("0:[b]1/0@1") // not the next one: tried again as it is
	if l.bumps() != 0 {
		t.Errorf("%d bumps", l.bumps())
	}
}

func TestTheLastEpochIsFollowedByAnotherID(t *testing.T) {
	l := quick(t, 1)
	l.p.as.epoch = math.MaxInt16
	l.each(0, "a", "b")
	r := l.takes("0:[a]1/32767@0", "0:[b]1/32767@1")
	r[0].reply(kafka.InvalidRecord, -1)
	r[1].reply(kafka.OutOfOrderSequenceNumber, -1)
	l.later()
	l.takes("0:[b]2/0@0")
}

func TestPartsOfABatchShareItsSequences(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "10"))
	l.send(0, "a", "b", "c", "d")
	l.Advance(10 * time.Millisecond)
	r := l.takes("0:[a b c d]1/0@0")[0]
	l.send(0, "e")
	l.Advance(10 * time.Millisecond)
	e := l.takes("0:[e]1/0@4")[0]
	r.reply(kafka.MessageTooLarge, -1) // as one part, again
	r = l.takes("0:[a b c d]1/0@0")[0]
	r.reply(kafka.MessageTooLarge, -1) // in halves
	e.reply(kafka.OutOfOrderSequenceNumber, -1)
	l.later()
	next := 0
	for l.Waits(clienttest.Produce) > 0 {
		r := l.take()
		b := record.Batch(r.Body.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records)
		if int(b.BaseSequence()) != next || b.ProducerEpoch() != 0 {
			t.Fatalf("%s, want sequence %d", r.numbers(), next)
		}
		next += int(b.Count())
		r.reply(kafka.None, kafka.Offset(b.BaseSequence()))
		l.later()
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "e"}, l.order); diff != "" || next != 5 {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestWithoutIdempotenceABatchHasNoProducer(t *testing.T) {
	l := start(t, 1, 1, set("linger.ms", "0"), set("acks", "1"))
	l.send(0, "a")
	l.takes("0:[a]-1/-1@-1")
	if n := l.Count(clienttest.InitProducerID); n != 0 {
		t.Errorf("a producer id was asked for %d times", n)
	}
}

func TestAnEarlierRequestKeepsTheNumbersItWasSentWith(t *testing.T) {
	q := &queue{sequencer: newSequencer(), compressor: &compressor{}}
	b := newBatch(q, 100, 100, 0)
	b.append(1, &Record{Value: []byte("a")}, func(Result) {})
	q.sequencer.number(b, identity{7, 0})
	first := b.seal()
	q.sequencer.restart(identity{7, 1})
	second := b.seal()
	if first.ProducerEpoch() != 0 || second.ProducerEpoch() != 1 || first.Check() != nil || second.Check() != nil {
		t.Errorf("epochs %d and %d, want 0 and 1: %v, %v", first.ProducerEpoch(), second.ProducerEpoch(), first.Check(), second.Check())
	}
	if again := b.seal(); &again[0] != &second[0] {
		t.Error("numbers that stayed cost a copy")
	}
}

func TestALateAnswerUnderOldNumbersSaysNothingOfTheNewOnes(t *testing.T) {
	q := &queue{sequencer: newSequencer(), compressor: &compressor{}}
	s := &q.sequencer
	old, fresh := newBatch(q, 100, 100, 0), newBatch(q, 100, 100, 0)
	for _, b := range []*batch{old, fresh} {
		b.append(1, &Record{Value: []byte("a")}, func(Result) {})
	}
	s.number(old, identity{7, 0})
	s.expire(old)
	s.number(fresh, identity{7, 1})
	s.acknowledge(old)
	if s.acked != record.NoSequence || s.next != 1 {
		t.Errorf("acknowledged up to %d, next is %d; want none and 1", s.acked, s.next)
	}
}
