package storage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// mess is a compacted log of several segments, all of them committed and flushed,
// which the cleaner makes three of; the last segment of the second group has
// nothing that stays.
func mess(w *world) (*Log, *janitor) {
	t := w.t
	l, j := w.keyed("")
	for _, seg := range [][]string{
		{"a=1 b=1", "c=1 d=1"}, {"a=2 e=1", "b=2"}, // group 1
		{"f=1 g=1", "c=2"}, {"a=3 e=2", "b=3"}, {"h=1", "h=2"}, // group 2
		{"h=3 a=4", "b=4 e=3 x=1"}, {"i=1"}, // group 3
	} {
		for _, b := range seg {
			store(t, l, strings.Fields(b)...)
		}
		j.roll(l)
	}
	inTransaction(t, l, 7, 0, 0, "t=1", "u=1")
	end(t, l, 7, 0, record.Abort, kafka.None)
	j.roll(l)
	store(t, l, "live=0")
	j.commit(l)
	l.cfg.SegmentBytes = 420
	return l, j
}

// bySegment divides what a log holds among ranges that begin at the bases.
func bySegment(t failer, l *Log, bases []kafka.Offset) []string {
	t.Helper()
	out := make([]string, len(bases))
	for _, b := range content(t, l) {
		i := len(bases) - 1
		for bases[i] > b.BaseOffset() {
			i--
		}
		out[i] += text([]record.Batch{b})[0] + fmt.Sprintf(" of %d; ", b.Count())
	}
	return out
}

// messy tells what the parts of the log hold before and after a pass, and which
// parts are swapped together.
func messy(t *testing.T) (bases []kafka.Offset, before, after []string, groups []int) {
	l, j := mess(newWorld(t))
	for _, s := range l.segments {
		bases = append(bases, s.base)
	}
	before = bySegment(t, l, bases)
	for len(j.cleaned) == 0 {
		j.step()
		if p := j.c.pass; groups == nil && p != nil && p.groups != nil {
			for i, g := range p.groups {
				groups = append(groups, slices.Repeat([]int{i}, len(g))...)
			}
		}
	}
	return bases, before, bySegment(t, l, bases), groups
}

// sweep cleans, and appends and flushes in between; point is what the
// recovery-point checkpoint says, flushed what was told to be durable.
type sweep struct {
	w       *world
	l       *Log
	j       *janitor
	flushed kafka.Offset
}

func (s *sweep) run() {
	for i := 0; len(s.j.cleaned) == 0; i++ {
		s.j.step()
		if i%4 == 1 {
			store(s.w.t, s.l, fmt.Sprintf("live=%d", i))
			end := s.l.LogEnd()
			s.l.Flush(func(err error) {
				if err == nil {
					s.flushed = max(s.flushed, end)
				}
			})
		}
	}
}

// judge checks the next life: every group of segments as it was or as the pass
// made it, and all that was flushed.
func (s *sweep) judge(t *testing.T, when string, l *Log, bases []kafka.Offset, before, after []string, groups []int) {
	t.Helper()
	got := bySegment(t, l, bases)
	state := map[int]string{} // of a group
	for i, g := range groups {
		switch {
		case got[i] == before[i] && got[i] == after[i]:
		case got[i] == before[i] && after[i] == "": // gone in a pass, and harmless
		case got[i] == before[i] && state[g] != "after":
			state[g] = "before"
		case got[i] == after[i] && state[g] != "before":
			state[g] = "after"
		default:
			t.Fatalf("%s: the part from %d on, with its group %s before it, holds\n%s\nbefore\n%s\nafter\n%s\n%v", when, bases[i], state[g], got[i], before[i], after[i], got)
		}
	}
	if l.LogEnd() < s.flushed || l.LogEnd() < bases[len(bases)-1]+1 {
		t.Fatalf("%s: the log ends at %d, flushed was %d", when, l.LogEnd(), s.flushed)
	}
	audit(t, l)
}

func TestAfterACrashInACleaningEachGroupIsOldOrNew(t *testing.T) {
	bases, before, after, groups := messy(t)
	if groups[len(groups)-1] < 2 || !slices.ContainsFunc(after, func(s string) bool { return s == "" }) {
		t.Fatalf("groups are %v, after the pass %q", groups, after)
	}
	for n, more := 1, true; more; n++ {
		if skipped(n) {
			continue
		}
		for _, d := range deaths(2) {
			w := crashOn(t, d.on, n, d.name)
			l, j := mess(w)
			s := &sweep{w: w, l: l, j: j, flushed: l.RecoveryPoint()}
			point := kafka.Offset(0) // the checkpoint is old, until the cleaner asks for a newer one
			w.steps, w.crashAt = 0, n
			more = w.until(s.run)
			w.unnamed(!more)
			if p, ok := j.points[l]; ok {
				point = p
			}
			d.end(w)
			when := fmt.Sprintf("crash before operation %d, %s", n, d.name)
			l = w.openAs(compacted(), Opening{RecoveryPoint: point})
			s.judge(t, when, l, bases, before, after, groups)
			w.drain()
			s.judge(t, when+", some time later", l, bases, before, after, groups)
			w.advance(2 * time.Minute) // for deleted files
			if got := files(t, w); strings.Contains(got, "swap") || strings.Contains(got, "cleaned") {
				t.Fatalf("%s: files are left: %s", when, got)
			}
			w.end()
		}
	}
}

func TestTheStartAfterACrashInACleaningMayCrashAsWell(t *testing.T) {
	bases, before, after, groups := messy(t)
	for n, crashed := 1, true; crashed; n++ {
		if skipped(n) {
			continue
		}
		first := []death{deaths(1)[0], deaths(1)[3]}[n%2]
		for m, more := 1+n%9, true; more; m += 9 {
			second := deaths(9)[(n+m/9)%12]
			w := crashOn(t, newFrailWorld, n, fmt.Sprint(first.name, m, second.name))
			l, j := mess(w)
			s := &sweep{w: w, l: l, j: j, flushed: l.RecoveryPoint()}
			point := l.RecoveryPoint()
			w.steps, w.crashAt = 0, n
			crashed = w.until(s.run)
			w.unnamed(!crashed)
			first.end(w)
			if !strings.Contains(files(t, w), swapSuffix) {
				w.end()
				break // a start like any other
			}
			w.crashAt = w.steps + m
			more = w.until(func() {
				l = w.openAs(compacted(), Opening{RecoveryPoint: point})
				w.drain()
			})
			second.end(w)
			l = w.openAs(compacted(), Opening{RecoveryPoint: point})
			s.judge(t, fmt.Sprintf("crash before operation %d, %s, and %d of the next life, %s", n, first.name, m, second.name), l, bases, before, after, groups)
			w.end()
		}
	}
}
