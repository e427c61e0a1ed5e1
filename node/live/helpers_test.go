package live

import (
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/node"
)

// script is a Process whose callbacks are what a test says; nil does nothing.
type script struct {
	env          node.Env
	start        func()
	receive      func(node.ConnID, *node.Message)
	posted       func(node.Lane, any)
	fire         func(node.TimerID)
	synced       func(disk.Token, error)
	disconnected func(node.ConnID)
}

func (s *script) Start(env node.Env) {
	s.env = env
	if s.start != nil {
		s.start()
	}
}

func (s *script) Receive(c node.ConnID, m *node.Message) {
	if s.receive != nil {
		s.receive(c, m)
	}
}

func (s *script) Posted(from node.Lane, msg any) {
	if s.posted != nil {
		s.posted(from, msg)
	}
}

func (s *script) Fire(id node.TimerID) {
	if s.fire != nil {
		s.fire(id)
	}
}

func (s *script) Synced(t disk.Token, err error) {
	if s.synced != nil {
		s.synced(t, err)
	}
}

func (s *script) Disconnected(c node.ConnID) {
	if s.disconnected != nil {
		s.disconnected(c)
	}
}

// one is the spec of a node with one lane.
func one(lane node.Lane, s *script) node.Spec {
	return node.Spec{ID: 1, Lanes: []node.LaneSpec{{Lane: lane, Process: s}}}
}

// run starts a node that ends with the test at the latest.
func run(t *testing.T, spec node.Spec, o Options) *Node {
	t.Helper()
	n, err := Start(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Kill)
	return n
}

func post(t *testing.T, n *Node, to node.Lane, msg any) {
	t.Helper()
	if err := n.Post(to, msg); err != nil {
		t.Fatal(err)
	}
}

// trace is a sink that keeps everything; read it when the node is dead.
type trace struct{ events []*event.Event }

func (tr *trace) emit(e *event.Event) { tr.events = append(tr.events, e) }

// refusing is an address that nobody listens at.
const refusing = "127.0.0.1:1"

var lastPort = 10_000 + os.Getpid()*31%20_000

// FreeAddr is an address that a node can have, and have again after its death:
// not from the ports that the kernel lends to dialling sockets.
func FreeAddr(t *testing.T) string {
	t.Helper()
	for range 100 {
		lastPort++
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(lastPort))
		if err == nil {
			l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

func metadata(id int32) *node.Message {
	r := kmsg.NewPtrMetadataRequest()
	r.Version = 12
	return &node.Message{CorrelationID: id, ClientID: "test", Request: r}
}

func answer(m *node.Message) *node.Message { return m.Reply(m.Request.ResponseKind()) }
