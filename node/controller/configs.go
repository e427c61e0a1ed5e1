package controller

import (
	"strconv"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// topicSetting is the effective value of a key that exists for topics and
// brokers: the topic's own, else the cluster's, else this node's static one.
func (c *Controller) topicSetting(topic, key string) string {
	if v, ok := c.image.ConfigValue(metadata.TopicResource, topic, key); ok {
		return v
	}
	if v, ok := c.image.ConfigValue(metadata.BrokerResource, "", key); ok {
		return v
	}
	return c.cfg.Static.Text(key)
}

// uncleanElectionEnabled tells whether a topic prefers a live leader to what
// was committed.
func (c *Controller) uncleanElectionEnabled(topic string) bool {
	return c.topicSetting(topic, kafka.UncleanLeaderElection) == "true"
}

// minISR is how small the ISR of a topic may be before its ELR fills: the
// setting, but no more than partition 0 has replicas.
func (c *Controller) minISR(t *metadata.TopicImage) int {
	n, err := strconv.Atoi(c.topicSetting(t.Name, kafka.MinInsyncReplicas))
	if err != nil {
		panic("min.insync.replicas of topic " + t.Name + " is not a number")
	}
	if len(t.Partitions) == 0 {
		return n
	}
	return min(n, len(t.Partitions[0].Replicas))
}

// elrEnabled tells whether eligible leader replicas are kept.
func (c *Controller) elrEnabled() bool {
	return c.image.Feature(metadata.FeatureEligibleLeaderReplicas) > 0
}
