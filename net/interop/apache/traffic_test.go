package apache

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func client(t *testing.T, address string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(address), kgo.WithContext(t.Context())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// codecs are Kafka's, by the names of compression.type.
var codecs = []struct {
	name  string
	codec kgo.CompressionCodec
}{
	{"none", kgo.NoCompression()}, {"gzip", kgo.GzipCompression()}, {"snappy", kgo.SnappyCompression()},
	{"lz4", kgo.Lz4Compression()}, {"zstd", kgo.ZstdCompression()},
}

// createTopic makes a topic with one partition, whose segments are small.
func createTopic(ctx context.Context, t *testing.T, address, topic string, settings map[string]string) {
	t.Helper()
	all := map[string]*string{"segment.bytes": kadm.StringPtr("1048576")} // the least that Kafka 4.1 takes
	for k, v := range settings {
		all[k] = kadm.StringPtr(v)
	}
	res, err := kadm.NewClient(client(t, address)).CreateTopic(ctx, 1, 1, all, topic)
	if err != nil || res.Err != nil {
		t.Fatalf("create %s: %v %v", topic, err, res.Err)
	}
}

// text makes a value of about n bytes that compresses as words do.
func text(i, n int) []byte {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "tide %d leaves line %d ", i, (i*7919+b.Len())%1000)
	}
	return []byte(b.String())
}

// produce writes n records of the topic in batches of 20 and waits for each of
// these, so that equal calls make equal batches.
func produce(ctx context.Context, t *testing.T, c *kgo.Client, topic string, n, size int) {
	t.Helper()
	for i := 0; i < n; i += 20 {
		var batch []*kgo.Record
		for j := i; j < min(i+20, n); j++ {
			batch = append(batch, &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "key-%d", j%100), Value: text(j, size),
				Headers: []kgo.RecordHeader{{Key: "n", Value: fmt.Appendf(nil, "%d", j)}}})
		}
		if err := c.ProduceSync(ctx, batch...).FirstErr(); err != nil {
			t.Fatalf("produce to %s: %v", topic, err)
		}
	}
}

// traffic is what every kind of file gets bytes from, on a broker of Kafka's:
// beside simpleTraffic transactions that commit, abort and overlap, a compacted
// topic with tombstones, a group's offsets.
func traffic(ctx context.Context, t *testing.T, address string) {
	simpleTraffic(ctx, t, address)
	createTopic(ctx, t, address, "payments", nil)
	transactions(ctx, t, address, "payments", 12)

	eager := maps.Clone(changelog)
	eager["delete.retention.ms"] = "200"
	createTopic(ctx, t, address, "table", eager)
	table(ctx, t, address, "table")
	transactions(ctx, t, address, "table", 6)
	group(ctx, t, address, "codec-none")
}

