package interop

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// within bounds a test's talk with a cluster, on however slow a machine.
const within = 8 * time.Minute

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	return ctx
}

func client(t *testing.T, bootstrap []string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	// The client must not answer from what it knew a while ago.
	opts = append([]kgo.Opt{kgo.SeedBrokers(bootstrap...), kgo.MetadataMinAge(20 * time.Millisecond)}, opts...)
	c, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// createTopic makes a topic with three replicas of which two must be in sync.
func createTopic(ctx context.Context, t *testing.T, bootstrap []string, topic string, n int32) {
	t.Helper()
	two := "2"
	admin := kadm.NewClient(client(t, bootstrap))
	res, err := admin.CreateTopic(ctx, n, 3, map[string]*string{"min.insync.replicas": &two}, topic)
	if err != nil {
		t.Fatal(err)
	}
	if res.NumPartitions != n || res.ReplicationFactor != 3 {
		t.Fatalf("created %+v", res)
	}
	awaitISR(ctx, t, admin, topic, 3)
}

// awaitISR waits until every partition of a topic has a leader and n replicas in
// sync.
func awaitISR(ctx context.Context, t *testing.T, admin *kadm.Client, topic string, n int) kadm.TopicDetail {
	t.Helper()
	for {
		topics, err := admin.ListTopics(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		detail := topics[topic]
		full := detail.Err == nil && len(detail.Partitions) > 0
		for _, p := range detail.Partitions {
			full = full && p.Err == nil && p.Leader >= 0 && len(p.ISR) == n
		}
		if full {
			return detail
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s does not get an ISR of %d: %+v", topic, n, detail)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// hasIdempotence tells whether the cluster gives producers ids.
func hasIdempotence(ctx context.Context, t *testing.T, bootstrap []string) bool {
	t.Helper()
	versions, err := kadm.NewClient(client(t, bootstrap)).ApiVersions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		if v.Err != nil {
			t.Fatal(v.Err)
		}
		if _, ok := v.KeyMaxVersion(kmsg.InitProducerID.Int16()); !ok {
			t.Log("without idempotence, which the cluster does not have")
			return false
		}
	}
	return true
}

// reliable are the options of a producer that waits for all replicas, idempotent
// if the cluster has that.
func reliable(ctx context.Context, t *testing.T, bootstrap []string) []kgo.Opt {
	t.Helper()
	opts := []kgo.Opt{kgo.RequiredAcks(kgo.AllISRAcks()), kgo.RecordPartitioner(kgo.ManualPartitioner())}
	if !hasIdempotence(ctx, t, bootstrap) {
		opts = append(opts, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1))
	}
	return opts
}

var kgoCodecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

func TestFranzGoReadsBackWhatItWroteWithEveryCodec(t *testing.T) {
	data := t.TempDir()
	p := serve(t, "--brokers", "3", "--data", data, "--listen", "127.0.0.1:0")
	ctx := deadline(t)
	for _, codec := range codecs {
		topic := topicOf("kgo", codec)
		createTopic(ctx, t, p.bootstrap(), topic, partitions)
		start := time.Now()
		produceKgo(ctx, t, p.bootstrap(), topic, codec)
		produced := time.Since(start)
		consumeKgo(ctx, t, p.bootstrap(), topic, count(t))
		t.Logf("%s: %d records produced in %v, consumed in %v", codec, count(t), produced, time.Since(start)-produced)
		wantCodec(t, data, topic, codec)
	}
	p.stop()
}

func produceKgo(ctx context.Context, t *testing.T, bootstrap []string, topic, codec string) {
	t.Helper()
	c := client(t, bootstrap, append(reliable(ctx, t, bootstrap), kgo.ProducerBatchCompression(kgoCodecs[codec]))...)
	var failed atomic.Int64
	for i := range count(t) {
		r := &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: value(i)}
		c.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil && failed.Add(1) == 1 {
				t.Errorf("%s: record %d: %v", topic, i, err)
			}
		})
	}
	if err := c.Flush(ctx); err != nil || failed.Load() > 0 {
		t.Fatalf("%s: %d records failed, %v", topic, failed.Load(), err)
	}
	c.Close()
}

func consumeKgo(ctx context.Context, t *testing.T, bootstrap []string, topic string, n int) {
	t.Helper()
	c := client(t, bootstrap, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	s := newSeen(t)
	for s.n < n {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%s after %d records: %v", topic, s.n, err)
		}
		fetches.EachRecord(func(r *kgo.Record) { s.take(r.Partition, r.Offset, r.Value) })
	}
	ends, err := kadm.NewClient(c).ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	ends.Each(func(o kadm.ListedOffset) { total += o.Offset })
	if total != int64(n) {
		t.Errorf("%s ends at %d records, want %d: some are there twice", topic, total, n)
	}
	c.Close()
}
