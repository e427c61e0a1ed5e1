package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tidemark/checker/history"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/reports"
	"tidemark/scenarios"
)

// reportOptions are what narrative and timeline say of the run itself.
func reportOptions(l loaded, r *scenarios.Result, replay string) reports.Options {
	title := fmt.Sprintf("%s, seed %d, ", l.title, r.Seed)
	if r.Rules == "" {
		title += "current rules"
	} else {
		title += "rules " + r.Rules
	}
	if l.with != "" {
		title += ", with " + l.with
	}
	o := reports.Options{Title: title, Replay: replay}
	// A violation that a story is there to show must not look like a surprise.
	if want, declared := l.plan.Expected(r.Rules, l.with); declared && want.Verdict != "pass" && asDeclared(want, r) {
		o.Declared = "as " + l.arg + " declares for " + verdictScope(want)
	}
	return o
}

// output is what run prints, and what a story's golden output holds.
func output(l loaded, r *scenarios.Result, replay string) string {
	lines := reports.Narrative(r.Events, r.Report, reportOptions(l, r, replay))
	return strings.Join(lines, "\n") + "\n"
}

// writeTrace writes a run's events as a history, which check can judge again.
func writeTrace(name string, r *scenarios.Result, replay string) error {
	var b bytes.Buffer
	w := history.NewWriter(&b, history.Header{Source: replay, Clock: history.BySeq})
	for i := range r.Events {
		w.Write(&r.Events[i])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return createFile(name, b.Bytes())
}

// writePlot draws the timeline into two files, whose names it tells. One of their
// names does for the prefix too.
func writePlot(stderr io.Writer, prefix string, l loaded, r *scenarios.Result, replay string, shown kafka.TopicPartition) error {
	for _, ending := range []string{".svg", ".png"} {
		prefix = strings.TrimSuffix(prefix, ending)
	}
	o := reportOptions(l, r, replay)
	o.TP, o.PartitionFlag = shown, "--partition"
	picture, err := reports.Timeline(r.Events, r.Report, o)
	if errors.Is(err, reports.ErrNothingToShow) {
		return usageError("--partition: %w", err)
	}
	if err != nil {
		return fmt.Errorf("the timeline cannot be drawn: %w", err)
	}
	svg, err := picture.SVG()
	if err != nil {
		return fmt.Errorf("the timeline cannot be drawn: %w", err)
	}
	png, err := picture.PNG()
	if err != nil {
		return fmt.Errorf("the timeline cannot be drawn: %w", err)
	}
	if err := createFile(prefix+".svg", svg); err != nil {
		return err
	}
	if err := createFile(prefix+".png", png); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "tidemark: the timeline is in %s.svg and %s.png\n", prefix, prefix)
	return nil
}

// rewriteGolden puts a run's output into the scenario file, in the section of its
// variant.
func rewriteGolden(name, variant, output string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return usageError("--rewrite: %w", err)
	}
	return createFile(name, []byte(plan.WithGolden(string(text), variant, output)))
}

// summary is the result of a run for a script.
type summary struct {
	Scenario    string           `json:"scenario"`
	Seed        uint64           `json:"seed"`
	Rules       string           `json:"rules"`
	Verdict     string           `json:"verdict"`
	Broken      []string         `json:"broken"`
	Findings    []summaryFinding `json:"findings"`
	Notes       []string         `json:"notes"`
	Unknown     []string         `json:"unknown"`
	Events      int              `json:"events"`
	WorldEvents uint64           `json:"world_events"`
	SimulatedMs int64            `json:"simulated_ms"`
	Digest      string           `json:"digest"`
	Ignored     []ignoredKey     `json:"ignored,omitempty"`
}

type summaryFinding struct {
	Rule      string `json:"rule"`
	Verdict   string `json:"verdict"`
	Premise   string `json:"premise,omitempty"`
	Event     uint64 `json:"event"`
	AtNs      int64  `json:"at_ns"`
	Partition string `json:"partition,omitempty"`
	Offset    int64  `json:"offset"`
	Client    string `json:"client,omitempty"`
	Acked     uint64 `json:"acked_event,omitempty"`
	Lost      uint64 `json:"lost_event,omitempty"`
	Text      string `json:"text"`
}

func summarize(l loaded, r *scenarios.Result) summary {
	s := summary{Scenario: l.arg, Seed: r.Seed, Rules: r.Rules, Verdict: string(r.Report.Verdict),
		Broken: append([]string{}, r.Report.Broken()...), Findings: []summaryFinding{}, Notes: []string{},
		Unknown: append([]string{}, r.Report.Unknown...), Events: len(r.Events),
		WorldEvents: r.Stats.Events, SimulatedMs: r.Simulated.Milliseconds(), Digest: fmt.Sprintf("%016x", r.Digest)}
	for _, f := range r.Report.Findings {
		sf := summaryFinding{Rule: f.Rule, Verdict: string(f.Verdict), Premise: f.Premise, Event: f.Seq, AtNs: f.At,
			Offset: int64(f.Offset), Client: f.Client, Acked: f.Acked.Seq, Lost: f.Lost.Seq, Text: f.Text}
		if f.TP.Topic != "" {
			sf.Partition = f.TP.String()
		}
		s.Findings = append(s.Findings, sf)
	}
	for _, n := range r.Report.Notes {
		s.Notes = append(s.Notes, n.Rule+": "+n.Text)
	}
	return s
}
