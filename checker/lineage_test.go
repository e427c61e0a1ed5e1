package checker_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/checker"
)

// Three brokers hold a and b, committed by broker 1 in epoch 1.
const twoCommitted = `
	profile min.insync.replicas=2
	elect 1 e1 1,2,3 create
	lead 1 e1 end=0 hw=0
	follow 2 e1 end=0 hw=0
	follow 3 e1 end=0 hw=0
	append 1 e1 0-1 a
	append 1 e1 1-2 b
	append 2 e1 0-1 a
	append 2 e1 1-2 b
	append 3 e1 0-1 a
	append 3 e1 1-2 b
	hw 1 0-2 leader
`

func TestLineagesGetTheirVerdicts(t *testing.T) {
	for _, c := range []struct{ name, want, text string }{
		{"followers copy what the leader committed", "pass", twoCommitted + `
			hw 2 0-2 follower
			hw 3 0-2 follower`},
		{"a follower holds another record below both high watermarks", "violation LogMatching", `
			elect 1 e1 1,2 create
			lead 1 e1 end=0 hw=0
			append 1 e1 0-1 a
			append 2 e1 0-1 z
			hw 1 0-1 leader
			hw 2 0-1 follower`},
		{"twin: above its high watermark", "pass", `
			elect 1 e1 1,2 create
			lead 1 e1 end=0 hw=0
			append 1 e1 0-1 a
			append 2 e1 0-1 z
			hw 1 0-1 leader`},
		{"the same bytes in another epoch are another record", "violation LogMatching", `
			elect 1 e1 1,2 create
			lead 1 e1 end=0 hw=0
			append 1 e1 0-1 a
			append 2 e0 0-1 a
			hw 1 0-1 leader
			hw 2 0-1 follower`},
		{"the difference lies deep and shows late", "violation LogMatching", twoCommitted + `
			cut 3 2-1 diverging
			append 3 e1 1-2 z
			hw 2 0-2 follower
			hw 3 0-1 follower
			hw 3 1-2 follower`},
		{"success comes after the high watermark", "pass", `
			elect 1 e1 1,2 create
			lead 1 e1 end=0 hw=0
			send p a
			append 1 e1 0-1 a
			hw 1 0-1 leader
			ok p a@0
			poll v 0-1 0=a drained`},
		{"twin: before it", "violation acked-before-commit", `
			elect 1 e1 1,2 create
			lead 1 e1 end=0 hw=0
			send p a
			append 1 e1 0-1 a
			ok p a@0
			hw 1 0-1 leader
			poll v 0-1 0=a drained`},
		{"twin: with acks=1 that is as promised", "pass", `
			elect 1 e1 1,2 create
			lead 1 e1 end=0 hw=0
			send p a
			append 1 e1 0-1 a
			ok p a@0 acks=1
			hw 1 0-1 leader
			poll v 0-1 0=a drained`},
		{"twin: it is read before it", "violation read-before-commit", `
			elect 1 e1 1,2 create
			lead 1 e1 end=0 hw=0
			send p a
			append 1 e1 0-1 a
			poll v 0-1 0=a drained
			hw 1 0-1 leader
			ok p a@0`},
		{"a clean leader holds everything", "pass", twoCommitted + `
			elect 2 e2 2,3 clean
			lead 2 e2 end=2 hw=0
			hw 2 0-2 leader`},
		{"a clean leader starts too short", "violation HWMonotone+LeaderCompleteness", twoCommitted + `
			cut 3 2-1 to-hw
			elect 3 e2 2,3 clean
			lead 3 e2 end=1 hw=0`},
		{"a clean leader of the right length holds another record", "violation LeaderCompleteness", twoCommitted + `
			cut 3 2-1 to-hw
			append 3 e2 1-2 z
			elect 3 e3 2,3 clean
			lead 3 e3 end=2 hw=0`},
		{"twin: an unclean leader", "excused LeaderCompleteness", twoCommitted + `
			cut 3 2-1 to-hw
			append 3 e2 1-2 z
			elect 3 e3 3 unclean
			lead 3 e3 end=2 hw=0`},
		{"a restarted leader reads its old epoch in old metadata and serves nobody", "pass", twoCommitted + `
			died 1 power
			boot 1
			recovered 1 end=0
			lead 1 e1 end=0 hw=0
			hw 1 0-0 leader
			elect 2 e2 2,3 clean
			registered 1
			follow 1 e2 end=0 hw=0
			lead 2 e2 end=2 hw=2
			append 1 e1 0-1 a
			append 1 e1 1-2 b
			hw 1 0-2 follower`},
		{"twin: it takes a record", "violation HWMonotone+LeaderCompleteness", twoCommitted + `
			died 1 power
			boot 1
			recovered 1 end=0
			lead 1 e1 end=0 hw=0
			append 1 e1 0-1 z leader`},
		{"twin: it is elected again", "violation HWMonotone+LeaderCompleteness", twoCommitted + `
			died 1 power
			boot 1
			recovered 1 end=0
			registered 1
			elect 1 e2 1 clean
			lead 1 e2 end=0 hw=0`},
		{"a broker is elected while it restarts and loses that leadership before it serves", "pass", twoCommitted + `
			died 1 power
			boot 1
			recovered 1 end=0
			elect 1 e2 1,2,3 clean
			lead 1 e2 end=0 hw=0
			registered 1
			elect 2 e3 2,3 clean
			lead 2 e3 end=2 hw=2
			follow 1 e3 end=0 hw=0`},
		{"it reads of that leadership when the controller has ended it", "pass", twoCommitted + `
			died 1 power
			boot 1
			recovered 1 end=0
			elect 1 e2 1,2,3 clean
			registered 1
			elect 2 e3 2,3 clean
			lead 1 e2 end=0 hw=0
			lead 2 e3 end=2 hw=2
			follow 1 e3 end=0 hw=0`},
		{"the last known leader is no clean one", "excused HWMonotone+LeaderCompleteness", twoCommitted + `
			died 3 power
			recovered 3 end=0
			elect 3 e2 3 last-known-leader
			lead 3 e2 end=0 hw=0`},
		{"one disk lost, two promised", "violation HWMonotone+LeaderCompleteness", twoCommitted + `
			died 3 power
			recovered 3 end=0
			elect 3 e2 3 clean
			lead 3 e2 end=0 hw=0`},
		{"two disks lost, two promised", "excused HWMonotone+LeaderCompleteness", twoCommitted + `
			died 2 wipe
			died 3 power
			recovered 3 end=0
			elect 3 e2 3 clean
			lead 3 e2 end=0 hw=0`},
		{"twin: the first had copied again what its disk lost", "violation HWMonotone+LeaderCompleteness", twoCommitted + `
			died 2 power
			recovered 2 end=1
			follow 2 e1 end=1 hw=0
			append 2 e1 1-2 b
			died 3 power
			recovered 3 end=0
			elect 3 e2 3 clean
			lead 3 e2 end=0 hw=0`},
		{"one disk lost, one promised", "excused HWMonotone+LeaderCompleteness", `
			profile topic t:min.insync.replicas=1` + strings.Replace(twoCommitted, "profile min.insync.replicas=2", "", 1) + `
			died 3 power
			recovered 3 end=0
			elect 3 e2 3 clean
			lead 3 e2 end=0 hw=0`},
		{"twin: the process was killed within a truncation", "violation HWMonotone+LeaderCompleteness", `
			profile topic t:min.insync.replicas=1` + strings.Replace(twoCommitted, "profile min.insync.replicas=2", "", 1) + `
			died 3 kill
			recovered 3 end=0
			elect 3 e2 3 clean
			lead 3 e2 end=0 hw=0`},
		{"an excused cut does not excuse what comes after", "violation HWMonotone+LeaderCompleteness+leader-in-isr", twoCommitted + `
			cut 3 2-1 to-hw
			elect 3 e2 3 unclean
			lead 3 e2 end=1 hw=1
			follow 2 e2 end=2 hw=2
			cut 2 2-1 diverging
			append 3 e2 1-2 y
			append 2 e2 1-2 y
			hw 3 1-2 leader
			cut 2 2-1 to-hw
			elect 2 e3 2,3 clean
			lead 2 e3 end=1 hw=1`},
		{"after an unclean election the old leader is given time to truncate", "excused HWMonotone+LeaderCompleteness", twoCommitted + `
			hw 2 0-2 follower
			cut 3 2-1 to-hw
			elect 3 e2 3 unclean
			lead 3 e2 end=1 hw=1
			append 3 e2 1-2 y
			hw 3 1-2 leader
			follow 2 e2 end=2 hw=2
			cut 2 2-1 diverging
			append 2 e2 1-2 y
			hw 2 1-2 follower`},
		{"twin: it fetches on without truncating", "violation LogMatching", twoCommitted + `
			hw 2 0-2 follower
			cut 3 2-1 to-hw
			elect 3 e2 3 unclean
			lead 3 e2 end=1 hw=1
			append 3 e2 1-2 y
			hw 3 1-2 leader
			follow 2 e2 end=2 hw=2
			append 3 e2 2-3 x
			append 2 e2 2-3 x
			hw 2 2-3 follower`},
		{"twin: it appends without truncating, though its high watermark stays", "violation LogMatching", twoCommitted + `
			hw 2 0-2 follower
			cut 3 2-1 to-hw
			elect 3 e2 3 unclean
			lead 3 e2 end=1 hw=1
			append 3 e2 1-2 y
			hw 3 1-2 leader
			follow 2 e2 end=2 hw=2
			append 3 e2 2-3 x
			append 2 e2 2-3 x`},
		{"twin: it is taken into the ISR without truncating", "violation LogMatching", twoCommitted + `
			hw 2 0-2 follower
			cut 3 2-1 to-hw
			elect 3 e2 3 unclean
			lead 3 e2 end=1 hw=1
			append 3 e2 1-2 y
			hw 3 1-2 leader
			follow 2 e2 end=2 hw=2
			isr 3 e2 2,3`},
		{"a leader moves its high watermark back", "violation HWMonotone", twoCommitted + `
			hw 1 2-1 leader`},
		{"twin: a follower may", "pass", twoCommitted + `
			hw 2 0-2 follower
			hw 2 2-1 follower`},
		{"a leader truncates what it committed", "violation HWMonotone", twoCommitted + `
			cut 1 2-1 diverging`},
		{"two leaders in one epoch", "violation OneLeaderPerEpoch", twoCommitted + `
			lead 2 e1 end=2 hw=0`},
		{"twin: in two epochs", "pass", twoCommitted + `
			lead 2 e2 end=2 hw=0`},
		{"a superseded leader commits what its successor lacks", "violation LeaderCompleteness", twoCommitted + `
			elect 2 e2 1,2,3 clean
			lead 2 e2 end=2 hw=0
			append 1 e1 2-3 c
			hw 1 2-3 leader`},
		{"twin: its successor holds it", "pass", twoCommitted + `
			append 1 e1 2-3 c
			append 2 e1 2-3 c
			elect 2 e2 1,2,3 clean
			lead 2 e2 end=3 hw=0
			hw 1 2-3 leader`},
		{"twin: its successor was elected uncleanly", "excused LeaderCompleteness", twoCommitted + `
			elect 2 e2 2 unclean
			lead 2 e2 end=2 hw=0
			append 1 e1 2-3 c
			hw 1 2-3 leader`},
		{"a crash hid an append", "pass", twoCommitted + `
			died 2 crash
			recovered 2 end=3
			elect 2 e2 2,3 clean
			lead 2 e2 end=3 hw=0
			hw 2 0-3 leader`},
		{"segments agree with claims and with each other", "pass", twoCommitted + `
			hw 2 0-2 follower
			audit 1 hw=2 0=a/e1 1=b/e1
			audit 2 hw=2 0=a/e1 1=b/e1`},
		{"segments end before the claim", "violation audit", twoCommitted + `
			audit 1 hw=1 0=a/e1`},
		{"segments hold another epoch than was appended", "violation audit", twoCommitted + `
			audit 1 hw=2 0=a/e1 1=b/e0`},
		{"segments have a hole", "violation audit", `
			elect 1 e1 1 create
			lead 1 e1 end=0 hw=0
			append 1 e1 0-3 abc
			audit 1 hw=3 0=a/e1 2=c/e1`},
		{"a high watermark lies above the segments", "violation audit", twoCommitted + `
			audit 1 hw=3 0=a/e1 1=b/e1`},
		{"segments differ below both high watermarks", "violation LogMatching", twoCommitted + `
			hw 2 0-2 follower
			audit 1 hw=2 0=a/e1 1=b/e1
			audit 2 hw=2 0=a/e1 1=c/e1`},
		{"twin: above one of them", "pass", twoCommitted + `
			audit 1 hw=2 0=a/e1 1=b/e1
			audit 2 hw=1 0=a/e1 1=c/e1`},
		{"a log shrinks and nothing says why", "violation audit", twoCommitted + `
			died 3 kill
			follow 3 e2 end=0 hw=0`},
		{"twin: its disk lost power with the directory", "pass", twoCommitted + `
			died 3 power
			follow 3 e2 end=0 hw=0`},
		{"twin: its disk was wiped", "pass", twoCommitted + `
			died 3 wipe
			follow 3 e2 end=0 hw=0`},
		{"a segment cannot be read", "violation audit", twoCommitted + `
			audit 1 hw=2 0=a/e1 1=b/e1 unreadable`},
		{"after an unclean election, disks differ until the old leader truncates", "excused HWMonotone+LeaderCompleteness", twoCommitted + `
			hw 2 0-2 follower
			cut 3 2-1 to-hw
			elect 3 e2 3 unclean
			lead 3 e2 end=1 hw=1
			append 3 e2 1-2 y
			hw 3 1-2 leader
			audit 2 hw=2 0=a/e1 1=b/e1
			audit 3 hw=2 0=a/e1 1=y/e2`},
		{"twin: after a clean one they never may", "violation HWMonotone+LeaderCompleteness+LogMatching", twoCommitted + `
			hw 2 0-2 follower
			cut 3 2-1 to-hw
			elect 3 e2 2,3 clean
			lead 3 e2 end=1 hw=1
			append 3 e2 1-2 y
			hw 3 1-2 leader
			audit 2 hw=2 0=a/e1 1=b/e1
			audit 3 hw=2 0=a/e1 1=y/e2`},
		{"a follower below the log start starts its log anew", "pass", twoCommitted + `
			append 1 e1 2-3 c
			append 3 e1 2-3 c
			cut 2 2-3 full
			append 1 e1 3-4 d
			append 2 e1 3-4 d
			append 3 e1 3-4 d
			hw 1 2-4 leader
			hw 2 3-4 follower`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := checker.Check(history(t, c.text))
			if got := judged(r); got != c.want {
				t.Errorf("got %s, want %s%s", got, c.want, explain(r))
			}
		})
	}
}

