package live

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
)

func TestExitEndsTheNodeAndDoesNotReturn(t *testing.T) {
	for reason, epitaph := range map[string]string{
		"the disk is gone":    "exit: the disk is gone",
		"controlled shutdown": "stop",
	} {
		var tr trace
		var p, other script
		p.posted = func(node.Lane, any) {
			p.env.Exit(reason)
			t.Error("Exit returned")
		}
		spec := one(node.Lifecycle, &p)
		spec.Lanes = append(spec.Lanes, node.LaneSpec{Lane: node.Router, Process: &other})
		n := run(t, spec, Options{Emit: tr.emit})
		post(t, n, node.Lifecycle, node.Stop{})
		if got := n.Wait(); got != reason {
			t.Errorf("Wait gave %q, want %q", got, reason)
		}
		n.Kill() // the dead stay as they are
		last := tr.events[len(tr.events)-1]
		if tr.events[0].Kind != event.Boot || last.Kind != event.Died || last.Text != epitaph || len(tr.events) != 2 {
			t.Errorf("the trace ends with %v %q, want died %q", last.Kind, last.Text, epitaph)
		}
		post(t, n, node.Router, "dropped")
	}
}

func TestKilledNodeDoesNothingMoreThoughItsCallbackGoesOn(t *testing.T) {
	dir := t.TempDir()
	var p script
	entered, killed := make(chan struct{}), make(chan struct{})
	p.start = func() {
		f, err := p.env.FS().Create("log")
		if err != nil {
			t.Error(err)
		}
		f.WriteAt([]byte("before"), 0)
		close(entered)
		<-killed
		f.WriteAt([]byte("after!"), 0)
		t.Error("an operation of the dead returned")
	}
	spec := one(node.Quorum, &p)
	spec.Lanes[0].Disk = true
	n := run(t, spec, Options{Dir: dir})
	<-entered
	n.end(Killed, "kill")
	close(killed)
	if got := n.Wait(); got != Killed {
		t.Errorf("Wait gave %q", got)
	}

	var next script
	next.start = func() {
		f, err := next.env.FS().Open("log")
		if err != nil {
			t.Error(err)
			next.env.Exit("failed")
		}
		b := make([]byte, 6)
		if _, err := f.ReadAt(b, 0); err != nil || string(b) != "before" {
			t.Errorf("the next life reads %q: %v", b, err)
		}
		next.env.Exit("done")
	}
	spec.Lanes[0].Process = &next
	run(t, spec, Options{Dir: dir}).Wait()
}

func TestKillInTheMiddleOfTrafficLeavesNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := t.TempDir()
	for range 20 {
		var alive atomic.Bool
		alive.Store(true)
		addr := FreeAddr(t)
		var r, d, c script
		r.receive = func(conn node.ConnID, m *node.Message) { r.env.Post(node.Data(0), conn) }
		busy := make(chan struct{})
		conns := 0
		d.posted = func(_ node.Lane, msg any) {
			if !alive.Load() {
				t.Error("a callback of the dead ran")
			}
			if conns++; conns == 20 {
				close(busy)
			}
			d.env.FS().SyncDir(disk.Token(conns), "")
			r := event.New(event.Effect)
			d.env.Emit(&r)
			d.env.Post(node.Router, msg)
		}
		r.posted = func(_ node.Lane, msg any) { r.env.Send(msg.(node.ConnID), answer(metadata(1))) }
		spec := node.Spec{ID: 1, Lanes: []node.LaneSpec{{Lane: node.Router, Process: &r}, {Lane: node.Data0, Process: &d, Disk: true}},
			Listen: []node.ListenSpec{{Addr: addr, Lane: node.Router}}}
		n := run(t, spec, Options{Dir: dir, Emit: func(*event.Event) {
			if !alive.Load() {
				t.Error("the dead speak")
			}
		}})
		c.start = func() {
			for range 10 {
				c.env.Send(c.env.Dial(addr), metadata(1))
			}
		}
		c.receive = func(conn node.ConnID, _ *node.Message) { c.env.Send(conn, metadata(1)) }
		client := run(t, one(node.App, &c), Options{})
		<-busy
		n.Kill()
		alive.Store(false)
		client.Kill()
	}
	for runtime.NumGoroutine() > before { // one that stays shows in the dump of -timeout
		runtime.Gosched()
	}
}

