package inspect

import (
	"slices"
	"strconv"
	"strings"

	"tidemark/model/kafka"
)

// Names of the files of a log directory.
const (
	logSuffix      = ".log"
	indexSuffix    = ".index"
	timeSuffix     = ".timeindex"
	txnSuffix      = ".txnindex"
	snapshotSuffix = ".snapshot"

	checkpointSuffix = ".checkpoint" // of snapshots of the metadata log

	epochFile   = "leader-epoch-checkpoint"
	idFile      = "partition.metadata"
	quorumFile  = "quorum-state"
	metaFile    = "meta.properties"
	markerFile  = ".kafka_cleanshutdown"
	recoverFile = "recovery-point-offset-checkpoint"
	startFile   = "log-start-offset-checkpoint"
	hwFile      = "replication-offset-checkpoint"
	cleanerFile = "cleaner-offset-checkpoint"

	swapSuffix = ".swap" // behind all of these, while the cleaner puts a segment in place

	metadataLog = "__cluster_metadata"
)

// offsetCheckpoints are the files that hold an offset for each partition.
var offsetCheckpoints = []string{recoverFile, startFile, hwFile, cleanerFile}

// parseBase reads a file name of 20 digits and a suffix.
func parseBase(name, suffix string) (kafka.Offset, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	base, err := strconv.ParseInt(digits, 10, 64)
	return kafka.Offset(base), err == nil && base >= 0
}

// BaseOffset is the first offset of the segment that a .log file's name tells.
func BaseOffset(name string) (base kafka.Offset, ok bool) { return parseBase(name, logSuffix) }

// segmentName is a file name of 20 digits and a suffix.
func segmentName(base kafka.Offset, suffix string) string {
	digits := strconv.FormatInt(int64(base), 10)
	return strings.Repeat("0", 20-len(digits)) + digits + suffix
}

// snapshotEnd reads the end offset in the name of a snapshot of the metadata log (KIP-630),
// <end offset>-<epoch>.checkpoint.
func snapshotEnd(name string) (end kafka.Offset, ok bool) {
	digits, epoch, _ := strings.Cut(strings.TrimSuffix(name, checkpointSuffix), "-")
	_, err := strconv.ParseInt(epoch, 10, 32)
	end, ok = parseBase(digits+checkpointSuffix, checkpointSuffix)
	return end, ok && err == nil && strings.HasSuffix(name, checkpointSuffix)
}

// baseName is what follows the last slash.
func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// ReplicaOf reads the name of a replica's directory, <topic>-<partition>. One that
// is about to be deleted, or was set aside, is none.
func ReplicaOf(name string) (kafka.TopicPartition, bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 || i == len(name)-1 {
		return kafka.TopicPartition{}, false
	}
	p, err := strconv.ParseInt(name[i+1:], 10, 32)
	if err != nil || name[i+1] == '-' || name[i+1] == '+' {
		return kafka.TopicPartition{}, false
	}
	return kafka.TopicPartition{Topic: name[:i], Partition: int32(p)}, true
}

// setAside tells whether a directory is a replica that is on its way out, or in
// from another log directory.
func setAside(name string) bool {
	for _, suffix := range []string{"-delete", "-future", "-stray"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// bases are the offsets of the files with a suffix among sorted names.
func bases(names []string, suffix string) (all []kafka.Offset) {
	for _, name := range names {
		if base, ok := parseBase(name, suffix); ok {
			all = append(all, base)
		}
	}
	return all
}

func has(names []string, name string) bool {
	_, ok := slices.BinarySearch(names, name)
	return ok
}
