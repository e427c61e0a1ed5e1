package reports

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
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
