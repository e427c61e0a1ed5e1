package storage

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// aged is a log of three segments of five records each; the records of the i-th
// are of the time 1000 + 1000 i ms, and everything is committed.
func aged(t *testing.T) (*world, *Log) {
	t.Helper()
	w, l := newLog(t)
	for i := range 15 {
		ts := kafka.Timestamp(1000 + 1000*(i/5))
		if _, code, err := l.AppendAsLeader(batch(ts, "value"), 1, ts); code != kafka.None || err != nil {
			t.Fatal(code, err)
		}
	}
	if len(l.segments) != 3 || l.segments[2].base != 10 {
		t.Fatalf("%d segments, the last from %d", len(l.segments), l.active().base)
	}
	l.SetHighWatermark(15)
	return w, l
}

func TestRetentionDeletesFromTheOldestSegmentToTheFirstThatStays(t *testing.T) {
	size := int64(5 * len(batch(1000, "value")))
	for _, c := range []struct {
		name   string
		config func(*Config)
		now    kafka.Timestamp
		hw     kafka.Offset
		start  kafka.Offset // raised to before
		want   []kafka.Offset
	}{
		{"nothing is old", func(*Config) {}, 4000, 15, 0, []kafka.Offset{0, 5, 10}},
		{"just not too old", func(c *Config) { c.RetentionMs = 3000 }, 4000, 15, 0, []kafka.Offset{0, 5, 10}},
		{"by age", func(c *Config) { c.RetentionMs = 1500 }, 4000, 15, 0, []kafka.Offset{10}},
		{"by age, without limit", func(c *Config) { c.RetentionMs = -1 }, 1 << 50, 15, 0, []kafka.Offset{0, 5, 10}},
		{"all too old: the log goes on in a new segment", func(c *Config) { c.RetentionMs = 500 }, 4000, 15, 0, []kafka.Offset{15}},
		{"not all is committed", func(c *Config) { c.RetentionMs = 500 }, 4000, 14, 0, []kafka.Offset{10}},
		{"nothing is committed", func(c *Config) { c.RetentionMs = 500 }, 4000, 4, 0, []kafka.Offset{0, 5, 10}},
		{"by size", func(c *Config) { c.RetentionBytes = 2 * size }, 1000, 15, 0, []kafka.Offset{5, 10}},
		{"by size, one byte short", func(c *Config) { c.RetentionBytes = 2*size + 1 }, 1000, 15, 0, []kafka.Offset{0, 5, 10}},
		{"by size, down to nothing", func(c *Config) { c.RetentionBytes = 0 }, 1000, 15, 0, []kafka.Offset{15}},
		{"below the log start", func(*Config) {}, 1000, 15, 5, []kafka.Offset{5, 10}},
		{"a log start inside a segment", func(*Config) {}, 1000, 15, 9, []kafka.Offset{5, 10}},
		{"the log start is the log end: the active segment stays", func(*Config) {}, 1000, 15, 15, []kafka.Offset{10}},
		{"compact alone goes by the log start", func(c *Config) { c.Delete, c.RetentionMs, c.RetentionBytes = false, 0, 0 }, 4000, 15, 5, []kafka.Offset{5, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, l := aged(t)
			l.SetHighWatermark(c.hw)
			cfg := l.Config()
			c.config(&cfg)
			l.SetConfig(cfg)
			if err := l.RaiseLogStart(c.start); err != nil {
				t.Fatal(err)
			}
			deleted, err := l.DeleteOldSegments(c.now)
			if err != nil {
				t.Fatal(err)
			}
			var bases []kafka.Offset
			for _, s := range l.segments {
				bases = append(bases, s.base)
			}
			if diff := cmp.Diff(c.want, bases); diff != "" {
				t.Fatalf("segments (-want +got):\n%s", diff)
			}
			if rolled := slices.Contains(c.want, 15); deleted != 3-len(c.want) && !(rolled && deleted == 3) {
				t.Errorf("%d deleted", deleted)
			}
			want := max(c.start, c.want[0])
			if l.LogStart() != want || l.HighWatermark() < want || l.StartUnnamed() != (want > 0) {
				t.Errorf("log start %d, to be written %t, high watermark %d; want %d", l.LogStart(), l.StartUnnamed(), l.HighWatermark(), want)
			}
			if l.RecoveryPoint() != 0 {
				t.Errorf("recovery point %d, and no fsync completed", l.RecoveryPoint())
			}
			w.drain()
			if l.StartUnnamed() != (want > c.want[0]) || l.RecoveryPoint() < c.want[0] {
				t.Errorf("log start to be written %t, recovery point %d; the segment that is the first begins at %d", l.StartUnnamed(), l.RecoveryPoint(), c.want[0])
			}
			audit(t, l)
			stop(t, w, l)
		})
	}
}

