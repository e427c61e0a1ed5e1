package sim

import (
	"fmt"
	"math"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
)

// deathSignal unwinds a callback whose process dies in it: an ordered crash, or
// Exit. Nothing of the operation that raised it has happened.
type deathSignal struct{ how ending }

// Failure is a broken invariant: a state machine panicked, or did what the port
// forbids. The run stops there.
type Failure struct {
	Seed  uint64
	Event uint64 // World events so far: where to stop when looking again
	At    int64  // ns
	Node  kafka.BrokerID
	Lane  node.Lane
	Text  string
}

// Error says it in one line.
func (f *Failure) Error() string {
	return fmt.Sprintf("invariant broken on node %d, %v, at %d ns (seed %d, event %d): %s", f.Node, f.Lane, f.At, f.Seed, f.Event, f.Text)
}

// Failure is what stopped the run, or nil.
func (w *World) Failure() *Failure { return w.failure }

// contain is the one place that recovers. A death happens at the stamp that the
// callback had reached, and what it did before stands; any other panic of a
// process is a broken invariant; a panic of the World's own goes on.
func (w *World) contain(again *bool) {
	r := recover()
	if r == nil {
		return
	}
	l := w.running
	if l == nil {
		panic(r)
	}
	w.running = nil
	*again = true
	if d, ok := r.(deathSignal); ok {
		l.busy = math.MaxInt64
		w.schedule(entry{at: w.stamp(), kind: evDie, lane: l.m.index, life: l.m.life, x: w.dooms.put(d.how)})
		return
	}
	if w.opts.Debug {
		panic(r)
	}
	w.fail(l, fmt.Sprint(r))
}

// fail stops the run.
func (w *World) fail(l *lane, text string) {
	if w.failure != nil {
		return
	}
	w.failure = &Failure{Seed: w.opts.Seed, Event: w.stats.Events, At: w.now, Node: l.m.cfg.ID, Lane: l.id, Text: text}
	w.halted = true
	e := event.New(event.Invariant)
	e.Node, e.Text = l.m.cfg.ID, fmt.Sprintf("%v: %s", l.id, text)
	w.trace(&e)
}
