package tcp

import (
	"io"
	"net"
	"os"
	"strconv"
	"testing"
)

// BenchmarkFileToSocket compares three ways to send record bytes of a segment,
// header before them: what writer does, the header and the bytes as pieces of
// one writev, and sendfile.
func BenchmarkFileToSocket(b *testing.B) {
	for _, n := range []int{16 << 10, 1 << 20, 8 << 20} {
		size := strconv.Itoa(n>>10) + "KiB"
		b.Run("pread/"+size, func(b *testing.B) {
			toSocket(b, n, func(nc net.Conn, f *os.File) {
				w := newWriter(nc, 1<<40)
				w.add(fetched(fetch(1, 12), (&segment{f: f}).region(n)))
				w.flush()
				w.done()
			})
		})
		b.Run("writev/"+size, func(b *testing.B) {
			header, chunk := make([]byte, 100), make([]byte, chunkSize)
			toSocket(b, n, func(nc net.Conn, f *os.File) {
				pieces := net.Buffers{header}
				for off := 0; off < n; off += chunkSize {
					p := chunk[:min(chunkSize, n-off)]
					f.ReadAt(p, int64(off))
					pieces = append(pieces, p)
					pieces.WriteTo(nc)
				}
			})
		})
		b.Run("sendfile/"+size, func(b *testing.B) {
			header := make([]byte, 100)
			toSocket(b, n, func(nc net.Conn, f *os.File) {
				nc.Write(header)
				f.Seek(0, io.SeekStart)
				io.Copy(nc, io.LimitReader(f, int64(n)))
			})
		})
	}
}

func toSocket(b *testing.B, n int, one func(net.Conn, *os.File)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	nc := dial(b, l.Addr().String())
	peer, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for p := make([]byte, 1<<20); err == nil; {
			_, err = peer.Read(p)
		}
	}()
	f, err := os.Create(b.TempDir() + "/segment")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	f.Write(pattern(n))
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		one(nc, f)
	}
}

// BenchmarkRequest is a round trip through both ends and all of their
// goroutines, with n bytes of records in the request.
func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{100, 16 << 10, 100 << 10, 1 << 20} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			h := host(b, Config{})
			addr := listen(b, h, func(c Conn) Handler { return echo{c} })
			client := newEnd()
			c := h.Dial(addr, client)
			m := produce(1, 1, n)
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				c.Send(m)
				<-client.got
			}
		})
	}
}

// BenchmarkPipelined keeps a window of small requests in flight.
func BenchmarkPipelined(b *testing.B) {
	h := host(b, Config{})
	addr := listen(b, h, func(c Conn) Handler { return echo{c} })
	client := newEnd()
	c := h.Dial(addr, client)
	m := produce(1, 1, 100)
	for range 100 {
		c.Send(m)
	}
	for b.Loop() {
		<-client.got
		c.Send(m)
	}
}
