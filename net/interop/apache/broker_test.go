package apache

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestDirectoryOfABrokerIsSoundKilledRecoveredAndStopped(t *testing.T) {
	ctx := deadline(t)
	dir := filepath.Join(t.TempDir(), "data")
	b := newBroker(t, dir)
	b.dynamic = true
	b.format()
	b.start()
	watched := watch(t, dir)
	traffic(ctx, t, b.address)
	untilCleaned(ctx, t, b.address, dir, "table")
	watched()
	open := client(t, b.address, kgo.TransactionalID("never-ended"))
	if err := open.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	produce(ctx, t, open, "payments", 40, 200)
	verify(t, dir)
	b.kill()
	verify(t, dir)
	t.Run("ours after a kill", func(t *testing.T) { adopted(t, dir) })

	b.start()
	transactions(ctx, t, b.address, "payments", 3)
	table(ctx, t, b.address, "table")
	b.stop()
	verify(t, dir)
	if names, _ := filepath.Glob(filepath.Join(dir, "__cluster_metadata-0", "*.checkpoint")); len(names) < 2 {
		t.Errorf("the metadata log has snapshots %v, want the one of the format tool and a later one", names)
	}
	t.Run("dump", func(t *testing.T) { sameDump(t, dir) })
	t.Run("ours after a stop", func(t *testing.T) { adopted(t, dir) })
}

