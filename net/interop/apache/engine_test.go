package apache

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"tidemark/disk"
	"tidemark/disk/osdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node"
	"tidemark/node/storage"
	"tidemark/node/storage/inspect"
)

// lane is as much of a node as its logs need: a disk of real files and the ends
// of its syncs.
type lane struct {
	t     *testing.T
	dir   string
	disk  *osdisk.Disk
	fs    disk.FS
	syncs *node.Syncs
	ends  chan func()
	now   kafka.Timestamp // the wall clock, ms
	logs  []*storage.Log  // that the cleaner looks at
}

// boot begins a life on a directory.
func boot(t *testing.T, dir string) *lane {
	t.Helper()
	n := &lane{t: t, dir: dir, syncs: node.NewSyncs(), ends: make(chan func(), 1000), now: kafka.Timestamp(time.Now().UnixMilli())}
	var err error
	if n.disk, err = osdisk.Open(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.kill)
	n.fs = n.disk.View(func(token disk.Token, err error) { n.ends <- func() { n.syncs.Synced(token, err) } })
	return n
}

// kill ends the life; files stay as they are.
func (n *lane) kill() {
	if n.disk != nil {
		n.disk.Close()
		n.disk = nil
	}
}

// await runs an operation and delivers the ends of syncs until it is done.
func (n *lane) await(what string, start func(done func(error))) {
	n.t.Helper()
	ended := false
	start(func(err error) {
		ended = true
		if err != nil {
			n.t.Fatalf("%s: %v", what, err)
		}
	})
	for !ended {
		n.turn(what)
	}
}

// turn delivers the end of one sync.
func (n *lane) turn(what string) {
	n.t.Helper()
	select {
	case end := <-n.ends:
		end()
	case <-time.After(within):
		n.t.Fatalf("%s does not end", what)
	}
}

// open opens a new replica.
func (n *lane) open(name string, cfg storage.Config) *storage.Log {
	n.t.Helper()
	l, _, err := storage.Open(n.fs, name, cfg, storage.Opening{TopicID: topicOf(name), Syncs: n.syncs, Now: n.now})
	if err != nil {
		n.t.Fatal(err)
	}
	return l
}

// recover opens a replica after a kill, as the log of the life before left it.
func (n *lane) recover(old *storage.Log) *storage.Log {
	n.t.Helper()
	l, rec, err := storage.Open(n.fs, old.Dir(), old.Config(), storage.Opening{RecoveryPoint: old.RecoveryPoint(), LogStart: old.LogStart(),
		CleanedUpTo: max(0, old.CleanedUpTo()), TopicID: old.TopicID(), Syncs: n.syncs, Now: n.now})
	if err != nil {
		n.t.Fatal(err)
	}
	if rec.CutAt != kafka.NoOffset {
		n.t.Logf("%s: cut at offset %d, byte %d: %s", l.Dir(), rec.CutAt, rec.CutPos, rec.Reason)
	}
	if l.LogEnd() != old.LogEnd() {
		n.t.Errorf("%s ends at %d after recovery, before at %d", l.Dir(), l.LogEnd(), old.LogEnd())
	}
	l.SetHighWatermark(l.LogEnd())
	return l
}

// topicOf makes a topic id out of a name.
func topicOf(name string) (id kafka.UUID) {
	copy(id[:], name)
	id[15] = 1
	return id
}

// small are settings under which a log of some hundred kilobytes has segments.
func small() storage.Config {
	c := storage.DefaultConfig()
	c.SegmentBytes = 64 << 10
	return c
}

// writer makes the batches of one producer.
type writer struct {
	id       kafka.ProducerID
	epoch    kafka.ProducerEpoch
	sequence kafka.Sequence
	codec    record.Codec
	deflater *record.Deflater
	txn      bool
}

// batch is the next batch of n records; size is that of a value, 0 makes
// tombstones.
func (w *writer) batch(now kafka.Timestamp, first, n, size int) record.Batch {
	o := record.NoProducer()
	if w.id != kafka.NoProducerID {
		o.ProducerID, o.ProducerEpoch, o.BaseSequence, o.Transactional = w.id, w.epoch, w.sequence, w.txn
		w.sequence = w.sequence.Add(int32(n))
	}
	b := record.NewBuilder(o)
	for i := range n {
		var value []byte
		if size > 0 {
			value = text(first+i, size)
		}
		b.Append(now+kafka.Timestamp(i%3), fmt.Appendf(nil, "key-%d", (first+i)%50), value, []record.Header{{Key: "n", Value: []byte{byte(i)}}})
	}
	if w.codec == record.None {
		return b.Build()
	}
	return b.BuildCompressed(w.deflater, w.codec)
}

