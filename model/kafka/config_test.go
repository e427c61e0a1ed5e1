package kafka

import (
	"strings"
	"testing"
	"time"
)

func TestEveryDefaultPassesItsOwnCheck(t *testing.T) {
	n := 0
	for _, scope := range []Scope{BrokerScope, TopicScope} {
		for _, d := range Definitions(scope) {
			if err := d.check(d.Default); err != nil {
				t.Errorf("default of %s: %v", d.Key, err)
			}
			if d.Doc == "" {
				t.Errorf("%s has no doc", d.Key)
			}
			n++
		}
	}
	if n < 40 {
		t.Fatalf("only %d keys were looked at", n)
	}
}

func TestEveryTopicKeyHasABrokerKeyBehindItWithTheSameDefault(t *testing.T) {
	for _, d := range Definitions(TopicScope) {
		b, ok := Lookup(BrokerScope, d.Broker)
		if !ok || b.Default != d.Default {
			t.Errorf("%s: broker key %q has default %q, want %q", d.Key, d.Broker, b.Default, d.Default)
		}
	}
}

func TestABadValueIsOneLineThatSaysWhatIsAllowed(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{ReplicaLagTimeMaxMs, "soon", "replica.lag.time.max.ms: soon is not a valid value: allowed is a whole number from 1 to"},
		{MinInsyncReplicas, "0", "min.insync.replicas: 0 is not a valid value: allowed is a whole number from 1 to 2147483647"},
		{UncleanLeaderElection, "yes", "unclean.leader.election.enable: yes is not a valid value: allowed are true, false"},
		{"log.cleanup.policy", "burn", "allowed are delete, compact"},
		{LogDirs, "d0,,d1", "log.dirs: d0,,d1 is not a valid value: allowed are different names without a slash"},
		{LogDirs, "d0,d0", "allowed are different names"},
		{LogDirs, "/var/kafka", "allowed are different names"},
		{LogDirs, "..", "allowed are different names"},
		{"acks", "all", "acks: not a broker configuration key"},
	} {
		_, err := NewConfig(BrokerScope, Pair{c.key, c.value})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s=%s: error %v, want one line with %q", c.key, c.value, err, c.want)
		}
	}
}

func TestTheLastValueOfAKeyCounts(t *testing.T) {
	c, err := NewConfig(BrokerScope, Pair{ReplicaLagTimeMaxMs, "5000"}, Pair{MinInsyncReplicas, "2"}, Pair{ReplicaLagTimeMaxMs, "7000"})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Millis(ReplicaLagTimeMaxMs); got != 7*time.Second {
		t.Errorf("replica.lag.time.max.ms = %v, want 7s", got)
	}
	if len(c.Pairs()) != 2 || !c.Set(MinInsyncReplicas) || c.Set(FetchMaxBytes) {
		t.Errorf("given values are %v", c.Pairs())
	}
}

func TestTopicConfigFollowsKafkasPrecedence(t *testing.T) {
	static, err := NewConfig(BrokerScope, Pair{MinInsyncReplicas, "2"}, Pair{"log.segment.bytes", "2000000"})
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) (string, bool) { return "", false }
	only := func(key, value string) func(string) (string, bool) {
		return func(k string) (string, bool) { return value, k == key }
	}
	for _, c := range []struct {
		name           string
		topic, dynamic func(string) (string, bool)
		want           int64
	}{
		{"static", none, none, 2_000_000},
		{"dynamic over static", none, only("log.segment.bytes", "3000000"), 3_000_000},
		{"topic over dynamic", only(SegmentBytes, "4000000"), only("log.segment.bytes", "3000000"), 4_000_000},
		{"a bad topic value is skipped", only(SegmentBytes, "big"), none, 2_000_000},
	} {
		if got := TopicConfig(static, c.topic, c.dynamic).Int(SegmentBytes); got != c.want {
			t.Errorf("%s: segment.bytes = %d, want %d", c.name, got, c.want)
		}
	}
	plain, _ := NewConfig(BrokerScope)
	if got := TopicConfig(plain, none, none).Int(MaxMessageBytes); got != 1048588 {
		t.Errorf("default max.message.bytes = %d", got)
	}
}

func TestATimeThatNoDurationHoldsIsTheLongestOne(t *testing.T) {
	c, err := NewConfig(TopicScope, Pair{SegmentMs, maxInt64Str})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Millis(SegmentMs); got != 1<<63-1 {
		t.Errorf("segment.ms = %v", got)
	}
}
