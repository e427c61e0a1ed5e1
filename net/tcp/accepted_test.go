package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/net/wire"
)

func TestNextRequestComesOnlyAfterTheResponseToTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{})
		client, served := pipe(h)
		go func() {
			for id := range int32(3) {
				client.Write(frame(t, metadata(id)))
			}
		}()
		for id := range int32(3) {
			m := <-served.got
			synctest.Wait()
			if m.CorrelationID != id || len(served.got) != 0 {
				t.Fatalf("request %d came, %d more with it; want %d alone", m.CorrelationID, len(served.got), id)
			}
			served.conn.Send(answer(m))
			synctest.Wait()
			if len(served.got) != 0 {
				t.Fatal("the next request came before the client took the response")
			}
			if got, want := read(t, client), frame(t, answer(m)); !bytes.Equal(got, want) {
				t.Fatalf("response %x, want %x", got, want)
			}
		}
		client.Close()
		if err := <-served.lost; err != io.EOF {
			t.Fatalf("the end gave %v", err)
		}
		h.Close()
	})
}

func TestReleaseLetsTheNextRequestInWithoutAResponse(t *testing.T) {
	h := host(t, Config{})
	addr, ends := broker(t, h)
	client := dial(t, addr)
	write(t, client, append(frame(t, produce(1, 0, 10)), frame(t, metadata(2))...))
	served := <-ends
	<-served.got
	served.conn.Release()
	m := <-served.got
	served.conn.Send(answer(m))
	if got, want := read(t, client), frame(t, answer(m)); !bytes.Equal(got, want) {
		t.Fatalf("the first bytes are %x, want %x", got, want)
	}
}

func TestClientThatNeverReadsStopsItselfAndIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{WriteTimeout: 30 * time.Second})
		client, served := pipe(h)
		go func() {
			for id := int32(0); ; id++ {
				if _, err := client.Write(frame(t, metadata(id))); err != nil {
					return
				}
			}
		}()
		served.conn.Send(answer(<-served.got))
		start := time.Now()
		if err := <-served.lost; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the cause is %v", err)
		}
		if d := time.Since(start); d != 30*time.Second || len(served.got) != 0 {
			t.Fatalf("cut off after %v, with %d more requests in work", d, len(served.got))
		}
		h.Close()
	})
}

func TestSlowReaderIsNotCutOffWhileItReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{WriteTimeout: 30 * time.Second})
		client, served := pipe(h)
		go client.Write(frame(t, fetch(1, 12)))
		f := &file{data: pattern(10 * chunkSize)}
		a := fetched(<-served.got, f.region(0, len(f.data)))
		want := frame(t, a)
		served.conn.Send(a)
		var got []byte
		for p := make([]byte, chunkSize); len(got) < len(want); {
			time.Sleep(20 * time.Second)
			n, err := client.Read(p)
			if err != nil {
				t.Fatalf("after %d bytes: %v", len(got), err)
			}
			got = append(got, p[:n]...)
		}
		if !bytes.Equal(got, want) {
			t.Fatal("the response differs")
		}
		h.Close()
	})
}

func TestIdleConnectionIsClosedAndABusyOneIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{IdleTimeout: 10 * time.Minute})
		client, served := pipe(h)
		time.Sleep(9 * time.Minute)
		write(t, client, frame(t, metadata(1)))
		m := <-served.got
		time.Sleep(time.Hour) // a request in work is not idleness
		served.conn.Send(answer(m))
		read(t, client)
		start := time.Now()
		if err := <-served.lost; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 10*time.Minute {
			t.Fatalf("after %v: %v", time.Since(start), err)
		}
		closes(t, client)
		h.Close()
	})
}

func TestRequestThatTricklesInForLongerThanTheIdleLimitIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{IdleTimeout: time.Minute})
		client, served := pipe(h)
		var err error
		for _, b := range frame(t, metadata(1)) {
			time.Sleep(9 * time.Second)
			if _, err = client.Write([]byte{b}); err != nil {
				break
			}
		}
		if cause := <-served.lost; err == nil || !errors.Is(cause, os.ErrDeadlineExceeded) {
			t.Fatalf("the client was told %v, the cause is %v", err, cause)
		}
		h.Close()
	})
}

