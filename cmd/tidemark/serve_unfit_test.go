//go:build !js

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serveRefuses checks that serve refuses a directory in one line.
func serveRefuses(t *testing.T, dir, want string, more ...string) {
	t.Helper()
	args := append([]string{"serve", "--node-id", "1", "--roles", "broker", "--voters", "9@127.0.0.1:1", "--listen", "127.0.0.1:0", "--cluster-id", "AQIDAAAAAAAAAAAAAAAABw", "--data", dir}, more...)
	status, out, errText := command(t, args...)
	if status != exitUsage || out != "" || !strings.Contains(errText, want) || strings.Count(errText, "\n") != 1 {
		t.Errorf("status %d, %q, %q, want %q", status, out, errText, want)
	}
}

// Kafka calls it unformatted, and would rather not start: with a new identity the old
// logs would be another cluster's.
func TestServeRefusesLogsWithoutAMetaProperties(t *testing.T) {
	for _, logDir := range []string{"", "d1"} {
		root := t.TempDir()
		dir := filepath.Join(root, logDir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(dir, "mixed-0"), os.DirFS(kafkaDir+"/mixed-0")); err != nil {
			t.Fatal(err)
		}
		serveRefuses(t, root, dir+" has mixed-0 and no meta.properties: put the file back", "--set", "log.dirs=d0,d1")
		if _, err := os.Stat(filepath.Join(root, identityFile)); err == nil {
			t.Error("the directory was formatted")
		}
	}
}

// A crash in the first start leaves the metadata log, the lock and half a
// meta.properties, and is no reason to refuse.
func TestACrashInTheFirstFormatIsNoReasonToRefuse(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "__cluster_metadata-0"), os.DirFS(kafkaDir+"/__cluster_metadata-0")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".lock", "meta.properties.tmp", "recovery-point-offset-checkpoint"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "broker-1"), 0o755); err != nil { // a directory that is named like a replica
		t.Fatal(err)
	}
	if err := notUnformatted(dir, ""); err != nil {
		t.Error(err)
	}
}

func TestServeRefusesLinksThatLeadOutOfItsDirectory(t *testing.T) {
	for _, path := range []string{"mixed-0", "mixed-0/00000000000000000000.log", "replication-offset-checkpoint"} {
		dir, _ := damaged(t)
		if err := os.RemoveAll(filepath.Join(dir, "__cluster_metadata-0")); err != nil {
			t.Fatal(err)
		}
		moved(t, filepath.Join(dir, path))
		if err := noLinkOut(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, path)+" is a symbolic link that leads out of "+dir) {
			t.Errorf("%s: %v", path, err)
		}
	}
	dir, _ := damaged(t)
	link(t, "mixed-0", filepath.Join(dir, "alias-0"))
	if err := noLinkOut(dir); err != nil {
		t.Errorf("a link that stays inside: %v", err)
	}
	link(t, dir, dir+"-link")
	if err := noLinkOut(dir + "-link"); err != nil {
		t.Errorf("a link to the directory itself: %v", err)
	}
	link(t, os.TempDir(), filepath.Join(dir, "out-0"))
	if err := os.RemoveAll(filepath.Join(dir, "__cluster_metadata-0")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, identityFile)); err != nil {
		t.Fatal(err)
	}
	serveRefuses(t, dir, " is a symbolic link that leads out of "+dir)
	if err := noLinkOut(filepath.Join(dir, "none")); err != nil {
		t.Error(err)
	}
}
