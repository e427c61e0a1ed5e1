//go:build !js

package main

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tidemark/model/kafka"
)

// identify gives the nodes the cluster id: the one asked for, else that of the
// directories, else, if make is set, a new one. A directory of another cluster
// is refused by the node itself, when it starts.
func (p servePlan) identify(asked string, make bool) error {
	id, err := p.clusterID(asked)
	if err != nil {
		return err
	}
	if id.IsZero() {
		fresh := newClusterID()
		if !make {
			return usageError("directory %s is new: say which cluster it is for, --cluster-id ID; a new cluster may take %v", p.data, fresh)
		}
		id = fresh
	}
	for i := range p.nodes {
		p.nodes[i].cfg.ClusterID = id
	}
	return nil
}

func (p servePlan) clusterID(asked string) (kafka.UUID, error) {
	if asked != "" {
		id, err := kafka.ParseUUID(asked)
		if err != nil || id.IsZero() {
			return kafka.UUID{}, usageError("--cluster-id is %q: write 22 characters of base64, such as %v", asked, newClusterID())
		}
		return id, nil
	}
	if p.data == "" {
		return kafka.UUID{}, nil
	}
	for _, n := range p.nodes {
		if id, err := knownClusterID(p.path(n)); err != nil || !id.IsZero() {
			return id, err
		}
	}
	return kafka.UUID{}, nil
}

// identityFile is Kafka's, at the top of a log directory.
const identityFile = "meta.properties"

// knownClusterID is the cluster id that a directory knows; zero if it is new.
func knownClusterID(dir string) (kafka.UUID, error) {
	name := filepath.Join(dir, identityFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return kafka.UUID{}, nil
	}
	if err != nil {
		return kafka.UUID{}, usageError("directory cannot be read: %w", err)
	}
	properties, err := parseProperties(string(text))
	if err != nil {
		return kafka.UUID{}, usageError("%s:%w", name, err)
	}
	for _, q := range properties {
		if q.key != "cluster.id" {
			continue
		}
		id, err := kafka.ParseUUID(q.value)
		if err != nil {
			return kafka.UUID{}, usageError("%s:%d: cluster.id: %w", name, q.line, err)
		}
		return id, nil
	}
	return kafka.UUID{}, usageError("%s has no cluster.id: is it a log directory of Kafka?", name)
}

// newClusterID draws an id of the kind that Kafka's format tool draws: a random
// UUID that does not begin with a dash, which a shell would take for a flag.
func newClusterID() kafka.UUID {
	var id kafka.UUID
	for id.IsZero() || id.String()[0] == '-' {
		rand.Read(id[:])
		id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	}
	return id
}
