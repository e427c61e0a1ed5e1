package history

import (
	"errors"
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Fields that come together.
const (
	hasPlace     = hasClient | hasTopic | hasPartition
	hasOperation = hasClient | hasAttempt
)

// needs are the fields without which an event of the client history says
// nothing. The white box is written by tidemark itself and is not checked.
var needs = map[event.Kind]fields{
	event.SendInvoke: hasPlace | hasAttempt, event.SendOK: hasPlace | hasAttempt,
	event.SendFail: hasPlace | hasAttempt, event.SendUnknown: hasPlace | hasAttempt,
	event.PollInvoke: hasOperation, event.PollOK: hasPlace | hasOffset | hasEnd,
	event.PositionReset: hasPlace | hasEnd, event.TruncationDetected: hasPlace | hasEnd,
	event.Assigned: hasPlace, event.Revoked: hasPlace, event.Lost: hasPlace,
	event.CommitInvoke: hasPlace | hasAttempt | hasOffset | hasSession, event.CommitOK: hasPlace | hasAttempt,
	event.CommitFail: hasPlace | hasAttempt, event.CommitUnknown: hasPlace | hasAttempt,
	event.FetchCommittedInvoke: hasPlace | hasAttempt | hasSession, event.FetchCommittedOK: hasPlace | hasAttempt,
	event.FetchCommittedFail: hasPlace | hasAttempt,
	event.InitProducerInvoke: hasOperation, event.InitProducerOK: hasOperation | hasSession,
	event.InitProducerFail: hasOperation, event.InitProducerUnknown: hasOperation,
	event.TxnBegin:     hasClient | hasSession,
	event.TxnEndInvoke: hasOperation | hasSession | hasText, event.TxnEndOK: hasOperation, event.TxnEndFail: hasOperation,
	event.TxnEndUnknown:     hasOperation,
	event.ListOffsetsInvoke: hasPlace | hasAttempt | hasText, event.ListOffsetsOK: hasPlace | hasAttempt | hasOffset | hasText,
	event.ListOffsetsFail: hasPlace | hasAttempt,
	event.ClientCrashed:   hasClient,
	event.LogStartMoved:   hasTopic | hasPartition | hasOffset, event.Cleaned: hasTopic | hasPartition | hasEnd,
	event.Profile: hasText,
}

// needNames are the keys of fields that may be missing, in the order in which a
// line is read.
var needNames = []struct {
	has  fields
	name string
}{
	{hasClient, "client"}, {hasTopic, "topic"}, {hasPartition, "partition"}, {hasOffset, "offset"}, {hasEnd, "end"},
	{hasAttempt, "attempt"}, {hasSession, "session"}, {hasText, "text"},
}

// complete checks that a line has what its kind needs. It returns the field that
// is missing.
func complete(k event.Kind, had fields) (field string, err error) {
	if had&hasKind == 0 {
		return "kind", errors.New("missing: every event has a kind (see FORMAT.md)")
	}
	missing := needs[k] &^ had
	if missing == 0 {
		return "", nil
	}
	for _, n := range needNames {
		if missing&n.has != 0 {
			return n.name, fmt.Errorf("missing: an event of kind %v needs it", k)
		}
	}
	panic("history: a field without a name is needed")
}

// lowest is the lowest offset that an event of a kind can tell, and its field, offset
// or end; kinds without a field may tell none.
var lowest = [256]struct {
	field string
	at    kafka.Offset
}{
	event.SendOK: {"offset", kafka.NoOffset}, event.PollOK: {"offset", 0}, event.PositionReset: {"end", 0}, event.CommitInvoke: {"offset", 0},
	event.FetchCommittedOK: {"offset", kafka.NoOffset}, event.ListOffsetsOK: {"offset", 0}, event.LogStartMoved: {"offset", 0},
}

// sensible bounds what the types allow and Kafka does not.
func sensible(e *event.Event) (field string, err error) {
	if low := &lowest[e.Kind]; low.field != "" {
		told := e.Offset
		if low.field == "end" {
			told = e.End
		}
		if told < low.at {
			return low.field, fmt.Errorf("expected %d or more, found %d", low.at, told)
		}
	}
	for _, o := range [...]struct {
		field string
		at    kafka.Offset
	}{{"offset", e.Offset}, {"end", e.End}, {"hw", e.HighWatermark}, {"lso", e.LastStable}} {
		if o.at < kafka.NoOffset {
			return o.field, fmt.Errorf("expected %d, for none, or more, found %d", kafka.NoOffset, o.at)
		}
	}
	switch {
	case e.Kind == event.PollOK && e.End < e.Offset:
		return "end", fmt.Errorf("expected at least the offset, %d, at which the poll began, found %d", e.Offset, e.End)
	case e.Acks < -1 || e.Acks > 1:
		return "acks", fmt.Errorf("expected -1 (all), 0 or 1, found %d", e.Acks)
	}
	for i := range e.Records {
		r := &e.Records[i]
		if r.Offset < e.Offset || r.Offset >= e.End {
			return "records", fmt.Errorf("expected offsets from %d to %d, as offset and end of the poll say, found %d", e.Offset, e.End-1, r.Offset)
		}
	}
	return "", nil
}
