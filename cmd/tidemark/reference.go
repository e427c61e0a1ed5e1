package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tidemark/checker"
	"tidemark/model/kafka"
)

func newChecks() *cobra.Command {
	return &cobra.Command{
		Use:   "checks",
		Short: "list what is checked, by the names that verdicts use",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listChecks(cmd.OutOrStdout())
		},
	}
}

func listChecks(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, inside := range []bool{true, false} {
		if inside {
			fmt.Fprintln(t, "From inside the cluster")
		} else {
			fmt.Fprintln(t, "\nFrom what clients asked and were told, alone")
		}
		for _, p := range checker.Promises() {
			if p.WhiteBox != inside {
				continue
			}
			fmt.Fprintf(t, "  %s\t%s", p.Rule, p.Text)
			if p.Jepsen != "" {
				fmt.Fprintf(t, " (Jepsen: %s)", p.Jepsen)
			}
			fmt.Fprintln(t)
		}
	}
	return t.Flush()
}

var keyScopes = map[string]kafka.Scope{"broker": kafka.BrokerScope, "topic": kafka.TopicScope,
	"producer": kafka.ProducerScope, "consumer": kafka.ConsumerScope}

// scopeNames are the names of keyScopes, in the order of lists. A key of brokers and
// topics is told as a topic's where it stands alone.
var scopeNames = []string{"topic", "broker", "producer", "consumer"}

func newKeys() *cobra.Command {
	return &cobra.Command{
		Use:       "keys [broker|topic|producer|consumer]",
		Short:     "list Kafka's configuration keys that tidemark follows, with their defaults",
		ValidArgs: []string{"broker", "topic", "producer", "consumer"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && keyScopes[args[0]] == 0 {
				return usageError("keys takes none or one of broker, topic, producer, consumer, found %s", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return listKeys(cmd.OutOrStdout(), keyScopes[args[0]], "")
			}
			for i, scope := range scopeNames {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				fmt.Fprintf(cmd.OutOrStdout(), "Of a %s\n", scope)
				if err := listKeys(cmd.OutOrStdout(), keyScopes[scope], "  "); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// listKeys writes the keys of one scope, with their defaults.
func listKeys(w io.Writer, scope kafka.Scope, indent string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range kafka.Definitions(scope) {
		fmt.Fprintf(t, "%s%s\t%s\t%s\n", indent, d.Key, d.Default, d.Doc)
	}
	return t.Flush()
}
