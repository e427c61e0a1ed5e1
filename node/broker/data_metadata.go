package broker

import (
	"fmt"
	"slices"
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/metadata"
	"tidemark/node/replica"
	"tidemark/node/storage"
)

// apply brings the lane's replicas to d.image, in the order that rules.md 6 of
// Kafka's ReplicaManager follows: what goes away, then new leaders, then
// followers, then configurations. The image is in place before, because a
// leader asks it who may enter the ISR.
func (d *dataLane) apply(delta *metadata.Delta) {
	d.listDirectories()
	d.applyRemovals(delta)
	var leaders, followers []metadata.PartitionDelta
	for _, p := range delta.Partitions {
		switch {
		case !d.owns(p.TP):
		case !slices.Contains(p.After.Replicas, d.cfg.ID):
			d.remove(p.TP)
		case p.After.Leader == d.cfg.ID:
			leaders = append(leaders, p)
		default:
			followers = append(followers, p)
		}
	}
	for _, p := range leaders {
		if h := d.ensure(p); h != nil {
			d.unfollow(p.TP)
			h.partition.BecomeLeader(stateOf(p.After))
		}
	}
	for _, p := range followers {
		if p.After.Leader == kafka.NoBroker && !d.cfg.Rules.Replica.HostLeaderless {
			continue
		}
		if h := d.ensure(p); h != nil {
			d.becomeFollower(h, p)
		}
	}
	d.applyConfigs(delta)
	d.dropIdleLinks()
}

func stateOf(p *metadata.PartitionImage) replica.State {
	return replica.State{Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch, Replicas: p.Replicas, ISR: p.ISR}
}

// becomeFollower sets the follower up also when there is no leader, so that its
// high watermark stays in the checkpoint. In a controlled shutdown a replica
// that lost its leader or its place in the ISR only stops fetching: what it
// could still learn would be lost with the stop.
func (d *dataLane) becomeFollower(h *hosted, p metadata.PartitionDelta) {
	if d.leaving && (p.After.Leader == kafka.NoBroker || !slices.Contains(p.After.ISR, d.cfg.ID)) {
		d.unfollow(p.TP)
		return
	}
	if h.partition.BecomeFollower(stateOf(p.After)) {
		d.unfollow(p.TP)
		if p.After.Leader != kafka.NoBroker {
			d.follow(h.partition, p.After.Leader)
		}
	}
}

// applyRemovals drops the replicas of deleted topics. A topic that was deleted
// and created again within the delta has another id.
func (d *dataLane) applyRemovals(delta *metadata.Delta) {
	for _, t := range delta.RemovedTopics {
		for i := range t.Partitions {
			tp := kafka.TopicPartition{Topic: t.Name, Partition: int32(i)}
			if h := d.hosted[tp]; h != nil && h.partition.TopicID() == t.ID {
				d.remove(tp)
			}
		}
	}
}

// remove stops a replica, renames its directory so that the name is free at
// once, and removes the files after the usual delay.
func (d *dataLane) remove(tp kafka.TopicPartition) {
	h := d.hosted[tp]
	delete(d.lost, tp)
	delete(d.found, tp)
	if h == nil {
		return
	}
	d.unfollow(tp)
	d.unhost(tp)
	d.purgatory.Changed(tp)
	aside := within(d.load.Dirs[h.dir].Path, renamedDirectory(tp, drawUUID(d.env, "delete"), deleteSuffix))
	if err := h.log.Rename(aside); err != nil {
		d.failed(h.dir, tp, err)
		return
	}
	removeLater(d.fs, d.timers, aside, d.cfg.Properties.Millis(kafka.LogSegmentDeleteDelayMs), func(err error) {
		h.log.Close()
		if err != nil {
			d.failed(h.dir, tp, err)
		}
	})
}

