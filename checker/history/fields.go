package history

import (
	"math"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// parser reads event lines. It keeps what lines have in common: a string or a
// session that comes again is the same value in memory.
type parser struct {
	scanner
	records []event.Record   // of the line at hand
	isr     []kafka.BrokerID // of the line at hand
	strings map[string]string
	texts   [recentTexts]string // of sends, by their last characters
	// sessions by the bytes that they were written with.
	sessions map[string]*event.Session
	kinds    map[string]event.Kind
}

// mostShared bounds the strings and sessions that a parser keeps: a history with
// more of them pays with memory for those in use alone.
const mostShared = 1 << 14

// recentTexts is about how many sends may be on their way when one is answered
// without its text being made a second time.
const recentTexts = 1 << 10

func newParser() *parser {
	p := &parser{strings: map[string]string{}, sessions: map[string]*event.Session{}, kinds: map[string]event.Kind{}}
	for _, k := range event.Kinds() {
		p.kinds[k.String()] = k
	}
	return p
}

// fields tells which keys a line had.
type fields uint32

const (
	hasSeq fields = 1 << iota
	hasClockErr
	hasClient
	hasTopic
	hasPartition
	hasOffset
	hasEnd
	hasAttempt
	hasText
	hasSession
	hasKind
)

// parse reads one line into e. Records, ISR and nothing else of e belong to the
// parser, until the next line.
func (p *parser) parse(line []byte, e *event.Event) fields {
	p.line, p.at, p.field, p.err = line, 0, "", nil
	p.records, p.isr = p.records[:0], p.isr[:0]
	*e = event.New(0)
	var had fields
	p.open('{', "an object: { at the beginning of the line")
	for first := true; p.more(first, '}'); first = false {
		key := p.key()
		if p.err != nil {
			break
		}
		had |= p.member(key, e)
		if p.err != nil {
			if p.field == "" {
				p.field = string(key)
			}
			return had
		}
	}
	if p.err == nil && p.next() != 0 {
		p.failWant("the end of the line")
	}
	if len(p.records) > 0 {
		e.Records = p.records
	}
	if len(p.isr) > 0 {
		e.ISR = p.isr
	}
	return had
}

// member reads one field's value. Fields that are not known are passed over, so
// that recorders may write more.
func (p *parser) member(key []byte, e *event.Event) fields {
	if p.null() {
		return 0
	}
	switch string(key) {
	case "seq":
		e.Seq = p.uint()
		return hasSeq
	case "t_ns":
		e.At = p.int(math.MinInt64, math.MaxInt64)
	case "kind":
		e.Kind = p.kind()
		return hasKind
	case "client":
		e.Client = p.shared("a name in quotes")
		return hasClient
	case "topic":
		e.Topic = p.shared("a topic in quotes")
		return hasTopic
	case "partition":
		e.Partition = int32(p.int(math.MinInt32, math.MaxInt32))
		return hasPartition
	case "offset":
		e.Offset = kafka.Offset(p.int(math.MinInt64, math.MaxInt64))
		return hasOffset
	case "end":
		e.End = kafka.Offset(p.int(math.MinInt64, math.MaxInt64))
		return hasEnd
	case "attempt":
		e.Attempt = p.uint()
		return hasAttempt
	case "hash":
		e.Hash = p.hash()
	case "acks":
		e.Acks = int16(p.int(math.MinInt16, math.MaxInt16))
	case "records":
		p.readRecords()
	case "session":
		e.Session = p.session()
		return hasSession
	case "text":
		e.Text = p.wording(e.Kind)
		return hasText
	default:
		return p.rare(key, e)
	}
	return 0
}

// rare reads the fields that few lines of a client history have.
func (p *parser) rare(key []byte, e *event.Event) fields {
	switch string(key) {
	case "code":
		e.Code = kafka.ErrorCode(p.int(math.MinInt16, math.MaxInt16))
	case "drained":
		e.Drained = p.bool()
	case "hw":
		e.HighWatermark = kafka.Offset(p.int(math.MinInt64, math.MaxInt64))
	case "lso":
		e.LastStable = kafka.Offset(p.int(math.MinInt64, math.MaxInt64))
	case "key":
		e.Key = p.hash()
	case "headers":
		e.Headers = p.hash()
	case "timestamp":
		e.Timestamp = kafka.Timestamp(p.int(math.MinInt64, math.MaxInt64))
	case "source":
		e.Source = string(p.text("TOPIC-PARTITION@OFFSET in quotes"))
	case "isolation":
		e.Isolation = event.Isolation(p.int(int64(event.ReadUncommitted), int64(event.ReadCommitted)))
	case "clock_err_ns":
		e.ClockErr = p.int(0, math.MaxInt64)
		return hasClockErr
	case "epoch":
		e.Epoch = kafka.LeaderEpoch(p.int(math.MinInt32, math.MaxInt32))
	case "partition_epoch":
		e.PartitionEpoch = kafka.PartitionEpoch(p.int(math.MinInt32, math.MaxInt32))
	case "node":
		e.Node = kafka.BrokerID(p.int(math.MinInt32, math.MaxInt32))
	case "peer":
		e.Peer = kafka.BrokerID(p.int(math.MinInt32, math.MaxInt32))
	case "isr":
		p.readISR()
	case "line":
		e.Line = int(p.int(math.MinInt, math.MaxInt))
	default:
		p.value()
	}
	return 0
}

func (p *parser) kind() event.Kind {
	p.blanks()
	start := p.at
	name := p.text("a kind in quotes")
	k, known := p.kinds[string(name)]
	if !known && p.err == nil {
		p.at = start
		p.failWant("a kind of event (see FORMAT.md)")
	}
	return k
}

// shared reads a string that other lines have too.
func (p *parser) shared(what string) string {
	b := p.text(what)
	if s, ok := p.strings[string(b)]; ok {
		return s
	}
	if len(p.strings) >= mostShared {
		clear(p.strings)
	}
	s := string(b)
	p.strings[s] = s
	return s
}

// wording reads a text: a send's is the beginning of a value that no other has.
func (p *parser) wording(k event.Kind) string {
	switch k {
	case event.SendInvoke, event.SendOK, event.SendFail, event.SendUnknown:
		return p.valueText()
	}
	return p.shared("a text in quotes")
}

// valueText reads the text of a send, which its outcome repeats.
func (p *parser) valueText() string {
	b := p.text("a text in quotes")
	hash := len(b)
	for _, c := range b[max(0, len(b)-8):] {
		hash = 31*hash + int(c)
	}
	recent := &p.texts[hash%recentTexts]
	if *recent != string(b) {
		*recent = string(b)
	}
	return *recent
}

func (p *parser) readISR() {
	p.isr = p.isr[:0]
	p.open('[', "a list of broker ids")
	for first := true; p.more(first, ']'); first = false {
		p.isr = append(p.isr, kafka.BrokerID(p.int(math.MinInt32, math.MaxInt32)))
	}
}

func (p *parser) readRecords() {
	p.records = p.records[:0]
	p.open('[', "a list of records")
	for first := true; p.more(first, ']'); first = false {
		r := event.Record{Epoch: kafka.NoEpoch}
		if p.plainRecord(&r) {
			p.records = append(p.records, r)
			continue
		}
		p.open('{', "a record: an object")
		for first := true; p.more(first, '}'); first = false {
			key := p.key()
			if p.err == nil {
				p.recordMember(key, &r)
				p.within("records", key)
			}
		}
		p.records = append(p.records, r)
	}
}

// plainRecord reads a record as the Writer writes nearly all of them, with every
// key in its place. Of any other it reads nothing.
func (p *parser) plainRecord(r *event.Record) bool {
	start := p.at
	var offset, epoch, attempt, stamp uint64
	if p.number(`{"offset":`, &offset) && p.number(`,"epoch":`, &epoch) && p.number(`,"attempt":`, &attempt) && p.digest(`,"hash":"`, &r.Hash) &&
		p.digestIfAny(`,"key":"`, &r.Key) && p.digestIfAny(`,"headers":"`, &r.Headers) && p.numberIfAny(`,"timestamp":`, &stamp) &&
		p.word("}") && offset <= math.MaxInt64 && epoch <= math.MaxInt32 && stamp <= math.MaxInt64 {
		r.Offset, r.Epoch, r.Attempt, r.Timestamp = kafka.Offset(offset), kafka.LeaderEpoch(epoch), attempt, kafka.Timestamp(stamp)
		return true
	}
	p.at, *r = start, event.Record{Epoch: kafka.NoEpoch}
	return false
}

// within names the key inside a list or object at which a fault was found.
func (p *parser) within(outer string, key []byte) {
	if p.err != nil && p.field == "" {
		p.field = outer + "." + string(key)
	}
}

func (p *parser) recordMember(key []byte, r *event.Record) {
	if p.null() {
		return
	}
	switch string(key) {
	case "offset":
		r.Offset = kafka.Offset(p.int(math.MinInt64, math.MaxInt64))
	case "epoch":
		r.Epoch = kafka.LeaderEpoch(p.int(math.MinInt32, math.MaxInt32))
	case "attempt":
		r.Attempt = p.uint()
	case "hash":
		r.Hash = p.hash()
	case "key":
		r.Key = p.hash()
	case "headers":
		r.Headers = p.hash()
	case "timestamp":
		r.Timestamp = kafka.Timestamp(p.int(math.MinInt64, math.MaxInt64))
	case "control":
		r.Control = event.Control(p.int(int64(event.DataRecord), int64(event.CommitMarker)))
	default:
		p.value()
	}
}

// session reads a session, or finds the one that was written with these bytes.
func (p *parser) session() *event.Session {
	p.blanks()
	start := p.at
	raw := p.value()
	if p.err != nil {
		return nil
	}
	if s, ok := p.sessions[string(raw)]; ok {
		return s
	}
	p.at = start
	s := event.NewSession()
	p.open('{', "a session: an object")
	for first := true; p.more(first, '}'); first = false {
		key := p.key()
		if p.err == nil {
			p.sessionMember(key, &s)
			p.within("session", key)
		}
	}
	if p.err != nil {
		return nil
	}
	if len(p.sessions) >= mostShared {
		clear(p.sessions)
	}
	p.sessions[string(raw)] = &s
	return &s
}

func (p *parser) sessionMember(key []byte, s *event.Session) {
	if p.null() {
		return
	}
	switch string(key) {
	case "pid":
		s.ProducerID = kafka.ProducerID(p.int(math.MinInt64, math.MaxInt64))
	case "producer_epoch":
		s.ProducerEpoch = kafka.ProducerEpoch(p.int(math.MinInt16, math.MaxInt16))
	case "txid":
		s.TransactionalID = p.shared("a transactional id in quotes")
	case "txn":
		s.Txn = p.uint()
	case "group":
		s.Group = p.shared("a group id in quotes")
	case "member":
		s.Member = p.shared("a member id in quotes")
	case "generation":
		s.Generation = int32(p.int(math.MinInt32, math.MaxInt32))
	default:
		p.value()
	}
}
