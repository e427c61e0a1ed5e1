package storage

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// fill makes a flushed log of 15 batches of one record in epoch 2, five to a
// segment, and ends its life by a kill.
func fill(t *testing.T) *world {
	t.Helper()
	w, l := newLog(t)
	lead(t, l, 2, 15)
	if len(l.segments) != 3 || l.segments[1].base != 5 || l.segments[2].base != 10 {
		t.Fatalf("%d segments, the second from %d", len(l.segments), l.segments[1].base)
	}
	l.Flush(nil)
	w.drain()
	w.kill()
	return w
}

const (
	firstSegment  = dir + "/00000000000000000000"
	secondSegment = dir + "/00000000000000000005"
	thirdSegment  = dir + "/00000000000000000010"
)

// edit opens a file for a change by hand.
func (w *world) edit(path string, change func(disk.File) error) {
	w.t.Helper()
	f, err := w.fs.Open(path)
	if err == nil {
		err = errors.Join(change(f), f.Close())
	}
	if err != nil {
		w.t.Fatalf("edit %s: %v", path, err)
	}
}

// write puts bytes at a position; a negative one counts from the end.
func write(b []byte, at int64) func(disk.File) error {
	return func(f disk.File) error {
		size, err := f.Size()
		if at < 0 {
			at += size
		}
		_, errW := f.WriteAt(b, at)
		return errors.Join(err, errW)
	}
}

func replaceBy(content []byte) func(disk.File) error {
	return func(f disk.File) error {
		_, err := f.WriteAt(content, 0)
		return errors.Join(err, f.Truncate(int64(len(content))))
	}
}

// shorten cuts n bytes off a file.
func shorten(n int64) func(disk.File) error {
	return func(f disk.File) error {
		size, err := f.Size()
		return errors.Join(err, f.Truncate(size-n))
	}
}

func size(b record.Batch) int64 { return int64(len(b)) }

func TestRecoveryCutsAtTheFirstBatchThatNoWriterLeft(t *testing.T) {
	one, late := size(batch(1000, "value at 0")), size(batch(1000, "value at 10"))
	for _, c := range []struct {
		name   string
		file   string
		change func(disk.File) error
		end    kafka.Offset
		pos    int64
		reason string
	}{
		{"torn tail", thirdSegment, shorten(3), 14, 4 * late, "truncated record batch"},
		{"torn header", thirdSegment, shorten(late - 5), 14, 4 * late, "truncated record batch"},
		{"zeros after the tail", thirdSegment, write(make([]byte, 64), 5*late), 15, 5 * late, "length is 0"},
		{"damage in the middle", secondSegment, write([]byte{0xff}, one+70), 6, one, "CRC"},
		{"damage at the start", firstSegment, write([]byte{0xff}, 40), 0, 0, "CRC"},
		{"an old tail of an older epoch", thirdSegment, write(replica(15, 1, 1000, "stale"), 5*late), 15, 5 * late, "leader epoch 1 follows epoch 2"},
		{"an old tail of older offsets", thirdSegment, write(replica(13, 3, 1000, "stale"), 5*late), 15, 5 * late, "offsets 13 to 13 follow offset 14"},
	} {
		w := fill(t)
		w.edit(c.file+logSuffix, c.change)
		l, rec := w.open(false, 0, 0)
		if l.LogEnd() != c.end || rec.CutAt != c.end || rec.CutFile != c.file+logSuffix || rec.CutPos != c.pos || !strings.Contains(rec.Reason, c.reason) || rec.Clean {
			t.Errorf("%s: log end %d, %+v; want cut at %d, position %d", c.name, l.LogEnd(), rec, c.end, c.pos)
		}
		audit(t, l)
		lead(t, l, 3, 2)
		audit(t, l)
	}
}

func TestRecoveryDropsWhatFollowsALostSegment(t *testing.T) {
	w := fill(t)
	if err := w.fs.Remove(secondSegment + logSuffix); err != nil {
		t.Fatal(err)
	}
	l, rec := w.open(false, 0, 0)
	if l.LogEnd() != 5 || rec.CutAt != 5 || rec.Reason != "offsets 5 to 9 are missing before it" || rec.CutFile != thirdSegment+logSuffix {
		t.Fatalf("log end %d, %+v", l.LogEnd(), rec)
	}
	names, _ := w.fs.List(dir)
	gone := func(n string) bool {
		return strings.HasPrefix(n, "00000000000000000005") && !strings.HasSuffix(n, snapshotSuffix)
	}
	if slices.ContainsFunc(names, gone) {
		t.Fatalf("indexes without a log stay: %v", names)
	}
	audit(t, l)
}

