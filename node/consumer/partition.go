package consumer

import (
	"time"

	"tidemark/model/kafka"
	"tidemark/node/client"
)

// Position is where a consumer goes on in a partition.
type Position struct {
	Offset kafka.Offset // of the next record; NoOffset before there is any
	// Epoch is the leader epoch of the last record before it, as far as that is
	// known: what the position is validated with.
	Epoch kafka.LeaderEpoch
	// Leader is the leader, with its epoch, that the position is good for.
	Leader client.LeaderAndEpoch
}

var noPosition = Position{kafka.NoOffset, kafka.NoEpoch, client.NoLeader}

// state is what a partition waits for.
type state uint8

const (
	initializing       state = iota // for its first position
	fetching                        // for records
	awaitingReset                   // for ListOffsets
	awaitingValidation              // for OffsetsForLeaderEpoch
)

// Reasons of a position that moved without consumption, as traces name them.
const (
	ReasonAssign     = "assign"
	ReasonSeek       = "seek"
	ReasonOutOfRange = "out-of-range"
	ReasonTruncated  = "truncated"
)

// partition is one assigned partition.
type partition struct {
	tp    kafka.TopicPartition
	state state
	pos   Position
	// stopped tells that the application was given an error that only a Seek
	// ends.
	stopped bool

	resetTo     kafka.Timestamp // awaitingReset: client.Earliest or Latest
	resetReason string

	// retryAt is the earliest instant of the next request of this state; while
	// one is on its way, the instant at which it is given up.
	retryAt  time.Duration
	failures int // errors in a row, for the back-off

	buffered *fetched     // data that is not returned yet
	hw       kafka.Offset // high watermark of the last answer of this leader; NoOffset before
}

// fetchable reports whether the partition may be part of a fetch now.
func (p *partition) fetchable(now time.Duration) bool {
	return p.state == fetching && !p.stopped && p.buffered == nil && p.retryAt <= now
}

// follow takes the partition's leader as metadata knows it. A position with an
// epoch must be validated against a new one.
func (p *partition) follow(l client.LeaderAndEpoch) {
	moving := p.state == fetching || p.state == awaitingValidation
	if !moving || l.Leader == kafka.NoBroker || l == p.pos.Leader {
		return
	}
	if l.Leader != p.pos.Leader.Leader {
		p.hw = kafka.NoOffset
	}
	p.pos.Leader = l
	p.retryAt, p.failures = 0, 0
	p.state = fetching
	if p.pos.Epoch != kafka.NoEpoch && l.Epoch != kafka.NoEpoch {
		p.state = awaitingValidation
	}
}

// seek moves the position and makes it fetchable.
func (p *partition) seek(pos Position) {
	p.state, p.pos, p.stopped = fetching, pos, false
	p.retryAt, p.failures = 0, 0
}

// reset makes the partition look for a position.
func (p *partition) reset(to kafka.Timestamp, reason string) {
	p.state, p.resetTo, p.resetReason, p.stopped = awaitingReset, to, reason, false
	p.retryAt, p.failures = 0, 0
}
