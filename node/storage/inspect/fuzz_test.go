package inspect

import (
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"tidemark/model/record"
)

// allocated is what this process ever allocated, bytes.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func recordOf(value []byte) record.Record { return record.Record{Value: value} }

// fuzzFile puts any bytes in place of one file of Kafka's directory: neither Verify
// nor Dump may do more than tell that they are wrong, in bounded
// memory. Seeds are short, as the fuzzer
// shortens what it keeps byte by byte.
func fuzzFile(f *testing.F, path string, seeds ...[]byte) {
	m := load(f, kafkaDir)
	for _, seed := range append(seeds, m[path], nil) {
		f.Add(seed[:min(len(seed), 1500)])
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		inspectEdited(t, m, path, content)
		if strings.HasSuffix(path, logSuffix) || strings.HasSuffix(path, checkpointSuffix) {
			inspectEdited(t, m, path, sealed(content))
		}
	})
}

func inspectEdited(t *testing.T, m memory, path string, content []byte) {
	before := allocated()
	edited := m.with(path, func([]byte) []byte { return append([]byte{}, content...) })
	if replica, _, ok := strings.Cut(path, "/"); ok {
		VerifyReplica(edited, "", replica, Options{})
		VerifyReplica(edited.with(markerFile, remove), "", replica, Options{})
	} else {
		Verify(edited, "", Options{})
	}
	Dump(edited, path, DumpOptions{PrintData: true, Metadata: true}, func(e Entry) error {
		if e.Text() == "" || e.JSON(path) == "" {
			t.Error("an entry without text")
		}
		return nil
	})
	if n := allocated() - before; n > 4*record.MaxInflated {
		t.Errorf("%d bytes of memory for a file of %d", n, len(content))
	}
}

// sealed gives every batch the CRC of its bytes, so that what lies behind that test
// is reached.
func sealed(content []byte) []byte {
	content = append([]byte{}, content...)
	for rest := content; ; {
		b, after, err := record.Next(rest)
		if err != nil {
			return content
		}
		binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[atAttributes:], castagnoli))
		rest = after
	}
}

// eachCodec is one batch of each codec.
func eachCodec(f *testing.F) (all [][]byte) {
	content := load(f, kafkaDir)["mixed-0/00000000000000000000.log"]
	for i := 0; len(content) > 0; i++ {
		b, rest, err := record.Next(content)
		if err != nil {
			f.Fatal(err)
		}
		if i%3 == 0 {
			all = append(all, b)
		}
		content = rest
	}
	return all
}

func FuzzLog(f *testing.F) {
	fuzzFile(f, "mixed-0/00000000000000000000.log", eachCodec(f)...)
}
func FuzzTxnLog(f *testing.F)      { fuzzFile(f, "payments-0/00000000000000000000.log") }
func FuzzMetadataLog(f *testing.F) { fuzzFile(f, "__cluster_metadata-0/00000000000000000000.log") }
func FuzzMetadataSnapshot(f *testing.F) {
	fuzzFile(f, "bootstrap.checkpoint")
}
func FuzzOffsetIndex(f *testing.F)      { fuzzFile(f, "payments-0/00000000000000000000.index") }
func FuzzTimeIndex(f *testing.F)        { fuzzFile(f, "payments-0/00000000000000000000.timeindex") }
func FuzzTxnIndex(f *testing.F)         { fuzzFile(f, "payments-0/00000000000000000000.txnindex") }
func FuzzSnapshot(f *testing.F)         { fuzzFile(f, "payments-0/00000000000000000279.snapshot") }
func FuzzEpochs(f *testing.F)           { fuzzFile(f, "payments-0/leader-epoch-checkpoint") }
func FuzzOffsetCheckpoint(f *testing.F) { fuzzFile(f, "recovery-point-offset-checkpoint") }
func FuzzPartitionMetadata(f *testing.F) {
	fuzzFile(f, "payments-0/partition.metadata")
}
func FuzzMetaProperties(f *testing.F) { fuzzFile(f, "meta.properties") }
func FuzzQuorumState(f *testing.F)    { fuzzFile(f, "__cluster_metadata-0/quorum-state") }

// FuzzMetadataRecord fuzzes the value of a record, which FuzzMetadataLog cannot
// reach through a CRC.
func FuzzMetadataRecord(f *testing.F) {
	m := load(f, kafkaDir)
	s, _ := open(m, "__cluster_metadata-0/00000000000000000000.log")
	for b := (&batches{source: s}); ; {
		batch, _, err := b.next()
		if err != nil {
			break
		}
		batch.Each(func(r record.Record) error {
			f.Add(append([]byte{}, r.Value...))
			return nil
		})
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		text, err := decodeMetadata(value)
		if err == nil && len(text) > 100*len(value)+200 {
			t.Errorf("%d bytes come out of %d", len(text), len(value))
		}
		for kind := record.LeaderChanged; kind <= record.KRaftVoters; kind++ {
			decodeControl(kind, value)
		}
	})
}

// Lengths and counts of two billion in files of some bytes cost no memory.
func TestNoLengthIsBelievedBeforeItsBytesAreThere(t *testing.T) {
	m := load(t, kafkaDir)
	huge := binary.BigEndian.AppendUint32(nil, 0x7fffffff)
	for _, c := range []struct {
		path string
		at   int
	}{
		{"mixed-0/00000000000000000000.log", 8}, {"mixed-0/00000000000000000000.log", 57}, {"mixed-0/00000000000000000300.snapshot", 6},
		{"mixed-0/00000000000000000000.index", 4}, {"bootstrap.checkpoint", 8},
	} {
		edited := m.with(c.path, put(c.at, huge...))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Verify(edited, "", Options{}); err == nil {
			t.Errorf("%s: a length of %d at byte %d is no fault", c.path, 0x7fffffff, c.at)
		}
		Dump(edited, c.path, DumpOptions{PrintData: true}, func(Entry) error { return nil })
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: a length at byte %d costs %d bytes", c.path, c.at, n)
		}
	}
}
