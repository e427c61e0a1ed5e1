package inspect_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/storage"
	"tidemark/node/storage/inspect"
)

// engine is one log of package storage on a simulated disk.
type engine struct {
	t     *rapid.T
	disk  *simdisk.Disk
	fs    disk.FS
	syncs *node.Syncs
	dues  []due
	now   int64
	log   *storage.Log
	epoch kafka.LeaderEpoch
	pids  [3]writer

	compacted bool // cleanup.policy is compact
	cleaned   int  // passes of the cleaner
	points    bool // recovery points are written
}

type due struct {
	token disk.Token
	at    int64
	sync  simdisk.Sync
}

// writer is a producer with transactions.
type writer struct {
	epoch    kafka.ProducerEpoch
	sequence kafka.Sequence
}

func (e *engine) Now() int64      { return e.now }
func (e *engine) Charge(ns int64) { e.now += ns }
func (e *engine) Step()           {}
func (e *engine) Complete(t disk.Token, at int64, s simdisk.Sync) {
	e.dues = append(e.dues, due{t, at, s})
}

// settle delivers every completion.
func (e *engine) settle() {
	for len(e.dues) > 0 {
		d := e.dues[0]
		e.dues = e.dues[1:]
		e.now = max(e.now, d.at)
		e.syncs.Synced(d.token, e.disk.Finish(d.sync, e.now).Err)
	}
}

// open begins a life; old is the log of the life before.
func (e *engine) open(old *storage.Log, clean bool) {
	e.fs = e.disk.View("data-0", e)
	e.openOn(e.fs, old, clean)
}

// openOn opens the log on the lane's file system, or on one around it.
func (e *engine) openOn(fs disk.FS, old *storage.Log, clean bool) {
	e.syncs, e.dues = node.NewSyncs(), nil
	cfg := storage.DefaultConfig()
	cfg.SegmentBytes, cfg.IndexIntervalBytes = 2000, 300
	if e.compacted {
		cfg.Compacted, cfg.MinCleanableRatio = true, 10000
	}
	o := storage.Opening{Clean: clean, TopicID: kafka.UUID{1}, Syncs: e.syncs, Now: 1000}
	if old != nil {
		o.RecoveryPoint, o.LogStart = old.RecoveryPoint(), old.LogStart()
	}
	log, _, err := storage.Open(fs, "t-0", cfg, o)
	if err != nil {
		e.t.Fatal(err)
	}
	e.log = log
}

// append appends a batch of one of the producers, or of none.
func (e *engine) append(producer, n int, codec record.Codec, transactional bool) {
	o := record.NoProducer()
	if producer < len(e.pids) {
		o.ProducerID, o.ProducerEpoch, o.BaseSequence, o.Transactional = kafka.ProducerID(producer), e.pids[producer].epoch, e.pids[producer].sequence, transactional
	}
	b := record.NewBuilder(o)
	for i := range n {
		b.Append(kafka.Timestamp(1000+e.now%50)+kafka.Timestamp(i%4), []byte{byte(i)}, make([]byte, 40*i), nil)
	}
	batch := b.Build()
	if codec != record.None {
		batch = b.BuildCompressed(new(record.Deflater), codec)
	}
	// A producer that the log knows otherwise, after a cut, is refused: that is fine.
	if _, code, err := e.log.AppendAsLeader(batch, e.epoch, 1000); err != nil {
		e.t.Fatal(err)
	} else if code == kafka.None && producer < len(e.pids) {
		e.pids[producer].sequence = e.pids[producer].sequence.Add(int32(n))
	}
}

// end ends a producer's transaction, under the next epoch of its id.
func (e *engine) end(producer int, how record.ControlType) {
	e.pids[producer].epoch++
	e.pids[producer].sequence = 0
	m := storage.Marker{ProducerID: kafka.ProducerID(producer), ProducerEpoch: e.pids[producer].epoch, Type: how, TransactionVersion: 2}
	if _, _, err := e.log.AppendMarker(m, e.epoch, 1000); err != nil {
		e.t.Fatal(err)
	}
}

// step does one thing that a broker does to a log.
func (e *engine) step(r *rapid.T) {
	end := e.log.LogEnd()
	switch rapid.IntRange(0, 13).Draw(r, "step") {
	case 0:
		e.epoch++
	case 1:
		e.cut(end - kafka.Offset(rapid.IntRange(0, 30).Draw(r, "back")))
	case 2:
		e.log.Flush(nil)
	case 3:
		e.settle()
	case 4, 5, 6:
		e.end(rapid.IntRange(0, len(e.pids)-1).Draw(r, "producer"), record.ControlType(rapid.IntRange(0, 1).Draw(r, "commit")))
	case 13:
		e.raise(end - kafka.Offset(rapid.IntRange(0, int(end-e.log.LogStart())).Draw(r, "kept")))
	default:
		e.append(rapid.IntRange(0, len(e.pids)).Draw(r, "producer"), rapid.IntRange(1, 9).Draw(r, "records"),
			record.Codec(rapid.IntRange(0, 4).Draw(r, "codec")), rapid.Bool().Draw(r, "transactional"))
	}
}