// ensure returns the hosted replica, whose log is opened or created if need be;
// nil if the disk refuses.
func (d *dataLane) ensure(p metadata.PartitionDelta) *hosted {
	if h := d.hosted[p.TP]; h != nil {
		return h
	}
	i, old := d.place(p)
	if i < 0 {
		d.lost[p.TP] = true
		return nil
	}
	dir := &d.load.Dirs[i]
	config := d.topicConfig(p.TP.Topic)
	opening := storage.Opening{Clean: true, TopicID: p.TopicID, Syncs: d.syncs, Now: d.env.Wall(),
		ProducerExpirationMs: d.cfg.Properties.Int(kafka.ProducerIDExpirationMs), Inflater: &d.inflater, Deflater: &d.deflater, Rules: d.cfg.Rules.Storage,
		Timers: d.timers, Random: func() uint64 { return d.env.Rand("segment.jitter") },
		OnFailure: func(err error) { d.failed(i, p.TP, err) }}
	var watermark kafka.Offset
	if old {
		opening.Clean = dir.Clean
		opening.RecoveryPoint, opening.LogStart = dir.RecoveryPoints[p.TP], dir.LogStarts[p.TP]
		opening.CleanedUpTo = dir.Cleaned[p.TP]
		opening.PointKnown = dir.pointsKnown()
		watermark = dir.HighWatermarks[p.TP]
	}
	log, found, err := storage.Open(d.fs, within(dir.Path, p.TP.String()), storage.ConfigOf(config), opening)
	if err != nil {
		d.failed(i, p.TP, err)
		d.lost[p.TP] = true
		return nil
	}
	if old {
		d.traceRecovery(p.TP, found, log.RecoveryPoint())
	}
	h := &hosted{dir: i, log: log}
	h.partition = replica.New(replica.Options{TP: p.TP, TopicID: p.TopicID, Local: d.cfg.ID, Config: d.replicaConfig(config),
		Log: log, HighWatermark: watermark, Rules: d.cfg.Rules.Replica, Host: d})
	d.host(p.TP, h)
	d.tellPlace(p, dir.ID)
	return h
}

func (d *dataLane) traceRecovery(tp kafka.TopicPartition, found storage.Recovery, point kafka.Offset) {
	e := event.New(event.Recovered)
	e.Topic, e.Partition, e.Offset, e.End = tp.Topic, tp.Partition, point, found.End
	switch {
	case found.CutAt != kafka.NoOffset:
		e.Text = fmt.Sprintf("unclean cut at %d of %s", found.CutPos, found.CutFile[strings.LastIndexByte(found.CutFile, '/')+1:])
	case found.Clean:
		e.Text = "clean"
	default:
		e.Text = "unclean"
	}
	d.env.Emit(&e)
}

// topicConfig is the topic's configuration in Kafka's precedence.
func (d *dataLane) topicConfig(topic string) kafka.Config {
	return kafka.TopicConfig(d.cfg.Properties,
		func(key string) (string, bool) { return d.image.ConfigValue(metadata.TopicResource, topic, key) },
		func(key string) (string, bool) {
			if v, ok := d.image.ConfigValue(metadata.BrokerResource, itoa(int64(d.cfg.ID)), key); ok {
				return v, true
			}
			return d.image.ConfigValue(metadata.BrokerResource, "", key)
		})
}

func (d *dataLane) replicaConfig(topic kafka.Config) replica.Config {
	return replica.Config{LagTimeMax: d.cfg.Properties.Millis(kafka.ReplicaLagTimeMaxMs), MinISR: int(topic.Int(kafka.MinInsyncReplicas))}
}

// applyConfigs gives changed settings to the replicas that they concern: a
// topic's to its own, a broker's to all.
func (d *dataLane) applyConfigs(delta *metadata.Delta) {
	if len(delta.Configs) == 0 {
		return
	}
	for _, tp := range d.order {
		concerned := slices.ContainsFunc(delta.Configs, func(c metadata.ConfigResource) bool {
			return c.Type != metadata.TopicResource || c.Name == tp.Topic
		})
		if concerned {
			config, h := d.topicConfig(tp.Topic), d.hosted[tp]
			h.log.SetConfig(storage.ConfigOf(config))
			h.partition.SetConfig(d.replicaConfig(config))
		}
	}
}
