package broker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
)

func TestFirstStartFormatsTheDirectoryAndKeepsItsIDAfterwards(t *testing.T) {
	d := simdisk.New()
	cfg := testConfig(1)
	b := newBench(t, cfg, d, node.Logs)
	first := postedTo[directoriesPost](b, node.Lifecycle)
	if len(first) != 1 || len(first[0].Directories) != 1 || first[0].Directories[0].IsZero() || first[0].PreviousEpoch != kafka.NoBrokerEpoch {
		t.Fatalf("lifecycle was told %+v", first)
	}
	want := fmt.Sprintf("version=1\ncluster.id=%v\nnode.id=1\ndirectory.id=%v\n", cfg.ClusterID, first[0].Directories[0])
	if got, err := d.ReadFile(durableSide, identityFile); err != nil || string(got) != want {
		t.Errorf("durable meta.properties is %q, %v", got, err)
	}
	d.Kill()
	again := postedTo[directoriesPost](newBench(t, cfg, d, node.Logs), node.Lifecycle)
	if len(again) != 1 || again[0].Directories[0] != first[0].Directories[0] {
		t.Errorf("second start told %+v", again)
	}
}

func TestDirectoryOfAnotherNodeOrClusterIsRefusedInOneLine(t *testing.T) {
	d := simdisk.New()
	newBench(t, testConfig(1), d, node.Logs)
	for want, change := range map[string]func(*Config){
		"cluster.id": func(c *Config) { c.ClusterID = kafka.UUID{66} },
		"node.id":    func(c *Config) { c.ID = 2 },
	} {
		d.Kill()
		cfg := testConfig(1)
		change(&cfg)
		b := newBench(t, cfg, d, node.Logs)
		if !strings.Contains(b.exit, identityFile) || !strings.Contains(b.exit, want) || strings.Contains(b.exit, "\n") {
			t.Errorf("foreign %s: exit %q", want, b.exit)
		}
		if n := len(postedTo[directoriesPost](b, node.Lifecycle)); n != 0 {
			t.Errorf("foreign %s: lifecycle was told to go on", want)
		}
	}
}

