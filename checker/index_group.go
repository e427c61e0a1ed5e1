package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// groupIndex is what the history tells of consumer groups: for each group and
// partition who committed what, who asked, and who held it from when to when.
type groupIndex struct {
	partitions map[groupTP]*groupPartition
	order      []*groupPartition
	groups     map[string]*group
	byName     []*group
	clients    map[string]string // the group that a client was last seen in
	held       map[session]*ownership
	commits    map[operation]*commitOp // open ones
	fetches    map[operation]*fetchOp  // open ones
	members    map[groupMember]string  // the client of a member
	resets     map[kafka.TopicPartition][]positionReset
	autos      map[string][]*commitOp // automatic commits of a client since it polled last
	placed     bool                   // the commits know the positions of their consumers
	kept       struct {
		commits blocks[commitOp]
		fetches blocks[fetchOp]
	}
}

type groupTP struct {
	group string
	tp    kafka.TopicPartition
}

// operation is an operation that is not over, by its client and attempt.
type operation struct {
	client    string
	attempt   uint64
	partition kafka.TopicPartition
}

type groupMember struct{ group, member string }

// group is one group over all its partitions.
type group struct {
	name        string
	commits     []*commitOp
	generations []generation
	departures  []departure
	lives       []*groupLife // made when the run is over
}

// generation is a sight of the group at a generation: a member of it was given
// a partition, or had a commit accepted.
type generation struct {
	number         int32
	member, client string
	stamp
	tp     kafka.TopicPartition
	commit *commitOp // nil for an assignment
	takes  bool      // the member did not hold the partition before
}

// what says by what the generation was seen.
func (g *generation) what() string {
	if g.commit != nil {
		return fmt.Sprintf("committed offset %d of %s", g.commit.offset, g.tp)
	}
	return "was assigned " + g.tp.String()
}

// groupPartition is one group on one partition.
type groupPartition struct {
	groupTP
	commits []*commitOp
	fetches []*fetchOp
	owners  []*ownership
	stable  []stableFetch // made when the run is over
}

// stableFetch is the call of a fetch that waits for pending offsets, and the
// first end of any such fetch called then or later.
type stableFetch struct{ call, firstEnd uint64 }

// stableAfter is the first end of a stable fetch that was called after an event;
// never if there is none.
func (p *groupPartition) stableAfter(seq uint64) uint64 {
	if p.stable == nil {
		p.stable = []stableFetch{{never, never}}
		for _, q := range p.fetches {
			if !q.unstable {
				p.stable = append(p.stable, stableFetch{q.invoked.seq, q.done.seq})
			}
		}
		slices.SortStableFunc(p.stable, func(a, b stableFetch) int { return cmp.Compare(a.call, b.call) })
		for i := len(p.stable) - 2; i >= 0; i-- {
			p.stable[i].firstEnd = min(p.stable[i].firstEnd, p.stable[i+1].firstEnd)
		}
	}
	i, _ := slices.BinarySearchFunc(p.stable, seq+1, func(q stableFetch, s uint64) int { return cmp.Compare(q.call, s) })
	return p.stable[i].firstEnd
}

// commitOp is one OffsetCommit or TxnOffsetCommit.
type commitOp struct {
	group         string
	tp            kafka.TopicPartition
	client        string
	session       *event.Session
	txn           *txn // nil for a plain commit
	offset        kafka.Offset
	invoked, done stamp
	result        event.Kind // CommitInvoke while open
	polledOn      bool       // automatic, and the consumer polled again before it gave the partition up
	polled        uint64     // the last PollInvoke of the client before invoked, 0 for not known
	// position is the position of the group's consumer at invoked, consumed its
	// position at polled; NoOffset for not known.
	position, consumed kafka.Offset
	moved              stamp       // when position changed next; did not come for never
	as                 *membership // by whom, for a success that names a generation; made by livesOf
}

// fetchOp is one successful OffsetFetch; an open or failed one says nothing.
type fetchOp struct {
	client, group string
	invoked, done stamp
	offset        kafka.Offset // the answer, NoOffset for none
	unstable      bool
}

// ownership is one consumer's hold on one partition. The member believes in it
// from `from` to `to`; it is certain to `proven`, as the coordinator's answers
// show.
type ownership struct {
	client     string
	session    *event.Session
	from, to   stamp
	how        event.Kind // Revoked, Lost, ClientCrashed, or Assigned once more; 0 while it lasts
	proven     stamp      // the last event at which the coordinator still knew it as the owner
	provenText string
}

// positionReset is a PositionReset.
type positionReset struct {
	client string
	stamp
	from, to kafka.Offset
	reason   string
}

func newGroupIndex() *groupIndex {
	return &groupIndex{partitions: map[groupTP]*groupPartition{}, groups: map[string]*group{}, clients: map[string]string{},
		held: map[session]*ownership{}, commits: map[operation]*commitOp{}, fetches: map[operation]*fetchOp{},
		members: map[groupMember]string{}, resets: map[kafka.TopicPartition][]positionReset{},
		autos: map[string][]*commitOp{}}
}

func (g *groupIndex) partition(name string, tp kafka.TopicPartition) *groupPartition {
	key := groupTP{name, tp}
	p := g.partitions[key]
	if p == nil {
		p = &groupPartition{groupTP: key}
		g.partitions[key] = p
		g.order = append(g.order, p)
	}
	return p
}

func (g *groupIndex) group(name string) *group {
	x := g.groups[name]
	if x == nil {
		x = &group{name: name}
		g.groups[name] = x
		g.byName = append(g.byName, x)
	}
	return x
}

