//go:build js

package main

import "io"

// runReal needs sockets.
func runReal(io.Writer, io.Writer, loaded, runFlags) error {
	return usageError("--bootstrap needs sockets, which this build of tidemark has not")
}
