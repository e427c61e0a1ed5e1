package replica

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node"
	"tidemark/node/storage"
)

// The brokers of a test cluster.
const (
	A kafka.BrokerID = iota
	B
	C
)

var testTP = kafka.TopicPartition{Topic: "orders", Partition: 0}

const lagTimeMax = 30 * time.Second

// failer is what a cluster needs of *testing.T and of *rapid.T.
type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// cluster is one partition's replicas on some brokers, a clock, and a controller
// that decides on leader and ISR as Kafka's does. Nothing moves by itself.
type cluster struct {
	t      failer
	now    time.Duration
	config Config

	brokers []*broker
	// What the controller has committed, and the broker epochs and fencing that
	// every broker's metadata image shows.
	state     State
	image     map[kafka.BrokerID]Broker
	proposals []submission // to the controller, in flight
	events    []event.Event
	next      int // of the values that are produced
}

// submission is an AlterPartition on its way to the controller.
type submission struct {
	from     *broker
	proposal *Proposal
}

// broker is one broker's replica: the host of the partition and of its fetcher.
type broker struct {
	id        kafka.BrokerID
	c         *cluster
	life      kafka.BrokerEpoch
	log       *storage.Log
	p         *Partition
	fetcher   *Fetcher
	purgatory *Purgatory
	failed    error
	// held are the checkpoints that wait, if holdDisk.
	held     []func()
	holdDisk bool
	disk     *simdisk.Disk
	syncs    *node.Syncs
	due      []simdisk.Sync
	tokens   []disk.Token
}

// newCluster has n brokers, all in the ISR and assigned, no leader yet.
func newCluster(t failer, n int, r rules.Rules, c Config) *cluster {
	k := &cluster{t: t, config: c, image: map[kafka.BrokerID]Broker{}, now: time.Hour}
	k.state = State{Leader: kafka.NoBroker, LeaderEpoch: -1, PartitionEpoch: -1}
	for id := range kafka.BrokerID(n) {
		k.state.Replicas = append(k.state.Replicas, id)
		k.state.ISR = append(k.state.ISR, id)
		k.image[id] = Broker{Epoch: kafka.BrokerEpoch(100 + id)}
		b := &broker{id: id, c: k, life: k.image[id].Epoch}
		b.log = b.openLog()
		b.boot(r.Replica, 0)
		k.brokers = append(k.brokers, b)
	}
	return k
}

// openLog opens an empty log on a new disk.
func (b *broker) openLog() *storage.Log {
	b.disk, b.syncs = simdisk.New(), node.NewSyncs()
	log, _, err := storage.Open(b.disk.View("data-0", b.diskHost()), testTP.String(), storage.DefaultConfig(), storage.Opening{Syncs: b.syncs})
	if err != nil {
		b.c.t.Fatalf("open the log of %d: %v", b.id, err)
	}
	return log
}

// boot starts a replica over the log.
func (b *broker) boot(r rules.Replica, hw kafka.Offset) {
	b.p = New(Options{TP: testTP, TopicID: kafka.UUID{1}, Local: b.id, Config: b.c.config, Log: b.log, HighWatermark: hw, Rules: r, Host: b})
	b.purgatory = NewPurgatory(func(kafka.TopicPartition) (*Partition, kafka.ErrorCode) { return b.p, kafka.None })
	b.fetcher = nil
}

// Host and FetcherHost.

func (b *broker) Now() time.Duration { return b.c.now }
func (b *broker) Wall() kafka.Timestamp {
	return kafka.Timestamp(b.c.now.Milliseconds())
}
func (b *broker) Broker(id kafka.BrokerID) (Broker, bool) {
	i, ok := b.c.image[id]
	return i, ok
}
func (b *broker) LocalBrokerEpoch() kafka.BrokerEpoch { return b.life }
func (b *broker) SubmitISR(p *Proposal) {
	b.c.proposals = append(b.c.proposals, submission{b, p})
}
func (b *broker) Changed(tp kafka.TopicPartition)                   { b.purgatory.Changed(tp) }
func (b *broker) StorageFailed(_ kafka.TopicPartition, err error)   { b.failed = err }
func (b *broker) Ready(*Fetcher)                                    {}
func (b *broker) CheckpointRecoveryPoint(p *Partition, done func()) { b.wait(done) }
func (b *broker) Emit(e *event.Event) {
	e.Node = b.id
	b.c.events = append(b.c.events, *e)
}

