package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/replica"
)

// link is one replica fetcher thread of Kafka: the partitions that this lane
// follows from one leader, over one connection with one request in flight.
type link struct {
	leader  kafka.BrokerID
	fetcher *replica.Fetcher
	session followSession

	conn    node.ConnID  // 0: none
	last    int32        // correlation id of the last request
	asked   *replica.Ask // in flight, nil for none
	timeout node.TimerID // of the request in flight
	wake    node.TimerID // for wakeAt, the end of the earliest back-off; 0: none
	wakeAt  time.Duration
}

// followerClient is the client id of a fetcher, as Kafka's threads have it.
func (d *dataLane) followerClient(k *link) string {
	return "broker-" + itoa(int64(d.cfg.ID)) + "-fetcher-" + itoa(int64(d.index)) + "-" + itoa(int64(k.leader))
}

// follow starts fetching p from leader.
func (d *dataLane) follow(p *replica.Partition, leader kafka.BrokerID) {
	d.linkTo(leader).fetcher.Add(p)
}

// unfollow stops fetching a partition, from whomever.
func (d *dataLane) unfollow(tp kafka.TopicPartition) {
	for _, k := range d.links {
		k.fetcher.Remove(tp)
	}
}

// linkTo finds or makes the link to a leader; links are few and keep the order
// in which they were made.
func (d *dataLane) linkTo(leader kafka.BrokerID) *link {
	for _, k := range d.links {
		if k.leader == leader {
			return k
		}
	}
	props := d.cfg.Properties
	config := replica.FetcherConfig{Backoff: props.Millis(kafka.ReplicaFetchBackoffMs), PartitionMaxBytes: int(props.Int(kafka.ReplicaFetchMaxBytes))}
	k := &link{leader: leader, fetcher: replica.NewFetcher(leader, d.cfg.Rules.Replica, config, d)}
	d.links = append(d.links, k)
	return k
}

func (d *dataLane) linkOf(conn node.ConnID) *link {
	for _, k := range d.links {
		if k.conn == conn {
			return k
		}
	}
	return nil
}

// dropIdleLinks ends the links that follow nothing any more.
func (d *dataLane) dropIdleLinks() {
	kept := d.links[:0]
	for _, k := range d.links {
		if k.fetcher.Len() > 0 {
			kept = append(kept, k)
		} else {
			d.hangUp(k)
		}
	}
	clear(d.links[len(kept):])
	d.links = kept
}

func (d *dataLane) hangUp(k *link) {
	d.timers.Cancel(k.timeout)
	d.timers.Cancel(k.wake)
	if k.conn != 0 {
		d.env.Close(k.conn)
	}
	k.conn, k.asked = 0, nil
}

// pump sends the link's next request, or sets a timer for when there is one.
func (d *dataLane) pump(k *link) {
	if k.asked != nil || d.closed {
		return
	}
	ask, ok := k.fetcher.Next()
	if !ok {
		d.wakeLink(k)
		return
	}
	k.asked = &ask
	if k.conn == 0 && !d.dial(k) {
		d.linkFailed(k)
		return
	}
	k.last++
	d.env.Send(k.conn, &node.Message{CorrelationID: k.last, ClientID: d.followerClient(k), Request: d.followRequest(k)})
	k.timeout = d.timers.After(d.cfg.Properties.Millis(kafka.ReplicaSocketTimeoutMs), func() {
		d.env.Close(k.conn)
		k.conn = 0
		d.linkFailed(k)
	})
}

// wakeLink sets the timer for the end of the earliest back-off; it is left
// alone if it is right already.
func (d *dataLane) wakeLink(k *link) {
	at, ok := k.fetcher.Wake()
	if k.wake != 0 && ok && at == k.wakeAt {
		return
	}
	d.timers.Cancel(k.wake)
	k.wake = 0
	if ok {
		k.wakeAt = at
		k.wake = d.timers.After(max(at-d.env.Now(), 0), func() { k.wake = 0 }) // settle pumps
	}
}

// dial opens the connection to the leader; false if the metadata has no
// address for it.
func (d *dataLane) dial(k *link) bool {
	b, ok := d.image.Broker(k.leader)
	if !ok {
		return false
	}
	e, ok := b.Endpoint(node.ClientListener)
	if !ok {
		return false
	}
	k.conn = d.env.Dial(joinAddr(e.Host, e.Port))
	return true
}

// linkFailed gives the request in flight up: all its partitions back off, and
// the next session is a new one.
func (d *dataLane) linkFailed(k *link) {
	d.timers.Cancel(k.timeout)
	if k.asked == nil {
		return
	}
	if k.asked.Kind == replica.AskFetch {
		k.session.fail()
	}
	k.asked = nil
	k.fetcher.HandleFailure()
	d.wakeLink(k)
}

