package live

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tidemark/model/kafka"
	"tidemark/node"
)

func TestTimersFireInOrderOfTimeAndACancelledOneNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p script
		var fired []time.Duration
		due := map[node.TimerID]time.Duration{}
		var last node.TimerID
		p.start = func() {
			for _, d := range []time.Duration{30, 10, 20, 10, 0, -5, 40} {
				due[p.env.SetTimer(d*time.Second)] = d * time.Second
			}
			last = p.env.SetTimer(50 * time.Second)
			p.env.CancelTimer(last)
			p.env.CancelTimer(99)
		}
		p.fire = func(id node.TimerID) {
			if id == last {
				t.Error("a cancelled timer fired")
			}
			if p.env.Now() != max(due[id], 0) {
				t.Errorf("the timer of %v fired at %v", due[id], p.env.Now())
			}
			fired = append(fired, due[id]/time.Second)
		}
		n := run(t, one(node.App, &p), Options{})
		time.Sleep(time.Minute)
		n.Kill()
		if want := []time.Duration{0, -5, 10, 10, 20, 30, 40}; !slices.Equal(fired, want) {
			t.Errorf("fired %v, want %v", fired, want)
		}
	})
}

func TestTimerThatIsDueAlreadyNeverFiresOnceItIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p script
		var second node.TimerID
		p.start = func() {
			p.env.SetTimer(time.Second)
			second = p.env.SetTimer(time.Second)
		}
		p.fire = func(id node.TimerID) {
			if id == second {
				t.Error("a cancelled timer fired")
			}
			p.env.CancelTimer(second)
		}
		n := run(t, one(node.App, &p), Options{})
		time.Sleep(time.Minute)
		n.Kill()
	})
}

func TestManyTimersThatAreCancelledTakeNoRoom(t *testing.T) {
	ts := timers{set: map[node.TimerID]struct{}{}}
	ts.add(time.Hour)
	for range 100_000 {
		ts.cancel(ts.add(time.Minute))
	}
	if len(ts.heap) > 2*sweepAbove {
		t.Errorf("%d timers are kept for one that is set", len(ts.heap))
	}
	if at, ok := ts.next(); !ok || at != time.Hour {
		t.Errorf("the next timer is at %v, %v", at, ok)
	}
}

func TestTimersAndMailTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p script
		var posts, fires int
		p.start = func() {
			p.env.SetTimer(0)
			p.env.Post(node.App, nil)
		}
		p.fire = func(node.TimerID) { // sets itself again for at once
			fires++
			p.env.SetTimer(0)
		}
		p.posted = func(node.Lane, any) { // posts itself again
			posts++
			if posts == 1000 {
				p.env.Exit("done")
			}
			p.env.Post(node.App, nil)
		}
		run(t, one(node.App, &p), Options{}).Wait()
		if fires < 990 || fires > 1010 {
			t.Errorf("%d timers fired among %d posts", fires, posts)
		}
	})
}

func TestClocksAreSampledOnceForEachCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p script
		start := time.Now().UnixMilli()
		p.start = func() { p.env.SetTimer(2 * time.Second) }
		p.fire = func(node.TimerID) {
			for range 2 {
				if now, wall := p.env.Now(), p.env.Wall(); now != 2*time.Second || wall != kafka.Timestamp(start+2000) {
					t.Errorf("now %v, wall %d", now, wall)
				}
				time.Sleep(time.Second)
			}
			if p.env.SetTimer(0); p.env.Now() == 2*time.Second {
				p.fire = func(node.TimerID) {
					if now := p.env.Now(); now != 4*time.Second {
						t.Errorf("the next callback is at %v", now)
					}
				}
			}
		}
		n := run(t, one(node.App, &p), Options{})
		time.Sleep(time.Minute)
		n.Kill()
	})
}

func TestNodeGoesByTheClockThatItIsGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		real := realClock()
		slow := func() (time.Duration, kafka.Timestamp) {
			now, _ := real()
			return now / 2, 77
		}
		var p script
		start := time.Now()
		p.start = func() { p.env.SetTimer(10 * time.Second) }
		p.fire = func(node.TimerID) {
			if d := time.Since(start); d != 20*time.Second || p.env.Wall() != 77 {
				t.Errorf("a timer of 10 s fired after %v, the wall shows %d", d, p.env.Wall())
			}
			p.env.Exit("done")
		}
		run(t, one(node.App, &p), Options{Clock: slow}).Wait()
	})
}

func TestPostsKeepTheirOrderForEachPairOfLanes(t *testing.T) {
	const count = 20_000
	var spec node.Spec
	sender := func(lane node.Lane) {
		p := &script{}
		p.posted = func(node.Lane, any) {
			for i := range count {
				p.env.Post(node.Router, i)
			}
		}
		spec.Lanes = append(spec.Lanes, node.LaneSpec{Lane: lane, Process: p})
	}
	sender(node.Data(0))
	sender(node.Data(1))
	var p script
	next := map[node.Lane]int{}
	p.posted = func(from node.Lane, msg any) {
		if msg != next[from] {
			t.Errorf("post %v of %v came, want %d", msg, from, next[from])
			p.env.Exit("disorder")
		}
		next[from]++
		if next[node.Data(0)] == count && next[node.Data(1)] == count {
			p.env.Exit("done")
		}
	}
	spec.Lanes = append(spec.Lanes, node.LaneSpec{Lane: node.Router, Process: &p})
	n := run(t, spec, Options{})
	post(t, n, node.Data(0), nil)
	post(t, n, node.Data(1), nil)
	n.Wait()
}

func TestStartsComeOneAfterAnotherInTheOrderOfTheSpec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var spec node.Spec
		var order []node.Lane
		var starting atomic.Int32
		lanes := []node.Lane{node.Logs, node.Quorum, node.Router, node.Data(0)}
		for _, lane := range lanes {
			p := &script{}
			p.start = func() {
				if starting.Add(1) > 1 {
					t.Errorf("%v starts before the lane before it has started", lane)
				}
				time.Sleep(time.Second)
				starting.Add(-1)
				order = append(order, lane)
				if lane == node.Data(0) {
					p.env.Exit("done")
				}
			}
			spec.Lanes = append(spec.Lanes, node.LaneSpec{Lane: lane, Process: p})
		}
		run(t, spec, Options{}).Wait()
		if !slices.Equal(order, lanes) {
			t.Errorf("started %v, want %v", order, lanes)
		}
	})
}

func TestDrawsOfOneSiteAreMovedByNoOther(t *testing.T) {
	draws := func(seed uint64, lane node.Lane, noise int) (got [3]uint64) {
		var p script
		p.start = func() {
			for i := range got {
				for range noise {
					p.env.Rand("noise")
				}
				got[i] = p.env.Rand("site")
			}
			p.env.Exit("done")
		}
		run(t, one(lane, &p), Options{Seed: seed}).Wait()
		return got
	}
	want := draws(1, node.App, 0)
	if got := draws(1, node.App, 3); got != want {
		t.Errorf("%v with noise, %v without", got, want)
	}
	if got := draws(2, node.App, 0); got == want {
		t.Error("another seed gives the same draws")
	}
	if got := draws(1, node.Router, 0); got == want {
		t.Error("another lane has the same draws")
	}
	if draws(0, node.App, 0) == draws(0, node.App, 0) {
		t.Error("two lives without a seed have the same draws")
	}
}
