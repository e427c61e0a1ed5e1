package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// narrativeLines is the most lines that a narrative takes.
const narrativeLines = 40

// Narrative tells what happened to one partition in Kafka's terms, in at most
// 40 lines: elections, truncations, faults, and what logs, high watermarks and
// acknowledgements had come to in between. It ends with the verdict, for each
// lost record the events at which it was acknowledged and lost, and the command
// line that replays the run. Where a run is longer, the quieter lines go first
// and the narrative says how many.
func Narrative(events []event.Event, rep checker.Report, o Options) []string {
	about := o.subject(events, &rep)
	var lines []string
	if title := strings.TrimSpace(o.Title + "  " + about.name()); title != "" {
		lines = append(lines, title, "")
	}
	end := verdictLines(&rep, o)
	n := &narrator{tp: about.tp, testimony: testify(losses(&rep, about.tp))}
	for i := range events {
		n.tell(&events[i])
	}
	n.flush()
	if told := n.lines(narrativeLines - len(lines) - len(end) - 1); len(told) > 0 {
		lines = append(append(lines, told...), "")
	}
	return append(lines, end...)
}

// narrator turns events into items.
type narrator struct {
	tp kafka.TopicPartition
	testimony
	isr     []kafka.BrokerID // committed last, ascending
	doomed  []refusal
	created bool
	sent    bool // the first record
	items   []item
	flow    flow
	reads   []reading
	outages outages
	lives   lives
}

// reading is a client's way from where it began to the end of the partition.
type reading struct {
	client string
	from   kafka.Offset
	done   bool // it had reached the end
}

// say adds a line for one event, after what flowed before it.
func (n *narrator) say(e *event.Event, rank int, format string, args ...any) {
	if slices.Contains(n.witnesses, e.Seq) {
		rank = rankWitness
	}
	n.aside(e, rank, format, args...)
}

// aside adds a line that is no witness, even if its event is one.
func (n *narrator) aside(e *event.Event, rank int, format string, args ...any) {
	n.flush()
	n.items = append(n.items, item{at: e.At, seq: e.Seq, kind: e.Kind, rank: rank, text: fmt.Sprintf(format, args...)})
}

// paired joins the line said last with the others of its outage.
func (n *narrator) paired(pair int) { n.items[len(n.items)-1].pair = pair }

func (n *narrator) flush() {
	if text := n.flow.sum(); text != "" {
		n.items = append(n.items, item{at: n.flow.at, rank: rankFlow, text: text})
	}
	n.flow.reset()
}

func (n *narrator) tell(e *event.Event) {
	switch e.Kind {
	case event.WaitFailed:
		n.say(e, rankWitness, "the wait of line %d runs out of time: %s", e.Line, e.Text)
		return
	case event.Invariant:
		n.say(e, rankWitness, "%s stops on a broken invariant: %s", nodeName(e.Node), e.Text)
		return
	case event.Effect:
		if e.Topic == "" && e.Client != "" && e.Code != kafka.None {
			n.say(e, rankTurn, "a step of the plan fails: %s", e.Text)
		}
		return
	case event.SendInvoke: // its partition may not be chosen yet
		if !n.sent && e.Topic == n.tp.Topic {
			n.sent = true
			setScene(n.items)
		}
		return
	}
	switch {
	case e.Topic == "":
		n.lives.node(e)
		if n.created {
			n.tellNode(e)
		}
	case e.Kind == event.SendFail && e.Partition < 0:
		n.tellRefusal(e)
	case e.TP() != n.tp:
	case e.Client != "":
		n.tellClient(e)
	default:
		n.created = n.created || e.Kind == event.Elected || e.Kind == event.BecameLeader
		n.tellReplica(e)
	}
}

const faultWord = "fault: "

