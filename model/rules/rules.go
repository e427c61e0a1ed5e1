// Package rules holds the decisions of the protocol that Kafka changed in its
// history, each in a form that node code follows without knowing which release
// it stands for.
//
// A run of old Kafka and a run of new Kafka must differ in the one decision
// under study and in nothing else; only then does a lost record accuse that
// decision. So node code never asks "which release is this?". It calls a
// function over plain values, or executes an ordered list of steps, or uses a
// policy value, and the release lies in which function, list or value it was
// given:
//
//	Current()   ─▶ Rules{Replica{StartFollowing, LastFetchedEpoch}, …}
//	                        ▲
//	truncate=toHW ──────────┘ replaces some of them
//
// Current is Apache Kafka 4.x. A variant, in a file of its own that opens with
// the history, sets one decision back to an older one. Variants compose, and
// each node gets its rules at boot, so a rolling upgrade is a plan.
package rules

// Rules are one node's decisions, by subsystem; a package receives only its own.
type Rules struct {
	Replica Replica
	Cleaner Cleaner
	Storage Storage
}

// Current returns the rules of Apache Kafka 4.x.
func Current() Rules {
	return Rules{Replica: currentReplica(), Cleaner: currentCleaner(), Storage: currentStorage()}
}
