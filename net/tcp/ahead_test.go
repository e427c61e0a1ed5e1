package tcp

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/node"
)

func TestOneRequestIsReadAheadWhileOneIsInWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{})
		client, served := pipe(h)
		taken := 0
		go func() {
			for id := range int32(4) {
				if _, err := client.Write(frame(t, metadata(id))); err != nil {
					return
				}
				taken++
			}
		}()
		first := <-served.got
		synctest.Wait()
		if taken != 2 || len(served.got) != 0 {
			t.Fatalf("with a request in work %d were taken from the client and %d handed over, want one ahead", taken, len(served.got))
		}
		go io.Copy(io.Discard, client)
		served.conn.Send(answer(first))
		<-served.got
		synctest.Wait()
		if taken != 3 {
			t.Fatalf("with the second in work %d were taken from the client, want one ahead", taken)
		}
		h.Close()
	})
}

func TestConnectionThatEndsWhileARequestIsInWorkIsLostAfterItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := host(t, Config{})
		client, served := pipe(h)
		write(t, client, frame(t, metadata(1)))
		m := <-served.got
		client.Close()
		synctest.Wait()
		if len(served.lost) != 0 {
			t.Fatal("the handler was told of the end with a request in work")
		}
		served.conn.Send(answer(m))
		<-served.lost
		h.Close()
	})
}

// records are those of a Produce of one partition.
func records(m *node.Message) []byte {
	return m.Request.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records
}

func TestRecordsOfAProduceStayUntilItsAnswerAndOtherRequestsForEver(t *testing.T) {
	const rounds, size = 200, 30_000
	h := host(t, Config{})
	addr, ends := broker(t, h)
	client := dial(t, addr)
	group := kmsg.NewPtrJoinGroupRequest()
	group.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: pattern(size)}}
	go func() {
		client.Write(frame(t, &node.Message{Request: group}))
		for id := range int32(rounds) {
			m := produce(id, 1, size)
			for i := range records(m) {
				records(m)[i] = byte(id)
			}
			client.Write(frame(t, m))
		}
	}()
	go io.Copy(io.Discard, client)
	served := <-ends
	joined := <-served.got
	served.conn.Send(answer(joined))
	for id := range rounds {
		m := <-served.got
		if bytes.Count(records(m), []byte{byte(id)}) != size {
			t.Fatalf("the records of request %d changed while it was in work", id)
		}
		served.conn.Send(answer(m))
	}
	if got := joined.Request.(*kmsg.JoinGroupRequest).Protocols[0].Metadata; !bytes.Equal(got, pattern(size)) {
		t.Error("what a group keeps of its member changed")
	}
}

func TestAnswerThatTheSocketDoesNotTakeAtOnceArrivesWhole(t *testing.T) {
	h := host(t, Config{})
	addr, ends := broker(t, h)
	client := dial(t, addr)
	write(t, client, frame(t, metadata(1)))
	write(t, client, frame(t, metadata(2)))
	served := <-ends
	m := <-served.got
	a := answer(m)
	res := a.Response.(*kmsg.MetadataResponse)
	for range 1000 {
		topic := kmsg.NewMetadataResponseTopic()
		name := strings.Repeat("x", 20_000)
		topic.Topic = &name
		res.Topics = append(res.Topics, topic)
	}
	served.conn.Send(a)
	if len(served.got) != 0 {
		t.Fatal("the next request came before the client took the response")
	}
	if got := read(t, client); !bytes.Equal(got, frame(t, a)) {
		t.Fatal("the response differs")
	}
	served.conn.Send(answer(<-served.got))
	read(t, client)
}

func TestConnectionTellsWhetherMoreWaitsInTheSocket(t *testing.T) {
	h := host(t, Config{})
	addr, ends := broker(t, h)
	client := dial(t, addr)
	write(t, client, frame(t, produce(1, 1, smallFrame)))
	served := <-ends
	first := <-served.got
	if runtime.GOOS == "linux" && served.conn.More() {
		t.Error("more is said to wait, and nothing was sent")
	}
	// The second is read ahead, the third is not.
	write(t, client, append(frame(t, metadata(2)), frame(t, produce(3, 1, smallFrame))...))
	for !served.conn.More() {
		runtime.Gosched()
	}
	served.conn.Send(answer(first))
	read(t, client)
}
