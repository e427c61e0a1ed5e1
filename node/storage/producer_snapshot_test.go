package storage

import (
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// snapshots lists the producer snapshots of a log directory by offset.
func snapshots(t failer, w *world) (found []kafka.Offset) {
	t.Helper()
	names, err := w.fs.List(dir)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, n := range names {
		if o, ok := parseBase(n, snapshotSuffix); ok {
			found = append(found, o)
		}
	}
	return found
}

func snapshotAt(o kafka.Offset) string { return segmentPath(dir, o) + snapshotSuffix }

func TestASnapshotHasKafkasBytes(t *testing.T) {
	p := producers{states: map[kafka.ProducerID]*producerState{}}
	p.note(fetched(12, 0, produced(1<<33, 2, math.MaxInt32, 3)))
	p.note(fetched(15, 0, produced(5, 0, 0, 1)))
	p.states[5].coordinatorEpoch, p.states[5].openTransaction = 9, 15
	p.states[6] = newProducerState(6) // no batches: after a transaction marker
	p.states[6].epoch = 1
	got := hex.EncodeToString(snapshotContent(p.sorted()))
	want := "0001" + "0dd66f1f" + "00000003" +
		"0000000000000005" + "0000" + "00000000" + "000000000000000f" + "00000000" + "00000000000003e8" + "00000009" + "000000000000000f" +
		"0000000000000006" + "0001" + "ffffffff" + "ffffffffffffffff" + "00000000" + "ffffffffffffffff" + "ffffffff" + "ffffffffffffffff" +
		"0000000200000000" + "0002" + "00000001" + "000000000000000e" + "00000002" + "00000000000003ea" + "ffffffff" + "ffffffffffffffff"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("snapshot (-want +got):\n%s", diff)
	}
	content, _ := hex.DecodeString(want)
	states, err := parseSnapshot(content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.sorted(), states, cmp.AllowUnexported(producerState{}, producerBatch{})); diff != "" {
		t.Fatalf("read back (-want +got):\n%s", diff)
	}
}

func TestASnapshotThatIsNotWholeIsRefused(t *testing.T) {
	p := producers{states: map[kafka.ProducerID]*producerState{}}
	p.note(fetched(0, 0, produced(5, 0, 0, 1)))
	good := snapshotContent(p.sorted())
	for n := range good {
		if _, err := parseSnapshot(good[:n]); !errors.Is(err, errSnapshot) {
			t.Errorf("the first %d of %d bytes: %v", n, len(good), err)
		}
		bad := slices.Clone(good)
		bad[n] ^= 0x10
		if _, err := parseSnapshot(bad); !errors.Is(err, errSnapshot) {
			t.Errorf("byte %d damaged: %v", n, err)
		}
	}
	if _, err := parseSnapshot(append(slices.Clone(good), 0)); !errors.Is(err, errSnapshot) {
		t.Errorf("a byte more: %v", err)
	}
}

// grown is a log of three segments with one producer, whose last batch is the
// last of the second: 5 batches fit into a segment.
func grown(t *testing.T) (*world, *Log) {
	t.Helper()
	w, l := newFrailLog(t)
	for i := range 10 {
		produce(t, l, produced(7, 0, kafka.Sequence(i), 1), kafka.None)
	}
	lead(t, l, 1, 3)
	if len(l.segments) != 3 || l.segments[1].base != 5 || l.segments[2].base != 10 {
		t.Fatalf("%d segments, the second from %d", len(l.segments), l.segments[1].base)
	}
	return w, l
}

func TestSnapshotsAreTakenAtRollAndStopAndGoWithTheirSegment(t *testing.T) {
	w, l := grown(t)
	if diff := cmp.Diff([]kafka.Offset{5, 10}, snapshots(t, w)); diff != "" {
		t.Fatalf("after two rolls (-want +got):\n%s", diff)
	}
	stop(t, w, l)
	w.boot()
	l, _ = w.open(true, 0, 0)
	if diff := cmp.Diff([]kafka.Offset{5, 10, 13}, snapshots(t, w)); diff != "" {
		t.Fatalf("after a stop (-want +got):\n%s", diff)
	}
	stop(t, w, l) // nothing came: no other one
	w.boot()
	l, _ = w.open(true, 0, 0)
	if err := l.RaiseLogStart(11); err != nil {
		t.Fatal(err)
	}
	retain(t, l, 2)
	if diff := cmp.Diff([]kafka.Offset{10, 13}, snapshots(t, w)); diff != "" {
		t.Fatalf("after the first two segments went (-want +got):\n%s", diff)
	}
	if err := l.TruncateTo(12); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]kafka.Offset{12}, snapshots(t, w)); diff != "" {
		t.Fatalf("after a cut (-want +got):\n%s", diff)
	}
	if err := l.TruncateFullyAndStartAt(20); err != nil {
		t.Fatal(err)
	}
	if found := snapshots(t, w); len(found) > 0 {
		t.Fatalf("after everything went: %v", found)
	}
}

func TestASnapshotIsDurableOnceTheFlushAfterItIs(t *testing.T) {
	w, l := grown(t)
	l.Flush(nil)
	w.drain()
	if l.RecoveryPoint() != 13 {
		t.Fatalf("recovery point %d", l.RecoveryPoint())
	}
	deaths(0)[1].end(w) // all is lost that was not synced
	for _, o := range []kafka.Offset{5, 10} {
		content, err := ReadFile(w.fs, snapshotAt(o))
		if err == nil {
			_, err = parseSnapshot(content)
		}
		if err != nil {
			t.Errorf("snapshot at %d: %v", o, err)
		}
	}
}

