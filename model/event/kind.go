package event

import "fmt"

// kindNames are the names that traces are written with, indexed by Kind; a gap
// is no kind. They are an on-disk format: a name, once written, stays.
var kindNames = [...]string{
	SendInvoke: "send", SendOK: "send-ok", SendFail: "send-fail", SendUnknown: "send-unknown",
	PollOK: "poll", PositionReset: "position-reset", TruncationDetected: "truncation-detected",

	Profile: "profile", Boot: "boot", Ready: "ready", Died: "died", Paused: "paused", Resumed: "resumed",
	Fault: "fault", Step: "step", WaitFailed: "wait-failed",
	Registered: "registered", Fenced: "fenced", Unfenced: "unfenced", ShutdownStarted: "shutdown-started",
	TopicCreated: "topic-created", Elected: "elected", ISRChanged: "isr-changed",
	AlterPartitionRefused: "alter-partition-refused",
	BecameLeader:          "became-leader", BecameFollower: "became-follower",
	Appended: "appended", HighWatermarkMoved: "high-watermark", Truncated: "truncated",
	ISRProposed: "isr-proposed", ISRApplied: "isr-applied", Recovered: "recovered",
	StorageFailed: "storage-failed", AuditRecord: "audit-record", AuditReplica: "audit-replica",
	Effect: "effect", Invariant: "invariant",

	PollInvoke: "poll-invoke", Assigned: "assigned", Revoked: "revoked", Lost: "lost",
	CommitInvoke: "commit", CommitOK: "commit-ok", CommitFail: "commit-fail", CommitUnknown: "commit-unknown",
	FetchCommittedInvoke: "fetch-committed", FetchCommittedOK: "fetch-committed-ok", FetchCommittedFail: "fetch-committed-fail",
	InitProducerInvoke: "init-producer", InitProducerOK: "init-producer-ok", InitProducerFail: "init-producer-fail",
	InitProducerUnknown: "init-producer-unknown",
	TxnBegin:            "txn-begin", TxnEndInvoke: "txn-end", TxnEndOK: "txn-end-ok", TxnEndFail: "txn-end-fail", TxnEndUnknown: "txn-end-unknown",
	ListOffsetsInvoke: "list-offsets", ListOffsetsOK: "list-offsets-ok", ListOffsetsFail: "list-offsets-fail",
	ClientCrashed: "client-crashed", LogStartMoved: "log-start", Cleaned: "cleaned",
}

// String writes the kind's name in a trace, or kind(N) for an unknown one.
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ParseKind reads what String writes; an unknown name is an error.
func ParseKind(s string) (Kind, error) {
	for k, name := range kindNames {
		if name == s && name != "" {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("%q is not a kind of event: see the kinds of model/event", s)
}

// Kinds returns every kind in order of its number.
func Kinds() []Kind {
	var ks []Kind
	for k, name := range kindNames {
		if name != "" {
			ks = append(ks, Kind(k))
		}
	}
	return ks
}
