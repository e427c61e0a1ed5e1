package live

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"tidemark/model/kafka"
	"tidemark/node"
)

// stream is one named source of chance.
type stream = rand.PCG

// newStream keys a stream by what it is for, so that a new draw in one place
// moves no other.
func newStream(seed uint64, id kafka.BrokerID, lane node.Lane, site string) *stream {
	name := binary.BigEndian.AppendUint64(nil, seed)
	name = binary.BigEndian.AppendUint32(name, uint32(id))
	name = append(append(name, byte(lane)), site...)
	key := sha256.Sum256(name)
	return rand.NewPCG(binary.BigEndian.Uint64(key[:8]), binary.BigEndian.Uint64(key[8:16]))
}
