package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/net/simnet"
	"tidemark/node"
)

// follower writes what it is sent and acknowledges it behind the write, posts it
// and sets a timer: everything that a callback can leave behind.
func follower() *script {
	return &script{
		start: func(env node.Env) {
			if _, err := env.FS().List(""); err != nil {
				panic(err)
			}
		},
		receive: func(env node.Env, c node.ConnID, m *node.Message) {
			f, err := env.FS().Create("log")
			if err == nil {
				_, err = f.WriteAt([]byte("record"), 0)
			}
			if err != nil {
				panic(err)
			}
			say(env, "appended")
			env.Send(c, answer(m))
			f.Sync(1)
			env.Post(node.Logs, "appended")
			env.SetTimer(0)
		},
		fire:   func(env node.Env, _ node.TimerID) { say(env, "timer") },
		synced: func(env node.Env, _ disk.Token, err error) { say(env, "synced %v", err) },
	}
}

func logsLane() node.LaneSpec {
	return on(node.Logs, &script{posted: func(env node.Env, v any) { say(env, "logs saw %v", v) }})
}

func TestFollowerThatStallsAndIsKilledMeanwhileHasAcknowledgedNothing(t *testing.T) {
	for _, c := range []struct {
		death time.Duration
		acked bool
	}{{15 * time.Second, false}, {25 * time.Second, true}} {
		s := newStage(t, Options{})
		s.add(2, "b:2", on(node.Data0, follower()), logsLane())
		s.must(s.Stall(2, 20*time.Second))
		s.add(1, "", on(node.App, caller("b:2", 1)))
		s.run(c.death)
		s.must(s.Kill(2))
		s.run(time.Minute)
		all := strings.Join(s.said(), "\n")
		for _, effect := range []string{"appended", "answer 1", "logs saw", "timer", "synced"} {
			if strings.Contains(all, effect) != c.acked {
				t.Errorf("killed at %v, stalled until 20s: %q is %v\n%s", c.death, effect, !c.acked, all)
			}
		}
		if got, err := s.machines[0].disk.ReadFile(faultdisk.Cached, "log"); err != nil || string(got) != "record" {
			t.Errorf("the page cache holds %q, %v: its write must stand", got, err)
		}
	}
}

func TestCrashAtOperationNHappensBeforeItsEffect(t *testing.T) {
	const create, write, send, operations = 1, 2, 3, 6
	for op := 1; op <= operations; op++ {
		s := newStage(t, Options{})
		s.add(2, "b:2", on(node.Data0, follower()), logsLane())
		s.run(time.Second)
		s.must(s.Crash(2, "data-0", op, false))
		s.add(1, "", on(node.App, caller("b:2", 1)))
		s.run(time.Minute)
		all := strings.Join(s.lines, "\n")
		content, err := s.machines[0].disk.ReadFile(faultdisk.Cached, "log")
		if (err == nil) != (op > create) || (string(content) == "record") != (op > write) {
			t.Errorf("op %d: the file holds %q, %v", op, content, err)
		}
		if strings.Contains(all, "answer 1") != (op > send) {
			t.Errorf("op %d: answered is %v", op, op <= send)
		}
		if strings.Contains(all, "logs saw") || strings.Contains(all, "timer") {
			t.Errorf("op %d: a lane of the dead process went on", op)
		}
		if want := fmt.Sprintf("died crash data-0 op %d kill", op); !strings.Contains(all, want) {
			t.Errorf("op %d: no %q in\n%s", op, want, all)
		}
		if s.Stats().Faults[FaultCrash] != (FaultCount{1, 1}) {
			t.Errorf("op %d: counts %+v", op, s.Stats().Faults[FaultCrash])
		}
	}
}

