package live

import (
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"

	"tidemark/model/event"
	"tidemark/net/tcp"
	"tidemark/net/wire"
	"tidemark/node"
)

// server is a node that listens with its Router.
func server(t *testing.T, p *script) (*Node, string) {
	t.Helper()
	addr := FreeAddr(t)
	spec := one(node.Router, p)
	spec.Listen = []node.ListenSpec{{Addr: addr, Lane: node.Router}}
	return run(t, spec, Options{}), addr
}

func TestNodesPlayPingPong(t *testing.T) {
	const rounds = 500
	var s, c script
	s.receive = func(conn node.ConnID, m *node.Message) {
		if conn != 1 {
			t.Errorf("the first connection is %d", conn)
		}
		s.env.Send(conn, answer(m))
	}
	_, addr := server(t, &s)
	var conn node.ConnID
	c.start = func() {
		conn = c.env.Dial(addr)
		c.env.Send(conn, metadata(0))
	}
	c.receive = func(from node.ConnID, m *node.Message) {
		if from != conn || m.Response == nil {
			t.Errorf("connection %d brought %+v", from, m)
		}
		if m.CorrelationID == rounds {
			c.env.Exit("done")
		}
		c.env.Send(conn, metadata(m.CorrelationID+1))
	}
	run(t, one(node.App, &c), Options{}).Wait()
}

func TestPipelinedRequestsAreInWorkOneAtATimeAndAnsweredInOrder(t *testing.T) {
	const count, clients = 300, 4
	var s script
	inWork := map[node.ConnID]*node.Message{}
	s.receive = func(conn node.ConnID, m *node.Message) {
		if inWork[conn] != nil {
			t.Errorf("request %d came while %d was in work", m.CorrelationID, inWork[conn].CorrelationID)
		}
		inWork[conn] = m
		s.env.Post(node.Router, conn) // answered later, others come between
	}
	s.posted = func(_ node.Lane, msg any) {
		conn := msg.(node.ConnID)
		m := inWork[conn]
		inWork[conn] = nil
		s.env.Send(conn, answer(m))
	}
	_, addr := server(t, &s)
	var nodes []*Node
	for range clients {
		c := &script{}
		c.start = func() {
			conn := c.env.Dial(addr)
			for id := range int32(count) {
				c.env.Send(conn, metadata(id))
			}
		}
		want := int32(0)
		c.receive = func(_ node.ConnID, m *node.Message) {
			if m.CorrelationID != want {
				t.Errorf("answer %d came, want %d", m.CorrelationID, want)
			}
			if want++; want == count {
				c.env.Exit("done")
			}
		}
		nodes = append(nodes, run(t, one(node.App, c), Options{}))
	}
	for _, n := range nodes {
		n.Wait()
	}
}

func TestLaneHearsOnceThatAConnectionIsGone(t *testing.T) {
	var s, c script
	var peer *Node
	got := make(chan struct{})
	s.receive = func(node.ConnID, *node.Message) { close(got) }
	peer, addr := server(t, &s)
	c.start = func() {
		c.env.Send(c.env.Dial(addr), metadata(1))
		if refused := c.env.Dial(refusing); refused != 2 {
			t.Errorf("the second connection is %d", refused)
		}
	}
	gone := map[node.ConnID]int{}
	c.disconnected = func(conn node.ConnID) {
		if gone[conn]++; gone[conn] > 1 {
			t.Errorf("connection %d is gone twice", conn)
		}
		c.env.Send(conn, metadata(2)) // does nothing
		if len(gone) == 2 {
			c.env.Exit("done")
		}
	}
	n := run(t, one(node.App, &c), Options{})
	<-got
	peer.Kill()
	n.Wait()
}

func TestNoCallComesForAConnectionThatTheLaneClosed(t *testing.T) {
	var s script
	closed := false
	s.receive = func(conn node.ConnID, m *node.Message) {
		if conn == 2 {
			s.env.Exit("done")
		}
		if closed {
			t.Errorf("request %d came on connection %d, which is closed", m.CorrelationID, conn)
		}
		s.env.Send(conn, answer(m))
		if m.CorrelationID == 10 {
			s.env.Close(conn)
			s.env.Close(conn)
			closed = true
		}
	}
	s.disconnected = func(conn node.ConnID) { t.Errorf("connection %d, which is closed, is gone", conn) }
	n, addr := server(t, &s)
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for id := range int32(100) {
		f, err := wire.Encode(metadata(id), nil)
		if err != nil {
			t.Fatal(err)
		}
		nc.Write(f) // fails once the node has closed
	}
	for p := make([]byte, 1000); err == nil; {
		_, err = nc.Read(p)
	}
	var c script
	c.start = func() { c.env.Send(c.env.Dial(addr), metadata(1)) }
	run(t, one(node.App, &c), Options{})
	n.Wait()
}

func TestInputOfAClosedConnectionThatIsInTheMailboxAlreadyIsVoid(t *testing.T) {
	var p script
	p.receive = func(conn node.ConnID, _ *node.Message) { t.Errorf("connection %d brought a request", conn) }
	p.disconnected = func(conn node.ConnID) { t.Errorf("connection %d is gone", conn) }
	p.start = func() {
		conn := p.env.Dial(refusing)
		own := (*lane)(p.env.(*env)).peers[conn]
		own.Received(metadata(1), nil)
		own.Lost(nil)
		(&peer{lane: own.lane}).Lost(nil) // went before its first request
		p.env.Close(conn)
		p.env.SetTimer(0)
	}
	p.fire = func(node.TimerID) { p.env.Post(node.App, nil) }
	p.posted = func(node.Lane, any) { p.env.Exit("done") }
	run(t, one(node.App, &p), Options{}).Wait()
}

func TestRequestThatStallsWhileOthersWaitForItsMemoryIsAnEffectInTheTrace(t *testing.T) {
	effects := make(chan *event.Event, 2)
	addr := FreeAddr(t)
	spec := one(node.Router, &script{})
	spec.Listen = []node.ListenSpec{{Addr: addr, Lane: node.Router}}
	const size = 1 << 20
	run(t, spec, Options{Net: tcp.Config{MaxFrame: size, Budget: size, StallTimeout: time.Millisecond}, Emit: func(e *event.Event) {
		if e.Kind == event.Effect {
			effects <- e
		}
	}})
	for range 2 { // the memory is enough for one of them
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.Write(append(binary.BigEndian.AppendUint32(nil, size), make([]byte, size/2)...))
	}
	if e := <-effects; !strings.HasPrefix(e.Text, "request stalled: 127.0.0.1:") || e.Node != 1 {
		t.Errorf("the trace says %q of node %d", e.Text, e.Node)
	}
}

func TestGarbageIsAnEffectInTheTrace(t *testing.T) {
	effects := make(chan *event.Event, 1)
	addr := FreeAddr(t)
	spec := one(node.Router, &script{})
	spec.Listen = []node.ListenSpec{{Addr: addr, Lane: node.Router}}
	run(t, spec, Options{Emit: func(e *event.Event) {
		if e.Kind == event.Effect {
			effects <- e
		}
	}})
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	if e := <-effects; e.Text != "bad frame: size 1195725856 is not between 0 and 104857600" || e.Node != 1 {
		t.Errorf("the trace says %q of node %d", e.Text, e.Node)
	}
}
