package controller

import (
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// Quorum is the replicated log that the controller writes. Commits and changes
// of leadership come back as calls of HandleCommit and HandleLeaderChange, never
// from inside a call of these methods.
type Quorum interface {
	// Append adds records as one batch, which takes effect whole or not at all,
	// and returns the offset of the first. Only the leader may call it, with 1
	// to MaxBatchRecords records.
	Append(recs []metadata.Record) kafka.Offset
	// NextOffset is the offset that the next record will get.
	NextOffset() kafka.Offset
}

// MaxBatchRecords bounds one batch of the metadata log.
const MaxBatchRecords = 10_000