func TestCrashOrderedWhileTheNodeIsDownStrikesBeforeAnOperationOfItsNextStart(t *testing.T) {
	for op := 1; op <= 3; op++ {
		s := newStage(t, Options{})
		s.add(2, "", on(node.Data0, &script{start: func(env node.Env) {
			for i := range 2 {
				say(env, "recovery %d", i)
				if _, err := env.FS().List(""); err != nil {
					panic(err)
				}
			}
			say(env, "recovered")
		}}))
		s.run(time.Second)
		s.must(s.Kill(2))
		s.must(s.Crash(2, "data-0", op, false))
		s.run(time.Second)
		if got := s.Stats().Faults[FaultCrash]; got != (FaultCount{1, 0}) {
			t.Fatalf("op %d: counts %+v while the node is down", op, got)
		}
		for range 2 {
			s.must(s.Start(2))
			s.run(time.Second)
		}
		all := strings.Join(s.lines, "\n")
		struck := strings.Contains(all, fmt.Sprintf("died crash data-0 op %d kill", op))
		if struck != (op <= 2) || s.Stats().Faults[FaultCrash].Effective != uint64(strings.Count(all, "died crash")) {
			t.Errorf("op %d of 2: struck %v, counts %+v\n%s", op, struck, s.Stats().Faults[FaultCrash], all)
		}
		if got := strings.Count(all, "recovered"); got != 2 {
			t.Errorf("op %d: %d lives of 2 recovered: the first, and the last at the latest\n%s", op, got, all)
		}
	}
}

func TestCrashEndsWithTheLifeItWasOrderedFor(t *testing.T) {
	for _, down := range []bool{false, true} {
		s := newStage(t, Options{})
		s.add(2, "", on(node.Data0, &script{start: func(env node.Env) { env.SetTimer(time.Minute) }}))
		s.run(time.Second)
		if down {
			s.must(s.Kill(2))
		}
		s.must(s.Crash(2, "data-0", 2, false))
		if down {
			s.must(s.Start(2))
		}
		s.run(time.Second)
		s.must(s.Kill(2))
		for range 2 {
			s.must(s.Start(2))
			s.run(time.Second)
		}
		if all := strings.Join(s.lines, "\n"); strings.Contains(all, "died crash") {
			t.Errorf("ordered while down %v: a later life died of it\n%s", down, all)
		}
	}
}

func TestPowerCrashLosesTheUnsyncedWrite(t *testing.T) {
	lost := 0
	for seed := uint64(0); seed < 20; seed++ {
		s := newStage(t, Options{Seed: seed})
		s.add(2, "b:2", on(node.Data0, follower()), logsLane())
		s.run(time.Second)
		s.must(s.Crash(2, "data-0", 3, true))
		s.add(1, "", on(node.App, caller("b:2", 1)))
		s.run(time.Minute)
		if got, err := s.machines[0].disk.ReadFile(faultdisk.Cached, "log"); err != nil || string(got) != "record" {
			lost++
		}
	}
	if lost == 0 || lost == 20 {
		t.Fatalf("%d of 20 power losses lost the write", lost)
	}
}

func TestKernelCompletesTheSyncsOfAKilledProcessUnlessTheyWereNeverAskedFor(t *testing.T) {
	for _, c := range []struct {
		stalled  bool // the write before the sync lasts beyond the kill
		survives bool
	}{{false, true}, {true, false}} {
		s := newStage(t, Options{})
		s.add(1, "", on(node.Data0, &script{
			start: func(env node.Env) {
				if _, err := env.FS().Create("f"); err != nil {
					panic(err)
				}
				env.FS().SyncDir(1, "")
			},
			posted: func(env node.Env, _ any) {
				f, err := env.FS().Open("f")
				if err == nil {
					_, err = f.WriteAt([]byte("record"), 0)
				}
				if err != nil {
					panic(err)
				}
				f.Sync(2)
			},
			synced: func(env node.Env, token disk.Token, _ error) { say(env, "synced %d", token) },
		}))
		s.run(time.Second)
		if c.stalled {
			s.must(s.Stall(1, time.Second))
		}
		s.must(s.Post(1, node.Data0, nil))
		s.run(200 * time.Microsecond)
		s.must(s.Kill(1))
		s.run(10 * time.Second)
		s.must(s.Power(1, faultdisk.LoseAll))
		got, err := s.machines[0].disk.ReadFile(faultdisk.Cached, "f")
		if err != nil || (string(got) == "record") != c.survives {
			t.Errorf("stalled %v: after the power loss the file holds %q, %v", c.stalled, got, err)
		}
		if slices.ContainsFunc(s.said(), func(l string) bool { return strings.Contains(l, "synced 2") }) {
			t.Errorf("stalled %v: a dead lane was told of a sync", c.stalled)
		}
	}
}

