package storage

import (
	"errors"
	"fmt"
	"slices"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node"
)

// Opening is what the log directory's own files tell of a log that is opened,
// and what the log needs of its lane.
type Opening struct {
	// Clean: the log directory was stopped cleanly. Then files are trusted.
	Clean bool
	// RecoveryPoint and LogStart are the log's entries in the checkpoints of the
	// log directory; 0 if there is none.
	RecoveryPoint kafka.Offset
	LogStart      kafka.Offset
	// PointKnown: a RecoveryPoint of 0 means that nothing was checkpointed yet. Else
	// the entry may have been lost.
	PointKnown bool
	// TopicID is the id of the topic that the log is opened for; the zero id
	// writes none.
	TopicID kafka.UUID
	// Syncs is the lane's.
	Syncs *node.Syncs
	// Inflater and Deflater are those that the lane's logs share; nil gives the
	// log its own.
	Inflater *record.Inflater
	Deflater *record.Deflater
	// Timers are the lane's: a deleted file is removed file.delete.delay.ms after it
	// was renamed. Nil: as soon as its new name is durable.
	Timers *node.Timers
	// Random draws the jitter of segment.ms; nil gives none.
	Random func() uint64
	// OnFailure is told the log's first error of the disk, also one that is met in
	// the background; nil if nobody is to know. The log has failed then.
	OnFailure func(error)
	// CleanedUpTo is the log's entry in the cleaner's checkpoint; 0 if there is
	// none.
	CleanedUpTo kafka.Offset
	// Rules are the node's; the zero value is today's.
	Rules rules.Storage
	// Now is the wall clock, ms.
	Now kafka.Timestamp
	// ProducerExpirationMs is producer.id.expiration.ms: the silence after which
	// a producer is forgotten; 0 is never.
	ProducerExpirationMs int64
}

// Recovery tells how a log was found.
type Recovery struct {
	// Clean: nothing had to be walked.
	Clean bool
	// CutAt is the offset at which the log was cut, NoOffset if it was not;
	// CutFile and CutPos (bytes) are where, Reason is why. If the next segment begins
	// there, bytes went and no records.
	CutAt   kafka.Offset
	CutFile string
	CutPos  int64
	Reason  string
	cutIn   kafka.Offset // base of the first segment that was cut
	// End is the log end.
	End kafka.Offset
}

// Open opens the log in dir, which it makes if it is missing (its parent must
// exist). An error is the disk's or names a file that Kafka would not write.
func Open(fs disk.FS, dir string, cfg Config, o Opening) (*Log, Recovery, error) {
	l := &Log{fs: fs, dir: dir, cfg: cfg, syncs: o.Syncs, clock: o.Now, lastFlush: o.Now, start: o.LogStart,
		inflater: o.Inflater, deflater: o.Deflater, timers: o.Timers, random: o.Random, onFailure: o.OnFailure}
	l.producers = producers{states: map[kafka.ProducerID]*producerState{}, expiration: o.ProducerExpirationMs}
	if l.inflater == nil {
		l.inflater = new(record.Inflater)
	}
	if l.deflater == nil {
		l.deflater = new(record.Deflater)
	}
	if o.Rules.Walk == nil {
		o.Rules = rules.Current().Storage
	}
	l.epochFile = NewAtomicFile(fs, o.Syncs, dir+"/"+epochFileName)
	l.idFile = NewAtomicFile(fs, o.Syncs, dir+"/"+idFileName)
	rec, err := l.open(o)
	if err != nil {
		return nil, Recovery{}, fmt.Errorf("open log %s: %w", dir, err)
	}
	return l, rec, nil
}

