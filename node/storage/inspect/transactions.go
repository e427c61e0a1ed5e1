package inspect

import (
	"encoding/binary"
	"errors"
	"strconv"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// txnEntrySize is the size in bytes of an entry of a .txnindex file: version
// int16, producer id, first offset, last offset (of the marker), last stable
// offset, int64 each.
const txnEntrySize = 34

// aborted is such an entry: a transaction that was aborted.
type aborted struct {
	version     int16
	id          kafka.ProducerID
	first, last kafka.Offset
	lastStable  kafka.Offset
}

func parseAborted(b []byte) aborted {
	at := func(i int) kafka.Offset { return kafka.Offset(binary.BigEndian.Uint64(b[i:])) }
	return aborted{int16(binary.BigEndian.Uint16(b)), kafka.ProducerID(at(2)), at(10), at(18), at(26)}
}

// txnIndex is the cursor in the .txnindex file of a segment, which may have none.
type txnIndex struct {
	*entries // nil without a file
	path     string
	behind   bool // it was told that the file ends too early
}

// abort checks the entry of the abort marker at offset last, which ended the
// transaction that began at first, NoOffset if no batch of it is there.
func (x *txnIndex) abort(w *walk, p *producers, id kafka.ProducerID, first, last, start kafka.Offset) error {
	e, ok, err := x.peek()
	if err != nil {
		return err
	}
	if !ok || e.last > last {
		if first != kafka.NoOffset && first >= start {
			return x.missing(id, first, last, !ok)
		}
		return nil
	}
	if e.last < last {
		return x.fault(x.pos, "no abort marker at offset %d", e.last)
	}
	stable := p.firstOpen()
	if stable == kafka.NoOffset {
		stable = last + 1
	}
	switch known := !p.partial && first != kafka.NoOffset && first >= start; {
	case e.version != 0:
		return x.fault(x.pos, "version is %d, want 0", e.version)
	case e.id != id:
		return x.fault(x.pos+2, "producer id is %d, the abort marker at offset %d is of %d", e.id, last, id)
	case known && e.first != first, e.first > last, first != kafka.NoOffset && first >= start && e.first > first:
		return x.fault(x.pos+10, "first offset is %d, the transaction that ends at offset %d begins at %d", e.first, last, first)
	case first == kafka.NoOffset && !p.partial && e.first >= start: // likewise a snapshot behind a reload
		return x.fault(x.pos, "the abort marker at offset %d ends no transaction", last)
	case known && e.lastStable != stable && stable >= start: // a reload forgets what began before the log start
		wrong := x.fault(x.pos+26, "last stable offset is %d, the batches give %d", e.lastStable, stable)
		if stable != last+1 || e.lastStable < stable {
			return wrong
		}
		p.later = append(p.later, later{e.lastStable, id, wrong})
	}
	x.next(w)
	return nil
}

// missing is the fault of an aborted transaction without an entry: its records
// would be read as committed ones. It is torn if the file ends before it.
func (x *txnIndex) missing(id kafka.ProducerID, first, last kafka.Offset, torn bool) error {
	pos := int64(0)
	if x.entries != nil {
		pos = x.pos
	}
	return &Fault{File: x.path, Position: pos, torn: torn, Reason: "no entry for the transaction of producer " + decimal(int64(id)) + " that begins at offset " +
		decimal(int64(first)) + " and is aborted at " + decimal(int64(last))}
}

// peek returns the current entry; not ok at the end.
func (x *txnIndex) peek() (aborted, bool, error) {
	if x.entries == nil {
		return aborted{}, false, nil
	}
	b, err := x.current()
	if b == nil || err != nil {
		return aborted{}, false, err
	}
	return parseAborted(b), true, nil
}

// end is asked behind the last batch of the segment.
func (x *txnIndex) end(s *segment) error {
	e, ok, err := x.peek()
	if ok && err == nil && !s.later(-1, e.last) {
		return x.fault(x.pos, "no abort marker at offset %d", e.last)
	}
	return err
}

// errMarker: the value of a transaction marker is version int16, coordinator epoch
// int32.
var errMarker = errors.New("a transaction marker's value has less than 6 bytes")

func parseMarker(value []byte) (coordinatorEpoch int32, err error) {
	if len(value) < 6 {
		return 0, errMarker
	}
	return int32(binary.BigEndian.Uint32(value[2:])), nil
}

// noMarker is the kind of a control batch that compaction emptied.
const noMarker record.ControlType = -1

// marker reads the record of a transaction's end, which is alone in its batch.
func (w *walk) marker(s *source, b record.Batch, pos int64) (kind record.ControlType, coordinatorEpoch int32, err error) {
	n := 0
	kind = noMarker
	err = w.walkRecords(s, b, pos, func(r record.Record) error {
		n++
		if kind, err = record.ParseControl(r.Key); err != nil {
			return err
		}
		if kind > record.Commit {
			return decodableControl(kind, r.Value)
		}
		coordinatorEpoch, err = parseMarker(r.Value)
		return err
	})
	if err == nil && n > 1 && kind <= record.Commit {
		err = s.fault(pos+atCount, "%d records in the batch of a transaction marker", n)
	}
	return kind, coordinatorEpoch, err
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
