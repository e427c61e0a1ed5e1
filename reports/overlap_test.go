package reports_test

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/reports"
)

// box is what a text covers, from the top left, without its ascent's rim.
type box struct {
	text                     string
	left, top, right, bottom float64
}

var textElement = regexp.MustCompile(`(<g transform="rotate\(90\)">\s*)?<text x="([^"]+)" y="([^"]+)" transform="[^"]+"\s+style="([^"]+)">([^<]*)</text>`)

// boxes are the places of all texts of a picture, and how many stand upright.
func boxes(t *testing.T, svg string) (all []box, upright int) {
	t.Helper()
	value := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	height := value(regexp.MustCompile(`viewBox="0 0 \d+ ([\d.]+)"`).FindStringSubmatch(svg)[1])
	for _, m := range textElement.FindAllStringSubmatch(svg, -1) {
		x, y, text := value(m[2]), value(m[3]), html.UnescapeString(m[5])
		size := value(regexp.MustCompile(`font-size:([\d.]+)px`).FindStringSubmatch(m[4])[1])
		w := reports.TextWidth(size, strings.Contains(m[4], "font-weight:bold"), strings.Contains(m[4], "Mono"), text)
		if m[1] != "" { // turned by a quarter about the lower left corner of the picture
			upright++
			all = append(all, box{text, y - size*0.7, height - x - w, y, height - x})
			continue
		}
		base := height + y
		all = append(all, box{text, x, base - size*0.7, x + w, base})
	}
	return all, upright
}

// restarted has a broker that dies twice for moments and is idle after each, among
// many records, and two faults of one moment at the very end.
func restarted() []event.Event {
	s := &story{}
	s.elect(100_000, 1, 0, "create", 1)
	s.role(100_400, event.BecameLeader, 1, 0, 0, 0)
	write := func(at int64, epoch kafka.LeaderEpoch, from kafka.Offset) {
		for o := range kafka.Offset(30) {
			us := at + int64(o)*200_000
			s.append(us, 1, epoch, from+o, from+o+1, uint64(from+o+1), "leader")
			s.hw(us+100, 1, from+o, from+o+1, "leader")
			s.send(us+500, event.SendOK, "p", uint64(from+o+1), from+o)
		}
	}
	write(200_000, 0, 0)
	for i, how := range []string{"kill", "stop"} {
		at := 7_000_000 + int64(i)*1_000_000
		s.add(at, event.Died, 1, func(e *event.Event) { e.Text = how })
		s.add(at+500_000, event.Boot, 1, nil)
		s.of(at+504_000, event.Recovered, 1, func(e *event.Event) { e.End = 30 })
		s.role(at+505_000, event.BecameLeader, 1, 0, 30, 30)
	}
	s.elect(9_000_000, -1, 1, "none")
	s.elect(9_100_000, 1, 2, "last-known-leader", 1)
	s.add(9_100_100, event.Registered, 101, func(e *event.Event) { e.Peer = 1 })
	s.role(9_100_900, event.BecameLeader, 1, 2, 30, 30)
	write(9_200_000, 2, 30)
	for _, what := range []string{"heal", "release"} {
		s.add(20_000_000, event.Fault, -1, func(e *event.Event) { e.Text = what })
	}
	return s.events
}

// A text tells of what lies under it: that of an outage stands within, that of an
// idle leader right of it, and none is left out where there are rows enough.
func TestTextsStandWhereTheirMomentIs(t *testing.T) {
	all, _ := boxes(t, draw(t, restarted(), reports.Options{}))
	find := func(text string) (found []box) {
		for _, b := range all {
			if b.text == text {
				found = append(found, b)
			}
		}
		return found
	}
	idle, kill, stop := find("e0 again, from old metadata: serves nobody"), find("down: kill"), find("down: stop")
	if len(idle) != 2 || len(kill) != 1 || len(stop) != 1 || len(find("heal")) != 1 || len(find("release")) != 1 {
		t.Fatalf("a text is missing in %+v", all)
	}
	if idle[0].left < kill[0].right || idle[1].left < stop[0].right || kill[0].right > stop[0].left {
		t.Errorf("%+v, %+v and %+v are not in order of time", kill, stop, idle)
	}
}

func TestTextsOfAPictureNeverOverlapAndStayInside(t *testing.T) {
	turned := 0
	for name, run := range map[string][]event.Event{ // unordered: each stands alone
		"highWatermarkTruncation": highWatermarkTruncation(), "crowdedRun": crowdedRun(), "keptRun": keptRun(),
		"restlessRun": restlessRun(), "tornTail": tornTail(), "neverPromised": neverPromised(), "emptied": emptied(), "restarted": restarted(),
	} {
		p, err := reports.Timeline(run, checker.Check(run), reports.Options{Title: name, Replay: "tidemark run " + name, PartitionFlag: "--partition"})
		if err != nil {
			t.Fatal(err)
		}
		svg, err := p.SVG()
		if err != nil {
			t.Fatal(err)
		}
		all, upright := boxes(t, string(svg))
		turned += upright
		if len(all) < 30 {
			t.Errorf("%s: only %d texts are found", name, len(all))
		}
		for i, a := range all {
			if a.left < 0 || a.top < 0 || a.right > 1400 || a.bottom > p.Height() {
				t.Errorf("%s: %+v lies outside", name, a)
			}
			for _, b := range all[:i] {
				if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
					t.Errorf("%s: %+v lies over %+v", name, b, a)
				}
			}
		}
	}
	if turned == 0 {
		t.Error("no picture has an upright text")
	}
}
