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
	i       int  // entries before it begin at or below the last batch
	stale   bool // a difference was told of
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
func (x *epochs) see(w *walk, b record.Batch, start, recovery kafka.Offset) error {
	if x.stale {
		return nil
	}
	err := x.compare(w, b, start)
	if err == nil || w.clean || b.BaseOffset() < recovery {
		return err
	}
	x.stale = true
	return w.mended(err)
}

func (x *epochs) compare(w *walk, b record.Batch, start kafka.Offset) error {
	for x.i < len(x.entries) && x.entries[x.i].start <= b.BaseOffset() {
		x.i++
	}
	switch {
	case b.LeaderEpoch() == kafka.NoEpoch:
		return nil
	case len(x.entries) == 0:
		return x.src.fault(x.src.size, "no entry for epoch %d, which begins at offset %d", b.LeaderEpoch(), b.BaseOffset())
	case x.i == 0:
		return x.below(w, b, start)
	}
	if x.i < len(x.entries) && x.entries[x.i].start <= b.LastOffset() {
		e := x.entries[x.i]
		return x.src.fault(e.pos, "epoch %d begins at offset %d, inside the batch of offsets %d to %d", e.epoch, e.start, b.BaseOffset(), b.LastOffset())
	}
	if e := x.entries[x.i-1]; e.epoch != b.LeaderEpoch() {
		return x.src.fault(e.pos, "the entry is for epoch %d from offset %d, but the batch at offset %d has epoch %d", e.epoch, e.start, b.BaseOffset(), b.LeaderEpoch())
	}
	return nil
}

// below compares a batch that begins before the first entry, which moves with the
// log start; the checkpoint that tells the log start is behind until a clean stop.
func (x *epochs) below(w *walk, b record.Batch, start kafka.Offset) error {
	first := x.entries[0]
	if b.LeaderEpoch() > first.epoch || b.LastOffset() >= first.start && b.LeaderEpoch() != first.epoch {
		return x.src.fault(first.pos, "the first entry is for epoch %d from offset %d, but the batch at offset %d has epoch %d", first.epoch, first.start, b.BaseOffset(), b.LeaderEpoch())
	}
	if first.start > start && w.clean {
		return x.src.fault(first.pos, "the first entry begins at offset %d, but the log starts at %d", first.start, start)
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
