package controller

import (
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// MetadataVersion is metadata.version 4.1-IV1, the newest level that the
// records of node/metadata belong to; a new log is formatted with it.
const MetadataVersion = 27

// DefaultFeatures are the features of a cluster formatted with Kafka 4.1 that
// decide something in the controller: eligible leader replicas are on (KIP-966).
func DefaultFeatures() []metadata.FeatureLevel {
	return []metadata.FeatureLevel{
		{Name: metadata.FeatureMetadataVersion, Level: MetadataVersion},
		{Name: metadata.FeatureEligibleLeaderReplicas, Level: 1},
	}
}

// bootstrap writes the first records of an empty metadata log: feature levels
// first, since they say how to read what follows. With eligible leader replicas
// min.insync.replicas is a setting of the cluster, not of brokers, so this
// controller's own becomes it.
func (c *Controller) bootstrap() {
	if len(c.image.Features()) > 0 {
		return
	}
	var r result
	for _, f := range c.cfg.Features {
		if f.Level == 0 {
			continue // off is what a feature is without a record
		}
		r.records = append(r.records, f)
		if f.Name == metadata.FeatureEligibleLeaderReplicas {
			r.records = append(r.records, metadata.Config{ResourceType: metadata.BrokerResource,
				Name: kafka.MinInsyncReplicas, Value: c.cfg.Static.Text(kafka.MinInsyncReplicas)})
		}
	}
	c.write(r, func(kafka.ErrorCode) {})
}
