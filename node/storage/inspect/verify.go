package inspect

import (
	"math"
	"strings"

	"tidemark/model/kafka"
)

// Options are what a directory does not tell.
type Options struct {
	// Now is the wall clock, ms: a producer that was silent for
	// ProducerExpirationMs (producer.id.expiration.ms; 0 is for ever) by then may be
	// missing in a snapshot.
	Now                  kafka.Timestamp
	ProducerExpirationMs int64
}

// horizon is the time (ms) since which a producer must have been silent to be
// forgotten by now.
func (o Options) horizon() kafka.Timestamp {
	if o.ProducerExpirationMs == 0 {
		return math.MinInt64
	}
	return o.Now - kafka.Timestamp(o.ProducerExpirationMs)
}

// Summary counts what was found sound.
type Summary struct {
	Directories  int64  `json:"logDirectories"` // those with a meta.properties
	Replicas     int64  `json:"replicas"`
	Segments     int64  `json:"segments"`
	Batches      int64  `json:"batches"`
	Records      int64  `json:"records"`
	Bytes        int64  `json:"bytes"`        // of the .log files
	IndexEntries int64  `json:"indexEntries"` // of .index, .timeindex and .txnindex
	Snapshots    int64  `json:"snapshots"`
	Notes        []Note `json:"notes"`
}

// Verify checks a directory: a log directory with everything in it, a directory of
// log directories, or one replica's. A Fault is the first byte that is wrong, in
// the order of names, and within a replica in the order of offsets; another error
// is the disk's. The Summary counts up to there.
func Verify(files Files, dir string, o Options) (Summary, error) {
	w := &walk{opts: o}
	names, err := files.List(dir)
	if err == nil {
		err = w.directory(files, dir, names)
	}
	return w.sum, err
}

// VerifyReplica checks one replica of a log directory, by what the files of the log
// directory tell of it.
func VerifyReplica(files Files, dir, name string, o Options) (Summary, error) {
	w := &walk{opts: o}
	names, err := files.List(dir)
	if err == nil {
		err = w.one(files, dir, name, names)
	}
	return w.sum, err
}

func (w *walk) one(files Files, dir, name string, names []string) error {
	d, err := w.openDirectory(files, dir, names)
	if err != nil {
		return err
	}
	if err := w.replica(d, name); err != nil {
		return err
	}
	tp, _ := ReplicaOf(name)
	return d.checkPartition(w, tp)
}

// directory checks what is in a directory, which may be a replica's too.
func (w *walk) directory(files Files, dir string, names []string) error {
	if isReplica(names) {
		return w.replica(&logDir{files: files, dir: ""}, dir)
	}
	d, err := w.openDirectory(files, dir, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		sub, ok := strings.CutSuffix(name, "/")
		if !ok {
			continue
		}
		if err := w.sub(d, sub); err != nil {
			return err
		}
	}
	return d.check(w)
}

// sub checks a directory in a log directory.
func (w *walk) sub(d *logDir, name string) error {
	path := join(d.dir, name)
	if setAside(name) {
		w.note(path, "set aside, not checked")
		return nil
	}
	names, err := d.files.List(path)
	if err != nil {
		return err
	}
	if _, ok := ReplicaOf(name); ok && (isReplica(names) || !isLogDir(names)) {
		return w.replica(d, name)
	}
	return w.directory(d.files, path, names)
}

func isReplica(names []string) bool {
	return len(bases(names, logSuffix)) > 0 || has(names, idFile)
}

func isLogDir(names []string) bool {
	return has(names, metaFile) || has(names, recoverFile)
}

// logDir is a log directory's own files.
type logDir struct {
	files       Files
	dir         string
	clean       bool
	checkpoints map[string]*offsetCheckpoint
	topics      map[string]kafka.UUID // of the replicas so far
	ends        map[kafka.TopicPartition]kafka.Offset
}

// openDirectory reads and checks the files at the top of a log directory.
func (w *walk) openDirectory(files Files, dir string, names []string) (*logDir, error) {
	d := &logDir{files: files, dir: dir, checkpoints: map[string]*offsetCheckpoint{}, topics: map[string]kafka.UUID{},
		ends: map[kafka.TopicPartition]kafka.Offset{}}
	w.clean = false
	t, ok, err := readText(files, join(dir, metaFile))
	if err == nil && ok {
		w.sum.Directories++
		err = t.identity()
	}
	if err != nil {
		return nil, err
	}
	t, d.clean, err = readText(files, join(dir, markerFile))
	if err == nil && d.clean && t.src.size > 0 { // of releases before 3.7 it is empty
		err = t.object("version", 1)
	}
	if err != nil {
		return nil, err
	}
	w.clean = d.clean
	for _, name := range offsetCheckpoints {
		if d.checkpoints[name], err = readOffsets(files, join(dir, name)); err != nil {
			return nil, err
		}
	}
	return d, w.bootstrap(d, names)
}

// bootstrap checks the first records of the metadata log, which the format tool
// leaves beside it.
func (w *walk) bootstrap(d *logDir, names []string) error {
	if !has(names, "bootstrap.checkpoint") {
		return nil
	}
	return w.metadataSnapshot(d.files, join(d.dir, "bootstrap.checkpoint"))
}

// entry is the log's entry in one of the checkpoints; not ok: none.
func (d *logDir) entry(name string, tp kafka.TopicPartition) (src *source, e offsetEntry, ok bool) {
	c := d.checkpoints[name]
	if c == nil {
		return nil, offsetEntry{}, false
	}
	e, ok = c.of(tp)
	return c.src, e, ok
}

// check compares the checkpoints with the logs, once all were walked.
func (d *logDir) check(w *walk) error {
	w.clean = d.clean
	for _, name := range offsetCheckpoints {
		c := d.checkpoints[name]
		for _, e := range c.entries {
			end, ok := d.ends[e.tp]
			if !ok {
				w.note(c.src.path, e.tp.String()+" has no log here")
				continue
			}
			if err := c.check(w, name, e, end); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPartition does so for one log.
func (d *logDir) checkPartition(w *walk, tp kafka.TopicPartition) error {
	w.clean = d.clean
	for _, name := range offsetCheckpoints {
		c := d.checkpoints[name]
		e, ok := c.of(tp)
		if !ok {
			continue
		}
		if err := c.check(w, name, e, d.ends[tp]); err != nil {
			return err
		}
	}
	return nil
}

// check compares an entry with the log end. The high watermark is a hint, which a
// follower's truncation makes stale; a clean stop flushes everything.
func (c *offsetCheckpoint) check(w *walk, name string, e offsetEntry, end kafka.Offset) error {
	switch {
	case e.offset > end && name == hwFile:
		return w.mended(c.src.fault(e.pos, "offset %d of %v lies behind its log end %d", e.offset, e.tp, end))
	case e.offset > end:
		return c.src.fault(e.pos, "offset %d of %v lies behind its log end %d", e.offset, e.tp, end)
	case e.offset < end && name == recoverFile && w.clean:
		return c.src.fault(e.pos, "recovery point %d of %v lies before its log end %d, though it was stopped cleanly", e.offset, e.tp, end)
	}
	return nil
}
