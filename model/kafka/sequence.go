package kafka

// sequenceBits masks the 31 bits of a sequence: after 2^31-1 comes 0
// (KAFKA-5283).
const sequenceBits = 1<<31 - 1

// Add is the sequence n records later, or earlier for a negative n. The one
// after none (-1) is 0, where every producer begins.
func (s Sequence) Add(n int32) Sequence { return Sequence((uint32(s) + uint32(n)) & sequenceBits) }

// After reports whether s comes after o, which lies within half of the circle
// of all sequences; every sequence comes after none (-1).
func (s Sequence) After(o Sequence) bool {
	if o < 0 {
		return s >= 0
	}
	ahead := (uint32(s) - uint32(o)) & sequenceBits
	return ahead > 0 && ahead <= sequenceBits/2
}
