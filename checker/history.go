package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// history is what clients asked and were told.
type history struct {
	attempts attempts
	order    []*send
	readings map[kafka.TopicPartition]*reading
	byTP     []*reading // in order of first mention
	last     *reading   // the one used last: events come in runs
	// producers numbers the clients that send.
	producers map[string]int32
	asked     map[string]pollCall
	listings  map[listing]stamp // not answered yet
	// Sends with something that few histories have: rules that need it go over all
	// sends only then.
	failed, made, identified int // that failed, were made from a record, have a producer id or epoch
}

// pollCall is the last PollInvoke of a client.
type pollCall struct {
	attempt, seq uint64
	at           int64 // ns
}

// send returns the send of an attempt, nil if the history shows none.
func (h *history) send(attempt uint64) *send { return h.attempts.get(attempt) }

// send is one application-level send. What rules ask of every send comes first,
// within one line of the processor's cache.
type send struct {
	invoked, done uint64 // event numbers; done 0: still open
	offset        kafka.Offset
	seen          kafka.Offset // the lowest at which it was read, NoOffset for none; known once the partition is indexed
	attempt, hash uint64
	session       *event.Session // nil for none
	who           int32          // the client, by number
	acks          int16
	outcome       event.Kind // SendInvoke while open

	code       kafka.ErrorCode // of a send that failed or may have
	key        uint64          // of the record's key, 0 for none
	at, doneAt int64           // ns, of invoked and done
	clockErr   int64           // ns, of both times
	client     string
	tp         kafka.TopicPartition
	text       string // the beginning of the value, "" if not shown
	source     string // TOPIC-PARTITION@OFFSET that it was made from, empty for none
}

// promised reports whether Kafka promised to keep the record: acks=all and a
// success. With acks=1 the leader alone answered; with acks=0 nobody did.
func (s *send) promised() bool {
	return s.outcome == event.SendOK && s.acks == -1 && s.offset != kafka.NoOffset
}

// reading is what was acknowledged and read in one partition.
type reading struct {
	tp      kafka.TopicPartition
	acked   []*send        // SendOK with an offset, in order of the acknowledgement
	places  []kafka.Offset // of those, their offsets; NoOffset with less than acks=all
	weak    int            // of those, with less than acks=all
	polls   []poll
	records []event.Record // of all polls, one after the other
	log     *logIndex      // these two are made when the run is over
	order   *order
	keys    *keyIndex
	facts   logFacts
}

// poll covers [from, end): no record there was hidden from its reader.
type poll struct {
	client    string
	seq       uint64
	at        int64
	from, end kafka.Offset
	drained   bool
	lo, hi    int    // its records in reading.records
	invoked   uint64 // 0 for not known
	invokedAt int64  // ns
	clockErr  int64  // ns, of both times
	// follower: it was served by a replica that does not lead, whose end says
	// nothing of the partition's.
	follower bool
	// since is the event with which its reader's unbroken chain of polls began,
	// at chain; 0 for not known.
	since     uint64
	chain     kafka.Offset
	isolation event.Isolation
	lso, hw   kafka.Offset   // as the answer told, NoOffset for not known
	session   *event.Session // nil for none
}

func newHistory() history {
	return history{attempts: newAttempts(), readings: map[kafka.TopicPartition]*reading{}, asked: map[string]pollCall{}, listings: map[listing]stamp{}, producers: map[string]int32{}}
}

// reading returns what was read of a partition.
func (h *history) reading(tp kafka.TopicPartition) *reading {
	if h.last != nil && h.last.tp == tp {
		return h.last
	}
	r := h.readings[tp]
	if r == nil {
		r = &reading{tp: tp}
		h.readings[tp] = r
		h.byTP = append(h.byTP, r)
	}
	h.last = r
	return r
}

