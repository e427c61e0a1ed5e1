package node

import (
	"time"

	"tidemark/disk"
)

// Timers turns a lane's timers into continuations. The zero value is not
// usable; make one with NewTimers in Start.
type Timers struct {
	env Env
	due map[TimerID]func()
}

// NewTimers returns the timers of a lane's life.
func NewTimers(env Env) *Timers { return &Timers{env: env, due: map[TimerID]func(){}} }

// After runs f once after d.
func (t *Timers) After(d time.Duration, f func()) TimerID {
	id := t.env.SetTimer(d)
	t.due[id] = f
	return id
}

// Cancel takes a timer back; an unknown one is ignored.
func (t *Timers) Cancel(id TimerID) {
	if _, ok := t.due[id]; ok {
		delete(t.due, id)
		t.env.CancelTimer(id)
	}
}

// Fire runs the continuation of id and reports whether there was one.
func (t *Timers) Fire(id TimerID) bool {
	f, ok := t.due[id]
	if ok {
		delete(t.due, id)
		f()
	}
	return ok
}

// Syncs turns a lane's fsync completions into continuations and hands out its
// tokens.
type Syncs struct {
	last disk.Token
	done map[disk.Token]func(error)
}

// NewSyncs returns the outstanding syncs of a lane's life.
func NewSyncs() *Syncs { return &Syncs{done: map[disk.Token]func(error){}} }

// Token returns a fresh token whose completion runs f.
func (s *Syncs) Token(f func(error)) disk.Token {
	s.last++
	s.done[s.last] = f
	return s.last
}

// Outstanding is the number of syncs that did not complete.
func (s *Syncs) Outstanding() int { return len(s.done) }

// Synced runs the continuation of token and reports whether there was one.
func (s *Syncs) Synced(token disk.Token, err error) bool {
	f, ok := s.done[token]
	if ok {
		delete(s.done, token)
		f(err)
	}
	return ok
}
