package reports

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// twoBrokers is a run of orders-0 on brokers 1 and 2, with a producer, a pass of
// the cleaner on broker 1, and, a minute later, an event of a given maker, of
// which the partition's own events tell nothing. Five applications are told of
// records, one more than have a lane without need.
func twoBrokers(last func(e *event.Event)) []event.Event {
	var events []event.Event
	add := func(at int64, k event.Kind, node kafka.BrokerID, set func(e *event.Event)) {
		e := event.New(k)
		e.Seq, e.At, e.Node, e.Topic = uint64(len(events)+1), at*1_000_000, node, "orders"
		set(&e)
		events = append(events, e)
	}
	add(100, event.Elected, 101, func(e *event.Event) {
		e.Peer, e.Epoch, e.Text, e.ISR = 1, 0, "create", []kafka.BrokerID{1, 2}
	})
	add(101, event.BecameLeader, 1, func(e *event.Event) { e.Epoch, e.End, e.HighWatermark = 0, 0, 0 })
	add(102, event.BecameFollower, 2, func(e *event.Event) { e.Epoch, e.End, e.HighWatermark = 0, 0, 0 })
	for o := range kafka.Offset(5) {
		at := 200 + 10*int64(o)
		for node, role := range []string{"leader", "follower"} {
			add(at+int64(node), event.Appended, kafka.BrokerID(node+1), func(e *event.Event) { e.Offset, e.End, e.Text = o, o+1, role })
		}
		add(at+2, event.SendOK, 1001, func(e *event.Event) { e.Client, e.Offset, e.Acks = "p"+num(int64(o)), o, -1 })
	}
	add(300, event.Cleaned, 1, func(e *event.Event) { e.Offset, e.End = 0, 2 })
	add(60_000, event.AuditReplica, -1, func(e *event.Event) { e.Topic = ""; last(e) })
	return events
}

// point2 is a place on the picture, from the top left.
type point2 struct{ x, y float64 }

var (
	ringPath = regexp.MustCompile(`<path d="([^"Z]+)" style="fill:none;stroke:#C8102E;stroke-width:2.2"`)
	number   = regexp.MustCompile(`-?[0-9.]+`)
)

// rings are the middles of the red rings, without that of the legend, and the SVG.
func rings(t *testing.T, p *Picture) ([]point2, string) {
	t.Helper()
	svg, err := p.SVG()
	if err != nil {
		t.Fatal(err)
	}
	var found []point2
	for _, m := range ringPath.FindAllStringSubmatch(string(svg), -1) {
		left, right, low, high := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
		for i, n := range number.FindAllString(m[1], -1) {
			v, _ := strconv.ParseFloat(n, 64)
			if i%2 == 0 {
				left, right = min(left, v), max(right, v)
			} else {
				low, high = min(low, v), max(high, v)
			}
		}
		found = append(found, point2{(left + right) / 2, p.layout.height - (low+high)/2})
	}
	if len(found) == 0 {
		t.Fatal("not even the legend has a ring")
	}
	return found[1:], string(svg)
}

// Whatever rule finds something, and in whatever place, the picture reaches to
// the moment and has a red ring there, in the lane of whom it befell, and a label.
func TestWhatAnyRuleFindsIsMarkedAtItsMomentInItsLane(t *testing.T) {
	orders := kafka.TopicPartition{Topic: "orders"}
	places := []struct {
		name string
		last func(e *event.Event)
		set  func(f *checker.Finding)
		lane func(l *layout) lane
	}{
		{"the event's broker", func(e *event.Event) { e.Node = 2 }, func(f *checker.Finding) { f.Client = "p1" }, func(l *layout) lane { return l.replicas[1] }},
		{"the finding's broker", func(*event.Event) {}, func(f *checker.Finding) { f.Node = 1 }, func(l *layout) lane { return l.replicas[0] }},
		{"the event's client", func(e *event.Event) { e.Client = "p4" }, func(f *checker.Finding) { f.Client = "p1" }, func(l *layout) lane { return l.clients[3] }},
		{"a client told of nothing else", func(*event.Event) {}, func(f *checker.Finding) { f.Client = "group" }, func(l *layout) lane { return l.clients[3] }},
		{"the controller", func(e *event.Event) { e.Node = 101 }, func(*checker.Finding) {}, func(l *layout) lane { return l.controller }},
		{"the run as a whole", func(*event.Event) {}, func(f *checker.Finding) { f.TP = kafka.TopicPartition{} }, func(l *layout) lane { return l.controller }},
	}
	rules := checker.Check(nil).Checks
	if len(rules) < 20 {
		t.Fatalf("the checker names %d rules only", len(rules))
	}
	for _, place := range places {
		events := twoBrokers(place.last)
		end := events[len(events)-1]
		for _, rule := range rules {
			for v, o := range map[checker.Verdict]kafka.Offset{checker.Violation: kafka.NoOffset, checker.Excused: 3} { // unordered: each stands alone
				f := checker.Finding{Rule: rule.Rule, Verdict: v, Seq: end.Seq, At: end.At, TP: orders, Offset: o, Last: o, Node: kafka.NoBroker}
				place.set(&f)
				p, err := Timeline(events, checker.Report{Verdict: v, Findings: []checker.Finding{f}}, Options{TP: orders})
				if err != nil {
					t.Fatal(err)
				}
				if p.tracks.end != end.At {
					t.Fatalf("%s of %s: the time axis ends at %d ns", rule.Rule, place.name, p.tracks.end)
				}
				l, x := place.lane(&p.layout), p.scale.place(end.At)
				rs, svg := rings(t, p)
				if len(rs) != 1 || math.Abs(rs[0].x-x) > 13 || rs[0].y < l.top || rs[0].y > l.bottom {
					t.Fatalf("%s of %s at offset %d: rings at %v, want one near x=%g in %v", rule.Rule, place.name, o, rs, x, l)
				}
				if !strings.Contains(svg, fmt.Sprintf("(event %d)</text>", end.Seq)) {
					t.Fatalf("%s of %s has no label", rule.Rule, place.name)
				}
			}
		}
	}
}

