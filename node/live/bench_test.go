package live

import (
	"net"
	"testing"

	"tidemark/net/wire"
	"tidemark/node"
)

// BenchmarkRequest is a small request from a socket through an idle lane and back,
// the client's side included.
func BenchmarkRequest(b *testing.B) {
	var p script
	p.receive = func(c node.ConnID, m *node.Message) { p.env.Send(c, answer(m)) }
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	spec := one(node.Router, &p)
	spec.Listen = []node.ListenSpec{{Addr: addr, Lane: node.Router}}
	n, err := Start(spec, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Kill()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	frame, err := wire.Encode(metadata(1), nil)
	if err != nil {
		b.Fatal(err)
	}
	response := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := nc.Write(frame); err != nil {
			b.Fatal(err)
		}
		if _, err := nc.Read(response); err != nil {
			b.Fatal(err)
		}
	}
}
