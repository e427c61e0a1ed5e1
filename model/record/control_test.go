package record_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

func TestLeaderChangeIsAControlBatchOfOneRecord(t *testing.T) {
	change := record.LeaderChange{Leader: 2, Voters: []record.Voter{{ID: 1}, {ID: 2}}, Granting: []record.Voter{{ID: 2}}}
	b := change.Batch(17, 4, 1700000000000)
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	if !b.IsControl() || b.BaseOffset() != 17 || b.LeaderEpoch() != 4 || b.ProducerID() != kafka.NoProducerID || b.Count() != 1 {
		t.Fatalf("control %t, offset %d, epoch %d, producer %d, %d records", b.IsControl(), b.BaseOffset(), b.LeaderEpoch(), b.ProducerID(), b.Count())
	}
	r := collect(t, b)[0]
	var key kmsg.ControlRecordKey
	if err := key.ReadFrom(r.Key); err != nil || key.Version != 0 || int16(key.Type) != int16(record.LeaderChanged) {
		t.Fatalf("key version %d type %d, %v", key.Version, key.Type, err)
	}
	want := unhex(`
		0000      version 0
		00000002  leader
		03        two voters
		00000001  id
		00        no tags
		00000002  id
		00        no tags
		02        one granting voter
		00000002  id
		00        no tags
		00        no tags
	`)
	if diff := cmp.Diff(want, r.Value); diff != "" {
		t.Fatalf("value (-want +got):\n%s", diff)
	}
}

func TestLeaderChangeRoundTripsInBothVersions(t *testing.T) {
	directory := kafka.UUID{1, 2, 3, 15: 9}
	for _, change := range []record.LeaderChange{
		{Leader: 3, Voters: []record.Voter{{ID: 3}}, Granting: []record.Voter{{ID: 3}}},
		{Version: 1, Leader: 1, Voters: []record.Voter{{ID: 1, Directory: directory}, {ID: 2}}},
	} {
		r := collect(t, change.Batch(0, 1, 5))[0]
		typ, err := record.ParseControl(r.Key)
		if err != nil || typ != record.LeaderChanged {
			t.Fatalf("control type %d, %v", typ, err)
		}
		got, err := record.ParseLeaderChange(r.Value)
		if diff := cmp.Diff(change, got); diff != "" || err != nil {
			t.Fatalf("leader change (-want +got), error %v:\n%s", err, diff)
		}
		for n := range r.Value {
			if _, err := record.ParseLeaderChange(r.Value[:n]); !errors.Is(err, record.ErrCorrupt) {
				t.Fatalf("cut to %d bytes: %v", n, err)
			}
		}
	}
}

func TestAControlKeyNeedsVersionAndType(t *testing.T) {
	for _, key := range [][]byte{nil, {0, 0, 0}, {0xff, 0xff, 0, 2}} {
		if _, err := record.ParseControl(key); !errors.Is(err, record.ErrCorrupt) {
			t.Fatalf("key %x: %v", key, err)
		}
	}
	if typ, err := record.ParseControl([]byte{0, 0, 0, 1}); typ != record.Commit || err != nil {
		t.Fatalf("type %d, %v", typ, err)
	}
}
