package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
)

// every verb and predicate once, in canonical form.
const everyVerb = `# A story of every verb.
#
# Second paragraph.
seed 7
cluster brokers=3 controllers=1 lanes=2
set replica.lag.time.max.ms=10000
expect pass
expect violation LogMatching lost-write under truncate=toHW
expect pass with acks=1,min.insync.replicas=2
expect excused lost-write with log.cleanup.policy=compact,delete under truncate=toHW
topic t assignment=3,1,2;1,2,3 min.insync.replicas=2
topic u partitions=2 replicas=2
producer p acks=all linger.ms=0
consumer c
send p t-0 "m 1" key=k
send p t m2 "key=a b"
write p u 100 every 10ms
write p t-1 3 every 1s keys=2 size=100
tombstone p t "a key"
delete-records t-0 before 12
delete-records t-1 before hw
read c t from earliest
read c u-1 from 12
verify c t
elect t-0 preferred
at 1.5s kill 3
at 0s power 3 lose all
wipe 3
stop 3
start 3
pause 3
resume 101
crash 2/data-1 op 3 power
cut 1 <-> 3
cut p -> 2
heal p -> 2
heal
hold fetch response 2 -> 1
hold fetch 2 -> 1
release 2 -> 1
release
reset 1 <-> 101
half-open 1 -> c
stall 2 for 20s
fail fetch response 2 -> 1
fail produce p -> 2 number 3
disk 2 read-error t-0/*.log bytes 0-4096 op 3
disk 2 write-error * short
disk 2 fsync-error reverts *
disk 2 fsync-error keeps t-0 op 1
disk 2 lying-fsync *
disk 2 lose-writes t-0
disk 2 misdirect-writes * op 2
disk 2 rot t-0/*.log random cached
disk 101 rot "a b" 12
disk 2 capacity 1000000
disk 2 page-cache 65536
disk 2 heal
clock 2 jump -1h0m0s
rules 1 truncate=toHW
wait leader t-0 = 2 within 10s
wait leader t-0 = none within 10s
wait leader t-1 = any within 10s
wait isr t-0 = 1,2,3 within 10s
wait hw 2 t-0 >= 5 within 1s
wait leo 2 t-0 = 5 within 1s
wait epoch 2 t-0 >= 3 within 1s
wait acked p >= 2 within 1s
wait position c u-1 = 13 within 1s
wait fenced 3 within 20s
wait unfenced 3 within 20s
sleep 500ms
`

