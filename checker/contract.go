package checker

import (
	"slices"
	"strconv"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// standing is what the contract says of something that a rule found.
type standing uint8

const (
	promised    standing = iota // Kafka promised the contrary under this profile: a violation
	notPromised                 // it may happen under this profile: a note
	undecidable                 // it depends on what the history does not show: unknown
)

// clause is one line of the contract.
type clause struct {
	rule string
	when condition
	says standing
	why  string
}

// The contract between Kafka and its users: what a rule finds, under which
// settings, is a broken promise, the known price of a setting, or not to be
// decided. The first clause of a rule whose condition holds speaks; a rule that
// is not listed here promises whatever the profile, and of those in restOnElections
// the history has to show elections that may be unclean. Rules ask nobody else.
var contract = []clause{
	{"lost-write", not(acksAll), notPromised, "acks=0 and acks=1 do not wait for the followers: never promised"},
	{"lost-write", always, promised, "acks=all: acknowledged when every replica in the ISR had it"},
	{"unseen", always, promised, "the end of the log lies above every acknowledged record (KIP-207)"},
	{"inconsistent-offsets", always, promised, "what was acknowledged with acks=all or read lies below the high watermark, and that part of a log does not change"},
	{"vanished-read", always, promised, "consumers are given only what lies below the high watermark, and that part of a log does not change"},
	{"ack-offset-wrong", maybeTwice, notPromised, "acks=1 without idempotence: a retry may have written it twice, and the copy that was acknowledged may be gone"},
	{"ack-offset-wrong", always, promised, "the offset in an acknowledgement is the record's"},
	{"failed-write-visible", definiteError, promised, "the error is given only for a batch that was not appended"},
	{"failed-write-visible", always, notPromised, "the error is also given after an append: it proves nothing"},
	{"duplicate", idempotent, promised, "enable.idempotence=true: a leader drops what it has already appended (KIP-98)"},
	{"duplicate", always, notPromised, "without idempotence a retry may write twice"},
	{"app-duplicate", always, notPromised, "to Kafka, what an application sends again is another record"},
	{"phantom", closedWorld, promised, "history.world=closed: every producer is in the history"},
	{"phantom", always, notPromised, "the history does not show all producers"},
	{"unexplained-gap", closedWorld, promised, "offsets are given out one by one, and nothing that the history shows took these"},
	{"unexplained-gap", always, notPromised, "the history does not show all producers"},
	{"end-offset-regression", before(2, 2), notPromised, "before 2.2 a new leader may tell an old end (KIP-207)"},
	{"end-offset-regression", fromFollower, notPromised, "a follower may be behind (KIP-392)"},
	{"end-offset-regression", always, promised, "a leader tells its end only once its high watermark has caught up (KIP-207)"},
	{"log-start-regression", leaderChanged, notPromised, "a new leader may not have heard of the last move of the log start"},
	{"log-start-regression", always, promised, "a log start moves up, and what lies below is gone"},

	{"nonmonotonic-poll", always, promised, "a position goes back only by a seek, a reset or a new assignment"},
	{"int-nonmonotonic-poll", always, promised, "within a poll and within a transaction a position only goes up"},
	{"poll-skip", always, promised, "a position passes over a visible record only by a seek, a reset or a new assignment"},
	{"int-poll-skip", always, promised, "within a poll and within a transaction no visible record is passed over"},
	{"illegal-reset", fromFollower, notPromised, "a follower may be behind (KIP-392)"},
	{"illegal-reset", always, promised, "out of range and truncation are told only where the log does not hold the position"},
	{"producer-order", unanswered, notPromised, "acks=0 waits for no answer: what an old connection still holds may arrive after what a new one brought"},
	{"producer-order", idempotent, promised, "enable.idempotence=true keeps the order of up to five requests in flight (KAFKA-5494)"},
	{"producer-order", oneInFlight, promised, "max.in.flight.requests.per.connection=1 keeps the order"},
	{"producer-order", always, notPromised, "without idempotence a retry may overtake, or be overtaken, with more than one request in flight"},
	{"idempotence-break", always, promised, "a leader takes a producer's batches of one epoch without a gap in their sequence (KIP-98)"},
	{"int-send-skip", always, notPromised, "transactions of several producers may lie between each other in a log"},
	{"leader-epoch-regression", always, promised, "leader epochs never fall along a log (KIP-101)"},

	{"newest-lost", always, promised, "the cleaner keeps the last record of each key"},
	{"rewritten", always, promised, "the cleaner takes records out and changes neither offset nor value nor order of the others"},
	{"tombstone-early", withinDeleteRetention, promised, "a reader that comes by within delete.retention.ms sees the tombstone"},
	{"tombstone-early", always, notPromised, "the reader took longer than delete.retention.ms"},
	{"active-head-touched", always, promised, "min.compaction.lag.ms keeps young records from the cleaner"},
	{"deletion-outside-policy", shownFromInside, promised, "neither time nor size nor DeleteRecords allows it"},
	{"deletion-outside-policy", always, notPromised, "a history of clients alone need not show who deleted"},
	{"kv-view", retiredTombstone, notPromised, "the reader took longer than delete.retention.ms, and the tombstone was gone when it came by"},
	{"kv-view", always, promised, "the last record of a key below the end of the log is its value"},

	{"under-replicated-ack", always, promised, "acks=all answers success only while the ISR has min.insync.replicas members"},
	{"stale-leader-ack", always, promised, "only the leader of the newest epoch can commit"},
	{"realtime-lag", always, promised, boundLag},
	{"recovery", always, promised, boundRecovery},
	{"stuck-client", always, promised, boundStuck},
	{"high-watermark-rule", not(belowMinISR), promised, "the high watermark is at most the smallest log end of the ISR"},
	{"high-watermark-rule", strictMinISR, promised, "eligible.leader.replicas.version=1: no record is committed below min.insync.replicas (KIP-966)"},
	{"high-watermark-rule", always, notPromised, "without eligible leader replicas the high watermark moves with whatever ISR there is"},
	{"leader-in-isr", always, promised, "a leader comes from the ISR or the ELR, or the election is an unclean one"},
	{"metadata-order", always, promised, "the controller's decisions have one order, and epochs count it"},
	{"read-beyond-watermark", shownFromInside, promised, "a broker gives a consumer nothing at or above its high watermark, nor above the last stable offset to read_committed"},
	{"read-beyond-watermark", always, notPromised, "a broker takes the offsets that it tells before it reads, and more may be committed in between"},
}

// circumstances are what the clauses of the contract may ask for. A rule fills
// what it knows.
type circumstances struct {
	profile  *profile
	topic    string
	client   string // the producer, or consumer, that was promised
	acks     int16  // of the send concerned
	code     kafka.ErrorCode
	session  *event.Session
	follower bool  // the answer came from a replica that does not lead
	inside   bool  // the events come from inside the cluster
	closed   bool  // the history shows every producer
	elected  bool  // the history shows elections of the partition
	changed  bool  // its leader changed in between
	short    bool  // the ISR had fewer members than min.insync.replicas
	age      int64 // ns, for what retention times are compared with

	tombstone bool // it is about a tombstone

	readCommitted bool // somebody who reads committed was given it
	held          bool // a member committed what it still held, and each member has an epoch of its own
	offsets       bool // it is about offsets within a transaction
	anew          bool // the group, or its offset, may have been removed in between
	exactlyOnce   bool // offsets and outputs were committed in one transaction
	application   bool // the application asked for it
	doubt         bool // in another order that the clocks allow it is none
}

// condition is when a clause speaks.
type condition func(c *circumstances) bool

func always(*circumstances) bool { return true }

func not(x condition) condition { return func(c *circumstances) bool { return !x(c) } }

func acksAll(c *circumstances) bool { return c.acks == -1 }

func unanswered(c *circumstances) bool { return c.acks == 0 }

// maybeTwice: a retry may have written a second copy, and the copy that was
// acknowledged was never promised to stay.
func maybeTwice(c *circumstances) bool { return !acksAll(c) && !idempotent(c) }

func uncleanUnseen(c *circumstances) bool {
	return !c.elected && c.profile.topic(c.topic, kafka.UncleanLeaderElection) == "true"
}

func definiteError(c *circumstances) bool { return certaintyOf(c.code) == definite }

func idempotent(c *circumstances) bool {
	return c.profile.idempotent(c.client) || c.session != nil && c.session.ProducerID >= 0
}

func oneInFlight(c *circumstances) bool {
	return c.profile.producer(c.client, "max.in.flight.requests.per.connection") == "1"
}

func closedWorld(c *circumstances) bool { return c.closed }

func before(major, minor int) condition {
	return func(c *circumstances) bool {
		v, known := c.profile.version()
		return known && (v[0] < major || v[0] == major && v[1] < minor)
	}
}

func fromFollower(c *circumstances) bool { return c.follower }

func leaderChanged(c *circumstances) bool { return c.changed }

func shownFromInside(c *circumstances) bool { return c.inside }

func strictMinISR(c *circumstances) bool {
	return c.profile.topic(c.topic, eligibleLeaders) == "1"
}

// eligibleLeaders is the feature of KIP-966: 1 if it is on, 0 if it is off.
const eligibleLeaders = "eligible.leader.replicas.version"

func belowMinISR(c *circumstances) bool { return c.short }

func withinDeleteRetention(c *circumstances) bool {
	return c.age < c.profile.millis(c.topic, "delete.retention.ms", defaultDeleteRetention)
}

func retiredTombstone(c *circumstances) bool { return c.tombstone && !withinDeleteRetention(c) }

// Bounds that a profile may set on what Kafka leaves open, in ms.
const (
	boundLag      = "bound.lag.ms"      // a poll is behind no record that was acknowledged so long before
	boundRecovery = "bound.recovery.ms" // so long after the last fault everybody works again
	boundStuck    = "bound.stuck.ms"    // so long without a fault a send is answered
)

// defaultDeleteRetention is Kafka's default of delete.retention.ms, ns.
const defaultDeleteRetention = 24 * 3600 * 1_000_000_000

// An unclean election may take back what was committed, and a history without
// elections does not show it. Whether these promises held is then not to be told.
var restOnElections = []string{
	"lost-write", "inconsistent-offsets", "vanished-read", "unseen", "end-offset-regression", "log-start-regression", "poll-skip", "int-poll-skip",
	"illegal-reset", "real-time-inversion", "ack-offset-wrong", "duplicate", "unexplained-gap", "producer-order", "idempotence-break",
	"leader-epoch-regression", "newest-lost", "tombstone-early", "rewritten", "active-head-touched", "kv-view", "realtime-lag", "recovery",
	"aborted-read", "torn-transaction", "offset-tear", "two-outcomes", "transactional-id-register", "zombie-write", "lso-overrun", "hung-transaction",
	"committed-offset-register", "fenced-commit", "dual-ownership", "double-processing", "group-skip",
}

const electionsUnseen = "unclean.leader.election.enable=true, and the history shows no elections"

// clauseFor is the clause that decides.
func clauseFor(rule string, c *circumstances) clause {
	k := inTables(rule, c)
	if k.says == promised && uncleanUnseen(c) && slices.Contains(restOnElections, rule) {
		return clause{rule, uncleanUnseen, undecidable, electionsUnseen}
	}
	return k
}

// inTables is the clause of the tables.
func inTables(rule string, c *circumstances) clause {
	for _, table := range [][]clause{contract, txnContract} {
		for i := range table {
			if k := &table[i]; k.rule == rule && k.when(c) {
				return *k
			}
		}
	}
	return clause{rule: rule, says: promised}
}

// closed reports whether the history shows every producer. One without any send
// does not.
func (f *facts) closed() bool {
	return f.profile.topic("", "history.world") != "open" && f.history.sends.len() > 0
}

// producer is the value of a key for a producer, else the cluster's, else "".
func (p *profile) producer(client, key string) string {
	if v, ok := p.settings[scopedKey{"producer " + client, key}]; ok {
		return v
	}
	return p.settings[scopedKey{clusterScope, key}]
}

// version is kafka.version, as major and minor.
func (p *profile) version() (v [2]int, known bool) {
	return parseVersion(p.topic("", "kafka.version"))
}

func parseVersion(text string) (v [2]int, known bool) {
	for i := range v {
		digits := len(text)
		if k := slices.IndexFunc([]byte(text), func(c byte) bool { return c < '0' || c > '9' }); k >= 0 {
			digits = k
		}
		n, err := strconv.Atoi(text[:digits])
		if err != nil {
			return v, false
		}
		v[i], text = n, text[min(digits+1, len(text)):]
	}
	return v, true
}

// millis is a setting in ms as ns, or another value if it is not set.
func (p *profile) millis(topic, key string, or int64) int64 {
	n, err := strconv.ParseInt(p.topic(topic, key), 10, 64)
	if err != nil {
		return or
	}
	return n * 1_000_000
}
