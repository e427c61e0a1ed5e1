package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// txnWorld is a small cluster that does what Kafka promises of transactions and
// groups, in random order, and writes down what its clients see. Requests are
// sent, served and answered in three steps of their own, and any of the last two
// may never come.
type txnWorld struct {
	rnd     *rand.Rand
	bug     string // a promise that this cluster breaks, "" for none
	events  []event.Event
	logs    map[kafka.TopicPartition][]worldEntry
	ids     [2]worldID
	members [3]*worldMember
	clients int
	ops     uint64 // attempts given out
	txns    uint64
	pending []func() // requests on their way, answers on their way, markers
	gen     int32
	owner   [2]*worldMember
	offsets [2]kafka.Offset
	before  [2]kafka.Offset   // what offsets were before the last commit
	staged  [2][]stagedOffset // in order of their records
}

// worldEntry is one offset of a log.
type worldEntry struct {
	attempt uint64
	txn     *worldTxn // nil for a plain record
	control event.Control
}

type worldTxn struct {
	id       uint64
	decided  bool
	commit   bool
	touched  map[kafka.TopicPartition]bool // markers to come
	offsets  map[int]bool
	complete bool
}

type stagedOffset struct {
	txn    *worldTxn
	offset kafka.Offset
	void   bool // a record behind it is the committed offset already
}

// worldID is a transactional id at its coordinator.
type worldID struct {
	epoch kafka.ProducerEpoch
	txn   *worldTxn // nil for none
}

// worldMember is one process: a consumer of the group that is a transactional
// producer too.
type worldMember struct {
	client   string
	id       int // of its transactional id
	epoch    kafka.ProducerEpoch
	gen      int32
	txn      *worldTxn
	session  *event.Session
	believes [2]bool // what it takes for its own
	position [2]kafka.Offset
	fetched  [2]bool
	busy     int // answers that it waits for
	ended    bool
	dead     bool
	polled   [2][]event.Record // of its last poll, to be processed
}

func (w *txnWorld) n(n int) int { return w.rnd.IntN(n) }

func (w *txnWorld) emit(k event.Kind, client string, set func(*event.Event)) *event.Event {
	e := event.New(k)
	e.Seq, e.Client = uint64(len(w.events)+1), client
	e.At = int64(e.Seq) * 1_000_000
	set(&e)
	w.events = append(w.events, e)
	return &w.events[len(w.events)-1]
}

func inTP(p int) kafka.TopicPartition { return kafka.TopicPartition{Topic: "in", Partition: int32(p)} }
func outTP(p int) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: "out", Partition: int32(p)}
}

// request emits an operation; serve runs when it reaches the cluster and tells
// whether it succeeded, then the answer arrives.
func (w *txnWorld) request(m *worldMember, invoke, ok, fail, unknown event.Kind, set func(*event.Event), serve func() bool, told func(ok bool)) {
	w.ops++
	attempt := w.ops
	full := func(e *event.Event) {
		e.Attempt = attempt
		set(e)
	}
	w.emit(invoke, m.client, full)
	m.busy++
	client := m.client
	w.pending = append(w.pending, func() {
		lost := w.n(60) == 0
		success := !lost && serve()
		w.pending = append(w.pending, func() {
			if m.client != client || m.dead {
				return
			}
			m.busy--
			switch {
			case lost || w.n(60) == 0:
				w.emit(unknown, client, full)
				m.dead = true // it gives up
			case success:
				w.emit(ok, client, full)
				told(true)
			default:
				w.emit(fail, client, full)
				told(false)
			}
		})
	})
}

func (w *txnWorld) append(tp kafka.TopicPartition, e worldEntry) kafka.Offset {
	w.logs[tp] = append(w.logs[tp], e)
	return kafka.Offset(len(w.logs[tp]) - 1)
}

