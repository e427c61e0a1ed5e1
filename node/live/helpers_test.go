package live

import (
	"net"
	"sync"
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

// trace is a sink that keeps everything.
type trace struct {
	mu     sync.Mutex
	events []*event.Event
	ready  chan struct{} // closes at the first Ready
}

func newTrace() *trace { return &trace{ready: make(chan struct{})} }

func (tr *trace) emit(e *event.Event) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if e.Kind == event.Ready && !tr.has(event.Ready) {
		close(tr.ready)
	}
	tr.events = append(tr.events, e)
}

func (tr *trace) has(k event.Kind) bool {
	for _, e := range tr.events {
		if e.Kind == k {
			return true
		}
	}
	return false
}

// freeAddr is an address that nobody listens at.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func metadata(id int32) *node.Message {
	r := kmsg.NewPtrMetadataRequest()
	r.Version = 12
	return &node.Message{CorrelationID: id, ClientID: "test", Request: r}
}

func answer(m *node.Message) *node.Message { return m.Reply(m.Request.ResponseKind()) }
