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
// It runs without idempotence: a batch carries no producer id and no sequence.
// Kafka's default is enable.idempotence=true; here the key says false, so that
// no profile promises what is not kept. What idempotence adds fits in three
// places: queue.requeue (order of retries), Producer.mayDrain (which batch may
// go) and Producer.settle (its error codes).
package producer
