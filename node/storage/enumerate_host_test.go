package storage

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// cleanMarker tells the next life that the one before stopped cleanly.
const cleanMarker = ".kafka_cleanshutdown"

// keeper is a broker as far as one log needs one: checkpoints, a cleaner, a marker
// of a clean stop, and a fetcher's order of things at a truncation. Beside them it
// notes what a crash may leave.
type keeper struct {
	w       *world
	l       *Log
	j       *janitor
	points  *AtomicFile
	starts  *AtomicFile
	cleaned *AtomicFile
	epoch   kafka.LeaderEpoch
	hw      kafka.Offset

	due     debt
	told    func() // after each change of due; nil: nobody listens
	deletes bool   // the topic is not compacted: records go when they are too old
}

// debt is what the next life owes to this one.
type debt struct {
	lines   [][]record.Batch // as a story's
	flushed kafka.Offset
	start   kafka.Offset // the log starts there or below
	cutting bool         // the recovery-point checkpoint may be above a cut, at this offset
	cut     kafka.Offset
	cleaned bool
}

// owe changes what the next life owes.
func (k *keeper) owe(change func(*debt)) {
	change(&k.due)
	if k.told != nil {
		k.told()
	}
}

func (k *keeper) line() *[]record.Batch { return &k.due.lines[len(k.due.lines)-1] }

// boot begins a life on what the disk has.
func (k *keeper) boot() {
	w := k.w
	k.points, k.starts, k.cleaned = NewAtomicFile(w.fs, w.syncs, RecoveryPointCheckpoint), NewAtomicFile(w.fs, w.syncs, LogStartCheckpoint), NewAtomicFile(w.fs, w.syncs, CleanerCheckpoint)
	clean := k.takeMarker()
	c := compacted()
	c.SegmentBytes, c.IndexIntervalBytes, c.MaxCompactionLagMs = 4000, 700, 1<<40
	if k.deletes {
		c.Compacted, c.Delete, c.RetentionMs = false, true, keptMs
	}
	o := Opening{Clean: clean, RecoveryPoint: k.read(RecoveryPointCheckpoint), LogStart: k.read(LogStartCheckpoint), PointKnown: true, CleanedUpTo: k.read(CleanerCheckpoint)}
	k.l = w.openAs(c, o)
	k.l.SetHighWatermark(min(k.hw, k.l.LogEnd()))
	k.j = newJanitor(w, "", k.l)
	k.j.c.host = keeperHost{k.j, k}
	k.epoch = max(k.epoch, k.l.LastEpoch())
}

// takeMarker removes the marker, durably, before anything is written: Kafka does
// not wait for that, and a power loss may bring the marker back there.
func (k *keeper) takeMarker() bool {
	err := k.w.fs.Remove(cleanMarker)
	if errors.Is(err, disk.ErrNotExist) {
		return false
	}
	k.must(err)
	k.w.fs.SyncDir(k.w.syncs.Token(k.must), "")
	k.w.drain()
	return true
}

func (k *keeper) must(err error) {
	if err != nil {
		k.w.t.Fatalf("%v", err)
	}
}

func (k *keeper) read(path string) kafka.Offset {
	entries, err := ReadOffsetCheckpoint(k.w.fs, path)
	k.must(err)
	if len(entries) == 0 {
		return 0
	}
	return entries[0].Offset
}

func (k *keeper) write(f *AtomicFile, o kafka.Offset, done func()) {
	lines := OffsetLines([]OffsetEntry{{kafka.TopicPartition{Topic: "orders"}, o}})
	f.Write(CheckpointContent(lines), func(err error) {
		k.must(err)
		if done != nil {
			done()
		}
	})
}

// keeperHost is the cleaner's host, whose checkpoints are files.
type keeperHost struct {
	*janitor
	k *keeper
}

func (h keeperHost) CheckpointRecoveryPoint(l *Log, done func()) {
	h.k.write(h.k.points, l.RecoveryPoint(), done)
}

func (h keeperHost) Cleaned(l *Log, s CleanerStats) {
	h.janitor.Cleaned(l, s)
	h.k.write(h.k.cleaned, l.CleanedUpTo(), nil)
}

