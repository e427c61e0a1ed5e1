//go:build !js

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tidemark/node"
	"tidemark/node/broker"
)

// slowStop is after which time serve says what a stop waits for, and from when on a
// second signal ends it: timeout(1) and some supervisors send two at the same moment,
// one to the process and one to its group, and mean one.
const slowStop = time.Second

// end stops the nodes: all brokers together, as one after another each would wait
// for the next heartbeats of those that stay, then the controllers. After a
// failure, and at a second signal slowStop after the first, they are killed. err is
// what the process ends with.
func (s *served) end(signals <-chan os.Signal, err error) error {
	s.ending = time.Now()
	for _, brokers := range []bool{true, false} {
		var asked []string
		for i, n := range s.plan.nodes {
			if n.cfg.Broker == brokers && err == nil && i < len(s.nodes) {
				s.stop(i)
				asked = append(asked, n.String())
			}
		}
		if over, e := s.awaitStop(signals, asked, brokers); over || e != nil {
			return e
		}
	}
	return err
}

// awaitStop waits until the nodes that were asked to stop have done so; over if they
// are to be killed instead.
func (s *served) awaitStop(signals <-chan os.Signal, asked []string, brokers bool) (over bool, err error) {
	slow := time.NewTimer(slowStop)
	defer slow.Stop()
	for len(asked) > 0 {
		select {
		case <-signals:
			if time.Since(s.ending) < slowStop {
				continue
			}
			fmt.Fprintf(s.notice, "a second signal: %s ended at once, with no clean end of the logs\n", strings.Join(asked, ", "))
			return true, nil
		case <-slow.C:
			fmt.Fprintln(s.notice, stopsFor(asked, brokers))
		case d := <-s.deaths:
			s.left--
			if d.reason != cleanStop {
				return true, &exitError{exitViolation, fmt.Errorf("%v: %s", d.node, d.reason)}
			}
			asked = slices.DeleteFunc(asked, func(name string) bool { return name == d.node.String() })
		}
	}
	return false, nil
}

// stopsFor is why nodes do not end yet. Brokers whose controller is gone, or stops at
// the same time in another process, ask it in vain, and say nothing for minutes in
// Kafka too, but in its log.
func stopsFor(nodes []string, brokers bool) string {
	what := "the metadata log is closed"
	if brokers {
		what = fmt.Sprintf("the controller has up to %v to give leave, then the logs are closed", broker.MaxShutdownWait)
	}
	return fmt.Sprintf("stopping %s: %s; a second signal ends this at once", strings.Join(nodes, ", "), what)
}

// stop asks the i-th node for a controlled shutdown.
func (s *served) stop(i int) {
	lane := node.Lifecycle
	if !s.plan.nodes[i].cfg.Broker {
		lane = node.Quorum
	}
	if err := s.nodes[i].Post(lane, node.Stop{}); err != nil {
		panic(err)
	}
}

// cleanStop is the reason with which a node ends after node.Stop.
const cleanStop = "controlled shutdown"

// kill ends what still runs and waits for it.
func (s *served) kill() {
	for _, n := range s.nodes {
		n.Kill()
	}
	for ; s.left > 0; s.left-- {
		<-s.deaths
	}
}
