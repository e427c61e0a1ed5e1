package broker

import (
	"slices"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/storage"
)

// checkpointFile is one of a log directory's text checkpoints.
type checkpointFile string

const (
	recoveryPoints checkpointFile = "recovery-point-offset-checkpoint"
	logStarts      checkpointFile = "log-start-offset-checkpoint"
	highWatermarks checkpointFile = "replication-offset-checkpoint"
	cleanedOffsets checkpointFile = storage.CleanerCheckpoint
)

var checkpointFiles = []checkpointFile{recoveryPoints, logStarts, highWatermarks, cleanedOffsets}

// read returns the file's entries, none for a missing file. An unreadable
// recovery-point or log-start file counts as empty: recovery then starts at the
// first segment. A broken high-watermark or cleaner file takes the directory
// offline.
func (c checkpointFile) read(fs disk.FS, dir string) (map[kafka.TopicPartition]kafka.Offset, error) {
	entries, err := storage.ReadOffsetCheckpoint(fs, within(dir, string(c)))
	if err != nil {
		if c == highWatermarks || c == cleanedOffsets {
			return nil, err
		}
		entries = nil
	}
	offsets := make(map[kafka.TopicPartition]kafka.Offset, len(entries))
	for _, e := range entries {
		offsets[e.TP] = e.Offset
	}
	return offsets, nil
}

func comparePartitions(a, b kafka.TopicPartition) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}

// round collects one file's entries from the data lanes, time and again.
type round struct {
	lanes   int
	missing int // answers of the round in work
	offsets []partitionOffset
	wanted  []func() // run once a round that began after they came is durable
	serving []func() // of the round in work
}

// ask begins a round, unless one is in work: while the answer of a lane is
// missing, its disk hangs, and nobody is asked again.
func (l *logs) ask(file checkpointFile) {
	r := l.rounds[file]
	if l.closing || r.missing > 0 {
		return
	}
	r.missing, r.offsets = r.lanes, nil
	r.serving, r.wanted = r.wanted, nil
	for _, lane := range l.cfg.dataLanes() {
		l.env.Post(lane, checkpointPost{File: file})
	}
}

// collect takes a lane's share and writes the files with the last one. It
// reports whether another round is wanted at once.
func (l *logs) collect(m checkpointedPost) (again bool) {
	r := l.rounds[m.File]
	r.offsets = append(r.offsets, m.Offsets...)
	if r.missing--; r.missing > 0 {
		return false
	}
	serving := r.serving
	l.writeCheckpoint(m.File, r.offsets, func() {
		for _, done := range serving {
			done()
		}
	})
	return len(r.wanted) > 0
}

// writeCheckpoint replaces the file in every directory that is online, with its
// own partitions; done runs once each is durable or its directory failed.
func (l *logs) writeCheckpoint(file checkpointFile, offsets []partitionOffset, done func()) {
	left := len(l.dirs) + 1
	one := func() {
		if left--; left == 0 {
			done()
		}
	}
	for i, dir := range l.dirs {
		if !dir.logs || dir.failed {
			one()
			continue
		}
		dir.files[file].Write(checkpointContent(offsets, i), func(err error) {
			if err != nil {
				l.fail(dir, err)
			}
			one()
		})
	}
	one()
}

func checkpointContent(offsets []partitionOffset, dir int) []byte {
	var entries []storage.OffsetEntry
	for _, o := range offsets {
		if o.Dir == dir {
			entries = append(entries, storage.OffsetEntry{TP: o.TP, Offset: o.Offset})
		}
	}
	slices.SortStableFunc(entries, func(a, b storage.OffsetEntry) int { return comparePartitions(a.TP, b.TP) })
	return storage.CheckpointContent(storage.OffsetLines(entries))
}

// finish ends a clean stop once every data lane closed its logs: checkpoints
// first, each durable before the next begins, the markers last.
func (l *logs) finish() {
	if !l.closing || len(l.closed) < l.cfg.DataLanes {
		return
	}
	var last closedPost
	for _, c := range l.closed {
		if !c.Loaded {
			// The logs were never opened: files and markers still tell the truth.
			l.env.Post(node.Lifecycle, cleanPost{})
			return
		}
		last.RecoveryPoints = append(last.RecoveryPoints, c.RecoveryPoints...)
		last.LogStarts = append(last.LogStarts, c.LogStarts...)
		last.HighWatermarks = append(last.HighWatermarks, c.HighWatermarks...)
	}
	l.writeCheckpoint(highWatermarks, last.HighWatermarks, func() {
		l.writeCheckpoint(recoveryPoints, last.RecoveryPoints, func() {
			l.writeCheckpoint(logStarts, last.LogStarts, func() {
				l.writeMarkers(func() { l.env.Post(node.Lifecycle, cleanPost{}) })
			})
		})
	})
}
