package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tidemark/model/kafka"
)

// FirstController is the id of the first controller; brokers count from 1.
const FirstController kafka.BrokerID = 101

// names is what the lines of a plan have declared so far.
type names struct {
	plan    *Plan
	static  kafka.Config
	topics  map[string]int32 // partitions
	clients map[string]Verb
}

// resolve checks every step against what stands before it and settles what
// only the declarations decide: whether t-0 is a topic or a partition of t. It
// returns the line of the first fault.
func (p *Plan) resolve() (int, error) {
	n := names{plan: p, topics: map[string]int32{}, clients: map[string]Verb{}}
	for i, set := range p.Settings {
		var err error
		if n.static, err = kafka.NewConfig(kafka.BrokerScope, pairs(p.Settings[:i+1])...); err != nil {
			return set.Line, err
		}
	}
	for i := range p.Steps {
		if err := n.step(&p.Steps[i]); err != nil {
			return p.Steps[i].Line, err
		}
	}
	return 0, nil
}

func (n *names) step(s *Step) error {
	switch s.Verb {
	case VerbTopic:
		return n.topic(s)
	case VerbProducer, VerbConsumer:
		return n.declare(s)
	case VerbSend, VerbTombstone, VerbWrite:
		return firstErr(n.client(s.Client, VerbProducer), n.target(s))
	case VerbRead, VerbVerify:
		return firstErr(n.client(s.Client, VerbConsumer), n.target(s))
	case VerbElect, VerbDeleteRecords:
		return n.partition(kafka.TopicPartition{Topic: s.Topic, Partition: s.Partition})
	case VerbWait:
		return n.predicate(s.Predicate)
	case VerbSleep:
		return nil
	case VerbCut, VerbHeal, VerbHold, VerbFail, VerbRelease, VerbReset, VerbHalfOpen:
		return n.link(s)
	case VerbCrash:
		return firstErr(n.node(s.Node), n.lane(s))
	case VerbRules:
		return n.broker(s.Node)
	}
	return n.node(s.Node)
}

func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// usualReplicas is the replication factor of a topic that names none.
const usualReplicas = 3

func (n *names) topic(s *Step) error {
	if _, ok := n.topics[s.Topic]; ok {
		return fmt.Errorf("the topic %q is created twice", s.Topic)
	}
	if int(s.Replicas) > n.plan.Cluster.Brokers {
		return fmt.Errorf("%d replicas need as many brokers: the cluster has %d", s.Replicas, n.plan.Cluster.Brokers)
	}
	if s.Replicas == 0 && len(s.Assignment) == 0 {
		s.Replicas = int16(min(usualReplicas, n.plan.Cluster.Brokers))
	}
	for _, ids := range s.Assignment {
		if len(ids) != len(s.Assignment[0]) {
			return fmt.Errorf("the assignment %s has not as many replicas as %s: every partition of a topic has the same number", formatIDs(ids), formatIDs(s.Assignment[0]))
		}
		for i, id := range ids {
			if err := n.broker(id); err != nil {
				return err
			}
			if slices.Contains(ids[:i], id) {
				return fmt.Errorf("the assignment %s names broker %d twice", formatIDs(ids), id)
			}
		}
	}
	n.topics[s.Topic] = s.Partitions
	return kafka.CheckTopic(n.static, pairs(s.Settings)...)
}

func pairs(settings []Setting) []kafka.Pair {
	all := make([]kafka.Pair, len(settings))
	for i, s := range settings {
		all[i] = kafka.Pair{Key: s.Key, Value: s.Value}
	}
	return all
}

// checkSettings asks Kafka's own definitions of the keys.
func checkSettings(scope kafka.Scope, settings []Setting) error {
	for _, set := range settings {
		if err := kafka.Check(scope, set.Key, set.Value); err != nil {
			return err
		}
	}
	return nil
}

func (n *names) declare(s *Step) error {
	if _, ok := n.clients[s.Client]; ok {
		return fmt.Errorf("the client %q is declared twice", s.Client)
	}
	if s.Client == AdminClient {
		return fmt.Errorf("%q is the name of the client that creates topics: take another", AdminClient)
	}
	n.clients[s.Client] = s.Verb
	if s.Verb == VerbProducer {
		return checkSettings(kafka.ProducerScope, s.Settings)
	}
	return checkSettings(kafka.ConsumerScope, s.Settings)
}

// AdminClient is the client that creates topics and asks for elections.
const AdminClient = "admin"

func (n *names) client(name string, want Verb) error {
	switch v, ok := n.clients[name]; {
	case !ok:
		return fmt.Errorf("there is no client %q: declare it with a line %s %s", name, want, name)
	case v != want:
		return fmt.Errorf("%q is a %s, not a %s", name, v, want)
	}
	return nil
}

