//go:build js

package main

import "github.com/spf13/cobra"

// realCommands are none where there are no sockets and no files.
func realCommands() []*cobra.Command { return nil }

func realBenches() []*cobra.Command { return nil }
