package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// logWorld is a small cluster with a compacted topic "kv" and a topic "plain"
// that DeleteRecords shortens and a group with automatic commits reads. It does
// what Kafka promises and writes down what clients see.
type logWorld struct {
	rnd      *rand.Rand
	events   []event.Event
	ops      uint64
	kv       []kvEntry
	plain    []kvEntry
	start    kafka.Offset // of "plain"
	position map[string]kafka.Offset
	member   int          // of the group: how many there were
	at       kafka.Offset // position of the group's member
	given    kafka.Offset // and what it was before its last poll
	commit   kafka.Offset // the group's committed offset
	waiting  []func()     // acknowledgements on their way
}

// kvEntry is one offset of a log.
type kvEntry struct {
	attempt, key, hash uint64
	headers            uint64
	at                 int64
	gone               bool // cleaned away
}

// compactionLag is min.compaction.lag.ms of "kv"; events are 1 ms apart.
const compactionLag = 40

// stampFrom is what the clocks of producers show when a run begins, ms.
const stampFrom kafka.Timestamp = 1_767_225_600_000

func (w *logWorld) emit(k event.Kind, client, topic string, set func(*event.Event)) {
	e := event.New(k)
	e.Seq, e.Client, e.Topic = uint64(len(w.events)+1), client, topic
	e.At = int64(e.Seq) * 1_000_000
	set(&e)
	w.events = append(w.events, e)
}

func (w *logWorld) now() int64 { return int64(len(w.events)+1) * 1_000_000 }

func (w *logWorld) log(topic string) *[]kvEntry {
	if topic == "kv" {
		return &w.kv
	}
	return &w.plain
}

func (w *logWorld) send(client, topic string) {
	w.ops++
	x := kvEntry{attempt: w.ops, hash: event.HashValue([]byte{byte(w.ops), byte(w.ops >> 8)}), at: w.now()}
	x.headers = event.HashHeader(event.NoHeaders, "attempt", []byte{byte(w.ops)})
	if topic == "kv" {
		x.key = event.HashValue([]byte{'k', byte(w.rnd.IntN(6))})
		if w.rnd.IntN(6) == 0 {
			x.hash = 0
		}
	}
	s := &event.Session{ProducerID: kafka.ProducerID(client[0]), Generation: -1}
	set := func(e *event.Event) {
		e.Attempt, e.Key, e.Hash, e.Acks, e.Session = x.attempt, x.key, x.hash, -1, s
		e.Headers, e.Timestamp = x.headers, stampFrom+kafka.Timestamp(x.at/1_000_000)
	}
	w.emit(event.SendInvoke, client, topic, set)
	log := w.log(topic)
	*log = append(*log, x)
	at := kafka.Offset(len(*log) - 1)
	w.waiting = append(w.waiting, func() {
		w.emit(event.SendOK, client, topic, func(e *event.Event) {
			set(e)
			e.Offset = at
		})
	})
}

// answer lets the sends on their way be acknowledged.
func (w *logWorld) answer() {
	for _, do := range w.waiting {
		do()
	}
	w.waiting = nil
}

// read polls up to n offsets.
func (w *logWorld) read(client, topic string, from kafka.Offset, n int, s *event.Session) kafka.Offset {
	log := *w.log(topic)
	end := min(from+kafka.Offset(n), kafka.Offset(len(log)))
	w.ops++
	attempt := w.ops
	w.emit(event.PollInvoke, client, topic, func(e *event.Event) { e.Attempt, e.Session = attempt, s })
	w.emit(event.PollOK, client, topic, func(e *event.Event) {
		e.Attempt, e.Session, e.Offset, e.End, e.HighWatermark = attempt, s, from, end, kafka.Offset(len(log))
		e.Drained = end == e.HighWatermark
		for o := from; o < end; o++ {
			if x := log[o]; !x.gone {
				e.Records = append(e.Records, event.Record{Offset: o, Epoch: 0, Attempt: x.attempt, Hash: x.hash, Key: x.key,
					Headers: x.headers, Timestamp: stampFrom + kafka.Timestamp(x.at/1_000_000)})
			}
		}
	})
	return end
}

// view reads "kv" from its start to its end.
func (w *logWorld) view(client string) {
	w.emit(event.PositionReset, client, "kv", func(e *event.Event) { e.End, e.Text = 0, "assign" })
	for from := kafka.Offset(0); from < kafka.Offset(len(w.kv)); {
		from = w.read(client, "kv", from, 1+len(w.kv)/2, nil)
	}
}

// clean passes over what is old enough and keeps the last record of each key;
// tombstones stay, for delete.retention.ms is longer than the run.
func (w *logWorld) clean() {
	last := map[uint64]int{}
	end := 0
	for i, x := range w.kv {
		if w.now()-x.at < (compactionLag+5)*1_000_000 {
			break
		}
		end, last[x.key] = i+1, i
	}
	for i := range end {
		w.kv[i].gone = w.kv[i].gone || last[w.kv[i].key] != i
	}
	if end > 0 {
		w.emit(event.Cleaned, "", "kv", func(e *event.Event) { e.Offset, e.End = 0, kafka.Offset(end) })
	}
}

