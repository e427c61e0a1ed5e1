package storage

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
)

// ErrOffsetOutOfRange: the offset is not between log start and log end.
var ErrOffsetOutOfRange = errors.New("offset out of range")

// Log is one replica's log: one directory, owned by one lane. LogStart ≤
// LogEnd and RecoveryPoint ≤ LogEnd always. After Close it must not be used.
type Log struct {
	fs    disk.FS
	dir   string
	cfg   Config
	syncs *node.Syncs
	topic kafka.UUID

	segments []*segment // by base offset; never empty; the last is active
	start    kafka.Offset
	end      kafka.Offset
	recovery kafka.Offset // the recovery point
	clock    kafka.Timestamp

	epochs    *EpochCache
	epochFile *AtomicFile
	epochHeld bool // the cache is to be written once no cut is outstanding
	idFile    *AtomicFile
	idUnsaved bool // the disk does not tell the topic id, or only in a temporary file

	ops         []*flushOp // flushes under way, in order
	cuts        int        // how many of them make a truncation durable
	rolls       int        // how many of them a roll began
	dirDirty    bool       // names changed since SyncDir was last asked for
	parentDirty bool       // the directory itself is new

	walk    walker
	records record.Iterator

	inflater *record.Inflater
	deflater *record.Deflater

	batches []BatchInfo // of the last append
	recent  recentPlaces

	producers producers

	highWatermark kafka.Offset // as the owner told; start ≤ highWatermark ≤ end
	lastFlush     kafka.Timestamp

	cleanedUpTo kafka.Offset // the log's entry in the cleaner's checkpoint
	cleaning    *pass        // of the cleaner, under way; nil: none
	swap        *swap        // under way; nil: none
	renewing    *renewal     // of indexes, under way; nil: none
	uncleanable bool         // the cleaner met damage

	oldest      [][]string    // names of deleted segments, the oldest first, that wait to be set aside
	ready       bool          // the first of them waits for the sync under way alone
	moved       bool          // a crash may bring deleted segments back in front of the first
	anew        bool          // no flush completes before that is over
	anewFlushes []func(error) // which wait for it
	afterOldest func()        // runs when it is over, or the log failed; nil: nothing
	aside       []string      // of files that were set aside and are not durable
	asideBusy   bool          // a sync of names is under way, of such ones or of the first segment's

	timers    *node.Timers
	random    func() uint64
	onFailure func(error)

	failed error
	closed bool
}

// Dir is the log's directory.
func (l *Log) Dir() string { return l.dir }

// TopicID is the id in partition.metadata; zero if there is none.
func (l *Log) TopicID() kafka.UUID { return l.topic }

// Config is the configuration in force.
func (l *Log) Config() Config { return l.cfg }

// SetConfig changes the configuration for what is appended from now on. A log that
// is not compacted any more is left by the cleaner at once.
func (l *Log) SetConfig(c Config) {
	if l.cfg.Compacted && !c.Compacted {
		if err := l.abortCleaning(); err != nil {
			_ = l.failing("configure", err)
		}
	}
	l.cfg = c
}

// LogStart is the first offset that may be read.
func (l *Log) LogStart() kafka.Offset { return l.start }

// LogEnd is the offset that the next record gets (LEO).
func (l *Log) LogEnd() kafka.Offset { return l.end }

// RecoveryPoint is the offset below which everything is durable: records,
// indexes, names and epochs. It rises with completed flushes alone and falls
// with a truncation.
//
// Until a truncation is durable it is not above the base of the segment that was
// cut. The next segment may begin where the log ends now, and a recovery that
// walked from there on would not see that a power loss brought the old tail back
// in front of it. Kafka does not sync a truncation, and so has that hole.
func (l *Log) RecoveryPoint() kafka.Offset {
	point := l.recovery
	for _, op := range l.ops {
		if op.cut {
			point = min(point, op.base)
		}
	}
	return point
}

// Failed is the first error of the disk. A log that failed appends nothing any
// more, because nothing is known about what an earlier write left (KAFKA-10778).
func (l *Log) Failed() error { return l.failed }

// Epochs is the log's epoch cache, for queries.
func (l *Log) Epochs() *EpochCache { return l.epochs }

// LastEpoch is the latest leader epoch of the log, NoEpoch for none.
func (l *Log) LastEpoch() kafka.LeaderEpoch {
	e, _ := l.epochs.Latest()
	return e
}