func (l *Log) open(o Opening) (Recovery, error) {
	names, err := l.fs.List(l.dir)
	if errors.Is(err, disk.ErrNotExist) {
		l.parentDirty = true
		err = l.fs.Mkdir(l.dir)
	}
	if err != nil {
		return Recovery{}, err
	}
	if err := l.claim(o.TopicID); err != nil {
		return Recovery{}, err
	}
	if l.epochs, err = readEpochs(l.fs, l.dir+"/"+epochFileName); err != nil {
		return Recovery{}, err
	}
	saved := l.epochs.Entries()
	torn, err := l.removeDeleted(names)
	if err == nil {
		err = l.load(names)
	}
	if err != nil {
		return Recovery{}, err
	}
	l.distrust(torn)
	unknown := o.Clean && len(l.producers.snapshots) == 0
	l.cleanedUpTo = o.CleanedUpTo
	rec, err := l.recover(o)
	if err != nil {
		return Recovery{}, err
	}
	l.start = max(o.LogStart, l.segments[0].base)
	l.cleanedUpTo = min(o.CleanedUpTo, l.end)
	if err := l.rebuildProducers(l.end, unknown); err != nil {
		return rec, err
	}
	l.epochs.trimEnd(l.end)
	l.epochs.trimStart(o.LogStart)
	if err := l.recallEpochs(); err != nil {
		return rec, err
	}
	if l.renewing != nil {
		l.renewing.start()
	}
	if l.swap != nil {
		l.swap.goOn()
	}
	if rec.CutAt != kafka.NoOffset {
		l.flushCut(min(rec.cutIn, l.active().base))
	}
	l.forgetTorn(torn)
	l.saveID()
	if !slices.Equal(saved, l.epochs.entries) {
		l.saveEpochs()
	}
	rec.End = l.end
	return rec, nil
}

// load opens every segment, in order.
func (l *Log) load(names []string) error {
	if err := l.dropFresh(names); err != nil {
		return err
	}
	names, err := l.resumeSwap(names)
	if err != nil {
		return err
	}
	for _, name := range names { // sorted, and so are the bases
		base, ok := parseBase(name, logSuffix)
		if !ok {
			continue
		}
		s := newSegment(base, l.clock)
		s.jitter = l.drawJitter()
		if err := l.openSegment(s, names); err != nil {
			return err
		}
		l.segments = append(l.segments, s)
	}
	l.sortSegments()
	if err := l.loadSnapshots(names); err != nil {
		return err
	}
	return l.removeOrphans(names)
}

// removeOrphans unlinks indexes without a log file: a crash came between the
// removals of one segment's files.
func (l *Log) removeOrphans(names []string) error {
	for _, name := range names {
		for _, suffix := range []string{indexSuffix, timeSuffix, txnSuffix} {
			base, ok := parseBase(name, suffix)
			if !ok || len(l.segments) > 0 && l.segments[l.floor(base)].base == base {
				continue
			}
			if err := l.fs.Remove(l.dir + "/" + name); err != nil {
				return err
			}
			l.dirDirty = true
		}
	}
	return nil
}

// open opens the files of a segment. An index that is missing has no file then: one of
// times is usable when it is made, empty; one of offsets not. What the indexes say is not
// checked beyond what Kafka checks.
func (s *segment) open(fs disk.FS, dir string) error {
	path := segmentPath(dir, s.base)
	var err error
	if s.log, err = fs.Open(path + logSuffix + s.suffix); err != nil {
		return err
	}
	if s.size, err = s.log.Size(); err != nil {
		return err
	}
	offsets, err := s.index.openFile(fs, path+indexSuffix+s.suffix)
	if err != nil {
		return err
	}
	times, err := s.times.openFile(fs, path+timeSuffix+s.suffix)
	if err != nil {
		return err
	}
	s.unusable = offsets != sound || times == corrupt
	s.doubtful = s.index.tail() > s.size || s.times.count() > 0 && s.times.last().timestamp < s.times.at(0).timestamp
	s.largest = s.times.last()
	return nil
}

// openSegment opens all files of a segment, which are among the names.
func (l *Log) openSegment(s *segment, names []string) error {
	if err := s.open(l.fs, l.dir); err != nil {
		return err
	}
	return l.openTxnIndex(s, names)
}

// openTxnIndex opens a segment's index of aborted transactions, if it has one: a
// missing one cannot be told from none.
func (l *Log) openTxnIndex(s *segment, names []string) error {
	path := segmentPath(l.dir, s.base) + txnSuffix + s.suffix
	if _, found := slices.BinarySearch(names, path[len(l.dir)+1:]); !found {
		return nil
	}
	sound, err := s.txns.open(l.fs, path, s.base)
	s.unusable = s.unusable || !sound
	return err
}

// condition is how an index file was found.
type condition uint8

const (
	sound condition = iota
	missing
	corrupt
)

func (x *indexFile) openFile(fs disk.FS, path string) (condition, error) {
	var err error
	x.file, err = fs.Open(path)
	if errors.Is(err, disk.ErrNotExist) {
		x.file = nil
		return missing, nil
	}
	if err != nil {
		return corrupt, err
	}
	whole, err := x.load()
	if err != nil {
		return corrupt, fmt.Errorf("read %s: %w", path, err)
	}
	if !whole {
		x.data, x.saved = x.data[:0], 0
		return corrupt, nil
	}
	return sound, nil
}