// append appends as the leader of an epoch.
func (n *lane) append(l *storage.Log, b record.Batch, epoch kafka.LeaderEpoch) {
	n.t.Helper()
	n.now += 7
	if _, code, err := l.AppendAsLeader(b, epoch, n.now); code != kafka.None {
		n.t.Fatalf("append to %s: %v %v", l.Dir(), code, err)
	}
	l.SetHighWatermark(l.LogEnd())
}

func (n *lane) end(l *storage.Log, w *writer, how record.ControlType) {
	n.t.Helper()
	n.now += 7
	w.epoch++ // as from transaction.version 2 on
	w.sequence = 0
	m := storage.Marker{ProducerID: w.id, ProducerEpoch: w.epoch, CoordinatorEpoch: 3, Type: how, TransactionVersion: 2}
	if _, code, err := l.AppendMarker(m, 0, n.now); code != kafka.None {
		n.t.Fatalf("marker on %s: %v %v", l.Dir(), code, err)
	}
	l.SetHighWatermark(l.LogEnd())
}

// workload makes replicas of every kind and returns their logs.
func workload(n *lane) (logs []*storage.Log) {
	for c := record.None; c <= record.Zstd; c++ {
		l := n.open("codec-"+c.String()+"-0", small())
		w := &writer{id: 100 + kafka.ProducerID(c), codec: c, deflater: new(record.Deflater)}
		for i := range 150 {
			n.append(l, w.batch(n.now, i*20, 20, 300+i), kafka.LeaderEpoch(i/60))
		}
		logs = append(logs, l)
	}
	plain := n.open("plain-0", small())
	for i := range 50 {
		n.append(plain, (&writer{id: kafka.NoProducerID}).batch(n.now, i, 1, 2000), 0)
	}
	return append(logs, plain, transactional(n), compacted(n), truncated(n), deleted(n))
}

// transactional has transactions that overlap, commit, abort and stay open.
func transactional(n *lane) *storage.Log {
	l := n.open("payments-0", small())
	n.overlap(l)
	return l
}

// overlap writes transactions that overlap, commit, abort and stay open.
func (n *lane) overlap(l *storage.Log) {
	a, b := &writer{id: 1, txn: true}, &writer{id: 2, txn: true}
	plain := &writer{id: 3}
	for i := range 60 {
		n.append(l, a.batch(n.now, i, 5, 400), 0)
		n.append(l, b.batch(n.now, i, 3, 400), 0)
		n.append(l, plain.batch(n.now, i, 2, 400), 0)
		n.append(l, a.batch(n.now, i, 2, 400), 0)
		switch i % 3 {
		case 0:
			n.end(l, a, record.Commit)
			n.end(l, b, record.Abort)
		case 1:
			n.end(l, b, record.Abort)
			n.end(l, a, record.Abort)
		case 2:
			n.end(l, a, record.Abort)
			n.end(l, b, record.Commit)
		}
	}
	n.append(l, a.batch(n.now, 0, 5, 400), 0)
}

// truncated was cut inside a segment, at a segment's base and inside an epoch, and
// went on in later epochs.
func truncated(n *lane) *storage.Log {
	l := n.open("cut-0", small())
	w := &writer{id: 7}
	for epoch := range kafka.LeaderEpoch(4) {
		for i := range 60 {
			n.append(l, w.batch(n.now, i, 4, 500), epoch)
		}
		if err := l.TruncateTo(l.LogEnd() - 70); err != nil {
			n.t.Fatal(err)
		}
		n.await("flush", l.Flush)
		w.epoch, w.sequence = w.epoch+1, 0
	}
	return l
}

// deleted lost its first segments to DeleteRecords.
func deleted(n *lane) *storage.Log {
	l := n.open("short-0", small())
	w := &writer{id: 9}
	for i := range 120 {
		n.append(l, w.batch(n.now, i, 4, 500), kafka.LeaderEpoch(i/50))
	}
	n.await("flush", l.Flush)
	if err := l.RaiseLogStart(333); err != nil {
		n.t.Fatal(err)
	}
	if _, err := l.DeleteOldSegments(n.now); err != nil {
		n.t.Fatal(err)
	}
	return l
}

// compacted has keys written again and again, tombstones, and transactions, and was
// cleaned.
func compacted(n *lane) *storage.Log {
	l := n.open("table-0", table64())
	n.rewrite(l)
	return l
}

