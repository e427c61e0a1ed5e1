package replica

import "tidemark/model/kafka"

// EndOffsetForEpoch answers OffsetForLeaderEpoch: the greatest epoch of this log
// that is not above the one asked for, with its end. Both are needed: from the
// end alone a follower cannot tell that the leader never had its epoch (KIP-279).
// The sender's current leader epoch is NoEpoch if it did not tell.
func (p *Partition) EndOffsetForEpoch(current, asked kafka.LeaderEpoch) (EpochEnd, kafka.ErrorCode) {
	if code := p.checkAccess(current, true); code != kafka.None {
		return noEpochEnd, code
	}
	return p.epochEnd(asked), kafka.None
}

// epochEnd looks an epoch up in the own epoch cache; undefined for an epoch
// above the latest, or if there is none.
func (p *Partition) epochEnd(asked kafka.LeaderEpoch) EpochEnd {
	epoch, end, ok := p.log.Epochs().EndOffsetFor(asked, p.log.LogEnd())
	if !ok {
		return noEpochEnd
	}
	return EpochEnd{epoch, end}
}
