package broker

import (
	"fmt"
	"strings"

	"tidemark/model/kafka"
	"tidemark/model/rules"
	"tidemark/node"
)

// Config is what a node knows before it starts: Kafka's server.properties.
type Config struct {
	// ID is node.id, from 0.
	ID kafka.BrokerID
	// Broker and Controller are process.roles; at least one is set.
	Broker, Controller bool
	// ClusterID must match the directory's meta.properties, if there is one.
	ClusterID kafka.UUID
	// Voters is controller.quorum.voters, ascending by id.
	Voters []Voter
	// ClientAddr and ControllerAddr are the host:port listened on by a broker
	// and by a controller.
	ClientAddr, ControllerAddr string
	// Advertised is the host:port told to clients and peers; "" is ClientAddr.
	Advertised string
	// DataLanes is the number of data lanes of a broker, 1 to 8.
	DataLanes int
	// Properties are the static Kafka keys, in broker scope.
	Properties kafka.Config
	// Features are the levels that a new metadata log is formatted with.
	Features []Feature
	// Rules are the node's protocol decisions.
	Rules rules.Rules
}

// Voter is one static voter of the metadata quorum.
type Voter struct {
	ID   kafka.BrokerID
	Addr string // host:port of its CONTROLLER listener
}

// Feature is a finalised feature level (KIP-584), such as metadata.version.
type Feature struct {
	Name  string
	Level int16 // 0 is off
}

// maxDataLanes bounds the lanes of a broker, so that a lane fits node.Lane and
// a plan stays readable.
const maxDataLanes = 8

// Validate returns one line about the first thing that no node can start with.
func (c Config) Validate() error {
	if !c.Broker && !c.Controller {
		return fmt.Errorf("process.roles of node %d is empty: name broker, controller or both", c.ID)
	}
	if c.ID < 0 {
		return fmt.Errorf("node.id %d is negative: use 0 or more", c.ID)
	}
	if len(c.Voters) == 0 {
		return fmt.Errorf("controller.quorum.voters of node %d is empty: name one controller or more", c.ID)
	}
	for i, v := range c.Voters {
		if i > 0 && c.Voters[i-1].ID >= v.ID {
			return fmt.Errorf("controller.quorum.voters of node %d lists %d after %d: write them once each, ascending", c.ID, v.ID, c.Voters[i-1].ID)
		}
	}
	if c.Broker && (c.DataLanes < 1 || c.DataLanes > maxDataLanes) {
		return fmt.Errorf("node %d has %d data lanes: use 1 to %d", c.ID, c.DataLanes, maxDataLanes)
	}
	if c.Broker && !strings.Contains(c.ClientAddr, ":") {
		return fmt.Errorf("listener %q of broker %d is not host:port", c.ClientAddr, c.ID)
	}
	if c.Controller && !strings.Contains(c.ControllerAddr, ":") {
		return fmt.Errorf("listener %q of controller %d is not host:port", c.ControllerAddr, c.ID)
	}
	return nil
}

// advertised is the address that clients and peers are told.
func (c Config) advertised() string {
	if c.Advertised != "" {
		return c.Advertised
	}
	return c.ClientAddr
}

// dataLanes lists the node's data lanes.
func (c Config) dataLanes() []node.Lane {
	lanes := make([]node.Lane, 0, c.DataLanes)
	for i := range c.DataLanes {
		lanes = append(lanes, node.Data(i))
	}
	return lanes
}
