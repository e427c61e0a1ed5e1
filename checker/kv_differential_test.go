package checker

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// kvWorld draws a small history of a compacted topic: sends of several producers
// that overlap, passes of the cleaner, and readers who read from the start to the
// end. Each send lands at one instant between its call and its end.
type kvWorld struct {
	rng    *rand.Rand
	events []event.Event
	log    []kvRecord
	open   []int // sends, by attempt, that did not end
}

// kvRecord is one offset of the log.
type kvRecord struct {
	attempt, key, hash uint64
	gone               bool
}

const kvKeys = 3

func (w *kvWorld) emit(k event.Kind, client string, set func(*event.Event)) {
	e := event.New(k)
	e.Client, e.Topic, e.Seq, e.At = client, "kv", uint64(len(w.events)+1), int64(len(w.events)+1)*1_000_000
	set(&e)
	w.events = append(w.events, e)
}

func drawKV(rng *rand.Rand) *kvWorld {
	w := &kvWorld{rng: rng}
	w.emit(event.Profile, "topic kv", func(e *event.Event) { e.Topic, e.Text = "", "cleanup.policy=compact" })
	landed, sent := map[int]kafka.Offset{}, map[int]event.Event{}
	for attempt := 1; len(w.events) < 24; {
		switch n := rng.IntN(9); {
		case n < 3:
			w.emit(event.SendInvoke, fmt.Sprint("p", rng.IntN(2)), func(e *event.Event) {
				e.Attempt, e.Key, e.Hash, e.Acks = uint64(attempt), uint64(1+rng.IntN(kvKeys)), uint64(100+attempt), -1
				if rng.IntN(5) == 0 {
					e.Hash = 0
				}
				sent[attempt] = *e
			})
			w.open = append(w.open, attempt)
			attempt++
		case n < 6 && len(w.open) > 0:
			i := rng.IntN(len(w.open))
			a := w.open[i]
			if _, in := landed[a]; !in {
				landed[a] = kafka.Offset(len(w.log))
				w.log = append(w.log, kvRecord{uint64(a), sent[a].Key, sent[a].Hash, false})
				continue
			}
			w.open = slices.Delete(w.open, i, i+1)
			w.emit(event.SendOK, sent[a].Client, func(e *event.Event) {
				e.Attempt, e.Key, e.Hash, e.Acks, e.Offset = uint64(a), sent[a].Key, sent[a].Hash, -1, landed[a]
			})
		case n == 6:
			w.clean()
		case n == 7:
			w.view(fmt.Sprint("r", rng.IntN(2)))
		}
	}
	w.view("last")
	return w
}

// clean keeps the last record of each key, tombstones too.
func (w *kvWorld) clean() {
	last := map[uint64]int{}
	end := len(w.log) - 1 // the active segment
	for i := range max(end, 0) {
		last[w.log[i].key] = i
	}
	for i := range max(end, 0) {
		w.log[i].gone = w.log[i].gone || last[w.log[i].key] != i
	}
	if end > 0 {
		w.emit(event.Cleaned, "", func(e *event.Event) { e.End = kafka.Offset(end) })
	}
}

// view reads all there is in one or two polls.
func (w *kvWorld) view(client string) {
	w.emit(event.PositionReset, client, func(e *event.Event) { e.End, e.Text = 0, "assign" })
	middle := w.rng.IntN(len(w.log) + 1)
	for _, part := range [][2]int{{0, middle}, {middle, len(w.log)}} {
		w.emit(event.PollOK, client, func(e *event.Event) {
			e.Offset, e.End, e.HighWatermark = kafka.Offset(part[0]), kafka.Offset(part[1]), kafka.Offset(len(w.log))
			e.Drained = part[1] == len(w.log)
			for o := part[0]; o < part[1]; o++ {
				if x := w.log[o]; !x.gone {
					e.Records = append(e.Records, event.Record{Offset: kafka.Offset(o), Epoch: 0, Attempt: x.attempt, Hash: x.hash, Key: x.key})
				}
			}
		})
	}
}

