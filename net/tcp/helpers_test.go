package tcp

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/net/wire"
	"tidemark/node"
)

// metadata is a small request with an answer.
func metadata(id int32) *node.Message {
	r := kmsg.NewPtrMetadataRequest()
	r.Version = 12
	return &node.Message{CorrelationID: id, ClientID: "test", Request: r}
}

// produce is a request with n bytes of records.
func produce(id int32, acks int16, n int) *node.Message {
	r := kmsg.NewPtrProduceRequest()
	r.Version, r.Acks = 9, acks
	t := kmsg.NewProduceRequestTopic()
	p := kmsg.NewProduceRequestTopicPartition()
	p.Records = make([]byte, n)
	t.Partitions = append(t.Partitions, p)
	r.Topics = append(r.Topics, t)
	return &node.Message{CorrelationID: id, Request: r}
}

func answer(m *node.Message) *node.Message { return m.Reply(m.Request.ResponseKind()) }

func frame(tb testing.TB, m *node.Message) []byte {
	tb.Helper()
	f, err := wire.Encode(m, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// end is a handler that keeps what it hears of.
type end struct {
	conn Conn
	got  chan *node.Message
	lost chan error
}

func newEnd() *end { return &end{got: make(chan *node.Message, 10_000), lost: make(chan error, 1)} }

func (e *end) Received(m *node.Message, _ []byte) { e.got <- m }
func (e *end) Lost(err error)                     { e.lost <- err }

// echo is a handler that answers at once.
type echo struct{ conn Conn }

func (e echo) Received(m *node.Message, _ []byte) { e.conn.Send(answer(m)) }
func (e echo) Lost(error)                         {}

// host is a process that ends with the test.
func host(tb testing.TB, cfg Config) *Host {
	h := New(cfg)
	tb.Cleanup(h.Close)
	return h
}

// listen listens at a free port.
func listen(tb testing.TB, h *Host, accept func(Conn) Handler) string {
	tb.Helper()
	if err := h.Listen("127.0.0.1:0", accept); err != nil {
		tb.Fatal(err)
	}
	return h.listeners[len(h.listeners)-1].Addr().String()
}

// broker listens with a handler that the test plays itself; each connection is
// sent to the channel.
func broker(tb testing.TB, h *Host) (addr string, ends chan *end) {
	ends = make(chan *end, 10)
	return listen(tb, h, func(c Conn) Handler {
		e := newEnd()
		e.conn = c
		ends <- e
		return e
	}), ends
}

// pipe is a connection to h without a kernel between, for tests of time.
func pipe(h *Host) (client net.Conn, served *end) {
	client, server := net.Pipe()
	e := newEnd()
	h.serve(server, func(c Conn) Handler { e.conn = c; return e })
	return client, e
}

func dial(tb testing.TB, addr string) net.Conn {
	tb.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { nc.Close() })
	return nc
}

func write(tb testing.TB, nc net.Conn, p []byte) {
	tb.Helper()
	if _, err := nc.Write(p); err != nil {
		tb.Fatal(err)
	}
}

// read reads one frame with its size field.
func read(tb testing.TB, nc io.Reader) []byte {
	tb.Helper()
	f := make([]byte, sizeBytes)
	if _, err := io.ReadFull(nc, f); err != nil {
		tb.Fatal(err)
	}
	f = append(f, make([]byte, binary.BigEndian.Uint32(f))...)
	if _, err := io.ReadFull(nc, f[sizeBytes:]); err != nil {
		tb.Fatal(err)
	}
	return f
}

// closes checks that the peer ends the connection without another byte.
func closes(tb testing.TB, nc net.Conn) {
	tb.Helper()
	if n, err := nc.Read(make([]byte, 1)); n != 0 || err == nil {
		tb.Fatalf("%d bytes came and error %v, want the end", n, err)
	}
}

// file is a disk.Reader in memory.
type file struct {
	mu   sync.Mutex
	data []byte
	uses int
}

func (f *file) region(off int64, n int) disk.Region {
	f.Retain()
	return disk.Region{Src: f, Off: off, N: n}
}

func (f *file) ReadRegion(p []byte, off int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if copy(p, f.data[min(off, int64(len(f.data))):]) < len(p) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// segment is a disk.Reader over a real file.
type segment struct {
	f *os.File
	file
}

func (s *segment) region(n int) disk.Region { return disk.Region{Src: s, N: n} }

func (s *segment) ReadRegion(p []byte, off int64) error {
	_, err := s.f.ReadAt(p, off)
	return err
}

func (f *file) Retain() { f.count(1) }

func (f *file) Release() { f.count(-1) }

func (f *file) count(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.uses += n
	return f.uses
}

// pattern is n bytes of which no two places look alike.
func pattern(n int) []byte {
	var b bytes.Buffer
	for i := uint32(0); b.Len() < n; i++ {
		binary.Write(&b, binary.BigEndian, i)
	}
	return b.Bytes()[:n]
}

// fetched is a Fetch response of a version with a partition for each region.
func fetched(m *node.Message, regions ...disk.Region) *node.Message {
	r := m.Request.ResponseKind().(*kmsg.FetchResponse)
	t := kmsg.NewFetchResponseTopic()
	t.Topic = "t"
	for i := range regions {
		p := kmsg.NewFetchResponseTopicPartition()
		p.Partition = int32(i)
		t.Partitions = append(t.Partitions, p)
	}
	r.Topics = append(r.Topics, t)
	a := m.Reply(r)
	a.Regions = regions
	return a
}

func fetch(id int32, version int16) *node.Message {
	r := kmsg.NewPtrFetchRequest()
	r.Version = version
	return &node.Message{CorrelationID: id, Request: r}
}

// cached is a file that has all or nothing in memory.
type cached struct {
	*file
	has   bool
	asked int
}

func (c *cached) ReadPrompt(p []byte, off int64) bool {
	c.asked++
	return c.has && c.ReadRegion(p, off) == nil
}