func TestExitEndsTheProcessWithItsReason(t *testing.T) {
	for reason, want := range map[string]string{"disk is gone": "died exit: disk is gone", cleanExit: "died stop"} {
		s := newStage(t, Options{})
		s.add(1, "", on(node.Lifecycle, &script{posted: func(env node.Env, v any) {
			if v == (node.Stop{}) {
				say(env, "stopping")
				env.Exit(reason)
				say(env, "not said")
			}
		}}))
		s.must(s.Stop(1))
		s.run(time.Second)
		all := strings.Join(s.lines, "\n")
		if !strings.Contains(all, want) || !strings.Contains(all, "stopping") || strings.Contains(all, "not said") {
			t.Errorf("trace\n%s\nwant %q", all, want)
		}
	}
}

func TestNextLifeStartsAnewWithTheSameDisk(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "", on(node.Data0, &script{start: func(env node.Env) {
		_, err := env.FS().Create("f")
		say(env, "create: %v, draw %d", err == nil, env.Rand("site")%1000)
		env.SetTimer(time.Minute)
	}, fire: func(env node.Env, id node.TimerID) { say(env, "timer %d", id) }}))
	s.run(time.Second)
	s.must(s.Kill(1))
	s.must(s.Start(1))
	s.run(10 * time.Minute)
	s.must(s.Wipe(1))
	s.must(s.Start(1))
	s.run(time.Second)
	var created, timers int
	for _, l := range s.said() {
		created += strings.Count(l, "create: true")
		timers += strings.Count(l, "timer 1")
	}
	if created != 2 || timers != 1 {
		t.Fatalf("created %d times, %d timers: %v", created, timers, s.said())
	}
	if a, b := s.said()[0], s.said()[1]; a[strings.Index(a, "draw"):] == b[strings.Index(b, "draw"):] {
		t.Fatal("two lives drew from one stream")
	}
}

func TestPanicOfANodeStopsTheRunWithSeedAndEvent(t *testing.T) {
	s := newStage(t, Options{Seed: 42})
	s.add(1, "", on(node.Router, &script{
		start: func(env node.Env) { env.SetTimer(time.Second) },
		fire:  func(node.Env, node.TimerID) { panic("HW 5 above log end 4") },
	}))
	if s.Run(int64(time.Minute)) || s.Step() {
		t.Fatal("the run went on")
	}
	f := s.Failure()
	if f == nil || f.Seed != 42 || f.Event == 0 || f.Node != 1 || f.Lane != node.Router || !strings.Contains(f.Error(), "HW 5 above log end 4") {
		t.Fatalf("failure %+v", f)
	}
	if last := s.lines[len(s.lines)-1]; !strings.Contains(last, "invariant router: HW 5") {
		t.Fatalf("the trace ends with %q", last)
	}
}

func TestDebugLetsThePanicOfANodeThroughAndDeathsNot(t *testing.T) {
	s := newStage(t, Options{Debug: true})
	s.add(1, "", on(node.Router, &script{start: func(env node.Env) { env.Exit("disk is gone") }}))
	s.add(2, "", on(node.Router, &script{
		start: func(env node.Env) { env.SetTimer(time.Second) },
		fire:  func(node.Env, node.TimerID) { panic("broken") },
	}))
	s.run(100 * time.Millisecond)
	defer func() {
		if r := recover(); r != "broken" {
			t.Fatalf("recovered %v", r)
		}
	}()
	s.Run(int64(time.Minute))
	t.Fatal("the panic was contained")
}

