package sim

import "math/bits"

// stream is one named source of chance: a counter under a key.
type stream struct {
	key, drawn uint64
}

func (s *stream) next() uint64 {
	s.drawn++
	return draw(s.key, s.drawn)
}

// draw is the n-th value of the stream with this key: the finalizer of
// splitmix64 over a Weyl sequence.
func draw(key, n uint64) uint64 {
	z := key + n*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// streamKey names a stream by what it is for.
func streamKey(seed uint64, node int32, life uint32, lane uint8, site string) uint64 {
	h := draw(seed, uint64(uint32(node))<<32|uint64(life))
	h = draw(h, uint64(lane))
	for i := 0; i < len(site); i++ {
		h = bits.RotateLeft64((h^uint64(site[i]))*0x9ddfea08eb382d69, 29)
	}
	return draw(h, uint64(len(site)))
}

// below draws from [0, n) without the bias of a remainder: multiply-shift.
func below(v, n uint64) uint64 {
	hi, _ := bits.Mul64(v, n)
	return hi
}
