package reports

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// tracks is what the picture shows of one partition, taken from the events.
type tracks struct {
	tp         kafka.TopicPartition
	replicas   []*replicaTrack // by broker
	decisions  []mark          // of the controller
	faults     []mark
	clients    []*clientTrack // in order of first mention
	instants   []instant      // every moment that something is drawn at, ascending
	start, end int64          // ns
	top        kafka.Offset   // the highest log end
}

// mark is a labelled moment.
type mark struct {
	at    int64
	glyph glyph
	text  string
	lost  bool // it sealed a loss
	label label
}

// instant is a moment for the time axis; key ones get more room.
type instant struct {
	at  int64
	key bool
}

// replicaTrack is one broker's copy over time.
type replicaTrack struct {
	node   kafka.BrokerID
	points []point
	leads  []span
	isr    []span // in the ISR as the controller committed it
	down   []span
	cuts   []cutMark
	marks  []mark
}

// point is the state from at on. end is NoOffset while it is not known.
type point struct {
	at      int64
	end, hw kafka.Offset
}

// span is [from, to) in ns, of one leader epoch or of one death; to is -1
// while it is open.
type span struct {
	from, to int64
	epoch    kafka.LeaderEpoch
	text     string
}

// cutMark is a log that lost [to, from).
type cutMark struct {
	at       int64
	from, to kafka.Offset
}

type clientTrack struct {
	name  string
	marks []clientMark
}

// clientMark is an acknowledgement, a failed send or a read.
type clientMark struct {
	at      int64
	seq     uint64
	kind    event.Kind
	offset  kafka.Offset
	text    string
	drained bool
}

// newTracks reads the events once.
func newTracks(events []event.Event, tp kafka.TopicPartition) *tracks {
	t := &tracks{tp: tp}
	for i := range events {
		t.take(&events[i])
	}
	slices.SortStableFunc(t.instants, func(a, b instant) int { return cmp.Compare(a.at, b.at) })
	if len(t.instants) > 0 {
		t.start, t.end = t.instants[0].at, t.instants[len(t.instants)-1].at
	}
	for _, r := range t.replicas {
		for _, spans := range [][]span{r.leads, r.isr, r.down} {
			for i := range spans {
				if spans[i].to < 0 {
					spans[i].to = t.end
				}
			}
		}
	}
	return t
}

func (t *tracks) take(e *event.Event) {
	if e.Topic == "" {
		t.takeNode(e)
		return
	}
	if e.TP() != t.tp {
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
		t.fault(e, glyphDeath, how+" "+nodeName(e.Node))
		if r != nil {
			r.close(e.At)
			r.down = append(r.down, span{from: e.At, to: -1, text: "down: " + how})
			r.points = append(r.points, point{e.At, kafka.NoOffset, kafka.NoOffset})
		}
	case event.Boot:
		t.fault(e, glyphStart, "start "+nodeName(e.Node))
		if r != nil {
			closeSpan(r.down, e.At)
		}
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
	case event.Fault:
		t.fault(e, glyphFault, e.Text)
	}
}

func (t *tracks) fault(e *event.Event, g glyph, text string) {
	t.faults = append(t.faults, mark{at: e.At, glyph: g, text: text})
	t.instants = append(t.instants, instant{e.At, true})
}

