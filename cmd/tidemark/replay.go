package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"tidemark/sim/replay"
)

func newReplay() *cobra.Command {
	return &cobra.Command{
		Use:   "replay FILE",
		Short: "run a recording of serve again in the simulator and compare",
		Long: `Run the nodes of a recording (tidemark serve --record FILE) again: the same state
machines, given the same messages, timers, fsync completions, clocks and chance, over a
simulated disk that begins with the directories that they had. Everything that they
send, post, dial, close, write, sync and emit must be what they did then, byte for byte.
A recording that a kill -9 cut short is replayed up to its last whole callbacks.

Exit status: 0 identical, 1 a difference (the first one is printed), 2 no recording.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("replay takes one recording: write tidemark replay FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return usageError("replay: %w", err)
			}
			defer file.Close()
			return replayFile(cmd.OutOrStdout(), args[0], file)
		},
	}
}

// replayFile replays and prints what came of it.
func replayFile(out io.Writer, name string, in io.Reader) error {
	r, err := replay.Run(in, recordedLanes)
	if err != nil {
		return usageError("%s: %w", name, err)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(out, note)
	}
	fmt.Fprintf(out, "%d lives of nodes, %d callbacks, %d messages of %d bytes: ", r.Lives, r.Callbacks, r.Messages, r.Frames)
	if r.Difference != nil {
		fmt.Fprintln(out, "different")
		fmt.Fprintln(out, r.Difference)
		return &exitError{exitViolation, errors.New("the replay differs from the recording")}
	}
	fmt.Fprintln(out, "identical")
	return nil
}
