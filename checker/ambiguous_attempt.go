package checker

import (
	"fmt"

	"tidemark/model/event"
)

// ambiguousAttempt: each send has an attempt of its own, by which a record that
// is read is known again.
type ambiguousAttempt struct {
	tally
	told int
}

func (*ambiguousAttempt) name() string { return "ambiguous-attempt" }
func (*ambiguousAttempt) hygienic()    {}

func (*ambiguousAttempt) kinds() []event.Kind { return []event.Kind{event.SendInvoke} }

func (a *ambiguousAttempt) observe(f *facts, e *event.Event, r *Report) {
	a.checks++
	if s := f.history.send(e.Attempt); s != nil && s.invoked != e.Seq {
		if a.told++; a.told <= mostUnknown {
			r.Unknown = append(r.Unknown, fmt.Sprintf("ambiguous-attempt: event %d sends attempt %d of %s a second time (the first: event %d)",
				e.Seq, event.Ordinal(e.Attempt), e.Client, s.invoked))
		}
	}
}
