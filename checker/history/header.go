package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"tidemark/model/event"
)

// Version is the version of the format that this package writes, and the
// newest that it reads.
const Version = 1

// versionKey opens a header line: files are known by it.
const versionKey = "tidemark_history"

// Clock says what orders the events of a history.
type Clock string

// The clocks.
const (
	// BySeq: one counter numbered all events; "before" is certain.
	BySeq Clock = "seq"
	// ByTime: each event has the time of some machine's clock, which may be
	// wrong by the event's clock error either way. "Before" is certain only if
	// more than both errors lies between two events.
	ByTime Clock = "time"
)

// Header is the first line of a history.
type Header struct {
	// Open: producers that the history does not show may have written too.
	Open bool
	// Source says in free words where the history comes from.
	Source string
	Clock  Clock
	// ClockErr is the clock error of events that give none, ns; ByTime only.
	ClockErr int64
	// Profile are Kafka's settings, by scope and key, each once.
	Profile []Setting
}

// Setting is one effective configuration value.
type Setting struct {
	Scope      string // cluster, "topic T", "producer CLIENT", "consumer CLIENT"
	Key, Value string
}

// ClusterScope is the scope of brokers' settings and topics' defaults.
const ClusterScope = "cluster"

// worldKey is the setting that tells the checker of an open world.
const worldKey = "history.world"

// jsonHeader has the keys of a header line.
type jsonHeader struct {
	Version  *int                         `json:"tidemark_history"`
	World    string                       `json:"world"`
	Source   string                       `json:"source,omitempty"`
	Clock    string                       `json:"clock"`
	ClockErr int64                        `json:"clock_err_ns,omitempty"`
	Profile  map[string]map[string]string `json:"profile,omitempty"`
}

// AppendHeader appends a header line without its line end. Equal headers give
// equal bytes.
func AppendHeader(dst []byte, h Header) []byte {
	v := Version
	j := jsonHeader{Version: &v, World: h.world(), Source: h.Source, Clock: string(h.clock()), ClockErr: h.ClockErr}
	for _, s := range h.Profile {
		if j.Profile == nil {
			j.Profile = map[string]map[string]string{}
		}
		if j.Profile[s.Scope] == nil {
			j.Profile[s.Scope] = map[string]string{}
		}
		j.Profile[s.Scope][s.Key] = s.Value
	}
	line, err := json.Marshal(j)
	if err != nil {
		panic("history: a header that JSON cannot write: " + err.Error())
	}
	return append(dst, line...)
}

func (h Header) world() string {
	if h.Open {
		return "open"
	}
	return "closed"
}

func (h Header) clock() Clock {
	if h.Clock == "" {
		return BySeq
	}
	return h.Clock
}

// ParseHeader reads a header line. Keys that it does not know are ignored. The
// field names the key that is wrong.
func ParseHeader(line []byte) (h Header, field string, err error) {
	var j jsonHeader
	if err := json.Unmarshal(line, &j); err != nil {
		field, err = JSONFault(line, "a header line such as "+exampleHeader, err)
		if field == "profile" {
			err = fmt.Errorf(`%w: scope, key and value are texts, {"cluster":{"min.insync.replicas":"2"}}`, err)
		}
		return h, field, err
	}
	switch {
	case j.Version == nil:
		return h, versionKey, fmt.Errorf("missing: a history begins with a header line such as %s", exampleHeader)
	case *j.Version < 1:
		return h, versionKey, fmt.Errorf("expected %d, found %d: there is no such version of the format", Version, *j.Version)
	case *j.Version > Version:
		return h, versionKey, fmt.Errorf("expected %d, found %d: a newer tidemark wrote this", Version, *j.Version)
	case j.World != "" && j.World != "open" && j.World != "closed":
		return h, "world", fmt.Errorf("expected open or closed, found %q", j.World)
	case j.Clock != "" && Clock(j.Clock) != BySeq && Clock(j.Clock) != ByTime:
		return h, "clock", fmt.Errorf("expected %s or %s, found %q", BySeq, ByTime, j.Clock)
	case j.ClockErr < 0:
		return h, "clock_err_ns", fmt.Errorf("expected 0 or more nanoseconds, found %d", j.ClockErr)
	}
	h = Header{Open: j.World == "open", Source: j.Source, Clock: Clock(j.Clock), ClockErr: j.ClockErr}
	h.Clock = h.clock()
	for _, scope := range slices.Sorted(maps.Keys(j.Profile)) {
		for _, key := range slices.Sorted(maps.Keys(j.Profile[scope])) {
			h.Profile = append(h.Profile, Setting{scope, key, j.Profile[scope][key]})
		}
	}
	return h, "", nil
}

const exampleHeader = `{"tidemark_history":1,"world":"closed","clock":"seq"}`

// Events are what the header tells a checker: a Profile event for each setting,
// and one for the world. They have no number, for they come before event 1.
func (h Header) Events() []event.Event {
	settings := append([]Setting{{ClusterScope, worldKey, h.world()}}, h.Profile...)
	all := make([]event.Event, len(settings))
	for i, s := range settings {
		all[i] = event.New(event.Profile)
		all[i].Client, all[i].Text = s.Scope, s.Key+"="+s.Value
	}
	return all
}
