package broker

import (
	"fmt"
	"strconv"
	"strings"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/storage"
)

// identityFile says which node of which cluster a directory belongs to. A disk
// that is mounted into the wrong node must not lend its log to it.
const identityFile = "meta.properties"

// identity is the content of meta.properties, version 1 (KRaft).
type identity struct {
	Cluster   kafka.UUID
	Node      kafka.BrokerID
	Directory kafka.UUID
}

// check returns one line if the directory belongs to another node or cluster.
func (id identity) check(cfg Config) error {
	if id.Cluster != cfg.ClusterID {
		return fmt.Errorf("%s: cluster.id is %v, the configuration says %v: give the node the directory of its own cluster", identityFile, id.Cluster, cfg.ClusterID)
	}
	if id.Node != cfg.ID {
		return fmt.Errorf("%s: node.id is %d, the configuration says %d: give each node its own directory", identityFile, id.Node, cfg.ID)
	}
	return nil
}

func (id identity) content() []byte {
	return fmt.Appendf(nil, "version=1\ncluster.id=%v\nnode.id=%d\ndirectory.id=%v\n", id.Cluster, id.Node, id.Directory)
}

// write puts the file in place atomically; done runs once it is durable.
func (id identity) write(fs disk.FS, syncs *node.Syncs, dir string, done func(error)) {
	storage.NewAtomicFile(fs, syncs, within(dir, identityFile)).Write(id.content(), done)
}

// readIdentity reads the file; disk.ErrNotExist tells a new directory.
func readIdentity(fs disk.FS, dir string) (identity, error) {
	text, err := storage.ReadFile(fs, within(dir, identityFile))
	if err != nil {
		return identity{}, err
	}
	return parseIdentity(string(text))
}

// parseIdentity reads Java properties as far as Kafka writes them here.
func parseIdentity(text string) (identity, error) {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			return identity{}, fmt.Errorf("%s: line %q is not key=value", identityFile, line)
		}
		values[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	if v := values["version"]; v != "1" {
		return identity{}, fmt.Errorf("%s: version is %q: only 1, of KRaft, is known", identityFile, v)
	}
	var id identity
	var err error
	if id.Cluster, err = kafka.ParseUUID(values["cluster.id"]); err != nil {
		return identity{}, fmt.Errorf("%s: cluster.id: %w", identityFile, err)
	}
	if id.Directory, err = kafka.ParseUUID(values["directory.id"]); err != nil {
		return identity{}, fmt.Errorf("%s: directory.id: %w", identityFile, err)
	}
	n, err := strconv.ParseInt(values["node.id"], 10, 32)
	if err != nil || n < 0 {
		return identity{}, fmt.Errorf("%s: node.id %q is not a number from 0", identityFile, values["node.id"])
	}
	id.Node = kafka.BrokerID(n)
	return id, nil
}
