package record

import (
	"encoding/binary"

	"tidemark/model/kafka"
)

// SetProducer says which producer sends the batch, and the sequence of its first
// record (KIP-98); NoProducerID goes with epoch -1 and NoSequence. The CRC
// covers all three and is computed again.
func (b Batch) SetProducer(id kafka.ProducerID, epoch kafka.ProducerEpoch, first kafka.Sequence) {
	binary.BigEndian.PutUint64(b[atProducerID:], uint64(id))
	binary.BigEndian.PutUint16(b[atProducerEpoch:], uint16(epoch))
	binary.BigEndian.PutUint32(b[atBaseSequence:], uint32(first))
	b.seal()
}
