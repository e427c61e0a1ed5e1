package inspect_test

import (
	"iter"
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/rules"
	"tidemark/node/storage"
	"tidemark/node/storage/inspect"
)

// halting is a file system that halts before each operation that changes it.
type halting struct {
	disk.FS
	halt func()
}

func (h halting) Open(name string) (disk.File, error) {
	f, err := h.FS.Open(name)
	return haltingFile{f, h.halt}, err
}

func (h halting) Create(name string) (disk.File, error) {
	h.halt()
	f, err := h.FS.Create(name)
	return haltingFile{f, h.halt}, err
}

func (h halting) Rename(from, to string) error {
	h.halt()
	return h.FS.Rename(from, to)
}

func (h halting) Remove(name string) error {
	h.halt()
	return h.FS.Remove(name)
}

type haltingFile struct {
	disk.File
	halt func()
}

func (f haltingFile) WriteAt(p []byte, off int64) (int, error) {
	f.halt()
	return f.File.WriteAt(p, off)
}

func (f haltingFile) Truncate(size int64) error {
	f.halt()
	return f.File.Truncate(size)
}

// beside reads while an engine works: each operation of the reader lets the engine
// do as many as the next of strides says.
type beside struct {
	inspect.Files
	work    func() (struct{}, bool)
	strides []int
	ops     int
}

func (b *beside) turn() {
	for range b.strides[b.ops%len(b.strides)] {
		b.work()
	}
	b.ops++
}

func (b *beside) List(dir string) ([]string, error) {
	b.turn()
	return b.Files.List(dir)
}

func (b *beside) Open(name string) (inspect.File, error) {
	b.turn()
	f, err := b.Files.Open(name)
	return besideFile{f, b}, err
}

type besideFile struct {
	inspect.File
	b *beside
}

func (f besideFile) ReadAt(p []byte, off int64) (int, error) {
	f.b.turn()
	return f.File.ReadAt(p, off)
}

func (f besideFile) Size() (int64, error) {
	f.b.turn()
	return f.File.Size()
}

// CleanerLogs implements storage.CleanerHost.
func (e *engine) CleanerLogs() []*storage.Log { return []*storage.Log{e.log} }

// CheckpointRecoveryPoint implements storage.CleanerHost.
func (e *engine) CheckpointRecoveryPoint(_ *storage.Log, done func()) { done() }

// Cleaned implements storage.CleanerHost.
func (e *engine) Cleaned(*storage.Log, storage.CleanerStats) { e.cleaned++ }

// CleanerWake implements storage.CleanerHost.
func (e *engine) CleanerWake() {}

// work does n things that a broker does to a log, retention and the cleaner among
// them.
func (e *engine) work(n int) {
	broker, err := kafka.NewConfig(kafka.BrokerScope)
	if err != nil {
		e.t.Fatal(err)
	}
	cleaner := storage.NewCleaner(storage.CleanerConfigOf(broker, 1), rules.Current().Cleaner, e)
	for range n {
		e.log.SetHighWatermark(e.log.LogEnd())
		switch rapid.IntRange(0, 9).Draw(e.t, "work") {
		case 0:
			e.raise((e.log.LogStart() + e.log.LogEnd()) / 2)
		case 1, 2:
			e.log.Flush(nil)
			e.settle()
			for range 100 {
				if cleaner.Step(1000) > 0 {
					break
				}
				e.settle()
			}
		case 3:
			e.log.Flush(nil)
			e.settle()
			if e.points {
				e.write(storage.RecoveryPointCheckpoint, e.log.RecoveryPoint())
			}
		default:
			e.step(e.t)
		}
	}
}

// Whatever the engine is doing to a log between two operations of the reader, it is
// sound.
func TestALogIsSoundWhileTheEngineWorks(t *testing.T) {
	cleaned := 0
	rapid.Check(t, func(r *rapid.T) {
		e := &engine{t: r, disk: simdisk.New(), compacted: true}
		e.open(nil, false)
		for range rapid.IntRange(0, 30).Draw(r, "before") {
			e.step(r)
		}
		reader := inspect.On(e.fs)
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			e.openOn(halting{e.fs, func() { yield(struct{}{}) }}, e.log, false)
			e.work(rapid.IntRange(1, 60).Draw(r, "works"))
		})
		defer stop()
		b := &beside{Files: reader, work: next, strides: rapid.SliceOfN(rapid.IntRange(0, 6), 1, 8).Draw(r, "strides")}
		again := func(int) {
			for range 40 {
				next()
			}
		}
		if sum, err := inspect.Verify(b, "", inspect.Options{Again: again}); err != nil {
			r.Fatalf("%v, after %d batches", err, sum.Batches)
		}
		cleaned += e.cleaned
	})
	if cleaned == 0 {
		t.Error("the cleaner was never at work")
	}
}
