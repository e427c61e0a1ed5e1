package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// announce begins a request of size bytes, of which it sends the first.
func announce(tb testing.TB, nc net.Conn, size, sent int) {
	tb.Helper()
	p := make([]byte, sizeBytes+sent)
	binary.BigEndian.PutUint32(p, uint32(size))
	write(tb, nc, p)
}

// sender sends a whole request on a connection of its own and reads the answer.
func sender(tb testing.TB, h *Host, bytes int) *end {
	client, served := pipe(h)
	go func() { client.Write(frame(tb, produce(1, 1, bytes))); io.Copy(io.Discard, client) }()
	return served
}

func TestRequestsThatAreOnlyAnnouncedHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{})
		for range 6 {
			client, _ := pipe(h)
			announce(t, client, 99<<20, 0)
		}
		synctest.Wait()
		start := time.Now()
		<-sender(t, h, 1<<20).got
		if d := time.Since(start); d != 0 {
			t.Fatalf("a request waited %v for others that had sent nothing", d)
		}
		h.Close()
	})
}

func TestWhatARequestHoldsIsInProportionToWhatItSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{})
		for _, size := range []int{smallFrame + 1, 1 << 20, 99 << 20} {
			for _, sent := range []int{0, 1, 1000, 50_000, smallFrame, smallFrame + 1, 2<<20 - 1, 3 << 20, 33 << 20} {
				if sent >= size {
					continue
				}
				client, served := pipe(h)
				announce(t, client, size, sent)
				synctest.Wait()
				if held := h.cfg.Budget - h.budget.free; held > 32*sent || held > size || sent > smallFrame && held < sent {
					t.Errorf("%d bytes of %d were sent, %d of the budget are held", sent, size, held)
				}
				client.Close()
				if err := <-served.lost; err != io.ErrUnexpectedEOF {
					t.Errorf("a request that broke off after %d of %d bytes gave %v", sent, size, err)
				}
			}
		}
		if h.budget.free != h.cfg.Budget {
			t.Errorf("%d bytes were not given back", h.cfg.Budget-h.budget.free)
		}
		h.Close()
	})
}

func TestRecordsArriveAsTheyWereSentHoweverOftenTheirMemoryGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{})
		client, served := pipe(h)
		sizes := []int{smallFrame - 100, smallFrame, 100_000, firstShare - 100, firstShare, 9 << 20}
		all := pattern(9 << 20)
		go func() {
			for _, size := range sizes {
				m := produce(1, 1, size)
				copy(records(m), all)
				client.Write(frame(t, m))
			}
		}()
		for _, size := range sizes {
			select {
			case m := <-served.got:
				if !bytes.Equal(records(m), all[:size]) {
					t.Errorf("%d bytes of records arrived as others", size)
				}
			case err := <-served.lost:
				t.Fatalf("%d bytes of records did not arrive: %v", size, err)
			}
			served.conn.Release()
		}
		h.Close()
	})
}

func TestRequestsThatAreHalfReadDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const requests, large = 8, 16 << 20
		h := host(t, Config{MaxFrame: large + 1000, Budget: 40 << 20})
		start := time.Now()
		var clients [requests]net.Conn
		for i := range clients {
			client, server := net.Pipe()
			h.serve(server, func(c Conn) Handler { return echo{c} })
			clients[i] = client
		}
		request := frame(t, produce(1, 1, large))
		answers := make(chan error)
		for _, client := range clients {
			go func() {
				for rest := request; len(rest) > 0; { // all of them side by side
					n := min(len(rest), 64<<10)
					if _, err := client.Write(rest[:n]); err != nil {
						answers <- err
						return
					}
					rest = rest[n:]
				}
				_, err := client.Read(make([]byte, sizeBytes))
				answers <- err
			}()
		}
		for range clients {
			if err := <-answers; err != nil {
				t.Errorf("a request was given up: %v", err)
			}
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("requests that came without a pause took %v", d)
		}
		for _, client := range clients {
			client.Close()
		}
		h.Close()
		if h.budget.free != h.cfg.Budget {
			t.Errorf("%d bytes were not given back", h.cfg.Budget-h.budget.free)
		}
	})
}

func TestSharesThatGrowNeverWaitForEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		largest := rapid.IntRange(1, 40).Draw(t, "largest")
		budget := &budget{spare: largest}
		total := largest + rapid.IntRange(0, 100).Draw(t, "more")
		budget.free = total
		type reader struct {
			size, share int
			waits       *waiter
		}
		readers := make([]reader, rapid.IntRange(1, 12).Draw(t, "readers"))
		for i := range readers {
			readers[i].size = rapid.IntRange(1, largest).Draw(t, "size")
		}
		for steps := 0; len(readers) > 0; steps++ {
			var ready []int // those that do not wait
			held := budget.free
			for i := range readers {
				r := &readers[i]
				held += r.share
				if r.waits != nil {
					select {
					case <-r.waits.granted:
						held += r.waits.share
					default:
						continue
					}
				}
				ready = append(ready, i)
			}
			if len(ready) == 0 || held != total || budget.free < 0 {
				t.Fatalf("%d of %d requests go on; %d of %d bytes are free, %d accounted for: %+v",
					len(ready), len(readers), budget.free, total, held, readers)
			}
			i := rapid.SampledFrom(ready).Draw(t, "next")
			r := &readers[i]
			switch {
			case r.waits != nil: // got more: gives back what it had
				budget.give(r.share)
				r.share, r.waits = r.waits.share, nil
			case r.share == r.size: // answered
				budget.give(r.share)
				readers = append(readers[:i], readers[i+1:]...)
			default:
				part := rapid.IntRange(r.share+1, r.size).Draw(t, "part")
				share, w := budget.ask(part, r.size)
				if r.waits = w; w == nil {
					budget.give(r.share)
					r.share = share
				}
			}
		}
		if budget.free != total || budget.wanted() {
			t.Fatalf("%d of %d bytes are free, somebody waits: %v", budget.free, total, budget.wanted())
		}
	})
}

// holder has sent half of a request that has all of h's budget.
func holder(tb testing.TB, h *Host) (client net.Conn, served *end, rest []byte) {
	client, served = pipe(h)
	request := frame(tb, produce(1, 1, h.cfg.Budget-1000))
	write(tb, client, request[:len(request)/2])
	synctest.Wait()
	return client, served, request[len(request)/2:]
}

func TestRequestThatStallsGoesWhenOthersWaitForItsMemory(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int // that it sends every second
		gone  bool
	}{
		{"sends nothing", 0, true},
		{"trickles", 100, true},
		{"is slow", 33 << 10, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := host(t, Config{MaxFrame: 8 << 20, Budget: 8 << 20, StallTimeout: 10 * time.Second})
				client, stalls, rest := holder(t, h)
				time.Sleep(5*time.Minute + time.Second)
				if len(stalls.lost) != 0 {
					t.Fatalf("given up, and nobody waits: %v", <-stalls.lost)
				}
				var sending sync.WaitGroup
				sending.Go(func() {
					for c.bytes > 0 && len(rest) > 0 {
						n, err := client.Write(rest[:min(c.bytes, len(rest))])
						if rest = rest[n:]; err != nil {
							return
						}
						time.Sleep(time.Second)
					}
				})
				start := time.Now()
				waits := sender(t, h, 1<<20)
				select {
				case err := <-stalls.lost:
					if d := time.Since(start); !c.gone || !errors.Is(err, ErrStalled) || d > 20*time.Second {
						t.Errorf("given up after %v: %v", d, err)
					}
				case m := <-stalls.got:
					if c.gone {
						t.Error("others waited until it was there")
					}
					stalls.conn.Send(answer(m))
				}
				<-waits.got
				h.Close()
				sending.Wait()
			})
		})
	}
}

func TestWhoWaitsForTheBudgetOrForAnAnswerIsNeitherIdleNorStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{MaxFrame: 8 << 20, Budget: 8 << 20, IdleTimeout: time.Minute})
		client, works, rest := holder(t, h)
		write(t, client, rest)
		<-works.got
		waits := sender(t, h, 1<<20)
		time.Sleep(time.Hour)
		works.conn.Release()
		select {
		case <-waits.got:
		case err := <-waits.lost:
			t.Fatalf("a request that the broker kept waiting was given up: %v", err)
		}
		go client.Write(frame(t, metadata(2)))
		select {
		case <-works.got:
		case err := <-works.lost:
			t.Fatalf("the connection of a request in work was given up: %v", err)
		}
		h.Close()
	})
}