func (b *broker) wait(done func()) {
	if b.holdDisk {
		b.held = append(b.held, done)
	} else {
		done()
	}
}

// diskWorld is the time of a broker's disk, which costs nothing; syncs end when
// the broker asks for the next thing.
type diskWorld struct{ b *broker }

func (b *broker) diskHost() simdisk.Host { return diskWorld{b} }
func (w diskWorld) Now() int64           { return int64(w.b.c.now) }
func (w diskWorld) Charge(int64)         {}
func (w diskWorld) Step()                {}
func (w diskWorld) Complete(t disk.Token, at int64, s simdisk.Sync) {
	w.b.due, w.b.tokens = append(w.b.due, s), append(w.b.tokens, t)
}

// finishSyncs ends all fsyncs that were asked for.
func (b *broker) finishSyncs() {
	for len(b.due) > 0 {
		s, t := b.due[0], b.tokens[0]
		b.due, b.tokens = b.due[1:], b.tokens[1:]
		b.syncs.Synced(t, b.disk.Finish(s, int64(b.c.now)+int64(time.Hour)).Err)
	}
}

// The controller.

// elect makes leader the leader of the next epoch and tells the brokers in
// tell, all if there are none.
func (k *cluster) elect(leader kafka.BrokerID, tell ...kafka.BrokerID) {
	k.state.Leader = leader
	k.state.LeaderEpoch++
	k.state.PartitionEpoch++
	k.tell(tell...)
}

// setISR is a change of the ISR that the controller makes by itself.
func (k *cluster) setISR(isr ...kafka.BrokerID) {
	k.state.ISR = isr
	k.state.PartitionEpoch++
}

// tell brings the metadata to brokers, all if none is named.
func (k *cluster) tell(ids ...kafka.BrokerID) {
	for _, b := range k.brokers {
		if len(ids) == 0 || slices.Contains(ids, b.id) {
			b.apply(k.state)
		}
	}
}

// apply is what a lane does with metadata.
func (b *broker) apply(s State) {
	if s.Leader == b.id {
		b.fetcher = nil
		b.p.BecomeLeader(s)
	} else if b.p.BecomeFollower(s) {
		b.fetcher = NewFetcher(s.Leader, b.p.rules, FetcherConfig{Backoff: time.Second, PartitionMaxBytes: 1 << 20}, b)
		b.fetcher.Add(b.p)
	}
	b.purgatory.Complete()
}

// alterPartition lets the controller decide on the oldest proposal in flight and
// returns the answer, which the leader does not have yet.
func (k *cluster) alterPartition() (submission, ISRAnswer) {
	k.t.Helper()
	if len(k.proposals) == 0 {
		k.t.Fatalf("no AlterPartition is in flight")
	}
	s := k.proposals[0]
	k.proposals = k.proposals[1:]
	if code := k.validate(s); code != kafka.None {
		return s, ISRAnswer{Code: code}
	}
	isr := make([]kafka.BrokerID, len(s.proposal.ISR))
	for i, m := range s.proposal.ISR {
		isr[i] = m.Broker
	}
	k.setISR(isr...)
	return s, ISRAnswer{LeaderEpoch: k.state.LeaderEpoch, PartitionEpoch: k.state.PartitionEpoch, ISR: isr}
}

func (k *cluster) validate(s submission) kafka.ErrorCode {
	p := s.proposal
	switch {
	case p.LeaderEpoch < k.state.LeaderEpoch:
		return kafka.FencedLeaderEpoch
	case p.PartitionEpoch < k.state.PartitionEpoch:
		return kafka.InvalidUpdateVersion
	}
	for _, m := range p.ISR {
		b := k.image[m.Broker]
		if b.Fenced || b.InControlledShutdown || m.Epoch != kafka.NoBrokerEpoch && m.Epoch != b.Epoch {
			return kafka.IneligibleReplica
		}
	}
	return kafka.None
}

