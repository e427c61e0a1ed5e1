package plan

import (
	"fmt"
	"slices"
	"strconv"

	"tidemark/model/kafka"
)

// predicates is how each subject is written.
var predicates = []struct {
	subject Subject
	usage   string
	help    string
}{
	{WaitLeader, "leader TOPIC-PARTITION = BROKER|any|none", "the controller's committed leader"},
	{WaitISR, "isr TOPIC-PARTITION = 1,2,3", "the controller's committed ISR, in any order"},
	{WaitHW, "hw BROKER TOPIC-PARTITION =|>= OFFSET", "the high watermark that the replica knows"},
	{WaitLEO, "leo BROKER TOPIC-PARTITION =|>= OFFSET", "the replica's log end offset"},
	{WaitEpoch, "epoch BROKER TOPIC-PARTITION =|>= EPOCH", "the leader epoch in which the replica leads or follows"},
	{WaitAcked, "acked PRODUCER =|>= COUNT", "records acknowledged to the producer"},
	{WaitPosition, "position CONSUMER TOPIC-PARTITION =|>= OFFSET", "the consumer's position"},
	{WaitFenced, "fenced BROKER", "the controller has fenced the broker"},
	{WaitUnfenced, "unfenced BROKER", "the broker is registered and unfenced"},
}

const (
	leaderNone = -1
	leaderAny  = -2
)

func parseWait(a *args, s *Step) {
	s.Predicate = parsePredicate(a)
	a.expect("within")
	s.For = a.positiveDuration("the time")
}

func printWait(s *Step) string { return fmt.Sprintf("%v within %v", s.Predicate, s.For) }

func parsePredicate(a *args) Predicate {
	p := Predicate{Subject: Subject(a.next("the predicate"))}
	switch p.Subject {
	case WaitLeader:
		p.setPartition(a)
		a.expect("=")
		p.Value = leaderValue(a)
	case WaitISR:
		p.setPartition(a)
		a.expect("=")
		ids, err := parseIDs(a.next("the ISR"))
		if a.err == nil && err != nil {
			a.failf("%v", err)
		}
		slices.Sort(ids)
		p.ISR = ids
	case WaitHW, WaitLEO, WaitEpoch:
		p.Node = a.node("the broker")
		p.setPartition(a)
		p.compare(a, "the value")
	case WaitAcked:
		p.Client = a.next("the producer")
		p.compare(a, "the count")
	case WaitPosition:
		p.Client = a.next("the consumer")
		p.setPartition(a)
		p.compare(a, "the offset")
	case WaitFenced, WaitUnfenced:
		p.Node = a.node("the broker")
	default:
		a.failf("%q is not a predicate: %s", string(p.Subject), subjectList())
	}
	return p
}

func subjectList() string {
	out := ""
	for i, p := range predicates {
		if i > 0 {
			out += ", "
		}
		out += string(p.subject)
	}
	return out
}

func (p *Predicate) setPartition(a *args) {
	tp := a.partition()
	p.Topic, p.Partition = tp.Topic, tp.Partition
}

func (p *Predicate) compare(a *args, what string) {
	p.AtLeast = a.choice("the comparison", "=", ">=") == ">="
	p.Value = a.integer(what, 0, 1<<62)
}

func leaderValue(a *args) int64 {
	switch w := a.next("the leader"); w {
	case "none":
		return leaderNone
	case "any":
		return leaderAny
	default:
		b := args{words: []string{w}, err: a.err}
		n := b.node("the leader")
		a.err = b.err
		return int64(n)
	}
}

// TP is the partition that the predicate speaks of.
func (p Predicate) TP() kafka.TopicPartition {
	return kafka.TopicPartition{Topic: p.Topic, Partition: p.Partition}
}

// String writes the predicate as it is parsed.
func (p Predicate) String() string {
	op := " = "
	if p.AtLeast {
		op = " >= "
	}
	value := strconv.FormatInt(p.Value, 10)
	switch p.Subject {
	case WaitLeader:
		if p.Value == leaderNone {
			value = "none"
		} else if p.Value == leaderAny {
			value = "any"
		}
		return "leader " + p.TP().String() + op + value
	case WaitISR:
		return "isr " + p.TP().String() + op + formatIDs(p.ISR)
	case WaitHW, WaitLEO, WaitEpoch:
		return fmt.Sprintf("%s %d %v%s%s", p.Subject, p.Node, p.TP(), op, value)
	case WaitAcked:
		return "acked " + p.Client + op + value
	case WaitPosition:
		return "position " + p.Client + " " + p.TP().String() + op + value
	}
	return fmt.Sprintf("%s %d", p.Subject, p.Node)
}

// Holds judges the predicate; what the view does not know does not hold.
func (p Predicate) Holds(v View) bool {
	switch p.Subject {
	case WaitLeader:
		leader, ok := v.Leader(p.TP())
		if p.Value == leaderAny {
			return ok && leader != kafka.NoBroker
		}
		return ok && int64(leader) == p.Value
	case WaitISR:
		isr, ok := v.ISR(p.TP())
		return ok && slices.Equal(isr, p.ISR)
	case WaitHW:
		hw, ok := v.HighWatermark(p.Node, p.TP())
		return ok && p.reached(int64(hw))
	case WaitLEO:
		leo, ok := v.LogEnd(p.Node, p.TP())
		return ok && p.reached(int64(leo))
	case WaitEpoch:
		e, ok := v.Epoch(p.Node, p.TP())
		return ok && p.reached(int64(e))
	case WaitAcked:
		return p.reached(v.Acked(p.Client))
	case WaitPosition:
		o, ok := v.Position(p.Client, p.TP())
		return ok && p.reached(int64(o))
	}
	fenced, ok := v.Fenced(p.Node)
	return ok && fenced == (p.Subject == WaitFenced)
}

func (p Predicate) reached(n int64) bool {
	return n == p.Value || p.AtLeast && n > p.Value
}