func TestLargeRequestsWaitForTheBudgetAndSmallOnesDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const large = 1 << 20
		h := host(t, Config{MaxFrame: large + 1000, Budget: 2 * large})
		served := make([]*end, 3)
		for i := range served {
			client, e := pipe(h)
			served[i] = e
			go func() { client.Write(frame(t, produce(1, 1, large))); io.Copy(io.Discard, client) }()
			synctest.Wait()
		}
		if len(served[0].got) != 1 || len(served[1].got) != 0 || len(served[2].got) != 0 {
			t.Fatal("the budget has room for one request, and more are in work")
		}
		client, small := pipe(h)
		go client.Write(frame(t, fetch(1, 12)))
		<-small.got // a follower gets through
		served[1].conn.Close()
		synctest.Wait()
		if len(served[2].got) != 0 {
			t.Fatal("one that gave up left more room than there was")
		}
		served[0].conn.Send(answer(<-served[0].got))
		<-served[2].got // first come, first served
		h.Close()
	})
}

func TestWhatNobodyCanReadClosesTheConnection(t *testing.T) {
	h := host(t, Config{MaxFrame: 1000})
	addr, ends := broker(t, h)
	for what, garbage := range map[string][]byte{
		"http":            []byte("GET / HTTP/1.1\r\n\r\n"),
		"negative size":   {255, 255, 255, 255},
		"too large":       {0, 0, 3, 233},
		"short header":    {0, 0, 0, 2, 0, 3},
		"unknown key":     {0, 0, 0, 10, 3, 232, 0, 0, 0, 0, 0, 1, 255, 255},
		"unknown version": {0, 0, 0, 10, 0, 3, 0, 99, 0, 0, 0, 1, 255, 255},
		"body":            {0, 0, 0, 12, 0, 3, 0, 4, 0, 0, 0, 1, 255, 255, 0, 0},
	} {
		client := dial(t, addr)
		write(t, client, garbage)
		served := <-ends
		if err := <-served.lost; !errors.Is(err, wire.ErrFrame) || len(served.got) != 0 {
			t.Errorf("%s: %d requests, cause %v", what, len(served.got), err)
		}
		closes(t, client)
	}
}

func TestApiVersionsOfAnUnknownVersionReachesTheBroker(t *testing.T) {
	h := host(t, Config{})
	addr, ends := broker(t, h)
	write(t, dial(t, addr), []byte{0, 0, 0, 12, 0, 18, 0, 99, 0, 0, 0, 7, 0, 1, 'c', 0})
	m := <-(<-ends).got
	if m.Key() != 18 || m.Version() != 99 || m.CorrelationID != 7 || m.ClientID != "c" {
		t.Fatalf("received %+v", m)
	}
}

func TestFetchOfEveryVersionIsOnTheSocketAsIfItsBytesWereInMemory(t *testing.T) {
	f := &file{data: pattern(3*chunkSize + 5000)}
	h := host(t, Config{})
	addr, ends := broker(t, h)
	client := dial(t, addr)
	var served *end
	for version := int16(0); version <= fetch(0, 0).Request.MaxVersion(); version++ {
		write(t, client, frame(t, fetch(int32(version), version)))
		if served == nil {
			served = <-ends
		}
		m := <-served.got
		regions := []disk.Region{f.region(0, 100), f.region(100, chunkSize), {}, f.region(7, 0),
			f.region(4000, 2*chunkSize+77), f.region(0, len(f.data))}
		inMemory := fetched(m, regions...).Response.(*kmsg.FetchResponse)
		for i, r := range regions {
			if r.Src != nil {
				inMemory.Topics[0].Partitions[i].RecordBatches = f.data[r.Off:][:r.N]
			}
		}
		want := binary.BigEndian.AppendUint32(make([]byte, sizeBytes), uint32(version))
		if inMemory.IsFlexible() {
			want = append(want, 0)
		}
		want = inMemory.AppendTo(want)
		binary.BigEndian.PutUint32(want, uint32(len(want)-sizeBytes))

		served.conn.Send(fetched(m, regions...))
		if got := read(t, client); !bytes.Equal(got, want) {
			t.Fatalf("v%d: the socket has other bytes than kmsg writes", version)
		}
	}
	h.Close()
	if n := f.count(0); n != 0 {
		t.Fatalf("%d regions were not released", n)
	}
}

