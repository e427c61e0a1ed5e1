package reports

import (
	"fmt"
	"slices"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// mostAcks is the most acknowledgements of lost records that have lines of their
// own: a run may lose hundreds, and what lost them is the story.
const mostAcks = 3

// testimony is the events that witness losses.
type testimony struct {
	witnesses []uint64
	lastAck   uint64 // the last of the acknowledgements among them
	more      int    // acknowledged and lost records beside those
}

// testify takes the witnesses of losses, the gravest of which come first.
func testify(fs []*checker.Finding) testimony {
	var t testimony
	acks, lost := 0, 0
	for _, f := range fs {
		t.witnesses = append(t.witnesses, f.Lost.Seq, f.Sealed.Seq)
		if f.Acked.Seq == 0 {
			continue
		}
		lost += max(f.Count, 1)
		if acks < mostAcks {
			t.witnesses = append(t.witnesses, f.Acked.Seq)
			t.lastAck = max(t.lastAck, f.Acked.Seq)
		}
		acks++
	}
	if acks > mostAcks {
		t.more = lost - mostAcks
	}
	return t
}

// others says behind the last acknowledgement how many it stands for.
func (t *testimony) others(seq uint64) string {
	if seq != t.lastAck || t.more == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s that did not last", plural(t.more, "more acknowledged record"))
}

// refusal is why an application's records never reached a partition.
type refusal struct {
	client string
	code   kafka.ErrorCode
}

// tellRefusal tells of a record that failed before it had a partition. The
// first one for each reason has a line, the others are counted.
func (n *narrator) tellRefusal(e *event.Event) {
	if e.Topic != n.tp.Topic && n.tp.Topic != "" {
		return
	}
	r := refusal{e.Client, e.Code}
	if slices.Contains(n.doomed, r) {
		n.flow.client(e)
		return
	}
	n.doomed = append(n.doomed, r)
	n.say(e, rankTurn, "%s: %s fails for certain: %s", e.Client, record(e), e.Code)
}
