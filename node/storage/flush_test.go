package storage

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/disk/faultdisk"
	"tidemark/model/kafka"
)

func TestTheRecoveryPointIsTheMinimumOverWhatIsOutstanding(t *testing.T) {
	w, l := newLog(t)
	l.Flush(nil)
	w.drain()
	var told []string
	for i := range 3 {
		lead(t, l, 0, 1)
		l.Flush(func(err error) { told = append(told, fmt.Sprint("flush ", i, " at ", l.RecoveryPoint(), err)) })
	}
	for len(w.dues) > 1 { // the newest first: the oldest flush is the last to be done
		w.complete(len(w.dues) - 1)
		if l.RecoveryPoint() != 0 {
			t.Fatalf("recovery point %d while the first flush is outstanding", l.RecoveryPoint())
		}
	}
	w.drain()
	if diff := cmp.Diff([]string{"flush 0 at 1 <nil>", "flush 1 at 2 <nil>", "flush 2 at 3 <nil>"}, told); diff != "" {
		t.Fatalf("told (-want +got):\n%s", diff)
	}
}

func TestAFlushOfADurableLogIsDoneAtOnce(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 0, 3)
	l.Flush(nil)
	w.drain()
	done := false
	l.Flush(func(err error) { done = err == nil })
	if !done || len(w.dues) != 0 {
		t.Fatalf("done %t, %d syncs outstanding", done, len(w.dues))
	}
}

func TestRollingSyncsTheOldSegmentInTheBackground(t *testing.T) {
	w, l := newFrailLog(t)
	for len(l.segments) < 2 {
		lead(t, l, 0, 1)
	}
	w.drain()
	if l.RecoveryPoint() != l.segments[1].base {
		t.Fatalf("recovery point %d, second segment from %d", l.RecoveryPoint(), l.segments[1].base)
	}
	flushed := text(content(t, l))[:l.segments[1].base]
	w.power(faultdisk.LoseAll, 0)
	l, _ = w.open(false, l.RecoveryPoint(), 0)
	if got := text(content(t, l)); !slices.Equal(got, flushed) {
		t.Fatalf("after the power loss %v, want %v", got, flushed)
	}
	audit(t, l)
}

func TestATruncationLowersFlushesUnderWay(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 0, 8)
	l.Flush(nil)
	if err := l.TruncateTo(3); err != nil {
		t.Fatal(err)
	}
	lead(t, l, 1, 1)
	w.drain()
	if l.RecoveryPoint() != 3 {
		t.Fatalf("recovery point %d, want 3: what follows was never synced", l.RecoveryPoint())
	}
	l.Flush(nil)
	w.drain()
	if l.RecoveryPoint() != 4 {
		t.Fatalf("recovery point %d after a flush of 4", l.RecoveryPoint())
	}
}

func TestTheEpochFileWaitsForATruncationToBeDurable(t *testing.T) {
	w, l := newFrailLog(t)
	lead(t, l, 1, 12)
	l.Flush(nil)
	w.drain()
	if err := l.TruncateTo(3); err != nil {
		t.Fatal(err)
	}
	lead(t, l, 2, 1)
	for len(w.dues) > 0 {
		if names, _ := w.fs.List(dir); slices.Contains(names, epochFileName+tmpSuffix) {
			first, err := w.disk.ReadFile(faultdisk.Durable, firstSegment+logSuffix)
			if back := slices.Contains(w.disk.Paths(faultdisk.Durable), secondSegment+logSuffix); back || err != nil || int64(len(first)) > l.segments[0].size {
				t.Fatalf("the epoch file is written, and a power loss would leave %d bytes of the segment that was cut, and the next one: %t; %v", len(first), back, err)
			}
		}
		w.complete(len(w.dues) - 1)
	}
	if got, err := ReadFile(w.fs, dir+"/"+epochFileName); err != nil || string(got) != "0\n2\n1 0\n2 3\n" {
		t.Fatalf("epoch file %q, %v", got, err)
	}
}

