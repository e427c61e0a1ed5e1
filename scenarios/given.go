package scenarios

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/model/plan"
)

// Given are settings that come from outside of a plan. As with Kafka's own
// server.properties and --override, what the command line sets wins over
// everything, and a file gives what nobody else does:
//
//	Set  >  the lines of the scenario  >  Files  >  Kafka's defaults
//
// Only the lines that a seed drew give way to Files too: they are nobody's wish.
// Keys are as kafka.Scoped reads them, values have passed kafka.CheckScoped.
type Given struct {
	Set   []plan.Setting
	Files []plan.Setting // a later one over an earlier one
}

// On returns a scenario's plan with the settings in their places; the plan
// itself stays as it is.
func (g Given) On(p *plan.Plan) *plan.Plan { return g.on(p, false) }

// OnDrawn is On for a plan that a seed drew.
func (g Given) OnDrawn(p *plan.Plan) *plan.Plan { return g.on(p, true) }

func (g Given) on(p *plan.Plan, drawn bool) *plan.Plan {
	if len(g.Set)+len(g.Files) == 0 {
		return p
	}
	q := *p
	q.Settings = slices.Clone(p.Settings)
	q.Steps = slices.Clone(p.Steps)
	for i := range q.Steps {
		q.Steps[i].Settings = slices.Clone(q.Steps[i].Settings)
	}
	if drawn {
		g.forgetBound(&q)
	}
	files := slices.Clone(g.Files)
	if !drawn {
		slices.Reverse(files) // none is over another: the last one comes first
	}
	for _, s := range files {
		place(&q, s, drawn)
	}
	for _, s := range g.Set {
		place(&q, s, true)
	}
	return &q
}

// place puts one setting wherever its key belongs, over what stands there or,
// without over, only where nothing does.
func place(p *plan.Plan, s plan.Setting, over bool) {
	scopes, key := kafka.Scoped(s.Key)
	s.Key = key
	if scopes&kafka.BrokerScope != 0 {
		p.Settings = placeIn(p.Settings, s, over)
	}
	for i := range p.Steps {
		step := &p.Steps[i]
		switch {
		case step.Verb == plan.VerbTopic && scopes&kafka.TopicScope != 0:
			// What the brokers are told is what a topic without a value has.
			if scopes&kafka.BrokerScope == 0 || over && has(step.Settings, key) {
				step.Settings = placeIn(step.Settings, s, over)
			}
		case step.Verb == plan.VerbProducer && scopes&kafka.ProducerScope != 0,
			step.Verb == plan.VerbConsumer && scopes&kafka.ConsumerScope != 0:
			step.Settings = placeIn(step.Settings, s, over)
		}
	}
}

func has(settings []plan.Setting, key string) bool {
	return slices.ContainsFunc(settings, func(s plan.Setting) bool { return s.Key == key })
}

func placeIn(settings []plan.Setting, s plan.Setting, over bool) []plan.Setting {
	if has(settings, s.Key) {
		if !over {
			return settings
		}
		settings = slices.DeleteFunc(settings, func(o plan.Setting) bool { return o.Key == s.Key })
	}
	return append(settings, s)
}

// bound are producer settings that Kafka binds to each other: when one of given
// comes from outside, what a seed drew of the others goes, for Kafka would refuse
// some combinations.
var bound = []struct{ given, drawn []string }{
	{timeouts, timeouts},
	{[]string{kafka.EnableIdempotence}, []string{kafka.Acks, kafka.Retries, kafka.MaxInFlight}},
}

var timeouts = []string{kafka.RequestTimeoutMs, kafka.DeliveryTimeoutMs, kafka.LingerMs}

func (g Given) forgetBound(p *plan.Plan) {
	for _, b := range bound {
		if !g.givesProducers(b.given) {
			continue
		}
		for i := range p.Steps {
			if s := &p.Steps[i]; s.Verb == plan.VerbProducer {
				s.Settings = slices.DeleteFunc(s.Settings, func(kv plan.Setting) bool { return slices.Contains(b.drawn, kv.Key) })
			}
		}
	}
}

// givesProducers reports whether one of the keys is given to producers.
func (g Given) givesProducers(keys []string) bool {
	return slices.ContainsFunc(slices.Concat(g.Set, g.Files), func(s plan.Setting) bool {
		scopes, key := kafka.Scoped(s.Key)
		return scopes&kafka.ProducerScope != 0 && slices.Contains(keys, key)
	})
}
