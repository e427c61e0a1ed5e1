package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/node"
)

// View is what a runner judges waits on; it is fed with every event.
type View interface {
	plan.View
	Observe(*event.Event)
}

// Runner carries a plan's steps out on a World whose nodes are added.
type Runner struct {
	World *World
	View  View
	// Client finds the node of a client by its name.
	Client func(name string) (kafka.BrokerID, bool)
	// Rules sets the rules that a node boots with from its next start on.
	Rules func(id kafka.BrokerID, rules string) error
	// Topics are the partitions of the topics that are there before the first step.
	Topics map[string]int32

	partitions map[string]int32              // of the topics created so far
	holds      func() bool                   // what the present step waits for, nil for nothing
	unread     map[kafka.TopicPartition]bool // by the verify that runs
	verifier   string
}

// verifyWithin is how long a verify may take before the run is unknown.
const verifyWithin = 60 * time.Second

// Outcome tells how a plan ended.
type Outcome struct {
	// Failed is the wait or verify whose time ran out, nil if none did: the run
	// is unknown, and the steps after it were not taken.
	Failed *plan.Step
}

// Run takes the steps: untimed ones in order, each as soon as the one before it
// is done, timed ones at their time. It ends after the last one, at a failed
// wait, or when an invariant breaks (World.Failure). An error is a step that
// cannot be done, with its line. It may be called once.
func (r *Runner) Run(steps []plan.Step) (Outcome, error) {
	r.partitions = map[string]int32{}
	maps.Copy(r.partitions, r.Topics)
	r.World.Observe(r.observe)
	var untimed, timed []*plan.Step
	for i := range steps {
		if steps[i].At >= 0 {
			timed = append(timed, &steps[i])
		} else {
			untimed = append(untimed, &steps[i])
		}
	}
	slices.SortStableFunc(timed, func(a, b *plan.Step) int { return cmp.Compare(a.At, b.At) })
	var done bool
	for _, s := range untimed {
		if err := r.begin(s); err != nil {
			return Outcome{}, err
		}
		limit, takesTime := r.goal(s)
		if !takesTime {
			continue
		}
		var err error
		if timed, done, err = r.pass(limit, timed); err != nil || r.World.failure != nil {
			return Outcome{}, err
		}
		if !done {
			r.emit(event.WaitFailed, s)
			return Outcome{Failed: s}, nil
		}
	}
	for len(timed) > 0 && r.World.failure == nil {
		var err error
		if timed, err = r.until(int64(timed[0].At), timed); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, nil
}

// goal sets what a step waits for and tells how long it may; ok is false for a
// step that takes no time.
func (r *Runner) goal(s *plan.Step) (limit time.Duration, ok bool) {
	switch s.Verb {
	case plan.VerbSleep:
		r.holds = nil
		return s.For, true
	case plan.VerbWait:
		r.holds = func() bool { return s.Predicate.Holds(r.View) }
		return s.For, true
	case plan.VerbVerify:
		r.verifier, r.unread = s.Client, map[kafka.TopicPartition]bool{}
		for i := range r.partitions[s.Topic] {
			r.unread[kafka.TopicPartition{Topic: s.Topic, Partition: i}] = true
		}
		r.holds = func() bool { return len(r.unread) == 0 }
		return verifyWithin, true
	}
	return 0, false
}

// pass lets time go by until the goal holds, or for a step without one until its
// time is over. It returns the timed steps that are left, and whether the step
// is done.
func (r *Runner) pass(limit time.Duration, timed []*plan.Step) ([]*plan.Step, bool, error) {
	w := r.World
	deadline := w.Now() + int64(limit)
	for r.holds == nil || !r.holds() {
		if w.Now() >= deadline || w.failure != nil {
			done := r.holds == nil
			r.holds = nil
			return timed, done, nil
		}
		var err error
		if timed, err = r.until(deadline, timed); err != nil {
			return timed, false, err
		}
	}
	r.holds = nil
	return timed, true, nil
}

// until runs the World to an instant or to the first timed step before it, which
// it takes, or until a wait holds.
func (r *Runner) until(at int64, timed []*plan.Step) ([]*plan.Step, error) {
	if len(timed) > 0 {
		at = min(at, max(int64(timed[0].At), r.World.Now()))
	}
	if !r.World.Run(at) {
		return timed, nil
	}
	for len(timed) > 0 && int64(timed[0].At) <= r.World.Now() {
		s := timed[0]
		timed = timed[1:]
		if err := r.begin(s); err != nil {
			return timed, err
		}
	}
	return timed, nil
}

func (r *Runner) observe(e *event.Event) {
	r.View.Observe(e)
	if e.Kind == event.PollOK && e.Drained && e.Client == r.verifier {
		delete(r.unread, e.TP())
	}
	if r.holds != nil && r.holds() {
		r.World.Halt()
	}
}

func (r *Runner) emit(k event.Kind, s *plan.Step) {
	e := event.New(k)
	e.Line, e.Text = s.Line, s.String()
	r.World.Emit(&e)
}

// begin takes a step; a wait and a sleep only begin here.
func (r *Runner) begin(s *plan.Step) error {
	r.emit(event.Step, s)
	if err := r.take(s); err != nil {
		return fmt.Errorf("line %d: %s: %w", s.Line, s, err)
	}
	return nil
}

func (r *Runner) take(s *plan.Step) error {
	w := r.World
	switch s.Verb {
	case plan.VerbWait, plan.VerbSleep:
		return nil
	case plan.VerbTopic:
		r.partitions[s.Topic] = s.Partitions
		return r.work(s)
	case plan.VerbKill:
		return w.Kill(s.Node)
	case plan.VerbPower:
		return w.Power(s.Node, lossOf(s.Lose))
	case plan.VerbWipe:
		return w.Wipe(s.Node)
	case plan.VerbStop:
		return w.Stop(s.Node)
	case plan.VerbStart:
		return w.Start(s.Node)
	case plan.VerbPause:
		return w.Pause(s.Node)
	case plan.VerbResume:
		return w.Resume(s.Node)
	case plan.VerbCrash:
		return w.Crash(s.Node, s.Lane, s.Op, s.Kind == "power")
	case plan.VerbStall:
		return w.Stall(s.Node, s.For)
	case plan.VerbDisk:
		return w.BreakDisk(s.Node, s.Disk)
	case plan.VerbClock:
		return w.ClockJump(s.Node, s.For)
	case plan.VerbRules:
		return r.Rules(s.Node, s.Rules)
	case plan.VerbCut, plan.VerbHeal, plan.VerbHold, plan.VerbFail, plan.VerbRelease, plan.VerbReset, plan.VerbHalfOpen:
		return r.takeLink(s)
	}
	return r.work(s)
}

// work hands a workload step to its client; the admin takes those without one.
func (r *Runner) work(s *plan.Step) error {
	name := s.Client
	if name == "" {
		name = plan.AdminClient
	}
	id, ok := r.Client(name)
	if !ok {
		return fmt.Errorf("there is no client %q", name)
	}
	return r.World.Post(id, node.App, s)
}

func lossOf(lose string) simdisk.Loss {
	switch lose {
	case "all":
		return faultdisk.LoseAll
	case "none":
		return faultdisk.LoseNone
	}
	return faultdisk.LoseRandom
}

// takeLink carries out the verbs that speak of a link.
func (r *Runner) takeLink(s *plan.Step) error {
	w := r.World
	if s.Everywhere() {
		if s.Verb == plan.VerbHeal {
			w.HealAll()
		} else {
			w.ReleaseAll()
		}
		return nil
	}
	l, err := r.link(s)
	if err != nil {
		return err
	}
	switch s.Verb {
	case plan.VerbCut:
		return r.bothWays(s, l, w.Cut)
	case plan.VerbHeal:
		return r.bothWays(s, l, w.Heal)
	case plan.VerbRelease:
		return w.Release(l)
	case plan.VerbReset:
		return w.Reset(l)
	case plan.VerbHalfOpen:
		return w.HalfOpen(l)
	}
	key, ok := plan.APIKey(s.API)
	if !ok {
		return fmt.Errorf("%q is not an API that a plan can name", s.API)
	}
	match := Match{Link: l, Key: key, API: s.API, Response: s.Response}
	if s.Verb == plan.VerbFail {
		return w.Fail(match, s.Op)
	}
	return w.Hold(match)
}

func (r *Runner) bothWays(s *plan.Step, l Link, f func(Link) error) error {
	err := f(l)
	if err == nil && s.Both {
		err = f(l.Reverse())
	}
	return err
}

func (r *Runner) link(s *plan.Step) (Link, error) {
	from, err := r.linkEnd(s.Node, s.FromClient)
	if err != nil {
		return Link{}, err
	}
	to, err := r.linkEnd(s.Peer, s.ToClient)
	return Link{From: from, To: to}, err
}

func (r *Runner) linkEnd(id kafka.BrokerID, client string) (kafka.BrokerID, error) {
	if client == "" {
		return id, nil
	}
	id, ok := r.Client(client)
	if !ok {
		return id, fmt.Errorf("there is no client %q", client)
	}
	return id, nil
}
