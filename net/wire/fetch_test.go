package wire

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/node"
)

// memory is a file whose regions can be cut while they are on their way.
type memory struct {
	data     []byte
	released int
}

var errShort = errors.New("file is short")

func (m *memory) ReadRegion(p []byte, off int64) error {
	if off+int64(len(p)) > int64(len(m.data)) {
		return errShort
	}
	copy(p, m.data[off:])
	return nil
}
func (m *memory) Retain()  {}
func (m *memory) Release() { m.released++ }

func fetchResponse(version int16) *kmsg.FetchResponse {
	r := kmsg.NewPtrFetchResponse()
	var n int64
	fill(reflect.ValueOf(r).Elem(), &n)
	r.Version = version
	r.Topics[0].Partitions[0].AbortedTransactions = nil
	r.Topics[0].Partitions[1].DivergingEpoch = kmsg.NewFetchResponseTopicPartitionDivergingEpoch()
	r.Topics[1].Partitions[0].CurrentLeader = kmsg.NewFetchResponseTopicPartitionCurrentLeader()
	r.Topics[1].Partitions[1].SnapshotID = kmsg.NewFetchResponseTopicPartitionSnapshotID()
	r.Topics[1].Partitions[1].RecordBatches = nil
	r.Topics[1].UnknownTags.Set(77, []byte("tag"))
	r.Brokers[1].Rack = nil
	return r
}

func TestRegionsAreFilledInWhereKmsgWouldCopyTheBytes(t *testing.T) {
	for version := int16(0); version <= kmsg.NewPtrFetchResponse().MaxVersion(); version++ {
		file := &memory{data: []byte("the bytes of the first and the second batch")}
		r := fetchResponse(version)
		regions := []disk.Region{
			{Src: file, Off: 0, N: 9}, {Src: file, Off: 10, N: 200 - 190}, {}, {},
		}
		got := mustEncode(t, &node.Message{CorrelationID: 5, Response: r, Regions: regions})

		r.Topics[0].Partitions[0].RecordBatches = file.data[0:9]
		r.Topics[0].Partitions[1].RecordBatches = file.data[10:20]
		want := mustEncode(t, &node.Message{CorrelationID: 5, Response: r})
		if !bytes.Equal(got, want) {
			t.Fatalf("v%d: frame differs from kmsg's\n got %x\nwant %x", version, got, want)
		}
	}
}

func TestRegionIsReadAtTheWriteAndNotBefore(t *testing.T) {
	file := &memory{data: []byte("old")}
	r := fetchResponse(12)
	m := &node.Message{Response: r, Regions: []disk.Region{{Src: file, N: 3}, {}, {}, {}}}
	frame, holes, err := Layout(m, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	file.data = []byte("new")
	if err := Fill(frame, holes); err != nil {
		t.Fatal(err)
	}
	answer, err := DecodeResponse(frame, 1, 12)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Response.(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches; string(got) != "new" {
		t.Fatalf("the socket got %q, want what the file holds at the write", got)
	}
}

func TestOutlineWithItsRegionsIsTheFrame(t *testing.T) {
	for version := int16(0); version <= kmsg.NewPtrFetchResponse().MaxVersion(); version++ {
		file := &memory{data: []byte("the bytes of the first and the second batch")}
		regions := []disk.Region{{Src: file, Off: 0, N: 9}, {}, {Src: file, Off: 10, N: 7}, {Src: file, Off: 17}}
		m := &node.Message{CorrelationID: 5, Response: fetchResponse(version), Regions: regions}
		outline, holes, err := Outline(m, []byte("before"), nil)
		if err != nil || len(holes) != 3 {
			t.Fatalf("v%d: %d holes: %v", version, len(holes), err)
		}
		var got []byte
		from := 0
		for _, h := range holes {
			got = append(got, outline[6:][from:h.At]...)
			got = append(got, file.data[h.Region.Off:][:h.Region.N]...)
			from = h.At
		}
		got = append(got, outline[6:][from:]...)
		if want := mustEncode(t, m); !bytes.Equal(got, want) {
			t.Fatalf("v%d: outline and regions differ from the frame\n got %x\nwant %x", version, got, want)
		}
	}
}

func TestShortRegionFailsTheEncoding(t *testing.T) {
	m := &node.Message{Response: fetchResponse(12), Regions: []disk.Region{{Src: &memory{}, N: 3}, {}, {}, {}}}
	if _, err := Encode(m, nil); !errors.Is(err, errShort) {
		t.Fatalf("error %v, want the file's", err)
	}
}

func TestRegionsMustMatchThePartitions(t *testing.T) {
	for _, n := range []int{3, 5} {
		m := &node.Message{Response: fetchResponse(12), Regions: make([]disk.Region, n)}
		if _, err := Encode(m, nil); err == nil {
			t.Errorf("%d regions for 4 partitions were accepted", n)
		}
	}
	if _, err := Encode(&node.Message{Response: kmsg.NewPtrMetadataResponse(), Regions: make([]disk.Region, 1)}, nil); err == nil {
		t.Error("regions in a Metadata response were accepted")
	}
}
