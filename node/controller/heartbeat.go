package controller

import (
	"math"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// HeartbeatRequest is BrokerHeartbeat (KIP-631) in domain types.
type HeartbeatRequest struct {
	BrokerID    kafka.BrokerID
	BrokerEpoch kafka.BrokerEpoch
	// MetadataOffset is the last offset of the metadata log that the broker has
	// applied, -1 for none.
	MetadataOffset kafka.Offset
	WantFence      bool
	WantShutdown   bool
	OfflineLogDirs []kafka.UUID
}

// HeartbeatReply tells the broker what it is now.
type HeartbeatReply struct {
	CaughtUp       bool // it has applied its own registration
	Fenced         bool
	ShouldShutdown bool // its controlled shutdown is granted
}

// brokerState is what the controller lets a broker do.
//
//	          want unfence, caught up
//	FENCED ───────────────────────────▶ UNFENCED
//	  │  ▲                               │ │  │ want shutdown, leads something
//	  │  └── want fence, session over ───┘ │  ▼
//	  │                                    │  CONTROLLED_SHUTDOWN
//	  │ want shutdown       leads nothing  │        │ leads nothing, and every active
//	  └──────────────────▶ SHUTDOWN_NOW ◀──┴────────┘ broker has heard of it
type brokerState uint8

const (
	stateFenced brokerState = iota
	stateUnfenced
	stateControlledShutdown
	stateShutdownNow
)

// Heartbeat renews a broker's session and moves it to the state that it asks
// for, if the cluster lets it.
func (c *Controller) Heartbeat(req HeartbeatRequest, reply func(kafka.ErrorCode, HeartbeatReply)) {
	if !c.active {
		reply(kafka.NotController, HeartbeatReply{})
		return
	}
	c.alive.touch(req.BrokerID, req.BrokerEpoch, c.env.Now())
	if code := c.checkBrokerEpoch(req.BrokerID, req.BrokerEpoch); code != kafka.None {
		reply(code, HeartbeatReply{})
		return
	}
	b, _ := c.image.Broker(req.BrokerID)
	now, next := c.currentState(b), c.nextState(b, req)
	var r result
	if now != next {
		switch next {
		case stateFenced, stateShutdownNow:
			c.fence(b, &r)
		case stateUnfenced:
			c.unfence(b, &r)
		case stateControlledShutdown:
			c.startControlledShutdown(b, &r)
		}
	}
	c.directoriesOffline(b, req.OfflineLogDirs, &r)
	rep := HeartbeatReply{CaughtUp: req.MetadataOffset >= b.RegistrationOffset, ShouldShutdown: next == stateShutdownNow,
		Fenced: next == stateFenced || next == stateShutdownNow}
	c.write(r, func(code kafka.ErrorCode) { reply(code, rep) })
	c.noteHeartbeat(req, next)
}

// noteHeartbeat keeps what the broker reported, and the end of the log at the
// start of its controlled shutdown: that far the others must come before it is
// let go.
func (c *Controller) noteHeartbeat(req HeartbeatRequest, next brokerState) {
	rep := c.alive.of(req.BrokerID)
	rep.metadataOffset = req.MetadataOffset
	switch {
	case next == stateFenced || next == stateShutdownNow:
		rep.shutdownOffset = kafka.NoOffset
	case next == stateControlledShutdown && rep.shutdownOffset == kafka.NoOffset:
		rep.shutdownOffset = c.quorum.NextOffset() - 1
	}
}

// checkBrokerEpoch refuses whoever is not the registered life of a broker.
func (c *Controller) checkBrokerEpoch(id kafka.BrokerID, epoch kafka.BrokerEpoch) kafka.ErrorCode {
	b, ok := c.image.Broker(id)
	if !ok || b.Epoch != epoch {
		return kafka.StaleBrokerEpoch
	}
	return kafka.None
}

// currentState: whether a broker is in controlled shutdown is known to the
// active controller alone; a new one lets the broker ask again.
func (c *Controller) currentState(b *metadata.BrokerImage) brokerState {
	switch {
	case b.Fenced:
		return stateFenced
	case c.alive.of(b.ID).shutdownOffset != kafka.NoOffset:
		return stateControlledShutdown
	default:
		return stateUnfenced
	}
}

// nextState is the table of brokerState's picture.
func (c *Controller) nextState(b *metadata.BrokerImage, req HeartbeatRequest) brokerState {
	now := c.currentState(b)
	switch now {
	case stateFenced:
		if req.WantShutdown {
			return stateShutdownNow
		}
		if !req.WantFence && req.MetadataOffset >= b.RegistrationOffset {
			return stateUnfenced
		}
	case stateUnfenced:
		switch {
		case req.WantFence && req.WantShutdown:
			return stateShutdownNow
		case req.WantFence:
			return stateFenced
		case req.WantShutdown && c.leadsAnything(b.ID):
			return stateControlledShutdown
		case req.WantShutdown:
			return stateShutdownNow
		}
	case stateControlledShutdown:
		if !c.leadsAnything(b.ID) && c.lowestActiveOffset() >= c.alive.of(b.ID).shutdownOffset {
			return stateShutdownNow
		}
	}
	return now
}

func (c *Controller) leadsAnything(id kafka.BrokerID) bool {
	for _, t := range c.image.Topics() {
		for _, p := range t.Partitions {
			if p.Leader == id {
				return true
			}
		}
	}
	return false
}

// lowestActiveOffset is the metadata that every active broker has; without any
// active broker nobody needs to be waited for.
func (c *Controller) lowestActiveOffset() kafka.Offset {
	lowest := kafka.Offset(math.MaxInt64)
	for _, b := range c.image.Brokers() {
		if c.currentState(b) == stateUnfenced {
			lowest = min(lowest, c.alive.of(b.ID).metadataOffset)
		}
	}
	return lowest
}
