package inspect

import (
	"encoding/binary"
	"fmt"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// producer is what the batches so far tell of one producer, as a snapshot holds
// it: its last batch, or, after a marker with a newer epoch, none.
type producer struct {
	id               kafka.ProducerID
	epoch            kafka.ProducerEpoch
	lastSequence     kafka.Sequence
	lastOffset       kafka.Offset
	delta            int32 // last sequence − first sequence of that batch
	timestamp        kafka.Timestamp
	coordinatorEpoch int32
	open             kafka.Offset // first offset of the open transaction; NoOffset
	marked           kafka.Offset // of its last marker, which no snapshot holds; NoOffset
}

// forget drops the last batch.
func (p *producer) forget() {
	p.lastSequence, p.lastOffset, p.delta = record.NoSequence, kafka.NoOffset, 0
}

// newProducers is what an empty log knows.
func newProducers() *producers {
	return &producers{states: map[kafka.ProducerID]*producer{}, open: map[kafka.ProducerID]kafka.Offset{}}
}

// producers replays batches into what a log knows of its producers.
type producers struct {
	states map[kafka.ProducerID]*producer
	open   map[kafka.ProducerID]kafka.Offset // first offsets of open transactions
	// later are the transactions of other producers that must begin where entries
	// of aborted ones say: a follower of Kafka's takes the last stable offset as it
	// is behind all batches that it appends at once.
	later []later
	// partial: the batches do not tell all, as older ones were deleted or
	// compaction removed some.
	partial bool
}

// later is a transaction of another producer than id that must begin at offset;
// wrong is the fault if none does.
type later struct {
	offset kafka.Offset
	id     kafka.ProducerID
	wrong  error
}

// settle checks the transactions that had to begin at or before the batch b, or, if
// b is nil, anywhere.
func (p *producers) settle(b record.Batch) error {
	for len(p.later) > 0 {
		l := p.later[0]
		if b != nil && b.LastOffset() < l.offset {
			return nil
		}
		if b == nil || b.BaseOffset() != l.offset || !b.IsTransactional() || b.IsControl() || b.ProducerID() == l.id {
			return l.wrong
		}
		p.later = p.later[1:]
	}
	return nil
}

func (p *producers) get(id kafka.ProducerID) *producer {
	s := p.states[id]
	if s == nil {
		s = &producer{id: id, epoch: -1, timestamp: record.NoTimestamp, coordinatorEpoch: -1, open: kafka.NoOffset, marked: kafka.NoOffset}
		s.forget()
		p.states[id] = s
	}
	return s
}

// data takes a batch of records into account.
func (p *producers) data(b record.Batch) {
	if b.ProducerID() == kafka.NoProducerID {
		return
	}
	s := p.get(b.ProducerID())
	s.epoch, s.timestamp = b.ProducerEpoch(), b.MaxTimestamp()
	s.lastSequence, s.lastOffset, s.delta = b.LastSequence(), b.LastOffset(), b.LastOffsetDelta()
	if b.IsTransactional() && s.open == kafka.NoOffset {
		s.open = b.BaseOffset()
		p.open[s.id] = s.open
	}
}

// marker takes the end of a transaction into account and returns the first offset
// of the one that it ends, NoOffset if there was none.
func (p *producers) marker(b record.Batch, coordinatorEpoch int32) (first kafka.Offset) {
	s := p.get(b.ProducerID())
	if b.ProducerEpoch() != s.epoch {
		s.epoch = b.ProducerEpoch()
		s.forget()
	}
	first, s.marked = s.open, b.LastOffset()
	delete(p.open, s.id)
	s.open, s.timestamp, s.coordinatorEpoch = kafka.NoOffset, b.MaxTimestamp(), coordinatorEpoch
	return first
}

// firstOpen is the first offset of the oldest open transaction, NoOffset if none
// is open.
func (p *producers) firstOpen() kafka.Offset {
	first := kafka.NoOffset
	for _, o := range p.open { // unordered: the least is sought
		if first == kafka.NoOffset || o < first {
			first = o
		}
	}
	return first
}

// Layout of a producer snapshot: version int16, CRC-32C uint32 of what follows,
// count int32, entries.
const (
	snapshotChecked   = 6
	snapshotHead      = 10
	snapshotEntrySize = 46
)

// snapshot reads a producer snapshot, whose CRC was found right.
type snapshot struct {
	*source
	count int
}

// openSnapshot opens a producer snapshot and checks it as a whole.
func openSnapshot(files Files, path string) (*snapshot, error) {
	s, err := open(files, path)
	if err != nil {
		return nil, err
	}
	x := &snapshot{source: s}
	if err := x.check(); err != nil {
		s.close()
		return nil, err
	}
	return x, nil
}

func (x *snapshot) check() error {
	if x.size < snapshotHead {
		return x.torn(x.size, "the file ends in the head of a producer snapshot, which has %d bytes", snapshotHead)
	}
	head, err := x.bytes(0, snapshotHead)
	if err != nil {
		return err
	}
	if v := binary.BigEndian.Uint16(head); v != 1 {
		return x.fault(0, "version is %d, want 1", v)
	}
	want, count := binary.BigEndian.Uint32(head[2:]), int64(binary.BigEndian.Uint32(head[snapshotChecked:]))
	if want := snapshotHead + count*snapshotEntrySize; x.size != want {
		wrong := x.fault
		if x.size < want {
			wrong = x.torn
		}
		return wrong(snapshotChecked, "%d producers take %d bytes, the file has %d", count, want, x.size)
	}
	sum, err := x.checksum(snapshotChecked, x.size-snapshotChecked)
	if err != nil {
		return err
	}
	if sum != want {
		return x.fault(2, "CRC is %08x, the bytes give %08x", want, sum)
	}
	x.count = int(count)
	return nil
}

// at returns the i-th entry and where it begins.
func (x *snapshot) at(i int) (p producer, pos int64, err error) {
	pos = snapshotHead + int64(i)*snapshotEntrySize
	b, err := x.bytes(pos, snapshotEntrySize)
	if err != nil {
		return producer{}, pos, err
	}
	return producer{
		id:               kafka.ProducerID(binary.BigEndian.Uint64(b)),
		epoch:            kafka.ProducerEpoch(binary.BigEndian.Uint16(b[8:])),
		lastSequence:     kafka.Sequence(binary.BigEndian.Uint32(b[10:])),
		lastOffset:       kafka.Offset(binary.BigEndian.Uint64(b[14:])),
		delta:            int32(binary.BigEndian.Uint32(b[22:])),
		timestamp:        kafka.Timestamp(binary.BigEndian.Uint64(b[26:])),
		coordinatorEpoch: int32(binary.BigEndian.Uint32(b[34:])),
		open:             kafka.Offset(binary.BigEndian.Uint64(b[38:])),
		marked:           kafka.NoOffset,
	}, pos, nil
}

// seed starts a replay from the snapshot at the log's first segment.
func (p *producers) seed(x *snapshot) error {
	for i := range x.count {
		s, _, err := x.at(i)
		if err != nil {
			return err
		}
		p.states[s.id] = &s
		if s.open != kafka.NoOffset {
			p.open[s.id] = s.open
		}
	}
	return nil
}

// difference says in which field two accounts of a producer differ; "" if in none.
func difference(got, want *producer) string {
	for _, f := range []struct {
		name      string
		got, want int64
	}{
		{"epoch", int64(got.epoch), int64(want.epoch)},
		{"last sequence", int64(got.lastSequence), int64(want.lastSequence)},
		{"last offset", int64(got.lastOffset), int64(want.lastOffset)},
		{"offset delta", int64(got.delta), int64(want.delta)},
		{"timestamp", int64(got.timestamp), int64(want.timestamp)},
		{"coordinator epoch", int64(got.coordinatorEpoch), int64(want.coordinatorEpoch)},
		{"first offset of its open transaction", int64(got.open), int64(want.open)},
	} {
		if f.got != f.want {
			return fmt.Sprintf("%s %d, the batches give %d", f.name, f.got, f.want)
		}
	}
	return ""
}

// compare checks a snapshot against the batches below its offset. start is the log
// start; horizon is the latest time (ms) by which a producer that was silent since
// is forgotten.
func (p *producers) compare(x *snapshot, start kafka.Offset, horizon kafka.Timestamp) error {
	listed := make(map[kafka.ProducerID]bool, x.count)
	for i := range x.count {
		got, pos, err := x.at(i)
		if err != nil {
			return err
		}
		if listed[got.id] {
			return x.fault(pos, "producer %d is in it twice", got.id)
		}
		listed[got.id] = true
		want := p.states[got.id]
		switch {
		case want == nil && p.partial:
		case want == nil:
			return x.fault(pos, "no batch is of producer %d", got.id)
		default:
			if text := difference(&got, want); text != "" && !p.excuses(&got, want, start) {
				return x.fault(pos, "producer %d has %s", got.id, text)
			}
		}
	}
	return p.missing(x, listed, start, horizon)
}

// excuses tells whether a difference is one that removed batches explain: the
// batch or the marker that the snapshot tells of is gone, or lost its youngest
// record.
func (p *producers) excuses(got, want *producer, start kafka.Offset) bool {
	below := false
	for _, o := range []kafka.Offset{want.open, want.lastOffset, want.marked} {
		below = below || o != kafka.NoOffset && o < start
	}
	switch {
	case !p.partial && !below:
		return false
	case got.epoch != want.epoch:
		return got.epoch > want.epoch
	case got.lastOffset == kafka.NoOffset && want.lastOffset < start: // a reload begins at the log start
		return true
	case got.lastOffset != want.lastOffset:
		return got.lastOffset > want.lastOffset
	}
	return got.lastSequence == want.lastSequence && got.delta == want.delta
}

// missing looks for a producer that the snapshot should hold. One that may have
// expired, or all of whose batches lie below the log start, may be missing.
func (p *producers) missing(x *snapshot, listed map[kafka.ProducerID]bool, start kafka.Offset, horizon kafka.Timestamp) error {
	lost := kafka.NoProducerID
	for id, s := range p.states { // unordered: the least is sought
		expired := s.open == kafka.NoOffset && s.timestamp <= horizon
		if !listed[id] && !expired && s.lastOffset >= start && (lost == kafka.NoProducerID || id < lost) {
			lost = id
		}
	}
	if lost != kafka.NoProducerID {
		return x.fault(snapshotChecked, "producer %d is not in it, the batches below its offset have one that ends at offset %d", lost, p.states[lost].lastOffset)
	}
	return nil
}
