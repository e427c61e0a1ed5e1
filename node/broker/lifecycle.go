package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
)

// lifecycle is Kafka's BrokerLifecycleManager with the other channels to the
// controller beside it: registration and heartbeats on one connection,
// AlterPartition on a second, forwarded requests on a third. It has no file
// system, so a disk that hangs stops partitions and not heartbeats (which is
// how a stalled leader stays leader).
type lifecycle struct {
	cfg    Config
	env    node.Env
	timers *node.Timers

	heartbeats *channel
	alter      *alterManager
	forward    *channel

	state       state
	incarnation kafka.UUID
	directories directoriesPost
	offline     []kafka.UUID // log directories that failed since
	assign      assigner
	epoch       kafka.BrokerEpoch // NoBrokerEpoch until registered
	failures    int               // in a row, of registration or heartbeat
	beating     bool              // a registration or heartbeat is on its way
	again       bool              // another one is wanted right after it
	next        node.TimerID      // of the next one
	heard       bool              // an answer came since the shutdown began
	serving     bool              // the router was told to serve

	applied map[node.Lane]kafka.Offset // by every lane that follows the metadata
	image   kafka.Offset               // of the last image here, changing or not
	change  kafka.Offset               // of the last image that every lane gets
}

func newLifecycle(cfg Config) *lifecycle { return &lifecycle{cfg: cfg} }

// Start begins a life; the registration waits for the log directory's word.
func (l *lifecycle) Start(env node.Env) {
	l.env, l.timers = env, node.NewTimers(env)
	session := l.cfg.Properties.Millis(kafka.BrokerSessionTimeoutMs)
	// A heartbeat that hangs is given up after half a session (KAFKA-14392), so
	// that one lost packet does not fence the broker.
	l.heartbeats = newChannel(env, l.timers, l.clientID("heartbeat"), session/2, session/2)
	l.alter = newAlterManager(l)
	l.forward = newChannel(env, l.timers, l.clientID("forwarding"), controllerSocketTimeout, forwardPatience)
	l.incarnation = drawUUID(env, "incarnation")
	l.epoch = kafka.NoBrokerEpoch
	l.image, l.change = kafka.NoOffset, kafka.NoOffset
	l.applied = map[node.Lane]kafka.Offset{node.Router: kafka.NoOffset, node.Logs: kafka.NoOffset}
	for _, lane := range l.cfg.dataLanes() {
		l.applied[lane] = kafka.NoOffset
	}
	l.timers.After(l.cfg.Properties.Millis(kafka.InitialRegistrationMs), func() {
		if l.epoch == kafka.NoBrokerEpoch {
			env.Exit("the controller did not accept the registration in time")
		}
	})
}

func (l *lifecycle) clientID(channel string) string {
	return "broker-" + itoa(int64(l.cfg.ID)) + "-" + channel
}

// Receive takes an answer of the controller.
func (l *lifecycle) Receive(conn node.ConnID, m *node.Message) {
	switch conn {
	case l.heartbeats.conn:
		l.heartbeats.receive(m)
	case l.alter.channel.conn:
		l.alter.channel.receive(m)
	case l.forward.conn:
		l.forward.receive(m)
	}
}

// Disconnected lets the channel of the connection try again.
func (l *lifecycle) Disconnected(conn node.ConnID) {
	switch conn {
	case l.heartbeats.conn:
		l.heartbeats.disconnected()
	case l.alter.channel.conn:
		l.alter.channel.disconnected()
	case l.forward.conn:
		l.forward.disconnected()
	}
}

// Fire runs a timer's continuation.
func (l *lifecycle) Fire(timer node.TimerID) { l.timers.Fire(timer) }

// Synced never comes: the lane has no file system.
func (l *lifecycle) Synced(disk.Token, error) { panic("lifecycle has no file system") }

