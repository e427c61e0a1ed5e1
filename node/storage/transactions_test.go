package storage

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// transactional is a batch of n records as a transactional producer sends it.
func transactional(id kafka.ProducerID, epoch kafka.ProducerEpoch, first kafka.Sequence, n int) record.Batch {
	w := record.NewBuilder(record.BuilderOptions{LeaderEpoch: kafka.NoEpoch, ProducerID: id, ProducerEpoch: epoch,
		BaseSequence: first, Transactional: true})
	for i := range n {
		w.Append(1000, nil, []byte{byte(id), byte(first), byte(i), 0, 0, 0, 0, 0}, nil)
	}
	return w.Build()
}

// end appends a marker as transaction.version 1 writes it, which must end with the
// code.
func end(t failer, l *Log, id kafka.ProducerID, epoch kafka.ProducerEpoch, typ record.ControlType, want kafka.ErrorCode) {
	t.Helper()
	endAs(t, l, Marker{ProducerID: id, ProducerEpoch: epoch, Type: typ, TransactionVersion: 1}, want)
}

func endAs(t failer, l *Log, m Marker, want kafka.ErrorCode) {
	t.Helper()
	before := l.LogEnd()
	done, code, err := l.AppendMarker(m, max(1, l.LastEpoch()), 1000)
	if code != want || err != nil {
		t.Fatalf("%+v: %s, %v; want %s", m, code, err, want)
	}
	if appended := done.First == before && done.Last == before && l.LogEnd() == before+1; appended != (want == kafka.None) {
		t.Fatalf("%+v: %+v, log end %d", m, done, l.LogEnd())
	}
}

// stable checks the last stable offset at a high watermark.
func stable(t failer, l *Log, highWatermark, want kafka.Offset) {
	t.Helper()
	l.SetHighWatermark(highWatermark)
	if got := l.LastStable(); got != want {
		t.Fatalf("last stable offset %d at high watermark %d, want %d; %+v", got, highWatermark, want, l.producers.txns)
	}
}

// index lists every aborted transaction in the indexes of a log.
func index(l *Log) (all []AbortedTransaction) {
	for _, s := range l.segments {
		for i := range s.txns.count() {
			all = append(all, s.txns.at(i))
		}
	}
	return all
}

func TestTheLastStableOffsetWaitsForEveryTransactionBelow(t *testing.T) {
	_, l := newLog(t)
	produce(t, l, batch(1000, "plain"), kafka.None)
	stable(t, l, 1, 1)
	produce(t, l, transactional(7, 0, 0, 2), kafka.None) // 1, 2
	produce(t, l, transactional(8, 0, 0, 1), kafka.None) // 3
	produce(t, l, transactional(7, 0, 2, 1), kafka.None) // 4: the same transaction
	stable(t, l, 5, 1)
	stable(t, l, 0, 0)
	end(t, l, 7, 0, record.Commit, kafka.None) // 5
	stable(t, l, 5, 1)                         // the marker is not replicated
	stable(t, l, 6, 3)
	end(t, l, 8, 0, record.Abort, kafka.None) // 6
	stable(t, l, 6, 3)
	stable(t, l, 7, 7)
	stable(t, l, 6, 6) // what was decided once stays so
}

func TestTheIndexOfAbortedTransactionsHasKafkasBytes(t *testing.T) {
	w, l := newLog(t)
	l.SetConfig(DefaultConfig()) // one segment
	produce(t, l, transactional(7, 0, 0, 2), kafka.None)
	produce(t, l, transactional(8, 0, 0, 1), kafka.None)
	path := segmentPath(dir, 0) + txnSuffix
	end(t, l, 8, 0, record.Commit, kafka.None) // 3
	if _, err := ReadFile(w.fs, path); err == nil {
		t.Fatal("a commit made a file")
	}
	produce(t, l, transactional(8, 0, 1, 1), kafka.None) // 4
	end(t, l, 7, 0, record.Abort, kafka.None)            // 5, while 8 is open from 4 on
	end(t, l, 8, 0, record.Abort, kafka.None)            // 6
	content, err := ReadFile(w.fs, path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"0000" + "0000000000000007" + "0000000000000000" + "0000000000000005" + "0000000000000004",
		"0000" + "0000000000000008" + "0000000000000004" + "0000000000000006" + "0000000000000007",
	}, "")
	if diff := cmp.Diff(want, hex.EncodeToString(content)); diff != "" {
		t.Fatalf("index (-want +got):\n%s", diff)
	}
}