// sameDump compares what both tools print of every file, line by line.
func sameDump(t *testing.T, dir string) {
	var files, metadata, offsets, transactions []string
	for _, pattern := range []string{"*.log", "*.index", "*.timeindex", "*.txnindex", "*.snapshot", "*.checkpoint"} {
		names, err := filepath.Glob(filepath.Join(dir, "*-?", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			switch {
			case strings.Contains(name, "__cluster_metadata"):
				metadata = append(metadata, name)
				continue
			case strings.Contains(name, "__consumer_offsets") && pattern == "*.log":
				offsets = append(offsets, name)
			case strings.Contains(name, "__transaction_state") && pattern == "*.log":
				transactions = append(transactions, name)
			}
			files = append(files, name)
		}
	}
	for _, all := range [][]string{
		{"--print-data-log", "--files", strings.Join(files, ",")},
		{"--cluster-metadata-decoder", "--files", strings.Join(metadata, ",")},
		{"--offsets-decoder", "--files", strings.Join(offsets, ",")},
		{"--transaction-log-decoder", "--files", strings.Join(transactions, ",")},
	} {
		out, err := exec.Command(tidemark, append([]string{"log", "dump"}, all...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tidemark log dump: %v\n%s", err, tail(string(out)))
		}
		ours, theirs := dumpLines(string(out)), dumpLines(dumpLogSegments(t, all...))
		for i := range min(len(ours), len(theirs)) {
			if ours[i] != theirs[i] {
				t.Fatalf("line %d: tidemark says\n%q\nKafka\n%q", i+1, ours[i], theirs[i])
			}
		}
		if len(ours) != len(theirs) || len(ours) < len(all) {
			t.Errorf("tidemark prints %d lines, Kafka %d", len(ours), len(theirs))
		}
		t.Logf("%d lines are the same", len(ours))
	}
}

// replaced are the characters that stand for bytes that are no UTF-8: Java and Go
// differ in how many.
var replaced = regexp.MustCompile("\uFFFD+")

// dumpLines are the lines that both tools must print; Kafka's also says which
// files are empty, where compaction left gaps and what a snapshot's name tells.
func dumpLines(out string) []string {
	lines := strings.Split(out, "\n")
	for i, l := range lines {
		lines[i] = replaced.ReplaceAllString(strings.TrimRight(l, " "), "\uFFFD")
	}
	complaint := false // of an emptied batch, and the lines that belong to it
	return slices.DeleteFunc(lines, func(l string) bool {
		complaint = ofAnEmptiedBatch(l) || complaint && strings.HasPrefix(l, "  Index timestamp:")
		return complaint || l == "" || strings.HasPrefix(l, "Non-consecutive") || strings.HasPrefix(l, "Snapshot end offset") || strings.Contains(l, " is followed by ") || strings.HasPrefix(l, "SLF4J") || strings.HasSuffix(l, " is empty.") || strings.Contains(l, " WARN ") || strings.Contains(l, " INFO ")
	})
}

func TestTheComplaintOfAnEmptiedBatchAloneIsNoLineOfADump(t *testing.T) {
	out := "a\nFound timestamp mismatch in :/d/table-0/0.timeindex\n  Index timestamp: 1, log timestamp: -1\n  Index timestamp: 2, log timestamp: -1\n" +
		"Found timestamp mismatch in :/d/plain-0/0.timeindex\n  Index timestamp: 3, log timestamp: 4\n"
	want := []string{"a", "Found timestamp mismatch in :/d/plain-0/0.timeindex", "  Index timestamp: 3, log timestamp: 4"}
	if got := dumpLines(out); !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}

// served is a running tidemark serve, one node that is broker and controller, on
// the addresses of a broker that is to follow it.
type served struct {
	t   *testing.T
	cmd *exec.Cmd
}

func serve(t *testing.T, b *broker) *served {
	t.Helper()
	s := &served{t, exec.Command(tidemark, "serve", "--node-id", "1", "--roles", "broker,controller", "--voters", "1@"+b.voter,
		"--listen", b.address, "--cluster-id", clusterID, "--data", b.dir)}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = &b.out
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	if line, _ := bufio.NewReader(out).ReadString('\n'); !strings.HasPrefix(line, "ready: ") {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		t.Fatalf("tidemark serve says %q and %q", line, b.out.String())
	}
	return s
}

// end stops the process with a signal and waits.
func (s *served) end(signal syscall.Signal) {
	s.t.Helper()
	s.cmd.Process.Signal(signal)
	if err := s.cmd.Wait(); err != nil && signal == syscall.SIGTERM {
		s.t.Fatalf("tidemark serve: %v", err)
	}
}

func TestABrokerStartsOnOurDirectoryAndServesTheSameRecords(t *testing.T) {
	for _, how := range []struct {
		name   string
		signal syscall.Signal
	}{{"stopped", syscall.SIGTERM}, {"killed", syscall.SIGKILL}} {
		t.Run(how.name, func(t *testing.T) {
			ctx := deadline(t)
			b := newBroker(t, filepath.Join(t.TempDir(), "data"))
			b.more = "log.cleaner.enable=false\n" // which would go on with what ours began
			s := serve(t, b)
			simpleTraffic(ctx, t, b.address)
			createTopic(ctx, t, b.address, "payments", nil)
			createTopic(ctx, t, b.address, "table", changelog)
			topics := simpleTopics()
			want := readAll(ctx, t, b.address, topics...)
			committed := want
			s.end(how.signal)
			all, visible := enrich(t, b.dir, how.signal == syscall.SIGTERM)
			topics, want, committed = append(topics, "payments", "table"), append(want, all...), append(slices.Clone(committed), visible...)
			verify(t, b.dir)

			b.start()
			same(t, readAll(ctx, t, b.address, topics...), want)
			same(t, readCommitted(ctx, t, b.address, topics...), committed)
			hides(t, want, committed)
			onward(ctx, t, b, topics, want)
			b.stop()
			verify(t, b.dir)
		})
	}
}

// hides tells that the comparison was of something: records of transactions that were
// aborted, or are open, are seen by one reader alone, and there are tombstones.
func hides(t *testing.T, all, committed []stored) {
	t.Helper()
	seen := map[int64]bool{}
	for _, r := range committed {
		seen[r.Offset] = seen[r.Offset] || r.Topic == "payments"
	}
	hidden, tombstones := 0, 0
	for _, r := range all {
		if r.Topic == "payments" && !seen[r.Offset] {
			hidden++
		}
		if r.Topic == "table" && r.Value == "" {
			tombstones++
		}
	}
	t.Logf("%d records are hidden, %d are tombstones", hidden, tombstones)
	if hidden < 100 || tombstones < 5 {
		t.Errorf("%d records are hidden, %d are tombstones", hidden, tombstones)
	}
}

// watch verifies and dumps a directory again and again while a broker is at work in it, until
// the function that it returns is called.
func watch(t *testing.T, dir string) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n := 0
		for ; ctx.Err() == nil; n++ {
			began, what := time.Now(), "verify"
			if n%4 == 3 {
				what = "dump"
			}
			if out, err := exec.Command(tidemark, "log", what, dir).CombinedOutput(); err != nil {
				t.Errorf("tidemark log %s beside the broker: %v\n%s", what, err, tail(string(out)))
			}
			time.Sleep(500*time.Millisecond + 3*time.Since(began)) // the broker is to get on
		}
		t.Logf("looked %d times beside the broker", n)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// simpleTopics are those of simpleTraffic.
func simpleTopics() (names []string) {
	for _, c := range codecs {
		names = append(names, "codec-"+c.name)
	}
	return append(names, "plain")
}

// onward writes to every topic: the broker goes on where we ended.
func onward(ctx context.Context, t *testing.T, b *broker, topics []string, before []stored) {
	t.Helper()
	for _, topic := range topics {
		c := client(t, b.address)
		last := int64(-1)
		for _, r := range before {
			if r.Topic == topic {
				last = r.Offset
			}
		}
		got, err := c.ProduceSync(ctx, &kgo.Record{Topic: topic, Key: []byte("onward"), Value: []byte("onward")}).First()
		if err != nil || got.Offset != last+1 {
			t.Fatalf("%s goes on at offset %d, want %d: %v", topic, got.Offset, last+1, err)
		}
	}
}

func same(t *testing.T, got, want []stored) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("record %d is %s, want %s", i, brief(got[i]), brief(want[i]))
		}
	}
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	t.Logf("%d records are the same", len(got))
}

func brief(r stored) string {
	return fmt.Sprintf("%s offset %d timestamp %d key %q value of %d bytes headers %s", r.Topic, r.Offset, r.Timestamp, r.Key, len(r.Value), r.Headers)
}
