package checker

import "fmt"

// ledger lists the premises of durability for one record that is gone, each
// with what the history says of it: held, broken, or not shown. One broken
// premise excuses the loss; a premise that is not shown does not.
func (f *facts) ledger(rd *reading, s *send, before uint64) []string {
	p := f.partition(rd.tp)
	if p == nil {
		p = newPartition(rd.tp)
	}
	return []string{f.ledgerElections(p, s, before), f.ledgerDisks(p, s), f.ledgerDeletes(rd, s, before)}
}

func (f *facts) ledgerElections(p *partition, s *send, before uint64) string {
	if len(p.elections) == 0 {
		return "not shown: that no leader was elected uncleanly (the history has no elections)"
	}
	for i := range p.elections {
		if l := &p.elections[i]; l.unclean() && l.Seq > s.invoked && l.Seq < before {
			return fmt.Sprintf("broken: no unclean election (event %d: %s)", l.Seq, uncleanPremise(l))
		}
	}
	return fmt.Sprintf("held: no unclean election between events %d and %d", s.invoked, before)
}

func (f *facts) ledgerDisks(p *partition, s *send) string {
	if p.leader == nil {
		return "not shown: that fewer than min.insync.replicas disks lost it (the history has no replicas)"
	}
	lost := 0
	for _, r := range p.replicas {
		if r.lostFrom <= s.offset && s.offset < r.lostTo {
			lost++
		}
	}
	state := "held"
	if lost >= p.needs(f) {
		state = "broken"
	}
	return fmt.Sprintf("%s: %s lost it with the disk, min.insync.replicas is %d", state, count(lost, "replica"), p.needs(f))
}

func (f *facts) ledgerDeletes(rd *reading, s *send, before uint64) string {
	if start := rd.facts.startAt(&f.clocks, stamp{seq: before}); start > s.offset {
		return fmt.Sprintf("broken: nobody deleted it (the log started at %d)", start)
	}
	return "held: neither retention nor DeleteRecords passed it"
}
