package checker_test

import (
	"strings"
	"testing"

	"tidemark/checker"
)

// Each history stands beside a twin that is one edit away and has the other
// verdict, so that no rule passes by never speaking.
func TestClientHistoriesGetTheirVerdicts(t *testing.T) {
	for _, c := range []struct{ name, want, text string }{
		{"two overlapping sends in either order", "pass", `
			send A a
			send B b
			ok A a@0
			ok B b@1
			poll c 0-2 0=a 1=b drained`},
		{"a record is read before it was sent", "violation read-from-future", `
			send A a
			ok A a@1
			poll c 0-2 0=b 1=a
			send B b
			?? B b`},
		{"twin: it was sent, and read before its send ended", "pass", `
			send A a
			send B b
			ok A a@1
			poll c 0-2 0=b 1=a
			?? B b`},
		{"an unknown send never happened", "pass", `
			send A a
			send B b
			ok B b@0
			poll c 0-1 0=b drained`},
		{"an unknown send lands late", "pass", `
			send A a
			?? A a
			send B b
			ok B b@0
			poll c 0-2 0=b 1=a`},
		{"a failed send is read", "violation failed-write-visible", `
			send A a
			no A a
			poll c 0-1 0=a`},
		{"twin: an unknown send is read", "pass", `
			send A a
			?? A a
			poll c 0-1 0=a`},
		{"two records acknowledged at one offset", "violation inconsistent-offsets", `
			send A a
			send B b
			ok A a@5
			ok B b@5`},
		{"twin: at two offsets", "pass", `
			send A a
			send B b
			ok A a@0
			ok B b@1
			poll c 0-2 0=a 1=b`},
		{"an acknowledgement names another record's offset", "violation ack-offset-wrong+inconsistent-offsets", `
			send A a
			ok A a@0
			send B b
			?? B b
			poll c 0-2 0=b 1=a`},
		{"an empty history", "unknown", ``},
		{"a history that only assigns", "unknown", `reset c 0-0 assign`},
		{"acknowledged and never read", "unknown", `
			send A a
			ok A a@0`},
		{"a value nobody sent", "violation phantom", `
			send A a
			ok A a@0
			poll c 0-2 0=a 1=z`},
		{"twin: nobody's sends are shown", "pass", `
			poll c 0-2 0=a 1=z`},
		{"an acknowledged record is skipped by every reader", "violation int-poll-skip+lost-write", `
			send A a
			ok A a@0
			send A b
			ok A b@1
			send A c
			ok A c@2
			poll v 0-3 0=a 2=c drained
			poll w 0-3 0=a 2=c drained`},
		{"twin: it was never acknowledged and took no offset", "pass", `
			send A a
			ok A a@0
			send A b
			?? A b
			send A c
			ok A c@1
			poll v 0-2 0=a 1=c drained`},
		{"a hole at the end of a poll", "violation unexplained-gap", `
			send A a
			ok A a@0
			poll v 0-2 0=a drained`},
		{"a hole that no send explains", "violation unexplained-gap", `
			send A a
			ok A a@0
			send A c
			ok A c@2
			poll v 0-3 0=a 2=c drained`},
		{"twin: the topic is compacted", "pass", `
			profile topic t:cleanup.policy=compact
			send A a
			ok A a@0
			send A c
			ok A c@2
			poll v 0-3 0=a 2=c drained`},
		{"acks=1, lost unseen at a clean change of leader", "pass", `
			send A a acks=1
			ok A a@0 acks=1
			elect 2 e2 2,3 clean
			send B b acks=1
			ok B b@0 acks=1
			poll c 0-1 0=b drained`},
		{"twin: a reader had seen it", "violation inconsistent-offsets+vanished-read", `
			send A a acks=1
			ok A a@0 acks=1
			poll r 0-1 0=a
			elect 2 e2 2,3 clean
			send B b acks=1
			ok B b@0 acks=1
			poll c 0-1 0=b drained`},
		{"twin: it was acknowledged with acks=all", "violation inconsistent-offsets+lost-write", `
			send A a
			ok A a@0
			elect 2 e2 2,3 clean
			send B b
			ok B b@0
			poll c 0-1 0=b drained`},
		{"twin: the election was unclean", "excused inconsistent-offsets+lost-write", `
			send A a
			ok A a@0
			elect 2 e2 2 unclean
			send B b
			ok B b@0
			poll c 0-1 0=b drained`},
		{"a retry without idempotence writes twice", "pass", `
			send A a
			ok A a@1
			poll c 0-2 0=a 1=a`},
		{"twin: with idempotence", "violation duplicate", `
			profile producer A:enable.idempotence=true
			send A a
			ok A a@1
			poll c 0-2 0=a 1=a`},
		{"a poll repeats what the one before returned", "violation nonmonotonic-poll", `
			send A a
			ok A a@0
			send A b
			ok A b@1
			poll c 0-2 0=a 1=b
			poll c 1-2 1=b`},
		{"twin: after a seek", "pass", `
			send A a
			ok A a@0
			send A b
			ok A b@1
			poll c 0-2 0=a 1=b
			reset c 2-1 seek
			poll c 1-2 1=b`},
		{"a poll skips a record", "violation poll-skip", `
			send A a
			ok A a@0
			send A b
			ok A b@1
			poll c 0-0
			poll c 1-2 1=b drained
			poll v 0-2 0=a 1=b drained`},
		{"twin: after a seek over it", "pass", `
			send A a
			ok A a@0
			send A b
			ok A b@1
			poll c 0-0
			reset c 0-1 seek
			poll c 1-2 1=b drained
			poll v 0-2 0=a 1=b drained`},
		{"a wait ran out of time", "unknown", `
			send A a
			ok A a@0
			wait-failed wait leader t-0 = 2
			poll c 0-1 0=a drained`},
		{"a violation stands though a wait ran out of time", "violation inconsistent-offsets", `
			send A a
			ok A a@0
			send B b
			ok B b@0
			wait-failed wait leader t-0 = 2`},
		{"a state machine stopped itself", "violation invariant", `
			send A a
			ok A a@0
			poll c 0-1 0=a drained
			invariant 2 high watermark 5 above log end 4`},
		{"an attempt is sent twice", "unknown", `
			send A a
			send B a
			ok A a@0
			poll c 0-1 0=a drained`},
		{"a send ends that never began", "unknown", `
			ok A a@0
			poll c 0-1 0=a drained`},
		{"read to an end that lies before an acknowledged record", "unknown", `
			send A a
			ok A a@0
			send A b
			ok A b@1
			poll c 0-1 0=a drained`},
		{"twin: the read took place before", "pass", `
			send A a
			ok A a@0
			poll c 0-1 0=a drained
			send A b
			ok A b@1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := checker.Check(history(t, c.text))
			if got := judged(r); got != c.want {
				t.Errorf("got %s, want %s%s", got, c.want, explain(r))
			}
		})
	}
}

func TestLossOfWeakAcknowledgementsIsANote(t *testing.T) {
	r := checker.Check(history(t, `
		send A a acks=1
		ok A a@0 acks=1
		send B b acks=1
		ok B b@0 acks=1
		poll c 0-1 0=b drained`))
	if r.Verdict != checker.Pass || len(r.Notes) != 1 || !strings.Contains(r.Notes[0].Text, "never promised") {
		t.Errorf("got %s%s", r.Verdict, explain(r))
	}
}

func TestCorruptValueIsFoundByItsHash(t *testing.T) {
	events := history(t, `
		send A a
		ok A a@0
		poll c 0-1 0=a drained`)
	events[2].Records[0].Hash++
	if r := checker.Check(events); judged(r) != "violation corrupt-value" {
		t.Errorf("got %s%s", judged(r), explain(r))
	}
}

func TestLostRecordsInARowAreOneFinding(t *testing.T) {
	r := checker.Check(history(t, `
		send A a
		ok A a@0
		send A b
		ok A b@1
		send A c
		ok A c@2
		send B d
		ok B d@3
		poll v 0-4 3=d drained`))
	for _, f := range r.Findings {
		if f.Rule == "lost-write" && (f.Offset != 0 || f.Last != 2 || f.Count != 3) {
			t.Errorf("got offsets %d to %d, %d records; want 0 to 2, 3", f.Offset, f.Last, f.Count)
		}
	}
	if len(r.Broken()) != 2 || len(r.Findings) != 2 {
		t.Errorf("want one lost-write and one gap%s", explain(r))
	}
}

// The poll saw offset 0 before anybody sent what was later acknowledged there.
func TestReadFromBeforeASendSaysNothingOfIt(t *testing.T) {
	r := checker.Check(history(t, `
		send A a acks=1
		poll r 0-1 0=a
		elect 2 e2 2,3 clean
		send B b acks=1
		ok B b@0 acks=1`))
	if r.Verdict != checker.Pass || len(r.Notes) != 0 {
		t.Errorf("got %s%s", judged(r), explain(r))
	}
}
