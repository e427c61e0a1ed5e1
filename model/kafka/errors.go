package kafka

import "strconv"

// ErrorCode is an error code of the Kafka protocol; 0 is success. Protocol
// errors travel as codes inside responses; Go errors are for disks and input.
type ErrorCode int16

// The codes that tidemark's nodes send or understand, with Kafka's numbers.
const (
	UnknownServerError           ErrorCode = -1
	None                         ErrorCode = 0
	OffsetOutOfRange             ErrorCode = 1
	CorruptMessage               ErrorCode = 2
	UnknownTopicOrPartition      ErrorCode = 3
	LeaderNotAvailable           ErrorCode = 5
	NotLeaderOrFollower          ErrorCode = 6
	RequestTimedOut              ErrorCode = 7
	BrokerNotAvailable           ErrorCode = 8
	ReplicaNotAvailable          ErrorCode = 9
	MessageTooLarge              ErrorCode = 10
	NetworkException             ErrorCode = 13
	CoordinatorLoadInProgress    ErrorCode = 14
	CoordinatorNotAvailable      ErrorCode = 15
	NotCoordinator               ErrorCode = 16
	InvalidTopic                 ErrorCode = 17
	RecordListTooLarge           ErrorCode = 18
	NotEnoughReplicas            ErrorCode = 19
	NotEnoughReplicasAfterAppend ErrorCode = 20
	InvalidRequiredAcks          ErrorCode = 21
	InvalidTimestamp             ErrorCode = 32
	UnsupportedVersion           ErrorCode = 35
	TopicAlreadyExists           ErrorCode = 36
	InvalidPartitions            ErrorCode = 37
	InvalidReplicationFactor     ErrorCode = 38
	InvalidReplicaAssignment     ErrorCode = 39
	InvalidConfig                ErrorCode = 40
	NotController                ErrorCode = 41
	InvalidRequest               ErrorCode = 42
	PolicyViolation              ErrorCode = 44
	OutOfOrderSequenceNumber     ErrorCode = 45
	DuplicateSequenceNumber      ErrorCode = 46
	InvalidProducerEpoch         ErrorCode = 47
	InvalidTxnState              ErrorCode = 48
	TransactionCoordinatorFenced ErrorCode = 52
	OperationNotAttempted        ErrorCode = 55
	KafkaStorageError            ErrorCode = 56
	FetchSessionIDNotFound       ErrorCode = 70
	InvalidFetchSessionEpoch     ErrorCode = 71
	FencedLeaderEpoch            ErrorCode = 74
	UnknownLeaderEpoch           ErrorCode = 75
	UnsupportedCompressionType   ErrorCode = 76
	StaleBrokerEpoch             ErrorCode = 77
	OffsetNotAvailable           ErrorCode = 78
	PreferredLeaderNotAvailable  ErrorCode = 80
	EligibleLeadersNotAvailable  ErrorCode = 83
	ElectionNotNeeded            ErrorCode = 84
	InvalidRecord                ErrorCode = 87
	UnstableOffsetCommit         ErrorCode = 88
	InvalidUpdateVersion         ErrorCode = 95
	DuplicateBrokerRegistration  ErrorCode = 101
	BrokerIDNotRegistered        ErrorCode = 102
	InconsistentTopicID          ErrorCode = 103
	InconsistentClusterID        ErrorCode = 104
	UnknownTopicID               ErrorCode = 100
	FetchSessionTopicIDError     ErrorCode = 106
	IneligibleReplica            ErrorCode = 107
	NewLeaderElected             ErrorCode = 108
	MismatchedEndpointType       ErrorCode = 114
	InvalidRegistration          ErrorCode = 119
)

