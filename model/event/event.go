package event

import (
	"tidemark/model/kafka"
)

// Kind tells what an event says and which fields it fills.
type Kind uint8

// The client history. Client names the process; Attempt is unique for each
// application-level send, whatever the client library retries beneath it (see
// Ordinal).
const (
	// SendInvoke: an application hands a record to its producer.
	// Topic, Partition (-1 if not chosen yet), Attempt, Hash, Key, Headers,
	// Timestamp, Acks, Text = the beginning of its value, as Preview shows it.
	SendInvoke Kind = 1 + iota
	// SendOK: the record is acknowledged. Topic, Partition, Offset (-1 with
	// acks=0), Attempt, Hash, Acks, Text as SendInvoke; Session: the producer id
	// and epoch that it was sent with.
	SendOK
	// SendFail: the record was certainly not written. Code.
	SendFail
	// SendUnknown: the record may or may not have been written. Code.
	SendUnknown
	// PollOK: records returned to an application. Offset is the position
	// before, End the position after, HighWatermark as the answer told,
	// Records what was returned. Drained: End reached HighWatermark.
	PollOK
	// PositionReset: a position moved without consumption. Offset before, End
	// after, Text the reason: assign, seek, out-of-range, truncated.
	PositionReset
	// TruncationDetected: a consumer learned that its position was cut off.
	// Offset is the position, End where the log diverged, Epoch the epoch there.
	TruncationDetected
)

// The client history of polls, groups and transactions. An operation other than
// a send has an Attempt of its own too, which its outcome repeats: OK, Fail (it
// certainly had no effect) or Unknown. An operation without outcome is open.
const (
	// PollInvoke: an application asks for records. The PollOK that follow carry
	// its Attempt, one for each partition that gave any or moved its position.
	PollInvoke Kind = 128 + iota
	// Assigned, Revoked, Lost: from here on a consumer has a partition, has
	// given it up, or had it taken (its member was fenced). Session tells group,
	// member and generation; without group the application chose (assign).
	Assigned
	Revoked
	Lost
	// CommitInvoke and its outcomes: Offset becomes the group's committed
	// position in Topic, Partition. Session: group, member, generation; with
	// Txn it is part of that transaction (KIP-98). Text "auto": by
	// enable.auto.commit.
	CommitInvoke
	CommitOK
	CommitFail
	CommitUnknown
	// FetchCommittedInvoke and its outcomes: the group's committed position in
	// Topic, Partition is asked; FetchCommittedOK's Offset is the answer, -1 for
	// none. Text "unstable": pending offsets of transactions were not waited for
	// (KIP-447).
	FetchCommittedInvoke
	FetchCommittedOK
	FetchCommittedFail
	// InitProducerInvoke and its outcomes: InitProducerId. Session: transactional
	// id and, once OK, producer id and epoch.
	InitProducerInvoke
	InitProducerOK
	InitProducerFail
	InitProducerUnknown
	// TxnBegin: an application begins transaction Session.Txn.
	TxnBegin
	// TxnEndInvoke and its outcomes: commit or abort (Text) of Session.Txn.
	// TxnEndFail: it was certainly not ended so.
	TxnEndInvoke
	TxnEndOK
	TxnEndFail
	TxnEndUnknown
	// ListOffsetsInvoke, ListOffsetsOK: Text is latest or earliest, Offset what
	// it was found to be, as Isolation sees it.
	ListOffsetsInvoke
	ListOffsetsOK
	ListOffsetsFail
	// ClientCrashed: the process Client ended; what it had open stays open.
	ClientCrashed
	// LogStartMoved: Topic, Partition begins at Offset from here on; Text:
	// retention or delete-records. Node is the leader that raised it; -1 with a
	// Client that was told so: then every live replica has done it.
	LogStartMoved
	// Cleaned: the cleaner passed over Topic, Partition up to End (exclusive).
	// Node is the replica, -1 if all did.
	Cleaned
)

// Isolation is what a reader sees of transactions (isolation.level).
type Isolation int8

