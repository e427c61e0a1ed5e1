package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"tidemark/checker"
	"tidemark/checker/history"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
)

// overrides are what --profile says over the history's own settings.
type overrides struct {
	world    string // open, closed or "" for the history's own
	acks     *int16 // of every send
	cluster  []plan.Setting
	topics   []history.Setting // of one topic each
	producer []plan.Setting
	consumer []plan.Setting
}

// worldSetting tells whether the history shows all producers.
const worldSetting = "history.world"

// overrides reads --profile.
func (f checkFlags) overrides(stderr io.Writer) (overrides, error) {
	var o overrides
	for _, arg := range f.profile {
		key, value, ok := strings.Cut(arg, "=")
		if _, err := os.Stat(arg); err == nil || !ok {
			settings, ignored, err := readProperties("--profile", arg)
			if err != nil {
				return o, err
			}
			tellIgnored(stderr, arg, ignored)
			for _, s := range settings {
				o.add(s)
			}
			continue
		}
		if key == worldSetting {
			if value != "open" && value != "closed" {
				return o, usageError("--profile %s: expected open or closed, found %q", key, value)
			}
			o.world = value
			continue
		}
		if topic, bare, ok := oneTopic(key); ok {
			s := history.Setting{Scope: "topic " + topic, Key: bare, Value: value}
			if err := checker.CheckSetting(s.Scope, bare, value); err != nil {
				return o, usageError("--profile: %w", err)
			}
			o.topics = append(o.topics, s)
			continue
		}
		if err := checker.CheckSetting(history.ClusterScope, key, value); errors.Is(err, checker.ErrNotModelled) && decidesNothing(key) {
			fmt.Fprintf(stderr, "tidemark: --profile: ignored, %s: %s\n", notModelled, key)
			continue
		} else if err != nil {
			return o, usageError("--profile: %w", err)
		}
		o.add(plan.Setting{Key: key, Value: value})
	}
	return o, nil
}

func (o *overrides) add(s plan.Setting) {
	scopes, bare := kafka.Scoped(s.Key)
	s.Key = bare
	// A scope of none: the key is one that only the contract knows.
	if scopes == 0 || scopes&(kafka.BrokerScope|kafka.TopicScope) != 0 {
		o.cluster = append(o.cluster, s)
		if t := behind(bare); t != "" && t != bare {
			o.cluster = append(o.cluster, plan.Setting{Key: t, Value: s.Value})
		}
	}
	if scopes&kafka.ProducerScope != 0 {
		o.producer = append(o.producer, s)
		if bare == kafka.Acks {
			acks := int16(-1)
			if n, err := strconv.ParseInt(s.Value, 10, 16); err == nil {
				acks = int16(n)
			}
			o.acks = &acks
		}
	}
	if scopes&kafka.ConsumerScope != 0 {
		o.consumer = append(o.consumer, s)
	}
}

// oneTopic cuts a key that names one topic: topic.orders.cleanup.policy. The longest
// key of Kafka's wins.
func oneTopic(arg string) (topic, key string, ok bool) {
	rest, ok := strings.CutPrefix(arg, "topic.")
	if _, all := kafka.Lookup(kafka.TopicScope, rest); all || !ok {
		return "", "", false
	}
	for i, c := range rest {
		if c != '.' || i == 0 {
			continue
		}
		if _, found := kafka.Lookup(kafka.TopicScope, rest[i+1:]); found {
			return rest[:i], rest[i+1:], true
		}
	}
	return "", "", false
}

// behind is the topic key whose default a broker key gives, "" for other keys.
func behind(broker string) string {
	for _, d := range kafka.Definitions(kafka.TopicScope) {
		if d.Broker == broker {
			return d.Key
		}
	}
	return ""
}

// over puts the overrides over a history.
func (o overrides) over(s history.Stream) history.Stream {
	if o.world == "" && len(o.cluster)+len(o.topics)+len(o.producer)+len(o.consumer) == 0 {
		return s
	}
	return &overridden{Stream: s, o: o, known: map[string]bool{}}
}

// overridden is a history with other settings than its own. A client's settings
// are told when the client first appears.
type overridden struct {
	history.Stream
	o       overrides
	known   map[string]bool // scopes that were told
	pending []event.Event
	held    event.Event // the event behind pending
	holding bool
}

// Header is the history's, with the world and the cluster's settings replaced.
func (s *overridden) Header() history.Header {
	h := s.Stream.Header()
	if s.o.world != "" {
		h.Open = s.o.world == "open"
	}
	kept := []history.Setting{}
	for _, p := range h.Profile {
		if !s.o.replaces(p.Scope, p.Key) {
			kept = append(kept, p)
		}
	}
	for _, c := range s.o.cluster {
		kept = append(kept, history.Setting{Scope: history.ClusterScope, Key: c.Key, Value: c.Value})
	}
	h.Profile = append(kept, s.o.topics...)
	return h
}

// replaces reports whether --profile says something else for a scope's key.
func (o overrides) replaces(scope, key string) bool {
	for _, t := range o.topics {
		if t.Scope == scope && t.Key == key {
			return true
		}
	}
	settings := o.cluster
	switch {
	case strings.HasPrefix(scope, "producer "):
		settings = o.producer
	case strings.HasPrefix(scope, "consumer "):
		settings = o.consumer
	}
	for _, s := range settings {
		if s.Key == key {
			return true
		}
	}
	return key == worldSetting && o.world != ""
}

// Next passes the history's events on, without the settings that are replaced,
// and a client's settings before its first event.
func (s *overridden) Next(e *event.Event) error {
	if len(s.pending) > 0 {
		*e, s.pending = s.pending[0], s.pending[1:]
		return nil
	}
	if s.holding {
		*e, s.holding = s.held, false
		return nil
	}
	for {
		if err := s.Stream.Next(e); err != nil {
			return err
		}
		if key, _, _ := strings.Cut(e.Text, "="); e.Kind == event.Profile && s.o.replaces(e.Client, key) {
			continue
		}
		if s.o.acks != nil && e.Kind >= event.SendInvoke && e.Kind <= event.SendUnknown {
			e.Acks = *s.o.acks
		}
		s.introduce(e)
		return nil
	}
}

// introduce puts a new client's settings before its first event. As those of a header
// they have no number: they are no events of the history, whose numbers ascend.
func (s *overridden) introduce(e *event.Event) {
	scope, settings := "", s.o.consumer
	switch e.Kind {
	case event.SendInvoke, event.InitProducerInvoke, event.TxnBegin:
		scope, settings = "producer "+e.Client, s.o.producer
	case event.PollInvoke, event.PollOK, event.Assigned, event.CommitInvoke, event.FetchCommittedInvoke:
		scope = "consumer " + e.Client
	}
	if scope == "" || len(settings) == 0 || s.known[scope] {
		return
	}
	s.known[scope] = true
	s.held, s.holding = *e, true
	for _, setting := range settings {
		p := event.New(event.Profile)
		p.At, p.Client, p.Text = e.At, scope, setting.Key+"="+setting.Value
		s.pending = append(s.pending, p)
	}
	*e, s.pending = s.pending[0], s.pending[1:]
}
