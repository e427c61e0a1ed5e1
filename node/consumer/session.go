package consumer

import (
	"math"
	"slices"

	"tidemark/model/kafka"
	"tidemark/node/client"
)

// session is the fetch session with one broker (KIP-227): both sides remember
// the partitions, a request says only what changed. Whatever goes wrong, the
// next request is full and begins anew.
//
//	full (id, 0) ─▶ answer names an id ─▶ incremental (id, 1) (id, 2) …
//	     ▲                                   │ error, connection lost
//	     └───────────────────────────────────┘
type session struct {
	id       int32
	epoch    int32
	parts    []client.FetchPartition // what the broker remembers, by partition
	inFlight bool
}

// build makes the next request for the partitions to be fetched, sorted.
func (s *session) build(parts []client.FetchPartition) (changed, forgotten []client.FetchPartition) {
	before := s.parts
	s.parts = parts
	if s.epoch == 0 {
		return parts, nil
	}
	for _, p := range parts {
		if old, ok := find(before, p.TP); !ok || old != p {
			changed = append(changed, p)
		}
	}
	for _, old := range before {
		if p, ok := find(parts, old.TP); !ok || p.TopicID != old.TopicID {
			forgotten = append(forgotten, old)
		}
	}
	return changed, forgotten
}

func find(parts []client.FetchPartition, tp kafka.TopicPartition) (client.FetchPartition, bool) {
	i := slices.IndexFunc(parts, func(p client.FetchPartition) bool { return p.TP == tp })
	if i < 0 {
		return client.FetchPartition{}, false
	}
	return parts[i], true
}

// answered moves on after an answer without transport error.
func (s *session) answered(a client.FetchAnswer) {
	switch {
	case a.Code == kafka.FetchSessionIDNotFound || a.Code == kafka.None && a.SessionID == 0:
		s.id, s.epoch = 0, 0
	case a.Code != kafka.None:
		s.epoch = 0
	case s.epoch == math.MaxInt32:
		s.epoch = 1
	default:
		s.id, s.epoch = a.SessionID, s.epoch+1
	}
}

// broken begins anew; the id lets the broker free the old session's slot.
func (s *session) broken() { s.epoch = 0 }
