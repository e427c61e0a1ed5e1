package reports_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/reports"
)

const toldTruncation = `R1  orders-0

     0.5120 s     #5  the controller creates orders-0: leader 2, epoch 0, ISR 1,2,3
     0.5124 s     #6  broker 2 leads epoch 0 from offset 0 on, high watermark 0
     0.5125 s     #7  broker 1 follows in epoch 0, log end 0, high watermark 0
     0.5125 s     #8  broker 3 follows in epoch 0, log end 0, high watermark 0
     0.7038 s         log end 1 on 1,2,3; high watermark 1 on 1,2,3; p has 1 ack, up to offset 0
     0.9000 s    #17  fault: hold 2 -> 1 fetch answer
     0.9528 s         log end 2 on 1,2,3; high watermark 2 on 2
>    0.9532 s    #23  p: attempt 2 is acknowledged at offset 1 (acks=all)
     1.2000 s    #24  the controller elects broker 3 in epoch 1 (preferred), ISR 1,2,3
     1.2006 s    #25  broker 3 leads epoch 1 from offset 2 on, high watermark 1
     1.2007 s    #26  broker 1 follows in epoch 1, log end 2, high watermark 1
>    1.2007 s    #27  broker 1 truncates its log from 2 to 1, to its high watermark
     1.2009 s    #28  broker 2 follows in epoch 1, log end 2, high watermark 2
     1.2010 s    #29  broker 3 dies: kill
    10.2040 s    #30  the controller elects broker 1 in epoch 2 (clean), ISR 1,2
>   10.2045 s    #31  broker 1 leads epoch 2 from offset 1 on, high watermark 1
    10.3007 s         log end 2 on 1
    10.3010 s    #34  broker 2 follows in epoch 2, log end 2, high watermark 2
    10.3025 s         high watermark 2 on 1; p has 1 more ack, up to offset 1
    11.0000 s    #37  broker 3 starts
    11.1000 s    #38  broker 3 opens its log, which ends at 2, after an unclean stop
    12.4000 s    #39  broker 3 follows in epoch 2, log end 2, high watermark 1
    12.4001 s    #40  broker 3 truncates its log from 2 to 1, to its high watermark
    12.4020 s         log end 2 on 3
    12.4100 s    #42  the controller commits ISR 1,2,3
    12.4110 s         high watermark 2 on 3
    13.0040 s    #45  verify has read 0 to 2, the end

verdict: violation
  lost-write: orders-0: attempt 2 of p, acknowledged with acks=all at offset 1 (event 23), is lost: broker 1 truncated its log from 2 to 1 (to its high watermark) (event 27) and became leader in epoch 2 (event 31); verify read another record there (event 45)
    offset 1 of orders-0: acknowledged at event 23 (0.9532 s), lost at event 27 (1.2007 s), sealed by the election at event 31 (10.2045 s)
  inconsistent-offsets: orders-0: offset 1 has two values: attempt 2 of p was acknowledged there (event 23), and attempt 3 of p was acknowledged there (event 36); porcupine can order 2 of 4 operations (attempt 1 of p at offset 0, attempt 2 of p at offset 1); then attempt 3 of p at offset 1 does not fit
  LeaderCompleteness: orders-0: broker 1 became leader in epoch 2 without committed record 1, which broker 2 had committed in epoch 0: broker 1 truncated its log from 2 to 1 (to its high watermark)
  HWMonotone: orders-0: the high watermark fell from 2 to at most 1: the log of broker 1, leader of epoch 2, ends there
replay: tidemark run R1 --seed 1`

func TestNarrativeTellsTheStory(t *testing.T) {
	events := highWatermarkTruncation()
	got := reports.Narrative(events, checker.Check(events), reports.Options{Title: "R1", Replay: "tidemark run R1 --seed 1"})
	if d := cmp.Diff(strings.Split(toldTruncation, "\n"), got); d != "" {
		t.Error(d)
	}
}

