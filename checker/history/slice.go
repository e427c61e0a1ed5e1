package history

import (
	"cmp"
	"io"
	"slices"

	"tidemark/model/event"
)

// Located is an event and the line of the file that it was made from.
type Located struct {
	event.Event
	Line int
}

// Slice is the Stream of events that an importer made.
type Slice struct {
	file   string
	header Header
	events []Located
	next   int
}

// NewSlice returns the stream of events in order of their times, where the
// header's clock is time, or as they stand, numbered from 1.
func NewSlice(file string, h Header, events []Located) *Slice {
	if h.Clock == ByTime {
		slices.SortStableFunc(events, func(a, b Located) int { return cmp.Compare(a.At, b.At) })
	}
	for i := range events {
		events[i].Seq = uint64(i + 1)
		if events[i].ClockErr == 0 {
			events[i].ClockErr = h.ClockErr
		}
	}
	return &Slice{file: file, header: h, events: events}
}

// Header stands for a header line.
func (s *Slice) Header() Header { return s.header }

// At is the line that the last event was made from.
func (s *Slice) At() (string, int) {
	if s.next == 0 {
		return s.file, 0
	}
	return s.file, s.events[s.next-1].Line
}

// Next gives the next event.
func (s *Slice) Next(e *event.Event) error {
	if s.next == len(s.events) {
		return io.EOF
	}
	*e = s.events[s.next].Event
	s.next++
	return nil
}
