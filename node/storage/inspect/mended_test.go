package inspect

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// noted checks that the files are sound behind a kill, with one note that says text, and
// returns what Verify says of them behind a clean stop.
func noted(t *testing.T, m memory, text string) error {
	t.Helper()
	sum, err := Verify(m.with(markerFile, remove), "", Options{})
	if err != nil || len(sum.Notes) != 1 || !strings.Contains(sum.Notes[0].Text, text) {
		t.Errorf("after a kill: %v, notes %v, want %q", err, sum.Notes, text)
	}
	_, err = Verify(m, "", Options{})
	return err
}

// Records that were deleted need no leader epoch: with all of a log's the file is empty
// after the next start, as the only entry begins at the log end. The first record that
// was not needs one; after a kill the checkpoint of the log start may be behind.
func TestTheEpochFileOfALogWhoseRecordsAreAllDeletedIsEmpty(t *testing.T) {
	h := batchesOf(0, 3, kafka.NoProducerID)
	for start, want := range map[string]string{"9": "", "8": "no entry for epoch 0, which begins at offset 6", "6": "no entry for epoch 0, which begins at offset 6",
		"0": "no entry for epoch 0, which begins at offset 0"} { // unordered: each is checked alone
		for _, empty := range []string{"0\n0\n", ""} {
			m := h.stopped().with("t-0/"+epochFile, func([]byte) []byte { return []byte(empty) })
			m[startFile] = []byte("0\n1\nt 0 " + start + "\n")
			says(t, verifyOnly(m), want)
			if empty != "" && want != "" {
				says(t, noted(t, m, want), want)
				continue
			}
			says(t, verifyOnly(m.with(markerFile, remove)), want)
		}
	}
}

// While the cleaned log waits for its place, its indexes wait too: they say nothing of
// the old one, which may have no index of that kind.
func TestIndexesOfACleanedSegmentSayNothingOfTheOldOne(t *testing.T) {
	for _, suffix := range []string{indexSuffix, timeSuffix, txnSuffix} {
		h := batchesOf(0, 3, kafka.NoProducerID)
		m := h.files().with(zero+txnSuffix, remove)
		cleaned := &history{}
		cleaned.data(1, 2, true)
		cleaned.end(1, record.Abort)
		cleaned.aborted(1, 0, 2, 3)
		m[zero+logSuffix+swapSuffix], m[zero+txnSuffix+swapSuffix] = cleaned.log, cleaned.txns
		m[zero+indexSuffix+swapSuffix] = []byte{0, 0, 0, 2, 0, 0, 0, 9}
		m[zero+timeSuffix+swapSuffix] = timeEntry(2)
		if _, err := Verify(m.with(zero+suffix, remove), "", Options{}); err != nil {
			t.Errorf("the old log without %s: %v", suffix, err)
		}
		delete(m, zero+logSuffix+swapSuffix)
		if _, err := Verify(m.with(zero+suffix, remove), "", Options{}); err == nil {
			t.Errorf("%s%s is not read once its log has its name", suffix, swapSuffix)
		}
	}
}

// A start takes a checkpoint's offset behind the log end for the log end: whichever
// checkpoint a kill in a truncation left so.
func TestACheckpointThatATruncationMadeStaleIsNoFault(t *testing.T) {
	for _, name := range offsetCheckpoints {
		m := batchesOf(0, 3, kafka.NoProducerID).stopped()
		m[name] = []byte("0\n1\nt 0 12\n")
		says(t, noted(t, m, "offset 12 of t-0 lies behind its log end 9"), "offset 12 of t-0 lies behind its log end 9")
	}
}

// A truncation cuts the index of aborted transactions before the log: the next start makes
// those of the segments anew that it walks, and believes those before.
func TestAnIndexOfAbortedTransactionsIsBehindOnlyWhereAStartWalks(t *testing.T) {
	h := &history{}
	for range 3 {
		first := int64(h.next)
		h.data(1, 3, true)
		h.end(1, record.Abort)
		h.aborted(1, first, int64(h.next)-1, int64(h.next))
	}
	for _, c := range []struct {
		what string
		edit func([]byte) []byte
	}{{"cut", cut(2 * txnEntrySize)}, {"missing", remove}} {
		m := h.stopped().with(zero+txnSuffix, c.edit)
		says(t, noted(t, m, "no entry for the transaction of producer 1"), "no entry for the transaction of producer 1")
		next := batchesOf(h.next, 1, kafka.NoProducerID)
		m["t-0/00000000000000000012.log"], m["t-0/00000000000000000012.index"], m["t-0/00000000000000000012.timeindex"] = next.log, nil, timeEntry(2)
		m[recoverFile] = []byte("0\n1\nt 0 15\n")
		says(t, verifyOnly(m.with(markerFile, remove)), "no entry for the transaction of producer 1")
		m[recoverFile] = []byte("0\n1\nt 0 11\n")
		says(t, verifyOnly(m.with(markerFile, remove)), "")
	}
}

// Half a snapshot is as good as none, wherever a start does not need it.
func TestHalfASnapshotIsNoFaultWhereAStartThrowsItAway(t *testing.T) {
	h := batchesOf(5, 2, 1) // to offset 10
	for _, half := range [][]byte{{}, {0, 1}, {0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0}} {
		m := memory{}
		for path, content := range h.stopped() { // unordered: a copy
			m[strings.Replace(path, "00000000000000000000.", "00000000000000000005.", 1)] = content
		}
		m["t-0/00000000000000000005.timeindex"] = timeEntry(2)
		m["t-0/00000000000000000005.snapshot"] = half
		err := noted(t, m, "producer")
		var fault *Fault
		if !errors.As(err, &fault) || !strings.HasSuffix(fault.File, ".snapshot") {
			t.Errorf("behind a clean stop: %v", err)
		}
	}
}

