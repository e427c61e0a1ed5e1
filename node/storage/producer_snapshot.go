package storage

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// snapshotSuffix is that of a producer snapshot: <offset>.snapshot holds what
// the batches below offset say of their producers, so that a start need not
// read them all.
//
//	version  int16   1
//	crc      uint32  CRC-32C of all that follows
//	count    int32
//	count ×  producer id int64 · epoch int16 · last sequence int32 · last offset int64 ·
//	         offset delta int32 · timestamp int64 · coordinator epoch int32 ·
//	         first offset of the open transaction int64
//
// Only the last batch of each producer is in it: after a start, a retry of an
// older one is out of order.
const (
	snapshotSuffix    = ".snapshot"
	snapshotVersion   = 1
	snapshotChecked   = 2 + 4 // bytes before what the CRC covers
	snapshotHead      = snapshotChecked + 4
	snapshotEntrySize = 46
)

// errSnapshot: a snapshot that is torn or damaged. It is never trusted.
var errSnapshot = errors.New("damaged producer snapshot")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// snapshotContent is a snapshot file's content. Kafka writes the producers in
// no order, here they are by id.
func snapshotContent(states []*producerState) []byte {
	b := make([]byte, snapshotHead, snapshotHead+len(states)*snapshotEntrySize)
	binary.BigEndian.PutUint16(b, snapshotVersion)
	binary.BigEndian.PutUint32(b[snapshotChecked:], uint32(len(states)))
	for _, s := range states {
		last := producerBatch{lastSequence: record.NoSequence, lastOffset: kafka.NoOffset}
		if s.n > 0 {
			last = s.batches[s.n-1]
		}
		b = binary.BigEndian.AppendUint64(b, uint64(s.id))
		b = binary.BigEndian.AppendUint16(b, uint16(s.epoch))
		b = binary.BigEndian.AppendUint32(b, uint32(last.lastSequence))
		b = binary.BigEndian.AppendUint64(b, uint64(last.lastOffset))
		b = binary.BigEndian.AppendUint32(b, uint32(last.delta))
		b = binary.BigEndian.AppendUint64(b, uint64(s.timestamp))
		b = binary.BigEndian.AppendUint32(b, uint32(s.coordinatorEpoch))
		b = binary.BigEndian.AppendUint64(b, uint64(s.openTransaction))
	}
	binary.BigEndian.PutUint32(b[2:], crc32.Checksum(b[snapshotChecked:], castagnoli))
	return b
}

// parseSnapshot reads a snapshot file's content; errSnapshot if it is not whole.
func parseSnapshot(b []byte) ([]*producerState, error) {
	if len(b) < snapshotHead || binary.BigEndian.Uint16(b) != snapshotVersion ||
		binary.BigEndian.Uint32(b[2:]) != crc32.Checksum(b[snapshotChecked:], castagnoli) {
		return nil, errSnapshot
	}
	count := binary.BigEndian.Uint32(b[snapshotChecked:])
	b = b[snapshotHead:]
	if uint64(len(b)) != uint64(count)*snapshotEntrySize {
		return nil, errSnapshot
	}
	states := make([]*producerState, 0, count)
	for ; len(b) > 0; b = b[snapshotEntrySize:] {
		s := newProducerState(kafka.ProducerID(binary.BigEndian.Uint64(b)))
		s.epoch = kafka.ProducerEpoch(binary.BigEndian.Uint16(b[8:]))
		s.timestamp = kafka.Timestamp(binary.BigEndian.Uint64(b[26:]))
		s.coordinatorEpoch = int32(binary.BigEndian.Uint32(b[34:]))
		s.openTransaction = kafka.Offset(binary.BigEndian.Uint64(b[38:]))
		last := producerBatch{lastSequence: kafka.Sequence(binary.BigEndian.Uint32(b[10:])), lastOffset: kafka.Offset(binary.BigEndian.Uint64(b[14:])),
			delta: int32(binary.BigEndian.Uint32(b[22:])), timestamp: s.timestamp}
		if last.lastOffset >= 0 {
			s.batches[0], s.n = last, 1
		}
		states = append(states, s)
	}
	return states, nil
}
