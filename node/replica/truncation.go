package replica

import "tidemark/model/kafka"

// truncateToEpochEnd cuts the log where the leader says that it parts: of the
// epochs up to the one asked about, leader.Epoch is the last that the leader
// has, and there it ends at leader.End.
//
//	leader   e1 e1 e1 │ e3 e3          asked about e2: (e1, 3)
//	own      e1 e1 │ e2 e2 e2          own end of e1 is 2: cut to 2
//
// If the own log has the same epoch, the logs agree up to where it ends first,
// here or there. If the own log skips that epoch, it agrees at most up to the end
// of its epoch before; then the next fetch asks about that one, and so on: each
// answer costs one epoch, so it ends (KIP-279).
func (p *Partition) truncateToEpochEnd(leader EpochEnd) error {
	own := p.epochEnd(leader.Epoch)
	to := p.log.LogEnd()
	switch {
	case own == noEpochEnd: // no epochs known here: the leader's word is all there is
		to = min(to, leader.End)
	case own.Epoch < leader.Epoch:
		to = min(to, own.End)
	default:
		to = min(to, own.End, leader.End)
	}
	return p.truncateTo(to, "diverging")
}

// truncateTo removes the records from offset o on. The epoch cache is trimmed
// even if there is no such record: an epoch that began at the log end would else
// be asked about for ever (KAFKA-10706).
func (p *Partition) truncateTo(o kafka.Offset, reason string) error {
	before := p.log.LogEnd()
	if err := p.log.TruncateTo(o); err != nil {
		p.storageFailed(err)
		return err
	}
	if p.log.LogEnd() != before {
		p.traceTruncated(before, reason)
	}
	p.setHighWatermark(p.withinLog(p.highWatermark))
	p.host.Changed(p.tp)
	return nil
}

// truncateFullyAndStartAt drops the whole log, which then begins, empty, at o.
// What the leader removed below o was committed, so o is the high watermark too
// (KAFKA-9491).
func (p *Partition) truncateFullyAndStartAt(o kafka.Offset) error {
	before := p.log.LogEnd()
	if err := p.log.TruncateFullyAndStartAt(o); err != nil {
		p.storageFailed(err)
		return err
	}
	p.traceTruncated(before, "full")
	p.setHighWatermark(o)
	p.host.Changed(p.tp)
	return nil
}