// settleISR lets the controller decide on a proposal and the leader learn of it.
func (k *cluster) settleISR() kafka.ErrorCode {
	k.t.Helper()
	s, a := k.alterPartition()
	k.answer(s, a)
	return a.Code
}

func (k *cluster) answer(s submission, a ISRAnswer) {
	s.from.p.ISRAnswered(s.proposal, a)
	s.from.purgatory.Complete()
}

// Clients.

// batch is a batch of one record with a value of its own.
func (k *cluster) batch() record.Batch { return k.batchOf(1) }

func (k *cluster) batchOf(records int) record.Batch {
	w := record.NewBuilder(record.NoProducer())
	for range records {
		k.next++
		w.Append(kafka.Timestamp(k.now.Milliseconds()), nil, fmt.Appendf(nil, "m%d", k.next), nil)
	}
	return w.Build()
}

// produce sends n batches to a broker, which must accept them, and returns the
// offset after them.
func (k *cluster) produce(to kafka.BrokerID, n int) kafka.Offset {
	k.t.Helper()
	end := kafka.NoOffset
	for range n {
		r, code := k.at(to).p.AppendAsLeader(k.batch(), AcksLeader)
		if code != kafka.None {
			k.t.Fatalf("produce to %d: %v", to, code)
		}
		end = r.Last + 1
	}
	k.at(to).purgatory.Complete()
	return end
}

// consume reads what a consumer may see at a broker from an offset on.
func (k *cluster) consume(at kafka.BrokerID, from kafka.Offset) FetchResult {
	return k.at(at).p.Fetch(FetchRequest{Replica: kafka.NoBroker, CurrentLeaderEpoch: kafka.NoEpoch,
		LastFetchedEpoch: kafka.NoEpoch, FetchOffset: from, MaxBytes: 1 << 20, MinOneBatch: true})
}

func (k *cluster) at(id kafka.BrokerID) *broker { return k.brokers[id] }

// Replication.

// fetch runs rounds of a follower's fetcher until it has nothing new to ask for.
// A round is one request and its answer.
func (k *cluster) fetch(follower kafka.BrokerID, rounds int) {
	k.t.Helper()
	for range rounds {
		ask, ok := k.at(follower).fetcher.Next()
		if !ok {
			return
		}
		k.deliver(follower, k.serve(follower, ask))
	}
}

// ask is the next request of a follower, which must have one.
func (k *cluster) ask(follower kafka.BrokerID) Ask {
	k.t.Helper()
	ask, ok := k.at(follower).fetcher.Next()
	if !ok {
		k.t.Fatalf("the fetcher of %d has nothing to ask", follower)
	}
	return ask
}

// reply is an answer on its way to a follower.
type reply struct {
	ask    Ask
	fetch  []FetchAnswer
	list   ListOffsetResult
	code   kafka.ErrorCode
	failed bool
}

// serve brings a follower's request to the leader that its fetcher knows.
func (k *cluster) serve(from kafka.BrokerID, ask Ask) reply {
	leader := k.at(k.at(from).fetcher.Leader())
	r := reply{ask: ask}
	if ask.Kind != AskFetch {
		t := LatestTimestamp
		if ask.Kind == AskEarliest {
			t = EarliestTimestamp
		}
		r.list, r.code = leader.p.ListOffset(ListOffsetRequest{Timestamp: t, CurrentLeaderEpoch: ask.CurrentLeaderEpoch, FromReplica: true})
		return r
	}
	for _, a := range ask.Fetch {
		result := leader.p.Fetch(k.request(from, a))
		r.fetch = append(r.fetch, FetchAnswer{TP: a.TP, Code: result.Code, HighWatermark: result.HighWatermark,
			LogStart: result.LogStart, Diverging: result.Diverging, Records: k.bytes(result.Slice)})
	}
	leader.purgatory.Complete()
	return r
}

func (k *cluster) request(from kafka.BrokerID, a FetchAsk) FetchRequest {
	return FetchRequest{Replica: from, BrokerEpoch: k.at(from).life, TopicID: a.TopicID, CurrentLeaderEpoch: a.CurrentLeaderEpoch,
		LastFetchedEpoch: a.LastFetchedEpoch, FetchOffset: a.FetchOffset, LogStart: a.LogStart, MaxBytes: a.MaxBytes, MinOneBatch: true}
}

