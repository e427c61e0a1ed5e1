package storage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// The checkpoint files of a log directory, in the format of ReadCheckpoint.
const (
	RecoveryPointCheckpoint = "recovery-point-offset-checkpoint"
	LogStartCheckpoint      = "log-start-offset-checkpoint"
	HighWatermarkCheckpoint = "replication-offset-checkpoint"
)

// ErrMalformed: a text file of the log directory that Kafka would not write.
var ErrMalformed = errors.New("malformed file")

// checkpointVersion is the first line of every checkpoint file.
const checkpointVersion = "0"

// CheckpointContent is the content of a checkpoint file with one entry a line:
// version, number of entries, entries.
func CheckpointContent(lines []string) []byte {
	var b strings.Builder
	b.WriteString(checkpointVersion + "\n" + strconv.Itoa(len(lines)) + "\n")
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// ReadCheckpoint returns the entries of a checkpoint file. A missing file, one
// of no bytes, and one that ends after its first line have none, as in Kafka;
// anything else that CheckpointContent does not write is ErrMalformed.
func ReadCheckpoint(fs disk.FS, path string) ([]string, error) {
	content, err := ReadFile(fs, path)
	if errors.Is(err, disk.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(content), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last] // after the last newline
	}
	if len(lines) == 0 {
		return nil, nil
	}
	if lines[0] != checkpointVersion {
		return nil, fmt.Errorf("%w: %s line 1 is %q, want version %s", ErrMalformed, path, lines[0], checkpointVersion)
	}
	if len(lines) == 1 {
		return nil, nil
	}
	entries := lines[2:]
	if n, err := strconv.Atoi(lines[1]); err != nil || n != len(entries) {
		return nil, fmt.Errorf("%w: %s line 2 is %q, but %d entries follow", ErrMalformed, path, lines[1], len(entries))
	}
	return entries, nil
}

// OffsetEntry is one line of an offset checkpoint.
type OffsetEntry struct {
	TP     kafka.TopicPartition
	Offset kafka.Offset
}

// OffsetLines writes entries as "topic partition offset", in the given order.
func OffsetLines(entries []OffsetEntry) []string {
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = e.TP.Topic + " " + strconv.Itoa(int(e.TP.Partition)) + " " + strconv.FormatInt(int64(e.Offset), 10)
	}
	return lines
}

// ReadOffsetCheckpoint reads a file of OffsetLines, under ReadCheckpoint's rules.
func ReadOffsetCheckpoint(fs disk.FS, path string) ([]OffsetEntry, error) {
	lines, err := ReadCheckpoint(fs, path)
	if err != nil {
		return nil, err
	}
	entries := make([]OffsetEntry, len(lines))
	for i, l := range lines {
		words := strings.Fields(l)
		if len(words) != 3 {
			return nil, badLine(path, i, l, "topic partition offset")
		}
		p, errP := strconv.ParseInt(words[1], 10, 32)
		o, errO := strconv.ParseInt(words[2], 10, 64)
		if errP != nil || errO != nil {
			return nil, badLine(path, i, l, "topic partition offset")
		}
		entries[i] = OffsetEntry{kafka.TopicPartition{Topic: words[0], Partition: int32(p)}, kafka.Offset(o)}
	}
	return entries, nil
}

// badLine is the error for the i-th entry of a checkpoint file.
func badLine(path string, i int, line, want string) error {
	return fmt.Errorf("%w: %s line %d is %q, want %q", ErrMalformed, path, i+3, line, want)
}
