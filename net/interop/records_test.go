package interop

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tidemark/model/record"
)

// size of a record's value, bytes.
const valueSize = 1024

// partitions of every topic.
const partitions = 3

// count is how many records a test sends: INTEROP_RECORDS, else 100,000, few with
// -short.
func count(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("INTEROP_RECORDS")); err == nil {
		return n
	}
	if testing.Short() {
		return 2000
	}
	return 100_000
}

// fill writes the value of record i: its number, then text that differs from
// record to record and compresses like text.
func fill(value []byte, i int) {
	binary.BigEndian.PutUint64(value, uint64(i))
	state := uint32(i)*2654435761 + 1
	for at := 8; at < len(value); {
		state = state*1664525 + 1013904223
		at += copy(value[at:], words[state>>24%uint32(len(words))])
	}
}

var words = strings.SplitAfter("the tide leaves a line on the sand where the highest water was and nothing below it may be lost ", " ")

func value(i int) []byte {
	v := make([]byte, valueSize)
	fill(v, i)
	return v
}

// seen checks what comes back: every record once, in order within its partition,
// with the bytes that were sent.
type seen struct {
	t    *testing.T
	want []byte
	last [partitions]int
	n    int
}

func newSeen(t *testing.T) *seen {
	s := &seen{t: t, want: make([]byte, valueSize)}
	for i := range s.last {
		s.last[i] = -1
	}
	return s
}

func (s *seen) take(partition int32, offset int64, v []byte) {
	s.t.Helper()
	if len(v) != valueSize {
		s.t.Fatalf("partition %d offset %d: %d bytes, want %d", partition, offset, len(v), valueSize)
	}
	i := int(binary.BigEndian.Uint64(v))
	fill(s.want, i)
	if string(s.want) != string(v) {
		s.t.Fatalf("partition %d offset %d: the value of record %d came back changed", partition, offset, i)
	}
	if i <= s.last[partition] {
		s.t.Fatalf("partition %d offset %d: record %d after record %d", partition, offset, i, s.last[partition])
	}
	s.last[partition] = i
	s.n++
}

// storedCodecs counts the batches of a topic by codec in the files of every
// broker below data, after a look at their checksums.
func storedCodecs(t *testing.T, data, topic string) map[record.Codec]int {
	t.Helper()
	codecs := map[record.Codec]int{}
	files, err := filepath.Glob(filepath.Join(data, "broker-*", topic+"-*", "*.log"))
	if err != nil || len(files) < partitions {
		t.Fatalf("%d segments of %s below %s, %v", len(files), topic, data, err)
	}
	slices.Sort(files)
	for _, name := range files {
		buf, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for len(buf) > 0 {
			b, rest, err := record.Next(buf)
			if err == nil {
				err = b.Check()
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			codecs[b.Compression()]++
			buf = rest
		}
	}
	return codecs
}

// wantCodec wants every stored batch of a topic to have one codec.
func wantCodec(t *testing.T, data, topic, codec string) {
	t.Helper()
	for c, n := range storedCodecs(t, data, topic) {
		if c.String() != codec {
			t.Errorf("%s: %d stored batches have codec %v, want %s", topic, n, c, codec)
		}
	}
}

// codecs by Kafka's names.
var codecs = []string{"none", "gzip", "snappy", "lz4", "zstd"}

func topicOf(client, codec string) string { return fmt.Sprintf("%s-%s", client, codec) }
