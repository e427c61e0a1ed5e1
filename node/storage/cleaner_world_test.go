package storage

import (
	"fmt"
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
)

// day is delete.retention.ms by default.
const day = 86_400_000

// compacted is a topic that is cleaned whenever something is dirty, and of which a
// few batches fill a segment.
func compacted() Config {
	c := small()
	c.Compacted, c.Delete, c.IndexIntervalBytes, c.MinCleanableRatio = true, false, 60, 0
	return c
}

// janitor is a lane with a cleaner and a wall clock.
type janitor struct {
	w       *world
	logs    []*Log
	c       *Cleaner
	now     kafka.Timestamp
	cleaned []CleanerStats
	points  map[*Log]kafka.Offset // the recovery-point checkpoint
	hold    []func()              // checkpoints that are not durable yet; nil: they are at once
	wakes   int
}

func (j *janitor) CleanerLogs() []*Log            { return j.logs }
func (j *janitor) CleanerWake()                   { j.wakes++ }
func (j *janitor) Cleaned(_ *Log, s CleanerStats) { j.cleaned = append(j.cleaned, s) }
func (j *janitor) CheckpointRecoveryPoint(l *Log, done func()) {
	j.points[l] = l.RecoveryPoint()
	if j.hold != nil {
		j.hold = append(j.hold, done)
		return
	}
	done()
}

func newJanitor(w *world, names string, logs ...*Log) *janitor {
	r, err := rules.Parse(names)
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	j := &janitor{w: w, logs: logs, now: 5000, points: map[*Log]kafka.Offset{}}
	j.c = NewCleaner(CleanerConfig{DedupeBufferBytes: 1 << 20, LoadFactor: 900_000, IOBufferBytes: 4096, BackoffMs: 15_000, MaxBytesPerSecond: 1 << 40}, r.Cleaner, j)
	return j
}

// keyed is an empty compacted log on a new disk, and a lane with it.
func keyed(t failer, names string) (*world, *Log, *janitor) {
	w := newWorld(t)
	l, j := w.keyed(names)
	return w, l, j
}

func (w *world) keyed(names string) (*Log, *janitor) {
	l := w.openAs(compacted(), Opening{})
	return l, newJanitor(w, names, l)
}

// openAs opens the log under a configuration of its own.
func (w *world) openAs(c Config, o Opening) *Log {
	w.t.Helper()
	return w.openIn(dir, c, o)
}

func (w *world) openIn(dir string, c Config, o Opening) *Log {
	w.t.Helper()
	o.TopicID, o.Syncs, o.Now, o.Timers = topicID, w.syncs, 1000, w.timers
	o.OnFailure = func(err error) { w.failed = err }
	l, _, err := Open(w.fs, dir, c, o)
	if err != nil {
		w.t.Fatalf("open: %v", err)
	}
	return l
}

// round steps until the cleaner finds nothing to do, and returns the passes that
// ended.
func (j *janitor) round() []CleanerStats {
	j.w.t.Helper()
	before := len(j.cleaned)
	for range 100_000 {
		if j.step() > 0 {
			return j.cleaned[before:]
		}
	}
	j.w.t.Fatalf("the cleaner never rests")
	return nil
}

// step is one step of the cleaner, and what it waits for.
func (j *janitor) step() int64 {
	j.w.t.Helper()
	wait := j.c.Step(j.now)
	if wait < 0 {
		wakes := j.wakes
		for j.wakes == wakes {
			if len(j.w.dues) == 0 {
				j.w.t.Fatalf("the cleaner waits for nothing")
			}
			j.w.complete(0)
		}
	}
	return wait
}

// tick is one step of the cleaner, or one completion that it waits for.
func (j *janitor) tick() {
	if p := j.c.pass; p != nil && p.waiting && len(j.w.dues) > 0 {
		j.w.complete(0)
		return
	}
	j.c.Step(j.now)
}

// store appends one batch of "key=value" records; "key" alone is a tombstone, "=v"
// has no key. It returns the base offset.
func store(t failer, l *Log, records ...string) kafka.Offset {
	t.Helper()
	return storeAs(t, l, record.NoProducer(), record.None, records...)
}

func storeAs(t failer, l *Log, o record.BuilderOptions, c record.Codec, records ...string) kafka.Offset {
	t.Helper()
	base := l.LogEnd()
	o.BaseOffset, o.LeaderEpoch = base, 1
	b := keyedBatch(o, c, int64(1000+base), records...)
	if _, err := l.AppendAsFollower(b, 1); err != nil {
		t.Fatalf("append at %d: %v", base, err)
	}
	return base
}

func keyedBatch(o record.BuilderOptions, c record.Codec, at int64, records ...string) record.Batch {
	w := record.NewBuilder(o)
	for i, r := range records {
		k, v, hasValue := strings.Cut(r, "=")
		var key, value []byte
		if k != "" {
			key = []byte(k)
		}
		if hasValue {
			value = []byte(v)
		}
		w.Append(kafka.Timestamp(at+int64(i)), key, value, []record.Header{{Key: "n", Value: []byte{byte(i)}}})
	}
	return w.BuildCompressed(new(record.Deflater), c)
}

// roll ends the active segment, syncs everything and commits it.
func (j *janitor) roll(l *Log) {
	j.w.t.Helper()
	if l.active().size > 0 {
		if err := l.roll(l.end); err != nil {
			j.w.t.Fatalf("roll: %v", err)
		}
	}
	j.commit(l)
}

func (j *janitor) commit(l *Log) {
	l.Flush(nil)
	j.w.drain()
	l.SetHighWatermark(l.end)
}

// holds are the records of a log, "offset:key=value" each, and "offset:-" for
// each batch without one.
func holds(t failer, l *Log) string {
	t.Helper()
	var out []string
	for _, b := range content(t, l) {
		if b.Count() == 0 {
			out = append(out, fmt.Sprintf("%d:-", b.BaseOffset()))
		}
		err := b.Each(func(r record.Record) error {
			text := fmt.Sprintf("%d:%s", r.Offset, r.Key)
			switch {
			case b.IsControl():
				m, _, _ := record.ParseEndTransaction(b)
				text = fmt.Sprintf("%d:%s", r.Offset, map[record.ControlType]string{record.Commit: "commit", record.Abort: "abort"}[m.Type])
			case r.Value != nil:
				text += "=" + string(r.Value)
			}
			out = append(out, text)
			return nil
		})
		if err != nil {
			t.Fatalf("batch at %d: %v", b.BaseOffset(), err)
		}
	}
	return strings.Join(out, " ")
}

func wantHolds(t *testing.T, l *Log, want string) {
	t.Helper()
	if got := holds(t, l); got != want {
		t.Errorf("the log holds\n%s\nwant\n%s", got, want)
	}
}

// files are the names in the log's directory, without those of other files than
// segments'.
func files(t failer, w *world) string {
	t.Helper()
	names, err := w.fs.List(dir)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var out []string
	for _, n := range names {
		if o := baseOf(n); o != kafka.NoOffset {
			_, kind, _ := strings.Cut(n, ".")
			out = append(out, fmt.Sprintf("%d.%s", o, kind))
		}
	}
	return strings.Join(out, " ")
}