func TestACutSegmentIsWalkedUntilTheCutIsDurable(t *testing.T) {
	w, l := newLog(t)
	for len(l.segments) < 2 {
		lead(t, l, 1, 2)
	}
	lead(t, l, 1, 2)
	l.Flush(nil)
	w.drain()
	base := l.segments[1].base
	if err := l.TruncateTo(base + 2); err != nil || l.RecoveryPoint() != base {
		t.Fatalf("recovery point %d, %v; the segment that was cut begins at %d", l.RecoveryPoint(), err, base)
	}
	w.kill()
	l, _ = w.open(false, l.RecoveryPoint(), 0)
	if l.LogEnd() != base+2 || l.RecoveryPoint() != base {
		t.Fatalf("log end %d, recovery point %d after a kill; nothing was synced since", l.LogEnd(), l.RecoveryPoint())
	}
	l.Flush(nil)
	w.drain()
	if err := l.TruncateTo(base + 1); err != nil {
		t.Fatal(err)
	}
	w.drain()
	if l.RecoveryPoint() != base+1 {
		t.Fatalf("recovery point %d once the cut at %d is durable", l.RecoveryPoint(), base+1)
	}
}

func TestAFlushWaitsForTheEpochFile(t *testing.T) {
	w, l := newFrailLog(t)
	lead(t, l, 1, 1)
	done := false
	l.Flush(func(error) { done = true })
	for len(w.dues) > 0 {
		if got, err := durableEpochs(w); done && (err != nil || got != "0\n1\n1 0\n") {
			t.Fatalf("flushed, and the epoch file is %q, %v", got, err)
		}
		w.complete(len(w.dues) - 1)
	}
	if !done {
		t.Fatal("the flush did not end")
	}
}

// durableEpochs is what a power loss would leave of the epoch file.
func durableEpochs(w *world) (string, error) {
	b, err := w.disk.ReadFile(faultdisk.Durable, dir+"/"+epochFileName)
	return string(b), err
}

func TestAStopMakesEverythingDurableAndEndsTheTimeIndex(t *testing.T) {
	w, l := newFrailLog(t)
	lead(t, l, 0, 3)
	before := text(content(t, l))
	stop(t, w, l)
	w.power(faultdisk.LoseAll, 0)
	l, rec := w.open(true, 3, 0)
	if got := text(content(t, l)); !rec.Clean || !slices.Equal(got, before) || l.RecoveryPoint() != 3 {
		t.Fatalf("%+v, recovery point %d, %v", rec, l.RecoveryPoint(), got)
	}
	if p := l.active().times.last(); p != (timePoint{1000, 0}) {
		t.Fatalf("last time index entry %v", p)
	}
}

func TestALogThatIsClosedTellsNothingMore(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 0, 3)
	l.Flush(func(err error) { t.Fatalf("told %v after the close", err) })
	l.Close()
	w.drain()
	if err := RemoveAll(w.fs, dir); err != nil {
		t.Fatal(err)
	}
	if names, err := w.fs.List(""); err != nil || len(names) != 0 {
		t.Fatalf("left %v, %v", names, err)
	}
}

func TestARenamedLogFlushesUnderItsNewName(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 0, 2)
	if err := l.Rename("orders-0.x-delete"); err != nil {
		t.Fatal(err)
	}
	if err := l.AssignEpoch(5, 2); err != nil {
		t.Fatal(err)
	}
	l.Flush(nil)
	w.drain()
	if l.Failed() != nil || l.RecoveryPoint() != 2 || l.Dir() != "orders-0.x-delete" {
		t.Fatalf("failed %v, recovery point %d in %s", l.Failed(), l.RecoveryPoint(), l.Dir())
	}
	if id, ok, err := ReadTopicID(w.fs, "orders-0.x-delete"); !ok || id != topicID || err != nil {
		t.Fatalf("topic id %s %t, %v", id, ok, err)
	}
}

func TestTruncationIntoABatchTakesTheWholeBatch(t *testing.T) {
	_, l := newLog(t)
	if _, err := l.AppendAsFollower(append(replica(0, 1, 1000, "a"), replica(1, 1, 1000, "b", "c", "d")...), 1); err != nil {
		t.Fatal(err)
	}
	if err := l.TruncateTo(3); err != nil || l.LogEnd() != 1 {
		t.Fatalf("log end %d, %v", l.LogEnd(), err)
	}
	audit(t, l)
}

