//go:build !js

package main

import "os"

// heapBelow is how much memory a broker may leave unused before it is collected,
// bytes. What lives on the heap of one is small, so the collector would run for every
// few hundred requests, and take a tenth of the processor.
const heapBelow = 16 << 20

// holdHeap returns an object that the collector takes for heap in use and nobody ever
// touches, so that no memory stands behind it; the caller keeps it alive. Whoever sets
// the collector's pace in the environment gets that pace.
func holdHeap() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, heapBelow)
}
