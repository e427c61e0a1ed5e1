package record_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"pgregory.net/rapid"

	"tidemark/model/record"
)

var codecs = []record.Codec{record.Gzip, record.Snappy, record.LZ4, record.Zstd}

// sample is n records as an application logs them: alike, but not the same.
func sample(n int) *record.Builder {
	w := record.NewBuilder(record.NoProducer())
	state := uint32(1)
	for i := range n {
		state = state*1664525 + 1013904223
		value := fmt.Sprintf(`{"order":%d,"customer":"c-%d","amount":%d,"status":"%s"}`, i, state>>20, state>>12&0xfff,
			[]string{"new", "paid", "shipped"}[state>>30%3])
		w.Append(1700000000000+timestamp(i), []byte(fmt.Sprint(state>>24)), []byte(value), nil)
	}
	return w
}

func compressed(c record.Codec, w *record.Builder) record.Batch {
	return w.BuildCompressed(new(record.Deflater), c)
}

func TestCompressedRecordsRoundTripWhateverWasCompressedBefore(t *testing.T) {
	var deflater record.Deflater
	var inflater record.Inflater
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(codecs).Draw(t, "codec")
		o, in := options.Draw(t, "options"), records.Draw(t, "records")
		in = append(in, collect(t, sample(rapid.IntRange(0, 2000).Draw(t, "more")+1).Build())...)
		plain := build(o, in).Build()
		b := build(o, in).BuildCompressed(&deflater, c)
		if err := b.Check(); err != nil || b.Compression() != c || b.Count() != plain.Count() || b.MaxTimestamp() != plain.MaxTimestamp() {
			t.Fatalf("%v: header of %v, %v", c, b.Compression(), err)
		}
		if fresh := build(o, in).BuildCompressed(new(record.Deflater), c); !bytes.Equal(fresh, b) {
			t.Fatalf("%v: other bytes from a fresh encoder than from a used one", c)
		}
		got, err := inflater.Records(b)
		if err != nil || !bytes.Equal(got, plain[record.Overhead:]) {
			t.Fatalf("%v: %d bytes of records instead of %d, %v", c, len(got), len(plain)-record.Overhead, err)
		}
		if diff := cmp.Diff(collect(t, plain), collect(t, b)); diff != "" {
			t.Fatalf("%v: records (-plain +compressed):\n%s", c, diff)
		}
	})
}

// The digests below are of one batch on amd64. Under another GOARCH the same
// must come out: a run has one digest on every machine.
func TestCompressedBytesAreTheSameOnEveryMachine(t *testing.T) {
	want := map[record.Codec]string{
		record.Gzip: "4b89dc8e49c52792", record.Snappy: "a94f946c26cb0ed5",
		record.LZ4: "6154c16f21f1daba", record.Zstd: "da90740af3af74c2",
	}
	for _, c := range codecs {
		sum := sha256.Sum256(compressed(c, sample(3000)))
		if got := hex.EncodeToString(sum[:8]); got != want[c] {
			t.Errorf("%v: digest %s, want %s", c, got, want[c])
		}
	}
}

