package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/replica"
)

// Fetch versions at which the protocol changed.
const (
	fetchTopicIDs     = 13 // topics by id (KIP-516)
	fetchReplicaState = 15 // replica id and epoch in a tagged field (KIP-903)
	fetchHints        = 16 // the new leader in the answer (KIP-951)
	fetchZstd         = 10 // the client can read zstd (KIP-110)
	fetchFollowers    = 11 // the client knows that followers can be read (KIP-392)
)

// noRegion stands for no records.
var noRegion disk.Region

// fetchWork is a Fetch request in work.
//
//	first read on every lane ──▶ enough, an error, a divergence, no wait: answer
//	      │ else parked
//	      ▼
//	growth reported or deadline ──▶ second read on every lane ──▶ answer
type fetchWork struct {
	context fetchContext
	asked   []askedPartition
	results []fetchResult // by place in asked
	shares  [][]int       // by lane, places in asked
	grown   []int         // by lane, bytes that it could read when it last said so
	ready   bool          // a lane asked for the second read
	wait    time.Duration
	min     int // bytes to wait for
	max     int // bytes of the answer; the first batch always fits
	again   bool
	timer   node.TimerID // the deadline of a parked fetch
}

// askedPartition is one partition of the request or of its session.
type askedPartition struct {
	part    *sessionPart
	tp      kafka.TopicPartition
	request replica.FetchRequest
}

// handleFetch serves Fetch, key 1, versions 4 to 18, of consumers and of
// followers, with or without a session (KIP-227). Lanes read at once, and only
// this read moves follower state; below min.bytes the request parks here.
func (r *router) handleFetch(conn node.ConnID, m *node.Message) {
	req := m.Request.(*kmsg.FetchRequest)
	context, code := r.sessions.open(req, r.env.Now())
	if code != kafka.None {
		res := kmsg.NewPtrFetchResponse()
		res.ErrorCode = int16(code)
		r.reply(conn, m, res)
		return
	}
	w := r.begin(conn, m)
	f := &fetchWork{context: context, wait: time.Duration(req.MaxWaitMillis) * time.Millisecond}
	f.max = int(min(req.MaxBytes, r.cfg.Properties.Int32(kafka.FetchMaxBytes)))
	f.min = min(int(req.MinBytes), f.max)
	w.fetch = f
	for _, part := range context.parts {
		f.asked = append(f.asked, r.askPartition(req, part))
	}
	f.results = make([]fetchResult, len(f.asked))
	f.shares = r.laneShares(len(f.asked), func(i int) int {
		name, code := f.asked[i].tp, f.asked[i].check(r, req.Version)
		if code != kafka.None {
			f.results[i] = fetchResult{Index: i, FetchResult: failedFetch(code)}
			return -1
		}
		return laneOf(name, r.cfg.DataLanes)
	})
	f.grown = make([]int, r.cfg.DataLanes)
	r.readShares(w)
}

// askPartition turns a partition of the session into what its lane takes.
func (r *router) askPartition(req *kmsg.FetchRequest, p *sessionPart) askedPartition {
	name, _ := r.topicName(req.Version >= fetchTopicIDs, p.id, p.topic)
	a := askedPartition{part: p, tp: kafka.TopicPartition{Topic: name, Partition: p.partition}}
	a.request = replica.FetchRequest{Replica: kafka.NoBroker, BrokerEpoch: kafka.NoBrokerEpoch, TopicID: p.id,
		CurrentLeaderEpoch: p.leaderEpoch, LastFetchedEpoch: p.lastEpoch, FetchOffset: p.offset, LogStart: p.logStart,
		MaxBytes: p.maxBytes, OnlyLeader: req.Version < fetchFollowers, ReadCommitted: req.IsolationLevel == readCommitted}
	if id, epoch := fetchingReplica(req); id >= 0 {
		a.request.Replica, a.request.BrokerEpoch = id, epoch
	}
	return a
}

// fetchingReplica is the follower that fetches, NoBroker for a consumer.
func fetchingReplica(req *kmsg.FetchRequest) (kafka.BrokerID, kafka.BrokerEpoch) {
	if req.Version >= fetchReplicaState {
		return kafka.BrokerID(req.ReplicaState.ID), kafka.BrokerEpoch(req.ReplicaState.Epoch)
	}
	return kafka.BrokerID(req.ReplicaID), kafka.NoBrokerEpoch
}