var errorNames = map[ErrorCode]string{
	UnknownServerError: "UNKNOWN_SERVER_ERROR", None: "NONE", OffsetOutOfRange: "OFFSET_OUT_OF_RANGE",
	CorruptMessage: "CORRUPT_MESSAGE", UnknownTopicOrPartition: "UNKNOWN_TOPIC_OR_PARTITION",
	LeaderNotAvailable: "LEADER_NOT_AVAILABLE", NotLeaderOrFollower: "NOT_LEADER_OR_FOLLOWER",
	RequestTimedOut: "REQUEST_TIMED_OUT", BrokerNotAvailable: "BROKER_NOT_AVAILABLE",
	ReplicaNotAvailable: "REPLICA_NOT_AVAILABLE", MessageTooLarge: "MESSAGE_TOO_LARGE",
	NetworkException: "NETWORK_EXCEPTION", CoordinatorNotAvailable: "COORDINATOR_NOT_AVAILABLE",
	InvalidTopic: "INVALID_TOPIC_EXCEPTION", RecordListTooLarge: "RECORD_LIST_TOO_LARGE",
	NotEnoughReplicas: "NOT_ENOUGH_REPLICAS", NotEnoughReplicasAfterAppend: "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
	InvalidRequiredAcks: "INVALID_REQUIRED_ACKS", InvalidTimestamp: "INVALID_TIMESTAMP",
	UnsupportedVersion: "UNSUPPORTED_VERSION", TopicAlreadyExists: "TOPIC_ALREADY_EXISTS",
	InvalidPartitions: "INVALID_PARTITIONS", InvalidReplicationFactor: "INVALID_REPLICATION_FACTOR",
	InvalidReplicaAssignment: "INVALID_REPLICA_ASSIGNMENT", InvalidConfig: "INVALID_CONFIG",
	NotController: "NOT_CONTROLLER", InvalidRequest: "INVALID_REQUEST",
	OutOfOrderSequenceNumber: "OUT_OF_ORDER_SEQUENCE_NUMBER", InvalidProducerEpoch: "INVALID_PRODUCER_EPOCH",
	InvalidTxnState: "INVALID_TXN_STATE", OperationNotAttempted: "OPERATION_NOT_ATTEMPTED",
	KafkaStorageError: "KAFKA_STORAGE_ERROR", FetchSessionIDNotFound: "FETCH_SESSION_ID_NOT_FOUND",
	InvalidFetchSessionEpoch: "INVALID_FETCH_SESSION_EPOCH", FencedLeaderEpoch: "FENCED_LEADER_EPOCH",
	UnknownLeaderEpoch: "UNKNOWN_LEADER_EPOCH", UnsupportedCompressionType: "UNSUPPORTED_COMPRESSION_TYPE",
	StaleBrokerEpoch: "STALE_BROKER_EPOCH", OffsetNotAvailable: "OFFSET_NOT_AVAILABLE",
	PreferredLeaderNotAvailable: "PREFERRED_LEADER_NOT_AVAILABLE",
	EligibleLeadersNotAvailable: "ELIGIBLE_LEADERS_NOT_AVAILABLE", ElectionNotNeeded: "ELECTION_NOT_NEEDED",
	InvalidRecord: "INVALID_RECORD", UnstableOffsetCommit: "UNSTABLE_OFFSET_COMMIT",
	InvalidUpdateVersion: "INVALID_UPDATE_VERSION", DuplicateBrokerRegistration: "DUPLICATE_BROKER_REGISTRATION",
	BrokerIDNotRegistered: "BROKER_ID_NOT_REGISTERED", InconsistentTopicID: "INCONSISTENT_TOPIC_ID",
	InconsistentClusterID: "INCONSISTENT_CLUSTER_ID", UnknownTopicID: "UNKNOWN_TOPIC_ID",
	FetchSessionTopicIDError: "FETCH_SESSION_TOPIC_ID_ERROR", IneligibleReplica: "INELIGIBLE_REPLICA",
	CoordinatorLoadInProgress: "COORDINATOR_LOAD_IN_PROGRESS", NotCoordinator: "NOT_COORDINATOR",
	DuplicateSequenceNumber: "DUPLICATE_SEQUENCE_NUMBER", TransactionCoordinatorFenced: "TRANSACTION_COORDINATOR_FENCED",
	NewLeaderElected: "NEW_LEADER_ELECTED", PolicyViolation: "POLICY_VIOLATION", InvalidRegistration: "INVALID_REGISTRATION", MismatchedEndpointType: "MISMATCHED_ENDPOINT_TYPE",
}

// String writes Kafka's name of the code, or the number of an unknown one.
func (e ErrorCode) String() string {
	if s, ok := errorNames[e]; ok {
		return s
	}
	return "ERROR_" + strconv.Itoa(int(e))
}
