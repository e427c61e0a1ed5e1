package storage

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// cleanedTransactions follows the transactions of a log from its start through a
// pass of the cleaner: Kafka's CleanedTransactionMetadata. It tells which batches
// belong to aborted transactions, so that they may go, and which markers end
// transactions whose records were all gone before the pass, so that they may go
// too, in time.
type cleanedTransactions struct {
	ahead     []AbortedTransaction // by first offset, not reached yet
	aborted   map[kafka.ProducerID]*abortedRun
	committed map[kafka.ProducerID]bool // producers with records since their last marker, not aborted
	// kept are the entries that the segment being written needs in its index.
	kept []AbortedTransaction
}

// abortedRun is an aborted transaction whose marker is still to come.
type abortedRun struct {
	AbortedTransaction
	seen bool // a batch of it was met
}

func newCleanedTransactions() cleanedTransactions {
	return cleanedTransactions{aborted: map[kafka.ProducerID]*abortedRun{}, committed: map[kafka.ProducerID]bool{}}
}

// add tells of aborted transactions with records in the stretch that comes next.
// One that is told twice counts once.
func (t *cleanedTransactions) add(found []AbortedTransaction) {
	for _, a := range found {
		i := len(t.ahead)
		for i > 0 && t.ahead[i-1].First > a.First {
			i--
		}
		t.ahead = slices.Insert(t.ahead, i, a)
	}
}

// reach takes up the aborted transactions that begin at or below o.
func (t *cleanedTransactions) reach(o kafka.Offset) {
	for len(t.ahead) > 0 && t.ahead[0].First <= o {
		a := t.ahead[0]
		t.ahead = t.ahead[1:]
		if t.aborted[a.ProducerID] == nil {
			t.aborted[a.ProducerID] = &abortedRun{AbortedTransaction: a}
		}
	}
}

// data tells whether a batch, which is no control batch, is part of an aborted
// transaction.
func (t *cleanedTransactions) data(b record.Batch) (aborted bool) {
	t.reach(b.LastOffset())
	if !b.IsTransactional() {
		return false
	}
	if run := t.aborted[b.ProducerID()]; run != nil {
		run.seen = true
		return true
	}
	t.committed[b.ProducerID()] = true
	return false
}

// control tells whether a control batch ends a transaction of which no batch was
// met; one that is empty already stands for nothing.
func (t *cleanedTransactions) control(b record.Batch) (done bool, err error) {
	t.reach(b.LastOffset())
	m, isMarker, err := record.ParseEndTransaction(b)
	if err != nil || !isMarker {
		return b.Count() == 0, err
	}
	id := b.ProducerID()
	if m.Type == record.Commit {
		open := t.committed[id]
		delete(t.committed, id)
		return !open, nil
	}
	run := t.aborted[id]
	delete(t.aborted, id)
	if run == nil || !run.seen {
		return true, nil
	}
	t.kept = append(t.kept, run.AbortedTransaction)
	return false, nil
}