// received takes the leader's answer.
func (d *dataLane) received(k *link, m *node.Message) {
	if k.asked == nil || m.CorrelationID != k.last {
		return
	}
	d.timers.Cancel(k.timeout)
	ask := k.asked
	switch r := m.Response.(type) {
	case *kmsg.FetchResponse:
		k.asked = nil
		if k.session.accept(r) {
			k.fetcher.HandleFetch(fetchAnswers(ask, r))
		} else {
			k.fetcher.HandleFetch(nil) // a full request follows at once
		}
	case *kmsg.ListOffsetsResponse:
		k.asked = nil
		code, offset := offsetAnswer(r)
		k.fetcher.HandleListOffset(code, offset)
	}
}

// CheckpointRecoveryPoint has the logs lane write that a cut moved a recovery
// point back; done runs once the file says so. With Ready and Now the lane is the
// replica.FetcherHost of its fetchers.
func (d *dataLane) CheckpointRecoveryPoint(p *replica.Partition, done func()) {
	if p.Log().Config().Compacted {
		d.env.Post(node.Logs, cleanedPost{}) // what was cut and grows again is dirty
	}
	d.saveRecoveryPoints(done)
}

func (d *dataLane) saveRecoveryPoints(done func()) {
	d.lastCut++
	d.cuts[d.lastCut] = done
	d.env.Post(node.Logs, truncatedPost{Cut: d.lastCut})
}

func (d *dataLane) cutSaved(cut uint64) {
	done := d.cuts[cut]
	delete(d.cuts, cut)
	done()
}

// Ready needs no note: every callback ends by asking all fetchers.
func (d *dataLane) Ready(*replica.Fetcher) {}

// Versions of a fetcher's requests, by metadata.version (Kafka 4.1): level 27,
// 4.1-IV1, brings Fetch 18.
const (
	followFetchVersion    = 17
	followFetch18Level    = 27
	followOffsetsVersion  = 10
	followOffsetsDeadline = 30 * time.Second // ListOffsets' own time-out; only tiered storage waits
)

// followRequest builds the request for k.asked: a Fetch within the link's
// session, or a ListOffsets about one partition whose offset was out of range.
func (d *dataLane) followRequest(k *link) kmsg.Request {
	if k.asked.Kind == replica.AskFetch {
		return d.followFetch(k)
	}
	r := kmsg.NewPtrListOffsetsRequest()
	r.Version = followOffsetsVersion
	r.ReplicaID = int32(d.cfg.ID)
	r.TimeoutMillis = int32(followOffsetsDeadline / time.Millisecond)
	t, p := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
	t.Topic, p.Partition = k.asked.TP.Topic, k.asked.TP.Partition
	p.CurrentLeaderEpoch = int32(k.asked.CurrentLeaderEpoch)
	p.Timestamp = int64(replica.LatestTimestamp)
	if k.asked.Kind == replica.AskEarliest {
		p.Timestamp = int64(replica.EarliestTimestamp)
	}
	t.Partitions = append(t.Partitions, p)
	r.Topics = append(r.Topics, t)
	return r
}

func (d *dataLane) followFetch(k *link) kmsg.Request {
	r := kmsg.NewPtrFetchRequest()
	r.Version = followFetchVersion
	if d.image.Feature("metadata.version") >= followFetch18Level {
		r.Version++
	}
	props := d.cfg.Properties
	r.ReplicaState.ID, r.ReplicaState.Epoch = int32(d.cfg.ID), int64(d.epoch)
	r.MaxWaitMillis = props.Int32(kafka.ReplicaFetchWaitMaxMs)
	r.MinBytes = props.Int32(kafka.ReplicaFetchMinBytes)
	r.MaxBytes = props.Int32(kafka.ReplicaFetchResponseMax)
	k.session.fill(r, k.asked.Fetch)
	return r
}

// fetchAnswers turns the response into the fetcher's terms. Topics are known by
// the ids that were asked for; an answer about another one is left out.
func fetchAnswers(ask *replica.Ask, r *kmsg.FetchResponse) []replica.FetchAnswer {
	names := map[kafka.UUID]string{}
	for _, a := range ask.Fetch {
		names[a.TopicID] = a.TP.Topic
	}
	var answers []replica.FetchAnswer
	for _, t := range r.Topics {
		name, ok := names[t.TopicID]
		if !ok {
			continue
		}
		for i := range t.Partitions {
			p := &t.Partitions[i]
			answers = append(answers, replica.FetchAnswer{
				TP: kafka.TopicPartition{Topic: name, Partition: p.Partition}, Code: kafka.ErrorCode(p.ErrorCode),
				HighWatermark: kafka.Offset(p.HighWatermark), LogStart: kafka.Offset(p.LogStartOffset),
				Diverging: replica.EpochEnd{Epoch: kafka.LeaderEpoch(p.DivergingEpoch.Epoch), End: kafka.Offset(p.DivergingEpoch.EndOffset)},
				Records:   p.RecordBatches,
			})
		}
	}
	return answers
}

// offsetAnswer takes the one partition out of a ListOffsets answer.
func offsetAnswer(r *kmsg.ListOffsetsResponse) (kafka.ErrorCode, kafka.Offset) {
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			return kafka.ErrorCode(p.ErrorCode), kafka.Offset(p.Offset)
		}
	}
	return kafka.UnknownServerError, kafka.NoOffset
}
