package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tidemark/model/kafka"
)

// verb is all there is to know of a verb: how it is written, what it means, how
// it is read and printed. print leaves the verb itself out.
type verb struct {
	name  Verb
	usage string
	help  string
	parse func(*args, *Step)
	print func(*Step) string
}

var workloadVerbs = []verb{
	{VerbTopic, "topic NAME [partitions=N] [replicas=N | assignment=3,1,2;...] [KEY=VALUE ...]",
		"create a topic (one partition, three replicas or as many as there are brokers, unless given); the assignment lists the replicas of each partition, preferred leader first; the rest are topic configurations",
		parseTopic, printTopic},
	{VerbProducer, "producer NAME [KEY=VALUE ...]", "a producer with Kafka's settings, such as acks=all linger.ms=0",
		parseClient, printClient},
	{VerbConsumer, "consumer NAME [KEY=VALUE ...]", "a consumer with Kafka's settings, such as auto.offset.reset=earliest",
		parseClient, printClient},
	{VerbSend, "send PRODUCER TOPIC|TOPIC-PARTITION VALUE [key=KEY]", "send one record; later steps do not wait for its acknowledgement (see wait acked)",
		parseSend, printSend},
	{VerbTombstone, "tombstone PRODUCER TOPIC|TOPIC-PARTITION KEY", "send a record without a value, which deletes the key from a compacted topic",
		parseTombstone, printTombstone},
	{VerbWrite, "write PRODUCER TOPIC|TOPIC-PARTITION COUNT every DURATION [keys=N] [size=BYTES]", "send COUNT records at a steady pace, values NAME-1, NAME-2 ..., with the keys k-1 to k-N by turns if given, values filled up to so many bytes if given",
		parseWrite, printWrite},
	{VerbRead, "read CONSUMER TOPIC|TOPIC-PARTITION from earliest|latest|OFFSET", "assign the partitions and consume from there on",
		parseRead, printRead},
	{VerbVerify, "verify CONSUMER TOPIC", "read every partition of the topic from its start to its end, once, within a minute: the final read that losses are judged by",
		parseVerify, printVerify},
	{VerbDeleteRecords, "delete-records TOPIC-PARTITION before OFFSET|hw", "raise the log start: what lies before the offset, or the high watermark, is gone for readers",
		parseDeleteRecords, printDeleteRecords},
	{VerbElect, "elect TOPIC-PARTITION preferred|unclean", "ask the controller for an election",
		parseElect, printElect},
}

var faultVerbs = []verb{
	{VerbKill, "kill NODE", "end the process as kill -9 does: the page cache stays", parseNode, printNode},
	{VerbPower, "power NODE [lose all|none|random]", "cut the machine's power: unsynced sectors, names and sizes are lost, all of them, none, or some by the seed (random, the default)",
		parsePower, printPower},
	{VerbWipe, "wipe NODE", "end the process and empty its disk", parseNode, printNode},
	{VerbStop, "stop NODE", "controlled shutdown, as SIGTERM asks for", parseNode, printNode},
	{VerbStart, "start NODE", "boot a node that is down", parseNode, printNode},
	{VerbPause, "pause NODE", "SIGSTOP: nothing runs, connections stay", parseNode, printNode},
	{VerbResume, "resume NODE", "SIGCONT", parseNode, printNode},
	{VerbCrash, "crash NODE/LANE op N [kill|power]", "from now on count that lane's disk, network, timer and post operations; the process dies before the N-th takes effect; on a node that is down: those of its next life; lanes are router, lifecycle, quorum, logs, data-0 ...; an append is about ten operations",
		parseCrash, printCrash},
	{VerbCut, "cut A -> B | cut A <-> B", "no packet passes from A to B (or both ways); A and B are node ids or client names", parseLink, printLink},
	{VerbHeal, "heal [A -> B | A <-> B]", "undo a cut, or all of them", parseLink, printLink},
	{VerbHold, "hold API [response] A -> B", "keep the next request (or response) of that API from A to B, such as fetch, produce, alterpartition, and what follows it on its connection",
		parseHold, printHold},
	{VerbFail, "fail API [response] A -> B [number N]", "the next request (or response) of that API from A to B, or the N-th from now on, never arrives: its connection is reset in its place",
		parseFail, printFail},
	{VerbRelease, "release [A -> B]", "let what was held go on its way, there or everywhere", parseLink, printLink},
	{VerbReset, "reset A <-> B", "reset all connections between A and B; what was on its way is lost", parseLink, printLink},
	{VerbHalfOpen, "half-open A -> B", "A forgets its connections with B; B is not told until it sends", parseLink, printLink},
	{VerbStall, "stall NODE for DURATION", "the node's disk does nothing for that long", parseStall, printStall},
	{VerbDisk, "disk NODE FAULT", "the node's disk breaks, as listed below, from now on until disk NODE heal; a restart ends none of it", parseDisk, printDisk},
	{VerbClock, "clock NODE jump DURATION", "the node's wall clock jumps, back if negative", parseClock, printClock},
	{VerbRules, "rules NODE VARIANT[,VARIANT ...]|current", "the rules that the node boots with from its next start on", parseRules, printRules},
}

