package checker

import (
	"fmt"
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// txnIndex is what the history tells of transactions (KIP-98): by transaction
// what it wrote and how it ended, by transactional id who owned it when.
//
//	begin ── sends, offsets ──┬─ commit invoked ── ok ─▶ committed
//	                          │                 ── ??  ─▶ unknown, until somebody reads
//	                          │                           committed what it wrote: committed
//	                          ├─ abort invoked ── ok ──▶ aborted, and so is one whose commit
//	                          │                           failed for certain or that was fenced
//	                          └─ neither ──────────────▶ open: it can be read by nobody who
//	                                                      reads committed
type txnIndex struct {
	txns   map[uint64]*txn
	recent recentTxn
	kept   struct {
		txns blocks[txn]
		ends blocks[txnEnd]
	}
	order   []*txn
	current map[string]*txn // by client: begun, and its end not yet asked for
	ids     map[string]*transactionalID
	byID    []*transactionalID
	// What is not answered yet.
	ending       map[operation]*txnEnd
	initialising map[operation]*initOp
	// levels: the profile tells isolation.level, for polls that do not.
	levels bool
	// clockMoved: a fault moved some clock, so no timeout can be told.
	clockMoved bool
	closed     bool
	// sends are those that may have been written, by partition, in order of
	// transactions; made when the run is over.
	sends map[kafka.TopicPartition][]txnSend
	flows [][]flow // see facts.flows
	// see facts.missingSends
	missing  []missingSend
	lookedAt int
}

// txnSend is a send within a transaction.
type txnSend struct {
	*send
	txn *txn
}

// stamp is one event. The zero stamp is an event that did not come.
type stamp struct {
	seq uint64
	at  int64 // ns
}

func (s stamp) came() bool { return s.seq != 0 }

// latest is the later one of two events.
func latest(a, b stamp) stamp {
	if b.seq > a.seq {
		return b
	}
	return a
}

// earlier is the earlier one of two events.
func earlier(a, b stamp) stamp {
	if b.seq < a.seq {
		return b
	}
	return a
}

func stampOf(e *event.Event) stamp { return stamp{e.Seq, e.At} }

// txnOutcome is what the whole history tells of a transaction's end.
type txnOutcome uint8

const (
	txnOpen txnOutcome = iota // nobody asked to end it, and nothing fenced it
	txnUnknown
	txnCommitted
	txnAborted
)

func (o txnOutcome) String() string {
	return [...]string{"open", "of unknown outcome", "committed", "aborted"}[o]
}

// txn is one transaction.
type txn struct {
	id      uint64
	index   int // in txnIndex.order
	tid     string
	ordinal int // among those of tid
	client  string
	begin   stamp // its TxnBegin, or whatever showed it first
	ends    []*txnEnd
	sends   []*send
	offsets []*commitOp
	reads   []readRef

	// After closure:
	outcome txnOutcome
	decided stamp // the event that proves the outcome
	proof   proof
	// sightings are reads of what it wrote by those who read committed, in order
	// of partition and poll.
	sightings []sighting
	sighted   int // how many they are
	// seen is the first committed read of it, nil for none; applied is the fetch
	// of its offset that alone proves its commit, nil for none.
	seen    *sighting
	applied *fetchOp
}

// txnEnd is one EndTxn as an application asks for it.
type txnEnd struct {
	abort         bool
	client        string
	producer      producerEpoch
	invoked, done stamp
	result        event.Kind // TxnEndInvoke while open
}

// readRef is a poll inside a transaction.
type readRef struct {
	rd   *reading
	poll int // in rd.polls
}

// sighting is one record of a transaction that somebody read committed.
type sighting struct {
	txn  *txn
	send *send
	rd   *reading
	poll *poll
	rec  seenRecord
}

// seenRecord is what is told of a record that was read.
type seenRecord struct {
	Offset  kafka.Offset
	Epoch   kafka.LeaderEpoch // of its batch
	Attempt uint64
}

// proof is what the event says that proves an outcome.
type proof struct {
	words string
	seq   uint64
}

func (p proof) String() string { return fmt.Sprintf("%s (event %d)", p.words, p.seq) }

func newTxnIndex() *txnIndex {
	return &txnIndex{txns: map[uint64]*txn{}, current: map[string]*txn{}, ids: map[string]*transactionalID{},
		ending: map[operation]*txnEnd{}, initialising: map[operation]*initOp{}}
}

// recentTxn is the session that was asked for last, and its transaction: sends of
// one come in runs.
type recentTxn struct {
	session *event.Session
	txn     *txn
}

// txn returns the transaction of an event's session, made if it is new; nil for
// none.
func (t *txnIndex) txn(e *event.Event) *txn {
	if e.Session == nil || e.Session.Txn == 0 {
		return nil
	}
	if t.recent.session == e.Session {
		return t.recent.txn
	}
	x := t.txns[e.Session.Txn]
	if x == nil {
		x = t.kept.txns.add()
		*x = txn{id: e.Session.Txn, index: len(t.order), client: e.Client, begin: stampOf(e)}
		t.txns[x.id] = x
		t.order = append(t.order, x)
	}
	if x.tid == "" && e.Session.TransactionalID != "" {
		x.tid = e.Session.TransactionalID
		id := t.id(x.tid)
		x.ordinal = len(id.txns)
		id.txns = append(id.txns, x)
	}
	t.recent = recentTxn{e.Session, x}
	return x
}

func (t *txnIndex) id(name string) *transactionalID {
	id := t.ids[name]
	if id == nil {
		id = &transactionalID{id: name}
		t.ids[name] = id
		t.byID = append(t.byID, id)
	}
	return id
}

// observe takes an event in; the history has it already.
func (t *txnIndex) observe(f *facts, e *event.Event) {
	switch e.Kind {
	case event.SendInvoke:
		if x := t.txn(e); x != nil {
			if s := f.history.send(e.Attempt); s != nil && s.invoked == e.Seq {
				x.sends = append(x.sends, s)
			}
		}
	case event.SendOK, event.SendFail, event.SendUnknown:
		t.txn(e)
	case event.Profile:
		t.levels = t.levels || strings.HasPrefix(e.Text, "isolation.level=")
	case event.PollOK:
		t.polled(f, e)
	case event.TxnBegin:
		if x := t.txn(e); x != nil {
			x.client = e.Client
			t.current[e.Client] = x
		}
	case event.TxnEndInvoke, event.TxnEndOK, event.TxnEndFail, event.TxnEndUnknown:
		t.ended(f, e)
	case event.Fault:
		t.clockMoved = t.clockMoved || strings.HasPrefix(e.Text, "clock")
	case event.ClientCrashed:
		delete(t.current, e.Client)
	case event.InitProducerInvoke, event.InitProducerOK, event.InitProducerFail, event.InitProducerUnknown:
		t.initialised(f, e)
	}
}

// polled notes what a transaction reads. A poll belongs to the transaction that
// it names, else to the one that its client is in.
func (t *txnIndex) polled(f *facts, e *event.Event) {
	if t.levels && e.Isolation == event.ReadUncommitted && f.profile.consumer(e.Client, "isolation.level") == "read_committed" {
		polls := &f.history.reading(e.TP()).polls
		polls.at(polls.len() - 1).isolation = event.ReadCommitted
	}
	if len(t.order) == 0 && (e.Session == nil || e.Session.Txn == 0) {
		return
	}
	x := t.txn(e)
	if x == nil {
		x = t.current[e.Client]
	}
	if x != nil {
		rd := f.history.reading(e.TP())
		x.reads = append(x.reads, readRef{rd, rd.polls.len() - 1})
	}
}

// ended takes an EndTxn in; its outcome may leave out what the invocation told.
func (t *txnIndex) ended(f *facts, e *event.Event) {
	key := operation{client: e.Client, attempt: e.Attempt}
	if e.Kind == event.TxnEndInvoke {
		x := t.txn(e)
		if x == nil {
			f.malformed(e, "ends a transaction and names none")
			return
		}
		end := t.kept.ends.add()
		*end = txnEnd{abort: e.Text == "abort", client: e.Client, producer: producerOf(e.Session), invoked: stampOf(e), result: e.Kind}
		x.ends, t.ending[key] = append(x.ends, end), end
		if t.current[e.Client] == x {
			delete(t.current, e.Client)
		}
		return
	}
	end := t.ending[key]
	if end == nil {
		f.malformed(e, "ends an EndTxn that is not open")
		return
	}
	delete(t.ending, key)
	end.done, end.result = stampOf(e), e.Kind
	if e.Kind == event.TxnEndFail && fencedLate(e.Code) {
		end.result = event.TxnEndUnknown
	}
}

func (t *txnIndex) initialised(f *facts, e *event.Event) {
	key := operation{client: e.Client, attempt: e.Attempt}
	if e.Kind == event.InitProducerInvoke {
		op := &initOp{client: e.Client, invoked: stampOf(e), result: e.Kind, producer: producerOf(nil)}
		t.initialising[key] = op
		if name := e.Who().TransactionalID; name != "" { // else an idempotent producer, which owns nothing
			id := t.id(name)
			id.inits = append(id.inits, op)
		}
		return
	}
	op := t.initialising[key]
	if op == nil {
		f.malformed(e, "ends an InitProducerId that is not open")
		return
	}
	delete(t.initialising, key)
	if op.done, op.result = stampOf(e), e.Kind; e.Kind == event.InitProducerOK {
		op.producer = producerOf(e.Session)
	}
}

// commitAsked is the first request to commit the transaction; false if nobody
// made one.
func (x *txn) commitAsked() (stamp, bool) {
	for _, e := range x.ends {
		if !e.abort {
			return e.invoked, true
		}
	}
	return stamp{}, false
}

// producerFenced is PRODUCER_FENCED.
const producerFenced kafka.ErrorCode = 90

// fencedLate reports whether an EndTxn that failed with a code may have ended the
// transaction all the same: the first request did, its answer was lost, and a new
// owner of the id fenced the retry.
func fencedLate(c kafka.ErrorCode) bool {
	return c == producerFenced || c == kafka.InvalidProducerEpoch
}
