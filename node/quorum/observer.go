package quorum

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
)

const (
	// fetchMaxWait is how long the leader may keep a Fetch.
	fetchMaxWait = 500 * time.Millisecond
	// fetchMaxBytes bounds the records of one answer (Kafka up to 4.2).
	fetchMaxBytes = 8 << 20
)

// observerState is what a node that does not vote keeps of its fetching.
type observerState struct {
	announced electionState // what the listener was told last
	fetching  bool          // a request is on its way
	retry     node.TimerID
	// leaderHW is the leader's high watermark in the last good answer.
	leaderHW kafka.Offset
	stopped  bool
}

// observe begins to follow the metadata log.
func (r *Raft) observe() {
	r.announceLeader()
	r.fetch()
}

// CaughtUp reports whether an observer's listener has everything that the
// leader's last answer said was committed.
func (r *Raft) CaughtUp() bool {
	return r.observer.leaderHW != kafka.NoOffset && r.delivered >= r.observer.leaderHW
}

// announceLeader tells the listener of a leader or an epoch that is new to it.
func (r *Raft) announceLeader() {
	leader, epoch := r.Leader()
	if r.observer.announced.leader == leader && r.observer.announced.epoch == epoch {
		return
	}
	r.observer.announced = electionState{epoch: epoch, leader: leader}
	r.listener.HandleLeaderChange(leader, epoch)
}

// fetch asks the leader for what follows this log's end, or any voter while
// nobody is known to lead. Brokers do not sync before they fetch: no vote
// depends on what they hold.
func (r *Raft) fetch() {
	if r.observer.fetching || r.observer.stopped {
		return
	}
	to, _ := r.Leader()
	if to == kafka.NoBroker {
		to = r.cfg.Voters[int(r.env.Rand("bootstrap voter")%uint64(len(r.cfg.Voters)))]
	}
	r.observer.fetching = true
	r.channel.Fetch(to, FetchRequest{ClusterID: r.cfg.ClusterID.String(), Replica: r.cfg.ID, LeaderEpoch: r.state.epoch,
		Offset: r.log.LogEnd(), LastFetchedEpoch: r.lastFetchedEpoch(), HighWatermark: r.highWatermark,
		MaxWait: fetchMaxWait, MaxBytes: fetchMaxBytes})
}

// HandleFetchFailure ends a Fetch that brought no answer.
func (r *Raft) HandleFetchFailure() { r.fetchLater() }

// fetchLater waits a moment before the next request.
func (r *Raft) fetchLater() {
	r.observer.fetching = false
	if !r.observer.stopped {
		r.observer.retry = r.timers.After(r.cfg.RetryBackoff, r.fetch)
	}
}

func (r *Raft) stopObserving() {
	r.observer.stopped = true
	r.timers.Cancel(r.observer.retry)
}

// HandleFetchResponse takes the answer to the Fetch on its way. A newer epoch,
// or the leader of this one, counts whatever else the answer says.
func (r *Raft) HandleFetchResponse(resp FetchResponse) {
	if r.observer.stopped {
		return
	}
	if r.learns(resp) {
		next, to := unattached(resp.LeaderEpoch), roleUnattached
		if slices.Contains(r.cfg.Voters, resp.Leader) {
			next.leader, to = resp.Leader, roleFollower
		}
		r.transition(to, next, func() {
			r.observer.fetching = false
			r.announceLeader()
			r.fetch()
		})
		return
	}
	if resp.Code != kafka.None || resp.LeaderEpoch != r.state.epoch || r.role != roleFollower {
		r.fetchLater()
		return
	}
	if err := r.take(resp); errors.Is(err, record.ErrCorrupt) {
		r.fetchLater()
		return
	} else if err != nil {
		r.fail(err)
		return
	}
	r.observer.fetching = false
	r.fetch()
}

// learns reports whether an answer tells of an epoch or a leader that this node
// did not know.
func (r *Raft) learns(resp FetchResponse) bool {
	if resp.LeaderEpoch != r.state.epoch {
		return resp.LeaderEpoch > r.state.epoch
	}
	return r.role == roleUnattached && resp.Leader != kafka.NoBroker
}

// take brings the log to what the leader answered: cut back to where it agrees
// with the leader's, or grown, and exposed as far as the leader's high
// watermark goes.
func (r *Raft) take(resp FetchResponse) error {
	if resp.DivergingEpoch != kafka.NoEpoch {
		return r.truncate(resp.DivergingEpoch, resp.DivergingEnd)
	}
	_, err := r.log.AppendAsFollower(resp.Records, r.state.epoch)
	if err != nil && !errors.Is(err, record.ErrCorrupt) {
		return err
	}
	r.observer.leaderHW = resp.HighWatermark
	r.advance(min(resp.HighWatermark, r.log.LogEnd()))
	return err
}

// truncate cuts the log to the end of the newest epoch that both logs hold.
// Going below the high watermark would take back what was exposed (KAFKA-12460).
func (r *Raft) truncate(epoch kafka.LeaderEpoch, end kafka.Offset) error {
	to := r.log.LogStart()
	if own, ownEnd, ok := r.log.Epochs().EndOffsetFor(epoch, r.log.LogEnd()); ok {
		to = ownEnd
		if own == epoch {
			to = min(ownEnd, end)
		}
	}
	if to < r.highWatermark {
		return fmt.Errorf("the leader wants a cut to offset %d, below the high watermark %d", to, r.highWatermark)
	}
	return r.log.TruncateTo(to)
}
