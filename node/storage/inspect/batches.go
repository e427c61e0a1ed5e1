package inspect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// Byte positions in a batch, for faults.
const (
	atLength     = 8
	atEpoch      = 12
	atMagic      = 16
	atAttributes = 21
	atLastDelta  = 23
	atMaxTime    = 35
	atCount      = 57
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batches walks the batches of a .log file or of a snapshot of the metadata log.
type batches struct {
	*source
	pos   int64 // of the next batch
	zeros int64 // at the end of the file, once next returned io.EOF: preallocated
}

// head returns the header of the next batch and the size of the whole, which lies
// in the file: io.EOF at the end, else a Fault.
func (b *batches) head() (header record.Batch, size int, err error) {
	left := b.size - b.pos
	if left == 0 {
		return nil, 0, io.EOF
	}
	head, err := b.bytes(b.pos, int(min(left, record.Overhead)))
	if err != nil {
		return nil, 0, err
	}
	if len(bytes.Trim(head, "\x00")) == 0 {
		return nil, 0, b.zeroTail()
	}
	if len(head) < record.LogOverhead {
		return nil, 0, b.torn(b.pos, "the file ends %d bytes into the header of a batch", left)
	}
	if size, err = record.Size(head); err != nil {
		return nil, 0, b.fault(b.pos+atLength, "%v", err)
	}
	if len(head) > atMagic && head[atMagic] != record.Magic {
		return nil, 0, b.fault(b.pos+atMagic, "magic is %d, want %d", int8(head[atMagic]), record.Magic)
	}
	if int64(size) > left {
		return nil, 0, b.cutShort(record.Batch(head), size)
	}
	return record.Batch(head), size, nil
}

// cutShort is the fault of a batch that is longer than the rest of the file: it is
// torn, unless its length is wrong, as the batch that has to follow it is found in
// that rest.
func (b *batches) cutShort(head record.Batch, size int) error {
	left, start := b.size-b.pos, b.pos
	if len(head) == record.Overhead {
		next, err := b.find(head.NextOffset(), b.pos+record.Overhead)
		if err != nil {
			return err
		}
		if next > 0 {
			return b.fault(start+atLength, "length is %d, but the next batch begins %d bytes on", size-record.LogOverhead, next-start)
		}
	}
	return b.torn(start, "the file ends %d bytes into a batch of %d bytes", left, size)
}

// find looks for a batch by its base offset anywhere from pos on; 0 if there is none.
func (b *batches) find(base kafka.Offset, pos int64) (at int64, err error) {
	var wanted [8]byte
	binary.BigEndian.PutUint64(wanted[:], uint64(base))
	for pos+record.Overhead <= b.size {
		window, err := b.bytes(pos, int(min(chunk, b.size-pos)))
		if err != nil {
			return 0, err
		}
		i := bytes.Index(window, wanted[:])
		if i < 0 {
			pos += int64(max(1, len(window)-len(wanted)+1))
			continue
		}
		pos += int64(i)
		if found, err := b.batchAt(pos); found || err != nil {
			return pos, err
		}
		pos++
	}
	return 0, nil
}

// batchAt tells whether a whole batch lies at pos, with a right CRC.
func (b *batches) batchAt(pos int64) (bool, error) {
	if pos+record.Overhead > b.size {
		return false, nil
	}
	head, err := b.bytes(pos, record.Overhead)
	if err != nil {
		return false, err
	}
	size, err := record.Size(head)
	if err != nil || head[atMagic] != record.Magic || pos+int64(size) > b.size {
		return false, nil
	}
	want := record.Batch(head).CRC()
	sum, err := b.checksum(pos+atAttributes, int64(size-atAttributes))
	return sum == want, err
}

// zeroTail tells what zeros in place of a batch are: the end of a preallocated
// file, or a hole in it.
func (b *batches) zeroTail() error {
	end, err := b.firstNonZero(b.pos)
	if err != nil {
		return err
	}
	if end < b.size {
		return b.fault(b.pos, "%d zeros in place of a batch", end-b.pos)
	}
	b.zeros = b.size - b.pos
	return io.EOF
}

// next returns the next batch, whole and with a right CRC, where it lies, and
// moves behind it. The batch is valid until the next call.
func (b *batches) next() (batch record.Batch, pos int64, err error) {
	batch, pos, valid, err := b.any()
	if err == nil && !valid {
		sum := crc32.Checksum(batch[atAttributes:], castagnoli)
		err = b.fault(pos, "the batch of offsets %d to %d has CRC %08x, its bytes give %08x", batch.BaseOffset(), batch.LastOffset(), batch.CRC(), sum)
	}
	return batch, pos, err
}

// any is next for a batch whose CRC may be wrong. A batch larger than the window
// is held as a whole only if its CRC vouches for its length; of others there is
// the header alone.
func (b *batches) any() (batch record.Batch, pos int64, valid bool, err error) {
	pos = b.pos
	batch, size, err := b.head()
	if err != nil {
		return nil, pos, false, err
	}
	if size > chunk {
		sum, err := b.checksum(pos+atAttributes, int64(size-atAttributes))
		if err != nil {
			return nil, pos, false, err
		}
		if batch, err = b.bytes(pos, record.Overhead); err != nil {
			return nil, pos, false, err
		}
		if sum != batch.CRC() {
			b.pos += int64(size)
			return batch, pos, false, nil
		}
	}
	whole, err := b.bytes(pos, size)
	if err != nil {
		return nil, pos, false, err
	}
	b.pos += int64(size)
	batch = record.Batch(whole)
	return batch, pos, batch.Check() == nil, nil
}

// checksum is the CRC-32C of n bytes at pos, read a window at a time.
func (s *source) checksum(pos, n int64) (sum uint32, err error) {
	for n > 0 {
		b, err := s.bytes(pos, int(min(n, chunk)))
		if err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, castagnoli, b)
		pos += int64(len(b))
		n -= int64(len(b))
	}
	return sum, nil
}

