package inspect

// kind is how a field of a metadata record is encoded.
type kind uint8

const (
	boolKind kind = iota
	int8Kind
	int16Kind
	uint16Kind
	int32Kind
	int64Kind
	floatKind
	uuidKind
	stringKind
	bytesKind
	structKind   // of the fields in of
	optionalKind // the same, with a byte before it that is 1, or 0 for null; null if it is not sent
	protocolKind // a string: the protocol type of a classic group
	consumerKind // bytes; if the protocol type is consumer, a version and the fields in of
)

// field is one field of a record or structure, in wire order.
type field struct {
	name  string
	kind  kind
	array bool    // of kind
	since int     // first version of the record that has it
	until int     // last one; 0: all later ones have it
	tag   int     // tagged field number + 1; 0: in order
	of    []field // of a structure
}

// schema is a type of metadata record: versions 0 to max.
type schema struct {
	name   string
	max    int
	fields []field
}

var (
	endPoints = []field{{name: "name", kind: stringKind}, {name: "host", kind: stringKind}, {name: "port", kind: uint16Kind}, {name: "securityProtocol", kind: int16Kind}}
	features  = []field{{name: "name", kind: stringKind}, {name: "minSupportedVersion", kind: int16Kind}, {name: "maxSupportedVersion", kind: int16Kind}}
	scram     = []field{{name: "name", kind: stringKind}, {name: "mechanism", kind: int8Kind}}
	idEpoch   = []field{{name: "id", kind: int32Kind}, {name: "epoch", kind: int64Kind}}
)

