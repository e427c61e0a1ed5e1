package checker

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	files "tidemark/checker/history"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// fault is one way to spoil a clean history at one of its events.
type fault struct {
	name string
	// rule is what the fault is about: it must say so at least once.
	rule string
	says saying
	// plant spoils a copy of the history at event i, or returns nil where the
	// fault does not apply.
	plant func(h *clean, i int) []event.Event
	// least is the share of its places, in percent, at which some rule must say
	// violation; why says why it is not all of them.
	least int
	why   string
}

// saying is how a rule speaks of what it finds.
type saying uint8

const (
	violated   saying = iota
	noted             // it was never promised: a note
	unknowable        // no history can be so: the verdict is unknown
)

// clean is a history of a sound cluster.
type clean struct {
	name   string
	events []event.Event
	byOp   map[opKey][]int // events by client and attempt
}

type opKey struct {
	client  string
	attempt uint64
}

func newClean(name string, events []event.Event) *clean {
	h := &clean{name: name, events: events, byOp: map[opKey][]int{}}
	for i := range events {
		if e := &events[i]; e.Attempt != 0 {
			h.byOp[opKey{e.Client, e.Attempt}] = append(h.byOp[opKey{e.Client, e.Attempt}], i)
		}
	}
	return h
}

// cleanHistories are recorded simulated runs with all that is seen inside the
// cluster, and generated ones of transactions, groups and compaction.
func cleanHistories(t testing.TB) []*clean {
	all := []*clean{recorded(t, "failover"), recorded(t, "delete-records")}
	for _, seed := range []uint64{4, 7, 31} {
		all = append(all, newClean(fmt.Sprint("transactions ", seed), runTxnWorld(seed, 3000, "")))
	}
	for _, seed := range []uint64{1, 2} {
		all = append(all, newClean(fmt.Sprint("compaction ", seed), runLogWorld(seed, 700)))
	}
	return all
}

func recorded(t testing.TB, name string) *clean {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recorded", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return newClean(name, readHistory(t, text))
}

