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
func readMarker(fs disk.FS, dir string) (kafka.BrokerEpoch, bool) {
	text, err := storage.ReadFile(fs, within(dir, markerFile))
	if errors.Is(err, disk.ErrNotExist) {
		return kafka.NoBrokerEpoch, false
	}
	var m marker
	if err != nil || json.Unmarshal(text, &m) != nil || m.Version != 0 {
		return kafka.NoBrokerEpoch, true
	}
	return kafka.BrokerEpoch(m.BrokerEpoch), true
}

func removeMarker(fs disk.FS, dir string) error {
	if err := fs.Remove(within(dir, markerFile)); err != nil && !errors.Is(err, disk.ErrNotExist) {
		return err
	}
	return nil
}

// writeMarker writes the marker; done runs once its content is durable.
func writeMarker(fs disk.FS, syncs *node.Syncs, dir string, epoch kafka.BrokerEpoch, done func(error)) {
	text, err := json.Marshal(marker{BrokerEpoch: int64(epoch)})
	if err != nil {
		panic(err) // two integers always marshal
	}
	f, err := fs.Create(within(dir, markerFile))
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

// removeMarkers goes on once no directory has a marker that readers see, or, by the
// rules, that a power loss could bring back.
func (l *logs) removeMarkers(then func()) {
	left := 1
	one := func() {
		if left--; left == 0 {
			then()
		}
	}
	for _, dir := range l.live() {
		if err := removeMarker(l.fs, dir.path); err != nil {
			l.fail(dir, err)
			continue
		}
		if l.cfg.Rules.Storage.SyncMarkerRemoval {
			left++
			l.fs.SyncDir(l.syncs.Token(func(err error) {
				if err != nil {
					l.fail(dir, err)
				}
				one()
			}), dir.path)
		}
	}
	one()
}

// writeMarkers ends a clean stop: a marker in every directory that is online.
func (l *logs) writeMarkers(done func()) {
	live := l.live()
	left := len(live)
	for _, dir := range live {
		writeMarker(l.fs, l.syncs, dir.path, l.epoch, func(err error) {
			if err != nil {
				l.fail(dir, err)
			}
			if left--; left == 0 {
				done()
			}
		})
	}
}
