package reports

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

func TestPlacedLabelsNeverOverlapAndStayInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const left, right = 100.0, 900.0
		rows := rapid.IntRange(1, 3).Draw(t, "rows")
		labels := make([]label, rapid.IntRange(0, 30).Draw(t, "labels"))
		for i := range labels {
			labels[i] = label{x: float64(rapid.IntRange(int(left), int(right)).Draw(t, "x")),
				width: float64(rapid.IntRange(0, 300).Draw(t, "width")), rank: rapid.IntRange(0, 2).Draw(t, "rank")}
		}
		placeLabels(labels, left, right, rows)
		for i, a := range labels {
			if a.row < 0 {
				continue
			}
			if a.row >= rows || a.at < left || a.at+a.width > right {
				t.Fatalf("label %d lies outside: %+v", i, a)
			}
			for j, b := range labels[:i] {
				if b.row < 0 {
					continue
				}
				if b.row > a.row && b.x > a.at && b.x < a.at+a.width || a.row > b.row && a.x > b.at && a.x < b.at+b.width {
					t.Fatalf("the line of label %d or %d crosses the other: %+v %+v", j, i, b, a)
				}
				if b.row == a.row && a.at < b.at+b.width && b.at < a.at+a.width {
					t.Fatalf("labels %d and %d overlap: %+v %+v", j, i, b, a)
				}
			}
		}
	})
}

func TestALoneLabelIsAlwaysPlacedAtItsMoment(t *testing.T) {
	labels := []label{{x: 200, width: 80}}
	if rows := placeLabels(labels, 100, 900, 2); rows != 1 || labels[0].at != 200+labelIndent || labels[0].row != 0 {
		t.Errorf("got %+v on %d rows", labels[0], rows)
	}
}

// A broker that starts is down until its log is open: what its replica holds is
// not known before.
func TestAnOutageLastsUntilTheLogIsOpen(t *testing.T) {
	tp := kafka.TopicPartition{Topic: "orders"}
	var events []event.Event
	add := func(at int64, k event.Kind, topic, text string, end kafka.Offset) {
		e := event.New(k)
		e.Seq, e.At, e.Node, e.Peer, e.Topic, e.Text, e.End = uint64(len(events)+1), at, 1, 1, topic, text, end
		events = append(events, e)
	}
	add(10, event.Elected, tp.Topic, "create", kafka.NoOffset)
	add(20, event.BecameLeader, tp.Topic, "", 0)
	add(30, event.Died, "", "stop", kafka.NoOffset)
	add(40, event.Boot, "", "", kafka.NoOffset)
	add(50, event.Recovered, tp.Topic, "clean", 0)
	add(90, event.BecameFollower, tp.Topic, "", 0)
	want := span{from: 30, to: 50, text: "down: stop"}
	tracks := newTracks(events, tp)
	tracks.close()
	if r := tracks.find(1); len(r.down) != 1 || r.down[0] != want {
		t.Errorf("the outages are %+v, want %+v", r.down, want)
	}
}

// A kill and a heal of one moment: the kill stands above though it matters more.
func TestLabelsOfOneMomentReadDownInOrderOfTime(t *testing.T) {
	for _, rows := range []int{2, 3} {
		labels := []label{{x: 200, width: 80}, {x: 200, width: 40, rank: 1}}
		if placeLabels(labels, 100, 900, rows); labels[0].row != 1 || labels[1].row != 0 {
			t.Errorf("the earlier label is in row %d, the later one in row %d", labels[0].row, labels[1].row)
		}
	}
}

// Near the right border a label has to lie left of its moment, over others.
func TestLabelsNearTheRightBorderLeaveRoomForThoseBefore(t *testing.T) {
	labels := []label{{x: 600, width: 120}, {x: 860, width: 120, rank: 1}, {x: 880, width: 120, rank: 1}}
	placeLabels(labels, 100, 900, 3)
	for i, l := range labels {
		if l.row < 0 {
			t.Errorf("label %d has no room: %+v", i, labels)
		}
	}
}

func TestLabelsThatMatterArePlacedWhereNotAllHaveRoom(t *testing.T) {
	labels := []label{{x: 200, width: 300}, {x: 205, width: 300, rank: 1}, {x: 210, width: 300, rank: 1}}
	placeLabels(labels, 100, 900, 1)
	if labels[0].row < 0 {
		t.Errorf("the label that matters has no room: %+v", labels)
	}
}

func TestTimeScaleKeepsTheOrderOfInstantsAndItsBorders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var instants []instant
		for range rapid.IntRange(2, 200).Draw(t, "instants") {
			instants = append(instants, instant{rapid.Int64Range(0, 60_000_000_000).Draw(t, "at"), rapid.Bool().Draw(t, "key")})
		}
		slices.SortFunc(instants, func(a, b instant) int { return cmp.Compare(a.at, b.at) })
		s := newTimeScale(instants, 100, 1300)
		before := instant{at: -1}
		x := 99.0
		for _, i := range instants {
			at := s.place(i.at)
			if at < 100 || at > 1300.000001 || i.at > before.at && at <= x || i.at == before.at && at != x {
				t.Fatalf("%d ns lies at %g, after %d ns at %g", i.at, at, before.at, x)
			}
			if mid := s.place((before.at + i.at) / 2); before.at >= 0 && (mid < x || mid > at) {
				t.Fatalf("the middle of %d and %d ns lies at %g", before.at, i.at, mid)
			}
			before, x = i, at
		}
		ticks := s.ticks(64)
		for k := 1; k < len(ticks); k++ {
			if ticks[k].x-ticks[k-1].x < 64 {
				t.Fatalf("ticks %d and %d are too close", k-1, k)
			}
		}
	})
}

// Nine seconds of waiting must not leave a millisecond of action without room.
func TestTimeScaleGivesShortActionRoomBesideALongWait(t *testing.T) {
	const ms = 1_000_000
	s := newTimeScale([]instant{{0, true}, {1 * ms, true}, {2 * ms, true}, {9002 * ms, true}, {9003 * ms, true}}, 0, 1000)
	if room := s.place(2*ms) - s.place(1*ms); room < 100 {
		t.Errorf("a millisecond gets %g of 1000 points", room)
	}
	gaps := s.gaps()
	if len(gaps) != 1 || gaps[0].length != 9000*ms {
		t.Errorf("got gaps %+v, want the one of 9 s", gaps)
	}
}
