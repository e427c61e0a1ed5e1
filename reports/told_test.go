package reports_test

import (
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/reports"
)

func tell(events []event.Event, o reports.Options) string {
	return strings.Join(reports.Narrative(events, checker.Check(events), o), "\n")
}

func expect(t *testing.T, told string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing in\n%s", want, told)
		}
	}
}

func refuse(t *testing.T, told string, unwanted ...string) {
	t.Helper()
	for _, bad := range unwanted {
		if strings.Contains(told, bad) {
			t.Errorf("%q should not be in\n%s", bad, told)
		}
	}
}

func TestNarrativeTellsWhatBecomesOfALogBesideItsEnd(t *testing.T) {
	told := tell(keptRun(), reports.Options{})
	expect(t, told, "broker 1 compacts its log from 2 up to 5", "every replica compacts its log from 0 up to 6",
		"broker 1 moves its log start to 3 (retention)", "admin is told that the log starts at 4 on every live replica (delete-records)",
		"the log directory of broker 2 fails: input/output error")
}

func TestNarrativeTellsOneCauseOnceAndListsItsRanges(t *testing.T) {
	told := tell(tornTail(), reports.Options{})
	expect(t, told, "lost-write of 4 ranges in 3..", "offsets 3 to 10, 14 to 21, 25 to 32, 36 to 42 of orders-0: acknowledged at event ",
		"(excused: unclean election of broker 2 in epoch 1)", "(excused likewise)")
	if n := strings.Count(told, "  lost-write"); n != 1 {
		t.Errorf("lost-write is told %d times in\n%s", n, told)
	}
	if n := strings.Count(told, "(excused: "); n != 1 {
		t.Errorf("the premise is told %d times in\n%s", n, told)
	}
}

func TestTimelineMergesTheRangesThatOneElectionGaveUp(t *testing.T) {
	svg := draw(t, tornTail(), reports.Options{})
	words := strings.Join(texts(t, svg), "\n")
	expect(t, words, "leads e1 without 4 ranges in 3..42 (event ", "acknowledged: 4 ranges in 3..42 (from event ")
	refuse(t, words, "lost here")
	// A star has sixteen corners; one is in the legend, one on the picture.
	stars := 0
	for line := range strings.Lines(svg) {
		if strings.Contains(line, "fill:#C8102E") && strings.Count(line, "L") == 15 {
			stars++
		}
	}
	if stars != 2 {
		t.Errorf("%d stars, want one in the legend and one on the picture", stars)
	}
}

func TestTimelineSaysWhenOnlyUnpromisedRecordsAreGone(t *testing.T) {
	expect(t, strings.Join(texts(t, draw(t, neverPromised(), reports.Options{})), "\n"),
		"Pass. 2 records acknowledged with acks=1 are gone, the first one attempt 2 of p at offset 1: acks=0 and acks=1 do not wait for the followers: never promised.")
}

func TestTimelineOfAnUnknownRunSaysWhyItIsUnknown(t *testing.T) {
	s := &story{events: tornTail()}
	s.add(20_000_000, event.WaitFailed, -1, func(e *event.Event) { e.Line, e.Text = 13, "wait leader orders-0 = none within 5s" })
	words := strings.Join(texts(t, draw(t, s.events, reports.Options{})), "\n")
	expect(t, words, "unknown", "line 13: the wait ran out of time: wait leader orders-0 = none within 5s")
	refuse(t, words, "lost-write of")
}

func TestNarrativeTellsALostDirectoryAndALeaderWhoServesNobody(t *testing.T) {
	told := tell(emptied(), reports.Options{})
	expect(t, told, "broker 1 starts with an empty log (20 before)",
		"broker 1 leads epoch 0 again, from old metadata: it serves nobody until it is registered",
		"broker 1 leads epoch 2 from offset 0 on")
	for line := range strings.Lines(told) {
		if strings.Contains(line, "starts with an empty log") != strings.HasPrefix(line, ">") && strings.Contains(line, "1.3050 s") {
			t.Errorf("the witness is not the empty log alone: %s", line)
		}
	}
}

