package scenarios

import (
	"fmt"
	"slices"
	"time"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/model/rules"
	"tidemark/node/app"
	"tidemark/sim"
)

// Options are what a run adds to its plan.
type Options struct {
	Seed uint64
	// Rules is a composition of variants, as rules.Parse takes it; "" is current.
	Rules string
	// DataLanes overrides the plan's, if not 0.
	DataLanes int
	// Progress, if set, is told now and then how far simulated time has come.
	Progress func(simulated time.Duration)
	// Watch, if set, is shown every event; it may keep its lists.
	Watch func(*event.Event)
	// NoEvents leaves Result.Events empty.
	NoEvents bool
	// Trace, if set, gets a line for each World event with the digest after it.
	Trace func(line string)
	// Debug lets the panic of a broken invariant through, with its stack.
	Debug bool
	// Left, if set, is what the disks hold at the start.
	Left *Left
}

// Result is a run and its verdict.
type Result struct {
	Seed      uint64
	Rules     string
	Events    []event.Event
	Report    checker.Report
	Digest    uint64
	Stats     sim.Stats
	Simulated time.Duration
	// Failure is the broken invariant that ended the run, nil if none did.
	Failure *sim.Failure
	// Failed is the wait or verify whose time ran out, nil if none did.
	Failed *plan.Step
}

const (
	// settleLimit is how long the sends that are still open may take to get an
	// outcome after the last step: delivery.timeout.ms and some.
	settleLimit = 150 * time.Second
	// slice is how much simulated time passes between two looks at the clock.
	slice = time.Second
)

// Run runs a plan. An error is a fault of the plan or the options; whatever the
// cluster does is in the result.
func Run(p *plan.Plan, o Options) (*Result, error) {
	r, err := rules.Parse(o.Rules)
	if err != nil {
		return nil, err
	}
	properties, err := brokerConfig(p.Settings)
	if err != nil {
		return nil, err
	}
	if err := checkSteps(p, properties); err != nil {
		return nil, err
	}
	p = withLanes(p, o.DataLanes)
	x := newExecution(p, o)
	c := newCluster(x.world, p, properties, r)
	c.profile(p, o.Rules)
	runner := sim.Runner{World: x.world, View: event.NewView(), Client: c.client, Rules: c.setRules}
	if o.Left != nil {
		c.clusterID, runner.Topics = o.Left.ClusterID, o.Left.topics()
		if err := o.Left.load(x.world, slices.Concat(c.controllers(), c.brokers())); err != nil {
			return nil, err
		}
	}
	if err := c.start(); err != nil {
		return nil, err
	}
	outcome, err := runner.Run(remaining(p.Steps, runner.Topics))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	if outcome.Failed == nil {
		x.settle()
	}
	result := x.finish()
	result.Failed = outcome.Failed
	return result, nil
}

// brokerConfig is the configuration of all brokers, later settings over earlier
// ones.
func brokerConfig(settings []plan.Setting) (kafka.Config, error) {
	return kafka.NewConfig(kafka.BrokerScope, pairs(settings)...)
}

func pairs(settings []plan.Setting) []kafka.Pair {
	all := make([]kafka.Pair, len(settings))
	for i, s := range settings {
		all[i] = kafka.Pair{Key: s.Key, Value: s.Value}
	}
	return all
}

// checkSteps asks the rules that bind several settings of one client or topic.
func checkSteps(p *plan.Plan, brokers kafka.Config) error {
	for i := range p.Steps {
		step := &p.Steps[i]
		if err := app.CheckStep(step); err != nil {
			return err
		}
		if step.Verb != plan.VerbTopic {
			continue
		}
		if err := kafka.CheckTopic(brokers, pairs(step.Settings)...); err != nil {
			return fmt.Errorf("topic %s: %w", step.Topic, err)
		}
	}
	return nil
}

func withLanes(p *plan.Plan, lanes int) *plan.Plan {
	if lanes == 0 {
		return p
	}
	q := *p
	q.Cluster.DataLanes = lanes
	return &q
}

// setRules sets what a node boots with from its next start on.
func (c *cluster) setRules(id kafka.BrokerID, names string) error {
	if names == currentRules {
		names = ""
	}
	r, err := rules.Parse(names)
	if err == nil {
		c.rules[id] = r
	}
	return err
}

// currentRules is how a plan names today's rules.
const currentRules = "current"

// execution is the World of one run and those who watch it.
type execution struct {
	opts    Options
	world   *sim.World
	checker *checker.Checker
	events  trace
	open    int // sends without an outcome
}

func newExecution(p *plan.Plan, o Options) *execution {
	x := &execution{opts: o, checker: checker.New()}
	options := sim.Options{Seed: o.Seed, Debug: o.Debug}
	if o.Trace != nil {
		options.Journal = func(e sim.Entry) { o.Trace(e.String()) }
	}
	x.world = sim.New(options)
	x.world.Observe(x.observe)
	return x
}

func (x *execution) observe(e *event.Event) {
	if !x.opts.NoEvents {
		x.events.add(e)
	}
	if x.opts.Watch != nil {
		x.opts.Watch(e)
	}
	x.checker.Observe(e)
	switch e.Kind {
	case event.SendInvoke:
		x.open++
	case event.SendOK, event.SendFail, event.SendUnknown:
		x.open--
	}
	if x.opts.Progress != nil {
		x.opts.Progress(time.Duration(e.At))
	}
}

// settle lets time pass until every send has an outcome.
func (x *execution) settle() {
	limit := x.world.Now() + int64(settleLimit)
	for x.open > 0 && x.world.Now() < limit && x.world.Failure() == nil {
		x.world.Run(x.world.Now() + int64(slice))
	}
}

// finish reads what the disks hold and asks for the verdict.
func (x *execution) finish() *Result {
	failure := x.world.Failure()
	if failure == nil {
		x.world.Checkpoint()
		x.world.Audit()
	}
	return &Result{Seed: x.opts.Seed, Rules: x.opts.Rules, Events: x.events.all(), Report: x.checker.Report(),
		Digest: x.world.Digest(), Stats: x.world.Stats(), Simulated: time.Duration(x.world.Now()), Failure: failure}
}
