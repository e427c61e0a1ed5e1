package broker

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/storage"
)

// Suffixes of replica directories that are not replicas (any more).
const (
	deleteSuffix = "-delete"
	straySuffix  = "-stray"
)

// maxDirectoryName is the longest directory name, in bytes.
const maxDirectoryName = 255

// renamedDirectory is the name under which a replica's directory is set aside:
// topic-partition.uniqueid-suffix, the topic cut to what fits.
func renamedDirectory(tp kafka.TopicPartition, unique kafka.UUID, suffix string) string {
	tail := "-" + itoa(int64(tp.Partition)) + "." + hex.EncodeToString(unique[:]) + suffix
	return tp.Topic[:min(len(tp.Topic), maxDirectoryName-len(tail))] + tail
}

// setStraysAside renames every replica that is not assigned to this broker, or
// belongs to an older topic of the same name (KAFKA-7838, KIP-858): it is kept
// for a human and never used. Directories whose deletion a crash cut short are
// removed after the usual delay.
func (l *logs) setStraysAside(in *logDir, image *metadata.Image) error {
	names, err := l.fs.List(in.path)
	if err != nil {
		return err
	}
	for _, name := range names {
		dir, isDir := strings.CutSuffix(name, "/")
		if !isDir {
			continue
		}
		if strings.HasSuffix(dir, deleteSuffix) {
			removeLater(l.fs, l.timers, within(in.path, dir), l.cfg.Properties.Millis(kafka.LogSegmentDeleteDelayMs), func(err error) {
				if err != nil {
					l.fail(in, err)
				}
			})
			continue
		}
		tp, err := kafka.ParseTopicPartition(dir)
		if err != nil || tp.Topic == kafka.MetadataTopic {
			continue
		}
		path := within(in.path, dir)
		stray, err := l.isStray(path, tp, image)
		if err == nil && stray {
			err = l.fs.Rename(path, within(in.path, renamedDirectory(tp, drawUUID(l.env, "stray"), straySuffix)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *logs) isStray(dir string, tp kafka.TopicPartition, image *metadata.Image) (bool, error) {
	id, found, err := storage.ReadTopicID(l.fs, dir)
	if err != nil {
		return false, err
	}
	topic, known := image.TopicByID(id)
	if !found || !known || int(tp.Partition) >= len(topic.Partitions) {
		return true, nil
	}
	return !slices.Contains(topic.Partitions[tp.Partition].Replicas, l.cfg.ID), nil
}

// removeLater removes a directory with its files after a delay, which gives
// readers that still hold a file time to end.
func removeLater(fs disk.FS, timers *node.Timers, dir string, delay time.Duration, done func(error)) {
	timers.After(delay, func() { done(storage.RemoveAll(fs, dir)) })
}
