package interop

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// node is one process of a cluster of processes, and how it is started.
type node struct {
	*process
	args []string
}

// impatient lets the controller fence a dead broker after a second, not after
// nine: no new life of it is registered before.
var impatient = []string{"--set", "broker.session.timeout.ms=1000", "--set", "broker.heartbeat.interval.ms=200"}

// processes starts a controller and three brokers, each a process of its own, and
// returns the brokers by id from 1 on.
func processes(t *testing.T) (brokers [4]*node, bootstrap []string) {
	t.Helper()
	data, addrs := t.TempDir(), free(t, 4)
	start := func(id int, args ...string) *node {
		args = append(args, "--node-id", fmt.Sprint(id), "--voters", "101@"+addrs[3],
			"--cluster-id", "MkU3OEVBNTcwNTJENDM2Qg", "--data", filepath.Join(data, fmt.Sprintf("broker-%d", id)))
		args = append(args, impatient...)
		return &node{serve(t, args...), args}
	}
	start(101, "--roles", "controller")
	for id := 1; id <= 3; id++ {
		brokers[id] = start(id, "--roles", "broker", "--listen", addrs[id-1])
	}
	return brokers, addrs[:3]
}

// TestNothingAcknowledgedIsLostWhenTheLeaderIsKilled kills the process of the
// leader with signal 9 under load, and starts it again.
func TestNothingAcknowledgedIsLostWhenTheLeaderIsKilled(t *testing.T) {
	brokers, bootstrap := processes(t)
	ctx := deadline(t)
	const topic = "orders"
	createTopic(ctx, t, bootstrap, topic, 1)
	admin := kadm.NewClient(client(t, bootstrap))
	awaitISR(ctx, t, admin, topic, 3)

	c := client(t, bootstrap, append(reliable(ctx, t, bootstrap), kgo.ProducerBatchCompression(kgo.Lz4Compression()),
		kgo.ProducerBatchMaxBytes(64<<10))...)
	n := count(t)
	acked := make([]int64, n) // offset of each record; -1 before its acknowledgement
	done := make(chan error, 1)
	half := make(chan struct{})
	for i := range acked {
		acked[i] = -1
	}
	go func() {
		for i := range n {
			r := &kgo.Record{Topic: topic, Partition: 0, Value: value(i)}
			c.Produce(ctx, r, func(r *kgo.Record, err error) {
				if err == nil {
					acked[i] = r.Offset
				}
				if i == n/2 {
					close(half)
				}
			})
		}
		done <- c.Flush(ctx)
	}()
	<-half
	leader := awaitISR(ctx, t, admin, topic, 3).Partitions[0].Leader
	brokers[leader].kill()
	t.Logf("killed broker %d, the leader, after %d of %d records", leader, n/2, n)
	if err := <-done; err != nil {
		t.Fatal(err)
	}

	check := newSeen(t)
	readAll(ctx, t, bootstrap, topic, func(r *kgo.Record) {
		check.take(r.Partition, r.Offset, r.Value)
		if i := check.last[0]; acked[i] >= 0 && acked[i] != r.Offset {
			t.Fatalf("record %d was acknowledged at offset %d and is at %d", i, acked[i], r.Offset)
		}
	})
	for i, offset := range acked {
		if offset < 0 {
			t.Fatalf("record %d was not acknowledged", i)
		}
	}
	if check.n != n {
		t.Fatalf("%d records are there, %d were acknowledged", check.n, n)
	}

	restarted := serve(t, brokers[leader].args...)
	awaitISR(ctx, t, admin, topic, 3)
	t.Logf("broker %d is back in the ISR: %s", leader, strings.TrimSpace(restarted.ready))
	restarted.stop()
}

// readAll reads a topic of one partition to the end that it has now.
func readAll(ctx context.Context, t *testing.T, bootstrap []string, topic string, f func(*kgo.Record)) {
	t.Helper()
	c := client(t, bootstrap, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	end := endOf(ctx, t, kadm.NewClient(c), topic)
	for next := int64(0); next < end; {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%s at %d: %v", topic, next, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			f(r)
			next = r.Offset + 1
		})
	}
	c.Close()
}

// endOf is where partition 0 of a topic ends, asked until a leader knows: a new one
// does not before its high watermark is in its own epoch.
func endOf(ctx context.Context, t *testing.T, admin *kadm.Client, topic string) int64 {
	t.Helper()
	for {
		ends, err := admin.ListEndOffsets(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		end, ok := ends.Lookup(topic, 0)
		if ok && end.Err == nil {
			return end.Offset
		}
		if !kerr.IsRetriable(end.Err) || ctx.Err() != nil {
			t.Fatalf("end of %s: %v", topic, end.Err)
		}
	}
}

// TestClusterComesBackAfterEverythingWasKilledAtOnce kills everything at once.
func TestClusterComesBackAfterEverythingWasKilledAtOnce(t *testing.T) {
	data := t.TempDir()
	args := append([]string{"--brokers", "3", "--data", data, "--listen", "127.0.0.1:0"}, impatient...)
	p := serve(t, args...)
	ctx := deadline(t)
	const topic = "orders"
	createTopic(ctx, t, p.bootstrap(), topic, 1)
	c := client(t, p.bootstrap(), reliable(ctx, t, p.bootstrap())...)
	const n = 1000
	for i := range n {
		c.Produce(ctx, &kgo.Record{Topic: topic, Value: value(i)}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := c.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	p.kill()
	start := time.Now()
	p = serve(t, args...)
	awaitISR(ctx, t, kadm.NewClient(client(t, p.bootstrap())), topic, 3)
	check := newSeen(t)
	readAll(ctx, t, p.bootstrap(), topic, func(r *kgo.Record) { check.take(r.Partition, r.Offset, r.Value) })
	if check.n != n {
		t.Fatalf("%d records after kill -9 and a start, want %d", check.n, n)
	}
	t.Logf("everything is back after %v", time.Since(start))
	p.stop()
}
