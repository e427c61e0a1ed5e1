package checker

// attempts finds sends by their attempt, and keeps them in blocks so that taking
// one in costs no allocation of its own. Attempt ids count up in their lower 32
// bits (event.Ordinal), so each upper half has a table; ids that do not count up
// go into a map.
type attempts struct {
	tables map[uint32]*ordinals
	upper  uint32    // of the table used last: events come in runs
	last   *ordinals // nil before the first
	sparse map[uint64]*send
	block  []send
}

// ordinals are the sends of one upper half, by the lower one.
type ordinals struct{ sends []*send }

// sendsInBlock is how many sends are allocated at once.
const sendsInBlock = 1024

func newAttempts() attempts {
	return attempts{tables: map[uint32]*ordinals{}, sparse: map[uint64]*send{}}
}

// get returns the send of an attempt, nil for none.
func (a *attempts) get(attempt uint64) *send {
	if t := a.table(uint32(attempt >> 32)); t != nil {
		if i := int(uint32(attempt)); i < len(t.sends) {
			return t.sends[i]
		}
	}
	return a.sparse[attempt]
}

func (a *attempts) table(upper uint32) *ordinals {
	if a.last == nil || a.upper != upper {
		a.upper, a.last = upper, a.tables[upper]
	}
	return a.last
}

// add makes room for the send of a new attempt.
func (a *attempts) add(attempt uint64) *send {
	if len(a.block) == 0 {
		a.block = make([]send, sendsInBlock)
	}
	s := &a.block[0]
	a.block = a.block[1:]
	upper, i := uint32(attempt>>32), int(uint32(attempt))
	t := a.table(upper)
	if t == nil {
		t = &ordinals{}
		a.tables[upper], a.last = t, t
	}
	switch {
	case i < len(t.sends):
		t.sends[i] = s
	case i < 2*len(t.sends)+sendsInBlock:
		t.sends = append(t.sends, make([]*send, i-len(t.sends)+1)...)
		t.sends[i] = s
	default:
		a.sparse[attempt] = s
	}
	return s
}
