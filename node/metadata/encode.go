package metadata

import (
	"encoding/binary"

	"tidemark/model/kafka"
)

// frameVersion is the only version of the framing around a record's body.
const frameVersion = 1

// Append appends the value that r has in the metadata log: frame version, API
// key, version and body.
func Append(dst []byte, r Record) []byte {
	dst = binary.AppendUvarint(dst, frameVersion)
	dst = binary.AppendUvarint(dst, uint64(r.APIKey()))
	dst = binary.AppendUvarint(dst, uint64(r.Version()))
	w := writer{buf: dst}
	r.appendBody(&w)
	return w.buf
}

// writer appends the flexible encoding of KIP-482.
type writer struct {
	buf []byte
	// tags are the tagged fields of the open structure, ascending.
	tags []tagged
}

type tagged struct {
	tag  uint64
	body []byte
}

func (w *writer) int8(v int8)       { w.buf = append(w.buf, byte(v)) }
func (w *writer) int16(v int16)     { w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(v)) }
func (w *writer) uint16(v uint16)   { w.buf = binary.BigEndian.AppendUint16(w.buf, v) }
func (w *writer) int32(v int32)     { w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(v)) }
func (w *writer) int64(v int64)     { w.buf = binary.BigEndian.AppendUint64(w.buf, uint64(v)) }
func (w *writer) uuid(v kafka.UUID) { w.buf = append(w.buf, v[:]...) }
func (w *writer) length(n int)      { w.buf = binary.AppendUvarint(w.buf, uint64(n)+1) }
func (w *writer) null()             { w.buf = append(w.buf, 0) }

func (w *writer) bool(v bool) {
	if v {
		w.int8(1)
	} else {
		w.int8(0)
	}
}

func (w *writer) string(s string) {
	w.length(len(s))
	w.buf = append(w.buf, s...)
}

func (w *writer) brokers(ids []kafka.BrokerID) {
	w.length(len(ids))
	for _, id := range ids {
		w.int32(int32(id))
	}
}

func (w *writer) uuids(ids []kafka.UUID) {
	w.length(len(ids))
	for _, id := range ids {
		w.uuid(id)
	}
}

// tag adds a tagged field to the open structure; tags must be added ascending.
func (w *writer) tag(n uint64, body func(*writer)) {
	var f writer
	body(&f)
	w.tags = append(w.tags, tagged{n, f.buf})
}

// end closes the open structure with its tag section.
func (w *writer) end() {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(w.tags)))
	for _, t := range w.tags {
		w.buf = binary.AppendUvarint(w.buf, t.tag)
		w.buf = binary.AppendUvarint(w.buf, uint64(len(t.body)))
		w.buf = append(w.buf, t.body...)
	}
	w.tags = nil
}

func (r RegisterBroker) appendBody(w *writer) {
	w.int32(int32(r.BrokerID))
	w.bool(false) // IsMigratingZkBroker
	w.uuid(r.IncarnationID)
	w.int64(int64(r.BrokerEpoch))
	w.length(len(r.EndPoints))
	for _, e := range r.EndPoints {
		w.string(e.Name)
		w.string(e.Host)
		w.uint16(e.Port)
		w.int16(e.SecurityProtocol)
		w.end()
	}
	w.length(len(r.Features))
	for _, f := range r.Features {
		w.string(f.Name)
		w.int16(f.Min)
		w.int16(f.Max)
		w.end()
	}
	if r.Rack == "" {
		w.null()
	} else {
		w.string(r.Rack)
	}
	w.bool(r.Fenced)
	w.bool(r.InControlledShutdown)
	if len(r.LogDirs) > 0 {
		w.tag(0, func(w *writer) { w.uuids(r.LogDirs) })
	}
	w.end()
}

func (r UnregisterBroker) appendBody(w *writer) {
	w.int32(int32(r.BrokerID))
	w.int64(int64(r.BrokerEpoch))
	w.end()
}

func (r Topic) appendBody(w *writer) {
	w.string(r.Name)
	w.uuid(r.TopicID)
	w.end()
}

func (r Partition) appendBody(w *writer) {
	w.int32(r.PartitionID)
	w.uuid(r.TopicID)
	w.brokers(r.Replicas)
	w.brokers(r.ISR)
	w.brokers(r.Removing)
	w.brokers(r.Adding)
	w.int32(int32(r.Leader))
	if r.RecoveryState != Recovered {
		w.tag(0, func(w *writer) { w.int8(int8(r.RecoveryState)) })
	}
	w.int32(int32(r.LeaderEpoch))
	w.int32(int32(r.PartitionEpoch))
	w.uuids(r.Directories)
	w.brokersTag(1, r.ELR, len(r.ELR) > 0)
	w.brokersTag(2, r.LastKnownELR, len(r.LastKnownELR) > 0)
	w.end()
}

func (w *writer) brokersTag(n uint64, ids []kafka.BrokerID, present bool) {
	if present {
		w.tag(n, func(w *writer) { w.brokers(ids) })
	}
}

func (r PartitionChange) appendBody(w *writer) {
	w.int32(r.PartitionID)
	w.uuid(r.TopicID)
	w.brokersTag(0, r.ISR, r.ISR != nil)
	if r.Leader != KeepLeader {
		w.tag(1, func(w *writer) { w.int32(int32(r.Leader)) })
	}
	w.brokersTag(2, r.Replicas, r.Replicas != nil)
	w.brokersTag(3, r.Removing, r.Removing != nil)
	w.brokersTag(4, r.Adding, r.Adding != nil)
	if r.RecoveryState != KeepRecoveryState {
		w.tag(5, func(w *writer) { w.int8(int8(r.RecoveryState)) })
	}
	w.brokersTag(6, r.ELR, r.ELR != nil)
	w.brokersTag(7, r.LastKnownELR, r.LastKnownELR != nil)
	if r.Directories != nil {
		w.tag(8, func(w *writer) { w.uuids(r.Directories) })
	}
	w.end()
}

func (r Config) appendBody(w *writer) {
	w.int8(int8(r.ResourceType))
	w.string(r.ResourceName)
	w.string(r.Name)
	if r.Delete {
		w.null()
	} else {
		w.string(r.Value)
	}
	w.end()
}

func (r FeatureLevel) appendBody(w *writer) {
	w.string(r.Name)
	w.int16(r.Level)
	w.end()
}

func (r BrokerRegistrationChange) appendBody(w *writer) {
	w.int32(int32(r.BrokerID))
	w.int64(int64(r.BrokerEpoch))
	if r.Fencing != KeepFencing {
		w.tag(0, func(w *writer) { w.int8(int8(r.Fencing)) })
	}
	if r.InControlledShutdown {
		w.tag(1, func(w *writer) { w.int8(1) })
	}
	if len(r.LogDirs) > 0 {
		w.tag(2, func(w *writer) { w.uuids(r.LogDirs) })
	}
	w.end()
}

func (r RemoveTopic) appendBody(w *writer) {
	w.uuid(r.TopicID)
	w.end()
}

func (r ProducerIDs) appendBody(w *writer) {
	w.int32(int32(r.BrokerID))
	w.int64(int64(r.BrokerEpoch))
	w.int64(int64(r.NextProducerID))
	w.end()
}

func (NoOp) appendBody(w *writer) { w.end() }