func (n *narrator) tellNode(e *event.Event) {
	switch e.Kind {
	case event.Died:
		if e.Text == "stop" {
			n.say(e, rankTurn, "%s is shut down", nodeName(e.Node))
		} else {
			n.say(e, rankTurn, "%s dies: %s", nodeName(e.Node), e.Text)
		}
		n.paired(n.outages.begin(e.Node))
	case event.Boot:
		n.say(e, rankFault, "%s starts", nodeName(e.Node))
		n.paired(n.outages.end(e.Node))
	case event.Paused:
		n.say(e, rankFault, "%s is paused", nodeName(e.Node))
		n.paired(n.outages.begin(e.Node))
	case event.Resumed:
		n.say(e, rankFault, "%s goes on", nodeName(e.Node))
		n.paired(n.outages.end(e.Node))
	case event.Fault:
		if last := len(n.items) - 1; last >= 0 && n.items[last].at == e.At {
			if both, ok := bothWays(strings.TrimPrefix(n.items[last].text, faultWord), e.Text); ok {
				n.items[last].text = faultWord + both
				return
			}
		}
		n.say(e, rankFault, faultWord+"%s", e.Text)
	case event.StorageFailed:
		n.say(e, rankTurn, "the log directory of %s fails: %s", nodeName(e.Node), e.Text)
	case event.Fenced:
		n.say(e, rankISR, "the controller fences broker %d", e.Peer)
	case event.Unfenced:
		n.say(e, rankRole, "the controller unfences broker %d", e.Peer)
	}
}

// record names the record of a send.
func record(e *event.Event) string {
	if e.Text != "" {
		return strconv.Quote(e.Text)
	}
	return fmt.Sprintf("attempt %d", event.Ordinal(e.Attempt))
}

func (n *narrator) tellClient(e *event.Event) {
	switch e.Kind {
	case event.SendOK:
		if slices.Contains(n.witnesses, e.Seq) {
			n.flow.told(e.Client)
			n.say(e, rankWitness, "%s: %s is acknowledged at offset %d (%s)%s", e.Client, record(e), e.Offset, acks(e.Acks), n.others(e.Seq))
			return
		}
		n.flow.client(e)
	case event.SendFail, event.SendUnknown:
		n.flow.client(e)
	case event.PollOK:
		r := n.reading(e)
		if e.Drained && !r.done {
			n.flow.forgetReads(e.Client)
			n.say(e, rankFault, "%s has read %d to %d, the end", e.Client, r.from, e.End)
			r.done = true
			return
		}
		n.flow.client(e)
	case event.PositionReset:
		*n.reading(e) = reading{client: e.Client, from: e.End}
		if e.Text != "assign" {
			n.say(e, rankFault, "%s: position %d is reset to %d (%s)", e.Client, e.Offset, e.End, e.Text)
		}
	case event.LogStartMoved:
		n.say(e, rankFault, "%s is told that the log starts at %d on every live replica (%s)", e.Client, e.Offset, e.Text)
	case event.TruncationDetected:
		n.say(e, rankTurn, "%s learns that its position %d was cut off: the log diverged at %d", e.Client, e.Offset, e.End)
	}
}

// reading is the client's present way, begun where it is now if there is none.
func (n *narrator) reading(e *event.Event) *reading {
	i := slices.IndexFunc(n.reads, func(r reading) bool { return r.client == e.Client })
	if i < 0 {
		i = len(n.reads)
		n.reads = append(n.reads, reading{client: e.Client, from: e.Offset})
	}
	return &n.reads[i]
}

func acks(a int16) string {
	if a == -1 {
		return "acks=all"
	}
	return "acks=" + num(int64(a))
}

// lines writes the items that fit into room lines.
func (n *narrator) lines(room int) []string {
	kept, dropped := prune(n.items, room)
	var lines []string
	for _, it := range kept {
		event := "      "
		if it.seq > 0 {
			event = fmt.Sprintf("%6s", "#"+num(int64(it.seq)))
		}
		sign := " "
		if it.rank == rankWitness {
			sign = ">"
		}
		lines = append(lines, fmt.Sprintf("%s%10s s %s  %s", sign, seconds4(it.at), event, it.text))
	}
	if dropped > 0 {
		lines = append(lines, fmt.Sprintf("  (%d quieter lines left out)", dropped))
	}
	return lines
}
