package checker_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// A test history is one event a line, of partition t-0. Each line gets the next
// event number and millisecond. A letter is a value; its attempt is the
// letter's place in the alphabet.
//
//	send A a [acks=1]            ok A a@3      no A a      ?? A a
//	poll c 0-3 0=a 1=b/e4 [drained]            reset c 0-5 REASON
//	profile [SCOPE:]KEY=VALUE                  wait-failed TEXT
//	elect LEADER eN ISR HOW                    isr LEADER eN ISR
//	lead NODE eN end=N hw=N                    follow NODE eN end=N hw=N
//	append NODE eN BASE-END LETTERS            hw NODE FROM-TO ROLE
//	cut NODE FROM-TO REASON                    died NODE HOW
//	recovered NODE end=N                       invariant NODE TEXT
//	audit NODE hw=N 0=a/e1 1=b/e1 [unreadable] fault NODE TEXT
func history(t testing.TB, text string) []event.Event {
	t.Helper()
	var events []event.Event
	for _, line := range strings.Split(text, "\n") {
		w := strings.Fields(line)
		if len(w) == 0 || strings.HasPrefix(w[0], "#") {
			continue
		}
		for _, e := range parseLine(t, w) {
			e.Seq = uint64(len(events) + 1)
			e.At = int64(e.Seq) * 1_000_000
			events = append(events, e)
		}
	}
	return events
}

var lineKinds = map[string]event.Kind{"send": event.SendInvoke, "ok": event.SendOK, "no": event.SendFail, "??": event.SendUnknown,
	"poll": event.PollOK, "reset": event.PositionReset, "profile": event.Profile, "wait-failed": event.WaitFailed,
	"elect": event.Elected, "isr": event.ISRChanged, "lead": event.BecameLeader, "follow": event.BecameFollower,
	"append": event.Appended, "hw": event.HighWatermarkMoved, "cut": event.Truncated, "died": event.Died, "boot": event.Boot, "registered": event.Registered,
	"recovered": event.Recovered, "invariant": event.Invariant, "audit": event.AuditReplica, "fault": event.Fault}

func parseLine(t testing.TB, w []string) []event.Event {
	t.Helper()
	kind, ok := lineKinds[w[0]]
	if !ok {
		t.Fatalf("no such line: %s", strings.Join(w, " "))
	}
	e := event.New(kind)
	e.Topic = "t"
	switch w[0] {
	case "send", "ok", "no", "??":
		e.Client = w[1]
		name, offset, acked := strings.Cut(w[2], "@")
		e.Attempt, e.Hash, e.Acks = attempt(name), event.HashValue([]byte(name)), -1
		if acked {
			e.Offset = kafka.Offset(num(t, offset))
		}
		if len(w) > 3 {
			e.Acks = int16(num(t, strings.TrimPrefix(w[3], "acks=")))
		}
	case "poll":
		e.Client = w[1]
		e.Offset, e.End = span(t, w[2])
		for _, f := range w[3:] {
			if f == "drained" {
				e.Drained = true
				continue
			}
			o, rest, _ := strings.Cut(f, "=")
			name, ep, told := strings.Cut(rest, "/")
			rec := event.Record{Offset: kafka.Offset(num(t, o)), Epoch: kafka.NoEpoch, Attempt: attempt(name), Hash: event.HashValue([]byte(name))}
			if told {
				rec.Epoch = epoch(t, ep)
			}
			e.Records = append(e.Records, rec)
		}
	case "reset":
		e.Client, e.Text = w[1], w[3]
		e.Offset, e.End = span(t, w[2])
	case "profile":
		scope, setting, scoped := strings.Cut(strings.Join(w[1:], " "), ":")
		if !scoped {
			scope, setting = "", scope
		}
		e.Client, e.Text = scope, setting
	case "wait-failed":
		e.Text, e.Line = strings.Join(w[1:], " "), 7
	case "audit":
		return auditLines(t, w)
	default:
		whiteBoxLine(t, &e, w)
	}
	return []event.Event{e}
}