// schemas are Kafka's, by API key (KIP-631 and its successors); keys that are
// missing were never given to a record, or are not any more.
var schemas = map[uint64]schema{
	0: {"REGISTER_BROKER_RECORD", 4, []field{{name: "brokerId", kind: int32Kind}, {name: "isMigratingZkBroker", kind: boolKind, since: 2},
		{name: "incarnationId", kind: uuidKind}, {name: "brokerEpoch", kind: int64Kind}, {name: "endPoints", kind: structKind, array: true, of: endPoints},
		{name: "features", kind: structKind, array: true, of: features}, {name: "rack", kind: stringKind}, {name: "fenced", kind: boolKind},
		{name: "inControlledShutdown", kind: boolKind, since: 1}, {name: "logDirs", kind: uuidKind, array: true, since: 3, tag: 1},
		{name: "cordonedLogDirs", kind: uuidKind, array: true, since: 4, tag: 2}}},
	1: {"UNREGISTER_BROKER_RECORD", 0, []field{{name: "brokerId", kind: int32Kind}, {name: "brokerEpoch", kind: int64Kind}}},
	2: {"TOPIC_RECORD", 0, []field{{name: "name", kind: stringKind}, {name: "topicId", kind: uuidKind}}},
	3: {"PARTITION_RECORD", 2, []field{{name: "partitionId", kind: int32Kind}, {name: "topicId", kind: uuidKind}, {name: "replicas", kind: int32Kind, array: true},
		{name: "isr", kind: int32Kind, array: true}, {name: "removingReplicas", kind: int32Kind, array: true}, {name: "addingReplicas", kind: int32Kind, array: true},
		{name: "leader", kind: int32Kind}, {name: "leaderRecoveryState", kind: int8Kind, tag: 1}, {name: "leaderEpoch", kind: int32Kind},
		{name: "partitionEpoch", kind: int32Kind}, {name: "directories", kind: uuidKind, array: true, since: 1},
		{name: "eligibleLeaderReplicas", kind: int32Kind, array: true, since: 2, tag: 2}, {name: "lastKnownElr", kind: int32Kind, array: true, since: 2, tag: 3}}},
	4: {"CONFIG_RECORD", 0, []field{{name: "resourceType", kind: int8Kind}, {name: "resourceName", kind: stringKind}, {name: "name", kind: stringKind}, {name: "value", kind: stringKind}}},
	5: {"PARTITION_CHANGE_RECORD", 2, []field{{name: "partitionId", kind: int32Kind}, {name: "topicId", kind: uuidKind}, {name: "isr", kind: int32Kind, array: true, tag: 1},
		{name: "leader", kind: int32Kind, tag: 2}, {name: "replicas", kind: int32Kind, array: true, tag: 3}, {name: "removingReplicas", kind: int32Kind, array: true, tag: 4},
		{name: "addingReplicas", kind: int32Kind, array: true, tag: 5}, {name: "leaderRecoveryState", kind: int8Kind, tag: 6},
		{name: "directories", kind: uuidKind, array: true, since: 1, tag: 9}, {name: "eligibleLeaderReplicas", kind: int32Kind, array: true, since: 2, tag: 7},
		{name: "lastKnownElr", kind: int32Kind, array: true, since: 2, tag: 8}}},
	7: {"FENCE_BROKER_RECORD", 0, idEpoch},
	8: {"UNFENCE_BROKER_RECORD", 0, idEpoch},
	9: {"REMOVE_TOPIC_RECORD", 0, []field{{name: "topicId", kind: uuidKind}}},
	10: {"DELEGATION_TOKEN_RECORD", 0, []field{{name: "owner", kind: stringKind}, {name: "requester", kind: stringKind}, {name: "renewers", kind: stringKind, array: true},
		{name: "issueTimestamp", kind: int64Kind}, {name: "maxTimestamp", kind: int64Kind}, {name: "expirationTimestamp", kind: int64Kind}, {name: "tokenId", kind: stringKind}}},
	11: {"USER_SCRAM_CREDENTIAL_RECORD", 0, append(append([]field{}, scram...), field{name: "salt", kind: bytesKind}, field{name: "storedKey", kind: bytesKind},
		field{name: "serverKey", kind: bytesKind}, field{name: "iterations", kind: int32Kind})},
	12: {"FEATURE_LEVEL_RECORD", 0, []field{{name: "name", kind: stringKind}, {name: "featureLevel", kind: int16Kind}}},
	14: {"CLIENT_QUOTA_RECORD", 0, []field{{name: "entity", kind: structKind, array: true, of: []field{{name: "entityType", kind: stringKind}, {name: "entityName", kind: stringKind}}},
		{name: "key", kind: stringKind}, {name: "value", kind: floatKind}, {name: "remove", kind: boolKind}}},
	15: {"PRODUCER_IDS_RECORD", 0, []field{{name: "brokerId", kind: int32Kind}, {name: "brokerEpoch", kind: int64Kind}, {name: "nextProducerId", kind: int64Kind}}},
	17: {"BROKER_REGISTRATION_CHANGE_RECORD", 3, []field{{name: "brokerId", kind: int32Kind}, {name: "brokerEpoch", kind: int64Kind}, {name: "fenced", kind: int8Kind, tag: 1},
		{name: "inControlledShutdown", kind: int8Kind, since: 1, tag: 2}, {name: "logDirs", kind: uuidKind, array: true, since: 2, tag: 3},
		{name: "cordonedLogDirs", kind: uuidKind, array: true, since: 3, tag: 4}}},
	18: {"ACCESS_CONTROL_ENTRY_RECORD", 0, []field{{name: "id", kind: uuidKind}, {name: "resourceType", kind: int8Kind}, {name: "resourceName", kind: stringKind},
		{name: "patternType", kind: int8Kind}, {name: "principal", kind: stringKind}, {name: "host", kind: stringKind}, {name: "operation", kind: int8Kind}, {name: "permissionType", kind: int8Kind}}},
	19: {"REMOVE_ACCESS_CONTROL_ENTRY_RECORD", 0, []field{{name: "id", kind: uuidKind}}},
	20: {"NO_OP_RECORD", 0, nil},
	21: {"ZK_MIGRATION_STATE_RECORD", 0, []field{{name: "zkMigrationState", kind: int8Kind}}},
	22: {"REMOVE_USER_SCRAM_CREDENTIAL_RECORD", 0, scram},
	23: {"BEGIN_TRANSACTION_RECORD", 0, []field{{name: "name", kind: stringKind, tag: 1}}},
	24: {"END_TRANSACTION_RECORD", 0, nil},
	25: {"ABORT_TRANSACTION_RECORD", 0, []field{{name: "reason", kind: stringKind, tag: 1}}},
	26: {"REMOVE_DELEGATION_TOKEN_RECORD", 0, []field{{name: "tokenId", kind: stringKind}}},
	27: {"REGISTER_CONTROLLER_RECORD", 0, []field{{name: "controllerId", kind: int32Kind}, {name: "incarnationId", kind: uuidKind}, {name: "zkMigrationReady", kind: boolKind},
		{name: "endPoints", kind: structKind, array: true, of: endPoints}, {name: "features", kind: structKind, array: true, of: features}}},
	28: {"CLEAR_ELR_RECORD", 0, []field{{name: "topicName", kind: stringKind}}},
	29: {"UNREGISTER_CONTROLLER_RECORD", 0, []field{{name: "controllerId", kind: int32Kind}}},
}

var voters = []field{{name: "voterId", kind: int32Kind}, {name: "voterDirectoryId", kind: uuidKind, since: 1}}

// controlSchemas are the control records of the metadata log by their type, the
// version comes first in each.
var controlSchemas = map[uint64]schema{
	2: {"LeaderChange:", 1, []field{{name: "leaderId", kind: int32Kind}, {name: "voters", kind: structKind, array: true, of: voters},
		{name: "grantingVoters", kind: structKind, array: true, of: voters}}},
	3: {"SnapshotHeader", 0, []field{{name: "lastContainedLogTimestamp", kind: int64Kind}}},
	4: {"SnapshotFooter", 0, nil},
	5: {"KRaftVersion", 0, []field{{name: "kRaftVersion", kind: int16Kind}}},
	6: {"KRaftVoters", 0, []field{{name: "voters", kind: structKind, array: true, of: []field{{name: "voterId", kind: int32Kind}, {name: "voterDirectoryId", kind: uuidKind},
		{name: "endpoints", kind: structKind, array: true, of: []field{{name: "name", kind: stringKind}, {name: "host", kind: stringKind}, {name: "port", kind: uint16Kind}}},
		{name: "kRaftVersionFeature", kind: structKind, of: []field{{name: "minSupportedVersion", kind: int16Kind}, {name: "maxSupportedVersion", kind: int16Kind}}}}}}},
}
