package broker

import (
	"tidemark/node"
)

// Lanes composes one process life of a node for any driver. The configuration
// must pass Validate. A broker has all lanes, a controller without the broker
// role only quorum and logs (which guards the directory's identity there).
func Lanes(cfg Config) node.Spec {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	spec := node.Spec{ID: cfg.ID}
	if dirs := cfg.logDirs(); dirs[0] != "" {
		spec.LogDirs = dirs
	}
	add := func(lane node.Lane, p node.Process, disk bool) {
		spec.Lanes = append(spec.Lanes, node.LaneSpec{Lane: lane, Process: p, Disk: disk})
	}
	if cfg.Broker {
		add(node.Router, newRouter(cfg), false)
		add(node.Lifecycle, newLifecycle(cfg), false)
		spec.Listen = append(spec.Listen, node.ListenSpec{Addr: cfg.ClientAddr, Lane: node.Router})
	}
	add(node.Quorum, newQuorumLane(cfg), true)
	if cfg.Controller {
		spec.Listen = append(spec.Listen, node.ListenSpec{Addr: cfg.ControllerAddr, Lane: node.Quorum})
	}
	add(node.Logs, newLogs(cfg), true)
	if cfg.Broker {
		for i, lane := range cfg.dataLanes() {
			add(lane, newDataLane(cfg, i), true)
		}
	}
	return spec
}
