package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tidemark/checker"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/scenarios"
)

// runFlags are the flags of run.
type runFlags struct {
	seed    uint64
	seeded  bool
	rules   string
	given   givenFlags
	lanes   int
	from    string
	plot    string
	shown   string // the partition that plot draws
	trace   string
	rewrite string
	print   bool
	json    bool

	bootstrap string // run on the cluster there
	history   string // what its clients are told
}

const defaultSeed = 1

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run STORY|FILE|seed-N|all",
		Short: "run a story, a scenario file or a random plan, and judge it",
		Long: `Run a story of the catalogue (by id or name, see tidemark list), a scenario file of
your own, or the random plan of a seed on a simulated cluster, print what happened
and the verdict. run all runs every story as often as it declares a verdict.

With --bootstrap the same producers and consumers work on a real cluster: steps topic,
producer, consumer, send, write, read, verify, sleep, and wait acked and position. The
history goes to --history and is judged as tidemark check does; set lines say how the
cluster is set, they do not change it.

` + givenHelp + "\n" + fromHelp + "\n" + plan.Help(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("run takes one story or file: tidemark run R1, tidemark run my.txt; tidemark list names the stories")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.seeded = cmd.Flags().Changed("seed")
			if args[0] == allStories {
				return runAll(cmd.OutOrStdout(), cmd.ErrOrStderr(), f)
			}
			return run(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], f)
		},
	}
	cmd.SetHelpTemplate("{{.Short}}\n\n{{.UsageString}}\n{{.Long}}")
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", defaultSeed, "the seed of all that the plan leaves open")
	flags.StringVar(&f.rules, "rules", "", "historical rules, SWITCH=VALUE[,...]; see tidemark rules")
	f.given.register(cmd)
	flags.IntVar(&f.lanes, "lanes", 0, "data lanes of each broker, 1 to 8 (default: the file's)")
	flags.StringVar(&f.from, "from", "", "start on a copy of DIR, which tidemark serve --brokers left")
	flags.StringVar(&f.plot, "plot", "", "write the timeline to PREFIX.svg and PREFIX.png; PREFIX may end in .svg or .png")
	flags.StringVar(&f.shown, "partition", "", "with --plot, draw TOPIC-N instead of the partition that tells most")
	flags.StringVar(&f.trace, "trace", "", "write every event to FILE, a line of JSON each")
	flags.StringVar(&f.bootstrap, "bootstrap", "", "carry the clients' steps out on the cluster at HOST:PORT[,...] instead of a simulated one")
	flags.StringVar(&f.history, "history", "", "with --bootstrap, write what clients asked and were told to FILE, for tidemark check")
	flags.StringVar(&f.rewrite, "rewrite", "", "put the output into the scenario file FILE as what the run must print")
	flags.BoolVar(&f.print, "print", false, "print the plan as a scenario file and do not run it")
	flags.BoolVar(&f.json, "json", false, "print the result as JSON")
	return cmd
}

// loaded is a plan and where it came from.
type loaded struct {
	arg   string // as the command line named it
	title string
	plan  *plan.Plan
	drawn bool   // by a seed
	with  string // settings of the command line, as plan.JoinSettings writes them
}

// load finds a story, makes a random plan of its seed, or reads a file.
func load(arg string) (loaded, error) {
	if digits, ok := strings.CutPrefix(arg, "seed-"); ok {
		if seed, err := strconv.ParseUint(digits, 10, 62); err == nil {
			return loaded{arg, "random plan", scenarios.Random(seed), true, ""}, nil
		}
	}
	if s, ok := scenarios.Find(arg); ok {
		return loaded{s.ID, strings.TrimSpace(s.ID + " " + s.Name), s.Plan, false, ""}, nil
	}
	if info, err := os.Stat(arg); err == nil && !info.Mode().IsRegular() {
		return loaded{}, usageError("%s is no regular file: a scenario is a text file", arg)
	}
	text, err := os.ReadFile(arg)
	if errors.Is(err, os.ErrNotExist) {
		return loaded{}, usageError("%s is neither a story nor a file: tidemark list names the stories", arg)
	}
	if err != nil {
		return loaded{}, usageError("%s cannot be read: %w", arg, errors.Unwrap(err))
	}
	p, err := scenarios.Parse(arg, string(text))
	if err != nil {
		return loaded{}, &exitError{exitUsage, err}
	}
	return loaded{arg, p.Name, p, false, ""}, nil
}

// options checks the flags and turns them into a run's options.
func (f runFlags) options() (scenarios.Options, error) {
	o := scenarios.Options{Seed: f.seed, Rules: f.rules, DataLanes: f.lanes}
	if _, err := parseRules(f.rules); err != nil {
		return o, err
	}
	if f.lanes < 0 || f.lanes > mostLanes {
		return o, badLanes(f.lanes)
	}
	return o, nil
}

// mostLanes is how many data lanes a broker may have.
const mostLanes = 8

func badLanes(n int) error {
	return usageError("--lanes is %d: 1 to %d data lanes are possible", n, mostLanes)
}

