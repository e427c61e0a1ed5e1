package quorum

import (
	"fmt"
	"slices"
	"time"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/storage"
)

// Dir is the metadata log's directory.
const Dir = kafka.MetadataTopic + "-0"

// Config is a node's view of the quorum.
type Config struct {
	ID        kafka.BrokerID
	ClusterID kafka.UUID
	// Voters is controller.quorum.voters; a node that is not in it observes.
	Voters []kafka.BrokerID
	// Linger is how long records wait for company in a batch.
	Linger time.Duration
	// RetryBackoff is the pause after a Fetch that brought nothing but an error.
	RetryBackoff time.Duration
}

// Channel carries an observer's requests. One Fetch is on its way at a time, and
// each ends in one call of HandleFetchResponse or HandleFetchFailure.
type Channel interface {
	Fetch(to kafka.BrokerID, req FetchRequest)
}

// role is what a node does in its epoch.
type role uint8

const (
	roleUnattached role = iota
	roleFollower
	roleCandidate
	roleLeader
	roleResigned
)

// Raft is one node's replica of the metadata log.
type Raft struct {
	cfg      Config
	env      node.Env
	timers   *node.Timers
	syncs    *node.Syncs
	channel  Channel
	listener Listener

	log   *storage.Log
	file  *storage.AtomicFile
	state electionState // as persisted
	role  role

	highWatermark kafka.Offset // NoOffset: not known in this life
	delivered     kafka.Offset // next offset that the listener gets

	leader   leaderState
	observer observerState
	parked   []*parkedFetch
}

// New returns a replica that Start brings to life.
func New(cfg Config, env node.Env, timers *node.Timers, syncs *node.Syncs, ch Channel, l Listener) *Raft {
	return &Raft{cfg: cfg, env: env, timers: timers, syncs: syncs, channel: ch, listener: l, highWatermark: kafka.NoOffset,
		observer: observerState{announced: unattached(kafka.NoEpoch), leaderHW: kafka.NoOffset}}
}

// Start opens the log and the election state. The log is always recovered as
// after an unclean stop, since no checkpoint tells what of it was synced. Errors
// are of the disk, or a voter set that this package cannot serve.
func (r *Raft) Start() error {
	if len(r.cfg.Voters) != 1 {
		return fmt.Errorf("controller.quorum.voters names %d controllers: name one, consensus among several is not supported", len(r.cfg.Voters))
	}
	log, _, err := storage.Open(r.env.FS(), Dir, storage.DefaultConfig(),
		storage.Opening{TopicID: kafka.MetadataTopicID, Syncs: r.syncs, Now: r.env.Wall()})
	if err != nil {
		return fmt.Errorf("open the metadata log: %w", err)
	}
	r.log, r.delivered = log, log.LogStart()
	r.file = storage.NewAtomicFile(r.env.FS(), r.syncs, Dir+"/"+stateFile)
	if r.state, err = readState(r.env.FS(), Dir); err != nil {
		return err
	}
	if last := log.LastEpoch(); last > r.state.epoch {
		r.state = unattached(last)
	}
	r.role = r.firstRole()
	// The directory may be new: a vote in it lasts only if its own name does.
	log.Flush(func(err error) {
		switch {
		case err != nil:
			r.fail(err)
		case r.isVoter():
			r.campaign()
		default:
			r.observe()
		}
	})
	return nil
}

// firstRole is what the persisted state makes of a node at its start. A leader
// of its past life is resigned: the epoch is spent, for what it promised in it
// is forgotten.
func (r *Raft) firstRole() role {
	switch {
	case r.isVoter() && r.state.leader == r.cfg.ID:
		return roleResigned
	case r.isVoter() && r.state.voted == r.cfg.ID:
		return roleCandidate
	case slices.Contains(r.cfg.Voters, r.state.leader):
		return roleFollower
	default:
		return roleUnattached
	}
}

func (r *Raft) isVoter() bool { return slices.Contains(r.cfg.Voters, r.cfg.ID) }

// campaign makes the only voter of a quorum leader. It waits for no election
// timeout, because nobody else could win; a candidate of a past life goes on in
// its epoch.
func (r *Raft) campaign() {
	if r.role == roleCandidate {
		r.lead()
		return
	}
	r.transition(roleCandidate, electionState{epoch: r.state.epoch + 1, leader: kafka.NoBroker, voted: r.cfg.ID}, r.lead)
}

// lead ends the candidacy. The vote for itself goes with it, as Kafka's LeaderState
// writes it: who finds itself as the leader there stands in no election of that
// epoch again.
func (r *Raft) lead() {
	next := electionState{epoch: r.state.epoch, leader: r.cfg.ID, voted: kafka.NoBroker}
	r.transition(roleLeader, next, r.beginEpoch)
}

// transition makes next durable and only then acts on it.
func (r *Raft) transition(to role, next electionState, then func()) {
	r.file.Write(encodeState(next, r.cfg.Voters), func(err error) {
		if err != nil {
			r.env.Exit(fmt.Sprintf("cannot write %s: %v", stateFile, err))
			return
		}
		r.state, r.role = next, to
		then()
	})
}

// Leader is the leader of the current epoch, NoBroker while it is not known.
func (r *Raft) Leader() (kafka.BrokerID, kafka.LeaderEpoch) {
	if r.role == roleLeader || r.role == roleFollower {
		return r.state.leader, r.state.epoch
	}
	return kafka.NoBroker, r.state.epoch
}

// HighWatermark is the end of what is known to be committed; NoOffset before
// this life heard of any.
func (r *Raft) HighWatermark() kafka.Offset { return r.highWatermark }

// LogEnd is the end of this node's log.
func (r *Raft) LogEnd() kafka.Offset { return r.log.LogEnd() }

// Stop resigns, closes the log and then runs done. Requests that wait are
// answered: the next leader is elsewhere.
func (r *Raft) Stop(done func()) {
	r.role = roleResigned
	r.timers.Cancel(r.leader.linger)
	r.stopObserving()
	r.answerParked()
	r.listener.HandleLeaderChange(kafka.NoBroker, r.state.epoch)
	r.log.Stop(func(error) { done() })
}
