package client

import "tidemark/model/kafka"

// NeedsMetadata reports whether code says that the client's metadata is old or
// not complete: Kafka's InvalidMetadataException.
func NeedsMetadata(code kafka.ErrorCode) bool {
	switch code {
	case kafka.UnknownTopicOrPartition, kafka.LeaderNotAvailable, kafka.NotLeaderOrFollower, kafka.ReplicaNotAvailable,
		kafka.FencedLeaderEpoch, kafka.KafkaStorageError, kafka.NetworkException, kafka.UnknownTopicID,
		kafka.InconsistentTopicID, kafka.PreferredLeaderNotAvailable, kafka.EligibleLeadersNotAvailable:
		return true
	}
	return false
}

// Retriable reports whether the same request may succeed later: Kafka's
// RetriableException.
func Retriable(code kafka.ErrorCode) bool {
	switch code {
	case kafka.CorruptMessage, kafka.RequestTimedOut, kafka.NotEnoughReplicas, kafka.NotEnoughReplicasAfterAppend,
		kafka.NotController, kafka.CoordinatorLoadInProgress, kafka.CoordinatorNotAvailable, kafka.NotCoordinator,
		kafka.OffsetNotAvailable, kafka.UnknownLeaderEpoch, kafka.UnstableOffsetCommit,
		kafka.FetchSessionIDNotFound, kafka.InvalidFetchSessionEpoch, kafka.FetchSessionTopicIDError:
		return true
	}
	return NeedsMetadata(code)
}
