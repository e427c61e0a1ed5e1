package apache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/storage"
)

// enrich has our log engine write, into the empty topics payments and table of a
// directory that tidemark serve left, what no client can have it write yet:
// transactions, and a changelog that was compacted. It returns what the engine says of
// both to who reads everything, and to who reads committed.
func enrich(t *testing.T, dir string, clean bool) (all, committed []stored) {
	t.Helper()
	marker, err := os.ReadFile(filepath.Join(dir, ".kafka_cleanshutdown"))
	if clean != (err == nil) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("clean %v: %v", clean, err)
	}
	n := boot(t, dir)
	if clean {
		if err := n.fs.Remove(".kafka_cleanshutdown"); err != nil {
			t.Fatal(err)
		}
	}
	var logs []*storage.Log
	for _, name := range replicasIn(t, dir) {
		switch name {
		case "__cluster_metadata-0":
			continue
		case "payments-0":
			l := n.adopt(name, small(), clean)
			n.overlap(l)
			logs = append(logs, l)
		case "table-0":
			l := n.adopt(name, table64(), clean)
			n.rewrite(l)
			logs = append(logs, l)
		default:
			logs = append(logs, n.adopt(name, small(), clean))
		}
	}
	for _, l := range logs {
		if topic := l.Dir()[:len(l.Dir())-2]; topic == "payments" || topic == "table" {
			all = append(all, n.reads(l, topic, false)...)
			committed = append(committed, n.reads(l, topic, true)...)
		}
		if clean {
			n.await("stop "+l.Dir(), l.Stop)
		}
	}
	if clean {
		n.offsets(logs)
		n.write(".kafka_cleanshutdown", string(marker))
	}
	n.kill()
	return all, committed
}

// reads is what a consumer makes of a log: of committed transactions alone, by the
// list of aborted ones that comes with a fetch, or of everything.
func (n *lane) reads(l *storage.Log, topic string, committed bool) (all []stored) {
	n.t.Helper()
	end := l.LogEnd()
	if committed {
		end = l.LastStable()
	}
	for from := l.LogStart(); from < end; {
		s, err := l.Read(from, end, 1<<30, true)
		if err != nil || s.Region.N == 0 {
			n.t.Fatalf("%s: read from offset %d: %d bytes, %v", l.Dir(), from, s.Region.N, err)
		}
		content := make([]byte, s.Region.N)
		if err := s.Region.Read(content); err != nil {
			n.t.Fatal(err)
		}
		aborted := l.AbortedTransactions(from, s)
		slices.SortStableFunc(aborted, func(a, b storage.AbortedTransaction) int { return cmp.Compare(a.First, b.First) })
		s.Region.Release()
		out := map[kafka.ProducerID]bool{} // whose records are not shown
		for len(content) > 0 {
			b, rest, err := record.Next(content)
			if err != nil {
				n.t.Fatal(err)
			}
			content, from = rest, b.NextOffset()
			for len(aborted) > 0 && aborted[0].First <= b.LastOffset() {
				out[aborted[0].ProducerID] = true
				aborted = aborted[1:]
			}
			if b.IsControl() {
				out[b.ProducerID()] = false
			}
			if committed && b.IsTransactional() && out[b.ProducerID()] {
				continue
			}
			if err := b.Each(func(r record.Record) error {
				all = append(all, storedOf(topic, r))
				return nil
			}); err != nil {
				n.t.Fatal(err)
			}
		}
	}
	return all
}

func storedOf(topic string, r record.Record) stored {
	var headers []kgo.RecordHeader
	for _, h := range r.Headers {
		headers = append(headers, kgo.RecordHeader{Key: h.Key, Value: append([]byte(nil), h.Value...)})
	}
	return stored{topic, int64(r.Offset), int64(r.Timestamp), string(r.Key), string(r.Value), fmt.Sprint(headers)}
}
