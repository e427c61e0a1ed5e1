package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node/replica"
)

// followSession is the asking side of a fetch session (KIP-227): Kafka's
// FetchSessionHandler. Once the leader has granted a session, a request names
// only the partitions that changed since the last one, and those to forget.
//
//	id 0, epoch 0   full request, grant me a session
//	id n, epoch 0   full request, close session n and grant me another
//	id n, epoch e   incremental
type followSession struct {
	id    int32
	epoch int32
	known []replica.FetchAsk // what the leader's side of the session holds
	next  []replica.FetchAsk // what it will hold when the request in flight is accepted
}

// maxSessionEpoch wraps to 1.
const maxSessionEpoch = 1<<31 - 1

// fill puts the partitions of ask, and the session, into r.
func (s *followSession) fill(r *kmsg.FetchRequest, ask []replica.FetchAsk) {
	r.SessionID, r.SessionEpoch = s.id, s.epoch
	s.next = ask
	if s.epoch == 0 {
		s.known = nil
	}
	for _, a := range ask {
		if before, found := findAsk(s.known, a); !found || before != a {
			addAsk(r, a)
		}
	}
	for _, a := range s.known {
		if _, found := findAsk(ask, a); !found {
			forget(r, a)
		}
	}
}

// accept takes the session part of an answer; false means that the request has
// failed as a whole.
func (s *followSession) accept(r *kmsg.FetchResponse) bool {
	switch code := kafka.ErrorCode(r.ErrorCode); {
	case code == kafka.FetchSessionIDNotFound:
		s.id, s.epoch = 0, 0 // there is nothing to close
		return false
	case code != kafka.None:
		s.fail()
		return false
	case r.SessionID == 0:
		s.id, s.epoch = 0, 0
	case s.epoch == maxSessionEpoch:
		s.id, s.epoch, s.known = r.SessionID, 1, s.next
	default:
		s.id, s.known = r.SessionID, s.next
		s.epoch++
	}
	return true
}

// fail starts over: the next request is a full one that closes the session.
func (s *followSession) fail() { s.epoch = 0 }

func findAsk(asks []replica.FetchAsk, a replica.FetchAsk) (replica.FetchAsk, bool) {
	for _, other := range asks {
		if other.TP == a.TP && other.TopicID == a.TopicID {
			return other, true
		}
	}
	return replica.FetchAsk{}, false
}

func addAsk(r *kmsg.FetchRequest, a replica.FetchAsk) {
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition = a.TP.Partition
	p.CurrentLeaderEpoch = int32(a.CurrentLeaderEpoch)
	p.FetchOffset = int64(a.FetchOffset)
	p.LastFetchedEpoch = int32(a.LastFetchedEpoch)
	p.LogStartOffset = int64(a.LogStart)
	p.PartitionMaxBytes = int32(a.MaxBytes)
	if n := len(r.Topics); n == 0 || r.Topics[n-1].TopicID != a.TopicID {
		t := kmsg.NewFetchRequestTopic()
		t.TopicID = a.TopicID
		r.Topics = append(r.Topics, t)
	}
	t := &r.Topics[len(r.Topics)-1]
	t.Partitions = append(t.Partitions, p)
}

func forget(r *kmsg.FetchRequest, a replica.FetchAsk) {
	for i := range r.ForgottenTopics {
		if r.ForgottenTopics[i].TopicID == a.TopicID {
			r.ForgottenTopics[i].Partitions = append(r.ForgottenTopics[i].Partitions, a.TP.Partition)
			return
		}
	}
	t := kmsg.NewFetchRequestForgottenTopic()
	t.TopicID = a.TopicID
	t.Partitions = append(t.Partitions, a.TP.Partition)
	r.ForgottenTopics = append(r.ForgottenTopics, t)
}