// Size is the size of all segments in bytes.
func (l *Log) Size() (n int64) {
	for _, s := range l.segments {
		n += s.size
	}
	return n
}

// SegmentBase is the base offset of the segment that holds o, or would.
func (l *Log) SegmentBase(o kafka.Offset) kafka.Offset { return l.segments[l.floor(o)].base }

func (l *Log) active() *segment { return l.segments[len(l.segments)-1] }

// floor is the index of the last segment with a base offset ≤ o, else 0.
func (l *Log) floor(o kafka.Offset) int {
	i, exact := slices.BinarySearchFunc(l.segments, o, func(s *segment, o kafka.Offset) int {
		switch {
		case s.base < o:
			return -1
		case s.base > o:
			return 1
		}
		return 0
	})
	if exact || i == 0 {
		return i
	}
	return i - 1
}

// AssignEpoch notes that leader epoch e begins at start. The cache knows it at
// once; the file follows in the background, and no flush completes before it.
func (l *Log) AssignEpoch(e kafka.LeaderEpoch, start kafka.Offset) error {
	if l.failed != nil {
		return l.offline()
	}
	if l.epochs.assign(e, start) {
		l.saveEpochs()
	}
	return nil
}

// saveEpochs writes the cache to its file. While a truncation is not durable
// the write is held back: a file that tells of an epoch after the cut beside a
// log whose old tail came back would hide a divergence.
func (l *Log) saveEpochs() {
	if l.cuts > 0 {
		l.epochHeld = true
		return
	}
	l.epochHeld = false
	l.epochFile.Write(CheckpointContent(l.epochs.lines()), l.epochsSaved)
}

func (l *Log) epochsSaved(err error) {
	if err != nil {
		l.fail(err)
		return
	}
	l.settle()
}

// fail notes the first error of the disk, tells the owner, and ends every flush
// with it.
func (l *Log) fail(err error) {
	if l.failed == nil {
		l.failed = err
		if l.onFailure != nil && !l.closed {
			l.onFailure(err)
		}
	}
	l.leavePass()
	l.oldest, l.anewFlushes = nil, nil
	l.leaveOldest()
	ops := l.ops
	l.ops, l.cuts, l.rolls = nil, 0, 0
	for _, op := range ops {
		if op.done != nil {
			op.done(l.failed)
		}
	}
}

// failing is fail for an operation on the log that returns its error.
func (l *Log) failing(what string, err error) error {
	err = fmt.Errorf("%s %s: %w", what, l.dir, err)
	l.fail(err)
	return err
}

// offline is the error of an operation on a log that failed before.
func (l *Log) offline() error { return fmt.Errorf("log %s is offline: %w", l.dir, l.failed) }

// TakeOffline ends the log because its directory failed elsewhere: what is under
// way ends with err, and nothing is appended any more.
func (l *Log) TakeOffline(err error) {
	l.fail(err)
	l.Close()
}

// Close gives all handles up and forgets what is under way; it writes nothing.
// A clean stop is Stop.
func (l *Log) Close() {
	l.closed = true
	l.ops = nil
	l.epochFile.stop()
	l.idFile.stop()
	err := l.closeCleaning()
	for _, s := range l.producers.snapshots {
		err = errors.Join(err, s.close())
	}
	for _, s := range l.segments {
		err = errors.Join(err, s.close())
	}
	if l.failed == nil {
		l.failed = err
	}
}

// Rename moves the log's directory: to a -delete or -stray name.
func (l *Log) Rename(dir string) error {
	if err := l.abortCleaning(); err != nil {
		return l.failing("rename", err)
	}
	if err := l.fs.Rename(l.dir, dir); err != nil {
		return l.failing("rename", err)
	}
	l.dir, l.parentDirty = dir, true
	l.epochFile.path = dir + "/" + epochFileName
	l.idFile.path = dir + "/" + idFileName
	return nil
}

// RemoveAll unlinks the files of a directory and the directory itself.
func RemoveAll(fs disk.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	for _, n := range names {
		if err := fs.Remove(dir + "/" + n); err != nil {
			return fmt.Errorf("remove %s: %w", dir, err)
		}
	}
	if err := fs.Remove(dir); err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return nil
}

func offsetText(o kafka.Offset) string { return strconv.FormatInt(int64(o), 10) }
