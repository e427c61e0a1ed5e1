package broker

import (
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/replica"
)

// lookUp answers the lane's share of ListOffsets or OffsetForLeaderEpoch; both
// read only what the partition has in memory.
func (d *dataLane) lookUp(m lookupPost) {
	answer := lookedUpPost{ID: m.ID}
	for _, part := range m.Offsets {
		r := offsetResult{Index: part.Index, ListOffsetResult: noListOffset}
		if h := d.hosted[part.TP]; h == nil {
			r.Code = d.notHosted(part.TP)
		} else {
			r.ListOffsetResult, r.Code = h.partition.ListOffset(part.Request)
		}
		answer.Offsets = append(answer.Offsets, r)
	}
	for _, part := range m.Epochs {
		r := epochResult{Index: part.Index, End: replica.EpochEnd{Epoch: kafka.NoEpoch, End: kafka.NoOffset}}
		if h := d.hosted[part.TP]; h == nil {
			r.Code = d.notHosted(part.TP)
		} else {
			r.End, r.Code = h.partition.EndOffsetForEpoch(part.Current, part.Epoch)
		}
		answer.Epochs = append(answer.Epochs, r)
	}
	d.env.Post(node.Router, answer)
}

var noListOffset = replica.ListOffsetResult{Offset: kafka.NoOffset, Epoch: kafka.NoEpoch, Timestamp: -1}