func parse(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := Parse("dir/story.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlanPrintsAsTheTextItIsParsedFrom(t *testing.T) {
	p := parse(t, everyVerb)
	if diff := cmp.Diff(everyVerb, p.String()); diff != "" {
		t.Fatalf("printed differs from parsed (-parsed +printed):\n%s", diff)
	}
	again := parse(t, p.String())
	if diff := cmp.Diff(p, again); diff != "" {
		t.Fatalf("the plan read back differs:\n%s", diff)
	}
}

func TestEveryVerbAndPredicateIsInTheRoundTripAndInTheHelp(t *testing.T) {
	help := Help()
	for name, v := range verbs {
		if !strings.Contains(everyVerb, "\n"+string(name)) && !strings.Contains(everyVerb, "s "+string(name)+" ") {
			t.Errorf("the round trip lacks the verb %s", name)
		}
		if !strings.Contains(help, "  "+v.usage+"\n") {
			t.Errorf("the help lacks the verb %s", name)
		}
	}
	for _, v := range diskVerbs {
		if !strings.Contains(everyVerb, "\ndisk 2 "+v.kind) || !strings.Contains(help, "  disk NODE "+v.usage+"\n") {
			t.Errorf("the round trip or the help lacks the fault %s of a disk", v.kind)
		}
	}
	for _, p := range predicates {
		if !strings.Contains(everyVerb, "wait "+string(p.subject)) || !strings.Contains(help, "  "+p.usage+"\n") {
			t.Errorf("the round trip or the help lacks the predicate %s", p.subject)
		}
	}
}

func TestExampleOfTheHelpIsAScenario(t *testing.T) {
	_, example, ok := strings.Cut(Help(), "Example\n")
	if !ok {
		t.Fatal("the help has no example")
	}
	if p := parse(t, example); len(p.Steps) < 5 {
		t.Fatalf("the example has %d steps", len(p.Steps))
	}
}

func TestFileWithAByteOrderMarkAndWindowsLineEndsIsRead(t *testing.T) {
	if p := parse(t, "\ufefftopic t\r\nkill 1\r\n"); len(p.Steps) != 2 || p.Steps[1].Verb != VerbKill {
		t.Fatalf("%+v", p.Steps)
	}
}

func TestStepCarriesWhatItsLineSays(t *testing.T) {
	p := parse(t, "topic a-1\nproducer p\nsend p a-1 v\nsend p a-1-0 v\nat 2s power 1\n")
	want := []Step{
		{Line: 3, At: -1, Verb: VerbSend, Client: "p", Topic: "a-1", Partition: -1, Value: "v"},
		{Line: 4, At: -1, Verb: VerbSend, Client: "p", Topic: "a-1", Partition: 0, Value: "v"},
		{Line: 5, At: 2 * time.Second, Verb: VerbPower, Node: 1, Lose: "random"},
	}
	if diff := cmp.Diff(want, p.Steps[2:]); diff != "" {
		t.Fatal(diff)
	}
}

func TestTopicHasThreeReplicasOrAsManyAsThereAreBrokersUnlessGiven(t *testing.T) {
	for text, want := range map[string]int16{
		"topic t\n": 3, "cluster brokers=2\ntopic t\n": 2, "cluster brokers=5\ntopic t\n": 3, "topic t replicas=1\n": 1, "topic t assignment=1,2\n": 0,
	} {
		if got := parse(t, text).Steps[0].Replicas; got != want {
			t.Errorf("%q: %d replicas", text, got)
		}
	}
}

func TestFaultyLineIsRefusedWithItsFileAndNumber(t *testing.T) {
	const head = "topic t\nproducer p\nconsumer c\n" // three lines
	for line, want := range map[string]string{
		"frobnicate 3":                        `"frobnicate" is not a verb`,
		"kill 9":                              "there is no node 9: brokers are 1 to 3, controllers 101",
		"kill x":                              "a node id is needed",
		"kill":                                "the node is missing; write kill NODE",
		"kill 1 2":                            `"2" is one word too many`,
		"cut 1 <-> 9":                         "there is no node 9",
		"cut 1 <-> 1":                         "there is no link between 1 and 1",
		"cut p <-> c":                         "there is no link between p and c",
		"cut p -> 101":                        "there is no link between p and 101",
		"cut q -> 1":                          `there is no client "q"`,
		"cut 1 3":                             "the direction is",
		"wait leader t-0 = 7 within 1s":       "there is no broker 7",
		"wait leader u-0 = 1 within 1s":       `there is no topic "u"`,
		"wait leader t-1 = 1 within 1s":       `topic "t" has no partition 1: it has 0`,
		"wait leader t-0 = 1":                 `"within" is missing`,
		"wait moon t-0 = 1 within 1s":         `"moon" is not a predicate`,
		"wait acked c >= 1 within 1s":         `"c" is a consumer, not a producer`,
		"wait hw 1 t-0 > 1 within 1s":         "the comparison is",
		"wait hw 1 t-0 >= 1 within 0s":        "it must be more than 0",
		"at 1s wait leader t-0 = 1 within 1s": "cannot stand behind a time",
		"at -1s kill 1":                       "it counts from the start of the run",
		"send p t":                            "the value is missing",
		"send p t v k":                        "only key=KEY may follow",
		`send p t "v`:                         "is not closed",
		"send q t v":                          `there is no client "q"`,
		"write p t 0 every 1s":                "a whole number from 1",
		"read c t from yesterday":             "earliest, latest or an offset",
		"verify c t-0":                        `there is no topic "t-0"`,
		"producer p":                          `"p" is declared twice`,
		"producer admin":                      "take another",
		"producer 1p":                         "is not a client's name",
		"topic t":                             `the topic "t" is created twice`,
		"topic u assignment=1,1":              "names broker 1 twice",
		"topic u assignment=1,4":              "there is no broker 4",
		"topic u assignment=1,2;3":            "has not as many replicas as 1,2",
		"topic u replicas=4":                  "4 replicas need as many brokers",
		"topic u partitions=2 assignment=1":   "leave partitions= and replicas= out",
		"topic u/v":                           "is not a topic name",
		"cluster brokers=0":                   "a whole number from 1 to 9",
		"cluster size=3":                      `"size" is not part of a cluster`,
		"crash 2 op 1":                        "is not a lane",
		"crash 2/data-1 op 1":                 `node 2 has no lane "data-1"`,
		"crash 101/router op 1":               "it has quorum",
		"hold telepathy 1 -> 2":               "is not an API that can be named",
		"fail fetch 1 -> 2 number 0":          "the number is",
		"fail fetch 1 <-> 2":                  "fail takes one direction",
		"disk 1 explode":                      "one of read-error, write-error,",
		"disk 9 heal":                         "there is no node 9",
		"disk 1 read-error [":                 "is no pattern of paths",
		"disk 1 read-error /etc":              "is no pattern of paths",
		"disk 1 read-error * bytes 5-5":       "is no span of bytes",
		"disk 1 fsync-error":                  "what becomes of the pages is missing",
		"disk 1 fsync-error keeps bytes 1-2":  "one word too many",
		"disk 1 rot t-0":                      "the offset is missing",
		"disk 1 capacity 0":                   "a whole number from 1",
		"disk 1 page-cache 100":               "a whole number from 65536",
		"hold fetch 1 <-> 2":                  "hold takes one direction",
		"reset 1 -> 2":                        "reset takes both directions",
		"power 1 lose much":                   "one of all, none, random is needed",
		"expect victory":                      "one of pass, violation, excused",
		"expect pass with acks":               "expected KEY=VALUE",
		"expect pass with acks=5":             "acks: 5 is not a valid value",
		"expect pass with moon=full":          "moon: not a configuration key",
		"expect pass under":                   "the rules is missing",
		"set min.insync.replicas":             "expected KEY=VALUE",
		"set min.insync.replicas=0":           "allowed is a whole number from 1",
		"set no.such.key=1":                   "no.such.key: not a broker configuration key",
		"set log.cleaner.max.compaction.lag.ms=1 log.cleaner.min.compaction.lag.ms=2": "log.cleaner.min.compaction.lag.ms: 2 is more than",
		"topic u min.compaction.lag.ms=2 max.compaction.lag.ms=1":                     "min.compaction.lag.ms: 2 is more than max.compaction.lag.ms, which is 1",
		"topic u min.insync.replicas=x":                                               "allowed is a whole number from 1",
		"producer q acks=2":                                                           "acks: 2 is not a valid value",
		"consumer d auto.offset.reset=never":                                          "auto.offset.reset: never is not a valid value",
		"stall 1 for 20":                                                              "a duration such as",
	} {
		_, err := Parse("x/my.txt", head+line+"\n")
		var at *Error
		if !errors.As(err, &at) {
			t.Errorf("%q: no error of a line but %v", line, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), "x/my.txt:4: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, want x/my.txt:4: ... %s", line, err, want)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error is more than one line: %q", line, err)
		}
	}
}

