package producer

import "tidemark/model/kafka"

// Outcome is what a sender knows of its record in the end.
type Outcome uint8

const (
	// Acked: the leader acknowledged it (with acks=0: it was sent).
	Acked Outcome = 1 + iota
	// Failed: it was certainly not written.
	Failed
	// Unknown: it may or may not have been written, or may still be.
	Unknown
)

// Result is the end of one Send.
type Result struct {
	TP      kafka.TopicPartition // Partition -1 if none was chosen
	Offset  kafka.Offset         // Acked: of the record; NoOffset with acks=0
	Code    kafka.ErrorCode      // None if Acked
	Outcome Outcome
	// Whom the record was sent as last, with idempotence; -1 if it never was.
	ProducerID    kafka.ProducerID
	ProducerEpoch kafka.ProducerEpoch
}

// definite reports whether a leader gives code only for a batch that it did
// not append. NOT_LEADER_OR_FOLLOWER, KAFKA_STORAGE_ERROR,
// NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT and UNKNOWN_SERVER_ERROR
// are not such: they also come after the append.
func definite(code kafka.ErrorCode) bool {
	switch code {
	case kafka.NotEnoughReplicas, kafka.MessageTooLarge, kafka.RecordListTooLarge, kafka.CorruptMessage,
		kafka.InvalidRecord, kafka.InvalidTimestamp, kafka.InvalidRequiredAcks, kafka.InvalidTopic,
		kafka.UnknownTopicOrPartition, kafka.UnknownTopicID, kafka.UnsupportedCompressionType,
		kafka.UnsupportedVersion, kafka.InvalidProducerEpoch:
		return true
	}
	return false
}

// outcomeOf is what an error proves. Only an error of the first attempt proves
// anything: an earlier one may have been appended and its answer lost.
func outcomeOf(code kafka.ErrorCode, retried bool) Outcome {
	if definite(code) && !retried {
		return Failed
	}
	return Unknown
}
