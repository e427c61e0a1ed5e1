package storage

import (
	"slices"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// naiveTransactions is what batches say of transactions, found out in the simplest
// way.
type naiveTransactions struct {
	open    map[kafka.ProducerID]kafka.Offset // first offset
	aborted []AbortedTransaction              // by marker
	ended   []transaction                     // aborted or not
}

func readTransactions(batches []record.Batch) naiveTransactions {
	n := naiveTransactions{open: map[kafka.ProducerID]kafka.Offset{}}
	for _, b := range batches {
		id := b.ProducerID()
		first, open := n.open[id]
		switch {
		case !b.IsTransactional():
		case !b.IsControl() && !open:
			n.open[id] = b.BaseOffset()
		case b.IsControl() && open:
			delete(n.open, id)
			n.end(b, transaction{id, first, b.BaseOffset()})
		}
	}
	return n
}

func (n *naiveTransactions) end(marker record.Batch, x transaction) {
	n.ended = append(n.ended, x)
	if m, _, _ := record.ParseEndTransaction(marker); m.Type == record.Abort {
		n.aborted = append(n.aborted, AbortedTransaction{x.id, x.first, x.last, min(n.firstOpen(x.last+1), x.last+1)})
	}
}

// firstOpen is where the oldest open transaction begins; or none.
func (n *naiveTransactions) firstOpen(none kafka.Offset) kafka.Offset {
	first := none
	for _, o := range n.open {
		first = min(first, o)
	}
	return first
}

// stored is every batch in the files of a log from a segment on.
func stored(t failer, segments []*segment) (all []record.Batch) {
	t.Helper()
	for _, s := range segments {
		raw, err := readAll(s.log)
		if err != nil {
			t.Fatalf("segment %d: %v", s.base, err)
		}
		for len(raw) > 0 {
			b, rest, _ := record.Next(raw)
			all, raw = append(all, b), rest
		}
	}
	return all
}

// auditTransactions checks what a log knows of its transactions against its
// batches; of one that has lost its beginning not all can be told.
func auditTransactions(t failer, l *Log) {
	t.Helper()
	if !slices.IsSortedFunc(index(l), func(a, b AbortedTransaction) int { return int(a.Last - b.Last) }) {
		t.Fatalf("the index of aborted transactions is not by marker: %+v", index(l))
	}
	for _, list := range [][]transaction{l.producers.txns.open, l.producers.txns.decided} {
		if !slices.IsSortedFunc(list, func(a, b transaction) int { return int(a.first - b.first) }) {
			t.Fatalf("transactions are not by first offset: %+v", l.producers.txns)
		}
	}
	for _, x := range l.producers.txns.open {
		if s := l.producers.states[x.id]; s == nil || s.openTransaction != x.first {
			t.Fatalf("open is %+v, of its producer is known %+v", x, s)
		}
	}
	if l.start > 0 {
		return
	}
	naive := readTransactions(stored(t, l.segments))
	if l.cfg.Compacted {
		auditCompactedIndex(t, naive.aborted, index(l))
	} else if diff := cmp.Diff(naive.aborted, index(l)); diff != "" {
		t.Fatalf("index of aborted transactions (-batches +index):\n%s", diff)
	}
	open := map[kafka.ProducerID]kafka.Offset{}
	for _, x := range l.producers.txns.open {
		open[x.id] = x.first
	}
	if diff := cmp.Diff(naive.open, open); diff != "" {
		t.Fatalf("open transactions (-batches +log):\n%s", diff)
	}
	for _, x := range l.producers.txns.decided {
		if !slices.Contains(naive.ended, x) && !l.cfg.Compacted { // a snapshot may know a beginning that compaction took
			t.Fatalf("decided is %+v, but not in the batches: %+v", x, naive.ended)
		}
	}
}

// auditCompactedIndex checks that the index has what the batches tell; it may tell
// of more, and of earlier records, that compaction took.
func auditCompactedIndex(t failer, batches, index []AbortedTransaction) {
	t.Helper()
	for _, b := range batches {
		if !slices.ContainsFunc(index, func(x AbortedTransaction) bool {
			return x.ProducerID == b.ProducerID && x.Last == b.Last && x.First <= b.First
		}) {
			t.Fatalf("the index of aborted transactions lacks %+v: %+v", b, index)
		}
	}
}
