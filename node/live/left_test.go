package live_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"tidemark/disk"
	"tidemark/disk/osdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/storage"
)

// still is a host of a simulated disk on which no time passes.
type still struct{}

func (still) Now() int64                               { return 0 }
func (still) Charge(int64)                             {}
func (still) Step()                                    {}
func (still) Complete(disk.Token, int64, simdisk.Sync) {}

// copyLog copies a log's files to another file system.
func copyLog(t *testing.T, from, to disk.FS, dir string) {
	t.Helper()
	names, err := from.List(dir)
	if err == nil {
		err = to.Mkdir(dir)
	}
	for _, name := range names {
		if err == nil {
			err = copyFile(from, to, dir+"/"+name)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(from, to disk.FS, name string) error {
	src, err := from.Open(name)
	if err != nil {
		return err
	}
	size, err := src.Size()
	if err != nil {
		return err
	}
	content := make([]byte, size)
	if _, err := src.ReadAt(content, 0); err != nil && size > 0 {
		return err
	}
	dst, err := to.Create(name)
	if err != nil {
		return err
	}
	_, err = dst.WriteAt(content, 0)
	return err
}

// whole opens a log as after an unclean stop and checks every batch of it. It
// returns the log end.
func whole(t *testing.T, fs disk.FS, dir string) kafka.Offset {
	t.Helper()
	log, rec, err := storage.Open(fs, dir, storage.DefaultConfig(), storage.Opening{Syncs: node.NewSyncs()})
	if err != nil || rec.CutAt != kafka.NoOffset {
		t.Fatalf("%s: %v, %+v", dir, err, rec)
	}
	next := log.LogStart()
	for next < log.LogEnd() {
		batches, err := log.ReadBatches(next, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for len(batches) > 0 {
			var b record.Batch
			if b, batches, err = record.Next(batches); err != nil {
				t.Fatal(err)
			}
			if err := b.Check(); err != nil || b.BaseOffset() != next {
				t.Fatalf("%s: batch at %d, expected at %d: %v", dir, b.BaseOffset(), next, err)
			}
			next = b.NextOffset()
		}
	}
	return next
}

func TestDirectoriesOfAKilledClusterAreRecoveredOnRealAndOnSimulatedDisks(t *testing.T) {
	c := newCluster(t)
	c.add(101, false, true)
	for id := kafka.BrokerID(1); id <= 3; id++ {
		c.add(id, true, false)
	}
	c.failover()
	for id := range c.nodes {
		c.nodes[id].Kill()
	}
	for id := 1; id <= 3; id++ {
		d, err := osdisk.Open(filepath.Join(c.dir, strconv.Itoa(id)))
		if err != nil {
			t.Fatal(err)
		}
		real := d.View(func(disk.Token, error) {})
		simulated := simdisk.New().View("data-0", still{})
		copyLog(t, real, simulated, "orders-0")
		onSim := whole(t, simulated, "orders-0")
		if onReal := whole(t, real, "orders-0"); onReal != onSim || onReal < 300 {
			t.Errorf("broker %d: the log ends at %d on the real disk, at %d on the simulated one; 300 records were acknowledged", id, onReal, onSim)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
