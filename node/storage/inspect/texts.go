package inspect

import (
	"encoding/json"
	"strconv"
	"strings"

	"tidemark/model/kafka"
)

// checkpoint returns the entries of a checkpoint file: line 1 is the version, line
// 2 the number of entries. A file of no bytes, or of the first line alone, has none.
func (t text) checkpoint() ([]line, error) {
	lines := t.lines()
	if len(lines) == 0 {
		return nil, nil
	}
	if lines[0].text != "0" {
		return nil, t.src.fault(0, "line 1 is %q, want version 0", lines[0].text)
	}
	if len(lines) == 1 {
		return nil, nil
	}
	if n, err := strconv.Atoi(lines[1].text); err != nil || n != len(lines)-2 {
		return nil, t.src.fault(lines[1].pos, "line 2 is %q, but %d entries follow", lines[1].text, len(lines)-2)
	}
	return lines[2:], nil
}

// offsetEntry is a line of an offset checkpoint: topic, partition, offset.
type offsetEntry struct {
	pos    int64
	tp     kafka.TopicPartition
	offset kafka.Offset
}

// offsetCheckpoint is such a file.
type offsetCheckpoint struct {
	src     *source
	entries []offsetEntry
	byTP    map[kafka.TopicPartition]int
}

// readOffsets reads an offset checkpoint; a missing one is empty.
func readOffsets(files Files, path string) (*offsetCheckpoint, error) {
	c := &offsetCheckpoint{src: &source{path: path}, byTP: map[kafka.TopicPartition]int{}}
	t, ok, err := readText(files, path)
	if err != nil || !ok {
		return c, err
	}
	c.src = t.src
	lines, err := t.checkpoint()
	for _, l := range lines {
		if err != nil {
			break
		}
		err = c.add(l)
	}
	return c, err
}

func (c *offsetCheckpoint) add(l line) error {
	words := strings.Fields(l.text)
	if len(words) != 3 {
		return c.src.fault(l.pos, "the line is %q, want topic, partition and offset", l.text)
	}
	p, errP := strconv.ParseInt(words[1], 10, 32)
	o, errO := strconv.ParseInt(words[2], 10, 64)
	if errP != nil || errO != nil || p < 0 || o < 0 {
		return c.src.fault(l.pos, "the line is %q, want topic, partition and offset", l.text)
	}
	tp := kafka.TopicPartition{Topic: words[0], Partition: int32(p)}
	if _, twice := c.byTP[tp]; twice {
		return c.src.fault(l.pos, "%v is in it twice", tp)
	}
	c.byTP[tp] = len(c.entries)
	c.entries = append(c.entries, offsetEntry{l.pos, tp, kafka.Offset(o)})
	return nil
}

// missing is the fault of a replica without a recovery point: a clean stop writes that of
// each log.
func (c *offsetCheckpoint) missing(tp kafka.TopicPartition) error {
	return c.src.fault(c.src.size, "no recovery point of %v, though it was stopped cleanly", tp)
}

// of returns the entry of a partition.
func (c *offsetCheckpoint) of(tp kafka.TopicPartition) (offsetEntry, bool) {
	i, ok := c.byTP[tp]
	if !ok {
		return offsetEntry{}, false
	}
	return c.entries[i], true
}

// properties are the settings of a Java properties file of plain lines.
func (t text) properties() (keys []property, err error) {
	for _, l := range t.lines() {
		if l.text == "" || l.text[0] == '#' || l.text[0] == '!' {
			continue
		}
		k, v, ok := strings.Cut(l.text, "=")
		if !ok {
			return nil, t.src.fault(l.pos, "the line is %q, want key=value", l.text)
		}
		keys = append(keys, property{l.pos, strings.TrimSpace(k), strings.TrimSpace(v)})
	}
	return keys, nil
}

type property struct {
	pos        int64
	key, value string
}

// identity checks meta.properties: version 1 of KRaft, or 0 from before, with
// cluster id, node id and directory id.
func (t text) identity() error {
	all, err := t.properties()
	if err != nil {
		return err
	}
	found := map[string]string{}
	for _, p := range all {
		found[p.key] = p.value
		switch p.key {
		case "version":
			if p.value != "0" && p.value != "1" {
				return t.src.fault(p.pos, "version is %q, want 0 or 1", p.value)
			}
		case "node.id", "broker.id":
			if n, err := strconv.ParseInt(p.value, 10, 32); err != nil || n < 0 {
				return t.src.fault(p.pos, "%s is %q, want a number", p.key, p.value)
			}
		case "directory.id":
			if id, err := kafka.ParseUUID(p.value); err != nil || id.IsZero() {
				return t.src.fault(p.pos, "directory.id is %q, want 22 characters of base64", p.value)
			}
		}
	}
	want := []string{"version", "cluster.id"}
	if found["version"] == "1" {
		want = append(want, "node.id")
	}
	for _, key := range want {
		if found[key] == "" {
			return t.src.fault(t.src.size, "%s is missing", key)
		}
	}
	return nil
}

// topicID reads a partition.metadata.
func (t text) topicID() (kafka.UUID, error) {
	lines := t.lines()
	if len(lines) != 2 || lines[0].text != "version: 0" {
		return kafka.UUID{}, t.src.fault(0, "want two lines, version: 0 and topic_id: ID")
	}
	value, ok := strings.CutPrefix(lines[1].text, "topic_id: ")
	id, err := kafka.ParseUUID(value)
	if !ok || err != nil || id.IsZero() {
		return kafka.UUID{}, t.src.fault(lines[1].pos, "the line is %q, want topic_id: and 22 characters of base64", lines[1].text)
	}
	return id, nil
}

// quorumMembers are what quorum-state holds in each of its versions: with a static set
// of voters, and without (KIP-853).
var quorumMembers = [][]string{
	{"clusterId", "leaderId", "leaderEpoch", "votedId", "appliedOffset", "currentVoters"},
	{"leaderId", "leaderEpoch", "votedId", "votedDirectoryId"},
}

// object checks that a text is one JSON object, as quorum-state and the marker of a
// clean stop are, of a version that is known, with the members that the version has.
func (t text) object(versionKey string, members ...[]string) error {
	var fields map[string]any
	if err := json.Unmarshal(t.content, &fields); err != nil {
		return t.src.fault(0, "no JSON object: %v", err)
	}
	for v, names := range members {
		if text, _ := json.Marshal(fields[versionKey]); string(text) != strconv.Itoa(v) {
			continue
		}
		for _, name := range names {
			if _, ok := fields[name]; !ok {
				return t.src.fault(0, "there is no %s", name)
			}
		}
		return nil
	}
	return t.src.fault(0, "%s is none that is known", versionKey)
}
