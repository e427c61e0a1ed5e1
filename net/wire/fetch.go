package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
)

// fetchLayout writes a Fetch response as kmsg does, except that a partition
// with a region gets a hole where its record bytes go. It exists because kmsg
// can only copy record bytes that are in memory already, and the point of a
// region is that they are not.
type fetchLayout struct {
	dst     []byte
	start   int // of the frame in dst
	regions []disk.Region
	holes   []Hole
	version int16
	outline bool // no room for holes
	apart   int  // bytes of the regions that an outline leaves out
}

func (f *fetchLayout) flexible() bool { return f.version >= 12 }

func (f *fetchLayout) i16(v int16) { f.dst = binary.BigEndian.AppendUint16(f.dst, uint16(v)) }
func (f *fetchLayout) i32(v int32) { f.dst = binary.BigEndian.AppendUint32(f.dst, uint32(v)) }
func (f *fetchLayout) i64(v int64) { f.dst = binary.BigEndian.AppendUint64(f.dst, uint64(v)) }
func (f *fetchLayout) uvarint(n int) {
	f.dst = binary.AppendUvarint(f.dst, uint64(n))
}

// length writes an array's length: classic, or compact with one added.
func (f *fetchLayout) length(n int) {
	if f.flexible() {
		f.uvarint(n + 1)
		return
	}
	f.i32(int32(n))
}

func (f *fetchLayout) string(s string) {
	if f.flexible() {
		f.uvarint(len(s) + 1)
	} else {
		f.i16(int16(len(s)))
	}
	f.dst = append(f.dst, s...)
}

// tags writes a tag section of which only unknown tags are present.
func (f *fetchLayout) tags(t *kmsg.Tags) {
	if f.flexible() {
		f.uvarint(t.Len())
		f.dst = t.AppendEach(f.dst)
	}
}

func (f *fetchLayout) response(r *kmsg.FetchResponse) error {
	f.version = r.Version
	if f.version >= 1 {
		f.i32(r.ThrottleMillis)
	}
	if f.version >= 7 {
		f.i16(r.ErrorCode)
		f.i32(r.SessionID)
	}
	f.length(len(r.Topics))
	n := 0
	for i := range r.Topics {
		t := &r.Topics[i]
		if f.version <= 12 {
			f.string(t.Topic)
		} else {
			f.dst = append(f.dst, t.TopicID[:]...)
		}
		f.length(len(t.Partitions))
		for j := range t.Partitions {
			if n == len(f.regions) {
				return fmt.Errorf("encode Fetch: %d regions, more partitions", n)
			}
			f.partition(&t.Partitions[j], f.regions[n])
			n++
		}
		f.tags(&t.UnknownTags)
	}
	if n != len(f.regions) {
		return fmt.Errorf("encode Fetch: %d regions, %d partitions", len(f.regions), n)
	}
	f.responseTags(r)
	return nil
}

func (f *fetchLayout) partition(p *kmsg.FetchResponseTopicPartition, region disk.Region) {
	f.i32(p.Partition)
	f.i16(p.ErrorCode)
	f.i64(p.HighWatermark)
	if f.version >= 4 {
		f.i64(p.LastStableOffset)
	}
	if f.version >= 5 {
		f.i64(p.LogStartOffset)
	}
	if f.version >= 4 {
		f.aborted(p.AbortedTransactions)
	}
	if f.version >= 11 {
		f.i32(p.PreferredReadReplica)
	}
	f.records(p.RecordBatches, region)
	if f.flexible() {
		f.partitionTags(p)
	}
}

func (f *fetchLayout) aborted(a []kmsg.FetchResponseTopicPartitionAbortedTransaction) {
	if a == nil {
		f.length(-1)
		return
	}
	f.length(len(a))
	for i := range a {
		f.i64(a[i].ProducerID)
		f.i64(a[i].FirstOffset)
		f.tags(&a[i].UnknownTags)
	}
}

// records writes the length and the bytes, or a hole for the region. The zero
// region stands for the body's own bytes.
func (f *fetchLayout) records(own []byte, region disk.Region) {
	switch {
	case region.Src != nil:
		f.length(region.N)
		f.holes = append(f.holes, Hole{At: len(f.dst) - f.start, Region: region})
		if f.outline {
			f.apart += region.N
		} else {
			f.dst = append(f.dst, make([]byte, region.N)...)
		}
	case own == nil:
		f.length(-1)
	default:
		f.length(len(own))
		f.dst = append(f.dst, own...)
	}
}

// partitionTags writes the tagged structs that are not at their defaults, in
// order of tag: diverging epoch, current leader, snapshot id.
func (f *fetchLayout) partitionTags(p *kmsg.FetchResponseTopicPartition) {
	d, l, s := &p.DivergingEpoch, &p.CurrentLeader, &p.SnapshotID
	diverging := d.Epoch != -1 || d.EndOffset != -1
	leader := l.LeaderID != -1 || l.LeaderEpoch != -1
	snapshot := s.EndOffset != -1 || s.Epoch != -1
	f.uvarint(count(diverging, leader, snapshot) + p.UnknownTags.Len())
	if diverging {
		f.dst = append(f.dst, 0, 13)
		f.i32(d.Epoch)
		f.i64(d.EndOffset)
		f.dst = append(f.dst, 0)
	}
	if leader {
		f.dst = append(f.dst, 1, 9)
		f.i32(l.LeaderID)
		f.i32(l.LeaderEpoch)
		f.dst = append(f.dst, 0)
	}
	if snapshot {
		f.dst = append(f.dst, 2, 13)
		f.i64(s.EndOffset)
		f.i32(s.Epoch)
		f.dst = append(f.dst, 0)
	}
	f.dst = p.UnknownTags.AppendEach(f.dst)
}

// responseTags writes the endpoints of leaders that a v16 response names
// (KIP-951).
func (f *fetchLayout) responseTags(r *kmsg.FetchResponse) {
	if !f.flexible() {
		return
	}
	f.uvarint(count(len(r.Brokers) > 0) + r.UnknownTags.Len())
	if len(r.Brokers) > 0 {
		inner := fetchLayout{version: f.version}
		inner.length(len(r.Brokers))
		for i := range r.Brokers {
			inner.broker(&r.Brokers[i])
		}
		f.uvarint(0)
		f.uvarint(len(inner.dst))
		f.dst = append(f.dst, inner.dst...)
	}
	f.dst = r.UnknownTags.AppendEach(f.dst)
}

func (f *fetchLayout) broker(b *kmsg.FetchResponseBroker) {
	f.i32(b.NodeID)
	f.string(b.Host)
	f.i32(b.Port)
	if b.Rack == nil {
		f.uvarint(0)
	} else {
		f.string(*b.Rack)
	}
	f.tags(&b.UnknownTags)
}

func count(set ...bool) int {
	n := 0
	for _, s := range set {
		if s {
			n++
		}
	}
	return n
}
