package kafka

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Scope tells whose configuration a key belongs to; scopes are bits.
type Scope uint8

// The scopes of Kafka's keys.
const (
	BrokerScope Scope = 1 << iota // server.properties, of brokers and controllers
	TopicScope
	ProducerScope
	ConsumerScope
)

var scopeNames = []struct {
	scope Scope
	name  string
}{{BrokerScope, "broker"}, {TopicScope, "topic"}, {ProducerScope, "producer"}, {ConsumerScope, "consumer"}}

// String names the scopes as Kafka's documentation does: broker, topic.
func (s Scope) String() string {
	var names []string
	for _, n := range scopeNames {
		if s&n.scope != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ", ")
}

// Type is the kind of value that a key takes.
type Type uint8

// The types of values. Times are whole numbers of ms, sizes of bytes.
const (
	IntType Type = iota
	BoolType
	TextType
	RatioType // a decimal number from 0 to 1, of at most six places
	NamesType // different plain file names with commas between them, or nothing
)

// Definition describes one configuration key as Kafka's ConfigDef does.
type Definition struct {
	Key     string
	Type    Type
	Default string
	// Min and Max bound an IntType, both inclusive.
	Min, Max int64
	// Allowed are the values of a TextType; nil allows any text.
	Allowed []string
	Scope   Scope
	// Broker is, for a topic key, the broker key that gives its default.
	Broker string
	// Doc says in one line what the value decides.
	Doc string
}

// definitions holds every key, by scope bit and name. It is filled by variable
// initialisers and never changes afterwards.
var definitions = map[Scope]map[string]Definition{}

// define adds keys; a second definition of a key in one scope is a bug.
func define(defs ...Definition) bool {
	for _, d := range defs {
		for _, n := range scopeNames {
			if d.Scope&n.scope == 0 {
				continue
			}
			keys := definitions[n.scope]
			if keys == nil {
				keys = map[string]Definition{}
				definitions[n.scope] = keys
			}
			if _, twice := keys[d.Key]; twice {
				panic("configuration key " + d.Key + " is defined twice for a " + n.name)
			}
			keys[d.Key] = d
		}
	}
	return true
}

// Lookup finds a key in any of the scopes s.
func Lookup(s Scope, key string) (Definition, bool) {
	for _, n := range scopeNames {
		if s&n.scope != 0 {
			if d, ok := definitions[n.scope][key]; ok {
				return d, true
			}
		}
	}
	return Definition{}, false
}

// Definitions lists the keys of one scope, sorted.
func Definitions(s Scope) []Definition {
	var defs []Definition
	for _, d := range definitions[s] { // unordered: sorted below
		defs = append(defs, d)
	}
	slices.SortStableFunc(defs, func(a, b Definition) int { return strings.Compare(a.Key, b.Key) })
	return defs
}

// Check returns nil if value may be given to key in the scopes s, else one
// line that says what is allowed.
func Check(s Scope, key, value string) error {
	d, ok := Lookup(s, key)
	if !ok {
		return fmt.Errorf("%s: not a %s configuration key that tidemark has: tidemark keys lists them", key, s)
	}
	return d.check(value)
}

func (d Definition) check(value string) error {
	switch d.Type {
	case IntType:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < d.Min || n > d.Max {
			return fmt.Errorf("%s: %s is not a valid value: allowed is a whole number from %d to %d", d.Key, value, d.Min, d.Max)
		}
	case BoolType:
		if value != "true" && value != "false" {
			return fmt.Errorf("%s: %s is not a valid value: allowed are true, false", d.Key, value)
		}
	case RatioType:
		if _, err := parseRatio(value); err != nil {
			return fmt.Errorf("%s: %s is not a valid value: allowed is a number from 0 to 1 with at most six decimal places", d.Key, value)
		}
	case NamesType:
		if !validNames(value) {
			return fmt.Errorf("%s: %s is not a valid value: allowed are different names without a slash, with commas between them", d.Key, value)
		}
	case TextType:
		if d.Allowed != nil && !slices.Contains(d.Allowed, value) {
			return fmt.Errorf("%s: %s is not a valid value: allowed are %s", d.Key, value, strings.Join(d.Allowed, ", "))
		}
	}
	return nil
}