// foreign reads records with code that does not stand behind an Inflater.
func foreign(t *testing.T, c record.Codec, b []byte) []byte {
	t.Helper()
	var out []byte
	var err error
	switch c {
	case record.Gzip:
		r, e := stdgzip.NewReader(bytes.NewReader(b))
		if e != nil {
			t.Fatal(e)
		}
		out, err = io.ReadAll(r)
	case record.Snappy:
		for b = b[16:]; len(b) > 0; {
			n := 4 + binary.BigEndian.Uint32(b)
			block, e := s2.Decode(nil, b[4:n])
			if e != nil {
				t.Fatal(e)
			}
			out, b = append(out, block...), b[n:]
		}
	case record.LZ4:
		out, err = io.ReadAll(lz4.NewReader(bytes.NewReader(b)))
	case record.Zstd:
		r, e := zstd.NewReader(bytes.NewReader(b))
		if e != nil {
			t.Fatal(e)
		}
		defer r.Close()
		out, err = io.ReadAll(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOtherDecodersReadWhatADeflaterWrites(t *testing.T) {
	plain := sample(3000).Build()[record.Overhead:]
	for _, c := range codecs {
		b := compressed(c, sample(3000))
		if got := foreign(t, c, b[record.Overhead:]); !bytes.Equal(got, plain) {
			t.Errorf("%v: another decoder reads %d bytes, want %d", c, len(got), len(plain))
		}
		if len(b) > len(plain)*2/3 {
			t.Errorf("%v: %d bytes became %d", c, len(plain), len(b))
		}
	}
}

// TestFramesAreThoseOfTheJavaClient compares what stands before the content:
// deflate without name and time; xerial in version 1; an LZ4 frame of
// independent 64 KiB blocks without checksums; a zstd frame without one.
func TestFramesAreThoseOfTheJavaClient(t *testing.T) {
	for c, want := range map[record.Codec]string{
		record.Gzip:   "1f8b08000000000000ff",
		record.Snappy: "82534e415050590000000001" + "00000001",
		record.LZ4:    "04224d18604082",
		record.Zstd:   "28b52ffd",
	} {
		b := compressed(c, sample(3000))
		if got := hex.EncodeToString(b[record.Overhead : record.Overhead+len(want)/2]); got != want {
			t.Errorf("%v begins with %s, want %s", c, got, want)
		}
	}
	lz := compressed(record.LZ4, sample(3000))
	if !bytes.HasSuffix(lz, []byte{0, 0, 0, 0}) {
		t.Errorf("lz4 ends with %x, want the end mark alone", lz[len(lz)-4:])
	}
	if b := compressed(record.Zstd, sample(3000)); b[record.Overhead+4]&4 != 0 {
		t.Error("zstd: the frame has a checksum")
	}
}

// rewrap puts records as they are into a batch of n records under a codec.
func rewrap(c record.Codec, n int, records []byte) record.Batch {
	b := bytes.Clone(sample(n).Build()[:record.Overhead])
	b[22] |= byte(c)
	return append(b, records...)
}

func TestBareSnappyBlockOfOtherClientsIsRead(t *testing.T) {
	plain := sample(500).Build()
	b := rewrap(record.Snappy, 500, s2.EncodeSnappy(nil, plain[record.Overhead:]))
	if diff := cmp.Diff(collect(t, plain), collect(t, b)); diff != "" {
		t.Fatal(diff)
	}
}

func TestBatchThatInflatesBeyondTheLimitIsRefused(t *testing.T) {
	zeros := make([]byte, record.MaxInflated+1)
	bombs := map[record.Codec][]byte{record.Snappy: s2.EncodeSnappy(nil, zeros)}
	var buf bytes.Buffer
	gz := stdgzip.NewWriter(&buf)
	gz.Write(zeros)
	gz.Close()
	bombs[record.Gzip] = bytes.Clone(buf.Bytes())
	buf.Reset()
	lz := lz4.NewWriter(&buf)
	lz.Write(zeros)
	lz.Close()
	bombs[record.LZ4] = bytes.Clone(buf.Bytes())
	buf.Reset()
	zs, err := zstd.NewWriter(&buf)
	if err != nil {
		t.Fatal(err)
	}
	zs.Write(zeros)
	zs.Close()
	bombs[record.Zstd] = buf.Bytes()
	for _, c := range codecs {
		if _, err := new(record.Inflater).Records(rewrap(c, 1, bombs[c])); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%v: %d bytes became more than %d: %v", c, len(bombs[c]), record.MaxInflated, err)
		}
	}
}

func TestDamagedCompressedRecordsAreAnErrorOrOtherRecordsAndNeverAPanic(t *testing.T) {
	var inflater record.Inflater
	for _, c := range codecs {
		whole := compressed(c, sample(40))
		for i := record.Overhead; i < len(whole); i++ {
			b := record.Batch(bytes.Clone(whole))
			b[i] ^= 0x55
			if _, err := inflater.Records(b); err != nil && !errors.Is(err, record.ErrCorrupt) {
				t.Fatalf("%v, byte %d: %v", c, i, err)
			}
			if _, err := inflater.Records(whole[:i]); err != nil && !errors.Is(err, record.ErrCorrupt) {
				t.Fatalf("%v, cut at %d: %v", c, i, err)
			}
		}
		if got, err := inflater.Records(whole); err != nil || !bytes.Equal(got, sample(40).Build()[record.Overhead:]) {
			t.Fatalf("%v: after damaged batches a sound one is not read: %v", c, err)
		}
	}
}

func TestDetachedRecordsStayAndOthersAreOverwritten(t *testing.T) {
	var inflater record.Inflater
	first, err := inflater.Records(compressed(record.LZ4, sample(10)))
	if err != nil {
		t.Fatal(err)
	}
	inflater.Detach()
	second, err := inflater.Records(compressed(record.LZ4, sample(9)))
	if err != nil || &first[0] == &second[0] || !bytes.Equal(first, sample(10).Build()[record.Overhead:]) {
		t.Fatalf("detached records changed, %v", err)
	}
	third, err := inflater.Records(compressed(record.LZ4, sample(8)))
	if err != nil || &second[0] != &third[0] {
		t.Fatalf("the buffer was not used again, %v", err)
	}
}

func BenchmarkCodecs(b *testing.B) {
	plain := sample(10_000)
	for _, c := range codecs {
		var deflater record.Deflater
		batch := plain.BuildCompressed(&deflater, c)
		b.Run(c.String()+"/deflate", func(b *testing.B) {
			b.SetBytes(int64(plain.Size()))
			for b.Loop() {
				plain.BuildCompressed(&deflater, c)
			}
			b.ReportMetric(float64(plain.Size())/float64(len(batch)), "ratio")
		})
		b.Run(c.String()+"/inflate", func(b *testing.B) {
			var inflater record.Inflater
			b.SetBytes(int64(plain.Size()))
			for b.Loop() {
				if _, err := inflater.Records(batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
