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

func TestAProducerDoesNotPromiseIdempotence(t *testing.T) {
	if c, err := NewProducerConfig(); err != nil || c.Bool(EnableIdempotence) {
		t.Errorf("enable.idempotence is %v, %v", c.Text(EnableIdempotence), err)
	}
	if _, err := NewProducerConfig(Pair{EnableIdempotence, "true"}); err == nil {
		t.Error("enable.idempotence=true is accepted, though nothing keeps it")
	}
}
