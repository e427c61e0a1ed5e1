package checker

import (
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// facts is what the rules share: the configuration, the client history and the
// lineage of each partition, and what the present event did to it.
type facts struct {
	profile    profile
	history    history
	sessions   sessions
	clocks     clocks
	faults     faults
	ended      stamp // the last event
	txns       *txnIndex
	groups     *groupIndex
	partitions map[kafka.TopicPartition]*partition
	order      []*partition
	tombstones map[partitionKey][]*send  // that are not proven; see mayHold
	died       map[kafka.BrokerID]string // how a node's last life ended
	damaged    map[kafka.BrokerID]*damage
	starting   map[kafka.BrokerID]bool // nodes that booted and are not registered yet
	unknown    []string                // why the run cannot be judged
	misformed  int                     // events that end what is not open, or name too little
	last       *partition              // the one touched last: events come in runs

	// Of the present event. at is its partition, nil if it has none.
	at         *partition
	cut        *cut         // a leader started without committed records
	before     kafka.Offset // the true high watermark before the event
	compared   int          // comparisons of a replica with the truth
	mismatches []mismatch
	// A leader of an older epoch committed from here on what the present
	// leader does not hold; NoOffset otherwise.
	zombie kafka.Offset
	shrunk bool // a replica took a role with less log than it had, unexplained
}

func newFacts() *facts {
	return &facts{profile: profile{map[scopedKey]string{}}, history: newHistory(), sessions: newSessions(), txns: newTxnIndex(), groups: newGroupIndex(),
		partitions: map[kafka.TopicPartition]*partition{}, died: map[kafka.BrokerID]string{}, starting: map[kafka.BrokerID]bool{}}
}

// partition returns the lineage of a partition, nil if no event told of it.
func (f *facts) partition(tp kafka.TopicPartition) *partition {
	if len(f.order) == 0 {
		return nil
	}
	return f.partitions[tp]
}

func (f *facts) touch(tp kafka.TopicPartition) *partition {
	p := f.last
	if p == nil || p.tp != tp {
		if p = f.partitions[tp]; p == nil {
			p = newPartition(tp)
			f.partitions[tp] = p
			f.order = append(f.order, p)
		}
	}
	f.at, f.last = p, p
	return p
}

// sorted lists the partitions by name, so that no order of discovery shows.
func (f *facts) sorted() []*partition {
	ps := slices.Clone(f.order)
	slices.SortStableFunc(ps, func(a, b *partition) int {
		switch {
		case a.tp.Less(b.tp):
			return -1
		case b.tp.Less(a.tp):
			return 1
		}
		return 0
	})
	return ps
}

func (f *facts) observe(e *event.Event) {
	f.at, f.cut, f.compared, f.mismatches, f.zombie = nil, nil, 0, f.mismatches[:0], kafka.NoOffset
	f.shrunk, f.ended = false, stampOf(e)
	f.clocks.observe(e)
	f.faults.observe(e)
	switch e.Kind {
	case event.PollOK, event.PositionReset, event.Assigned, event.Revoked, event.Lost, event.TruncationDetected, event.ClientCrashed:
		f.sessions.observe(e)
	}
	switch e.Kind {
	case event.SendInvoke, event.SendOK, event.SendFail, event.SendUnknown, event.PollOK, event.PositionReset, event.PollInvoke:
		f.history.observe(f, e)
	case event.LogStartMoved, event.Cleaned, event.ListOffsetsInvoke, event.ListOffsetsOK, event.ListOffsetsFail:
		f.history.observeLog(f, e)
		if p := f.partition(e.TP()); p != nil && e.Kind == event.Cleaned {
			p.cleaned(e)
		}
	case event.Profile:
		f.profile.observe(e)
	case event.WaitFailed:
		f.unknown = append(f.unknown, fmt.Sprintf("line %d: the wait ran out of time: %s", e.Line, e.Text))
	case event.Boot:
		f.starting[e.Node] = true
	case event.Registered:
		f.starting[e.Peer] = false
	case event.Died:
		f.nodeDied(e)
	case event.Fault:
		f.diskFault(e)
	case event.Elected:
		f.touch(e.TP()).elected(e)
	case event.BecameLeader, event.BecameFollower, event.Appended, event.HighWatermarkMoved, event.Truncated, event.Recovered, event.ISRChanged:
		f.lineage(f.touch(e.TP()), e)
	case event.ISRApplied:
		f.touch(e.TP()).replica(e.Node).isr = slices.Clone(e.ISR)
	}
	f.txns.observe(f, e)
	f.groups.observe(f, e)
}

func (f *facts) nodeDied(e *event.Event) {
	f.died[e.Node] = e.Text
	if len(e.Text) < 4 || e.Text[:4] != "wipe" {
		return
	}
	f.replaced(e.Node)
	for _, p := range f.order {
		for _, r := range p.replicas {
			if r.node == e.Node {
				r.wiped(e)
			}
		}
	}
}

// lineageKinds are the events of replicas, after which facts of the present event
// may tell of a cut, a mismatch or a zombie.
var lineageKinds = []event.Kind{event.BecameLeader, event.BecameFollower, event.Appended, event.HighWatermarkMoved, event.Truncated, event.Recovered, event.ISRChanged}

// lineage takes an event of a replica in, then compares what became comparable.
func (f *facts) lineage(p *partition, e *event.Event) {
	f.before = p.truth.end
	if e.Kind == event.ISRChanged {
		p.isrChanged(e)
		f.compared, f.mismatches = p.verify(f.mismatches)
		return
	}
	r := p.replica(e.Node)
	r.damaged = f.damaged[e.Node] != nil
	switch e.Kind {
	case event.BecameLeader:
		f.shrunk = r.agreeOnEnd(e, f.died[e.Node])
		r.isr = slices.Clone(e.ISR)
		r.idle = f.starting[e.Node] || p.superseded(e.Epoch)
		if r.role = e.Epoch; !r.idle {
			f.lead(p, r, e, e.HighWatermark)
		}
	case event.BecameFollower:
		f.shrunk = r.agreeOnEnd(e, f.died[e.Node])
		r.leading, r.role, r.idle = kafka.NoEpoch, e.Epoch, false
	case event.Appended:
		if r.idle && e.Text == "leader" {
			f.lead(p, r, e, r.hw)
		}
		r.append(e, &p.truth, p.cleanedUpTo())
		if r.stale > 0 && r.role >= p.epoch {
			r.rejoin()
		}
	case event.HighWatermarkMoved:
		r.hw = e.HighWatermark
		if r.stale > 0 && r.role >= p.epoch {
			r.rejoin()
		}
		if e.Text == "leader" && !r.idle {
			f.commit(p, r, e.HighWatermark, e)
		}
	case event.Truncated:
		r.truncated(e)
	case event.Recovered:
		r.recovered(e, f.died[e.Node])
	}
	f.compared, f.mismatches = p.verify(f.mismatches)
}

// lead takes in that a replica leads from this event on.
func (f *facts) lead(p *partition, r *replica, e *event.Event, hw kafka.Offset) {
	r.leading, r.idle, r.hw, r.stale = r.role, false, hw, 0
	f.cut = p.lead(r, e, f.profile.minISR(e.Topic))
	f.commit(p, r, r.hw, e)
}

func (f *facts) commit(p *partition, r *replica, hw kafka.Offset, e *event.Event) {
	if at := p.commit(r, hw, e); at < hw {
		f.zombie = at
	}
}
