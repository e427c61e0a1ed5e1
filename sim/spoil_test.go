package sim

import (
	"bytes"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/node"
)

// A real driver uses the memory of an answered Produce again; here whoever still
// looks at it sees that.
func TestRecordBytesOfAProduceAreSpoiledWithItsAnswerAndNotBefore(t *testing.T) {
	s := newStage(t, Options{})
	want := []byte("a batch of records")
	var alias, before []byte
	s.add(1, "a:1", node.LaneSpec{Lane: node.Router, Process: &script{
		receive: func(env node.Env, c node.ConnID, m *node.Message) {
			alias = m.Request.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records
			env.SetTimer(time.Millisecond)
		},
		fire: func(env node.Env, _ node.TimerID) {
			before = bytes.Clone(alias)
			m := &node.Message{Request: kmsg.NewPtrProduceRequest()}
			m.Request.SetVersion(9)
			env.Send(1, m.Reply(m.Request.ResponseKind()))
		},
	}})
	s.add(2, "", node.LaneSpec{Lane: node.App, Process: &script{start: func(env node.Env) {
		r := kmsg.NewPtrProduceRequest()
		r.Version = 9
		r.Topics = []kmsg.ProduceRequestTopic{{Partitions: []kmsg.ProduceRequestTopicPartition{{Records: want}}}}
		env.Send(env.Dial("a:1"), &node.Message{Request: r})
	}}})
	s.Run(int64(time.Second))
	if !bytes.Equal(before, want) {
		t.Errorf("before the answer the records are %q", before)
	}
	if bytes.Contains(alias, want[:2]) || len(alias) != len(want) {
		t.Errorf("after the answer they are still %q", alias)
	}
}

func TestLoadedDiskIsThereWhenItsNodeBoots(t *testing.T) {
	s := newStage(t, Options{})
	var got []byte
	s.AddNode(NodeConfig{ID: 1, Disk: true, Boot: func(BootInfo) node.Spec {
		return node.Spec{ID: 1, Lanes: []node.LaneSpec{{Lane: node.Logs, Disk: true, Process: &script{start: func(env node.Env) {
			f, err := env.FS().Open("dir/file")
			if err != nil {
				t.Error(err)
				return
			}
			got = make([]byte, 4)
			f.ReadAt(got, 0)
		}}}}}
	}})
	s.must(s.Load(1, []simdisk.Content{{Path: "dir/file", Bytes: []byte("left")}}))
	s.must(s.Start(1))
	s.Run(int64(time.Second))
	if string(got) != "left" {
		t.Errorf("the node reads %q", got)
	}
	if s.Load(1, nil) == nil || s.Load(7, nil) == nil {
		t.Error("files were put on a disk in use, or on none")
	}
}
