package storage

import (
	"bytes"
	"flag"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"testing"

	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/record"
)

var crashDepth = flag.Int("crash.depth", 1, "enumerate the crashes of all workloads of up to so many operations")

// operations are what workloads are made of. Beside others the rare ones count as two,
// so that three minutes suffice for workloads of three.
var operations = []struct {
	name  string
	do    func(*keeper)
	costs int
}{
	{"append", (*keeper).append, 1},
	{"append compressed", (*keeper).appendCompressed, 1},
	{"roll", (*keeper).roll, 1},
	{"fsync", (*keeper).fsync, 1},
	{"truncate", (*keeper).truncate, 1},
	{"checkpoint", (*keeper).checkpoint, 1},
	{"clean step", (*keeper).clean, 1},
	{"delete segment", (*keeper).deleteSegment, 1},
	{"raise log start", (*keeper).raise, 2},
	{"delete all", (*keeper).deleteAll, 2},
	{"start anew", (*keeper).startAnew, 2},
	{"clean stop", (*keeper).stop, 1},
}

// enumeration looks at every crash of every workload:
//
//	begin ─▶ operation ─▶ operation ─▶ operation
//	             before each disk operation and each completion within the last:
//	                 which pending names survive? × what is left of each file? ─▶ start ─▶ judge
//
// What an earlier operation meets is what the shorter workload met. Starts on equal
// disks that owe the same are made once.
type enumeration struct {
	t    *testing.T
	seed maphash.Seed

	mu                                sync.Mutex
	seen                              map[[2]uint64]struct{}
	workloads, points, losses, starts int
}

// The bounds of the products: up to so many changes of names all subsets are looked
// at, and up to so many choices of contents all; else see subsets and choices.
const (
	allSubsets = 3
	allChoices = 40
)

func TestEveryCrashOfEveryShortWorkload(t *testing.T) {
	e := &enumeration{t: t, seed: maphash.MakeSeed(), seen: map[[2]uint64]struct{}{}}
	t.Run("from", func(t *testing.T) {
		for _, begin := range beginnings {
			for i := range operations {
				t.Run(begin.name+", "+operations[i].name, func(t *testing.T) {
					t.Parallel()
					e.extend(t, begin.do, []int{i}, *crashDepth-begin.less-operations[i].costs)
				})
			}
		}
	})
	t.Logf("%d workloads, %d points of crash, %d losses, %d different starts", e.workloads, e.points, e.losses, e.starts)
}

// extend enumerates a workload, and all longer ones that begin with it and whose other
// operations cost no more than what is left.
func (e *enumeration) extend(t *testing.T, begin func(*keeper), work []int, left int) {
	e.run(t, begin, work)
	for i := range operations {
		if operations[i].costs <= left {
			e.extend(t, begin, append(slices.Clone(work), i), left-operations[i].costs)
		}
	}
}

func (e *enumeration) run(t *testing.T, begin func(*keeper), work []int) {
	k := keeperOn(surveyed(t))
	k.boot()
	begin(k)
	var names []string
	for i, op := range work {
		names = append(names, operations[op].name)
		if i == len(work)-1 {
			p := &point{e: e, t: t, k: k, when: strings.Join(names, ", ")}
			k.w.watch = p.crash
			defer p.count()
		}
		operations[op].do(k)
	}
	k.w.look()
}

// point is where a crash may come.
type point struct {
	e      *enumeration
	t      *testing.T
	k      *keeper
	when   string
	points int
	losses int
	fresh  int // that differ
	starts int
}

func (p *point) count() {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.e.workloads++
	p.e.points += p.points
	p.e.losses += p.losses
	p.e.starts += p.starts
}

// fate is a file and what may be left of it.
type fate struct {
	path     string
	contents [][]byte
	digests  []uint64
}

