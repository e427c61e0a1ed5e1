package history

import (
	"errors"
	"fmt"
	"io"

	"tidemark/model/event"
)

// Merged is several histories as one: each saw a part of the same cluster, such
// as one partition or one client.
type Merged struct {
	header Header
	heads  []head
	last   int // the head that Next gave out, -1 for none
	seq    uint64
}

// head is the next event of one of the histories.
type head struct {
	from Stream
	next event.Event
	done bool
}

// Merge puts histories together, by seq or by time as their headers say. The
// events of a history by time are numbered anew, in order of time; of two with
// equal times the earlier history's comes first.
func Merge(parts ...Stream) (*Merged, error) {
	m := &Merged{last: -1}
	for i, p := range parts {
		if err := m.join(i, p, parts); err != nil {
			return nil, err
		}
	}
	m.heads = make([]head, len(parts))
	for i, p := range parts {
		m.heads[i].from = p
		if err := m.advance(i); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// join takes a header in.
func (m *Merged) join(i int, p Stream, parts []Stream) error {
	h := p.Header()
	file, _ := p.At()
	if i == 0 {
		m.header = h
		return nil
	}
	first, _ := parts[0].At()
	if h.Clock != m.header.Clock {
		return &Error{File: file, Line: 1, Field: "clock",
			Err: fmt.Errorf("expected %s, as %s has it, found %s: files of one history are ordered by the same clock", m.header.Clock, first, h.Clock)}
	}
	m.header.Open = m.header.Open || h.Open
	m.header.ClockErr = max(m.header.ClockErr, h.ClockErr)
	if h.Source != "" && h.Source != m.header.Source {
		if m.header.Source != "" {
			m.header.Source += "; "
		}
		m.header.Source += h.Source
	}
	for _, s := range h.Profile {
		if err := m.add(s); err != nil {
			return &Error{File: file, Line: 1, Field: "profile", Err: err}
		}
	}
	return nil
}

func (m *Merged) add(s Setting) error {
	for _, have := range m.header.Profile {
		if have.Scope != s.Scope || have.Key != s.Key {
			continue
		}
		if have.Value != s.Value {
			return fmt.Errorf("expected %s=%s for %s, as another file of the history says, found %s", s.Key, have.Value, s.Scope, s.Value)
		}
		return nil
	}
	m.header.Profile = append(m.header.Profile, s)
	return nil
}

// Header is all headers as one.
func (m *Merged) Header() Header { return m.header }

// At is where the last event stands.
func (m *Merged) At() (string, int) {
	if m.last < 0 {
		return m.heads[0].from.At()
	}
	return m.heads[m.last].from.At()
}

func (m *Merged) advance(i int) error {
	h := &m.heads[i]
	err := h.from.Next(&h.next)
	if errors.Is(err, io.EOF) {
		h.done = true
		return nil
	}
	return err
}

// Next reads the next event of all.
func (m *Merged) Next(e *event.Event) error {
	if m.last >= 0 {
		if err := m.advance(m.last); err != nil {
			return err
		}
	}
	best := -1
	for i := range m.heads {
		if !m.heads[i].done && (best < 0 || m.before(i, best)) {
			best = i
		}
	}
	if best < 0 {
		m.last = -1
		return io.EOF
	}
	m.last = best
	*e = m.heads[best].next
	if m.header.Clock == ByTime {
		m.seq++
		e.Seq = m.seq
		return nil
	}
	if e.Seq <= m.seq {
		file, line := m.At()
		return &Error{File: file, Line: line, Field: "seq", Err: fmt.Errorf("expected a number of its own, found %d, which another file of the history has too", e.Seq)}
	}
	m.seq = e.Seq
	return nil
}

func (m *Merged) before(i, j int) bool {
	a, b := &m.heads[i].next, &m.heads[j].next
	if m.header.Clock == ByTime {
		return a.At < b.At
	}
	return a.Seq < b.Seq
}
