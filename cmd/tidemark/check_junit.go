package main

import (
	"encoding/xml"
	"fmt"
	"strings"

	"tidemark/checker"
)

// The elements of JUnit's XML that readers agree on.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junit writes a test case for each rule: a violation fails, a rule that judged
// nothing is skipped. Where the verdict of the whole history is unknown, one more
// case is skipped to say why: CI must not take it for green.
func junit(c checkResult) []byte {
	s := junitSuite{Name: "tidemark check " + strings.Join(c.files, " ")}
	for _, r := range ruleResults(c.report) {
		s.add(ruleCase(c, r))
	}
	if c.report.Verdict == checker.Unknown {
		s.add(junitCase{Name: "verdict", Skipped: &junitMessage{Message: strings.Join(c.report.Unknown, "; ")}})
	}
	text, err := xml.MarshalIndent(junitSuites{Suite: s}, "", "  ")
	if err != nil {
		panic("check: a result that XML cannot write: " + err.Error())
	}
	return append([]byte(xml.Header), append(text, '\n')...)
}

func (s *junitSuite) add(c junitCase) {
	c.Class = "tidemark.check"
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func ruleCase(c checkResult, r ruleResult) junitCase {
	t := junitCase{Name: r.name}
	var b strings.Builder
	first := ""
	for i := range c.report.Findings {
		if f := &c.report.Findings[i]; f.Rule == r.name {
			if first == "" {
				first = f.Text
			}
			writeFinding(&b, c, f)
		}
	}
	switch r.verdict {
	case checker.Violation:
		t.Failure = &junitMessage{Message: first, Text: b.String()}
	case checker.Unknown:
		t.Skipped = &junitMessage{Message: "nothing to judge"}
	default:
		t.Out = fmt.Sprintf("%d checks\n%s", r.checks, b.String())
	}
	return t
}
