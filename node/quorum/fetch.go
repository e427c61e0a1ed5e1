package quorum

import (
	"math"
	"time"

	"tidemark/model/kafka"
	"tidemark/node"
)

// HighWatermarkNotGiven is the high watermark of a Fetch below version 18,
// which does not carry it.
const HighWatermarkNotGiven kafka.Offset = math.MaxInt64

// FetchRequest is a replica's Fetch of the metadata log in domain types.
type FetchRequest struct {
	ClusterID        string // "" is not checked
	Replica          kafka.BrokerID
	LeaderEpoch      kafka.LeaderEpoch // that the replica is in
	Offset           kafka.Offset      // its log end
	LastFetchedEpoch kafka.LeaderEpoch // of its last record, 0 for an empty log
	HighWatermark    kafka.Offset      // that it knows (KIP-1166); NoOffset: none
	MaxWait          time.Duration
	MaxBytes         int // the first batch always fits
}

// FetchResponse is the leader's answer.
type FetchResponse struct {
	Code          kafka.ErrorCode
	Leader        kafka.BrokerID // as far as the answering node knows
	LeaderEpoch   kafka.LeaderEpoch
	HighWatermark kafka.Offset // NoOffset: not known
	LogStart      kafka.Offset
	// DivergingEpoch is the newest epoch that both logs may share and
	// DivergingEnd its end in the leader's; NoEpoch: they do not diverge.
	DivergingEpoch kafka.LeaderEpoch
	DivergingEnd   kafka.Offset
	Records        []byte // whole batches
}

// parkedFetch waits for records, a higher high watermark or its time.
type parkedFetch struct {
	req   FetchRequest
	reply func(FetchResponse)
	timer node.TimerID
}

// HandleFetch answers a replica: with records or news of the high watermark at
// once, else when there are some or MaxWait is over. reply is called once.
func (r *Raft) HandleFetch(req FetchRequest, reply func(FetchResponse)) {
	if req.ClusterID != "" && req.ClusterID != r.cfg.ClusterID.String() {
		reply(r.answer(kafka.InconsistentClusterID))
		return
	}
	if req.MaxWait < 0 || req.Offset < 0 || req.LastFetchedEpoch < 0 || req.LastFetchedEpoch > req.LeaderEpoch {
		reply(r.answer(kafka.InvalidRequest))
		return
	}
	resp, ready := r.read(req)
	if ready || req.MaxWait == 0 {
		reply(resp)
		return
	}
	p := &parkedFetch{req: req, reply: reply}
	p.timer = r.timers.After(req.MaxWait, func() { r.expire(p) })
	r.parked = append(r.parked, p)
}

// expire answers a fetch whose time is over with what there is.
func (r *Raft) expire(p *parkedFetch) {
	for i, other := range r.parked {
		if other == p {
			r.parked = append(r.parked[:i], r.parked[i+1:]...)
			break
		}
	}
	resp, _ := r.read(p.req)
	p.reply(resp)
}

// answerParked answers every parked fetch that has something to say now.
func (r *Raft) answerParked() {
	parked := r.parked
	r.parked = nil
	for _, p := range parked {
		resp, ready := r.read(p.req)
		if !ready {
			r.parked = append(r.parked, p)
			continue
		}
		r.timers.Cancel(p.timer)
		p.reply(resp)
	}
}

// read is the answer as of now. It is not ready if a replica that may wait
// would learn nothing from it.
func (r *Raft) read(req FetchRequest) (resp FetchResponse, ready bool) {
	if code := r.checkLeaderRequest(req.LeaderEpoch); code != kafka.None {
		return r.answer(code), true
	}
	resp = r.answer(kafka.None)
	// Every epoch up to the leader's own has an end, and the request names none above.
	epoch, end, _ := r.log.Epochs().EndOffsetFor(req.LastFetchedEpoch, r.log.LogEnd())
	if epoch != req.LastFetchedEpoch || end < req.Offset {
		resp.DivergingEpoch, resp.DivergingEnd = epoch, end
		return resp, true
	}
	if req.Offset < r.leader.synced {
		records, err := r.log.ReadBatches(req.Offset, req.MaxBytes)
		if err != nil {
			r.fail(err)
			return r.answer(kafka.KafkaStorageError), true
		}
		resp.Records = records
		return resp, true
	}
	return resp, resp.HighWatermark > req.HighWatermark
}

// checkLeaderRequest refuses a request of another epoch, or to another node
// than the leader.
func (r *Raft) checkLeaderRequest(epoch kafka.LeaderEpoch) kafka.ErrorCode {
	switch {
	case epoch < r.state.epoch:
		return kafka.FencedLeaderEpoch
	case epoch > r.state.epoch:
		return kafka.UnknownLeaderEpoch
	case r.role != roleLeader:
		return kafka.NotLeaderOrFollower
	}
	return kafka.None
}

// answer begins a response: each tells the leader and epoch known here.
func (r *Raft) answer(code kafka.ErrorCode) FetchResponse {
	leader, epoch := r.Leader()
	resp := FetchResponse{Code: code, Leader: leader, LeaderEpoch: epoch, HighWatermark: kafka.NoOffset,
		LogStart: kafka.NoOffset, DivergingEpoch: kafka.NoEpoch, DivergingEnd: kafka.NoOffset}
	if code == kafka.None {
		resp.HighWatermark, resp.LogStart = r.highWatermark, r.log.LogStart()
	}
	return resp
}
