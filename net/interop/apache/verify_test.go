package apache

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/node/storage"
)

// verify runs tidemark log verify, which must find nothing.
func verify(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command(tidemark, "log", "verify", "--json", dir).CombinedOutput()
	if err != nil {
		t.Errorf("tidemark log verify %s: %v\n%s", dir, err, out)
		return
	}
	var sum struct{ Replicas, Segments, Batches, Records, IndexEntries int }
	if err := json.Unmarshal(out, &sum); err != nil || sum.Records == 0 || sum.IndexEntries == 0 {
		t.Fatalf("tidemark log verify %s looked at nothing: %v\n%s", dir, err, out)
	}
	t.Logf("tidemark log verify %s: %+v", filepath.Base(dir), sum)
}

// complaints are what Kafka's DumpLogSegments says of files that are not sound.
var complaints = []string{"Mismatches in", "mismatch", "Non-consecutive", "out of order", "not found in the log", "isvalid: false",
	"invalid bytes", "corrupt", "Exception", "Error", "WARNING"}

// kafkaFinds runs Kafka's DumpLogSegments over every file of the replicas in a
// directory and returns each line that complains. A compacted topic's offsets are
// not consecutive.
func kafkaFinds(t *testing.T, dir string) (faults []string) {
	t.Helper()
	for _, pattern := range []string{"*.log", "*.index", "*.timeindex", "*.txnindex", "*.snapshot"} {
		files, err := filepath.Glob(filepath.Join(dir, "*-0", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s in %s: %v", pattern, dir, err)
		}
		for _, mode := range []string{"--deep-iteration", "--index-sanity-check"} {
			if mode == "--index-sanity-check" && pattern != "*.index" && pattern != "*.timeindex" {
				continue
			}
			for _, line := range strings.Split(dumpLogSegments(t, mode, "--files", strings.Join(files, ",")), "\n") {
				if isComplaint(line) && !strings.Contains(line, "Non-consecutive offsets in "+dir+"/table-0") {
					faults = append(faults, line)
				}
			}
		}
		t.Logf("Kafka's DumpLogSegments read %d files %s", len(files), pattern)
	}
	return faults
}

// sound lets both tools judge a directory.
func sound(t *testing.T, dir string) {
	t.Helper()
	for _, line := range kafkaFinds(t, dir) {
		t.Errorf("Kafka says of our files: %s", line)
	}
	verify(t, dir)
}

func isComplaint(line string) bool {
	return !strings.Contains(line, "SLF4J") && slices.ContainsFunc(complaints, func(c string) bool { return strings.Contains(line, c) })
}

func TestKafkaFindsEveryFileOfOurWorkloadSound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	n := boot(t, dir)
	logs := workload(n)
	n.checkpoint(logs)
	n.kill()
	t.Run("killed", func(t *testing.T) {
		sound(t, dir)
	})

	tear(t, filepath.Join(dir, "plain-0"))
	n = boot(t, dir)
	var again []*storage.Log
	for _, l := range logs {
		recovered := n.recover(l)
		n.append(recovered, (&writer{id: kafka.NoProducerID}).batch(n.now, 0, 10, 300), 3)
		again = append(again, recovered)
	}
	for _, l := range again {
		n.await("stop "+l.Dir(), l.Stop)
	}
	n.checkpoint(again)
	n.write(".kafka_cleanshutdown", `{"version":0,"brokerEpoch":1}`)
	n.kill()
	t.Run("recovered and stopped", func(t *testing.T) {
		sound(t, dir)
	})
}

// Both tools must be able to say no: a position in an index, a timestamp, a byte of
// a batch.
func TestBothToolsComplainOfAByteThatIsWrong(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	n := boot(t, dir)
	logs := []*storage.Log{transactional(n), truncated(n)}
	n.checkpoint(logs)
	n.kill()
	for _, c := range []struct {
		suffix string
		at     int
	}{{".index", 7}, {".timeindex", 7}, {".log", 200}} {
		t.Run(c.suffix, func(t *testing.T) {
			name := filepath.Join(dir, "cut-0", "00000000000000000000"+c.suffix)
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			content[c.at]++
			if err := os.WriteFile(name, content, 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(tidemark, "log", "verify", dir).CombinedOutput(); err == nil || !strings.Contains(string(out), name+": byte ") {
				t.Errorf("tidemark log verify: %v\n%s", err, out)
			}
			if said, err := tool(t, dumper, "--deep-iteration", "--files", name); err == nil && !slices.ContainsFunc(strings.Split(said, "\n"), isComplaint) {
				t.Errorf("Kafka finds nothing:\n%s", tail(said))
			}
			content[c.at]--
			if err := os.WriteFile(name, content, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// tear leaves the first part of a batch at the end of a log, as a kill in the
// middle of a write does.
func tear(t *testing.T, replica string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(replica, "*.log"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no log in %s: %v", replica, err)
	}
	last := files[len(files)-1]
	content, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(last, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(content[:100]); err != nil {
		t.Fatal(err)
	}
}
