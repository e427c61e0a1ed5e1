package kafka

import (
	"strings"
	"testing"
)

func TestARatioIsADecimalNumberFrom0To1(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1": 1_000_000, "0.5": 500_000, ".25": 250_000, "0.000001": 1, "1.0": 1_000_000} {
		c, err := NewConfig(TopicScope, Pair{MinCleanableDirtyRatio, text})
		if err != nil || c.Ratio(MinCleanableDirtyRatio) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", ".", "-0.1", "1.000001", "0.0000001", "half", "0x1", "1e-1", "0.-5", "+1", "99999999999999999999"} {
		err := Check(TopicScope, MinCleanableDirtyRatio, text)
		if err == nil || !strings.Contains(err.Error(), "from 0 to 1") || !strings.Contains(err.Error(), MinCleanableDirtyRatio) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestABrokerGivesTheDefaultOfTheDirtyRatio(t *testing.T) {
	broker, err := NewConfig(BrokerScope, Pair{logCleanerMinCleanableRatio, "0.2"})
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) (string, bool) { return "", false }
	if got := TopicConfig(broker, none, none).Ratio(MinCleanableDirtyRatio); got != 200_000 {
		t.Errorf("the ratio is %d millionths, want 200000", got)
	}
}
