package jepsen

import (
	"math"
	"slices"

	"tidemark/checker/history"
	"tidemark/checker/history/edn"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// importer turns operations into events.
type importer struct {
	o         Options
	txn       bool
	processes map[string]*process
	events    []history.Located
	txns      uint64
}

// process is one of Jepsen's: a producer and a consumer.
type process struct {
	name      string
	open      *op     // the operation that it waits for
	sends     []place // of the open operation
	session   *event.Session
	assigned  []int32
	manual    bool
	positions map[int32]kafka.Offset // by key; none: not known
	polls     uint64
}

// place is one send of an operation.
type place struct {
	key     int32
	attempt uint64
	hash    uint64
	text    string
}

func (im *importer) process(o *op) *process {
	p := im.processes[o.process]
	if p == nil {
		p = &process{name: "process " + o.process, positions: map[int32]kafka.Offset{}}
		im.processes[o.process] = p
	}
	return p
}

func (im *importer) take(o *op) error {
	if !o.client {
		if o.typ == "info" || o.typ == "invoke" {
			e := event.New(event.Fault)
			e.Text = o.process[min(1, len(o.process)):] + " " + o.f
			if o.value.Kind != edn.Nil {
				e.Text += " " + o.value.String()
			}
			im.emit(o, e)
		}
		return nil
	}
	p := im.process(o)
	if o.typ == "invoke" {
		if p.open != nil {
			return fault(&o.whole, ":process", "expected the end of what process %s began in line %d, found another operation of it", o.process, p.open.line)
		}
		p.open = o
		return im.invoke(p, o)
	}
	if p.open == nil || p.open.f != o.f {
		return fault(&o.whole, ":type", "expected an :invoke of :%s by process %s before this, found none", o.f, o.process)
	}
	p.open = nil
	switch o.f {
	case "send", "poll", "txn":
		return im.complete(p, o)
	case "assign":
		return im.assign(p, o)
	case "subscribe":
		p.manual = false
		im.moveTo(p, o, nil)
		return nil
	case "crash":
		e := event.New(event.ClientCrashed)
		e.Client = p.name
		im.emit(o, e)
		delete(im.processes, o.process)
	}
	return nil
}

// invoke begins an operation: its sends are handed over.
func (im *importer) invoke(p *process, o *op) error {
	p.sends, p.session = nil, nil
	if o.f != "send" && o.f != "poll" && o.f != "txn" {
		return nil
	}
	if !o.value.Sequence() {
		return fault(&o.whole, ":value", "expected a vector of steps such as [[:send 0 1] [:poll]], found %v", o.value.Kind)
	}
	for i := range o.value.Items {
		s, err := readSend(&o.value.Items[i])
		if err != nil {
			return err
		}
		if s != nil {
			p.sends = append(p.sends, *s)
		}
	}
	if im.txn && o.f != "poll" {
		im.txns++
		s := event.NewSession()
		s.TransactionalID, s.Txn = p.name, im.txns
		p.session = &s
		im.emit(o, im.txnEvent(p, event.TxnBegin))
	}
	for _, s := range p.sends {
		im.emit(o, im.send(p, event.SendInvoke, s))
	}
	if p.session != nil {
		im.emit(o, im.txnEvent(p, event.TxnEndInvoke))
	}
	return nil
}

// readSend reads [:send key value]; nil for another step.
func readSend(step *edn.Value) (*place, error) {
	if !step.Sequence() || len(step.Items) == 0 {
		return nil, fault(step, ":value", "expected a step such as [:send 0 1], found %v", step.Kind)
	}
	if !step.Items[0].Is("send") {
		return nil, nil
	}
	if len(step.Items) != 3 {
		return nil, fault(step, ":value", "expected [:send key value], found %s", step.String())
	}
	key, err := readKey(&step.Items[1])
	if err != nil {
		return nil, err
	}
	value := step.Items[2]
	if value.Sequence() && len(value.Items) == 2 { // [offset value]
		value = value.Items[1]
	}
	attempt, hash, text := identify(key, &value)
	return &place{key, attempt, hash, text}, nil
}

func readKey(v *edn.Value) (int32, error) {
	if v.Kind != edn.Int || v.Int < 0 || v.Int > 1<<30 {
		return 0, fault(v, ":value", "expected a key, a whole number from 0 to %d, found %s", 1<<30, v.String())
	}
	return int32(v.Int), nil
}

// identify names the attempt that wrote a value: Jepsen writes a value of a key
// once. Small numbers stay readable in the lower half.
func identify(key int32, v *edn.Value) (attempt, hash uint64, text string) {
	text = v.String()
	hash = event.HashValue([]byte(text))
	if v.Kind == edn.Int && v.Int >= 0 && v.Int < 1<<32 {
		return uint64(key+1)<<32 | uint64(v.Int), hash, text
	}
	return uint64(key+1)<<32 | hash>>32 | 1<<63, hash, text
}

func (im *importer) send(p *process, k event.Kind, s place) event.Event {
	e := event.New(k)
	e.Client, e.Topic, e.Partition = p.name, Topic, s.key
	e.Attempt, e.Hash, e.Acks, e.Text, e.Session = s.attempt, s.hash, im.o.Acks, s.text, p.session
	return e
}

func (im *importer) txnEvent(p *process, k event.Kind) event.Event {
	e := event.New(k)
	e.Client, e.Session = p.name, p.session
	if k != event.TxnBegin {
		e.Attempt, e.Text = 1<<62|p.session.Txn, "commit"
	}
	return e
}

// Outcomes of a send and of a transaction, by the type of the completion.
var (
	sendOutcomes = map[string]event.Kind{"ok": event.SendOK, "fail": event.SendFail, "info": event.SendUnknown}
	txnOutcomes  = map[string]event.Kind{"ok": event.TxnEndOK, "fail": event.TxnEndFail, "info": event.TxnEndUnknown}
)

// complete ends a send, poll or txn.
func (im *importer) complete(p *process, o *op) error {
	kind, ok := sendOutcomes[o.typ]
	if !ok {
		return fault(&o.whole, ":type", "expected :ok, :fail or :info, found :%s", o.typ)
	}
	if err := im.rebalances(p, o); err != nil {
		return err
	}
	offsets, err := acknowledged(o)
	if err != nil {
		return err
	}
	for _, s := range p.sends {
		e := im.send(p, kind, s)
		if at, known := offsets[s.attempt]; known && kind != event.SendFail {
			e.Offset = at
		}
		im.emit(o, e)
	}
	if o.typ != "fail" && o.value.Sequence() {
		for i := range o.value.Items {
			if err := im.poll(p, o, &o.value.Items[i]); err != nil {
				return err
			}
		}
	}
	if p.session != nil {
		im.emit(o, im.txnEvent(p, txnOutcomes[o.typ]))
	}
	if o.typ != "ok" {
		// What else its polls were given, nobody knows.
		clear(p.positions)
	}
	return nil
}

// acknowledged are the offsets that a completion's sends tell, by attempt.
func acknowledged(o *op) (map[uint64]kafka.Offset, error) {
	offsets := map[uint64]kafka.Offset{}
	if !o.value.Sequence() {
		return offsets, nil
	}
	for i := range o.value.Items {
		step := &o.value.Items[i]
		s, err := readSend(step)
		if err != nil {
			return nil, err
		}
		if s == nil {
			continue
		}
		if pair := &step.Items[2]; pair.Sequence() && len(pair.Items) == 2 && pair.Items[0].Kind == edn.Int {
			if at := pair.Items[0].Int; at < 0 || at == math.MaxInt64 {
				return nil, fault(pair, ":value", "expected the offset that the send was given, 0 or more, found %d", at)
			}
			offsets[s.attempt] = kafka.Offset(pair.Items[0].Int)
		}
	}
	return offsets, nil
}

// poll reads [:poll {key [[offset value] ...]}].
func (im *importer) poll(p *process, o *op, step *edn.Value) error {
	if !step.Items[0].Is("poll") || len(step.Items) < 2 || step.Items[1].Kind == edn.Nil {
		return nil
	}
	byKey := &step.Items[1]
	if byKey.Kind != edn.Map {
		return fault(byKey, ":value", "expected [:poll {key [[offset value] ...]}], found %s", step.String())
	}
	type part struct {
		key     int32
		records []event.Record
	}
	var parts []part
	for i := 0; i+1 < len(byKey.Items); i += 2 {
		key, err := readKey(&byKey.Items[i])
		if err != nil {
			return err
		}
		records, err := readRecords(key, &byKey.Items[i+1])
		if err != nil {
			return err
		}
		parts = append(parts, part{key, records})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return int(a.key - b.key) })
	p.polls++
	for _, q := range parts {
		im.polled(p, o, q.key, q.records)
	}
	return nil
}

