package checker

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

func profileOf(told ...string) *profile {
	p := &profile{settings: map[scopedKey]string{}}
	for _, s := range told {
		e := event.New(event.Profile)
		e.Client, e.Text, _ = strings.Cut(s, ": ")
		p.observe(&e)
	}
	return p
}

func TestBrokersKeysGiveTheDefaultsOfTopicsInAProfile(t *testing.T) {
	for _, c := range []struct {
		told      []string
		key, want string
	}{
		{[]string{"cluster: log.cleanup.policy=compact"}, "cleanup.policy", "compact"},
		{[]string{"cluster: log.message.timestamp.type=LogAppendTime"}, "message.timestamp.type", "LogAppendTime"},
		{[]string{"cluster: log.cleaner.delete.retention.ms=7"}, "delete.retention.ms", "7"},
		{[]string{"cluster: log.cleanup.policy=compact", "topic t: cleanup.policy=delete"}, "cleanup.policy", "delete"},
		{[]string{"cluster: log.cleanup.policy=compact", "cluster: cleanup.policy=delete"}, "cleanup.policy", "delete"},
		{[]string{"topic t: log.cleanup.policy=compact"}, "cleanup.policy", ""},
		{[]string{"cluster: log.retention.hours=2"}, "retention.ms", "7200000"},
		{[]string{"cluster: log.retention.hours=2", "cluster: log.retention.minutes=1"}, "retention.ms", "60000"},
		{[]string{"cluster: log.retention.hours=-1"}, "retention.ms", "-1"},
		{[]string{"cluster: log.retention.hours=2", "cluster: log.retention.ms=5"}, "retention.ms", "5"},
	} {
		if got := profileOf(c.told...).topic("t", c.key); got != c.want {
			t.Errorf("%v: %s of topic t is %q, want %q", c.told, c.key, got, c.want)
		}
	}
}

func TestSettingsOfAProfileAreCheckedInTheirScope(t *testing.T) {
	for _, c := range []struct{ scope, key, value, want string }{
		{"cluster", "min.insync.replicas", "2", ""},
		{"cluster", "compression.type", "producer", ""},
		{"cluster", "producer.acks", "1", ""},
		{"topic t", "cleanup.policy", "compact", ""},
		{"cluster", "log.cleanup.policy", "delete, compact", ""},
		{"consumer c", "group.protocol", "consumer", ""},
		{"cluster", "kafka.version", "3.9.1", ""},
		{"cluster", "min.insync.replicas", "two", "allowed is a whole number"},
		{"cluster", "kafka.version", "new", "allowed is a version such as 3.9"},
		{"consumer c", "session.timeout.ms", "long", "allowed is a whole number, 0 or more"},
		{"producer p", "enable.idempotence", "yes", "allowed are true, false"},
		{"topic t", "acks", "1", "it has no meaning in scope topic t"},
		{"topic t", "cleanup.polcy", "compact", ErrNotModelled.Error()},
		{"producr a", "acks", "1", "expected cluster, topic NAME"},
		{"topicx", "cleanup.policy", "compact", "expected cluster, topic NAME"},
		{"topic ", "cleanup.policy", "compact", "expected cluster, topic NAME"},
	} {
		err := CheckSetting(c.scope, c.key, c.value)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s=%s: %v, want %q", c.scope, c.key, c.value, err, c.want)
		}
	}
	if err := CheckSetting("cluster", "log.dir", "/d"); err != nil && !errors.Is(err, ErrNotModelled) {
		t.Error(err)
	}
}

// TestNoKeyIsCheckedTwice: a key that the model has is checked there.
func TestNoKeyIsCheckedTwice(t *testing.T) {
	for _, key := range slices.Sorted(maps.Keys(ownKeys)) {
		if scopes, _ := kafka.Scoped(key); scopes != 0 {
			t.Errorf("%s is a key of the model's, of scope %v", key, scopes)
		}
	}
}
