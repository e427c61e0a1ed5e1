//go:build !js

package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node/storage"
)

// benchSlices is how many slices of work a median is of.
const benchSlices = 15

// slice is a piece of work that can be measured: it handles bytes in operations.
type slice struct {
	bytes, operations int
	do                func() error
	prepare           func() error // not measured; nil: nothing
}

// beside measures work and limit in turns, so that both see the same machine.
func (l *benchLane) beside(work string, batch int, w slice, limit string, x slice) (storageRow, error) {
	var took, limits []time.Duration
	var before, after runtime.MemStats
	allocs := uint64(0)
	for i := range benchSlices + 1 { // the first one warms up
		if w.prepare != nil {
			if err := w.prepare(); err != nil {
				return storageRow{}, fmt.Errorf("%s on %s: %w", work, l.name, err)
			}
		}
		runtime.ReadMemStats(&before)
		start := time.Now()
		err := w.do()
		took = append(took, time.Since(start))
		runtime.ReadMemStats(&after)
		if i > 0 {
			allocs += after.Mallocs - before.Mallocs
		}
		if err != nil {
			return storageRow{}, fmt.Errorf("%s on %s: %w", work, l.name, err)
		}
		start = time.Now()
		err = x.do()
		limits = append(limits, time.Since(start))
		if err != nil {
			return storageRow{}, fmt.Errorf("%s on %s: %w", limit, l.name, err)
		}
	}
	t, limitTook := median(took[1:]), median(limits[1:])
	r := storageRow{Disk: l.name, Work: work, BatchBytes: batch, Limit: limit,
		MBs: float64(w.bytes) / t / 1e6, NanosPerOp: t / float64(w.operations) * 1e9, AllocsPerOp: float64(allocs) / float64(benchSlices*w.operations),
		LimitMBs: float64(x.bytes) / limitTook / 1e6, LimitNanos: limitTook / float64(x.operations) * 1e9}
	r.Share = r.MBs / r.LimitMBs
	if w.bytes == 0 {
		r.Share = r.LimitNanos / r.NanosPerOp
	}
	return r, nil
}

// median is in seconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return all[len(all)/2].Seconds()
}

// batchOf is a batch of one record that has size bytes.
func batchOf(size int) record.Batch {
	for value := size - record.Overhead; ; value-- {
		b := record.NewBuilder(record.NoProducer())
		b.Append(1000, nil, make([]byte, value), nil)
		if batch := b.Build(); len(batch) <= size {
			return batch
		}
	}
}

