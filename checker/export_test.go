package checker

// Clauses lists the rule and the reason of each clause of the contract.
func Clauses() [][2]string {
	var all [][2]string
	for _, table := range [][]clause{contract, txnContract} {
		for _, k := range table {
			all = append(all, [2]string{k.rule, k.why})
		}
	}
	return all
}

// RestOnElections is restOnElections.
var RestOnElections = restOnElections
