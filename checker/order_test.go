package checker_test

import (
	"strings"
	"testing"

	"tidemark/checker"
)

func TestOrderOfTheLogFollowsRealTime(t *testing.T) {
	for _, c := range []struct{ name, want, text string }{
		{"acknowledged, then another sent, which lies below", "violation real-time-inversion", `
			send A a
			ok A a@1
			send B b
			ok B b@0
			poll v 0-2 0=b 1=a drained`},
		{"twin: the sends overlap", "pass", `
			send A a
			send B b
			ok A a@1
			ok B b@0
			poll v 0-2 0=b 1=a drained`},
		{"nobody has to read them", "violation real-time-inversion", `
			send A a
			ok A a@1
			send B b
			ok B b@0`},
		{"a read proves a place as well as an acknowledgement", "violation real-time-inversion", `
			send A a
			poll r 1-2 1=a
			send B b
			?? A a
			ok B b@0
			poll v 0-2 0=b 1=a drained`},
		{"twin: it was read later", "pass", `
			send A a
			send B b
			poll r 1-2 1=a
			?? A a
			ok B b@0
			poll v 0-2 0=b 1=a drained`},
		{"three operations: the read had passed the offset", "violation real-time-inversion", `
			profile topic t:cleanup.policy=compact
			send A a
			ok A a@2
			poll r 0-3 2=a
			send B b
			ok B b@1
			poll v 0-3 1=b 2=a drained`},
		{"the end of a read proves that offsets are taken", "violation real-time-inversion", `
			profile topic t:cleanup.policy=compact
			send A a
			ok A a@0
			poll r 0-5 0=a
			send B b
			ok B b@3
			poll v 0-5 0=a 3=b drained`},
		{"twin: the read ended below", "pass", `
			profile topic t:cleanup.policy=compact
			send A a
			ok A a@0
			poll r 0-3 0=a
			send B b
			ok B b@3
			poll v 0-5 0=a 3=b drained`},
		{"acks=1 proves no place", "pass", `
			send A a acks=1
			ok A a@1 acks=1
			send B b
			ok B b@0
			poll v 0-2 0=b 1=a drained`},
		{"twin: it was read there", "violation real-time-inversion", `
			send A a acks=1
			ok A a@1 acks=1
			poll r 1-2 1=a
			send B b
			ok B b@0
			poll v 0-2 0=b 1=a drained`},
		{"a send of unknown outcome that nobody read has no place", "pass", `
			send A a
			?? A a
			send B b
			ok B b@0
			poll v 0-1 0=b drained`},
		{"above an offset with two records there is no order", "violation inconsistent-offsets+lost-write", `
			send A a
			ok A a@0
			send A b
			ok A b@1
			send A c
			ok A c@2
			send B d
			ok B d@1
			poll v 0-3 0=a 1=d 2=c drained`},
		{"twin: below it there is", "violation inconsistent-offsets+lost-write+real-time-inversion", `
			send A a
			ok A a@1
			send A b
			ok A b@2
			send A c
			ok A c@0
			send B d
			ok B d@2
			poll v 0-3 0=c 1=a 2=d drained`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := checker.Check(history(t, c.text))
			if got := judged(r); got != c.want {
				t.Errorf("got %s, want %s%s", got, c.want, explain(r))
			}
		})
	}
}

// After an unclean election the log is another one. The records of each are in
// order, and between them there is none to keep.
func TestAnUncleanElectionBeginsALineageOfItsOwn(t *testing.T) {
	const before = `
		send A a
		ok A a@0
		send A b
		ok A b@1
		poll r 0-2 0=a/e1 1=b/e1
		elect 2 e2 2 unclean`
	for _, c := range []struct{ name, want, after string }{
		{"the new log gives the offsets away", "excused inconsistent-offsets+lost-write", `
			send B c
			ok B c@0
			poll v 0-1 0=c/e2 drained`},
		{"twin: the election was clean", "violation inconsistent-offsets+leader-epoch-regression+leader-in-isr+lost-write", `
			elect 3 e3 3 clean
			send B c
			ok B c@0
			poll v 0-1 0=c/e3 drained`},
		{"order within the new log", "violation real-time-inversion", `
			send B c
			ok B c@3
			poll v 3-4 3=c/e2
			send C d
			ok C d@2
			poll w 0-4 0=a/e1 1=b/e1 2=d/e2 3=c/e2 drained`},
		{"twin: what the old leader acknowledged is no measure", "pass", `
			send B c
			reset r 2-3 seek
			poll r 3-4 3=c/e1
			?? B c
			send C d
			ok C d@2
			poll w 0-3 0=a/e1 1=b/e1 2=d/e2 drained`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := before + c.after
			if strings.Contains(c.name, "clean") {
				text = strings.Replace(text, "2 unclean", "2 clean", 1)
			}
			r := checker.Check(history(t, text))
			if got := judged(r); got != c.want {
				t.Errorf("got %s, want %s%s", got, c.want, explain(r))
			}
		})
	}
}

func TestFindingShowsTheOrderThatPorcupineGotTo(t *testing.T) {
	r := checker.Check(history(t, `
		send A a
		ok A a@0
		send A b
		ok A b@2
		send B c
		ok B c@1`))
	want := `t-0: attempt 3 of B was sent (event 5) after attempt 2 of A had been acknowledged at offset 2 (event 4), and yet lies at offset 1 (acknowledged at event 6); ` +
		`porcupine can order 1 of 3 operations (attempt 1 of A at offset 0); then attempt 2 of A at offset 2 does not fit`
	if len(r.Findings) != 1 || r.Findings[0].Text != want {
		t.Errorf("want %s%s", want, explain(r))
	}
}
