package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/controller"
	"tidemark/node/metadata"
	"tidemark/node/quorum"
)

// quorumLane owns the metadata log. On a controller it votes, and the
// controller runs on it, so that a decision and its record are one step; it
// answers the connections of the CONTROLLER listener. On a broker it observes,
// and posts images of what is committed to the other lanes: first to router and
// lifecycle, which judge by them who is eligible, then to those that act.
type quorumLane struct {
	cfg    Config
	env    node.Env
	timers *node.Timers
	syncs  *node.Syncs

	raft       *quorum.Raft
	controller *controller.Controller // nil on a node that is only a broker
	leader     *quorumChannel         // of an observer
	apis       []controllerAPI

	image  *metadata.Image // with everything committed; kept for the lanes of a broker
	posted *metadata.Image // nil before the first post
}

func newQuorumLane(cfg Config) node.Process { return &quorumLane{cfg: cfg} }

// Start begins a life with what the log holds.
func (l *quorumLane) Start(env node.Env) {
	l.env, l.timers, l.syncs = env, node.NewTimers(env), node.NewSyncs()
	l.image = metadata.Empty()
	l.leader, l.apis = newQuorumChannel(l), controllerAPIs()
	l.raft = quorum.New(l.raftConfig(), env, l.timers, l.syncs, l.leader, l)
	if l.cfg.Controller {
		l.controller = controller.New(controller.Config{ID: l.cfg.ID, ClusterID: l.cfg.ClusterID, Static: l.cfg.Properties,
			Features: bootstrapFeatures(l.cfg.Features)}, env, l.timers, l.raft)
	}
	if err := l.raft.Start(); err != nil {
		env.Exit(err.Error())
		return
	}
	l.publish()
}

func (l *quorumLane) raftConfig() quorum.Config {
	cfg := quorum.Config{ID: l.cfg.ID, ClusterID: l.cfg.ClusterID,
		Linger:       l.cfg.Properties.Millis(kafka.QuorumAppendLingerMs),
		RetryBackoff: l.cfg.Properties.Millis(kafka.QuorumRetryBackoffMs)}
	for _, v := range l.cfg.Voters {
		cfg.Voters = append(cfg.Voters, v.ID)
	}
	return cfg
}

// bootstrapFeatures are the levels of a new cluster: the controller's, with the
// given ones in place of or after them.
func bootstrapFeatures(given []Feature) []metadata.FeatureLevel {
	levels := controller.DefaultFeatures()
next:
	for _, f := range given {
		for i := range levels {
			if levels[i].Name == f.Name {
				levels[i].Level = f.Level
				continue next
			}
		}
		levels = append(levels, metadata.FeatureLevel{Name: f.Name, Level: f.Level})
	}
	return levels
}

// HandleCommit takes the next committed batch of the log.
func (l *quorumLane) HandleCommit(b quorum.Committed) {
	if l.cfg.Broker {
		l.image = b.Replay(l.image)
	}
	if l.controller != nil {
		l.controller.HandleCommit(b)
	}
}

// HandleLeaderChange tells the controller, and the broker's channels to it.
func (l *quorumLane) HandleLeaderChange(leader kafka.BrokerID, epoch kafka.LeaderEpoch) {
	if l.controller != nil {
		l.controller.HandleLeaderChange(leader, epoch)
	}
	if l.cfg.Broker {
		l.env.Post(node.Lifecycle, controllerPost{Controller: leader, Addr: l.voterAddr(leader), Epoch: epoch})
	}
}

// voterAddr is the address of a voter, "" of nobody.
func (l *quorumLane) voterAddr(id kafka.BrokerID) string {
	for _, v := range l.cfg.Voters {
		if v.ID == id {
			return v.Addr
		}
	}
	return ""
}

// publish posts the image to the broker's lanes once the log has reached the
// high watermark, and then whenever it changed. An image that differs in its
// offset alone goes to lifecycle, whose heartbeats tell that offset.
func (l *quorumLane) publish() {
	if !l.cfg.Broker || l.image == l.posted || l.posted == nil && !l.caughtUp() {
		return
	}
	before := l.posted
	if before == nil {
		before = metadata.Empty()
	}
	post := imagePost{Image: l.image, Delta: metadata.Diff(before, l.image)}
	if l.posted == nil || !post.Delta.Empty() {
		l.env.Post(node.Router, post)
		l.env.Post(node.Lifecycle, post)
		l.env.Post(node.Logs, post)
		for _, lane := range l.cfg.dataLanes() {
			l.env.Post(lane, post)
		}
	} else {
		l.env.Post(node.Lifecycle, post)
	}
	l.posted = l.image
}