// bytes reads a slice, as the socket's writer does, and releases it.
func (k *cluster) bytes(s storage.Slice) []byte {
	k.t.Helper()
	p := make([]byte, s.Bytes)
	if err := s.Region.Read(p); err != nil {
		k.t.Fatalf("read a region: %v", err)
	}
	s.Region.Release()
	return p
}

// deliver brings an answer to a follower.
func (k *cluster) deliver(follower kafka.BrokerID, r reply) {
	f := k.at(follower).fetcher
	switch {
	case r.failed:
		f.HandleFailure()
	case r.ask.Kind == AskFetch:
		f.HandleFetch(r.fetch)
	default:
		f.HandleListOffset(r.code, r.list.Offset)
	}
	k.at(follower).purgatory.Complete()
}

// What a test looks at.

// entry is one batch of a log, by what tells it from any other.
type entry struct {
	Base  kafka.Offset
	Epoch kafka.LeaderEpoch
	CRC   uint32
}

func (k *cluster) entries(id kafka.BrokerID) []entry {
	k.t.Helper()
	log := k.at(id).log
	var all []entry
	from := log.LogStart()
	for from < log.LogEnd() {
		s, err := log.Read(from, log.LogEnd(), 1<<20, true)
		if err != nil || s.Bytes == 0 {
			k.t.Fatalf("read the log of %d from %d: %d bytes, %v", id, from, s.Bytes, err)
		}
		for rest := k.bytes(s); len(rest) > 0; {
			var b record.Batch
			if b, rest, err = record.Next(rest); err != nil {
				k.t.Fatalf("log of %d: %v", id, err)
			}
			all = append(all, entry{b.BaseOffset(), b.LeaderEpoch(), b.CRC()})
			from = b.NextOffset()
		}
	}
	return all
}

// parted returns the first offset below both high watermarks at which two logs
// hold different records; false if there is none.
func (k *cluster) parted(x, y kafka.BrokerID) (kafka.Offset, bool) {
	a, b := k.entries(x), k.entries(y)
	bound := min(k.at(x).p.HighWatermark(), k.at(y).p.HighWatermark())
	for i := 0; i < len(a) && i < len(b) && a[i].Base < bound; i++ {
		if a[i] != b[i] {
			return a[i].Base, true
		}
	}
	return 0, false
}

func (k *cluster) count(kind event.Kind, text string) (n int) {
	for i := range k.events {
		if k.events[i].Kind == kind && k.events[i].Text == text {
			n++
		}
	}
	return n
}

// wantEnd, wantHW and wantISR compare a replica with what a story says.
func (k *cluster) wantEnd(id kafka.BrokerID, end kafka.Offset) {
	k.t.Helper()
	if got := k.at(id).log.LogEnd(); got != end {
		k.t.Fatalf("log end of %d is %d, want %d", id, got, end)
	}
}

func (k *cluster) wantHW(id kafka.BrokerID, hw kafka.Offset) {
	k.t.Helper()
	if got := k.at(id).p.HighWatermark(); got != hw {
		k.t.Fatalf("high watermark of %d is %d, want %d", id, got, hw)
	}
}

func (k *cluster) wantISR(leader kafka.BrokerID, isr ...kafka.BrokerID) {
	k.t.Helper()
	if got := k.at(leader).p.ISR(); !slices.Equal(got, isr) {
		k.t.Fatalf("ISR at %d is %v, want %v", leader, got, isr)
	}
}

// replicated is a cluster whose leader A has n batches that all have, and all
// know committed.
func replicated(t *testing.T, brokers, n int, r rules.Rules, minISR int) *cluster {
	t.Helper()
	k := newCluster(t, brokers, r, Config{LagTimeMax: lagTimeMax, MinISR: minISR})
	k.elect(A)
	k.produce(A, n)
	for range 2 { // the second round tells the high watermark
		for id := B; id < kafka.BrokerID(brokers); id++ {
			k.fetch(id, 2)
		}
	}
	for id := range kafka.BrokerID(brokers) {
		k.wantHW(id, kafka.Offset(n))
	}
	return k
}

func variant(t *testing.T, names string) rules.Rules {
	t.Helper()
	r, err := rules.Parse(names)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
