//go:build !js

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/broker"
	"tidemark/node/live"
)

// maxReady is how long brokers may take until they serve: as long as Kafka's
// initial.broker.registration.timeout.ms, after which they give up themselves.
const maxReady = 65 * time.Second

// slowReady is after which time serve says what it waits for.
const slowReady = time.Second

// death is the end of a node.
type death struct {
	node   servedNode
	reason string
}

// served is the cluster while it runs.
type served struct {
	plan   servePlan
	record *live.Recorder // nil: nothing is recorded
	nodes  []*live.Node
	ready  chan struct{} // one for each broker
	deaths chan death
	left   int       // nodes whose death has not been told
	notice io.Writer // is told what a start or a stop waits for
	killed []string  // brokers whose last life did not end cleanly
	ending time.Time // when they were told to stop
}

// serve runs the nodes until a signal, or until one dies.
func (p servePlan) serve(out, notice io.Writer, signals <-chan os.Signal) (err error) {
	held := holdHeap()
	defer runtime.KeepAlive(held)
	if err := p.canListen(); err != nil {
		return err
	}
	if p.data == "" {
		dir, err := os.MkdirTemp("", "tidemark-serve-")
		if err != nil {
			return usageError("%w", err)
		}
		defer os.RemoveAll(dir)
		p.data = dir
	}
	s := &served{plan: p, ready: make(chan struct{}, len(p.nodes)), deaths: make(chan death, len(p.nodes)), notice: notice,
		killed: p.killed()}
	if p.record != "" {
		stop, e := s.startRecording()
		if e != nil {
			return e
		}
		defer func() { err = cmp.Or(err, stop()) }()
	}
	defer s.kill()
	start := time.Now()
	for _, n := range p.nodes {
		if err := s.start(n); err != nil {
			return err
		}
	}
	if stop, err := s.awaitReady(signals); stop || err != nil {
		return s.end(signals, err)
	}
	fmt.Fprintf(out, "ready: %s, data in %s, %d ms\n", p.summary(), p.data, time.Since(start).Milliseconds())
	select {
	case <-signals:
		return s.end(signals, nil)
	case d := <-s.deaths:
		s.left--
		return s.end(signals, &exitError{exitViolation, fmt.Errorf("%v: %s", d.node, d.reason)})
	}
}

// start boots a node.
func (s *served) start(n servedNode) error {
	config, err := recordConfig(n.cfg, s.plan.rules)
	if err != nil {
		return err
	}
	running, err := live.Start(broker.Lanes(n.cfg), live.Options{Dir: s.plan.path(n), Emit: s.observe, Wants: tellsReady, Record: s.record, Config: config})
	if err != nil {
		return usageError("%v: %w", n, startError(err))
	}
	s.nodes = append(s.nodes, running)
	s.left++
	go func() { s.deaths <- death{n, running.Wait()} }()
	return nil
}

// startRecording opens the file of --record; stop closes it when the nodes are
// dead and tells whether all of the recording is in it.
func (s *served) startRecording() (stop func() error, err error) {
	file, err := os.OpenFile(s.plan.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil, usageError("--record: %s exists: choose another name, each process writes a recording of its own", s.plan.record)
	}
	if err != nil {
		return nil, usageError("--record: %w", err)
	}
	if s.record, err = live.NewRecorder(file); err != nil {
		return nil, usageError("--record: %w", err)
	}
	return func() error {
		if err := cmp.Or(s.record.Err(), file.Close()); err != nil {
			return &exitError{exitViolation, fmt.Errorf("--record: the recording ends early: %w", err)}
		}
		return nil
	}, nil
}

// startError is the fault beneath "start node N", and what to do about a port.
func startError(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return portError(err)
}

// tellsReady picks the events by which a broker tells that it serves.
func tellsReady(k event.Kind) bool { return k == event.Ready }

// observe counts brokers that serve.
func (s *served) observe(*event.Event) { s.ready <- struct{}{} }

// awaitReady waits until every broker serves; stop if a signal came before.
func (s *served) awaitReady(signals <-chan os.Signal) (stop bool, err error) {
	late, slow := time.NewTimer(maxReady), time.NewTimer(slowReady)
	defer late.Stop()
	defer slow.Stop()
	for missing := s.plan.brokers(); missing > 0; {
		select {
		case <-s.ready:
			missing--
		case <-slow.C:
			fmt.Fprintln(s.notice, s.waitsFor())
		case d := <-s.deaths:
			s.left--
			return true, usageError("%v: %s", d.node, d.reason)
		case <-signals:
			return true, nil
		case <-late.C:
			return true, usageError("the brokers do not serve after %v: do they reach the controller of --voters?", maxReady)
		}
	}
	return false, nil
}

// waitsFor is why brokers do not serve yet. A broker of which the controller holds a
// session may be alive elsewhere; Kafka takes no second one before that is over.
func (s *served) waitsFor() string {
	if len(s.killed) == 0 {
		return "waiting for the controller of --voters"
	}
	session := s.plan.nodes[0].cfg.Properties.Millis(kafka.BrokerSessionTimeoutMs)
	return fmt.Sprintf("waiting for the session of the last life of %s, which was killed: up to %v where its controller died too (broker.session.timeout.ms)",
		strings.Join(s.killed, ", "), session+session/8)
}

// brokers is how many there are.
func (p servePlan) brokers() (n int) {
	for _, node := range p.nodes {
		if node.cfg.Broker {
			n++
		}
	}
	return n
}

// killed are the brokers whose directories have no mark of a clean end.
func (p servePlan) killed() (names []string) {
	for _, n := range p.nodes {
		known, err := readIdentity(p.path(n))
		_, mark := os.Stat(filepath.Join(p.path(n), cleanMarker))
		if n.cfg.Broker && err == nil && !known.cluster.IsZero() && mark != nil {
			names = append(names, n.String())
		}
	}
	return names
}

// cleanMarker is the file that Kafka leaves in a log directory at a clean end.
const cleanMarker = ".kafka_cleanshutdown"

// summary says who serves where.
func (p servePlan) summary() string {
	var brokers, controllers []string
	for _, n := range p.nodes {
		if !n.cfg.Broker {
			controllers = append(controllers, n.cfg.ControllerAddr)
			continue
		}
		addr := n.cfg.Advertised
		if addr == "" {
			addr = n.cfg.ClientAddr
		}
		brokers = append(brokers, addr)
	}
	if len(brokers) == 0 {
		return fmt.Sprintf("controller %d at %s", p.nodes[0].cfg.ID, controllers[0])
	}
	if len(brokers) == 1 {
		return fmt.Sprintf("broker %d at %s", p.nodes[len(p.nodes)-1].cfg.ID, brokers[0])
	}
	return fmt.Sprintf("%d brokers at %s", len(brokers), strings.Join(brokers, ","))
}