// target settles TOPIC against TOPIC-PARTITION.
func (n *names) target(s *Step) error {
	if _, ok := n.topics[s.Topic]; ok {
		return nil
	}
	tp, err := kafka.ParseTopicPartition(s.Topic)
	if err != nil || s.Verb == VerbVerify {
		return n.noTopic(s.Topic)
	}
	if err := n.partition(tp); err != nil {
		return err
	}
	s.Topic, s.Partition = tp.Topic, tp.Partition
	return nil
}

func (n *names) noTopic(name string) error {
	return fmt.Errorf("there is no topic %q: create it first with a line topic %s", name, name)
}

func (n *names) partition(tp kafka.TopicPartition) error {
	count, ok := n.topics[tp.Topic]
	if !ok {
		return n.noTopic(tp.Topic)
	}
	if tp.Partition >= count {
		return fmt.Errorf("topic %q has no partition %d: it has %s", tp.Topic, tp.Partition, idRange(0, int(count)-1))
	}
	return nil
}

func (n *names) predicate(p Predicate) error {
	switch p.Subject {
	case WaitLeader:
		if p.Value >= 0 {
			return firstErr(n.partition(p.TP()), n.broker(kafka.BrokerID(p.Value)))
		}
		return n.partition(p.TP())
	case WaitISR:
		for _, id := range p.ISR {
			if err := n.broker(id); err != nil {
				return err
			}
		}
		return n.partition(p.TP())
	case WaitHW, WaitLEO, WaitEpoch:
		return firstErr(n.broker(p.Node), n.partition(p.TP()))
	case WaitAcked:
		return n.client(p.Client, VerbProducer)
	case WaitPosition:
		return firstErr(n.client(p.Client, VerbConsumer), n.partition(p.TP()))
	}
	return n.broker(p.Node)
}

func (n *names) isBroker(id kafka.BrokerID) bool {
	return id >= 1 && int(id) <= n.plan.Cluster.Brokers
}

func (n *names) isController(id kafka.BrokerID) bool {
	return id >= FirstController && id < FirstController+kafka.BrokerID(n.plan.Cluster.Controllers)
}

// idRange writes the ids from low to high for an error.
func idRange(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

func (n *names) broker(id kafka.BrokerID) error {
	if n.isBroker(id) {
		return nil
	}
	return fmt.Errorf("there is no broker %d: this cluster has %s", id, idRange(1, n.plan.Cluster.Brokers))
}

func (n *names) node(id kafka.BrokerID) error {
	if n.isBroker(id) || n.isController(id) {
		return nil
	}
	last := int(FirstController) + n.plan.Cluster.Controllers - 1
	return fmt.Errorf("there is no node %d: brokers are %s, controllers %s", id,
		idRange(1, n.plan.Cluster.Brokers), idRange(int(FirstController), last))
}

// lane checks the lane of a crash. A controller has the lane quorum alone.
func (n *names) lane(s *Step) error {
	lanes := []string{"quorum"}
	if n.isBroker(s.Node) {
		lanes = []string{"router", "lifecycle", "quorum", "logs"}
		for i := range n.plan.Cluster.DataLanes {
			lanes = append(lanes, "data-"+strconv.Itoa(i))
		}
	}
	if slices.Contains(lanes, s.Lane) {
		return nil
	}
	return fmt.Errorf("node %d has no lane %q: it has %s", s.Node, s.Lane, strings.Join(lanes, ", "))
}

// link checks that packets can pass between two ends at all: clients and
// controllers do not talk, nor do two clients, nor a node with itself.
func (n *names) link(s *Step) error {
	if s.Everywhere() {
		return nil
	}
	for _, e := range []struct {
		id     kafka.BrokerID
		client string
	}{{s.Node, s.FromClient}, {s.Peer, s.ToClient}} {
		if err := n.end(e.id, e.client); err != nil {
			return err
		}
	}
	from, to := printEnd(s.Node, s.FromClient), printEnd(s.Peer, s.ToClient)
	noBroker := !n.isBroker(s.Node) && !n.isBroker(s.Peer)
	if from == to || noBroker || s.FromClient != "" && !n.isBroker(s.Peer) || s.ToClient != "" && !n.isBroker(s.Node) {
		return fmt.Errorf("there is no link between %s and %s: brokers talk to each other, to controllers and to clients", from, to)
	}
	return nil
}

func (n *names) end(id kafka.BrokerID, client string) error {
	if client == "" {
		return n.node(id)
	}
	if _, ok := n.clients[client]; !ok && client != AdminClient {
		return fmt.Errorf("there is no client %q: declare it above with producer or consumer", client)
	}
	return nil
}
