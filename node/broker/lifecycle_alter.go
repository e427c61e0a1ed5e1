package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/replica"
)

// alterResend is the pause before a request that failed as a whole is sent again.
const alterResend = 50 * time.Millisecond

// alterManager is Kafka's AlterPartitionManager (KIP-497): one AlterPartition
// request in flight per broker, carrying every proposal that has no answer yet.
// There is no time-out: a leader must know what became of its proposal, because
// until then it counts the larger of two in-sync sets.
type alterManager struct {
	life    *lifecycle
	channel *channel
	unsent  []*proposed // not answered, in order of submission
	flying  bool        // a request is on its way, or waits for its resend
}

type proposed struct {
	lane     node.Lane
	proposal *replica.Proposal
	sent     bool // it is in the request that flies
}

func newAlterManager(l *lifecycle) *alterManager {
	return &alterManager{
		life:    l,
		channel: newChannel(l.env, l.timers, l.clientID("alter-partition"), controllerSocketTimeout, 0),
	}
}

// submit takes a proposal; a second one for a partition that has one waiting is
// refused here.
func (a *alterManager) submit(lane node.Lane, p *replica.Proposal) {
	for _, w := range a.unsent {
		if w.proposal.TP == p.TP {
			a.answer(&proposed{lane: lane, proposal: p}, replica.ISRAnswer{Code: kafka.OperationNotAttempted})
			return
		}
	}
	a.unsent = append(a.unsent, &proposed{lane: lane, proposal: p})
	a.propagate()
}

func (a *alterManager) answer(w *proposed, answer replica.ISRAnswer) {
	a.life.env.Post(w.lane, alteredPost{Proposal: w.proposal, Answer: answer})
}

// propagate sends all that waits, unless a request is in flight.
func (a *alterManager) propagate() {
	if a.flying || len(a.unsent) == 0 {
		return
	}
	a.flying = true
	a.channel.send(a.request(), a.answered)
}

func (a *alterManager) request() kmsg.Request {
	r := kmsg.NewPtrAlterPartitionRequest()
	r.Version = alterPartitionVersion
	r.BrokerID = int32(a.life.cfg.ID)
	r.BrokerEpoch = int64(a.life.epoch)
	for _, w := range a.unsent {
		w.sent = true
		p := kmsg.NewAlterPartitionRequestTopicPartition()
		p.Partition = w.proposal.TP.Partition
		p.LeaderEpoch = int32(w.proposal.LeaderEpoch)
		p.PartitionEpoch = int32(w.proposal.PartitionEpoch)
		for _, m := range w.proposal.ISR {
			member := kmsg.NewAlterPartitionRequestTopicPartitionNewEpochISR()
			member.BrokerID, member.BrokerEpoch = int32(m.Broker), int64(m.Epoch)
			p.NewEpochISR = append(p.NewEpochISR, member)
		}
		t := alterTopic(r, w.proposal.TopicID)
		t.Partitions = append(t.Partitions, p)
	}
	return r
}

// alterTopic finds or adds the topic's part of the request.
func alterTopic(r *kmsg.AlterPartitionRequest, id kafka.UUID) *kmsg.AlterPartitionRequestTopic {
	for i := range r.Topics {
		if r.Topics[i].TopicID == id {
			return &r.Topics[i]
		}
	}
	t := kmsg.NewAlterPartitionRequestTopic()
	t.TopicID = id
	r.Topics = append(r.Topics, t)
	return &r.Topics[len(r.Topics)-1]
}

// answered takes the controller's answer. A top-level error keeps everything
// for a resend; a partition that the answer leaves out stays too.
func (a *alterManager) answered(res kmsg.Response) {
	r := res.(*kmsg.AlterPartitionResponse)
	if kafka.ErrorCode(r.ErrorCode) != kafka.None {
		a.life.timers.After(alterResend, func() {
			a.flying = false
			a.propagate()
		})
		return
	}
	a.flying = false
	var left []*proposed
	for _, w := range a.unsent {
		if answer, ok := alterAnswer(r, w.proposal); ok && w.sent {
			a.answer(w, answer)
		} else {
			left = append(left, w)
		}
	}
	a.unsent = left
	a.propagate()
}

func alterAnswer(r *kmsg.AlterPartitionResponse, p *replica.Proposal) (replica.ISRAnswer, bool) {
	for _, t := range r.Topics {
		if t.TopidID != p.TopicID {
			continue
		}
		for _, q := range t.Partitions {
			if q.Partition == p.TP.Partition {
				return replica.ISRAnswer{Code: kafka.ErrorCode(q.ErrorCode), LeaderEpoch: kafka.LeaderEpoch(q.LeaderEpoch), PartitionEpoch: kafka.PartitionEpoch(q.PartitionEpoch), ISR: brokerIDs(q.ISR)}, true
			}
		}
	}
	return replica.ISRAnswer{}, false
}

// brokerIDs turns the wire's ids into ours.
func brokerIDs(ids []int32) []kafka.BrokerID {
	out := make([]kafka.BrokerID, len(ids))
	for i, id := range ids {
		out[i] = kafka.BrokerID(id)
	}
	return out
}