// crash looks at everything that a crash here may leave.
func (p *point) crash() {
	p.points++
	due, owed := p.k.owed(p.e.seed)
	s := p.k.w.disk.Survey()
	contents := map[faultdisk.Inode][][]byte{}
	trees := map[string]bool{}
	for _, keep := range subsets(s.Changes()) {
		s.Close(keep)
		if trees[fmt.Sprint(keep)] {
			continue
		}
		trees[fmt.Sprint(keep)] = true
		var files []fate
		for _, n := range s.Names(keep) {
			if n.Dir {
				continue
			}
			if _, ok := contents[n.Inode]; !ok {
				c, err := s.Contents(n.Inode)
				if err != nil {
					p.t.Fatal(err)
				}
				contents[n.Inode] = c
			}
			files = append(files, p.e.fate(n.Name, contents[n.Inode]))
		}
		choices(files, func(choice []int) { p.lose(due, owed, files, choice) })
	}
}

func (e *enumeration) fate(path string, contents [][]byte) fate {
	f := fate{path: path, contents: contents}
	for _, c := range contents {
		var h maphash.Hash
		h.SetSeed(e.seed)
		h.WriteString(path)
		h.WriteByte(0)
		h.Write(c)
		f.digests = append(f.digests, h.Sum64())
	}
	return f
}

// lose makes one loss, and the start after it unless one was like it.
func (p *point) lose(due debt, owed uint64, files []fate, choice []int) {
	p.losses++
	key := [2]uint64{owed, owed}
	for i, f := range files {
		key[0] += f.digests[choice[i]]
		key[1] ^= bits.RotateLeft64(f.digests[choice[i]]*0x9e3779b97f4a7c15, 17)
	}
	p.e.mu.Lock()
	_, known := p.e.seen[key]
	p.e.seen[key] = struct{}{}
	p.e.mu.Unlock()
	if known {
		return
	}
	if p.fresh++; onRealFiles() && p.fresh%67 != 1 {
		return
	}
	p.starts++
	left := make([]simdisk.Content, len(files))
	for i, f := range files {
		left[i] = simdisk.Content{Path: f.path, Bytes: f.contents[choice[i]]}
	}
	k := keeperOn(loaded(teller{p.t, func() string { return p.tell(files, choice) }}, left))
	k.hw, k.due = p.k.hw, due
	k.boot()
	k.judge()
	k.w.end()
}

// tell is how a failure can be looked at.
func (p *point) tell(files []fate, choice []int) string {
	out := fmt.Sprintf("crash in the last of [%s], at point %d:", p.when, p.points)
	for i, f := range files {
		out += fmt.Sprintf("\n  %s, %d bytes (way %d of %d)", f.path, len(f.contents[choice[i]]), choice[i], len(f.contents))
	}
	return out
}

// teller adds to a failure what it is about.
type teller struct {
	*testing.T
	about func() string
}

func (t teller) Fatalf(format string, args ...any) {
	t.T.Helper()
	t.T.Fatalf("%s\n%s", t.about(), fmt.Sprintf(format, args...))
}

// subsets are choices of n changes: all of them if they are few, else the first ones
// in turn, all but one, and one alone.
func subsets(n int) (all [][]bool) {
	if n <= allSubsets {
		for mask := range 1 << n {
			all = append(all, chosen(n, func(i int) bool { return mask&(1<<i) != 0 }))
		}
		return all
	}
	for k := range n + 1 {
		all = append(all, chosen(n, func(i int) bool { return i < k }), chosen(n, func(i int) bool { return i != k }), chosen(n, func(i int) bool { return i == k }))
	}
	return all
}

func chosen(n int, f func(int) bool) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// choices are choices of a content for each file: all of them if they are few; else
// everything or nothing of each, or of all but one that is left in another way.
func choices(files []fate, f func([]int)) {
	var open []int
	product := 1
	for i, x := range files {
		if len(x.contents) > 1 {
			open = append(open, i)
			product = min(product*len(x.contents), 1<<20)
		}
	}
	choice := make([]int, len(files))
	if product <= allChoices {
		eachChoice(files, open, choice, f)
		return
	}
	for background := range 2 {
		for _, i := range open {
			choice[i] = background
		}
		f(choice)
		for _, i := range open {
			for c := range files[i].contents {
				choice[i] = c
				f(choice)
			}
			choice[i] = background
		}
	}
	for mask := range min(1<<len(open), 2*allChoices) {
		for k, i := range open {
			choice[i] = mask >> k & 1
		}
		f(choice)
	}
}

