package replica

import "tidemark/model/kafka"

// HandleListOffset takes the leader's answer to the ListOffsets in flight: how a
// follower finds back whose fetch offset the leader's log does not hold.
//
//	leader's end < own end      the leader lost records: cut to its end
//	leader's start > own end    it has deleted what we miss: start anew there
//	neither                     it has grown meanwhile: fetch on
func (f *Fetcher) HandleListOffset(code kafka.ErrorCode, offset kafka.Offset) {
	e := f.asking
	f.inFlight, f.asking = false, nil
	if f.byTP[e.partition.tp] != e {
		return // a new leader epoch has its own entry
	}
	end := e.partition.log.LogEnd()
	switch {
	case code == kafka.FencedLeaderEpoch:
		f.fail(e)
	case code != kafka.None:
		f.backOff(e)
	case e.state == askingLatest && offset < end:
		f.cut(e, func() error { return e.partition.truncateTo(offset, "out-of-range") })
	case e.state == askingLatest:
		e.state = askingEarliest
	case offset > end:
		f.cut(e, func() error { return e.partition.truncateFullyAndStartAt(offset) })
	default:
		e.state = fetching
		e.offset, e.lastEpoch = end, e.partition.log.LastEpoch()
	}
}
