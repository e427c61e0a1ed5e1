package inspect

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"tidemark/model/kafka"
)

// deep are edits of a batch of three records whose CRC is right all the same, as a
// writer with a bug leaves it.
var deep = []struct {
	what string
	edit func([]byte) []byte
	want string
}{
	{"the second record has the third's offset", put(secondRecord+3, 4), "record 3 of the batch at offset 0 has offset 2, want one from 3 to 2"},
	{"a record lies behind the batch", put(secondRecord+3, 60), "record 2 of the batch at offset 0 has offset 30, want one from 1 to 2"},
	{"the largest timestamp is none of a record's", put(35+7, 9), "the largest timestamp of the batch at offset 0 is "},
	{"more records than offsets", put(57+3, 4), "4 records in a batch of offsets 0 to 2"},
	{"fewer records than there are", put(57+3, 2), "does not end where its count says"},
	{"the batch ends before it begins", put(23, 0xff), "the last offset of the batch at offset 0 lies before its first"},
	{"a codec that Kafka has not", put(22, 7), "codec 7 is no codec of Kafka's"},
	{"records that do not decompress", put(22, 4), "does not decompress with zstd"},
	{"a marker without a kind", put(22, 0x20), "control record key of 0 bytes is not version and type"},
}

// secondRecord is where the second of these records begins: the first has 8 bytes.
const secondRecord = 61 + 8

func TestDeepIterationFindsWhatTheCRCDoesNot(t *testing.T) {
	for _, c := range deep {
		h := &history{}
		h.data(kafka.NoProducerID, 3, false)
		h.log = sealed(c.edit(h.log))
		t.Run(c.what, func(t *testing.T) { says(t, h.verify(), c.want) })
	}
}

// A snapshot says the same as the batches in every field, though its CRC is right.
func TestEveryFieldOfASnapshotIsHeldAgainstTheBatches(t *testing.T) {
	const path, entry = "mixed-0/00000000000000000300.snapshot", 10
	sound := load(t, kafkaDir)
	for _, c := range []struct {
		at   int // the field's last byte
		want string
	}{
		{7, "no batch is of producer"}, {9, "epoch 1, the batches give 0"}, {13, "last sequence "}, {21, "last offset "}, {25, "offset delta "},
		{33, "timestamp "}, {37, "coordinator epoch "}, {45, "first offset of its open transaction "},
	} {
		edited := sound.with(path, func(b []byte) []byte {
			b[entry+c.at] ^= 0x21
			if c.at == 9 {
				b[entry+c.at] = 1
			}
			binary.BigEndian.PutUint32(b[2:], crc32.Checksum(b[6:], castagnoli))
			return b
		})
		_, err := VerifyReplica(edited, "", "mixed-0", Options{})
		says(t, err, c.want)
	}
}

// A time index may not hold a timestamp that an earlier batch exceeds.
func TestATimeIndexHoldsTheLargestTimestampSoFar(t *testing.T) {
	h := &history{}
	h.data(kafka.NoProducerID, 3, false)
	second := len(h.log)
	h.data(kafka.NoProducerID, 3, false)
	binary.BigEndian.PutUint64(h.log[second+27:], 500) // its base timestamp
	binary.BigEndian.PutUint64(h.log[second+35:], 500)
	h.log = sealed(h.log)
	m := h.files()
	says(t, verifyOnly(m), "")
	m["t-0/00000000000000000000.timeindex"] = []byte{0, 0, 0, 0, 0, 0, 1, 0xf4, 0, 0, 0, 5}
	says(t, verifyOnly(m), "the entry holds timestamp 500 for offset 5, but a batch before it has 1000")
}

func verifyOnly(m memory) error {
	_, err := Verify(m, "", Options{})
	return err
}

// All partitions of a topic have its id.
func TestPartitionsOfOneTopicHaveOneID(t *testing.T) {
	m := (&history{}).files()
	m["t-1/partition.metadata"] = []byte("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAg")
	delete(m, "t-0/00000000000000000000.timeindex")
	says(t, verifyOnly(m), "topic id is AAAAAAAAAAAAAAAAAAAAAg, that of another partition of t is AAAAAAAAAAAAAAAAAAAAAQ")
}

// What the CRC does not cover, offsets and leader epoch, is held against the batch
// before.
func TestOffsetsAndEpochsNeverFall(t *testing.T) {
	for _, c := range []struct {
		offset, epoch uint32
		want          string
	}{
		{3, 0, ""},
		{2, 0, "the batch begins at offset 2, want at least 3"},
		{3, 0x80000000, "leader epoch -2147483648 is none"},
		{3, 1, "epoch 0 from offset 0, but the batch at offset 3 has epoch 1"},
	} {
		h := &history{}
		h.data(kafka.NoProducerID, 3, false)
		second := len(h.log)
		h.data(kafka.NoProducerID, 1, false)
		binary.BigEndian.PutUint32(h.log[second+4:], c.offset)
		binary.BigEndian.PutUint32(h.log[second+atEpoch:], c.epoch)
		err := h.verifyClean()
		says(t, err, c.want)
	}
}