// The offsets of a finding are red on every replica that reaches over them; the
// stripes of a lost record end where the cleaner may have taken it.
func TestTheOffsetsOfAFindingAreRedOnTheReplicas(t *testing.T) {
	events := twoBrokers(func(e *event.Event) { e.Client = "p4" })
	end := events[len(events)-1]
	f := checker.Finding{Rule: "lost-write", Verdict: checker.Violation, Seq: end.Seq, At: end.At, TP: kafka.TopicPartition{Topic: "orders"}, Offset: 1, Last: 2, Client: "p1"}
	f.Acked = checker.Moment{Seq: 9, At: 212_000_000}
	p, err := Timeline(events, checker.Report{Verdict: checker.Violation, Findings: []checker.Finding{f}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	svg, err := p.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(svg), "stroke:#C8102E;stroke-width:1.6"); n != 2 {
		t.Errorf("%d acknowledgements are red, want those of offsets 1 and 2", n)
	}
	b := &brush{&pen{ruler: p.ruler}, p}
	for i := range p.tracks.replicas {
		panel := b.panel(i)
		top, bottom := p.layout.height-panel.y(3), p.layout.height-panel.y(1)
		bands, last := 0, 0.0
		for line := range strings.Lines(string(svg)) {
			ns := number.FindAllString(line, 8)
			if len(ns) < 4 {
				continue
			}
			x, _ := strconv.ParseFloat(ns[0], 64)
			y0, _ := strconv.ParseFloat(ns[1], 64)
			y1, _ := strconv.ParseFloat(ns[3], 64)
			if strings.Contains(line, "fill:#F5C5CB") && math.Abs(y0-top) < 0.1 {
				bands++
			}
			if strings.Contains(line, "stroke:#C8102E;stroke-width:1.4") && math.Abs(y0-top) < 0.1 && math.Abs(y1-bottom) < 0.1 {
				last = max(last, x)
			}
		}
		if bands == 0 {
			t.Errorf("broker %d has no band over the offset", i+1)
		}
		if cleaned := p.scale.place(300_000_000); (last < cleaned+6) != (i == 0) {
			t.Errorf("the stripes of broker %d end at %g, and broker 1 alone compacts at %g", i+1, last, cleaned)
		}
	}
}

// A picture of a partition where nothing was found must not praise the run.
func TestAnotherPartitionOfAViolationSaysThatItWasFoundElsewhere(t *testing.T) {
	events := twoBrokers(func(*event.Event) {})
	f := checker.Finding{Rule: "audit", Verdict: checker.Violation, Seq: 3, At: 1, TP: kafka.TopicPartition{Topic: "payments"}, Text: "payments-0: cannot be read"}
	p, err := Timeline(events, checker.Report{Verdict: checker.Violation, Findings: []checker.Finding{f}}, Options{TP: kafka.TopicPartition{Topic: "orders"}})
	if err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(p.summary, " "); !strings.Contains(s, "elsewhere: audit: payments-0: cannot be read") {
		t.Errorf("the picture says %q", s)
	}
	if rs, _ := rings(t, p); len(rs) != 0 {
		t.Errorf("rings at %v", rs)
	}
}

func TestAPictureOfOneOfSeveralPartitionsTellsHowToSeeAnother(t *testing.T) {
	var all []kafka.TopicPartition
	for i := range int32(9) {
		all = append(all, kafka.TopicPartition{Topic: "orders", Partition: i})
	}
	s := subject{tp: all[1], all: all[:3]}
	if got := s.others("--partition"); got != "to see another partition: --partition orders-0, orders-2" {
		t.Errorf("got %q", got)
	}
	if s.all = all; !strings.HasSuffix(s.others("--partition"), "orders-6 ...") {
		t.Errorf("got %q", s.others("--partition"))
	}
	if s.all = all[1:2]; s.others("--partition") != "" || s.others("") != "" {
		t.Error("a lone partition has no others")
	}
}

// What has no line to its sign leaves a way for the line of what came before.
func TestLabelsWithoutALineStandAtTheirMomentOverTheRightBorder(t *testing.T) {
	labels := []label{{x: 600, width: 290}, {x: 760, width: 80, bare: true}, {x: 760, width: 200, bare: true}}
	placeLabels(labels, 100, 900, 3)
	for i, at := range []float64{600 + labelIndent, 760 + labelIndent, 900 - 200} {
		if labels[i].row < 0 || labels[i].at != at {
			t.Errorf("label %d is at %+v, want %g", i, labels[i], at)
		}
	}
}

func TestLabelsOfOneMomentAtTheRightBorderBothHaveRoom(t *testing.T) {
	for _, bare := range []bool{false, true} {
		labels := []label{{x: 880, width: 40, bare: bare}, {x: 880, width: 60, bare: bare}}
		if placeLabels(labels, 100, 900, 2); labels[0].row < 0 || labels[1].row < 0 {
			t.Errorf("bare %v: %+v", bare, labels)
		}
	}
}