// made is the batch at an offset: what a producer, the second of two in a
// transaction or not, would have sent there.
func (k *keeper) made(codec record.Codec) record.Batch {
	base := k.l.LogEnd()
	o := record.BuilderOptions{BaseOffset: base, LeaderEpoch: k.epoch, ProducerID: 1 + kafka.ProducerID(codec), ProducerEpoch: 3}
	if s := k.l.producers.states[o.ProducerID]; s != nil {
		o.BaseSequence = s.lastSequence().Add(1)
	}
	b := record.NewBuilder(o)
	for i := range kafka.Offset(2) {
		b.Append(kafka.Timestamp(1000+base+i), fmt.Appendf(nil, "key %d", (base+i)%5), noise(uint64(base+i), 330), nil)
	}
	return b.BuildCompressed(new(record.Deflater), codec)
}

// noise is n bytes that no codec shortens and that differ from sector to sector.
func noise(seed uint64, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		seed = seed*6364136223846793005 + 1442695040888963407
		p[i] = byte(seed >> 56)
	}
	return p
}

// note adds what was appended to the line, before it is: a crash may come between.
func (k *keeper) note(b record.Batch) {
	k.owe(func(*debt) { *k.line() = append(*k.line(), slices.Clone(b)) })
}

func (k *keeper) append() {
	b := k.made(record.None)
	k.note(b)
	b.SetBaseOffset(0)
	_, code, err := k.l.AppendAsLeader(b, k.epoch, 1000)
	k.appended(code, err)
}

func (k *keeper) appendCompressed() {
	k.epoch++
	b := k.made(record.LZ4)
	k.note(b)
	_, err := k.l.AppendAsFollower(b, k.epoch)
	k.appended(kafka.None, err)
}

func (k *keeper) appended(code kafka.ErrorCode, err error) {
	if code != kafka.None || err != nil {
		k.w.t.Fatalf("append before %d: %s, %v", k.l.LogEnd(), code, err)
	}
}

func (k *keeper) roll() {
	if k.l.active().size > 0 {
		k.must(k.l.roll(k.l.end))
	}
}

func (k *keeper) fsync() {
	end := k.l.LogEnd()
	k.l.Flush(func(err error) {
		k.must(err)
		k.owe(func(d *debt) { d.flushed = max(d.flushed, end) })
	})
	k.w.drain()
}

// truncate takes the last two batches, or those above the high watermark.
func (k *keeper) truncate() {
	o := k.hw
	if n := len(*k.line()); n >= 2 {
		o = max(o, (*k.line())[n-2].LastOffset()) // inside a batch, which goes as a whole
	}
	if o >= k.l.LogEnd() {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(*k.line()), func(b record.Batch) bool { return b.LastOffset() >= o })
	end := k.l.LogStart()
	if n := len(kept); n > 0 {
		end = kept[n-1].NextOffset()
	}
	k.owe(func(d *debt) {
		d.lines = append(d.lines, kept)
		d.flushed, d.cutting, d.cut = min(d.flushed, end), true, o
	})
	k.must(k.l.TruncateTo(o))
	k.write(k.points, k.l.RecoveryPoint(), nil)
	k.w.drain()
	k.owe(func(d *debt) { d.cutting = false })
	k.fsync()
	k.owe(func(d *debt) { d.lines = d.lines[len(d.lines)-1:] })
	k.epoch++
}

func (k *keeper) checkpoint() {
	k.write(k.points, k.l.RecoveryPoint(), nil)
	k.w.drain()
	if k.l.StartUnnamed() {
		k.write(k.starts, k.l.LogStart(), nil)
		k.w.drain()
	}
}

// clean is one pass of the cleaner, if there is something to clean.
func (k *keeper) clean() {
	k.owe(func(d *debt) { d.cleaned = true })
	for range 10_000 {
		if k.j.step() > 0 {
			k.w.drain()
			return
		}
	}
	k.w.t.Fatalf("the cleaner never rests")
}

