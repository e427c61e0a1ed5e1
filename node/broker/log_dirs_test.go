package broker

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
)

// twoDirs is a broker with two log directories.
func twoDirs(lanes int) Config {
	return testConfig(lanes, kafka.Pair{Key: kafka.LogDirs, Value: "d0,d1"})
}

// holds reports whether a directory holds a replica.
func (b *bench) holds(dir string, tp kafka.TopicPartition) bool {
	return b.file(dir+"/"+tp.String()+"/partition.metadata") != ""
}

func TestReplicasGoWhereFewestAreAndTheControllerIsTold(t *testing.T) {
	c := newCluster(1)
	c.topic(4, 1, 1)
	b := boot(t, twoDirs(1), simdisk.New(), c.whole())
	for n, dir := range []string{"d0", "d1", "d0", "d1"} {
		if !b.holds(dir, orders(int32(n))) {
			t.Errorf("orders-%d is not in %s", n, dir)
		}
	}
	b.advance(assignLinger)
	var asked *kmsg.AssignReplicasToDirsRequest
	for _, s := range b.lane(node.Lifecycle).sent {
		if r, ok := s.m.Request.(*kmsg.AssignReplicasToDirsRequest); ok {
			asked = r
		}
	}
	if asked == nil || len(asked.Directories) != 2 || asked.BrokerEpoch != 77 {
		t.Fatalf("asked %+v", asked)
	}
	for i, d := range asked.Directories {
		if len(d.Topics) != 1 || d.Topics[0].TopicID != ordersID || len(d.Topics[0].Partitions) != 2 || int(d.Topics[0].Partitions[1].Partition) != i+2 {
			t.Errorf("directory %d has %+v", i, d.Topics)
		}
	}
}

func TestRegistrationNamesEveryLogDirectoryAndTheRootHoldsTheMetadataAlone(t *testing.T) {
	b := newBench(t, twoDirs(1), simdisk.New(), node.Logs)
	got := postedTo[directoriesPost](b, node.Lifecycle)
	if len(got) != 1 || len(got[0].Directories) != 2 || got[0].Directories[0] == got[0].Directories[1] {
		t.Fatalf("lifecycle was told %+v", got)
	}
	for i, dir := range []string{"d0", "d1"} {
		if id, err := parseIdentity(b.file(dir + "/" + identityFile)); err != nil || id.Directory != got[0].Directories[i] {
			t.Errorf("%s says %+v, %v", dir, id, err)
		}
	}
	if id, err := parseIdentity(b.file(identityFile)); err != nil || id.Directory == got[0].Directories[0] {
		t.Errorf("the root says %+v, %v", id, err)
	}
}

// The disk of one directory breaks: what lies there is refused, the rest goes
// on, the controller hears of it at once, and no marker calls the stop clean.
func TestDirectoryThatFailsTakesItsReplicasAloneOffline(t *testing.T) {
	d := simdisk.New()
	c := newCluster(1)
	c.topic(2, 1, 1)
	b := boot(t, twoDirs(1), d, c.whole())
	b.broken, b.under = true, "d0/"
	for range 2 {
		b.request(node.Router, client, produceRequest(1, map[int32][]byte{0: batchOf("a"), 1: batchOf("b")}))
		res, _ := take[*kmsg.ProduceResponse](b, node.Router)
		for i, want := range []kafka.ErrorCode{kafka.KafkaStorageError, kafka.None} {
			if got := kafka.ErrorCode(res.Topics[0].Partitions[i].ErrorCode); got != want {
				t.Errorf("orders-%d: %v, want %v", i, got, want)
			}
		}
	}
	if n := len(b.saw(event.StorageFailed)); n != 1 || b.exit != "" {
		t.Fatalf("failed %d times, exit %q", n, b.exit)
	}
	id, _ := parseIdentity(b.file("d0/" + identityFile))
	told := 0
	b.answer(node.Lifecycle, heartbeatSaid(true, false, false))
	for _, s := range b.lane(node.Lifecycle).sent {
		if r, ok := s.m.Request.(*kmsg.BrokerHeartbeatRequest); ok && len(r.OfflineLogDirs) == 1 && r.OfflineLogDirs[0] == id.Directory {
			told++
		}
	}
	if told == 0 {
		t.Error("no heartbeat tells of the directory")
	}
	b.advance(5 * time.Second)
	if got := b.file("d0/" + string(highWatermarks)); got != "" {
		t.Errorf("the checkpoint of the failed directory was written: %q", got)
	}
	if got, want := b.file("d1/"+string(highWatermarks)), "0\n1\norders 1 2\n"; got != want {
		t.Errorf("high watermarks of d1 are %q, want %q", got, want)
	}
}

