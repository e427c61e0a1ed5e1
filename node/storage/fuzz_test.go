package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/record"
)

// allocated is what this process ever allocated, bytes.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// fuzzDir is the directory of a log of several segments, with transactions, epochs and
// a compressed batch, as a life left it that did not stop.
func fuzzDir(t failer) []simdisk.Content {
	k := keeperOn(surveyed(t))
	k.boot()
	k.begin()
	k.w.drain()
	var files []simdisk.Content
	for _, p := range k.w.disk.Paths(faultdisk.Cached) {
		if p[len(p)-1] == '/' {
			continue
		}
		content, err := k.w.disk.ReadFile(faultdisk.Cached, p)
		if err != nil {
			t.Fatalf("%v", err)
		}
		files = append(files, simdisk.Content{Path: p, Bytes: content})
	}
	return files
}

// fuzzOpen puts any bytes in place of one file of a log: after any start, clean or not,
// the log must be one that can be read and appended to, or the start is refused with a
// reason. One that was walked from its beginning passes the audit of a recovery. Memory
// has a bound that no length in the file moves.
func fuzzOpen(f *testing.F, path string) {
	files := fuzzDir(f)
	at := -1
	for i, x := range files {
		if x.Path == path {
			at = i
		}
	}
	if at < 0 {
		f.Fatalf("there is no %s", path)
	}
	whole := files[at].Bytes
	for _, seed := range [][]byte{nil, whole, whole[:len(whole)/2], append(bytes.Clone(whole), whole...), bytes.Repeat([]byte{0xff}, 64), make([]byte, 64)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		edited := append([]simdisk.Content{}, files...)
		edited[at].Bytes = content
		for _, o := range []Opening{{}, {RecoveryPoint: 20}, {Clean: true, RecoveryPoint: 24}} {
			before := allocated()
			openEdited(t, edited, o)
			if n := allocated() - before; n > 3*record.MaxInflated {
				t.Fatalf("%d bytes of memory for a start with a file of %d", n, len(content))
			}
			if onRealFiles() {
				break
			}
		}
	})
}

func openEdited(t *testing.T, files []simdisk.Content, o Opening) {
	w := loaded(t, files)
	o.Syncs, o.Now, o.Timers = w.syncs, 1000, w.timers
	l, _, err := Open(w.fs, dir, small(), o)
	if err != nil {
		if err.Error() == "" {
			t.Fatal("a refusal without a reason")
		}
		return
	}
	if l.LogStart() > l.LogEnd() || l.RecoveryPoint() > l.LogEnd() {
		t.Fatalf("the log goes from %d to %d, recovery point %d", l.LogStart(), l.LogEnd(), l.RecoveryPoint())
	}
	if !o.Clean && o.RecoveryPoint == 0 && !slices.ContainsFunc(stored(t, l.segments), undated) {
		audit(t, l)
	}
	for at := l.LogStart(); at < l.LogEnd(); {
		buf, err := l.ReadBatches(at, 1<<20)
		if err != nil || len(buf) == 0 {
			break // damage that a trusted part has: readers are told
		}
		next := at
		for len(buf) > 0 {
			b, rest, err := record.Next(buf)
			if err != nil {
				t.Fatalf("read at %d: %v", at, err)
			}
			next, buf = max(next, b.NextOffset()), rest
		}
		if next == at {
			break
		}
		at = next
	}
	_, _, _ = l.FindTimestamp(1005) // an error is an answer
	w.drain()
	if _, code, err := l.AppendAsLeader(batch(1000, "goes on"), max(l.LastEpoch(), 0), 1000); err != nil && l.Failed() == nil {
		t.Fatalf("append: %s, %v", code, err)
	}
}

// undated tells a batch without a leader epoch, which no cache knows.
func undated(b record.Batch) bool { return b.LeaderEpoch() < 0 }

const fuzzed = dir + "/00000000000000000008"

func FuzzOpenLog(f *testing.F)         { fuzzOpen(f, fuzzed+logSuffix) }
func FuzzOpenActiveLog(f *testing.F)   { fuzzOpen(f, dir+"/00000000000000000020"+logSuffix) }
func FuzzOpenIndex(f *testing.F)       { fuzzOpen(f, fuzzed+indexSuffix) }
func FuzzOpenTimeIndex(f *testing.F)   { fuzzOpen(f, fuzzed+timeSuffix) }
func FuzzOpenTxnIndex(f *testing.F)    { fuzzOpen(f, dir+"/00000000000000000016"+txnSuffix) }
func FuzzOpenSnapshot(f *testing.F)    { fuzzOpen(f, dir+"/00000000000000000020"+snapshotSuffix) }
func FuzzOpenEpochs(f *testing.F)      { fuzzOpen(f, dir+"/"+epochFileName) }
func FuzzOpenPartitionID(f *testing.F) { fuzzOpen(f, dir+"/"+idFileName) }
func FuzzReadCheckpoints(f *testing.F) {
	for _, seed := range []string{"", "0\n", "0\n1\norders 0 20\n", "0\n2147483647\n", "0\n1\norders 0 -1", "1\n0\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		w := loaded(t, []simdisk.Content{{Path: RecoveryPointCheckpoint, Bytes: content}})
		entries, err := ReadOffsetCheckpoint(w.fs, RecoveryPointCheckpoint)
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatalf("an error that names no malformed file: %v", err)
		}
		if len(entries) > len(content) {
			t.Fatalf("%d entries in %d bytes", len(entries), len(content))
		}
		if err != nil {
			return
		}
		w = loaded(t, []simdisk.Content{{Path: RecoveryPointCheckpoint, Bytes: CheckpointContent(OffsetLines(entries))}})
		if again, err := ReadOffsetCheckpoint(w.fs, RecoveryPointCheckpoint); err != nil || !slices.Equal(again, entries) {
			t.Fatalf("%v are written and read as %v, %v", entries, again, err)
		}
	})
}

// FuzzParseSnapshot reaches what lies behind the CRC, which FuzzOpenSnapshot cannot.
func FuzzParseSnapshot(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0})
	f.Add(append([]byte{0, 0, 0, 1}, make([]byte, snapshotEntrySize)...))
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, checked []byte) {
		states, err := parseSnapshot(sealedSnapshot(checked))
		if err == nil && len(states)*snapshotEntrySize > len(checked) {
			t.Fatalf("%d producers in %d bytes", len(states), len(checked))
		}
		if err != nil {
			return
		}
		again, err := parseSnapshot(snapshotContent(states))
		if diff := cmp.Diff(states, again, cmp.AllowUnexported(producerState{}, producerBatch{})); err != nil || diff != "" {
			t.Fatalf("what is written of a snapshot is read as another (-first +again): %v\n%s", err, diff)
		}
	})
}

// sealedSnapshot gives content its version and CRC.
func sealedSnapshot(checked []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, snapshotVersion)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(checked, castagnoli))
	return append(b, checked...)
}