func TestBrokenIdentityFileIsRefusedWithTheLineThatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"version=0\nbroker.id=1\n":  "version is \"0\"",
		"version=1\nnonsense\n":     "nonsense",
		"version=1\ncluster.id=x\n": "cluster.id",
		"# comment\n\nversion=1\ncluster.id=AQIDAAAAAAAAAAAAAAAAAA\ndirectory.id=AQIDAAAAAAAAAAAAAAAAAA\nnode.id=-3\n": "node.id",
	} {
		if _, err := parseIdentity(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// everyLane is a broker without its quorum lane, which the test plays.
func everyLane(cfg Config) []node.Lane {
	return append([]node.Lane{node.Router, node.Lifecycle, node.Logs}, cfg.dataLanes()...)
}

// boot starts a whole broker on d, registers it with epoch 77, gives it its first
// image and tells it that it has caught up, so that it serves.
func boot(t *testing.T, cfg Config, d *simdisk.Disk, first imagePost) *bench {
	t.Helper()
	b := newBench(t, cfg, d, everyLane(cfg)...)
	b.post(node.Quorum, node.Lifecycle, controllerPost{Controller: 101, Addr: "c101:9093", Epoch: 1})
	res := kmsg.NewPtrBrokerRegistrationResponse()
	res.BrokerEpoch = 77
	b.answer(node.Lifecycle, res)
	b.image(first)
	b.answer(node.Lifecycle, heartbeatSaid(true, true, false))
	return b
}

// image posts what the quorum lane would, in its order.
func (b *bench) image(post imagePost) {
	b.t.Helper()
	for _, lane := range everyLane(b.cfg) {
		b.post(node.Quorum, lane, post)
	}
}

// stop plays SIGTERM: a broker that is not running closes at once.
func (b *bench) stop() {
	b.t.Helper()
	b.post(node.Outside, node.Lifecycle, node.Stop{})
}

func TestMarkerIsReadAtStartAndDeletedJustBeforeTheLogsAreLoaded(t *testing.T) {
	d := simdisk.New()
	cfg := testConfig(1)
	c := newCluster(1)
	c.topic(1, 1, 1)
	boot(t, cfg, d, c.whole()).stop()
	d.Kill()

	b := newBench(t, cfg, d, everyLane(cfg)...)
	if b.file(markerFile) == "" {
		t.Fatal("the marker was deleted before the first image")
	}
	b.image(c.whole())
	if b.file(markerFile) != "" {
		t.Error("the marker is there while logs are open")
	}
	if e := b.saw(event.Recovered); len(e) != 1 || e[0].Text != "clean" {
		t.Errorf("recovered %+v, want one clean log", e)
	}
	d.Kill()
	b = boot(t, cfg, d, c.whole())
	if e := b.saw(event.Recovered); len(e) != 1 || e[0].Text != "unclean" {
		t.Errorf("recovered %+v after a kill, want one unclean log", e)
	}
}

func TestMarkerBecomesThePreviousEpochOfTheNextRegistration(t *testing.T) {
	d := simdisk.New()
	cfg := testConfig(1)
	c := newCluster(1)
	b := boot(t, cfg, d, c.whole())
	b.stop()
	if b.exit != cleanExit || b.file(markerFile) != `{"version":0,"brokerEpoch":77}` {
		t.Fatalf("exit %q, marker %q", b.exit, b.file(markerFile))
	}
	d.Kill()
	got := postedTo[directoriesPost](newBench(t, cfg, d, node.Logs), node.Lifecycle)
	if len(got) != 1 || got[0].PreviousEpoch != 77 {
		t.Errorf("next start told %+v", got)
	}
}

func TestMarkerIsWrittenAfterFlushAndCheckpoints(t *testing.T) {
	d := simdisk.New()
	cfg := testConfig(2)
	c := newCluster(1)
	c.topic(4, 1, 1)
	b := boot(t, cfg, d, c.whole())
	b.produce(1, map[int32][]byte{0: batchOf("a"), 1: batchOf("b", "c"), 2: batchOf("d"), 3: batchOf("e")})
	looked := 0
	b.onSync = func() {
		if b.file(markerFile) == "" {
			return
		}
		looked++
		want := "0\n4\norders 0 1\norders 1 2\norders 2 1\norders 3 1\n"
		for _, file := range []checkpointFile{recoveryPoints, highWatermarks} {
			if got, _ := d.ReadFile(durableSide, string(file)); string(got) != want {
				t.Errorf("marker is there while %s is durably %q", file, got)
			}
		}
		for n, records := range []int{1, 2, 1, 1} {
			if got := durableEnd(t, d, orders(int32(n))); got != kafka.Offset(records) {
				t.Errorf("marker is there while orders-%d is durable up to %d of %d", n, got, records)
			}
		}
	}
	b.stop()
	if b.exit != cleanExit || b.file(markerFile) == "" {
		t.Fatalf("exit %q, marker %q", b.exit, b.file(markerFile))
	}
	if looked == 0 {
		t.Error("no sync was looked at while the marker was there")
	}
	d.PowerLoss(faultdisk.LoseAll, nil)
	if got := durableEnd(t, d, orders(1)); got != 2 {
		t.Errorf("after a power loss orders-1 ends at %d, want 2", got)
	}
}

func TestCheckpointsAreWrittenOnTheirSchedules(t *testing.T) {
	d := simdisk.New()
	cfg := testConfig(2)
	c := newCluster(1)
	c.topic(2, 1, 1)
	b := boot(t, cfg, d, c.whole())
	b.produce(1, map[int32][]byte{0: batchOf("a"), 1: batchOf("b", "c")})
	b.advance(4999 * time.Millisecond)
	if got := b.file(string(highWatermarks)); got != "" {
		t.Errorf("high watermarks after 4.999 s: %q", got)
	}
	b.advance(time.Millisecond)
	if got, want := b.file(string(highWatermarks)), "0\n2\norders 0 1\norders 1 2\n"; got != want {
		t.Errorf("high watermarks after 5 s: %q, want %q", got, want)
	}
	if got := b.file(string(recoveryPoints)); got != "" {
		t.Errorf("recovery points after 5 s: %q", got)
	}
	b.advance(25 * time.Second)
	if got, want := b.file(string(recoveryPoints)), "0\n2\norders 0 0\norders 1 0\n"; got != want {
		t.Errorf("recovery points after 30 s: %q, want %q: nothing was synced", got, want)
	}
	if got, want := b.file(string(logStarts)), "0\n0\n"; got != want {
		t.Errorf("log starts after 30 s: %q, want %q", got, want)
	}
}

func TestHighWatermarkOfTheCheckpointIsTheHintOfTheNextLife(t *testing.T) {
	d := simdisk.New()
	cfg := testConfig(1)
	c := newCluster(2)
	c.topic(1, 1, 1)
	b := boot(t, cfg, d, c.whole())
	b.produce(1, map[int32][]byte{0: batchOf("a", "b", "c")})
	b.advance(5 * time.Second)
	d.Kill()
	c.elect(2, 2) // the next life follows, so nothing moves the hint
	b = boot(t, cfg, d, c.whole())
	if e := b.saw(event.BecameFollower); len(e) != 1 || e[0].HighWatermark != 3 || e[0].End != 3 {
		t.Errorf("became follower with %+v, want high watermark 3", e)
	}
}

func TestReplicaThatIsNotMeantToBeHereIsSetAside(t *testing.T) {
	for name, change := range map[string]func(*cluster) imagePost{
		"deleted topic": func(*cluster) imagePost { return newCluster(2).whole() },
		"recreated topic": func(*cluster) imagePost {
			c := newCluster(2)
			ordersID[0]++
			c.topic(1, 1, 1)
			ordersID[0]--
			return c.whole()
		},
		"moved to another broker": func(*cluster) imagePost {
			c := newCluster(2)
			c.topic(1, 2, 2)
			return c.whole()
		},
	} {
		d := simdisk.New()
		cfg := testConfig(1)
		c := newCluster(2)
		c.topic(1, 1, 1)
		b := boot(t, cfg, d, c.whole())
		b.produce(1, map[int32][]byte{0: batchOf("a")})
		d.Kill()
		b = boot(t, cfg, d, change(c))
		stray := 0
		for _, path := range d.Paths(cachedSide) {
			if strings.HasPrefix(path, "orders-0.") && strings.HasSuffix(path, straySuffix+"/") {
				stray++
			}
		}
		if stray != 1 {
			t.Errorf("%s: %d stray directories among %v", name, stray, d.Paths(cachedSide))
		}
		if e := b.saw(event.Recovered); len(e) != 0 {
			t.Errorf("%s: the stray replica was opened: %+v", name, e)
		}
	}
}
