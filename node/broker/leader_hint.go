package broker

import (
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

// leaderHints collects what a broker tells a client that asked the wrong
// leader: who leads now, in which epoch, and where that broker is, so that the
// client need not ask for metadata first (KIP-951).
type leaderHints struct {
	image   *metadata.Image
	Brokers []hintedBroker
}

type hintedBroker struct {
	ID   int32
	Host string
	Port int32
	Rack *string
}

// leader gives the partition's leader and epoch in this broker's metadata, -1
// and -1 if it is not known, and takes note of the leader's address.
func (h *leaderHints) leader(tp kafka.TopicPartition) (int32, int32) {
	p, ok := h.image.Partition(tp)
	if !ok {
		return int32(kafka.NoBroker), int32(kafka.NoEpoch)
	}
	h.note(p.Leader)
	return int32(p.Leader), int32(p.LeaderEpoch)
}

func (h *leaderHints) note(id kafka.BrokerID) {
	for _, b := range h.Brokers {
		if b.ID == int32(id) {
			return
		}
	}
	b, ok := h.image.Broker(id)
	if !ok || b.Fenced {
		return
	}
	if e, ok := b.Endpoint(node.ClientListener); ok {
		hinted := hintedBroker{ID: int32(id), Host: e.Host, Port: int32(e.Port)}
		if b.Rack != "" {
			hinted.Rack = &b.Rack
		}
		h.Brokers = append(h.Brokers, hinted)
	}
}