func (t *tracks) takeDecision(e *event.Event) {
	for _, b := range e.ISR {
		t.replica(b)
	}
	for _, r := range t.replicas {
		in, open := slices.Contains(e.ISR, r.node), len(r.isr) > 0 && r.isr[len(r.isr)-1].to < 0
		if in && !open {
			r.isr = append(r.isr, span{from: e.At, to: -1})
		}
		if !in && open {
			closeSpan(r.isr, e.At)
		}
	}
	isr := "ISR " + ids(e.ISR)
	if e.Kind == event.Elected {
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
	i := slices.IndexFunc(t.clients, func(c *clientTrack) bool { return c.name == e.Client })
	if i < 0 {
		i = len(t.clients)
		t.clients = append(t.clients, &clientTrack{name: e.Client})
	}
	c := t.clients[i]
	m := clientMark{at: e.At, seq: e.Seq, kind: e.Kind, offset: e.Offset, drained: e.Drained}
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
	t.instants = append(t.instants, instant{e.At, e.Kind != event.SendOK})
}

func (t *tracks) takeReplica(e *event.Event) {
	key := true
	switch e.Kind {
	case event.BecameLeader:
		r := t.replica(e.Node)
		closeSpan(r.leads, e.At)
		r.leads = append(r.leads, span{from: e.At, to: -1, epoch: e.Epoch})
		r.put(e.At, e.End, e.HighWatermark)
	case event.BecameFollower:
		r := t.replica(e.Node)
		closeSpan(r.leads, e.At)
		r.put(e.At, e.End, e.HighWatermark)
	case event.Appended:
		t.replica(e.Node).put(e.At, e.End, kafka.NoOffset)
		key = false
	case event.HighWatermarkMoved:
		t.replica(e.Node).put(e.At, kafka.NoOffset, e.HighWatermark)
		key = false
	case event.Truncated:
		r := t.replica(e.Node)
		r.put(e.At, e.End, min(r.last().hw, e.End))
		if e.Offset != e.End {
			r.cuts = append(r.cuts, cutMark{e.At, e.Offset, e.End})
			r.marks = append(r.marks, mark{at: e.At, glyph: glyphCut, text: "truncates " + num(int64(e.Offset)) + "→" + num(int64(e.End)) + " (" + e.Text + ")"})
		}
	case event.Recovered:
		r := t.replica(e.Node)
		known := r.known()
		r.put(e.At, e.End, kafka.NoOffset)
		if e.End < known {
			r.cuts = append(r.cuts, cutMark{e.At, known, e.End})
			r.marks = append(r.marks, mark{at: e.At, glyph: glyphCut, text: "comes back with " + num(int64(e.End)) + " of " + num(int64(known))})
		}
	default:
		return
	}
	t.top = max(t.top, e.End)
	t.instants = append(t.instants, instant{e.At, key})
}

// replica returns the track of a broker, made on first mention.
func (t *tracks) replica(node kafka.BrokerID) *replicaTrack {
	if r := t.find(node); r != nil {
		return r
	}
	i := sort.Search(len(t.replicas), func(i int) bool { return t.replicas[i].node >= node })
	t.replicas = slices.Insert(t.replicas, i, &replicaTrack{node: node})
	return t.replicas[i]
}

func (t *tracks) find(node kafka.BrokerID) *replicaTrack {
	for _, r := range t.replicas {
		if r.node == node {
			return r
		}
	}
	return nil
}

// last is the present state.
func (r *replicaTrack) last() point {
	if len(r.points) == 0 {
		return point{-1, kafka.NoOffset, kafka.NoOffset}
	}
	return r.points[len(r.points)-1]
}

// known is the log end that was known last, before a death too; -1 for none.
func (r *replicaTrack) known() kafka.Offset {
	for i := len(r.points) - 1; i >= 0; i-- {
		if r.points[i].end != kafka.NoOffset {
			return r.points[i].end
		}
	}
	return kafka.NoOffset
}

// put changes what is given; NoOffset keeps what was.
func (r *replicaTrack) put(at int64, end, hw kafka.Offset) {
	p := r.last()
	p.at = at
	if end != kafka.NoOffset {
		p.end = end
	}
	if hw != kafka.NoOffset {
		p.hw = hw
	}
	r.points = append(r.points, p)
}

// close ends what a death ends.
func (r *replicaTrack) close(at int64) {
	closeSpan(r.leads, at)
	closeSpan(r.down, at)
}

func closeSpan(s []span, at int64) {
	if n := len(s); n > 0 && s[n-1].to < 0 {
		s[n-1].to = at
	}
}