func TestAMarkerIsJudgedByProducerAndCoordinatorEpoch(t *testing.T) {
	open := func(t *testing.T, l *Log) { produce(t, l, transactional(7, 3, 0, 1), kafka.None) }
	ended := func(t *testing.T, l *Log) {
		open(t, l)
		endAs(t, l, Marker{ProducerID: 7, ProducerEpoch: 4, CoordinatorEpoch: 5, Type: record.Abort, TransactionVersion: 2}, kafka.None)
	}
	for _, c := range []struct {
		name   string
		before func(*testing.T, *Log)
		m      Marker
		want   kafka.ErrorCode
	}{
		{"nothing is known of the producer", func(*testing.T, *Log) {}, Marker{ProducerEpoch: 0, TransactionVersion: 2}, kafka.None},
		{"version 1, epoch of the data", open, Marker{ProducerEpoch: 3, TransactionVersion: 1}, kafka.None},
		{"version 1, higher epoch", open, Marker{ProducerEpoch: 4, TransactionVersion: 1}, kafka.None},
		{"version 1, lower epoch", open, Marker{ProducerEpoch: 2, TransactionVersion: 1}, kafka.InvalidProducerEpoch},
		{"version 2, higher epoch", open, Marker{ProducerEpoch: 4, TransactionVersion: 2}, kafka.None},
		{"version 2, the marker of the transaction before", open, Marker{ProducerEpoch: 3, TransactionVersion: 2}, kafka.InvalidProducerEpoch},
		{"version 2, sent again", ended, Marker{ProducerEpoch: 4, CoordinatorEpoch: 5, TransactionVersion: 2}, kafka.None},
		{"newer coordinator", ended, Marker{ProducerEpoch: 4, CoordinatorEpoch: 6, TransactionVersion: 2}, kafka.None},
		{"older coordinator", ended, Marker{ProducerEpoch: 4, CoordinatorEpoch: 4, TransactionVersion: 2}, kafka.TransactionCoordinatorFenced},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, l := newLog(t)
			c.before(t, l)
			c.m.ProducerID, c.m.Type = 7, record.Commit
			endAs(t, l, c.m, c.want)
			w.kill() // a follower, or the next life, judges by what batches tell
			l, _ = w.open(false, 0, 0)
			audit(t, l)
		})
	}
}

func TestAMarkerWithoutATransactionIsAppendedAndDecidesNothing(t *testing.T) {
	_, l := newLog(t)
	end(t, l, 7, 3, record.Abort, kafka.None)
	stable(t, l, 1, 1)
	if len(index(l)) > 0 || len(l.producers.txns.decided) > 0 {
		t.Fatalf("index %v, %+v", index(l), l.producers.txns)
	}
	produce(t, l, produced(7, 2, 0, 1), kafka.InvalidProducerEpoch) // the marker's epoch counts
}

func TestAMarkerOfAHigherEpochFencesWhatCameBefore(t *testing.T) {
	_, l := newLog(t)
	produce(t, l, transactional(7, 3, 0, 2), kafka.None)
	end(t, l, 7, 4, record.Commit, kafka.None)
	produce(t, l, transactional(7, 3, 2, 1), kafka.InvalidProducerEpoch)
	produce(t, l, transactional(7, 4, 2, 1), kafka.OutOfOrderSequenceNumber)
	produce(t, l, transactional(7, 4, 0, 1), kafka.None)
}

func TestAMarkerOfTheSameEpochKeepsTheSequences(t *testing.T) {
	_, l := newLog(t)
	produce(t, l, transactional(7, 3, 0, 2), kafka.None)
	end(t, l, 7, 3, record.Commit, kafka.None)
	dropped(t, l, transactional(7, 3, 0, 2), 0)
	produce(t, l, transactional(7, 3, 2, 1), kafka.None)
}

func TestDataOutsideATransactionIsRefusedWhileItIsOpen(t *testing.T) {
	_, l := newLog(t)
	produce(t, l, transactional(7, 0, 0, 1), kafka.None)
	produce(t, l, produced(7, 0, 1, 1), kafka.InvalidTxnState)
	end(t, l, 7, 0, record.Abort, kafka.None)
	produce(t, l, produced(7, 0, 1, 1), kafka.None)
}

// fetchedLog gives a second log the batches of the first, as a follower gets them.
func fetchedLog(t *testing.T, from *Log) (*world, *Log) {
	w, l := newLog(t)
	var set []byte
	for _, b := range content(t, from) {
		set = append(set, b...)
	}
	if _, err := l.AppendAsFollower(set, from.LastEpoch()); err != nil {
		t.Fatal(err)
	}
	return w, l
}

