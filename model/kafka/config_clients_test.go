package kafka

import (
	"strings"
	"testing"
	"time"
)

func TestEveryClientDefaultPassesItsOwnCheck(t *testing.T) {
	n := 0
	for _, scope := range []Scope{ProducerScope, ConsumerScope} {
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
	if n < 35 {
		t.Fatalf("only %d keys were looked at", n)
	}
}

func TestADeliveryTimeoutThatIsTooShortIsAnErrorOnlyIfItWasGiven(t *testing.T) {
	_, err := NewProducerConfig(Pair{DeliveryTimeoutMs, "20000"}, Pair{LingerMs, "0"})
	if err == nil || !strings.Contains(err.Error(), "delivery.timeout.ms: 20000 is too short") {
		t.Errorf("error is %v", err)
	}
	c, err := NewProducerConfig(Pair{RequestTimeoutMs, "200000"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Millis(DeliveryTimeoutMs), 200005*time.Millisecond; got != want {
		t.Errorf("delivery.timeout.ms is raised to %v, want linger.ms plus request.timeout.ms, %v", got, want)
	}
	if c, err = NewProducerConfig(Pair{LingerMs, maxInt64Str}); err != nil || c.Int(DeliveryTimeoutMs) != maxInt32 {
		t.Errorf("with an endless linger delivery.timeout.ms is %d, %v", c.Int(DeliveryTimeoutMs), err)
	}
}

func TestIdempotenceIsOnByDefaultAndGoesWhereOtherSettingsForbidIt(t *testing.T) {
	if c, err := NewProducerConfig(); err != nil || !c.Bool(EnableIdempotence) {
		t.Errorf("by default enable.idempotence is %v, %v", c.Text(EnableIdempotence), err)
	}
	for _, c := range []struct {
		pair  Pair
		lacks string
	}{
		{Pair{Acks, "1"}, "acks=all"}, {Pair{Acks, "0"}, "acks=all"}, {Pair{Retries, "0"}, "retries above 0"},
		{Pair{MaxInFlight, "6"}, "max.in.flight.requests.per.connection of at most 5"},
	} {
		if got, err := NewProducerConfig(c.pair); err != nil || got.Bool(EnableIdempotence) {
			t.Errorf("with %v enable.idempotence is %v, %v; want it off", c.pair, got.Text(EnableIdempotence), err)
		}
		_, err := NewProducerConfig(c.pair, Pair{EnableIdempotence, "true"})
		if want := "enable.idempotence: true needs " + c.lacks; err == nil || err.Error() != want {
			t.Errorf("asked for with %v: %v, want %s", c.pair, err, want)
		}
	}
	for _, pair := range []Pair{{Acks, "-1"}, {Retries, "1"}, {MaxInFlight, "5"}} {
		if c, err := NewProducerConfig(pair, Pair{EnableIdempotence, "true"}); err != nil || !c.Bool(EnableIdempotence) {
			t.Errorf("with %v: %v", pair, err)
		}
	}
}
