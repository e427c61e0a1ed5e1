package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"tidemark/model/kafka"
	"tidemark/model/rules"
	"tidemark/node"
	"tidemark/node/broker"
)

// recordedConfig is a node's configuration in a recording: broker.Config, with
// the rules by their names, because rules are functions.
type recordedConfig struct {
	ID             kafka.BrokerID   `json:"node_id"`
	Broker         bool             `json:"broker"`
	Controller     bool             `json:"controller"`
	ClusterID      string           `json:"cluster_id"`
	Voters         []broker.Voter   `json:"voters"`
	ClientAddr     string           `json:"client_addr"`
	ControllerAddr string           `json:"controller_addr"`
	Advertised     string           `json:"advertised"`
	DataLanes      int              `json:"data_lanes"`
	Properties     []kafka.Pair     `json:"properties"`
	Features       []broker.Feature `json:"features"`
	Rules          string           `json:"rules"`
}

// recordConfig writes a configuration whose rules have the given names.
func recordConfig(c broker.Config, ruleNames string) ([]byte, error) {
	return json.Marshal(recordedConfig{ID: c.ID, Broker: c.Broker, Controller: c.Controller, ClusterID: c.ClusterID.String(),
		Voters: c.Voters, ClientAddr: c.ClientAddr, ControllerAddr: c.ControllerAddr, Advertised: c.Advertised,
		DataLanes: c.DataLanes, Properties: c.Properties.Pairs(), Features: c.Features, Rules: ruleNames})
}

// recordedLanes builds the lanes of a recorded node.
func recordedLanes(config []byte) (node.Spec, error) {
	var r recordedConfig
	d := json.NewDecoder(bytes.NewReader(config))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return node.Spec{}, err
	}
	c := broker.Config{ID: r.ID, Broker: r.Broker, Controller: r.Controller, Voters: r.Voters, ClientAddr: r.ClientAddr,
		ControllerAddr: r.ControllerAddr, Advertised: r.Advertised, DataLanes: r.DataLanes, Features: r.Features}
	var err error
	if c.ClusterID, err = kafka.ParseUUID(r.ClusterID); err != nil {
		return node.Spec{}, fmt.Errorf("cluster id: %w", err)
	}
	if c.Properties, err = kafka.NewConfig(kafka.BrokerScope, r.Properties...); err != nil {
		return node.Spec{}, err
	}
	if c.Rules, err = rules.Parse(r.Rules); err != nil {
		return node.Spec{}, err
	}
	if err := c.Validate(); err != nil {
		return node.Spec{}, err
	}
	return broker.Lanes(c), nil
}