func TestLastDirectoryThatFailsEndsTheNode(t *testing.T) {
	b := newBench(t, twoDirs(1), simdisk.New(), node.Logs)
	b.post(node.Data(0), node.Logs, failedPost{Dir: 0, Reason: "first"})
	if b.exit != "" || len(postedTo[offlinePost](b, node.Lifecycle)) != 1 || len(postedTo[offlinePost](b, node.Data(0))) != 1 {
		t.Fatalf("exit %q after the first, posts %v", b.exit, b.posted)
	}
	b.post(node.Data(0), node.Logs, failedPost{Dir: 1, Reason: "second"})
	if !strings.Contains(b.exit, "all log dirs have failed: second") {
		t.Errorf("exit %q", b.exit)
	}
}

func TestStopIsCleanForTheControllerOnlyIfEveryDirectoryHasTheSameMarker(t *testing.T) {
	for change, want := range map[string]kafka.BrokerEpoch{ // unordered: each stands alone
		"none": 77, "d1 without a marker": kafka.NoBrokerEpoch, "d1 with another epoch": kafka.NoBrokerEpoch} {
		d := simdisk.New()
		b := boot(t, twoDirs(1), d, newCluster(1).whole())
		b.stop()
		if b.exit != cleanExit {
			t.Fatalf("exit %q", b.exit)
		}
		fs := b.lane(node.Logs).fs
		switch change {
		case "d1 without a marker":
			if err := fs.Remove("d1/" + markerFile); err != nil {
				t.Fatal(err)
			}
		case "d1 with another epoch":
			f, err := fs.Open("d1/" + markerFile)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt([]byte(`{"version":0,"brokerEpoch":78}`), 0); err != nil {
				t.Fatal(err)
			}
		}
		d.Kill()
		got := postedTo[directoriesPost](newBench(t, twoDirs(1), d, node.Logs), node.Lifecycle)
		if len(got) != 1 || got[0].PreviousEpoch != want {
			t.Errorf("%s: told %+v, want epoch %d", change, got, want)
		}
	}
}

func TestReplicasAreFoundAgainInTheirDirectoriesAndNotMadeAnewWhileOneIsOffline(t *testing.T) {
	d := simdisk.New()
	c := newCluster(1)
	c.topic(2, 1, 1)
	b := boot(t, twoDirs(1), d, c.whole())
	b.produce(1, map[int32][]byte{0: batchOf("a"), 1: batchOf("b", "c")})
	d.Kill()
	ids := postedTo[directoriesPost](newBench(t, twoDirs(1), d, node.Logs), node.Lifecycle)[0].Directories
	d.Kill()
	b = newBench(t, twoDirs(1), d, node.Data(0))
	c.assign(0, ids[0])
	c.assign(1, ids[1])
	b.post(node.Quorum, node.Data(0), c.whole())
	b.post(node.Logs, node.Data(0), loadPost{Dirs: []loadedDir{{Path: "d0", ID: ids[0], Failed: true}, {Path: "d1", ID: ids[1]}}})
	if e := b.saw(event.Recovered); len(e) != 1 || e[0].Partition != 1 || e[0].End != 2 {
		t.Errorf("recovered %+v, want orders-1 alone", e)
	}
	if b.holds("d1", orders(0)) {
		t.Error("an empty replica of orders-0 took the place of the one that is offline")
	}
}
