//go:build !js

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/scenarios"
)

// soon lets a broker be registered soon after the death of its last life.
var soon = []string{"--set", "broker.session.timeout.ms=2000", "--set", "broker.heartbeat.interval.ms=100"}

// writeRecords creates a topic with three replicas and puts records into it, each
// acknowledged by all of them.
func writeRecords(t *testing.T, addr, topic string, values []string) {
	t.Helper()
	leader, err := leaderOf(target{addr: addr, replicas: 3}, topic)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dialDriver(leader)
	if err != nil {
		t.Fatal(err)
	}
	defer d.conn.Close()
	for len(values) > 0 {
		n := min(len(values), 100)
		w := record.NewBuilder(record.NoProducer())
		for _, v := range values[:n] {
			w.Append(1, nil, []byte(v), nil)
		}
		r := kmsg.NewPtrProduceRequest()
		r.Acks, r.TimeoutMillis = -1, 30_000
		asked := kmsg.NewProduceRequestTopic()
		asked.Topic = topic
		asked.Partitions = append(asked.Partitions, kmsg.ProduceRequestTopicPartition{Records: w.Build()})
		r.Topics = append(r.Topics, asked)
		res := kmsg.NewPtrProduceResponse()
		if err := d.ask(r, driveProduce, res); err != nil || res.Topics[0].Partitions[0].ErrorCode != 0 {
			t.Fatal(err, kafka.ErrorCode(res.Topics[0].Partitions[0].ErrorCode))
		}
		values = values[n:]
	}
}

// leftPlan writes to the topic that is there and to a new one, and reads the first.
const leftPlan = `cluster brokers=3 controllers=1
set min.insync.replicas=2
topic orders
topic more
producer p acks=all
consumer c
write p orders 20 every 10ms
write p more 20 every 10ms
wait acked p = 40 within 60s
verify c orders
`

// TestSimulatedClusterGoesOnWhereServeLeftIt starts the whole cluster, brokers and
// controller, in the simulator on what real ones left, and reads every record back.
func TestSimulatedClusterGoesOnWhereServeLeftIt(t *testing.T) {
	for how, end := range map[string]func(*serving){"killed": (*serving).kill, "stopped": (*serving).stop} {
		dir := t.TempDir()
		s := startServing(t, append([]string{"--brokers", "3", "--data", dir, "--listen", "127.0.0.1:0"}, soon...)...)
		_, addr, _ := strings.Cut(s.ready, " at ")
		addr, _, _ = strings.Cut(addr, ",")
		var values []string
		for i := range 1000 {
			values = append(values, fmt.Sprintf("record %d", i))
		}
		writeRecords(t, addr, "orders", values)
		end(s)

		p, err := scenarios.Parse("left.txt", leftPlan)
		if err != nil {
			t.Fatal(err)
		}
		left, err := readLeft(dir, p.Cluster)
		if err != nil {
			t.Fatal(err)
		}
		r, err := scenarios.Run(p, scenarios.Options{Seed: 1, Left: left})
		if err != nil {
			t.Fatal(err)
		}
		if r.Report.Verdict != checker.Pass {
			t.Errorf("%s: verdict %v: %+v %v", how, r.Report.Verdict, r.Report.Findings, r.Report.Unknown)
		}
		next := kafka.Offset(0)
		for _, e := range r.Events {
			if e.Kind != event.PollOK || e.Topic != "orders" {
				continue
			}
			for _, got := range e.Records {
				if got.Offset != next || int(next) < len(values) && got.Hash != event.HashValue([]byte(values[next])) {
					t.Fatalf("%s: the consumer reads %+v where record %d should be", how, got, next)
				}
				next++
			}
		}
		if next != 1020 {
			t.Errorf("%s: the consumer read %d records, want 1000 and 20", how, next)
		}
	}
}

func TestDirectoriesThatNoPlanFitsAreOneLineAndStatus2(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"broker-1", "controller-101"} {
		belongs(t, filepath.Join(dir, n), n[strings.Index(n, "-")+1:])
	}
	plan := func(cluster string) string { return writeScenario(t, cluster+"\nsleep 1ms\n") }
	broker2 := filepath.Join(dir, "broker-2")
	for _, c := range []struct {
		want, cluster string
		prepare       func()
	}{
		{"--from: " + dir + "/broker-2 is no directory of a node: it has no meta.properties", "cluster brokers=2 controllers=1", func() {}},
		{broker2 + "/meta.properties: node.id is 7, not 2: give", "cluster brokers=2 controllers=1", func() { belongs(t, broker2, "7") }},
		{"has broker-2, which the cluster of the plan has not: write", "cluster brokers=1 controllers=1", func() {}},
		{"cluster.id is AAAAAAAAAAAAAAAAAAAAAQ, not " + testCluster, "cluster brokers=2 controllers=1", func() {
			text := "version=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAQ\nnode.id=2\n"
			if err := os.WriteFile(filepath.Join(broker2, identityFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		c.prepare()
		status, out, errText := command(t, "run", plan(c.cluster), "--from", dir)
		if status != exitUsage || strings.Count(errText, "\n") != 1 || !strings.Contains(errText, c.want) || out != "" {
			t.Errorf("status %d, printed %q, said\n%swant status 2 and one line with\n%s", status, out, errText, c.want)
		}
	}
}

func TestDirectoryOfARunningClusterIsNotCopied(t *testing.T) {
	dir := t.TempDir()
	s := startServing(t, "--data", dir, "--listen", "127.0.0.1:0")
	status, _, errText := command(t, "run", writeScenario(t, "cluster brokers=1 controllers=1\nsleep 1ms\n"), "--from", dir)
	if want := "another node has the log directory " + dir; status != exitUsage || !strings.Contains(errText, want) {
		t.Errorf("status %d, said %q, want 2 and %q", status, errText, want)
	}
	s.stop()
}

// TestWhatAnEarlierRunOnTheClusterLeftIsForeign lets tidemark's own clients fill a
// topic, then runs once more on the living cluster and once on its copy: both read
// records with attempts that are not theirs.
func TestWhatAnEarlierRunOnTheClusterLeftIsForeign(t *testing.T) {
	dir := t.TempDir()
	s := startServing(t, append([]string{"--brokers", "3", "--data", dir, "--listen", "127.0.0.1:0"}, soon...)...)
	_, addr, _ := strings.Cut(s.ready, " at ")
	addr, _, _ = strings.Cut(addr, ",")
	work, recorded := writeScenario(t, leftPlan), filepath.Join(t.TempDir(), "h.jsonl")
	const note = "records of producers that this history does not show"
	for i, foreign := range []string{"", "20 " + note} {
		status, out, errText := command(t, "run", work, "--bootstrap", addr, "--history", recorded)
		if status != exitOK || strings.Contains(out, note) != (i > 0) || !strings.Contains(out, foreign) {
			t.Errorf("run %d: status %d, want 0 and %q\n%s%s", i, status, foreign, out, errText)
		}
	}
	s.stop()
	status, out, errText := command(t, "run", work, "--from", dir)
	if status != exitOK || !strings.Contains(out, "verdict: pass") {
		t.Errorf("copy: status %d, want 0\n%s%s", status, out, errText)
	}
}
