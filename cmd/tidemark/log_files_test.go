//go:build !js

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// moved moves what is at path elsewhere and leaves a symbolic link to it.
func moved(t *testing.T, path string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(path, to); err != nil {
		t.Fatal(err)
	}
	link(t, to, path)
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// What lies behind a symbolic link is as good and as bad as what lies in the directory:
// a broker's directory, a replica, a file.
func TestLogVerifyAndDumpFollowSymbolicLinks(t *testing.T) {
	for _, linked := range []string{"", "payments-0", "payments-0/00000000000000000000.txnindex", "meta.properties"} {
		dir, file := damaged(t)
		moved(t, filepath.Join(dir, linked))
		above := filepath.Dir(dir) // the directory of the cluster
		for _, arg := range []string{above, dir, filepath.Join(dir, "payments-0")} {
			status, out, errText := command(t, "log", "verify", arg)
			if want := ": byte 36: producer id is 7, "; status != exitViolation || out != "" || strings.Count(errText, want) != 1 {
				t.Errorf("%q is a link: verify %s: status %d, %q, %q", linked, arg, status, out, errText)
			}
		}
		for _, arg := range []string{above, dir, file} {
			status, out, errText := command(t, "log", "dump", arg)
			if status != exitOK || errText != "" || !strings.Contains(out, "Dumping "+file+"\n") {
				t.Errorf("%q is a link: dump %s: status %d, %q", linked, arg, status, errText)
			}
		}
	}
}

// What has no end, or is not there, ends verify and dump with one line that names it.
func TestLogVerifyAndDumpNameWhatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		what, path string
		make       func(dir, path string) error
		want       string
	}{
		{"a link to the directory", "loop", func(dir, path string) error { return os.Symlink(dir, path) }, "is a symbolic link to a directory that it lies in"},
		{"a link above", "mixed-0/up", func(dir, path string) error { return os.Symlink("../..", path) }, "is a symbolic link to a directory that it lies in"},
		{"a link to itself", "self", func(_, path string) error { return os.Symlink(path, path) }, "too many levels of symbolic links"},
		{"a replica that is not there", "lost-0", func(dir, path string) error { return os.Symlink(dir+"-none", path) }, "is a symbolic link that leads nowhere"},
		{"a file that is not there", "mixed-0/00000000000000000400.index", func(dir, path string) error { return os.Symlink(dir+"-none", path) }, "is a symbolic link that leads nowhere"},
		{"a pipe", "mixed-0/00000000000000000400.log", func(_, path string) error { return syscall.Mkfifo(path, 0o644) }, "is no regular file"},
		{"a pipe behind a link", "mixed-0/00000000000000000400.log", func(dir, path string) error {
			if err := syscall.Mkfifo(dir+"-pipe", 0o644); err != nil {
				return err
			}
			return os.Symlink(dir+"-pipe", path)
		}, "is no regular file"},
	} {
		dir, _ := damaged(t)
		dir, path := filepath.Clean(dir), filepath.Join(dir, c.path)
		if err := os.Remove(filepath.Join(dir, "payments-0", "00000000000000000000.txnindex")); err != nil { // the fault
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "payments-0")); err != nil {
			t.Fatal(err)
		}
		if err := c.make(dir, path); err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"verify", "dump"} {
			status, _, errText := command(t, "log", verb, dir)
			if status != exitUsage || strings.Count(errText, c.want) != 1 || !strings.Contains(errText, path) || strings.Count(errText, "\n") != 1 {
				t.Errorf("%s: %s: status %d, %q, want %q", c.what, verb, status, errText, c.want)
			}
		}
	}
}

// Two links may lead into each other's directories without any that lies above them.
func TestLogVerifyFindsALoopOfTwoLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(other, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(other, "x"), filepath.Join(dir, "out"))
	link(t, other, filepath.Join(other, "x", "back"))
	status, _, errText := command(t, "log", "verify", dir)
	if status != exitUsage || strings.Count(errText, "is a symbolic link to a directory that it lies in") != 1 {
		t.Errorf("status %d, %q", status, errText)
	}
}
