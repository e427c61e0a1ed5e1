package client

import (
	"time"

	"tidemark/node"
)

// jitterPercent is how far Kafka's exponential back-off strays to either side
// (KIP-580).
const jitterPercent = 20

// Backoff is Kafka's exponential back-off: First doubles with each further
// attempt up to Max, and each value strays by a fifth to either side.
type Backoff struct {
	First, Max time.Duration
}

// After is the time to wait after the n-th attempt in a row, n from 1; less
// counts as 1. The site names the random stream that the jitter is drawn from.
func (b Backoff) After(n int, env node.Env, site string) time.Duration {
	d := b.First
	for ; n > 1 && d < b.Max; n-- {
		d *= 2
	}
	d = min(d, b.Max)
	spread := uint64(d) * jitterPercent / 100
	if spread == 0 {
		return d
	}
	return min(d-time.Duration(spread)+time.Duration(env.Rand(site)%(2*spread+1)), b.Max)
}
