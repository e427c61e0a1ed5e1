package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/controller"
	"tidemark/node/metadata"
)

// handleAlterPartition answers AlterPartition, key 56, version 3 (members with
// their broker epochs, KIP-903): leaders propose ISRs. The answer leaves when
// what was accepted is committed.
func (l *quorumLane) handleAlterPartition(m *node.Message, answer answerFunc) {
	req := m.Request.(*kmsg.AlterPartitionRequest)
	r := controller.AlterPartitionRequest{BrokerID: kafka.BrokerID(req.BrokerID), BrokerEpoch: kafka.BrokerEpoch(req.BrokerEpoch)}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			r.Partitions = append(r.Partitions, proposalOf(t.TopicID, p))
		}
	}
	l.controller.AlterPartition(r, func(code kafka.ErrorCode, answers []controller.PartitionAnswer) {
		res := kmsg.NewPtrAlterPartitionResponse()
		res.ErrorCode = int16(code)
		if code == kafka.None {
			addPartitionAnswers(res, req, answers)
		}
		answer(res, code)
	})
}

func proposalOf(topic kafka.UUID, p kmsg.AlterPartitionRequestTopicPartition) controller.PartitionProposal {
	want := controller.PartitionProposal{TopicID: topic, Partition: p.Partition, LeaderEpoch: kafka.LeaderEpoch(p.LeaderEpoch),
		PartitionEpoch: kafka.PartitionEpoch(p.PartitionEpoch), RecoveryState: metadata.RecoveryState(p.LeaderRecoveryState)}
	for _, b := range p.NewEpochISR {
		want.ISR = append(want.ISR, controller.Member{ID: kafka.BrokerID(b.BrokerID), Epoch: kafka.BrokerEpoch(b.BrokerEpoch)})
	}
	return want
}

// addPartitionAnswers lays the answers, which are in the request's order, out by
// the request's topics.
func addPartitionAnswers(res *kmsg.AlterPartitionResponse, req *kmsg.AlterPartitionRequest, answers []controller.PartitionAnswer) {
	for _, asked := range req.Topics {
		t := kmsg.NewAlterPartitionResponseTopic()
		t.TopidID = asked.TopicID
		for range asked.Partitions {
			a := answers[0]
			answers = answers[1:]
			p := kmsg.NewAlterPartitionResponseTopicPartition()
			p.Partition, p.ErrorCode = a.Partition, int16(a.Code)
			if a.Code == kafka.None {
				p.LeaderID, p.LeaderEpoch, p.PartitionEpoch = int32(a.Leader), int32(a.LeaderEpoch), int32(a.PartitionEpoch)
				p.LeaderRecoveryState = int8(a.RecoveryState)
				for _, id := range a.ISR {
					p.ISR = append(p.ISR, int32(id))
				}
			}
			t.Partitions = append(t.Partitions, p)
		}
		res.Topics = append(res.Topics, t)
	}
}
