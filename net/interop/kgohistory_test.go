package interop

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"tidemark/checker/history"
	"tidemark/net/interop/kgohistory"
)

// judged runs tidemark check.
func judged(t *testing.T, file string) (status int, out string) {
	t.Helper()
	cmd := exec.Command(tidemark, "check", file)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func TestWhatFranzGoRecordsIsJudgedByCheck(t *testing.T) {
	p := serve(t, "--brokers", "3", "--listen", "127.0.0.1:0")
	ctx := deadline(t)
	createTopic(ctx, t, p.bootstrap(), "recorded", partitions)
	file := filepath.Join(t.TempDir(), "history.jsonl")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	rec := kgohistory.New(f, history.Header{Source: "franz-go"})
	rec.Setting("topic recorded", "min.insync.replicas", "2")
	const records = 2000
	writers := make([]*kgohistory.Client, 2)
	for w := range writers {
		opts := append(reliable(ctx, t, p.bootstrap()), kgo.SeedBrokers(p.bootstrap()...))
		if writers[w], err = rec.NewClient(fmt.Sprintf("writer-%d", w), opts...); err != nil {
			t.Fatal(err)
		}
	}
	for i := range records {
		writers[i%2].Produce(ctx, &kgo.Record{Topic: "recorded", Partition: int32(i % partitions), Value: []byte(fmt.Sprintf("v-%d", i))}, nil)
	}
	for _, w := range writers {
		if err := w.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	reader, err := rec.NewClient("reader", kgo.SeedBrokers(p.bootstrap()...), kgo.ConsumeTopics("recorded"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < records; {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		n += fetches.NumRecords()
	}
	reader.Close()
	if err := errors.Join(rec.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	p.stop()
	if status, out := judged(t, file); status != 0 || !strings.Contains(out, "verdict: pass") {
		t.Fatalf("status %d\n%s", status, out)
	}
	for _, key := range []string{"headers", "timestamp"} {
		if status, out := judged(t, changed(t, file, key)); status != 1 || !strings.Contains(out, "violation corrupt-value") {
			t.Errorf("the %s of a record that was read are others: status %d\n%s", key, status, out)
		}
	}
	loseOne(t, file)
	if status, out := judged(t, file); status != 1 || !strings.Contains(out, "violation lost-write") {
		t.Errorf("a record was taken out of a poll: status %d\n%s", status, out)
	}
}

// changed is a copy of a history in which the last digit that a key has in the first
// poll of all is another.
func changed(t *testing.T, file, key string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	poll := bytes.Index(text, []byte(`"kind":"poll"`))
	at := poll + bytes.Index(text[poll:], []byte(`"`+key+`":`)) + len(key) + 4
	end := at + bytes.IndexAny(text[at:], `",}`) - 1
	text[end] = map[bool]byte{true: '1', false: '0'}[text[end] == '0']
	copied := filepath.Join(t.TempDir(), key+".jsonl")
	if err := os.WriteFile(copied, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return copied
}

// loseOne takes a record out of the middle of the first poll that has three.
func loseOne(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		parts := bytes.Split(line, []byte("},{"))
		if len(parts) < 3 {
			continue
		}
		lines[i] = bytes.Join(append(parts[:1:1], parts[2:]...), []byte("},{"))
		if err := os.WriteFile(file, bytes.Join(lines, []byte("\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("no poll has three records")
}
