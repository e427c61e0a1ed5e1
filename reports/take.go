package reports

import (
	"slices"
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// take takes the next event in.
func (t *tracks) take(e *event.Event) {
	if e.Topic == "" {
		t.lives.node(e)
		t.takeNode(e)
		return
	}
	refused := e.Kind == event.SendFail && e.Partition < 0 && e.Topic == t.tp.Topic
	if e.TP() != t.tp && !refused {
		return
	}
	switch e.Kind {
	case event.Elected, event.ISRChanged:
		t.takeDecision(e)
	case event.SendOK, event.SendFail, event.SendUnknown, event.PollOK, event.PositionReset:
		t.takeClient(e)
	default:
		t.takeReplica(e)
	}
}

// takeNode takes in what befalls a whole node, once the partition exists.
func (t *tracks) takeNode(e *event.Event) {
	if len(t.decisions) == 0 {
		return
	}
	r := t.find(e.Node)
	switch e.Kind {
	case event.Died:
		how, _, _ := strings.Cut(e.Text, " ")
		how = strings.TrimSuffix(how, ":")
		t.fault(e, glyphDeath, how+" "+nodeName(e.Node))
		if r != nil {
			r.die(e.At, "down: "+how)
		}
	case event.Boot:
		t.fault(e, glyphStart, "start "+nodeName(e.Node))
	case event.Paused:
		t.fault(e, glyphFault, "pause "+nodeName(e.Node))
		if r != nil {
			r.down = append(r.down, span{from: e.At, to: -1, text: "paused"})
		}
	case event.Resumed:
		t.fault(e, glyphFault, "resume "+nodeName(e.Node))
		if r != nil {
			closeSpan(r.down, e.At)
		}
	case event.WaitFailed:
		t.fault(e, glyphFault, "line "+num(int64(e.Line))+": the wait ran out of time")
	case event.Fault:
		t.fault(e, glyphFault, e.Text)
	}
}

func (t *tracks) fault(e *event.Event, g glyph, text string) {
	if n := len(t.faults); n > 0 && t.faults[n-1].at == e.At {
		both, ok := bothWays(t.faults[n-1].text, text)
		if !ok {
			both, ok = together(t.faults[n-1].text, text)
		}
		if ok {
			t.faults[n-1].text = both
			return
		}
	}
	t.faults = append(t.faults, mark{at: e.At, glyph: g, text: text})
	t.instants = append(t.instants, instant{e.At, true})
}

func (t *tracks) takeDecision(e *event.Event) {
	changed := false
	for _, b := range e.ISR {
		t.replica(b)
	}
	for _, r := range t.replicas {
		in, open := slices.Contains(e.ISR, r.node), len(r.isr) > 0 && r.isr[len(r.isr)-1].to < 0
		if in && !open {
			r.isr = append(r.isr, span{from: e.At, to: -1})
			changed = true
		}
		if !in && open {
			closeSpan(r.isr, e.At)
			changed = true
		}
	}
	if e.Kind == event.ISRChanged && !changed {
		return
	}
	isr := "ISR " + ids(e.ISR)
	if e.Kind == event.Elected {
		t.lives.elected(e)
		leader := "no leader"
		if e.Peer != kafka.NoBroker {
			leader = "leader " + num(int64(e.Peer))
		}
		t.decisions = append(t.decisions, mark{at: e.At, glyph: glyphElection, text: "e" + num(int64(e.Epoch)) + " " + leader + " (" + e.Text + "), " + isr})
	} else {
		t.decisions = append(t.decisions, mark{at: e.At, glyph: glyphISR, text: isr})
	}
	t.instants = append(t.instants, instant{e.At, true})
}

func (t *tracks) takeClient(e *event.Event) {
	if e.Client == "" || e.Kind == event.PositionReset && e.Text == "assign" {
		return
	}
	c := t.client(e.Client)
	m := clientMark{at: e.At, seq: e.Seq, kind: e.Kind, offset: e.Offset, drained: e.Drained, promised: e.Acks == -1}
	switch e.Kind {
	case event.PollOK:
		if e.End == e.Offset && !e.Drained {
			return
		}
		m.text = "reads " + num(int64(e.Offset)) + "–" + num(int64(e.End))
		if n := len(c.marks); n > 0 && e.End == e.Offset && c.marks[n-1].kind == event.PollOK {
			return // still at the end
		}
	case event.PositionReset:
		m.text = "reset " + num(int64(e.Offset)) + "→" + num(int64(e.End)) + " (" + e.Text + ")"
	case event.SendFail, event.SendUnknown:
		m.text = e.Code.String()
	}
	c.marks = append(c.marks, m)
	t.instants = append(t.instants, instant{e.At, e.Kind != event.SendOK && e.Kind != event.PollOK})
}

// client returns the track of an application, made on first mention.
func (t *tracks) client(name string) *clientTrack {
	i := slices.IndexFunc(t.clients, func(c *clientTrack) bool { return c.name == name })
	if i < 0 {
		i = len(t.clients)
		t.clients = append(t.clients, &clientTrack{name: name})
	}
	return t.clients[i]
}

func (t *tracks) takeReplica(e *event.Event) {
	key := true
	switch e.Kind {
	case event.BecameLeader, event.BecameFollower, event.Recovered:
		t.takeRole(e)
	case event.Appended:
		t.serve(e)
		t.replica(e.Node).put(e.At, e.End, kafka.NoOffset)
		key = false
	case event.HighWatermarkMoved:
		t.serve(e)
		t.replica(e.Node).put(e.At, kafka.NoOffset, e.HighWatermark)
		key = false
	case event.Truncated:
		r := t.replica(e.Node)
		t.lives.replica(e)
		r.put(e.At, e.End, min(r.last().hw, e.End))
		switch {
		case e.Text == "full":
			r.cut(e.At, e.Offset, min(e.Offset, e.End), "empties its log, starts again at "+num(int64(e.End)))
		case e.Offset != e.End:
			r.cut(e.At, e.Offset, e.End, "truncates "+num(int64(e.Offset))+"→"+num(int64(e.End))+inWords(" ", e.Text))
		}
	case event.Cleaned:
		for _, r := range t.meant(e) {
			r.clean(e)
		}
	case event.LogStartMoved:
		for _, r := range t.meant(e) {
			r.begin(e)
		}
	case event.StorageFailed:
		t.replica(e.Node).die(e.At, "log directory failed")
	default:
		return
	}
	t.top = max(t.top, e.End)
	t.instants = append(t.instants, instant{e.At, key})
}

// meant are the replicas that an event is about: one, or all that have a log, as an
// answer to a client tells of all.
func (t *tracks) meant(e *event.Event) []*replicaTrack {
	if e.Client == "" && e.Node != kafka.NoBroker {
		return []*replicaTrack{t.replica(e.Node)}
	}
	var all []*replicaTrack
	for _, r := range t.replicas {
		if r.last().end != kafka.NoOffset {
			all = append(all, r)
		}
	}
	return all
}

// serve begins the reign of a leader that was idle.
func (t *tracks) serve(e *event.Event) {
	if t.lives.replica(e).serves {
		r := t.replica(e.Node)
		r.leads = append(r.leads, span{from: e.At, to: -1, epoch: t.lives.of(e.Node).led})
	}
}

// takeRole takes in how a replica comes back and what it then is.
func (t *tracks) takeRole(e *event.Event) {
	r := t.replica(e.Node)
	c := t.lives.replica(e)
	if e.Kind == event.Recovered {
		r.put(e.At, e.End, kafka.NoOffset)
	} else {
		closeSpan(r.leads, e.At)
		r.put(e.At, e.End, e.HighWatermark)
	}
	if c.before != kafka.NoOffset {
		text := "comes back with " + num(int64(e.End)) + " of " + num(int64(c.before))
		if e.End == 0 {
			text = "starts empty (" + num(int64(c.before)) + " before)"
		}
		r.cut(e.At, c.before, e.End, text)
	}
	switch {
	case e.Kind != event.BecameLeader:
	case c.idle:
		text := "e" + num(int64(e.Epoch))
		if c.again {
			text += " again, from old metadata"
		}
		r.idle = append(r.idle, mark{at: e.At, glyph: glyphFault, text: text + ": serves nobody"})
	default:
		r.leads = append(r.leads, span{from: e.At, to: -1, epoch: e.Epoch})
	}
}