// A long run with much ado: the narrative keeps to its forty lines, and what
// is left of it still says who was promised what and where it went.
func TestNarrativeOfALongRunKeepsItsWitnesses(t *testing.T) {
	s := &story{events: highWatermarkTruncation()}
	for i := range int64(300) {
		at := 14_000_000 + i*100_000
		s.isr(at, 1, 2, 1, 2)
		s.add(at+1000, event.Fault, 1, func(e *event.Event) { e.Text = "cut 1 <-> 2" })
		s.append(at+2000, 1, 2, kafka.Offset(2+i), kafka.Offset(3+i), uint64(50+i), "leader")
		s.isr(at+3000, 1, 2, 1, 2, 3)
	}
	lines := reports.Narrative(s.events, checker.Check(s.events), reports.Options{Title: "long", Replay: "tidemark run long"})
	if len(lines) > 40 {
		t.Errorf("%d lines", len(lines))
	}
	told := strings.Join(lines, "\n")
	for _, want := range []string{"#23  p: attempt 2 is acknowledged", "#27  broker 1 truncates", "#31  broker 1 leads", "quieter lines left out",
		"lost at event 27", "replay: tidemark run long"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing in\n%s", want, told)
		}
	}
}

func TestNarrativeNamesThePremiseThatExcuses(t *testing.T) {
	events := crowdedRun()
	told := strings.Join(reports.Narrative(events, checker.Check(events), reports.Options{}), "\n")
	for _, want := range []string{"verdict: excused", "(excused: unclean election of broker 2 in epoch 2)", "without a leader in epoch 1"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing in\n%s", want, told)
		}
	}
}

func TestNarrativeOfAnEmptyRunIsItsVerdict(t *testing.T) {
	got := reports.Narrative(nil, checker.Check(nil), reports.Options{Replay: "tidemark run nothing"})
	want := []string{"verdict: unknown", "  unknown: vacuous: nothing in this run could be judged", "replay: tidemark run nothing"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	titled := reports.Narrative(nil, checker.Check(nil), reports.Options{Title: "nothing", Replay: "tidemark run nothing"})
	if d := cmp.Diff(append([]string{"nothing", ""}, want...), titled); d != "" {
		t.Error(d)
	}
}

func TestNarrativeHasWordsForWhatSeldomHappens(t *testing.T) {
	events := restlessRun()
	told := strings.Join(reports.Narrative(events, checker.Check(events), reports.Options{}), "\n")
	for _, want := range []string{
		"p has 1 failed send (NOT_ENOUGH_REPLICAS), 1 send of unknown outcome (REQUEST_TIMED_OUT)",
		"broker 2 is paused", "broker 2 goes on", "the controller fences broker 2", "the controller unfences broker 2",
		"the controller refuses an ISR of broker 1: INVALID_UPDATE_VERSION", "the log directory of broker 1 fails: input/output error",
		"c has read up to 1", "c learns that its position 1 was cut off: the log diverged at 0", "c: position 1 is reset to 0 (truncated)",
		"the wait of line 9 runs out of time: wait leader orders-0 = 2", "controller 101 stops on a broken invariant: epoch 3 after epoch 4",
		"verdict: violation",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing in\n%s", want, told)
		}
	}
}

func TestNarrativeTellsACutOfBothDirectionsOnce(t *testing.T) {
	s := &story{}
	s.elect(1000, 1, 0, "create", 1, 2)
	s.role(1100, event.BecameLeader, 1, 0, 0, 0)
	s.add(2000, event.Fault, 1, func(e *event.Event) { e.Text = "cut 1 -> 2" })
	s.add(2000, event.Fault, 2, func(e *event.Event) { e.Text = "cut 2 -> 1" })
	s.add(2000, event.Fault, 1, func(e *event.Event) { e.Text = "cut 1 -> 3" })
	told := strings.Join(reports.Narrative(s.events, checker.Check(s.events), reports.Options{}), "\n")
	if strings.Count(told, "cut 1 <-> 2") != 1 || strings.Contains(told, "2 -> 1") || !strings.Contains(told, "cut 1 -> 3") {
		t.Error(told)
	}
}

func TestNarrativeOfManyFindingsTellsTheFirstAndCountsTheRest(t *testing.T) {
	s := &story{}
	for i := range kafka.Offset(20) {
		s.send(int64(i)*1000, event.SendInvoke, "p", uint64(2*i+1), -1)
		s.send(int64(i)*1000+1, event.SendInvoke, "p", uint64(2*i+2), -1)
		s.send(int64(i)*1000+2, event.SendOK, "p", uint64(2*i+1), 3*i)
		s.send(int64(i)*1000+3, event.SendOK, "p", uint64(2*i+2), 3*i)
	}
	lines := reports.Narrative(s.events, checker.Check(s.events), reports.Options{Replay: "tidemark run many"})
	told := strings.Join(lines, "\n")
	if len(lines) > 40 || !strings.Contains(told, "and 14 more findings") || !strings.Contains(told, "replay: tidemark run many") {
		t.Errorf("got %d lines\n%s", len(lines), told)
	}
}