func TestGoldenOutputBelongsToItsRules(t *testing.T) {
	p := parse(t, "expect pass\nkill 1\n----\none\n\ntwo\n---- truncate=toHW\nthree\n---- with acks=1 under truncate=toHW\nfour\n")
	want := map[string]string{Variant("", ""): "one\n\ntwo\n", Variant("truncate=toHW", ""): "three\n",
		Variant("truncate=toHW", "acks=1"): "four\n"}
	if diff := cmp.Diff(want, p.Golden); diff != "" {
		t.Fatal(diff)
	}
}

func TestExpectationIsFoundByItsRulesAndSettings(t *testing.T) {
	p := parse(t, everyVerb)
	if e, ok := p.Expected("", ""); !ok || e.Verdict != "pass" {
		t.Fatalf("current rules: %+v", e)
	}
	e, ok := p.Expected("truncate=toHW", "")
	if !ok || e.Verdict != "violation" || len(e.Checks) != 2 {
		t.Fatalf("truncate=toHW: %+v", e)
	}
	with := JoinSettings([]Setting{{Key: "min.insync.replicas", Value: "3"}, {Key: "min.insync.replicas", Value: "2"}, {Key: "acks", Value: "1"}})
	if e, ok := p.Expected("", with); !ok || e.Verdict != "pass" || len(e.Checks) != 0 {
		t.Fatalf("%s: %+v", with, e)
	}
	e, ok = p.Expected("truncate=toHW", "log.cleanup.policy=compact,delete")
	if !ok || e.Verdict != "excused" {
		t.Fatalf("a list as value: %+v", e)
	}
	for _, v := range [][2]string{{"no=such", ""}, {"", "acks=0"}, {"truncate=toHW", with}} {
		if _, ok := p.Expected(v[0], v[1]); ok {
			t.Fatalf("%q: found an expectation that nobody declared", v)
		}
	}
}