func TestPortIsHeldToItsWord(t *testing.T) {
	var leaked node.Env
	for want, p := range map[string]*script{
		"no request in work": {
			receive: func(env node.Env, c node.ConnID, m *node.Message) { env.Send(c, answer(m)); env.Send(c, answer(m)) }},
		"something other than the response": {
			receive: func(env node.Env, c node.ConnID, m *node.Message) { m.CorrelationID++; env.Send(c, answer(m)) }},
		"answers or releases": {
			receive: func(env node.Env, c node.ConnID, m *node.Message) { env.Send(c, answer(m)); env.Release(c) }},
		"which node 1 does not have": {
			receive: func(env node.Env, c node.ConnID, m *node.Message) { env.Post(node.Data(3), nil) }},
		"outside of a callback": {
			start:   func(env node.Env) { leaked = env },
			receive: func(env node.Env, c node.ConnID, m *node.Message) {}},
	} {
		s := newStage(t, Options{})
		other := &script{receive: p.receive}
		if p.start != nil {
			s.add(2, "", on(node.Router, p))
			other.receive = func(node.Env, node.ConnID, *node.Message) { leaked.SetTimer(0) }
		}
		s.add(1, "b:1", on(node.Router, other))
		s.add(1001, "", on(node.App, caller("b:1", 1)))
		if s.Run(int64(time.Second)) || !strings.Contains(s.Failure().Text, want) {
			t.Errorf("failure %v, want %q", s.Failure(), want)
		}
	}
}

func TestBodyWrittenAfterSendStopsTheRun(t *testing.T) {
	for _, verify := range []bool{true, false} {
		s := newStage(t, Options{VerifyBodies: verify})
		var sent *node.Message
		s.add(1, "b:1", on(node.Router, server()))
		s.add(1001, "", on(node.App, &script{
			start: func(env node.Env) {
				sent = request(1)
				env.Send(env.Dial("b:1"), sent)
				env.SetTimer(0)
			},
			fire: func(node.Env, node.TimerID) { sent.ClientID = "changed" },
		}))
		if ok := s.Run(int64(time.Second)); ok == verify {
			t.Errorf("verify %v: the run went through: %v", verify, ok)
		}
		if verify && !strings.Contains(s.Failure().Text, "after Send") {
			t.Errorf("failure %v", s.Failure())
		}
	}
}

func TestReceiverMayWriteIntoItsOwnCopy(t *testing.T) {
	s := newStage(t, Options{VerifyBodies: true})
	s.add(1, "b:1", on(node.Router, &script{receive: func(env node.Env, c node.ConnID, m *node.Message) {
		clear(m.Request.AppendTo(nil))
		env.Send(c, answer(m))
	}}))
	s.add(1001, "", on(node.App, caller("b:1", 1)))
	s.run(time.Second)
}