func TestRecoveryWalksFromTheSegmentWithTheLastOffsetBelowTheRecoveryPoint(t *testing.T) {
	for point, end := range map[kafka.Offset]kafka.Offset{4: 1, 5: 1, 6: 15, 9: 15, 14: 15} {
		w := fill(t)
		w.edit(firstSegment+logSuffix, write([]byte{0xff}, 150)) // in the second batch
		if l, _ := w.open(false, point, 0); l.LogEnd() != end {
			t.Errorf("recovery point %d: log end %d, want %d", point, l.LogEnd(), end)
		}
	}
}

// A start may cut below the recovery point, where a disk did not keep its word. The
// old tail may come back until the cut is durable, so the segment is to be walked again
// until then.
func TestTheCutOfARecoveryIsDurableBeforeARecoveryPointVouchesForIt(t *testing.T) {
	w := fill(t)
	w.edit(thirdSegment+logSuffix, write([]byte{0xff}, -40)) // in the last batch
	l, rec := w.open(false, 15, 0)
	if rec.CutAt != 14 || l.RecoveryPoint() != 10 {
		t.Fatalf("cut at %d, recovery point %d, and the segment that was cut begins at 10", rec.CutAt, l.RecoveryPoint())
	}
	w.drain()
	if l.RecoveryPoint() != 14 {
		t.Fatalf("recovery point %d once the cut is durable", l.RecoveryPoint())
	}
}

func TestACleanStartTrustsTheFiles(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 2, 15)
	stop(t, w, l)
	w.edit(secondSegment+logSuffix, write([]byte{0xff}, 70))
	l, rec := w.open(true, 0, 0)
	if l.LogEnd() != 15 || !rec.Clean || l.RecoveryPoint() != 15 || rec.End != 15 {
		t.Fatalf("log end %d, recovery point %d, %+v", l.LogEnd(), l.RecoveryPoint(), rec)
	}
}

func TestAMissingOrOddIndexIsRebuiltEvenAfterACleanStop(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"missing":        func(w *world) { w.fs.Remove(secondSegment + indexSuffix) },
		"odd size":       func(w *world) { w.edit(secondSegment+indexSuffix, shorten(1)) },
		"odd time index": func(w *world) { w.edit(secondSegment+timeSuffix, shorten(1)) },
		"beyond the log": func(w *world) { w.edit(secondSegment+indexSuffix, write([]byte{0x7f}, -4)) },
	} {
		w, l := newLog(t)
		lead(t, l, 2, 15)
		stop(t, w, l)
		change(w)
		l, rec := w.open(true, 15, 0)
		if rec.Clean || rec.CutAt != kafka.NoOffset || l.LogEnd() != 15 {
			t.Errorf("%s: log end %d, %+v", name, l.LogEnd(), rec)
		}
		audit(t, l)
	}
}

func TestALogThatEndsBeforeItsStartBeginsAnew(t *testing.T) {
	w := fill(t)
	l, rec := w.open(false, 0, 30)
	if l.LogStart() != 30 || l.LogEnd() != 30 || rec.CutAt != 30 || rec.Reason != "the log ends at 15, before its start" {
		t.Fatalf("log %d to %d, %+v", l.LogStart(), l.LogEnd(), rec)
	}
	audit(t, l)
	lead(t, l, 4, 1)
	if got := content(t, l)[0].BaseOffset(); got != 30 {
		t.Fatalf("first offset %d", got)
	}
}

