package client

import (
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
)

// Broker is a broker as metadata names it.
type Broker struct {
	ID   kafka.BrokerID
	Addr string // host:port
}

// LeaderAndEpoch is who leads a partition. Leader is NoBroker if nobody is
// known to, or if the leader has no address.
type LeaderAndEpoch struct {
	Leader kafka.BrokerID
	Epoch  kafka.LeaderEpoch
}

// NoLeader is the LeaderAndEpoch of a partition of which nothing is known.
var NoLeader = LeaderAndEpoch{kafka.NoBroker, kafka.NoEpoch}

// Topic is what metadata says of a topic.
type Topic struct {
	Name string
	ID   kafka.UUID // zero if the broker is too old to say
	// Code is the error of the last answer; with one, Partitions is empty.
	Code       kafka.ErrorCode
	Partitions []LeaderAndEpoch // by partition number
	// epochs are the largest leader epochs seen, by partition number. They
	// outlive errors and rebootstraps.
	epochs []kafka.LeaderEpoch
}

// metadata is the client's picture of the cluster. A leader epoch never goes
// back: an answer with an older one than was seen comes from a broker that lags
// and would send the client to a deposed leader (KIP-320).
type metadata struct {
	brokers    []Broker // by id
	controller kafka.BrokerID
	topics     map[string]*Topic
}

func newMetadata() *metadata {
	return &metadata{controller: kafka.NoBroker, topics: map[string]*Topic{}}
}

// clear forgets brokers and leaders, but not the epochs.
func (m *metadata) clear() {
	m.brokers, m.controller = nil, kafka.NoBroker
	for _, t := range m.topics { // unordered: each topic alone
		t.Partitions, t.Code = nil, kafka.UnknownTopicOrPartition
	}
}

func (m *metadata) broker(id kafka.BrokerID) (Broker, bool) {
	i, ok := slices.BinarySearchFunc(m.brokers, id, func(b Broker, id kafka.BrokerID) int { return int(b.ID) - int(id) })
	if !ok {
		return Broker{}, false
	}
	return m.brokers[i], true
}

func (m *metadata) addBroker(b Broker) {
	i, ok := slices.BinarySearchFunc(m.brokers, b.ID, func(b Broker, id kafka.BrokerID) int { return int(b.ID) - int(id) })
	if ok {
		m.brokers[i] = b
		return
	}
	m.brokers = slices.Insert(m.brokers, i, b)
}

// leader is the partition's leader, if it has an address.
func (m *metadata) leader(tp kafka.TopicPartition) LeaderAndEpoch {
	t := m.topics[tp.Topic]
	if t == nil || int(tp.Partition) >= len(t.Partitions) {
		return NoLeader
	}
	l := t.Partitions[tp.Partition]
	if _, ok := m.broker(l.Leader); !ok {
		l.Leader = kafka.NoBroker
	}
	return l
}

// update takes an answer in. changed tells whether anything differs from
// before; again, whether the answer shows that another one will be needed: a
// topic or a leader is missing.
func (m *metadata) update(r *kmsg.MetadataResponse) (changed, again bool) {
	before := m.brokers
	m.brokers = nil
	for _, b := range r.Brokers {
		m.addBroker(Broker{kafka.BrokerID(b.NodeID), hostPort(b.Host, b.Port)})
	}
	changed = !slices.Equal(before, m.brokers)
	m.controller = kafka.BrokerID(r.ControllerID)
	for i := range r.Topics {
		t := &r.Topics[i]
		if t.Topic == nil {
			continue
		}
		c, a := m.updateTopic(*t.Topic, t)
		changed, again = changed || c, again || a
	}
	return changed, again
}

func (m *metadata) updateTopic(name string, r *kmsg.MetadataResponseTopic) (changed, again bool) {
	t := m.topics[name]
	if t == nil {
		t = &Topic{Name: name, Code: kafka.UnknownTopicOrPartition}
		m.topics[name] = t
	}
	old := *t
	if code := kafka.ErrorCode(r.ErrorCode); code != kafka.None {
		t.Code, t.Partitions = code, nil
		return t.Code != old.Code, NeedsMetadata(code)
	}
	id := kafka.UUID(r.TopicID)
	if id != t.ID && !t.ID.IsZero() {
		// Created anew under its name: its epochs begin again.
		t.epochs, old.Partitions = nil, nil
	}
	t.ID, t.Code = id, kafka.None
	t.Partitions = make([]LeaderAndEpoch, len(r.Partitions))
	for i := range t.Partitions {
		t.Partitions[i] = NoLeader
	}
	t.epochs = padded(t.epochs, len(r.Partitions))
	for i := range r.Partitions {
		p := &r.Partitions[i]
		if p.Partition < 0 || int(p.Partition) >= len(t.Partitions) {
			continue
		}
		again = t.updatePartition(p, old.Partitions) || again
	}
	return old.Code != t.Code || old.ID != t.ID || !slices.Equal(old.Partitions, t.Partitions), again
}

// updatePartition takes one partition's entry in, unless a newer epoch is
// known: then the entry from before stands.
func (t *Topic) updatePartition(p *kmsg.MetadataResponseTopicPartition, old []LeaderAndEpoch) (again bool) {
	epoch := kafka.LeaderEpoch(p.LeaderEpoch)
	if epoch != kafka.NoEpoch && epoch < t.epochs[p.Partition] {
		if int(p.Partition) < len(old) {
			t.Partitions[p.Partition] = old[p.Partition]
		}
		return false
	}
	t.epochs[p.Partition] = max(t.epochs[p.Partition], epoch)
	t.Partitions[p.Partition] = LeaderAndEpoch{kafka.BrokerID(p.Leader), epoch}
	return NeedsMetadata(kafka.ErrorCode(p.ErrorCode))
}

// moved takes in what a Produce or Fetch answer says of a new leader (KIP-951).
// It reports whether that was news.
func (m *metadata) moved(tp kafka.TopicPartition, l LeaderAndEpoch) bool {
	t := m.topics[tp.Topic]
	if t == nil || int(tp.Partition) >= len(t.Partitions) || l.Epoch <= t.epochs[tp.Partition] {
		return false
	}
	if _, ok := m.broker(l.Leader); !ok {
		return false
	}
	t.epochs[tp.Partition] = l.Epoch
	t.Partitions[tp.Partition] = l
	return true
}

func padded(epochs []kafka.LeaderEpoch, n int) []kafka.LeaderEpoch {
	for len(epochs) < n {
		epochs = append(epochs, kafka.NoEpoch)
	}
	return epochs
}

// hostPort joins the two as Env.Dial takes them.
func hostPort(host string, port int32) string {
	if strings.IndexByte(host, ':') >= 0 {
		host = "[" + host + "]" // an IPv6 address
	}
	return host + ":" + strconv.Itoa(int(port))
}
