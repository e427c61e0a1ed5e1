package scenarios

import (
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/producer"
	"tidemark/node/replica"
)

// Condition is a rare thing that happened in a run: not a fault, but what faults
// are injected for. A search in which one never happens has not searched there.
type Condition uint8

// The conditions that every sweep counts.
const (
	ElectionHappened   Condition = iota // a partition got another leader
	BrokerFenced                        // the controller took a broker's lease away
	ISRShrunk                           // a committed ISR lost a member
	ISRExpanded                         // a committed ISR gained a member
	LogTruncated                        // a replica cut records off its log
	UncleanStart                        // a log was opened without the mark of a clean shutdown
	TornBatchRecovered                  // recovery cut a log at bytes that are no whole batch
	ProduceRetried                      // a producer sent a batch again
	DuplicateDropped                    // a leader had the batch of a retry already (KIP-98)
	Conditions                          // how many there are
)

var conditionNames = [Conditions]string{"election", "fencing", "ISR shrink", "ISR expand", "truncation",
	"unclean start", "torn batch recovered", "retry", "duplicate dropped"}

// String names the condition in a word or two.
func (c Condition) String() string { return conditionNames[c] }

// witness counts the conditions of one run from its events.
type witness struct {
	counts  [Conditions]uint64
	leaders map[kafka.TopicPartition]kafka.BrokerID // the last one that was elected
	isrs    map[kafka.TopicPartition]int            // members of the committed ISR
	sends   int                                     // with acks=1 or all
	acked   int                                     // of those
	events  int
}

func newWitness() *witness {
	return &witness{leaders: map[kafka.TopicPartition]kafka.BrokerID{}, isrs: map[kafka.TopicPartition]int{}}
}

func (w *witness) observe(e *event.Event) {
	w.events++
	switch e.Kind {
	case event.Elected:
		w.elected(e)
		w.isr(e)
	case event.ISRChanged:
		w.isr(e)
	case event.Fenced:
		w.counts[BrokerFenced]++
	case event.Truncated:
		if e.End < e.Offset {
			w.counts[LogTruncated]++
		}
	case event.Recovered:
		w.recovered(e.Text)
	case event.Effect:
		w.effect(e.Text)
	case event.SendInvoke:
		if e.Acks != 0 {
			w.sends++
		}
	case event.SendOK:
		if e.Acks != 0 {
			w.acked++
		}
	}
}

func (w *witness) elected(e *event.Event) {
	if e.Peer == kafka.NoBroker {
		return
	}
	before, known := w.leaders[e.TP()]
	if known && before != e.Peer {
		w.counts[ElectionHappened]++
	}
	w.leaders[e.TP()] = e.Peer
}

func (w *witness) isr(e *event.Event) {
	before, known := w.isrs[e.TP()]
	w.isrs[e.TP()] = len(e.ISR)
	switch {
	case known && len(e.ISR) < before:
		w.counts[ISRShrunk]++
	case known && len(e.ISR) > before:
		w.counts[ISRExpanded]++
	}
}

func (w *witness) effect(text string) {
	switch text {
	case producer.RetryEffect:
		w.counts[ProduceRetried]++
	case replica.DuplicateEffect:
		w.counts[DuplicateDropped]++
	}
}

func (w *witness) recovered(how string) {
	if !strings.HasPrefix(how, "unclean") {
		return
	}
	w.counts[UncleanStart]++
	if strings.Contains(how, " cut at ") {
		w.counts[TornBatchRecovered]++
	}
}