// feed writes a plain record to an input.
func (w *txnWorld) feed() {
	tp := inTP(w.n(2))
	w.ops++
	record := func(e *event.Event) {
		e.Topic, e.Partition, e.Attempt, e.Hash, e.Acks = tp.Topic, tp.Partition, w.ops, w.ops, -1
	}
	w.emit(event.SendInvoke, "feed", record)
	at := w.append(tp, worldEntry{attempt: w.ops})
	w.emit(event.SendOK, "feed", func(e *event.Event) {
		record(e)
		e.Offset = at
	})
}

// start makes a new process of a member and lets it take its transactional id.
func (w *txnWorld) start(i int) {
	if m := w.members[i]; m != nil && w.n(3) == 0 {
		w.emit(event.ClientCrashed, m.client, func(*event.Event) {}) // else it is taken for dead and may live on
	} else if m != nil && !m.dead && w.n(2) == 0 {
		return
	}
	w.clients++
	m := &worldMember{client: fmt.Sprint("p", w.clients), id: i % 2, epoch: -1}
	w.members[i] = m
	id := &w.ids[m.id]
	name := fmt.Sprint("t", m.id)
	var got kafka.ProducerEpoch
	w.request(m, event.InitProducerInvoke, event.InitProducerOK, event.InitProducerFail, event.InitProducerUnknown, func(e *event.Event) {
		s := event.NewSession()
		if s.TransactionalID = name; e.Kind == event.InitProducerOK {
			s.ProducerID, s.ProducerEpoch = kafka.ProducerID(m.id), got
		}
		e.Session = &s
	}, func() bool {
		if x := id.txn; x != nil && !x.decided {
			x.decided = true // fenced
			w.mark(x)
		}
		if x := id.txn; x != nil && !x.complete {
			return false
		}
		id.txn = nil
		if w.bug != "an epoch is given out twice" || id.epoch < 0 {
			id.epoch++
		}
		got = id.epoch
		return true
	}, func(ok bool) {
		if m.dead = !ok; ok {
			m.epoch = got
		}
	})
}

// mark sends a decided transaction's markers out, one by one and in any order.
func (w *txnWorld) mark(x *worldTxn) {
	left := len(x.touched) + len(x.offsets)
	if x.complete = left == 0; x.complete {
		return
	}
	done := func() {
		left--
		x.complete = left == 0
	}
	for p := range 2 {
		if tp := outTP(p); x.touched[tp] {
			w.pending = append(w.pending, func() {
				w.append(tp, worldEntry{txn: x, control: map[bool]event.Control{true: event.CommitMarker, false: event.AbortMarker}[x.commit]})
				delete(x.touched, tp)
				done()
			})
		}
		if x.offsets[p] {
			w.pending = append(w.pending, func() {
				w.apply(x, p)
				done()
			})
		}
	}
}

// apply lets a transaction's staged offsets of an input count, or drops them.
func (w *txnWorld) apply(x *worldTxn, p int) {
	for i := range w.staged[p] {
		counts := x.commit
		switch {
		case w.bug == "offsets of a commit are dropped" && x.id%2 == 0:
			counts = false
		case w.bug == "offsets of an abort count":
			counts = true
		}
		if s := &w.staged[p][i]; s.txn == x && counts && !s.void {
			w.before[p] = w.offsets[p]
			w.offsets[p] = s.offset
			for k := range i {
				w.staged[p][k].void = true
			}
		}
	}
	w.staged[p] = slices.DeleteFunc(w.staged[p], func(s stagedOffset) bool { return s.txn == x })
}

// rebalance gives the inputs to living members in a new generation.
func (w *txnWorld) rebalance() {
	var alive []*worldMember
	for _, m := range w.members {
		if m == nil {
			continue
		}
		if !m.dead && m.busy == 0 && m.txn == nil && w.n(4) > 0 {
			alive = append(alive, m)
		}
	}
	if len(alive) == 0 {
		return
	}
	late := w.bug == "partitions are given away too early"
	if !late {
		w.leave(alive)
	}
	w.gen++
	for p := range 2 {
		m := alive[w.n(len(alive))]
		if late && w.owner[p] != m {
			w.own(event.Assigned, m, p)
			w.leave(alive)
		}
		w.owner[p] = m
	}
	for _, m := range alive {
		m.gen = w.gen
		for p := range 2 {
			if w.owner[p] == m {
				m.believes[p], m.fetched[p] = true, false
				m.polled[p] = nil
				w.own(event.Assigned, m, p)
			}
		}
	}
}

