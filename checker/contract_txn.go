package checker

import "strconv"

// txnContract is the contract about transactions and groups.
var txnContract = []clause{
	{"aborted-read", always, promised, "isolation.level=read_committed gives out no aborted record (KIP-98)"},
	{"own-read", always, promised, "isolation.level=read_committed stops at the first open transaction, the reader's own too"},
	{"early-read", always, promised, "a transaction is decided by the EndTxn that is meant for it (KIP-890)"},
	{"torn-transaction", always, promised, "all of a transaction becomes visible, or nothing (KIP-98)"},
	{"offset-tear", always, promised, "a transaction's offsets are committed with its records, or not at all (KIP-98)"},
	{"two-outcomes", always, promised, "a coordinator refuses the other outcome once one is decided"},
	{"transactional-id-register", unverifiedOffsets, notPromised, "group coordinators do not verify transactions, which only KIP-890 mends"},
	{"transactional-id-register", always, promised, "InitProducerId fences every older producer of a transactional.id (KIP-98)"},
	{"zombie-write", byCommittedReader, promised, "isolation.level=read_committed gives out nothing of a fenced producer"},
	{"zombie-write", verified, promised, "partition leaders ask the coordinator before they take a transaction's first record (KIP-890)"},
	{"zombie-write", always, notPromised, "partition leaders do not verify transactions, which only KIP-890 mends"},
	{"circular-flow", always, promised, "who reads committed depends only on what was committed before"},
	{"lso-overrun", always, promised, "isolation.level=read_committed stops at the last stable offset"},
	{"hung-transaction", verified, promised, "a coordinator ends every transaction by its timeout (KIP-98, KIP-890)"},
	{"hung-transaction", always, notPromised, "partition leaders do not verify transactions, so late records may hang (KIP-890)"},

	{"committed-offset-register", always, promised, "a fetch of committed offsets finds the last commit"},
	{"commit-beyond-position", always, promised, "a position is the end of what the consumer was given"},
	{"early-auto-commit", always, promised, "enable.auto.commit commits what was given out before the latest poll"},
	{"fenced-commit", heldByMember, notPromised, "a member may commit what it still holds by an older epoch (KIP-1251)"},
	{"fenced-commit", begunAnew, notPromised, "everybody had left, and a group that was removed (offsets.retention.minutes, DeleteGroups) begins at the bottom again"},
	{"fenced-commit", always, promised, "commits of an older generation are refused (ILLEGAL_GENERATION, STALE_MEMBER_EPOCH)"},
	{"dual-ownership", always, promised, "a partition goes to another member only once the one before has given it up or is fenced"},
	{"double-processing", not(inTransactions), notPromised, "without the group's offsets in the transaction it is at-least-once"},
	{"double-processing", byApplication, notPromised, "the application went back on its own account"},
	{"double-processing", begunAnew, notPromised, "the group's offset may have expired in between, or the group been deleted, and auto.offset.reset decided"},
	{"double-processing", always, promised, "offsets and outputs are committed in one transaction (KIP-98, KIP-447)"},
	{"group-skip", not(closedWorld), notPromised, "the history does not show everybody"},
	{"group-skip", byApplication, notPromised, "the application moved on by itself"},
	{"group-skip", always, promised, "a member starts where the group's committed offset is"},
	{"app-skip", always, notPromised, "Kafka rewinds no consumer when a transaction is aborted"},
}

func byCommittedReader(c *circumstances) bool { return c.readCommitted }

func heldByMember(c *circumstances) bool { return c.held }

func begunAnew(c *circumstances) bool { return c.anew }

func inTransactions(c *circumstances) bool { return c.exactlyOnce }

func unverifiedOffsets(c *circumstances) bool { return c.offsets && !verified(c) }

func byApplication(c *circumstances) bool { return c.application }

// verified: a partition leader asks the coordinator before it takes the first
// record of a transaction. Transactions of version 2 cannot do without; for older
// ones it is on since 3.6 unless turned off.
func verified(c *circumstances) bool {
	if v, err := strconv.Atoi(c.profile.topic("", "transaction.version")); err == nil && v >= 2 {
		return true
	}
	return c.profile.topic("", "transaction.partition.verification.enable") != "false" && !before(3, 6)(c)
}

// producerMs is a setting of a producer in milliseconds, else the cluster's,
// else what Kafka has by default.
func (p *profile) producerMs(producer, key string, byDefault int64) int64 {
	return p.ms("producer "+producer, key, byDefault)
}

func (p *profile) consumerMs(consumer, key string, byDefault int64) int64 {
	return p.ms("consumer "+consumer, key, byDefault)
}

func (p *profile) ms(scope, key string, byDefault int64) int64 {
	for _, s := range []string{scope, clusterScope} {
		if n, err := strconv.ParseInt(p.settings[scopedKey{s, key}], 10, 64); err == nil {
			return n
		}
	}
	return byDefault
}

// consumer is the value of a key for a consumer, else the cluster's, else "".
func (p *profile) consumer(client, key string) string {
	if v, ok := p.settings[scopedKey{"consumer " + client, key}]; ok {
		return v
	}
	return p.settings[scopedKey{clusterScope, key}]
}

// perMember reports whether a consumer's group keeps an epoch for each member
// (KIP-848) rather than one generation for all.
func (p *profile) perMember(consumer string) bool {
	return p.consumer(consumer, "group.protocol") == "consumer"
}
