package kafka

import "testing"

func TestKeysOfRetentionHaveKafkasDefaultsRangesAndBrokerSynonyms(t *testing.T) {
	for _, c := range []struct {
		key, broker, def string
		good, bad        string
	}{
		{RetentionMs, "log.retention.ms", "604800000", "-1", "-2"},
		{RetentionBytes, "log.retention.bytes", "-1", "0", "-2"},
		{SegmentJitterMs, "log.roll.jitter.ms", "0", "9223372036854775807", "-1"},
		{FileDeleteDelayMs, "log.segment.delete.delay.ms", "60000", "0", "-1"},
		{FlushMs, "log.flush.interval.ms", "9223372036854775807", "0", "-1"},
		{DeleteRetentionMs, "log.cleaner.delete.retention.ms", "86400000", "0", "-1"},
		{MinCompactionLagMs, "log.cleaner.min.compaction.lag.ms", "0", "0", "-1"},
		{MaxCompactionLagMs, "log.cleaner.max.compaction.lag.ms", "9223372036854775807", "1", "0"},
	} {
		d, ok := Lookup(TopicScope, c.key)
		if !ok || d.Default != c.def || d.Broker != c.broker {
			t.Errorf("%s: default %s, broker key %s", c.key, d.Default, d.Broker)
		}
		b, ok := Lookup(BrokerScope, c.broker)
		if !ok || b.Default != c.def || b.Min != d.Min || b.Max != d.Max {
			t.Errorf("%s: %+v", c.broker, b)
		}
		if err := Check(TopicScope, c.key, c.good); err != nil {
			t.Errorf("%s: %v", c.key, err)
		}
		if Check(TopicScope, c.key, c.bad) == nil {
			t.Errorf("%s takes %s", c.key, c.bad)
		}
	}
}
