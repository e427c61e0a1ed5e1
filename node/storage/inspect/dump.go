package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tidemark/model/kafka"
)

// DumpOptions say what of a log to print.
type DumpOptions struct {
	DeepIteration      bool        // the records too
	PrintData          bool        // and their keys and values
	SkipRecordMetadata bool        // only these
	Metadata           bool        // values are metadata records
	Coordinator        Coordinator // keys and values are its records
	MaxBytes           int64       // of a log, from its start; 0 is all of it
	// Again, if any, is called before a file is looked at for the second time (try 1),
	// the third and so on, because a broker may be writing it: it may wait.
	Again func(try int)
}

func (o DumpOptions) again(try int) {
	if o.Again != nil {
		o.Again(try)
	}
}

// ErrNotAFile is wrapped by Dump's error for a name that no log directory has.
var ErrNotAFile = errors.New("no file of a log directory")

// Dump gives every entry of one file of a log directory to emit, whose error ends
// it. A Fault is the first byte that cannot be read; a batch with a wrong CRC is
// dumped as not valid. A file that a broker appends to, or cuts, ends where it ends
// when its end is reached. The error wraps disk.ErrNotExist if there is no such file
// any more.
func Dump(files Files, path string, o DumpOptions, emit func(Entry) error) error {
	name := baseName(path)
	for _, suffix := range []string{".deleted", ".cleaned", ".swap", ".part"} {
		name = strings.TrimSuffix(name, suffix)
	}
	for try := 1; ; try++ {
		s, err := open(files, path)
		if err != nil {
			return err
		}
		emitted := false
		err = dump(s, name, o, func(e Entry) error {
			emitted = true
			return emit(e)
		})
		s.close()
		if emitted || try == tries || !isTorn(err) { // one that was just made may have no bytes yet
			return err
		}
		o.again(try)
	}
}

// Dumpable tells whether Dump knows a file by its name.
func Dumpable(name string) bool { return dumper(name) != nil }

type dumpFunc func(s *source, name string, o DumpOptions, emit func(Entry) error) error

func dump(s *source, name string, o DumpOptions, emit func(Entry) error) error {
	f := dumper(name)
	if f == nil {
		return fmt.Errorf("%s: %w", s.path, ErrNotAFile)
	}
	return f(s, name, o, emit)
}

func dumper(name string) dumpFunc {
	switch name {
	case epochFile:
		return dumpEpochs
	case recoverFile, startFile, hwFile, cleanerFile:
		return dumpOffsets
	case idFile, metaFile, quorumFile, markerFile:
		return dumpProperties
	}
	for _, k := range []struct {
		suffix string
		dump   dumpFunc
	}{{logSuffix, dumpLog}, {checkpointSuffix, dumpLog}, {indexSuffix, dumpOffsetIndex}, {timeSuffix, dumpTimeIndex},
		{txnSuffix, dumpTxnIndex}, {snapshotSuffix, dumpSnapshot}} {
		if strings.HasSuffix(name, k.suffix) {
			return k.dump
		}
	}
	return nil
}

func dumpOffsetIndex(s *source, name string, _ DumpOptions, emit func(Entry) error) error {
	base, _ := parseBase(name, indexSuffix)
	return s.eachEntry(offsetEntrySize, func(b []byte) error {
		last, pos := parseOffsetEntry(b, base)
		return emit(Entry{"offsetIndex", []Field{{"offset", int64(last)}, {"position", pos}}})
	})
}

func dumpTimeIndex(s *source, name string, _ DumpOptions, emit func(Entry) error) error {
	base, _ := parseBase(name, timeSuffix)
	return s.eachEntry(timeEntrySize, func(b []byte) error {
		t, o := parseTimeEntry(b, base)
		return emit(Entry{"timeIndex", []Field{{"timestamp", int64(t)}, {"offset", int64(o)}}})
	})
}

func dumpTxnIndex(s *source, _ string, _ DumpOptions, emit func(Entry) error) error {
	return s.eachEntry(txnEntrySize, func(b []byte) error {
		a := parseAborted(b)
		return emit(Entry{"abortedTxn", []Field{{"version", int64(a.version)}, {"producerId", int64(a.id)}, {"firstOffset", int64(a.first)},
			{"lastOffset", int64(a.last)}, {"lastStableOffset", int64(a.lastStable)}}})
	})
}