func TestATruncationThatCutsNothingStillDropsAnEpochWithoutRecords(t *testing.T) {
	_, l := newLog(t)
	lead(t, l, 1, 3)
	if err := l.AssignEpoch(4, 3); err != nil {
		t.Fatal(err)
	}
	if err := l.TruncateTo(3); err != nil || l.LastEpoch() != 1 || l.LogEnd() != 3 {
		t.Fatalf("last epoch %d, log end %d, %v", l.LastEpoch(), l.LogEnd(), err)
	}
}

func TestATruncationBelowTheFirstSegmentStartsTheLogThere(t *testing.T) {
	_, l := newLog(t)
	if err := l.TruncateFullyAndStartAt(10); err != nil {
		t.Fatal(err)
	}
	lead(t, l, 1, 3)
	if err := l.TruncateTo(4); err != nil || l.LogStart() != 4 || l.LogEnd() != 4 || l.LastEpoch() != kafka.NoEpoch {
		t.Fatalf("log %d to %d, epoch %d, %v", l.LogStart(), l.LogEnd(), l.LastEpoch(), err)
	}
	audit(t, l)
}

func TestRaisingTheLogStartDropsWholeSegmentsAndKeepsTheirRegionsReadable(t *testing.T) {
	_, l := newLog(t)
	lead(t, l, 1, 15)
	slice, err := l.Read(2, 15, 1<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.RaiseLogStart(12); err != nil {
		t.Fatal(err)
	}
	retain(t, l, 2)
	if l.LogStart() != 12 || l.segments[0].base != 10 || len(l.segments) != 1 {
		t.Fatalf("log start %d, %d segments from %d", l.LogStart(), len(l.segments), l.segments[0].base)
	}
	if diff := cmp.Diff([]EpochEntry{{1, 12}}, l.Epochs().Entries()); diff != "" {
		t.Fatalf("epochs (-want +got):\n%s", diff)
	}
	if err := slice.Region.Read(make([]byte, slice.Bytes)); err != nil {
		t.Fatalf("region of a dropped segment: %v", err)
	}
	slice.Region.Release()
}

func TestAFlushCoversWhatALifeThatWasKilledLeftInTheCache(t *testing.T) {
	w, l := newFrailLog(t)
	lead(t, l, 1, 12)
	want := text(content(t, l))
	w.kill()
	l, _ = w.open(false, 0, 0)
	l.Flush(nil)
	w.drain()
	w.power(faultdisk.LoseAll, 0)
	l, _ = w.open(false, 12, 0)
	if got := text(content(t, l)); !slices.Equal(got, want) {
		t.Fatalf("after the power loss %v, want %v", got, want)
	}
	audit(t, l)
}

func TestTheLastTimeIndexEntryOfAFlushedSegmentIsSyncedWhenItIsRolled(t *testing.T) {
	w, l := newFrailLog(t)
	cfg := small()
	cfg.IndexIntervalBytes = 4096 // so that no entry comes before the last
	l.SetConfig(cfg)
	lead(t, l, 1, 4)
	if _, code, err := l.AppendAsLeader(batch(1200, "value at 4"), 1, 1200); code != kafka.None || err != nil {
		t.Fatalf("%s, %v", code, err)
	}
	l.Flush(nil)
	w.drain()
	lead(t, l, 1, 1)
	if len(l.segments) != 2 || l.segments[1].base != 5 {
		t.Fatalf("%d segments", len(l.segments))
	}
	w.drain()
	w.power(faultdisk.LoseAll, 0)
	l, _ = w.open(false, 5, 0)
	audit(t, l)
}

func TestAReadAfterATruncationSeesTheNewBatch(t *testing.T) {
	_, l := newLog(t)
	lead(t, l, 1, 3)
	if err := l.TruncateTo(2); err != nil {
		t.Fatal(err)
	}
	large := replica(2, 2, 1000, "a value that is longer than the one before it")
	if _, err := l.AppendAsFollower(large, 2); err != nil {
		t.Fatal(err)
	}
	slice, err := l.Read(2, 3, 1, true)
	if err != nil || slice.Bytes != len(large) {
		t.Fatalf("%d bytes of %d, %v", slice.Bytes, len(large), err)
	}
	slice.Region.Release()
}
