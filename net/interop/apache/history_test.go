package apache

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"tidemark/checker/history"
	"tidemark/net/interop/kgohistory"
)

// checked is what tidemark check --json says.
type checked struct {
	Verdict string
	Rules   []struct {
		Rule   string
		Checks int
	}
	Findings []finding
}

type finding struct{ Rule, Verdict, Text string }

func check(t *testing.T, file string) (status int, c checked) {
	t.Helper()
	cmd := exec.Command(tidemark, "check", "--json", file)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &c); err != nil {
		t.Fatalf("tidemark check: %v\n%s", err, out)
	}
	return cmd.ProcessState.ExitCode(), c
}

// fill writes n records to topic in, in turn to its partitions, within transactions
// if there is an id, of which every third is aborted.
func fill(ctx context.Context, t *testing.T, rec *kgohistory.Recorder, name, address, id string, n int) {
	t.Helper()
	opts := []kgo.Opt{kgo.SeedBrokers(address), kgo.RecordPartitioner(kgo.ManualPartitioner())}
	if id != "" {
		opts = append(opts, kgo.TransactionalID(id))
	}
	c, err := rec.NewClient(name, opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := 0; i < n; i += 20 {
		if id != "" {
			if err := c.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
		}
		for j := i; j < i+20; j++ {
			c.Produce(ctx, &kgo.Record{Topic: "in", Partition: int32(j % partitions), Key: fmt.Appendf(nil, "key-%d", j), Value: fmt.Appendf(nil, "%s %d", name, j)}, nil)
		}
		if err := c.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if id != "" {
			if err := c.EndTransaction(ctx, kgo.TransactionEndTry(i/20%3 != 2)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// partitions of topic in.
const partitions = 2

// untilCommitted waits until groups have committed the end of topic in.
func untilCommitted(ctx context.Context, t *testing.T, address string, groups ...string) {
	t.Helper()
	admin := kadm.NewClient(client(t, address))
	for _, group := range groups {
		for {
			ends, err := admin.ListEndOffsets(ctx, "in")
			if err != nil {
				t.Fatal(err)
			}
			got, err := admin.FetchOffsets(ctx, group)
			behind := 0
			ends.Each(func(o kadm.ListedOffset) {
				if c, ok := got.Lookup("in", o.Partition); !ok || c.At < o.Offset {
					behind++
				}
			})
			if err == nil && behind == 0 {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("group %s has not committed the end of %d partitions: %v", group, behind, err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// drain reads topics from their start to their end.
func drain(ctx context.Context, t *testing.T, rec *kgohistory.Recorder, name, address string, level kgo.IsolationLevel, topics ...string) {
	t.Helper()
	ends, err := kadm.NewClient(client(t, address)).ListEndOffsets(ctx, topics...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := rec.NewClient(name, kgo.SeedBrokers(address), kgo.ConsumeTopics(topics...), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(level), kgo.KeepControlRecords())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	left := map[string]map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if left[o.Topic] == nil {
			left[o.Topic] = map[int32]int64{}
		}
		left[o.Topic][o.Partition] = o.Offset
	})
	for n := len(left); n > 0; {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset+1 >= left[r.Topic][r.Partition] {
				delete(left[r.Topic], r.Partition)
			}
		})
		n = 0
		for _, ps := range left {
			n += len(ps)
		}
	}
}

// Groups whose members come, go and die, under the eager, the cooperative and the new
// protocol, and transactions that consume, transform, produce, commit and abort, on a
// broker of Kafka's: what clients saw is what was promised. And one record of an
// aborted transaction more, and it is not.
func TestWhatGroupsAndTransactionsSeeOfABrokerIsJudgedSound(t *testing.T) {
	ctx := deadline(t)
	dir := filepath.Join(t.TempDir(), "data")
	b := newBroker(t, dir)
	b.format()
	b.start()
	for topic, n := range map[string]int32{"in": partitions, "out": 2} {
		if res, err := kadm.NewClient(client(t, b.address)).CreateTopic(ctx, n, 1, nil, topic); err != nil || res.Err != nil {
			t.Fatal(err, res.Err)
		}
	}
	file := filepath.Join(t.TempDir(), "history.jsonl")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	rec := kgohistory.New(f, history.Header{Source: "franz-go on Apache Kafka"})

	fill(ctx, t, rec, "payer", b.address, "payer", 120)
	fill(ctx, t, rec, "plain", b.address, "", 80)
	eager, sticky := kgo.Balancers(kgo.RoundRobinBalancer()), kgo.Balancers(kgo.CooperativeStickyBalancer())
	next := kgo.WithContext(context.WithValue(t.Context(), "opt_in_kafka_next_gen_balancer_beta", true))
	var all, doomed []*member
	for group, protocol := range map[string]kgo.Opt{"eager": eager, "cooperative": sticky, "next": next} {
		first := reads(t, rec, group+"-1", b.address, group, protocol)
		doomed = append(doomed, first)
		all = append(all, reads(t, rec, group+"-2", b.address, group, protocol), reads(t, rec, group+"-3", b.address, group, protocol))
	}
	stuck := make(chan struct{})
	victim := transforms(t, rec, "transform-1", b.address, "transform-1", stuck)
	all = append(all, transforms(t, rec, "transform-2", b.address, "transform-2", nil))
	groups := []string{"eager", "cooperative", "next", "transformers"}
	untilCommitted(ctx, t, b.address, groups...)

	close(stuck)
	fill(ctx, t, rec, "payer-2", b.address, "payer", 120)
	for _, m := range append(doomed, victim) {
		m.die()
	}
	all = append(all, transforms(t, rec, "transform-3", b.address, "transform-1", nil))
	fill(ctx, t, rec, "plain-2", b.address, "", 80)
	untilCommitted(ctx, t, b.address, groups...)
	for _, m := range all {
		m.leave()
	}
	drain(ctx, t, rec, "committed", b.address, kgo.ReadCommitted(), "in", "out")
	drain(ctx, t, rec, "uncommitted", b.address, kgo.ReadUncommitted(), "in", "out")
	if err := errors.Join(rec.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	b.stop()
	t.Run("history", func(t *testing.T) { soundHistory(t, file) })
	for _, p := range []struct {
		name, rule string
		edit       func(*testing.T, []map[string]any)
	}{
		{"a record of an aborted transaction is read as committed", "aborted-read", showAborted},
		{"a committed offset is forgotten", "committed-offset-register", forgetCommit},
	} {
		t.Run(p.name, func(t *testing.T) {
			status, c := check(t, edited(t, file, p.edit))
			if status != 1 || !slices.ContainsFunc(c.Findings, func(f finding) bool { return f.Rule == p.rule && f.Verdict == "violation" }) {
				t.Errorf("status %d, %s: %+v", status, c.Verdict, c.Findings)
			}
		})
	}
	verify(t, dir)
	t.Run("dump", func(t *testing.T) { sameDump(t, dir) })
}

// judged are the rules about groups and transactions that such a history lets judge.
var judged = []string{"lost-write", "duplicate", "idempotence-break", "aborted-read", "own-read", "early-read", "torn-transaction", "offset-tear", "two-outcomes",
	"transactional-id-register", "zombie-write", "lso-overrun", "hung-transaction", "circular-flow", "committed-offset-register",
	"commit-beyond-position", "fenced-commit", "dual-ownership", "double-processing", "group-skip"}

func soundHistory(t *testing.T, file string) {
	status, c := check(t, file)
	if status != 0 || c.Verdict != "pass" {
		t.Errorf("tidemark check: status %d, %s", status, c.Verdict)
	}
	for _, f := range c.Findings {
		if f.Verdict != "note" {
			t.Errorf("%s %s: %s", f.Verdict, f.Rule, f.Text)
		}
	}
	checks := map[string]int{}
	for _, r := range c.Rules {
		checks[r.Rule] = r.Checks
	}
	for _, rule := range judged {
		if checks[rule] == 0 {
			t.Errorf("%s has checked nothing", rule)
		}
		t.Logf("%s: %d checks", rule, checks[rule])
	}
}

// edited is a copy of a history in which some events are others.
func edited(t *testing.T, file string, edit func(*testing.T, []map[string]any)) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var events []map[string]any
	for line := range bytes.Lines(content) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var e map[string]any
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	edit(t, events)
	var out bytes.Buffer
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	name := filepath.Join(t.TempDir(), "edited.jsonl")
	if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func number(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}

// showAborted gives the reader of committed records one that only the other reader
// was given.
func showAborted(t *testing.T, events []map[string]any) {
	committed := map[int64]bool{} // offsets of in-0
	var polls, all []map[string]any
	for _, e := range events {
		if e["kind"] != "poll" || e["topic"] != "in" || number(e["partition"]) != 0 {
			continue
		}
		records, _ := e["records"].([]any)
		for _, r := range records {
			switch e["client"] {
			case "committed":
				committed[number(r.(map[string]any)["offset"])] = true
			case "uncommitted":
				all = append(all, r.(map[string]any))
			}
		}
		if e["client"] == "committed" {
			polls = append(polls, e)
		}
	}
	for _, r := range all {
		at := number(r["offset"])
		if r["control"] != nil || committed[at] {
			continue
		}
		for _, e := range polls {
			if number(e["offset"]) > at || at >= number(e["end"]) {
				continue
			}
			records := e["records"].([]any)
			i, _ := slices.BinarySearchFunc(records, at, func(r any, at int64) int { return cmp.Compare(number(r.(map[string]any)["offset"]), at) })
			e["records"] = slices.Insert(records, i, any(r))
			return
		}
	}
	t.Fatal("no record of an aborted transaction is in the history")
}

// forgetCommit has the last member that was told a committed offset be told an early
// one.
func forgetCommit(t *testing.T, events []map[string]any) {
	for _, e := range slices.Backward(events) {
		if e["kind"] == "fetch-committed-ok" && number(e["offset"]) > 10 {
			e["offset"] = 1
			return
		}
	}
	t.Fatal("no member was told a committed offset")
}