func validNames(value string) bool {
	if value == "" {
		return true
	}
	names := strings.Split(value, ",")
	for i, n := range names {
		if n == "" || n == "." || n == ".." || strings.ContainsAny(n, "/ ") || slices.Contains(names[:i], n) {
			return false
		}
	}
	return true
}

// Pair is one key and the value given to it.
type Pair struct{ Key, Value string }

// Config is the validated configuration of one node, topic or client: the
// values given, over the defaults of its scope. It is immutable.
type Config struct {
	scope Scope
	given []Pair // sorted by key
}

// NewConfig checks pairs, each and together, and returns them over the defaults of
// scope. The last of several values of one key counts.
func NewConfig(scope Scope, pairs ...Pair) (Config, error) {
	c := Config{scope: scope}
	for _, p := range pairs {
		if err := Check(scope, p.Key, p.Value); err != nil {
			return Config{}, err
		}
		if i, found := c.find(p.Key); found {
			c.given[i].Value = p.Value
		} else {
			c.given = slices.Insert(c.given, i, p)
		}
	}
	if err := c.conflict(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// TopicConfig is the configuration of a topic in Kafka's precedence: its own
// value, else what was set at run time on the broker or the cluster for the
// broker key behind it, else the static value of that, else the default. A
// value that does not pass Check is skipped: an older release let it in.
func TopicConfig(static Config, topic, dynamic func(key string) (string, bool)) Config {
	c := Config{scope: TopicScope}
	for _, d := range Definitions(TopicScope) {
		v, ok := topic(d.Key)
		if !ok || d.check(v) != nil {
			v, ok = dynamic(d.Broker)
		}
		if i, found := static.find(d.Broker); found && (!ok || d.check(v) != nil) {
			v, ok = static.given[i].Value, true
		}
		if ok && d.check(v) == nil {
			c.given = append(c.given, Pair{d.Key, v})
		}
	}
	return c
}

func (c Config) find(key string) (int, bool) {
	return slices.BinarySearchFunc(c.given, key, func(p Pair, k string) int { return strings.Compare(p.Key, k) })
}

// Text is the effective value of key as it is written. A key that the scope
// does not have is a bug of the caller.
func (c Config) Text(key string) string {
	if i, found := c.find(key); found {
		return c.given[i].Value
	}
	d, ok := Lookup(c.scope, key)
	if !ok {
		panic("no configuration key " + key + " in scope " + c.scope.String())
	}
	return d.Default
}

// Int is the effective value of a whole number.
func (c Config) Int(key string) int64 {
	n, err := strconv.ParseInt(c.Text(key), 10, 64)
	if err != nil {
		panic("configuration key " + key + " is not a number")
	}
	return n
}

// Int32 is Int for keys that Kafka keeps in 32 bits.
func (c Config) Int32(key string) int32 { return int32(c.Int(key)) }

// Bool is the effective value of a switch.
func (c Config) Bool(key string) bool { return c.Text(key) == "true" }

// Millis is the effective value of a time in ms, as a duration; one that no
// duration can hold is the longest duration.
func (c Config) Millis(key string) time.Duration {
	ms := c.Int(key)
	if ms > int64(time.Duration(1<<63-1)/time.Millisecond) {
		return 1<<63 - 1
	}
	return time.Duration(ms) * time.Millisecond
}

// Set reports whether key was given a value.
func (c Config) Set(key string) bool {
	_, found := c.find(key)
	return found
}

// Pairs are the given values, sorted by key.
func (c Config) Pairs() []Pair { return slices.Clone(c.given) }