// changelog are the settings of a topic that is compacted at once; tombstones stay.
var changelog = map[string]string{"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "300", "max.compaction.lag.ms": "300"}

// simpleTraffic is all codecs with idempotence, each over several segments, and a
// producer without.
func simpleTraffic(ctx context.Context, t *testing.T, address string) {
	for _, c := range codecs {
		createTopic(ctx, t, address, "codec-"+c.name, nil)
		produce(ctx, t, client(t, address, kgo.ProducerBatchCompression(c.codec)), "codec-"+c.name, 3000, 1000)
	}
	createTopic(ctx, t, address, "plain", nil)
	produce(ctx, t, client(t, address, kgo.DisableIdempotentWrite()), "plain", 200, 100)
}

// transactions runs pairs of transactions that overlap: one commits, one aborts.
func transactions(ctx context.Context, t *testing.T, address, topic string, pairs int) {
	t.Helper()
	even := client(t, address, kgo.TransactionalID(topic+"-even"), kgo.ProducerBatchCompression(kgo.NoCompression()))
	odd := client(t, address, kgo.TransactionalID(topic+"-odd"))
	for i := range pairs {
		for _, c := range []*kgo.Client{even, odd} {
			if err := c.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
		}
		produce(ctx, t, even, topic, 20+i, 4000)
		produce(ctx, t, odd, topic, 20, 200)
		end := func(c *kgo.Client, commit kgo.TransactionEndTry) {
			if err := c.EndTransaction(ctx, commit); err != nil {
				t.Fatalf("end a transaction on %s: %v", topic, err)
			}
		}
		switch {
		case i%3 == 2:
			end(even, kgo.TryAbort)
			end(odd, kgo.TryCommit)
		case i%3 == 1:
			end(odd, kgo.TryAbort)
			end(even, kgo.TryCommit)
		default:
			end(even, kgo.TryCommit)
			end(odd, kgo.TryAbort)
		}
	}
}

// table writes keys again and again and deletes some, as a changelog does.
func table(ctx context.Context, t *testing.T, address, topic string) {
	t.Helper()
	c := client(t, address)
	for round := range 8 {
		produce(ctx, t, c, topic, 300, 500)
		var gone []*kgo.Record
		for j := range 10 {
			gone = append(gone, &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "key-%d", (round*10+j)%100)})
		}
		if err := c.ProduceSync(ctx, gone...).FirstErr(); err != nil {
			t.Fatalf("delete from %s: %v", topic, err)
		}
	}
}

// untilCleaned writes to a compacted topic until the broker's cleaner was at it.
func untilCleaned(ctx context.Context, t *testing.T, address, dir, topic string) {
	t.Helper()
	c := client(t, address)
	for ctx.Err() == nil {
		produce(ctx, t, c, topic, 20, 500)
		text, err := os.ReadFile(filepath.Join(dir, "cleaner-offset-checkpoint"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), topic+" 0 ") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s is not compacted", topic)
}

// group reads a topic as a consumer group and commits.
func group(ctx context.Context, t *testing.T, address, topic string) {
	t.Helper()
	c := client(t, address, kgo.ConsumerGroup("readers"), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit())
	if fetches := c.PollFetches(ctx); fetches.Err() != nil {
		t.Fatal(fetches.Err())
	}
	if err := c.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
}

// stored is a record as a consumer gets it.
type stored struct {
	Topic      string
	Offset     int64
	Timestamp  int64
	Key, Value string
	Headers    string
}

// readAll reads whole topics, control records too.
func readAll(ctx context.Context, t *testing.T, address string, topics ...string) []stored {
	t.Helper()
	ends, err := kadm.NewClient(client(t, address)).ListEndOffsets(ctx, topics...)
	return readTo(ctx, t, address, kgo.ReadUncommitted(), ends, err, topics)
}

// readCommitted reads what is committed of topics.
func readCommitted(ctx context.Context, t *testing.T, address string, topics ...string) []stored {
	t.Helper()
	ends, err := kadm.NewClient(client(t, address)).ListCommittedOffsets(ctx, topics...)
	return readTo(ctx, t, address, kgo.ReadCommitted(), ends, err, topics)
}

func readTo(ctx context.Context, t *testing.T, address string, level kgo.IsolationLevel, ends kadm.ListedOffsets, err error, topics []string) (all []stored) {
	t.Helper()
	if err != nil || ends.Error() != nil {
		t.Fatal(err, ends.Error())
	}
	for _, topic := range topics {
		end, ok := ends.Lookup(topic, 0)
		if !ok || end.Offset == 0 {
			t.Fatalf("%s has no records", topic)
		}
		c := client(t, address, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}), kgo.KeepControlRecords(), kgo.FetchIsolationLevel(level))
		for next := int64(0); next < end.Offset; {
			fetches := c.PollFetches(ctx)
			if err := fetches.Err(); err != nil {
				t.Fatalf("read %s: %v", topic, err)
			}
			fetches.EachRecord(func(r *kgo.Record) {
				all = append(all, stored{topic, r.Offset, r.Timestamp.UnixMilli(), string(r.Key), string(r.Value), fmt.Sprint(r.Headers)})
				next = r.Offset + 1
			})
		}
	}
	return all
}