// The story of KIP-101: a follower truncates to its high watermark and is then
// elected. Event numbers are those of the lines.
const highWatermarkTruncation = `
	profile min.insync.replicas=2
	elect 2 e1 1,2,3 create
	lead 2 e1 end=0 hw=0
	send p a
	append 2 e1 0-1 a
	append 1 e1 0-1 a
	append 3 e1 0-1 a
	hw 2 0-1 leader
	ok p a@0
	elect 3 e2 1,2,3 preferred
	lead 3 e2 end=1 hw=0
	follow 1 e2 end=1 hw=0
	cut 1 1-0 to-hw
	died 3 kill
	elect 1 e3 1,2 clean
	lead 1 e3 end=0 hw=0
	send p b
	append 1 e3 0-1 b
	hw 1 0-1 leader
	ok p b@0
	poll v 0-1 0=b drained
`

func TestLostWriteNamesTheEventThatDoomedIt(t *testing.T) {
	r := checker.Check(history(t, highWatermarkTruncation))
	if got, want := judged(r), "violation HWMonotone+LeaderCompleteness+inconsistent-offsets+lost-write"; got != want {
		t.Fatalf("got %s, want %s%s", got, want, explain(r))
	}
	i := 0
	for r.Findings[i].Rule != "lost-write" {
		i++
	}
	got := r.Findings[i]
	type witness struct {
		acked, lost, sealed uint64
		client              string
		attempt             uint64
		text                string
	}
	want := witness{9, 13, 16, "p", 1, "t-0: attempt 1 of p, acknowledged with acks=all at offset 0 (event 9), is lost: " +
		"broker 1 truncated its log from 1 to 0 (to-hw) (event 13) and became leader in epoch 3 (event 16); v read another record there (event 21)"}
	if d := cmp.Diff(want, witness{got.Acked.Seq, got.Lost.Seq, got.Sealed.Seq, got.Client, got.Attempt, got.Text}, cmp.AllowUnexported(witness{})); d != "" {
		t.Error(d)
	}
}