// The values of the protocol's isolation_level.
const (
	ReadUncommitted Isolation = iota
	ReadCommitted
)

// Session is the producer or group member that an operation belongs to. It is
// immutable once an event points to it, so events may share one.
type Session struct {
	ProducerID      kafka.ProducerID    // -1 for none or not known
	ProducerEpoch   kafka.ProducerEpoch // -1 for none or not known
	TransactionalID string              // empty for none
	Txn             uint64              // unique for each transaction of the history, 0 for none
	Group           string              // group.id, empty for none
	Member          string              // member id, unique within the group
	Generation      int32               // generation or member epoch, -1 for none
}

// NewSession returns a session with every id unknown.
func NewSession() Session { return Session{ProducerID: -1, ProducerEpoch: -1, Generation: -1} }

// The white box.
const (
	// Profile: an effective setting. Text is key=value, Client the scope: empty
	// or cluster, "topic T", "producer P", "consumer C".
	Profile Kind = 32 + iota
	// Boot, Ready, Died: a node's life. Died's Text begins with one of kill,
	// power, stop, wipe, crash, exit; more words may say how and why.
	Boot
	Ready
	Died
	// Paused, Resumed: SIGSTOP and SIGCONT.
	Paused
	Resumed
	// Fault: any other fault step took place (cut, heal, hold, release, stall,
	// reset, clock). Text says it as the scenario file does; Node and Peer are
	// the nodes that it touches, -1 for none.
	Fault
	// Step: a plan step began; Text is its source text, Line its line.
	Step
	// WaitFailed: a wait's time ran out. Text, Line.
	WaitFailed
	// Registered, Fenced, Unfenced, ShutdownStarted: broker Peer at the
	// controller Node.
	Registered
	Fenced
	Unfenced
	ShutdownStarted
	// TopicCreated: Topic, Partition = number of partitions.
	TopicCreated
	// Elected: the controller changed or confirmed a leader: Topic, Partition,
	// Peer (leader or -1), Epoch, PartitionEpoch, ISR, Text: create, clean,
	// preferred, unclean, last-known-leader or none.
	Elected
	// ISRChanged: the controller committed a new ISR without a new leader:
	// Topic, Partition, Peer (leader), Epoch, PartitionEpoch, ISR.
	ISRChanged
	// AlterPartitionRefused: Topic, Partition, Peer (sender), Code; Epoch and
	// PartitionEpoch as the sender knew them.
	AlterPartitionRefused
	// BecameLeader: replica on Node. Epoch, PartitionEpoch, Offset = epoch
	// start, End = log end offset, HighWatermark, ISR.
	BecameLeader
	// BecameFollower: Epoch, PartitionEpoch, Peer = leader (-1 none), End =
	// log end offset, HighWatermark.
	BecameFollower
	// Appended: one batch was appended: Offset = base, End = log end offset
	// after it, Epoch of the batch, Hash = the batch's CRC-32C (which covers
	// neither offset nor epoch, so it is equal on every replica; 0 is not
	// known), Text: leader or follower. An append of several batches gives an
	// event for each, in order.
	Appended
	// HighWatermarkMoved: Offset = before, HighWatermark = after, Text: leader
	// or follower.
	HighWatermarkMoved
	// Truncated: Offset = log end before, End = log end after, Text the reason:
	// to-hw, diverging, out-of-range, full.
	Truncated
	// ISRProposed: the leader asks for ISR in place of what it knows by Epoch
	// and PartitionEpoch; Text: shrink or expand.
	ISRProposed
	// ISRApplied: the leader took ISR as committed: ISR, Epoch, PartitionEpoch.
	// Text: answer (to its proposal) or metadata.
	ISRApplied
	// Recovered: a log was opened. Offset = recovery point, End = log end
	// offset, Text: clean, unclean, unclean cut at BYTE of SEGMENT.
	Recovered
	// StorageFailed: the log directory went offline. Text.
	StorageFailed
	// AuditRecord: the World read a record in a replica's segments: Node,
	// Topic, Partition, Offset, Epoch, Attempt, Hash (of the value).
	AuditRecord
	// AuditReplica closes a replica's audit: Offset = first offset found, End
	// = one past the last, HighWatermark as the node claims, Text: live, dead.
	AuditReplica
	// Effect: a fault took effect, or a rare path ran; Text names it.
	Effect
	// Invariant: a state machine's invariant broke (a panic). Text.
	Invariant
)

