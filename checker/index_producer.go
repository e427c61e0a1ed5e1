package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// transactionalID is the history of one transactional.id.
type transactionalID struct {
	id      string
	inits   []*initOp
	txns    []*txn
	owners  []*initOp // the successful ones by their ends; made by owned
	fencers map[producerEpoch]*initOp
	// began holds, for each of txns, the first success of an operation in it or
	// in a later one; made when it is asked for.
	began  []uint64
	takers []taker // made when they are asked for
}

// taker is the end of an InitProducerId, never if its outcome is not known, and
// the first call of any that ends then or later.
type taker struct {
	end       uint64
	firstCall stamp
}

// mayFence is the first event from which on an InitProducerId may fence a
// transaction that began at another event: of all that had not ended by then.
func (id *transactionalID) mayFence(c *clocks, begin stamp) stamp {
	if c.err() {
		return id.mayFenceByClocks(c, begin)
	}
	if id.takers == nil {
		id.takers = []taker{{never, stamp{seq: never}}}
		for _, op := range id.inits {
			end := uint64(never)
			if op.result == event.InitProducerOK || op.result == event.InitProducerFail {
				end = op.done.seq
			}
			id.takers = append(id.takers, taker{end, op.invoked})
		}
		slices.SortStableFunc(id.takers, func(a, b taker) int { return cmp.Compare(a.end, b.end) })
		for i := len(id.takers) - 2; i >= 0; i-- {
			id.takers[i].firstCall = earlier(id.takers[i].firstCall, id.takers[i+1].firstCall)
		}
	}
	i, _ := slices.BinarySearchFunc(id.takers, begin.seq+1, func(t taker, s uint64) int { return cmp.Compare(t.end, s) })
	return latest(begin, id.takers[i].firstCall)
}

// mayFenceByClocks is mayFence where the order of the history is not that of the events:
// whoever did not end before for certain may.
func (id *transactionalID) mayFenceByClocks(c *clocks, begin stamp) stamp {
	first := stamp{seq: never}
	for _, op := range id.inits {
		ended := op.result == event.InitProducerOK || op.result == event.InitProducerFail
		if !ended || !c.before(op.done, begin) {
			first = earlier(first, op.invoked)
		}
	}
	return latest(begin, first)
}

type producerEpoch struct {
	id    kafka.ProducerID
	epoch kafka.ProducerEpoch
}

func (p producerEpoch) String() string { return fmt.Sprintf("producer %d epoch %d", p.id, p.epoch) }

// initOp is one InitProducerId.
type initOp struct {
	client        string
	invoked, done stamp
	result        event.Kind // InitProducerInvoke while open
	producer      producerEpoch
}

// owned lists the successful InitProducerId of the id and reports whether there
// is one. Call it when the history is complete.
func (id *transactionalID) owned() bool {
	if id.owners == nil {
		id.fencers = map[producerEpoch]*initOp{}
		for _, op := range id.inits {
			if op.result == event.InitProducerOK {
				id.owners = append(id.owners, op)
			}
		}
		slices.SortStableFunc(id.owners, func(a, b *initOp) int { return cmp.Compare(a.done.seq, b.done.seq) })
	}
	return len(id.owners) > 0
}

// fencer is the first owner of the id that fences a producer: one of the same
// producer id with a higher epoch, or one with another producer id that came
// after it. nil for none, or if the producer is not known.
func (id *transactionalID) fencer(c *clocks, p producerEpoch) *initOp {
	if !id.owned() || p.id < 0 {
		return nil
	}
	op, known := id.fencers[p]
	if !known {
		op = id.findFencer(c, p)
		id.fencers[p] = op
	}
	return op
}

func (id *transactionalID) findFencer(c *clocks, p producerEpoch) *initOp {
	var born *initOp
	for _, op := range id.owners {
		same := op.producer.id == p.id
		if same && op.producer.epoch > p.epoch || !same && born != nil && c.before(born.done, op.invoked) {
			return op
		}
		if same && born == nil {
			born = op
		}
	}
	return nil
}

// producer is the producer id and epoch that a session shows.
func producerOf(s *event.Session) producerEpoch {
	if s == nil {
		return producerEpoch{-1, -1}
	}
	return producerEpoch{s.ProducerID, s.ProducerEpoch}
}

// nextSuccess is the first success within a later transaction of the same id;
// never if there is none.
func (t *txnIndex) nextSuccess(x *txn) uint64 {
	id := t.ids[x.tid]
	if id == nil {
		return never
	}
	if id.began == nil {
		id.began = make([]uint64, len(id.txns)+1)
		id.began[len(id.txns)] = never
		for i := len(id.txns) - 1; i >= 0; i-- {
			id.began[i] = min(id.began[i+1], id.txns[i].firstSuccess())
		}
	}
	return id.began[x.ordinal+1]
}

// firstSuccess is the first event at which the cluster had taken anything of the
// transaction; never if it is not known to have.
func (x *txn) firstSuccess() uint64 {
	first := uint64(never)
	for _, s := range x.sends {
		if s.outcome == event.SendOK {
			first = min(first, s.done)
		}
	}
	for _, c := range x.offsets {
		if c.result == event.CommitOK {
			first = min(first, c.done.seq)
		}
	}
	return first
}
