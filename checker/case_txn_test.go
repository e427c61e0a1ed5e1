package checker_test

import (
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// The verbs of transactions and groups. Options: txn=N tid=ID pid=ID/EPOCH
// group=G member=M gen=N.
//
//	1-2 P init tid=T -> 7/0                        InitProducerId gave producer 7, epoch 0; or no, ??
//	3 P begin txn=1 tid=T pid=7/0
//	4-5 P offsets x 3 txn=1 group=g -> ok          a commit within a transaction; or no, ??
//	6-7 P commit txn=1 -> ok | no | ??             8-9 P abort txn=1 -> ok | no | ??
//	10 c assigned x group=g member=m gen=1         revoked, lost
//	11-12 c offsets x 5 group=g [auto] -> ok       a plain commit
//	13-14 c fetch x group=g [unstable] -> 5 | none | no
func init() {
	caseVerbs["init"] = caseInit
	caseVerbs["begin"] = caseBegin
	caseVerbs["commit"], caseVerbs["abort"] = caseEnd, caseEnd
	caseVerbs["offsets"] = caseOffsets
	caseVerbs["fetch"] = caseFetchCommitted
	caseVerbs["assigned"], caseVerbs["revoked"], caseVerbs["lost"] = caseOwner, caseOwner, caseOwner
}

// op numbers an operation that is no send.
func (b *caseBuilder) op(l *caseLine) uint64 { return 1000 + l.start }

func caseInit(b *caseBuilder, l *caseLine) {
	b.emit(l.start, event.InitProducerInvoke, l, "", func(e *event.Event) { e.Attempt = b.op(l) })
	if l.end == 0 {
		return
	}
	kind := event.InitProducerOK
	switch l.result[0] {
	case "no":
		kind = event.InitProducerFail
	case "??":
		kind = event.InitProducerUnknown
	default:
		l.opts["pid"] = l.result[0]
	}
	b.emit(l.end, kind, l, "", func(e *event.Event) { e.Attempt = b.op(l) })
}

func caseBegin(b *caseBuilder, l *caseLine) { b.emit(l.end, event.TxnBegin, l, "", nil) }

func caseEnd(b *caseBuilder, l *caseLine) {
	b.outcome(l, "", event.TxnEndInvoke, event.TxnEndOK, event.TxnEndFail, event.TxnEndUnknown, func(e *event.Event) { e.Text = l.verb })
}

func caseOffsets(b *caseBuilder, l *caseLine) {
	b.outcome(l, l.args[0], event.CommitInvoke, event.CommitOK, event.CommitFail, event.CommitUnknown, func(e *event.Event) {
		e.Offset = kafka.Offset(num(b.t, l.args[1]))
		e.Text = strings.Join(l.args[2:], " ")
	})
}

// outcome emits an operation and what became of it.
func (b *caseBuilder) outcome(l *caseLine, tp string, invoke, ok, fail, unknown event.Kind, set func(*event.Event)) {
	numbered := func(e *event.Event) {
		e.Attempt = b.op(l)
		set(e)
	}
	b.emit(l.start, invoke, l, tp, numbered)
	if l.end != 0 {
		b.emit(l.end, map[string]event.Kind{"ok": ok, "no": fail, "??": unknown}[l.result[0]], l, tp, numbered)
	}
}

func caseFetchCommitted(b *caseBuilder, l *caseLine) {
	set := func(e *event.Event) { e.Attempt, e.Text = b.op(l), strings.Join(l.args[1:], " ") }
	b.emit(l.start, event.FetchCommittedInvoke, l, l.args[0], set)
	if l.end == 0 {
		return
	}
	if l.result[0] == "no" {
		b.emit(l.end, event.FetchCommittedFail, l, l.args[0], set)
		return
	}
	b.emit(l.end, event.FetchCommittedOK, l, l.args[0], func(e *event.Event) {
		set(e)
		if l.result[0] != "none" {
			e.Offset = kafka.Offset(num(b.t, l.result[0]))
		}
	})
}

func caseOwner(b *caseBuilder, l *caseLine) {
	kind := map[string]event.Kind{"assigned": event.Assigned, "revoked": event.Revoked, "lost": event.Lost}[l.verb]
	b.emit(l.end, kind, l, l.args[0], nil)
}
