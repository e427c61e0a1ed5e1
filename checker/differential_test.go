package checker

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// logEntry is a record at an offset.
type logEntry struct {
	offset  kafka.Offset
	attempt uint64
}

// smallOp is one operation of a small history: a send, or a poll.
type smallOp struct {
	attempt uint64 // of a send; 0: a poll
	offset  kafka.Offset
	landed  bool // took place at its instant
	acked   bool
	open    bool // not ended yet
	from    kafka.Offset
	end     kafka.Offset
	records []event.Record
}

// smallHistory is operations and, in order, their calls and ends.
type smallHistory struct {
	rng    *rand.Rand
	ops    []*smallOp
	moment []smallMoment
	log    []event.Record
	end    kafka.Offset
}

type smallMoment struct {
	op   *smallOp
	call bool
}

// drawLegal draws a history of 4 to 12 operations on one log: each operation
// takes place at one instant between its call and its end.
func drawLegal(rng *rand.Rand) *smallHistory {
	h := &smallHistory{rng: rng}
	left := 4 + rng.IntN(9)
	var active []*smallOp
	for left > 0 || len(active) > 0 {
		switch n := rng.IntN(3); {
		case n == 0 && left > 0 && len(active) < 4:
			left--
			op := &smallOp{open: true, offset: kafka.NoOffset}
			if rng.IntN(5) < 3 {
				op.attempt = uint64(len(h.ops) + 1)
			}
			h.ops, active = append(h.ops, op), append(active, op)
			h.moment = append(h.moment, smallMoment{op, true})
		case n == 1 && len(active) > 0:
			if op := active[rng.IntN(len(active))]; !op.landed {
				h.land(op)
			}
		case n == 2 && len(active) > 0:
			i := rng.IntN(len(active))
			op := active[i]
			if !op.landed && op.attempt == 0 {
				continue
			}
			op.acked = op.landed && op.attempt != 0 && rng.IntN(4) > 0
			op.open = false
			active = append(active[:i:i], active[i+1:]...)
			h.moment = append(h.moment, smallMoment{op, false})
		}
	}
	return h
}

func (h *smallHistory) land(op *smallOp) {
	op.landed = true
	if op.attempt == 0 {
		op.from, op.end = kafka.Offset(h.rng.IntN(int(h.end)+1)), h.end
		for _, rec := range h.log {
			if rec.Offset >= op.from {
				op.records = append(op.records, rec)
			}
		}
		return
	}
	if h.rng.IntN(8) == 0 {
		h.end++ // a marker, or what the cleaner took away
	}
	op.offset = h.end
	h.log = append(h.log, event.Record{Offset: op.offset, Epoch: kafka.NoEpoch, Attempt: op.attempt, Hash: op.attempt})
	h.end++
}

// mutate changes one thing, which may or may not break the history.
func (h *smallHistory) mutate() {
	a, b := h.ops[h.rng.IntN(len(h.ops))], h.ops[h.rng.IntN(len(h.ops))]
	switch h.rng.IntN(6) {
	case 0:
		if a.acked && b.acked {
			a.offset, b.offset = b.offset, a.offset
		}
	case 1:
		if a.acked {
			a.offset = max(0, a.offset+kafka.Offset(h.rng.IntN(5)-2))
		}
	case 2:
		a.end++
	case 3:
		if n := len(a.records); n > 0 {
			a.records[h.rng.IntN(n)].Attempt = uint64(1 + h.rng.IntN(len(h.ops)))
		}
	default:
		h.swapMoments(h.rng.IntN(len(h.moment)), h.rng.IntN(len(h.moment)))
	}
}

// swapMoments exchanges two moments unless an operation would end before its call.
func (h *smallHistory) swapMoments(i, j int) {
	h.moment[i], h.moment[j] = h.moment[j], h.moment[i]
	called := map[*smallOp]bool{}
	for _, m := range h.moment {
		if !m.call && !called[m.op] {
			h.moment[i], h.moment[j] = h.moment[j], h.moment[i]
			return
		}
		called[m.op] = called[m.op] || m.call
	}
}

// events is the history as a trace shows it: a poll by its end alone.
func (h *smallHistory) events() []event.Event {
	var events []event.Event
	for i, m := range h.moment {
		var e event.Event
		switch op := m.op; {
		case op.attempt == 0 && m.call:
			continue
		case op.attempt == 0:
			e = event.New(event.PollOK)
			e.Client, e.Offset, e.End, e.Records = "c", op.from, op.end, op.records
		case m.call:
			e = event.New(event.SendInvoke)
		case op.acked:
			e = event.New(event.SendOK)
			e.Offset = op.offset
		default:
			e = event.New(event.SendUnknown)
		}
		if m.op.attempt != 0 {
			e.Client, e.Attempt, e.Hash, e.Acks = "p", m.op.attempt, m.op.attempt, -1
		}
		e.Seq, e.Topic = uint64(i+1), "t"
		events = append(events, e)
	}
	return events
}

