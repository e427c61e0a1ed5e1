package apache

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/storage"
)

// What a follower of ours makes of the batches of Kafka's leader, one append for
// each as the leader had: the same segments, indexes, snapshots and epochs, byte for
// byte. Compacted topics are left out, as their batches are not what was appended.
func TestAFollowerOfABrokerMakesTheSameFiles(t *testing.T) {
	ctx := deadline(t)
	b := newBroker(t, filepath.Join(t.TempDir(), "leader"))
	b.format()
	b.start()
	simpleTraffic(ctx, t, b.address)
	createTopic(ctx, t, b.address, "payments", nil)
	transactions(ctx, t, b.address, "payments", 20)
	b.stop()

	n := boot(t, filepath.Join(t.TempDir(), "follower"))
	cfg := storage.DefaultConfig()
	cfg.SegmentBytes = 1 << 20
	replicas := append(simpleTopics(), "payments")
	for _, topic := range replicas {
		l := n.open(topic+"-0", cfg)
		follow(t, l, filepath.Join(b.dir, topic+"-0"))
		n.await("stop "+topic, l.Stop)
	}
	kinds := map[string]int{}
	for _, topic := range replicas {
		sameFiles(t, filepath.Join(b.dir, topic+"-0"), filepath.Join(n.dir, topic+"-0"), kinds)
	}
	t.Logf("files that are equal: %v", kinds)
	for _, kind := range []string{".log", ".index", ".timeindex", ".txnindex", ".snapshot", ""} {
		if kinds[kind] == 0 {
			t.Errorf("no file %q was compared", kind)
		}
	}
}

// follow appends the batches of a replica directory.
func follow(t *testing.T, l *storage.Log, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no log in %s: %v", dir, err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for len(content) > 0 {
			batch, rest, err := record.Next(content)
			if err == nil {
				_, err = l.AppendAsFollower(batch, kafka.LeaderEpoch(1<<30))
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			content = rest
		}
	}
}

// sameFiles compares two replica directories, and counts the files by suffix. The
// topic ids differ.
func sameFiles(t *testing.T, leader, follower string, kinds map[string]int) {
	t.Helper()
	want, got := contents(t, leader), contents(t, follower)
	for _, name := range union(want, got) {
		a, inLeader := want[name]
		b, inFollower := got[name]
		switch {
		case name == "partition.metadata":
		case inLeader != inFollower:
			t.Errorf("%s/%s: the leader has it: %v, the follower: %v", filepath.Base(leader), name, inLeader, inFollower)
		case !bytes.Equal(a, b):
			t.Errorf("%s/%s differs:\nleader   %d bytes\n%x\nfollower %d bytes\n%x", filepath.Base(leader), name, len(a), head(a), len(b), head(b))
		default:
			kinds[filepath.Ext(name)]++
		}
	}
}

func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
