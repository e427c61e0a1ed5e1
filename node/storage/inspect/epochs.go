package inspect

import (
	"strconv"
	"strings"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// epochs is the cursor in a leader-epoch-checkpoint: an entry must begin where the
// epoch in the batches changes.
type epochs struct {
	src     *source
	entries []epochEntry
	i       int          // entries before it begin at or below the last batch
	root    kafka.Offset // the first entry begins there at the latest; noLimit if that is not known
	start   kafka.Offset // the log start, as far as it is known
	stale   bool         // a difference was told of
}

type epochEntry struct {
	pos   int64 // of its line
	epoch kafka.LeaderEpoch
	start kafka.Offset
}

// readEpochs reads the file; a missing one has no entries.
func readEpochs(files Files, path string) (*epochs, error) {
	t, ok, err := readText(files, path)
	if err != nil {
		return nil, err
	}
	x := &epochs{src: t.src}
	if !ok {
		x.src = &source{path: path}
		return x, nil
	}
	lines, err := t.checkpoint()
	for _, l := range lines {
		if err != nil {
			break
		}
		err = x.add(l)
	}
	return x, err
}

func (x *epochs) add(l line) error {
	epoch, start, _ := strings.Cut(l.text, " ")
	e, errE := strconv.ParseInt(epoch, 10, 32)
	o, errO := strconv.ParseInt(start, 10, 64)
	if errE != nil || errO != nil || e < 0 || o < 0 {
		return x.src.fault(l.pos, "the line is %q, want an epoch and its start offset", l.text)
	}
	if n := len(x.entries); n > 0 {
		if before := x.entries[n-1]; int64(before.epoch) >= e || int64(before.start) >= o {
			return x.src.fault(l.pos, "epoch %d from offset %d does not follow epoch %d from offset %d", e, o, before.epoch, before.start)
		}
	}
	x.entries = append(x.entries, epochEntry{l.pos, kafka.LeaderEpoch(e), kafka.Offset(o)})
	return nil
}

// see compares a batch with the entries. In the file of a process that was killed,
// what lies from the recovery point on is corrected by the next start, and is told
// once; those below the log start go with it.
func (x *epochs) see(w *walk, b record.Batch, pos int64, recovery kafka.Offset) error {
	if x.stale {
		return nil
	}
	if err := x.late(b); err != nil {
		return err
	}
	err := x.compare(b, pos)
	if err == nil || w.clean || b.BaseOffset() < recovery && !x.emptied() {
		return err
	}
	x.stale = true
	return w.mended(err)
}

// emptied tells that the file was written when the log start was the log end. The log start
// in its checkpoint may be behind then, as it may be behind a first entry.
func (x *epochs) emptied() bool { return len(x.entries) == 0 && x.src.size > 0 }

func (x *epochs) compare(b record.Batch, pos int64) error {
	for x.i < len(x.entries) && x.entries[x.i].start <= b.BaseOffset() {
		x.i++
	}
	switch {
	case b.LeaderEpoch() == kafka.NoEpoch:
		return nil
	case len(x.entries) == 0 && b.LastOffset() < x.start:
		return nil // entries go with the log start, and a start drops that of an empty log
	case len(x.entries) == 0:
		return x.src.fault(x.src.size, "no entry for epoch %d, which begins at offset %d%s", b.LeaderEpoch(), b.BaseOffset(), orEpoch(pos))
	case x.i == 0:
		return x.below(b, pos)
	}
	if x.i < len(x.entries) && x.entries[x.i].start <= b.LastOffset() {
		e := x.entries[x.i]
		return x.src.fault(e.pos, "epoch %d begins at offset %d, inside the batch of offsets %d to %d%s", e.epoch, e.start, b.BaseOffset(), b.LastOffset(), orBase(pos))
	}
	if e := x.entries[x.i-1]; e.epoch != b.LeaderEpoch() {
		return x.src.fault(e.pos, "the entry is for epoch %d from offset %d, but the batch at offset %d has epoch %d%s", e.epoch, e.start, b.BaseOffset(), b.LeaderEpoch(), orEpoch(pos))
	}
	return nil
}

// late tells that the first entry begins too late: it moves with the log start alone, and
// a kill does not take it away.
func (x *epochs) late(b record.Batch) error {
	if len(x.entries) == 0 || b.LeaderEpoch() < 0 || b.BaseOffset() >= x.entries[0].start || x.entries[0].start <= x.root {
		return nil
	}
	return x.src.fault(x.entries[0].pos, "the first entry begins at offset %d, but the log starts at %d", x.entries[0].start, min(x.root, b.BaseOffset()))
}

// below compares a batch that begins before the first entry.
func (x *epochs) below(b record.Batch, pos int64) error {
	first := x.entries[0]
	if b.LeaderEpoch() > first.epoch || b.LastOffset() >= first.start && b.LeaderEpoch() != first.epoch {
		return x.src.fault(first.pos, "the first entry is for epoch %d from offset %d, but the batch at offset %d has epoch %d%s", first.epoch, first.start, b.BaseOffset(), b.LeaderEpoch(), orEpoch(pos))
	}
	return nil
}

// logStart is the least offset that the log can start at by what the file tells.
func (x *epochs) logStart() kafka.Offset {
	if len(x.entries) == 0 {
		return 0
	}
	return x.entries[0].start
}

// end is asked behind the last batch: a leader notes its epoch before the first
// batch of it, at the log end.
func (x *epochs) end(w *walk, logEnd kafka.Offset) error {
	for _, e := range x.entries[x.i:] {
		if e.start > logEnd && !x.stale {
			return w.mended(x.src.fault(e.pos, "epoch %d begins at offset %d, behind the log end %d", e.epoch, e.start, logEnd))
		}
	}
	return nil
}