func TestTimelineShowsALostDirectoryAsALogCutAndNoSecondReign(t *testing.T) {
	words := texts(t, draw(t, emptied(), reports.Options{}))
	expect(t, strings.Join(words, "\n"), "starts empty (20 before), lost here: offsets 0 to 19 (event ", "e0 again, from old metadata: serves nobody", "down: power")
	reigns := 0
	for _, w := range words {
		if w == "leads e0" {
			reigns++
		}
	}
	if reigns != 1 {
		t.Errorf("broker 1 is said to lead epoch 0 %d times", reigns)
	}
}

// comeback is a leader who dies and leads again in the epoch that still lasts.
func comeback(before, after func(*story)) *story {
	s := &story{}
	s.elect(1000, 1, 0, "create", 1)
	s.role(1100, event.BecameLeader, 1, 0, 0, 0)
	s.append(2000, 1, 0, 0, 1, 1, "leader")
	s.add(3000, event.Died, 1, func(e *event.Event) { e.Text = "kill" })
	s.add(4000, event.Boot, 1, nil)
	s.of(4100, event.Recovered, 1, func(e *event.Event) { e.Offset, e.End, e.Text = 0, 1, "unclean" })
	before(s)
	s.role(4200, event.BecameLeader, 1, 0, 1, 0)
	after(s)
	return s
}

func reigns(t *testing.T, s *story) int {
	t.Helper()
	return strings.Count(strings.Join(texts(t, draw(t, s.events, reports.Options{})), "\n"), "leads e0")
}

// A leader by metadata older than its registration counts from the first record
// that it takes.
func TestAReignGoesOnOnceTheLeaderServesAgain(t *testing.T) {
	s := comeback(func(*story) {}, func(s *story) {
		s.hw(4900, 1, 0, 1, "leader")
		s.append(5000, 1, 0, 1, 2, 2, "leader")
	})
	if n := reigns(t, s); n != 2 {
		t.Errorf("broker 1 is said to lead epoch 0 %d times, want 2", n)
	}
	expect(t, tell(s.events, reports.Options{}), "leads epoch 0 again, from old metadata", "0.0050 s", "broker 1 begins to serve as leader of epoch 0")
}

func TestALeaderWhoIsRegisteredLeadsAtOnce(t *testing.T) {
	s := comeback(func(s *story) {
		s.add(4150, event.Registered, 101, func(e *event.Event) { e.Peer = 1 })
	}, func(*story) {})
	if n := reigns(t, s); n != 2 {
		t.Errorf("broker 1 is said to lead epoch 0 %d times, want 2", n)
	}
	refuse(t, tell(s.events, reports.Options{}), "from old metadata")
}

func TestALeaderOfAnEpochThatHasEndedServesNobody(t *testing.T) {
	s := comeback(func(s *story) {
		s.add(4150, event.Registered, 101, func(e *event.Event) { e.Peer = 1 })
		s.elect(4160, -1, 1, "none")
	}, func(*story) {})
	if n := reigns(t, s); n != 1 {
		t.Errorf("broker 1 is said to lead epoch 0 %d times, want 1", n)
	}
	expect(t, tell(s.events, reports.Options{}), "broker 1 is to lead epoch 0, which the controller has ended: it serves nobody")
}

func TestNarrativeNamesFewAcknowledgedRecordsAndCountsMany(t *testing.T) {
	expect(t, tell(emptied(), reports.Options{}),
		`p has 19 more acks, up to offset 19`, `p: "new" is acknowledged at offset 0`)
	s := &story{}
	s.elect(1000, 1, 0, "create", 1)
	s.role(1100, event.BecameLeader, 1, 0, 0, 0)
	for i, value := range []string{"m1", "m2"} {
		s.send(2000, event.SendOK, "p", uint64(i+1), kafka.Offset(i))
		s.events[len(s.events)-1].Text = value
	}
	s.isr(3000, 1, 0, 1, 2)
	s.send(4000, event.SendOK, "p", 3, 2)
	told := tell(s.events, reports.Options{})
	expect(t, told, `p: "m1" and "m2" are acknowledged at offsets 0 and 1`, "p has 1 more ack, up to offset 2")
}

