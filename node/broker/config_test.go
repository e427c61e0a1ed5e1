package broker

import (
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/node"
)

func TestConfigurationThatNoNodeCanStartWithIsOneLine(t *testing.T) {
	good := testConfig(2)
	if err := good.Validate(); err != nil {
		t.Fatalf("a good configuration: %v", err)
	}
	for want, change := range map[string]func(*Config){
		"process.roles":                    func(c *Config) { c.Broker = false },
		"node.id -1":                       func(c *Config) { c.ID = -1 },
		"controller.quorum.voters of node": func(c *Config) { c.Voters = nil },
		"lists 101 after 102":              func(c *Config) { c.Voters = []Voter{{102, "a:1"}, {101, "b:1"}} },
		"9 data lanes":                     func(c *Config) { c.DataLanes = 9 },
		"listener \"nowhere\"":             func(c *Config) { c.ClientAddr = "nowhere" },
		"listener \"\" of controller":      func(c *Config) { c.Controller = true },
	} {
		cfg := testConfig(2)
		change(&cfg)
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, want)
		}
	}
}

func TestLanesOfEachRole(t *testing.T) {
	lanesOf := func(cfg Config) (names []string, listen int) {
		spec := Lanes(cfg)
		for _, l := range spec.Lanes {
			names = append(names, l.Lane.String())
			if l.Disk == (l.Lane == node.Router || l.Lane == node.Lifecycle) {
				t.Errorf("%v has a file system: %v", l.Lane, l.Disk)
			}
		}
		return names, len(spec.Listen)
	}
	cfg := testConfig(2)
	if names, listen := lanesOf(cfg); strings.Join(names, " ") != "router lifecycle quorum logs data-0 data-1" || listen != 1 {
		t.Errorf("broker: %v, %d listeners", names, listen)
	}
	cfg.Controller, cfg.ControllerAddr = true, "b1:9093"
	if names, listen := lanesOf(cfg); strings.Join(names, " ") != "router lifecycle quorum logs data-0 data-1" || listen != 2 {
		t.Errorf("combined node: %v, %d listeners", names, listen)
	}
	cfg = Config{ID: 101, Controller: true, ClusterID: kafka.UUID{1}, Voters: []Voter{{101, "c:1"}}, ControllerAddr: "c:1", Properties: cfg.Properties}
	if names, listen := lanesOf(cfg); strings.Join(names, " ") != "quorum logs" || listen != 1 {
		t.Errorf("controller: %v, %d listeners", names, listen)
	}
}
