package metadata

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
)

// FuzzDecode gives any bytes to what reads a record of the metadata log: an error that
// says so, or a record that is written and read as the same one. No count in the bytes
// is believed before there are bytes for it.
func FuzzDecode(f *testing.F) {
	for _, r := range []Record{
		NoOp{}, Topic{Name: "foo", TopicID: id(7)}, RemoveTopic{TopicID: id(7)}, FeatureLevel{"metadata.version", 27},
		Config{ResourceType: TopicResource, ResourceName: "foo", Name: "a", Value: "1"}, Config{ResourceType: BrokerResource, Name: "a", Delete: true},
		UnregisterBroker{3, 9}, ProducerIDs{1, 5, 1000},
		BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 5, Fencing: Unfence, InControlledShutdown: true, LogDirs: []kafka.UUID{id(8)}},
		RegisterBroker{BrokerID: 1, IncarnationID: id(9), BrokerEpoch: 5, EndPoints: []Endpoint{{"P", "h", 1024, 0}}, Features: []FeatureRange{{"f", 0, 1}}, Fenced: true, LogDirs: []kafka.UUID{id(8)}},
		Partition{PartitionID: 4, TopicID: id(7), Replicas: []kafka.BrokerID{1, 2}, ISR: []kafka.BrokerID{1}, Leader: 1, Directories: []kafka.UUID{id(1), id(2)}, ELR: []kafka.BrokerID{2}},
		PartitionChange{PartitionID: 4, TopicID: id(7), ISR: []kafka.BrokerID{}, Leader: kafka.NoBroker, RecoveryState: KeepRecoveryState, ELR: []kafka.BrokerID{2, 3}},
	} {
		f.Add(Append(nil, r))
	}
	f.Add([]byte{1, 3, 2, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0x0f}) // two billion replicas
	f.Fuzz(func(t *testing.T, value []byte) {
		var r Record
		var err error
		if allocs := testing.AllocsPerRun(1, func() { r, err = Decode(value) }); allocs > float64(20+2*len(value)) {
			t.Fatalf("%.0f allocations for %d bytes", allocs, len(value))
		}
		if err != nil {
			if !errors.Is(err, ErrMalformed) || r != nil {
				t.Fatalf("%v, %v", r, err)
			}
			return
		}
		written := Append(nil, r)
		again, err := Decode(written)
		if diff := cmp.Diff(r, again); err != nil || diff != "" {
			t.Fatalf("%x is written as %x, which is another record (-first +again): %v\n%s", value, written, err, diff)
		}
		if twice := Append(nil, again); !bytes.Equal(written, twice) {
			t.Fatalf("written as %x, then as %x", written, twice)
		}
	})
}
