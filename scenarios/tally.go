package scenarios

import (
	"slices"

	"tidemark/checker"
	"tidemark/sim"
)

// Total tells how often something happened in a sweep, and in how many seeds.
type Total struct {
	Name      string
	Fired     uint64 // of a fault: how often it was ordered
	Effective uint64 // how often it made a difference, or happened
	Seeds     int    // in which it did, once at least
}

// Tally sums up a sweep, result by result.
type Tally struct {
	Seeds    int
	Verdicts map[checker.Verdict]int
	// Judged are the results that are no plain pass, in order of seeds.
	Judged []SeedResult

	faults      [sim.FaultKinds]Total
	conditions  [Conditions]Total
	acked       []int // per mille of the sends, by seed
	WorldEvents uint64
}

// Add takes a result in.
func (t *Tally) Add(r SeedResult) {
	if t.Verdicts == nil {
		t.Verdicts = map[checker.Verdict]int{}
	}
	t.Seeds++
	t.Verdicts[r.Report.Verdict]++
	t.WorldEvents += r.WorldEvents
	if r.Report.Verdict != checker.Pass {
		t.Judged = append(t.Judged, r)
	}
	for k, c := range r.Faults {
		t.faults[k].Fired += c.Fired
		t.faults[k].add(c.Effective)
	}
	for k, n := range r.Conditions {
		t.conditions[k].add(n)
	}
	if r.Sends > 0 {
		t.acked = append(t.acked, r.Acked*1000/r.Sends)
	}
}

func (t *Total) add(n uint64) {
	t.Effective += n
	if n > 0 {
		t.Seeds++
	}
}

// mending are the steps that end a fault; they break nothing themselves.
var mending = []sim.FaultKind{sim.FaultStart, sim.FaultResume, sim.FaultHeal, sim.FaultRelease}

// Faults are the faults that plans ordered, in the order of sim's kinds.
func (t *Tally) Faults() []Total {
	var all []Total
	for k := range sim.FaultKinds {
		if total := t.faults[k]; total.Fired > 0 && !slices.Contains(mending, k) {
			total.Name = k.String()
			all = append(all, total)
		}
	}
	return all
}

// Conditions are the conditions that every sweep counts; their Fired is 0.
func (t *Tally) Conditions() []Total {
	var all []Total
	for k := range Conditions {
		total := t.conditions[k]
		total.Name = k.String()
		all = append(all, total)
	}
	return all
}

// AckedMedian is the median, over the seeds, of the share of sends with acks=1
// or all that were acknowledged, in per mille; ok is false if none were sent.
func (t *Tally) AckedMedian() (perMille int, ok bool) {
	if len(t.acked) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(t.acked))
	return sorted[(len(sorted)-1)/2], true
}
