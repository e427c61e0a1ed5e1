package kgohistory

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tidemark/checker/history"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// AttemptHeader is the record header that carries an attempt: 8 bytes, big-endian.
const AttemptHeader = "attempt"

// Recorder writes one history of several clients. Its methods may be called at the
// same time.
type Recorder struct {
	mu    sync.Mutex
	out   *history.Writer
	start time.Time
	seq   uint64
	run   uint64 // upper half of attempts: drawn, for records outlive runs
	last  uint64 // attempt
	txns  uint64

	crashed map[string]bool // clients that are gone
}

// New begins a history. The header's clock is set: one counter orders the events.
func New(w io.Writer, h history.Header) *Recorder {
	h.Clock = history.BySeq
	var b [4]byte
	rand.Read(b[:])
	return &Recorder{out: history.NewWriter(w, h), start: time.Now(), run: uint64(binary.BigEndian.Uint32(b[:])|1) << 32,
		crashed: map[string]bool{}}
}

// Close ends the history and tells of the first fault in writing it. Clients must
// be closed before; what they do later is not recorded.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Flush()
}

// Setting tells a setting that the history cannot know: scope is "cluster" or
// "topic NAME".
func (r *Recorder) Setting(scope, key, value string) {
	e := event.New(event.Profile)
	e.Client, e.Text = scope, key+"="+value
	r.write(&e)
}

// write numbers an event and writes it.
func (r *Recorder) write(e *event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.crashed[e.Client] {
		return
	}
	r.seq++
	e.Seq, e.At = r.seq, int64(time.Since(r.start))
	r.out.Write(e)
}

// attempt is a new operation's id.
func (r *Recorder) attempt() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	return r.run | r.last
}

// attemptOf is the attempt that a record carries, 0 for none.
func attemptOf(rec *kgo.Record) uint64 {
	for i := range rec.Headers {
		if h := &rec.Headers[i]; h.Key == AttemptHeader && len(h.Value) == 8 {
			return binary.BigEndian.Uint64(h.Value)
		}
	}
	return 0
}

// hashOf is 0 for a tombstone.
func hashOf(value []byte) uint64 {
	if value == nil {
		return 0
	}
	return event.HashValue(value)
}

// keyOf is 0 for no key.
func keyOf(key []byte) uint64 {
	if key == nil {
		return 0
	}
	return event.HashValue(key)
}

// place is a partition of a map by topic and partition.
type place[T any] struct {
	tp    kafka.TopicPartition
	value T
}

// sorted lists franz-go's maps by name, so that a history's order is not chance.
func sorted[T any](byTopic map[string]map[int32]T) []place[T] {
	var all []place[T]
	for topic, partitions := range byTopic {
		for p, v := range partitions {
			all = append(all, place[T]{kafka.TopicPartition{Topic: topic, Partition: p}, v})
		}
	}
	slices.SortStableFunc(all, func(a, b place[T]) int {
		return cmp.Or(cmp.Compare(a.tp.Topic, b.tp.Topic), cmp.Compare(a.tp.Partition, b.tp.Partition))
	})
	return all
}