// cut truncates as a follower would, whose leader is of a later epoch.
func (e *engine) cut(o kafka.Offset) {
	if o < e.log.LogStart() {
		return
	}
	if err := e.log.TruncateTo(o); err != nil {
		e.t.Fatal(err)
	}
	e.truncated()
}

// truncated is behind a truncation: a broker writes the recovery point before it goes on.
func (e *engine) truncated() {
	e.epoch++
	if e.points {
		e.write(storage.RecoveryPointCheckpoint, e.log.RecoveryPoint())
	}
}

// raise deletes the records below o, as DeleteRecords does.
func (e *engine) raise(o kafka.Offset) {
	e.log.SetHighWatermark(e.log.LogEnd())
	if err := e.log.RaiseLogStart(o); err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.log.DeleteOldSegments(1000); err != nil {
		e.t.Fatal(err)
	}
	e.write(storage.LogStartCheckpoint, e.log.LogStart())
}

// write writes an offset checkpoint, and waits for it.
func (e *engine) write(name string, o kafka.Offset) {
	storage.NewAtomicFile(e.fs, e.syncs, name).Write(checkpoint(o), func(error) {})
	e.settle()
}

// checkpoint is the content of an offset checkpoint.
func checkpoint(o kafka.Offset) []byte {
	entry := storage.OffsetEntry{TP: kafka.TopicPartition{Topic: "t"}, Offset: o}
	return storage.CheckpointContent(storage.OffsetLines([]storage.OffsetEntry{entry}))
}

func (e *engine) sound(when string) {
	if sum, err := inspect.Verify(inspect.On(e.fs), "", inspect.Options{}); err != nil {
		e.t.Fatalf("%s: %v, after %d batches", when, err, sum.Batches)
	}
}

// marked are the files of a directory with what a clean stop writes, the marker and the
// checkpoints, which no disk has: there a power loss would bring the marker back.
type marked struct {
	inspect.Files
	log *storage.Log
}

type marker struct{ *strings.Reader }

func (m marker) Size() (int64, error) { return m.Reader.Size(), nil }

func (marker) Close() error { return nil }

func (m marked) Open(name string) (inspect.File, error) {
	switch name {
	case ".kafka_cleanshutdown":
		return marker{strings.NewReader(`{"version":0,"brokerEpoch":7}`)}, nil
	case storage.RecoveryPointCheckpoint:
		return marker{strings.NewReader(string(checkpoint(m.log.LogEnd())))}, nil
	case storage.LogStartCheckpoint:
		return marker{strings.NewReader(string(checkpoint(m.log.LogStart())))}, nil
	}
	return m.Files.Open(name)
}

// stopped checks the directory as one behind a clean stop: nothing is left to mend,
// though files of earlier lives may still lie there.
func (e *engine) stopped() {
	sum, err := inspect.Verify(marked{inspect.On(e.fs), e.log}, "", inspect.Options{})
	if err != nil {
		e.t.Fatalf("stopped: %v", err)
	}
	for _, n := range sum.Notes {
		if n.Text != "left behind, not checked" {
			e.t.Fatalf("stopped: %v", n)
		}
	}
}

// Whatever was done to a log, its files agree with each other: while it is open,
// after a kill, after the recovery from a power loss that took all that was not synced,
// nothing, or some of it, and behind a clean stop.
func TestWhatTheEngineWritesIsSound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		e := &engine{t: r, disk: simdisk.New()}
		e.open(nil, false)
		for range rapid.IntRange(1, 3).Draw(r, "lives") {
			for range rapid.IntRange(1, 40).Draw(r, "steps") {
				e.step(r)
			}
			e.sound("open")
			old := e.log
			switch rapid.IntRange(0, 2).Draw(r, "death") {
			case 0:
				e.disk.Kill()
				e.open(old, false)
			case 1:
				e.disk.PowerLoss(simdisk.Loss(rapid.IntRange(0, 2).Draw(r, "loss")), rand.New(rand.NewPCG(1, uint64(e.now))).Uint64N)
				e.open(old, false)
			case 2:
				e.log.Stop(func(error) {})
				e.settle()
				e.stopped()
				e.disk.Kill()
				e.open(old, true)
			}
			e.sound("opened again")
		}
	})
}
