package kafka

import (
	"fmt"
	"strings"
)

// scopePrefixes narrow a key down where brokers and clients are configured in
// one place, as Kafka Connect's workers do: producer.acks.
var scopePrefixes = []struct {
	prefix string
	scope  Scope
}{{"topic.", TopicScope}, {"producer.", ProducerScope}, {"consumer.", ConsumerScope}}

// everyScope is all scopes together.
const everyScope = BrokerScope | TopicScope | ProducerScope | ConsumerScope

// Scoped tells whose configuration a key is for when it stands alone: all scopes
// that have it (min.insync.replicas is a broker's and a topic's, acks a
// producer's), or the one that a prefix names (consumer.fetch.max.bytes). It
// returns the key without prefix, and no scope for a key that tidemark does not
// have.
func Scoped(key string) (Scope, string) {
	if scopes := scopesOf(everyScope, key); scopes != 0 {
		return scopes, key
	}
	for _, p := range scopePrefixes {
		if bare, ok := strings.CutPrefix(key, p.prefix); ok {
			return scopesOf(p.scope, bare), bare
		}
	}
	return 0, key
}

func scopesOf(in Scope, key string) Scope {
	var scopes Scope
	for _, n := range scopeNames {
		if _, ok := definitions[n.scope][key]; ok {
			scopes |= in & n.scope
		}
	}
	return scopes
}

// CheckScoped is Check for a key that stands alone, as Scoped reads it: the value
// must do in every scope.
func CheckScoped(key, value string) error {
	scopes, bare := Scoped(key)
	if scopes == 0 {
		return fmt.Errorf("%s: not a configuration key that tidemark has", key)
	}
	for _, n := range scopeNames {
		if scopes&n.scope == 0 {
			continue
		}
		if err := Check(n.scope, bare, value); err != nil {
			return err
		}
	}
	return nil
}