// fixed is a view that knows one state of one partition.
type fixed struct{ known bool }

func (f fixed) Leader(kafka.TopicPartition) (kafka.BrokerID, bool) { return 2, f.known }
func (f fixed) ISR(kafka.TopicPartition) ([]kafka.BrokerID, bool) {
	return []kafka.BrokerID{1, 2}, f.known
}
func (f fixed) HighWatermark(kafka.BrokerID, kafka.TopicPartition) (kafka.Offset, bool) {
	return 5, f.known
}
func (f fixed) LogEnd(kafka.BrokerID, kafka.TopicPartition) (kafka.Offset, bool) { return 7, f.known }
func (f fixed) Epoch(kafka.BrokerID, kafka.TopicPartition) (kafka.LeaderEpoch, bool) {
	return 3, f.known
}
func (f fixed) Acked(string) int64                                         { return 9 }
func (f fixed) Position(string, kafka.TopicPartition) (kafka.Offset, bool) { return 4, f.known }
func (f fixed) Fenced(kafka.BrokerID) (bool, bool)                         { return true, f.known }

func TestPredicateHoldsOnlyOfWhatTheViewKnows(t *testing.T) {
	for text, want := range map[string]bool{
		"leader t-0 = 2": true, "leader t-0 = 1": false, "leader t-0 = any": true, "leader t-0 = none": false,
		"isr t-0 = 2,1": true, "isr t-0 = 1,2,3": false,
		"hw 1 t-0 = 5": true, "hw 1 t-0 = 4": false, "hw 1 t-0 >= 4": true, "hw 1 t-0 >= 6": false,
		"leo 1 t-0 >= 7": true, "leo 1 t-0 = 6": false, "epoch 1 t-0 = 3": true, "epoch 1 t-0 >= 4": false,
		"acked p >= 9": true, "acked p = 8": false, "position c t-0 >= 4": true, "position c t-0 = 5": false,
		"fenced 1": true, "unfenced 1": false,
	} {
		words, _ := split(text)
		p := parsePredicate(&args{words: words})
		if got := p.Holds(fixed{true}); got != want {
			t.Errorf("%s: %v", text, got)
		}
		if p.Subject != WaitAcked && p.Holds(fixed{false}) {
			t.Errorf("%s holds though nothing is known", text)
		}
	}
}

func TestRewritingOneGoldenSectionKeepsTheOthers(t *testing.T) {
	text := "expect pass\nkill 1\n"
	text = WithGolden(text, "", "one\n")
	text = WithGolden(text, "truncate=toHW", "two\n")
	text = WithGolden(text, "", "one\n\nagain\n")
	text = WithGolden(text, "truncate=toHW", "2\n")
	want := "expect pass\nkill 1\n----\none\n\nagain\n---- truncate=toHW\n2\n"
	if text != want {
		t.Fatalf("got\n%s", text)
	}
	p := parse(t, text)
	if diff := cmp.Diff(map[string]string{"": "one\n\nagain\n", "truncate=toHW": "2\n"}, p.Golden); diff != "" {
		t.Fatal(diff)
	}
}
