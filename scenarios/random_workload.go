package scenarios

import (
	"fmt"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/plan"
)

// auditor is the consumer of the last read.
const auditor = "auditor"

// workload draws topics, producers that write at a steady pace, and consumers
// that read along.
func (g *generator) workload() {
	for i := range pick(g, 1, 1, 1, 2) {
		g.createTopic([]string{"t", "u"}[i])
	}
	for i := range pick(g, 1, 1, 2, 2, 3) {
		g.producer(fmt.Sprintf("p%d", i+1))
	}
	for i := range pick(g, 1, 1, 1, 2) {
		g.reader(fmt.Sprintf("c%d", i+1))
	}
	g.add(plan.Step{At: -1, Verb: plan.VerbConsumer, Client: auditor})
}

// createTopic draws a topic of one to three partitions, which three replicas hold
// where there are as many brokers, rarely one less.
func (g *generator) createTopic(name string) {
	s := plan.Step{At: -1, Verb: plan.VerbTopic, Topic: name, Partitions: int32(1 + g.n(3))}
	replicas := max(1, min(g.brokers, 3)-pick(g, 0, 0, 0, 0, 0, 1))
	for range s.Partitions {
		s.Assignment = append(s.Assignment, g.brokerIDs()[:replicas])
	}
	g.topics = append(g.topics, s)
	g.add(s)
}

func (g *generator) topic() string { return g.topics[g.n(len(g.topics))].Topic }

// setting is a client's setting, or none for the default.
type setting struct{ key, value string }

func (g *generator) client(verb plan.Verb, name string, settings ...setting) {
	s := plan.Step{At: -1, Verb: verb, Client: name}
	for _, kv := range settings {
		if kv.value != "" {
			s.Settings = append(s.Settings, plan.Setting{Key: kv.key, Value: kv.value})
		}
	}
	g.clients = append(g.clients, name)
	g.add(s)
}

// A producer's records are bounded in number, whatever their pace: a plan is to
// run in a fraction of a second.
const (
	fastest, slowest = 30 * time.Millisecond, 250 * time.Millisecond
	mostRecords      = 600
)

// patience is how long a producer waits, in ms; "" is Kafka's default. The first
// must fit into the second, with linger.ms.
var patience = []struct{ request, delivery string }{{"", ""}, {"", ""}, {"5000", ""}, {"2000", ""}, {"3000", "15000"}}

func (g *generator) producer(name string) {
	p := pick(g, patience...)
	g.client(plan.VerbProducer, name,
		setting{kafka.Acks, pick(g, "all", "all", "all", "all", "all", "all", "all", "1", "1", "0")},
		setting{kafka.EnableIdempotence, pick(g, "", "", "", "false")},
		setting{kafka.LingerMs, pick(g, "", "0", "50", "200")},
		setting{kafka.BatchSize, pick(g, "", "", "400")},
		setting{kafka.MaxInFlight, pick(g, "", "", "1")},
		setting{kafka.RequestTimeoutMs, p.request},
		setting{kafka.DeliveryTimeoutMs, p.delivery},
	)
	every := g.between(fastest, slowest)
	count := min(int(writeUntil/every), mostRecords)
	g.add(plan.Step{At: -1, Verb: plan.VerbWrite, Client: name, Topic: g.topic(), Partition: -1, Count: count, Every: every})
}

func (g *generator) reader(name string) {
	g.client(plan.VerbConsumer, name,
		setting{kafka.AutoOffsetReset, pick(g, "", "earliest")},
		setting{kafka.MaxPollRecords, pick(g, "", "", "7")},
		setting{kafka.MaxPartitionFetchBytes, pick(g, "", "", "1000")},
	)
	g.add(plan.Step{At: -1, Verb: plan.VerbRead, Client: name, Topic: g.topic(), Partition: -1, From: pick(g, "earliest", "latest")})
}
