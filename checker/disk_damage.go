package checker

import (
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// A disk that lies breaks a premise. Kafka takes the word of an fsync, and reads
// back what it wrote: a broker whose disk was told to forget, to misplace or to
// flip bytes may come back with less than it had, without a power loss, and its
// segments may differ from what it believes. What such a broker lost counts as
// lost with the disk; whether the promise was void is then the same question as
// after a power loss: whether at least min.insync.replicas of them lost it.

// damage is what was ordered for a broker's disk.
type damage struct {
	fault  string // as the trace says it
	healed bool   // nothing more is to come; what is broken stays broken
}

// damaging are the faults that take bytes from a disk without an error that the
// broker could not ignore; the others make it stop, with all that it has. A
// failed fsync is among them because a restarted process finds the pages clean.
var damaging = []string{"fsync-error", "lying-fsync", "lose-writes", "misdirect-writes", "rot"}

// diskFault takes a fault event in.
func (f *facts) diskFault(e *event.Event) {
	words := strings.Fields(e.Text)
	if len(words) < 3 || words[0] != "disk" {
		return
	}
	if d := f.damaged[e.Node]; d != nil && words[2] == "heal" {
		d.healed = true
	}
	for _, kind := range damaging {
		if words[2] == kind {
			if f.damaged == nil {
				f.damaged = map[kafka.BrokerID]*damage{}
			}
			f.damaged[e.Node] = &damage{fault: e.Text}
		}
	}
}

// replaced takes in that a broker has an empty disk.
func (f *facts) replaced(id kafka.BrokerID) {
	if d := f.damaged[id]; d != nil && d.healed {
		delete(f.damaged, id)
	}
}

// damagedPremise says which fault may have changed what a broker's disk holds, ""
// if none may.
func (f *facts) damagedPremise(id kafka.BrokerID) string {
	if d := f.damaged[id]; d != nil {
		return "the disk was told to fail: " + d.fault
	}
	return ""
}