func TestRegionThatWasCutResetsTheConnection(t *testing.T) {
	h := host(t, Config{})
	addr, ends := broker(t, h)
	client := dial(t, addr)
	write(t, client, frame(t, fetch(1, 12)))
	served := <-ends
	f := &file{data: pattern(chunkSize)}
	served.conn.Send(fetched(<-served.got, f.region(0, 2*chunkSize), f.region(0, 10)))
	if err := <-served.lost; !errors.Is(err, ErrRegion) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("the cause is %v", err)
	}
	if _, err := io.Copy(io.Discard, client); err == nil {
		t.Fatal("the client saw a proper end of a response that was cut")
	}
	if n := f.count(0); n != 0 {
		t.Fatalf("%d regions were not released", n)
	}
	served.conn.Send(fetched(fetch(2, 12), f.region(0, 10)))
	if n := f.count(0); n != 0 {
		t.Fatal("a region sent to a connection that is gone was not released")
	}
}

func TestCloseComesAfterWhatWasSent(t *testing.T) {
	h := host(t, Config{})
	addr, ends := broker(t, h)
	client := dial(t, addr)
	write(t, client, frame(t, fetch(1, 12)))
	served := <-ends
	m := <-served.got
	f := &file{data: pattern(4 << 20)}
	a := fetched(m, f.region(0, len(f.data)))
	want := frame(t, a)
	served.conn.Send(a)
	served.conn.Close()
	if got := read(t, client); !bytes.Equal(got, want) {
		t.Fatal("the response differs")
	}
	closes(t, client)
	h.Close()
	if len(served.lost) != 0 {
		t.Error("who closed was told that the connection is gone")
	}
}

func TestCloseWithARequestInWorkAndWithNone(t *testing.T) {
	h := host(t, Config{})
	addr, ends := broker(t, h)
	busy, idle := dial(t, addr), dial(t, addr)
	write(t, busy, frame(t, metadata(1)))
	for range 2 {
		served := <-ends
		if served.conn.(*accepted).nc.RemoteAddr().String() == busy.LocalAddr().String() {
			<-served.got
		}
		served.conn.Close()
		served.conn.Close()
	}
	closes(t, busy)
	closes(t, idle)
}

func TestAnswerThatIsNoneIsABug(t *testing.T) {
	h := host(t, Config{})
	addr, ends := broker(t, h)
	client := dial(t, addr)
	write(t, client, frame(t, metadata(1)))
	served := <-ends
	m := <-served.got
	panics := func(what string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s was accepted", what)
			}
		}()
		f()
	}
	panics("a request on an accepted connection", func() { served.conn.Send(metadata(1)) })
	panics("the answer to another request", func() { served.conn.Send(answer(metadata(2))) })
	served.conn.Send(answer(m))
	read(t, client)
	panics("a second answer", func() { served.conn.Send(answer(m)) })
}

func TestSmallRegionsInMemoryAreWrittenAtOnceAndOthersAllTheSame(t *testing.T) {
	for _, c := range []struct {
		name  string
		has   bool
		bytes int
		asked int
	}{
		{"in memory", true, 1000, 2},
		{"not in memory", false, 1000, 1},
		{"large", true, smallFrame + 1, 0},
	} {
		h := host(t, Config{})
		addr, ends := broker(t, h)
		client := dial(t, addr)
		write(t, client, frame(t, fetch(1, 12)))
		served := <-ends
		m := <-served.got
		src := &cached{file: &file{data: pattern(c.bytes + 10)}, has: c.has}
		regions := []disk.Region{src.region(0, c.bytes), src.region(10, c.bytes)}
		for i := range regions {
			regions[i].Src = src
		}
		a := fetched(m, regions...)
		want := frame(t, a)
		served.conn.Send(a)
		if got := read(t, client); !bytes.Equal(got, want) {
			t.Errorf("%s: the response differs", c.name)
		}
		write(t, client, frame(t, fetch(2, 12)))
		<-served.got // the response is over
		if src.asked != c.asked || src.count(0) != 0 {
			t.Errorf("%s: asked %d times for what is in memory, want %d; %d regions are still held", c.name, src.asked, c.asked, src.count(0))
		}
	}
}
