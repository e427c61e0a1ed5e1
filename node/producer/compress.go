package producer

import "tidemark/model/record"

// codecs are the values of a producer's compression.type.
var codecs = map[string]record.Codec{
	"none": record.None, "gzip": record.Gzip, "snappy": record.Snappy, "lz4": record.LZ4, "zstd": record.Zstd,
}

// compressor builds the batches of a producer. Their size counts before that:
// Kafka's producer guesses what compression will save from what it saved before,
// and fills batches up accordingly; here batch.size bounds the plain records.
type compressor struct {
	codec    record.Codec
	deflater record.Deflater
}

func (c *compressor) build(w *record.Builder) record.Batch {
	if c.codec == record.None {
		return w.Build()
	}
	return w.BuildCompressed(&c.deflater, c.codec)
}
