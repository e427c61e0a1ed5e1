package inspect

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// positions are where the batches of a log file begin.
func positions(t *testing.T, content []byte) (all []int) {
	t.Helper()
	for pos := 0; pos < len(content); {
		b, _, err := record.Next(content[pos:])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pos)
		pos += len(b)
	}
	return all
}

// No CRC covers base offset and leader epoch of a batch. With neighbours on both sides
// the byte that is wrong is certain; at the ends of a log another file may be wrong as
// well, and the line tells both. Where compaction left gaps a base offset may be another.
func TestAFlippedBitThatNoCRCCoversIsToldWhereItIs(t *testing.T) {
	sound := load(t, kafkaDir)
	certain, both := 0, 0
	for _, path := range slices.Sorted(maps.Keys(sound)) {
		replica, name, _ := strings.Cut(path, "/")
		if !strings.HasSuffix(name, logSuffix) || strings.HasPrefix(replica, "table") {
			continue
		}
		all := positions(t, sound[path])
		for i, pos := range all {
			if i > 1 && i < len(all)-2 && i%6 != 0 {
				continue
			}
			for bit := range 96 { // of the base offset, then of the epoch
				field := pos
				if bit >= 64 {
					field = pos + atEpoch
				}
				at := field + bit%64/8
				sum, err := VerifyReplica(sound.with(path, flipBit(at, bit%8)), "", replica, Options{})
				told := fmt.Sprint(err, sum.Notes)
				var fault *Fault
				switch {
				case errors.As(err, &fault) && fault.File == path && fault.Position == int64(field) && !strings.Contains(told, " or that at byte "):
					certain++
				case (i == 0 || i == len(all)-1) && strings.Contains(told, fmt.Sprintf("byte %d", field)):
					both++
				default:
					t.Fatalf("%s: bit %d of byte %d, in batch %d of %d: %s", path, bit%8, at, i+1, len(all), told)
				}
			}
		}
	}
	if certain < 10*both {
		t.Errorf("%d bits are certain, of %d both possibilities are told", certain, both)
	}
}

// ofBatches is a replica with batches of one record of these offsets and leader epochs, and
// an epoch file.
func ofBatches(epochFileContent string, batches ...[2]int64) memory {
	var log []byte
	for _, b := range batches {
		w := record.NewBuilder(record.NoProducer())
		w.Append(1000, nil, []byte("value"), nil)
		made := w.Build()
		made.SetBaseOffset(kafka.Offset(b[0]))
		made.SetLeaderEpoch(kafka.LeaderEpoch(b[1]))
		log = append(log, made...)
	}
	return memory{"t-0/00000000000000000000.log": log, "t-0/leader-epoch-checkpoint": []byte(epochFileContent)}
}

