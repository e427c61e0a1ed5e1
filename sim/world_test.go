package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/net/simnet"
	"tidemark/node"
)

// flipHost lets a test touch a disk that no lane uses.
type flipHost struct{}

func (flipHost) Now() int64                               { return 0 }
func (flipHost) Charge(int64)                             {}
func (flipHost) Step()                                    {}
func (flipHost) Complete(disk.Token, int64, simdisk.Sync) {}

// script is a Process made of functions; those that are nil do nothing.
type script struct {
	env          node.Env
	start        func(node.Env)
	receive      func(node.Env, node.ConnID, *node.Message)
	posted       func(node.Env, any)
	fire         func(node.Env, node.TimerID)
	synced       func(node.Env, disk.Token, error)
	disconnected func(node.Env, node.ConnID)
}

func (s *script) Start(env node.Env) {
	s.env = env
	if s.start != nil {
		s.start(env)
	}
}
func (s *script) Receive(c node.ConnID, m *node.Message) {
	if s.receive != nil {
		s.receive(s.env, c, m)
	}
}
func (s *script) Posted(_ node.Lane, v any) {
	if s.posted != nil {
		s.posted(s.env, v)
	}
}
func (s *script) Fire(t node.TimerID) {
	if s.fire != nil {
		s.fire(s.env, t)
	}
}
func (s *script) Synced(t disk.Token, err error) {
	if s.synced != nil {
		s.synced(s.env, t, err)
	}
}
func (s *script) Disconnected(c node.ConnID) {
	if s.disconnected != nil {
		s.disconnected(s.env, c)
	}
}

// stage is a World with a trace that tests read as lines.
type stage struct {
	*World
	t     *testing.T
	lines []string
}

func newStage(t *testing.T, o Options) *stage {
	if o.Net == (simnet.Config{}) {
		o.Net = simnet.Config{Base: int64(time.Millisecond)}
	}
	s := &stage{World: New(o), t: t}
	s.Observe(func(e *event.Event) {
		s.lines = append(s.lines, fmt.Sprintf("%v %d %v %s", time.Duration(e.At).Round(time.Microsecond), e.Node, e.Kind, e.Text))
	})
	return s
}

// add makes a node of these lanes, listening at addr if it is given, and boots it.
func (s *stage) add(id kafka.BrokerID, addr string, lanes ...node.LaneSpec) {
	s.t.Helper()
	s.AddNode(NodeConfig{ID: id, Disk: true, Boot: func(BootInfo) node.Spec {
		spec := node.Spec{ID: id, Lanes: lanes}
		if addr != "" {
			spec.Listen = []node.ListenSpec{{Addr: addr, Lane: lanes[0].Lane}}
		}
		return spec
	}})
	s.must(s.Start(id))
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// run goes on for d and demands that nothing broke.
func (s *stage) run(d time.Duration) {
	s.t.Helper()
	if !s.Run(s.Now() + int64(d)) {
		s.t.Fatalf("the run stopped: %v", s.Failure())
	}
}

// said returns the Effect texts of the trace, with their times.
func (s *stage) said() []string {
	var out []string
	for _, l := range s.lines {
		if at, text, ok := strings.Cut(l, "effect "); ok {
			out = append(out, strings.Fields(at)[0]+" "+text)
		}
	}
	return out
}

func (s *stage) expect(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.said()); diff != "" {
		s.t.Fatalf("what the nodes said (-want +got):\n%s", diff)
	}
}

func say(env node.Env, format string, args ...any) {
	e := event.New(event.Effect)
	e.Text = fmt.Sprintf(format, args...)
	env.Emit(&e)
}

func on(l node.Lane, p *script) node.LaneSpec {
	return node.LaneSpec{Lane: l, Process: p, Disk: l != node.Lifecycle}
}

// request is a small request that carries a number.
func request(id int32) *node.Message {
	r := kmsg.NewPtrBrokerHeartbeatRequest()
	r.Version, r.BrokerID = 1, id
	return &node.Message{CorrelationID: id, ClientID: "t", Request: r}
}

func answer(m *node.Message) *node.Message { return m.Reply(kmsg.NewPtrBrokerHeartbeatResponse()) }

// server answers everything at once and says what it heard.
func server() *script {
	return &script{
		receive: func(env node.Env, c node.ConnID, m *node.Message) {
			say(env, "heard %d", m.CorrelationID)
			env.Send(c, answer(m))
		},
		disconnected: func(env node.Env, c node.ConnID) { say(env, "server lost %d", c) },
	}
}