// caughtUp: a leader has its own log; an observer asks how far the leader's goes.
func (l *quorumLane) caughtUp() bool {
	if l.controller != nil {
		return l.controller.Active()
	}
	return l.raft.CaughtUp()
}

// controllerAPI is a row of what the CONTROLLER listener serves.
type controllerAPI struct {
	Key      kmsg.Key
	Min, Max int16
	Handle   func(*quorumLane, *node.Message, answerFunc)
	// Envelope tells that brokers may pass the request on for a client.
	Envelope bool
}

// answerFunc takes a handler's response and the code that concerns all of it:
// NOT_CONTROLLER sends whoever passed a request on to the next controller.
type answerFunc func(res kmsg.Response, code kafka.ErrorCode)

// controllerAPIs, by key, in the versions of Kafka 4.1.
func controllerAPIs() []controllerAPI {
	return []controllerAPI{
		{Key: kmsg.Fetch, Min: 17, Max: 18, Handle: (*quorumLane).handleFetch},
		{Key: kmsg.ApiVersions, Min: 0, Max: 4, Handle: (*quorumLane).handleAPIVersions},
		{Key: kmsg.CreateTopics, Min: 2, Max: 7, Handle: (*quorumLane).handleCreateTopics, Envelope: true},
		{Key: kmsg.DeleteTopics, Min: 1, Max: 6, Handle: (*quorumLane).handleDeleteTopics, Envelope: true},
		{Key: kmsg.ElectLeaders, Min: 0, Max: 2, Handle: (*quorumLane).handleElectLeaders, Envelope: true},
		{Key: kmsg.AlterPartition, Min: 3, Max: 3, Handle: (*quorumLane).handleAlterPartition},
		{Key: kmsg.Envelope, Min: 0, Max: 0, Handle: (*quorumLane).handleEnvelope},
		{Key: kmsg.BrokerRegistration, Min: 3, Max: 4, Handle: (*quorumLane).handleBrokerRegistration},
		{Key: kmsg.BrokerHeartbeat, Min: 0, Max: 1, Handle: (*quorumLane).handleBrokerHeartbeat},
		{Key: kmsg.AllocateProducerIDs, Min: 0, Max: 0, Handle: (*quorumLane).handleAllocateProducerIDs},
		{Key: kmsg.AssignReplicasToDirs, Min: 0, Max: 0, Handle: (*quorumLane).handleAssignReplicasToDirs},
	}
}

// findAPI finds what serves a request; ok if in its version, too.
func (l *quorumLane) findAPI(m *node.Message) (a controllerAPI, ok bool) {
	for _, a := range l.apis {
		if int16(a.Key) == m.Key() {
			return a, m.Version() >= a.Min && m.Version() <= a.Max
		}
	}
	return controllerAPI{}, false
}

// Receive takes an answer of the leader, or a request to this controller. A
// request that is not served ends its connection, as in Kafka.
func (l *quorumLane) Receive(conn node.ConnID, m *node.Message) {
	if m.Response != nil {
		l.leader.receive(conn, m)
		l.publish()
		return
	}
	a, ok := l.findAPI(m)
	switch {
	case l.controller == nil || a.Handle == nil:
		l.env.Close(conn)
	case ok:
		a.Handle(l, m, func(res kmsg.Response, _ kafka.ErrorCode) { l.env.Send(conn, m.Reply(res)) })
	case a.Key == kmsg.ApiVersions:
		l.env.Send(conn, l.refusedVersions(m))
	default:
		l.env.Close(conn)
	}
	l.publish()
}

// Disconnected ends what was asked on a dialled connection. A peer that is gone
// gets its answers into the void.
func (l *quorumLane) Disconnected(conn node.ConnID) { l.leader.disconnected(conn) }

// Fire runs a timer's continuation.
func (l *quorumLane) Fire(timer node.TimerID) {
	l.timers.Fire(timer)
	l.publish()
}

// Synced runs an fsync's continuation.
func (l *quorumLane) Synced(token disk.Token, err error) {
	l.syncs.Synced(token, err)
	l.publish()
}

// Posted takes SIGTERM on a controller: it comes from the driver, or from
// lifecycle once the broker of the same process is done.
func (l *quorumLane) Posted(_ node.Lane, msg any) {
	if _, stop := msg.(node.Stop); !stop {
		panic("quorum does not take this post")
	}
	l.raft.Stop(func() { l.env.Exit(cleanExit) })
}
