package reports

import (
	"cmp"
	"slices"
	"sort"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// tracks is what the picture shows of one partition, taken from the events.
type tracks struct {
	tp         kafka.TopicPartition
	replicas   []*replicaTrack // by broker
	decisions  []mark          // of the controller, and what was found in no other lane
	faults     []mark
	clients    []*clientTrack // in order of first mention
	instants   []instant      // every moment that something is drawn at, ascending
	start, end int64          // ns
	top        kafka.Offset   // the highest log end
	lives      lives
}

// mark is a labelled moment.
type mark struct {
	at    int64
	glyph glyph
	text  string
	lost  bool // it sealed a loss, or something was found wrong
	bare  bool // no line leads from its label to its sign
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
	marks  []mark // of the cuts, one for each
	found  []foundMark
	idle   []mark // leaderships of a broker that serves nobody yet
	// cleaned are the passes of the cleaner; starts are the log starts above 0, as long
	// as the replica is known to have them.
	cleaned []mark
	passes  []cleaning
	starts  []startSpan
}

// foundMark is a finding's, at an offset or at NoOffset.
type foundMark struct {
	mark
	offset kafka.Offset
}

// cleaning is a pass of the cleaner over [from, to).
type cleaning struct {
	at       int64
	from, to kafka.Offset
}

// startSpan is a log start that holds in a span.
type startSpan struct {
	span
	offset kafka.Offset
}

// point is the state from at on. end is NoOffset while it is not known.
type point struct {
	at      int64
	end, hw kafka.Offset
}

// span is [from, to) in ns, of one leader epoch or of one outage, which lasts
// until the log is open again; to is -1 while it is open.
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
	// promised: acknowledged with acks=all
	promised bool
	found    string // what was found wrong then, "" if nothing
	alone    bool   // it is there for what was found alone
}

// newTracks reads the events once.
func newTracks(events []event.Event, tp kafka.TopicPartition) *tracks {
	t := &tracks{tp: tp}
	for i := range events {
		t.take(&events[i])
	}
	slices.SortStableFunc(t.instants, func(a, b instant) int { return cmp.Compare(a.at, b.at) })
	return t
}

// close ends what lasts, at the last moment of the picture.
func (t *tracks) close() {
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
		r.closeStart(t.end)
	}
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

// put changes what is given; NoOffset keeps what was. Whoever has a log is up.
func (r *replicaTrack) put(at int64, end, hw kafka.Offset) {
	closeSpan(r.down, at)
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

// die ends what ends with a death, or with the loss of the replica's disk alone.
func (r *replicaTrack) die(at int64, text string) {
	closeSpan(r.leads, at)
	closeSpan(r.down, at)
	r.closeStart(at)
	r.down = append(r.down, span{from: at, to: -1, text: text})
	r.points = append(r.points, point{at, kafka.NoOffset, kafka.NoOffset})
}

// cut records that the log lost [to, from).
func (r *replicaTrack) cut(at int64, from, to kafka.Offset, text string) {
	r.cuts = append(r.cuts, cutMark{at, from, to})
	r.marks = append(r.marks, mark{at: at, glyph: glyphCut, text: text})
}

// clean records a pass of the cleaner, from which on the log may lack records.
func (r *replicaTrack) clean(e *event.Event) {
	r.passes = append(r.passes, cleaning{e.At, max(e.Offset, 0), e.End})
	r.cleaned = append(r.cleaned, mark{at: e.At, glyph: glyphClean, text: "compacts " + num(int64(e.Offset)) + "–" + num(int64(e.End))})
	if p := r.last(); p.end != kafka.NoOffset {
		p.at = e.At
		r.points = append(r.points, p)
	}
}

// begin moves the log start, unless the replica is known to have moved it there.
func (r *replicaTrack) begin(e *event.Event) {
	if n := len(r.starts); n > 0 && r.starts[n-1].to < 0 && r.starts[n-1].offset >= e.Offset {
		return
	}
	r.closeStart(e.At)
	s := span{from: e.At, to: -1, text: "log start " + num(int64(e.Offset)) + " (" + e.Text + ")"}
	r.starts = append(r.starts, startSpan{s, e.Offset})
}

// closeStart ends what is known of the log start.
func (r *replicaTrack) closeStart(at int64) {
	if n := len(r.starts); n > 0 && r.starts[n-1].to < 0 {
		r.starts[n-1].to = at
	}
}

func closeSpan(s []span, at int64) {
	if n := len(s); n > 0 && s[n-1].to < 0 {
		s[n-1].to = at
	}
}