func TestAStartFindsItsProducersInTheNewestSnapshotThatIsWhole(t *testing.T) {
	zero := func(f disk.File) error { _, err := f.WriteAt([]byte{0, 0, 0, 0}, 8); return err }
	for _, c := range []struct {
		name  string
		clean bool
		harm  func(*world)
	}{
		{"clean", true, func(*world) {}},
		{"clean, the last one damaged", true, func(w *world) { w.edit(snapshotAt(13), zero) }},
		{"clean, all but the first damaged", true, func(w *world) {
			w.edit(snapshotAt(13), zero)
			w.edit(snapshotAt(10), shorten(1))
		}},
		{"clean, every one damaged", true, func(w *world) {
			for _, o := range []kafka.Offset{5, 10, 13} {
				w.edit(snapshotAt(o), shorten(20))
			}
		}},
		{"unclean, none left", false, func(w *world) {
			for _, o := range []kafka.Offset{5, 10, 13} {
				if err := w.fs.Remove(snapshotAt(o)); err != nil {
					w.t.Fatalf("%v", err)
				}
			}
		}},
		{"unclean, one of the future", false, func(w *world) {
			content, err := ReadFile(w.fs, snapshotAt(5))
			f, created := w.fs.Create(snapshotAt(14))
			if err := errors.Join(err, created); err != nil {
				w.t.Fatalf("%v", err)
			}
			_, err = f.WriteAt(content, 0)
			if err := errors.Join(err, f.Close()); err != nil {
				w.t.Fatalf("%v", err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, l := grown(t)
			stop(t, w, l)
			w.boot()
			c.harm(w)
			l, _ = w.open(c.clean, 0, 0)
			dropped(t, l, produced(7, 0, 9, 1), 9)
			produce(t, l, produced(7, 0, 11, 1), kafka.OutOfOrderSequenceNumber)
			produce(t, l, produced(7, 0, 10, 1), kafka.None)
			audit(t, l)
			if found := snapshots(t, w); slices.Contains(found, 14) {
				t.Fatalf("a snapshot above the log end stays: %v", found)
			}
		})
	}
}

// P2: Kafka takes a log with a clean marker and no snapshot for one of a release
// that had none, and believes it empty of producers.
func TestACleanStartWithoutAnySnapshotForgetsItsProducers(t *testing.T) {
	w, l := grown(t)
	stop(t, w, l)
	w.boot()
	for _, o := range []kafka.Offset{5, 10, 13} {
		if err := w.fs.Remove(snapshotAt(o)); err != nil {
			t.Fatal(err)
		}
	}
	l, _ = w.open(true, 0, 0)
	if diff := cmp.Diff([]kafka.Offset{5, 10, 13}, snapshots(t, w)); diff != "" {
		t.Fatalf("empty snapshots (-want +got):\n%s", diff)
	}
	if done := produce(t, l, produced(7, 0, 9, 1), kafka.None); done.Duplicate || done.First != 13 {
		t.Fatalf("%+v: want it appended once more", done)
	}
}

func TestAStartForgetsProducersThatExpiredMeanwhile(t *testing.T) {
	w, l := grown(t)
	stop(t, w, l)
	w.boot()
	l, _, err := Open(w.fs, dir, small(), Opening{Clean: true, TopicID: topicID, Syncs: w.syncs, Now: 2000, ProducerExpirationMs: 1000})
	if err != nil {
		t.Fatal(err)
	}
	produce(t, l, produced(7, 0, 55, 1), kafka.None)
}

func TestSnapshotsThatNoSegmentBeginsWithGoAtTheNextStart(t *testing.T) {
	w, l := grown(t)
	for _, o := range []kafka.Offset{12, 11} { // two snapshots of ends that the log had
		if err := l.TruncateTo(o); err != nil {
			t.Fatal(err)
		}
		lead(t, l, 1, 1)
	}
	lead(t, l, 1, 9)
	stop(t, w, l)
	w.boot()
	before := snapshots(t, w)
	w.open(true, 0, 0)
	after := snapshots(t, w)
	if diff := cmp.Diff([]kafka.Offset{5, 10, 11, 15, 20, 21}, before); diff != "" {
		t.Fatalf("before (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]kafka.Offset{5, 10, 15, 20, 21}, after); diff != "" {
		t.Fatalf("after (-want +got):\n%s", diff)
	}
}

func TestAnUncleanStartBelievesNoSnapshotBehindItsRecoveryPoint(t *testing.T) {
	w, l := grown(t)
	stop(t, w, l)
	w.boot()
	// What the snapshots say is whole, and wrong.
	empty := snapshotContent(nil)
	for _, o := range []kafka.Offset{10, 13} {
		w.edit(snapshotAt(o), func(f disk.File) error {
			_, err := f.WriteAt(empty, 0)
			return errors.Join(err, f.Truncate(int64(len(empty))))
		})
	}
	l, rec := w.open(false, 7, 0)
	if rec.Clean {
		t.Fatal("nothing was walked")
	}
	dropped(t, l, produced(7, 0, 9, 1), 9)
	if names, _ := w.fs.List(dir); !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "10"+snapshotSuffix) }) {
		t.Fatalf("the walk took no snapshot: %v", names)
	}
}

func TestAWalkTakesASnapshotAfterEachSegment(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 1, 20)
	w.kill()
	for _, o := range snapshots(t, w) {
		if err := w.fs.Remove(snapshotAt(o)); err != nil {
			t.Fatal(err)
		}
	}
	w.open(false, 0, 0)
	if diff := cmp.Diff([]kafka.Offset{5, 10, 15, 20}, snapshots(t, w)); diff != "" {
		t.Fatalf("snapshots (-want +got):\n%s", diff)
	}
}
