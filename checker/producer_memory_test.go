package checker_test

import (
	"strings"
	"testing"

	"tidemark/checker"
)

// forgetful is a leader that is stopped and led again by itself, out of a
// snapshot, between the two copies of a and b; c is the batch behind them.
const forgetful = `
	profile producer A:enable.idempotence=true
	elect 1 e1 1 create
	lead 1 e1 end=0 hw=0
	send A a
	send A b
	append 1 e1 0-1 a leader
	append 1 e1 1-2 b leader
	died 1 stop
	recovered 1 end=2
	elect 1 e2 1 clean
	lead 1 e2 end=2 hw=2
	append 1 e2 2-3 a leader
	append 1 e2 3-4 b leader
	hw 1 0-4 leader
	ok A a@2
	ok A b@3
	poll r 0-4 0=a 1=b 2=a 3=b drained`

func TestADuplicateIsExcusedWhereTheLeaderKnewTheProducersLastBatchAlone(t *testing.T) {
	for _, c := range []struct{ name, want, from, to string }{
		{"it was opened again", "excused duplicate", "", ""},
		{"it cut its log", "excused duplicate", "recovered 1 end=2", "cut 1 3-2 diverging"},
		{"twin: it saw the first copies itself", "violation duplicate", "recovered 1 end=2", "recovered 1 end=0"},
		{"twin: another leader took them again, and saw the first ones", "violation duplicate", "died 1 stop\n\trecovered 1 end=2", "recovered 2 end=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := checker.Check(history(t, strings.Replace(forgetful, c.from, c.to, 1)))
			if judged(r) != c.want {
				t.Errorf("got %s, want %s%s", judged(r), c.want, explain(r))
			}
		})
	}
}

func TestTheLastBatchAloneIsNoExcuse(t *testing.T) {
	// Nothing of A lies behind b, so the snapshot told of b.
	r := checker.Check(history(t, `
		profile producer A:enable.idempotence=true
		elect 1 e1 1 create
		lead 1 e1 end=0 hw=0
		send A a
		send A b
		append 1 e1 0-1 a leader
		append 1 e1 1-2 b leader
		hw 1 0-2 leader
		ok A a@0
		died 1 stop
		recovered 1 end=2
		elect 1 e2 1 clean
		lead 1 e2 end=2 hw=2
		append 1 e2 2-3 b leader
		hw 1 0-3 leader
		ok A b@2
		poll r 0-3 0=a 1=b 2=b drained`))
	if judged(r) != "violation duplicate" {
		t.Errorf("got %s%s", judged(r), explain(r))
	}
}