func TestAnEmptyActiveSegmentStays(t *testing.T) {
	_, l := aged(t)
	cfg := l.Config()
	cfg.RetentionMs = 0
	l.SetConfig(cfg)
	for _, now := range []kafka.Timestamp{9000, 99000} {
		if _, err := l.DeleteOldSegments(now); err != nil {
			t.Fatal(err)
		}
		if len(l.segments) != 1 || l.active().base != 15 || l.LogStart() != 15 {
			t.Fatalf("%d segments, the last from %d", len(l.segments), l.active().base)
		}
	}
}

func TestASegmentWithoutTimestampsAgesFromItsCreation(t *testing.T) {
	_, l := newLog(t)
	b := batch(-1, "no time")
	if _, err := l.AppendAsFollower(fetched(0, 1, b), 1); err != nil {
		t.Fatal(err)
	}
	cfg := l.Config()
	cfg.RetentionMs = 500
	l.SetConfig(cfg)
	l.SetHighWatermark(1)
	if n, err := l.DeleteOldSegments(1500); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := l.DeleteOldSegments(1501); n != 1 || err != nil {
		t.Fatal(n, err)
	}
}

// names lists the files of a log directory with a suffix.
func names(t failer, w *world, suffix string) (found []string) {
	t.Helper()
	all, err := w.fs.List(dir)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, n := range all {
		if strings.HasSuffix(n, suffix) {
			found = append(found, n)
		}
	}
	return found
}

func TestDeletedFilesWaitUnderAnotherName(t *testing.T) {
	w, l := newLog(t)
	produce(t, l, transactional(7, 0, 0, 1), kafka.None)
	end(t, l, 7, 0, record.Abort, kafka.None)
	lead(t, l, 1, 8)
	if err := l.RaiseLogStart(l.active().base); err != nil {
		t.Fatal(err)
	}
	slice, err := l.Read(l.LogStart(), l.LogEnd(), 1<<20, true)
	if err != nil {
		t.Fatal(err)
	}
	retain(t, l, 1)
	want := []string{"00000000000000000000.index.deleted", "00000000000000000000.log.deleted",
		"00000000000000000000.timeindex.deleted", "00000000000000000000.txnindex.deleted"}
	if got := names(t, w, deletedSuffix); len(got) > 0 {
		t.Fatalf("before the name of the first segment that stays is durable: %v", got)
	}
	for len(w.dues) > 0 && len(names(t, w, deletedSuffix)) == 0 {
		w.complete(0)
	}
	if diff := cmp.Diff(want, names(t, w, deletedSuffix)); diff != "" {
		t.Fatalf("after retention (-want +got):\n%s", diff)
	}
	if err := l.TruncateFullyAndStartAt(50); err != nil {
		t.Fatal(err)
	}
	if got := names(t, w, snapshotSuffix+deletedSuffix); len(got) != 1 {
		t.Fatalf("the producer snapshot of the segment that went: %v", got)
	}
	w.advance(time.Hour)
	if got := names(t, w, deletedSuffix); len(got) != len(want)+1 {
		t.Fatalf("before the names are durable: %v", got)
	}
	w.drain()
	w.advance(59 * time.Second)
	if got := names(t, w, deletedSuffix); len(got) < len(want)+3 {
		t.Fatalf("before the delay is over: %v", got)
	}
	if err := slice.Region.Read(make([]byte, slice.Bytes)); err != nil {
		t.Fatal(err)
	}
	slice.Region.Release()
	w.advance(2 * time.Second)
	if got := names(t, w, deletedSuffix); len(got) > 0 {
		t.Fatalf("after the delay: %v", got)
	}
	audit(t, l)
}

