//go:build !js

package main

import (
	"encoding/json"
	"testing"
)

func TestBenchServeMeasuresEveryWorkload(t *testing.T) {
	t.Setenv(asCommand, "1") // for the child that it starts
	status, out, errText := command(t, "bench", "serve", "--seconds", "0.02", "--data", t.TempDir(), "--json")
	var rows []serveRow
	if err := json.Unmarshal([]byte(out), &rows); status != exitOK || err != nil {
		t.Fatalf("status %d, %v: %s%s", status, err, out, errText)
	}
	if len(rows) != 2*len(workloads) {
		t.Fatalf("%d rows, want one for each workload with one and with three replicas", len(rows))
	}
	for _, r := range rows {
		if r.RecordsPerSecond <= 0 || r.FetchedMBs <= 0 || r.LatencyMicros <= 0 || r.LatencyP99Micros < r.LatencyMicros {
			t.Errorf("nothing was measured: %+v", r)
		}
	}
}
