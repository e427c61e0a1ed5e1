package storage

import (
	"errors"
	"fmt"
	"strings"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// idFileName is the file that ties a replica directory to its topic id.
const idFileName = "partition.metadata"

// idContent is the file's content: Kafka's, version 0, without a newline at its
// end.
func idContent(id kafka.UUID) []byte {
	return []byte("version: 0\ntopic_id: " + id.String())
}

func parseID(content []byte) (kafka.UUID, error) {
	text, ok := strings.CutPrefix(string(content), "version: 0\ntopic_id: ")
	if !ok {
		return kafka.UUID{}, fmt.Errorf("%w: want two lines, version: 0 and topic_id: <id>", ErrMalformed)
	}
	id, err := kafka.ParseUUID(strings.TrimSuffix(text, "\n"))
	if err != nil {
		return kafka.UUID{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return id, nil
}

// ReadTopicID reads which topic a replica directory belongs to; not ok: it does
// not tell, and the replica is stray.
//
// Kafka waits for this file to be durable before the first append. Here the
// first append does not wait, but the first flush does; so a process that dies
// in between may have left records beside a complete temporary file, which then
// counts, and a machine that dies there loses only what was never flushed.
func ReadTopicID(fs disk.FS, dir string) (id kafka.UUID, ok bool, err error) {
	id, _, ok, err = readTopicID(fs, dir)
	return id, ok, err
}

// readTopicID also tells whether the id stands in the file itself.
func readTopicID(fs disk.FS, dir string) (id kafka.UUID, final, ok bool, err error) {
	content, err := ReadFile(fs, dir+"/"+idFileName)
	if err == nil && len(content) > 0 {
		if id, err = parseID(content); err != nil {
			return id, false, false, fmt.Errorf("read %s/%s: %w", dir, idFileName, err)
		}
		return id, true, true, nil
	}
	if err != nil && !errors.Is(err, disk.ErrNotExist) {
		return id, false, false, err
	}
	content, err = ReadFile(fs, dir+"/"+idFileName+tmpSuffix)
	if errors.Is(err, disk.ErrNotExist) {
		return id, false, false, nil
	}
	if err != nil {
		return id, false, false, err
	}
	id, bad := parseID(content)
	return id, false, bad == nil, nil // a torn temporary file is usual
}

// claim ties the directory to the topic that it is opened for.
func (l *Log) claim(id kafka.UUID) error {
	found, final, ok, err := readTopicID(l.fs, l.dir)
	if err != nil {
		return err
	}
	if ok && !id.IsZero() && found != id {
		return fmt.Errorf("%s belongs to topic id %s, not %s", l.dir, found, id)
	}
	if ok {
		id = found
	}
	l.topic = id
	l.idUnsaved = !final && !id.IsZero()
	return nil
}

// saveID writes partition.metadata, if the file does not tell the id yet. No
// flush completes before it is durable.
func (l *Log) saveID() {
	if !l.idUnsaved {
		return
	}
	op := &flushOp{upTo: l.recovery, waiting: 1}
	l.ops = append(l.ops, op)
	l.idFile.Write(idContent(l.topic), func(err error) { l.synced(op, err) })
}
