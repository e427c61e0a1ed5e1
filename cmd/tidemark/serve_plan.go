//go:build !js

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/node/broker"
)

// servePlan is what serve is to run: the nodes, controllers first.
type servePlan struct {
	nodes []servedNode
	data  string // --data, "" for a temporary directory
	// record is the file of --record, "" for none; rules are the names of the
	// nodes' rules, for it.
	record, rules string
}

// servedNode is one node.
type servedNode struct {
	cfg broker.Config
	dir string // its log directory below data; "" is data itself
}

func (n servedNode) String() string {
	if !n.cfg.Broker {
		return fmt.Sprintf("controller %d", n.cfg.ID)
	}
	return fmt.Sprintf("broker %d", n.cfg.ID)
}

// controllerID is the node.id of the controller beside --brokers, as in a
// simulation.
const controllerID = plan.FirstController

// maxServedBrokers leaves ids below the controller's.
const maxServedBrokers = 100

// plan turns the flags into nodes. given tells which flags there were.
func (f *serveFlags) plan(given func(flag string) bool, stderr io.Writer) (servePlan, error) {
	file, err := f.takeFile(given, stderr)
	if err != nil {
		return servePlan{}, err
	}
	oneNode := given("node-id") || file.oneNode
	pairs := file.pairs
	if !oneNode {
		pairs = slices.Concat(oneProcess, pairs)
	}
	properties, err := f.properties(pairs)
	if err != nil {
		return servePlan{}, err
	}
	chosen, err := parseRules(f.rules)
	if err != nil {
		return servePlan{}, err
	}
	if f.lanes < 1 || f.lanes > mostLanes {
		return servePlan{}, badLanes(f.lanes)
	}
	base := broker.Config{DataLanes: f.lanes, Properties: properties, Rules: chosen}
	if oneNode {
		if given("brokers") {
			return servePlan{}, usageError("--brokers and --node-id exclude each other: a process runs a cluster or one node")
		}
		return f.oneNode(base, file)
	}
	for _, name := range []string{"roles", "voters"} {
		if given(name) {
			return servePlan{}, usageError("--%s is for one node: say which, --node-id ID", name)
		}
	}
	return f.cluster(base)
}

// oneProcess are the defaults of a cluster in one process that are not Kafka's. All
// its nodes are killed together, and a controller that starts gives every broker
// that was not fenced a whole new session, before the end of which it takes no new
// life of it: state would be back after Kafka's 9 s. A broker asks again after 0.1,
// 0.3, 0.7 and 1.5 s, and sessions are looked at eight times in their length, so that
// this session is over just before it asks. Brokers here need not be given longer:
// what holds one up holds them all up, and their controller.
var oneProcess = []kafka.Pair{{Key: kafka.BrokerSessionTimeoutMs, Value: "1200"}, {Key: kafka.BrokerHeartbeatIntervalMs, Value: "200"}}

// properties are the broker keys, of the file and of --set.
func (f *serveFlags) properties(pairs []kafka.Pair) (kafka.Config, error) {
	for _, kv := range f.set {
		key, value, ok := strings.Cut(kv, "=")
		if !ok {
			return kafka.Config{}, usageError("--set %s: write KEY=VALUE", kv)
		}
		if err := kafka.Check(kafka.BrokerScope, key, value); err != nil {
			return kafka.Config{}, badKey("--set", kafka.BrokerScope, key, err)
		}
		pairs = append(pairs, kafka.Pair{Key: key, Value: value})
	}
	return kafka.NewConfig(kafka.BrokerScope, pairs...)
}

// cluster is a controller and brokers in this process.
func (f *serveFlags) cluster(base broker.Config) (servePlan, error) {
	if f.brokers < 1 || f.brokers > maxServedBrokers {
		return servePlan{}, usageError("--brokers is %d: 1 to %d are possible", f.brokers, maxServedBrokers)
	}
	listen, err := addresses("--listen", f.listen, f.brokers+1)
	if err != nil {
		return servePlan{}, err
	}
	// The controller is this process's own business.
	_, port, _ := net.SplitHostPort(listen[f.brokers])
	control := net.JoinHostPort("127.0.0.1", port)
	advertised, err := f.advertised(listen[:f.brokers])
	if err != nil {
		return servePlan{}, err
	}
	p := servePlan{data: f.data, record: f.record, rules: f.rules}
	base.Voters = []broker.Voter{{ID: controllerID, Addr: control}}
	controller := base
	controller.ID, controller.Controller, controller.ControllerAddr = controllerID, true, control
	p.nodes = append(p.nodes, servedNode{controller, fmt.Sprint(controllerDirs, controllerID)})
	for i := range f.brokers {
		n := base
		n.ID, n.Broker = kafka.BrokerID(i+1), true
		n.ClientAddr, n.Advertised = listen[i], advertised[i]
		p.nodes = append(p.nodes, servedNode{n, fmt.Sprint(brokerDirs, n.ID)})
	}
	return p, p.identify(f.clusterID, true)
}

