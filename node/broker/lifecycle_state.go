package broker

import "time"

// state is where a broker stands in its life (KIP-631).
//
//	starting ──caught up──▶ recovery ──unfenced──▶ running ──Stop──▶ pendingShutdown
//	    └───────Stop────────────┴────────Stop──────────────┐              │ granted, or 5 min
//	                                                       ▼              ▼
//	                                                       └──────▶ shuttingDown
type state uint8

const (
	starting state = iota
	recovery
	running
	pendingShutdown
	shuttingDown
)

// Delays of the heartbeat that are not configured.
const (
	startingInterval      = 10 * time.Millisecond // so that a start without recovery is quick
	firstShutdownInterval = 50 * time.Millisecond // gives the controller time to move the leaders
)

// MaxShutdownWait is how long a broker that was told to stop asks its controller to
// let it go; then it stops without. It is not configurable in Kafka either.
const MaxShutdownWait = 5 * time.Minute

// heartbeatAnswer is what the controller says to a heartbeat.
type heartbeatAnswer struct {
	CaughtUp, Fenced, ShouldShutDown bool
}

// afterHeartbeat gives the state and the time to the next heartbeat after a
// good answer. heard tells whether an answer came before in pendingShutdown.
func (s state) afterHeartbeat(a heartbeatAnswer, heard bool, interval time.Duration) (state, time.Duration) {
	switch s {
	case starting:
		if a.CaughtUp {
			return recovery, startingInterval
		}
		return starting, startingInterval
	case recovery:
		if !a.Fenced {
			return running, interval
		}
	case pendingShutdown:
		if a.ShouldShutDown {
			return shuttingDown, 0
		}
		if !heard {
			return pendingShutdown, firstShutdownInterval
		}
	}
	return s, interval
}

// afterStop gives the state after SIGTERM: only a running broker has leaders to
// hand over.
func (s state) afterStop() state {
	switch s {
	case running, pendingShutdown:
		return pendingShutdown
	}
	return shuttingDown
}

// Bounds of the pause after a failed heartbeat or registration.
const (
	firstRetry    = 100 * time.Millisecond
	retryJitter   = 20 // ‰ in each direction
	jitterSamples = 2*retryJitter + 1
)

// retryDelay is the pause after the n-th failure in a row, n from 0: doubled
// each time up to most, and moved by the random draw within the jitter.
func retryDelay(n int, most time.Duration, draw uint64) time.Duration {
	d := firstRetry
	for ; n > 0 && d < most; n-- {
		d *= 2
	}
	d = min(d, most)
	return d * time.Duration(1000-retryJitter+draw%jitterSamples) / 1000
}
