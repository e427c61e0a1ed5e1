package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tidemark/model/plan"
	"tidemark/scenarios"
)

func newDigest() *cobra.Command {
	var seeds, only, events string
	cmd := &cobra.Command{
		Use:   "digest",
		Short: "print the digests of all stories and of random seeds",
		Long: `Print the digest of every story under each of its rules, with one and with three data
lanes, and of the random plans of some seeds: a line each, the run's name and its
digest. Two machines, and two runs on one, must print the same.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			runs, err := digestRuns(seeds, only)
			if err != nil {
				return err
			}
			return digest(cmd.OutOrStdout(), runs, events)
		},
	}
	cmd.Flags().StringVar(&seeds, "seeds", "", "the seeds of random plans, FIRST..LAST")
	cmd.Flags().StringVar(&only, "only", "", "only the runs whose names begin with one of these, separated by commas")
	cmd.Flags().StringVar(&events, "events", "", "write every World event and the rolling digest after it to FILE")
	return cmd
}

// digestRun is one run to take the digest of.
type digestRun struct {
	name string
	plan *plan.Plan
	opts scenarios.Options
}

func digestRuns(seeds, only string) ([]digestRun, error) {
	var runs []digestRun
	for _, s := range scenarios.Stories() {
		for _, e := range s.Plan.Expect {
			for _, lanes := range []int{1, 3} {
				runs = append(runs, digestRun{fmt.Sprintf("%s/%s/lanes=%d", s.ID, variantName(e), lanes), variantPlan(s.Plan, e),
					scenarios.Options{Seed: defaultSeed, Rules: e.Rules, DataLanes: lanes}})
			}
		}
	}
	first, last, err := parseSeeds(seeds)
	if err != nil {
		return nil, err
	}
	for seed := first; seed <= last && seeds != ""; seed++ {
		runs = append(runs, digestRun{fmt.Sprintf("seed-%d/current", seed), scenarios.Random(seed), scenarios.Options{Seed: seed}})
	}
	return selectRuns(runs, only), nil
}

// variantName names what an expectation depends on, in one word.
func variantName(e plan.Expectation) string {
	name := "current"
	if e.Rules != "" {
		name = e.Rules
	}
	if e.With != "" {
		name += "/" + e.With
	}
	return name
}

// variantPlan is the plan with the settings that an expectation names.
func variantPlan(p *plan.Plan, e plan.Expectation) *plan.Plan {
	return scenarios.Given{Set: plan.SplitSettings(e.With)}.On(p)
}

func selectRuns(runs []digestRun, only string) []digestRun {
	if only == "" {
		return runs
	}
	var kept []digestRun
	for _, r := range runs {
		for _, prefix := range strings.Split(only, ",") {
			if strings.HasPrefix(r.name, prefix) {
				kept = append(kept, r)
				break
			}
		}
	}
	return kept
}

// parseSeeds reads FIRST..LAST; "" is no seed at all.
func parseSeeds(s string) (first, last uint64, err error) {
	if s == "" {
		return 1, 0, nil
	}
	a, b, ok := strings.Cut(s, "..")
	if !ok {
		b = a
	}
	first, err1 := strconv.ParseUint(a, 10, 62)
	last, err2 := strconv.ParseUint(b, 10, 62)
	if err1 != nil || err2 != nil || first > last {
		return 0, 0, usageError("--seeds is %q: write FIRST..LAST, such as 1..100", s)
	}
	return first, last, nil
}

func digest(out io.Writer, runs []digestRun, eventsFile string) error {
	var events *bufio.Writer
	if eventsFile != "" {
		f, err := os.Create(eventsFile)
		if err != nil {
			return usageError("--events: %w", err)
		}
		defer f.Close()
		events = bufio.NewWriter(f)
	}
	for _, r := range runs {
		if events != nil {
			r.opts.Trace = func(line string) { fmt.Fprintln(events, line) }
		}
		result, err := scenarios.Run(r.plan, r.opts)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Fprintf(out, "%s %016x %s\n", r.name, result.Digest, result.Report.Verdict)
	}
	if events != nil {
		return events.Flush()
	}
	return nil
}