// shorten lets an administrator delete records of "plain".
func (w *logWorld) shorten() {
	if n := len(w.plain); n > 12 && w.start < w.at {
		w.start = min(w.at, w.position["follower"], w.start+3)
		w.emit(event.LogStartMoved, "admin", "plain", func(e *event.Event) { e.Offset, e.Text = w.start, "delete-records" })
	}
}

func (w *logWorld) ask(client, what string) {
	w.ops++
	attempt := w.ops
	w.emit(event.ListOffsetsInvoke, client, "plain", func(e *event.Event) { e.Attempt, e.Text = attempt, what })
	w.emit(event.ListOffsetsOK, client, "plain", func(e *event.Event) {
		e.Attempt, e.Text, e.Offset = attempt, what, w.start
		if what == "latest" {
			e.Offset = kafka.Offset(len(w.plain))
		}
	})
}

// session is that of the group's member.
func (w *logWorld) session() (string, *event.Session) {
	name := fmt.Sprint("m", w.member)
	return name, &event.Session{ProducerID: -1, ProducerEpoch: -1, Group: "g", Member: name, Generation: int32(w.member)}
}

// op emits an operation and its success.
func (w *logWorld) op(invoke, ok event.Kind, client string, s *event.Session, set func(e *event.Event)) {
	w.ops++
	attempt := w.ops
	for _, k := range []event.Kind{invoke, ok} {
		w.emit(k, client, "plain", func(e *event.Event) {
			e.Attempt, e.Session = attempt, s
			set(e)
		})
	}
}

// rebalance gives the partition to another member, which goes on at the group's
// committed offset.
func (w *logWorld) rebalance() {
	if w.member > 0 {
		client, s := w.session()
		w.op(event.CommitInvoke, event.CommitOK, client, s, func(e *event.Event) { e.Offset, e.Text = w.at, "auto" })
		w.emit(event.Revoked, client, "plain", func(e *event.Event) { e.Session = s })
		w.commit = w.at
	}
	w.member++
	client, s := w.session()
	w.emit(event.Assigned, client, "plain", func(e *event.Event) { e.Session = s })
	w.op(event.FetchCommittedInvoke, event.FetchCommittedOK, client, s, func(e *event.Event) {
		if e.Kind == event.FetchCommittedOK {
			e.Offset = w.commit
		}
	})
	w.at = max(w.commit, w.start)
	w.given = w.at
	w.emit(event.PositionReset, client, "plain", func(e *event.Event) { e.End, e.Text, e.Session = w.at, "assign", s })
}

// consume lets the member commit, by enable.auto.commit, what it was given
// before its last poll, and poll.
func (w *logWorld) consume() {
	client, s := w.session()
	if w.given > max(w.commit, 0) {
		w.op(event.CommitInvoke, event.CommitOK, client, s, func(e *event.Event) { e.Offset, e.Text = w.given, "auto" })
		w.commit = w.given
	}
	w.given = w.at
	w.at = w.read(client, "plain", w.at, 3, s)
}

func runLogWorld(seed uint64, steps int) []event.Event {
	w := &logWorld{rnd: rand.New(rand.NewPCG(7, seed)), position: map[string]kafka.Offset{}, commit: kafka.NoOffset}
	for _, text := range []string{"min.insync.replicas=2", "enable.idempotence=true", "min.compaction.lag.ms=40", "delete.retention.ms=3600000"} {
		w.emit(event.Profile, "cluster", "", func(e *event.Event) { e.Text = text })
	}
	w.emit(event.Profile, "topic kv", "", func(e *event.Event) { e.Text = "cleanup.policy=compact" })
	w.emit(event.Profile, "topic plain", "", func(e *event.Event) { e.Text = "cleanup.policy=delete" })
	for len(w.events) < steps {
		switch w.rnd.IntN(12) {
		case 0, 1, 2:
			w.send("p", "kv")
		case 3, 4:
			w.send("q", "plain")
		case 5, 6:
			w.answer()
		case 7:
			w.position["follower"] = w.read("follower", "plain", w.position["follower"], 1+w.rnd.IntN(5), nil)
		case 8:
			w.view([]string{"v1", "v2"}[w.rnd.IntN(2)])
		case 9:
			if w.member == 0 || w.rnd.IntN(6) == 0 {
				w.rebalance()
			}
			w.consume()
		case 10:
			w.ask("admin", []string{"latest", "earliest"}[w.rnd.IntN(2)])
		case 11:
			if w.rnd.IntN(3) == 0 {
				w.clean()
			} else if w.rnd.IntN(3) == 0 {
				w.shorten()
			}
		}
	}
	w.answer()
	w.view("v1")
	w.position["follower"] = w.read("follower", "plain", w.position["follower"], 1000, nil)
	return slices.Clip(w.events)
}
