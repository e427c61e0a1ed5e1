package storage

import (
	"encoding/binary"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// timeEntrySize is the size in bytes of an entry of a .timeindex file:
// timestamp int64, relative offset int32.
const timeEntrySize = 12

// timePoint is the largest timestamp of a stretch of the log and the last
// offset of the batch that has it.
type timePoint struct {
	timestamp kafka.Timestamp // ms; record.NoTimestamp for none
	offset    kafka.Offset
}

// timeIndex is the sparse map from timestamps to offsets of one segment: each
// entry says that no record up to its offset is younger than its timestamp
// (KIP-33). Both columns ascend.
type timeIndex struct {
	indexFile
	base kafka.Offset
}

// count is that of indexFile, for each append: it divides by a constant.
func (x *timeIndex) count() int { return len(x.data) / timeEntrySize }

func (x *timeIndex) at(i int) timePoint {
	e := x.data[i*timeEntrySize:]
	return timePoint{kafka.Timestamp(binary.BigEndian.Uint64(e)), x.base + kafka.Offset(binary.BigEndian.Uint32(e[8:]))}
}

func (x *timeIndex) last() timePoint {
	if x.count() == 0 {
		return timePoint{record.NoTimestamp, x.base}
	}
	return x.at(x.count() - 1)
}

// lookup is the last entry with a timestamp ≤ t, else the segment's base.
func (x *timeIndex) lookup(t kafka.Timestamp) timePoint {
	low, high := 0, x.count()
	for low < high {
		mid := (low + high) / 2
		if x.at(mid).timestamp <= t {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return timePoint{record.NoTimestamp, x.base}
	}
	return x.at(low - 1)
}

// add notes the largest timestamp so far, if it is larger than the last noted.
func (x *timeIndex) add(p timePoint) {
	if p.timestamp <= x.last().timestamp {
		return
	}
	x.dirty = true
	x.data = binary.BigEndian.AppendUint64(x.data, uint64(p.timestamp))
	x.data = binary.BigEndian.AppendUint32(x.data, uint32(p.offset-x.base))
}

// truncateTo drops the entries for offset o and above.
func (x *timeIndex) truncateTo(o kafka.Offset) error {
	n := x.count()
	for n > 0 && x.at(n-1).offset >= o {
		n--
	}
	return x.cut(n)
}
