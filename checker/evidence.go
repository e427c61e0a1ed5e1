package checker

import (
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// The closure of the evidence: what the whole history proves of one send. A send
// whose outcome nobody knows and that nobody read can always be explained as one
// that never took place, so no rule has to guess; that is what keeps checking
// from being a search.

// status is what is known of a send.
type status uint8

const (
	statusUnknown status = iota // it may or may not be in the log, or arrive yet
	statusAcked                 // the producer was told of success
	statusSeen                  // a consumer was given it
	// statusRefuted: as of the last read to the end it was not there. It may
	// still arrive later if its outcome is unknown; a send that failed for
	// certain may not.
	statusRefuted
)

// statusOf tells what the history proves of a send; call it when the history is
// complete.
func (h *history) statusOf(s *send) status {
	if s.tp.Partition < 0 {
		return statusUnknown
	}
	rd := h.reading(s.tp)
	rd.index(h)
	switch {
	case s.seen != kafka.NoOffset:
		return statusSeen
	case s.outcome == event.SendOK:
		return statusAcked
	case s.outcome == event.SendFail && certaintyOf(s.code) == definite:
		return statusRefuted
	}
	if d := rd.lastDrained(); d != nil && d.seq > s.invoked {
		return statusRefuted
	}
	return statusUnknown
}

// certainty is what an error of a produce request proves.
type certainty uint8

const (
	indefinite certainty = iota // the batch may have been appended
	definite                    // the batch was certainly not appended
)

// errorTable is what an error proves when it answers the only request that was
// ever sent for a batch. After any retry an error proves nothing: an earlier
// request may have been appended and its answer lost. A code that is not listed
// proves nothing either.
var errorTable = []struct {
	code kafka.ErrorCode
	says certainty
	why  string
}{
	{kafka.None, definite, "refused by the client before anything was sent"},
	{kafka.NotEnoughReplicas, definite, "min.insync.replicas is checked before the append"},
	{kafka.MessageTooLarge, definite, "checked before the append"},
	{kafka.RecordListTooLarge, definite, "checked before the append"},
	{kafka.CorruptMessage, definite, "the batch's checksum is checked before the append"},
	{kafka.InvalidRecord, definite, "records are validated before the append"},
	{kafka.InvalidTimestamp, definite, "records are validated before the append"},
	{kafka.InvalidRequiredAcks, definite, "the request is refused as a whole"},
	{kafka.InvalidTopic, definite, "there is no such topic to append to"},
	{kafka.UnknownTopicOrPartition, definite, "the broker has no such partition"},
	{kafka.UnknownTopicID, definite, "the broker has no such partition"},
	{kafka.UnsupportedCompressionType, definite, "the batch is refused before the append"},
	{kafka.UnsupportedVersion, definite, "the request is refused as a whole"},
	{kafka.InvalidProducerEpoch, definite, "the producer's epoch is checked before the append"},
	{kafka.OutOfOrderSequenceNumber, definite, "sequences are checked before the append"},
	{kafka.InvalidTxnState, definite, "the transaction is verified before the append"},
	{topicAuthorizationFailed, definite, "authorization comes before the append"},
	{clusterAuthorizationFailed, definite, "authorization comes before the append"},
	{transactionalIDAuthorizationFailed, definite, "authorization comes before the append"},

	{kafka.NotEnoughReplicasAfterAppend, indefinite, "as its name says"},
	{kafka.RequestTimedOut, indefinite, "the leader had it, its followers not yet; or the client gave up waiting"},
	{kafka.NotLeaderOrFollower, indefinite, "also told to requests that wait when the leader steps down"},
	{kafka.FencedLeaderEpoch, indefinite, "also told to requests that wait when the leader steps down"},
	{kafka.KafkaStorageError, indefinite, "the disk may fail after the append"},
	{kafka.NetworkException, indefinite, "the connection was lost, with the answer perhaps"},
	{kafka.UnknownServerError, indefinite, "anything may have happened"},
	{kafka.LeaderNotAvailable, indefinite, "an earlier request may be on its way"},
}

// Codes that tidemark's nodes never send, and histories of others may hold.
const (
	topicAuthorizationFailed           kafka.ErrorCode = 29
	clusterAuthorizationFailed         kafka.ErrorCode = 31
	transactionalIDAuthorizationFailed kafka.ErrorCode = 53
)

// certaintyOf is what an error proves.
func certaintyOf(code kafka.ErrorCode) certainty {
	for i := range errorTable {
		if errorTable[i].code == code {
			return errorTable[i].says
		}
	}
	return indefinite
}