func TestSyncsComeBackToTheLane(t *testing.T) {
	var p script
	waiting := map[disk.Token]bool{1: true, 2: true, 3: true}
	p.start = func() {
		f, err := p.env.FS().Create("log")
		if err != nil {
			t.Error(err)
		}
		f.Sync(1)
		p.env.FS().SyncDir(2, "")
		p.env.FS().SyncDir(3, "gone")
	}
	p.synced = func(token disk.Token, err error) {
		if !waiting[token] || (err != nil) != (token == 3) {
			t.Errorf("token %d came back with %v", token, err)
		}
		if delete(waiting, token); len(waiting) == 0 {
			p.env.Exit("done")
		}
	}
	spec := one(node.Data0, &p)
	spec.Lanes[0].Disk = true
	run(t, spec, Options{Dir: t.TempDir()}).Wait()
}

func TestNodeThatCannotStartSaysWhyInOneLineAndHoldsNothing(t *testing.T) {
	dir := t.TempDir()
	var p script
	p.start = func() { p.env.FS() }
	spec := one(node.Quorum, &p)
	spec.Lanes[0].Disk = true
	fails := func(spec node.Spec, dir, want string) {
		t.Helper()
		_, err := Start(spec, Options{Dir: dir})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want one line with %q", err, want)
		}
	}
	fails(spec, "", "start node 1: it has lanes with a disk and no log directory")
	first := run(t, spec, Options{Dir: dir})
	fails(spec, dir, "another node has the log directory "+dir)
	first.Kill()

	_, addr := server(t, &script{})
	taken := spec
	taken.Listen = []node.ListenSpec{{Addr: addr, Lane: node.Quorum}}
	fails(taken, dir, "start node 1: listen at "+addr)
	run(t, spec, Options{Dir: dir})
	if err := first.Post(node.App, nil); err == nil || err.Error() != "node 1 has no lane app" {
		t.Errorf("a post to a lane that is not there gave %v", err)
	}
}

func TestTraceIsNumberedAndTheEmitterMayGoOnWithItsLists(t *testing.T) {
	var tr trace
	var p script
	p.start = func() {
		e := event.New(event.ISRApplied)
		e.ISR = []kafka.BrokerID{1, 2, 3}
		p.env.Emit(&e)
		e.ISR[0] = 9
		p.env.Emit(&e)
		p.env.Exit("done")
	}
	run(t, one(node.App, &p), Options{Emit: tr.emit}).Wait()
	if a, b := tr.events[1], tr.events[2]; a.ISR[0] != 1 || b.ISR[0] != 9 || a.Seq != 2 || b.Seq != 3 || a.Node != 1 || a.At > b.At {
		t.Errorf("emitted %+v and %+v", a, b)
	}
}

func TestSinkGetsOnlyTheKindsThatItWants(t *testing.T) {
	var tr trace
	var p script
	p.start = func() {
		for _, k := range []event.Kind{event.Appended, event.Ready, event.HighWatermarkMoved, event.Ready} {
			e := event.New(k)
			p.env.Emit(&e)
		}
		p.env.Exit("done")
	}
	run(t, one(node.App, &p), Options{Emit: tr.emit, Wants: func(k event.Kind) bool { return k == event.Ready }}).Wait()
	if len(tr.events) != 2 || tr.events[0].Kind != event.Ready || tr.events[1].Seq != 2 {
		t.Errorf("got %d events: %v", len(tr.events), tr.events)
	}
}
