package app

import (
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/node/client"
)

// verification is one complete read of a topic.
type verification struct {
	goals []*goal // of the partitions that are not drained yet
}

// goal is how far one partition must be read. A high watermark in a fetch
// answer can be behind for a while after a change of leader, so reaching it
// proves nothing by itself: there is also a target, the end that the leader
// told when the verification began (which it refuses to tell before it knows,
// KIP-207). A leader elected since may have less, so a target that the high
// watermark does not come up to is asked for again.
type goal struct {
	tp     kafka.TopicPartition
	target kafka.Offset // NoOffset: not told yet
}

// verify reads a topic from its start to its end, once, whatever the client did
// before. Out of range means earliest here, for nothing may be passed over.
func (a *app) verify(s *plan.Step) {
	earliest := client.Earliest
	r := a.newReader(&earliest)
	r.verified = &verification{}
	r.client.Want(s.Topic)
	r.waiting = append(r.waiting, s)
}

func (r *reader) beginVerify(tps []kafka.TopicPartition) {
	r.consumer.Assign(tps)
	for _, tp := range tps {
		r.consumer.SeekTo(tp, client.Earliest)
		g := &goal{tp: tp}
		r.verified.goals = append(r.verified.goals, g)
		r.ask(g)
	}
}

func (r *reader) ask(g *goal) {
	g.target = kafka.NoOffset
	r.consumer.EndOffset(g.tp, func(end kafka.Offset) { g.target = end })
}

// checkDrained ends the partitions that were read to their target and to the
// high watermark behind it, and with the last of them the verification.
func (r *reader) checkDrained() {
	if len(r.verified.goals) == 0 {
		return
	}
	r.verified.goals = slices.DeleteFunc(r.verified.goals, r.drained)
	if len(r.verified.goals) == 0 {
		r.app.closeReader()
	}
}

func (r *reader) drained(g *goal) bool {
	position := r.consumer.Position(g.tp).Offset
	hw, known := r.consumer.HighWatermark(g.tp)
	if !known || position != hw || g.target == kafka.NoOffset {
		return false
	}
	if position < g.target {
		g.target = kafka.NoOffset
		wait := r.client.Retry().After(1, r.app.env, "verify-backoff")
		r.app.timers.After(wait, func() {
			if r.app.reader == r {
				r.ask(g)
			}
		})
		return false
	}
	e := r.event(event.PollOK, g.tp)
	e.Offset, e.End, e.HighWatermark, e.Drained = position, position, hw, true
	r.app.env.Emit(&e)
	return true
}
