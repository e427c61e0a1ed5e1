package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// appDuplicate: an application sent the same value again after a send of
// unknown outcome, and both were read. To Kafka these are two records.
type appDuplicate struct{ tally }

func (*appDuplicate) name() string { return "app-duplicate" }

// payload is a value in a partition; its attempts differ.
type payload struct {
	tp        kafka.TopicPartition
	key, hash uint64
}

func (w *appDuplicate) finish(f *facts, r *Report) {
	open, hashes := map[payload]*send{}, map[uint64]bool{}
	for s := range f.history.sends.each() {
		if s.outcome == event.SendOK && !hashes[s.hash] {
			continue
		}
		key := payload{s.tp, s.key, s.hash}
		if first := open[key]; first != nil {
			w.checks++
			if f.history.statusOf(first) == statusSeen && f.history.statusOf(s) == statusSeen && !r.full(w.name(), s.tp) {
				r.settle(f, Finding{Rule: w.name(), Verdict: Violation, Seq: s.invoked, At: s.at, TP: s.tp, Offset: first.seen, Last: s.seen, Count: 2,
					Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: s.client, Attempt: s.attempt, Witness: []uint64{first.invoked, s.invoked},
					Text: fmt.Sprintf("%s: %s was sent again by the application (event %d) and lies at offsets %d and %d", s.tp, s.what(), s.invoked, first.seen, s.seen)},
					circumstances{client: s.client})
			}
			continue
		}
		if s.outcome != event.SendOK && s.hash != 0 && s.tp.Partition >= 0 {
			open[key], hashes[s.hash] = s, true
		}
	}
}
