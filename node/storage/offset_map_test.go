package storage

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"tidemark/model/kafka"
)

func TestTheOffsetMapKnowsTheLastOffsetOfEachKeyUpToItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.Int64Range(2, 3000).Draw(t, "slots")
		factor := rapid.Int64Range(1_000_000/slots+1, 1_000_000).Draw(t, "load factor")
		m := newOffsetMap(24*slots+rapid.Int64Range(0, 23).Draw(t, "odd bytes"), factor)
		for range 2 {
			m.clear()
			want := map[string]kafka.Offset{}
			for o := kafka.Offset(0); o < 4000; o++ {
				if full := int64(len(want)) >= slots*factor/million; full != m.full() {
					t.Fatalf("full is %t with %d keys in %d slots", m.full(), len(want), slots)
				}
				if m.full() {
					break
				}
				key := binary.AppendUvarint(nil, uint64(o)*7919%2500)
				m.put(key, o)
				want[string(key)] = o
			}
			if len(m.table) > int(slots) || m.used != len(want) {
				t.Fatalf("%d entries and %d used, of %d slots for %d keys", len(m.table), m.used, slots, len(want))
			}
			for k := range uint64(2500) {
				key := binary.AppendUvarint(nil, k)
				o, ok := want[string(key)]
				if !ok {
					o = kafka.NoOffset
				}
				if got := m.get(key); got != o {
					t.Fatalf("key %d is at %d, want %d", k, got, o)
				}
			}
		}
	})
}