// caller dials at start and sends these requests.
func caller(addr string, ids ...int32) *script {
	return &script{
		start: func(env node.Env) {
			c := env.Dial(addr)
			for _, id := range ids {
				env.Send(c, request(id))
			}
		},
		receive:      func(env node.Env, c node.ConnID, m *node.Message) { say(env, "answer %d", m.CorrelationID) },
		disconnected: func(env node.Env, c node.ConnID) { say(env, "lost %d", c) },
	}
}

func TestRequestIsAnsweredAfterAHandshakeAndTwoTrips(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "b:1", on(node.Router, server()))
	s.add(1001, "", on(node.App, caller("b:1", 7)))
	s.run(time.Second)
	s.expect("3.004ms heard 7", "4.006ms answer 7")
}

func TestCallbacksOfOneInstantRunInTheOrderOfTheirMaking(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "", on(node.Router, &script{
		start: func(env node.Env) {
			for range 5 {
				env.SetTimer(time.Millisecond)
			}
		},
		fire: func(env node.Env, id node.TimerID) { say(env, "timer %d", id) },
	}))
	s.run(time.Second)
	s.expect("1.004ms timer 1", "1.006ms timer 2", "1.008ms timer 3", "1.01ms timer 4", "1.012ms timer 5")
}

func TestPostsAreFIFOForEachPairOfLanes(t *testing.T) {
	s := newStage(t, Options{Seed: 3})
	var got []int
	s.add(1, "",
		on(node.Router, &script{start: func(env node.Env) {
			for i := range 50 {
				env.Post(node.Quorum, i)
			}
		}}),
		on(node.Quorum, &script{posted: func(_ node.Env, v any) { got = append(got, v.(int)) }}))
	s.run(time.Second)
	if len(got) != 50 || !slices.IsSorted(got) {
		t.Fatalf("posts came as %v", got)
	}
}

func TestStalledDiskUnderOneLaneHoldsUpNoOther(t *testing.T) {
	s := newStage(t, Options{})
	tick := func(name string, work func(node.Env)) *script {
		return &script{
			start: func(env node.Env) { env.SetTimer(time.Second) },
			fire: func(env node.Env, _ node.TimerID) {
				work(env)
				say(env, "%s", name)
				env.SetTimer(time.Second)
			},
		}
	}
	files := 0
	s.add(1, "",
		on(node.Data(0), tick("data", func(env node.Env) {
			files++
			if _, err := env.FS().Create(fmt.Sprint("f", files)); err != nil {
				t.Error(err)
			}
		})),
		on(node.Lifecycle, tick("heartbeat", func(node.Env) {})))
	s.run(1500 * time.Millisecond)
	s.lines = nil
	s.must(s.Stall(1, 3*time.Second))
	s.run(3400 * time.Millisecond)
	beats, writes := 0, 0
	for _, l := range s.said() {
		if strings.HasSuffix(l, "heartbeat") {
			beats++
		} else {
			writes++
		}
	}
	if beats != 3 || writes != 1 {
		t.Fatalf("%d heartbeats and %d writes during the stall: %v", beats, writes, s.said())
	}
}

func TestMailWaitsWhileItsLaneIsBusy(t *testing.T) {
	s := newStage(t, Options{CallbackCost: 10 * time.Millisecond})
	s.add(1, "", on(node.Router, &script{
		start: func(env node.Env) { env.SetTimer(0); env.SetTimer(0) },
		fire:  func(env node.Env, id node.TimerID) { say(env, "timer %d began at %v", id, env.Now()) },
	}))
	s.run(time.Second)
	s.expect("20ms timer 1 began at 10ms", "30ms timer 2 began at 20ms")
}

func TestCancelledTimerNeverFiresEvenIfItIsDueAlready(t *testing.T) {
	s := newStage(t, Options{CallbackCost: 10 * time.Millisecond})
	var second node.TimerID
	s.add(1, "", on(node.Router, &script{
		start: func(env node.Env) { env.SetTimer(0); second = env.SetTimer(0) },
		fire: func(env node.Env, id node.TimerID) {
			say(env, "timer %d", id)
			env.CancelTimer(second)
			env.CancelTimer(id)
		},
	}))
	s.run(time.Second)
	s.expect("20ms timer 1")
}