// leave lets members that join anew give up all that they have.
func (w *txnWorld) leave(members []*worldMember) {
	for _, m := range members {
		for p := range 2 {
			if m.believes[p] {
				kind := event.Revoked
				if w.owner[p] != m {
					kind = event.Lost
				}
				w.own(kind, m, p)
				m.believes[p] = false
			}
		}
	}
}

func (w *txnWorld) own(k event.Kind, m *worldMember, p int) {
	s := m.member()
	w.emit(k, m.client, func(e *event.Event) { e.Topic, e.Partition, e.Session = "in", int32(p), s })
}

// member is the member's session in the group.
func (m *worldMember) member() *event.Session {
	s := event.NewSession()
	s.Group, s.Member, s.Generation = "g", m.client, m.gen
	return &s
}

// resume fetches the committed offset of an input that a member was assigned.
func (w *txnWorld) resume(m *worldMember, p int) {
	var got kafka.Offset
	s := m.member()
	w.request(m, event.FetchCommittedInvoke, event.FetchCommittedOK, event.FetchCommittedFail, event.FetchCommittedFail, func(e *event.Event) {
		e.Topic, e.Partition, e.Session = "in", int32(p), s
		if e.Kind == event.FetchCommittedOK {
			e.Offset = got
		}
	}, func() bool {
		if got = w.offsets[p]; w.bug == "committed offsets are stale" {
			got = w.before[p]
		}
		return len(w.staged[p]) == 0
	}, func(ok bool) {
		if !ok || !m.believes[p] || m.gen != s.Generation {
			return
		}
		m.fetched[p] = true
		m.position[p] = max(0, got)
		switch w.bug {
		case "members start one too far":
			m.position[p]++
		case "members start at the beginning":
			m.position[p] = 0
		}
		w.emit(event.PositionReset, m.client, func(e *event.Event) {
			e.Topic, e.Partition, e.Offset, e.End, e.Text, e.Session = "in", int32(p), -1, m.position[p], "assign", s
		})
	})
}

// visible is the end of what a reader may be given.
func (w *txnWorld) visible(tp kafka.TopicPartition, iso event.Isolation) kafka.Offset {
	open := map[*worldTxn]bool{}
	log := w.logs[tp]
	for _, e := range log {
		if e.control != event.DataRecord {
			open[e.txn] = false
		} else if e.txn != nil {
			open[e.txn] = true
		}
	}
	for o, e := range log {
		if iso == event.ReadCommitted && e.txn != nil && open[e.txn] {
			return kafka.Offset(o)
		}
	}
	return kafka.Offset(len(log))
}

// shown reports whether a decided transaction is given to who reads committed.
func (w *txnWorld) shown(tp kafka.TopicPartition, x *worldTxn) bool {
	switch {
	case w.bug == "aborted records are given out", w.bug == "the last stable offset is ignored":
		return true
	case w.bug == "a partition drops what was committed" && tp == outTP(1) && x.id%2 == 0:
		return false
	}
	return x.commit
}

