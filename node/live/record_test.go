package live_test

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/broker"
	"tidemark/node/live"
	"tidemark/node/live/recording"
	"tidemark/sim/replay"
)

// recorded runs the failover plan with brokers and controller recorded.
func recorded(t *testing.T) (*cluster, []byte) {
	t.Helper()
	c := newCluster(t)
	var file bytes.Buffer
	var err error
	if c.tape, err = live.NewRecorder(&file); err != nil {
		t.Fatal(err)
	}
	c.add(101, false, true)
	for id := kafka.BrokerID(1); id <= 3; id++ {
		c.add(id, true, false)
	}
	c.failover()
	for id := kafka.BrokerID(3); id > 0; id-- {
		c.stop(id)
	}
	c.stop(101)
	if err := c.tape.Err(); err != nil {
		t.Fatal(err)
	}
	return c, file.Bytes()
}

// lanes builds a recorded node's lanes.
func (c *cluster) lanes(config []byte) (node.Spec, error) {
	id, err := strconv.Atoi(string(config))
	if err != nil {
		return node.Spec{}, err
	}
	return broker.Lanes(c.roles[kafka.BrokerID(id)]), nil
}

func (c *cluster) replay(file []byte) (replay.Result, error) {
	return replay.Run(bytes.NewReader(file), c.lanes)
}

// A cluster with a failover is recorded once; every promise about its recording
// is looked at in turn.
func TestRecordedCluster(t *testing.T) {
	c, file := recorded(t)
	t.Run("DoesTheSameInTheSimulator", func(t *testing.T) {
		r, err := c.replay(file)
		if err != nil {
			t.Fatal(err)
		}
		if r.Difference != nil || len(r.Notes) > 0 {
			t.Fatal(r.Difference, r.Notes)
		}
		if r.Lives != 5 || r.Callbacks < 1000 || r.Messages < 200 {
			t.Errorf("too little was compared: %+v", r)
		}
	})
	t.Run("ReplaysUpToWhereItWasCut", func(t *testing.T) {
		last := uint64(0)
		for at := 100; at < len(file); at += len(file) / 50 {
			r, err := c.replay(file[:at])
			if err != nil || r.Difference != nil {
				t.Fatalf("cut at byte %d: %v, %v", at, err, r.Difference)
			}
			if len(r.Notes) == 0 || r.Callbacks < last {
				t.Fatalf("cut at byte %d: %d callbacks after %d, notes %q", at, r.Callbacks, last, r.Notes)
			}
			last = r.Callbacks
		}
		if last < 1000 {
			t.Errorf("at most %d callbacks ran", last)
		}
	})
	t.Run("WithAChangedByteIsRefused", func(t *testing.T) {
		for at := 0; at < len(file); at += len(file) / 50 {
			changed := bytes.Clone(file)
			changed[at] ^= 1
			if r, err := c.replay(changed); !errors.Is(err, recording.ErrFormat) {
				t.Fatalf("byte %d of %d: %v, %+v", at, len(file), err, r)
			}
		}
	})
	t.Run("WithAChangedRecordShowsWhatBecameOfIt", func(t *testing.T) {
		r, err := c.replay(forge(t, file, func(callback *recording.Callback) bool {
			if callback.Kind != recording.Receive || callback.Message.Request == nil || callback.Message.Key() != kmsg.Produce.Int16() {
				return false
			}
			batch := callback.Message.Request.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records
			batch[len(batch)-1] ^= 1 // aliases the frame
			return true
		}))
		if err != nil || r.Difference == nil {
			t.Fatalf("%v, %+v", err, r)
		}
		if text := r.Difference.String(); !strings.Contains(text, "recorded ") || !strings.Contains(text, "data-") {
			t.Errorf("the difference says %q", text)
		}
	})
	t.Run("WithAnotherDrawShowsIt", func(t *testing.T) {
		r, err := c.replay(forge(t, file, func(callback *recording.Callback) bool {
			draw := bytes.Index(callback.Steps, []byte("topic id"))
			if draw < 0 {
				return false
			}
			callback.Steps[draw+len("topic id")] ^= 1
			return true
		}))
		if err != nil || r.Difference == nil {
			t.Fatalf("%v, %+v", err, r)
		}
	})
}

// forge changes every callback that change wants to, at least one, and makes the
// file whole again.
func forge(t *testing.T, file []byte, change func(*recording.Callback) bool) []byte {
	t.Helper()
	in, err := recording.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := recording.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	done := false
	for {
		c, err := in.Next()
		if err == io.EOF && done {
			return out.Bytes()
		}
		if err != nil {
			t.Fatalf("nothing to change: %v", err)
		}
		for rest := c.Data; c.Kind == recording.LaneChunk && len(rest) > 0; {
			var callback recording.Callback
			if callback, rest, err = recording.NextCallback(rest); err != nil {
				t.Fatal(err)
			}
			done = change(&callback) || done
		}
		if err := w.Write(c); err != nil {
			t.Fatal(err)
		}
	}
}
