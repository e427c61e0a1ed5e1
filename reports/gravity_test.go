package reports_test

import (
	"fmt"
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/reports"
)

// crowd is a run on several partitions, each with a leader that took as many
// records as its number says.
func crowd(records ...kafka.Offset) *story {
	s := &story{}
	for i, n := range records {
		in := func(us int64, k event.Kind, set func(*event.Event)) {
			s.of(us, k, 1, func(e *event.Event) { e.Partition = int32(i); set(e) })
		}
		in(1000, event.Elected, func(e *event.Event) { e.Peer, e.Epoch, e.Text, e.ISR = 1, 0, "create", []kafka.BrokerID{1} })
		in(1100, event.BecameLeader, func(e *event.Event) { e.Epoch, e.End, e.HighWatermark = 0, 0, 0 })
		for o := range n {
			in(2000, event.Appended, func(e *event.Event) { e.Offset, e.End, e.Epoch, e.Text = o, o+1, 0, "leader" })
		}
	}
	return s
}

// finding is one on a partition of the crowd.
func finding(v checker.Verdict, rule string, partition int32) checker.Finding {
	f := checker.Finding{Rule: rule, Verdict: v, TP: kafka.TopicPartition{Topic: "orders", Partition: partition}}
	f.Text = fmt.Sprintf("%s %s on %v", v, rule, f.TP)
	if v == checker.Excused {
		f.Premise = "unclean election"
	}
	return f
}

// mixed has a violation of each sort behind what an unclean election excuses.
func mixed() ([]event.Event, checker.Report) {
	rep := checker.Report{Verdict: checker.Violation}
	for range 10 {
		rep.Findings = append(rep.Findings, finding(checker.Excused, "HWMonotone", 0))
	}
	rep.Findings = append(rep.Findings, finding(checker.Excused, "lost-write", 0),
		finding(checker.Violation, "HWMonotone", 1), finding(checker.Violation, "lost-write", 2))
	return crowd(9, 3, 1).events, rep
}

func TestViolationsAreToldBeforeWhatIsExcusedAndLostWritesFirst(t *testing.T) {
	events, rep := mixed()
	told := strings.Join(reports.Narrative(events, rep, reports.Options{Title: "mixed"}), "\n")
	expect(t, told, "mixed  orders-2, 1 of 3 partitions\n",
		"verdict: violation\n  lost-write: violation lost-write on orders-2\n  HWMonotone: violation HWMonotone on orders-1\n"+
			"  lost-write: excused lost-write on orders-0", "\n  and 7 more findings")
	for range 8 {
		rep.Findings = append(rep.Findings, finding(checker.Violation, "HWMonotone", 1))
	}
	expect(t, strings.Join(reports.Narrative(events, rep, reports.Options{Replay: "x"}), "\n"), "and 15 more findings, of which 4 violations")
}

func TestThePictureIsOfTheViolationNotOfWhatIsExcused(t *testing.T) {
	events, rep := mixed()
	p, err := reports.Timeline(events, rep, reports.Options{Title: "mixed"})
	if err != nil {
		t.Fatal(err)
	}
	svg, err := p.SVG()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(texts(t, string(svg)), "\n")
	expect(t, words, "mixed  ·  orders-2, 1 of 3 partitions", "lost-write: violation lost-write on orders-2")
	refuse(t, words, "excused lost-write")
}

// A violation without a partition is told above a picture of what is excused.
func TestTheHeadlineIsTheViolationOfTheRunAsAWhole(t *testing.T) {
	s := &story{events: crowdedRun()}
	s.add(99_000_000, event.Invariant, 101, func(e *event.Event) { e.Text = "epoch 3 after epoch 4" })
	words := strings.Join(texts(t, draw(t, s.events, reports.Options{})), "\n")
	expect(t, words, "epoch 3 after epoch 4", "orders-0")
	refuse(t, words, "lost-write: ")
}

func TestOfManyPartitionsTheOneWithTheMostRecordsIsShown(t *testing.T) {
	pass := checker.Report{Verdict: checker.Pass}
	for want, records := range map[string][]kafka.Offset{ // unordered: each stands alone
		"orders-2, 1 of 4 partitions": {0, 1, 7, 7},
		"orders-0, 1 of 2 partitions": {0, 0},
	} {
		if got := reports.Narrative(crowd(records...).events, pass, reports.Options{})[0]; got != want {
			t.Errorf("the title is %q, want %q", got, want)
		}
	}
	if got := reports.Narrative(crowd(3).events, pass, reports.Options{})[0]; got != "orders-0" {
		t.Errorf("the title of a lone partition is %q", got)
	}
}

