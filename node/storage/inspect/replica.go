package inspect

import (
	"slices"
	"strings"

	"tidemark/model/kafka"
)

// replica is one log that is walked.
type replica struct {
	*walk
	files     Files
	path      string
	metadata  bool         // the metadata log
	told      kafka.Offset // the log start by its checkpoint
	start     kafka.Offset // the log start, as far as it is known
	first     kafka.Offset // base of the first segment
	recovery  kafka.Offset // the recovery point, as far as it is known
	walks     kafka.Offset // base of the segment from which on a start that is not clean walks
	chain     chain
	producers *producers
	epochs    *epochs
	snapshots []kafka.Offset // not compared yet
	growing   bool           // the active segment is longer by now than it was when it was opened
}

// replica checks the directory of one replica. The error wraps disk.ErrNotExist if
// there is none any more.
func (w *walk) replica(d *logDir, name string) error {
	path := join(d.dir, name)
	return w.steady(path, func(before int) (*pin, error) {
		if before > 0 {
			if err := d.read(w); err != nil {
				return nil, err
			}
		}
		p, err := pinReplica(d.files, path)
		if err == nil {
			err = w.pinned(d, p, name)
		}
		return p, err
	})
}

// pinned checks a replica as a pin holds it.
func (w *walk) pinned(d *logDir, p *pin, name string) (err error) {
	path, names := p.dir, p.names
	w.sum.Replicas++
	tp, named := ReplicaOf(baseName(name))
	w.clean = d.clean && tp.Topic != metadataLog // which the marker does not tell of
	r := &replica{walk: w, files: p, path: path, metadata: named && tp.Topic == metadataLog, chain: chain{epoch: kafka.NoEpoch},
		producers: newProducers(), snapshots: bases(names, snapshotSuffix)}
	if _, e, ok := d.entry(startFile, tp); ok {
		r.told = e.offset
	}
	_, e, flushed := d.entry(recoverFile, tp)
	if flushed {
		r.recovery = e.offset
	}
	if err := r.identify(d, tp, names); err != nil {
		return err
	}
	if r.epochs, err = readEpochs(p, join(path, epochFile)); err != nil {
		return err
	}
	if r.start = r.told; !r.clean {
		r.start = max(r.told, r.epochs.logStart())
	}
	if err := r.segments(names); err != nil {
		return err
	}
	if err := r.strange(names); err != nil {
		return err
	}
	if named && r.clean && !flushed && has(names, idFile) { // without one it is no broker's
		return d.checkpoints[recoverFile].missing(tp)
	}
	if named && d.ends != nil {
		d.ends[tp] = r.chain.next
	}
	return nil
}

// identify checks whose directory it is.
func (r *replica) identify(d *logDir, tp kafka.TopicPartition, names []string) error {
	t, ok, err := readText(r.files, join(r.path, idFile))
	if err != nil {
		return err
	}
	if !ok {
		r.note(r.path, "no "+idFile+": a broker would set it aside as stray")
		return nil
	}
	id, err := t.topicID()
	if err != nil {
		return err
	}
	if known, ok := d.topics[tp.Topic]; ok && known.id != id && known.still(d.files) {
		return t.src.fault(0, "topic id is %v, that of another partition of %s is %v", id, tp.Topic, known.id)
	}
	if d.topics != nil {
		d.topics[tp.Topic] = identified{id, t.src.path}
	}
	if !has(names, quorumFile) {
		return nil
	}
	if t, _, err = readText(r.files, join(r.path, quorumFile)); err != nil {
		return err
	}
	return t.readable(quorumFile)
}

// identified is the topic id that the file at path told.
type identified struct {
	id   kafka.UUID
	path string
}

// still tells whether it does so now: the topic may have been deleted meanwhile, and
// created anew.
func (k identified) still(files Files) bool {
	t, ok, err := readText(files, k.path)
	if !ok || err != nil {
		return false
	}
	id, err := t.topicID()
	return err == nil && id == k.id
}

