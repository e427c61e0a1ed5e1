package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tidemark/model/plan"
	"tidemark/model/rules"
	"tidemark/scenarios"
)

func newList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the stories",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type listedStory struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Verdicts []string `json:"verdicts"`
}

func list(w io.Writer, asJSON bool) error {
	var stories []listedStory
	for _, s := range scenarios.Stories() {
		l := listedStory{ID: s.ID, Name: s.Name, Title: s.Title}
		for _, e := range s.Plan.Expect {
			l.Verdicts = append(l.Verdicts, verdictText(e))
		}
		stories = append(stories, l)
	}
	if asJSON {
		return printJSON(w, stories)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range stories {
		fmt.Fprintf(t, "%s\t%s\t%s\n", s.ID, s.Name, s.Title)
		for _, v := range s.Verdicts {
			fmt.Fprintf(t, "\t\t  %s\n", v)
		}
	}
	return t.Flush()
}

// verdictText says an expectation as a reader would.
func verdictText(e plan.Expectation) string {
	text := verdictScope(e) + ": " + e.Verdict
	for i, c := range e.Checks {
		if i > 0 {
			text += ","
		}
		text += " " + c
	}
	return text
}

// verdictScope says what an expectation holds for.
func verdictScope(e plan.Expectation) string {
	under := "current rules"
	if e.Rules != "" {
		under = e.Rules
	}
	if e.With != "" {
		under += " with " + e.With
	}
	return under
}

func newRules() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "list the historical rules that a run can go back to",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listRules(cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type listedRule struct {
	Rule    string `json:"rule"`
	Current string `json:"current"`
	Summary string `json:"summary"`
	History string `json:"history"`
	Stories string `json:"stories"`
}

func listRules(w io.Writer, asJSON bool) error {
	var all []listedRule
	for _, v := range rules.Variants() {
		all = append(all, listedRule{v.Name(), v.Current, v.Summary, v.History, v.Stories})
	}
	if asJSON {
		return printJSON(w, all)
	}
	fmt.Fprintln(w, "Without --rules a run follows Apache Kafka 4.x. --rules SWITCH=VALUE[,...] goes back to:")
	for _, r := range all {
		fmt.Fprintf(w, "\n%s (current: %s)\n  %s\n  %s\n  broken by: %s\n", r.Rule, r.Current, r.Summary, r.History, r.Stories)
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