func (h *history) observe(f *facts, e *event.Event) {
	switch e.Kind {
	case event.SendInvoke:
		if h.send(e.Attempt) != nil {
			return // ambiguous-attempt tells
		}
		s := h.attempts.add(e.Attempt)
		*s = send{client: e.Client, who: h.producer(e.Client), tp: e.TP(), attempt: e.Attempt, hash: e.Hash, key: e.Key, text: e.Text, acks: e.Acks, invoked: e.Seq,
			at: e.At, clockErr: e.ClockErr, offset: kafka.NoOffset, seen: kafka.NoOffset, outcome: event.SendInvoke, session: e.Session, source: e.Source}
		h.order = append(roomFor(h.order, 1), s)
		if e.Source != "" {
			h.made++
		}
		h.identify(e.Session)
	case event.SendOK, event.SendFail, event.SendUnknown:
		h.completed(f, e)
	case event.PollOK:
		r := h.reading(e.TP())
		lo := len(r.records)
		r.records = append(roomFor(r.records, len(e.Records)), e.Records...)
		p := poll{client: e.Client, seq: e.Seq, at: e.At, from: e.Offset, end: e.End, drained: e.Drained, lo: lo, hi: len(r.records),
			isolation: e.Isolation, lso: e.LastStable, hw: e.HighWatermark, session: e.Session, clockErr: e.ClockErr, follower: f.servedByFollower(e)}
		if asked, known := h.asked[e.Client]; known && asked.attempt == e.Attempt {
			p.invoked, p.invokedAt = asked.seq, asked.at
		}
		if at := f.sessions.position(session{e.Client, e.TP()}); at.reset {
			p.since, p.chain = at.since, at.from
		}
		r.polls = append(roomFor(r.polls, 1), p)
	case event.PollInvoke:
		h.asked[e.Client] = pollCall{e.Attempt, e.Seq, e.At}
	}
}

// identify counts a session with a producer id or epoch.
func (h *history) identify(s *event.Session) {
	if s != nil && (s.ProducerID >= 0 || s.ProducerEpoch >= 0) {
		h.identified++
	}
}

// producer is the number of a client that sends.
func (h *history) producer(client string) int32 {
	n, known := h.producers[client]
	if !known {
		n = int32(len(h.producers))
		h.producers[client] = n
	}
	return n
}

func (h *history) completed(f *facts, e *event.Event) {
	s := h.send(e.Attempt)
	if s == nil || s.done != 0 {
		return // malformed tells
	}
	s.done, s.doneAt, s.outcome, s.code, s.clockErr = e.Seq, e.At, e.Kind, e.Code, max(s.clockErr, e.ClockErr)
	if s.tp.Topic != e.Topic || s.tp.Partition != e.Partition {
		s.tp = e.TP()
	}
	if e.Session != nil {
		s.session = e.Session
		h.identify(e.Session)
	}
	if e.Kind == event.SendFail {
		h.failed++
	}
	if e.Kind == event.SendOK && e.Offset != kafka.NoOffset {
		s.offset = e.Offset
		r := h.reading(s.tp)
		at := s.offset
		if s.acks != -1 {
			r.weak++
			at = kafka.NoOffset
		}
		r.acked, r.places = append(roomFor(r.acked, 1), s), append(roomFor(r.places, 1), at)
	}
}

// at returns what a poll showed at an offset.
func (r *reading) at(p *poll, o kafka.Offset) (event.Record, bool) {
	seen := r.records[p.lo:p.hi]
	i := sort.Search(len(seen), func(i int) bool { return seen[i].Offset >= o })
	if i < len(seen) && seen[i].Offset == o {
		return seen[i], true
	}
	return event.Record{}, false
}

// lastDrained is the last poll that reached the end of the partition as its
// leader knew it, nil for none.
func (r *reading) lastDrained() *poll {
	for i := len(r.polls) - 1; i >= 0; i-- {
		if r.polls[i].drained && !r.polls[i].follower {
			return &r.polls[i]
		}
	}
	return nil
}

// holds reports whether a record that was read is the one that was sent.
func (s *send) holds(rec event.Record) bool {
	if s.attempt != 0 && rec.Attempt != 0 {
		return s.attempt == rec.Attempt
	}
	return s.hash == rec.Hash
}

// byOffset sorts sends by offset, then by acknowledgement.
func byOffset(sends []*send) []*send {
	s := slices.Clone(sends)
	slices.SortStableFunc(s, func(a, b *send) int { return cmp.Compare(a.offset, b.offset) })
	return s
}

// sorted lists the readings by partition.
func (h *history) sorted() []*reading {
	rs := slices.Clone(h.byTP)
	slices.SortStableFunc(rs, func(a, b *reading) int {
		if a.tp.Less(b.tp) {
			return -1
		}
		return 1
	})
	return rs
}

// what names a send in a sentence.
func (s *send) what() string {
	if s.text != "" {
		return fmt.Sprintf("%q of %s", s.text, s.client)
	}
	return fmt.Sprintf("attempt %d of %s", event.Ordinal(s.attempt), s.client)
}

// what names the send of an attempt, as far as the history shows it.
func (h *history) what(attempt uint64) string {
	if s := h.send(attempt); s != nil {
		return s.what()
	}
	return fmt.Sprintf("attempt %d", event.Ordinal(attempt))
}

// roomFor grows a list for n more by doubling it: append alone grows long lists
// by a quarter, and copies them four times over.
func roomFor[T any](list []T, n int) []T {
	if cap(list)-len(list) < n {
		list = slices.Grow(list, max(n, len(list)))
	}
	return list
}