func readRecords(key int32, v *edn.Value) ([]event.Record, error) {
	if !v.Sequence() {
		return nil, fault(v, ":value", "expected the records of key %d, [[offset value] ...], found %s", key, v.Kind)
	}
	var records []event.Record
	for i := range v.Items {
		pair := &v.Items[i]
		if !pair.Sequence() || len(pair.Items) != 2 || pair.Items[0].Kind != edn.Int || pair.Items[0].Int < 0 || pair.Items[0].Int == math.MaxInt64 {
			return nil, fault(pair, ":value", "expected [offset value], found %s", pair.String())
		}
		attempt, hash, _ := identify(key, &pair.Items[1])
		records = append(records, event.Record{Offset: kafka.Offset(pair.Items[0].Int), Epoch: kafka.NoEpoch, Attempt: attempt, Hash: hash})
	}
	return records, nil
}

// polled tells what a poll gave of one key, a piece for each rising run.
func (im *importer) polled(p *process, o *op, key int32, records []event.Record) {
	for len(records) > 0 {
		n := 1
		for n < len(records) && records[n].Offset > records[n-1].Offset {
			n++
		}
		from, known := p.positions[key]
		if first := records[0].Offset; !known || first < from {
			if !known {
				im.positioned(p, o, key, first)
			}
			from = first
		}
		e := event.New(event.PollOK)
		e.Client, e.Topic, e.Partition = p.name, Topic, key
		e.Offset, e.End, e.Records = from, records[n-1].Offset+1, records[:n]
		if im.txn {
			e.Isolation, e.Session = event.ReadCommitted, p.session
		}
		im.emit(o, e)
		p.positions[key], records = e.End, records[n:]
	}
}

