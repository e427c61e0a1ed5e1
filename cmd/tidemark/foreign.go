//go:build !js

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"tidemark/model/record"
	"tidemark/node/metadata"
)

// notForeign refuses a node's directory whose metadata log holds what only Apache
// Kafka's controller writes, before anything in it is touched: snapshots (KIP-630),
// and records that no image here knows how to replay. A log that ends in half a batch
// is not judged; the node recovers it.
func notForeign(dir string) error {
	log := filepath.Join(dir, "__cluster_metadata-0")
	if names, _ := filepath.Glob(filepath.Join(log, "*.checkpoint")); len(names) > 0 {
		return foreign(dir, names[0], "is a snapshot of the metadata log")
	}
	names, err := filepath.Glob(filepath.Join(log, "*.log"))
	if err != nil {
		return err
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return usageError("directory cannot be read: %w", err)
		}
		for len(content) > 0 {
			b, rest, err := record.Next(content)
			if err != nil {
				break
			}
			content = rest
			if b.IsControl() {
				continue
			}
			err = b.Each(func(r record.Record) error {
				if _, err := metadata.Decode(r.Value); err != nil {
					return fmt.Errorf("offset %d: %w", r.Offset, err)
				}
				return nil
			})
			if err != nil {
				return foreign(dir, name, err.Error())
			}
		}
	}
	return nil
}

func foreign(dir, file, why string) error {
	return usageError("%s is a directory of Apache Kafka's (%s: %s): serve goes on with directories of tidemark alone, log verify and log dump read this one too", dir, filepath.Base(file), why)
}
