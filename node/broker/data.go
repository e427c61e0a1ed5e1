package broker

import (
	"slices"
	"time"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/replica"
	"tidemark/node/storage"
)

// dataLane is one shard of Kafka's ReplicaManager: it owns the replicas whose
// partition hashes to it, with their logs, their waiting requests and the
// fetchers that follow other brokers for them. It serves nothing before both
// the first metadata image and what the checkpoints say are here.
type dataLane struct {
	cfg   Config
	index int // which data lane this is, from 0

	env       node.Env
	fs        disk.FS
	timers    *node.Timers
	syncs     *node.Syncs
	purgatory *replica.Purgatory
	inflater  record.Inflater // of all logs of the lane
	deflater  record.Deflater
	cleaner   *storage.Cleaner // nil: turned off

	image   *metadata.Image
	waiting []imagePost // images that came before load
	load    *loadPost
	epoch   kafka.BrokerEpoch

	hosted map[kafka.TopicPartition]*hosted
	order  []kafka.TopicPartition // the keys of hosted, sorted
	links  []*link                // by leader

	parked  map[workID]*parkedFetch
	lastCut uint64
	cuts    map[uint64]func()            // what waits for the checkpoint of a cut
	found   map[kafka.TopicPartition]int // log directories of what was there at the start; nil before the first image
	leaving bool                         // a controlled shutdown began
	closed  bool                         // the logs are being closed

	failing []int                         // log directories that failed in this callback
	offline map[int]bool                  // log directories that failed
	lost    map[kafka.TopicPartition]bool // replicas in them
}

// hosted is one replica of this lane.
type hosted struct {
	dir       int // place of its log directory in log.dirs
	partition *replica.Partition
	log       *storage.Log
}

func newDataLane(cfg Config, index int) *dataLane { return &dataLane{cfg: cfg, index: index} }

// Start begins a life; logs are opened later, by loadPost and the first image.
func (d *dataLane) Start(env node.Env) {
	d.env, d.fs = env, env.FS()
	d.timers, d.syncs = node.NewTimers(env), node.NewSyncs()
	d.purgatory = replica.NewPurgatory(d.lookup)
	d.epoch = kafka.NoBrokerEpoch
	d.hosted = map[kafka.TopicPartition]*hosted{}
	d.parked = map[workID]*parkedFetch{}
	d.cuts = map[uint64]func(){}
	d.offline, d.lost = map[int]bool{}, map[kafka.TopicPartition]bool{}
	d.shrinkLater()
	d.expireProducersLater()
	d.startRetention()
	d.startCleaner()
}

// laneOf is the data lane, from 0, that owns a partition: Java's string hash of
// the topic, as it spreads well enough and needs no library, plus the number,
// so that one topic's partitions go round the lanes.
func laneOf(tp kafka.TopicPartition, lanes int) int {
	var h uint32
	for _, c := range []byte(tp.Topic) {
		h = 31*h + uint32(c)
	}
	return int((h + uint32(tp.Partition)) % uint32(lanes))
}

func (d *dataLane) owns(tp kafka.TopicPartition) bool { return laneOf(tp, d.cfg.DataLanes) == d.index }

func (d *dataLane) lookup(tp kafka.TopicPartition) (*replica.Partition, kafka.ErrorCode) {
	if h := d.hosted[tp]; h != nil {
		return h.partition, kafka.None
	}
	return nil, d.notHosted(tp)
}

// Posted takes the word of another lane.
func (d *dataLane) Posted(_ node.Lane, msg any) {
	switch m := msg.(type) {
	case imagePost:
		d.waiting = append(d.waiting, m)
		d.catchUp()
	case loadPost:
		d.load = &m
		d.catchUp()
	case registeredPost:
		d.epoch = m.Epoch
	case producePost:
		d.produce(m)
	case fetchPost:
		d.fetch(m)
	case fetchStopPost:
		d.stopFetch(m.ID)
	case lookupPost:
		d.lookUp(m)
	case deletePost:
		d.deleteRecords(m)
	case alteredPost:
		d.altered(m)
	case checkpointPost:
		d.checkpoint(m.File)
	case truncationSavedPost:
		d.cutSaved(m.Cut)
	case offlinePost:
		d.directoryFailed(m.Dir)
	case shutdownPost:
		d.leaving = true
	case closePost:
		d.close()
	default:
		panic("a data lane does not take this post")
	}
	d.settle()
}

