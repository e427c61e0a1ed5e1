package kafka

import "fmt"

// conflict is what Kafka's LogConfig.validateValues refuses, of brokers and topics:
// values that are each allowed and together make no sense.
func (c Config) conflict() error {
	var least, most string
	switch c.scope {
	case BrokerScope:
		least, most = logCleanerMinCompactionLagMs, logCleanerMaxCompactionLagMs
	case TopicScope:
		least, most = MinCompactionLagMs, MaxCompactionLagMs
	default:
		return nil
	}
	if c.Int(least) > c.Int(most) {
		return fmt.Errorf("%s: %d is more than %s, which is %d: no record could be compacted in time", least, c.Int(least), most, c.Int(most))
	}
	return nil
}

// CheckTopic returns nil if a topic may be created with the values given, else one
// line that says what is allowed. Values bind each other over what the broker's
// static configuration gives the topic, as Kafka's controller looks at it; what was
// set at run time does not count.
func CheckTopic(static Config, given ...Pair) error {
	values := map[string]string{}
	for _, p := range given {
		if err := Check(TopicScope, p.Key, p.Value); err != nil {
			return err
		}
		values[p.Key] = p.Value
	}
	own := func(key string) (string, bool) { v, ok := values[key]; return v, ok }
	none := func(string) (string, bool) { return "", false }
	return TopicConfig(static, own, none).conflict()
}
