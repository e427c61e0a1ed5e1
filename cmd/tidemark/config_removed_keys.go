package main

import (
	"slices"
	"strings"

	"tidemark/model/kafka"
)

// removedKeys are configuration keys that Kafka had once and that Kafka 4 has not:
// those of ZooKeeper (KIP-500), of formats and versions that were given up (KIP-724,
// KIP-896), and those of the brokers and clients of 0.8. A history that an older
// cluster left may tell them; none changes what is judged.
var removedKeys = strings.Fields(`
advertised.host.name advertised.port auto.commit.enable autocommit.enable batch.num.messages
block.on.buffer.full broker.id.generation.enable broker.list compressed.topics compression.codec
consumer.id consumer.timeout.ms controller.message.queue.size delegation.token.master.key
dual.commit.enabled enable.zookeeper fetch.message.max.bytes fetch.wait.max.ms host.name
inter.broker.protocol.version internal.leave.group.on.close key.serializer.class
leave.group.on.close log.cleanup.interval.mins log.default.flush.interval.ms
log.default.flush.scheduler.interval.ms log.delete.delay.ms log.flush.interval
log.flush.interval.ms.per.topic log.message.format.version log.message.timestamp.difference.max.ms
log.retention.bytes.per.topic log.retention.hours.per.topic log.roll.hours.per.topic
log.segment.bytes.per.topic max.message.size message.format.version message.send.max.retries
message.timestamp.difference.max.ms metadata.broker.list metadata.fetch.timeout.ms
num.consumer.fetchers offsets.channel.backoff.ms offsets.channel.socket.timeout.ms
offsets.commit.max.retries offsets.commit.required.acks offsets.storage port producer.type
queue.buffering.max.messages queue.buffering.max.ms queue.enqueue.timeout.ms
queued.max.message.chunks quota.consumer.bytes.per.second.overrides
quota.consumer.default quota.producer.bytes.per.second.overrides quota.producer.default
rebalance.backoff.ms rebalance.max.retries refresh.leader.backoff.ms replica.lag.max.bytes
replica.lag.max.messages request.required.acks serializer.class socket.receive.buffer
socket.send.buffer socket.timeout.ms timeout.ms topic.metadata.refresh.interval.ms
zookeeper.clientCnxnSocket zookeeper.connect
zookeeper.connection.timeout.ms zookeeper.max.in.flight.requests
zookeeper.metadata.migration.enable zookeeper.metadata.migration.min.batch.size
zookeeper.session.timeout.ms zookeeper.set.acl zookeeper.ssl.cipher.suites
zookeeper.ssl.client.enable zookeeper.ssl.crl.enable zookeeper.ssl.enabled.protocols
zookeeper.ssl.endpoint.identification.algorithm zookeeper.ssl.keystore.location
zookeeper.ssl.keystore.password zookeeper.ssl.keystore.type zookeeper.ssl.ocsp.enable
zookeeper.ssl.protocol zookeeper.ssl.truststore.location zookeeper.ssl.truststore.password
zookeeper.ssl.truststore.type zookeeper.sync.time.ms
`)

// decidesNothing reports whether a key, which tidemark does not have, is one that some
// release of Kafka has or had.
func decidesNothing(key string) bool {
	_, bare := kafka.Scoped(key)
	for _, keys := range [][]string{kafkaKeys, removedKeys} {
		if slices.Contains(keys, key) || slices.Contains(keys, bare) {
			return true
		}
	}
	return false
}
