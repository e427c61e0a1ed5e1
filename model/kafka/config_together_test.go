package kafka

import (
	"strings"
	"testing"
)

const lags = "min.compaction.lag.ms: 10 is more than max.compaction.lag.ms, which is 9: no record could be compacted in time"

func TestARecordMayBeCompactedBeforeItMustBe(t *testing.T) {
	for _, c := range []struct {
		scope       Scope
		least, most string
	}{{TopicScope, MinCompactionLagMs, MaxCompactionLagMs}, {BrokerScope, logCleanerMinCompactionLagMs, logCleanerMaxCompactionLagMs}} {
		if _, err := NewConfig(c.scope, Pair{c.most, "10"}, Pair{c.least, "10"}); err != nil {
			t.Errorf("%s: %v", c.scope, err)
		}
		_, err := NewConfig(c.scope, Pair{c.most, "9"}, Pair{c.least, "10"})
		if err == nil || strings.ReplaceAll(err.Error(), "log.cleaner.", "") != lags {
			t.Errorf("%s: %v", c.scope, err)
		}
	}
}

func TestATopicsValuesAreBoundByThoseOfItsBroker(t *testing.T) {
	static, err := NewConfig(BrokerScope, Pair{logCleanerMaxCompactionLagMs, "9"})
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckTopic(static, Pair{MinCompactionLagMs, "10"}); err == nil || err.Error() != lags {
		t.Errorf("10 ms over 9 ms of the broker: %v", err)
	}
	if err := CheckTopic(static, Pair{MinCompactionLagMs, "10"}, Pair{MaxCompactionLagMs, "11"}); err != nil {
		t.Errorf("with 11 ms of its own: %v", err)
	}
	if err := CheckTopic(static, Pair{MinCompactionLagMs, "-1"}); err == nil || !strings.Contains(err.Error(), "from 0") {
		t.Errorf("-1 ms: %v", err)
	}
}