var pacingVerbs = []verb{
	{VerbWait, "wait PREDICATE within DURATION", "go on when the predicate holds; if it does not in that time the verdict is unknown", parseWait, printWait},
	{VerbSleep, "sleep DURATION", "go on after that long", parseSleep, printSleep},
}

// verbs is filled once; its parsers refer to no verb table themselves.
var verbs = func() map[Verb]verb {
	m := map[Verb]verb{}
	for _, list := range [][]verb{workloadVerbs, faultVerbs, pacingVerbs} {
		for _, v := range list {
			m[v.name] = v
		}
	}
	return m
}()

// Workload reports whether a verb is a client's work rather than the World's or
// the runner's.
func (v Verb) Workload() bool {
	for _, w := range workloadVerbs {
		if w.name == v {
			return true
		}
	}
	return false
}

func printSettings(settings []Setting) string {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&b, " %s", quote(s.Key+"="+s.Value))
	}
	return b.String()
}

// quote writes a word so that split reads it back.
func quote(w string) string {
	if w == "" || w[0] == '"' || strings.ContainsAny(w, " \t\n") {
		return strconv.Quote(w)
	}
	return w
}

func parseTopic(a *args, s *Step) {
	s.Topic, s.Partitions = a.next("the topic's name"), 0
	if err := kafka.ValidateTopicName(s.Topic); a.err == nil && err != nil {
		a.failf("%v", err)
	}
	for _, kv := range a.settings(s.Line) {
		switch kv.Key {
		case "partitions":
			s.Partitions = int32(positive(a, kv, 1000))
		case "replicas":
			s.Replicas = int16(positive(a, kv, 9))
		case "assignment":
			for _, list := range strings.Split(kv.Value, ";") {
				ids, err := parseIDs(list)
				if err != nil {
					a.failf("%v", err)
				}
				s.Assignment = append(s.Assignment, ids)
			}
		default:
			s.Settings = append(s.Settings, kv)
		}
	}
	switch {
	case len(s.Assignment) > 0 && (s.Replicas > 0 || s.Partitions > 0):
		a.failf("assignment= gives the partitions and replicas: leave partitions= and replicas= out")
	case len(s.Assignment) > 0:
		s.Partitions = int32(len(s.Assignment))
	case s.Partitions == 0:
		s.Partitions = 1
	}
}

func positive(a *args, kv Setting, high int64) int64 {
	n, err := strconv.ParseInt(kv.Value, 10, 32)
	if err != nil || n < 1 || n > high {
		a.failf("%s is %q: a whole number from 1 to %d is needed", kv.Key, kv.Value, high)
	}
	return n
}

func printTopic(s *Step) string {
	out := s.Topic
	if len(s.Assignment) == 0 {
		out += fmt.Sprintf(" partitions=%d", s.Partitions)
		if s.Replicas > 0 {
			out += fmt.Sprintf(" replicas=%d", s.Replicas)
		}
		return out + printSettings(s.Settings)
	}
	var lists []string
	for _, ids := range s.Assignment {
		lists = append(lists, formatIDs(ids))
	}
	return out + " assignment=" + strings.Join(lists, ";") + printSettings(s.Settings)
}