// Record is what a consumer saw of one record.
type Record struct {
	Offset  kafka.Offset
	Epoch   kafka.LeaderEpoch // of its batch
	Attempt uint64            // from the record's header, 0 if foreign
	Hash    uint64            // of the value, 0 for a tombstone
	Key     uint64            // HashValue of the key, 0 for none or not known
	Control Control           // what a control record says, if a history keeps them

	Headers   uint64          // HashHeader of them all, 0 for not known
	Timestamp kafka.Timestamp // ms since 1970, 0 for not known
}

// Control tells data from the markers that end transactions.
type Control int8

// A history that leaves control records out holds data alone.
const (
	DataRecord Control = iota
	AbortMarker
	CommitMarker
)

// Event is one line of a trace. Unused fields are zero, except ids and offsets,
// which a kind that fills them sets; New returns one with every id unknown.
type Event struct {
	Seq  uint64         // total order, from 1
	At   int64          // ns of simulated time since the run began
	Kind Kind           //
	Node kafka.BrokerID // the node that says it, -1 for the World

	Client    string // the client history's process, or a profile's scope
	Topic     string
	Partition int32

	Peer           kafka.BrokerID // the other node: leader, sender, subject
	Offset         kafka.Offset
	End            kafka.Offset
	HighWatermark  kafka.Offset
	Epoch          kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	ISR            []kafka.BrokerID

	Attempt uint64
	Hash    uint64
	Acks    int16 // 0, 1 or -1
	Code    kafka.ErrorCode
	Drained bool
	Records []Record

	Key        uint64          // HashValue of a send's key, 0 for none
	Headers    uint64          // HashHeader of a send's headers, 0 for not known
	Timestamp  kafka.Timestamp // of a record that is sent: ms since 1970, 0 for not known
	Source     string          // of a send made from a record that was read: TOPIC-PARTITION@OFFSET
	Isolation  Isolation       // of a poll or ListOffsets
	LastStable kafka.Offset    // LSO as a poll's answer told, -1 for not known
	ClockErr   int64           // ns that At may be wrong by, either way; 0 where Seq is the true order
	Session    *Session        // nil for none

	Line int // line of the scenario file, 0 for none
	Text string
}

// New returns an event of a kind with every id and offset unknown.
func New(k Kind) Event {
	return Event{Kind: k, Node: kafka.NoBroker, Peer: kafka.NoBroker, Offset: kafka.NoOffset, End: kafka.NoOffset,
		HighWatermark: kafka.NoOffset, Epoch: kafka.NoEpoch, PartitionEpoch: -1, LastStable: kafka.NoOffset}
}

// noSession is what an event without session says.
var noSession = NewSession()

// Who is the event's session; one with every id unknown if it has none.
func (e *Event) Who() *Session {
	if e.Session == nil {
		return &noSession
	}
	return e.Session
}

// Ordinal is an attempt's number among those of its client, from 1: attempt ids
// have the number in the lower 32 bits and the client's node id above it.
func Ordinal(attempt uint64) uint32 { return uint32(attempt) }

// previewBytes is how much of a value a trace shows.
const previewBytes = 24

// Preview shows the beginning of a record's value, up to 24 bytes, for people:
// as it is if it is plain ASCII text, else nothing.
func Preview(value []byte) string {
	if len(value) > previewBytes {
		value = value[:previewBytes]
	}
	for _, c := range value {
		if c < ' ' || c > '~' {
			return ""
		}
	}
	return string(value)
}

// TP is the partition that the event speaks of.
func (e *Event) TP() kafka.TopicPartition {
	return kafka.TopicPartition{Topic: e.Topic, Partition: e.Partition}
}
