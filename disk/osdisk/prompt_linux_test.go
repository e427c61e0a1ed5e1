//go:build linux && (amd64 || arm64)

package osdisk

import "testing"

func TestPromptReadGivesWhatWasJustWrittenAndNothingBehindTheEnd(t *testing.T) {
	l := open(t, t.TempDir()).lane()
	f := create(t, l, "log", "records").(*file)
	p := make([]byte, 4)
	// A file system may refuse to say what is in memory; it must not say what is not so.
	if f.ReadPrompt(p, 3) && string(p) != "ords" {
		t.Errorf("read %q", p)
	}
	if f.ReadPrompt(p, 5) {
		t.Error("four bytes are said to be in the last two")
	}
}