func (k *keeper) deleteSegment() {
	if len(k.l.segments) < 2 || k.l.segments[1].base > k.hw {
		return
	}
	start := k.l.segments[1].base
	k.owe(func(d *debt) { d.start = max(d.start, start) })
	k.must(k.l.RaiseLogStart(start))
	_, err := k.l.DeleteOldSegments(1000)
	k.must(err)
	k.w.advance(1 << 40)
}

// deleteAll lets retention take everything, once it is committed.
func (k *keeper) deleteAll() {
	k.hw = k.l.LogEnd()
	k.l.SetHighWatermark(k.hw)
	k.owe(func(d *debt) { d.start = k.hw })
	c := k.l.Config()
	all := c
	all.Delete, all.RetentionBytes = true, 0
	k.l.SetConfig(all)
	_, err := k.l.DeleteOldSegments(1000)
	k.must(err)
	k.l.SetConfig(c)
	k.write(k.points, k.l.RecoveryPoint(), nil)
}

// startAnew drops everything, as where a leader has no more of what the log needs.
func (k *keeper) startAnew() {
	o := k.l.LogEnd() + 3
	k.owe(func(d *debt) {
		d.lines = append(d.lines, nil)
		d.start, d.cutting, d.cut = o, true, 0
	})
	k.must(k.l.TruncateFullyAndStartAt(o))
	k.hw = o
	k.fsync()
	k.owe(func(d *debt) { d.lines, d.cutting = d.lines[len(d.lines)-1:], false })
	k.epoch++
}

// stop is a clean stop, and the next start.
func (k *keeper) stop() {
	end, over := k.l.LogEnd(), false
	k.l.Stop(func(err error) {
		k.must(err)
		k.owe(func(d *debt) { d.flushed, over = end, true })
	})
	k.w.drain()
	if !over {
		k.w.t.Fatalf("the stop never ends")
	}
	k.checkpoint()
	f, err := k.w.fs.Create(cleanMarker)
	k.must(err)
	k.must(f.Close())
	k.w.fs.SyncDir(k.w.syncs.Token(k.must), "")
	k.w.drain()
	k.w.look()
	k.w.kill()
	k.boot()
}

// begin makes a log of several segments, the first of them clean in part, with an
// aborted transaction, of which the last batches are neither flushed nor committed.
func (k *keeper) begin() {
	for range 2 {
		for range 3 {
			k.append()
		}
		k.appendCompressed()
		k.roll()
	}
	k.transact()
	k.append()
	k.roll()
	k.fsync()
	k.checkpoint()
	k.hw = k.l.LogEnd()
	k.l.SetHighWatermark(k.hw)
	k.append()
	k.appendCompressed()
}

// transact aborts a transaction.
func (k *keeper) transact() {
	b := transactional(9, 0, 0, 1)
	b.SetBaseOffset(k.l.LogEnd())
	b.SetLeaderEpoch(k.epoch)
	k.note(b)
	_, err := k.l.AppendAsFollower(b, k.epoch)
	k.appended(kafka.None, err)
	b = record.EndTransaction{Type: record.Abort, CoordinatorEpoch: 1}.Batch(9, 0, 1000)
	b.SetBaseOffset(k.l.LogEnd())
	b.SetLeaderEpoch(k.epoch)
	k.note(b)
	_, err = k.l.AppendAsFollower(b, k.epoch)
	k.appended(kafka.None, err)
}

// owed is what the next life owes as it stands now, and a digest of it.
func (k *keeper) owed(seed maphash.Seed) (debt, uint64) {
	d := k.due
	d.lines = slices.Clone(d.lines)
	var h maphash.Hash
	h.SetSeed(seed)
	fmt.Fprint(&h, d.flushed, d.start, d.cutting, d.cut, d.cleaned, k.hw)
	for i, line := range d.lines {
		d.lines[i] = line[:len(line):len(line)]
		fmt.Fprint(&h, "line")
		for _, b := range line {
			fmt.Fprint(&h, b.BaseOffset(), b.CRC(), b.LeaderEpoch())
		}
	}
	return d, h.Sum64()
}

// keeperOn is a broker on a new disk.
func keeperOn(w *world) *keeper {
	return &keeper{w: w, due: debt{lines: [][]record.Batch{nil}}}
}
