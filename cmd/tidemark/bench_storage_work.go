//go:build !js

package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node/storage"
)

// How many slices a median is of: of work that can be cut short, and of what is done
// to a log as a whole.
const (
	manySlices = 60
	fewSlices  = 15
)

// fetchBytes is how much a read in order asks for, as a consumer's fetch does.
const fetchBytes = 1 << 20

// pageBytes is what a look-up has to read at least, from the page cache.
const pageBytes = 4096

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
	m := newBenchMemory(total)
	for _, size := range []int{100, 1 << 10, 64 << 10} {
		l.progress.step(fmt.Sprintf("%s, batches of %d bytes", l.name, size))
		some, err := l.measureLog(m, size, total)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	l.progress.step(l.name + ", the cleaner")
	row, err := l.measureCleaning(m, total/4)
	return append(rows, row), err
}

// benchLog is a log, and a file with the same bytes, that are measured.
type benchLog struct {
	*benchLane
	memory *benchMemory
	log    *storage.Log
	raw    disk.File
	batch  int // bytes
}

// measureLog fills a log with batches of one size and uses it.
func (l *benchLane) measureLog(m *benchMemory, size, total int) (rows []storageRow, err error) {
	dir := fmt.Sprintf("append-%d", size)
	b := &benchLog{benchLane: l, memory: m, batch: size}
	if b.log, err = l.open(dir, storage.DefaultConfig()); err != nil {
		return nil, err
	}
	if b.raw, err = l.fs.Create("raw-" + dir); err != nil {
		return nil, err
	}
	n := max(total/size/manySlices, 1)
	for _, measure := range []func() (storageRow, error){
		func() (storageRow, error) { return b.measureAppends(n) }, b.measureReading, b.measureLookUp, b.measureRecovery} {
		row, err := measure()
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// measureAppends appends n batches at a time as a leader, and writes the same bytes to
// the file behind each other.
func (l *benchLog) measureAppends(n int) (storageRow, error) {
	b, at := batchOf(l.batch), int64(0)
	appends := slice{name: "append", bytes: n * len(b), operations: n, do: func() error {
		for range n {
			b.SetBaseOffset(0)
			if _, code, err := l.log.AppendAsLeader(b, 1, 1000); code != kafka.None {
				return fmt.Errorf("%s: %w", code, err)
			}
		}
		return nil
	}}
	writes := slice{name: "write", bytes: n * len(b), operations: n, do: func() error {
		for range n {
			if _, err := l.raw.WriteAt(b, at); err != nil {
				return err
			}
			at += int64(len(b))
		}
		return nil
	}}
	return l.beside(manySlices, l.batch, appends, writes, l.memory.checking(b, n), l.memory.filling(b, n))
}

// measureReading reads a log in order, again and again, and the file.
func (l *benchLog) measureReading() (storageRow, error) {
	const reads = 2
	buf := make([]byte, fetchBytes)
	perRead := kafka.Offset(max(fetchBytes/len(batchOf(l.batch)), 1))
	length, end := l.log.Size(), l.log.LogEnd()
	from, at := kafka.Offset(0), int64(0)
	read := slice{name: "read 1 MiB", bytes: fetchBytes * reads, operations: reads, do: func() error {
		for range reads {
			if from+2*perRead > end {
				from = 0
			}
			s, err := l.log.Read(from, end, fetchBytes, true)
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
	limit := slice{name: "read", bytes: fetchBytes * reads, operations: reads, do: func() error {
		for range reads {
			if at+fetchBytes > length {
				at = 0
			}
			if _, err := l.raw.ReadAt(buf, at); err != nil {
				return err
			}
			at += fetchBytes
		}
		return nil
	}}
	return l.beside(manySlices, l.batch, read, limit, l.memory.emptying(buf, reads))
}

// measureLookUp finds batches at random offsets.
func (l *benchLog) measureLookUp() (storageRow, error) {
	const lookUps = 1000
	random := rand.New(rand.NewPCG(1, 1))
	end, length := int64(l.log.LogEnd()), l.log.Size()
	find := slice{name: "look-up", operations: lookUps, do: func() error {
		for range lookUps {
			s, err := l.log.Read(kafka.Offset(random.Int64N(end)), kafka.Offset(end), 1, true)
			if err != nil {
				return err
			}
			s.Region.Release()
		}
		return nil
	}}
	buf := make([]byte, pageBytes)
	limit := slice{name: "read of 4 KiB", bytes: pageBytes * lookUps, operations: lookUps, do: func() error {
		for range lookUps {
			if _, err := l.raw.ReadAt(buf, random.Int64N(length-pageBytes)); err != nil {
				return err
			}
		}
		return nil
	}}
	return l.beside(manySlices, l.batch, find, limit, l.memory.picking(buf, lookUps, random))
}

// measureRecovery opens a log again and again after kills. What a log of one batch
// allocates at that is not for each batch.
func (l *benchLog) measureRecovery() (storageRow, error) {
	if err := l.flush(l.log); err != nil {
		return storageRow{}, err
	}
	single, err := l.open("single-"+l.log.Dir(), storage.DefaultConfig())
	if err != nil {
		return storageRow{}, err
	}
	if _, code, err := single.AppendAsLeader(batchOf(l.batch), 1, 1000); code != kafka.None {
		return storageRow{}, fmt.Errorf("%s: %w", code, err)
	}
	_, fixed, err := l.opening(single).measure()
	if err != nil {
		return storageRow{}, err
	}
	scan := l.opening(l.log)
	scan.fixed = fixed
	buf, total := make([]byte, fetchBytes), l.log.Size()
	limit := slice{name: "read and CRC-32C", bytes: int(total / fetchBytes * fetchBytes), operations: scan.operations, do: func() error {
		for at := int64(0); at+fetchBytes <= total; at += fetchBytes {
			if _, err := l.raw.ReadAt(buf, at); err != nil {
				return err
			}
			checksum(buf)
		}
		return nil
	}}
	return l.beside(fewSlices, l.batch, scan, limit, l.memory.checkingAll(scan.operations))
}

// opening closes and opens a log.
func (l *benchLane) opening(log *storage.Log) slice {
	end := log.LogEnd()
	return slice{name: "recovery scan", bytes: int(log.Size()), operations: int(end), do: func() error {
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
}

// cleanedRecords is how many records a batch of the cleaned log has, of 100 bytes
// about; each key comes four times.
const cleanedRecords = 100

// measureCleaning fills and cleans a log of so many bytes, once for each slice.
func (l *benchLane) measureCleaning(m *benchMemory, total int) (storageRow, error) {
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
	buf := make([]byte, total)
	if _, err := raw.WriteAt(buf, 0); err != nil {
		return storageRow{}, err
	}
	pass := slice{name: "clean", bytes: total, operations: total / cleanedRecords, do: func() error { return l.clean(log) }, prepare: fill}
	limit := slice{name: "two reads, one write", bytes: total, operations: total / cleanedRecords, do: func() error { // the log is read twice, and a quarter of it written
		for range 2 {
			if _, err := raw.ReadAt(buf, 0); err != nil {
				return err
			}
		}
		_, err := raw.WriteAt(buf[:total/4], 0)
		return err
	}}
	copies := m.emptying(buf, 1)
	copies.operations = pass.operations
	return l.beside(fewSlices, cleanedRecords*cleanedRecords, pass, limit, copies)
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
