package replay

import (
	"fmt"
	"time"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/live/recording"
)

// env is the replay as a lane's tape sees it.
type env lane

// op stands before every operation at which a node can die: the dead do not do it.
func (n *lane) op() {
	if n.running.Cut && !n.tape.Left() {
		panic(stop{})
	}
}

// Node implements node.Env.
func (e *env) Node() kafka.BrokerID { return e.life.id }

// Now implements node.Env.
func (e *env) Now() time.Duration { return e.running.Now }

// Wall implements node.Env.
func (e *env) Wall() kafka.Timestamp { return e.running.Wall }

// SetTimer implements node.Env.
func (e *env) SetTimer(time.Duration) node.TimerID {
	(*lane)(e).op()
	e.timers++
	return node.TimerID(e.timers)
}

// CancelTimer implements node.Env.
func (e *env) CancelTimer(node.TimerID) { (*lane)(e).op() }

// Dial implements node.Env.
func (e *env) Dial(string) node.ConnID {
	(*lane)(e).op()
	e.conns++
	return e.conns
}

// Send implements node.Env.
func (e *env) Send(_ node.ConnID, m *node.Message) {
	(*lane)(e).op()
	for _, r := range m.Regions {
		r.Release()
	}
}

// Release implements node.Env.
func (e *env) Release(node.ConnID) { (*lane)(e).op() }

// Close implements node.Env.
func (e *env) Close(node.ConnID) { (*lane)(e).op() }

// Post implements node.Env.
func (e *env) Post(to node.Lane, msg any) {
	(*lane)(e).op()
	dest := e.life.byID[to]
	if dest == nil {
		panic(fmt.Sprintf("%v posts to %v, which node %d does not have", e.id, to, e.life.id))
	}
	dest.posts[e.id] = append(dest.posts[e.id], msg)
}

// FS implements node.Env.
func (e *env) FS() disk.FS { return e.fs }

// Rand implements node.Env: chance is an input.
func (e *env) Rand(string) uint64 {
	s, ok := e.tape.Next(recording.StepRand)
	if !ok {
		return 0
	}
	return s.Number(0)
}

// Emit implements node.Env.
func (e *env) Emit(*event.Event) { (*lane)(e).op() }

// Exit implements node.Env. It does not return.
func (e *env) Exit(reason string) {
	e.life.exits = append(e.life.exits, reason)
	panic(stop{})
}
