package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"tidemark/checker"
	"tidemark/scenarios"
)

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	seeds string
	jobs  int
	rules string
	given givenFlags
	json  bool
}

func newSweep() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep --seeds FIRST..LAST",
		Short: "search random plans for a broken promise",
		Long: `Run the random plan of every seed and judge it: a small cluster with drawn settings,
clients that write and read, and faults (kill, power loss, a crash between two
operations, controlled shutdown, pause, cut, hold, reset, half-open connections, disk
stalls, clock jumps, disks that fail, lie, forget or fill up), all of them mended in the
end. tidemark run seed-N --print shows a plan, tidemark run seed-N what came of it.

The summary counts verdicts, how often each fault made a difference and in how many
seeds, and the conditions that faults are injected for: a search that never saw a
truncation has not searched there. Excused seeds are listed with the premise that was
broken, violations with the line that replays them. The output does not depend on
--jobs.

` + givenHelp + `
Exit status: 0 all seeds pass or are excused, 1 a violation, 3 nothing worse than a
seed that could not be judged, or the sweep was stopped before its end.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("sweep takes no argument, found %q: the seeds stand behind --seeds", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return sweep(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.seeds, "seeds", "", "the seeds, FIRST..LAST")
	flags.IntVar(&f.jobs, "jobs", runtime.GOMAXPROCS(0), "seeds to run at a time")
	flags.StringVar(&f.rules, "rules", "", "historical rules, SWITCH=VALUE[,...]; see tidemark rules")
	f.given.register(cmd)
	flags.BoolVar(&f.json, "json", false, "print a line of JSON for each seed, and one for the summary")
	return cmd
}

// options checks the flags and turns them into those of a sweep.
func (f sweepFlags) options(stderr io.Writer) (scenarios.SweepOptions, []ignoredKey, error) {
	if f.seeds == "" {
		return scenarios.SweepOptions{}, nil, usageError("sweep needs seeds: --seeds FIRST..LAST, such as 1..2000")
	}
	first, last, err := parseSeeds(f.seeds)
	if err != nil {
		return scenarios.SweepOptions{}, nil, err
	}
	if f.jobs < 1 {
		return scenarios.SweepOptions{}, nil, usageError("--jobs is %d: 1 or more are possible", f.jobs)
	}
	if _, err := parseRules(f.rules); err != nil {
		return scenarios.SweepOptions{}, nil, err
	}
	given, ignored, err := f.given.read(stderr)
	return scenarios.SweepOptions{First: first, Last: last, Jobs: f.jobs, Rules: f.rules, Given: given}, ignored, err
}

func sweep(ctx context.Context, out, stderr io.Writer, f sweepFlags) error {
	o, ignored, err := f.options(stderr)
	if err != nil {
		return err
	}
	show := newProgress(stderr, "sweep")
	defer show.done()
	s := sweeping{flags: f, total: o.Last - o.First + 1, ignored: ignored}
	err = scenarios.Sweep(ctx, o, func(r scenarios.SeedResult) error {
		s.tally.Add(r)
		show.seeds(s.tally.Seeds, s.total, s.verdicts())
		if f.json {
			return printLine(out, s.seedLine(r))
		}
		return nil
	})
	show.done()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if f.json {
		err = printLine(out, s.summaryLine())
	} else {
		_, err = io.WriteString(out, s.text())
	}
	if err != nil {
		return err
	}
	return s.status()
}

// sweeping is a sweep and what it found so far.
type sweeping struct {
	flags   sweepFlags
	total   uint64 // seeds asked for
	tally   scenarios.Tally
	ignored []ignoredKey
}

// stopped reports whether the sweep ended before its last seed.
func (s *sweeping) stopped() bool { return uint64(s.tally.Seeds) < s.total }

// replay is the command line that repeats a seed.
func (s *sweeping) replay(seed uint64) string {
	r := runFlags{seed: seed, rules: s.flags.rules, given: s.flags.given}
	return r.replay(fmt.Sprintf("seed-%d", seed))
}

func (s *sweeping) status() error {
	switch {
	case s.tally.Verdicts[checker.Violation] > 0:
		return &exitError{status: exitViolation}
	case s.tally.Verdicts[checker.Unknown] > 0 || s.stopped():
		return &exitError{status: exitUnknown}
	}
	return nil
}
