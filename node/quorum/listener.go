package quorum

import (
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// Committed is one batch of the metadata log below the high watermark.
type Committed struct {
	Base, Last kafka.Offset // of its first and last record
	Epoch      kafka.LeaderEpoch
	// Records are the metadata that it holds; none in raft's own batches.
	Records []metadata.Record
}

// Replay gives the image after the batch.
func (b Committed) Replay(im *metadata.Image) *metadata.Image {
	if len(b.Records) == 0 {
		return im.Skip(b.Last, b.Epoch)
	}
	return im.Replay(b.Base, b.Epoch, b.Records)
}

// Listener is the state machine above the log.
type Listener interface {
	// HandleCommit gives the next committed batch, in order, each once per life.
	HandleCommit(b Committed)
	// HandleLeaderChange tells the leader of an epoch, NoBroker while it is not
	// known. A node hears that it leads itself only after it was given
	// everything up to the start of its epoch.
	HandleLeaderChange(leader kafka.BrokerID, epoch kafka.LeaderEpoch)
}
