package replica

import (
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Host is what a Partition needs of the lane that owns it.
type Host interface {
	// Now is the lane's monotonic clock.
	Now() time.Duration
	// Wall is the lane's wall clock, which stamps appended batches.
	Wall() kafka.Timestamp
	// Emit adds an event to the trace; the event is copied.
	Emit(*event.Event)
	// Broker is what the metadata image says of a registered broker. Every call
	// within one callback of the lane answers from the same image: eligibility
	// and the epoch that a proposal carries must agree (KIP-841, KIP-903).
	Broker(kafka.BrokerID) (Broker, bool)
	// LocalBrokerEpoch is this broker's own epoch, NoBrokerEpoch before it is
	// registered.
	LocalBrokerEpoch() kafka.BrokerEpoch
	// SubmitISR asks the controller for a new ISR. Partition.ISRAnswered brings
	// the answer back with the same pointer, in a later callback.
	SubmitISR(*Proposal)
	// Changed says that requests which wait for the partition may be ready. It
	// only takes note: Purgatory.Changed.
	Changed(kafka.TopicPartition)
	// StorageFailed says that the disk refused an operation on the partition's
	// log, so that its log directory is offline.
	StorageFailed(kafka.TopicPartition, error)
}

// Broker is what the metadata says of a registered broker.
type Broker struct {
	Epoch                kafka.BrokerEpoch
	Fenced               bool
	InControlledShutdown bool
}
