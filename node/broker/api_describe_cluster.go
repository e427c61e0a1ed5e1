package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// brokerEndpoints is the endpoint type that a broker's listener can describe;
// controllers describe themselves on theirs (KIP-919).
const brokerEndpoints = 1

// operations are the bits of what a client may do to the cluster. There is no
// authorizer, so it is everything that there is: create 5, alter 7, describe 8,
// cluster action 9, describe configs 10, alter configs 11, idempotent write 12.
const operations = 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12

// handleDescribeCluster serves DescribeCluster, key 60, versions 0 to 2 (KIP-700):
// the cluster's id and its brokers, from version 2 on also fenced ones if asked.
func (r *router) handleDescribeCluster(conn node.ConnID, m *node.Message) {
	req := m.Request.(*kmsg.DescribeClusterRequest)
	res := kmsg.NewPtrDescribeClusterResponse()
	res.EndpointType = brokerEndpoints
	if m.Version() >= 1 && req.EndpointType != brokerEndpoints {
		res.ErrorCode = int16(kafka.MismatchedEndpointType)
		res.ErrorMessage = kmsg.StringPtr("this is a broker: ask a controller for the endpoints of controllers")
		r.reply(conn, m, res)
		return
	}
	res.ClusterID = r.cfg.ClusterID.String()
	for _, b := range r.image.Brokers() {
		e, ok := b.Endpoint(node.ClientListener)
		if !ok || b.Fenced && !req.IncludeFencedBrokers {
			continue
		}
		broker := kmsg.NewDescribeClusterResponseBroker()
		broker.NodeID, broker.Host, broker.Port, broker.IsFenced = int32(b.ID), e.Host, int32(e.Port), b.Fenced
		if b.Rack != "" {
			broker.Rack = kmsg.StringPtr(b.Rack)
		}
		res.Brokers = append(res.Brokers, broker)
	}
	res.ControllerID = r.anyController()
	if req.IncludeClusterAuthorizedOperations {
		res.ClusterAuthorizedOperations = operations
	}
	r.reply(conn, m, res)
}

// anyController is what clients are told of the controller: some live broker,
// which passes their requests on (KIP-590); -1 without one.
func (r *router) anyController() int32 {
	var alive []int32
	for _, b := range r.image.Brokers() {
		if _, ok := b.Endpoint(node.ClientListener); ok && !b.Fenced {
			alive = append(alive, int32(b.ID))
		}
	}
	if len(alive) == 0 {
		return int32(kafka.NoBroker)
	}
	return alive[r.env.Rand("metadata controller")%uint64(len(alive))]
}