func TestAFollowerLearnsOfTransactionsFromTheirBatches(t *testing.T) {
	_, l := newLog(t)
	for i := range kafka.Sequence(4) {
		produce(t, l, transactional(7, 0, i, 1), kafka.None)
		produce(t, l, transactional(8, 0, i, 1), kafka.None)
		end(t, l, 7, 0, record.Abort, kafka.None)
	}
	produce(t, l, transactional(9, 1, 0, 1), kafka.None)
	_, f := fetchedLog(t, l)
	if diff := cmp.Diff(index(l), index(f)); diff != "" || len(index(l)) != 4 {
		t.Fatalf("index of the follower (-leader +follower):\n%s", diff)
	}
	if leader, follower := snapshotContent(l.producers.sorted()), snapshotContent(f.producers.sorted()); !bytes.Equal(leader, follower) {
		t.Fatalf("producers: leader %x, follower %x", leader, follower)
	}
	stable(t, f, f.LogEnd(), 1)
}

func TestOpenTransactionsComeBackHoweverALifeEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*testing.T, *world, *Log) *Log
	}{
		{"clean stop", func(t *testing.T, w *world, l *Log) *Log {
			stop(t, w, l)
			w.boot()
			l, _ = w.open(true, 0, 0)
			return l
		}},
		{"kill", func(_ *testing.T, w *world, _ *Log) *Log {
			w.kill()
			l, _ := w.open(false, 0, 0)
			return l
		}},
		{"kill, snapshots lost", func(t *testing.T, w *world, l *Log) *Log {
			point := l.RecoveryPoint()
			w.kill()
			for _, o := range snapshots(t, w) {
				if err := w.fs.Remove(snapshotAt(o)); err != nil {
					t.Fatal(err)
				}
			}
			l, _ = w.open(false, point, 0)
			return l
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, l := newLog(t)
			produce(t, l, transactional(7, 0, 0, 1), kafka.None)
			lead(t, l, 1, 7)
			produce(t, l, transactional(8, 2, 0, 1), kafka.None) // 8
			end(t, l, 8, 2, record.Abort, kafka.None)
			produce(t, l, transactional(8, 2, 1, 1), kafka.None) // 10
			lead(t, l, 1, 7)
			l.Flush(nil)
			w.drain()
			lead(t, l, 1, 1)
			before := index(l)
			l = c.end(t, w, l)
			if diff := cmp.Diff(before, index(l)); diff != "" || len(before) != 1 {
				t.Fatalf("index (-before +after):\n%s", diff)
			}
			audit(t, l)
			stable(t, l, l.LogEnd(), 0)
			end(t, l, 7, 0, record.Abort, kafka.None)
			stable(t, l, l.LogEnd(), 10)
			if last := index(l)[1]; last != (AbortedTransaction{7, 0, l.LogEnd() - 1, 10}) {
				t.Fatalf("%+v", last)
			}
		})
	}
}

func TestATruncationOpensATransactionWhoseMarkerItCuts(t *testing.T) {
	_, l := newLog(t)
	produce(t, l, transactional(7, 0, 0, 1), kafka.None)
	end(t, l, 7, 0, record.Abort, kafka.None)
	produce(t, l, transactional(7, 0, 1, 1), kafka.None) // 2
	end(t, l, 7, 0, record.Abort, kafka.None)            // 3
	produce(t, l, transactional(8, 0, 0, 1), kafka.None) // 4
	stable(t, l, 3, 2)
	if err := l.TruncateTo(3); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]AbortedTransaction{{7, 0, 1, 2}}, index(l)); diff != "" {
		t.Fatalf("index (-want +got):\n%s", diff)
	}
	stable(t, l, 3, 2)
	audit(t, l)
	if err := l.TruncateFullyAndStartAt(40); err != nil {
		t.Fatal(err)
	}
	stable(t, l, 40, 40)
	if len(index(l)) > 0 {
		t.Fatal(index(l))
	}
}

// As in Kafka, whose unreplicated transactions are in memory alone.
func TestATransactionDecidedBelowASnapshotHoldsNothingBackAfterAStart(t *testing.T) {
	w, l := newLog(t)
	produce(t, l, transactional(7, 0, 0, 1), kafka.None)
	end(t, l, 7, 0, record.Commit, kafka.None)           // 1
	produce(t, l, transactional(8, 0, 0, 1), kafka.None) // 2
	stable(t, l, 1, 0)
	stop(t, w, l)
	l, _ = w.open(true, l.RecoveryPoint(), 0)
	stable(t, l, 1, 1)
	stable(t, l, 3, 2) // what is open is in the snapshot
}

func TestTheFirstUnstableOffsetIsNeverBelowTheLogStart(t *testing.T) {
	_, l := newLog(t)
	produce(t, l, transactional(7, 0, 0, 3), kafka.None)
	stable(t, l, 3, 0)
	if err := l.RaiseLogStart(2); err != nil {
		t.Fatal(err)
	}
	stable(t, l, 3, 2)
	if o, ok := l.FirstUnstable(); o != 2 || !ok {
		t.Fatalf("%d, %t", o, ok)
	}
}