func TestSameStoryWithoutTheTruncationPasses(t *testing.T) {
	story := strings.NewReplacer("cut 1 1-0 to-hw", "", "lead 1 e3 end=0 hw=0", "lead 1 e3 end=1 hw=0", "append 1 e3 0-1 b", "append 1 e3 1-2 b",
		"hw 1 0-1 leader", "hw 1 0-2 leader", "ok p b@0", "ok p b@1", "poll v 0-1 0=b", "poll v 0-2 0=a 1=b").Replace(highWatermarkTruncation)
	if r := checker.Check(history(t, story)); r.Verdict != checker.Pass {
		t.Errorf("got %s%s", judged(r), explain(r))
	}
}

// Nothing was written after the loss: no later offset shows that the record is
// gone, but the lineage does.
func TestLostTailIsFoundByTheLineage(t *testing.T) {
	story, _, _ := strings.Cut(highWatermarkTruncation, "send p b")
	r := checker.Check(history(t, story+"poll v 0-0 drained"))
	if got, want := judged(r), "violation HWMonotone+LeaderCompleteness+lost-write"; got != want {
		t.Errorf("got %s, want %s%s", got, want, explain(r))
	}
}

func TestPremiseIsNamedInAnExcusedLoss(t *testing.T) {
	r := checker.Check(history(t, strings.Replace(highWatermarkTruncation, "elect 1 e3 1,2 clean", "elect 1 e3 1 unclean", 1)))
	if got, want := judged(r), "excused HWMonotone+LeaderCompleteness+inconsistent-offsets+lost-write"; got != want {
		t.Fatalf("got %s, want %s%s", got, want, explain(r))
	}
	for _, f := range r.Findings {
		if f.Premise != "unclean election of broker 1 in epoch 3" {
			t.Errorf("%s is excused by %q", f.Rule, f.Premise)
		}
	}
}

