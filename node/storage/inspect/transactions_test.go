package inspect

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// history builds the files of a replica, batch by batch.
type history struct {
	log  []byte
	txns []byte
	next kafka.Offset
	// firstLast is the last offset of the first batch: all have the same timestamp.
	firstLast kafka.Offset
}

// data appends n records of a producer, NoProducerID for none.
func (h *history) data(id kafka.ProducerID, n int, transactional bool) {
	o := record.NoProducer()
	o.BaseOffset, o.LeaderEpoch, o.ProducerID, o.Transactional = h.next, 0, id, transactional
	if id != kafka.NoProducerID {
		o.ProducerEpoch, o.BaseSequence = 0, 0
	}
	b := record.NewBuilder(o)
	for range n {
		b.Append(1000, nil, []byte("v"), nil)
	}
	if h.log == nil {
		h.firstLast = h.next + kafka.Offset(n) - 1
	}
	h.log = append(h.log, b.Build()...)
	h.next += kafka.Offset(n)
}

// end appends the marker of a producer's transaction.
func (h *history) end(id kafka.ProducerID, how record.ControlType) {
	o := record.NoProducer()
	o.BaseOffset, o.LeaderEpoch, o.ProducerID, o.ProducerEpoch, o.Transactional, o.Control = h.next, 0, id, 0, true, true
	b := record.NewBuilder(o)
	b.Append(1000, []byte{0, 0, 0, byte(how)}, []byte{0, 0, 0, 0, 0, 5}, nil)
	h.log = append(h.log, b.Build()...)
	h.next++
}

// aborted adds an entry to the transaction index.
func (h *history) aborted(id kafka.ProducerID, first, last, stable int64) {
	h.txns = binary.BigEndian.AppendUint16(h.txns, 0)
	for _, n := range []int64{int64(id), first, last, stable} {
		h.txns = binary.BigEndian.AppendUint64(h.txns, uint64(n))
	}
}

func (h *history) files() memory {
	return memory{
		"t-0/00000000000000000000.log":       h.log,
		"t-0/00000000000000000000.index":     {},
		"t-0/00000000000000000000.timeindex": {0, 0, 0, 0, 0, 0, 3, 0xe8, 0, 0, 0, byte(h.firstLast)},
		"t-0/00000000000000000000.txnindex":  h.txns,
		"t-0/leader-epoch-checkpoint":        []byte("0\n1\n0 0\n"),
		"t-0/partition.metadata":             []byte("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"),
	}
}

func (h *history) verify() error {
	_, err := Verify(h.files().with("t-0/00000000000000000000.timeindex", cut(12)), "", Options{})
	return err
}

// stopped are the files behind a clean stop.
func (h *history) stopped() memory {
	point := []byte("0\n1\nt 0 " + strconv.FormatInt(int64(h.next), 10) + "\n")
	return h.files().with(markerFile, add([]byte(`{"version":0}`)...)).with(recoverFile, add(point...))
}

// verifyClean verifies as behind a clean stop.
func (h *history) verifyClean() error {
	_, err := Verify(h.stopped(), "", Options{})
	return err
}

func says(t *testing.T, err error, want string) {
	t.Helper()
	var fault *Fault
	if want == "" && err != nil || want != "" && (!errors.As(err, &fault) || !strings.Contains(fault.Reason, want)) {
		t.Errorf("Verify says %v, want %q", err, want)
	}
}

// A read of committed records skips what the index names: an aborted transaction
// without an entry would be read.
func TestAnAbortedTransactionWithoutAnEntryIsAFault(t *testing.T) {
	h := &history{}
	h.data(1, 3, true)
	h.end(1, record.Abort)
	says(t, h.verifyClean(), "no entry for the transaction of producer 1 that begins at offset 0 and is aborted at 3")
	says(t, h.verify(), "") // a kill may have come before the entry was written
	h.data(1, 3, false)
	says(t, h.verify(), "") // or in a truncation, which cuts the index first
	says(t, h.verifyClean(), "no entry for the transaction of producer 1 that begins at offset 0 and is aborted at 3")
	h.aborted(1, 0, 3, 4)
	says(t, h.verify(), "")
	h.end(1, record.Abort) // ends nothing, and needs no entry
	says(t, h.verify(), "")
	h.aborted(1, 0, 7, 8)
	says(t, h.verifyClean(), "the abort marker at offset 7 ends no transaction")
}

// The last stable offset of an entry is where the oldest other transaction begins.
// A follower of Kafka's takes it behind all batches that it appended at once, so
// the other one may begin behind the marker.
func TestTheLastStableOffsetOfAnEntryIsWhereAnotherTransactionBegins(t *testing.T) {
	story := func(stable int64) error {
		h := &history{}
		h.data(1, 3, true)
		h.end(1, record.Abort)
		h.aborted(1, 0, 3, stable)
		h.data(kafka.NoProducerID, 2, false)
		h.data(2, 2, true)
		return h.verify()
	}
	says(t, story(4), "")
	says(t, story(6), "")
	says(t, story(5), "last stable offset is 5, the batches give 4")
	says(t, story(3), "last stable offset is 3, the batches give 4")
	says(t, story(60), "last stable offset is 60, the batches give 4")
}

// Compaction removes aborted records at once, and keeps marker and entry for a
// while: then the entry alone knows where the transaction began.
func TestAnEntryOutlivesItsCompactedRecords(t *testing.T) {
	h := &history{next: 10}
	h.end(1, record.Abort)
	h.aborted(1, 2, 10, 11)
	says(t, h.verify(), "")
	h.aborted(1, 2, 12, 13)
	says(t, h.verify(), "no abort marker at offset 12")
}
