package inspect

import (
	"math"
	"strconv"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// No CRC covers a batch's base offset and leader epoch: a leader stamps them into a batch
// that its producer has summed up. What tells that they are wrong are the batches around,
// of which the one behind is looked at before any other file is:
//
//	   before │ batch │ next │ after      offsets and epochs never fall
//
// If the batch and the next one contradict each other, it is asked whether the log would
// be right with another value in the one, or in the other. Where only one of the answers
// is yes, its field is the wrong byte; else both are told.

// header is what a batch's header tells of its place.
type header struct {
	pos        int64
	base, next kafka.Offset
	epoch      kafka.LeaderEpoch
}

func headerOf(b record.Batch, pos int64) header {
	return header{pos, b.BaseOffset(), b.NextOffset(), b.LeaderEpoch()}
}

// span is how many offsets the batch has, which its CRC vouches for.
func (h header) span() kafka.Offset { return h.next - h.base }

// after is the header of the batch at pos, which must be whole.
func (b *batches) after(pos int64) (h header, end int64, ok bool, err error) {
	if ok, err = b.batchAt(pos); !ok || err != nil {
		return h, pos, false, err
	}
	head, err := b.bytes(pos, record.Overhead)
	if err != nil {
		return h, pos, false, err
	}
	size, _ := record.Size(head) // batchAt has asked
	return headerOf(head, pos), pos + int64(size), true, nil
}

// peek copies the bytes at pos and leaves the window where it is; false if they are not
// to be had.
func (s *source) peek(pos int64, p []byte) bool {
	if pos+int64(len(p)) > s.size {
		return false
	}
	if from := pos - s.at; from >= 0 && from+int64(len(p)) <= int64(len(s.buf)) {
		copy(p, s.buf[from:])
		return true
	}
	n, _ := s.file.ReadAt(p, pos)
	return n == len(p)
}

// agrees checks a batch at pos, which fits to what is before it, against the one behind,
// and returns it, as it may have moved.
func (s *segment) agrees(b record.Batch, pos int64) (record.Batch, error) {
	h := headerOf(b, pos)
	if h.next > s.limit {
		return b, s.log.fault(pos, "the batch of offsets %d to %d reaches into the next segment, which begins at offset %d: its base offset is wrong", h.base, h.next-1, s.limit)
	}
	if !s.log.peek(s.log.pos, s.ahead[:]) {
		return b, nil
	}
	next := headerOf(s.ahead[:], s.log.pos)
	if next.base >= h.next && !falls(h.epoch, next.epoch) {
		return b, nil
	}
	size := len(b)
	err := s.contradiction(h)
	if err != nil {
		return nil, err
	}
	whole, err := s.log.bytes(pos, size)
	return whole, err
}

// falls tells that an epoch follows that must not; a batch may have none.
func falls(before, after kafka.LeaderEpoch) bool { return after >= 0 && after < before }

// contradiction tells which of the batch and the next one is wrong; nil if the next one
// is no batch, which is told when it is its turn.
func (s *segment) contradiction(h header) error {
	next, end, ok, err := s.log.after(s.log.pos)
	if !ok || err != nil {
		return err
	}
	after, _, more, err := s.log.after(end)
	if err != nil {
		return err
	}
	if !more {
		after = header{base: s.limit, epoch: kafka.NoEpoch}
	}
	if next.base < h.next {
		return s.overlap(h, next, after)
	}
	if falls(h.epoch, next.epoch) {
		return s.fall(h, next, after)
	}
	return nil
}

// overlap tells whose base offset is wrong.
func (s *segment) overlap(h, next, after header) error {
	low := max(s.chain.next, s.base)
	this := low+h.span() <= next.base && next.next <= after.base
	other := next.span() <= after.base-h.next
	if other && h.base > low && low+h.span() == next.base {
		other = false // it would fill the gap before it to an offset
	}
	switch {
	case this && other:
		return s.log.fault(h.pos, "the batch of offsets %d to %d overlaps the next one, which begins at offset %d: its base offset is wrong, or that at byte %d", h.base, h.next-1, next.base, next.pos)
	case this:
		return s.log.fault(h.pos, "base offset %d is wrong: the batch before ends before offset %d, the next one begins at %d, and this one has %d offsets", h.base, low, next.base, h.span())
	}
	return s.log.fault(next.pos, "the batch begins at offset %d, want at least %d", next.base, h.next)
}

// fall tells whose leader epoch is wrong. If the batches leave it open, the epoch file
// decides.
func (s *segment) fall(h, next, after header) error {
	this := s.chain.epoch <= next.epoch && !falls(next.epoch, after.epoch)
	other := !falls(h.epoch, after.epoch)
	if this && other {
		first, second := s.epochs.says(h), s.epochs.says(next)
		this, other = first <= second, second <= first
	}
	switch {
	case this && other:
		return s.log.fault(h.pos+atEpoch, "leader epoch %d is followed by epoch %d: it is wrong, or that at byte %d", h.epoch, next.epoch, next.pos+atEpoch)
	case this:
		return s.log.fault(h.pos+atEpoch, "leader epoch %d is wrong: the batch behind has epoch %d, those before %d at most", h.epoch, next.epoch, s.chain.epoch)
	}
	return s.log.fault(next.pos+atEpoch, "leader epoch %d follows epoch %d", next.epoch, h.epoch)
}

// says is 1 if the file has the batch's epoch for its offset, 0 if it has another one.
func (x *epochs) says(h header) int {
	for i := len(x.entries) - 1; i >= 0; i-- {
		if e := x.entries[i]; e.start <= h.base {
			if e.epoch == h.epoch {
				return 1
			}
			break
		}
	}
	return 0
}

// noLimit is the limit of offsets in the last segment.
const noLimit = kafka.Offset(math.MaxInt64)

// orBase and orEpoch end a line about a file that disagrees with the batch at pos, the
// neighbours of which leave it open who is right.
func orBase(pos int64) string {
	return ", unless the base offset at byte " + strconv.FormatInt(pos, 10) + " of the log file is wrong"
}

func orEpoch(pos int64) string {
	return ", unless the leader epoch at byte " + strconv.FormatInt(pos+atEpoch, 10) + " of the log file is wrong"
}