// No leader lacks the record: it never was committed, though it was acknowledged.
func TestAcknowledgedRecordThatWasNeverCommittedNamesItsTruncation(t *testing.T) {
	r := checker.Check(history(t, `
		elect 1 e1 1,2 create
		lead 1 e1 end=0 hw=0
		send p a
		append 1 e1 0-1 a
		ok p a@0
		elect 2 e2 1,2 clean
		lead 2 e2 end=0 hw=0
		follow 1 e2 end=1 hw=0
		cut 1 1-0 diverging
		send p b
		append 2 e2 0-1 b
		append 1 e2 0-1 b
		hw 2 0-1 leader
		ok p b@0
		poll v 0-1 0=b drained`))
	if got, want := judged(r), "violation acked-before-commit+inconsistent-offsets+lost-write"; got != want {
		t.Fatalf("got %s, want %s%s", got, want, explain(r))
	}
	if f := r.Findings[1]; f.Rule != "lost-write" || f.Lost.Seq != 9 {
		t.Errorf("want a lost-write at event 9%s", explain(r))
	}
}

// Replica 2 loses it first. What replica 3 lost before the acknowledgement does
// not count, nor what lay below or above the record.
func TestLossIsToldByTheFirstReplicaThatLostTheRecord(t *testing.T) {
	r := checker.Check(history(t, `
		elect 1 e1 1,2,3,4 create
		lead 1 e1 end=0 hw=0
		send q z
		append 1 e1 0-1 z
		append 2 e1 0-1 z
		append 3 e1 0-1 z
		send p a
		append 1 e1 1-2 a
		append 3 e1 1-2 a
		cut 3 2-1 diverging
		ok p a@1
		cut 3 1-0 diverging
		append 2 e1 1-2 a
		append 2 e1 2-3 z
		cut 2 3-2 diverging
		append 3 e1 0-1 z
		append 3 e1 1-2 a
		elect 4 e2 1,2,3,4 clean
		lead 4 e2 end=0 hw=0
		cut 2 2-0 diverging
		cut 1 2-0 diverging
		cut 3 2-0 diverging
		send p b
		send p c
		append 4 e2 0-1 b
		append 4 e2 1-2 c
		hw 4 0-2 leader
		poll v 0-2 0=b 1=c drained`))
	const cutOf2 = 20
	for _, f := range r.Findings {
		if f.Rule == "lost-write" && f.Lost.Seq == cutOf2 && f.Node == 2 {
			return
		}
	}
	t.Errorf("want a lost-write at event %d of broker 2%s", cutOf2, explain(r))
}

