package record

import (
	"encoding/binary"
	"fmt"

	"tidemark/model/kafka"
)

// markerVersion is the version of a marker's value that is written.
const markerVersion int16 = 0

// markerValueSize is the size in bytes of a marker's value: version int16,
// coordinator epoch int32. Later versions may only append to it.
const markerValueSize = 2 + 4

// EndTransaction is a transaction marker: the control record that ends a
// producer's transaction in one partition (KIP-98).
type EndTransaction struct {
	// Type is Commit or Abort.
	Type ControlType
	// CoordinatorEpoch is that of the transaction coordinator that decided: the
	// leader epoch of its partition of __transaction_state.
	CoordinatorEpoch int32
}

// Batch builds the marker's batch, of this one record, as the leader of the
// partition writes it: transactional, without sequence, at offset 0.
func (m EndTransaction) Batch(id kafka.ProducerID, epoch kafka.ProducerEpoch, now kafka.Timestamp) Batch {
	w := NewBuilder(BuilderOptions{LeaderEpoch: kafka.NoEpoch, ProducerID: id, ProducerEpoch: epoch,
		BaseSequence: NoSequence, Transactional: true, Control: true})
	value := binary.BigEndian.AppendUint16(nil, uint16(markerVersion))
	value = binary.BigEndian.AppendUint32(value, uint32(m.CoordinatorEpoch))
	w.Append(now, controlKey(m.Type), value, nil)
	return w.Build()
}

// ParseEndTransaction reads the marker of a control batch. Not ok: the batch is
// empty, because compaction took the whole transaction, or holds a control
// record of another type. An error wraps ErrCorrupt or ErrCompressed.
func ParseEndTransaction(b Batch) (m EndTransaction, ok bool, err error) {
	var it Iterator
	it.Reset(b)
	if !it.Next() {
		return m, false, it.Err()
	}
	r := it.Record()
	if m.Type, err = ParseControl(r.Key); err != nil {
		return m, false, err
	}
	if m.Type != Abort && m.Type != Commit {
		return m, false, nil
	}
	if len(r.Value) < markerValueSize || int16(binary.BigEndian.Uint16(r.Value)) < 0 {
		return m, false, fmt.Errorf("%w: value of a transaction marker has %d bytes, want version and coordinator epoch", ErrCorrupt, len(r.Value))
	}
	m.CoordinatorEpoch = int32(binary.BigEndian.Uint32(r.Value[2:]))
	return m, true, nil
}
