package controller

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// RegistrationRequest is BrokerRegistration (KIP-631) in domain types.
type RegistrationRequest struct {
	BrokerID      kafka.BrokerID
	ClusterID     string
	IncarnationID kafka.UUID // drawn anew by each process life
	EndPoints     []metadata.Endpoint
	Features      []metadata.FeatureRange
	Rack          string // "" is none
	LogDirs       []kafka.UUID
	// PreviousEpoch is the broker epoch of a life that ended with a clean
	// shutdown of every log directory, else NoBrokerEpoch.
	PreviousEpoch kafka.BrokerEpoch
}

// reservedDirectories are the log directory ids, all but the last 8 bytes zero,
// below which no real directory lies (KIP-858).
const reservedDirectories = 100

// RegisterBroker begins a broker's life in the cluster. A new incarnation gets
// as epoch the offset of its registration's batch and starts fenced; the same
// one asks again and keeps what it has. In the batch of a new incarnation, before
// the registration itself, the old life's places in ISR and ELR are taken away:
// whoever comes back is at first nobody (KAFKA-18106). That must fit one batch, so
// a broker with MaxBatchRecords such places or more is told UNKNOWN_SERVER_ERROR, as
// by Kafka, and asks again until fencing, or the leaders, have taken some away.
func (c *Controller) RegisterBroker(req RegistrationRequest, reply func(kafka.ErrorCode, kafka.BrokerEpoch)) {
	if code := c.checkRegistration(req); code != kafka.None {
		reply(code, kafka.NoBrokerEpoch)
		return
	}
	rec := metadata.RegisterBroker{BrokerID: req.BrokerID, IncarnationID: req.IncarnationID, BrokerEpoch: kafka.BrokerEpoch(c.quorum.NextOffset()),
		EndPoints: req.EndPoints, Features: req.Features, Rack: req.Rack, Fenced: true, LogDirs: sortedIDs(req.LogDirs)}
	r := result{atomic: true}
	old, known := c.image.Broker(req.BrokerID)
	if known && old.IncarnationID == req.IncarnationID {
		rec.BrokerEpoch, rec.Fenced, rec.InControlledShutdown = old.Epoch, old.Fenced, old.InControlledShutdown
	} else {
		clean := known && old.Epoch == req.PreviousEpoch
		c.cleanUpAfter(req.BrokerID, clean, &r)
		c.alive.forget(req.BrokerID)
	}
	r.records = append(r.records, rec)
	c.write(r, func(code kafka.ErrorCode) { reply(code, rec.BrokerEpoch) })
}

func (c *Controller) checkRegistration(req RegistrationRequest) kafka.ErrorCode {
	if !c.active {
		return kafka.NotController
	}
	if req.ClusterID != c.cfg.ClusterID.String() {
		return kafka.InconsistentClusterID
	}
	old, known := c.image.Broker(req.BrokerID)
	// A live session belongs to another process with this id, unless that one
	// is shutting down anyway (KAFKA-19047).
	if known && old.IncarnationID != req.IncarnationID && !old.InControlledShutdown &&
		c.alive.valid(req.BrokerID, old.Epoch, c.env.Now()) {
		return kafka.DuplicateBrokerRegistration
	}
	if !c.directoriesAcceptable(req) {
		return kafka.InvalidRegistration
	}
	if !c.featuresSupported(req.Features) {
		return kafka.UnsupportedVersion
	}
	return kafka.None
}

// directoriesAcceptable: at least one log directory, none twice, none with a
// reserved id, none that belongs to another broker.
func (c *Controller) directoriesAcceptable(req RegistrationRequest) bool {
	for i, dir := range req.LogDirs {
		if reserved(dir) || slices.Contains(req.LogDirs[:i], dir) {
			return false
		}
	}
	for _, b := range c.image.Brokers() {
		for _, dir := range b.LogDirs {
			if b.ID != req.BrokerID && slices.Contains(req.LogDirs, dir) {
				return false
			}
		}
	}
	return len(req.LogDirs) > 0
}

func reserved(dir kafka.UUID) bool {
	last := len(dir) - 1
	head := dir
	head[last] = 0
	return head.IsZero() && dir[last] < reservedDirectories
}

// featuresSupported reports whether the ranges hold every finalised level
// (KIP-584); a feature that is not named supports level 0 alone.
func (c *Controller) featuresSupported(ranges []metadata.FeatureRange) bool {
	for _, f := range c.image.Features() {
		i := slices.IndexFunc(ranges, func(r metadata.FeatureRange) bool { return r.Name == f.Name })
		if i < 0 || f.Level < ranges[i].Min || f.Level > ranges[i].Max {
			return false
		}
	}
	return true
}

func sortedIDs(ids []kafka.UUID) []kafka.UUID {
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, func(a, b kafka.UUID) int { return slices.Compare(a[:], b[:]) })
	return ids
}

// cleanUpAfter takes from a broker what a past life of it held. A life that
// ended cleanly has its whole log, so it counts as fenced and may stay in the
// ELR. One that did not may have lost its tail, and leaves the ELR too. Without
// eligible leader replicas there is nothing more to leave: the last ISR member
// stays one, however short its log (E4).
func (c *Controller) cleanUpAfter(id kafka.BrokerID, clean bool, r *result) {
	if clean {
		c.updatePartitions(r, withISRMember(id), leaving(id))
		return
	}
	c.updatePartitions(r, withISROrELRMember(id), uncleanShutdown(id))
}
