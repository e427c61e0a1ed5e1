// Command tidemark runs a whole Kafka from one seed, breaks it, and says what it
// promised and did not keep.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitOK        = 0 // pass or excused; of a story: the verdict that it declares
	exitViolation = 1
	exitUsage     = 2 // bad flags or input
	exitUnknown   = 3 // nothing could be concluded
)

// exitError ends the program with a status; its text, if any, goes to stderr.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, v ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, v...)}
}

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs a command line and returns its exit status.
func execute(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{exitUsage, err}
	}
	if exit.err != nil {
		fmt.Fprintln(stderr, "tidemark:", exit.err)
	}
	return exit.status
}

// simulationGC is the GOGC of commands that simulate: a run's heap is small and
// its garbage plenty, so memory is traded for time unless the user sets GOGC.
const simulationGC = 400

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "tidemark",
		Short: "a deterministic simulation testbed for Kafka's replication",
		Long: `tidemark runs a whole Kafka (brokers, a KRaft controller, producers, consumers) from
one seed over a simulated clock, disk and network, injects faults, and checks what
Kafka promises. The same seed gives the same run on every machine.

Exit status: 0 pass or excused (of a story: the verdict that it declares),
1 violation, 2 bad usage or input, 3 unknown.`,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			if cmd.Name() != "serve" && os.Getenv("GOGC") == "" {
				debug.SetGCPercent(simulationGC)
			}
		},
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(newRun(), newSweep(), newCheck(), newList(), newRules(), newChecks(), newKeys(), newReplay(), newDigest(), newLog(), newBench())
	root.AddCommand(realCommands()...)
	return root
}
