package scenarios

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/sim"
)

// Left is what a cluster left on its disks: a run that is given it starts there.
// Brokers and controllers are those of the plan, with the same ids. A topic of the
// plan that is on a disk is not created again.
type Left struct {
	ClusterID kafka.UUID
	Disks     map[kafka.BrokerID][]simdisk.Content
}

// load puts the disks into the world; a node that nothing is known of has a new
// one.
func (l *Left) load(w *sim.World, nodes []kafka.BrokerID) error {
	for _, id := range nodes {
		if files := l.Disks[id]; len(files) > 0 {
			if err := w.Load(id, files); err != nil {
				return err
			}
		}
	}
	return nil
}

// topics are the partitions of the topics that have a replica on a disk.
func (l *Left) topics() map[string]int32 {
	known := map[string]int32{}
	for _, files := range l.Disks { // unordered: largest numbers
		for _, f := range files {
			dir := path.Base(path.Dir(f.Path))
			dash := strings.LastIndexByte(dir, '-')
			if n, err := strconv.ParseInt(dir[dash+1:], 10, 32); dash > 0 && err == nil {
				known[dir[:dash]] = max(known[dir[:dash]], int32(n)+1)
			}
		}
	}
	return known
}

// remaining are the steps of a plan without the creation of known topics.
func remaining(steps []plan.Step, known map[string]int32) []plan.Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s plan.Step) bool {
		return s.Verb == plan.VerbTopic && known[s.Topic] > 0
	})
}
