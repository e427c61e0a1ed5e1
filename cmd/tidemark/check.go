package main

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tidemark/checker"
	"tidemark/checker/history"
	"tidemark/model/event"
)

// checkFlags are the flags of check.
type checkFlags struct {
	format   string
	profile  []string
	clockErr time.Duration
	verbose  bool
	json     bool
	junit    string
}

func newCheck() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "judge a recorded history, of whatever cluster",
		Long: `Judge what clients asked of a Kafka cluster and were told. Several files are one
history that was recorded in parts, by client or by partition; they are merged by the
numbers of their events, or by time. - is standard input.

Formats (--format, recognised by their beginning if it is auto):
  tidemark      JSON lines; tidemark run --trace and the recorders write them. The format
                is documented in checker/history/FORMAT.md
  jepsen        EDN history of jepsen.tests.kafka
  verifiable    output of Kafka's VerifiableProducer and VerifiableConsumer (--verbose)
  kgo-verifier  log of kgo-verifier with --debug

What Kafka promised depends on settings. A history in tidemark's format brings them along;
--profile KEY=VALUE, or --profile FILE in .properties syntax, says them for all clients and
topics, over what the history says: acks=1, min.insync.replicas=2, cleanup.policy=compact,
consumer.isolation.level=read_committed; topic.orders.cleanup.policy=compact, which a FILE
cannot say, is for topic orders alone. history.world=open says that producers wrote that
the history does not show.

A rule that found nothing to judge is unknown, not passed; -v names them. Findings come in order of their
first cause; one that another explains is marked as following from it.

Exit status: 0 pass or excused, 1 violation, 2 bad usage or input, 3 unknown.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("check takes the files of one history: tidemark check FILE...")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return check(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", formatAuto, "auto, tidemark, jepsen, verifiable or kgo-verifier")
	flags.StringArrayVar(&f.profile, "profile", nil, "what the cluster and its clients were set to: KEY=VALUE, or a FILE in .properties syntax; may be repeated")
	flags.DurationVar(&f.clockErr, "clock-error", defaultClockErr, "how wrong the clocks of imported files may be, either way; one file alone needs no clock")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "name the rules that found nothing to judge, not only their number")
	flags.BoolVar(&f.json, "json", false, "print the result as JSON")
	flags.StringVar(&f.junit, "junit", "", "write the result to FILE as JUnit XML, a test case for each rule")
	return cmd
}

// defaultClockErr is what machines that synchronise their clocks keep to.
const defaultClockErr = 5 * time.Millisecond

func check(out, stderr io.Writer, files []string, f checkFlags) error {
	o, err := f.overrides(stderr)
	if err != nil {
		return err
	}
	in, done, err := newCheckInput(files, f, o)
	if err != nil {
		return err
	}
	defer done()
	result, err := judgeHistory(in, stderr)
	if err != nil {
		return badHistory(err)
	}
	if f.junit != "" {
		if err := createFile(f.junit, junit(result)); err != nil {
			return err
		}
	}
	if f.json {
		err = printJSON(out, checkJSON(result))
	} else {
		_, err = io.WriteString(out, checkText(result, f.verbose))
	}
	if err != nil {
		return err
	}
	switch result.report.Verdict {
	case checker.Violation:
		return &exitError{status: exitViolation}
	case checker.Unknown:
		return &exitError{status: exitUnknown}
	}
	return nil
}

// badHistory is a fault of the input: exit status 2.
func badHistory(err error) error { return &exitError{exitUsage, err} }

// checkResult is what check found out.
type checkResult struct {
	files     []string
	header    history.Header
	events    int
	report    checker.Report
	witnesses witnesses
}

// watched is how many events are judged between two looks at the heap.
const watched = 1 << 14

// judgeHistory reads a history once to judge it, and once more for the events
// that its findings name.
func judgeHistory(in *checkInput, stderr io.Writer) (checkResult, error) {
	heap, done := newCollector()
	defer done()
	p := newProgress(stderr, "check")
	defer p.done()
	s, err := in.open(p, nil)
	if err != nil {
		return checkResult{}, err
	}
	defer s.Close()
	result := checkResult{files: in.files, header: s.Header()}
	c := checker.New()
	for _, e := range s.Header().Events() {
		c.Observe(&e)
	}
	if s.Header().Clock == history.ByTime {
		byTime := event.New(event.Profile)
		byTime.Text = "history.clock=time"
		c.Observe(&byTime)
	}
	var e event.Event
	for {
		err := s.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return checkResult{}, err
		}
		if e.Seq != 0 { // not what --profile says
			result.events++
		}
		if result.events%watched == 0 {
			heap.watch()
		}
		if e.Kind == event.Profile && e.Text == worldSetting+"=open" {
			result.header.Open = true
		}
		c.Observe(&e)
	}
	result.report = c.Report()
	result.witnesses, err = findWitnesses(in, p, result.report)
	return result, err
}