func eachChoice(files []fate, open, choice []int, f func([]int)) {
	if len(open) == 0 {
		f(choice)
		return
	}
	for c := range files[open[0]].contents {
		choice[open[0]] = c
		eachChoice(files, open[1:], choice, f)
	}
}

// judge looks at the log that a life found, and goes on with it.
func (k *keeper) judge() {
	t, l := k.w.t, k.l
	if k.due.flushed <= 0 && l.LogStart() == l.segments[0].base {
		k.due.start = l.LogStart() // the first segments may be lost without a trace
	}
	if l.LogEnd() < k.due.flushed || l.LogStart() > k.due.start || l.RecoveryPoint() > l.LogEnd() {
		t.Fatalf("the log goes from %d to %d, recovery point %d; flushed was %d, and it started at %d; there is\n%v\nappended was\n%v",
			l.LogStart(), l.LogEnd(), l.RecoveryPoint(), k.due.flushed, k.due.start, text(stored(t, l.segments)), lineTexts(k.due.lines))
	}
	if point := k.read(RecoveryPointCheckpoint); !k.due.cutting && l.LogEnd() < point {
		t.Fatalf("the log goes from %d to %d and its recovery point was %d: offsets are given out again", l.LogStart(), l.LogEnd(), point)
	}
	stale := k.due.cutting && k.read(RecoveryPointCheckpoint) >= k.due.cut // the checkpoint vouches for what was cut
	found := stored(t, l.segments)
	if !stale {
		found = content(t, l)
	}
	if !slices.ContainsFunc(k.due.lines, func(line []record.Batch) bool { return k.matches(line, found) }) {
		t.Fatalf("the log goes from %d to %d and has\n%v\nappended was\n%v", l.LogStart(), l.LogEnd(), text(found), lineTexts(k.due.lines))
	}
	if stale {
		return
	}
	audit(t, l)
	k.w.drain()
	k.due = debt{lines: [][]record.Batch{nil}}
	k.append()
	audit(t, l)
}

func lineTexts(lines [][]record.Batch) (all [][]string) {
	for _, line := range lines {
		all = append(all, text(line))
	}
	return all
}

// matches tells that the log is a line up to some batch, or what a cleaner makes of
// that.
func (k *keeper) matches(line, found []record.Batch) bool {
	from, to := k.l.LogStart(), k.l.LogEnd()
	want := slices.DeleteFunc(slices.Clone(line), func(b record.Batch) bool { return b.LastOffset() < from || b.BaseOffset() >= to })
	if n := len(want); !k.due.cutting && (n > 0 && want[n-1].NextOffset() != to || n == 0 && from != to) {
		return false
	}
	same := func(a, b record.Batch) bool { return bytes.Equal(a, b) }
	switch {
	case k.due.cutting && k.due.cleaned:
		return k.equivalent(line, found, false)
	case k.due.cutting:
		return isPart(text(line), text(found))
	case k.due.cleaned:
		return k.equivalent(want, found, true)
	}
	return slices.EqualFunc(want, found, same)
}

// equivalent tells that a compacted log has nothing that was not appended, and, if
// it is to be complete, the last record of each key. Of transactions nothing is asked
// here.
func (k *keeper) equivalent(want, found []record.Batch, complete bool) bool {
	has, appended, last := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, b := range want {
		eachKey(k.w.t, b, func(key, text string) { appended[text], last[key] = true, text })
	}
	ok := true
	for _, b := range found {
		eachKey(k.w.t, b, func(_, text string) { has[text], ok = true, ok && appended[text] })
	}
	for _, text := range last { // unordered: all are looked at
		ok = ok && (has[text] || !complete)
	}
	return ok
}

func eachKey(t failer, b record.Batch, f func(key, text string)) {
	if b.IsTransactional() {
		return
	}
	var it record.Iterator
	for it.ResetWith(new(record.Inflater), b); it.Next(); {
		r := it.Record()
		f(string(r.Key), fmt.Sprintf("%d %s %x", r.Offset, r.Key, r.Value[:8]))
	}
	if it.Err() != nil {
		t.Fatalf("batch at %d: %v", b.BaseOffset(), it.Err())
	}
}
