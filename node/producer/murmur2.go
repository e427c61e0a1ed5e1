package producer

import "encoding/binary"

const (
	murmurSeed  = 0x9747b28c
	murmurM     = 0x5bd1e995
	murmurShift = 24
)

// murmur2 is the 32-bit hash by which every Kafka client places keys; with any
// other one, records of a key would lie in two partitions.
func murmur2(data []byte) uint32 {
	h := uint32(murmurSeed) ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * murmurM
		k ^= k >> murmurShift
		h = h*murmurM ^ k*murmurM
	}
	switch len(data) {
	case 3:
		h ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(data[0])) * murmurM
	}
	h ^= h >> 13
	h *= murmurM
	return h ^ h>>15
}

// PartitionForKey is the partition of n that a key belongs to; leaderless ones
// count, for a key never moves.
func PartitionForKey(key []byte, n int) int32 {
	return int32((murmur2(key) & 0x7fffffff) % uint32(n))
}