func TestASegmentMayBeDeletedTwiceUnderOneName(t *testing.T) {
	w, l := newLog(t)
	for range 2 {
		lead(t, l, 1, 8)
		if err := l.TruncateTo(2); err != nil {
			t.Fatal(err)
		}
		w.drain()
		w.advance(30 * time.Second)
	}
	w.advance(30 * time.Second)
	w.advance(30 * time.Second)
	if got := names(t, w, deletedSuffix); len(got) > 0 || l.Failed() != nil {
		t.Fatal(got, l.Failed())
	}
	audit(t, l)
}

func TestSegmentsAreDeletedOneAfterAnother(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 1, 14)
	w.drain()
	if err := l.RaiseLogStart(12); err != nil {
		t.Fatal(err)
	}
	retain(t, l, 2)
	if len(l.segments) != 1 {
		t.Fatalf("%d segments", len(l.segments))
	}
	for want := 3; want > 0; want-- { // 0, 5 and 10
		if got := names(t, w, logSuffix); len(got) != want {
			t.Fatalf("want %d of %v", want, got)
		}
		for len(w.dues) > 0 && len(names(t, w, logSuffix)) == want {
			w.complete(0)
		}
	}
	stop(t, w, l)
}

func TestAStopSetsAsideWhatWaitsForItsTurn(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 1, 49)
	if err := l.RaiseLogStart(47); err != nil {
		t.Fatal(err)
	}
	retain(t, l, 9)
	stop(t, w, l)
	w.boot()
	l, _ = w.open(true, 0, 0)
	if l.LogStart() != 45 { // what the file's name tells; the checkpoint knows better
		t.Fatalf("log start %d", l.LogStart())
	}
}

func TestALogMayStartAnewWhereADeletedSegmentWaits(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 1, 14)
	if err := l.RaiseLogStart(12); err != nil {
		t.Fatal(err)
	}
	retain(t, l, 2)
	if err := l.TruncateFullyAndStartAt(5); err != nil { // the name of a segment that waits
		t.Fatal(err)
	}
	w.drain()
	if got := names(t, w, logSuffix); len(got) != 1 {
		t.Fatal(got)
	}
	audit(t, l)
}

// A crash may bring a log back and not its index, as both have names of their own.
func TestALogThatComesBackWithoutAnIndexIsWalked(t *testing.T) {
	for _, suffix := range []string{indexSuffix, timeSuffix, txnSuffix} {
		w, l := newLog(t)
		produce(t, l, transactional(7, 0, 0, 1), kafka.None)
		end(t, l, 7, 0, record.Abort, kafka.None)
		lead(t, l, 1, 9)
		l.Flush(nil)
		w.drain()
		want, segments := index(l), len(l.segments)
		point := l.RecoveryPoint()
		w.kill()
		torn := segmentPath(dir, 0) + suffix
		if err := w.fs.Rename(torn, torn+deletedSuffix); err != nil {
			t.Fatal(err)
		}
		l, _ = w.open(false, point, 0)
		if diff := cmp.Diff(want, index(l)); diff != "" || len(l.segments) != segments {
			t.Fatalf("%s: index (-want +got):\n%s", suffix, diff)
		}
		audit(t, l)
		if got := names(t, w, deletedSuffix); len(got) != 1 {
			t.Fatalf("%s: removed before the new index is durable", suffix)
		}
		w.drain()
		if got := names(t, w, deletedSuffix); len(got) > 0 {
			t.Fatal(got)
		}
	}
}

func TestAStartRemovesWhatAnEarlierLifeDeleted(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 1, 8)
	if err := l.TruncateTo(2); err != nil {
		t.Fatal(err)
	}
	lead(t, l, 1, 1)
	w.kill()
	if got := names(t, w, deletedSuffix); len(got) == 0 {
		t.Fatal("nothing is left to remove")
	}
	l, _ = w.open(false, 0, 0)
	if got := names(t, w, deletedSuffix); len(got) > 0 || l.LogEnd() != 3 {
		t.Fatal(got, l.LogEnd())
	}
	audit(t, l)
}

func TestDeletedFilesOfADeletedLogGoWithItsDirectory(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 1, 8)
	if err := l.TruncateTo(2); err != nil {
		t.Fatal(err)
	}
	w.drain()
	if err := errors.Join(l.Rename("orders-0.x-delete"), RemoveAll(w.fs, "orders-0.x-delete")); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Hour)
	if l.Failed() != nil || w.failed != nil {
		t.Fatal(l.Failed(), w.failed)
	}
}

