package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// The premises of durability. Kafka promises that a committed record survives
// as long as no leader was elected uncleanly (KIP-966 counts the last known
// leader among those) and fewer than min.insync.replicas replicas lost it
// with their disks. A disk that loses what it had said to be durable breaks the
// promise alone: after a clean stop nobody can know.

// brokenPremise says which premise of the record at offset o was broken when a
// leader of an epoch started without it, or "". If the disks had lost it, they
// are named rather than the election that could not know.
func (p *partition) brokenPremise(o kafka.Offset, epoch kafka.LeaderEpoch, minISR int) string {
	lost := 0
	for _, r := range p.replicas {
		if o < r.lostFrom || o >= r.lostTo {
			continue
		}
		if r.betrayed && r.leading == epoch {
			return fmt.Sprintf("broker %d lost it after a clean stop, with a disk that had said to have it", r.node)
		}
		lost++
	}
	minISR = min(minISR, max(len(p.replicas), 1))
	if lost >= minISR {
		return fmt.Sprintf("%s lost it with the disk, and min.insync.replicas is %d", count(lost, "replica"), minISR)
	}
	if l := p.uncleanSince(p.epoch, epoch); l != nil {
		return uncleanPremise(l)
	}
	return ""
}

func uncleanPremise(l *election) string {
	return fmt.Sprintf("unclean election of broker %d in epoch %d", l.leader, l.epoch)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