// Receive takes a leader's answer to a fetcher.
func (d *dataLane) Receive(conn node.ConnID, m *node.Message) {
	if k := d.linkOf(conn); k != nil {
		d.received(k, m)
	}
	d.settle()
}

// Disconnected lets the fetcher of the connection back off.
func (d *dataLane) Disconnected(conn node.ConnID) {
	if k := d.linkOf(conn); k != nil {
		k.conn = 0
		d.linkFailed(k)
	}
	d.settle()
}

// Fire runs a timer's continuation.
func (d *dataLane) Fire(timer node.TimerID) {
	d.timers.Fire(timer)
	d.settle()
}

// Synced runs the continuation of an fsync.
func (d *dataLane) Synced(token disk.Token, err error) {
	d.syncs.Synced(token, err)
	d.settle()
}

// settle ends every callback: requests that became ready are answered, and
// fetchers that may ask again do.
func (d *dataLane) settle() {
	d.dropFailing()
	d.purgatory.Complete()
	for _, k := range d.links {
		d.pump(k)
	}
}

// catchUp applies the images that came, in order, once the lane may load.
func (d *dataLane) catchUp() {
	if d.load == nil || d.closed {
		return
	}
	for _, post := range d.waiting {
		d.image = post.Image
		d.apply(post.Delta)
		d.env.Post(node.Lifecycle, appliedPost{Offset: post.Image.Offset()})
	}
	d.waiting = nil
}

// shrinkLater looks for followers that fell behind, every half of
// replica.lag.time.max.ms: so one leaves the ISR after 1.5 times that at worst.
func (d *dataLane) shrinkLater() {
	d.timers.After(max(d.cfg.Properties.Millis(kafka.ReplicaLagTimeMaxMs)/2, time.Millisecond), func() {
		for _, tp := range d.order {
			d.hosted[tp].partition.MaybeShrinkISR()
		}
		d.shrinkLater()
	})
}

// producerExpiryCheck is the pause between two looks for producers that were
// silent for producer.id.expiration.ms.
const producerExpiryCheck = 10 * time.Minute

func (d *dataLane) expireProducersLater() {
	d.timers.After(producerExpiryCheck, func() {
		for _, tp := range d.order {
			d.hosted[tp].log.ExpireProducers(d.env.Wall())
		}
		d.expireProducersLater()
	})
}

func (d *dataLane) altered(m alteredPost) {
	h := d.hosted[m.Proposal.TP]
	if h != nil && h.partition.TopicID() == m.Proposal.TopicID {
		h.partition.ISRAnswered(m.Proposal, m.Answer)
	}
}

// Now is the lane's clock; with the following methods the lane is the
// replica.Host of its partitions.
func (d *dataLane) Now() time.Duration { return d.env.Now() }

// Wall is the wall clock that stamps batches.
func (d *dataLane) Wall() kafka.Timestamp { return d.env.Wall() }

// Emit adds an event to the trace.
func (d *dataLane) Emit(e *event.Event) { d.env.Emit(e) }

// Broker is what the image in work says of a broker.
func (d *dataLane) Broker(id kafka.BrokerID) (replica.Broker, bool) {
	b, ok := d.image.Broker(id)
	if !ok {
		return replica.Broker{}, false
	}
	return replica.Broker{Epoch: b.Epoch, Fenced: b.Fenced, InControlledShutdown: b.InControlledShutdown}, true
}

// LocalBrokerEpoch is the own epoch, NoBrokerEpoch before the registration.
func (d *dataLane) LocalBrokerEpoch() kafka.BrokerEpoch { return d.epoch }

// SubmitISR hands a proposal to lifecycle's AlterPartition channel.
func (d *dataLane) SubmitISR(p *replica.Proposal) { d.env.Post(node.Lifecycle, alterPost{Proposal: p}) }

// Changed notes that requests waiting for the partition may be ready.
func (d *dataLane) Changed(tp kafka.TopicPartition) { d.purgatory.Changed(tp) }

// host puts a replica under the lane's care.
func (d *dataLane) host(tp kafka.TopicPartition, h *hosted) {
	d.hosted[tp] = h
	i, _ := slices.BinarySearchFunc(d.order, tp, comparePartitions)
	d.order = slices.Insert(d.order, i, tp)
}

func (d *dataLane) unhost(tp kafka.TopicPartition) {
	delete(d.hosted, tp)
	if i, found := slices.BinarySearchFunc(d.order, tp, comparePartitions); found {
		d.order = slices.Delete(d.order, i, i+1)
	}
}
