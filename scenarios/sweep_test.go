package scenarios

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/checker"
	"tidemark/model/plan"
)

// swept runs a sweep and returns its results.
func swept(t *testing.T, o SweepOptions) []SeedResult {
	t.Helper()
	var all []SeedResult
	if err := Sweep(context.Background(), o, func(r SeedResult) error { all = append(all, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestResultsComeInTheOrderOfSeedsAndDoNotDependOnJobs(t *testing.T) {
	alone := swept(t, SweepOptions{First: 5, Last: 16, Jobs: 1})
	together := swept(t, SweepOptions{First: 5, Last: 16, Jobs: 4})
	for i, r := range alone {
		if r.Seed != uint64(5+i) {
			t.Fatalf("result %d is that of seed %d", i, r.Seed)
		}
	}
	if diff := cmp.Diff(alone, together); len(alone) != 12 || diff != "" {
		t.Fatalf("%d results; one job and four differ:\n%s", len(alone), diff)
	}
}

func TestSweepHearsTheSameAsARunOfTheSeed(t *testing.T) {
	r, err := Run(Random(7), Options{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	s := swept(t, SweepOptions{First: 7, Last: 7, Jobs: 1})[0]
	if s.Digest != r.Digest || s.Events != len(r.Events) || s.Report.Verdict != r.Report.Verdict {
		t.Fatalf("run: %x %d events %s; sweep: %x %d events %s", r.Digest, len(r.Events), r.Report.Verdict,
			s.Digest, s.Events, s.Report.Verdict)
	}
}

func TestSweepEndsWithItsContextAfterTheRunsThatHaveBegun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var seeds []uint64
	err := Sweep(ctx, SweepOptions{First: 1, Last: 1 << 40, Jobs: 2}, func(r SeedResult) error {
		seeds = append(seeds, r.Seed)
		if r.Seed == 3 {
			cancel()
		}
		return nil
	})
	most := 3 + windowPerJob*2 + 3
	if err != nil || len(seeds) < 3 || len(seeds) > most {
		t.Fatalf("%v, %d results, want 3 to %d", err, len(seeds), most)
	}
}

func TestSweepEndsWithTheFirstErrorOfItsReader(t *testing.T) {
	full, calls := errors.New("disk full"), 0
	err := Sweep(context.Background(), SweepOptions{First: 1, Last: 1 << 40, Jobs: 2}, func(SeedResult) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Fatalf("%v after %d calls", err, calls)
	}
}

func TestSettingThatKafkaRefusesEndsTheSweepWithTheSeedsName(t *testing.T) {
	o := SweepOptions{First: 1, Last: 3, Jobs: 1, Given: Given{Set: []plan.Setting{{Key: "delivery.timeout.ms", Value: "10"}}}}
	err := Sweep(context.Background(), o, func(SeedResult) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "seed-1: producer p1: delivery.timeout.ms: 10 is too short") {
		t.Fatal(err)
	}
}

// diskFaults are the faults of disks in the words of a sweep.
var diskFaults = []string{plan.DiskReadError, plan.DiskWriteError, plan.DiskSyncError, plan.DiskLyingSync, plan.DiskLoseWrites,
	plan.DiskMisdirect, plan.DiskRot, plan.DiskCapacity}

// TestSweepFindsTheOldTruncationRuleAndNothingUnderTodays is the claim of the
// whole package in small: the same plans break the rule of 2016 and not today's,
// and every fault and condition was there to break it.
func TestSweepFindsTheOldTruncationRuleAndNothingUnderTodays(t *testing.T) {
	var today, old Tally
	o := SweepOptions{First: 1, Last: 60, Jobs: runtime.GOMAXPROCS(0)}
	for _, r := range swept(t, o) {
		today.Add(r)
		if v := r.Report.Verdict; v != checker.Pass && v != checker.Excused {
			t.Errorf("seed %d: %s %v %v", r.Seed, v, r.Report.Broken(), r.Report.Unknown)
		}
	}
	// The faults of disks are rare enough for chance to take one of them out of so
	// few seeds; together they must not fall short.
	broken := 0
	for _, x := range slices.Concat(today.Faults(), today.Conditions()) {
		if slices.Contains(diskFaults, x.Name) {
			broken += x.Seeds
		} else if x.Seeds*50 < today.Seeds {
			t.Errorf("%s made a difference in %d of %d seeds only", x.Name, x.Seeds, today.Seeds)
		}
	}
	if broken*50 < len(diskFaults)*today.Seeds {
		t.Errorf("the faults of disks made a difference in %d of %d seeds only", broken, today.Seeds)
	}
	if m, ok := today.AckedMedian(); !ok || m < 700 {
		t.Errorf("%d of 1000 sends are acknowledged in the median seed", m)
	}
	if n := today.Verdicts[checker.Excused]; n*5 > today.Seeds {
		t.Errorf("%d of %d seeds are excused", n, today.Seeds)
	}
	o.Rules, o.Last = "truncate=toHW", 40
	for _, r := range swept(t, o) {
		old.Add(r)
	}
	if old.Verdicts[checker.Violation] == 0 {
		t.Errorf("40 seeds under %s break nothing", o.Rules)
	}
}