func whiteBoxLine(t testing.TB, e *event.Event, w []string) {
	t.Helper()
	who := kafka.BrokerID(num(t, w[1]))
	switch w[0] {
	case "elect", "isr":
		e.Node, e.Peer, e.Epoch = 101, who, epoch(t, w[2])
		for _, b := range strings.Split(w[3], ",") {
			e.ISR = append(e.ISR, kafka.BrokerID(num(t, b)))
		}
		if len(w) > 4 {
			e.Text = w[4]
		}
		return
	case "lead", "follow":
		e.Epoch = epoch(t, w[2])
		e.End, e.HighWatermark = kafka.Offset(num(t, strings.TrimPrefix(w[3], "end="))), kafka.Offset(num(t, strings.TrimPrefix(w[4], "hw=")))
	case "append":
		e.Epoch = epoch(t, w[2])
		e.Offset, e.End = span(t, w[3])
		e.Hash = event.HashValue([]byte(w[4]))
		if len(w) > 5 {
			e.Text = w[5]
		}
	case "hw":
		e.Offset, e.HighWatermark = span(t, w[2])
		e.Text = w[3]
	case "cut":
		e.Offset, e.End = span(t, w[2])
		e.Text = w[3]
	case "registered":
		e.Node, e.Peer = 101, who
		return
	case "recovered":
		e.End = kafka.Offset(num(t, strings.TrimPrefix(w[2], "end=")))
	default:
		e.Text = strings.Join(w[2:], " ")
	}
	e.Node = who
}

func auditLines(t testing.TB, w []string) []event.Event {
	t.Helper()
	var events []event.Event
	last := event.New(event.AuditReplica)
	last.Node, last.Topic, last.Text = kafka.BrokerID(num(t, w[1])), "t", "live"
	last.HighWatermark = kafka.Offset(num(t, strings.TrimPrefix(w[2], "hw=")))
	last.Offset, last.End = 0, 0
	for _, f := range w[3:] {
		if f == "unreadable" {
			last.Text += ", 00000000000000000000.log: a batch of impossible length"
			continue
		}
		o, rest, _ := strings.Cut(f, "=")
		name, ep, _ := strings.Cut(rest, "/")
		e := event.New(event.AuditRecord)
		e.Node, e.Topic, e.Offset, e.Epoch = last.Node, "t", kafka.Offset(num(t, o)), epoch(t, ep)
		e.Attempt, e.Hash = attempt(name), event.HashValue([]byte(name))
		events = append(events, e)
		last.End = e.Offset + 1
	}
	return append(events, last)
}

func attempt(name string) uint64 { return uint64(name[0]-'a') + 1 }

func num(t testing.TB, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatalf("not a number: %v", err)
	}
	return n
}

func epoch(t testing.TB, s string) kafka.LeaderEpoch {
	t.Helper()
	return kafka.LeaderEpoch(num(t, strings.TrimPrefix(s, "e")))
}

func span(t testing.TB, s string) (kafka.Offset, kafka.Offset) {
	t.Helper()
	a, b, _ := strings.Cut(s, "-")
	return kafka.Offset(num(t, a)), kafka.Offset(num(t, b))
}

// judged is the verdict of a history and the rules behind it, as a test table
// writes it: "violation lost-write+LogMatching", "excused lost-write", "pass".
func judged(r checker.Report) string {
	switch r.Verdict {
	case checker.Violation:
		return "violation " + strings.Join(r.Broken(), "+")
	case checker.Excused:
		return "excused " + strings.Join(r.Excused(), "+")
	}
	return string(r.Verdict)
}

func explain(r checker.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n  %d %s %s %s %s", f.Seq, f.Verdict, f.Rule, f.Text, f.Premise)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n  note %s %s", n.Rule, n.Text)
	}
	for _, u := range r.Unknown {
		fmt.Fprintf(&b, "\n  unknown %s", u)
	}
	return b.String()
}