func TestAFailureInTheBackgroundIsToldOnce(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 1, 4)
	w.fail = disk.ErrIO
	lead(t, l, 1, 4) // rolls, which syncs
	if w.failed != nil {
		t.Fatal("told before it happened")
	}
	w.drain()
	if !errors.Is(w.failed, disk.ErrIO) || l.Failed() == nil {
		t.Fatalf("told: %v, log: %v", w.failed, l.Failed())
	}
	first := w.failed
	if _, code, err := l.AppendAsLeader(batch(1000, "late"), 1, 1000); code != kafka.KafkaStorageError || err == nil || w.failed != first {
		t.Fatal(code, err, w.failed)
	}
}

func TestAFlushIsDueFlushMsAfterTheLast(t *testing.T) {
	w, l := newLog(t)
	w.drain()
	cfg := l.Config()
	cfg.FlushMs = 100
	l.SetConfig(cfg)
	l.FlushIfDue(2000) // nothing to sync
	lead(t, l, 1, 1)   // at 1000, when the log was opened
	l.FlushIfDue(1099)
	if w.drain(); l.RecoveryPoint() != 0 {
		t.Fatalf("recovery point %d before flush.ms is over", l.RecoveryPoint())
	}
	l.FlushIfDue(1100)
	if w.drain(); l.RecoveryPoint() != 1 {
		t.Fatalf("recovery point %d after flush.ms", l.RecoveryPoint())
	}
	lead(t, l, 1, 1)
	l.FlushIfDue(1199)
	if w.drain(); l.RecoveryPoint() != 1 {
		t.Fatal("synced again too early")
	}
}

func TestJitterRollsEachSegmentEarlierByItsOwnDraw(t *testing.T) {
	w := newWorld(t)
	cfg := small()
	cfg.SegmentBytes, cfg.SegmentMs, cfg.SegmentJitterMs = 1<<20, 1000, 5000
	draws := []uint64{3300, 999}
	l, _, err := Open(w.fs, dir, cfg, Opening{Syncs: w.syncs, Now: 1000, Random: func() uint64 {
		d := draws[0]
		draws = draws[1:]
		return d
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, ts := range []kafka.Timestamp{1000, 1700, 1701, 1702, 1703} { // 3300 mod min(5000, 1000) = 300: rolls after 700 ms
		if len(draws) == 0 && ts == 1703 {
			draws = []uint64{0}
		}
		if _, code, err := l.AppendAsLeader(batch(ts, "x"), 1, 1000); code != kafka.None || err != nil {
			t.Fatal(code, err)
		}
	}
	var bases []kafka.Offset
	for _, s := range l.segments {
		bases = append(bases, s.base)
	}
	if diff := cmp.Diff([]kafka.Offset{0, 2, 4}, bases); diff != "" { // 999: rolls after 1 ms
		t.Fatalf("segments (-want +got):\n%s", diff)
	}
}

func TestACompactedLogRollsInTimeForTheCompactionLag(t *testing.T) {
	cfg := small()
	cfg.SegmentMs, cfg.MaxCompactionLagMs = 1000, 10
	if got := cfg.maxSegmentMs(); got != 1000 {
		t.Errorf("%d ms", got)
	}
	cfg.Compacted = true
	if got := cfg.maxSegmentMs(); got != 10 {
		t.Errorf("compacted: %d ms", got)
	}
}

func TestTheEpochsOfSegmentsThatComeBackAreReadAgain(t *testing.T) {
	w, l := newLog(t)
	for e := range kafka.LeaderEpoch(3) {
		lead(t, l, e, 4)
	}
	want := l.Epochs().Entries()
	stop(t, w, l)
	w.boot()
	w.edit(dir+"/"+epochFileName, replaceBy(CheckpointContent([]string{"2 9"}))) // as a log start at 9 made it
	l, _ = w.open(true, 0, 0)
	if diff := cmp.Diff(want, l.Epochs().Entries()); diff != "" {
		t.Fatalf("epochs (-want +got):\n%s", diff)
	}
	if err := l.RaiseLogStart(9); err != nil {
		t.Fatal(err)
	}
	stop(t, w, l)
	w.boot()
	l, _ = w.open(true, 0, 6) // the log start checkpoint is older
	if diff := cmp.Diff([]EpochEntry{{1, 6}, {2, 8}}, l.Epochs().Entries()); diff != "" {
		t.Fatalf("epochs from 6 on (-want +got):\n%s", diff)
	}
	audit(t, l)
}