// readHistory reads a history file, its header as events.
func readHistory(t testing.TB, text []byte) []event.Event {
	t.Helper()
	r, err := files.NewReader("history", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	events := r.Header().Events()
	for {
		var e event.Event
		if err := r.Next(&e); err == io.EOF {
			return events
		} else if err != nil {
			t.Fatal(err)
		}
		e.Records, e.ISR = slices.Clone(e.Records), slices.Clone(e.ISR)
		events = append(events, e)
	}
}

// tried is what the rules said of one fault.
type tried struct {
	places, caught int
	rules          map[string]int  // places at which a rule said violation
	first          map[string]bool // rules whose finding came first, at some place
	missed         []string
}

// placesOfEach is how many places of a fault are tried in one history; stride, a
// prime, spreads them.
const placesOfEach, stride = 5, 7919

// try plants a fault at places all over each history.
func (f *fault) try(histories []*clean) tried {
	result := tried{rules: map[string]int{}, first: map[string]bool{}}
	for _, h := range histories {
		places := 0
		for k := range h.events {
			i := k * stride % len(h.events)
			spoilt := f.plant(h, i)
			if spoilt == nil {
				continue
			}
			if places++; places > placesOfEach {
				break
			}
			result.places++
			r := Check(spoilt)
			for _, rule := range r.Broken() {
				result.rules[rule]++
			}
			if i := slices.IndexFunc(r.Findings, func(x Finding) bool { return x.Verdict == Violation }); i >= 0 {
				result.first[r.Findings[i].Rule] = true
			}
			if caught := f.caught(&r); caught != "" {
				result.rules[caught]++
				result.first[f.rule] = true
				result.caught++
			} else if f.says == violated && r.Verdict == Violation {
				result.caught++
			} else {
				result.missed = append(result.missed, fmt.Sprintf("%s at event %d: %s %v", h.name, h.events[i].Seq, r.Verdict, r.Notes))
			}
		}
	}
	return result
}

// caught is the rule of a fault that no promise forbids and how it spoke, "" if it
// did not.
func (f *fault) caught(r *Report) string {
	note := func(n Note) bool { return n.Rule == f.rule }
	unknown := func(s string) bool { return strings.HasPrefix(s, f.rule+":") }
	switch {
	case f.says == noted && slices.ContainsFunc(r.Notes, note):
		return f.rule + " (note)"
	case f.says == unknowable && slices.ContainsFunc(r.Unknown, unknown):
		return f.rule + " (unknown)"
	}
	return ""
}

func (t *tried) String() string {
	rules := slices.SortedFunc(maps.Keys(t.rules), func(a, b string) int {
		if t.rules[a] != t.rules[b] {
			return t.rules[b] - t.rules[a]
		}
		return strings.Compare(a, b)
	})
	for i, r := range rules {
		rules[i] = fmt.Sprintf("%s %d", r, t.rules[r])
	}
	return fmt.Sprintf("caught at %d of %d places: %s", t.caught, t.places, strings.Join(rules, ", "))
}

var rewrite = flag.Bool("planted", false, "write testdata/planted.txt anew")

func TestCleanHistoriesRaiseNoAlarm(t *testing.T) {
	for _, h := range cleanHistories(t) {
		if r := Check(h.events); r.Verdict != Pass {
			t.Errorf("%s: %s %v %v", h.name, r.Verdict, r.Findings, r.Unknown)
		}
	}
}

// Every fault that is planted into a clean history is found, and the table says
// by which rules.
func TestNoPlantedFaultSlipsThrough(t *testing.T) {
	histories := cleanHistories(t)
	var table strings.Builder
	faults := plantedFaults()
	if len(faults) < 30 {
		t.Errorf("%d faults, want 30 at least", len(faults))
	}
	first := map[string]bool{}
	for i := range faults {
		f := &faults[i]
		got := f.try(histories)
		for _, rule := range slices.Sorted(maps.Keys(got.first)) {
			first[rule] = true
		}
		fmt.Fprintf(&table, "%s\n    %s\n", f.name, got.String())
		if f.why != "" {
			fmt.Fprintf(&table, "    not everywhere: %s\n", f.why)
		}
		if got.rules[f.rule+[]string{"", " (note)", " (unknown)"}[f.says]] == 0 {
			t.Errorf("%s: %s never said so; %s", f.name, f.rule, got.String())
		}
		least := f.least
		if f.why == "" {
			least = 100
		}
		if 100*got.caught < least*got.places {
			t.Errorf("%s: %s, want %d %% of them; missed:\n%s", f.name, got.String(), least, strings.Join(got.missed, "\n"))
		}
	}
	for _, p := range Promises() {
		if first[p.Rule] == (neverFirst[p.Rule] != "") {
			t.Errorf("%s: found by a fault that it is the first cause of: %v, and the reason why it never is: %q", p.Rule, first[p.Rule], neverFirst[p.Rule])
		}
	}
	file := filepath.Join("testdata", "planted.txt")
	if *rewrite {
		if err := os.WriteFile(file, []byte(table.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != table.String() {
		t.Errorf("the table differs from %s (go test -planted writes it anew):\n%s", file, lineDiff(string(want), table.String()))
	}
}

// neverFirst says why a rule's findings always stand behind another's.
var neverFirst = map[string]string{
	"checker-disagreement": "it speaks of the checker",
	"stale-leader-ack":     "the record was not committed (acked-before-commit), or was and its new leader began without it (LeaderCompleteness)",
	"circular-flow":        "each reads before its own commit is asked for, so around a circle some read comes before the commit of what it saw (early-read)",
	"kv-view":              "the reader missed the last record of a key that is there (poll-skip, int-poll-skip) or is not (lost-write, vanished-read, newest-lost, tombstone-early)",
}

// lineDiff lists the lines that only one of two texts has.
func lineDiff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	var b strings.Builder
	for _, l := range w {
		if !slices.Contains(g, l) {
			fmt.Fprintln(&b, "-", l)
		}
	}
	for _, l := range g {
		if !slices.Contains(w, l) {
			fmt.Fprintln(&b, "+", l)
		}
	}
	return b.String()
}

func plantedFaults() []fault {
	return slices.Concat(logFaults, readerFaults, insideFaults, txnFaults, groupFaults, compactionFaults, boundFaults, noteFaults, hygieneFaults)
}

// copied is a deep copy, but for sessions, which are never changed.
func (h *clean) copied() []event.Event {
	all := slices.Clone(h.events)
	for i := range all {
		all[i].Records = slices.Clone(all[i].Records)
	}
	return all
}

// with is a copy in which some events are changed.
func (h *clean) with(change func(e *event.Event), at ...int) []event.Event {
	all := h.copied()
	for _, i := range at {
		change(&all[i])
	}
	return all
}

// inserted puts events before event i.
func inserted(all []event.Event, i int, more ...event.Event) []event.Event {
	for k := range more {
		if i > 0 {
			more[k].At = all[i-1].At
		}
	}
	return numbered(slices.Insert(slices.Clone(all), i, more...))
}

// moved takes an event from one place to another, before the event that is
// there.
func movedTo(all []event.Event, from, to int) []event.Event {
	e := all[from]
	rest := slices.Delete(slices.Clone(all), from, from+1)
	if to > from {
		to--
	}
	return inserted(rest, to, e)
}

// numbered numbers events in their order.
func numbered(all []event.Event) []event.Event {
	seq, at := uint64(0), int64(0)
	for i := range all {
		if all[i].Seq == 0 && all[i].Kind == event.Profile {
			continue // of a header
		}
		seq++
		at = max(at, all[i].At)
		all[i].Seq, all[i].At = seq, at
	}
	return all
}

// invoked is the event that began the operation of event i.
func (h *clean) invoked(i int) int { return h.byOp[opKey{h.events[i].Client, h.events[i].Attempt}][0] }

// find is the first event from i on that a condition holds for, -1 for none.
func (h *clean) find(i int, holds func(e *event.Event) bool) int {
	for k := i; k < len(h.events); k++ {
		if holds(&h.events[k]) {
			return k
		}
	}
	return -1
}

// shows reports whether a poll shows an attempt at an offset.
func shows(e *event.Event, tp kafka.TopicPartition, o kafka.Offset, attempt uint64) bool {
	if e.Kind != event.PollOK || e.TP() != tp {
		return false
	}
	k := recordAt(e, o)
	return k >= 0 && e.Records[k].Attempt == attempt
}

// recordAt is the place of an offset among a poll's records, -1 for none.
func recordAt(e *event.Event, o kafka.Offset) int {
	return slices.IndexFunc(e.Records, func(r event.Record) bool { return r.Offset == o })
}

// polls lists the polls that show a record of event i, an acknowledgement.
func (h *clean) polls(i int) []int {
	e := &h.events[i]
	var all []int
	for k := range h.events {
		if shows(&h.events[k], e.TP(), e.Offset, e.Attempt) {
			all = append(all, k)
		}
	}
	return all
}

// plain reports whether an event is of a log without transactions and cleaner,
// where every record stays.
func (h *clean) plain(e *event.Event) bool {
	return e.Who().Txn == 0 && e.Topic != "kv" && e.Topic != "out"
}

// acked reports whether event i acknowledges a record that stays for certain.
func (h *clean) acked(i int) bool {
	e := &h.events[i]
	return e.Kind == event.SendOK && e.Acks == -1 && e.Offset >= 0 && h.plain(e)
}