// Sixteen causes, each of a range of its own: the acknowledgements do not crowd
// out what the controller did, and one label stands for all that one moment took.
func TestManyLossesLeaveRoomForElections(t *testing.T) {
	s := crowd(64)
	rep := checker.Report{Verdict: checker.Violation}
	for i := range kafka.Offset(16) {
		s.send(int64(3000+i), event.SendOK, "p", uint64(i+1), 4*i)
		f := finding(checker.Violation, "lost-write", 0)
		f.Client, f.Offset, f.Last, f.Count = "p", 4*i, 4*i+1, 2
		f.Acked = checker.Moment{Seq: uint64(len(s.events)), At: int64(3000+i) * 1000}
		rep.Findings = append(rep.Findings, f)
	}
	for i := range kafka.BrokerID(12) {
		s.add(int64(4000+i), event.Died, 50+i, func(e *event.Event) { e.Text = "kill" })
	}
	s.of(5000, event.Truncated, 1, func(e *event.Event) { e.Offset, e.End, e.Text = 64, 0, "diverging" })
	lost := checker.Moment{Seq: uint64(len(s.events)), At: 5_000_000, Node: 1}
	for i := range rep.Findings {
		rep.Findings[i].Lost, rep.Findings[i].Sealed = lost, checker.Moment{Seq: 10_000 + uint64(i), At: 9_000_000, Node: 2}
	}
	for i := range kafka.LeaderEpoch(8) {
		s.elect(6000+int64(i), 2, i+1, "clean", 2)
	}
	lines := reports.Narrative(s.events, rep, reports.Options{})
	told := strings.Join(lines, "\n")
	if n := strings.Count(told, "is acknowledged at offset"); n != 3 || len(lines) > 40 {
		t.Errorf("%d acknowledgements are told in %d lines:\n%s", n, len(lines), told)
	}
	expect(t, told, "is acknowledged at offset 8 (acks=all), and 29 more acknowledged records that did not last")
	if n := strings.Count(told, "elects broker 2"); n != 8 {
		t.Errorf("%d of 8 elections are told:\n%s", n, told)
	}
	p, err := reports.Timeline(s.events, rep, reports.Options{})
	if err != nil {
		t.Fatal(err)
	}
	svg, err := p.SVG()
	if err != nil {
		t.Fatal(err)
	}
	expect(t, strings.Join(texts(t, string(svg)), "\n"), "truncates 64→0 where the logs part, lost here: offsets 0 to 1 (event "+fmt.Sprint(lost.Seq)+") and 15 more")
}

func TestFailedStepsOfThePlanAreTold(t *testing.T) {
	fail := func(s *story, text string, code kafka.ErrorCode) {
		s.add(500, event.Effect, 1001, func(e *event.Event) { e.Client, e.Code, e.Text = "admin", code, text })
	}
	s := &story{}
	fail(s, "create topic t: INVALID_REPLICA_ASSIGNMENT: broker 1 twice", kafka.InvalidReplicaAssignment)
	expect(t, tell(s.events, reports.Options{}), "a step of the plan fails: create topic t: INVALID_REPLICA_ASSIGNMENT: broker 1 twice")
	s = crowd(1)
	fail(s, "elect preferred leader of orders-0: PREFERRED_LEADER_NOT_AVAILABLE", kafka.PreferredLeaderNotAvailable)
	s.of(600, event.Effect, 1001, func(e *event.Event) { e.Code, e.Text = kafka.NotLeaderOrFollower, "produce retry" })
	told := tell(s.events, reports.Options{})
	expect(t, told, "a step of the plan fails: elect preferred leader of orders-0: PREFERRED_LEADER_NOT_AVAILABLE")
	refuse(t, told, "produce retry")
}

func TestARecordThatFailsBeforeItHasAPartitionIsTold(t *testing.T) {
	refused := func(s *story) {
		for i := range int64(5) {
			s.of(3000+i, event.SendFail, 1001, func(e *event.Event) {
				e.Client, e.Partition, e.Acks, e.Code, e.Text = "p", -1, -1, kafka.MessageTooLarge, "xxxx"
			})
		}
	}
	s := crowd(1)
	refused(s)
	told := tell(s.events, reports.Options{})
	expect(t, told, `p: "xxxx" fails for certain: MESSAGE_TOO_LARGE`, "p has 4 failed sends (MESSAGE_TOO_LARGE)")
	if n := strings.Count(told, "fails for certain"); n != 1 {
		t.Errorf("%d lines for one reason:\n%s", n, told)
	}
	expect(t, strings.Join(texts(t, draw(t, s.events, reports.Options{})), "\n"), "MESSAGE_TOO_LARGE")
	s = &story{}
	refused(s)
	expect(t, tell(s.events, reports.Options{}), `p: "xxxx" fails for certain: MESSAGE_TOO_LARGE`)
}

// The controller also commits changes of the eligible leader replicas, after
// which the ISR is what it was.
func TestAnISRThatIsWhatItWasIsNotTold(t *testing.T) {
	s := &story{}
	s.elect(1000, 1, 0, "create", 1, 2)
	s.role(1100, event.BecameLeader, 1, 0, 0, 0)
	s.isr(2000, 1, 0, 2, 1)
	s.isr(3000, 1, 0, 1)
	s.isr(4000, 1, 0, 1)
	told := tell(s.events, reports.Options{})
	if n := strings.Count(told, "commits ISR"); n != 1 || !strings.Contains(told, "commits ISR 1\n") {
		t.Errorf("%d changes of the ISR are told, want 1:\n%s", n, told)
	}
	drawn := 0
	for _, w := range texts(t, draw(t, s.events, reports.Options{})) {
		if strings.HasPrefix(w, "ISR 1") || strings.HasPrefix(w, "ISR 2") {
			drawn++
		}
	}
	if drawn != 1 {
		t.Errorf("%d changes of the ISR are drawn, want 1", drawn)
	}
}
