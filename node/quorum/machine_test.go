package quorum

import (
	"slices"
	"testing"
	"time"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

var clusterID = kafka.UUID{15: 200}

// machine is a node's disk and clock, and one process life after another on it.
type machine struct {
	*testing.T
	id     kafka.BrokerID
	voters []kafka.BrokerID
	disk   *simdisk.Disk
	now    int64 // ns
	*life
}

// life is a process: what a crash takes away.
type life struct {
	m      *machine
	fs     disk.FS
	timers *node.Timers
	syncs  *node.Syncs
	raft   *Raft
	last   node.TimerID
	due    map[node.TimerID]int64
	dues   []completion
	exit   string

	// what the listener was given
	batches []Committed
	image   *metadata.Image
	leaders []electionState
	onLead  func()

	sent []FetchRequest // by an observer, none answered yet
	to   []kafka.BrokerID
}

type completion struct {
	at    int64
	token disk.Token
	sync  faultdisk.Sync
}

// newMachine has the id of the only voter, 101, or of an observer.
func newMachine(t *testing.T, id kafka.BrokerID) *machine {
	return &machine{T: t, id: id, voters: []kafka.BrokerID{101}, disk: simdisk.New()}
}

// boot begins a life.
func (m *machine) boot() *machine {
	m.Helper()
	m.life = &life{m: m, due: map[node.TimerID]int64{}, image: metadata.Empty(), syncs: node.NewSyncs()}
	m.fs = m.disk.View("quorum", host{m.life})
	m.timers = node.NewTimers(m.life)
	m.raft = New(Config{ID: m.id, ClusterID: clusterID, Voters: m.voters, Linger: 25 * time.Millisecond, RetryBackoff: 20 * time.Millisecond},
		m.life, m.timers, m.syncs, m.life, m.life)
	if err := m.raft.Start(); err != nil {
		m.Fatal(err)
	}
	return m
}

// run lets time pass.
func (m *machine) run(d time.Duration) *machine {
	for end := m.now + int64(d); m.step(end); {
	}
	return m
}

// step runs the next timer or completion up to end; false: there was none, and
// the time is end.
func (m *machine) step(end int64) bool {
	at, run := end+1, func() {}
	for id, due := range m.due {
		if due < at || due == at && id < 1<<62 {
			at, run = due, func() { delete(m.due, id); m.timers.Fire(id) }
		}
	}
	for i, c := range m.dues {
		if c.at < at {
			at, run = c.at, func() { m.finish(i) }
		}
	}
	if at > end {
		m.now = max(m.now, end)
		return false
	}
	m.now = max(m.now, at)
	run()
	return m.exit == ""
}

func (m *machine) finish(i int) {
	c := m.dues[i]
	o := m.disk.Finish(c.sync, m.now)
	if o.Again != 0 {
		m.dues[i].at = o.Again
		return
	}
	m.dues = slices.Delete(m.dues, i, i+1)
	if !o.Gone {
		m.syncs.Synced(c.token, o.Err)
	}
}

// power ends the life and loses everything that was not synced.
func (m *machine) power() *machine {
	m.disk.PowerLoss(faultdisk.LoseAll, nil)
	return m
}

func (m *machine) kill() *machine {
	m.disk.Kill()
	return m
}

// The simulated disk's host.

func (l *life) Charge(ns int64) {}
func (l *life) Step()           {}
func (l *life) Complete(t disk.Token, at int64, s faultdisk.Sync) {
	l.dues = append(l.dues, completion{at, t, s})
}

// host tells the disk the time as it wants it.
type host struct{ *life }

func (h host) Now() int64 { return h.m.now }

// The life is the node.Env of its Raft.

func (l *life) Node() kafka.BrokerID  { return l.m.id }
func (l *life) Now() time.Duration    { return time.Duration(l.m.now) }
func (l *life) Wall() kafka.Timestamp { return kafka.Timestamp(l.m.now / 1e6) }
func (l *life) SetTimer(d time.Duration) node.TimerID {
	l.last++
	l.due[l.last] = l.m.now + max(int64(d), 0)
	return l.last
}
func (l *life) CancelTimer(id node.TimerID)     { delete(l.due, id) }
func (l *life) FS() disk.FS                     { return l.fs }
func (l *life) Rand(string) uint64              { return 7 }
func (l *life) Emit(*event.Event)               {}
func (l *life) Exit(reason string)              { l.exit = reason }
func (l *life) Dial(string) node.ConnID         { panic("raft does not dial") }
func (l *life) Send(node.ConnID, *node.Message) { panic("raft does not send") }
func (l *life) Release(node.ConnID)             { panic("raft does not release") }
func (l *life) Close(node.ConnID)               { panic("raft does not close") }
func (l *life) Post(node.Lane, any)             { panic("raft does not post") }

// The life is its Raft's listener and channel.

func (l *life) HandleCommit(b Committed) {
	l.batches = append(l.batches, b)
	l.image = b.Replay(l.image)
}

func (l *life) HandleLeaderChange(leader kafka.BrokerID, epoch kafka.LeaderEpoch) {
	l.leaders = append(l.leaders, electionState{epoch: epoch, leader: leader})
	if leader == l.m.id && l.onLead != nil {
		l.onLead()
	}
}

func (l *life) Fetch(to kafka.BrokerID, req FetchRequest) {
	l.sent = append(l.sent, req)
	l.to = append(l.to, to)
}

// topic is a record that the tests write.
func topic(n byte) metadata.Record {
	return metadata.Topic{Name: string(rune('a' + n)), TopicID: kafka.UUID{15: n + 1}}
}

// topics counts those that the listener was given.
func (l *life) topics() int { return len(l.image.Topics()) }