// Posted takes the word of another lane or of the driver.
func (l *lifecycle) Posted(from node.Lane, msg any) {
	switch m := msg.(type) {
	case directoriesPost:
		l.directories = m
		l.communicateNow()
	case controllerPost:
		l.heartbeats.setController(m.Addr)
		l.alter.channel.setController(m.Addr)
		l.forward.setController(m.Addr)
	case imagePost:
		if l.change == kafka.NoOffset || !m.Delta.Empty() {
			l.change = m.Image.Offset()
		}
		l.image = m.Image.Offset()
	case appliedPost:
		first := !l.ready()
		l.applied[from] = m.Offset
		if first && l.ready() {
			l.serve()
			l.communicateNow()
		}
	case alterPost:
		l.alter.submit(from, m.Proposal)
	case forwardPost:
		l.forwardRequest(from, m)
	case allocatePost:
		l.allocateProducerIDs(from)
	case cleanPost:
		l.exit()
	case offlinePost:
		l.directoryFailed(m.ID)
	case assignPost:
		l.assign.add(l, m)
	case node.Stop:
		l.stop()
	default:
		panic("lifecycle does not take this post")
	}
}

// ready reports whether every lane applied its first image: then the broker may
// serve, and asks to be unfenced.
func (l *lifecycle) ready() bool { return l.lowestApplied() != kafka.NoOffset }

func (l *lifecycle) lowestApplied() kafka.Offset {
	lowest := kafka.Offset(1<<63 - 1)
	for _, offset := range l.applied { // unordered: a minimum
		lowest = min(lowest, offset)
	}
	return lowest
}

// metadataOffset is what heartbeats report: the metadata that every lane has
// applied. Images without a change come here alone.
func (l *lifecycle) metadataOffset() kafka.Offset {
	if lowest := l.lowestApplied(); lowest < l.change {
		return lowest
	}
	return l.image
}

// serve lets the router take requests once the broker has caught up with its own
// registration, whose records took it out of every leadership and ISR of the
// life before, and every lane has applied that.
func (l *lifecycle) serve() {
	if l.serving || l.state == starting || !l.ready() {
		return
	}
	l.serving = true
	l.env.Post(node.Router, servePost{})
}

// communicateNow registers or sends a heartbeat as soon as possible.
func (l *lifecycle) communicateNow() {
	if l.beating {
		l.again = true
		return
	}
	l.communicate()
}

func (l *lifecycle) communicate() {
	l.timers.Cancel(l.next)
	if len(l.directories.Directories) == 0 || l.state == shuttingDown {
		return
	}
	l.beating = true
	if l.epoch == kafka.NoBrokerEpoch {
		l.heartbeats.send(l.registration(), l.registered)
	} else {
		l.heartbeats.send(l.heartbeat(), l.heartbeatAnswered)
	}
}

// communicateIn plans the next exchange, unless one is wanted at once.
func (l *lifecycle) communicateIn(d time.Duration) {
	l.beating = false
	if l.again {
		l.again = false
		d = 0
	}
	if d == 0 {
		l.communicate()
		return
	}
	l.next = l.timers.After(d, l.communicate)
}

func (l *lifecycle) retry() {
	d := retryDelay(l.failures, l.cfg.Properties.Millis(kafka.BrokerSessionTimeoutMs), l.env.Rand("heartbeat retry"))
	l.failures++
	l.communicateIn(d)
}

func (l *lifecycle) registered(r kmsg.Response) {
	answer, ok := r.(*kmsg.BrokerRegistrationResponse)
	if !ok || kafka.ErrorCode(answer.ErrorCode) != kafka.None {
		l.retry()
		return
	}
	l.failures = 0
	l.epoch = kafka.BrokerEpoch(answer.BrokerEpoch)
	for _, lane := range l.cfg.dataLanes() {
		l.env.Post(lane, registeredPost{Epoch: l.epoch})
	}
	l.communicateIn(0)
}

func (l *lifecycle) heartbeatAnswered(r kmsg.Response) {
	answer, ok := r.(*kmsg.BrokerHeartbeatResponse)
	if !ok || kafka.ErrorCode(answer.ErrorCode) != kafka.None {
		// A wrong epoch too is only tried again: a process life takes no second one.
		l.retry()
		return
	}
	l.failures = 0
	before := l.state
	interval := l.cfg.Properties.Millis(kafka.BrokerHeartbeatIntervalMs)
	said := heartbeatAnswer{CaughtUp: answer.IsCaughtUp, Fenced: answer.IsFenced, ShouldShutDown: answer.ShouldShutdown}
	next, wait := l.state.afterHeartbeat(said, l.heard, interval)
	l.state, l.heard = next, l.state == pendingShutdown
	l.serve()
	if before != running && l.state == running {
		ready := event.New(event.Ready)
		l.env.Emit(&ready)
	}
	if l.state == shuttingDown {
		l.close()
		return
	}
	l.communicateIn(wait)
}
