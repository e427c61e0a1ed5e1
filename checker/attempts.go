package checker

// attempts finds sends by their attempt. Attempt ids count up in their lower 32
// bits (event.Ordinal), so each upper half has a table; ids that do not count up
// go into a map.
type attempts struct {
	near   []*ordinals          // by upper half, where that is a small number
	far    map[uint32]*ordinals // by upper half, elsewhere
	sparse map[uint64]*ticket
}

// ordinals are the sends of one upper half, by the lower one.
type ordinals struct{ sends blocks[ticket] }

// ticket is what is asked most often of the send of an attempt: the hash of its
// value, and its number in order of calls, from 1; 0 is no send.
type ticket struct {
	hash   uint64
	number int32
}

// nearUppers is how many upper halves need no map; looseOrdinals is by how much an
// ordinal may be more than twice as large as all before it.
const nearUppers, looseOrdinals = 1 << 12, 1 << 10

// get returns what is known of an attempt's send, nil for none.
func (a *attempts) get(attempt uint64) *ticket {
	if t := a.table(uint32(attempt >> 32)); t != nil {
		if i := int(uint32(attempt)); i < t.sends.len() {
			if n := t.sends.at(i); n.number != 0 {
				return n
			}
		}
	}
	if a.sparse != nil {
		return a.sparse[attempt]
	}
	return nil
}

func (a *attempts) table(upper uint32) *ordinals {
	if upper >= nearUppers {
		return a.far[upper]
	}
	if int(upper) < len(a.near) {
		return a.near[upper]
	}
	return nil
}

// add enters the send of a new attempt.
func (a *attempts) add(attempt uint64, n ticket) {
	upper, i := uint32(attempt>>32), int(uint32(attempt))
	t := a.table(upper)
	if t == nil {
		t = a.begin(upper)
	}
	if i >= 2*t.sends.len()+looseOrdinals {
		if a.sparse == nil {
			a.sparse = map[uint64]*ticket{}
		}
		lone := n
		a.sparse[attempt] = &lone
		return
	}
	for t.sends.len() <= i {
		t.sends.add()
	}
	*t.sends.at(i) = n
}

// begin makes the table of an upper half.
func (a *attempts) begin(upper uint32) *ordinals {
	t := &ordinals{}
	if upper >= nearUppers {
		if a.far == nil {
			a.far = map[uint32]*ordinals{}
		}
		a.far[upper] = t
		return t
	}
	for len(a.near) <= int(upper) {
		a.near = append(a.near, nil)
	}
	a.near[upper] = t
	return t
}
