package reports_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/reports"
)

func draw(t *testing.T, events []event.Event, o reports.Options) string {
	t.Helper()
	p, err := reports.Timeline(events, checker.Check(events), o)
	if err != nil {
		t.Fatal(err)
	}
	svg, err := p.SVG()
	if err != nil {
		t.Fatal(err)
	}
	return string(svg)
}

// texts are the words on a picture, in the order in which they are painted. It
// fails if the SVG is not well-formed.
func texts(t *testing.T, svg string) []string {
	t.Helper()
	var found []string
	d := xml.NewDecoder(strings.NewReader(svg))
	in := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			in = x.Name.Local == "text"
		case xml.CharData:
			if in {
				found = append(found, string(x))
			}
			in = false
		}
	}
}

func TestTimelineTellsWhereTheRecordWasAcknowledgedAndLost(t *testing.T) {
	words := strings.Join(texts(t, draw(t, highWatermarkTruncation(), reports.Options{Title: "R1", Replay: "tidemark run R1 --seed 7"})), "\n")
	for _, want := range []string{
		"R1  ·  orders-0", "violation", "broker 1", "broker 2", "broker 3",
		"leads e0", "leads e1", "leads e2 without offset 1", "e1 leader 3 (preferred), ISR 1,2,3",
		"kill broker 3", "down: kill", "truncates 2→1 to its high watermark, lost here: offset 1 (event 27)",
		"acknowledged: offset 1 (event 23)",
		"reads 0–2", "9.0 s", "replay: tidemark run R1 --seed 7",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("the picture does not say %q; it says\n%s", want, words)
		}
	}
}

func TestTimelineOfEqualRunsHasEqualBytes(t *testing.T) {
	first, second := draw(t, crowdedRun(), reports.Options{}), draw(t, crowdedRun(), reports.Options{})
	if first != second {
		t.Error("two pictures of one run differ")
	}
}

func TestTimelineKeepsItsSizeForALongRun(t *testing.T) {
	s := &story{events: crowdedRun()}
	last := s.events[len(s.events)-1].At / 1000
	for i := range kafka.Offset(20_000) {
		s.append(last+int64(i)*500, 2, 2, 121+i, 122+i, uint64(i), "leader")
		s.hw(last+int64(i)*500+100, 2, 121+i, 122+i, "leader")
	}
	if svg := draw(t, s.events, reports.Options{}); len(svg) > 1<<20 {
		t.Errorf("a picture of %d events takes %d bytes", len(s.events), len(svg))
	}
}

func TestTimelineAsPNGHasTwoPixelsForAPoint(t *testing.T) {
	events := highWatermarkTruncation()
	p, err := reports.Timeline(events, checker.Check(events), reports.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.PNG()
	if err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil || c.Width != 2800 || c.Height != 1800 {
		t.Errorf("got %d by %d pixels (%v), want 2800 by 1800", c.Width, c.Height, err)
	}
}

func TestTimelineOfAnotherPartitionShowsNothingOfThisOne(t *testing.T) {
	events := highWatermarkTruncation()
	_, err := reports.Timeline(events, checker.Check(events), reports.Options{TP: kafka.TopicPartition{Topic: "payments"}})
	if !errors.Is(err, reports.ErrNothingToShow) || !strings.Contains(err.Error(), "payments-0") {
		t.Errorf("got error %v", err)
	}
}

func TestTimelineOfARunWithoutPartitionsHasItsVerdictAlone(t *testing.T) {
	events := func(fill func(*story)) []event.Event {
		s := &story{}
		fill(s)
		return s.events
	}
	for want, run := range map[string][]event.Event{ // unordered: each stands alone
		"unknown": nil,
		"violation": events(func(s *story) {
			s.add(1000, event.Invariant, 101, func(e *event.Event) { e.Text = "epoch 3 after epoch 4" })
		}),
	} {
		words := strings.Join(texts(t, draw(t, run, reports.Options{Title: "empty", Replay: "tidemark run empty"})), "\n")
		expect(t, words, "empty", want, "No partition to show.", "replay: tidemark run empty")
		refuse(t, words, "log end offset", "time (s)")
		if want == "violation" {
			expect(t, words, "epoch 3 after epoch 4")
		}
	}
}

func TestLegendOfThePictureIsTheLegendInWords(t *testing.T) {
	words := strings.Join(texts(t, draw(t, highWatermarkTruncation(), reports.Options{})), "\n")
	for _, line := range reports.Legend() {
		_, name, _ := strings.Cut(line, "  ")
		if !strings.Contains(words, name) {
			t.Errorf("the picture's legend does not explain %q", name)
		}
	}
}

func TestTimelineShowsWhatBecomesOfALogBesideItsEnd(t *testing.T) {
	words := texts(t, draw(t, keptRun(), reports.Options{}))
	for want, times := range map[string]int{"compacts 2–5": 1, "compacts 0–6": 1, "log start 3 (retention)": 1, "log start 4 (delete-records)": 1, "log directory failed": 1} { // unordered: each stands alone
		n := 0
		for _, w := range words {
			if w == want {
				n++
			}
		}
		if n != times {
			t.Errorf("the picture says %q %d times, want %d; it says\n%s", want, n, times, strings.Join(words, "\n"))
		}
	}
}

func TestTimelineHasSignsForWhatSeldomHappens(t *testing.T) {
	words := strings.Join(texts(t, draw(t, restlessRun(), reports.Options{})), "\n")
	for _, want := range []string{"pause broker 2", "resume broker 2", "REQUEST_TIMED_OUT", "reads 0–1", "reset 1→0 (truncated)"} {
		if !strings.Contains(words, want) {
			t.Errorf("the picture does not say %q; it says\n%s", want, words)
		}
	}
}
