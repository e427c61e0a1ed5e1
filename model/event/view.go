package event

import (
	"slices"

	"tidemark/model/kafka"
)

// View is the state of a run as its events told it so far: what the predicates
// of `wait` are judged on. Leader and ISR are what the controller committed,
// not what a broker believes.
//
// What is known of a replica belongs to one life of its node: Died forgets its
// high watermark, log end and epoch, and its next life tells them anew
// (Recovered the log end, BecameLeader and BecameFollower all three). So a wait
// on a dead node's replica holds only once the node is back, never by what it
// said before it died. A paused node keeps its state: it still holds it.
type View struct {
	partitions map[kafka.TopicPartition]*partitionView
	replicas   map[kafka.BrokerID]map[kafka.TopicPartition]*replicaView
	positions  map[positionKey]kafka.Offset
	acked      map[string]int64
	fenced     map[kafka.BrokerID]bool
}

type partitionView struct {
	leader kafka.BrokerID
	isr    []kafka.BrokerID // sorted
}

type replicaView struct {
	hw, end kafka.Offset
	epoch   kafka.LeaderEpoch
}

type positionKey struct {
	client string
	tp     kafka.TopicPartition
}

// NewView returns the view of a run that did nothing yet.
func NewView() *View {
	return &View{partitions: map[kafka.TopicPartition]*partitionView{}, replicas: map[kafka.BrokerID]map[kafka.TopicPartition]*replicaView{},
		positions: map[positionKey]kafka.Offset{}, acked: map[string]int64{}, fenced: map[kafka.BrokerID]bool{}}
}

// Observe takes the next event of the run in.
func (v *View) Observe(e *Event) {
	switch e.Kind {
	case SendOK:
		v.acked[e.Client]++
	case PollOK, PositionReset:
		v.positions[positionKey{e.Client, e.TP()}] = e.End
	case Registered, Fenced:
		v.fenced[e.Peer] = true
	case Unfenced:
		v.fenced[e.Peer] = false
	case Elected:
		v.partitions[e.TP()] = &partitionView{leader: e.Peer, isr: sorted(e.ISR)}
	case ISRChanged:
		if p := v.partitions[e.TP()]; p != nil {
			p.isr = sorted(e.ISR)
		}
	case Died:
		delete(v.replicas, e.Node)
	case BecameLeader, BecameFollower:
		*v.replica(e) = replicaView{hw: e.HighWatermark, end: e.End, epoch: e.Epoch}
	case Appended, Recovered:
		v.replica(e).end = e.End
	case HighWatermarkMoved:
		v.replica(e).hw = e.HighWatermark
	case Truncated:
		r := v.replica(e)
		r.end, r.hw = e.End, min(r.hw, e.End)
	}
}

func (v *View) replica(e *Event) *replicaView {
	node := v.replicas[e.Node]
	if node == nil {
		node = map[kafka.TopicPartition]*replicaView{}
		v.replicas[e.Node] = node
	}
	r := node[e.TP()]
	if r == nil {
		r = &replicaView{hw: kafka.NoOffset, end: kafka.NoOffset, epoch: kafka.NoEpoch}
		node[e.TP()] = r
	}
	return r
}

func sorted(ids []kafka.BrokerID) []kafka.BrokerID {
	s := slices.Clone(ids)
	slices.Sort(s)
	return s
}

// Leader is the leader that the controller committed, NoBroker for an offline
// partition; false for a partition that was never created.
func (v *View) Leader(tp kafka.TopicPartition) (kafka.BrokerID, bool) {
	p := v.partitions[tp]
	if p == nil {
		return kafka.NoBroker, false
	}
	return p.leader, true
}

// ISR is the ISR that the controller committed, sorted; it must not be changed.
func (v *View) ISR(tp kafka.TopicPartition) ([]kafka.BrokerID, bool) {
	p := v.partitions[tp]
	if p == nil {
		return nil, false
	}
	return p.isr, true
}

// HighWatermark is the high watermark that the replica on n holds.
func (v *View) HighWatermark(n kafka.BrokerID, tp kafka.TopicPartition) (kafka.Offset, bool) {
	r := v.replicas[n][tp]
	if r == nil || r.hw == kafka.NoOffset {
		return kafka.NoOffset, false
	}
	return r.hw, true
}

// LogEnd is the log end offset of the replica on n.
func (v *View) LogEnd(n kafka.BrokerID, tp kafka.TopicPartition) (kafka.Offset, bool) {
	r := v.replicas[n][tp]
	if r == nil || r.end == kafka.NoOffset {
		return kafka.NoOffset, false
	}
	return r.end, true
}

// Epoch is the leader epoch in which the replica on n leads or follows.
func (v *View) Epoch(n kafka.BrokerID, tp kafka.TopicPartition) (kafka.LeaderEpoch, bool) {
	r := v.replicas[n][tp]
	if r == nil || r.epoch == kafka.NoEpoch {
		return kafka.NoEpoch, false
	}
	return r.epoch, true
}

// Acked is the number of records that a client had acknowledged.
func (v *View) Acked(client string) int64 { return v.acked[client] }

// Position is the offset of the next record that a client will be given.
func (v *View) Position(client string, tp kafka.TopicPartition) (kafka.Offset, bool) {
	o, ok := v.positions[positionKey{client, tp}]
	return o, ok
}

// Fenced tells whether the controller holds broker n fenced; a registration
// starts fenced. False, false for a broker that never registered.
func (v *View) Fenced(n kafka.BrokerID) (fenced, known bool) {
	fenced, known = v.fenced[n]
	return fenced, known
}
