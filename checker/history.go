package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// history is what clients asked and were told.
type history struct {
	sends    blocks[send] // in order of their calls
	rarities blocks[rarities]
	attempts attempts
	readings map[kafka.TopicPartition]*reading
	byTP     []*reading // in order of first mention
	last     *reading   // the one used last: events come in runs
	senders  senders
	asked    map[string]pollCall
	listings map[listing]stamp // not answered yet
	// Sends with something that few histories have: rules that need it go over all
	// sends only then.
	strayed                         string // what of the present event, the end of a send, is not of that send
	failed, made, keyed, identified int    // that failed, were made from a record, have a key, have a producer id or epoch
}

// pollCall is the last PollInvoke of a client.
type pollCall struct {
	attempt, seq uint64
	at           int64 // ns
}

// send returns the send of an attempt, nil if the history shows none.
func (h *history) send(attempt uint64) *send {
	if n := h.attempts.get(attempt); n != nil {
		return h.sends.at(int(n.number) - 1)
	}
	return nil
}

func newHistory() history {
	return history{readings: map[kafka.TopicPartition]*reading{}, asked: map[string]pollCall{}, listings: map[listing]stamp{},
		senders: senders{byClient: map[string]*sender{}}}
}

// reading returns what was read of a partition.
func (h *history) reading(tp kafka.TopicPartition) *reading {
	if h.last != nil && h.last.tp == tp {
		return h.last
	}
	r := h.readings[tp]
	if r == nil {
		r = &reading{tp: tp, history: h}
		h.readings[tp] = r
		h.byTP = append(h.byTP, r)
	}
	h.last = r
	return r
}

func (h *history) observe(f *facts, e *event.Event) {
	switch e.Kind {
	case event.SendInvoke:
		h.invoked(e)
	case event.SendOK, event.SendFail, event.SendUnknown:
		h.completed(f, e)
	case event.PollOK:
		r := h.reading(e.TP())
		lo, hi := r.show(e.Records)
		p := r.polls.add()
		*p = poll{client: e.Client, seq: e.Seq, at: e.At, from: e.Offset, end: e.End, drained: e.Drained, lo: lo, hi: hi,
			isolation: e.Isolation, lso: e.LastStable, hw: e.HighWatermark, session: e.Session, follower: f.servedByFollower(e)}
		if asked, known := h.asked[e.Client]; known && asked.attempt == e.Attempt {
			p.invoked, p.invokedAt = asked.seq, asked.at
		}
		if at := f.sessions.position(session{e.Client, e.TP()}); at.reset {
			p.since, p.sinceAt, p.chain = at.since, at.sinceAt, at.from
		}
	case event.PollInvoke:
		h.asked[e.Client] = pollCall{e.Attempt, e.Seq, e.At}
	}
}

func (h *history) invoked(e *event.Event) {
	if h.attempts.get(e.Attempt) != nil {
		return // ambiguous-attempt tells
	}
	h.attempts.add(e.Attempt, ticket{e.Hash, int32(h.sends.len() + 1)})
	*h.sends.add() = send{origin: h.senders.origin(e.Client, e.Topic, e.Partition), attempt: e.Attempt, hash: e.Hash, text: e.Text, acks: e.Acks, invoked: e.Seq, at: e.At,
		offset: kafka.NoOffset, seen: kafka.NoOffset, outcome: event.SendInvoke, session: e.Session, rarities: h.rare(rarities{e.Key, e.Source, e.Headers, e.Timestamp})}
	if e.Source != "" {
		h.made++
	}
	if e.Key != 0 {
		h.keyed++
	}
	h.identify(e.Session)
}

// identify counts a session with a producer id or epoch.
func (h *history) identify(s *event.Session) {
	if s != nil && (s.ProducerID >= 0 || s.ProducerEpoch >= 0) {
		h.identified++
	}
}

// beyondOffsets is no record's offset: behind each there is a next one.
const beyondOffsets kafka.Offset = math.MaxInt64

func (h *history) completed(f *facts, e *event.Event) {
	s := h.send(e.Attempt)
	if s == nil || s.done != 0 {
		return // malformed tells
	}
	h.strayed = s.strays(e)
	s.done, s.doneAt, s.outcome, s.code = e.Seq, e.At, e.Kind, e.Code
	if s.tp.Topic != e.Topic || s.tp.Partition != e.Partition {
		s.origin = h.senders.origin(s.client, e.Topic, e.Partition)
	}
	if s.headers == 0 && e.Headers != 0 || s.timestamp == 0 && e.Timestamp != 0 {
		s.rarities = h.rare(rarities{s.key, s.source, cmp.Or(s.headers, e.Headers), cmp.Or(s.timestamp, e.Timestamp)})
	}
	if e.Session != nil {
		s.session = e.Session
		h.identify(e.Session)
	}
	if e.Kind == event.SendFail {
		h.failed++
	}
	if e.Kind == event.SendOK && e.Offset != kafka.NoOffset && e.Offset < beyondOffsets {
		s.offset = e.Offset
		if s.origin.reading == nil {
			s.origin.reading = h.reading(s.tp)
		}
		s.origin.reading.acked(s)
	}
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
