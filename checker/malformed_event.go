package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// impossible says what an event of a client's history tells that no client can
// have seen, "" for nothing: offsets below zero, a poll against its own bounds, a
// commit of nothing.
func impossible(e *event.Event) string {
	switch e.Kind {
	case event.SendOK:
		if e.Offset < kafka.NoOffset || e.Offset == beyondOffsets {
			return fmt.Sprintf("acknowledges attempt %d of %s at offset %d", event.Ordinal(e.Attempt), e.Client, e.Offset)
		}
	case event.PollOK:
		return impossiblePoll(e)
	case event.PositionReset:
		if e.End < 0 {
			return fmt.Sprintf("moves the position of %s in %s to %d", e.Client, e.TP(), e.End)
		}
	case event.CommitInvoke:
		if e.Offset < 0 {
			return fmt.Sprintf("is a commit of offset %d of %s by %s", e.Offset, e.TP(), e.Client)
		}
	case event.FetchCommittedOK:
		if e.Offset < kafka.NoOffset {
			return fmt.Sprintf("tells %s the committed offset %d of %s", e.Client, e.Offset, e.TP())
		}
	case event.ListOffsetsOK:
		if e.Offset < 0 {
			return fmt.Sprintf("tells %s that the %s offset of %s is %d", e.Client, e.Text, e.TP(), e.Offset)
		}
	case event.LogStartMoved:
		if e.Offset < 0 {
			return fmt.Sprintf("moves the start of %s to %d", e.TP(), e.Offset)
		}
	}
	return ""
}

func impossiblePoll(e *event.Event) string {
	switch {
	case e.Offset < 0:
		return fmt.Sprintf("is a poll of %s from position %d", e.Client, e.Offset)
	case e.End < e.Offset:
		return fmt.Sprintf("is a poll of %s from %d back to %d", e.Client, e.Offset, e.End)
	case e.Drained && e.Isolation == event.ReadUncommitted && e.End < e.HighWatermark:
		return fmt.Sprintf("is a poll of %s that ends at %d, and has reached an end of %d", e.Client, e.End, e.HighWatermark)
	case e.Drained && e.Isolation == event.ReadCommitted && e.End < e.LastStable:
		return fmt.Sprintf("is a poll of %s that ends at %d, and has reached an end of %d", e.Client, e.End, e.LastStable)
	}
	for i := range e.Records {
		if o := e.Records[i].Offset; o < e.Offset || o >= e.End {
			return fmt.Sprintf("is a poll of %s from %d to %d that holds offset %d", e.Client, e.Offset, e.End, o)
		}
	}
	return ""
}
