package tcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"

	"tidemark/net/wire"
)

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	const n = 5000
	h := host(t, Config{})
	addr := listen(t, h, func(c Conn) Handler { return echo{c} })
	client := newEnd()
	c := h.Dial(addr, client)
	for id := range int32(n) {
		c.Send(metadata(id))
	}
	for id := range int32(n) {
		if m := <-client.got; m.CorrelationID != id || m.Key() != 3 {
			t.Fatalf("answer %d has key %d and correlation id %d", id, m.Key(), m.CorrelationID)
		}
	}
}

func TestManyClientsPlayPingPong(t *testing.T) {
	const clients, rounds = 20, 200
	h := host(t, Config{})
	addr := listen(t, h, func(c Conn) Handler { return echo{c} })
	for i := range clients {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			client := newEnd()
			c := h.Dial(addr, client)
			for id := range int32(rounds) {
				c.Send(produce(id, 1, i*1000))
				if m := <-client.got; m.CorrelationID != id {
					t.Fatalf("answer has correlation id %d, want %d", m.CorrelationID, id)
				}
			}
			c.Close()
		})
	}
}

func TestDialThatNobodyAnswersIsLost(t *testing.T) {
	h := host(t, Config{})
	for _, addr := range []string{"127.0.0.1:1", "no-port", "127.0.0.1:99999"} {
		client := newEnd()
		c := h.Dial(addr, client)
		c.Send(metadata(1))
		if err := <-client.lost; err == nil {
			t.Errorf("%s: lost without a cause", addr)
		}
		c.Send(metadata(2))
		c.Close()
	}
}

func TestDiallerClosesAfterWhatItSentAndHearsNothingMore(t *testing.T) {
	h := host(t, Config{})
	addr, ends := broker(t, h)
	client := newEnd()
	c := h.Dial(addr, client)
	for id := range int32(100) {
		c.Send(produce(id, 0, 10_000))
	}
	served := <-ends
	first := <-served.got // the connection stands
	c.Close()
	served.conn.Release()
	for id := first.CorrelationID + 1; id < 100; id++ {
		if m := <-served.got; m.CorrelationID != id {
			t.Fatalf("request %d came, want %d", m.CorrelationID, id)
		}
		served.conn.Release()
	}
	if err := <-served.lost; err != io.EOF {
		t.Fatalf("the end gave %v", err)
	}
	h.Close()
	if len(client.lost) != 0 {
		t.Error("who closed was told that the connection is gone")
	}
}

func TestCloseBeforeTheConnectionStandsAbandonsTheDial(t *testing.T) {
	h := host(t, Config{})
	addr, ends := broker(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	client := newEnd()
	c := &dialled{host: h, handler: client, abandon: cancel, wake: make(chan struct{}, 1)}
	c.Send(metadata(1))
	c.Close()
	c.run(ctx, addr)
	if len(client.lost) != 0 {
		t.Error("who closed was told that the connection is gone")
	}
	h.Close()
	if len(ends) != 0 {
		t.Error("the connection was made all the same")
	}
}

func TestResponseThatIsNoneLosesTheConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	h := host(t, Config{})
	for what, response := range map[string][]byte{
		"other correlation id": frame(t, answer(metadata(2))),
		"cut body":             {0, 0, 0, 6, 0, 0, 0, 1, 0, 1},
		"negative size":        {128, 0, 0, 0},
	} {
		client := newEnd()
		c := h.Dial(l.Addr().String(), client)
		c.Send(metadata(1))
		peer, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, peer); !bytes.Equal(got, frame(t, metadata(1))) {
			t.Fatalf("the request is %x", got)
		}
		write(t, peer, response)
		if err := <-client.lost; !errors.Is(err, wire.ErrFrame) || len(client.got) != 0 {
			t.Errorf("%s: cause %v", what, err)
		}
		peer.Close()
	}
}

func TestPeerThatDiesIsLost(t *testing.T) {
	h, peer := host(t, Config{}), host(t, Config{})
	addr, ends := broker(t, peer)
	client := newEnd()
	h.Dial(addr, client).Send(metadata(1))
	<-(<-ends).got
	peer.Close()
	if err := <-client.lost; err == nil {
		t.Fatal("lost without a cause")
	}
}

func TestDeadHostLeavesNoGoroutineAndTellsNobody(t *testing.T) {
	before := runtime.NumGoroutine()
	h := host(t, Config{})
	addr, ends := broker(t, h)
	var clients []*end
	for range 10 {
		client := newEnd()
		h.Dial(addr, client).Send(metadata(1))
		<-(<-ends).got
		clients = append(clients, client)
	}
	h.Close()
	for _, c := range clients {
		if len(c.lost) != 0 {
			t.Error("a handler of the dead was called")
		}
	}
	for runtime.NumGoroutine() > before { // one that stays shows in the dump of -timeout
		runtime.Gosched()
	}
}

func TestListeningTwiceGivesOneClearLine(t *testing.T) {
	h := host(t, Config{})
	addr := listen(t, h, func(c Conn) Handler { return echo{c} })
	err := h.Listen(addr, nil)
	if want := "listen at " + addr + ": bind: address already in use"; err == nil || err.Error() != want {
		t.Fatalf("%v, want %s", err, want)
	}
}

func TestThousandIdleConnectionsCostLittleAndStayAlive(t *testing.T) {
	const n = 1000
	h := host(t, Config{})
	addr := listen(t, h, func(c Conn) Handler { return echo{c} })
	memory := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := memory()
	conns := make([]net.Conn, n)
	for i := range conns {
		conns[i] = dial(t, addr)
		write(t, conns[i], frame(t, metadata(int32(i))))
		read(t, conns[i])
	}
	if each := (memory() - before) / n; each > 32<<10 {
		t.Errorf("an idle connection costs %d bytes", each)
	}
	for i := range conns {
		write(t, conns[i], frame(t, metadata(int32(i))))
		if got, want := read(t, conns[i]), frame(t, answer(metadata(int32(i)))); !bytes.Equal(got, want) {
			t.Fatalf("connection %d: response %x, want %x", i, got, want)
		}
	}
}

func TestRequestsThatTheSocketDoesNotTakeAtOnceArriveWholeAndInOrder(t *testing.T) {
	h := host(t, Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := h.Dial(l.Addr().String(), newEnd())
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	const requests, size = 40, 300_000 // more than sockets hold
	for range 2 {                      // once all are through, the next are written at once again
		var want [][]byte
		for id := range int32(requests) {
			m := produce(id, 1, size+int(id))
			copy(records(m), pattern(size))
			want = append(want, frame(t, m))
			c.Send(m)
		}
		for id := range want {
			if !bytes.Equal(read(t, peer), want[id]) {
				t.Fatalf("request %d differs", id)
			}
		}
	}
}