func TestNarrativeSaysInWordsWhyALogWasCutOrOpened(t *testing.T) {
	s := &story{}
	s.elect(1000, 1, 0, "create", 1, 2)
	s.role(1100, event.BecameLeader, 1, 0, 0, 0)
	for i, reason := range []string{"to-hw", "diverging", "out-of-range"} {
		s.of(int64(2000+i), event.Truncated, 2, func(e *event.Event) { e.Offset, e.End, e.Text = 9, 5, reason })
	}
	s.of(2500, event.Truncated, 2, func(e *event.Event) { e.Offset, e.End, e.Text = 5, 8, "full" })
	for i, reason := range []string{"clean", "unclean", "unclean cut at 77 of 00000000000000000000.log"} {
		s.of(int64(3000+i), event.Recovered, 2, func(e *event.Event) { e.Offset, e.End, e.Text = 0, 8, reason })
	}
	told := tell(s.events, reports.Options{})
	expect(t, told, "from 9 to 5, to its high watermark", "from 9 to 5, where the logs part", "from 9 to 5, to where the leader's log lies",
		"broker 2 empties its log, which ended at 5, and starts again at 8",
		"ends at 8, after a clean stop", "ends at 8, after an unclean stop\n", "ends at 8, after an unclean stop, cut at byte 77 of 00000000000000000000.log")
	refuse(t, told, "to-hw", "diverging", "(clean)", "(unclean)")
}

func TestNarrativeAppendsWhatWasDeclared(t *testing.T) {
	expect(t, tell(highWatermarkTruncation(), reports.Options{Declared: "as R1 declares for truncate=toHW"}),
		"\nverdict: violation, as R1 declares for truncate=toHW\n")
}

func TestTimelineTellsEveryOutageAndCountsBatches(t *testing.T) {
	s := &story{}
	s.elect(1000, 1, 0, "create", 1, 2)
	s.role(1100, event.BecameLeader, 1, 0, 0, 0)
	s.role(1200, event.BecameFollower, 2, 0, 0, 0)
	for i := range kafka.Offset(100) {
		s.send(2000+int64(i/4)*1000, event.SendOK, "p", uint64(i+1), i)
	}
	// Both stop and start at once, and their logs open a little later.
	for id := kafka.BrokerID(1); id <= 2; id++ {
		s.add(40_000, event.Died, id, func(e *event.Event) { e.Text = "stop" })
	}
	for id := kafka.BrokerID(1); id <= 2; id++ {
		s.add(40_000, event.Boot, id, nil)
	}
	for id := kafka.BrokerID(1); id <= 2; id++ {
		s.of(41_000+int64(id), event.Recovered, id, func(e *event.Event) { e.Offset, e.End, e.Text = 0, 0, "clean" })
	}
	for i := range int64(6) {
		if i%2 == 0 {
			s.isr(50_000+i*1000, 1, 0, 1)
		} else {
			s.isr(50_000+i*1000, 1, 0, 1, 2)
		}
	}
	words := strings.Join(texts(t, draw(t, s.events, reports.Options{})), "\n")
	expect(t, words, "100 acks in 25 batches", "stop brokers 1,2", "start brokers 1,2")
	if n := strings.Count(words, "down: stop"); n != 2 {
		t.Errorf("%d outages are told, want 2:\n%s", n, words)
	}
	if n := strings.Count(words, "\nISR 1"); n != 6 {
		t.Errorf("%d of 6 changes of the ISR have a label", n)
	}
}

func TestTimelineSaysThatItsAxisIsNotToScale(t *testing.T) {
	words := strings.Join(texts(t, draw(t, highWatermarkTruncation(), reports.Options{})), "\n")
	expect(t, words, "time (s), not to scale:", "long gaps shrunk", "lost record, where copies exist", "log cut")
}

// The lines of a shortened piece end where labels are: in the rows above the
// logs and in the lanes of controller, faults and clients.
func TestShortenedPiecesDoNotStrikeThroughLabels(t *testing.T) {
	svg := draw(t, highWatermarkTruncation(), reports.Options{})
	broken := 0
	for line := range strings.Lines(svg) {
		if strings.Contains(line, "stroke-dasharray:1.5,3") {
			broken++
		}
	}
	// Two lines for each of three pieces, below each of seven lanes and behind
	// each of three logs.
	if want := 3 * 2 * (7 + 3); broken != want {
		t.Errorf("%d strokes, want %d", broken, want)
	}
}
