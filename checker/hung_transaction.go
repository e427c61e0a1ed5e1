package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// hungTransaction: no transaction holds the last stable offset back for longer
// than its timeout and the time that the coordinator needs to notice, once the
// last fault is healed. A hung transaction stops everybody who reads committed,
// for ever.
type hungTransaction struct {
	tally
	faults []stamp
}

// noticed is what a coordinator needs at most to abort a transaction that ran
// out of time and to have its markers written: three scans of 10 s (KIP-98), ns.
const noticed = 30_000_000_000

func (*hungTransaction) name() string { return "hung-transaction" }

func (*hungTransaction) kinds() []event.Kind {
	return []event.Kind{event.Fault, event.Died, event.Boot, event.Ready, event.Paused, event.Resumed, event.Elected, event.StorageFailed}
}

func (w *hungTransaction) observe(_ *facts, e *event.Event, _ *Report) {
	w.faults = append(w.faults, stampOf(e))
}

func (w *hungTransaction) finish(f *facts, r *Report) {
	f.txns.closure(f)
	for _, rd := range f.history.sorted() {
		w.partition(f, rd, r)
	}
}

// stuck is a last stable offset that does not move while the log goes on.
type stuck struct {
	lso         kafka.Offset
	first, last *poll
	by          *txnSend // the record that holds it back, nil for not known; looked for once
	timeout     int64    // ms, of that record's transaction; 0 until it is looked for
}

// partition looks for a last stable offset that stays below the high watermark
// for too long. A fault starts the clock again.
func (w *hungTransaction) partition(f *facts, rd *reading, r *Report) {
	var s *stuck
	faults := w.faults
	for i := range rd.polls.len() {
		p := rd.polls.at(i)
		lso, hw, known := p.stable()
		if !known {
			continue
		}
		w.checks++
		for len(faults) > 0 && faults[0].seq < p.seq {
			faults, s = faults[1:], nil
		}
		switch {
		case lso >= hw:
			s = nil
		case s == nil || lso > s.lso:
			s = &stuck{lso: lso, first: p, last: p}
		case lso == s.lso:
			if s.last = p; s.tooLong(f, rd) {
				r.settleTxn(f, w.hung(rd, s), circumstances{readCommitted: true})
				return
			}
		}
	}
}

// stable is what a committed read tells of the last stable offset: the answer
// itself, or, where that is not recorded, the position at which it stands still.
func (p *poll) stable() (lso, hw kafka.Offset, known bool) {
	if !p.committedRead() || p.hw == kafka.NoOffset {
		return 0, 0, false
	}
	if p.lso != kafka.NoOffset {
		return p.lso, p.hw, true
	}
	return p.end, p.hw, p.from == p.end && !p.drained
}

func (s *stuck) tooLong(f *facts, rd *reading) bool {
	waited := f.clocks.least(s.first.stamp(), s.last.stamp())
	if waited <= noticed {
		return false
	}
	if s.timeout == 0 {
		s.timeout = f.profile.ms(clusterScope, "transaction.max.timeout.ms", 900_000)
		for i := range f.txns.sends[rd.tp] {
			if x := &f.txns.sends[rd.tp][i]; x.offset == s.lso {
				s.by, s.timeout = x, f.profile.producerMs(x.client, "transaction.timeout.ms", 60_000)
			}
		}
	}
	return waited > s.timeout*1_000_000+noticed
}

func (w *hungTransaction) hung(rd *reading, s *stuck) Finding {
	finding := Finding{Rule: w.name(), Verdict: Violation, Seq: s.last.seq, At: s.last.at, TP: rd.tp, Offset: s.lso, Last: s.lso,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: s.last.client, Witness: witnesses(s.first.seq, s.last.seq)}
	who := "a transaction that the history does not show"
	if s.by != nil {
		who, finding.Attempt = s.by.txn.what(), s.by.attempt
		finding.Witness = witnesses(s.first.seq, s.last.seq, s.by.invoked)
	}
	finding.Text = fmt.Sprintf("%s: the last stable offset stood at %d from event %d to event %d, %d s, held back by %s, whose timeout is %d s",
		rd.tp, s.lso, s.first.seq, s.last.seq, (s.last.at-s.first.at)/1_000_000_000, who, s.timeout/1000)
	return finding
}