// table64 are the settings of a compacted log of small segments.
func table64() storage.Config {
	cfg := small()
	cfg.Compacted, cfg.Delete, cfg.MinCleanableRatio = true, false, 10000
	return cfg
}

// rewrite writes keys again and again, tombstones and transactions, and cleans.
func (n *lane) rewrite(l *storage.Log) {
	w, txn := &writer{id: 11}, &writer{id: 12, txn: true}
	for i := range 100 {
		n.append(l, w.batch(n.now, i*7, 20, 200), 0)
		n.append(l, w.batch(n.now, i, 2, 0), 0)
		if i%10 == 0 {
			n.append(l, txn.batch(n.now, i, 5, 200), 0)
			n.end(l, txn, record.ControlType(i/10%2))
		}
		if i == 60 {
			n.clean(l)
		}
	}
	n.now += 2 * 86400000 // the tombstones' horizon passes
	n.clean(l)
	n.append(l, w.batch(n.now, 0, 20, 200), 0)
	n.append(l, w.batch(n.now, 20, 10, 0), 0)
}

// CleanerLogs implements storage.CleanerHost.
func (n *lane) CleanerLogs() []*storage.Log { return n.logs }

// CheckpointRecoveryPoint implements storage.CleanerHost.
func (n *lane) CheckpointRecoveryPoint(_ *storage.Log, done func()) { done() }

// Cleaned implements storage.CleanerHost.
func (n *lane) Cleaned(l *storage.Log, s storage.CleanerStats) {
	n.t.Logf("%s: cleaned up to %d, %d of %d records stay", l.Dir(), s.End, s.RecordsKept, s.RecordsRead)
}

// CleanerWake implements storage.CleanerHost.
func (n *lane) CleanerWake() {}

// clean runs the cleaner until it finds nothing to do.
func (n *lane) clean(l *storage.Log) {
	n.t.Helper()
	n.await("flush", l.Flush)
	n.logs = []*storage.Log{l}
	broker, err := kafka.NewConfig(kafka.BrokerScope)
	if err != nil {
		n.t.Fatal(err)
	}
	before := l.CleanedUpTo()
	c := storage.NewCleaner(storage.CleanerConfigOf(broker, 1), rules.Current().Cleaner, n)
	for range 10000 {
		switch wait := c.Step(n.now); {
		case wait < 0:
			n.turn("cleaning " + l.Dir())
		case wait > 0 && l.CleanedUpTo() > before:
			return
		case wait > 0:
			n.now += kafka.Timestamp(wait)
		}
	}
	n.t.Fatalf("%s is not cleaned: %d", l.Dir(), l.CleanedUpTo())
}

// write makes a file of the log directory.
func (n *lane) write(name, content string) {
	n.t.Helper()
	f := storage.NewAtomicFile(n.fs, n.syncs, name)
	n.await("write "+name, func(done func(error)) { f.Write([]byte(content), done) })
}

// checkpoint writes the files at the top of the directory.
func (n *lane) checkpoint(logs []*storage.Log) {
	n.t.Helper()
	n.offsets(logs)
	n.write("meta.properties", "version=1\ncluster.id="+clusterID+"\nnode.id=1\ndirectory.id=q6bvgd6RM4AK43DBX5M4MQ\n")
}

// offsets writes the offset checkpoints.
func (n *lane) offsets(logs []*storage.Log) {
	n.t.Helper()
	var recovery, start, hw, cleaned []storage.OffsetEntry
	for _, l := range logs {
		tp, _ := inspect.ReplicaOf(filepath.Base(l.Dir()))
		recovery = append(recovery, storage.OffsetEntry{TP: tp, Offset: l.RecoveryPoint()})
		hw = append(hw, storage.OffsetEntry{TP: tp, Offset: l.HighWatermark()})
		if l.StartUnnamed() {
			start = append(start, storage.OffsetEntry{TP: tp, Offset: l.LogStart()})
		}
		if o := l.CleanedUpTo(); o != kafka.NoOffset && l.Config().Compacted {
			cleaned = append(cleaned, storage.OffsetEntry{TP: tp, Offset: o})
		}
	}
	for _, c := range []struct {
		name    string
		entries []storage.OffsetEntry
	}{{storage.RecoveryPointCheckpoint, recovery}, {storage.LogStartCheckpoint, start}, {storage.HighWatermarkCheckpoint, hw}, {storage.CleanerCheckpoint, cleaned}} {
		n.write(c.name, string(storage.CheckpointContent(storage.OffsetLines(c.entries))))
	}
}
