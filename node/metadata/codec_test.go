package metadata

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"tidemark/model/kafka"
)

func id(b byte) kafka.UUID { return kafka.UUID{15: b} }

// The bytes of these records were put together by hand from Kafka's schemas.
func TestRecordsHaveKafkasBytes(t *testing.T) {
	for _, c := range []struct {
		name  string
		rec   Record
		bytes string // groups are the fields, in order
	}{
		// frame 1, key 20, version 0; no fields, no tags
		{"no-op", NoOp{}, "01 14 00  00"},
		// "foo" is 3+1 and three letters
		{"topic", Topic{Name: "foo", TopicID: id(7)}, "01 02 00  04666f6f 00000000000000000000000000000007  00"},
		{"remove topic", RemoveTopic{TopicID: id(7)}, "01 09 00  00000000000000000000000000000007  00"},
		// metadata.version is 16 letters: 0x11; level 27
		{"feature", FeatureLevel{"metadata.version", 27},
			"01 0c 00  11" + hex.EncodeToString([]byte("metadata.version")) + " 001b  00"},
		// resource type 2, "foo", "a" = "1"
		{"config", Config{ResourceType: TopicResource, ResourceName: "foo", Name: "a", Value: "1"}, "01 04 00  02 04666f6f 0261 0231  00"},
		// the value of a deletion is null, length 0
		{"config deleted", Config{ResourceType: BrokerResource, Name: "a", Delete: true}, "01 04 00  04 01 0261 00  00"},
		{"unregister", UnregisterBroker{3, 9}, "01 01 00  00000003 0000000000000009  00"},
		{"producer ids", ProducerIDs{1, 5, 1000}, "01 0f 00  00000001 0000000000000005 00000000000003e8  00"},
		// fencing is version 0 and one tag: tag 0, 1 byte, 1
		{"fence", BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 5, Fencing: Fence}, "01 11 00  00000001 0000000000000005  01 00 01 01"},
		{"unfence", BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 5, Fencing: Unfence}, "01 11 00  00000001 0000000000000005  01 00 01 ff"},
		// a controlled shutdown is version 1 and tag 1
		{"shutdown", BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 5, InControlledShutdown: true},
			"01 11 01  00000001 0000000000000005  01 01 01 01"},
		// log directories are version 2 and tag 2: one directory, 17 bytes
		{"directories", BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 5, LogDirs: []kafka.UUID{id(8)}},
			"01 11 02  00000001 0000000000000005  01 02 11 02 00000000000000000000000000000008"},
		// version 2; replicas 1,2; ISR 1; nothing removing or adding; leader 1; epochs 0; two directories; no tags,
		// because recovered and empty ELR lists are defaults
		{"partition", Partition{PartitionID: 4, TopicID: id(7), Replicas: []kafka.BrokerID{1, 2}, ISR: []kafka.BrokerID{1}, Leader: 1,
			Directories: []kafka.UUID{id(1), id(2)}},
			"01 03 02  00000004 00000000000000000000000000000007 03 00000001 00000002 02 00000001 01 01 00000001" +
				" 00000000 00000000 03 00000000000000000000000000000001 00000000000000000000000000000002  00"},
		// tags: 0 ISR empty (1 byte: length 0+1); 1 leader -1; 6 ELR {2,3}: 1+8 bytes; 7 last known {2}: 1+4 bytes
		{"partition change", PartitionChange{PartitionID: 4, TopicID: id(7), ISR: []kafka.BrokerID{}, Leader: kafka.NoBroker,
			RecoveryState: KeepRecoveryState, ELR: []kafka.BrokerID{2, 3}, LastKnownELR: []kafka.BrokerID{2}},
			"01 05 02  00000004 00000000000000000000000000000007  04 00 01 01  01 04 ffffffff  06 09 03 00000002 00000003  07 05 02 00000002"},
		// version 3; not migrating; one endpoint "P" at "h":1024, protocol 0, no tags; one feature "f" 0 to 1, no tags;
		// null rack; fenced; not shutting down; tag 0: one directory, 17 bytes
		{"register", RegisterBroker{BrokerID: 1, IncarnationID: id(9), BrokerEpoch: 5, EndPoints: []Endpoint{{"P", "h", 1024, 0}},
			Features: []FeatureRange{{"f", 0, 1}}, Fenced: true, LogDirs: []kafka.UUID{id(8)}},
			"01 00 03  00000001 00 00000000000000000000000000000009 0000000000000005 02 0250 0268 0400 0000 00" +
				" 02 0266 0000 0001 00  00 01 00  01 00 11 02 00000000000000000000000000000008"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := strings.ReplaceAll(c.bytes, " ", "")
			if got := hex.EncodeToString(Append(nil, c.rec)); got != want {
				t.Errorf("encoded\n got %s\nwant %s", got, want)
			}
			raw, err := hex.DecodeString(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.rec, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("decoded, -want +got:\n%s", diff)
			}
		})
	}
}

func brokerIDs() *rapid.Generator[[]kafka.BrokerID] {
	return rapid.SliceOfN(rapid.Map(rapid.Int32(), func(i int32) kafka.BrokerID { return kafka.BrokerID(i) }), 0, 5)
}

func uuids() *rapid.Generator[kafka.UUID] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) kafka.UUID { return kafka.UUID(b) })
}

