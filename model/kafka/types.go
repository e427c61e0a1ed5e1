package kafka

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// Offset is a position in a partition's log, in records, from 0. Log end
// offset, high watermark and last stable offset are exclusive upper bounds; the
// log start offset is an inclusive lower bound.
type Offset int64

// NoOffset stands for an offset that is not known.
const NoOffset Offset = -1

// LeaderEpoch counts the leaderships of a partition, from 0; the controller
// raises it at every change of leader (KIP-101). In the metadata log it is the
// raft epoch (KIP-595).
type LeaderEpoch int32

// NoEpoch stands for a leader epoch that is not known.
const NoEpoch LeaderEpoch = -1

// PartitionEpoch counts the change records of a partition, from 0; it is the
// version of AlterPartition's compare-and-set (KIP-497).
type PartitionEpoch int32

// BrokerID is a node.id, of a broker or of a controller, from 0.
type BrokerID int32

// NoBroker stands for "no leader" or "not a broker".
const NoBroker BrokerID = -1

// BrokerEpoch identifies one process life of a broker: the metadata offset at
// which the controller handled its registration (KIP-631).
type BrokerEpoch int64

// NoBrokerEpoch stands for a broker epoch that is not known.
const NoBrokerEpoch BrokerEpoch = -1

// ProducerID identifies an idempotent producer (KIP-98); -1 stands for none.
type ProducerID int64

// NoProducerID marks a batch without idempotence.
const NoProducerID ProducerID = -1

// ProducerEpoch fences older lives of a producer id; -1 stands for none.
type ProducerEpoch int16

// Sequence numbers the records of a producer in one partition; it wraps from
// 2^31-1 to 0. -1 stands for none.
type Sequence int32

// Timestamp is a wall-clock time in milliseconds since the Unix epoch.
type Timestamp int64

// UUID is a topic, directory, cluster or incarnation id.
type UUID [16]byte

// String writes the id as Kafka does: base64url, 22 characters.
func (u UUID) String() string { return base64.RawURLEncoding.EncodeToString(u[:]) }

// IsZero reports whether u is the unset id.
func (u UUID) IsZero() bool { return u == UUID{} }

// ParseUUID reads what String writes; any other text is an error.
func ParseUUID(s string) (UUID, error) {
	var u UUID
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != len(u) {
		return u, fmt.Errorf("%q is not a 22-character base64url id", s)
	}
	copy(u[:], b)
	return u, nil
}

// MetadataTopicID is the fixed topic id of __cluster_metadata.
var MetadataTopicID = UUID{15: 1}

// MetadataTopic is the name of the controllers' log; its one partition is 0.
const MetadataTopic = "__cluster_metadata"

// TopicPartition names one partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String writes the partition as its directory is named: topic-partition.
func (tp TopicPartition) String() string {
	return tp.Topic + "-" + strconv.Itoa(int(tp.Partition))
}

// Less orders partitions by topic, then by number.
func (tp TopicPartition) Less(o TopicPartition) bool {
	if tp.Topic != o.Topic {
		return tp.Topic < o.Topic
	}
	return tp.Partition < o.Partition
}

// ParseTopicPartition reads topic-partition, as String writes it.
func ParseTopicPartition(s string) (TopicPartition, error) {
	i := strings.LastIndexByte(s, '-')
	if i > 0 {
		if n, err := strconv.ParseInt(s[i+1:], 10, 32); err == nil && n >= 0 {
			return TopicPartition{s[:i], int32(n)}, nil
		}
	}
	return TopicPartition{}, fmt.Errorf("%q is not a partition: write topic-number, such as orders-0", s)
}

// Topic-name limits of Kafka: 1 to 249 characters of [a-zA-Z0-9._-], not "." or "..".
const maxTopicName = 249

// ValidateTopicName returns nil if Kafka accepts the name of a new topic.
func ValidateTopicName(s string) error {
	if s == "" || s == "." || s == ".." || len(s) > maxTopicName {
		return fmt.Errorf("%q is not a topic name: 1 to %d characters, not \".\" or \"..\"", s, maxTopicName)
	}
	for _, c := range []byte(s) {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
		if !ok {
			return fmt.Errorf("%q is not a topic name: only letters, digits, '.', '_' and '-' are allowed", s)
		}
	}
	return nil
}
