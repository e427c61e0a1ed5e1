package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// markers compares what lies in the logs with what was told. A history that keeps
// control records shows a marker's offset and what it says, not whose it is. So it may
// be the marker of every transaction that could have one there:
//
//	last record that was acknowledged     first record of the next transaction of
//	before the transaction's end     ◀──▶ the same id, which waits for the marker
//
// An abort marker where each of those was committed contradicts what they were told,
// and so does a commit marker where each was aborted. Where one transaction alone can
// have a marker, it has those of one kind. A coordinator that takes over may have
// written it twice (KIP-98), so their number says nothing.
func (w *twoOutcomes) markers(f *facts, r *Report) {
	if !f.closed() || len(f.txns.order) == 0 {
		return // others may have written them
	}
	shown := map[kafka.TopicPartition]*reading{}
	for _, rd := range f.history.byTP {
		if slices.ContainsFunc(rd.altered, func(rec event.Record) bool { return rec.Control != event.DataRecord }) {
			shown[rd.tp] = rd
		}
	}
	if len(shown) == 0 {
		return
	}
	windows, own := f.markerWindows(shown), ownMarkers{}
	for _, rd := range f.history.sorted() {
		if shown[rd.tp] != nil {
			w.partition(f, rd, windows[rd.tp], own, r)
		}
	}
}

// markerWindow is where the marker of a transaction can lie in one partition, both
// ends exclusive.
type markerWindow struct {
	after, before kafka.Offset
	txn           *txn
}

// marked is a marker that was seen.
type marked struct {
	rd *reading
	*place
}

// ownMarkers are, of each transaction, the first marker to abort and the first to
// commit that no other transaction can have.
type ownMarkers map[*txn]*[2]marked

// markerWindows lists the windows of some partitions. A transaction has one wherever
// it sent anything, even in vain: the partition was added to it before.
func (f *facts) markerWindows(of map[kafka.TopicPartition]*reading) map[kafka.TopicPartition][]*markerWindow {
	type idTP struct {
		id string
		tp kafka.TopicPartition
	}
	next := map[idTP]kafka.Offset{} // the first record of later transactions
	all := map[kafka.TopicPartition][]*markerWindow{}
	for _, x := range slices.Backward(f.txns.order) {
		own := map[kafka.TopicPartition]*markerWindow{}
		first := map[kafka.TopicPartition]kafka.Offset{}
		for _, s := range x.sends {
			if of[s.tp] == nil {
				continue
			}
			m := own[s.tp]
			if m == nil {
				m = &markerWindow{after: kafka.NoOffset, before: beyondOffsets, txn: x}
				own[s.tp], all[s.tp] = m, append(all[s.tp], m)
				if o, ok := next[idTP{x.tid, s.tp}]; ok && x.tid != "" {
					m.before = o
				}
			}
			if !s.promised() {
				continue
			}
			if len(x.ends) == 0 || s.done < x.ends[0].invoked.seq {
				m.after = max(m.after, s.offset)
			}
			if o, ok := first[s.tp]; !ok || s.offset < o {
				first[s.tp] = s.offset
			}
		}
		// unordered: each partition for itself.
		for tp, o := range first {
			if n, ok := next[idTP{x.tid, tp}]; !ok || o < n {
				next[idTP{x.tid, tp}] = o
			}
		}
	}
	return all
}

// partition goes over the markers of a partition by offset.
func (w *twoOutcomes) partition(f *facts, rd *reading, windows []*markerWindow, own ownMarkers, r *Report) {
	windows = slices.DeleteFunc(windows, func(m *markerWindow) bool { return m.after+1 >= m.before })
	opening, closing := slices.Clone(windows), windows
	slices.SortStableFunc(opening, func(a, b *markerWindow) int { return cmp.Compare(a.after, b.after) })
	slices.SortStableFunc(closing, func(a, b *markerWindow) int { return cmp.Compare(a.before, b.before) })
	var may owners
	places := rd.index(&f.history).places
	for i := range places {
		p := &places[i]
		if p.end || p.data() {
			continue
		}
		for ; len(opening) > 0 && opening[0].after < p.offset; opening = opening[1:] {
			may.count(opening[0], 1)
		}
		for ; len(closing) > 0 && closing[0].before <= p.offset; closing = closing[1:] {
			may.count(closing[0], -1)
		}
		if may.placed == 0 {
			continue // it may be older than the history
		}
		w.checks++
		against, kind := may.committed, 0
		if p.control == event.CommitMarker {
			against, kind = may.aborted, 1
		}
		if against < may.all && may.all > 1 {
			continue
		}
		x := ownerOf(windows, p.offset)
		if against == may.all {
			w.contradicted(f, marked{rd, p}, x, r)
			continue
		}
		if own[x] == nil {
			own[x] = new([2]marked)
		}
		if m := own[x]; m[kind].place == nil {
			if m[kind] = (marked{rd, p}); m[1-kind].place != nil {
				w.bothMarkers(f, m[0], m[1], x, r)
			}
		}
	}
}

// owners counts the transactions that may have a marker at hand.
type owners struct {
	all, committed, aborted int
	placed                  int // that are known to have written below it
}

func (o *owners) count(m *markerWindow, n int) {
	o.all += n
	if m.after != kafka.NoOffset {
		o.placed += n
	}
	switch m.txn.outcome {
	case txnCommitted:
		o.committed += n
	case txnAborted:
		o.aborted += n
	}
}

// ownerOf is a transaction that may have a marker at an offset.
func ownerOf(windows []*markerWindow, o kafka.Offset) *txn {
	i := slices.IndexFunc(windows, func(m *markerWindow) bool { return m.after < o && o < m.before })
	return windows[i].txn
}

// contradicted tells of a marker that none of its transactions was to have.
func (w *twoOutcomes) contradicted(f *facts, m marked, x *txn, r *Report) {
	if r.full(w.name(), m.rd.tp) {
		return
	}
	finding := m.finding(w.name(), x)
	finding.Witness = witnesses(x.decided.seq, m.proof)
	finding.Seq, finding.At = max(finding.Seq, x.decided.seq), max(finding.At, x.decided.at)
	finding.Text = fmt.Sprintf("%s ends no transaction but one that was %s, such as %s: %s", m, x.outcome, x.what(), x.proof)
	r.settleTxn(f, finding, circumstances{})
}

// bothMarkers tells of a transaction that has a marker of each kind.
func (w *twoOutcomes) bothMarkers(f *facts, a, c marked, x *txn, r *Report) {
	last := a
	if c.proof > a.proof {
		last = c
	}
	if r.full(w.name(), last.rd.tp) {
		return
	}
	finding := last.finding(w.name(), x)
	finding.Witness = witnesses(x.begin.seq, a.proof, c.proof)
	finding.Text = fmt.Sprintf("%s was both committed and aborted: it alone can have %s and %s", x.what(), c, a)
	r.settleTxn(f, finding, circumstances{})
}

func (m marked) finding(rule string, x *txn) Finding {
	at := m.rd.provenAt(m.place)
	return Finding{Rule: rule, Verdict: Violation, Seq: at.seq, At: at.at, TP: m.rd.tp, Offset: m.offset, Last: m.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: m.epoch, Client: x.client}
}

// String names a marker in a sentence.
func (m marked) String() string {
	kind := "abort"
	if m.control == event.CommitMarker {
		kind = "commit"
	}
	return fmt.Sprintf("the %s marker at offset %d of %s (event %d)", kind, m.offset, m.rd.tp, m.proof)
}
