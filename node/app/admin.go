package app

import (
	"fmt"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/node/client"
)

// adminPatience is how long an admin request is tried again that the cluster
// refuses because brokers are missing: default.api.timeout.ms of Kafka's admin
// client. Failures that say nothing of the request are retried without end.
const adminPatience = 60 * time.Second

// task is one admin request until its answer is definite.
type task struct {
	what    string // for the report of a failure
	began   time.Duration
	attempt int
	try     func(done func(code kafka.ErrorCode, reason string))
	// done tells whether code means that what was asked for is so.
	done func(code kafka.ErrorCode, retried bool) bool
	// early are codes that a cluster gives while its brokers come up.
	early []kafka.ErrorCode
}

func (a *app) adminClient() *client.Client {
	if a.admin == nil {
		a.admin = client.New(a.env, a.timers, client.NewConfig(a.cfg.Name, a.cfg.Bootstrap, mustConfig(kafka.NewConsumerConfig())))
	}
	return a.admin
}

func (a *app) createTopic(s *plan.Step) {
	c := a.adminClient()
	t := client.NewTopic{Name: s.Topic, Partitions: s.Partitions, Replicas: s.Replicas, Assignment: s.Assignment, Configs: pairs(s.Settings)}
	a.run(&task{
		what: "create topic " + s.Topic,
		try:  func(done func(kafka.ErrorCode, string)) { c.CreateTopic(t, done) },
		done: func(code kafka.ErrorCode, retried bool) bool {
			return code == kafka.None || retried && code == kafka.TopicAlreadyExists
		},
		early: []kafka.ErrorCode{kafka.InvalidReplicationFactor, kafka.InvalidReplicaAssignment},
	})
}

func (a *app) elect(s *plan.Step) {
	c := a.adminClient()
	kind := client.PreferredElection
	if s.Kind == "unclean" {
		kind = client.UncleanElection
	}
	tp := kafka.TopicPartition{Topic: s.Topic, Partition: s.Partition}
	a.run(&task{
		what:  fmt.Sprintf("elect %s leader of %v", s.Kind, tp),
		try:   func(done func(kafka.ErrorCode, string)) { c.ElectLeader(kind, tp, done) },
		done:  func(code kafka.ErrorCode, _ bool) bool { return code == kafka.None || code == kafka.ElectionNotNeeded },
		early: []kafka.ErrorCode{kafka.UnknownTopicOrPartition},
	})
}

func (a *app) run(t *task) {
	t.began = a.env.Now()
	a.attempt(t)
}

func (a *app) attempt(t *task) {
	t.attempt++
	t.try(func(code kafka.ErrorCode, reason string) {
		switch {
		case t.done(code, t.attempt > 1):
		case t.again(code, a.env.Now()):
			a.timers.After(a.admin.Retry().After(t.attempt, a.env, "admin-backoff"), func() { a.attempt(t) })
		default:
			a.failed(t, code, reason)
		}
	})
}

// again reports whether a failed task is tried once more.
func (t *task) again(code kafka.ErrorCode, now time.Duration) bool {
	for _, c := range t.early {
		if c == code {
			return now-t.began < adminPatience
		}
	}
	switch code {
	case kafka.PreferredLeaderNotAvailable, kafka.EligibleLeadersNotAvailable:
		return false // the controller looked and said no
	}
	return client.Retriable(code)
}

// failed tells that a step of the plan did not come about.
func (a *app) failed(t *task, code kafka.ErrorCode, reason string) {
	e := event.New(event.Effect)
	e.Client, e.Code = a.cfg.Name, code
	e.Text = t.what + ": " + code.String()
	if reason != "" {
		e.Text += ": " + reason
	}
	a.env.Emit(&e)
}

// deletedRecords tells that a log start was acknowledged: every live replica has it.
func (a *app) deletedRecords(tp kafka.TopicPartition, low kafka.Offset) {
	e := event.New(event.LogStartMoved)
	e.Client, e.Topic, e.Partition, e.Offset, e.Text = a.cfg.Name, tp.Topic, tp.Partition, low, "delete-records"
	a.env.Emit(&e)
}

// deleteRecords asks the partition's leader, whoever it is at the time.
func (a *app) deleteRecords(s *plan.Step) {
	c := a.adminClient()
	tp := kafka.TopicPartition{Topic: s.Topic, Partition: s.Partition}
	c.Want(tp.Topic)
	a.run(&task{
		what: fmt.Sprintf("delete records of %v before %d", tp, s.Offset),
		try: func(done func(kafka.ErrorCode, string)) {
			c.DeleteRecords(tp, kafka.Offset(s.Offset), func(low kafka.Offset, code kafka.ErrorCode) {
				if code == kafka.None {
					a.deletedRecords(tp, low)
				}
				done(code, "")
			})
		},
		done: func(code kafka.ErrorCode, _ bool) bool { return code == kafka.None },
	})
}