// check is what the metadata says of the partition. A client too old to know
// zstd is told so where the topic names it; where a producer chose it, the client
// gets the bytes.
func (a askedPartition) check(r *router, version int16) kafka.ErrorCode {
	if a.tp.Topic == "" {
		return kafka.UnknownTopicID
	}
	if version < fetchZstd {
		codec, _ := r.image.ConfigValue(metadata.TopicResource, a.tp.Topic, kafka.CompressionType)
		if codec == record.Zstd.String() {
			return kafka.UnsupportedCompressionType
		}
	}
	return r.partitionKnown(a.tp)
}

func failedFetch(code kafka.ErrorCode) replica.FetchResult {
	return replica.FetchResult{Code: code, HighWatermark: kafka.NoOffset, LastStable: kafka.NoOffset, LogStart: kafka.NoOffset,
		LogEnd: kafka.NoOffset, Diverging: replica.EpochEnd{Epoch: kafka.NoEpoch, End: kafka.NoOffset}}
}

// readShares asks every lane to read its share.
func (r *router) readShares(w *work) {
	f := w.fetch
	for lane, share := range f.shares {
		if len(share) == 0 {
			continue
		}
		post := fetchPost{ID: w.id, Again: f.again, MaxBytes: f.max, MinBytes: f.min, Watch: !f.again && f.wait > 0}
		for _, i := range share {
			post.Parts = append(post.Parts, fetchPart{Index: i, TP: f.asked[i].tp, Request: f.asked[i].request})
		}
		w.missing++
		r.env.Post(node.Data(lane), post)
	}
	if w.missing == 0 {
		r.answerFetch(w)
	}
}

// fetched takes a lane's read. A request that is gone gives its regions back.
func (r *router) fetched(m fetchedPost) {
	w := r.work[m.ID]
	if w == nil {
		releaseAll(m.Results)
		return
	}
	for _, result := range m.Results {
		w.fetch.results[result.Index] = result
	}
	if w.missing--; w.missing > 0 {
		return
	}
	if w.fetch.again || !r.park(w) {
		r.answerFetch(w)
	}
}

// park leaves the request waiting if the first read gives no reason to answer.
// Partitions that never reached a lane do not count, as in Kafka.
func (r *router) park(w *work) bool {
	f := w.fetch
	total, waits := 0, f.wait > 0
	for lane, share := range f.shares {
		read := f.pick(share)
		waits = waits && parks(read, f.min)
		bytes := 0
		for _, result := range read {
			bytes += result.Slice.Bytes
		}
		f.grown[lane] = max(f.grown[lane], bytes)
		total += f.grown[lane]
	}
	if !waits {
		r.stopWatches(w)
		return false
	}
	releaseAll(f.results)
	if f.ready || total >= f.min {
		r.readAgain(w)
		return true
	}
	f.timer = r.timers.After(f.wait, func() { r.readAgain(w) })
	return true
}

func (f *fetchWork) pick(share []int) []fetchResult {
	results := make([]fetchResult, len(share))
	for i, place := range share {
		results[i] = f.results[place]
	}
	return results
}

// stopWatches ends what the first read may have left behind on lanes whose own
// share gave no reason to answer.
func (r *router) stopWatches(w *work) {
	f := w.fetch
	for lane, share := range f.shares {
		if f.wait > 0 && len(share) > 0 && parks(f.pick(share), f.min) {
			r.env.Post(node.Data(lane), fetchStopPost{ID: w.id})
		}
	}
}

// fetchGrown notes what a lane could read now; enough of it ends the wait.
func (r *router) fetchGrown(from node.Lane, w *work, m fetchGrownPost) {
	f := w.fetch
	if f.again {
		return
	}
	f.grown[from-node.Data0] = m.Bytes
	f.ready = f.ready || m.Ready
	if w.missing > 0 {
		return // not parked yet
	}
	total := 0
	for _, bytes := range f.grown {
		total += bytes
	}
	if f.ready || total >= f.min {
		r.readAgain(w)
	}
}

// readAgain is the read that completes a parked fetch.
func (r *router) readAgain(w *work) {
	r.timers.Cancel(w.fetch.timer)
	w.fetch.again = true
	r.readShares(w)
}

// abandonFetch forgets a request whose connection is gone.
func (r *router) abandonFetch(w *work) {
	f := w.fetch
	r.timers.Cancel(f.timer)
	releaseAll(f.results)
	if f.again {
		return
	}
	for lane, share := range f.shares {
		if len(share) > 0 && f.wait > 0 {
			r.env.Post(node.Data(lane), fetchStopPost{ID: w.id})
		}
	}
}

// releaseAll gives regions back that will not be sent.
func releaseAll(results []fetchResult) {
	for i := range results {
		results[i].Slice.Region.Release()
		results[i].Slice.Region, results[i].Slice.Bytes = noRegion, 0
	}
}
