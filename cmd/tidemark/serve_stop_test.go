//go:build !js

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// onReady sends signals when serve says that it is ready.
type onReady struct {
	bytes.Buffer
	signals chan os.Signal
	n       int
}

func (o *onReady) Write(b []byte) (int, error) {
	for range o.n {
		o.signals <- syscall.SIGTERM
	}
	return o.Buffer.Write(b)
}

// timeout(1) sends one to the process and one to its group.
func TestSignalsThatComeTogetherAreOneAndTheStopIsClean(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{1, 2, 3} {
		var said bytes.Buffer
		out := &onReady{signals: make(chan os.Signal, n), n: n}
		if err := planOf(t, "--brokers", "2", "--data", dir, "--listen", "127.0.0.1:0").serve(out, &said, out.signals); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), "ready: ") || strings.Contains(said.String(), "killed") || strings.Contains(said.String(), "second signal:") {
			t.Errorf("%d signals: printed %q, said %q", n, out.String(), said.String())
		}
		for _, node := range []string{"broker-1", "broker-2"} {
			if _, err := os.Stat(filepath.Join(dir, node, cleanMarker)); err != nil {
				t.Errorf("%d signals: %v", n, err)
			}
		}
	}
}
