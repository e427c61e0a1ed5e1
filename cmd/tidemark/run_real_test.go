//go:build !js

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clientsPlan is the work of clients alone.
const clientsPlan = `cluster brokers=1
set min.insync.replicas=1
topic orders partitions=2
producer p acks=all linger.ms=0
consumer c
read c orders from earliest
write p orders 50 every 1ms
wait acked p = 50 within 60s
verify c orders
`

func TestPlanIsCarriedOutOnARealClusterAndItsHistoryJudged(t *testing.T) {
	s := startServing(t, "--brokers", "1", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--set", "min.insync.replicas=1")
	_, after, _ := strings.Cut(s.ready, " at ")
	addr, _, _ := strings.Cut(after, ", data in ")
	dir := t.TempDir()
	work, recorded := filepath.Join(dir, "work.txt"), filepath.Join(dir, "history.jsonl")
	if err := os.WriteFile(work, []byte(clientsPlan), 0o644); err != nil {
		t.Fatal(err)
	}
	for run, world := range []string{"closed", "open"} {
		status, out, errText := command(t, "run", work, "--bootstrap", addr, "--history", recorded, "--json")
		var checked checkSummary
		if err := json.Unmarshal([]byte(out), &checked); err != nil {
			t.Fatalf("run %d: %v, %s%s", run, err, out, errText)
		}
		if status != exitOK || checked.Verdict != "pass" || checked.World != world {
			t.Errorf("run %d: status %d, %s in an %s world, want pass in an %s world: %v %v", run, status, checked.Verdict, checked.World, world, checked.Findings, checked.Unknown)
		}
		for _, r := range checked.Rules {
			if r.Rule == "lost-write" && r.Checks != 50 {
				t.Errorf("run %d: %d of 50 acknowledged records were looked for", run, r.Checks)
			}
		}
	}
	s.stop()
	// The history alone gives the same answer again.
	if status, out, _ := command(t, "check", recorded); status != exitOK {
		t.Errorf("status %d\n%s", status, out)
	}
}

func TestWhatARealClusterCannotDoIsRefusedWithItsLine(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct {
		plan string
		args []string
		want string
	}{
		{clientsPlan + "kill 1\n", nil, "plan.txt:10: kill is done to simulated nodes"},
		{clientsPlan + "wait leader orders-0 = 1 within 1s\n", nil, "plan.txt:10: wait leader looks inside the cluster"},
		{clientsPlan, []string{"--seed", "7"}, "--seed is for simulated clusters"},
		{clientsPlan, []string{"--rules", "truncate=toHW"}, "--rules is for simulated clusters"},
		{clientsPlan, []string{"--bootstrap", "nowhere"}, `"nowhere" is no address`},
		{clientsPlan, []string{"--history", ""}, "--bootstrap needs a file for what clients are told"},
		{clientsPlan, []string{"--history", dir}, "cannot be written"},
		{clientsPlan, []string{"--bootstrap", ""}, "--history goes with --bootstrap"},
	} {
		file := filepath.Join(dir, "plan.txt")
		if err := os.WriteFile(file, []byte(c.plan), 0o644); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"run", file, "--bootstrap", "127.0.0.1:1", "--history", filepath.Join(dir, "h.jsonl")}, c.args...)
		status, out, errText := command(t, args...)
		if status != exitUsage || out != "" || !strings.Contains(errText, c.want) || strings.Count(errText, "\n") != 1 {
			t.Errorf("%d: status %d, stdout %q, stderr %q, want %q", i, status, out, errText, c.want)
		}
	}
}
