package main

import (
	"tidemark/checker"
)

// checkSummary is a judged history for a script.
type checkSummary struct {
	Files    []string       `json:"files"`
	Source   string         `json:"source,omitempty"`
	World    string         `json:"world"`
	Clock    string         `json:"clock"`
	Events   int            `json:"events"`
	Verdict  string         `json:"verdict"`
	Broken   []string       `json:"broken"`
	Rules    []checkRule    `json:"rules"`
	Findings []checkFinding `json:"findings"`
	Notes    []checkNote    `json:"notes"`
	Unknown  []string       `json:"unknown"`
}

// checkRule is the verdict of one rule.
type checkRule struct {
	Rule    string `json:"rule"`
	Jepsen  string `json:"jepsen,omitempty"`
	Verdict string `json:"verdict"`
	Checks  int    `json:"checks"`
	// How much was found, listed below or only counted.
	Found     int `json:"found"`
	Undecided int `json:"undecided,omitempty"`
}

type checkFinding struct {
	Rule      string         `json:"rule"`
	Verdict   string         `json:"verdict"`
	Premise   string         `json:"premise,omitempty"`
	Promised  string         `json:"promised,omitempty"`
	Premises  []string       `json:"premises,omitempty"`
	Cause     string         `json:"follows_from,omitempty"`
	Event     uint64         `json:"event"`
	AtNs      int64          `json:"at_ns"`
	Partition string         `json:"partition,omitempty"`
	Offset    int64          `json:"offset"`
	Text      string         `json:"text"`
	Witness   []checkWitness `json:"witness"`
}

type checkWitness struct {
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"`
	Event uint64 `json:"event"`
	AtNs  int64  `json:"at_ns"`
	Text  string `json:"text"`
}

type checkNote struct {
	Rule  string `json:"rule"`
	Event uint64 `json:"event,omitempty"`
	Text  string `json:"text"`
}

func checkJSON(c checkResult) checkSummary {
	s := checkSummary{Files: c.files, Source: c.header.Source, World: world(c), Clock: string(c.header.Clock), Events: c.events,
		Verdict: string(c.report.Verdict), Broken: append([]string{}, c.report.Broken()...), Rules: []checkRule{},
		Findings: []checkFinding{}, Notes: []checkNote{}, Unknown: append([]string{}, c.report.Unknown...)}
	for _, r := range ruleResults(c.report) {
		s.Rules = append(s.Rules, checkRule{Rule: r.name, Jepsen: jepsenName(r.name), Verdict: string(r.verdict), Checks: r.checks,
			Found: r.findings, Undecided: r.undecided})
	}
	for i := range c.report.Findings {
		s.Findings = append(s.Findings, jsonFinding(c, &c.report.Findings[i]))
	}
	for _, n := range c.report.Notes {
		s.Notes = append(s.Notes, checkNote{n.Rule, n.Seq, n.Text})
	}
	return s
}

func jsonFinding(c checkResult, f *checker.Finding) checkFinding {
	j := checkFinding{Rule: f.Rule, Verdict: string(f.Verdict), Premise: f.Premise, Promised: f.Contract, Premises: f.Ledger, Event: f.Seq, AtNs: f.At,
		Offset: int64(f.Offset), Text: f.Text, Witness: []checkWitness{}}
	if f.Secondary {
		j.Cause = f.Cause
	}
	if f.TP.Topic != "" {
		j.Partition = f.TP.String()
	}
	for _, seq := range witnessesOf(f) {
		if w, ok := c.witnesses[seq]; ok {
			j.Witness = append(j.Witness, checkWitness{w.file, w.line, seq, w.At, w.String()})
		}
	}
	return j
}