func TestBatchesThatContradictEachOtherAreJudgedByWhatElseIsThere(t *testing.T) {
	const size = 73 // of a batch
	for name, c := range map[string]struct {
		files memory
		want  string
	}{
		"the file says the second":      {ofBatches("0\n1\n1 0\n", [2]int64{0, 1}, [2]int64{1, 0}), ".log: byte 85: leader epoch 0 follows epoch 1"},
		"the file says the first":       {ofBatches("0\n1\n0 0\n", [2]int64{0, 1}, [2]int64{1, 0}), ".log: byte 12: leader epoch 1 is wrong: the batch behind has epoch 0, those before -1 at most"},
		"the file says nothing":         {ofBatches("0\n1\n3 0\n", [2]int64{0, 1}, [2]int64{1, 0}), ".log: byte 12: leader epoch 1 is followed by epoch 0: it is wrong, or that at byte 85"},
		"the third says the first":      {ofBatches("0\n1\n3 0\n", [2]int64{0, 1}, [2]int64{1, 0}, [2]int64{2, 0}), ".log: byte 12: leader epoch 1 is wrong: "},
		"the third says the second":     {ofBatches("0\n1\n3 0\n", [2]int64{0, 1}, [2]int64{1, 1}, [2]int64{2, 0}, [2]int64{3, 1}), ".log: byte 158: leader epoch 0 follows epoch 1"},
		"no room before the second":     {ofBatches("0\n1\n0 0\n", [2]int64{0, 0}, [2]int64{0, 0}, [2]int64{2, 0}), ".log: byte 73: the batch begins at offset 0, want at least 1"},
		"no room behind the first":      {ofBatches("0\n1\n0 0\n", [2]int64{0, 0}, [2]int64{8, 0}, [2]int64{2, 0}, [2]int64{3, 0}), ".log: byte 73: base offset 8 is wrong: "},
		"a gap that it would fill":      {ofBatches("0\n1\n0 0\n", [2]int64{0, 0}, [2]int64{8, 0}, [2]int64{2, 0}), ".log: byte 73: base offset 8 is wrong: "},
		"gaps everywhere":               {ofBatches("0\n1\n0 0\n", [2]int64{0, 0}, [2]int64{8, 0}, [2]int64{5, 0}), ".log: byte 73: the batch of offsets 8 to 8 overlaps the next one, which begins at offset 5: its base offset is wrong, or that at byte 146"},
		"the last one, by no neighbour": {ofBatches("0\n1\n0 0\n", [2]int64{0, 0}, [2]int64{1, 4}), "leader-epoch-checkpoint: the entry is for epoch 0 from offset 0, but the batch at offset 1 has epoch 4, unless the leader epoch at byte 85 of the log file is wrong"},
	} {
		if n := len(c.files["t-0/00000000000000000000.log"]); n%size != 0 {
			t.Fatalf("batches of %d bytes in all", n)
		}
		sum, err := VerifyReplica(c.files, "", "t-0", Options{})
		if told := fmt.Sprint(err, sum.Notes); !strings.Contains(told, c.want) {
			t.Errorf("%s: %s\nwant %s", name, told, c.want)
		}
	}
}

// A segment that reaches into the next one has a batch of a wrong base offset, which is
// told at that batch.
func TestABatchThatReachesIntoTheNextSegmentIsToldWhereItIs(t *testing.T) {
	files := ofBatches("0\n1\n0 0\n", [2]int64{0, 0}, [2]int64{17, 0})
	files["t-0/00000000000000000002.log"] = nil
	_, err := VerifyReplica(files, "", "t-0", Options{})
	if want := "00000000000000000000.log: byte 73: the batch of offsets 17 to 17 reaches into the next segment, which begins at offset 2"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// The metadata log starts at its first segment, or where a snapshot ends: the epochs of
// all batches behind that are in its epoch file, which no kill takes away.
func TestAnEpochFileOfTheMetadataLogThatBeginsTooLateIsAFault(t *testing.T) {
	sound := load(t, kafkaDir)
	const path = "__cluster_metadata-0/leader-epoch-checkpoint"
	late := sound.with(path, func([]byte) []byte { return []byte("0\n1\n1 20\n") })
	_, err := Verify(late, "", Options{})
	if want := path + ": byte 4: the first entry begins at offset 20, but the log starts at 0"; fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, name := range []string{"00000000000000000020-0000000001.checkpoint", "00000000000000000030-0000000001.checkpoint"} {
		if _, err := Verify(late.with("__cluster_metadata-0/"+name, func([]byte) []byte { return sound["bootstrap.checkpoint"] }), "", Options{}); err != nil {
			t.Errorf("a snapshot %s: %v", name, err)
		}
	}
	if _, err := Verify(late.with("__cluster_metadata-0/00000000000000000019-0000000001.checkpoint", func([]byte) []byte { return sound["bootstrap.checkpoint"] }), "", Options{}); err == nil {
		t.Error("a snapshot that ends before the epoch file begins excuses it")
	}
}

func flipBit(at, bit int) func([]byte) []byte {
	return func(b []byte) []byte {
		b[at] ^= 1 << bit
		return b
	}
}
