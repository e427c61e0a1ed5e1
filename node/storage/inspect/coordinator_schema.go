package inspect

// coordinatorSchema is a type of record of a coordinator's log: the fields of its key,
// which are plain, and of its value, in versions 0 to max, flexible from one on
// (KIP-482).
type coordinatorSchema struct {
	key      []field
	value    []field
	max      int
	flexible int
}

var (
	offsetKey = []field{{name: "group", kind: stringKind}, {name: "topic", kind: stringKind}, {name: "partition", kind: int32Kind}}
	groupKey  = []field{{name: "groupId", kind: stringKind}}
	memberKey = []field{{name: "groupId", kind: stringKind}, {name: "memberId", kind: stringKind}}

	offsetValue = []field{{name: "offset", kind: int64Kind}, {name: "leaderEpoch", kind: int32Kind, since: 3}, {name: "metadata", kind: stringKind},
		{name: "commitTimestamp", kind: int64Kind}, {name: "expireTimestamp", kind: int64Kind, since: 1, until: 1}, {name: "topicId", kind: uuidKind, since: 4, tag: 1}}

	// What the members of a classic group tell each other, where the protocol is the
	// consumer's (KIP-429, KIP-792, KIP-881).
	topicPartitions = []field{{name: "topic", kind: stringKind}, {name: "partitions", kind: int32Kind, array: true}}
	subscription    = []field{{name: "topics", kind: stringKind, array: true}, {name: "userData", kind: bytesKind},
		{name: "ownedPartitions", kind: structKind, array: true, since: 1, of: topicPartitions}, {name: "generationId", kind: int32Kind, since: 2}, {name: "rackId", kind: stringKind, since: 3}}
	assignment = []field{{name: "assignedPartitions", kind: structKind, array: true, of: topicPartitions}, {name: "userData", kind: bytesKind}}

	groupMember = []field{{name: "memberId", kind: stringKind}, {name: "groupInstanceId", kind: stringKind, since: 3}, {name: "clientId", kind: stringKind},
		{name: "clientHost", kind: stringKind}, {name: "rebalanceTimeout", kind: int32Kind, since: 1}, {name: "sessionTimeout", kind: int32Kind},
		{name: "subscription", kind: consumerKind, of: subscription}, {name: "assignment", kind: consumerKind, of: assignment}}

	idPartitions = []field{{name: "topicId", kind: uuidKind}, {name: "partitions", kind: int32Kind, array: true}, {name: "assignmentEpochs", kind: int32Kind, array: true, tag: 1}}
	classicJoin  = []field{{name: "sessionTimeoutMs", kind: int32Kind}, {name: "supportedProtocols", kind: structKind, array: true,
		of: []field{{name: "name", kind: stringKind}, {name: "metadata", kind: bytesKind}}}}
)

// groupSchemas are those of __consumer_offsets, by record type: classic groups, and
// from 3 on those of the new protocol (KIP-848).
var groupSchemas = map[int16]coordinatorSchema{
	0: {key: offsetKey, value: offsetValue, max: 4, flexible: 4},
	1: {key: offsetKey, value: offsetValue, max: 4, flexible: 4},
	2: {key: []field{{name: "group", kind: stringKind}}, max: 4, flexible: 4,
		value: []field{{name: "protocolType", kind: protocolKind}, {name: "generation", kind: int32Kind}, {name: "protocol", kind: stringKind},
			{name: "leader", kind: stringKind}, {name: "currentStateTimestamp", kind: int64Kind, since: 2}, {name: "members", kind: structKind, array: true, of: groupMember}}},
	3: {key: groupKey, value: []field{{name: "epoch", kind: int32Kind}, {name: "metadataHash", kind: int64Kind, tag: 1}, {name: "creationTimeMs", kind: int64Kind, tag: 2}}},
	4: {key: groupKey, value: []field{{name: "topics", kind: structKind, array: true, of: []field{{name: "topicId", kind: uuidKind}, {name: "topicName", kind: stringKind},
		{name: "numPartitions", kind: int32Kind}, {name: "partitionMetadata", kind: structKind, array: true,
			of: []field{{name: "partition", kind: int32Kind}, {name: "racks", kind: stringKind, array: true}}}}}}},
	5: {key: memberKey, value: []field{{name: "instanceId", kind: stringKind}, {name: "rackId", kind: stringKind}, {name: "clientId", kind: stringKind},
		{name: "clientHost", kind: stringKind}, {name: "subscribedTopicNames", kind: stringKind, array: true}, {name: "subscribedTopicRegex", kind: stringKind},
		{name: "rebalanceTimeoutMs", kind: int32Kind}, {name: "serverAssignor", kind: stringKind},
		{name: "classicMemberMetadata", kind: optionalKind, tag: 1, of: classicJoin}}},
	6: {key: groupKey, value: []field{{name: "assignmentEpoch", kind: int32Kind}, {name: "assignmentTimestamp", kind: int64Kind, tag: 1}}},
	7: {key: memberKey, value: []field{{name: "topicPartitions", kind: structKind, array: true, of: idPartitions}}},
	8: {key: memberKey, value: []field{{name: "memberEpoch", kind: int32Kind}, {name: "previousMemberEpoch", kind: int32Kind}, {name: "state", kind: int8Kind},
		{name: "assignedPartitions", kind: structKind, array: true, of: idPartitions}, {name: "partitionsPendingRevocation", kind: structKind, array: true, of: idPartitions}}},
	16: {key: []field{{name: "groupId", kind: stringKind}, {name: "regularExpression", kind: stringKind}},
		value: []field{{name: "topics", kind: stringKind, array: true}, {name: "version", kind: int64Kind}, {name: "timestamp", kind: int64Kind}}},
}

// transactionSchemas are those of __transaction_state (KIP-98, KIP-890).
var transactionSchemas = map[int16]coordinatorSchema{
	0: {key: []field{{name: "transactionalId", kind: stringKind}}, max: 1, flexible: 1,
		value: []field{{name: "producerId", kind: int64Kind}, {name: "previousProducerId", kind: int64Kind, since: 1, tag: 1}, {name: "nextProducerId", kind: int64Kind, since: 1, tag: 2},
			{name: "producerEpoch", kind: int16Kind}, {name: "transactionTimeoutMs", kind: int32Kind}, {name: "transactionStatus", kind: int8Kind},
			{name: "transactionPartitions", kind: structKind, array: true, of: []field{{name: "topic", kind: stringKind}, {name: "partitionIds", kind: int32Kind, array: true}}},
			{name: "transactionLastUpdateTimestampMs", kind: int64Kind}, {name: "transactionStartTimestampMs", kind: int64Kind},
			{name: "clientTransactionVersion", kind: int16Kind, since: 1, tag: 3}}},
}
