package broker

import (
	"slices"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node/storage"
)

// checkpointFile is one of the directory's text checkpoints.
type checkpointFile string

const (
	recoveryPoints checkpointFile = "recovery-point-offset-checkpoint"
	logStarts      checkpointFile = "log-start-offset-checkpoint"
	highWatermarks checkpointFile = "replication-offset-checkpoint"
)

// read returns the file's entries, none for a missing file. An unreadable
// recovery-point or log-start file counts as empty: recovery then starts at the
// first segment. A broken high-watermark file takes the directory offline.
func (c checkpointFile) read(fs disk.FS) (map[kafka.TopicPartition]kafka.Offset, error) {
	entries, err := storage.ReadOffsetCheckpoint(fs, string(c))
	if err != nil {
		if c == highWatermarks {
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

// checkpoint collects one file's entries from the data lanes, round by round.
type checkpoint struct {
	file    *storage.AtomicFile
	lanes   int
	missing int // answers of the round in work
	offsets []partitionOffset
	wanted  []func() // run once a round that began after they came is durable
	serving []func() // of the round in work
}

// ask begins a round and reports whether it did: while the answer of a lane is
// missing, its disk hangs, and nobody is asked again.
func (c *checkpoint) ask() bool {
	if c.missing > 0 {
		return false
	}
	c.missing, c.offsets = c.lanes, nil
	c.serving, c.wanted = c.wanted, nil
	return true
}

// collect takes a lane's share and writes the file with the last one. It
// reports whether another round is wanted at once.
func (c *checkpoint) collect(part []partitionOffset, failed func(error)) (again bool) {
	c.offsets = append(c.offsets, part...)
	if c.missing--; c.missing > 0 {
		return false
	}
	serving := c.serving
	c.write(c.offsets, func(err error) {
		if err != nil {
			failed(err)
			return
		}
		for _, done := range serving {
			done()
		}
	})
	return len(c.wanted) > 0
}

// write replaces the file's content; done runs once it is durable.
func (c *checkpoint) write(offsets []partitionOffset, done func(error)) {
	entries := make([]storage.OffsetEntry, len(offsets))
	for i, o := range offsets {
		entries[i] = storage.OffsetEntry{TP: o.TP, Offset: o.Offset}
	}
	slices.SortStableFunc(entries, func(a, b storage.OffsetEntry) int { return comparePartitions(a.TP, b.TP) })
	c.file.Write(storage.CheckpointContent(storage.OffsetLines(entries)), done)
}