func TestCancelledTimerDoesNotFireTheOneThatTookItsPlace(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "", on(node.Router, &script{
		start: func(env node.Env) {
			env.CancelTimer(env.SetTimer(time.Millisecond))
			env.SetTimer(time.Second)
		},
		fire: func(env node.Env, id node.TimerID) { say(env, "timer") },
	}))
	s.run(time.Minute)
	s.expect("1.000004s timer")
}

func TestTimeoutsThatAreTakenBackDoNotPileUp(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "", on(node.Router, &script{
		start: func(env node.Env) { env.SetTimer(time.Microsecond) },
		fire: func(env node.Env, _ node.TimerID) {
			for range 10 {
				env.CancelTimer(env.SetTimer(time.Hour))
			}
			env.SetTimer(time.Microsecond)
		},
	}))
	s.run(100 * time.Millisecond)
	if s.Pending() > 2*sweepAbove {
		t.Fatalf("%d entries are pending", s.Pending())
	}
}

func TestConnectionHasOneRequestInWork(t *testing.T) {
	s := newStage(t, Options{})
	var parked *node.Message
	s.add(1, "b:1", on(node.Router, &script{
		receive: func(env node.Env, c node.ConnID, m *node.Message) {
			say(env, "heard %d", m.CorrelationID)
			switch m.CorrelationID {
			case 1:
				parked = m
				env.SetTimer(100 * time.Millisecond)
			case 2:
				env.Release(c)
			default:
				env.Send(c, answer(m))
			}
		},
		fire: func(env node.Env, _ node.TimerID) { env.Send(1, answer(parked)) },
	}))
	client := caller("b:1")
	client.start = func(env node.Env) {
		c := env.Dial("b:1")
		silent := kmsg.NewPtrProduceRequest()
		silent.Version, silent.Acks = 12, 0
		env.Send(c, request(1))
		env.Send(c, &node.Message{CorrelationID: 2, Request: silent})
		env.Send(c, request(3))
	}
	s.add(1001, "", on(node.App, client))
	s.run(time.Second)
	s.expect("3.004ms heard 1", "103.008ms heard 2", "103.01ms heard 3", "104.008ms answer 1", "104.012ms answer 3")
}

func TestDialOfADeadOrSilentAddressIsRefused(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "", on(node.Router, server()))
	s.add(2, "b:2", on(node.Router, server()))
	s.must(s.Kill(2))
	s.add(1001, "", on(node.App, &script{
		start:        func(env node.Env) { env.Dial("nobody:1"); env.Dial("b:2") },
		disconnected: func(env node.Env, c node.ConnID) { say(env, "lost %d", c) },
	}))
	s.run(time.Second)
	s.expect("2.004ms lost 1", "2.006ms lost 2")
}

func TestDialAcrossACutFailsAfterTheConnectTimeout(t *testing.T) {
	s := newStage(t, Options{ConnectTimeout: 5 * time.Second})
	s.add(1, "b:1", on(node.Router, server()))
	s.add(1001, "", on(node.App, caller("b:1", 1)))
	s.must(s.Cut(Link{1, 1001}))
	s.run(time.Minute)
	s.expect("2.002ms cut 1 -> 1001", "5.000004s lost 1")
}

func TestKilledProcessClosesItsConnections(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "b:1", on(node.Router, server()))
	s.add(1001, "", on(node.App, caller("b:1", 1)))
	s.run(100 * time.Millisecond)
	s.must(s.Kill(1))
	s.run(time.Second)
	s.expect("3.004ms heard 1", "4.006ms answer 1", "101.002ms lost 1")
}

func TestPeerOfAPowerLossLearnsOnlyWhenItSendsAfterTheReboot(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "b:1", on(node.Router, server()))
	client := caller("b:1", 1)
	client.posted = func(env node.Env, _ any) { env.Send(1, request(2)) }
	s.add(1001, "", on(node.App, client))
	s.run(100 * time.Millisecond)
	s.must(s.Power(1, 0))
	s.must(s.Post(1001, node.App, nil))
	s.run(10 * time.Second)
	s.lines = nil
	s.must(s.Start(1))
	s.run(time.Second)
	s.expect("10.102002s lost 1")
}

func TestHalfOpenConnectionIsNoticedByTheNextMessage(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "b:1", on(node.Router, server()))
	client := caller("b:1", 1)
	client.posted = func(env node.Env, _ any) { env.Send(1, request(2)) }
	s.add(1001, "", on(node.App, client))
	s.run(100 * time.Millisecond)
	s.lines = nil
	s.must(s.HalfOpen(Link{1, 1001}))
	s.run(time.Minute)
	s.must(s.Post(1001, node.App, nil))
	s.run(time.Second)
	s.expect("100ms half-open 1 -> 1001", "100.002ms server lost 1", "1m0.102004s lost 1")
}