// spoil changes what a reader was given: a record less, or one that was cleaned
// away more.
func (w *kvWorld) spoil() {
	e := &w.events[len(w.events)-1-w.rng.IntN(2)]
	if w.rng.IntN(4) == 0 {
		e = &w.events[w.rng.IntN(len(w.events))]
	}
	if e.Kind != event.PollOK || e.End == e.Offset {
		return
	}
	if n := len(e.Records); n > 0 && w.rng.IntN(2) == 0 {
		i := w.rng.IntN(n)
		e.Records = slices.Delete(e.Records, i, i+1)
		return
	}
	o := e.Offset + kafka.Offset(w.rng.IntN(int(e.End-e.Offset)))
	if x := w.log[o]; recordAt(e, o) < 0 {
		insertRecord(e, event.Record{Offset: o, Epoch: 0, Attempt: x.attempt, Hash: x.hash, Key: x.key})
	}
}

// kvPut gives a key a value at an offset, 0 for none; kvGet is the offset of what
// the reader holds of it in the end, NoOffset for nothing.
type kvPut struct {
	offset kafka.Offset
	value  uint64
}
type kvGet struct{ offset kafka.Offset }

// kvModel is one key of a compacted topic as a register. Offsets say in which
// order the puts came, so only where the get stands is searched for.
var kvModel = porcupine.Model{
	Init: func() any { return kvPut{kafka.NoOffset, 0} },
	Step: func(state, input, _ any) (bool, any) {
		s := state.(kvPut)
		if put, ok := input.(kvPut); ok {
			return put.offset > s.offset, put
		}
		held := input.(kvGet).offset
		return s.offset == held || held == kafka.NoOffset && s.value == 0, s
	},
}

// operations lists for a key what lies below the end of the last read, each from
// its send to the first proof that it is there, and the get at the end of that read.
// It is made from the events alone.
func (w *kvWorld) operations(key uint64) []porcupine.Operation {
	last := w.events[len(w.events)-1]
	end := int64(last.Seq)
	type put struct {
		kvPut
		sent, proof int64
	}
	puts := map[uint64]*put{}
	prove := func(attempt uint64, o kafka.Offset, seq uint64) {
		if p := puts[attempt]; p != nil && o < last.End {
			if p.offset == kafka.NoOffset {
				p.offset, p.proof = o, int64(seq)
			}
			p.proof = min(p.proof, int64(seq))
		}
	}
	held := kafka.NoOffset
	for i := range w.events {
		e := &w.events[i]
		switch e.Kind {
		case event.SendInvoke:
			if e.Key == key {
				puts[e.Attempt] = &put{kvPut{kafka.NoOffset, e.Hash}, int64(e.Seq), 0}
			}
		case event.SendOK:
			prove(e.Attempt, e.Offset, e.Seq)
		case event.PollOK:
			for _, rec := range e.Records {
				prove(rec.Attempt, rec.Offset, e.Seq)
				if rec.Key == key && e.Client == last.Client {
					held = rec.Offset
				}
			}
		}
	}
	ops := []porcupine.Operation{{Input: kvGet{held}, Call: end, Return: end}}
	for _, attempt := range slices.Sorted(maps.Keys(puts)) {
		if p := puts[attempt]; p.offset != kafka.NoOffset {
			ops = append(ops, porcupine.Operation{Input: p.kvPut, Call: p.sent, Return: p.proof})
		}
	}
	return ops
}

// The last value of each key in a read to the end, and a register that porcupine
// searches an order for, are two definitions of one thing.
func TestKeyValueViewAgreesWithPorcupineOnRandomHistories(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	const histories = 2000
	var legal, broken int
	for n := range histories {
		w := drawKV(rng)
		spoilt := rng.IntN(5)
		for range spoilt {
			w.spoil()
		}
		fits := true
		for key := range uint64(kvKeys) {
			fits = fits && porcupine.CheckOperations(kvModel, w.operations(key+1))
		}
		r := Check(w.events)
		says := !slices.Contains(r.Broken(), "kv-view")
		if says != fits || spoilt == 0 && r.Verdict != Pass {
			t.Fatalf("history %d, spoilt %d times: the rule says %v, porcupine %v: %v %v\n%s", n, spoilt, says, fits, r.Findings, r.Unknown, describe(w.events))
		}
		if fits {
			legal++
		} else {
			broken++
		}
	}
	t.Logf("%d histories: %d legal, %d not", histories, legal, broken)
	if legal < histories/4 || broken < histories/10 {
		t.Error("the draw hardly reaches one of the cases")
	}
}