// anyRecord draws a record in which a list field of a change is absent (nil) or
// present, which the codec must keep apart.
func anyRecord() *rapid.Generator[Record] {
	maybe := func(t *rapid.T, label string) []kafka.BrokerID {
		if rapid.Bool().Draw(t, "no "+label) {
			return nil
		}
		return brokerIDs().Draw(t, label)
	}
	return rapid.Custom(func(t *rapid.T) Record {
		n := rapid.Int32().Draw(t, "number")
		switch rapid.IntRange(0, 6).Draw(t, "type") {
		case 0:
			return Topic{Name: rapid.String().Draw(t, "name"), TopicID: uuids().Draw(t, "id")}
		case 1:
			return Partition{PartitionID: n, TopicID: uuids().Draw(t, "id"), Replicas: brokerIDs().Draw(t, "r"),
				ISR: brokerIDs().Draw(t, "isr"), Removing: brokerIDs().Draw(t, "rm"), Adding: brokerIDs().Draw(t, "add"),
				Leader: 3, RecoveryState: RecoveryState(rapid.IntRange(0, 1).Draw(t, "state")), LeaderEpoch: 4, PartitionEpoch: 5,
				Directories: rapid.SliceOfN(uuids(), 0, 3).Draw(t, "dirs"), ELR: brokerIDs().Draw(t, "elr"),
				LastKnownELR: brokerIDs().Draw(t, "lke")}
		case 2:
			return PartitionChange{PartitionID: n, TopicID: uuids().Draw(t, "id"), ISR: maybe(t, "isr"),
				Leader: kafka.BrokerID(rapid.Int32Range(-2, 5).Draw(t, "leader")), Replicas: maybe(t, "r"), Removing: maybe(t, "rm"),
				Adding: maybe(t, "add"), RecoveryState: RecoveryState(rapid.IntRange(-1, 1).Draw(t, "state")), ELR: maybe(t, "elr"),
				LastKnownELR: maybe(t, "lke")}
		case 3:
			return Config{ResourceType: BrokerResource, ResourceName: rapid.String().Draw(t, "r"), Name: rapid.String().Draw(t, "k"),
				Value: rapid.String().Draw(t, "v")}
		case 4:
			return BrokerRegistrationChange{BrokerID: kafka.BrokerID(n), BrokerEpoch: 8,
				Fencing: Fencing(rapid.IntRange(-1, 1).Draw(t, "fencing")), InControlledShutdown: rapid.Bool().Draw(t, "shutdown"),
				LogDirs: rapid.SliceOfN(uuids(), 0, 3).Draw(t, "dirs")}
		case 5:
			return RegisterBroker{BrokerID: kafka.BrokerID(n), IncarnationID: uuids().Draw(t, "id"), BrokerEpoch: 9,
				EndPoints: []Endpoint{{rapid.String().Draw(t, "name"), rapid.String().Draw(t, "host"), rapid.Uint16().Draw(t, "port"), 0}},
				Rack:      rapid.String().Draw(t, "rack"), Fenced: rapid.Bool().Draw(t, "fenced"), LogDirs: rapid.SliceOfN(uuids(), 0, 3).Draw(t, "dirs")}
		default:
			return ProducerIDs{kafka.BrokerID(n), 3, kafka.ProducerID(rapid.Int64().Draw(t, "next"))}
		}
	})
}

func TestDecodeGivesWhatWasAppended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRecord().Draw(t, "record")
		got, err := Decode(Append(nil, want))
		if err != nil {
			t.Fatal(err)
		}
		opt := cmp.Options{cmpopts.EquateEmpty()}
		if _, change := want.(PartitionChange); change {
			opt = nil // there an empty list is another thing than none
		}
		if diff := cmp.Diff(want, got, opt); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestDecodeRefusesWhatIsNotAWholeRecord(t *testing.T) {
	whole := Append(nil, Topic{Name: "foo", TopicID: id(7)})
	for _, c := range []struct {
		name  string
		value []byte
	}{
		{"nothing", nil},
		{"frame version 0", append([]byte{0}, whole[1:]...)},
		{"unknown type", []byte{1, 99, 0, 0}},
		{"unknown version", append([]byte{1, 2, 1}, whole[3:]...)},
		{"trailing byte", append(append([]byte{}, whole...), 0)},
		{"unknown tag", append(append([]byte{}, whole[:len(whole)-1]...), 1, 5, 0)},
		{"length beyond the end", []byte{1, 2, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}},
		{"null where none may be", append([]byte{1, 2, 0, 0}, make([]byte, 17)...)},
		{"tags not ascending", append(append([]byte{1, 17, 1}, make([]byte, 12)...), 2, 1, 1, 1, 0, 1, 1)},
	} {
		if rec, err := Decode(c.value); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: decoded %v, error %v", c.name, rec, err)
		}
	}
	for n := range whole {
		if _, err := Decode(whole[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("the first %d bytes of a record were decoded", n)
		}
	}
}

func TestDecodeNeverPanicsOnGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SliceOf(rapid.Byte()).Draw(t, "value")
		if len(value) > 2 {
			value[0], value[1], value[2] = 1, value[1]%28, value[2]%4
		}
		rec, err := Decode(value)
		if (rec == nil) == (err == nil) {
			t.Fatalf("record %v with error %v", rec, err)
		}
	})
}
