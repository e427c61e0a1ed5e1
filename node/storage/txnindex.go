package storage

import (
	"encoding/binary"
	"errors"
	"fmt"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// A .txnindex file lists the aborted transactions whose marker lies in its
// segment, so that a reader of what is committed knows which records to pass
// over. It exists once the segment has such a marker. An entry is
//
//	version int16 0 · producer id int64 · first offset int64 ·
//	last offset int64 (the marker's) · last stable offset int64
const (
	txnSuffix       = ".txnindex"
	txnEntrySize    = 34
	txnEntryVersion = 0
)

// AbortedTransaction is an aborted transaction of one producer in a log (KIP-98).
type AbortedTransaction struct {
	ProducerID  kafka.ProducerID
	First, Last kafka.Offset // of its first record, of its marker
	// LastStable is the last stable offset when the marker was appended, as if
	// all were replicated: no transaction that begins below is undecided, so no
	// later entry begins below.
	LastStable kafka.Offset
}

// txnIndex is the aborted transactions of one segment, by marker.
type txnIndex struct {
	indexFile // its file is nil as long as there is none
}

func newTxnIndex() txnIndex { return txnIndex{indexFile{entry: txnEntrySize}} }

func (x *txnIndex) at(i int) AbortedTransaction {
	e := x.data[i*txnEntrySize:]
	return AbortedTransaction{
		ProducerID: kafka.ProducerID(binary.BigEndian.Uint64(e[2:])),
		First:      kafka.Offset(binary.BigEndian.Uint64(e[10:])),
		Last:       kafka.Offset(binary.BigEndian.Uint64(e[18:])),
		LastStable: kafka.Offset(binary.BigEndian.Uint64(e[26:])),
	}
}

// append adds an entry to the index, whose file it makes at path if there is
// none yet, and writes it at once, as Kafka does.
func (x *txnIndex) append(fs disk.FS, path string, a AbortedTransaction) error {
	if x.file == nil {
		file, err := fs.Create(path)
		if err != nil {
			return err
		}
		x.file = file
	}
	x.dirty = true
	x.data = appendTxnEntry(x.data, a)
	return x.save()
}

func appendTxnEntry(b []byte, a AbortedTransaction) []byte {
	b = binary.BigEndian.AppendUint16(b, txnEntryVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(a.ProducerID))
	b = binary.BigEndian.AppendUint64(b, uint64(a.First))
	b = binary.BigEndian.AppendUint64(b, uint64(a.Last))
	return binary.BigEndian.AppendUint64(b, uint64(a.LastStable))
}

// open reads the index file at path. Not sound: it cannot be that of a segment
// with this base offset.
func (x *txnIndex) open(fs disk.FS, path string, base kafka.Offset) (sound bool, err error) {
	if x.file, err = fs.Open(path); err != nil {
		return false, err
	}
	whole, err := x.load()
	if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	for i := 0; whole && i < x.count(); i++ {
		whole = binary.BigEndian.Uint16(x.data[i*txnEntrySize:]) == txnEntryVersion && x.at(i).Last >= base
	}
	return whole, nil
}

// truncateTo drops the transactions whose marker is at offset o or above.
func (x *txnIndex) truncateTo(o kafka.Offset) error {
	n := x.count()
	for n > 0 && x.at(n-1).Last >= o {
		n--
	}
	return x.cut(n)
}

// reset drops every entry; the file stays, as Kafka leaves it.
func (x *txnIndex) reset() error {
	if x.file == nil {
		return nil
	}
	return x.indexFile.reset()
}

func (x *txnIndex) close() error {
	if x.file == nil {
		return nil
	}
	return x.file.Close()
}

// collect adds to found the transactions with records in [from, upTo), and
// tells whether no later segment can have one.
func (x *txnIndex) collect(found []AbortedTransaction, from, upTo kafka.Offset) (all []AbortedTransaction, complete bool) {
	for i := range x.count() {
		a := x.at(i)
		if a.Last >= from && a.First < upTo {
			found = append(found, a)
		}
		if a.LastStable >= upTo {
			return found, true
		}
	}
	return found, false
}

// AbortedTransactions lists the aborted transactions that a reader of committed
// records must know of for a slice that Read returned for offset from, by
// marker; it may name some that begin after the slice's last batch. The slice's
// region is not released yet.
func (l *Log) AbortedTransactions(from kafka.Offset, s Slice) []AbortedTransaction {
	if s.Bytes == 0 {
		return nil
	}
	i := l.floor(s.First)
	return l.abortedIn(i, from, l.upperBound(i, s.Region.Off+int64(s.Bytes)))
}

// abortedIn lists the aborted transactions with records in [from, upTo), by
// marker, from the index of segment i on.
func (l *Log) abortedIn(i int, from, upTo kafka.Offset) (found []AbortedTransaction) {
	for complete := false; i < len(l.segments) && !complete; i++ {
		found, complete = l.segments[i].txns.collect(found, from, upTo)
	}
	return found
}

// upperBound is an offset after every batch of segment i that begins before
// position end: from the offset index, or else the end of the segment.
func (l *Log) upperBound(i int, end int64) kafka.Offset {
	if o, ok := l.segments[i].index.offsetFrom(end); ok {
		return o
	}
	if i+1 < len(l.segments) {
		return l.segments[i+1].base
	}
	return l.end
}

// indexAborted notes an aborted transaction in the index of segment s.
func (l *Log) indexAborted(s *segment, t transaction) error {
	if s.txns.file == nil {
		l.dirDirty = true
	}
	a := AbortedTransaction{ProducerID: t.id, First: t.first, Last: t.last, LastStable: l.producers.txns.stableAfter(t)}
	path := segmentPath(l.dir, s.base) + txnSuffix + s.suffix
	if s.fresh {
		path += tmpSuffix
	}
	if err := s.txns.append(l.fs, path, a); err != nil {
		return errors.Join(fmt.Errorf("index of aborted transactions of segment %d", s.base), err)
	}
	return nil
}
