package controller

import (
	"slices"
	"strings"

	"tidemark/model/kafka"
)

// place assigns replicas as Kafka's StripedReplicaPlacer does: leaders go round
// all racks, the replicas of a partition over as many racks as there are, and
// unfenced brokers before fenced ones. Brokers in controlled shutdown are left
// out.
func (c *Controller) place(partitions, factor int) ([][]kafka.BrokerID, error) {
	s := c.newStripes()
	if s.unfenced == 0 {
		return nil, refuse(kafka.InvalidReplicationFactor, "all brokers are fenced or in controlled shutdown")
	}
	if factor > s.total {
		return nil, refuse(kafka.InvalidReplicationFactor, "replication factor %d: only %d brokers are registered", factor, s.total)
	}
	assignment := make([][]kafka.BrokerID, 0, partitions)
	for range partitions {
		assignment = append(assignment, s.next(factor))
	}
	return assignment, nil
}

// stripes hands out assignments. A stripe is one partition's walk over the racks.
type stripes struct {
	draw            func() uint64
	racks           []*rack // by name at first, shuffled later
	total, unfenced int     // brokers
	start           int     // rack at which the next stripe starts
	stripe          int     // ordinal since the last shuffle
}

type rack struct {
	name             string
	unfenced, fenced ring
}

// ring is a list of brokers that each stripe enters one place further.
type ring struct {
	ids    []kafka.BrokerID
	offset int
	used   int // in this stripe
	stripe int
}

func (c *Controller) newStripes() *stripes {
	s := &stripes{draw: func() uint64 { return c.env.Rand("placement") }}
	for _, b := range c.image.Brokers() {
		if b.InControlledShutdown {
			continue
		}
		i := slices.IndexFunc(s.racks, func(r *rack) bool { return r.name == b.Rack })
		if i < 0 {
			i = len(s.racks)
			s.racks = append(s.racks, &rack{name: b.Rack})
		}
		s.total++
		if b.Fenced {
			s.racks[i].fenced.ids = append(s.racks[i].fenced.ids, b.ID)
		} else {
			s.racks[i].unfenced.ids = append(s.racks[i].unfenced.ids, b.ID)
			s.unfenced++
		}
	}
	slices.SortStableFunc(s.racks, func(a, b *rack) int { return strings.Compare(a.name, b.name) })
	for _, r := range s.racks {
		r.fenced.offset, r.unfenced.offset = s.below(len(r.fenced.ids)), s.below(len(r.unfenced.ids))
	}
	s.start = s.below(len(s.racks))
	return s
}

// below draws a number from 0 to n-1; of none or one there is no choice.
func (s *stripes) below(n int) int {
	if n < 2 {
		return 0
	}
	return int(s.draw() % uint64(n))
}

// next gives the replicas of one partition. The caller has checked that there
// are enough brokers, one of them unfenced.
func (s *stripes) next(factor int) []kafka.BrokerID {
	// After so many stripes leaders would come round in the same order.
	if s.stripe == s.unfenced && s.unfenced > 1 {
		s.shuffle()
	}
	replicas := make([]kafka.BrokerID, 0, factor)
	first := s.start
	for {
		if id, ok := s.racks[first].unfenced.take(s.stripe); ok {
			replicas = append(replicas, id)
			break
		}
		first = (first + 1) % len(s.racks)
	}
	at, skip := s.start, first
	for len(replicas) < factor {
		r := s.racks[at]
		if at == skip {
			skip = -1 // that rack has given the first replica
		} else if id, ok := r.take(s.stripe); ok {
			replicas = append(replicas, id)
		}
		at = (at + 1) % len(s.racks)
	}
	s.stripe++
	s.start = (s.start + 1) % len(s.racks)
	return replicas
}

func (s *stripes) shuffle() {
	s.stripe = 0
	shuffle(s, s.racks)
	for _, r := range s.racks {
		shuffle(s, r.fenced.ids)
		shuffle(s, r.unfenced.ids)
	}
}

func shuffle[T any](s *stripes, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := s.below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}

func (r *rack) take(stripe int) (kafka.BrokerID, bool) {
	if id, ok := r.unfenced.take(stripe); ok {
		return id, true
	}
	return r.fenced.take(stripe)
}

// take gives the next broker of the ring that this stripe did not have yet.
func (r *ring) take(stripe int) (kafka.BrokerID, bool) {
	if r.stripe != stripe {
		r.stripe, r.used = stripe, 0
		if len(r.ids) > 0 {
			r.offset = (r.offset + 1) % len(r.ids)
		}
	}
	if r.used == len(r.ids) {
		return kafka.NoBroker, false
	}
	id := r.ids[(r.offset+r.used)%len(r.ids)]
	r.used++
	return id, true
}