// poll reads some of a partition.
func (w *txnWorld) poll(client string, tp kafka.TopicPartition, from kafka.Offset, iso event.Isolation, s *event.Session) (kafka.Offset, []event.Record) {
	end := w.visible(tp, iso)
	if w.bug == "the last stable offset is ignored" {
		end = kafka.Offset(len(w.logs[tp]))
	}
	if from > end {
		return from, nil
	}
	to := end
	if n := int(end - from); n > 0 {
		to = from + kafka.Offset(1+w.n(n))
	}
	var records []event.Record
	for o := from; o < to; o++ {
		x := w.logs[tp][o]
		if x.control != event.DataRecord || iso == event.ReadCommitted && x.txn != nil && !w.shown(tp, x.txn) {
			continue
		}
		records = append(records, event.Record{Offset: o, Epoch: kafka.NoEpoch, Attempt: x.attempt, Hash: x.attempt})
	}
	w.ops++
	attempt := w.ops
	w.emit(event.PollInvoke, client, func(e *event.Event) { e.Attempt, e.Session, e.Isolation = attempt, s, iso })
	w.emit(event.PollOK, client, func(e *event.Event) {
		e.Topic, e.Partition, e.Attempt, e.Session, e.Isolation = tp.Topic, tp.Partition, attempt, s, iso
		e.Offset, e.End, e.Records, e.LastStable, e.HighWatermark = from, to, records, w.visible(tp, event.ReadCommitted), kafka.Offset(len(w.logs[tp]))
		e.Drained = to == e.HighWatermark
	})
	return to, records
}

// act lets a member do its next step.
func (w *txnWorld) act(m *worldMember) {
	if m == nil || m.dead || m.busy > 0 || m.epoch < 0 {
		return
	}
	p := w.n(2)
	switch {
	case m.txn == nil && m.believes[p] && !m.fetched[p]:
		w.resume(m, p)
	case m.txn == nil && m.believes[p] && w.n(4) == 0:
		w.commitPlain(m, p)
	case m.txn == nil && m.believes[p] && len(m.polled[p]) == 0:
		m.position[p], m.polled[p] = w.poll(m.client, inTP(p), m.position[p], event.ReadCommitted, m.member())
	case m.txn == nil && m.believes[p] && (w.ids[m.id].txn == nil || w.ids[m.id].txn.complete):
		w.begin(m)
	case m.txn != nil && !m.ended && len(m.polled[p]) > 0 && m.believes[p]:
		w.process(m, p)
	case m.txn != nil && !m.ended:
		w.end(m)
	}
}

// commitPlain commits the position without a transaction, as the coordinator's
// generation allows.
func (w *txnWorld) commitPlain(m *worldMember, p int) {
	if len(m.polled[p]) > 0 {
		return
	}
	s, offset := m.member(), m.position[p]
	if w.bug == "members commit too much" {
		offset++
	}
	w.request(m, event.CommitInvoke, event.CommitOK, event.CommitFail, event.CommitUnknown, func(e *event.Event) {
		e.Topic, e.Partition, e.Session, e.Offset = "in", int32(p), s, offset
	}, func() bool {
		if (s.Generation != w.gen || w.owner[p] != m) && w.bug != "generations are not checked" {
			return false
		}
		w.before[p], w.offsets[p] = w.offsets[p], offset
		for i := range w.staged[p] {
			w.staged[p][i].void = true
		}
		return true
	}, func(bool) {})
}

func (w *txnWorld) begin(m *worldMember) {
	w.txns++
	m.txn = &worldTxn{id: w.txns, touched: map[kafka.TopicPartition]bool{}, offsets: map[int]bool{}}
	s := m.member()
	s.ProducerID, s.ProducerEpoch, s.TransactionalID, s.Txn = kafka.ProducerID(m.id), m.epoch, fmt.Sprint("t", m.id), m.txn.id
	m.session, m.ended = s, false
	w.emit(event.TxnBegin, m.client, func(e *event.Event) { e.Session = s })
}

// ours joins the member's transaction at the coordinator; false if it is fenced
// or the one before is not complete.
func (w *txnWorld) ours(m *worldMember, x *worldTxn, epoch kafka.ProducerEpoch) bool {
	id := &w.ids[m.id]
	if w.bug == "nobody is fenced" {
		x.decided = false
		return true
	}
	if id.epoch != epoch || x.decided || id.txn != nil && id.txn != x && !id.txn.complete {
		return false
	}
	id.txn = x
	return true
}