func TestRecoveryBelievesTheBatchesNotTheEpochFile(t *testing.T) {
	for name, file := range map[string]string{
		"file behind the log":      "0\n0\n",
		"file of a later cut":      "0\n2\n2 0\n5 6\n",
		"file with a wrong start":  "0\n1\n2 9\n",
		"file of an earlier epoch": "0\n2\n1 0\n2 3\n",
	} {
		w := fill(t)
		w.fs.Remove(dir + "/" + epochFileName)
		put(t, w.fs, dir+"/"+epochFileName, file)
		l, _ := w.open(false, 0, 0)
		if got := l.Epochs().Entries(); len(got) != 1 || got[0] != (EpochEntry{2, 0}) {
			t.Errorf("%s: %v", name, got)
		}
		w.drain()
		if got, err := ReadFile(w.fs, dir+"/"+epochFileName); err != nil || string(got) != "0\n1\n2 0\n" {
			t.Errorf("%s: the file says %q, %v", name, got, err)
		}
	}
}

func TestAMalformedEpochFileIsAnError(t *testing.T) {
	for _, file := range []string{"0\n1\n2\n", "0\n1\n-2 3\n", "2\n0\n", "0\n2\n1 0\n"} {
		w := fill(t)
		w.fs.Remove(dir + "/" + epochFileName)
		put(t, w.fs, dir+"/"+epochFileName, file)
		if _, _, err := Open(w.fs, dir, small(), Opening{Syncs: w.syncs}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestADirectoryBelongsToOneTopicID(t *testing.T) {
	w, l := newLog(t)
	stop(t, w, l)
	if got, err := ReadFile(w.fs, dir+"/partition.metadata"); err != nil || string(got) != "version: 0\ntopic_id: "+topicID.String() {
		t.Fatalf("file %q, %v", got, err)
	}
	other := kafka.UUID{9}
	if _, _, err := Open(w.fs, dir, small(), Opening{TopicID: other, Syncs: w.syncs}); err == nil || !strings.Contains(err.Error(), "belongs to topic id "+topicID.String()) {
		t.Fatalf("open as another topic: %v", err)
	}
	if l, _, err := Open(w.fs, dir, small(), Opening{Syncs: w.syncs}); err != nil || l.TopicID() != topicID {
		t.Fatalf("open without an id: %v", err)
	}
}

func TestATopicIDIsKnownAfterAKillBeforeItsFileIsComplete(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 0, 1) // does not wait for partition.metadata
	w.kill()
	if id, ok, err := ReadTopicID(w.fs, dir); id != topicID || !ok || err != nil {
		t.Fatalf("id %s %t, %v", id, ok, err)
	}
	l, _ = w.open(false, 0, 0)
	w.drain()
	if l.LogEnd() != 1 {
		t.Fatalf("log end %d", l.LogEnd())
	}
	if content, err := ReadFile(w.fs, dir+"/partition.metadata"); err != nil || string(content) != string(idContent(topicID)) {
		t.Fatalf("file %q, %v", content, err)
	}
}

func TestATornTopicIDIsNone(t *testing.T) {
	w := newWorld(t)
	if err := w.fs.Mkdir(dir); err != nil {
		t.Fatal(err)
	}
	put(t, w.fs, dir+"/partition.metadata", "")
	put(t, w.fs, dir+"/partition.metadata.tmp", "version: 0\ntopic_i")
	if id, ok, err := ReadTopicID(w.fs, dir); ok || err != nil {
		t.Fatalf("id %s %t, %v", id, ok, err)
	}
	w.edit(dir+"/partition.metadata", write([]byte("version: 1\n"), 0))
	if _, _, err := ReadTopicID(w.fs, dir); !errors.Is(err, ErrMalformed) {
		t.Fatalf("another version: %v", err)
	}
}

func TestNothingBelowTheLogStartIsRecovered(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 1, 14)
	w.kill()
	w.edit(segmentPath(dir, 0)+logSuffix, shorten(30))
	if err := w.fs.Remove(segmentPath(dir, 5) + logSuffix); err != nil {
		t.Fatal(err)
	}
	if err := w.fs.Remove(segmentPath(dir, 0) + indexSuffix); err != nil {
		t.Fatal(err)
	}
	l, rec := w.open(false, 0, 11)
	if rec.CutAt != kafka.NoOffset || l.LogStart() != 11 || l.LogEnd() != 14 {
		t.Fatalf("%+v, log %d to %d", rec, l.LogStart(), l.LogEnd())
	}
	if _, ok, err := l.FindTimestamp(0); !ok || err != nil {
		t.Fatal("a look-up by time reads below the log start", err)
	}
	retain(t, l, 1)
	audit(t, l)
}