// chain is what the batches of a log have to keep to each other.
type chain struct {
	next  kafka.Offset      // after the last batch
	epoch kafka.LeaderEpoch // of the last batch that has one
}

// follow checks the header of the batch at pos and notes it.
func (c *chain) follow(s *source, b record.Batch, pos int64, base kafka.Offset) error {
	err := c.check(s, b, pos, base)
	c.add(b)
	return err
}

// add notes a batch.
func (c *chain) add(b record.Batch) { c.next, c.epoch = b.NextOffset(), max(c.epoch, b.LeaderEpoch()) }

// check checks the header of the batch at pos against those before it; base is
// that of its segment.
func (c *chain) check(s *source, b record.Batch, pos int64, base kafka.Offset) error {
	switch {
	case b.LastOffsetDelta() < 0:
		return s.fault(pos+atLastDelta, "the last offset of the batch at offset %d lies before its first", b.BaseOffset())
	case b.BaseOffset() < max(c.next, base):
		return s.fault(pos, "the batch begins at offset %d, want at least %d", b.BaseOffset(), max(c.next, base))
	case int64(b.LastOffset()-base) > math.MaxInt32:
		return s.fault(pos, "offset %d is too far from the segment's base offset %d", b.LastOffset(), base)
	case b.LeaderEpoch() < kafka.NoEpoch:
		return s.fault(pos+atEpoch, "leader epoch %d is none", b.LeaderEpoch())
	case b.LeaderEpoch() >= 0 && b.LeaderEpoch() < c.epoch:
		return s.fault(pos+atEpoch, "leader epoch %d follows epoch %d", b.LeaderEpoch(), c.epoch)
	case b.Count() < 0 || int64(b.Count()) > int64(b.LastOffsetDelta())+1:
		return s.fault(pos+atCount, "%d records in a batch of offsets %d to %d", b.Count(), b.BaseOffset(), b.LastOffset())
	case b.Compression() > record.Zstd:
		return s.fault(pos+atAttributes, "%v is no codec of Kafka's", b.Compression())
	}
	return nil
}

// walkRecords is the deep iteration over the batch at pos: every record must
// decode, offsets must ascend in the batch's range, and the largest timestamp must
// be the one in its header. each, if any, sees every record.
func (w *walk) walkRecords(s *source, b record.Batch, pos int64, each func(record.Record) error) error {
	last, largest, n := b.BaseOffset()-1, record.NoTimestamp, 0
	it := &w.iterator
	for it.ResetWith(&w.inflater, b); it.Next(); n++ {
		r := it.Record()
		if r.Offset <= last || r.Offset > b.LastOffset() {
			return s.fault(pos+record.Overhead, "record %d of the batch at offset %d has offset %d, want one from %d to %d",
				n+1, b.BaseOffset(), r.Offset, last+1, b.LastOffset())
		}
		last, largest = r.Offset, max(largest, r.Timestamp)
		if each == nil {
			continue
		}
		if err := each(r); err != nil {
			return s.fault(pos+record.Overhead, "record of offset %d: %v", r.Offset, err)
		}
	}
	if err := it.Err(); err != nil {
		return s.fault(pos+record.Overhead, "%v", err)
	}
	if n > 0 && b.TimestampType() == record.CreateTime && largest != b.MaxTimestamp() {
		return s.fault(pos+atMaxTime, "the largest timestamp of the batch at offset %d is %d, its records have %d", b.BaseOffset(), b.MaxTimestamp(), largest)
	}
	w.sum.Records += int64(n)
	return nil
}

// walk keeps what deep iteration reuses from batch to batch.
type walk struct {
	inflater record.Inflater
	iterator record.Iterator
	sum      Summary
	clean    bool // the directory was stopped cleanly
	opts     Options
}

// note adds a note about a file.
func (w *walk) note(file, text string) { w.sum.Notes = append(w.sum.Notes, Note{file, text}) }

// mended tells that something is as only a kill leaves it: a fault after a clean
// stop, else a note.
func (w *walk) mended(err error) error {
	var f *Fault
	if w.clean || !errors.As(err, &f) {
		return err
	}
	w.note(f.File, f.Reason)
	return nil
}
