package inspect

import (
	"io"
	"strings"

	"tidemark/model/record"
)

// logDumper prints a .log file or a snapshot of the metadata log.
type logDumper struct {
	*batches
	DumpOptions
	emit     func(Entry) error
	inflater record.Inflater
}

func dumpLog(s *source, _ string, o DumpOptions, emit func(Entry) error) error {
	d := &logDumper{batches: &batches{source: s}, DumpOptions: o, emit: emit}
	d.DeepIteration = o.DeepIteration || o.PrintData || o.Coordinator != NoCoordinator
	for o.MaxBytes == 0 || d.pos < o.MaxBytes {
		b, pos, valid, err := d.any()
		if err == io.EOF {
			return nil
		}
		if d.wasCut(err, d.pos) || isTorn(err) && d.comes() {
			continue
		}
		if err == nil {
			err = d.batch(b, pos, valid)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// comes waits for the rest of a batch that is being written.
func (d *logDumper) comes() bool {
	for try := 1; try < tries; try++ {
		if n, err := d.file.Size(); err == nil && n > d.size {
			d.size = n
			return true
		}
		d.again(try)
	}
	return false
}

func (d *logDumper) batch(b record.Batch, pos int64, valid bool) error {
	horizon := Optional{int64(b.BaseTimestamp()), b.Attributes()&deleteHorizonBit != 0}
	err := d.emit(Entry{"batch", []Field{
		{"baseOffset", int64(b.BaseOffset())}, {"lastOffset", int64(b.LastOffset())}, {"count", int64(b.Count())},
		{"baseSequence", int64(b.BaseSequence())}, {"lastSequence", int64(b.LastSequence())},
		{"producerId", int64(b.ProducerID())}, {"producerEpoch", int64(b.ProducerEpoch())},
		{"partitionLeaderEpoch", int64(b.LeaderEpoch())}, {"isTransactional", b.IsTransactional()}, {"isControl", b.IsControl()},
		{"deleteHorizonMs", horizon}, {"position", pos}, {b.TimestampType().String(), int64(b.MaxTimestamp())},
		{"size", int64(b.Length()) + record.LogOverhead}, {"magic", int64(b.Magic())}, {"compresscodec", b.Compression().String()},
		{"crc", int64(b.CRC())}, {"isvalid", valid}}})
	if err != nil || !d.DeepIteration || !valid {
		return err
	}
	bad := d.inflater.Each(b, func(r record.Record) error {
		err = d.record(b, r)
		return err
	})
	if bad != nil && err == nil {
		return d.fault(pos+record.Overhead, "%v", bad)
	}
	return err
}

// deleteHorizonBit of the attributes: the base timestamp is when tombstones and
// markers of the batch may go (KIP-534).
const deleteHorizonBit = 0x40

func (d *logDumper) record(b record.Batch, r record.Record) error {
	var fields []Field
	if !d.SkipRecordMetadata {
		sequence := record.NoSequence
		if b.BaseSequence() != record.NoSequence {
			sequence = b.BaseSequence().Add(int32(r.Offset - b.BaseOffset()))
		}
		keys := make([]string, len(r.Headers))
		for i, h := range r.Headers {
			keys[i] = h.Key
		}
		fields = append(fields, Field{"offset", int64(r.Offset)}, Field{b.TimestampType().String(), int64(r.Timestamp)},
			Field{"keySize", size(r.Key)}, Field{"valueSize", size(r.Value)}, Field{"sequence", int64(sequence)}, Field{"headerKeys", keys})
	}
	switch {
	case b.IsControl():
		fields = append(fields, controlFields(r)...)
	case d.Coordinator != NoCoordinator:
		fields = append(fields, d.Coordinator.fields(r)...)
	case d.PrintData:
		fields = append(fields, d.data(r)...)
	}
	return d.emit(Entry{"record", fields})
}

// size is a length in bytes, -1 of null.
func size(b []byte) int64 {
	if b == nil {
		return -1
	}
	return int64(len(b))
}

// data are key and value.
func (d *logDumper) data(r record.Record) (fields []Field) {
	if r.Key != nil {
		fields = append(fields, Field{"key", Bytes(r.Key)})
	}
	if r.Value == nil {
		return fields
	}
	if d.Metadata {
		text, err := decodeMetadata(r.Value)
		if err != nil {
			return append(fields, Field{"payload", "not readable: " + err.Error()})
		}
		return append(fields, Field{"payload", JSON(text)})
	}
	return append(fields, Field{"payload", Bytes(r.Value)})
}

// controlFields are what a control record says.
func controlFields(r record.Record) []Field {
	kind, err := record.ParseControl(r.Key)
	if err != nil {
		return []Field{{"controlType", "not readable: " + err.Error()}}
	}
	if kind > record.Commit {
		name, text, err := decodeControl(kind, r.Value)
		if err != nil {
			return []Field{{"controlType", int64(kind)}}
		}
		return []Field{{strings.TrimSuffix(name, ":"), JSON(text)}}
	}
	name := "ABORT"
	if kind == record.Commit {
		name = "COMMIT"
	}
	epoch, err := parseMarker(r.Value)
	if err != nil {
		return []Field{{"endTxnMarker", name}, {"coordinatorEpoch", "not readable: " + err.Error()}}
	}
	return []Field{{"endTxnMarker", name}, {"coordinatorEpoch", int64(epoch)}}
}
