package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tidemark/model/kafka"
)

// flow is a dependency of one transaction on another: the graph of Adya (1999)
// over the history's transactions. An edge goes from the one that came first.
//
//	wr   the other read what this one wrote
//	ww   the other's record lies right above this one's in a partition
//	rw   this one read to the end of what is stable, and the other wrote what
//	     comes next
type flow struct {
	to        int // index of the transaction
	kind      flowKind
	committed bool // of wr: by a read of committed records
	tp        kafka.TopicPartition
	offset    kafka.Offset // wr: of the record; ww: of the upper record; rw: of the record that came next
	seq       uint64       // wr, rw: the poll; 0 for none
	at        int64        // ns, of it
	wrote     uint64       // the event of the send that wrote at offset
}

type flowKind uint8

const (
	wr flowKind = 1 << iota
	ww
	rw
)

// written is the record of a transaction at a known offset.
type written struct {
	offset kafka.Offset
	send   *send
	txn    *txn
}

// flows builds the graph once, from the transactions that may have been
// committed, by index of transaction.
func (f *facts) flows() [][]flow {
	f.txns.closure(f)
	if f.txns.flows == nil {
		g := flowBuilder{f: f, edges: make([][]flow, len(f.txns.order)), logs: map[kafka.TopicPartition][]written{}}
		g.build()
		f.txns.flows = g.edges
	}
	return f.txns.flows
}

type flowBuilder struct {
	f     *facts
	edges [][]flow
	logs  map[kafka.TopicPartition][]written
}

func (g *flowBuilder) build() {
	// unordered: each partition has a list of its own.
	for tp := range g.f.txns.sends {
		g.logs[tp] = g.log(tp)
	}
	for _, rd := range g.f.history.sorted() {
		g.overwrites(rd.tp)
	}
	for _, x := range g.f.txns.order {
		for _, ref := range x.reads {
			g.read(x, ref.rd, ref.rd.polls.at(ref.poll))
		}
		for _, s := range x.sends {
			g.made(x, s)
		}
	}
}

// log lists what transactions wrote to a partition, by offset.
func (g *flowBuilder) log(tp kafka.TopicPartition) []written {
	if rd := g.f.history.readings[tp]; rd != nil {
		rd.index(&g.f.history) // which tells what was seen
	}
	log := make([]written, 0, len(g.f.txns.sends[tp]))
	for _, s := range g.f.txns.sends[tp] {
		o := s.seen
		if o == kafka.NoOffset {
			o = s.offset
		}
		if o != kafka.NoOffset && s.txn.outcome != txnAborted {
			log = append(log, written{o, s.send, s.txn})
		}
	}
	slices.SortStableFunc(log, func(a, b written) int { return cmp.Compare(a.offset, b.offset) })
	return log
}

func (g *flowBuilder) add(from, to *txn, e flow) {
	if from != to {
		e.to = to.index
		g.edges[from.index] = append(g.edges[from.index], e)
	}
}

// overwrites adds the ww edges of a partition: between neighbours, whose chain
// gives all others.
func (g *flowBuilder) overwrites(tp kafka.TopicPartition) {
	var below *written
	log := g.logs[tp]
	for i := range log {
		w := &log[i]
		if w.txn.outcome != txnCommitted {
			continue
		}
		if below != nil {
			g.add(below.txn, w.txn, flow{kind: ww, tp: tp, offset: w.offset, wrote: w.send.invoked})
		}
		below = w
	}
}

// read adds the edges of one poll within a transaction.
func (g *flowBuilder) read(x *txn, rd *reading, p *poll) {
	for i := p.lo; i < p.hi; i++ {
		if s := rd.sendOf(i); s != nil {
			if by := g.f.txns.of(s); by != nil {
				g.add(by, x, flow{kind: wr, committed: p.committedRead(), tp: rd.tp, offset: rd.records.at(int(i)).offset, seq: p.seq, at: p.at, wrote: s.invoked})
			}
		}
	}
	if !p.drained && (p.lso == kafka.NoOffset || p.end < p.lso) {
		return
	}
	log := g.logs[rd.tp]
	i, _ := slices.BinarySearchFunc(log, p.end, func(w written, o kafka.Offset) int { return cmp.Compare(w.offset, o) })
	for ; i < len(log); i++ {
		if w := &log[i]; w.txn.outcome == txnCommitted {
			g.add(x, w.txn, flow{kind: rw, tp: rd.tp, offset: w.offset, seq: p.seq, at: p.at, wrote: w.send.invoked})
			return
		}
	}
}

// made adds the wr edge of a record that was made from another, wherever its
// maker polled it.
func (g *flowBuilder) made(x *txn, s *send) {
	tp, o, ok := parseSource(s.source)
	if !ok {
		return
	}
	log := g.logs[tp]
	i, found := slices.BinarySearchFunc(log, o, func(w written, o kafka.Offset) int { return cmp.Compare(w.offset, o) })
	if found {
		g.add(log[i].txn, x, flow{kind: wr, tp: tp, offset: o, seq: s.invoked, at: s.at, wrote: log[i].send.invoked})
	}
}

// parseSource reads TOPIC-PARTITION@OFFSET.
func parseSource(s string) (kafka.TopicPartition, kafka.Offset, bool) {
	where, offset, ok := strings.Cut(s, "@")
	i := strings.LastIndexByte(where, '-')
	if !ok || i < 0 {
		return kafka.TopicPartition{}, 0, false
	}
	partition, err := strconv.ParseInt(where[i+1:], 10, 32)
	o, bad := strconv.ParseInt(offset, 10, 64)
	if err != nil || bad != nil {
		return kafka.TopicPartition{}, 0, false
	}
	return kafka.TopicPartition{Topic: where[:i], Partition: int32(partition)}, kafka.Offset(o), true
}

// story says an edge in words.
func (e flow) story(from, to *txn) string {
	at := fmt.Sprintf("%s@%d", e.tp, e.offset)
	switch e.kind {
	case wr:
		return fmt.Sprintf("%s read %s that %s wrote", to.short(), at, from.short())
	case ww:
		return fmt.Sprintf("%s wrote %s above what %s wrote", to.short(), at, from.short())
	}
	return fmt.Sprintf("%s read up to %s, which %s wrote later", from.short(), at, to.short())
}

// short names a transaction where many are named.
func (x *txn) short() string { return "T" + strconv.FormatUint(x.id, 10) }
