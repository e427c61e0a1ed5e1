package reports

import (
	"slices"
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// flow sums up appends, high watermarks, acknowledgements and reads between two
// events that matter more: what changed, and what it came to.
type flow struct {
	at      int64
	ends    []level
	hws     []level
	clients []clientFlow
	acked   []string // the clients that had acknowledgements before
}

// level is where a replica's log end or high watermark came to.
type level struct {
	node kafka.BrokerID
	at   kafka.Offset
}

type clientFlow struct {
	name           string
	more           bool // acks are not its first
	acks           int
	few            []ack // the first of them that have names
	acked          kafka.Offset
	failed, unsure int
	failure, doubt kafka.ErrorCode // the last of each
	read           kafka.Offset
}

// ack is an acknowledged record with a name.
type ack struct {
	record string
	at     kafka.Offset
}

// mostNamed is the most acknowledged records that are named one by one.
const mostNamed = 2

func (f *flow) reset() {
	for i := range f.clients {
		if f.clients[i].acks > 0 {
			f.told(f.clients[i].name)
		}
	}
	f.ends, f.hws, f.clients = f.ends[:0], f.hws[:0], f.clients[:0]
}

// told remembers that a client's first acknowledgement was told.
func (f *flow) told(client string) {
	if !slices.Contains(f.acked, client) {
		f.acked = append(f.acked, client)
	}
}

func (f *flow) replica(e *event.Event) {
	f.at = e.At
	if e.Kind == event.Appended {
		f.ends = setLevel(f.ends, e.Node, e.End)
		return
	}
	f.hws = setLevel(f.hws, e.Node, e.HighWatermark)
}

func setLevel(ls []level, node kafka.BrokerID, at kafka.Offset) []level {
	i, found := slices.BinarySearchFunc(ls, node, func(l level, n kafka.BrokerID) int { return int(l.node) - int(n) })
	if !found {
		ls = slices.Insert(ls, i, level{node: node})
	}
	ls[i].at = at
	return ls
}

func (f *flow) client(e *event.Event) {
	i := slices.IndexFunc(f.clients, func(c clientFlow) bool { return c.name == e.Client })
	if i < 0 {
		i = len(f.clients)
		f.clients = append(f.clients, clientFlow{name: e.Client, more: slices.Contains(f.acked, e.Client), acked: kafka.NoOffset, read: kafka.NoOffset})
	}
	c := &f.clients[i]
	switch e.Kind {
	case event.SendOK:
		c.acks, c.acked = c.acks+1, max(c.acked, e.Offset)
		if len(c.few) < mostNamed && e.Text != "" && e.Offset != kafka.NoOffset {
			c.few = append(c.few, ack{record(e), e.Offset})
		}
	case event.SendFail:
		c.failed, c.failure = c.failed+1, e.Code
	case event.SendUnknown:
		c.unsure, c.doubt = c.unsure+1, e.Code
	case event.PollOK:
		if e.End == e.Offset {
			return
		}
		c.read = e.End
	}
	f.at = e.At
}

// forgetReads leaves out what a client read, because a line of its own says it.
func (f *flow) forgetReads(client string) {
	for i := range f.clients {
		if f.clients[i].name == client {
			f.clients[i].read = kafka.NoOffset
		}
	}
}

// sum writes the flow as one line, "" if nothing flowed.
func (f *flow) sum() string {
	var parts []string
	if len(f.ends) > 0 {
		parts = append(parts, "log end "+levels(f.ends))
	}
	if len(f.hws) > 0 {
		parts = append(parts, "high watermark "+levels(f.hws))
	}
	for i := range f.clients {
		if s := f.clients[i].sum(); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}

// levels writes 5 on 1,2; 3 on 3, from the highest.
func levels(ls []level) string {
	var values []kafka.Offset
	for _, l := range ls {
		values = append(values, l.at)
	}
	slices.Sort(values)
	slices.Reverse(values)
	var parts []string
	for _, v := range slices.Compact(values) {
		var nodes []kafka.BrokerID
		for _, l := range ls {
			if l.at == v {
				nodes = append(nodes, l.node)
			}
		}
		parts = append(parts, num(int64(v))+" on "+ids(nodes))
	}
	return strings.Join(parts, ", ")
}

func (c *clientFlow) sum() string {
	var parts, has []string
	if c.acks > 0 {
		parts = append(parts, c.acknowledged())
	}
	if c.failed > 0 {
		has = append(has, plural(c.failed, "failed send")+" ("+c.failure.String()+")")
	}
	if c.unsure > 0 {
		has = append(has, plural(c.unsure, "send")+" of unknown outcome ("+c.doubt.String()+")")
	}
	if c.read != kafka.NoOffset {
		has = append(has, "read up to "+num(int64(c.read)))
	}
	if len(has) > 0 {
		parts = append(parts, c.name+" has "+strings.Join(has, ", "))
	}
	return strings.Join(parts, "; ")
}

// acknowledged names the records if they are few, else counts them.
func (c *clientFlow) acknowledged() string {
	if len(c.few) < c.acks {
		s := c.name + " has " + plural(c.acks, "ack")
		if c.more {
			s = c.name + " has " + plural(c.acks, "more ack")
		}
		if c.acked != kafka.NoOffset {
			s += ", up to offset " + num(int64(c.acked))
		}
		return s
	}
	if c.acks == 1 {
		return c.name + ": " + c.few[0].record + " is acknowledged at offset " + num(int64(c.few[0].at))
	}
	return c.name + ": " + c.few[0].record + " and " + c.few[1].record + " are acknowledged at offsets " +
		num(int64(c.few[0].at)) + " and " + num(int64(c.few[1].at))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return num(int64(n)) + " " + noun + "s"
}
