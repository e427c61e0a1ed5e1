package broker

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
)

// directoryFailed tells the controller at once, and with every heartbeat from
// here on, that a log directory is offline (KIP-858): it elects others for what
// lies there.
func (l *lifecycle) directoryFailed(id kafka.UUID) {
	l.offline = append(l.offline, id)
	l.directories.Directories = slices.DeleteFunc(slices.Clone(l.directories.Directories), func(d kafka.UUID) bool { return d == id })
	l.communicateNow()
}

// assigner is Kafka's AssignmentsManager (KIP-858): it tells the controller
// where replicas lie, several in one request and one request at a time. Its
// requests go over the channel of forwarded ones.
type assigner struct {
	pending []assignPost // in order; a newer one of a replica replaces the older
	flying  int          // how many of them, from the first, a request carries
	planned bool         // a request is planned
}

const (
	// assignLinger is how long assignments wait for company.
	assignLinger = 500 * time.Millisecond
	// assignResend is the pause after an answer that was an error.
	assignResend = 100 * time.Millisecond
	// maxAssignments is the most that one request carries.
	maxAssignments = 2250
)

func (a *assigner) add(l *lifecycle, m assignPost) {
	a.pending = slices.DeleteFunc(a.pending, func(p assignPost) bool {
		return a.flying == 0 && p.TopicID == m.TopicID && p.Partition == m.Partition
	})
	a.pending = append(a.pending, m)
	a.plan(l, assignLinger)
}

func (a *assigner) plan(l *lifecycle, in time.Duration) {
	if a.planned || a.flying > 0 || len(a.pending) == 0 {
		return
	}
	a.planned = true
	l.timers.After(in, func() {
		a.planned = false
		a.send(l)
	})
}

func (a *assigner) send(l *lifecycle) {
	if l.epoch == kafka.NoBrokerEpoch {
		a.plan(l, assignResend)
		return
	}
	a.flying = min(len(a.pending), maxAssignments)
	l.forward.send(a.request(l), func(res kmsg.Response) {
		answer, ok := res.(*kmsg.AssignReplicasToDirsResponse)
		sent := a.flying
		a.flying = 0
		if !ok || kafka.ErrorCode(answer.ErrorCode) != kafka.None {
			a.plan(l, assignResend)
			return
		}
		// What the controller refuses one by one is of a replica or a topic that
		// is gone, and is not asked again.
		a.pending = slices.Delete(a.pending, 0, sent)
		a.plan(l, 0)
	})
}

func (a *assigner) request(l *lifecycle) kmsg.Request {
	r := kmsg.NewPtrAssignReplicasToDirsRequest()
	r.Version = assignVersion
	r.BrokerID, r.BrokerEpoch = int32(l.cfg.ID), int64(l.epoch)
	for _, m := range a.pending[:a.flying] {
		t := assignTopic(assignDirectory(r, m.Directory), m.TopicID)
		p := kmsg.NewAssignReplicasToDirsRequestDirectoryTopicPartition()
		p.Partition = m.Partition
		t.Partitions = append(t.Partitions, p)
	}
	return r
}

// assignDirectory finds or adds the directory's part of the request.
func assignDirectory(r *kmsg.AssignReplicasToDirsRequest, id kafka.UUID) *kmsg.AssignReplicasToDirsRequestDirectory {
	for i := range r.Directories {
		if r.Directories[i].ID == id {
			return &r.Directories[i]
		}
	}
	d := kmsg.NewAssignReplicasToDirsRequestDirectory()
	d.ID = id
	r.Directories = append(r.Directories, d)
	return &r.Directories[len(r.Directories)-1]
}

func assignTopic(d *kmsg.AssignReplicasToDirsRequestDirectory, id kafka.UUID) *kmsg.AssignReplicasToDirsRequestDirectoryTopic {
	for i := range d.Topics {
		if d.Topics[i].TopicID == id {
			return &d.Topics[i]
		}
	}
	t := kmsg.NewAssignReplicasToDirsRequestDirectoryTopic()
	t.TopicID = id
	d.Topics = append(d.Topics, t)
	return &d.Topics[len(d.Topics)-1]
}
