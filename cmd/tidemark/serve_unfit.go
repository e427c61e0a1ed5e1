//go:build !js

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tidemark/node/storage/inspect"
)

// notUnformatted refuses a node's directory, and each of its log directories, that has
// replicas and no meta.properties, as Kafka does: whose they are is not known, and with a
// new identity they would be another cluster's. A node makes no replica before its
// meta.properties are durable, but for the metadata log: that alone is what a crash in
// the first start may leave.
func notUnformatted(root, logDirs string) error {
	paths := strings.Split(logDirs, ",")
	for _, path := range append(paths, "") {
		dir := filepath.Join(root, path)
		if _, err := os.Stat(filepath.Join(dir, identityFile)); !errors.Is(err, fs.ErrNotExist) {
			continue // one that cannot be read is told of by the node
		}
		names, err := osFiles{}.List(filepath.ToSlash(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return usageError("directory cannot be read: %w", err)
		}
		for _, name := range names {
			name := strings.TrimSuffix(name, "/")
			tp, ok := inspect.ReplicaOf(name)
			if _, err := os.Stat(filepath.Join(dir, name, "partition.metadata")); ok && err == nil && tp.Topic != metadataTopic {
				return usageError("%s has %s and no %s: put the file back, or give the node an empty directory", dir, name, identityFile)
			}
		}
	}
	return nil
}

const metadataTopic = "__cluster_metadata"

// noLinkOut refuses a node's directory with symbolic links that lead out of it, or
// nowhere: a node touches nothing outside.
func noLinkOut(dir string) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return usageError("directory cannot be read: %w", err)
	}
	defer root.Close()
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink == 0 || path == dir {
			return nil // the node tells what it cannot read
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			_, err = root.Stat(name)
		}
		if err != nil {
			return usageError("%s is a symbolic link that leads out of %s or nowhere: serve keeps to its directory, move what it leads to into its place", path, dir)
		}
		return nil
	})
}
