package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/node"
)

// stagedRun runs a plan's text on one broker that reports an election after it
// was asked to, and on clients that say what they are told.
func stagedRun(t *testing.T, text string) (*stage, Outcome, error) {
	t.Helper()
	p, err := plan.Parse("test", "cluster brokers=2 controllers=1\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, Options{})
	for id := kafka.BrokerID(1); id <= 2; id++ {
		s.add(id, "", on(node.Lifecycle, &script{posted: func(env node.Env, _ any) { env.Exit(cleanExit) }}))
	}
	s.add(101, "", on(node.Quorum, &script{
		start: func(env node.Env) { env.SetTimer(5 * time.Second) },
		fire: func(env node.Env, _ node.TimerID) {
			e := event.New(event.Elected)
			e.Topic, e.Peer = "t", 2
			env.Emit(&e)
		},
	}))
	clients := append([]string{plan.AdminClient}, p.Clients()...)
	for i := range clients {
		s.add(kafka.BrokerID(1001+i), "", on(node.App, &script{posted: func(env node.Env, v any) {
			say(env, "told %v", v.(*plan.Step))
		}}))
	}
	r := Runner{World: s.World, View: event.NewView(),
		Client: func(name string) (kafka.BrokerID, bool) {
			i := slices.Index(clients, name)
			return kafka.BrokerID(1001 + i), i >= 0
		},
		Rules: func(id kafka.BrokerID, rules string) error { s.lines = append(s.lines, "rules "+rules); return nil },
	}
	o, err := r.Run(p.Steps)
	return s, o, err
}

func (s *stage) has(lines ...string) {
	s.t.Helper()
	all := strings.Join(s.lines, "\n")
	rest := all
	for _, l := range lines {
		i := strings.Index(rest, l)
		if i < 0 {
			s.t.Fatalf("no %q, in its place, in\n%s", l, all)
		}
		rest = rest[i+len(l):]
	}
}

func TestStepsRunInOrderAndTimedOnesAtTheirTime(t *testing.T) {
	s, o, err := stagedRun(t, `
topic t
producer p
at 3s kill 1
send p t hello
wait leader t-0 = 2 within 20s
sleep 1s
at 5.5s start 1
cut 1 <-> 2
at 9s rules 2 current
heal
stop 2
clock 1 jump 1h0m0s
stall 1 for 1s
hold fetch response 1 -> 2
release 1 -> 2
release
reset 1 <-> 2
half-open 1 -> 2
pause 1
resume 1
crash 1/lifecycle op 3 power
power 1 lose all
wipe 1
`)
	s.must(err)
	if o.Failed != nil {
		t.Fatalf("failed at %v", o.Failed)
	}
	s.has("0s -1 step topic t", "0s -1 step send p t hello", "0s -1 step wait leader", "told topic t", "told producer p", "told send p t hello",
		"3s -1 step at 3s kill 1", "3s 1 died kill", " 101 elected", "5.000004s -1 step sleep 1s", "5.5s -1 step at 5.5s start 1", "5.5s 1 boot",
		"6.000004s -1 step cut 1 <-> 2", "1 fault cut 1 -> 2", "2 fault cut 2 -> 1", "fault heal", "clock 1 jump 1h0m0s", "stall 1 for 1s",
		"hold fetch response 1 -> 2", "release 1 -> 2", "fault release", "reset 1 <-> 2", "half-open 1 -> 2", "1 paused", "1 resumed",
		"crash 1/lifecycle op 3 power", "died power", "2 died stop", "9s -1 step at 9s rules 2 current", "rules current")
}

func TestWaitWhoseTimeRunsOutEndsThePlan(t *testing.T) {
	s, o, err := stagedRun(t, `
topic t
wait leader t-0 = 1 within 7s
kill 1
`)
	s.must(err)
	if o.Failed == nil || o.Failed.Verb != plan.VerbWait {
		t.Fatalf("outcome %+v", o)
	}
	s.has("7s -1 " + event.WaitFailed.String() + " wait leader t-0 = 1 within 7s")
	if strings.Contains(strings.Join(s.lines, "\n"), "kill 1") {
		t.Fatal("the plan went on")
	}
}

func TestStepThatCannotBeDoneIsAnErrorWithItsLine(t *testing.T) {
	_, _, err := stagedRun(t, "crash 1/data-0 op 1\n")
	if err == nil || !strings.Contains(err.Error(), "line 2: crash 1/data-0 op 1 kill: node 1 has no lane \"data-0\": it has lifecycle") {
		t.Fatalf("error %v", err)
	}
}

func TestStartOfANodeThatIsStoppingBootsItOnceItIsDown(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "", on(node.Lifecycle, &script{
		posted: func(env node.Env, _ any) { env.SetTimer(2 * time.Second) },
		fire:   func(env node.Env, _ node.TimerID) { env.Exit(cleanExit) },
	}))
	s.run(time.Second)
	s.must(s.Stop(1))
	s.must(s.Start(1))
	s.run(10 * time.Second)
	s.has("boot", "died stop", "boot")
	s.must(s.Start(1))
	s.run(10 * time.Second)
	if n := strings.Count(strings.Join(s.lines, "\n"), "boot"); n != 2 {
		t.Fatalf("%d boots: a node that is up was started again\n%s", n, strings.Join(s.lines, "\n"))
	}
}

// reading runs a verify whose client drains these partitions, one a second.
func reading(t *testing.T, partitions ...int32) Outcome {
	t.Helper()
	p, err := plan.Parse("test", "topic t partitions=2\nconsumer c\nverify c t\n")
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, Options{})
	s.add(1001, "", on(node.App, &script{}))
	s.add(1002, "", on(node.App, &script{
		posted: func(env node.Env, _ any) { env.SetTimer(time.Second) },
		fire: func(env node.Env, _ node.TimerID) {
			if len(partitions) == 0 {
				return
			}
			e := event.New(event.PollOK)
			e.Client, e.Topic, e.Partition, e.Drained = "c", "t", partitions[0], true
			env.Emit(&e)
			partitions = partitions[1:]
			env.SetTimer(time.Second)
		},
	}))
	clients := map[string]kafka.BrokerID{plan.AdminClient: 1001, "c": 1002}
	r := Runner{World: s.World, View: event.NewView(),
		Client: func(name string) (kafka.BrokerID, bool) { id, ok := clients[name]; return id, ok }}
	o, err := r.Run(p.Steps)
	s.must(err)
	return o
}

func TestVerifyHoldsUntilEveryPartitionIsReadToItsEnd(t *testing.T) {
	if o := reading(t, 0, 1); o.Failed != nil {
		t.Fatalf("both partitions were read, yet the verify failed: %v", o.Failed)
	}
	if o := reading(t, 0, 0); o.Failed == nil || o.Failed.Verb != plan.VerbVerify {
		t.Fatalf("partition 1 was never read, yet the verify ended well: %+v", o)
	}
}
