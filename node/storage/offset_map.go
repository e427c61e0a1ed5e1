package storage

import (
	"crypto/md5"
	"encoding/binary"

	"tidemark/model/kafka"
)

// offsetMapEntry is 24 bytes: what Kafka's SkimpyOffsetMap takes for a key.
type offsetMapEntry struct {
	hash   [md5.Size]byte
	offset kafka.Offset
}

// offsetMap knows the last offset of each key of a stretch of a log, in a bounded
// number of slots. Of a key it keeps the MD5 alone: two keys of one hash count as
// one, as in Kafka, and the older record of the other is lost. The table grows up
// to the bound as it fills, where Kafka allocates all of it at the start.
type offsetMap struct {
	table []offsetMapEntry // the zero entry is free
	used  int
	slots int // most entries of the table
	limit int // entries at which the map is full
	// latest is the last offset of the stretch, NoOffset of an empty one.
	latest kafka.Offset
}

// firstSlots is how large a table is at first.
const firstSlots = 1024

const million = 1_000_000

// newOffsetMap returns a map of at most bytes bytes that is full at loadFactor
// millionths.
func newOffsetMap(bytes, loadFactor int64) *offsetMap {
	slots := int(min(bytes, 1<<31-1)) / (md5.Size + 8)
	return &offsetMap{slots: slots, limit: int(int64(slots) * loadFactor / million), latest: kafka.NoOffset}
}

// clear empties the map; it keeps a table of the first size.
func (m *offsetMap) clear() {
	if len(m.table) > firstSlots {
		m.table = nil
	}
	clear(m.table)
	m.used, m.latest = 0, kafka.NoOffset
}

func (m *offsetMap) full() bool { return m.used >= m.limit }

// put notes that the key's last record so far is at offset o. The map must not be
// full.
func (m *offsetMap) put(key []byte, o kafka.Offset) {
	if m.used*4 >= len(m.table)*3 && len(m.table) < m.slots {
		m.grow()
	}
	hash := md5.Sum(key)
	e := m.find(hash)
	if *e == (offsetMapEntry{}) {
		m.used++
	}
	*e, m.latest = offsetMapEntry{hash, o}, o
}

// get is the offset of the key's last record, NoOffset if the stretch has none.
func (m *offsetMap) get(key []byte) kafka.Offset {
	if m.used == 0 {
		return kafka.NoOffset
	}
	hash := md5.Sum(key)
	if e := m.find(hash); e.hash == hash && *e != (offsetMapEntry{}) {
		return e.offset
	}
	return kafka.NoOffset
}

// find is the entry of the hash or else the free one where it belongs. A table
// without free entries gives any.
func (m *offsetMap) find(hash [md5.Size]byte) *offsetMapEntry {
	n := uint64(len(m.table))
	i := binary.BigEndian.Uint64(hash[:]) % n
	for range n {
		if e := &m.table[i]; e.hash == hash || *e == (offsetMapEntry{}) {
			return e
		}
		i = (i + 1) % n
	}
	return &m.table[i]
}

func (m *offsetMap) grow() {
	old := m.table
	m.table = make([]offsetMapEntry, min(max(firstSlots, 2*len(old)), m.slots))
	for _, e := range old {
		if e != (offsetMapEntry{}) {
			*m.find(e.hash) = e
		}
	}
}