// Two runs of one seed do the same, with every fault in them; another seed does
// something else.
func TestOneSeedGivesOneRun(t *testing.T) {
	run := func(seed uint64) (uint64, []string) {
		var journal []string
		w := pingPong(Options{Seed: seed, Journal: func(e Entry) { journal = append(journal, e.String()) }})
		w.Observe(func(*event.Event) {})
		for i := range 40 {
			at := int64(i+1) * int64(10*time.Millisecond)
			w.Run(at)
			id := kafka.BrokerID(1001 + w.Rand("who")%3)
			l := Link{id, 1}
			for _, err := range []error{
				[]func() error{
					func() error { return w.Cut(l) }, func() error { return w.Heal(l) }, func() error { return w.Reset(l) },
					func() error { return w.HalfOpen(l) }, func() error { return w.Kill(id) }, func() error { return w.Start(id) },
					func() error { return w.Power(1, 0) }, func() error { return w.Start(1) }, func() error { return w.Pause(id) },
					func() error { return w.Resume(id) },
				}[w.Rand("what")%10](),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		w.Checkpoint()
		return w.Digest(), journal
	}
	a, first := run(7)
	b, second := run(7)
	if a != b || !slices.Equal(first, second) {
		t.Fatal("two runs of one seed differ")
	}
	if c, _ := run(8); c == a {
		t.Fatal("another seed gave the same run")
	}
	if len(first) < 100 || !strings.Contains(first[len(first)-1], "checkpoint") {
		t.Fatalf("a journal of %d lines, the last is %q", len(first), first[len(first)-1])
	}
}

func TestNewDrawInOnePlaceMovesNoOther(t *testing.T) {
	draws := func(extra int) (seen []uint64) {
		s := newStage(t, Options{Seed: 5})
		s.add(1, "", on(node.Router, &script{start: func(env node.Env) {
			for range extra {
				env.Rand("new site")
			}
			seen = append(seen, env.Rand("a"), env.Rand("a"), env.Rand("b"))
		}}), on(node.Quorum, &script{start: func(env node.Env) { seen = append(seen, env.Rand("a")) }}))
		s.run(time.Second)
		return seen
	}
	plain := draws(0)
	if !slices.Equal(plain, draws(3)) {
		t.Fatal("draws of a new site moved those of others")
	}
	slices.Sort(plain)
	if len(slices.Compact(plain)) != 4 {
		t.Fatal("two streams drew the same")
	}
}

func TestDigestSeesTheBytesOfEveryMessage(t *testing.T) {
	digest := func(epoch int64) uint64 {
		w := New(Options{})
		quiet := &script{receive: func(env node.Env, c node.ConnID, _ *node.Message) { env.Release(c) }}
		client := &script{start: func(env node.Env) {
			m := request(1)
			m.Request.(*kmsg.BrokerHeartbeatRequest).BrokerEpoch = epoch
			env.Send(env.Dial("b:1"), m)
		}}
		for i, p := range []*script{quiet, client} {
			w.AddNode(NodeConfig{ID: kafka.BrokerID(i + 1), Boot: func(BootInfo) node.Spec {
				return node.Spec{Lanes: []node.LaneSpec{{Lane: node.App, Process: p}},
					Listen: []node.ListenSpec{{Addr: fmt.Sprintf("b:%d", i+1), Lane: node.App}}}
			}})
			if err := w.Start(kafka.BrokerID(i + 1)); err != nil {
				t.Fatal(err)
			}
		}
		w.Run(int64(time.Second))
		return w.Digest()
	}
	if digest(1) == digest(2) || digest(1) != digest(1) {
		t.Fatal("two messages that differ in one field give one digest")
	}
}

func TestDigestSeesOneTimerOneMessageAndOneStoredByte(t *testing.T) {
	state := func(ids []int32, flip func(*World)) uint64 {
		s := newStage(t, Options{Net: simnet.Config{Base: int64(time.Second)}})
		s.add(1, "b:1", on(node.Data0, &script{start: func(env node.Env) {
			f, err := env.FS().Create("f")
			if err == nil {
				_, err = f.WriteAt([]byte("byte"), 0)
			}
			if err != nil {
				panic(err)
			}
			env.SetTimer(time.Hour)
		}}))
		s.add(1001, "", on(node.App, caller("b:1", ids...)))
		s.run(2500 * time.Millisecond)
		flip(s.World)
		s.Checkpoint()
		return s.Digest()
	}
	nothing := func(*World) {}
	base := state([]int32{1}, nothing)
	if state([]int32{1}, nothing) != base {
		t.Fatal("the digest is not stable")
	}
	if state([]int32{2}, nothing) == base {
		t.Error("a message on its way does not show")
	}
	if state([]int32{1}, func(w *World) { w.FlipTimer() }) == base {
		t.Error("a timer does not show")
	}
	if state([]int32{1}, func(w *World) { w.FlipByte(1, "data-0", "f") }) == base {
		t.Error("a stored byte does not show")
	}
}
