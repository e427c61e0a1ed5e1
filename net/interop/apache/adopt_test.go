package apache

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/storage"
	"tidemark/node/storage/inspect"
)

// adopted opens every replica of a copy of Kafka's directory with our engine, as the
// checkpoints say: it has the batches that were there, byte for byte, takes more, and
// what it leaves is sound before and after its stop, where it recovered to both tools.
// tidemark serve leaves the directory alone, as it cannot replay all of Kafka's metadata log.
func adopted(t *testing.T, source string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "adopted")
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	refused(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, "__cluster_metadata-0")); err != nil { // the marker does not tell of it
		t.Fatal(err)
	}
	_, err := os.Stat(filepath.Join(dir, ".kafka_cleanshutdown"))
	clean := err == nil
	if err := os.Remove(filepath.Join(dir, ".kafka_cleanshutdown")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	n := boot(t, dir)
	var logs []*storage.Log
	for _, name := range replicasIn(t, dir) {
		want := batchesIn(t, filepath.Join(dir, name))
		l := n.adopt(name, storage.DefaultConfig(), clean)
		n.holds(l, want)
		n.append(l, (&writer{id: kafka.NoProducerID}).batch(n.now, 0, 5, 100), 1<<20)
		logs = append(logs, l)
	}
	n.checkpoint(logs)
	verify(t, dir)
	for _, l := range logs {
		n.await("stop "+l.Dir(), l.Stop)
	}
	n.checkpoint(logs)
	n.write(".kafka_cleanshutdown", `{"version":0,"brokerEpoch":1}`)
	n.kill()
	verify(t, dir)
	if clean {
		t.Logf("%d replicas", len(logs))
		return // the files that were there are Kafka's still
	}
	for _, line := range kafkaFinds(t, dir) {
		if !ofAnEmptiedBatch(line) {
			t.Errorf("Kafka says of our files: %s", line)
		}
	}
	t.Logf("%d replicas were recovered", len(logs))
}

// ofAnEmptiedBatch tells whether DumpLogSegments complains of the compacted topic's
// time index: a batch that compaction emptied has a timestamp in its header, which the
// index holds, Kafka's own too, and no record where the tool looks for it.
func ofAnEmptiedBatch(line string) bool {
	return strings.Contains(line, "timestamp mismatch in :") && strings.Contains(line, "/table-0/")
}

// refused has serve look at Kafka's directory: one line, and nothing is touched.
func refused(t *testing.T, dir string) {
	t.Helper()
	before := everyFile(t, dir)
	out, err := exec.Command(tidemark, "serve", "--node-id", "1", "--roles", "broker,controller", "--voters", "1@127.0.0.1:1",
		"--listen", "127.0.0.1:0", "--data", dir).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), " is a directory of Apache Kafka's (") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("tidemark serve on a directory of Kafka's: %v\n%s", err, out)
	}
	if after := everyFile(t, dir); !maps.EqualFunc(before, after, bytes.Equal) {
		t.Errorf("tidemark serve has changed %s", dir)
	}
}

func everyFile(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// replicasIn are the directories of replicas, by name.
func replicasIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := inspect.ReplicaOf(e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	return names
}

// batchesIn is a replica's log, one segment behind the other, without a half batch at
// its end.
func batchesIn(t *testing.T, replica string) (all []byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(replica, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for len(content) > 0 {
			b, rest, err := record.Next(content)
			if err != nil {
				break
			}
			all, content = append(all, b...), rest
		}
	}
	return all
}

// adopt opens a replica by what the checkpoints of its directory say.
func (n *lane) adopt(name string, cfg storage.Config, clean bool) *storage.Log {
	n.t.Helper()
	tp, _ := inspect.ReplicaOf(name)
	entry := func(file string) kafka.Offset {
		entries, err := storage.ReadOffsetCheckpoint(n.fs, file)
		if err != nil {
			n.t.Fatal(err)
		}
		for _, e := range entries {
			if e.TP == tp {
				return e.Offset
			}
		}
		return 0
	}
	id, _, err := storage.ReadTopicID(n.fs, name)
	if err != nil {
		n.t.Fatal(err)
	}
	l, rec, err := storage.Open(n.fs, name, cfg, storage.Opening{Clean: clean, RecoveryPoint: entry(storage.RecoveryPointCheckpoint),
		LogStart: entry(storage.LogStartCheckpoint), CleanedUpTo: entry(storage.CleanerCheckpoint), TopicID: id, Syncs: n.syncs, Now: n.now})
	if err != nil {
		n.t.Fatal(err)
	}
	if rec.CutAt != kafka.NoOffset {
		n.t.Logf("%s: cut at offset %d, byte %d: %s", name, rec.CutAt, rec.CutPos, rec.Reason)
	}
	l.SetHighWatermark(l.LogEnd())
	return l
}

// holds compares what a log has with the batches that were in its files.
func (n *lane) holds(l *storage.Log, want []byte) {
	n.t.Helper()
	for from := l.LogStart(); from < l.LogEnd(); {
		got, err := l.ReadBatches(from, 1<<20)
		if err != nil || len(got) == 0 {
			n.t.Fatalf("%s: read from offset %d of %d: %d bytes, %v", l.Dir(), from, l.LogEnd(), len(got), err)
		}
		for len(got) > 0 {
			b, rest, err := record.Next(got)
			if err != nil {
				n.t.Fatal(err)
			}
			for l.LogStart() > record.Batch(want).LastOffset() { // below the log start
				want = want[len(firstOf(n.t, want)):]
			}
			if !bytes.HasPrefix(want, b) {
				n.t.Fatalf("%s: the batch at offset %d is another one than in Kafka's file", l.Dir(), b.BaseOffset())
			}
			want, got, from = want[len(b):], rest, b.NextOffset()
		}
	}
	if len(want) > 0 {
		n.t.Errorf("%s: %d bytes of Kafka's batches are missing", l.Dir(), len(want))
	}
}

func firstOf(t *testing.T, batches []byte) record.Batch {
	t.Helper()
	b, _, err := record.Next(batches)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
