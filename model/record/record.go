package record

import "tidemark/model/kafka"

// Header is one record header (KIP-82). A key is never null, a value may be.
type Header struct {
	Key   string
	Value []byte
}

// Record is one record of a batch. A nil Key or Value is null; a record with a
// key and a null value is a tombstone in a compacted topic.
type Record struct {
	Offset    kafka.Offset
	Timestamp kafka.Timestamp // ms; -1 for none
	Key       []byte
	Value     []byte
	Headers   []Header
}

// Each calls f for every record, in order, until f returns an error, which it
// returns. Key, Value and header values stay valid; they alias the batch or what
// its records decompressed to. Headers is reused when f returns. Records that do
// not decode give an error that wraps ErrCorrupt, those of an unknown codec
// ErrCompressed.
func (b Batch) Each(f func(Record) error) error {
	var it Iterator
	it.Reset(b)
	return it.each(f)
}

// Each does the same as the method of Batch for many batches; records are valid
// only until f returns.
func (f *Inflater) Each(b Batch, each func(Record) error) error {
	var it Iterator
	it.ResetWith(f, b)
	return it.each(each)
}

func (it *Iterator) each(f func(Record) error) error {
	for it.Next() {
		if err := f(it.Record()); err != nil {
			return err
		}
	}
	return it.Err()
}
