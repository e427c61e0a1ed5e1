package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tidemark/model/kafka"
)

// identity is what the directory of a node says of it; the zero value is that of
// a new directory.
type identity struct {
	cluster kafka.UUID
	node    string // node.id as it is written
}

// identityFile is Kafka's, at the top of a log directory.
const identityFile = "meta.properties"

// readIdentity reads the identity in the directory of a node.
func readIdentity(dir string) (identity, error) {
	name := filepath.Join(dir, identityFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return identity{}, nil
	}
	if err != nil {
		return identity{}, usageError("directory cannot be read: %w", err)
	}
	properties, err := parseProperties(string(text))
	if err != nil {
		return identity{}, usageError("%s:%w", name, err)
	}
	var found identity
	for _, q := range properties {
		switch q.key {
		case "cluster.id":
			if found.cluster, err = kafka.ParseUUID(q.value); err != nil {
				return identity{}, usageError("%s:%d: cluster.id: %w", name, q.line, err)
			}
		case "node.id":
			found.node = q.value
		}
	}
	if found.cluster.IsZero() {
		return identity{}, usageError("%s has no cluster.id: is it a log directory of Kafka?", name)
	}
	return found, nil
}

// The directories of nodes in that of a cluster, as serve --brokers makes them.
const (
	brokerDirs     = "broker-"
	controllerDirs = "controller-"
)
