package sim

import "tidemark/node"

// timers are the timers of one lane's life. A timer's id is its slot and the
// slot's generation, so an id that fired or was cancelled never matches again.
type timers struct {
	slots []timerSlot
	free  []uint32
	live  int
}

type timerSlot struct {
	generation uint32
	set        bool
}

func timerID(slot, generation uint32) node.TimerID {
	return node.TimerID(uint64(generation)<<32 | uint64(slot) + 1)
}

func (t *timers) set() node.TimerID {
	var slot uint32
	if n := len(t.free); n > 0 {
		slot = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		slot = uint32(len(t.slots))
		t.slots = append(t.slots, timerSlot{})
	}
	t.slots[slot].set = true
	t.live++
	return timerID(slot, t.slots[slot].generation)
}

func (t *timers) isSet(id node.TimerID) bool {
	slot := uint64(uint32(id)) - 1
	return slot < uint64(len(t.slots)) && t.slots[slot].set && t.slots[slot].generation == uint32(id>>32)
}

// clear ends a timer and tells whether it was set.
func (t *timers) clear(id node.TimerID) bool {
	if !t.isSet(id) {
		return false
	}
	slot := uint32(id) - 1
	t.slots[slot].set = false
	t.slots[slot].generation++
	t.free = append(t.free, slot)
	t.live--
	return true
}

func (t *timers) reset() {
	t.slots, t.free, t.live = t.slots[:0], t.free[:0], 0
}
