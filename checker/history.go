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
	sends    map[uint64]*send // by attempt
	order    []*send
	readings map[kafka.TopicPartition]*reading
	byTP     []*reading // in order of first mention
}

// send is one application-level send.
type send struct {
	client        string
	tp            kafka.TopicPartition
	attempt, hash uint64
	text          string // the beginning of the value, "" if not shown
	acks          int16
	invoked, done uint64 // event numbers; done 0: still open
	doneAt        int64
	offset        kafka.Offset
	outcome       event.Kind // SendInvoke while open
}

// promised reports whether Kafka promised to keep the record: acks=all and a
// success. With acks=1 the leader alone answered; with acks=0 nobody did.
func (s *send) promised() bool {
	return s.outcome == event.SendOK && s.acks == -1 && s.offset != kafka.NoOffset
}

// reading is what was acknowledged and read in one partition.
type reading struct {
	tp      kafka.TopicPartition
	acked   []*send // SendOK with an offset, in order of the acknowledgement
	polls   []poll
	records []event.Record // of all polls, one after the other
	order   *order         // made when the run is over
}

// poll covers [from, end): no record there was hidden from its reader.
type poll struct {
	client    string
	seq       uint64
	at        int64
	from, end kafka.Offset
	drained   bool
	lo, hi    int // its records in reading.records
}

func newHistory() history {
	return history{sends: map[uint64]*send{}, readings: map[kafka.TopicPartition]*reading{}}
}

// reading returns what was read of a partition.
func (h *history) reading(tp kafka.TopicPartition) *reading {
	r := h.readings[tp]
	if r == nil {
		r = &reading{tp: tp}
		h.readings[tp] = r
		h.byTP = append(h.byTP, r)
	}
	return r
}

func (h *history) observe(f *facts, e *event.Event) {
	switch e.Kind {
	case event.SendInvoke:
		if h.sends[e.Attempt] != nil {
			f.unknown = append(f.unknown, fmt.Sprintf("malformed: event %d sends attempt %d of %s a second time", e.Seq, event.Ordinal(e.Attempt), e.Client))
			return
		}
		s := &send{client: e.Client, tp: e.TP(), attempt: e.Attempt, hash: e.Hash, text: e.Text, acks: e.Acks, invoked: e.Seq,
			offset: kafka.NoOffset, outcome: event.SendInvoke}
		h.sends[e.Attempt] = s
		h.order = append(h.order, s)
	case event.SendOK, event.SendFail, event.SendUnknown:
		h.completed(f, e)
	case event.PollOK:
		r := h.reading(e.TP())
		lo := len(r.records)
		r.records = append(r.records, e.Records...)
		r.polls = append(r.polls, poll{e.Client, e.Seq, e.At, e.Offset, e.End, e.Drained, lo, len(r.records)})
	}
}

func (h *history) completed(f *facts, e *event.Event) {
	s := h.sends[e.Attempt]
	if s == nil || s.done != 0 {
		f.unknown = append(f.unknown, fmt.Sprintf("malformed: event %d ends attempt %d of %s, which is not open", e.Seq, event.Ordinal(e.Attempt), e.Client))
		return
	}
	s.done, s.doneAt, s.outcome, s.tp = e.Seq, e.At, e.Kind, e.TP()
	if e.Kind == event.SendOK && e.Offset != kafka.NoOffset {
		s.offset = e.Offset
		r := h.reading(s.tp)
		r.acked = append(r.acked, s)
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

// lastCover finds, for acknowledged sends sorted by offset, the last poll that
// covers each one's offset; nil where none does. Each send is assigned once,
// by the latest poll, so the time is near-linear whatever the polls overlap.
func (r *reading) lastCover(byOffset []*send) []*poll {
	cover := make([]*poll, len(byOffset))
	next := make([]int, len(byOffset)+1) // the first unassigned send at or after i
	for i := range next {
		next[i] = i
	}
	free := func(i int) int {
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	for k := len(r.polls) - 1; k >= 0; k-- {
		p := &r.polls[k]
		first := sort.Search(len(byOffset), func(i int) bool { return byOffset[i].offset >= p.from })
		for i := free(first); i < len(byOffset) && byOffset[i].offset < p.end; i = free(i) {
			cover[i] = p
			next[i] = i + 1
		}
	}
	return cover
}

// lastDrained is the last poll that reached the end of the partition, nil for
// none.
func (r *reading) lastDrained() *poll {
	for i := len(r.polls) - 1; i >= 0; i-- {
		if r.polls[i].drained {
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

// each calls do for every record of every poll, in order.
func (h *history) each(do func(r *reading, p *poll, rec event.Record)) {
	for _, r := range h.sorted() {
		for i := range r.polls {
			p := &r.polls[i]
			for _, rec := range r.records[p.lo:p.hi] {
				do(r, p, rec)
			}
		}
	}
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
	if s := h.sends[attempt]; s != nil {
		return s.what()
	}
	return fmt.Sprintf("attempt %d", event.Ordinal(attempt))
}
