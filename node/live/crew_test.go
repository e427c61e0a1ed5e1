package live

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"tidemark/net/wire"
	"tidemark/node"
)

// lanesOf are lanes with a disk each, in the order of their numbers.
func lanesOf(scripts map[node.Lane]*script) node.Spec {
	spec := node.Spec{ID: 1}
	for _, id := range []node.Lane{node.Router, node.Lifecycle, node.Data0} {
		if s := scripts[id]; s != nil {
			spec.Lanes = append(spec.Lanes, node.LaneSpec{Lane: id, Process: s, Disk: true})
		}
	}
	return spec
}

// In each of these a callback waits for one of another lane, as a disk that stalls
// would keep it waiting: if nobody runs the other one, the test is deadlocked.

func TestLaneThatWaitsForItsDiskKeepsNoOtherFromRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan struct{})
		var data, life script
		data.posted = func(node.Lane, any) {
			data.env.Post(node.Lifecycle, nil)
			if _, err := data.env.FS().Create("log"); err != nil {
				t.Error(err)
			}
			<-heard
			data.env.Exit("done")
		}
		life.posted = func(node.Lane, any) { close(heard) }
		n := run(t, lanesOf(map[node.Lane]*script{node.Data0: &data, node.Lifecycle: &life}), Options{Dir: t.TempDir()})
		post(t, n, node.Data0, nil)
		n.Wait()
	})
}

func TestLaneWithMoreToDoLeavesTheLaneThatItPostedToToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan struct{})
		var data, life script
		data.posted = func(_ node.Lane, msg any) {
			switch msg {
			case nil:
				data.env.Post(node.Data0, "the second")
				data.env.Post(node.Lifecycle, nil)
			default:
				<-heard
				data.env.Exit("done")
			}
		}
		life.posted = func(node.Lane, any) { close(heard) }
		n := run(t, lanesOf(map[node.Lane]*script{node.Data0: &data, node.Lifecycle: &life}), Options{Dir: t.TempDir()})
		post(t, n, node.Data0, nil)
		n.Wait()
	})
}

func TestLanesThatOneCallbackPostsToRunAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := make(chan struct{}), make(chan struct{})
		var data, life, router script
		data.posted = func(node.Lane, any) {
			data.env.Post(node.Lifecycle, nil)
			data.env.Post(node.Router, nil)
		}
		life.posted = func(node.Lane, any) {
			close(one)
			<-two
			life.env.Exit("done")
		}
		router.posted = func(node.Lane, any) {
			close(two)
			<-one
		}
		n := run(t, lanesOf(map[node.Lane]*script{node.Data0: &data, node.Lifecycle: &life, node.Router: &router}), Options{Dir: t.TempDir()})
		post(t, n, node.Data0, nil)
		n.Wait()
	})
}

func TestRequestIsAnsweredOnTheGoroutineThatReadIt(t *testing.T) {
	var p script
	runs := make(chan string, 1)
	p.receive = func(c node.ConnID, m *node.Message) {
		stack := make([]byte, 1<<16)
		runs <- string(stack[:runtime.Stack(stack, false)])
		p.env.Send(c, answer(m))
	}
	addr := FreeAddr(t)
	spec := one(node.Router, &p)
	spec.Listen = []node.ListenSpec{{Addr: addr, Lane: node.Router}}
	run(t, spec, Options{})
	ask(t, addr, metadata(1))
	if stack := <-runs; !strings.Contains(stack, "tcp.(*accepted).serve") {
		t.Errorf("another goroutine was woken for a small request to an idle lane:\n%s", stack)
	}
}

func TestOthersWorkKeepsNoConnectionFromItsNextRequest(t *testing.T) {
	var p script
	second := false
	p.receive = func(c node.ConnID, m *node.Message) {
		second = m.CorrelationID == 2
		p.env.Send(c, answer(m))
		if !second {
			p.env.Post(node.Router, 0)
		}
	}
	p.posted = func(_ node.Lane, msg any) { // work without end for the goroutine of the connection
		if n := msg.(int) + 1; !second {
			p.env.Post(node.Router, n)
		}
	}
	addr := FreeAddr(t)
	spec := one(node.Router, &p)
	spec.Listen = []node.ListenSpec{{Addr: addr, Lane: node.Router}}
	run(t, spec, Options{})
	ask(t, addr, metadata(1), metadata(2))
}

// ask sends requests at once and waits for the answers.
func ask(t *testing.T, addr string, requests ...*node.Message) {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, m := range requests {
		frame, err := wire.Encode(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := nc.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	for range requests {
		var size [4]byte
		if _, err := io.ReadFull(nc, size[:]); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, nc, int64(binary.BigEndian.Uint32(size[:]))); err != nil {
			t.Fatal(err)
		}
	}
}
