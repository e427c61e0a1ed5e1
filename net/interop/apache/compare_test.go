package apache

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// differences are the files that differ after the same produce sequence, each with
// why; the package documentation of node/storage has the same table. All others
// must be equal byte for byte.
var differences = map[string]string{
	".kafka_cleanshutdown":      "the broker epoch, which is an offset of the metadata log",
	".lock":                     "Kafka unlinks it at a stop",
	"bootstrap.checkpoint":      "the records that Kafka's format tool leaves for the first controller",
	"cleaner-offset-checkpoint": "Kafka makes it at the start, tidemark with the first cleaned log",
	"meta.properties":           "the directory id is drawn; Kafka's has a comment with the date and no order",
	"same-0/partition.metadata": "the topic id is drawn",
}

// sequence is the same for every broker: timestamps, batches and producers are
// fixed.
func sequence(ctx context.Context, t *testing.T, address string) {
	t.Helper()
	createTopic(ctx, t, address, "same", map[string]string{"message.timestamp.before.max.ms": "9223372036854775807"})
	at := time.UnixMilli(1700000000000)
	for round := range 3 {
		for _, codec := range codecs {
			c := client(t, address, kgo.ProducerBatchCompression(codec.codec))
			for i := range 40 {
				var batch []*kgo.Record
				for j := range 20 {
					at = at.Add(time.Duration((i+j)%7) * time.Millisecond)
					batch = append(batch, &kgo.Record{Topic: "same", Timestamp: at, Key: fmt.Appendf(nil, "key-%d", j), Value: text(round*1000+i*20+j, 1000)})
				}
				if err := c.ProduceSync(ctx, batch...).FirstErr(); err != nil {
					t.Fatal(err)
				}
			}
			c.Close()
		}
	}
}

func TestTheSameProduceSequenceMakesTheSameFiles(t *testing.T) {
	ctx := deadline(t)
	theirs := newBroker(t, filepath.Join(t.TempDir(), "theirs"))
	theirs.format()
	theirs.start()
	sequence(ctx, t, theirs.address)
	theirs.stop()

	ours := newBroker(t, filepath.Join(t.TempDir(), "ours"))
	s := serve(t, ours)
	sequence(ctx, t, ours.address)
	s.end(syscall.SIGTERM)

	want, got := filesOf(t, theirs.dir), filesOf(t, ours.dir)
	for _, name := range union(want, got) {
		a, inTheirs := want[name]
		b, inOurs := got[name]
		why, known := differences[name]
		switch {
		case !inTheirs || !inOurs:
			t.Logf("%s: Kafka %v tidemark %v (%s)", name, inTheirs, inOurs, why)
			if !known {
				t.Errorf("%s: only one of Kafka and tidemark has it", name)
			}
		case bytes.Equal(a, b):
			t.Logf("%s: %d bytes are equal", name, len(a))
			if known {
				t.Errorf("%s is equal, but the table says that it differs: %s", name, why)
			}
		case !known:
			t.Errorf("%s differs:\nKafka    %d bytes\n%q\ntidemark %d bytes\n%q", name, len(a), head(a), len(b), head(b))
		}
	}
}

func head(b []byte) []byte { return b[:min(len(b), 300)] }

// filesOf are the files at the top of a log directory, of the replica same-0, and the
// small ones of the metadata log.
func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, pattern := range []string{"*", ".*", "same-0/*", "__cluster_metadata-0/quorum-state", "__cluster_metadata-0/leader-epoch-checkpoint", "__cluster_metadata-0/partition.metadata"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if info, err := os.Stat(name); err != nil || info.IsDir() {
				continue
			}
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[strings.TrimPrefix(name, dir+"/")] = content
		}
	}
	return files
}

func union(a, b map[string][]byte) (names []string) {
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		names = append(names, name)
	}
	sort.Strings(names)
	return slices.Compact(names)
}
