package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
)

func TestPropertiesAreReadAsJavaReadsThem(t *testing.T) {
	for text, want := range map[string][]property{
		"":                                   nil,
		"# comment\n! another \\\n\n \t\f\n": nil,
		"a=1":                                {{"a", "1", 1}},
		"a = 1 \n":                           {{"a", "1 ", 1}},
		"\t a:1":                             {{"a", "1", 1}},
		"a 1":                                {{"a", "1", 1}},
		"a \t = \t 1 = 2":                    {{"a", "1 = 2", 1}},
		"a":                                  {{"a", "", 1}},
		"a=":                                 {{"a", "", 1}},
		"a=1\r\nb=2\rc=3":                    {{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}},
		"a=1\na=2":                           {{"a", "1", 1}, {"a", "2", 2}},
		"a=one,\\\n   two\\\r\n\tthree\nb=2": {{"a", "one,twothree", 1}, {"b", "2", 4}},
		"a=1\\\\\nb=2":                       {{"a", `1\`, 1}, {"b", "2", 2}},
		"a=1\\\n#no comment":                 {{"a", "1#no comment", 1}},
		"a=1\\":                              {{"a", "1", 1}},
		`a\ b\:c\=d=1\t\n\r\f\q`:             {{"a b:c=d", "1\t\n\r\fq", 1}},
		`a=\u00e9\u20AC.\uD83D\uDE00\u0041`:  {{"a", "é€.😀A", 1}},
		"a=#1!":                              {{"a", "#1!", 1}},
	} {
		got, err := parseProperties(text)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(property{})); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestCharacterWithoutFourDigitsIsRefusedWithItsLine(t *testing.T) {
	for _, text := range []string{`x=1\u12`, `x=\u00g1`, `\u`, `x=\u0041\u1`} {
		_, err := parseProperties("a=1\n" + text + "\n")
		if err == nil || !strings.HasPrefix(err.Error(), "2: ") || !strings.Contains(err.Error(), "four hexadecimal digits") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestEveryKeyThatTidemarkModelsIsOneOfKafkas(t *testing.T) {
	for _, scope := range []kafka.Scope{kafka.BrokerScope, kafka.TopicScope, kafka.ProducerScope, kafka.ConsumerScope} {
		for _, d := range kafka.Definitions(scope) {
			if !slices.Contains(kafkaKeys, d.Key) {
				t.Errorf("%s %s is not in the list of Kafka's keys", scope, d.Key)
			}
		}
	}
	for _, keys := range [][]string{kafkaKeys, removedKeys} {
		if !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) {
			t.Errorf("the list from %s is not sorted, or a key stands in it twice", keys[0])
		}
	}
	for _, key := range removedKeys {
		if slices.Contains(kafkaKeys, key) {
			t.Errorf("%s is in the list of Kafka's keys and in that of those it has no more", key)
		}
	}
}

// writeFile puts text into a file of that name and returns its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// serverProperties is cut down from the file that Kafka ships for KRaft, with what an
// operator adds.
const serverProperties = `# Licensed ...
process.roles=broker
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://localhost:9092
num.network.threads=3
log.dirs=/tmp/kraft-broker-logs
num.partitions=1
log.retention.hours=168
log.segment.bytes=1073741824

min.insync.replicas: 2
unclean.leader.election.enable = FALSE
replica.lag.time.max.ms 10000
log.cleanup.policy=delete
zookeeper.connect=localhost:2181
`

func TestServerPropertiesTakeEffectAndWhatTidemarkDoesNotModelIsListed(t *testing.T) {
	name := writeFile(t, "server.properties", serverProperties)
	scenario := writeScenario(t, myScenario)
	status, out, errText := command(t, "run", scenario, "--config", name, "--print")
	if status != exitOK {
		t.Fatalf("exit status %d: %s", status, errText)
	}
	for _, want := range []string{"set num.partitions=1\n", "set min.insync.replicas=2\n", "set unclean.leader.election.enable=false\n",
		"set replica.lag.time.max.ms=10000\n", "set log.cleanup.policy=delete\n", "set log.segment.bytes=1073741824\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the plan lacks %q:\n%s", want, out)
		}
	}
	want := fmt.Sprintf("tidemark: %s: ignored, not modelled: process.roles (line 2), node.id (line 3), "+
		"controller.quorum.bootstrap.servers (line 4), listeners (line 5), num.network.threads (line 6), log.dirs (line 7), "+
		"log.retention.hours (line 9); not a key of Kafka 4: zookeeper.connect (line 16)\n", name)
	if errText != want {
		t.Errorf("stderr is\n%swant\n%s", errText, want)
	}
	status, out, _ = command(t, "run", scenario, "--config", name, "--json")
	var s summary
	if err := json.Unmarshal([]byte(out), &s); err != nil || status != exitOK || len(s.Ignored) != 8 {
		t.Fatalf("exit status %d, %v, ignored %v", status, err, s.Ignored)
	}
	if k := s.Ignored[7]; k != (ignoredKey{name, 16, "zookeeper.connect", notKafka}) {
		t.Errorf("the last ignored key is %+v", k)
	}
}

func TestOneFileMayConfigureBrokersTopicsAndClients(t *testing.T) {
	name := writeFile(t, "all.properties", "topic.segment.ms=60000\nproducer.acks=1\nlinger.ms=20\nconsumer.fetch.max.bytes=4096\n"+
		"producer.bootstrap.servers=x:1\nkey.serializer=S\n")
	status, out, errText := command(t, "run", writeScenario(t, myScenario), "--config", name, "--print")
	for _, want := range []string{"topic orders assignment=1,2,3 min.insync.replicas=2 segment.ms=60000\n",
		"producer p acks=all linger.ms=20\n", "consumer c fetch.max.bytes=4096\n"} {
		if status != exitOK || !strings.Contains(out, want) {
			t.Errorf("exit status %d, the plan lacks %q:\n%s", status, want, out)
		}
	}
	if !strings.Contains(errText, "not modelled: producer.bootstrap.servers (line 5), key.serializer (line 6)\n") {
		t.Error(errText)
	}
}

func TestLaterFileWinsAndTheCommandLineWinsOverFiles(t *testing.T) {
	a := writeFile(t, "a.properties", "replica.lag.time.max.ms=1000\nbroker.session.timeout.ms=1000\nnum.partitions=2\n")
	b := writeFile(t, "b.properties", "replica.lag.time.max.ms=2000\nbroker.session.timeout.ms=2000\n")
	_, out, _ := command(t, "run", writeScenario(t, "topic t\n"), "--config", a, "--config", b, "--set", "replica.lag.time.max.ms=3000", "--print")
	for _, want := range []string{"replica.lag.time.max.ms=3000", "broker.session.timeout.ms=2000", "num.partitions=2"} {
		if !strings.Contains(out, "set "+want+"\n") {
			t.Errorf("the plan lacks %s:\n%s", want, out)
		}
	}
}

func TestValueThatKafkaRefusesIsOneLineWithFileLineKeyAndRange(t *testing.T) {
	for line, want := range map[string]string{
		"min.insync.replicas=0":                "min.insync.replicas: 0 is not a valid value: allowed is a whole number from 1 to 2147483647",
		"unclean.leader.election.enable=maybe": "unclean.leader.election.enable: maybe is not a valid value: allowed are true, false",
		"acks=2":                               "acks: 2 is not a valid value: allowed are all, -1, 0, 1",
		"consumer.auto.offset.reset=never":     "auto.offset.reset: never is not a valid value",
		"log.segment.bytes=1000":               "log.segment.bytes: 1000 is not a valid value: allowed is a whole number from 1048576 to 2147483647",
		"log.segment.bytes=big":                "log.segment.bytes: big is not a valid value: allowed is a whole number from",
		`x=\uZZZZ`:                             `\uZZZZ is no character`,
	} {
		name := writeFile(t, "bad.properties", "# one\n\n"+line+"\n")
		for _, args := range [][]string{{"run", "R1"}, {"sweep", "--seeds", "1..2"}} {
			status, out, errText := command(t, append(args, "--config", name)...)
			if status != exitUsage || out != "" || strings.Count(errText, "\n") != 1 || !strings.HasPrefix(errText, "tidemark: "+name+":3: "+want) {
				t.Errorf("%v %s: exit status %d, stdout %q, stderr %q\nwant %s", args, line, status, out, errText, want)
			}
		}
	}
}

func TestValueIsReadAsKafkaReadsIt(t *testing.T) {
	for p, want := range map[property]string{
		{"log.cleanup.policy", "compact, delete", 1}:           "compact,delete",
		{"unclean.leader.election.enable", " True\t", 1}:       "true",
		{"broker.session.timeout.ms", "6000   ", 1}:            "6000",
		{"producer.client.id", " an id, with a comma and ", 1}: "an id, with a comma and",
	} {
		if s, why, err := takeProperty(p); s.Value != want || why != "" || err != nil {
			t.Errorf("%+v: %q, ignored %q, %v", p, s.Value, why, err)
		}
	}
}

func TestIsolationLevelIsReadCommittedOrReadUncommitted(t *testing.T) {
	for _, value := range []string{"read_committed", "read_uncommitted"} {
		if s, why, err := takeProperty(property{"isolation.level", value, 1}); s.Value != value || why != "" || err != nil {
			t.Errorf("isolation.level=%s: setting %v, ignored %q, error %v", value, s, why, err)
		}
	}
	if _, _, err := takeProperty(property{"isolation.level", "read_some", 1}); err == nil {
		t.Error("isolation.level=read_some is taken")
	}
}

func TestStoryIsNotHeldToItsDeclarationWithAFile(t *testing.T) {
	name := writeFile(t, "server.properties", "broker.session.timeout.ms=6000\n")
	if status, out, errText := command(t, "run", "R1", "--rules", "truncate=toHW", "--config", name); status != exitViolation {
		t.Errorf("exit status %d, want that of a violation:\n%s%s", status, out, errText)
	}
}

func TestConfigThatCannotBeReadIsOneLine(t *testing.T) {
	status, _, errText := command(t, "run", "R1", "--config", "no/such/file")
	if status != exitUsage || strings.Count(errText, "\n") != 1 || !strings.Contains(errText, "no/such/file") {
		t.Errorf("exit status %d: %s", status, errText)
	}
}
