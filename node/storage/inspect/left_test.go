package inspect

import (
	"errors"
	"strings"
	"testing"
)

// left are what a process that was killed leaves, before any checkpoint: a note, but
// a fault behind a clean stop.
var left = []struct {
	what, path string
	edit       func([]byte) []byte
	note       string
}{
	{"a preallocated index", "payments-0/00000000000000000000.index", add(make([]byte, 8000)...), ""},
	{"a preallocated time index", "payments-0/00000000000000000000.timeindex", add(make([]byte, 12000)...), ""},
	{"a time index without its last entry", "payments-0/00000000000000000000.timeindex", cut(12), ""},
	{"a preallocated log", "payments-0/00000000000000000000.log", add(make([]byte, 5000)...), "zeros behind the last batch"},
	{"an epoch file that is behind", "payments-0/leader-epoch-checkpoint", remove, "no entry for epoch 0"},
	{"an epoch file that is ahead", "payments-0/leader-epoch-checkpoint", replace("1\n0 0\n", "2\n0 0\n1 900\n"), "behind the log end"},
	{"no index", "payments-0/00000000000000000000.index", remove, "the file is missing"},
	{"a stale high watermark", "replication-offset-checkpoint", replace("payments 0 279", "payments 0 280"), "behind its log end"},
	{"a snapshot of what was truncated", "payments-0/00000000000000000999.snapshot", add(0, 1), "behind the log end"},
	{"an index of a segment that went", "payments-0/00000000000000000999.index", add(0), "no .log file belongs to it"},
}

func TestWhatAKillLeavesIsNoFault(t *testing.T) {
	sound := load(t, kafkaDir)
	for _, c := range left {
		edited := sound.with(c.path, c.edit)
		var fault *Fault
		if _, err := Verify(edited, "", Options{}); !errors.As(err, &fault) || fault.File != c.path {
			t.Errorf("%s behind a clean stop: %v", c.what, err)
		}
		sum, err := Verify(edited.with(markerFile, remove).with(recoverFile, remove), "", Options{})
		if err != nil {
			t.Errorf("%s after a kill: %v", c.what, err)
			continue
		}
		noted := len(sum.Notes) == 1 && strings.Contains(sum.Notes[0].Text, c.note)
		if c.note == "" && len(sum.Notes) > 0 || c.note != "" && !noted {
			t.Errorf("%s after a kill: notes %v, want %q", c.what, sum.Notes, c.note)
		}
	}
}

// Below the recovery point the next start mends nothing.
func TestAnEpochFileMayBeBehindFromTheRecoveryPointOnAlone(t *testing.T) {
	killed := load(t, kafkaDir).with(markerFile, remove).with("payments-0/leader-epoch-checkpoint", remove)
	_, err := Verify(killed, "", Options{})
	says(t, err, "no entry for epoch 0, which begins at offset 0")
}

// Only the active segment's indexes are preallocated: those of a segment that was
// rolled end where their entries end.
func TestIndexesOfRolledSegmentsAreTrimmedAlsoAfterAKill(t *testing.T) {
	killed := load(t, kafkaDir).with(markerFile, remove).with("table-0/00000000000000000000.timeindex", add(make([]byte, 12)...))
	sum, err := Verify(killed, "", Options{})
	if err != nil || len(sum.Notes) != 1 || !strings.Contains(sum.Notes[0].Text, "a segment that was closed") {
		t.Errorf("notes %v, %v", sum.Notes, err)
	}
}

// A producer that was silent for a day may be missing in a snapshot, and only then.
func TestAnExpiredProducerMayBeMissingInASnapshot(t *testing.T) {
	empty := func([]byte) []byte { return []byte{0, 1, 0x48, 0x67, 0x4b, 0xc7, 0, 0, 0, 0} } // CRC-32C of four zeros
	m := load(t, kafkaDir).with("mixed-0/00000000000000000300.snapshot", empty)
	const day, written = 86400000, 1795969800000 // all batches are older
	if _, err := Verify(m, "", Options{Now: written + day, ProducerExpirationMs: day}); err != nil {
		t.Error(err)
	}
	_, err := Verify(m, "", Options{Now: written, ProducerExpirationMs: day})
	if err == nil || !strings.Contains(err.Error(), "producer 0 is not in it") {
		t.Error(err)
	}
}

// A directory of log directories, as a cluster in one process has it, and a single
// replica are checked as well.
func TestDirectoriesAboveAndBelowALogDirectoryAreChecked(t *testing.T) {
	m, nested := load(t, kafkaDir), memory{}
	for path, content := range m { // unordered: a copy
		nested["cluster/broker-1/"+path], nested["cluster/broker-2/"+path] = content, content
	}
	sum, err := Verify(nested, "cluster", Options{})
	if err != nil || sum.Directories != 2 || sum.Replicas != 12 {
		t.Errorf("%+v %v", sum, err)
	}
	sum, err = Verify(nested, "cluster/broker-1/payments-0", Options{})
	if err != nil || sum.Replicas != 1 || sum.Segments != 1 || sum.Snapshots != 1 {
		t.Errorf("%+v %v", sum, err)
	}
	if sum, err = VerifyReplica(m, "", "payments-0", Options{}); err != nil || sum.Segments != 1 || sum.Snapshots != 1 {
		t.Errorf("%+v %v", sum, err)
	}
}

// Replicas that are on their way out are told of and left.
func TestReplicasThatAreSetAsideAreNotChecked(t *testing.T) {
	m := load(t, kafkaDir)
	m["mixed-1.0123456789abcdef0123456789abcdef-delete/00000000000000000000.log"] = []byte("torn")
	sum, err := Verify(m, "", Options{})
	if err != nil || len(sum.Notes) != 1 || sum.Notes[0].Text != "set aside, not checked" {
		t.Errorf("%v %v", sum.Notes, err)
	}
}
