package consumer

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/client"
)

// abortedFilter finds the batches of aborted transactions in one partition's part
// of an answer (KIP-98). A producer has one transaction at a time, so by producer
// id:
//
//	data … first offset of an aborted one ── dropped ── its abort marker … data
//
// The broker lists the first offsets; the markers are in the log.
type abortedFilter struct {
	on      bool                        // isolation.level=read_committed
	ahead   []client.AbortedTransaction // not met yet, by first offset
	aborted []kafka.ProducerID          // whose transaction at this place was aborted
}

func newAbortedFilter(level client.Isolation, list []client.AbortedTransaction) abortedFilter {
	f := abortedFilter{on: level == client.ReadCommitted, ahead: list}
	slices.SortStableFunc(f.ahead, func(a, b client.AbortedTransaction) int {
		switch {
		case a.First < b.First:
			return -1
		case a.First > b.First:
			return 1
		}
		return 0
	})
	return f
}

// drops tells whether the next batch is part of an aborted transaction. The error,
// of a control record that does not decode, wraps record.ErrCorrupt.
func (f *abortedFilter) drops(b record.Batch) (bool, error) {
	id := b.ProducerID()
	if !f.on || id == kafka.NoProducerID {
		return false, nil
	}
	for len(f.ahead) > 0 && f.ahead[0].First <= b.LastOffset() {
		if !slices.Contains(f.aborted, f.ahead[0].ProducerID) {
			f.aborted = append(f.aborted, f.ahead[0].ProducerID)
		}
		f.ahead = f.ahead[1:]
	}
	if !b.IsControl() {
		return b.IsTransactional() && slices.Contains(f.aborted, id), nil
	}
	m, ok, err := record.ParseEndTransaction(b)
	if ok && m.Type == record.Abort {
		f.aborted = slices.DeleteFunc(f.aborted, func(a kafka.ProducerID) bool { return a == id })
	}
	return false, err
}
