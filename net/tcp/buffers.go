package tcp

import (
	"math/bits"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// produceKey is the API key of the requests whose frames are used again.
const produceKey = int16(kmsg.Produce)

// Frames from 4 KiB to 4 MiB are kept for the next request, by power of two:
// memory that was never touched costs more than everything else that happens to
// a batch. What is smaller is cheap, what is larger is rare.
const (
	smallestKept = 12 // bits
	largestKept  = 22
)

var kept [largestKept - smallestKept + 1]sync.Pool

// class is the pool whose buffers hold n bytes.
func class(n int) int { return max(bits.Len(uint(n-1))-smallestKept, 0) }

// buffer returns n bytes with whatever was in them.
func buffer(n int) []byte {
	if n < 1<<smallestKept || n > 1<<largestKept {
		return make([]byte, n)
	}
	i := class(n)
	if p, ok := kept[i].Get().(*[]byte); ok {
		return (*p)[:n]
	}
	return make([]byte, n, 1<<(i+smallestKept))
}

// recycle takes a buffer back, at which nobody looks any more.
func recycle(p []byte) {
	n := cap(p)
	if n < 1<<smallestKept || n > 1<<largestKept || n&(n-1) != 0 {
		return
	}
	whole := p[:n]
	kept[class(n)].Put(&whole)
}
