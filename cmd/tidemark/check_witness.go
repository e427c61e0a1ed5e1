package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// witnesses are the events that findings name, by their numbers.
type witnesses map[uint64]witnessEvent

// witnessEvent is an event and where it stands.
type witnessEvent struct {
	event.Event
	file string
	line int
}

// witnessesOf are the numbers of the events that prove a finding, ascending.
func witnessesOf(f *checker.Finding) []uint64 {
	if len(f.Witness) > 0 {
		return f.Witness
	}
	var seqs []uint64
	for _, seq := range []uint64{f.Acked.Seq, f.Lost.Seq, f.Sealed.Seq, f.Seq} {
		if seq != 0 {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}

// findWitnesses reads the history again for the events that the report names. It
// keeps no others, so a long history needs no memory for them.
func findWitnesses(in *checkInput, p *progress, r checker.Report) (witnesses, error) {
	found := witnesses{}
	wanted := map[uint64]bool{}
	for i := range r.Findings {
		for _, seq := range witnessesOf(&r.Findings[i]) {
			wanted[seq] = true
		}
	}
	if len(wanted) == 0 {
		return found, nil
	}
	s, err := in.open(p, wanted)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var e event.Event
	for len(found) < len(wanted) {
		err := s.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if !wanted[e.Seq] || e.Kind == event.Profile && found[e.Seq].Kind != 0 {
			continue
		}
		w := witnessEvent{Event: e}
		w.file, w.line = s.At()
		w.Records, w.ISR = slices.Clone(e.Records), slices.Clone(e.ISR)
		found[e.Seq] = w
	}
	return found, nil
}

// where is the event's place in its file.
func (w *witnessEvent) where() string {
	if w.line == 0 {
		return w.file
	}
	return fmt.Sprintf("%s:%d", w.file, w.line)
}

// String tells the operation in one line, for people.
func (w *witnessEvent) String() string {
	words := []string{w.Kind.String()}
	if w.Client != "" {
		words = append([]string{w.Client}, words...)
	} else if w.Node != kafka.NoBroker {
		words = append([]string{fmt.Sprintf("node %d", w.Node)}, words...)
	}
	if w.Topic != "" {
		words = append(words, w.place())
	}
	if w.Attempt != 0 && w.Kind < event.PollInvoke {
		words = append(words, fmt.Sprintf("attempt %d", event.Ordinal(w.Attempt)))
	}
	words = append(words, w.details()...)
	if w.Text != "" {
		words = append(words, strconv.Quote(w.Text))
	}
	return strings.Join(words, " ")
}

func (w *witnessEvent) place() string {
	if w.Partition < 0 {
		return w.Topic
	}
	return w.TP().String()
}

func (w *witnessEvent) details() []string {
	var words []string
	add := func(format string, v ...any) { words = append(words, fmt.Sprintf(format, v...)) }
	switch w.Kind {
	case event.PollOK:
		add("from %d to %d", w.Offset, w.End)
		add("%s", showRecords(w.Records))
		if w.Isolation == event.ReadCommitted {
			add("read_committed")
		}
		if w.Drained {
			add("drained")
		}
		return words
	case event.PositionReset:
		add("from %d to %d", w.Offset, w.End)
		return words
	}
	if w.Offset != kafka.NoOffset {
		add("offset %d", w.Offset)
	}
	if w.End != kafka.NoOffset {
		add("end %d", w.End)
	}
	if w.Peer != kafka.NoBroker {
		add("peer %d", w.Peer)
	}
	if w.Epoch != kafka.NoEpoch {
		add("epoch %d", w.Epoch)
	}
	if len(w.ISR) > 0 {
		add("ISR %v", w.ISR)
	}
	if w.Kind == event.SendInvoke || w.Kind == event.SendOK {
		add("acks=%d", w.Acks)
	}
	if w.Code != kafka.None {
		add("%v", w.Code)
	}
	if s := w.Session; s != nil {
		words = append(words, showSession(s)...)
	}
	return words
}

// mostRecords is how many records of a poll a line shows.
const mostRecords = 4

func showRecords(rs []event.Record) string {
	if len(rs) == 0 {
		return "no records"
	}
	var b strings.Builder
	for i := range rs {
		if i == mostRecords {
			fmt.Fprintf(&b, " ... %d records", len(rs))
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d=", rs[i].Offset)
		switch {
		case rs[i].Control != event.DataRecord:
			b.WriteString("marker")
		case rs[i].Attempt != 0:
			fmt.Fprintf(&b, "attempt %d", event.Ordinal(rs[i].Attempt))
		default:
			fmt.Fprintf(&b, "value %x", rs[i].Hash)
		}
	}
	return b.String()
}

func showSession(s *event.Session) []string {
	var words []string
	if s.TransactionalID != "" {
		words = append(words, "transactional.id="+s.TransactionalID)
	}
	if s.Txn != 0 {
		words = append(words, fmt.Sprintf("transaction %d", s.Txn))
	}
	if s.ProducerID >= 0 {
		words = append(words, fmt.Sprintf("producer %d epoch %d", s.ProducerID, s.ProducerEpoch))
	}
	if s.Group != "" {
		words = append(words, "group "+s.Group)
	}
	if s.Member != "" {
		words = append(words, "member "+s.Member)
	}
	if s.Generation >= 0 {
		words = append(words, fmt.Sprintf("generation %d", s.Generation))
	}
	return words
}

// moment writes an event's time.
func moment(ns int64) string { return time.Duration(ns).String() }
