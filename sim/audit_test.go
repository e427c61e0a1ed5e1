package sim

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
)

// batch is one record at an offset, with the id of its attempt, under a codec that
// the attempt chooses.
func batch(base kafka.Offset, epoch kafka.LeaderEpoch, attempt uint64, value string) record.Batch {
	o := record.NoProducer()
	o.BaseOffset, o.LeaderEpoch = base, epoch
	b := record.NewBuilder(o)
	b.Append(0, nil, []byte(value), []record.Header{{Key: attemptHeader, Value: binary.BigEndian.AppendUint64(nil, attempt)}})
	return b.BuildCompressed(new(record.Deflater), record.Codec(attempt%5))
}

func TestAuditReadsSegmentsAndNotNodes(t *testing.T) {
	tp := kafka.TopicPartition{Topic: "orders", Partition: 0}
	s := newStage(t, Options{})
	s.add(1, "", on(node.Data0, &script{start: func(env node.Env) {
		fs := env.FS()
		torn := batch(3, 2, 14, "torn")
		rotten := batch(0, 1, 15, "rotten")
		rotten[len(rotten)-1] ^= 1
		for _, dir := range []string{"orders-0", "other-0", "__cluster_metadata-0", "orders-0.deleted"} {
			must(fs.Mkdir(dir))
		}
		for name, content := range map[string][]byte{
			"orders-0/00000000000000000000.log":   append(batch(0, 1, 11, "a"), batch(1, 1, 12, "b")...),
			"orders-0/00000000000000000002.log":   append(batch(2, 2, 13, "c"), torn[:len(torn)-1]...),
			"orders-0/00000000000000000000.index": []byte("not a log"),
			"other-0/00000000000000000000.log":    rotten,
		} {
			f, err := fs.Create(name)
			must(err)
			_, err = f.WriteAt(content, 0)
			must(err)
		}
		e := event.New(event.HighWatermarkMoved)
		e.Topic, e.HighWatermark = "orders", 2
		env.Emit(&e)
	}}))
	s.run(time.Second)
	var got []string
	s.Observe(func(e *event.Event) {
		if e.Kind == event.AuditRecord || e.Kind == event.AuditReplica {
			got = append(got, fmt.Sprintf("%v %d %v offset=%d end=%d epoch=%d attempt=%d hw=%d value=%v %s", e.Kind, e.Node, e.TP(), e.Offset, e.End,
				e.Epoch, e.Attempt, e.HighWatermark, e.Hash == event.HashValue([]byte("c")), strings.SplitN(e.Text, ":", 2)[0]))
		}
	})
	s.Audit(tp)
	want := []string{
		"auditRecord 1 orders-0 offset=0 end=-1 epoch=1 attempt=11 hw=-1 value=false ",
		"auditRecord 1 orders-0 offset=1 end=-1 epoch=1 attempt=12 hw=-1 value=false ",
		"auditRecord 1 orders-0 offset=2 end=-1 epoch=2 attempt=13 hw=-1 value=true ",
		"auditReplica 1 orders-0 offset=0 end=3 epoch=-1 attempt=0 hw=2 value=false live, orders-0/00000000000000000002.log",
	}
	for i := range want {
		want[i] = strings.Replace(strings.Replace(want[i], "auditRecord", event.AuditRecord.String(), 1), "auditReplica", event.AuditReplica.String(), 1)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("audit (-want +got):\n%s", diff)
	}

	got = nil
	s.must(s.Kill(1))
	s.Audit()
	if len(got) != 5 || !strings.Contains(got[3], "hw=-1") || !strings.Contains(got[3], "dead") || !strings.Contains(got[4], "other-0 offset=-1 end=-1") ||
		!strings.Contains(got[4], "dead, other-0/") {
		t.Fatalf("audit of a dead node, all partitions:\n%s", strings.Join(got, "\n"))
	}
}
