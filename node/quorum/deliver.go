package quorum

import (
	"fmt"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/metadata"
)

// deliverBytes is how much of the log is read at once for the listener.
const deliverBytes = 8 << 20

// deliver gives the listener every batch below the high watermark that it did
// not get yet. A leader has its own batches in memory still.
func (r *Raft) deliver() error {
	for r.delivered < r.highWatermark {
		end := r.highWatermark
		if unread := r.leader.unread; len(unread) > 0 {
			end = unread[0].Base
		}
		if r.delivered == end {
			b := r.leader.unread[0]
			r.leader.unread = r.leader.unread[1:]
			r.hand(b)
			continue
		}
		buf, err := r.log.ReadBatches(r.delivered, deliverBytes)
		if err != nil {
			return err
		}
		if err := r.deliverFrom(buf, end); err != nil {
			return err
		}
	}
	return nil
}

func (r *Raft) hand(b Committed) {
	r.delivered = b.Last + 1
	r.listener.HandleCommit(b)
}

// deliverFrom gives the listener the batches in buf below end.
func (r *Raft) deliverFrom(buf []byte, end kafka.Offset) error {
	before := r.delivered
	for len(buf) > 0 {
		b, rest, err := record.Next(buf)
		if err != nil {
			return fmt.Errorf("batch at offset %d: %w", r.delivered, err)
		}
		if b.NextOffset() > end {
			break
		}
		buf = rest
		c, err := decodeBatch(b)
		if err != nil {
			return err
		}
		r.hand(c)
	}
	if r.delivered == before {
		return fmt.Errorf("no whole batch at offset %d below offset %d", r.delivered, end)
	}
	return nil
}

// decodeBatch reads the metadata of a batch; raft's own records are none.
func decodeBatch(b record.Batch) (Committed, error) {
	c := Committed{Base: b.BaseOffset(), Last: b.LastOffset(), Epoch: b.LeaderEpoch()}
	if b.IsControl() {
		return c, nil
	}
	err := b.Each(func(rec record.Record) error {
		m, err := metadata.Decode(rec.Value)
		if err != nil {
			return fmt.Errorf("record at offset %d: %w", rec.Offset, err)
		}
		c.Records = append(c.Records, m)
		return nil
	})
	return c, err
}

// lastFetchedEpoch is the epoch of the last record of the log; Kafka says 0 of
// an empty one.
func (r *Raft) lastFetchedEpoch() kafka.LeaderEpoch { return max(r.log.LastEpoch(), 0) }