// process writes an output for a record and commits the input's offset within
// the transaction.
func (w *txnWorld) process(m *worldMember, p int) {
	rec, x, s, epoch := m.polled[p][0], m.txn, m.session, m.epoch
	m.polled[p] = m.polled[p][1:]
	tp := outTP(w.n(2))
	var at kafka.Offset
	attempt := w.ops + 1
	w.request(m, event.SendInvoke, event.SendOK, event.SendFail, event.SendUnknown, func(e *event.Event) {
		e.Topic, e.Partition, e.Hash, e.Acks, e.Session = tp.Topic, tp.Partition, attempt, -1, s
		if e.Source = fmt.Sprintf("in-%d@%d", p, rec.Offset); e.Kind == event.SendOK {
			e.Offset = at
		}
	}, func() bool {
		if !w.ours(m, x, epoch) {
			return false
		}
		x.touched[tp] = true
		at = w.append(tp, worldEntry{attempt: attempt, txn: x})
		return true
	}, func(ok bool) {
		if !ok {
			m.dead = true
			return
		}
		w.sendOffsets(m, p, rec.Offset+1)
	})
}

func (w *txnWorld) sendOffsets(m *worldMember, p int, offset kafka.Offset) {
	x, s, epoch := m.txn, m.session, m.epoch
	w.request(m, event.CommitInvoke, event.CommitOK, event.CommitFail, event.CommitUnknown, func(e *event.Event) {
		e.Topic, e.Partition, e.Session, e.Offset = "in", int32(p), s, offset
	}, func() bool {
		if s.Generation != w.gen || w.owner[p] != m || !w.ours(m, x, epoch) {
			return false
		}
		x.offsets[p] = true
		w.staged[p] = append(slices.DeleteFunc(w.staged[p], func(o stagedOffset) bool { return o.txn == x }), stagedOffset{txn: x, offset: offset})
		return true
	}, func(ok bool) {
		if !ok {
			m.dead = true
		}
	})
}

func (w *txnWorld) end(m *worldMember) {
	x, s, epoch, commit := m.txn, m.session, m.epoch, w.n(4) > 0
	text := map[bool]string{true: "commit", false: "abort"}[commit]
	m.ended = true
	w.request(m, event.TxnEndInvoke, event.TxnEndOK, event.TxnEndFail, event.TxnEndUnknown, func(e *event.Event) { e.Text, e.Session = text, s },
		func() bool {
			if !w.ours(m, x, epoch) {
				return false
			}
			x.decided, x.commit = true, commit
			w.mark(x)
			return true
		}, func(ok bool) {
			if m.txn = nil; !ok || !commit {
				m.dead = true // it starts anew, from the committed offsets
			}
		})
}

// read lets a reader of its own follow the outputs.
func (w *txnWorld) read(reader string, iso event.Isolation, positions *[2]kafka.Offset) {
	p := w.n(2)
	positions[p], _ = w.poll(reader, outTP(p), positions[p], iso, nil)
}

func runTxnWorld(seed uint64, steps int, bug string) []event.Event {
	w := &txnWorld{rnd: rand.New(rand.NewPCG(6, seed)), bug: bug, logs: map[kafka.TopicPartition][]worldEntry{}, offsets: [2]kafka.Offset{-1, -1}, before: [2]kafka.Offset{-1, -1}}
	for i := range w.ids {
		w.ids[i].epoch = -1
	}
	var committed, uncommitted [2]kafka.Offset
	for range steps {
		switch w.n(26) {
		case 0, 1:
			w.feed()
		case 2:
			if i := w.n(3); w.members[i] == nil || w.members[i].dead || w.n(20) == 0 {
				w.start(i)
			}
		case 3:
			if w.n(6) == 0 || w.owner[0] == nil || w.owner[0].dead {
				w.rebalance()
			}
		case 4, 5:
			w.read("rc", event.ReadCommitted, &committed)
		case 6:
			w.read("ru", event.ReadUncommitted, &uncommitted)
		case 7, 8, 9, 10, 11, 12, 13:
			w.act(w.members[w.n(3)])
		default:
			if n := len(w.pending); n > 0 {
				i := w.n(n)
				do := w.pending[i]
				w.pending = slices.Delete(w.pending, i, i+1)
				do()
			}
		}
	}
	return w.events
}
