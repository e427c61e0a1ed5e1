// Package producer is Kafka's producer as a state machine: it batches records
// by partition, sends them to the partitions' leaders, retries what may be
// retried and tells each record's sender what became of it.
//
// The rules are those of the Java client, because what an application may
// believe of its records follows from them: a retry can duplicate, two requests
// in flight can swap, and after any retry an error no longer proves that
// nothing was written.
//
//	Send ─▶ waiting ──▶ queue of the partition ──▶ in flight ──▶ Result
//	        metadata,     batches, oldest first       │
//	        memory          ▲                         │ retriable error
//	        (max.block.ms)  └──── back-off ───────────┘ (delivery.timeout.ms)
//
// With enable.idempotence=true, the default, a retry can do neither (KIP-98): the
// producer has an id, its batches carry the sequence of their first record in
// their partition, and the leader knows a batch again. Retries keep their
// sequences and go one at a time, in order. Where a sequence is lost for good, the
// producer raises its epoch, by itself as it has no transactions, and numbers what
// is in flight in that partition from 0 (KIP-360). That much rests on leaders
// that remember: one that knows only a part of what is in flight makes the
// producer take a batch that is there for lost.
package producer
