package storage

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// produced is a batch of n records as an idempotent producer sends it.
func produced(id kafka.ProducerID, epoch kafka.ProducerEpoch, first kafka.Sequence, n int) record.Batch {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("%d/%d seq %d", id, epoch, first.Add(int32(i)))
	}
	b := batch(1000, values...)
	b.SetProducer(id, epoch, first)
	return b
}

// fetched is such a batch as a leader's log holds it.
func fetched(base kafka.Offset, leader kafka.LeaderEpoch, b record.Batch) record.Batch {
	b.SetBaseOffset(base)
	b.SetLeaderEpoch(leader)
	return b
}

// produce appends a client's batch, which must end with the code.
func produce(t failer, l *Log, b record.Batch, want kafka.ErrorCode) Appended {
	t.Helper()
	done, code, err := l.AppendAsLeader(bytes.Clone(b), max(1, l.LastEpoch()), 1000)
	if code != want || err != nil {
		t.Fatalf("batch of producer %d epoch %d from sequence %d: %s, %v; want %s", b.ProducerID(), b.ProducerEpoch(), b.BaseSequence(), code, err, want)
	}
	return done
}

// dropped sends a batch again, which must lie at offset first already.
func dropped(t failer, l *Log, b record.Batch, first kafka.Offset) {
	t.Helper()
	end := l.LogEnd()
	done := produce(t, l, b, kafka.None)
	if !done.Duplicate || done.First != first || done.Last != first+kafka.Offset(b.Count())-1 || len(done.Batches) > 0 || l.LogEnd() != end {
		t.Fatalf("retry: %+v, log end %d; want the offsets from %d on and log end %d", done, l.LogEnd(), first, end)
	}
}

func TestLeaderJudgesABatchByItsProducersSequences(t *testing.T) {
	for _, c := range []struct {
		name   string
		before []record.Batch
		b      record.Batch
		want   kafka.ErrorCode
	}{
		{"an unknown producer may begin anywhere", nil, produced(7, 3, 41, 2), kafka.None},
		{"next in line", []record.Batch{produced(7, 0, 0, 3)}, produced(7, 0, 3, 1), kafka.None},
		{"a gap", []record.Batch{produced(7, 0, 0, 3)}, produced(7, 0, 4, 1), kafka.OutOfOrderSequenceNumber},
		{"begins like a batch that is there, ends elsewhere", []record.Batch{produced(7, 0, 0, 3)}, produced(7, 0, 0, 2), kafka.OutOfOrderSequenceNumber},
		{"another producer's sequences do not matter", []record.Batch{produced(7, 0, 0, 3)}, produced(8, 0, 0, 1), kafka.None},
		{"a newer epoch from 0", []record.Batch{produced(7, 0, 0, 3)}, produced(7, 2, 0, 1), kafka.None},
		{"a newer epoch from elsewhere", []record.Batch{produced(7, 0, 0, 3)}, produced(7, 2, 3, 1), kafka.OutOfOrderSequenceNumber},
		{"an older epoch", []record.Batch{produced(7, 2, 0, 3)}, produced(7, 1, 3, 1), kafka.InvalidProducerEpoch},
		{"an older epoch, the very batch", []record.Batch{produced(7, 1, 0, 3), produced(7, 2, 0, 3)}, produced(7, 1, 0, 3), kafka.InvalidProducerEpoch},
		{"across the largest sequence", []record.Batch{produced(7, 0, math.MaxInt32-1, 4)}, produced(7, 0, 2, 1), kafka.None},
		{"from the largest sequence to 0", []record.Batch{produced(7, 0, math.MaxInt32, 1)}, produced(7, 0, 0, 1), kafka.None},
		{"no step behind the largest sequence", []record.Batch{produced(7, 0, math.MaxInt32, 1)}, produced(7, 0, 1, 1), kafka.OutOfOrderSequenceNumber},
		{"no idempotence", []record.Batch{produced(7, 0, 0, 3)}, batch(1000, "plain"), kafka.None},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, l := newLog(t)
			for _, b := range c.before {
				produce(t, l, b, kafka.None)
			}
			end := l.LogEnd()
			if done := produce(t, l, c.b, c.want); done.Duplicate || (l.LogEnd() > end) != (c.want == kafka.None) {
				t.Fatalf("%+v, log end %d after %d", done, l.LogEnd(), end)
			}
		})
	}
}

func TestALeaderKnowsTheLastFiveBatchesOfAProducerAgain(t *testing.T) {
	_, l := newLog(t)
	var sent []record.Batch
	first := kafka.Sequence(math.MaxInt32 - 7) // the retry of a batch across the wrap is one, too
	for i := range 7 {
		sent = append(sent, produced(7, 0, first, i+1))
		first = first.Add(int32(i + 1))
		produce(t, l, sent[i], kafka.None)
		lead(t, l, 1, 1)
	}
	offset := kafka.Offset(0)
	for i, b := range sent {
		if i >= 2 {
			dropped(t, l, b, offset)
		} else {
			produce(t, l, b, kafka.OutOfOrderSequenceNumber)
		}
		offset += kafka.Offset(b.Count()) + 1
	}
}

