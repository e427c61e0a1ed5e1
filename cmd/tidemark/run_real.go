//go:build !js

package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"tidemark/checker/history"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/node"
	"tidemark/node/app"
	"tidemark/node/live"
)

// realRun carries a plan's workload out on a cluster that is not ours, with the
// same producers and consumers as in a simulation, and writes their history.
type realRun struct {
	plan      *plan.Plan
	bootstrap []string
	signals   <-chan os.Signal
	stderr    io.Writer // for what an admin request was refused for
	progress  *progress
	clients   map[string]*live.Node
	first     kafka.BrokerID // id of the first client

	changed chan struct{} // something was observed

	mu         sync.Mutex
	start      time.Time
	seq        uint64
	out        *history.Writer
	view       *event.View
	partitions map[string]int32 // by topic
	verifier   string
	unread     map[kafka.TopicPartition]bool
}

// verifyWithin is how long a verify may take, as in a simulation.
const verifyWithin = time.Minute

// stopWithin is how long clients may take to end what they have in flight:
// delivery.timeout.ms is two minutes unless a plan says otherwise.
const stopWithin = 130 * time.Second

// runReal carries a plan out and judges the history that it has written.
func runReal(out, stderr io.Writer, l loaded, f runFlags) error {
	bootstrap, err := f.realFlags()
	if err != nil {
		return err
	}
	if err := checkReal(l); err != nil {
		return err
	}
	file, err := os.Create(f.history)
	if err != nil {
		return usageError("--history %s cannot be written: %w", f.history, inner(err))
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	r := newRealRun(l, bootstrap, file, f.realReplay(l.arg))
	r.signals, r.stderr, r.progress = signals, stderr, newProgress(stderr, l.title)
	ctx, answered := context.WithCancel(context.Background())
	waits := sync.WaitGroup{}
	waits.Go(func() { tellUnreached(ctx, bootstrap, reachPace, r.tell) })
	err = r.run()
	answered()
	waits.Wait()
	r.progress.done()
	if e := errors.Join(err, r.out.Flush(), file.Close()); e != nil {
		return usageError("%w", e)
	}
	return check(out, stderr, []string{f.history}, checkFlags{format: formatTidemark, json: f.json})
}

// realFlags checks the flags that go with --bootstrap.
func (f runFlags) realFlags() ([]string, error) {
	if f.history == "" {
		return nil, usageError("--bootstrap needs a file for what clients are told: --history FILE")
	}
	for _, flag := range []struct {
		name  string
		given bool
	}{{"--seed", f.seeded}, {"--rules", f.rules != ""}, {"--lanes", f.lanes != 0}, {"--from", f.from != ""}, {"--plot", f.plot != ""}, {"--partition", f.shown != ""},
		{"--trace", f.trace != ""}, {"--rewrite", f.rewrite != ""}} {
		if flag.given {
			return nil, usageError("%s is for simulated clusters: leave it out with --bootstrap", flag.name)
		}
	}
	addresses := strings.Split(f.bootstrap, ",")
	for _, a := range addresses {
		if _, _, err := net.SplitHostPort(a); err != nil {
			return nil, usageError("--bootstrap: %q is no address: write HOST:PORT[,HOST:PORT ...]", a)
		}
	}
	return addresses, nil
}

// realReplay is the command line that repeats the run.
func (f runFlags) realReplay(arg string) string {
	return "tidemark run " + arg + f.given.arguments() + " --bootstrap " + f.bootstrap + " --history " + f.history
}

// checkReal refuses what clients alone cannot do or see.
func checkReal(l loaded) error {
	for i := range l.plan.Steps {
		s := &l.plan.Steps[i]
		fault := func(format string, v ...any) error {
			return &exitError{exitUsage, &plan.Error{File: l.arg, Line: s.Line, Err: fmt.Errorf(format, v...)}}
		}
		switch {
		case s.Verb == plan.VerbWait && s.Predicate.Subject != plan.WaitAcked && s.Predicate.Subject != plan.WaitPosition:
			return fault("wait %s looks inside the cluster: with --bootstrap only acked and position can be waited for", s.Predicate.Subject)
		case s.Verb != plan.VerbWait && s.Verb != plan.VerbSleep && !s.Verb.Workload():
			return fault("%s is done to simulated nodes: with --bootstrap a plan is the work of clients alone", s.Verb)
		}
		if err := app.CheckStep(s); err != nil {
			return fault("%w", err)
		}
	}
	return nil
}

func newRealRun(l loaded, bootstrap []string, w io.Writer, source string) *realRun {
	r := &realRun{plan: l.plan, bootstrap: bootstrap, clients: map[string]*live.Node{}, changed: make(chan struct{}, 1), start: time.Now(),
		view: event.NewView(), partitions: map[string]int32{}}
	// What another run has left in a topic must not be taken for a record of this
	// one: the ids of clients, which attempts begin with, are drawn. They lie above
	// those of simulated clients.
	var b [4]byte
	rand.Read(b[:])
	r.first = kafka.BrokerID(binary.LittleEndian.Uint32(b[:])>>2 | 1<<20)
	h := history.Header{Source: source, Clock: history.BySeq}
	for _, s := range l.plan.Settings {
		h.Profile = append(h.Profile, history.Setting{Scope: history.ClusterScope, Key: s.Key, Value: s.Value})
	}
	r.out = history.NewWriter(w, h)
	return r
}

// run carries the steps out and stops the clients.
func (r *realRun) run() error {
	names := append([]string{plan.AdminClient}, r.plan.Clients()...)
	ids := make([]kafka.BrokerID, len(names))
	for i := range ids {
		ids[i] = r.first + kafka.BrokerID(i)
	}
	for i, name := range names {
		lane := node.LaneSpec{Lane: node.App, Process: app.New(app.Config{Name: name, Bootstrap: r.bootstrap, Run: ids})}
		n, err := live.Start(node.Spec{ID: ids[i], Lanes: []node.LaneSpec{lane}}, live.Options{Emit: r.observe})
		if err != nil {
			return err
		}
		r.clients[name] = n
	}
	var timed []*time.Timer
	defer func() {
		for _, t := range timed {
			t.Stop()
		}
		r.stop()
	}()
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		if s.At >= 0 {
			timed = append(timed, time.AfterFunc(s.At-time.Since(r.start), func() { r.begin(s) }))
			continue
		}
		if !r.step(s) {
			e := event.New(event.WaitFailed)
			e.Line, e.Text = s.Line, s.String()
			r.observe(&e)
			break
		}
	}
	return nil
}

