package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/controller"
)

// handleAssignReplicasToDirs answers AssignReplicasToDirs, key 73, version 0: a
// broker tells which of its log directories hold which replicas (KIP-858).
func (l *quorumLane) handleAssignReplicasToDirs(m *node.Message, answer answerFunc) {
	req := m.Request.(*kmsg.AssignReplicasToDirsRequest)
	r := controller.AssignmentRequest{BrokerID: kafka.BrokerID(req.BrokerID), BrokerEpoch: kafka.BrokerEpoch(req.BrokerEpoch)}
	for _, d := range req.Directories {
		for _, t := range d.Topics {
			for _, p := range t.Partitions {
				r.Assignments = append(r.Assignments, controller.Assignment{Directory: d.ID, TopicID: t.TopicID, Partition: p.Partition})
			}
		}
	}
	l.controller.AssignReplicasToDirs(r, func(code kafka.ErrorCode, codes []kafka.ErrorCode) {
		res := kmsg.NewPtrAssignReplicasToDirsResponse()
		res.ErrorCode = int16(code)
		if code == kafka.None {
			res.Directories = assignedDirectories(req, codes)
		}
		answer(res, code)
	})
}

// assignedDirectories mirrors the request with a code for each partition.
func assignedDirectories(req *kmsg.AssignReplicasToDirsRequest, codes []kafka.ErrorCode) []kmsg.AssignReplicasToDirsResponseDirectory {
	var dirs []kmsg.AssignReplicasToDirsResponseDirectory
	for _, d := range req.Directories {
		dir := kmsg.NewAssignReplicasToDirsResponseDirectory()
		dir.ID = d.ID
		for _, t := range d.Topics {
			topic := kmsg.NewAssignReplicasToDirsResponseDirectoryTopic()
			topic.TopicID = t.TopicID
			for _, p := range t.Partitions {
				part := kmsg.NewAssignReplicasToDirsResponseDirectoryTopicPartition()
				part.Partition, part.ErrorCode = p.Partition, int16(codes[0])
				codes = codes[1:]
				topic.Partitions = append(topic.Partitions, part)
			}
			dir.Topics = append(dir.Topics, topic)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// uuids turns the wire's ids into ours.
func uuids(ids [][16]byte) []kafka.UUID {
	out := make([]kafka.UUID, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}
