package app

import (
	"fmt"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/node"
	"tidemark/node/client"
)

// Config is who a client is and where its cluster is.
type Config struct {
	Name      string   // the Client of its events
	Bootstrap []string // host:port, one at least
	// Run are the nodes of all clients of the run. Records of other nodes are
	// foreign, for an earlier run may have left them. nil: no record is.
	Run []kafka.BrokerID
}

// app is the lane of one client.
type app struct {
	cfg    Config
	env    node.Env
	timers *node.Timers

	admin         *client.Client // nil before the first admin step
	producerProps kafka.Config
	consumerProps kafka.Config
	writer        *writer // nil before the producer is declared or used
	reader        *reader // nil while nothing is read
	stopping      bool
}

// New returns the lane node.App of a client; it has no disk.
func New(cfg Config) node.Process { return &app{cfg: cfg} }

// Start makes a client with Kafka's defaults that does nothing yet.
func (a *app) Start(env node.Env) {
	a.env = env
	a.timers = node.NewTimers(env)
	a.producerProps = mustConfig(kafka.NewProducerConfig())
	a.consumerProps = mustConfig(kafka.NewConsumerConfig())
}

// Posted takes a *plan.Step, a plan.Step or node.Stop.
func (a *app) Posted(from node.Lane, msg any) {
	switch m := msg.(type) {
	case *plan.Step:
		a.take(m)
	case plan.Step:
		a.take(&m)
	case node.Stop:
		a.stop()
	default:
		panic(fmt.Sprintf("app: a client was posted a %T", msg))
	}
	a.turn()
}

// take begins a step. Its settings have passed CheckStep.
func (a *app) take(s *plan.Step) {
	if a.stopping {
		return
	}
	switch s.Verb {
	case plan.VerbTopic:
		a.createTopic(s)
	case plan.VerbElect:
		a.elect(s)
	case plan.VerbDeleteRecords:
		a.deleteRecords(s)
	case plan.VerbProducer:
		a.declareProducer(s)
	case plan.VerbConsumer:
		a.declareConsumer(s)
	case plan.VerbSend, plan.VerbTombstone:
		a.producer().sendStep(s)
	case plan.VerbWrite:
		a.producer().write(s)
	case plan.VerbRead:
		a.read(s)
	case plan.VerbVerify:
		a.verify(s)
	default:
		panic("app: a client cannot do the step " + string(s.Verb))
	}
}

// Receive hands an answer to the client whose connection it is.
func (a *app) Receive(conn node.ConnID, m *node.Message) {
	for _, c := range a.clients() {
		if c.Receive(conn, m) {
			break
		}
	}
	a.turn()
}

// Disconnected tells the client whose connection it was.
func (a *app) Disconnected(conn node.ConnID) {
	for _, c := range a.clients() {
		if c.Disconnected(conn) {
			break
		}
	}
	a.turn()
}

// Fire runs a timer.
func (a *app) Fire(id node.TimerID) {
	a.timers.Fire(id)
	a.turn()
}

// Synced cannot come: the lane has no disk.
func (a *app) Synced(disk.Token, error) { panic("app: a client has no disk") }

func (a *app) clients() []*client.Client {
	var all []*client.Client
	if a.admin != nil {
		all = append(all, a.admin)
	}
	if a.writer != nil {
		all = append(all, a.writer.client)
	}
	if a.reader != nil {
		all = append(all, a.reader.client)
	}
	return all
}

// turn lets producer and consumer look at what an input changed.
func (a *app) turn() {
	if a.writer != nil {
		a.writer.producer.Poll()
	}
	if a.reader != nil {
		a.reader.turn()
	}
}

// stop gives every record that was handed over its chance, then ends.
func (a *app) stop() {
	if a.stopping {
		return
	}
	a.stopping = true
	if a.writer == nil {
		a.exit()
		return
	}
	a.writer.producer.Close(a.exit)
}

func (a *app) exit() {
	a.closeReader()
	if a.admin != nil {
		a.admin.Close()
	}
	a.env.Exit("controlled shutdown")
}