// eachEntry gives the entries of an index file up to the zeros at the end of a
// preallocated one.
func (s *source) eachEntry(size int64, each func(b []byte) error) error {
	e := &entries{source: s, entry: size}
	for e.pos+size <= s.size {
		b, err := e.settled()
		switch {
		case s.wasCut(err, e.pos):
			continue
		case err != nil || b == nil:
			return err
		}
		if err := each(b); err != nil {
			return err
		}
		e.pos += size
	}
	if e.pos < s.size {
		return s.fault(e.pos, "the file ends %d bytes into an entry of %d bytes", s.size-e.pos, size)
	}
	return nil
}

func dumpSnapshot(s *source, _ string, _ DumpOptions, emit func(Entry) error) error {
	x := &snapshot{source: s}
	if err := x.check(); err != nil {
		return err
	}
	for i := range x.count {
		p, _, err := x.at(i)
		if err != nil {
			return err
		}
		fields := []Field{{"producerId", int64(p.id)}, {"producerEpoch", int64(p.epoch)}, {"coordinatorEpoch", int64(p.coordinatorEpoch)},
			{"currentTxnFirstOffset", Optional{int64(p.open), p.open != kafka.NoOffset}}, {"lastTimestamp", int64(p.timestamp)}}
		if p.lastOffset >= 0 {
			fields = append(fields, Field{"firstSequence", int64(p.lastSequence.Add(-p.delta))}, Field{"lastSequence", int64(p.lastSequence)},
				Field{"lastOffset", int64(p.lastOffset)}, Field{"offsetDelta", int64(p.delta)}, Field{"timestamp", int64(p.timestamp)})
		}
		if err := emit(Entry{"producer", fields}); err != nil {
			return err
		}
	}
	return nil
}

func dumpEpochs(s *source, _ string, _ DumpOptions, emit func(Entry) error) error {
	t, err := s.whole()
	if err != nil {
		return err
	}
	lines, err := t.checkpoint()
	if err != nil {
		return err
	}
	x := &epochs{src: s}
	for _, l := range lines {
		if err := x.add(l); err != nil {
			return err
		}
		e := x.entries[len(x.entries)-1]
		if err := emit(Entry{"epoch", []Field{{"epoch", int64(e.epoch)}, {"startOffset", int64(e.start)}}}); err != nil {
			return err
		}
	}
	return nil
}

func dumpOffsets(s *source, _ string, _ DumpOptions, emit func(Entry) error) error {
	t, err := s.whole()
	if err != nil {
		return err
	}
	lines, err := t.checkpoint()
	if err != nil {
		return err
	}
	c := &offsetCheckpoint{src: s, byTP: map[kafka.TopicPartition]int{}}
	for _, l := range lines {
		if err := c.add(l); err != nil {
			return err
		}
		e := c.entries[len(c.entries)-1]
		if err := emit(Entry{"offset", []Field{{"topic", e.tp.Topic}, {"partition", int64(e.tp.Partition)}, {"offset", int64(e.offset)}}}); err != nil {
			return err
		}
	}
	return nil
}

// dumpProperties prints the small files of lines or JSON, line by line.
func dumpProperties(s *source, name string, _ DumpOptions, emit func(Entry) error) error {
	t, err := s.whole()
	if err != nil {
		return err
	}
	for _, l := range t.lines() {
		if strings.HasPrefix(l.text, "#") {
			continue
		}
		field := Field{"line", l.text}
		switch k, v, ok := cutProperty(l.text); {
		case json.Valid([]byte(l.text)):
			field = Field{strings.TrimPrefix(name, "."), JSON(l.text)}
		case ok:
			field = Field{k, v}
		}
		if err := emit(Entry{"property", []Field{field}}); err != nil {
			return err
		}
	}
	return t.readable(name)
}

// readable tells what Verify says of a text file by itself.
func (t text) readable(name string) error {
	switch {
	case name == idFile:
		_, err := t.topicID()
		return err
	case name == metaFile:
		return t.identity()
	case name == quorumFile:
		return t.object("data_version", quorumMembers...)
	case name == markerFile && t.src.size > 0: // of releases before 3.7 it is empty
		return t.object("version", nil)
	}
	return nil
}

// cutProperty reads key=value, or key: value as partition.metadata has it.
func cutProperty(text string) (key, value string, ok bool) {
	if key, value, ok = strings.Cut(text, "="); ok {
		return key, value, ok
	}
	return strings.Cut(text, ": ")
}
