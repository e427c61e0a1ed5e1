package checker

import (
	"fmt"
	"testing"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// processing is a clean history of exactly-once processing: each transaction
// reads a batch of its input partition, writes as many records to an output
// partition and commits its offset; a reader follows the outputs.
func processing(txns, partitions, batch int) []event.Event {
	var events []event.Event
	emit := func(k event.Kind, client string, s *event.Session, set func(*event.Event)) {
		e := event.New(k)
		e.Seq, e.Client, e.Session = uint64(len(events)+1), client, s
		e.At = int64(e.Seq) * 1000
		set(&e)
		events = append(events, e)
	}
	in, out := make([]kafka.Offset, partitions), make([]kafka.Offset, partitions)
	attempt := uint64(0)
	for i := range txns {
		p := i % partitions
		client := fmt.Sprint("p", p)
		s := &event.Session{ProducerID: kafka.ProducerID(p), TransactionalID: client, Txn: uint64(i + 1), Group: "g", Member: client, Generation: 1}
		in0, out0 := in[p], out[p]
		var fed, made []event.Record
		for range batch {
			attempt++
			a := attempt
			input := func(e *event.Event) {
				e.Topic, e.Partition, e.Attempt, e.Hash, e.Acks, e.Offset = "in", int32(p), a, a, -1, -1
			}
			emit(event.SendInvoke, "feed", nil, input)
			emit(event.SendOK, "feed", nil, func(e *event.Event) { input(e); e.Offset = in[p] })
			fed = append(fed, event.Record{Offset: in[p], Attempt: a, Hash: a})
			in[p]++
		}
		emit(event.TxnBegin, client, s, func(*event.Event) {})
		emit(event.PollOK, client, s, func(e *event.Event) {
			e.Topic, e.Partition, e.Offset, e.End, e.Isolation, e.Records = "in", int32(p), in0, in[p], event.ReadCommitted, fed
		})
		for k := range batch {
			attempt++
			a, source := attempt, fmt.Sprintf("in-%d@%d", p, in0+kafka.Offset(k))
			output := func(e *event.Event) {
				e.Topic, e.Partition, e.Attempt, e.Hash, e.Acks, e.Source = "out", int32(p), a, a, -1, source
			}
			emit(event.SendInvoke, client, s, output)
			emit(event.SendOK, client, s, func(e *event.Event) { output(e); e.Offset = out[p] })
			made = append(made, event.Record{Offset: out[p], Attempt: a, Hash: a})
			out[p]++
		}
		for _, k := range []event.Kind{event.CommitInvoke, event.CommitOK} {
			emit(k, client, s, func(e *event.Event) { e.Topic, e.Partition, e.Attempt, e.Offset = "in", int32(p), uint64(i), in[p] })
		}
		for _, k := range []event.Kind{event.TxnEndInvoke, event.TxnEndOK} {
			emit(k, client, s, func(e *event.Event) { e.Attempt, e.Text = uint64(i), "commit" })
		}
		out[p]++ // the marker
		emit(event.PollOK, "reader", nil, func(e *event.Event) {
			e.Topic, e.Partition, e.Offset, e.End, e.Isolation, e.Records = "out", int32(p), out0, out[p], event.ReadCommitted, made
		})
		for _, k := range []event.Kind{event.FetchCommittedInvoke, event.FetchCommittedOK} {
			emit(k, "monitor", &event.Session{Group: "g", Generation: -1, ProducerID: -1}, func(e *event.Event) {
				e.Topic, e.Partition, e.Attempt, e.Offset = "in", int32(p), uint64(i), in[p]
			})
		}
	}
	return events
}

func TestCleanProcessingRaisesNoAlarm(t *testing.T) {
	if r := Check(processing(500, 4, 3)); r.Verdict != Pass {
		t.Errorf("verdict %s: %v %v", r.Verdict, r.Findings, r.Unknown)
	}
}

// One million events and some of a clean history of transactions.
func BenchmarkProcessing(b *testing.B) {
	events := processing(50_000, 8, 4)
	b.ReportMetric(float64(len(events)), "events")
	b.ReportAllocs()
	for b.Loop() {
		if r := Check(events); r.Verdict != Pass {
			b.Fatalf("verdict %s: %v %v", r.Verdict, r.Findings, r.Unknown)
		}
	}
}
