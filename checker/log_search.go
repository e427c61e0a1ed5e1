package checker

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"tidemark/model/kafka"
)

// logSearch is the order of one partition as operations for porcupine.
type logSearch struct {
	order *order
	rd    *reading
	ops   []porcupine.Operation
}

// logAppend appends a record to the log that ends behind offset after. So
// porcupine need not guess which of the records that are on their way comes
// next: their offsets are known.
type logAppend struct {
	after, offset kafka.Offset
}

// logPoll sees a log that reaches the record at offset last, or NoOffset.
type logPoll struct{ last kafka.Offset }

// newLogSearch lists the appends, each from its send to its acknowledgement with
// acks=all or without an end, and the polls. A poll stands at its end alone: the
// later it looks, the more it may have seen.
func newLogSearch(o *order, rd *reading) *logSearch {
	l := &logSearch{order: o, rd: rd}
	below, at := kafka.NoOffset, kafka.NoOffset // the record below, and the one at hand
	for i := range o.places {
		p := &o.places[i]
		if p.end {
			continue
		}
		if p.offset != at {
			below, at = at, p.offset
		}
		op := porcupine.Operation{Input: logAppend{below, p.offset}, Call: int64(p.sent), Return: openEnded(len(l.ops)), Metadata: i}
		if s := p.send; s != nil && s.promised() && s.offset == p.offset {
			op.Return = int64(s.done)
		}
		l.ops = append(l.ops, op)
	}
	for i := range rd.polls.len() {
		p := rd.polls.at(i)
		l.ops = append(l.ops, porcupine.Operation{Input: l.poll(p), Call: int64(p.seq), Return: int64(p.seq), Metadata: i})
	}
	return l
}

// poll sees every record below its end that anybody knows of.
func (l *logSearch) poll(p *poll) logPoll {
	in := logPoll{kafka.NoOffset}
	if p.from >= p.end {
		return in
	}
	for i := l.rd.log.find(p.end) - 1; i >= 0; i-- {
		if q := &l.order.places[i]; !q.end {
			in.last = q.offset
			break
		}
	}
	return in
}

// logModel is a log that is only appended to; its state is the offset of its
// last record. Two records at one offset fit no log: the second finds no place.
var logModel = porcupine.Model{
	Init: func() any { return kafka.NoOffset },
	Step: func(state, input, _ any) (bool, any) {
		last := state.(kafka.Offset)
		switch in := input.(type) {
		case logAppend:
			return last == in.after, in.offset
		case logPoll:
			return last >= in.last, last
		}
		panic("checker: an operation that is neither an append nor a poll")
	},
}

// name writes an operation down.
func (l *logSearch) name(i int) string {
	op := &l.ops[i]
	if _, poll := op.Input.(logPoll); poll {
		p := l.rd.polls.at(op.Metadata.(int))
		return fmt.Sprintf("the read of %d to %d by %s at event %d", p.from, p.end, p.client, p.seq)
	}
	p := &l.order.places[op.Metadata.(int)]
	if p.send == nil {
		return fmt.Sprintf("a record at offset %d", p.offset)
	}
	return fmt.Sprintf("%s at offset %d", p.send.what(), p.offset)
}
