package main

import (
	"fmt"
	"io"
	"path/filepath"

	"tidemark/model/plan"
	"tidemark/scenarios"
)

// allStories is the word that stands for every story in every variant that it
// declares.
const allStories = "all"

// runAll runs all of them and prints a line for each; with --rewrite the golden
// outputs go into the stories' files in that folder. The first story that does
// not end as it declares decides the exit status, after all have run.
func runAll(out, stderr io.Writer, f runFlags) error {
	if f.rules != "" || len(f.given.set)+len(f.given.config) > 0 || f.plot != "" || f.shown != "" || f.trace != "" || f.from != "" || f.print || f.json {
		return usageError("run all takes --seed, --lanes and --rewrite: the stories declare the rest themselves")
	}
	var first error
	for _, s := range scenarios.Stories() {
		for _, e := range s.Plan.Expect {
			v := f.variant(e)
			if f.rewrite != "" {
				v.rewrite = filepath.Join(f.rewrite, s.ID+".txt")
			}
			err := run(io.Discard, stderr, s.ID, v)
			if first == nil {
				first = err
			}
			word := "as declared"
			if err != nil {
				word = err.Error()
			}
			if _, err := fmt.Fprintf(out, "%s %s, %s\n", s.ID, verdictText(e), word); err != nil {
				return err
			}
		}
	}
	return first
}

// variant is the flags with what an expectation depends on.
func (f runFlags) variant(e plan.Expectation) runFlags {
	f.rules = e.Rules
	for _, s := range plan.SplitSettings(e.With) {
		f.given.set = append(f.given.set, s.Key+"="+s.Value)
	}
	return f
}