// aborted reads from an offset and lists what a reader of committed records is told.
func aborted(t failer, l *Log, from kafka.Offset, maxBytes int) (list []AbortedTransaction, bytes int) {
	t.Helper()
	slice, err := l.Read(from, l.LogEnd(), maxBytes, true)
	if err != nil {
		t.Fatalf("read from %d: %v", from, err)
	}
	list = l.AbortedTransactions(from, slice)
	slice.Region.Release()
	return list, slice.Bytes
}

func TestAReaderIsToldOfTransactionsAbortedInLaterSegments(t *testing.T) {
	_, l := newLog(t)
	produce(t, l, transactional(7, 0, 0, 1), kafka.None) // in the first segment, whose abort is in the third
	lead(t, l, 1, 10)
	end(t, l, 7, 0, record.Abort, kafka.None)
	produce(t, l, transactional(8, 0, 0, 1), kafka.None)
	end(t, l, 8, 0, record.Abort, kafka.None)
	if len(l.segments) < 3 {
		t.Fatalf("%d segments", len(l.segments))
	}
	for from, want := range []int{0: 1, 3: 1, 5: 1, 10: 2, 11: 2, 12: 1} {
		list, n := aborted(t, l, kafka.Offset(from), 1<<20)
		if from > 0 && want == 0 {
			continue
		}
		if len(list) != want || n == 0 {
			t.Errorf("from %d: %+v", from, list)
		}
	}
	if list, n := aborted(t, l, l.LogEnd(), 1<<20); len(list) > 0 || n > 0 {
		t.Errorf("at the end: %+v", list)
	}
}

func TestAReaderOfASegmentIsToldOfWhatBeginsInIt(t *testing.T) {
	_, l := newLog(t)
	lead(t, l, 1, 4)
	produce(t, l, transactional(7, 0, 0, 1), kafka.None) // 4, the last of the segment
	produce(t, l, transactional(8, 0, 0, 1), kafka.None) // 5, the first of the next
	end(t, l, 7, 0, record.Abort, kafka.None)
	end(t, l, 8, 0, record.Abort, kafka.None)
	if len(l.segments) < 2 || l.segments[1].base != 5 {
		t.Fatalf("%d segments", len(l.segments))
	}
	if list, _ := aborted(t, l, 0, 1<<20); len(list) != 1 || list[0].ProducerID != 7 {
		t.Errorf("from 0: %+v", list)
	}
	if list, _ := aborted(t, l, 5, 1<<20); len(list) != 2 { // 7's marker is behind 5
		t.Errorf("from 5: %+v", list)
	}
}

func TestAnIndexOfAbortedTransactionsThatCannotBeIsRebuiltEvenAfterACleanStop(t *testing.T) {
	entry := appendTxnEntry(nil, AbortedTransaction{7, 0, 1, 2})
	for name, content := range map[string][]byte{
		"no whole entry":          entry[:20],
		"of another version":      append([]byte{0, 1}, entry[2:]...),
		"before its segment":      appendTxnEntry(nil, AbortedTransaction{7, 0, -1, 2}),
		"a whole entry and a bit": append(slices.Clone(entry), 0),
	} {
		t.Run(name, func(t *testing.T) {
			w, l := newLog(t)
			produce(t, l, transactional(7, 0, 0, 1), kafka.None)
			end(t, l, 7, 0, record.Abort, kafka.None)
			want := index(l)
			stop(t, w, l)
			w.boot()
			w.edit(segmentPath(dir, 0)+txnSuffix, replaceBy(content))
			l, _ = w.open(true, 0, 0)
			if diff := cmp.Diff(want, index(l)); diff != "" {
				t.Fatalf("index (-want +got):\n%s", diff)
			}
			audit(t, l)
		})
	}
}

func TestAnAppendToAnOpenTransactionAllocatesNothing(t *testing.T) {
	l := benchLog(t)
	next := kafka.Sequence(0)
	b := transactional(7, 0, 0, 10)
	send := func() {
		b.SetBaseOffset(0)
		b.SetProducer(7, 0, next)
		next = next.Add(b.Count())
		if _, code, err := l.AppendAsLeader(b, 0, 1000); code != kafka.None || err != nil {
			t.Fatal(code, err)
		}
		l.SetHighWatermark(l.LogEnd())
	}
	send()
	if n := testing.AllocsPerRun(500, send); n > 0 {
		t.Errorf("%v allocations for each append", n)
	}
}
