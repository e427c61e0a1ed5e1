package broker

import (
	"tidemark/disk/faultdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/metadata"
)

const cachedSide, durableSide = faultdisk.Cached, faultdisk.Durable

// ordersID is the topic id of "orders" in the tests.
var ordersID = kafka.UUID{7, 7, 7}

// cluster builds metadata step by step, as the quorum lane would post it.
type cluster struct {
	image *metadata.Image
	next  kafka.Offset
}

// newCluster has the brokers 1 to n registered with epoch 10 × id, unfenced.
func newCluster(n int) *cluster {
	c := &cluster{image: metadata.Empty()}
	recs := []metadata.Record{metadata.FeatureLevel{Name: "metadata.version", Level: 27}}
	for id := 1; id <= n; id++ {
		recs = append(recs, registerBroker(id))
	}
	c.commit(recs...)
	return c
}

func registerBroker(id int) metadata.RegisterBroker {
	return metadata.RegisterBroker{BrokerID: kafka.BrokerID(id), BrokerEpoch: kafka.BrokerEpoch(10 * id),
		EndPoints: []metadata.Endpoint{{Name: node.ClientListener, Host: "b" + itoa(int64(id)), Port: 9092}}}
}

// commit applies records as one batch and returns what the lanes are posted.
func (c *cluster) commit(recs ...metadata.Record) imagePost {
	image, delta := c.image.Apply(c.next, 1, recs)
	c.image, c.next = image, c.next+kafka.Offset(len(recs))
	return imagePost{Image: image, Delta: delta}
}

// whole is the first image of a life: everything is new.
func (c *cluster) whole() imagePost {
	return imagePost{Image: c.image, Delta: metadata.Diff(metadata.Empty(), c.image)}
}

// topic creates "orders" with partitions that all have the same replicas and
// leader.
func (c *cluster) topic(partitions int, leader kafka.BrokerID, replicas ...kafka.BrokerID) imagePost {
	recs := []metadata.Record{metadata.Topic{Name: "orders", TopicID: ordersID}}
	for i := range partitions {
		recs = append(recs, metadata.Partition{PartitionID: int32(i), TopicID: ordersID, Replicas: replicas, ISR: replicas,
			Leader: leader, Directories: make([]kafka.UUID, len(replicas))})
	}
	return c.commit(recs...)
}

// assign notes the log directory of the only replica of a partition of "orders".
func (c *cluster) assign(partition int32, dir kafka.UUID) imagePost {
	return c.commit(metadata.PartitionChange{PartitionID: partition, TopicID: ordersID, Leader: metadata.KeepLeader,
		RecoveryState: metadata.KeepRecoveryState, Directories: []kafka.UUID{dir}})
}

// elect changes the leader and ISR of orders-0.
func (c *cluster) elect(leader kafka.BrokerID, isr ...kafka.BrokerID) imagePost {
	return c.commit(metadata.PartitionChange{PartitionID: 0, TopicID: ordersID, Leader: leader, ISR: isr, RecoveryState: metadata.KeepRecoveryState})
}

// orders names a partition of "orders".
func orders(n int32) kafka.TopicPartition { return kafka.TopicPartition{Topic: "orders", Partition: n} }

// batchOf is a batch of n records without a producer id.
func batchOf(values ...string) []byte {
	b := record.NewBuilder(record.NoProducer())
	for _, v := range values {
		b.Append(1_700_000_000_000, nil, []byte(v), nil)
	}
	return b.Build()
}