func run(out, stderr io.Writer, arg string, f runFlags) error {
	l, err := load(arg)
	if err != nil {
		return err
	}
	if l.drawn && f.seeded && f.seed != l.plan.Seed {
		return usageError("%s is the plan and the chance of seed %d, and --seed is %d: leave --seed out, or run seed-%d; this plan with other chance is a file: tidemark run %s --print",
			arg, l.plan.Seed, f.seed, f.seed, arg)
	}
	if !f.seeded && l.plan.HasSeed {
		f.seed = l.plan.Seed
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	given, ignored, err := f.given.read(stderr)
	if err != nil {
		return err
	}
	l.with = plan.JoinSettings(given.Set)
	if l.drawn {
		l.plan = given.OnDrawn(l.plan)
	} else {
		l.plan = given.On(l.plan)
	}
	if f.print && f.json {
		return usageError("--print and --json exclude each other: a plan is printed as a scenario file")
	}
	if f.print {
		_, err := io.WriteString(out, l.plan.String())
		return err
	}
	shown, err := f.partition()
	if err != nil {
		return err
	}
	if f.from != "" {
		if o.Left, err = readLeft(f.from, l.plan.Cluster); err != nil {
			return err
		}
	}
	if f.bootstrap != "" {
		return runReal(out, stderr, l, f)
	}
	if f.history != "" {
		return usageError("--history goes with --bootstrap; --trace FILE writes the history of a simulated run")
	}
	p := newProgress(stderr, l.title)
	o.Progress = p.at
	result, err := scenarios.Run(l.plan, o)
	p.done()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if err := f.write(stderr, l, result, shown); err != nil {
		return err
	}
	if f.json {
		s := summarize(l, result)
		s.Ignored = ignored
		err = printJSON(out, s)
	} else {
		_, err = io.WriteString(out, output(l, result, f.replay(l.arg)))
	}
	if err != nil {
		return err
	}
	if len(given.Files) > 0 || f.from != "" {
		return verdictStatus(l, result)
	}
	return judge(l, result)
}

// partition is the one that the timeline shall show; without the flag the zero
// value, which leaves the choice to the timeline.
func (f runFlags) partition() (kafka.TopicPartition, error) {
	if f.shown == "" {
		return kafka.TopicPartition{}, nil
	}
	if f.plot == "" {
		return kafka.TopicPartition{}, usageError("--partition goes with --plot: it chooses what the timeline shows")
	}
	tp, err := kafka.ParseTopicPartition(f.shown)
	if err != nil {
		return tp, usageError("--partition: %w", err)
	}
	return tp, nil
}

// write makes the files that were asked for.
func (f runFlags) write(stderr io.Writer, l loaded, r *scenarios.Result, shown kafka.TopicPartition) error {
	if f.trace != "" {
		if err := writeTrace(f.trace, r, f.replay(l.arg)); err != nil {
			return err
		}
	}
	if f.plot != "" {
		if err := writePlot(stderr, f.plot, l, r, f.replay(l.arg), shown); err != nil {
			return err
		}
	}
	if f.rewrite != "" {
		return rewriteGolden(f.rewrite, plan.Variant(f.rules, l.with), output(l, r, f.replay(l.arg)))
	}
	return nil
}

// replay is the command line that repeats the run.
func (f runFlags) replay(arg string) string {
	line := "tidemark run " + arg
	if arg != fmt.Sprintf("seed-%d", f.seed) {
		line += fmt.Sprintf(" --seed %d", f.seed)
	}
	if f.rules != "" {
		line += " --rules " + f.rules
	}
	line += f.given.arguments()
	if f.lanes > 0 {
		line += fmt.Sprintf(" --lanes %d", f.lanes)
	}
	if f.from != "" {
		line += " --from " + f.from
	}
	return line
}

// createFile makes a file and the folder that it lies in.
func createFile(name string, content []byte) error {
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, content, 0o644)
	}
	if err != nil {
		return usageError("%s cannot be written: %w", name, errors.Unwrap(err))
	}
	return nil
}

// judge turns the verdict into an exit status. What a plan declares holds for its
// own settings and those that a declaration names, not for others.
func judge(l loaded, r *scenarios.Result) error {
	want, declared := l.plan.Expected(r.Rules, l.with)
	if !declared {
		return verdictStatus(l, r)
	}
	if asDeclared(want, r) {
		return nil
	}
	status := exitViolation
	if r.Report.Verdict == checker.Unknown {
		status = exitUnknown
	}
	found := string(r.Report.Verdict)
	if checks := broken(r); len(checks) > 0 {
		found += " " + strings.Join(checks, ", ")
	}
	return &exitError{status, fmt.Errorf("%s: expected %s, found %s", l.plan.Name, verdictText(want), found)}
}

// asDeclared reports whether a run ended with the verdict that a plan declares.
func asDeclared(want plan.Expectation, r *scenarios.Result) bool {
	checks := slices.Sorted(slices.Values(want.Checks))
	return string(r.Report.Verdict) == want.Verdict && (len(checks) == 0 || slices.Equal(checks, broken(r)))
}

// broken are the checks that failed; of an excused run those that were excused.
func broken(r *scenarios.Result) []string {
	if r.Report.Verdict == checker.Excused {
		return r.Report.Excused()
	}
	return r.Report.Broken()
}

// verdictStatus is the exit status of a run that declares nothing; one that could
// not be judged says in one line where it went astray.
func verdictStatus(l loaded, r *scenarios.Result) error {
	switch r.Report.Verdict {
	case checker.Violation:
		return &exitError{status: exitViolation}
	case checker.Unknown:
		return &exitError{exitUnknown, astray(l, r)}
	}
	return nil
}

func astray(l loaded, r *scenarios.Result) error {
	if s := r.Failed; s != nil {
		return &plan.Error{File: l.arg, Line: s.Line, Err: fmt.Errorf("%s: its time ran out", s)}
	}
	return fmt.Errorf("%s: %s", l.arg, strings.Join(r.Report.Unknown, "; "))
}