// observe takes an event in; the index of transactions has it already.
func (g *groupIndex) observe(f *facts, e *event.Event) {
	switch e.Kind {
	case event.PositionReset:
		g.resets[e.TP()] = append(g.resets[e.TP()], positionReset{e.Client, stampOf(e), e.Offset, e.End, e.Text})
	case event.Assigned, event.Revoked, event.Lost:
		g.owned(e)
	case event.ClientCrashed:
		for _, p := range g.order {
			g.released(session{e.Client, p.tp}, e)
		}
		delete(g.autos, e.Client)
	case event.PollInvoke:
		for _, c := range g.autos[e.Client] {
			c.polledOn = true
		}
		delete(g.autos, e.Client)
	case event.CommitInvoke:
		g.committing(f, e)
	case event.CommitOK, event.CommitFail, event.CommitUnknown:
		g.committed(f, e)
	case event.FetchCommittedInvoke, event.FetchCommittedOK, event.FetchCommittedFail:
		g.fetched(f, e)
	}
}

func (g *groupIndex) owned(e *event.Event) {
	who := e.Who()
	if who.Group == "" {
		return // the application chose
	}
	key := session{e.Client, e.TP()}
	if e.Kind != event.Assigned {
		g.released(key, e)
		return
	}
	g.clients[e.Client], g.members[groupMember{who.Group, who.Member}] = who.Group, e.Client
	// Whoever is told of a partition once more need not have held it all the time:
	// not every client tells when it gives up.
	o := g.held[key]
	again := o != nil && o.session.Group == who.Group && o.session.Member == who.Member
	if o != nil && !again {
		g.departed(o, e)
	} else if o != nil {
		o.to, o.how = stampOf(e), e.Kind
	}
	g.sighted(e, !again)
	o = &ownership{client: e.Client, from: stampOf(e), session: e.Session, proven: stampOf(e), provenText: "was assigned it"}
	g.held[key] = o
	p := g.partition(who.Group, e.TP())
	p.owners = append(p.owners, o)
}

// departed ends an ownership.
func (g *groupIndex) departed(o *ownership, e *event.Event) {
	o.to, o.how = stampOf(e), e.Kind
	x := g.group(o.session.Group)
	x.departures = append(x.departures, departure{stampOf(e), cmp.Or(o.session.Member, o.client), e.Kind == event.ClientCrashed})
}

func (g *groupIndex) released(key session, e *event.Event) {
	g.autos[key.client] = slices.DeleteFunc(g.autos[key.client], func(c *commitOp) bool { return c.tp == key.tp })
	if o := g.held[key]; o != nil {
		g.departed(o, e)
		delete(g.held, key)
	}
}

// sighted notes a generation of the group at an assignment.
func (g *groupIndex) sighted(e *event.Event, takes bool) {
	if who := e.Who(); who.Generation >= 0 {
		x := g.group(who.Group)
		x.generations = append(x.generations, generation{number: who.Generation, member: who.Member, client: e.Client, stamp: stampOf(e), tp: e.TP(), takes: takes})
	}
}

func (g *groupIndex) committing(f *facts, e *event.Event) {
	who := e.Who()
	if who.Group == "" {
		f.malformed(e, "commits an offset and names no group")
		return
	}
	c := g.kept.commits.add()
	*c = commitOp{group: who.Group, tp: e.TP(), client: e.Client, session: who, txn: f.txns.txn(e), offset: e.Offset,
		invoked: stampOf(e), result: e.Kind, polled: f.history.asked[e.Client].seq, position: kafka.NoOffset, consumed: kafka.NoOffset}
	if c.txn != nil {
		c.txn.offsets = append(c.txn.offsets, c)
	}
	if e.Text == "auto" {
		g.autos[e.Client] = append(g.autos[e.Client], c)
	}
	g.commits[operation{e.Client, e.Attempt, c.tp}] = c
	p := g.partition(c.group, c.tp)
	p.commits = append(p.commits, c)
	x := g.group(c.group)
	x.commits = append(x.commits, c)
}

func (g *groupIndex) committed(f *facts, e *event.Event) {
	key := operation{e.Client, e.Attempt, e.TP()}
	c := g.commits[key]
	if c == nil {
		f.malformed(e, "ends a commit that is not open")
		return
	}
	delete(g.commits, key)
	c.done, c.result = stampOf(e), e.Kind
	if e.Kind != event.CommitOK {
		return
	}
	if who := c.session; who.Generation >= 0 {
		x := g.group(c.group)
		x.generations = append(x.generations, generation{number: who.Generation, member: who.Member, client: c.client, stamp: c.done, tp: c.tp, commit: c})
		if client, known := g.members[groupMember{c.group, who.Member}]; known {
			if o := g.held[session{client, c.tp}]; o != nil && o.from.seq < c.invoked.seq {
				// The coordinator took it no earlier than it was asked.
				o.proven, o.provenText = c.invoked, fmt.Sprintf("had offset %d accepted", c.offset)
			}
		}
	}
}

func (g *groupIndex) fetched(f *facts, e *event.Event) {
	key := operation{e.Client, e.Attempt, e.TP()}
	if e.Kind == event.FetchCommittedInvoke {
		op := g.kept.fetches.add()
		*op = fetchOp{client: e.Client, group: e.Who().Group, invoked: stampOf(e), unstable: e.Text == "unstable"}
		g.fetches[key] = op
		return
	}
	op := g.fetches[key]
	if op == nil {
		f.malformed(e, "ends a fetch of committed offsets that is not open")
		return
	}
	delete(g.fetches, key)
	if e.Kind != event.FetchCommittedOK {
		return
	}
	op.done, op.offset = stampOf(e), e.Offset
	op.unstable = op.unstable || e.Text == "unstable"
	p := g.partition(op.group, e.TP())
	p.fetches = append(p.fetches, op)
}
