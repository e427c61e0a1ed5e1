package sim

import (
	"testing"
	"time"

	"tidemark/model/kafka"
	"tidemark/node"
)

// pingPong is a server and three clients that send it heartbeats for ever, a
// timeout each, as Kafka's network client does.
func pingPong(o Options) *World {
	w := New(o)
	w.AddNode(NodeConfig{ID: 1, Boot: func(BootInfo) node.Spec {
		return node.Spec{ID: 1, Listen: []node.ListenSpec{{Addr: "b:1", Lane: node.Router}},
			Lanes: []node.LaneSpec{{Lane: node.Router, Process: &script{
				receive: func(env node.Env, c node.ConnID, m *node.Message) { env.Send(c, answer(m)) },
			}}}}
	}})
	for id := kafka.BrokerID(1001); id < 1004; id++ {
		w.AddNode(NodeConfig{ID: id, Boot: func(BootInfo) node.Spec {
			var timeout node.TimerID
			var n int32
			next := func(env node.Env, c node.ConnID) {
				n++
				timeout = env.SetTimer(30 * time.Second)
				env.Send(c, request(n))
			}
			return node.Spec{ID: id, Lanes: []node.LaneSpec{{Lane: node.App, Process: &script{
				start: func(env node.Env) { next(env, env.Dial("b:1")) },
				receive: func(env node.Env, c node.ConnID, _ *node.Message) {
					env.CancelTimer(timeout)
					next(env, c)
				},
			}}}}
		}})
	}
	for _, m := range w.machines {
		if err := w.Start(m.cfg.ID); err != nil {
			panic(err)
		}
	}
	return w
}

func BenchmarkWorld(b *testing.B) {
	w := pingPong(Options{Seed: 1})
	w.Run(int64(time.Second))
	b.ReportAllocs()
	b.ResetTimer()
	before := w.Stats()
	start := time.Now()
	for b.Loop() {
		w.Step()
	}
	s := w.Stats()
	b.ReportMetric(float64(s.Events-before.Events)/time.Since(start).Seconds(), "events/s")
	b.ReportMetric(float64(s.Callbacks-before.Callbacks)/float64(s.Events-before.Events), "callbacks/event")
}

// BenchmarkTimers is the queue and the lanes without messages.
func BenchmarkTimers(b *testing.B) {
	w := New(Options{})
	w.AddNode(NodeConfig{ID: 1, Boot: func(BootInfo) node.Spec {
		return node.Spec{ID: 1, Lanes: []node.LaneSpec{{Lane: node.Router, Process: &script{
			start: func(env node.Env) {
				for range 1000 {
					env.SetTimer(time.Millisecond)
				}
			},
			fire: func(env node.Env, _ node.TimerID) { env.SetTimer(10 * time.Millisecond) },
		}}}}
	}})
	if err := w.Start(1); err != nil {
		b.Fatal(err)
	}
	w.Run(int64(time.Second))
	b.ReportAllocs()
	for b.Loop() {
		w.Step()
	}
}

func TestSchedulingAllocatesNothing(t *testing.T) {
	w := New(Options{})
	w.AddNode(NodeConfig{ID: 1, Boot: func(BootInfo) node.Spec {
		return node.Spec{ID: 1, Lanes: []node.LaneSpec{{Lane: node.Router, Process: &script{
			start: func(env node.Env) { env.SetTimer(time.Millisecond) },
			fire: func(env node.Env, _ node.TimerID) {
				env.CancelTimer(env.SetTimer(time.Second))
				env.Post(node.Quorum, nil)
				env.SetTimer(time.Millisecond)
			},
		}}, {Lane: node.Quorum, Process: &script{}}}}
	}})
	if err := w.Start(1); err != nil {
		t.Fatal(err)
	}
	w.Run(int64(time.Minute))
	if n := testing.AllocsPerRun(1000, func() { w.Step() }); n != 0 {
		t.Fatalf("%v allocations for an event", n)
	}
}
