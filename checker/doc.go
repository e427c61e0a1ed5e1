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
// Two layers of facts feed the rules, and each rule is one file:
//
//	                    ┌─ history: sends, acks, polls ──▶ lost-write, inconsistent-offsets ...
//	events ──▶ facts ───┤
//	                    └─ lineage: what each replica    ─▶ LogMatching, LeaderCompleteness ...
//	                       holds, batch by batch, and
//	                       what was ever committed
//
// The history alone suffices for the rules over it. The lineage adds at which
// event a lost record was doomed, and finds damage that no client has read yet.
// Offsets give a partition's order, so these rules take near-linear time (order
// says how). porcupine judges the order of small histories a second time, and
// alone what has no order of its own, such as AlterPartition.
package checker
