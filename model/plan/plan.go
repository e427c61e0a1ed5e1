package plan

import (
	"time"

	"tidemark/model/kafka"
)

// Plan is one scenario: a cluster, its settings and steps in order.
type Plan struct {
	Name     string // of the file, without directory and ending
	Prose    []string
	Seed     uint64 // 0: not given
	HasSeed  bool
	Cluster  Cluster
	Settings []Setting // broker and topic defaults, in order
	Steps    []Step
	Expect   []Expectation
	// Golden is what the run must print, by Variant ("" for a plain run).
	Golden map[string]string
}

// Cluster is the shape of a plan's cluster. Brokers have ids from 1,
// controllers from 101, in order.
type Cluster struct {
	Brokers     int // 1 to 9
	Controllers int // voters of the quorum; 1
	DataLanes   int // data lanes of each broker, 1 to 8
}

// Setting is one Kafka configuration key and its value.
type Setting struct {
	Key, Value string
	Line       int
}

// Expectation declares the verdict of a run under a composition of rules and
// with settings over the plan's.
type Expectation struct {
	Rules   string   // "" for current, else as --rules takes it
	With    string   // "" for none, else KEY=VALUE[,KEY=VALUE ...], sorted, see JoinSettings
	Verdict string   // pass, violation, excused
	Checks  []string // names of the rules that must be found broken, sorted
	Line    int
}

// Verb is what a step does; its text is the first word of the line.
type Verb string

// Workload verbs go to a client, fault verbs to the World, wait to the runner.
const (
	VerbTopic    Verb = "topic"    // create a topic
	VerbProducer Verb = "producer" // declare a producer
	VerbConsumer Verb = "consumer" // declare a consumer
	VerbSend     Verb = "send"     // one record
	VerbWrite    Verb = "write"    // many records at a pace
	// VerbTombstone sends one record without a value.
	VerbTombstone Verb = "tombstone"
	// VerbDeleteRecords raises a partition's log start.
	VerbDeleteRecords Verb = "delete-records"
	VerbRead          Verb = "read"   // consume from a position on
	VerbVerify        Verb = "verify" // read everything to the end, once
	VerbElect         Verb = "elect"  // ask for a leader election
	VerbKill          Verb = "kill"
	VerbPower         Verb = "power"
	VerbWipe          Verb = "wipe"
	VerbStop          Verb = "stop"
	VerbStart         Verb = "start"
	VerbPause         Verb = "pause"
	VerbResume        Verb = "resume"
	VerbCrash         Verb = "crash"
	VerbCut           Verb = "cut"
	VerbHeal          Verb = "heal"
	VerbHold          Verb = "hold"
	VerbRelease       Verb = "release"
	VerbReset         Verb = "reset"
	VerbHalfOpen      Verb = "half-open"
	VerbStall         Verb = "stall"
	VerbDisk          Verb = "disk"
	VerbFail          Verb = "fail"
	VerbClock         Verb = "clock"
	VerbRules         Verb = "rules"
	VerbWait          Verb = "wait"
	VerbSleep         Verb = "sleep"
)

// Step is one line of a plan. Which fields a verb fills is said at each.
type Step struct {
	Line int
	// At is when the step takes place, since the run began; a negative value
	// means: after the step before it. Timed steps do not hold up the others.
	At   time.Duration
	Verb Verb

	Node   kafka.BrokerID // the node that a fault is for; cut, hold, fail, reset: the sender; start, stop ...
	Peer   kafka.BrokerID // cut, hold, fail, reset: the receiver
	Client string         // producer, consumer, send, tombstone, write, read, verify; cut may name a client in FromClient, ToClient
	// FromClient, ToClient stand for Node, Peer where a link ends at a client.
	FromClient, ToClient string
	Topic                string
	Partition            int32 // -1: the partitioner chooses, or all
	Partitions           int32 // topic: how many
	Replicas             int16 // topic: how many, 0 for the default
	Assignment           [][]kafka.BrokerID
	Settings             []Setting // topic, producer, consumer: Kafka's keys

	Both      bool          // cut, heal: both directions
	API       string        // hold, fail: the request it is for, in lower case: fetch, produce, alterpartition
	Response  bool          // hold, fail: the answer, not the request
	Lane      string        // crash
	Op        int           // crash: the n-th operation, fail: the n-th message; from 1
	Lose      string        // power: all, none, random
	Kind      string        // elect: preferred, unclean. crash: kill, power
	For       time.Duration // stall, clock (the jump, may be negative), sleep; wait: within
	Value     string        // send: the value
	RecordKey string        // send, tombstone: the key, HasKey if given
	HasKey    bool
	Count     int           // write: records
	Every     time.Duration // write: pace
	Keys      int           // write: how many keys, 0: none
	Size      int           // write: bytes of each value at least, 0: as they come
	Offset    int64         // delete-records: the new log start, -1: the high watermark
	From      string        // read: earliest, latest or an offset
	Rules     string        // rules

	Disk      DiskFault // disk
	Predicate Predicate // wait
}

// Subject is what a predicate speaks of.
type Subject string

// The closed set of predicates.
const (
	WaitLeader   Subject = "leader"   // wait leader t-0 = 2 | none | any
	WaitISR      Subject = "isr"      // wait isr t-0 = 1,2,3
	WaitHW       Subject = "hw"       // wait hw 2 t-0 >= 5
	WaitLEO      Subject = "leo"      // wait leo 2 t-0 >= 5
	WaitEpoch    Subject = "epoch"    // wait epoch 2 t-0 >= 3: the replica follows or leads in it
	WaitAcked    Subject = "acked"    // wait acked p >= 10
	WaitPosition Subject = "position" // wait position c t-0 >= 10
	WaitFenced   Subject = "fenced"   // wait fenced 3 | wait unfenced 3
	WaitUnfenced Subject = "unfenced"
)

// Predicate is the condition of a wait.
type Predicate struct {
	Subject   Subject
	Node      kafka.BrokerID
	Client    string
	Topic     string
	Partition int32
	AtLeast   bool             // >= instead of =
	Value     int64            // leader: -1 none, -2 any
	ISR       []kafka.BrokerID // sorted
}

// View is what a predicate is judged on: the state that events told so far.
// Each method returns false where nothing is known yet.
type View interface {
	Leader(tp kafka.TopicPartition) (kafka.BrokerID, bool)
	ISR(tp kafka.TopicPartition) ([]kafka.BrokerID, bool) // sorted
	HighWatermark(n kafka.BrokerID, tp kafka.TopicPartition) (kafka.Offset, bool)
	LogEnd(n kafka.BrokerID, tp kafka.TopicPartition) (kafka.Offset, bool)
	Epoch(n kafka.BrokerID, tp kafka.TopicPartition) (kafka.LeaderEpoch, bool)
	Acked(client string) int64
	Position(client string, tp kafka.TopicPartition) (kafka.Offset, bool)
	Fenced(n kafka.BrokerID) (bool, bool)
}
