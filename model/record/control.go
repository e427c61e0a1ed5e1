package record

import (
	"encoding/binary"
	"fmt"

	"tidemark/model/kafka"
)

// ControlType is the kind of a control record, told by its key.
type ControlType int16

// Kafka's control records: transaction markers (KIP-98), then those of the
// metadata log (KIP-595, KIP-630, KIP-853).
const (
	Abort          ControlType = 0
	Commit         ControlType = 1
	LeaderChanged  ControlType = 2
	SnapshotHeader ControlType = 3
	SnapshotFooter ControlType = 4
	KRaftVersion   ControlType = 5
	KRaftVoters    ControlType = 6
)

// controlKeySize is the size in bytes of a control record's key of version 0:
// version int16, type int16. Later versions may only append to it.
const controlKeySize = 4

// ParseControl reads the type from a control record's key. A type that is not
// listed here is returned as it is: readers skip it.
func ParseControl(key []byte) (ControlType, error) {
	if len(key) < controlKeySize || int16(binary.BigEndian.Uint16(key)) < 0 {
		return 0, fmt.Errorf("%w: control record key of %d bytes is not version and type", ErrCorrupt, len(key))
	}
	return ControlType(binary.BigEndian.Uint16(key[2:])), nil
}

func controlKey(t ControlType) []byte {
	key := make([]byte, controlKeySize)
	binary.BigEndian.PutUint16(key[2:], uint16(t))
	return key
}

// Voter is one voter of the metadata quorum. Directory is zero in version 0.
type Voter struct {
	ID        kafka.BrokerID
	Directory kafka.UUID
}

// LeaderChange is the value of the control record that a new leader of the
// metadata log appends first (KIP-595).
type LeaderChange struct {
	// Version is the schema's: 0, or 1 (kraft.version 1) with directory ids.
	Version int16
	Leader  kafka.BrokerID
	// Voters is the voter set, Granting those who gave the leader their vote.
	Voters, Granting []Voter
}

// Batch builds the control batch that holds the record alone.
func (c LeaderChange) Batch(base kafka.Offset, epoch kafka.LeaderEpoch, now kafka.Timestamp) Batch {
	o := NoProducer()
	o.BaseOffset, o.LeaderEpoch, o.Control = base, epoch, true
	w := NewBuilder(o)
	w.Append(now, controlKey(LeaderChanged), c.append(nil), nil)
	return w.Build()
}

// append encodes the message: flexible, so arrays are compact and each
// structure ends with a (here always empty) tag section.
func (c LeaderChange) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Version))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Leader))
	dst = c.appendVoters(dst, c.Voters)
	dst = c.appendVoters(dst, c.Granting)
	return append(dst, 0)
}

func (c LeaderChange) appendVoters(dst []byte, voters []Voter) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(voters))+1)
	for _, v := range voters {
		dst = binary.BigEndian.AppendUint32(dst, uint32(v.ID))
		if c.Version >= 1 {
			dst = append(dst, v.Directory[:]...)
		}
		dst = append(dst, 0)
	}
	return dst
}

// ParseLeaderChange reads the value of a LeaderChanged record; an error wraps
// ErrCorrupt.
func ParseLeaderChange(value []byte) (LeaderChange, error) {
	d := decoder{buf: value}
	c := LeaderChange{Version: int16(d.fixed(2)), Leader: kafka.BrokerID(int32(d.fixed(4)))}
	if c.Version < 0 || c.Version > 1 {
		return LeaderChange{}, fmt.Errorf("%w: leader change record of version %d, want 0 or 1", ErrCorrupt, c.Version)
	}
	c.Voters = d.voters(c.Version)
	c.Granting = d.voters(c.Version)
	d.tags()
	if d.bad || len(d.buf) > 0 {
		return LeaderChange{}, fmt.Errorf("%w: leader change record of %d bytes does not decode", ErrCorrupt, len(value))
	}
	return c, nil
}

// decoder reads fields one after another; after one that does not fit it is bad and
// gives zeros.
type decoder struct {
	buf []byte
	bad bool
}

// bytes takes n bytes; a negative n is null.
func (d *decoder) bytes(n int32) []byte {
	if n < 0 || d.bad {
		return nil
	}
	if int(n) > len(d.buf) {
		d.bad = true
		return nil
	}
	b := d.buf[:n:n]
	d.buf = d.buf[n:]
	return b
}

// fixed reads a big-endian integer of n bytes.
func (d *decoder) fixed(n int32) (v uint64) {
	for _, b := range d.bytes(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.buf)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.buf = d.buf[n:]
	return v
}

// size reads a count or length: no more than there are bytes left.
func (d *decoder) size() int32 {
	v := d.uvarint()
	if v > uint64(len(d.buf)) {
		d.bad = true
		return 0
	}
	return int32(v)
}

func (d *decoder) voters(version int16) (voters []Voter) {
	for n := d.size() - 1; n > 0 && !d.bad; n-- {
		v := Voter{ID: kafka.BrokerID(int32(d.fixed(4)))}
		if version >= 1 {
			copy(v.Directory[:], d.bytes(int32(len(v.Directory))))
		}
		d.tags()
		voters = append(voters, v)
	}
	return voters
}

// tags skips a tag section.
func (d *decoder) tags() {
	for n := d.size(); n > 0 && !d.bad; n-- {
		d.uvarint()
		d.bytes(d.size())
	}
}