func TestHeldResponseKeepsThoseBehindItUntilRelease(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "b:1", on(node.Router, server()))
	s.add(1001, "", on(node.App, caller("b:1", 1, 2)))
	s.must(s.Hold(Match{Link: Link{1, 1001}, Key: 63, API: "brokerheartbeat", Response: true}))
	s.run(time.Second)
	s.must(s.Release(Link{1, 1001}))
	s.run(time.Second)
	s.expect("3.004ms heard 1", "3.006ms heard 2", "4.004ms hold 1 -> 1001", "1.001002s answer 1", "1.001004s answer 2")
	if f := s.Stats().Faults[FaultHold]; f != (FaultCount{1, 1}) {
		t.Fatalf("hold counts %+v", f)
	}
}

func TestFailedRequestResetsItsConnection(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "b:1", on(node.Router, server()))
	s.add(1001, "", on(node.App, caller("b:1", 1, 2)))
	s.must(s.Fail(Match{Link: Link{1001, 1}, Key: 63, API: "brokerheartbeat"}, 2))
	s.run(time.Second)
	s.expect("3.004ms heard 1", "3.004ms fail 1001 -> 1", "3.006ms lost 1", "3.006ms server lost 1")
}

func TestClosedConnectionIsNotReportedToItsCloserAndIsToItsPeer(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "b:1", on(node.Router, server()))
	client := caller("b:1", 1)
	client.receive = func(env node.Env, c node.ConnID, m *node.Message) {
		say(env, "answer %d", m.CorrelationID)
		env.Close(c)
		env.Send(c, request(2))
	}
	s.add(1001, "", on(node.App, client))
	s.run(time.Second)
	s.expect("3.004ms heard 1", "4.006ms answer 1", "5.008ms server lost 1")
}

func TestPausedProcessDoesNothingAndLosesNothing(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "b:1", on(node.Router, server()))
	s.add(1001, "", on(node.App, caller("b:1", 1)))
	s.must(s.Pause(1))
	s.run(time.Minute)
	s.expect()
	s.must(s.Resume(1))
	s.run(time.Second)
	s.expect("1m0.000004s heard 1", "1m0.001006s answer 1")
}

func TestWallClockJumpsAndDriftsAndTheMonotonicOneDoesNot(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "", on(node.Router, &script{posted: func(env node.Env, _ any) {
		say(env, "now %v wall %d", env.Now().Round(time.Millisecond), env.Wall()-Epoch)
	}}))
	look := func() {
		s.must(s.Post(1, node.Router, nil))
		s.run(time.Second)
	}
	look()
	s.must(s.ClockJump(1, -time.Hour))
	look()
	s.must(s.ClockDrift(1, 100_000))
	s.run(9 * time.Second)
	look()
	s.must(s.Kill(1))
	s.must(s.Start(1))
	look()
	got := s.said()
	want := []string{"4µs now 0s wall 0", "1.000002s now 1s wall -3599000",
		"11.000002s now 11s wall -3588100", "12.000004s now 0s wall -3587000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("clocks (-want +got):\n%s", diff)
	}
}

func TestUnknownTargetsAreClearErrors(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "", on(node.Router, server()))
	s.AddNode(NodeConfig{ID: 2})
	for want, err := range map[string]error{
		"there is no node 9":                         s.Kill(9),
		`node 1 has no lane "data-3": it has router`: s.Crash(1, "data-3", 1, false),
		"operations count from 1":                    s.Crash(1, "router", 0, false),
		"node 2 was never started":                   s.Crash(2, "router", 1, false),
		"a node reaches itself":                      s.Cut(Link{1, 1}),
		"node 1 has no lane \"app\"":                 s.Post(1, node.App, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestFaultWithoutAnEffectIsCountedAsSuch(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "", on(node.Router, server()))
	s.must(s.Start(1))
	s.must(s.Kill(1))
	s.must(s.Kill(1))
	s.must(s.Resume(1))
	st := s.Stats().Faults
	if st[FaultKill] != (FaultCount{2, 1}) || st[FaultStart] != (FaultCount{2, 1}) || st[FaultResume] != (FaultCount{1, 0}) {
		t.Fatalf("counts %+v", st)
	}
}
