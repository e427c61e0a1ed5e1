package sim

import "tidemark/model/kafka"

// FlipTimer moves the earliest timer that is pending by one nanosecond.
func (w *World) FlipTimer() bool {
	for i := range w.queue.heap {
		if w.queue.heap[i].kind == evTimer {
			w.queue.heap[i].at++
			return true
		}
	}
	return false
}

// Pending is the number of entries in the queue.
func (w *World) Pending() int { return len(w.queue.heap) }

// FlipByte changes one byte of a file in the page cache of a node, as the
// lane that owns it.
func (w *World) FlipByte(id kafka.BrokerID, lane, path string) {
	m, err := w.machine(id)
	if err != nil {
		panic(err)
	}
	f, err := m.disk.View(lane, flipHost{}).Open(path)
	if err != nil {
		panic(err)
	}
	var b [1]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		panic(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b[:], 0); err != nil {
		panic(err)
	}
}