// measure takes all rows on one disk, with logs of so many bytes.
func (l *benchLane) measure(total int) (rows []storageRow, err error) {
	for _, size := range []int{100, 1 << 10, 64 << 10} {
		some, err := l.measureLog(size, total)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	row, err := l.measureCleaning(total)
	return append(rows, row), err
}

// measureLog fills a log with batches of one size and uses it.
func (l *benchLane) measureLog(size, total int) ([]storageRow, error) {
	dir := fmt.Sprintf("append-%d", size)
	log, err := l.open(dir, storage.DefaultConfig())
	if err != nil {
		return nil, err
	}
	raw, err := l.fs.Create("raw-" + dir)
	if err != nil {
		return nil, err
	}
	n := max(total/size/benchSlices, 1)
	appended, err := l.beside("append", size, appending(log, size, n), "write", writing(raw, size, n))
	if err != nil {
		return nil, err
	}
	rows := []storageRow{appended}
	for _, m := range []func(*storage.Log, disk.File, int) (storageRow, error){l.measureReading, l.measureLookUp} {
		row, err := m(log, raw, size)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	if err := l.flush(log); err != nil {
		return nil, err
	}
	row, err := l.measureRecovery(log, raw, size)
	return append(rows, row), err
}

// appending appends n batches as a leader.
func appending(log *storage.Log, size, n int) slice {
	b := batchOf(size)
	return slice{bytes: n * len(b), operations: n, do: func() error {
		for range n {
			b.SetBaseOffset(0)
			if _, code, err := log.AppendAsLeader(b, 1, 1000); code != kafka.None {
				return fmt.Errorf("%s: %w", code, err)
			}
		}
		return nil
	}}
}

// writing writes the same bytes behind each other.
func writing(f disk.File, size, n int) slice {
	b, at := batchOf(size), int64(0)
	return slice{bytes: n * len(b), operations: n, do: func() error {
		for range n {
			if _, err := f.WriteAt(b, at); err != nil {
				return err
			}
			at += int64(len(b))
		}
		return nil
	}}
}

// fetchBytes is how much a read in order asks for, as a consumer's fetch does.
const fetchBytes = 1 << 20

// measureReading reads a log in order, again and again, and the same file without one.
func (l *benchLane) measureReading(log *storage.Log, raw disk.File, size int) (storageRow, error) {
	const reads = 8
	buf := make([]byte, fetchBytes)
	perRead := kafka.Offset(max(fetchBytes/len(batchOf(size)), 1))
	length := log.Size()
	from, at := kafka.Offset(0), int64(0)
	read := slice{bytes: fetchBytes * reads, operations: reads, do: func() error {
		for range reads {
			if from+2*perRead > log.LogEnd() {
				from = 0
			}
			s, err := log.Read(from, log.LogEnd(), fetchBytes, true)
			if err != nil {
				return err
			}
			err = s.Region.Read(buf[:s.Bytes])
			s.Region.Release()
			if err != nil || s.Bytes < fetchBytes/2 {
				return fmt.Errorf("%d bytes at offset %d: %w", s.Bytes, from, err)
			}
			from += perRead
		}
		return nil
	}}
	limit := slice{bytes: fetchBytes * reads, operations: reads, do: func() error {
		for range reads {
			if at+fetchBytes > length {
				at = 0
			}
			if _, err := raw.ReadAt(buf, at); err != nil {
				return err
			}
			at += fetchBytes
		}
		return nil
	}}
	return l.beside("read 1 MiB", size, read, "read", limit)
}

// pageBytes is what a look-up has to read at least, from the page cache.
const pageBytes = 4096

// measureLookUp finds batches at random offsets.
func (l *benchLane) measureLookUp(log *storage.Log, raw disk.File, size int) (storageRow, error) {
	const lookUps = 4000
	random := rand.New(rand.NewPCG(1, 1))
	find := slice{operations: lookUps, do: func() error {
		for range lookUps {
			s, err := log.Read(kafka.Offset(random.Int64N(int64(log.LogEnd()))), log.LogEnd(), 1, true)
			if err != nil {
				return err
			}
			s.Region.Release()
		}
		return nil
	}}
	buf := make([]byte, pageBytes)
	limit := slice{bytes: pageBytes * lookUps, operations: lookUps, do: func() error {
		for range lookUps {
			if _, err := raw.ReadAt(buf, random.Int64N(log.Size()-pageBytes)); err != nil {
				return err
			}
		}
		return nil
	}}
	return l.beside("look-up", size, find, "read of 4 KiB", limit)
}

// measureRecovery opens a log again and again after kills.
func (l *benchLane) measureRecovery(log *storage.Log, raw disk.File, size int) (storageRow, error) {
	total, end := int(log.Size()), log.LogEnd()
	scan := slice{bytes: total, operations: int(end), do: func() error {
		log.Close()
		again, err := l.open(log.Dir(), storage.DefaultConfig())
		if err != nil {
			return err
		}
		if log = again; log.LogEnd() != end {
			return fmt.Errorf("recovered %d offsets of %d", log.LogEnd(), end)
		}
		return nil
	}}
	buf, table := make([]byte, fetchBytes), crc32.MakeTable(crc32.Castagnoli)
	limit := slice{bytes: total / fetchBytes * fetchBytes, operations: int(end), do: func() error {
		for at := int64(0); at+fetchBytes <= int64(total); at += fetchBytes {
			if _, err := raw.ReadAt(buf, at); err != nil {
				return err
			}
			crc32.Update(0, table, buf)
		}
		return nil
	}}
	return l.beside("recovery scan", size, scan, "read and CRC-32C", limit)
}

// cleanedRecords is how many records a batch of the cleaned log has, of 100 bytes
// about; each key comes four times.
const cleanedRecords = 100

// measureCleaning fills and cleans a log, once for each slice.
func (l *benchLane) measureCleaning(total int) (storageRow, error) {
	total /= 4
	cfg := storage.DefaultConfig()
	cfg.SegmentBytes, cfg.Compacted, cfg.Delete, cfg.MinCleanableRatio = int32(max(total/4, 64<<10)), true, false, 0
	var log *storage.Log
	run := 0
	fill := func() error {
		run++
		var err error
		if log, err = l.open(fmt.Sprintf("clean-%d", run), cfg); err != nil {
			return err
		}
		for i := 0; log.Size() < int64(total); i++ {
			if _, code, err := log.AppendAsLeader(keyedBatch(i, total/cleanedRecords/4), 1, 1000); code != kafka.None {
				return fmt.Errorf("%s: %w", code, err)
			}
		}
		log.SetHighWatermark(log.LogEnd())
		return l.flush(log)
	}
	raw, err := l.fs.Create("raw-clean")
	if err != nil {
		return storageRow{}, err
	}
	if _, err := raw.WriteAt(make([]byte, total), 0); err != nil {
		return storageRow{}, err
	}
	pass := slice{bytes: total, operations: total / cleanedRecords, do: func() error { return l.clean(log) }, prepare: fill}
	buf := make([]byte, total)
	limit := slice{bytes: total, operations: total / cleanedRecords, do: func() error { // the log is read twice, and a quarter of it written
		for range 2 {
			if _, err := raw.ReadAt(buf, 0); err != nil {
				return err
			}
		}
		_, err := raw.WriteAt(buf[:total/4], 0)
		return err
	}}
	return l.beside("clean", cleanedRecords*cleanedRecords, pass, "two reads, one write", limit)
}

// keyedBatch is the i-th batch of a log with so many keys.
func keyedBatch(i, keys int) record.Batch {
	b := record.NewBuilder(record.NoProducer())
	value := make([]byte, 80)
	for k := range cleanedRecords {
		b.Append(1000, binary.BigEndian.AppendUint64(nil, uint64((i*cleanedRecords+k)%keys)), value, nil)
	}
	return b.Build()
}

// clean is one pass of a cleaner over a log.
func (l *benchLane) clean(log *storage.Log) error {
	h := &cleanHost{log: log}
	c := storage.NewCleaner(storage.CleanerConfig{DedupeBufferBytes: 2 << 20, LoadFactor: 900_000, IOBufferBytes: 256 << 10, BackoffMs: 1, MaxBytesPerSecond: 1 << 60},
		rules.Current().Cleaner, h)
	for !h.over {
		if c.Step(5000) != -1 {
			continue
		}
		for h.wake = false; !h.wake && !h.over; {
			if err := l.next(); err != nil {
				return err
			}
		}
	}
	return log.Failed()
}

// cleanHost is a lane of one log.
type cleanHost struct {
	log        *storage.Log
	wake, over bool
}

func (h *cleanHost) CleanerLogs() []*storage.Log                         { return []*storage.Log{h.log} }
func (h *cleanHost) CheckpointRecoveryPoint(_ *storage.Log, done func()) { done() }
func (h *cleanHost) Cleaned(*storage.Log, storage.CleanerStats)          { h.over = true }
func (h *cleanHost) CleanerWake()                                        { h.wake = true }
