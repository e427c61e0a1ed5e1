package checker

import (
	"strconv"
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// profile is the configuration as Profile events told it; the last one of a
// scope wins.
type profile struct {
	settings map[scopedKey]string
}

type scopedKey struct{ scope, key string }

// clusterScope stands for the defaults of brokers and topics.
const clusterScope = ""

func (p *profile) observe(e *event.Event) {
	key, value, ok := strings.Cut(e.Text, "=")
	if !ok {
		return
	}
	scope := e.Client
	if scope == "cluster" {
		scope = clusterScope
	}
	p.settings[scopedKey{scope, key}] = value
}

// topic is the value of a key for a topic, else the cluster's, under the topic's
// key or the broker's behind it (log.cleanup.policy of cleanup.policy), else "".
func (p *profile) topic(topic, key string) string {
	if v, ok := p.settings[scopedKey{"topic " + topic, key}]; ok {
		return v
	}
	if v, ok := p.settings[scopedKey{clusterScope, key}]; ok || topic == "" {
		return v
	}
	if v, ok := p.settings[scopedKey{clusterScope, brokerKeys[key]}]; ok {
		return v
	}
	if key == kafka.RetentionMs {
		return p.retention()
	}
	return ""
}

// brokerKeys are the broker keys that give the defaults of topics' keys.
var brokerKeys = func() map[string]string {
	m := map[string]string{}
	for _, d := range kafka.Definitions(kafka.TopicScope) {
		m[d.Key] = d.Broker
	}
	return m
}()

// retention is retention.ms as brokers have it in minutes or hours, "" if they do
// not.
func (p *profile) retention() string {
	for _, unit := range []struct {
		key string
		ms  int64
	}{{retentionMinutes, 60_000}, {retentionHours, 3_600_000}} {
		n, err := strconv.ParseInt(p.settings[scopedKey{clusterScope, unit.key}], 10, 32)
		switch {
		case err == nil && n < 0:
			return "-1"
		case err == nil:
			return strconv.FormatInt(n*unit.ms, 10)
		}
	}
	return ""
}

// minISR is min.insync.replicas of a topic; Kafka's default is 1.
func (p *profile) minISR(topic string) int {
	n, err := strconv.Atoi(p.topic(topic, "min.insync.replicas"))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// idempotent reports whether a producer is known to be idempotent.
func (p *profile) idempotent(producer string) bool {
	return p.producer(producer, "enable.idempotence") == "true"
}

// compacted reports whether the cleaner may take records out of a topic.
func (p *profile) compacted(topic string) bool {
	return strings.Contains(p.topic(topic, "cleanup.policy"), "compact")
}
