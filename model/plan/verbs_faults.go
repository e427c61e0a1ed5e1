package plan

import (
	"fmt"
	"strings"

	"tidemark/model/kafka"
)

func parseNode(a *args, s *Step) { s.Node = a.node("the node") }

func printNode(s *Step) string { return fmt.Sprint(s.Node) }

func parsePower(a *args, s *Step) {
	s.Node, s.Lose = a.node("the node"), "random"
	if a.take("lose") {
		s.Lose = a.choice("what is lost", "all", "none", "random")
	}
}

func printPower(s *Step) string { return fmt.Sprintf("%d lose %s", s.Node, s.Lose) }

func parseCrash(a *args, s *Step) {
	where := a.next("the lane")
	id, lane, ok := strings.Cut(where, "/")
	if a.err == nil && !ok {
		a.failf("%q is not a lane: write NODE/LANE such as 2/data-0", where)
	}
	b := args{words: []string{id}}
	s.Node = b.node("the node")
	if b.err != nil && a.err == nil {
		a.err = b.err
	}
	s.Lane = lane
	a.expect("op")
	s.Op = int(a.integer("the operation", 1, 1_000_000))
	s.Kind = "kill"
	if a.more() {
		s.Kind = a.choice("the crash", "kill", "power")
	}
}

func printCrash(s *Step) string {
	return fmt.Sprintf("%d/%s op %d %s", s.Node, s.Lane, s.Op, s.Kind)
}

// end reads one end of a link: a node id, else a client's name.
func end(a *args, what string) (kafka.BrokerID, string) {
	w := a.next(what)
	if a.err != nil {
		return kafka.NoBroker, ""
	}
	if w[0] < '0' || w[0] > '9' {
		return kafka.NoBroker, w
	}
	b := args{words: []string{w}}
	n := b.node(what)
	a.err = b.err
	return n, ""
}

func link(a *args, s *Step) {
	s.Node, s.FromClient = end(a, "the sender")
	s.Both = a.choice("the direction", "->", "<->") == "<->"
	s.Peer, s.ToClient = end(a, "the receiver")
}

func parseLink(a *args, s *Step) {
	s.Node, s.Peer = kafka.NoBroker, kafka.NoBroker
	if !a.more() && (s.Verb == VerbHeal || s.Verb == VerbRelease) {
		return
	}
	link(a, s)
	switch {
	case a.err != nil:
	case s.Both && (s.Verb == VerbRelease || s.Verb == VerbHalfOpen):
		a.failf("%s takes one direction: A -> B", s.Verb)
	case !s.Both && s.Verb == VerbReset:
		a.failf("reset takes both directions: A <-> B")
	}
}

func printEnd(n kafka.BrokerID, client string) string {
	if client != "" {
		return client
	}
	return fmt.Sprint(n)
}

func printLink(s *Step) string {
	if s.Everywhere() {
		return ""
	}
	arrow := " -> "
	if s.Both {
		arrow = " <-> "
	}
	return printEnd(s.Node, s.FromClient) + arrow + printEnd(s.Peer, s.ToClient)
}

// Everywhere reports whether a heal or release names no link.
func (s *Step) Everywhere() bool {
	return s.Node == kafka.NoBroker && s.FromClient == "" && s.Peer == kafka.NoBroker && s.ToClient == ""
}

func parseHold(a *args, s *Step) {
	s.API = a.next("the API")
	if _, ok := APIKey(s.API); a.err == nil && !ok {
		a.failf("%q is not an API that can be named: %s", s.API, strings.Join(apiNames(), ", "))
	}
	s.Response = a.take("response")
	link(a, s)
	if a.err == nil && s.Both {
		a.failf("%s takes one direction: A -> B", s.Verb)
	}
}

func printHold(s *Step) string {
	if s.Response {
		return s.API + " response " + printLink(s)
	}
	return s.API + " " + printLink(s)
}

func parseFail(a *args, s *Step) {
	parseHold(a, s)
	s.Op = 1
	if a.take("number") {
		s.Op = int(a.integer("the number", 1, 1_000_000))
	}
}

func printFail(s *Step) string {
	if s.Op == 1 {
		return printHold(s)
	}
	return fmt.Sprintf("%s number %d", printHold(s), s.Op)
}

func parseStall(a *args, s *Step) {
	s.Node = a.node("the node")
	a.expect("for")
	s.For = a.positiveDuration("the time")
}

func printStall(s *Step) string { return fmt.Sprintf("%d for %v", s.Node, s.For) }

func parseClock(a *args, s *Step) {
	s.Node = a.node("the node")
	a.expect("jump")
	s.For = a.duration("the jump")
}

func printClock(s *Step) string { return fmt.Sprintf("%d jump %v", s.Node, s.For) }

func parseRules(a *args, s *Step) {
	s.Node = a.node("the node")
	s.Rules = a.next("the rules")
}

func printRules(s *Step) string { return fmt.Sprintf("%d %s", s.Node, s.Rules) }

func parseSleep(a *args, s *Step) { s.For = a.positiveDuration("the time") }

func printSleep(s *Step) string { return s.For.String() }

// apis are the requests that a plan can name, in the order of their keys.
var apis = []struct {
	name string
	key  int16
}{
	{"produce", 0}, {"fetch", 1}, {"listoffsets", 2}, {"metadata", 3}, {"apiversions", 18},
	{"createtopics", 19}, {"offsetforleaderepoch", 23}, {"electleaders", 43}, {"alterpartition", 56},
	{"envelope", 58}, {"brokerregistration", 62}, {"brokerheartbeat", 63},
}

// APIKey is the API key of a request that a plan names in lower case.
func APIKey(name string) (int16, bool) {
	for _, a := range apis {
		if a.name == name {
			return a.key, true
		}
	}
	return 0, false
}

func apiNames() []string {
	var names []string
	for _, a := range apis {
		names = append(names, a.name)
	}
	return names
}
