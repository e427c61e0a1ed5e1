package app

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
)

// CheckStep returns nil if a client can do s, else one line that says which
// setting is wrong and what is allowed.
func CheckStep(s *plan.Step) error {
	var err error
	switch s.Verb {
	case plan.VerbProducer:
		_, err = kafka.NewProducerConfig(pairs(s.Settings)...)
	case plan.VerbConsumer:
		_, err = kafka.NewConsumerConfig(pairs(s.Settings)...)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", s.Verb, s.Client, err)
	}
	return nil
}

func pairs(settings []plan.Setting) []kafka.Pair {
	out := make([]kafka.Pair, len(settings))
	for i, s := range settings {
		out[i] = kafka.Pair{Key: s.Key, Value: s.Value}
	}
	return out
}

// mustConfig unwraps a configuration that was checked before.
func mustConfig(c kafka.Config, err error) kafka.Config {
	if err != nil {
		panic("app: settings that CheckStep did not see: " + err.Error())
	}
	return c
}

func (a *app) declareProducer(s *plan.Step) {
	a.producerProps = mustConfig(kafka.NewProducerConfig(pairs(s.Settings)...))
	a.profile("producer", kafka.ProducerScope, a.producerProps)
	a.producer()
}

func (a *app) declareConsumer(s *plan.Step) {
	a.consumerProps = mustConfig(kafka.NewConsumerConfig(pairs(s.Settings)...))
	a.profile("consumer", kafka.ConsumerScope, a.consumerProps)
}

// profile tells every effective setting: the checker judges by them.
func (a *app) profile(kind string, scope kafka.Scope, c kafka.Config) {
	for _, d := range kafka.Definitions(scope) {
		e := event.New(event.Profile)
		e.Client = kind + " " + a.cfg.Name
		e.Text = d.Key + "=" + c.Text(d.Key)
		if d.Key == kafka.ClientID && !c.Set(d.Key) {
			e.Text += a.cfg.Name
		}
		a.env.Emit(&e)
	}
}
