package producer

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/record"
)

func TestBatchesLeaveUnderTheCodecOfTheConfiguration(t *testing.T) {
	for _, codec := range []record.Codec{record.None, record.Gzip, record.Snappy, record.LZ4, record.Zstd} {
		l := start(t, 1, 1, set("linger.ms", "0"), set("compression.type", codec.String()))
		l.send(0, "a")
		r := l.take()
		b := record.Batch(r.Body.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records)
		if b.Compression() != codec {
			t.Errorf("compression.type=%v: the batch has %v", codec, b.Compression())
		}
		if got := r.values(); got != "0:[a]" {
			t.Errorf("compression.type=%v: the batch holds %s", codec, got)
		}
	}
}
