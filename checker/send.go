package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// send is one application-level send. A history has millions, so what few sends
// have (rarities) and what many have in common (origin) lies elsewhere. What rules
// ask of every send comes first, within one line of the processor's cache.
type send struct {
	invoked, done uint64 // event numbers; done 0: still open
	offset        kafka.Offset
	seen          kafka.Offset // the lowest at which it was read, NoOffset for none; known once the partition is indexed
	attempt, hash uint64
	*origin
	acks    int16
	code    kafka.ErrorCode // of a send that failed or may have
	outcome event.Kind      // SendInvoke while open

	at, doneAt int64          // ns, of invoked and done
	session    *event.Session // nil for none
	text       string         // the beginning of the value, "" if not shown
	*rarities
}

// origin is who sent a record, and where to. It is shared.
type origin struct {
	client  string
	who     int32 // the client, by number
	tp      kafka.TopicPartition
	reading *reading // of tp; nil while no send from here was acknowledged
}

// rarities is what few sends have. It is shared where it is empty, and never
// changed.
type rarities struct {
	key       uint64          // of the record's key, 0 for none
	source    string          // TOPIC-PARTITION@OFFSET that it was made from, empty for none
	headers   uint64          // hash of them, 0 for not known
	timestamp kafka.Timestamp // ms, 0 for not known
}

var noRarities rarities

// rare keeps rarities, shared where there are none.
func (h *history) rare(r rarities) *rarities {
	if r == noRarities {
		return &noRarities
	}
	own := h.rarities.add()
	*own = r
	return own
}

// promised reports whether Kafka promised to keep the record: acks=all and a
// success. With acks=1 the leader alone answered; with acks=0 nobody did.
func (s *send) promised() bool {
	return s.outcome == event.SendOK && s.acks == -1 && s.offset != kafka.NoOffset
}

// holds reports whether a record that was read is the one that was sent.
func (s *send) holds(rec event.Record) bool {
	if s.attempt != 0 && rec.Attempt != 0 {
		return s.attempt == rec.Attempt
	}
	return s.hash == rec.Hash
}

// strays says how the end of a send names another one than began, "" if it does not.
// A partition may be known by the end alone.
func (s *send) strays(e *event.Event) string {
	switch {
	case e.Client != s.client:
		return fmt.Sprintf("is told to %s, and %s sent it", e.Client, s.client)
	case e.Topic != s.tp.Topic || e.Partition != s.tp.Partition && e.Partition >= 0 && s.tp.Partition >= 0:
		return fmt.Sprintf("names %s, and it was sent to %s", e.TP(), s.tp)
	case e.Partition < 0 && e.Kind == event.SendOK && e.Offset != kafka.NoOffset:
		return fmt.Sprintf("names offset %d of no partition", e.Offset)
	case e.Hash != s.hash && e.Hash != 0 && s.hash != 0:
		return "names another value than was sent"
	}
	return ""
}

// what names a send in a sentence.
func (s *send) what() string {
	if s.text != "" {
		return fmt.Sprintf("%q of %s", s.text, s.client)
	}
	return fmt.Sprintf("attempt %d of %s", event.Ordinal(s.attempt), s.client)
}

// sender is a client that sends.
type sender struct {
	client  string
	who     int32 // by number
	origins map[kafka.TopicPartition]*origin
	// recent are some of the origins, by the last bits of the partition.
	recent [16]*origin
}

// senders are the clients that send.
type senders struct {
	byClient map[string]*sender
	// recent are some of them, by the last characters of their names.
	recent [64]*sender
}

// origin returns what sends of a client to a partition share.
func (s *senders) origin(client, topic string, partition int32) *origin {
	by := s.sender(client)
	slot := &by.recent[uint32(partition)%uint32(len(by.recent))]
	if o := *slot; o != nil && o.tp.Partition == partition && o.tp.Topic == topic {
		return o
	}
	tp := kafka.TopicPartition{Topic: topic, Partition: partition}
	o := by.origins[tp]
	if o == nil {
		o = &origin{client: client, who: by.who, tp: tp}
		by.origins[tp] = o
	}
	*slot = o
	return o
}

func (s *senders) sender(client string) *sender {
	hash := len(client)
	for i := max(0, len(client)-2); i < len(client); i++ {
		hash = 11*hash + int(client[i])
	}
	slot := &s.recent[hash%len(s.recent)]
	if by := *slot; by != nil && by.client == client {
		return by
	}
	by := s.byClient[client]
	if by == nil {
		by = &sender{client: client, who: int32(len(s.byClient)), origins: map[kafka.TopicPartition]*origin{}}
		s.byClient[client] = by
	}
	*slot = by
	return by
}
