package scenarios

import "tidemark/model/event"

// trace keeps the events of a run in chunks: a slice that grows by copying
// would cost more than everything else that is done with an event.
type trace struct {
	chunks [][]event.Event
}

const chunkEvents = 1024

func (t *trace) add(e *event.Event) {
	last := len(t.chunks) - 1
	if last < 0 || len(t.chunks[last]) == chunkEvents {
		t.chunks = append(t.chunks, make([]event.Event, 0, chunkEvents))
		last++
	}
	t.chunks[last] = append(t.chunks[last], *e)
}

// all returns the events in one slice.
func (t *trace) all() []event.Event {
	n := 0
	for _, c := range t.chunks {
		n += len(c)
	}
	events := make([]event.Event, 0, n)
	for _, c := range t.chunks {
		events = append(events, c...)
	}
	return events
}
