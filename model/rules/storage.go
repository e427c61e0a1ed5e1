package rules

import "tidemark/model/kafka"

// Storage is what a node decides about the log directories that it finds at its
// start.
type Storage struct {
	// TrustMarker tells whether a clean-shutdown marker that lies in a directory
	// makes recovery needless.
	TrustMarker func(MarkerFound) bool
	// SyncMarkerRemoval: nothing is loaded before the removal of the markers is
	// durable.
	SyncMarkerRemoval bool
	// Walk tells from which offset on the batches of a log are walked at its
	// start; not ok walks none, and whatever is at its end stays there.
	Walk func(LogFound) (from kafka.Offset, ok bool)
	// RebuildIndexes: the indexes of segments that are walked are made anew.
	RebuildIndexes bool
}

// MarkerFound is a clean-shutdown marker and what the metadata knows.
type MarkerFound struct {
	// Epoch is the one in the marker, Registered the one with which the broker is
	// registered in the first image of this life; both may be NoBrokerEpoch.
	Epoch, Registered kafka.BrokerEpoch
}

// LogFound is what the files beside a log tell about it at its start.
type LogFound struct {
	Clean                   bool         // there was a marker that is trusted
	RecoveryPoint, LogStart kafka.Offset // from the checkpoints, 0 without
}

// currentStorage recovers as Kafka has since 0.8: unless there is a marker, every
// segment from the recovery point on is walked, cut at the first bad batch and
// indexed anew. That the marker exists is all that counts, and its removal is not
// synced.
//
// The segment with the last offset below the recovery point is walked too, which
// Kafka does not do where the point is the segment's end: a roll after the flush that
// moved the point there has written to it again.
func currentStorage() Storage {
	return Storage{
		TrustMarker: func(MarkerFound) bool { return true },
		Walk: func(l LogFound) (kafka.Offset, bool) {
			return max(l.RecoveryPoint-1, l.LogStart), !l.Clean
		},
		RebuildIndexes: true,
	}
}
