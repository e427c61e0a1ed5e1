package broker

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/node"
)

// The metadata is there before the disk has a new directory's meta.properties: no
// log is opened before, and the controller hears of no directory that it was not
// told of in the registration, or it would take the replicas there for lost.
func TestNoReplicaIsPlacedInADirectoryWhoseIDIsNotKnownYet(t *testing.T) {
	c := newCluster(1)
	c.topic(1, 1, 1)
	b := newStalledBench(t, testConfig(1), simdisk.New(), node.Logs)
	b.post(node.Quorum, node.Logs, c.whole())
	if n := len(postedTo[loadPost](b, node.Data(0))); n != 0 {
		t.Fatalf("the data lane was told to load %d times while %s is on its way to the disk", n, identityFile)
	}
	b.post(node.Quorum, node.Logs, c.elect(1, 1))
	b.stall = false
	b.settle()
	named, loads := postedTo[directoriesPost](b, node.Lifecycle), postedTo[loadPost](b, node.Data(0))
	if len(named) != 1 || len(loads) != 1 || loads[0].Dirs[0].ID.IsZero() || loads[0].Dirs[0].ID != named[0].Directories[0] {
		t.Errorf("lifecycle was told %+v, the data lane %+v", named, loads)
	}
}

// Whatever the order in which fsyncs end and images come, with old log directories
// and new ones: every replica is served, and the controller is told of directories
// that the registration names and of no others.
func TestTheControllerHearsOnlyOfDirectoriesThatAreRegisteredHoweverTheDiskLags(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := []string{"d0", "d1", "d2"}[:rapid.IntRange(1, 3).Draw(rt, "directories")]
		known := rapid.IntRange(0, len(all)).Draw(rt, "known before")
		d, c := simdisk.New(), newCluster(1)
		if known > 0 {
			newBench(t, inDirs(all[:known]), d, node.Logs)
			d.Kill()
		}
		images := []imagePost{c.whole(), c.topic(4, 1, 1), c.elect(1, 1)}
		if rapid.Bool().Draw(rt, "topics are there at the start") {
			images = []imagePost{c.whole(), c.elect(1, 1)}
		}
		b := newStalledBench(t, inDirs(all), d, everyLane(inDirs(all))...)
		b.post(node.Quorum, node.Lifecycle, controllerPost{Controller: 101, Addr: "c101:9093", Epoch: 1})
		for len(images) > 0 || len(b.syncs) > 0 {
			if n := rapid.IntRange(0, len(b.syncs)).Draw(rt, "next"); n < len(b.syncs) {
				b.endSync(n)
				b.settle()
			} else if len(images) > 0 {
				b.image(images[0])
				images = images[1:]
			}
		}
		registration, _ := take[*kmsg.BrokerRegistrationRequest](b, node.Lifecycle)
		res := kmsg.NewPtrBrokerRegistrationResponse()
		res.BrokerEpoch = 77
		b.answer(node.Lifecycle, res)
		b.advance(assignLinger)
		replicas := 0
		for _, s := range b.lane(node.Lifecycle).sent {
			r, ok := s.m.Request.(*kmsg.AssignReplicasToDirsRequest)
			for i := 0; ok && i < len(r.Directories); i++ {
				if !slices.Contains(registration.LogDirs, r.Directories[i].ID) {
					rt.Fatalf("replicas are said to lie in %v, registered are %v", kafka.UUID(r.Directories[i].ID), registration.LogDirs)
				}
				replicas += len(r.Directories[i].Topics[0].Partitions)
			}
		}
		if replicas != 4 {
			rt.Fatalf("the controller was told where %d of 4 replicas lie", replicas)
		}
	})
}

// inDirs is a broker with these log directories.
func inDirs(dirs []string) Config {
	return testConfig(2, kafka.Pair{Key: kafka.LogDirs, Value: strings.Join(dirs, ",")})
}
