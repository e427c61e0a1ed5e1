// Package jepsen reads the histories of Jepsen's workload for Kafka-like queues
// (jepsen.tests.kafka) as events.
//
// Such a history is a list of operations in EDN, each invoked and completed by a
// process:
//
//	{:index 4, :time 210, :type :invoke, :process 1, :f :txn, :value [[:send 0 7] [:poll]]}
//	{:index 9, :time 380, :type :ok,     :process 1, :f :txn, :value [[:send 0 [3 7]] [:poll {0 [[2 5]]}]]}
//
// What becomes of it:
//
//	:send   a send whose attempt names key and value (Jepsen writes each value of a
//	        key once); :ok, :fail and :info are its three outcomes
//	:poll   a poll for each key, from where the process had come to. One whose
//	        offsets do not rise becomes several, so that the step back is seen
//	:assign, :subscribe and :rebalance-log   partitions taken and given up
//	:crash  the end of a client; a nemesis' operations are faults
//
// Keys are the partitions of the topic "jepsen". If any operation is a :txn or has
// several steps, then all are transactions, as in a test with :txn true; a commit
// is taken to be asked for when the operation begins, for its real moment is not
// recorded. Histories without :index and :time are taken in the order of their lines.
package jepsen

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"tidemark/checker/history"
	"tidemark/checker/history/edn"
	"tidemark/model/event"
)

// Options are what a history does not say of itself.
type Options struct {
	// Acks of all sends: 0 stands for -1, acks=all.
	Acks int16
}

// Topic is the topic of all keys.
const Topic = "jepsen"

// Looks reports whether a file that begins so is a Jepsen history.
func Looks(begins []byte) bool {
	b, commented := begins, false
	for {
		b = bytes.TrimLeft(b, "[(, \r\n\t\f")
		if !bytes.HasPrefix(b, []byte(";")) {
			break
		}
		_, b, _ = bytes.Cut(b, []byte("\n"))
		commented = true
	}
	if len(b) == 0 {
		return commented // EDN alone has such comments; this one is longer than begins
	}
	inside, isMap := bytes.CutPrefix(b, []byte("{"))
	return bytes.HasPrefix(b, []byte("#jepsen")) || isMap && bytes.HasPrefix(bytes.TrimLeft(inside, ", \r\n\t\f"), []byte(":"))
}

// Read reads a whole history; file is its name in errors.
func Read(file string, r io.Reader, o Options) (*history.Slice, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, &history.Error{File: file, Err: err}
	}
	ops, err := operations(string(text))
	if err != nil {
		return nil, located(file, err)
	}
	if o.Acks == 0 {
		o.Acks = -1
	}
	im := &importer{o: o, txn: transactional(ops), processes: map[string]*process{}}
	for i := range ops {
		if err := im.take(&ops[i]); err != nil {
			return nil, located(file, err)
		}
	}
	return history.NewSlice(file, history.Header{Source: "Jepsen", Clock: history.BySeq}, im.events), nil
}

// located puts the file's name before a fault.
func located(file string, err error) error {
	var bad *edn.Error
	if errors.As(err, &bad) {
		return &history.Error{File: file, Line: bad.Line, Err: bad.Err}
	}
	var f *fieldError
	if errors.As(err, &f) {
		return &history.Error{File: file, Line: f.line, Field: f.field, Err: f.err}
	}
	return err
}

// fieldError is a fault of one operation.
type fieldError struct {
	line  int
	field string
	err   error
}

func (e *fieldError) Error() string { return e.err.Error() }

func fault(v *edn.Value, field, format string, args ...any) error {
	return &fieldError{v.Line, field, fmt.Errorf(format, args...)}
}

// op is one operation, its keys looked up.
type op struct {
	line    int
	time    int64 // ns
	process string
	client  bool // the process is a client's, not the nemesis'
	typ, f  string
	value   edn.Value
	whole   edn.Value
}

// operations reads the operations: one after the other, or as one collection.
func operations(text string) ([]op, error) {
	d := edn.NewDecoder(text)
	var ops []op
	for {
		v, err := d.Next()
		if errors.Is(err, io.EOF) {
			return ops, nil
		}
		if err != nil {
			return nil, err
		}
		forms := []edn.Value{v}
		if v.Sequence() {
			forms = v.Items
		}
		for i := range forms {
			o, err := readOp(&forms[i])
			if err != nil {
				return nil, err
			}
			ops = append(ops, o)
		}
	}
}

func readOp(v *edn.Value) (op, error) {
	o := op{line: v.Line, whole: *v}
	if v.Kind != edn.Map {
		return o, fault(v, "", "expected an operation, a map such as {:process 0, :type :invoke, :f :send, :value [[:send 0 1]]}, found %v", v.Kind)
	}
	process, _ := v.Get("process")
	o.process, o.client = process.String(), process.Kind == edn.Int
	for _, k := range []struct {
		name string
		to   *string
	}{{"type", &o.typ}, {"f", &o.f}} {
		word, ok := v.Get(k.name)
		if !ok || word.Kind != edn.Keyword {
			return o, fault(v, ":"+k.name, "expected a keyword, found %v", word.Kind)
		}
		*k.to = word.Text
	}
	if t, ok := v.Get("time"); ok && t.Kind == edn.Int {
		o.time = t.Int
	}
	o.value, _ = v.Get("value")
	return o, nil
}

// transactional reports whether the operations are transactions.
func transactional(ops []op) bool {
	for i := range ops {
		switch o := &ops[i]; o.f {
		case "txn":
			return true
		case "send", "poll":
			if o.value.Sequence() && len(o.value.Items) > 1 {
				return true
			}
		}
	}
	return false
}

// emit adds an event of an operation.
func (im *importer) emit(o *op, e event.Event) {
	e.At = o.time
	im.events = append(im.events, history.Located{Event: e, Line: o.line})
}
