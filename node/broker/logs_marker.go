package broker

import (
	"encoding/json"
	"errors"
	"fmt"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/storage"
)

// markerFile is written last at a clean stop and deleted before anything is
// loaded: while it stands, the logs are as their checkpoints say, and no log
// needs recovery. It is written in place, and neither writing nor deleting
// syncs the directory, as in Kafka: after a power loss it may be missing
// (recovery for nothing) or be back (a stop that was clean, with logs that went
// on).
const markerFile = ".kafka_cleanshutdown"

type marker struct {
	Version     int   `json:"version"`
	BrokerEpoch int64 `json:"brokerEpoch"`
}

// readMarker reports whether the marker exists, and the broker epoch in it,
// NoBrokerEpoch if it cannot be read: the controller then takes the stop for an
// unclean one (KIP-966).
func readMarker(fs disk.FS) (kafka.BrokerEpoch, bool) {
	text, err := storage.ReadFile(fs, markerFile)
	if errors.Is(err, disk.ErrNotExist) {
		return kafka.NoBrokerEpoch, false
	}
	var m marker
	if err != nil || json.Unmarshal(text, &m) != nil || m.Version != 0 {
		return kafka.NoBrokerEpoch, true
	}
	return kafka.BrokerEpoch(m.BrokerEpoch), true
}

func removeMarker(fs disk.FS) error {
	if err := fs.Remove(markerFile); err != nil && !errors.Is(err, disk.ErrNotExist) {
		return err
	}
	return nil
}

// writeMarker writes the marker; done runs once its content is durable.
func writeMarker(fs disk.FS, syncs *node.Syncs, epoch kafka.BrokerEpoch, done func(error)) {
	text, err := json.Marshal(marker{BrokerEpoch: int64(epoch)})
	if err != nil {
		panic(err) // two integers always marshal
	}
	f, err := fs.Create(markerFile)
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err != nil {
		done(fmt.Errorf("write %s: %w", markerFile, err))
		return
	}
	f.Sync(syncs.Token(func(err error) {
		f.Close()
		done(err)
	}))
}

// finish ends a clean stop once every data lane closed its logs: checkpoints
// first, each durable before the next begins, the marker last.
func (l *logs) finish() {
	if !l.closing || len(l.closed) < l.cfg.DataLanes {
		return
	}
	var recovery, starts, watermarks []partitionOffset
	for _, c := range l.closed {
		if !c.Loaded {
			// The logs were never opened: files and marker still tell the truth.
			l.env.Post(node.Lifecycle, cleanPost{})
			return
		}
		recovery = append(recovery, c.RecoveryPoints...)
		starts = append(starts, c.LogStarts...)
		watermarks = append(watermarks, c.HighWatermarks...)
	}
	l.inTurn([]func(func(error)){
		func(done func(error)) { l.files[highWatermarks].write(watermarks, done) },
		func(done func(error)) { l.files[recoveryPoints].write(recovery, done) },
		func(done func(error)) { l.files[logStarts].write(starts, done) },
		func(done func(error)) { writeMarker(l.fs, l.syncs, l.epoch, done) },
	}, func() { l.env.Post(node.Lifecycle, cleanPost{}) })
}

// inTurn runs steps one after the other, each when the one before is durable.
func (l *logs) inTurn(steps []func(func(error)), then func()) {
	if len(steps) == 0 {
		then()
		return
	}
	steps[0](func(err error) {
		if err != nil {
			l.fail(err)
			return
		}
		l.inTurn(steps[1:], then)
	})
}
