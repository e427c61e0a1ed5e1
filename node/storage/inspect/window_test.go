package inspect

import (
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"tidemark/model/record"
)

// endless is a log file of n equal batches but for their offsets, that no memory
// holds.
type endless struct {
	batch record.Batch
	n     int64
}

func (f endless) Size() (int64, error) { return f.n * int64(len(f.batch)), nil }

func (f endless) Close() error { return nil }

func (f endless) ReadAt(p []byte, off int64) (n int, err error) {
	size := int64(len(f.batch))
	for n < len(p) {
		i, at := (off+int64(n))/size, (off+int64(n))%size
		if i >= f.n {
			return n, io.EOF
		}
		if at < 8 {
			var base [8]byte
			binary.BigEndian.PutUint64(base[:], uint64(i))
			n += copy(p[n:], base[at:])
			continue
		}
		n += copy(p[n:], f.batch[at:])
	}
	return n, nil
}

// files has the log in place of that of a small replica.
type files struct {
	memory
	log File
}

func (f files) Open(name string) (File, error) {
	if name == "t-0/00000000000000000000.log" {
		return f.log, nil
	}
	return f.memory.Open(name)
}

func TestALargeSegmentIsReadThroughAWindow(t *testing.T) {
	for _, size := range []int{1000, 2 * chunk} {
		o := record.NoProducer()
		o.LeaderEpoch = 0
		b := record.NewBuilder(o)
		b.Append(1000, nil, make([]byte, size), nil)
		log := endless{b.Build(), int64(100<<20) / int64(size)}
		m := files{memory{
			"t-0/00000000000000000000.log":       {},
			"t-0/00000000000000000000.index":     {},
			"t-0/00000000000000000000.timeindex": {},
			"t-0/leader-epoch-checkpoint":        []byte("0\n1\n0 0\n"),
			"t-0/partition.metadata":             []byte("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"),
		}, log}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		sum, err := Verify(m, "", Options{})
		runtime.ReadMemStats(&after)
		if err != nil || sum.Records != log.n || sum.Bytes < 100<<20 {
			t.Errorf("%+v %v", sum, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%d bytes of memory for batches of %d bytes", n, size)
		}
	}
}
