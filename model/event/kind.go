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
