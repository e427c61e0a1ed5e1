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
	tp, ok := o.subject(events, &rep)
	var lines []string
	if title := strings.TrimSpace(o.Title + "  " + subjectName(tp, ok)); title != "" {
		lines = append(lines, title, "")
	}
	end := verdictLines(&rep, o.Replay)
	if ok {
		n := &narrator{tp: tp, witnesses: witnesses(losses(&rep, tp))}
		for i := range events {
			n.tell(&events[i])
		}
		n.flush()
		lines = append(lines, n.lines(narrativeLines-len(lines)-len(end))...)
	}
	return append(lines, end...)
}

func subjectName(tp kafka.TopicPartition, ok bool) string {
	if !ok {
		return ""
	}
	return tp.String()
}

// How much a line matters; where room is short, higher ranks go first. What
// only led up to the first witness of a loss counts less than what followed.
const (
	rankWitness = 0
	rankTurn    = 2 // elections, truncations, deaths
	rankFault   = 4
	rankFlow    = 6
	rankISR     = 8
	rankRole    = 10
	rankBefore  = 5 // is added before the first witness
)

// item is one line of the narrative.
type item struct {
	at   int64
	seq  uint64 // 0: sums up several events
	rank int
	text string
}

// narrator turns events into items.
type narrator struct {
	tp        kafka.TopicPartition
	witnesses []uint64
	created   bool
	items     []item
	flow      flow
	reads     []reading
}

// reading is a client's way from where it began to the end of the partition.
type reading struct {
	client string
	from   kafka.Offset
	done   bool // it had reached the end
}

func witnesses(fs []*checker.Finding) []uint64 {
	var seqs []uint64
	for _, f := range fs {
		seqs = append(seqs, f.Acked.Seq, f.Lost.Seq, f.Sealed.Seq)
	}
	return seqs
}

// say adds a line for one event, after what flowed before it.
func (n *narrator) say(e *event.Event, rank int, format string, args ...any) {
	if slices.Contains(n.witnesses, e.Seq) {
		rank = rankWitness
	}
	n.flush()
	n.items = append(n.items, item{e.At, e.Seq, rank, fmt.Sprintf(format, args...)})
}

func (n *narrator) flush() {
	if text := n.flow.sum(); text != "" {
		n.items = append(n.items, item{n.flow.at, 0, rankFlow, text})
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
	}
	switch {
	case e.Topic == "":
		if n.created {
			n.tellNode(e)
		}
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
			return
		}
		n.say(e, rankTurn, "%s dies: %s", nodeName(e.Node), e.Text)
	case event.Boot:
		n.say(e, rankFault, "%s starts", nodeName(e.Node))
	case event.Paused:
		n.say(e, rankFault, "%s is paused", nodeName(e.Node))
	case event.Resumed:
		n.say(e, rankFault, "%s goes on", nodeName(e.Node))
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

func (n *narrator) tellReplica(e *event.Event) {
	switch e.Kind {
	case event.Elected:
		n.tellElection(e)
	case event.ISRChanged:
		n.say(e, rankISR, "the controller commits ISR %s", ids(e.ISR))
	case event.AlterPartitionRefused:
		n.say(e, rankISR, "the controller refuses an ISR of broker %d: %s", e.Peer, e.Code)
	case event.BecameLeader:
		n.say(e, rankTurn, "broker %d leads epoch %d from offset %d on, high watermark %d", e.Node, e.Epoch, e.End, e.HighWatermark)
	case event.BecameFollower:
		n.say(e, rankRole, "broker %d follows in epoch %d, log end %d, high watermark %d", e.Node, e.Epoch, e.End, e.HighWatermark)
	case event.Truncated:
		if e.Offset != e.End {
			n.say(e, rankTurn, "broker %d truncates its log from %d to %d (%s)", e.Node, e.Offset, e.End, e.Text)
		}
	case event.Recovered:
		n.say(e, rankFault, "broker %d opens its log, which ends at %d (%s)", e.Node, e.End, e.Text)
	case event.StorageFailed:
		n.say(e, rankTurn, "the log directory of broker %d fails: %s", e.Node, e.Text)
	case event.Appended, event.HighWatermarkMoved:
		n.flow.replica(e)
	}
}

func (n *narrator) tellElection(e *event.Event) {
	switch {
	case e.Peer == kafka.NoBroker:
		n.say(e, rankTurn, "the controller leaves %s without a leader in epoch %d, ISR %s", n.tp, e.Epoch, ids(e.ISR))
	case e.Text == "create":
		n.say(e, rankTurn, "the controller creates %s: leader %d, epoch %d, ISR %s", n.tp, e.Peer, e.Epoch, ids(e.ISR))
	default:
		n.say(e, rankTurn, "the controller elects broker %d in epoch %d (%s), ISR %s", e.Peer, e.Epoch, e.Text, ids(e.ISR))
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
			n.say(e, rankWitness, "%s: %s is acknowledged at offset %d (%s)", e.Client, record(e), e.Offset, acks(e.Acks))
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

// lines writes the items that fit into room lines, the quietest left out first
// and, among equals, the latest first.
func (n *narrator) lines(room int) []string {
	kept := slices.Clone(n.items)
	for i := range max(0, slices.IndexFunc(kept, func(it item) bool { return it.rank == rankWitness })) {
		kept[i].rank += rankBefore
	}
	dropped := 0
	for rank := rankRole + rankBefore; rank >= rankWitness && len(kept)+min(dropped, 1) > room; rank-- {
		for i := len(kept) - 1; i >= 0 && len(kept)+min(dropped, 1) > room; i-- {
			if kept[i].rank == rank {
				kept = slices.Delete(kept, i, i+1)
				dropped++
			}
		}
	}
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
