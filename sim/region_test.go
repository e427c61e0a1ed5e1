package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/node"
)

// leader answers every fetch with a region of its file and then does something
// else to it in the same callback, before the socket write.
func leader(after func(node.Env, disk.File, *node.Message)) *script {
	var f disk.File
	return &script{
		start: func(env node.Env) {
			var err error
			if f, err = env.FS().Create("log"); err == nil {
				_, err = f.WriteAt([]byte("old records"), 0)
			}
			if err != nil {
				panic(err)
			}
		},
		receive: func(env node.Env, c node.ConnID, m *node.Message) {
			r := kmsg.NewPtrFetchResponse()
			topic := kmsg.NewFetchResponseTopic()
			topic.Partitions = append(topic.Partitions, kmsg.NewFetchResponseTopicPartition())
			r.Topics = append(r.Topics, topic)
			a := m.Reply(r)
			a.Regions = []disk.Region{f.Region(4, 7)}
			env.Send(c, a)
			after(env, f, a)
		},
		disconnected: func(env node.Env, c node.ConnID) { say(env, "leader lost %d", c) },
	}
}

// fetcher fetches at start, twice on one connection.
func fetcher() *script {
	return &script{
		start: func(env node.Env) {
			c := env.Dial("b:1")
			for id := range int32(2) {
				r := kmsg.NewPtrFetchRequest()
				r.Version = 17
				env.Send(c, &node.Message{CorrelationID: id, Request: r})
			}
		},
		receive: func(env node.Env, c node.ConnID, m *node.Message) {
			say(env, "fetched %q", m.Response.(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches)
		},
		disconnected: func(env node.Env, c node.ConnID) { say(env, "lost %d", c) },
	}
}

func fetchWith(t *testing.T, after func(node.Env, disk.File, *node.Message)) *stage {
	s := newStage(t, Options{})
	s.add(1, "b:1", on(node.Data0, leader(after)))
	s.add(2, "", on(node.App, fetcher()))
	s.Run(int64(time.Second))
	return s
}

func must(errs ...error) {
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
}

func TestRegionsAreSentAsTheFileIsAtTheSocketWrite(t *testing.T) {
	fetchWith(t, func(node.Env, disk.File, *node.Message) {}).
		expect("4.008ms fetched \"records\"", "4.011ms fetched \"records\"")
}

func TestRegionThatWasCutAndRegrownSendsWhatIsThere(t *testing.T) {
	s := fetchWith(t, func(_ node.Env, f disk.File, _ *node.Message) {
		_, err := f.WriteAt([]byte("NEW"), 6)
		must(f.Truncate(4), f.Truncate(11), err)
		_, err = f.WriteAt([]byte("regrown"), 4)
		must(err)
	})
	if len(s.said()) != 2 || !strings.Contains(s.said()[0], "fetched \"regrown\"") {
		t.Fatalf("said %v", s.said())
	}
}

func TestRegionThatIsShortNowResetsTheConnection(t *testing.T) {
	s := fetchWith(t, func(_ node.Env, f disk.File, _ *node.Message) { must(f.Truncate(5)) })
	got := strings.Join(s.said(), "\n")
	if !strings.Contains(got, "socket write reset") || !strings.Contains(got, "leader lost 1") ||
		!strings.Contains(got, "ms lost 1") || strings.Contains(got, "fetched") {
		t.Fatalf("said\n%s", got)
	}
}

func TestAnswerWrittenAfterSendAndBeforeTheSocketWriteStopsTheRun(t *testing.T) {
	s := fetchWith(t, func(_ node.Env, _ disk.File, a *node.Message) { a.Response.(*kmsg.FetchResponse).SessionID = 9 })
	if s.Failure() == nil || !strings.Contains(s.Failure().Text, "after Send") {
		t.Fatalf("failure %v", s.Failure())
	}
}

func TestRegionsOfADeadProcessAreNotSent(t *testing.T) {
	s := newStage(t, Options{})
	s.add(1, "b:1", on(node.Data0, leader(func(env node.Env, _ disk.File, _ *node.Message) { env.Exit("gone") })))
	s.add(2, "", on(node.App, fetcher()))
	s.Run(int64(time.Second))
	got := strings.Join(s.said(), "\n")
	if s.Failure() != nil || strings.Contains(got, "reset") {
		t.Fatalf("failure %v, said\n%s", s.Failure(), got)
	}
}
