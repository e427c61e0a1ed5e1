package inspect

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestADirectoryOfApacheKafkaIsSound(t *testing.T) {
	got, err := Verify(load(t, kafkaDir), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Summary{Directories: 1, Replicas: 6, Segments: 7, Batches: 168, Records: 797, Bytes: 83556, IndexEntries: 44, Snapshots: 7}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Every file of a replica is said again by another one, or by a CRC: whatever bit
// is flipped in a log that was not compacted, it is found, and in the right file,
// unless the batches themselves say something else now. In the metadata log, which
// no marker tells of, a leader epoch is a note.
func TestEveryFlippedBitIsFound(t *testing.T) {
	sound := load(t, kafkaDir)
	for _, path := range slices.Sorted(maps.Keys(sound)) {
		replica, name, ok := strings.Cut(path, "/")
		if !ok || strings.HasPrefix(replica, "table") || name == idFile || name == quorumFile {
			continue
		}
		step := 1
		if strings.HasSuffix(name, logSuffix) {
			step = 17
		}
		for at := 0; at < len(sound[path]); at += step {
			sum, err := VerifyReplica(sound.with(path, flip(at)), "", replica, Options{})
			var fault *Fault
			switch {
			case replica == "__cluster_metadata-0" && len(sum.Notes) > 0:
			case !errors.As(err, &fault):
				t.Fatalf("%s: a bit of byte %d is flipped, and Verify says %v", path, at, err)
			case step == 1 && fault.File != path:
				t.Fatalf("%s: a bit of byte %d is flipped, and Verify finds a fault in %s", path, at, fault)
			case step == 1 && (fault.Position > int64(at) || fault.Position+snapshotEntrySize <= int64(at)) && !strings.HasSuffix(name, snapshotSuffix):
				t.Fatalf("%s: a bit of byte %d is flipped, and Verify names byte %d: %s", path, at, fault.Position, fault.Reason)
			}
		}
	}
}

// faults are edits of Kafka's directory and the line that Verify must say.
var faults = []struct {
	path string
	edit func([]byte) []byte
	want string
}{
	{"mixed-0/00000000000000000000.log", put(8, 0, 0, 0, 1), ": byte 8: corrupt record batch: length is 1, want at least 49"},
	{"mixed-0/00000000000000000000.log", put(16, 1), ": byte 16: magic is 1, want 2"},
	{"mixed-0/00000000000000000000.log", flip(100), ": byte 0: the batch of offsets 0 to 19 has CRC "},
	{"mixed-0/00000000000000000000.log", cut(5), "byte 19158: the file ends 556 bytes into a batch of 561 bytes"},
	{"mixed-0/00000000000000000000.log", add(1, 2, 3), ": byte 19719: the file ends 3 bytes into the header of a batch"},
	{"mixed-0/00000000000000000000.log", add(make([]byte, 4096)...), ": byte 19719: 4096 zeros behind the last batch: the file is preallocated"},
	{"mixed-0/00000000000000000000.index", remove, ": byte 0: the file is missing"},
	{"mixed-0/00000000000000000000.index", cut(1), ": byte 16: the file ends 7 bytes into an entry of 8 bytes"},
	{"mixed-0/00000000000000000000.index", put(7, 1), ": byte 0: the entry for offset "},
	{"mixed-0/00000000000000000000.index", put(3, 1), ": byte 0: the entry for byte "},
	{"mixed-0/00000000000000000000.index", add(0, 0, 4, 0, 0, 0, 255, 0), ": byte 24: the entry points to offset 1024 at byte 65280, behind the end of the segment"},
	{"mixed-0/00000000000000000000.index", add(make([]byte, 80)...), ": byte 24: 80 zeros behind the entries of a segment that was closed"},
	{"mixed-0/00000000000000000000.timeindex", cut(12), ": byte 36: the last entry has timestamp "},
	{"mixed-0/00000000000000000000.timeindex", add(0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 9, 0), ": byte 48: the entry for timestamp 9 points to offset 2304, behind the end of the segment"},
	{"mixed-0/00000000000000000300.snapshot", flip(20), ": byte 2: CRC is "},
	{"mixed-0/00000000000000000300.snapshot", cut(46), ": byte 6: 5 producers take 240 bytes, the file has 194"},
	{"mixed-0/leader-epoch-checkpoint", replace("0 0", "1 0"), ": byte 4: the entry is for epoch 1 from offset 0, but the batch at offset 0 has epoch 0"},
	{"mixed-0/leader-epoch-checkpoint", replace("1\n0 0\n", "2\n0 0\n1 900\n"), ": byte 8: epoch 1 begins at offset 900, behind the log end 300"},
	{"mixed-0/leader-epoch-checkpoint", replace("1\n0 0\n", "2\n0 0\n1 150\n"), ": byte 8: epoch 1 begins at offset 150, inside the batch of offsets 140 to 159"},
	{"mixed-0/leader-epoch-checkpoint", remove, ": byte 0: no entry for epoch 0, which begins at offset 0"},
	{"mixed-0/partition.metadata", replace("version: 0", "version: 7"), ": byte 0: want two lines, version: 0 and topic_id: ID"},
	{"payments-0/00000000000000000000.txnindex", remove, ": byte 0: no entry for the transaction of producer 6 that begins at offset "},
	{"payments-0/00000000000000000000.txnindex", cut(34), ": byte 272: no entry for the transaction of producer "},
	{"payments-0/00000000000000000000.txnindex", put(9, 77), ": byte 2: producer id is 77, the abort marker at offset "},
	{"payments-0/00000000000000000000.txnindex", put(33, 1), ": byte 26: last stable offset is 1, the batches give "},
	{"payments-0/00000000000000000000.txnindex", add(make([]byte, 34)...), ": byte 306: no abort marker at offset 0"},
	{"recovery-point-offset-checkpoint", replace("payments 0 279", "payments 0 280"), ": offset 280 of payments-0 lies behind its log end 279"},
	{"recovery-point-offset-checkpoint", replace("payments 0 279", "payments 0 278"), ": recovery point 278 of payments-0 lies before its log end 279, though it was stopped cleanly"},
	{"replication-offset-checkpoint", replace("5\n", "6\n"), ": byte 2: line 2 is \"6\", but 5 entries follow"},
	{"replication-offset-checkpoint", replace("mixed 0", "mixed x"), ": the line is \"mixed x 300\", want topic, partition and offset"},
	{"replication-offset-checkpoint", replace("mixed 0 300", "table 0 300"), " is in it twice"},
	{"log-start-offset-checkpoint", replace("0\n", "1\n"), ": byte 0: line 1 is \"1\", want version 0"},
	{"meta.properties", replace("version=1", "version=9"), ": version is \"9\", want 0 or 1"},
	{"meta.properties", replace("node.id=1\n", ""), ": byte 112: node.id is missing"},
	{".kafka_cleanshutdown", put(0, '['), ": byte 0: no JSON object: "},
	{"__cluster_metadata-0/quorum-state", replace(`"data_version":0`, `"data_version":5`), ": byte 0: data_version is none that is known"},
	{"__cluster_metadata-0/quorum-state", replace(`leaderEpoch`, `#eaderEpoch`), ": byte 0: there is no leaderEpoch"},
	{"bootstrap.checkpoint", cut(75), ": byte 280: the snapshot of the metadata log has no footer"},
	{"mixed-0/00000000000000000100.index", add(), ": byte 0: no .log file belongs to it"},
}

func TestAFaultNamesFilePositionAndReason(t *testing.T) {
	sound := load(t, kafkaDir)
	for _, c := range faults {
		edited := sound.with(c.path, func(b []byte) []byte {
			if b = c.edit(b); b == nil && sound[c.path] == nil {
				b = []byte{}
			}
			return b
		})
		_, err := Verify(edited, "", Options{})
		var fault *Fault
		if !errors.As(err, &fault) || fault.File != c.path || !strings.Contains(fault.Error(), c.want) {
			t.Errorf("%s: want %q, Verify says: %v", c.path, c.want, err)
		}
	}
}
