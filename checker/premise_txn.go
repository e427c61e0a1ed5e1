package checker

import "tidemark/model/kafka"

// Coordinators keep what they know in logs like any other: committed offsets in
// __consumer_offsets, transactions in __transaction_state. Where the premises of
// durability were broken for one of these, a coordinator may have forgotten what
// it had promised.
const (
	offsetsTopic          = "__consumer_offsets"
	transactionStateTopic = "__transaction_state"
)

// settleTxn enters a finding about transactions or groups as the contract says,
// and excused if a premise of its own partition or of a coordinator's was broken
// between its first witness and itself.
func (r *Report) settleTxn(f *facts, x Finding, c circumstances, order ...[2]stamp) {
	if len(x.Witness) > 0 {
		x = x.excuse(f.forgotten(x.TP, x.Witness[0], x.Seq))
	}
	r.settle(f, x, c, order...)
}

// forgotten is a premise that was broken between two events for a partition or for
// one of the coordinators, "" for none.
func (f *facts) forgotten(tp kafka.TopicPartition, after, before uint64) string {
	for _, p := range f.sorted() {
		if p.tp != tp && p.tp.Topic != offsetsTopic && p.tp.Topic != transactionStateTopic {
			continue
		}
		for _, c := range p.cuts {
			if c.premise != "" && c.Seq > after && c.Seq < before {
				return p.tp.String() + ": " + c.premise
			}
		}
		for i := range p.elections {
			if l := &p.elections[i]; l.unclean() && l.Seq > after && l.Seq < before {
				return p.tp.String() + ": " + uncleanPremise(l)
			}
		}
	}
	return ""
}