// A start writes the snapshots behind the segment anew that it walks first, whatever a
// truncation left in them, and believes those before.
func TestASnapshotMayBeStaleWhereAStartWritesItAnew(t *testing.T) {
	empty := []byte{0, 1, 0x48, 0x67, 0x4b, 0xc7, 0, 0, 0, 0}
	for point, kept := range map[string]bool{"3": true, "9": true, "40": true, "12": false} { // unordered: each is checked alone
		h, next := batchesOf(0, 3, 1), batchesOf(9, 1, 1)
		m := h.stopped().with(markerFile, remove)
		m["t-0/00000000000000000009.snapshot"] = empty
		m[recoverFile] = []byte("0\n1\nt 0 " + point + "\n")
		if !kept { // a segment behind the snapshot is what is walked
			m[nine+logSuffix], m[nine+indexSuffix], m[nine+timeSuffix] = next.log, nil, timeEntry(2)
		}
		want := "producer 1 is not in it"
		if kept {
			want = ""
		}
		says(t, verifyOnly(m), want)
	}
}

// What was below the log start when the producers were read again is forgotten, though
// the marker behind it is known.
func TestASnapshotMayHaveAMarkerWhoseRecordsAreDeleted(t *testing.T) {
	h := &history{}
	h.data(1, 3, true)
	h.end(1, record.Commit)
	m := h.stopped()
	body := []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 3, 0xe8, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	m["t-0/00000000000000000004.snapshot"] = append(binary.BigEndian.AppendUint32([]byte{0, 1}, crc32.Checksum(body, castagnoli)), body...)
	says(t, verifyOnly(m), "producer 1 has last sequence -1, the batches give 2")
	m[startFile] = []byte("0\n1\nt 0 3\n")
	says(t, verifyOnly(m), "")
}

// A clean stop writes the recovery point of each log: one that is missing is as wrong as
// one that is too low.
func TestBehindACleanStopEachReplicaHasARecoveryPoint(t *testing.T) {
	sound := load(t, kafkaDir)
	for _, c := range []struct {
		edit func([]byte) []byte
		want string
	}{
		{replace("5\npayments 0 279\n", "4\n"), ": byte 78: no recovery point of payments-0, though it was stopped cleanly"},
		{func([]byte) []byte { return []byte("0\n") }, ": byte 2: no recovery point of "},
		{func([]byte) []byte { return []byte("0\n0\n") }, ": byte 4: no recovery point of "},
		{func([]byte) []byte { return []byte{} }, ": byte 0: no recovery point of "},
		{remove, ": byte 0: no recovery point of "},
	} {
		m := sound.with(recoverFile, c.edit)
		err := verifyOnly(m)
		var fault *Fault
		if !errors.As(err, &fault) || fault.File != recoverFile || !strings.Contains(fault.Error(), c.want) {
			t.Errorf("want %q, Verify says: %v", c.want, err)
		}
		if _, one := VerifyReplica(m, "", "payments-0", Options{}); one == nil {
			t.Error("a single replica without a recovery point is sound")
		}
		if err := verifyOnly(m.with(markerFile, remove)); err != nil {
			t.Errorf("after a kill: %v", err)
		}
	}
}

// What Verify says of a text file by itself, Dump says too: neither reads what the other
// refuses.
func TestDumpRefusesTheTextFilesThatVerifyRefuses(t *testing.T) {
	sound := load(t, kafkaDir)
	for _, path := range []string{"mixed-0/" + idFile, metaFile, "__cluster_metadata-0/" + quorumFile, markerFile} {
		refused := 0
		for _, edit := range []func([]byte) []byte{add(), func([]byte) []byte { return []byte{} }, cut(5), put(0, '#'), put(0, '['), add('x', '\n')} {
			m := sound.with(path, edit)
			verified := verifyOnly(m)
			dumped := Dump(m, path, DumpOptions{}, func(Entry) error { return nil })
			if (verified == nil) != (dumped == nil) || verified != nil && dumped.Error() != verified.Error() {
				t.Errorf("%s: Verify says %v, Dump %v", path, verified, dumped)
			}
			if verified != nil {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%s: nothing was refused", path)
		}
	}
}

// A start leaves segments below the log start to retention as a power loss left them.
func TestASegmentBelowTheLogStartIsNotRecovered(t *testing.T) {
	h, next := batchesOf(0, 3, 1), batchesOf(9, 1, 1)
	m := h.stopped()
	m[nine+logSuffix], m[nine+indexSuffix], m[nine+timeSuffix] = next.log, nil, timeEntry(2)
	m = m.with(zero+logSuffix, flip(70))
	m[recoverFile] = []byte("0\n1\nt 0 12\n")
	for start, want := range map[string]string{"8": "has CRC", "9": "", "10": ""} { // unordered: each is checked alone
		m[startFile] = []byte("0\n1\nt 0 " + start + "\n")
		says(t, verifyOnly(m), "has CRC")
		says(t, verifyOnly(m.with(markerFile, remove)), want)
	}
}
