package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/controller"
)

// handleElectLeaders answers ElectLeaders, key 43, versions 0 to 2: preferred
// elections, from version 1 on also unclean ones (KIP-460). Without a list of
// topics it is for all partitions.
func (l *quorumLane) handleElectLeaders(m *node.Message, answer answerFunc) {
	req := m.Request.(*kmsg.ElectLeadersRequest)
	r := controller.ElectLeadersRequest{Type: controller.ElectionType(req.ElectionType), All: req.Topics == nil}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			r.Partitions = append(r.Partitions, kafka.TopicPartition{Topic: t.Topic, Partition: p})
		}
	}
	l.controller.ElectLeaders(r, func(code kafka.ErrorCode, results []controller.ElectionResult) {
		res := kmsg.NewPtrElectLeadersResponse()
		res.ErrorCode = int16(code)
		for _, e := range results {
			addElection(res, e)
		}
		answer(res, code)
	})
}

// addElection adds a result, under its topic's entry if that is the last one.
func addElection(res *kmsg.ElectLeadersResponse, e controller.ElectionResult) {
	if n := len(res.Topics); n == 0 || res.Topics[n-1].Topic != e.TP.Topic {
		t := kmsg.NewElectLeadersResponseTopic()
		t.Topic = e.TP.Topic
		res.Topics = append(res.Topics, t)
	}
	p := kmsg.NewElectLeadersResponseTopicPartition()
	p.Partition, p.ErrorCode = e.TP.Partition, int16(e.Code)
	if e.Code != kafka.None {
		p.ErrorMessage = message(e.Code.String())
	}
	last := &res.Topics[len(res.Topics)-1]
	last.Partitions = append(last.Partitions, p)
}