func parseClient(a *args, s *Step) {
	s.Client = a.next("the client's name")
	if a.err == nil && !validClientName(s.Client) {
		a.failf("%q is not a client's name: a letter, then letters, digits, '-' or '_'", s.Client)
	}
	s.Settings = a.settings(s.Line)
}

func validClientName(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '-' || c == '_')) {
			return false
		}
	}
	return s != ""
}

func printClient(s *Step) string { return s.Client + printSettings(s.Settings) }

// target reads TOPIC or TOPIC-PARTITION; which of them it is, the declared
// topics decide (a topic's own name may end in a number).
func target(a *args, s *Step) {
	s.Topic, s.Partition = a.next("the topic"), -1
}

func printTarget(s *Step) string {
	if s.Partition < 0 {
		return s.Topic
	}
	return kafka.TopicPartition{Topic: s.Topic, Partition: s.Partition}.String()
}

func parseSend(a *args, s *Step) {
	s.Client = a.next("the producer")
	target(a, s)
	s.Value = a.next("the value")
	if a.more() {
		k, ok := strings.CutPrefix(a.next("key"), "key=")
		if !ok {
			a.failf("after the value only key=KEY may follow")
		}
		s.RecordKey, s.HasKey = k, true
	}
}

func printSend(s *Step) string {
	out := s.Client + " " + printTarget(s) + " " + quote(s.Value)
	if s.HasKey {
		out += " " + quote("key="+s.RecordKey)
	}
	return out
}

func parseWrite(a *args, s *Step) {
	s.Client = a.next("the producer")
	target(a, s)
	s.Count = int(a.integer("the number of records", 1, 1_000_000))
	a.expect("every")
	s.Every = a.positiveDuration("the pace")
	for _, kv := range a.settings(s.Line) {
		switch kv.Key {
		case "keys":
			s.Keys = int(positive(a, kv, 1_000_000))
		case "size":
			s.Size = int(positive(a, kv, 1<<20))
		default:
			a.failf("%s is not known here: only keys=N and size=BYTES may follow the pace", kv.Key)
		}
	}
}

func printWrite(s *Step) string {
	out := fmt.Sprintf("%s %s %d every %v", s.Client, printTarget(s), s.Count, s.Every)
	if s.Keys > 0 {
		out += fmt.Sprintf(" keys=%d", s.Keys)
	}
	if s.Size > 0 {
		out += fmt.Sprintf(" size=%d", s.Size)
	}
	return out
}

func parseTombstone(a *args, s *Step) {
	s.Client = a.next("the producer")
	target(a, s)
	s.RecordKey, s.HasKey = a.next("the key"), true
}

func printTombstone(s *Step) string {
	return s.Client + " " + printTarget(s) + " " + quote(s.RecordKey)
}

func parseDeleteRecords(a *args, s *Step) {
	tp := a.partition()
	s.Topic, s.Partition = tp.Topic, tp.Partition
	a.expect("before")
	if a.take("hw") {
		s.Offset = -1
		return
	}
	s.Offset = a.integer("the offset", 0, math.MaxInt64)
}

func printDeleteRecords(s *Step) string {
	if s.Offset < 0 {
		return printTarget(s) + " before hw"
	}
	return fmt.Sprintf("%s before %d", printTarget(s), s.Offset)
}

func parseRead(a *args, s *Step) {
	s.Client = a.next("the consumer")
	target(a, s)
	a.expect("from")
	s.From = a.next("the position")
	if a.err != nil || s.From == "earliest" || s.From == "latest" {
		return
	}
	if n, err := strconv.ParseInt(s.From, 10, 64); err != nil || n < 0 {
		a.failf("the position is %q: earliest, latest or an offset is needed", s.From)
	}
}

func printRead(s *Step) string { return s.Client + " " + printTarget(s) + " from " + s.From }

func parseVerify(a *args, s *Step) {
	s.Client = a.next("the consumer")
	s.Topic, s.Partition = a.next("the topic"), -1
}

func printVerify(s *Step) string { return s.Client + " " + s.Topic }

func parseElect(a *args, s *Step) {
	tp := a.partition()
	s.Topic, s.Partition = tp.Topic, tp.Partition
	s.Kind = a.choice("the election", "preferred", "unclean")
}

func printElect(s *Step) string { return printTarget(s) + " " + s.Kind }
