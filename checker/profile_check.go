package checker

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tidemark/model/kafka"
)

// ErrNotModelled is what CheckSetting says of a key that decides no verdict.
var ErrNotModelled = errors.New("not a configuration key that tidemark has")

// scopeKinds are the scopes of a profile and whose keys each may hold. The
// cluster's are the defaults of everybody.
var scopeKinds = []struct {
	kind string
	keys kafka.Scope
}{
	{"topic ", kafka.TopicScope}, {"producer ", kafka.ProducerScope}, {"consumer ", kafka.ConsumerScope},
}

// anyKey are the keys that scope cluster may hold.
const anyKey = kafka.BrokerScope | kafka.TopicScope | kafka.ProducerScope | kafka.ConsumerScope

// CheckScope returns nil for a scope of a profile: cluster, topic NAME, producer
// CLIENT or consumer CLIENT.
func CheckScope(scope string) error {
	_, err := keysOf(scope)
	return err
}

func keysOf(scope string) (kafka.Scope, error) {
	if scope == "cluster" {
		return anyKey, nil
	}
	for _, k := range scopeKinds {
		if strings.HasPrefix(scope, k.kind) && len(scope) > len(k.kind) {
			return k.keys, nil
		}
	}
	return 0, fmt.Errorf("expected cluster, topic NAME, producer CLIENT or consumer CLIENT, found %q", scope)
}

// CheckSetting returns nil if a profile may give a key of a scope a value, else one
// line that says what it may be. Errors of keys that neither Kafka's configuration as
// tidemark has it nor the contract knows are ErrNotModelled.
func CheckSetting(scope, key, value string) error {
	keys, err := keysOf(scope)
	if err != nil {
		return err
	}
	if o, ok := ownKeys[key]; ok {
		if !o.takes(value) {
			return fmt.Errorf("%s: %s is not a valid value: allowed is %s", key, value, o.allowed)
		}
		return nil
	}
	scopes, bare := kafka.Scoped(key)
	switch {
	case scopes == 0:
		return fmt.Errorf("%s: %w", key, ErrNotModelled)
	case scopes&keys == 0:
		return fmt.Errorf("%s: a %v configuration key: it has no meaning in scope %s", key, scopes, scope)
	}
	if strings.HasSuffix(bare, kafka.CleanupPolicy) { // a list: Kafka takes blanks in it
		value = strings.ReplaceAll(value, " ", "")
	}
	// One of those who have the key must take the value: compression.type=producer
	// is good for topics and not for producers.
	for s := kafka.BrokerScope; s <= kafka.ConsumerScope; s <<= 1 {
		if scopes&keys&s == 0 {
			continue
		}
		if err = kafka.Check(s, bare, value); err == nil {
			return nil
		}
	}
	return err
}

// ownKey is a key that Kafka does not have, or that only the contract asks for.
type ownKey struct {
	allowed string
	takes   func(value string) bool
}

var ownKeys = map[string]ownKey{
	"history.world":       oneOf("open", "closed"),
	"kafka.version":       {"a version such as 3.9", hasVersion},
	eligibleLeaders:       whole,
	"transaction.version": whole,
	"group.protocol":      oneOf("classic", "consumer"),
	"transaction.partition.verification.enable": oneOf("true", "false"),
	"session.timeout.ms":                        whole,
	"max.poll.interval.ms":                      whole,
	"transaction.timeout.ms":                    whole,
	"transaction.max.timeout.ms":                whole,
	"offsets.retention.minutes":                 whole,
	boundLag:                                    whole,
	boundRecovery:                               whole,
	boundStuck:                                  whole,
	retentionHours:                              limit,
	retentionMinutes:                            limit,

	// What simulated runs tell of themselves.
	"brokers": whole, "controllers": whole, "lanes": whole, "rules": {"any text", func(string) bool { return true }},
}

// The broker keys behind log.retention.ms; the finer one wins.
const (
	retentionMinutes = "log.retention.minutes"
	retentionHours   = "log.retention.hours"
)

func oneOf(values ...string) ownKey {
	return ownKey{strings.Join(values, " or "), func(v string) bool { return slices.Contains(values, v) }}
}

var (
	whole = ownKey{"a whole number, 0 or more", func(v string) bool { n, err := strconv.ParseInt(v, 10, 64); return err == nil && n >= 0 }}
	limit = ownKey{"a whole number, -1 or more", func(v string) bool { n, err := strconv.ParseInt(v, 10, 32); return err == nil && n >= -1 }}
)

func hasVersion(value string) bool {
	_, known := parseVersion(value)
	return known
}