// segments walks the log.
func (r *replica) segments(names []string) error {
	all := bases(names, logSuffix)
	if err := r.begin(all, names); err != nil {
		return err
	}
	for _, base := range all {
		if base <= r.recovery { // one behind the log end counts as the log end
			r.walks = base
		}
	}
	r.epochs.root, r.epochs.start = r.root(names), r.start
	if r.metadata {
		r.epochs.start = r.epochs.root
	}
	for i, base := range all {
		limit := noLimit
		if i+1 < len(all) {
			limit = all[i+1]
		}
		err := r.segment(names, base, limit)
		if err != nil && limit <= r.told { // nothing below the log start is recovered, or read
			err = r.mended(err)
			r.producers.partial = true
		}
		if err != nil {
			return err
		}
	}
	if r.growing { // what tells of offsets behind the end is of batches that came since
		return r.snapshotsBelow(r.chain.next + 1)
	}
	if err := r.producers.settle(nil); err != nil {
		return err
	}
	if err := r.snapshotsBelow(r.chain.next + 1); err != nil {
		return err
	}
	for _, o := range r.snapshots {
		s := &source{path: r.file(o, snapshotSuffix)}
		if err := r.mended(s.fault(0, "offset %d lies behind the log end %d", o, r.chain.next)); err != nil {
			return err
		}
	}
	return r.epochs.end(r.walk, r.chain.next)
}

// root is the greatest offset at which the epoch file may begin: the log start. After a
// kill its checkpoint may be behind, so nothing is known. Of the metadata log there is no
// checkpoint, but its start moves to the end offsets of snapshots alone.
func (r *replica) root(names []string) kafka.Offset {
	switch {
	case r.metadata:
		root := r.first
		for _, name := range names {
			if end, ok := snapshotEnd(name); ok {
				root = max(root, end)
			}
		}
		return root
	case r.clean:
		return max(r.told, r.first)
	}
	return noLimit
}

// begin starts the replay of the producers: from nothing at offset 0, else from
// the snapshot at the first segment, if it is there.
func (r *replica) begin(all []kafka.Offset, names []string) error {
	if len(all) == 0 || all[0] == 0 {
		return nil
	}
	first := all[0]
	r.first, r.chain.next = first, first
	r.snapshots = slices.DeleteFunc(r.snapshots, func(o kafka.Offset) bool { return o < first })
	r.producers.partial = true
	if !has(names, segmentName(first, snapshotSuffix)) {
		return nil
	}
	x, err := openSnapshot(r.files, r.file(first, snapshotSuffix))
	if isTorn(err) {
		return nil // as if it were missing; snapshotsBelow judges it
	}
	if err != nil {
		return err
	}
	err = r.producers.seed(x)
	x.close()
	r.producers.partial = false
	return err
}

func (r *replica) file(base kafka.Offset, suffix string) string {
	return join(r.path, segmentName(base, suffix))
}

// snapshotsBelow compares the snapshots of offsets below o, all batches before
// which were replayed.
func (r *replica) snapshotsBelow(o kafka.Offset) error {
	for len(r.snapshots) > 0 && r.snapshots[0] < o {
		path := r.file(r.snapshots[0], snapshotSuffix)
		x, err := openSnapshot(r.files, path)
		if isTorn(err) && (len(r.snapshots) == 1 || r.snapshots[0] >= r.walks) { // a start throws it away
			r.snapshots = r.snapshots[1:]
			if err = r.mended(err); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		err = r.producers.compare(x, r.start, r.opts.horizon())
		x.close()
		if err != nil && !r.metadata && r.snapshots[0] > r.walks { // a start writes it anew
			err = r.mended(err)
		}
		if err != nil {
			return err
		}
		r.sum.Snapshots++
		r.snapshots = r.snapshots[1:]
	}
	return nil
}

// strange looks at the files that belong to no segment.
func (r *replica) strange(names []string) error {
	for _, name := range names {
		path := join(r.path, name)
		switch {
		case strings.HasSuffix(name, checkpointSuffix):
			if err := r.metadataSnapshot(r.files, path); err != nil {
				return err
			}
		case strings.HasSuffix(name, ".deleted"), strings.HasSuffix(name, ".cleaned"), strings.HasSuffix(name, swapSuffix),
			strings.HasSuffix(name, ".tmp"), strings.HasSuffix(name, ".part"):
			r.note(path, "left behind, not checked")
		case r.orphan(names, name):
			s := &source{path: path}
			if err := r.mended(s.fault(0, "no .log file belongs to it")); err != nil {
				return err
			}
		}
	}
	return nil
}

// orphan tells whether a file is an index whose segment is not there.
func (r *replica) orphan(names []string, name string) bool {
	for _, suffix := range []string{indexSuffix, timeSuffix, txnSuffix} {
		if base, ok := parseBase(name, suffix); ok {
			return !has(names, segmentName(base, logSuffix))
		}
	}
	return false
}

// MarshalText implements encoding.TextMarshaler.
func (n Note) MarshalText() ([]byte, error) { return []byte(n.String()), nil }
