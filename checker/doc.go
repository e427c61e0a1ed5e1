// Package checker says from the events of a run alone whether Kafka kept its
// promises.
//
// It never asks a node. A run of the simulator, of real processes and a history
// recorded elsewhere are judged by the same code, and a node that is wrong about
// itself cannot talk the checker out of a finding. Kafka's promises depend on
// settings and on premises (no unclean election, fewer than
// min.insync.replicas disks lost), so a loss has four possible verdicts:
//
//	pass       every promise held; notes may tell what was never promised
//	violation  a promise was broken and every premise of it held
//	excused    a promise was broken after its premise was: the finding says which
//	unknown    the run cannot tell: a wait failed, or a rule had nothing to judge
//
// Facts feed the rules, and each rule is one file:
//
//	           ┌─ history: sends, acks, polls ─▶ index by offset ─▶ lost-write, inconsistent-offsets ...
//	           ├─ sessions: positions of readers ─────────────────▶ poll-skip, nonmonotonic-poll ...
//	events ────┼─ transactions, groups ───────────────────────────▶ torn-transaction, dual-ownership ...
//	           └─ lineage: what each replica holds, ──────────────▶ LogMatching, LeaderCompleteness ...
//	              what was ever committed, which premise broke
//
//	rule ──▶ what it found ──▶ contract: a violation, a note, or not to be decided
//	                      ──▶ premises: a violation or excused
//	                      ──▶ clocks:   did it take place in this order at all?
//	                      ──▶ causes:   what explains what
//
// The history alone suffices for the rules over it. The lineage adds at which
// event a lost record was doomed, and finds damage that no client has read yet.
// contract.go says in one table which finding is a broken promise under which
// settings; evidence.go says what an error proves. The profile of a history may
// tell besides Kafka's own keys:
//
//	history.world      closed (every producer is in the history) or open
//	history.clock      time if only clocks order the events; else their numbers do
//	kafka.version      such as 3.9; unknown is taken for a recent one
//	eligible.leader.replicas.version, transaction.version   features, 0 for off
//	bound.lag.ms, bound.recovery.ms, bound.stuck.ms         what Kafka does not bound
//
// Nothing is held against Kafka that rests on an order nobody knows: what two clients
// did at one instant, or closer together than their clocks err, may have come either
// way (clocks). Nor is it bound by what it may have forgotten by right: a group that
// everybody left may have been removed, and begins at the bottom again (groupLife).
//
// Offsets give a partition's order, so all this takes near-linear time (order
// says how), a broken history no longer than a sound one. porcupine judges the
// order of small histories a second time, and alone what has no order of its
// own, such as AlterPartition.
package checker
