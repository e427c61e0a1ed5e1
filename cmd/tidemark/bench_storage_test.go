//go:build !js

package main

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestBenchStorageRefusesWhatTheMachineHasNoMemoryFor(t *testing.T) {
	for _, c := range []struct {
		mib, atHand int
		want        string
	}{
		{0, 0, "--mib is 0: choose 1 to 1024 MiB"},
		{1025, 1 << 20, "--mib is 1025: choose 1 to 1024 MiB"},
		{99999999, 0, "--mib is 99999999: choose 1 to 1024 MiB"},
		{64, 1000, "--mib is 64: that takes 1536 MiB of memory and 1000 are free, choose 41 or less"},
		{64, 1536, ""},
		{1024, 0, ""},
	} {
		err := (&storageBenchFlags{mib: c.mib}).check(c.atHand)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%d MiB, %d free: %v, want %q", c.mib, c.atHand, err, c.want)
		}
	}
	status, _, errText := command(t, "bench", "storage", "--mib", "99999999")
	if status != exitUsage || strings.Count(errText, "\n") != 1 {
		t.Errorf("status %d, %q", status, errText)
	}
}

func TestBenchStorageLeavesNoFilesWhenASignalEndsIt(t *testing.T) {
	dir, signals := t.TempDir(), make(chan os.Signal, 1)
	signals <- syscall.SIGTERM
	if err := (&storageBenchFlags{data: dir, mib: 1}).run(io.Discard, io.Discard, signals); err == nil || !strings.Contains(err.Error(), "was ended (terminated)") {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}
