//go:build !js

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// impatient lets the controller fence a dead broker soon.
var impatient = []string{"--set", "broker.session.timeout.ms=500", "--set", "broker.heartbeat.interval.ms=100"}

func TestRecordingOfServeReplaysIdentical(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	args := append([]string{"--brokers", "2", "--lanes", "2", "--rules", "truncate=toHW", "--data", filepath.Join(dir, "d"), "--listen", "127.0.0.1:0"}, impatient...)
	startServing(t, append(args, "--record", first)...).kill()
	startServing(t, append(args, "--record", second)...).stop()
	for name, cut := range map[string]bool{first: true, second: false} {
		status, out, errText := command(t, "replay", name)
		if status != exitOK || errText != "" || !strings.Contains(out, "3 lives of nodes, ") || !strings.HasSuffix(out, ": identical\n") {
			t.Fatalf("status %d, printed %q, said %q", status, out, errText)
		}
		var callbacks int
		if fmt.Sscanf(out[strings.Index(out, "3 lives"):], "3 lives of nodes, %d callbacks", &callbacks); callbacks < 100 {
			t.Errorf("only %d callbacks were written before the end", callbacks)
		}
		if strings.Contains(out, "is not recorded to its end") != cut {
			t.Errorf("cut short %v, printed %q", cut, out)
		}
	}
}

// altered is a copy of a file with a change.
func altered(t *testing.T, name, from, to string) string {
	t.Helper()
	text := read(t, name)
	if !strings.Contains(text, from) {
		t.Fatalf("%s has no %q", name, from)
	}
	copied := filepath.Join(t.TempDir(), "altered")
	if err := os.WriteFile(copied, []byte(strings.Replace(text, from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return copied
}

func TestWhatIsNoRecordingIsOneLineAndStatus2(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	startServing(t, "--listen", "127.0.0.1:0", "--record", whole).stop()
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("version=1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"write tidemark replay FILE":                    {},
		"no such file":                                  {filepath.Join(dir, "nosuch")},
		"does not begin as a recording":                 {other},
		"version 2 of the format, this program knows 1": {altered(t, whole, "recording \x01", "recording \x02")},
		"the checksum of the chunk at byte 20 is wrong": {altered(t, whole, "node_id", "node_ix")},
		"the header of the chunk at byte 20 is wrong":   {altered(t, whole, "recording \x01\x00", "recording \x01\x01")},
	} {
		status, out, errText := command(t, append([]string{"replay"}, args...)...)
		if status != exitUsage || strings.Count(errText, "\n") != 1 || !strings.Contains(errText, want) || out != "" {
			t.Errorf("replay %v: status %d, printed %q, said\n%swant status 2 and one line with\n%s", args, status, out, errText, want)
		}
	}
	line(t, whole+" exists: choose another name", "--listen", "127.0.0.1:0", "--record", whole)
	line(t, "--record: open "+dir+"/nosuch/file", "--listen", "127.0.0.1:0", "--record", dir+"/nosuch/file")
}