func TestADuplicateTellsTheTimeOfTheBatchThatIsThere(t *testing.T) {
	_, l := newLog(t)
	cfg := small()
	cfg.TimestampType = record.LogAppendTime
	l.SetConfig(cfg)
	b := produced(7, 0, 0, 2)
	if _, code, err := l.AppendAsLeader(bytes.Clone(b), 1, 5000); code != kafka.None || err != nil {
		t.Fatal(code, err)
	}
	done, _, _ := l.AppendAsLeader(bytes.Clone(b), 1, 6000)
	if !done.Duplicate || done.Timestamp != 5000 {
		t.Fatalf("%+v, want the time 5000", done)
	}
}

func TestABatchThatIsRefusedLeavesNoTrace(t *testing.T) {
	_, l := newLog(t)
	produce(t, l, produced(7, 0, 0, 1), kafka.None)
	produce(t, l, produced(7, 0, 5, 1), kafka.OutOfOrderSequenceNumber)
	large := produced(7, 1, 0, 8)
	if len(large) <= int(small().SegmentBytes) {
		large = produced(7, 1, 0, 30)
	}
	produce(t, l, large, kafka.RecordListTooLarge)
	produce(t, l, produced(9, 0, 0, 30), kafka.RecordListTooLarge)
	produce(t, l, produced(7, 0, 1, 1), kafka.None)
	produce(t, l, produced(9, 0, 8, 1), kafka.None)
}

func TestABatchThatTheDiskRefusesIsNotRemembered(t *testing.T) {
	w, l := newLog(t)
	produce(t, l, produced(7, 0, 0, 1), kafka.None)
	w.crashAt = w.steps + 1
	if !w.until(func() { _, _, _ = l.AppendAsLeader(produced(7, 0, 1, 1), 1, 1000) }) {
		t.Fatal("the append did not reach the disk")
	}
	if s := l.producers.states[7]; s.lastSequence() != 0 || l.producers.end != 1 {
		t.Fatalf("last sequence %d, end %d", s.lastSequence(), l.producers.end)
	}
}

func TestAFollowerTakesWhateverItsLeaderHas(t *testing.T) {
	_, l := newLog(t)
	var set []byte
	for i, b := range []record.Batch{produced(7, 3, 5, 1), produced(7, 3, 99, 1), produced(7, 1, 8, 1)} {
		set = append(set, fetched(kafka.Offset(i), 1, b)...)
	}
	if _, err := l.AppendAsFollower(set, 1); err != nil {
		t.Fatal(err)
	}
	// And leads from what came last.
	dropped(t, l, produced(7, 1, 8, 1), 2)
	produce(t, l, produced(7, 1, 5, 1), kafka.OutOfOrderSequenceNumber)
	produce(t, l, produced(7, 1, 9, 1), kafka.None)
}

func TestAProducerIsForgottenAfterItsExpiry(t *testing.T) {
	_, l := newLog(t)
	l.producers.expiration = 500
	produce(t, l, produced(7, 0, 0, 1), kafka.None) // its records are of time 1000
	l.ExpireProducers(1499)
	dropped(t, l, produced(7, 0, 0, 1), 0)
	l.ExpireProducers(1500)
	if done := produce(t, l, produced(7, 0, 0, 1), kafka.None); done.Duplicate || done.First != 1 {
		t.Fatalf("%+v: want it appended once more (story P2)", done)
	}
}

func TestAnOpenTransactionKeepsItsProducerAndShutsOthersOut(t *testing.T) {
	_, l := newLog(t)
	l.producers.expiration = 500
	produce(t, l, produced(7, 0, 0, 1), kafka.None)
	l.producers.states[7].openTransaction = 0
	l.ExpireProducers(1_000_000)
	produce(t, l, produced(7, 0, 2, 1), kafka.OutOfOrderSequenceNumber)
	produce(t, l, produced(7, 0, 1, 1), kafka.InvalidTxnState)
}

func TestRaisingTheLogStartForgetsNoProducer(t *testing.T) {
	_, l := newLog(t)
	produce(t, l, produced(7, 0, 0, 2), kafka.None)
	lead(t, l, 1, 9)
	if err := l.RaiseLogStart(9); err != nil {
		t.Fatal(err)
	}
	produce(t, l, produced(7, 0, 5, 1), kafka.OutOfOrderSequenceNumber)
	dropped(t, l, produced(7, 0, 0, 2), 0)
}

func TestATruncationTakesBackWhatItCuts(t *testing.T) {
	for _, plain := range []int{0, 12} { // the cut is in the first segment, or in a later one
		_, l := newLog(t)
		produce(t, l, produced(7, 0, 0, 2), kafka.None)
		lead(t, l, 1, plain)
		kept := l.LogEnd()
		produce(t, l, produced(7, 0, 2, 1), kafka.None)
		produce(t, l, produced(8, 4, 0, 1), kafka.None)
		lead(t, l, 1, plain)
		if err := l.TruncateTo(kept); err != nil {
			t.Fatal(err)
		}
		dropped(t, l, produced(7, 0, 0, 2), 0)
		produce(t, l, produced(8, 4, 9, 1), kafka.None) // as if never heard of
		if done := produce(t, l, produced(7, 0, 2, 1), kafka.None); done.Duplicate {
			t.Fatalf("%d batches between: a batch that was cut off is taken for there", plain)
		}
		audit(t, l)
		if err := l.TruncateFullyAndStartAt(50); err != nil {
			t.Fatal(err)
		}
		produce(t, l, produced(7, 0, 77, 1), kafka.None)
		audit(t, l)
	}
}
