package checker_test

import (
	"strings"
	"testing"

	"tidemark/checker"
)

func TestADiskThatWasToldToFailExcusesWhatItLost(t *testing.T) {
	const comesBackEmpty = `
			recovered 3 end=0
			elect 3 e2 3 clean
			lead 3 e2 end=0 hw=0`
	for _, c := range []struct{ name, want, text string }{
		{"lost writes under a clean stop, which the controller trusts", "excused HWMonotone+LeaderCompleteness", `
			fault 3 disk 3 lose-writes t-*/*.log
			died 3 stop` + comesBackEmpty},
		{"twin: of another broker", "violation HWMonotone+LeaderCompleteness", `
			fault 2 disk 2 lose-writes t-*/*.log
			died 3 stop` + comesBackEmpty},
		{"twin: a fault that loses nothing", "violation HWMonotone+LeaderCompleteness", `
			fault 3 disk 3 capacity 1000
			died 3 stop` + comesBackEmpty},
		{"twin: the disk was replaced after that, and the new one is to be trusted", "violation HWMonotone+LeaderCompleteness", `
			fault 3 disk 3 lose-writes t-*/*.log
			fault 3 disk 3 heal
			died 3 wipe
			recovered 3 end=0
			follow 3 e1 end=0 hw=0
			append 3 e1 0-1 a
			append 3 e1 1-2 b
			died 3 stop` + comesBackEmpty},
		{"a failed fsync of one broker of two that were promised", "violation HWMonotone+LeaderCompleteness", `
			fault 3 disk 3 fsync-error gone *
			died 3 exit: shutdown broker because all log dirs have failed` + comesBackEmpty},
		{"a failed fsync and a power loss, of two brokers", "excused HWMonotone+LeaderCompleteness", `
			fault 3 disk 3 fsync-error gone *
			died 2 wipe
			died 3 exit: shutdown broker because all log dirs have failed` + comesBackEmpty},
		{"segments that cannot be read on a disk that rots", "excused audit", `
			fault 3 disk 3 rot t-*/*.log random: bit 3 of byte 7 of t-0/00000000000000000000.log
			audit 3 hw=2 0=a/e1 unreadable`},
		{"twin: on a sound one", "violation audit", `
			fault 3 disk 3 heal
			audit 3 hw=2 0=a/e1 unreadable`},
	} {
		r := checker.Check(history(t, twoCommitted+c.text))
		if got := judged(r); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTheFaultOfTheDiskIsNamedInTheExcuse(t *testing.T) {
	r := checker.Check(history(t, twoCommitted+`
			fault 3 disk 3 lose-writes t-*/*.log
			died 3 stop
			audit 3 hw=2 0=a/e1 unreadable
			recovered 3 end=0
			elect 3 e2 3 clean
			lead 3 e2 end=0 hw=0`))
	var premises []string
	for _, x := range r.Findings {
		premises = append(premises, x.Premise)
	}
	all := strings.Join(premises, "; ")
	for _, want := range []string{"the disk was told to fail: disk 3 lose-writes t-*/*.log", "broker 3 lost it after a clean stop, with a disk that had said to have it"} {
		if !strings.Contains(all, want) {
			t.Errorf("the premises %q lack %q", all, want)
		}
	}
}
