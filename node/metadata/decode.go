package metadata

import (
	"encoding/binary"
	"errors"
	"fmt"

	"tidemark/model/kafka"
)

// ErrMalformed is wrapped by every error of Decode.
var ErrMalformed = errors.New("malformed metadata record")

// Decode reads the value of one record of the metadata log. Anything but a
// whole record of a type and version that Append writes is an error that wraps
// ErrMalformed: a node that skipped what it cannot read would hold an image
// unlike the others'.
func Decode(value []byte) (Record, error) {
	r := reader{buf: value}
	frame, key, version := r.uvarint(), r.uvarint(), r.uvarint()
	if r.bad {
		return nil, fmt.Errorf("%w: the frame is cut short", ErrMalformed)
	}
	if frame != frameVersion {
		return nil, fmt.Errorf("%w: frame version %d, only %d is known", ErrMalformed, frame, frameVersion)
	}
	if !readable(key, version) {
		return nil, fmt.Errorf("%w: no record type %d version %d", ErrMalformed, key, version)
	}
	rec := r.body(key)
	if r.bad || len(r.buf) > 0 {
		return nil, fmt.Errorf("%w: the body of a record of type %d version %d is not well formed", ErrMalformed, key, version)
	}
	return rec, nil
}

// readable tells which pairs of API key and version Append can have written.
func readable(key, version uint64) bool {
	switch key {
	case registerBrokerKey:
		return version == 3
	case partitionKey, partitionChangeKey:
		return version == 2
	case brokerRegistrationChangeKey:
		return version <= 2
	case unregisterBrokerKey, topicKey, configKey, removeTopicKey, featureLevelKey, producerIDsKey, noOpKey:
		return version == 0
	}
	return false
}

func (r *reader) body(key uint64) Record {
	switch key {
	case registerBrokerKey:
		return r.registerBroker()
	case unregisterBrokerKey:
		v := UnregisterBroker{BrokerID: r.broker(), BrokerEpoch: kafka.BrokerEpoch(r.int64())}
		r.noTags()
		return v
	case topicKey:
		v := Topic{Name: r.string(), TopicID: r.uuid()}
		r.noTags()
		return v
	case partitionKey:
		return r.partition()
	case configKey:
		v := Config{ResourceType: ResourceType(r.int8()), ResourceName: r.string(), Name: r.string()}
		v.Value, v.Delete = r.nullableString()
		r.noTags()
		return v
	case partitionChangeKey:
		return r.partitionChange()
	case removeTopicKey:
		v := RemoveTopic{TopicID: r.uuid()}
		r.noTags()
		return v
	case featureLevelKey:
		v := FeatureLevel{Name: r.string(), Level: r.int16()}
		r.noTags()
		return v
	case producerIDsKey:
		v := ProducerIDs{BrokerID: r.broker(), BrokerEpoch: kafka.BrokerEpoch(r.int64()), NextProducerID: kafka.ProducerID(r.int64())}
		r.noTags()
		return v
	case brokerRegistrationChangeKey:
		return r.brokerRegistrationChange()
	default:
		r.noTags()
		return NoOp{}
	}
}

func (r *reader) registerBroker() Record {
	v := RegisterBroker{BrokerID: r.broker()}
	r.bad = r.bool() || r.bad // a broker that migrates from ZooKeeper is of another age
	v.IncarnationID = r.uuid()
	v.BrokerEpoch = kafka.BrokerEpoch(r.int64())
	for range r.length(1) {
		v.EndPoints = append(v.EndPoints, Endpoint{r.string(), r.string(), r.uint16(), r.int16()})
		r.noTags()
	}
	for range r.length(1) {
		v.Features = append(v.Features, FeatureRange{r.string(), r.int16(), r.int16()})
		r.noTags()
	}
	v.Rack, _ = r.nullableString()
	v.Fenced, v.InControlledShutdown = r.bool(), r.bool()
	r.eachTag(func(tag uint64) {
		if tag == 0 {
			v.LogDirs = r.uuids()
		} else {
			r.bad = true
		}
	})
	return v
}