// oneNode is a single node of a cluster.
func (f *serveFlags) oneNode(base broker.Config, file serveFile) (servePlan, error) {
	cfg := base
	cfg.ID = kafka.BrokerID(f.nodeID)
	for role := range strings.SplitSeq(f.roles, ",") {
		switch strings.TrimSpace(role) {
		case "broker":
			cfg.Broker = true
		case "controller":
			cfg.Controller = true
		default:
			return servePlan{}, usageError("--roles is %q: write broker, controller or broker,controller", f.roles)
		}
	}
	var err error
	if cfg.Voters, err = parseVoters(f.voters); err != nil {
		return servePlan{}, err
	}
	if cfg.Controller {
		if cfg.ControllerAddr, err = controllerListener(cfg, file); err != nil {
			return servePlan{}, err
		}
	}
	if cfg.Broker {
		listen, err := addresses("--listen", f.listen, 1)
		if err != nil {
			return servePlan{}, err
		}
		advertised, err := f.advertised(listen)
		if err != nil {
			return servePlan{}, err
		}
		cfg.ClientAddr, cfg.Advertised = listen[0], advertised[0]
	}
	if err := cfg.Validate(); err != nil {
		return servePlan{}, usageError("%w", err)
	}
	if f.data == "" {
		return servePlan{}, usageError("one node needs a directory that outlives it: name one, --data DIR")
	}
	p := servePlan{nodes: []servedNode{{cfg: cfg}}, data: f.data, record: f.record, rules: f.rules}
	return p, p.identify(f.clusterID, false)
}

// parseVoters reads controller.quorum.voters.
func parseVoters(s string) ([]broker.Voter, error) {
	if s == "" {
		return nil, usageError("one node needs the controllers: --voters ID@HOST:PORT[,...]")
	}
	var voters []broker.Voter
	for v := range strings.SplitSeq(s, ",") {
		id, addr, ok := strings.Cut(strings.TrimSpace(v), "@")
		n, err := strconv.ParseInt(id, 10, 32)
		if _, _, bad := net.SplitHostPort(addr); !ok || err != nil || n < 0 || bad != nil {
			return nil, usageError("--voters: %q is no voter: write ID@HOST:PORT, such as 101@127.0.0.1:9990", v)
		}
		voters = append(voters, broker.Voter{ID: kafka.BrokerID(n), Addr: addr})
	}
	return voters, nil
}

// controllerListener is where a controller listens: its CONTROLLER listener, or
// else its entry among the voters.
func controllerListener(cfg broker.Config, file serveFile) (string, error) {
	if file.controller != "" {
		return file.controller, nil
	}
	for _, v := range cfg.Voters {
		if v.ID == cfg.ID {
			return v.Addr, nil
		}
	}
	return "", usageError("controller %d is not among --voters: add %d@HOST:PORT", cfg.ID, cfg.ID)
}

// addresses are n addresses with consecutive ports, or with free ones for port 0.
func addresses(flag, first string, n int) ([]string, error) {
	host, port, err := net.SplitHostPort(first)
	number, bad := strconv.ParseUint(port, 10, 16)
	switch {
	case err == nil && errors.Is(bad, strconv.ErrRange):
		return nil, usageError("%s is %q: port %s is out of range, the largest is 65535", flag, first, port)
	case err != nil || bad != nil:
		return nil, usageError("%s is %q: write HOST:PORT, such as %s", flag, first, defaultListen)
	case int(number)+n-1 > 65535:
		return nil, usageError("%s is %q: %d ports from there on end above 65535", flag, first, n)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if number == 0 {
		return freeAddresses(host, n)
	}
	all := make([]string, n)
	for i := range all {
		all[i] = net.JoinHostPort(host, strconv.Itoa(int(number)+i))
	}
	return all, nil
}

// freeAddresses asks the system for ports. They are free when it returns; whoever
// is quicker may still take one.
func freeAddresses(host string, n int) ([]string, error) {
	var all []string
	for range n {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return nil, usageError("--listen: no free port: %w", err)
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all, nil
}

// advertised are the addresses told for those listened at.
func (f *serveFlags) advertised(listen []string) ([]string, error) {
	if f.advertise == "" {
		return make([]string, len(listen)), nil
	}
	if strings.Contains(f.advertise, ":") {
		if _, port, _ := net.SplitHostPort(f.advertise); port == "0" {
			return nil, usageError("--advertise is %q: nobody can connect to port 0: write HOST alone, which keeps the ports listened at", f.advertise)
		}
		return addresses("--advertise", f.advertise, len(listen))
	}
	var all []string
	for _, l := range listen {
		_, port, _ := net.SplitHostPort(l)
		all = append(all, net.JoinHostPort(f.advertise, port))
	}
	return all, nil
}

// path is a node's log directory.
func (p servePlan) path(n servedNode) string { return filepath.Join(p.data, n.dir) }