// positioned tells that a process began to read a key somewhere.
func (im *importer) positioned(p *process, o *op, key int32, at kafka.Offset) {
	e := event.New(event.PositionReset)
	e.Client, e.Topic, e.Partition, e.End, e.Text = p.name, Topic, key, at, "assign"
	im.emit(o, e)
}

// assign ends an :assign: its keys replace those that the process had.
func (im *importer) assign(p *process, o *op) error {
	if o.typ != "ok" {
		return nil
	}
	keys, err := readKeys(&o.whole, o.value)
	if err != nil {
		return err
	}
	p.manual = true
	im.moveTo(p, o, keys)
	if _, seek := o.whole.Get("seek-to-beginning?"); seek {
		for _, k := range keys {
			delete(p.positions, k)
		}
	}
	return nil
}

// rebalances reads :rebalance-log, what the group gave to the process meanwhile.
func (im *importer) rebalances(p *process, o *op) error {
	log, ok := o.whole.Get("rebalance-log")
	if !ok || !log.Sequence() {
		return nil
	}
	for i := range log.Items {
		v, ok := log.Items[i].Get("keys")
		if !ok {
			continue
		}
		keys, err := readKeys(&log.Items[i], v)
		if err != nil {
			return err
		}
		im.moveTo(p, o, nil)
		im.moveTo(p, o, keys)
	}
	return nil
}

func readKeys(at *edn.Value, v edn.Value) ([]int32, error) {
	if !v.Sequence() && v.Kind != edn.Set {
		return nil, fault(at, ":value", "expected keys such as [0 1], found %v", v.Kind)
	}
	var keys []int32
	for i := range v.Items {
		k, err := readKey(&v.Items[i])
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// moveTo gives up the keys that a process no longer has and takes the new ones,
// whose position it does not know yet.
func (im *importer) moveTo(p *process, o *op, keys []int32) {
	tell := func(kind event.Kind, key int32) {
		e := event.New(kind)
		e.Client, e.Topic, e.Partition = p.name, Topic, key
		im.emit(o, e)
		delete(p.positions, key)
	}
	for _, k := range p.assigned {
		if !slices.Contains(keys, k) {
			tell(event.Revoked, k)
		}
	}
	for _, k := range keys {
		if !slices.Contains(p.assigned, k) {
			tell(event.Assigned, k)
		}
	}
	p.assigned = keys
	if len(keys) == 0 {
		clear(p.positions)
	}
}
