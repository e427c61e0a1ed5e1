package client

import "github.com/twmb/franz-go/pkg/kmsg"

// Keys of the requests whose versions this package bounds.
const (
	keyProduce        = 0
	keyFetch          = 1
	keyListOffsets    = 2
	keyMetadata       = 3
	keyApiVersions    = 18
	keyInitProducerID = 22
)

// span is an inclusive range of versions of one API.
type span struct{ min, max int16 }

// ours is the range of versions that the Java client of Kafka 4.1 speaks for
// key, where that is less than what kmsg can encode: ListOffsets 11, ApiVersions
// 5 and InitProducerId 6 came later, and record sets before magic 2 went with
// 4.0 (KIP-896).
func ours(key, encodable int16) span {
	switch key {
	case keyProduce:
		return span{3, min(encodable, 13)}
	case keyFetch:
		return span{4, min(encodable, 18)}
	case keyListOffsets:
		return span{1, min(encodable, 10)}
	case keyApiVersions:
		return span{0, min(encodable, 4)}
	case keyInitProducerID:
		return span{0, min(encodable, 5)}
	}
	return span{0, encodable}
}

// negotiate returns the highest version of req, not above limit, that both
// sides speak; false if there is none.
func negotiate(req kmsg.Request, theirs map[int16]span, limit int16) (int16, bool) {
	own := ours(req.Key(), req.MaxVersion())
	their, ok := theirs[req.Key()]
	v := min(own.max, their.max, limit)
	return v, ok && v >= own.min && v >= their.min
}
