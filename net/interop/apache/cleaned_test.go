package apache

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// A batch that compaction emptied keeps its largest timestamp in the header, and the
// time index points to it: Kafka's own cleaner writes so, byte for byte, and Kafka's own
// tool complains of it (see the package comment).
func TestTheTimeIndexOfEmptiedBatchesIsWhatKafkasCleanerWrites(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	n := boot(t, dir)
	cfg := table64()
	cfg.IndexIntervalBytes = 150 // two emptied batches
	l := n.open("table-0", cfg)
	for i := range 20 { // the only batch of each producer, which stays when it is empty
		n.append(l, (&writer{id: kafka.ProducerID(100 + i)}).batch(n.now, i, 1, 500), 0)
	}
	plain := &writer{id: kafka.NoProducerID}
	for i := range 150 {
		n.append(l, plain.batch(n.now, i, 1, 500), 0)
	}
	segment := filepath.Join(dir, "table-0", "00000000000000000000")
	before := batchesIn(t, filepath.Dir(segment))
	n.clean(l)
	n.await("stop", l.Stop)
	n.kill()

	ours := map[string][]byte{}
	for _, kind := range []string{".log", ".index", ".timeindex"} {
		var err error
		if ours[kind], err = os.ReadFile(segment + kind); err != nil {
			t.Fatal(err)
		}
	}
	records, emptied, times := left(t, ours[".log"])
	if len(emptied) != 20 {
		t.Fatalf("%d batches are empty", len(emptied))
	}
	theirs := kafkaCleans(t, before, records, emptied)
	for kind, want := range theirs {
		if !bytes.Equal(ours[kind], want) {
			t.Errorf("%s: tidemark's cleaner writes\n%x, Kafka's\n%x", kind, ours[kind], want)
		}
	}
	said := dumpLogSegments(t, "--verify-index-only", "--files", segment+".timeindex")
	complaints := 0
	for _, time := range times {
		if strings.Contains(said, fmt.Sprintf("Index timestamp: %d, log timestamp: -1\n", time)) {
			complaints++
		}
	}
	if complaints == 0 || complaints != strings.Count(said, "Index timestamp:") {
		t.Errorf("Kafka complains of %d entries for emptied batches:\n%s", complaints, said)
	}
	t.Logf("%d batches were emptied, Kafka complains of %d entries", len(emptied), complaints)
}

// left tells what a cleaned segment holds: the offsets of its records, the last ones of
// its empty batches and the timestamps in their headers.
func left(t *testing.T, log []byte) (records, emptied []string, times []kafka.Timestamp) {
	t.Helper()
	for len(log) > 0 {
		b, rest, err := record.Next(log)
		if err != nil {
			t.Fatal(err)
		}
		log = rest
		if b.Count() == 0 {
			emptied = append(emptied, fmt.Sprint(b.LastOffset()))
			times = append(times, b.MaxTimestamp())
			continue
		}
		var it record.Iterator
		for it.ResetWith(new(record.Inflater), b); it.Next(); {
			records = append(records, fmt.Sprint(it.Record().Offset))
		}
	}
	return records, emptied, times
}

// kafkaCleans has Kafka's classes make the segment of the same batches; the files by kind.
func kafkaCleans(t *testing.T, batches []byte, records, emptied []string) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "batches")
	if err := os.WriteFile(source, batches, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), toolWithin)
	defer cancel()
	cmd := java(ctx, "256m", filepath.Join("testdata", "CleanedSegment.java"), source, dir, "0", "150", strings.Join(records, ","), strings.Join(emptied, ","))
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "compilation failed") {
			t.Skipf("this release's cleaner is called in another way:\n%s", tail(string(out)))
		}
		t.Fatalf("CleanedSegment: %v\n%s", err, tail(string(out)))
	}
	files := map[string][]byte{}
	for _, kind := range []string{".log", ".index", ".timeindex"} {
		content, err := os.ReadFile(filepath.Join(dir, "00000000000000000000"+kind))
		if err != nil {
			t.Fatal(err)
		}
		files[kind] = content
	}
	return files
}
