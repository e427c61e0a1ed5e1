package checker

import (
	"testing"

	"pgregory.net/rapid"

	"tidemark/model/kafka"
)

// naive is a log as a list of what lies at each offset.
type naive []batch

func TestBatchesAgreeWithAListOfOffsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs, models := [2]batches{}, [2]naive{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			k := rapid.IntRange(0, 1).Draw(t, "log")
			l, m := &logs[k], &models[k]
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				b := batch{base: l.end, end: l.end + kafka.Offset(rapid.IntRange(1, 3).Draw(t, "records")),
					crc: rapid.Uint64Range(1, 2).Draw(t, "crc"), epoch: kafka.LeaderEpoch(rapid.Int32Range(0, 1).Draw(t, "epoch")), known: true}
				l.add(b)
				for range b.end - b.base {
					*m = append(*m, b)
				}
			case 2:
				end := kafka.Offset(rapid.IntRange(0, len(*m)).Draw(t, "end"))
				l.cutTo(end)
				*m = (*m)[:end:end]
			case 3:
				o, om := &logs[1-k], models[1-k]
				end := kafka.Offset(rapid.IntRange(0, len(om)).Draw(t, "end"))
				l.copyFrom(o, end)
				for i := len(*m); i < int(end); i++ {
					*m = append(*m, om[i])
				}
			}
			if int(l.end) != len(*m) {
				t.Fatalf("log ends at %d, want %d", l.end, len(*m))
			}
		}
		from := kafka.Offset(rapid.IntRange(0, min(len(models[0]), len(models[1]))).Draw(t, "from"))
		to := kafka.Offset(rapid.IntRange(int(from), len(models[0])+2).Draw(t, "to"))
		want := from
		for want < to && int(want) < min(len(models[0]), len(models[1])) && models[0][want].same(&models[1][want]) {
			want++
		}
		if got := firstDifference(&logs[0], &logs[1], from, to); got != want {
			t.Fatalf("first difference in [%d, %d) at %d, want %d\n%+v\n%+v", from, to, got, want, logs[0], logs[1])
		}
	})
}

func TestContentThatNobodyReportedMatchesAny(t *testing.T) {
	var a, b batches
	a.fill(3)
	b.add(batch{base: 0, end: 3, crc: 7, epoch: 1, known: true})
	if got := firstDifference(&a, &b, 0, 3); got != 3 {
		t.Errorf("first difference at %d, want none", got)
	}
}

func TestBatchesWithoutChecksumAreToldApartByEpoch(t *testing.T) {
	var a, b, c batches
	a.add(batch{base: 0, end: 4, epoch: 1, known: true})
	b.add(batch{base: 0, end: 2, crc: 7, epoch: 1, known: true})
	b.add(batch{base: 2, end: 4, crc: 8, epoch: 1, known: true})
	c.add(batch{base: 0, end: 4, epoch: 2, known: true})
	if got := firstDifference(&a, &b, 0, 4); got != 4 {
		t.Errorf("one append reported as two: first difference at %d, want none", got)
	}
	if got := firstDifference(&a, &c, 0, 4); got != 0 {
		t.Errorf("two epochs: first difference at %d, want 0", got)
	}
}