func (r *reader) partition() Record {
	v := Partition{PartitionID: r.int32(), TopicID: r.uuid(), Replicas: r.brokers(), ISR: r.brokers(),
		Removing: r.brokers(), Adding: r.brokers(), Leader: r.broker(),
		LeaderEpoch: kafka.LeaderEpoch(r.int32()), PartitionEpoch: kafka.PartitionEpoch(r.int32()), Directories: r.uuids()}
	r.eachTag(func(tag uint64) {
		switch tag {
		case 0:
			v.RecoveryState = RecoveryState(r.int8())
		case 1:
			v.ELR = r.brokers()
		case 2:
			v.LastKnownELR = r.brokers()
		default:
			r.bad = true
		}
	})
	return v
}

func (r *reader) partitionChange() Record {
	v := NewPartitionChange(kafka.UUID{}, r.int32())
	v.TopicID = r.uuid()
	r.eachTag(func(tag uint64) {
		switch tag {
		case 0:
			v.ISR = r.brokers()
		case 1:
			v.Leader = r.broker()
		case 2:
			v.Replicas = r.brokers()
		case 3:
			v.Removing = r.brokers()
		case 4:
			v.Adding = r.brokers()
		case 5:
			v.RecoveryState = RecoveryState(r.int8())
		case 6:
			v.ELR = r.brokers()
		case 7:
			v.LastKnownELR = r.brokers()
		case 8:
			v.Directories = r.uuids()
		default:
			r.bad = true
		}
	})
	return v
}

func (r *reader) brokerRegistrationChange() Record {
	v := BrokerRegistrationChange{BrokerID: r.broker(), BrokerEpoch: kafka.BrokerEpoch(r.int64())}
	r.eachTag(func(tag uint64) {
		switch tag {
		case 0:
			v.Fencing = Fencing(r.int8())
		case 1:
			v.InControlledShutdown = r.int8() == 1
		case 2:
			v.LogDirs = r.uuids()
		default:
			r.bad = true
		}
	})
	return v
}

// reader reads the flexible encoding of KIP-482. After the first failure bad is
// set and every read gives zeros, so a caller checks once, at the end.
type reader struct {
	buf []byte
	bad bool
}

// take gives the next n bytes, or nil.
func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.buf) {
		r.bad = true
		return nil
	}
	b := r.buf[:n]
	r.buf = r.buf[n:]
	return b
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.buf)
	if r.bad || n <= 0 {
		r.bad = true
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

func (r *reader) int8() int8 {
	if b := r.take(1); b != nil {
		return int8(b[0])
	}
	return 0
}

func (r *reader) bool() bool { return r.int8() != 0 }

func (r *reader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) int16() int16 { return int16(r.uint16()) }

func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) broker() kafka.BrokerID { return kafka.BrokerID(r.int32()) }

func (r *reader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) uuid() kafka.UUID {
	var u kafka.UUID
	copy(u[:], r.take(len(u)))
	return u
}

// length reads the length of an array whose elements take at least size bytes;
// null is refused.
func (r *reader) length(size int) int {
	n := r.uvarint()
	if r.bad || n == 0 || n-1 > uint64(len(r.buf)/size) {
		r.bad = true
		return 0
	}
	return int(n - 1)
}

func (r *reader) nullableString() (s string, null bool) {
	if len(r.buf) > 0 && r.buf[0] == 0 {
		r.buf = r.buf[1:]
		return "", true
	}
	return string(r.take(r.length(1))), false
}

func (r *reader) string() string { return string(r.take(r.length(1))) }

func (r *reader) brokers() []kafka.BrokerID {
	n := r.length(4)
	ids := make([]kafka.BrokerID, 0, n)
	for range n {
		ids = append(ids, r.broker())
	}
	return ids
}

func (r *reader) uuids() []kafka.UUID {
	n := r.length(16)
	ids := make([]kafka.UUID, 0, n)
	for range n {
		ids = append(ids, r.uuid())
	}
	return ids
}

// eachTag reads a tag section. field reads the body of one tag and must read it
// to its end; tags must ascend.
func (r *reader) eachTag(field func(tag uint64)) {
	next := uint64(0)
	for range r.uvarint() {
		tag := r.uvarint()
		body := r.take(int(min(r.uvarint(), uint64(len(r.buf)+1))))
		if r.bad || tag < next {
			r.bad = true
			return
		}
		next = tag + 1
		rest := r.buf
		r.buf = body
		field(tag)
		r.bad = r.bad || len(r.buf) > 0
		r.buf = rest
	}
}

// noTags reads the tag section of a structure that has no tagged fields.
func (r *reader) noTags() { r.eachTag(func(uint64) { r.bad = true }) }