// plainOperations is the history for a search that is told nothing but what
// clients know: polls with both their ends, appends wherever they fit.
func (h *smallHistory) plainOperations() []porcupine.Operation {
	var ops []porcupine.Operation
	add := func(in any, call, end int64) {
		ops = append(ops, porcupine.Operation{Input: in, Call: call, Return: end})
	}
	seen := map[logEntry]bool{}
	called, ended := map[*smallOp]int64{}, map[*smallOp]int64{}
	sender := map[uint64]*smallOp{}
	for i, m := range h.moment {
		if m.call {
			called[m.op] = int64(i + 1)
		} else {
			ended[m.op] = int64(i + 1)
		}
		sender[m.op.attempt] = m.op
	}
	for _, op := range h.ops {
		if op.acked {
			seen[logEntry{op.offset, op.attempt}] = true
			add(logEntry{op.offset, op.attempt}, called[op], ended[op])
		}
	}
	for _, op := range h.ops {
		if op.attempt != 0 {
			continue
		}
		add(op, called[op], ended[op])
		for _, rec := range op.records {
			at := logEntry{rec.Offset, rec.Attempt}
			if !seen[at] {
				seen[at] = true
				call := int64(0)
				if s := sender[rec.Attempt]; s != nil {
					call = called[s]
				}
				add(at, call, openEnded(len(ops)))
			}
		}
	}
	return ops
}

// plainLog is the records of a log and the offset that the next one may have.
type plainLog struct {
	next    kafka.Offset
	records string
}

// plainModel knows nothing of which record comes next: any append fits at or
// above the log's end, and a read proves how far the log reaches.
var plainModel = porcupine.Model{
	Init: func() any { return plainLog{} },
	Step: func(state, input, _ any) (bool, any) {
		log := state.(plainLog)
		if e, ok := input.(logEntry); ok {
			if e.offset < log.next {
				return false, log
			}
			return true, plainLog{e.offset + 1, log.records + fmt.Sprintf("[%d=%d]", e.offset, e.attempt)}
		}
		poll := input.(*smallOp)
		for _, rec := range poll.records {
			if !strings.Contains(log.records, fmt.Sprintf("[%d=%d]", rec.Offset, rec.Attempt)) {
				return false, log
			}
		}
		if poll.end > poll.from {
			log.next = max(log.next, poll.end)
		}
		return true, log
	},
}

// How many random histories are judged twice: of a log, of a group's offsets.
var (
	logHistories    = flag.Int("histories", 10_000, "random histories of a log, judged by the sweep and by porcupine")
	offsetHistories = flag.Int("registers", 6_000, "random histories of a committed offset, judged by the rule and by every order")
)

// The near-linear sweep and a search through all orders are two definitions of
// one thing.
func TestSweepAgreesWithPorcupineOnRandomHistories(t *testing.T) {
	histories := *logHistories
	rng := rand.New(rand.NewPCG(1, 2))
	var legal, torn, future, inverted int
	for n := range histories {
		h := drawLegal(rng)
		mutations := rng.IntN(8)
		for range mutations {
			h.mutate()
		}
		f := newFacts()
		events := h.events()
		for i := range events {
			f.observe(&events[i])
		}
		rd := f.history.reading(kafka.TopicPartition{Topic: "t"})
		o := f.orderOf(rd)
		sweep := o.appendOnly()
		guided, plain := true, true
		if l := newLogSearch(o, rd); len(l.ops) > 0 {
			guided = porcupine.CheckOperations(logModel, l.ops)
			plain = porcupine.CheckOperations(plainModel, h.plainOperations())
		}
		if sweep != plain || sweep != guided || mutations == 0 && !sweep {
			t.Fatalf("history %d: the sweep says %v, porcupine %v, guided by offsets %v\n%s", n, sweep, plain, guided, describe(events))
		}
		switch {
		case sweep:
			legal++
		case len(o.places) > 0 && o.torn <= o.places[len(o.places)-1].offset:
			torn++
		case anyFuture(o):
			future++
		default:
			inverted++
		}
	}
	t.Logf("%d histories: %d legal, %d with two records at an offset, %d read before they were sent, %d out of order", histories, legal, torn, future, inverted)
	if legal < histories/4 || torn < histories/50 || future < histories/500 || inverted < histories/500 {
		t.Error("the draw hardly reaches one of the cases")
	}
}

func anyFuture(o *order) bool {
	for i := range o.places {
		if o.places[i].future() {
			return true
		}
	}
	return false
}

func describe(events []event.Event) string {
	var b strings.Builder
	for i := range events {
		e := &events[i]
		fmt.Fprintf(&b, "%d %s attempt %d offset %d end %d", e.Seq, e.Kind, e.Attempt, e.Offset, e.End)
		for _, rec := range e.Records {
			fmt.Fprintf(&b, " %d=%d", rec.Offset, rec.Attempt)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