func TestEachPartitionIsJudgedByItself(t *testing.T) {
	events := history(t, `
		send A a
		ok A a@0
		send B b
		ok B b@0
		poll c 0-1 0=a drained
		poll d 0-1 0=b drained`)
	for _, i := range []int{2, 3, 5} {
		events[i].Partition = 1
	}
	if r := checker.Check(events); r.Verdict != checker.Pass {
		t.Errorf("got %s%s", judged(r), explain(r))
	}
}

func TestLastingMismatchIsFoundOnce(t *testing.T) {
	r := checker.Check(history(t, `
		elect 1 e1 1,2 create
		lead 1 e1 end=0 hw=0
		append 1 e1 0-1 a
		append 2 e1 0-1 z
		hw 1 0-1 leader
		hw 2 0-1 follower
		append 1 e1 1-2 b
		append 2 e1 1-2 b
		hw 1 1-2 leader
		hw 2 1-2 follower`))
	if len(r.Findings) != 1 || r.Findings[0].Seq != 6 || r.Findings[0].Offset != 0 {
		t.Errorf("want one finding, of event 6%s", explain(r))
	}
}

func TestAWipedDiskIsTheLossOfItsBrokerAndNotOfTheNextLeader(t *testing.T) {
	r := checker.Check(history(t, twoCommitted+`
		died 2 wipe
		elect 2 e2 2 clean
		lead 2 e2 end=0 hw=0`))
	if len(r.Findings) == 0 || !strings.Contains(r.Findings[0].Text+explain(r), "broker 2 lost its disk") {
		t.Fatalf("no word of the disk of broker 2:%s", explain(r))
	}
}
