package scenarios

import (
	"fmt"
	"slices"

	"tidemark/checker"
	"tidemark/model/plan"
	"tidemark/model/rules"
)

// Parse reads a scenario file and vets what the grammar alone cannot know: the
// names of checks and of rules. The first fault is a *plan.Error.
func Parse(file, text string) (*plan.Plan, error) {
	p, err := plan.Parse(file, text)
	if err != nil {
		return nil, err
	}
	for _, e := range p.Expect {
		if err := vetExpectation(e); err != nil {
			return nil, &plan.Error{File: file, Line: e.Line, Err: err}
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Verb != plan.VerbRules || s.Rules == currentRules {
			continue
		}
		if _, err := rules.Parse(s.Rules); err != nil {
			return nil, &plan.Error{File: file, Line: s.Line, Err: err}
		}
	}
	return p, nil
}

func vetExpectation(e plan.Expectation) error {
	for _, check := range e.Checks {
		known := slices.ContainsFunc(checker.Promises(), func(p checker.Promise) bool { return p.Rule == check })
		if !known {
			return fmt.Errorf("%q is no check: tidemark checks lists them", check)
		}
	}
	_, err := rules.Parse(e.Rules)
	return err
}
