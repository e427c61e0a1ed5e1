package checker

import (
	"fmt"
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// audit: what replicas claim is what lies in their segments, and no log shrinks
// without an event that says why. The World reads
// the segments with its own reader, so a node that is wrong about itself is
// found here. The last audit of each live replica, if its log did not change
// since, is also compared with the others: LogMatching as read from the disks.
type audit struct {
	tally
	open   map[auditKey]*auditedLog // not closed by AuditReplica yet
	closed map[auditKey]*auditedLog
}

type auditKey struct {
	node kafka.BrokerID
	tp   kafka.TopicPartition
}

// auditedLog is one replica's records as read from disk.
type auditedLog struct {
	node      kafka.BrokerID
	first, hw kafka.Offset
	seq       uint64
	at        int64
	records   []auditedRecord // by offset
}

type auditedRecord struct {
	offset        kafka.Offset
	epoch         kafka.LeaderEpoch
	attempt, hash uint64
}

func (*audit) name() string { return "audit" }

func (*audit) kinds() []event.Kind {
	return []event.Kind{event.AuditRecord, event.AuditReplica, event.BecameLeader, event.BecameFollower, event.Appended, event.Truncated, event.Recovered}
}

func (a *audit) observe(f *facts, e *event.Event, r *Report) {
	switch e.Kind {
	case event.AuditRecord:
		if a.open == nil {
			a.open, a.closed = map[auditKey]*auditedLog{}, map[auditKey]*auditedLog{}
		}
		k := auditKey{e.Node, e.TP()}
		if a.open[k] == nil {
			a.open[k] = &auditedLog{node: e.Node}
		}
		a.open[k].records = append(a.open[k].records, auditedRecord{e.Offset, e.Epoch, e.Attempt, e.Hash})
	case event.AuditReplica:
		a.close(f, e, r)
	case event.BecameLeader, event.BecameFollower:
		a.checks++
		if f.shrunk {
			why := f.at.replica(e.Node).doom(e.End, e.Seq+1)
			r.Findings = append(r.Findings, Finding{Rule: a.name(), Verdict: Violation, Seq: e.Seq, At: e.At, Witness: []uint64{e.Seq}, TP: e.TP(),
				Offset: e.End, Last: e.End, Node: e.Node, Epoch: e.Epoch, Text: fmt.Sprintf("%s: %s", e.TP(), why.Text)})
		}
	case event.Appended, event.Truncated, event.Recovered:
		delete(a.closed, auditKey{e.Node, e.TP()})
	}
}

func (a *audit) close(f *facts, e *event.Event, r *Report) {
	if a.open == nil {
		a.open, a.closed = map[auditKey]*auditedLog{}, map[auditKey]*auditedLog{}
	}
	k := auditKey{e.Node, e.TP()}
	log := a.open[k]
	delete(a.open, k)
	delete(a.closed, k)
	// A broker that has not opened the log in this life claims nothing of it.
	if !strings.HasPrefix(e.Text, "live") || e.HighWatermark == kafka.NoOffset {
		return
	}
	if log == nil {
		log = &auditedLog{node: e.Node}
	}
	log.first, log.hw, log.seq, log.at = e.Offset, e.HighWatermark, e.Seq, e.At
	a.closed[k] = log
	a.checks++
	if p := f.partition(k.tp); p != nil {
		if at, text := log.contradicts(e, p.replica(e.Node)); text != "" {
			found := Finding{Rule: a.name(), Verdict: Violation, Seq: e.Seq, At: e.At, Witness: []uint64{e.Seq}, TP: k.tp,
				Offset: at, Last: at, Node: e.Node, Text: fmt.Sprintf("%s: broker %d %s", k.tp, e.Node, text)}
			r.Findings = append(r.Findings, found.excuse(f.damagedPremise(e.Node)))
		}
	}
}

// contradicts compares the segments with the replica's claims; text is empty
// if they agree.
func (l *auditedLog) contradicts(e *event.Event, r *replica) (at kafka.Offset, text string) {
	if _, unreadable, failed := strings.Cut(e.Text, ", "); failed {
		return e.End, "has a segment that cannot be read: " + unreadable
	}
	if len(l.records) == 0 && r.log.end == r.log.start {
		return kafka.NoOffset, ""
	}
	if e.End != r.log.end {
		return min(e.End, r.log.end), fmt.Sprintf("claims a log that ends at %d; its segments end at %d", r.log.end, e.End)
	}
	if e.HighWatermark > e.End {
		return e.End, fmt.Sprintf("claims the high watermark %d; its segments end at %d", e.HighWatermark, e.End)
	}
	want, i := e.Offset, 0
	missing := func() (kafka.Offset, string) {
		return max(want, r.cleaned), fmt.Sprintf("has no record at offset %d in its segments, though they go on to %d", max(want, r.cleaned), e.End)
	}
	for _, rec := range l.records {
		if rec.offset != want && (rec.offset < want || rec.offset > r.cleaned) {
			return missing()
		}
		want = rec.offset + 1
		for i < len(r.log.list) && r.log.list[i].end <= rec.offset {
			i++
		}
		if i < len(r.log.list) && r.log.list[i].known && r.log.list[i].epoch != rec.epoch {
			return rec.offset, fmt.Sprintf("appended offset %d in epoch %d; its segments say epoch %d", rec.offset, r.log.list[i].epoch, rec.epoch)
		}
	}
	if want != e.End && e.End > r.cleaned {
		return missing()
	}
	return kafka.NoOffset, ""
}

// finish compares the live replicas of each partition with each other.
func (a *audit) finish(f *facts, r *Report) {
	for _, p := range f.sorted() {
		var best *auditedLog // of the highest claim: every other is compared with it
		for _, x := range p.replicas {
			if l := a.closed[auditKey{x.node, p.tp}]; l != nil && (best == nil || l.hw > best.hw) {
				best = l
			}
		}
		for _, x := range p.replicas {
			l := a.closed[auditKey{x.node, p.tp}]
			if l == nil || l == best {
				continue
			}
			a.checks++
			if at, ok := l.firstDifference(best, x.cleaned, p.replica(best.node).cleaned); ok && !x.differs && !p.replica(best.node).differs && !p.pending(x, p.replica(best.node), at) {
				r.Findings = append(r.Findings, Finding{Rule: (*logMatching).name(nil), Verdict: Violation, Seq: l.seq, At: l.at, Witness: witnesses(best.seq, l.seq), TP: p.tp,
					Offset: at, Last: at, Count: 1, Node: l.node, Epoch: x.role, Text: fmt.Sprintf("%s: brokers %d and %d hold different records at offset %d in their segments, below both high watermarks (%d and %d)",
						p.tp, l.node, best.node, at, l.hw, best.hw)})
			}
		}
	}
}

// firstDifference is the first offset below both claims at which the records
// that both logs should hold differ. What lies below the offset up to which the
// cleaner has passed over a log may be missing there.
func (l *auditedLog) firstDifference(o *auditedLog, cleaned, otherCleaned kafka.Offset) (kafka.Offset, bool) {
	a, b := l.from(max(l.first, o.first)), o.from(max(l.first, o.first))
	for len(a) > 0 && len(b) > 0 && min(a[0].offset, b[0].offset) < min(l.hw, o.hw) {
		switch x, y := a[0], b[0]; {
		case x == y:
			a, b = a[1:], b[1:]
		case x.offset < y.offset && x.offset < otherCleaned:
			a = a[1:]
		case y.offset < x.offset && y.offset < cleaned:
			b = b[1:]
		default:
			return min(x.offset, y.offset), true
		}
	}
	return kafka.NoOffset, false
}

func (l *auditedLog) from(o kafka.Offset) []auditedRecord {
	for i := range l.records {
		if l.records[i].offset >= o {
			return l.records[i:]
		}
	}
	return nil
}

// pending reports whether offset o of either replica waits for a truncation
// after a cut that a broken premise excuses.
func (p *partition) pending(x, y *replica, o kafka.Offset) bool {
	if len(p.cuts) == 0 || p.cuts[len(p.cuts)-1].premise == "" {
		return false
	}
	return x.stale > 0 && o >= x.hw || y.stale > 0 && o >= y.hw
}
