package inspect

import (
	"errors"
	"math"
	"strings"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// Options are what a directory does not tell.
type Options struct {
	// Now is the wall clock, ms: a producer that was silent for
	// ProducerExpirationMs (producer.id.expiration.ms; 0 is for ever) by then may be
	// missing in a snapshot.
	Now                  kafka.Timestamp
	ProducerExpirationMs int64
	// Again, if any, is called before something is looked at for the second time
	// (try 1), the third and so on, because a broker may be changing it: it may wait.
	Again func(try int)
}

func (o Options) again(try int) {
	if o.Again != nil {
		o.Again(try)
	}
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
//
// A broker may be at work in it: each replica is judged as it is at one moment, one
// that goes meanwhile is a note. The error wraps ErrChanging if a directory never
// holds still.
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
	d, err := w.openDirectory(files, dir)
	if err == nil {
		err = w.replica(d, name)
	}
	if err == nil {
		tp, _ := ReplicaOf(name)
		err = d.check(w, &tp)
	}
	return w.sum, err
}

// directory checks what is in a directory, which may be a replica's too.
func (w *walk) directory(files Files, dir string, names []string) error {
	if isReplica(names) {
		return w.replica(&logDir{files: files, alone: true}, dir)
	}
	d, err := w.openDirectory(files, dir)
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
	return d.check(w, nil)
}

// sub checks a directory in a log directory.
func (w *walk) sub(d *logDir, name string) error {
	path := join(d.dir, name)
	if setAside(name) {
		w.note(path, "set aside, not checked")
		return nil
	}
	names, err := d.files.List(path)
	if err == nil {
		if _, ok := ReplicaOf(name); ok && (isReplica(names) || !isLogDir(names)) {
			err = w.replica(d, name)
		} else {
			err = w.directory(d.files, path, names)
		}
	}
	if errors.Is(err, disk.ErrNotExist) {
		w.note(path, "went while the directory was read, not checked")
		return nil
	}
	return err
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
	alone       bool // it has no files, as one replica is looked at
	clean       bool
	checkpoints map[string]*offsetCheckpoint
	topics      map[string]identified // of the replicas so far
	ends        map[kafka.TopicPartition]kafka.Offset
}

// openDirectory reads and checks the files at the top of a log directory.
func (w *walk) openDirectory(files Files, dir string) (*logDir, error) {
	d := &logDir{files: files, dir: dir, topics: map[string]identified{}, ends: map[kafka.TopicPartition]kafka.Offset{}}
	err := w.steady(dir, func(int) (*pin, error) {
		w.clean = false
		t, ok, err := readText(files, join(dir, metaFile))
		if err == nil && ok {
			w.sum.Directories++
			err = t.identity()
		}
		if err == nil {
			err = d.read(w)
		}
		if err == nil {
			err = w.bootstrap(d)
		}
		return nil, err
	})
	return d, err
}

// read reads what a broker writes to the top of a log directory again and again.
func (d *logDir) read(w *walk) error {
	if d.alone {
		return nil
	}
	t, clean, err := readText(d.files, join(d.dir, markerFile))
	if err == nil && clean {
		err = t.readable(markerFile)
	}
	if err != nil {
		return err
	}
	d.clean, w.clean = clean, clean
	checkpoints := map[string]*offsetCheckpoint{}
	for _, name := range offsetCheckpoints {
		if checkpoints[name], err = readOffsets(d.files, join(d.dir, name)); err != nil {
			return err
		}
	}
	d.checkpoints = checkpoints
	return nil
}

// bootstrap checks the first records of the metadata log, which the format tool
// leaves beside it.
func (w *walk) bootstrap(d *logDir) error {
	err := w.metadataSnapshot(d.files, join(d.dir, "bootstrap.checkpoint"))
	if errors.Is(err, disk.ErrNotExist) {
		return nil
	}
	return err
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

// check compares the checkpoints with the logs, once all were walked, or with the
// only one that was. Before it believes what it finds it reads both again: a topic
// may have been deleted and created anew since.
func (d *logDir) check(w *walk, only *kafka.TopicPartition) error {
	var wrong kafka.TopicPartition
	return w.steady(d.dir, func(before int) (*pin, error) {
		if before > 0 {
			if err := d.again(w, wrong); err != nil {
				return nil, err
			}
		}
		w.clean = d.clean
		for _, name := range offsetCheckpoints {
			for _, e := range d.checkpoints[name].entries {
				if only != nil && e.tp != *only {
					continue
				}
				if err := d.entryFits(w, name, e); err != nil {
					wrong = e.tp
					return nil, err
				}
			}
		}
		return nil, nil
	})
}

// again reads the checkpoints and one replica anew.
func (d *logDir) again(w *walk, tp kafka.TopicPartition) error {
	if err := d.read(w); err != nil {
		return err
	}
	delete(d.ends, tp)
	sum := w.sum
	err := w.replica(d, tp.String())
	w.sum = sum
	if errors.Is(err, disk.ErrNotExist) {
		return nil
	}
	return err
}

// entryFits compares an entry of a checkpoint with the log.
func (d *logDir) entryFits(w *walk, name string, e offsetEntry) error {
	c := d.checkpoints[name]
	if end, ok := d.ends[e.tp]; ok {
		return c.check(w, name, e, end)
	}
	if _, err := d.files.List(join(d.dir, e.tp.String())); errors.Is(err, disk.ErrNotExist) {
		w.note(c.src.path, e.tp.String()+" has no log here")
	}
	return nil
}

// check compares an entry with the log end. A truncation makes entries stale that a kill
// keeps from being written again: the next start takes the log end then. A clean stop
// flushes everything.
func (c *offsetCheckpoint) check(w *walk, name string, e offsetEntry, end kafka.Offset) error {
	switch {
	case e.offset > end:
		return w.mended(c.src.fault(e.pos, "offset %d of %v lies behind its log end %d", e.offset, e.tp, end))
	case e.offset < end && name == recoverFile && w.clean:
		return c.src.fault(e.pos, "recovery point %d of %v lies before its log end %d, though it was stopped cleanly", e.offset, e.tp, end)
	}
	return nil
}
