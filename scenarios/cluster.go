package scenarios

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/model/rules"
	"tidemark/node"
	"tidemark/node/app"
	"tidemark/node/broker"
	"tidemark/sim"
)

// Every address in a simulated cluster.
const (
	brokerPort     = 9092
	controllerPort = 9093
	// firstClient is the id of the first client, the admin; others follow in
	// order of declaration.
	firstClient kafka.BrokerID = 1001
)

func brokerAddr(id kafka.BrokerID) string { return fmt.Sprintf("broker-%d:%d", id, brokerPort) }
func controllerAddr(id kafka.BrokerID) string {
	return fmt.Sprintf("controller-%d:%d", id, controllerPort)
}

// cluster is the nodes of one run.
type cluster struct {
	world      *sim.World
	shape      plan.Cluster
	clusterID  kafka.UUID
	properties kafka.Config
	rules      map[kafka.BrokerID]rules.Rules // for the next boot
	clients    []string                       // by id from firstClient on
}

// clusterIDSite names the stream that the cluster's id is drawn from.
const clusterIDSite = "cluster.id"

// newCluster makes the nodes of a plan known to the World; none is started.
func newCluster(w *sim.World, p *plan.Plan, properties kafka.Config, r rules.Rules) *cluster {
	c := &cluster{world: w, shape: p.Cluster, properties: properties, rules: map[kafka.BrokerID]rules.Rules{}}
	for i := 0; i < len(c.clusterID); i += 8 {
		draw := w.Rand(clusterIDSite)
		for j := range 8 {
			c.clusterID[i+j] = byte(draw >> (8 * j))
		}
	}
	for _, id := range c.controllers() {
		c.addBroker(id, r)
	}
	for _, id := range c.brokers() {
		c.addBroker(id, r)
	}
	c.clients = append([]string{plan.AdminClient}, p.Clients()...)
	for i, name := range c.clients {
		c.addClient(firstClient+kafka.BrokerID(i), name)
	}
	return c
}

func (c *cluster) brokers() []kafka.BrokerID {
	return idsFrom(1, c.shape.Brokers)
}

func (c *cluster) controllers() []kafka.BrokerID {
	return idsFrom(plan.FirstController, c.shape.Controllers)
}

func idsFrom(first kafka.BrokerID, n int) []kafka.BrokerID {
	ids := make([]kafka.BrokerID, n)
	for i := range ids {
		ids[i] = first + kafka.BrokerID(i)
	}
	return ids
}

// addBroker adds a broker or, by its id, a controller.
func (c *cluster) addBroker(id kafka.BrokerID, r rules.Rules) {
	c.rules[id] = r
	c.world.AddNode(sim.NodeConfig{ID: id, Disk: true, Boot: func(sim.BootInfo) node.Spec {
		return broker.Lanes(c.config(id))
	}})
}

func (c *cluster) config(id kafka.BrokerID) broker.Config {
	cfg := broker.Config{ID: id, ClusterID: c.clusterID, DataLanes: c.shape.DataLanes,
		Properties: c.properties, Rules: c.rules[id]}
	for _, v := range c.controllers() {
		cfg.Voters = append(cfg.Voters, broker.Voter{ID: v, Addr: controllerAddr(v)})
	}
	if id >= plan.FirstController {
		cfg.Controller, cfg.ControllerAddr = true, controllerAddr(id)
	} else {
		cfg.Broker, cfg.ClientAddr = true, brokerAddr(id)
	}
	return cfg
}

func (c *cluster) addClient(id kafka.BrokerID, name string) {
	var bootstrap []string
	for _, b := range c.brokers() {
		bootstrap = append(bootstrap, brokerAddr(b))
	}
	c.world.AddNode(sim.NodeConfig{ID: id, Name: name, Boot: func(sim.BootInfo) node.Spec {
		return node.Spec{ID: id, Lanes: []node.LaneSpec{{Lane: node.App,
			Process: app.New(app.Config{Name: name, Bootstrap: bootstrap, Run: idsFrom(firstClient, len(c.clients))})}}}
	}})
}

// start boots every node: controllers, brokers, clients.
func (c *cluster) start() error {
	for _, ids := range [][]kafka.BrokerID{c.controllers(), c.brokers(), idsFrom(firstClient, len(c.clients))} {
		for _, id := range ids {
			if err := c.world.Start(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// client is the node of a client; the admin for steps that name none.
func (c *cluster) client(name string) (kafka.BrokerID, bool) {
	if name == "" {
		name = plan.AdminClient
	}
	for i, n := range c.clients {
		if n == name {
			return firstClient + kafka.BrokerID(i), true
		}
	}
	return kafka.NoBroker, false
}

// profiledKeys are the broker settings that decide what a run promises.
var profiledKeys = []string{kafka.MinInsyncReplicas, kafka.UncleanLeaderElection, kafka.ReplicaLagTimeMaxMs}

// profile opens the trace with the settings in force; producers and consumers
// tell theirs when they are declared.
func (c *cluster) profile(p *plan.Plan, rulesNamed string) {
	emit := func(scope, text string) {
		e := event.New(event.Profile)
		e.Client, e.Text = scope, text
		c.world.Emit(&e)
	}
	emit("cluster", fmt.Sprintf("brokers=%d", c.shape.Brokers))
	emit("cluster", fmt.Sprintf("controllers=%d", c.shape.Controllers))
	emit("cluster", fmt.Sprintf("lanes=%d", c.shape.DataLanes))
	emit("cluster", "rules="+rulesNamed)
	for _, key := range profiledKeys {
		emit("cluster", key+"="+c.properties.Text(key))
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Verb == plan.VerbTopic {
			for _, set := range s.Settings {
				emit("topic "+s.Topic, set.Key+"="+set.Value)
			}
		}
	}
}
