package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// vanishedRead: a record that some consumer was given is there for every later
// reader of its offset, for consumers are given only what is committed. What was
// acknowledged with acks=all besides is for lost-write.
type vanishedRead struct{ tally }

func (*vanishedRead) name() string { return "vanished-read" }

func (v *vanishedRead) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		x := rd.index(&f.history)
		for i := range x.places {
			p := &x.places[i]
			if !p.data() || p.first < 0 || p.acked {
				continue
			}
			v.checks++
			if by := rd.poll(p.cover); p.cover > p.last && v.gone(f, rd, p, by) && !r.full(v.name(), rd.tp) {
				seen := rd.poll(p.last)
				r.settle(f, v.vanished(f, rd, p, seen, by).excuse(f.excuse(rd, p, by)), circumstances{client: seen.client},
					[2]stamp{{seen.seq, seen.at}, {by.seq, by.at}})
			}
		}
	}
}

// gone reports whether a poll had to be given a record that others had seen.
func (v *vanishedRead) gone(f *facts, rd *reading, p *place, by *poll) bool {
	if p.send != nil && p.send.outcome == event.SendFail && certaintyOf(p.send.code) == definite {
		return false
	}
	return f.visible(rd, p, by)
}

func (v *vanishedRead) vanished(f *facts, rd *reading, p *place, seen, by *poll) Finding {
	found := "nothing"
	if rd.log.showsOther(p) {
		found = "another record"
	}
	return Finding{Rule: v.name(), Verdict: Violation, Seq: by.seq, At: by.at, TP: rd.tp, Offset: p.offset, Last: p.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: p.epoch, Client: seen.client, Attempt: p.attempt, Witness: []uint64{seen.seq, by.seq},
		Text: fmt.Sprintf("%s: %s read %s at offset %d (event %d), and %s found %s there (event %d)",
			rd.tp, seen.client, f.history.what(p.attempt), p.offset, seen.seq, by.client, found, by.seq)}
}