// step takes a step; false if its time ran out, or a signal came.
func (r *realRun) step(s *plan.Step) bool {
	r.begin(s)
	switch s.Verb {
	case plan.VerbSleep:
		r.wait(s.For, func() bool { return false })
		return len(r.signals) == 0
	case plan.VerbWait:
		return r.wait(s.For, func() bool { return s.Predicate.Holds(r.view) })
	case plan.VerbVerify:
		return r.wait(verifyWithin, func() bool { return len(r.unread) == 0 })
	}
	return true
}

// begin hands a step to its client.
func (r *realRun) begin(s *plan.Step) {
	e := event.New(event.Step)
	e.Line, e.Text = s.Line, s.String()
	r.observe(&e)
	if !s.Verb.Workload() {
		return
	}
	r.prepare(s)
	name := s.Client
	if name == "" {
		name = plan.AdminClient
	}
	if err := r.clients[name].Post(node.App, s); err != nil {
		panic("run: a client without its lane: " + err.Error())
	}
}

// prepare notes what the run must know of a step.
func (r *realRun) prepare(s *plan.Step) {
	r.mu.Lock()
	if s.Verb == plan.VerbTopic {
		r.partitions[s.Topic] = s.Partitions
	}
	if s.Verb == plan.VerbVerify {
		r.verifier, r.unread = s.Client, map[kafka.TopicPartition]bool{}
		for p := range r.partitions[s.Topic] {
			r.unread[kafka.TopicPartition{Topic: s.Topic, Partition: p}] = true
		}
	}
	r.mu.Unlock()
	if s.Verb == plan.VerbTopic {
		for _, kv := range s.Settings {
			e := event.New(event.Profile)
			e.Client, e.Text = "topic "+s.Topic, kv.Key+"="+kv.Value
			r.observe(&e)
		}
	}
}

// wait waits until a condition holds, for a limited time.
func (r *realRun) wait(limit time.Duration, holds func() bool) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	for {
		r.mu.Lock()
		ok := holds()
		if r.progress.due() {
			fmt.Fprintf(r.progress.w, "\r%s: %d events", r.progress.title, r.seq)
		}
		r.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-r.changed:
		case <-late.C:
			return false
		case <-r.signals:
			return false
		}
	}
}

// observe is the sink of every client: one counter numbers the events of all, as
// they happen.
func (r *realRun) observe(e *event.Event) {
	if !recorded(e.Kind) {
		return
	}
	r.mu.Lock()
	r.write(e)
	if e.Kind == event.Effect && e.Client == plan.AdminClient {
		r.refused(e)
	}
	if e.Kind == event.PollOK && e.Drained && e.Client == r.verifier {
		delete(r.unread, e.TP())
	}
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// refused tells of a step that the cluster would not do. A topic that was there
// before may hold records of producers that the history does not show.
func (r *realRun) refused(e *event.Event) {
	if e.Code != kafka.TopicAlreadyExists {
		fmt.Fprintf(r.stderr, "tidemark: %s\n", e.Text)
		return
	}
	open := event.New(event.Profile)
	open.Client, open.Text = history.ClusterScope, worldSetting+"=open"
	r.write(&open)
}

// tell says something while the run goes on.
func (r *realRun) tell(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.done()
	fmt.Fprintf(r.stderr, "tidemark: %s\n", line)
}

func (r *realRun) write(e *event.Event) {
	r.seq++
	e.Seq, e.At, e.Node = r.seq, int64(time.Since(r.start)), kafka.NoBroker
	r.view.Observe(e)
	r.out.Write(e)
}

// recorded leaves out the lives of the clients' own processes, whose ids are no
// brokers'.
func recorded(k event.Kind) bool {
	client := k >= event.SendInvoke && k <= event.TruncationDetected || k >= event.PollInvoke
	return client || slices.Contains([]event.Kind{event.Profile, event.Effect, event.Step, event.WaitFailed}, k)
}

// stop ends the clients, each when it knows what became of its records.
func (r *realRun) stop() {
	var ended sync.WaitGroup
	for _, n := range r.clients { // unordered: all stop at once
		if n.Post(node.App, node.Stop{}) == nil {
			ended.Go(func() { n.Wait() })
		}
	}
	done := make(chan struct{})
	go func() {
		ended.Wait()
		close(done)
	}()
	late := time.NewTimer(stopWithin)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	case <-r.signals:
	}
	for _, n := range r.clients { // unordered: all die at once
		n.Kill()
	}
}
