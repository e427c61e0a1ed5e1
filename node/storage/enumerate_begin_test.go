package storage

import "tidemark/disk"

// beginnings are the logs from which workloads go on. less is by how many operations
// the workloads from there are shorter.
var beginnings = []struct {
	name string
	do   func(*keeper)
	less int
}{
	{"an empty log", func(*keeper) {}, 0},
	{"three segments", (*keeper).begin, 0},
	{"a flushed end", (*keeper).beginFlushed, 1},
	{"a start that cut a torn end", (*keeper).beginTorn, 1},
	{"a cleaned log without its recovery point", (*keeper).beginPointless, 1},
}

// beginFlushed is a log with its recovery point at the end, in an active segment whose
// indexes do not tell of its only batch.
func (k *keeper) beginFlushed() {
	k.begin()
	k.roll()
	k.append()
	k.fsync()
	k.checkpoint()
}

// beginTorn is a log whose start cut off a batch behind its recovery point of which the
// disk has a part.
func (k *keeper) beginTorn() {
	k.append()
	k.transact()
	k.fsync()
	k.checkpoint()
	before := len(*k.line())
	k.append()
	k.w.edit(segmentPath(dir, k.l.active().base)+logSuffix, func(f disk.File) error {
		err := write([]byte("torn"), -40)(f)
		f.Sync(k.w.syncs.Token(k.must))
		return err
	})
	k.w.drain()
	k.w.kill()
	k.boot()
	k.owe(func(*debt) { *k.line() = (*k.line())[:before] })
	if end := (*k.line())[before-1].NextOffset(); k.l.LogEnd() != end {
		k.w.t.Fatalf("the log ends at %d, and was torn at %d", k.l.LogEnd(), end)
	}
}

// beginPointless is a compacted log with a gap between two segments, whose start found
// no checkpoint of recovery points, and after which it was written again.
func (k *keeper) beginPointless() {
	k.begin()
	k.fsync()
	k.clean()
	k.fsync()
	k.checkpoint()
	if k.gaps() == 0 {
		k.w.t.Fatalf("the cleaner left no gap between segments")
	}
	k.must(k.w.fs.Remove(RecoveryPointCheckpoint))
	k.w.fs.SyncDir(k.w.syncs.Token(k.must), "")
	k.w.drain()
	k.w.kill()
	k.boot()
	if k.l.LogEnd() < k.due.flushed {
		k.w.t.Fatalf("the log ends at %d, flushed was %d", k.l.LogEnd(), k.due.flushed)
	}
	k.fsync()
	k.checkpoint()
}

// gaps is how many segments of the log begin behind the end of the one before.
func (k *keeper) gaps() (n int) {
	for i, s := range k.l.segments[1:] {
		end, err := k.l.segments[i].readTail(&k.l.walk)
		k.must(err)
		if end < s.base {
			n++
		}
	}
	return n
}

// raise lets the log start at its last batch, as DeleteRecords does, once it is
// committed.
func (k *keeper) raise() {
	n := len(*k.line())
	if n == 0 {
		return
	}
	start := (*k.line())[n-1].BaseOffset()
	k.hw = k.l.LogEnd()
	k.l.SetHighWatermark(k.hw)
	k.owe(func(d *debt) { d.start = max(d.start, start) })
	k.must(k.l.RaiseLogStart(start))
}
