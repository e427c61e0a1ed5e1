package checker

// txnRules are the rules about transactions and groups, in the order of
// txnPromises. What proves more comes first.
func txnRules() []rule {
	return []rule{
		&abortedRead{}, &ownRead{}, &earlyRead{}, &tornTransaction{}, &offsetTear{}, &twoOutcomes{}, &transactionalIDRegister{}, &zombieWrite{},
		&lsoOverrun{}, &hungTransaction{}, &circularFlow{}, &writeCycle{}, &antiDependencyCycle{}, &fracturedVisibility{},
		&committedOffsetRegister{}, &commitBeyondPosition{}, &earlyAutoCommit{}, &fencedCommit{}, &dualOwnership{}, &doubleProcessing{}, &groupSkip{}, &appSkip{},
	}
}

func txnPromises() []Promise {
	return []Promise{
		{"aborted-read", false, "who reads committed is given nothing of a transaction that was not committed", "G1a"},
		{"own-read", false, "a transaction that reads committed is not given its own records", "precommitted-read"},
		{"early-read", false, "nothing of a transaction is read as committed before its commit was asked for", ""},
		{"torn-transaction", false, "of a committed transaction every record is there", "G1b"},
		{"offset-tear", false, "a transaction's offsets are committed with its records, or neither are", ""},
		{"two-outcomes", false, "a transaction is committed or aborted, not both, as its client is told and as its markers say", ""},
		{"transactional-id-register", false, "a transactional id has one owner at a time, and a new one fences the old", ""},
		{"zombie-write", false, "no record of a producer is taken after a new owner of its id fenced it", ""},
		{"lso-overrun", false, "who reads committed stops at the first record of an open transaction", ""},
		{"hung-transaction", false, "no transaction holds readers back for longer than its timeout", ""},
		{"circular-flow", false, "transactions that read committed do not read from each other in a circle", "G1c, PL-2-cycle-exists"},
		{"write-cycle", false, "(never promised) transactions write in one order in all partitions", "G0, PL-1-cycle-exists"},
		{"anti-dependency-cycle", false, "(never promised) transactions can be put in an order", "G-single, G2"},
		{"fractured-visibility", false, "(never promised) a transaction becomes visible in all partitions at once", ""},
		{"committed-offset-register", false, "a fetch of a group's committed offset finds the last commit", ""},
		{"commit-beyond-position", false, "a consumer commits nothing that it was not given", ""},
		{"early-auto-commit", false, "an automatic commit covers what was given out before the latest poll", ""},
		{"fenced-commit", false, "a commit of an older generation is refused", ""},
		{"dual-ownership", false, "a partition has one owner in a group at a time", ""},
		{"double-processing", false, "a record processed within transactions has the outputs of one committed transaction", ""},
		{"group-skip", false, "a group's committed offset passes no record that no member was given", ""},
		{"app-skip", false, "(never promised) who aborts a transaction reads again what it was given within it", "poll-skip"},
	}
}

// explainsTxn goes on where explains ends.
var explainsTxn = []explanation{
	{"torn-transaction", []string{"lost-write"}},
	{"offset-tear", []string{"lost-write"}},
	{"committed-offset-register", []string{"offset-tear"}},
	{"aborted-read", []string{"zombie-write"}},
	{"circular-flow", []string{"early-read", "own-read"}},
}
