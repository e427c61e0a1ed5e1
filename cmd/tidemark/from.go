package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tidemark/disk/osdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/scenarios"
)

// fromHelp explains --from.
const fromHelp = `Start from disks: --from DIR starts the plan's brokers and controllers on a copy, in
memory, of what tidemark serve --brokers N --data DIR left there, stopped or killed:
DIR/broker-1 and so on, DIR/controller-101. Single nodes' directories can be put
together like that. A topic line of the file names a topic that is there already, or
creates one. What clients wrote there before, tidemark's own too, is read back as
foreign records.
`

// largestLeft is what the copy of a cluster's directory may take in memory, bytes.
const largestLeft = 1 << 30

// readLeft copies the directory of a cluster of a plan's shape.
func readLeft(dir string, shape plan.Cluster) (*scenarios.Left, error) {
	l := &scenarios.Left{Disks: map[kafka.BrokerID][]simdisk.Content{}}
	var names []string
	room := int64(largestLeft)
	read := func(kind string, first kafka.BrokerID, n int) error {
		for id := first; id < first+kafka.BrokerID(n); id++ {
			name := fmt.Sprint(kind, id)
			names = append(names, name)
			if err := readNode(l, filepath.Join(dir, name), id, &room); err != nil {
				return usageError("--from: %w", err)
			}
		}
		return nil
	}
	if err := read(controllerDirs, plan.FirstController, shape.Controllers); err != nil {
		return nil, err
	}
	if err := read(brokerDirs, 1, shape.Brokers); err != nil {
		return nil, err
	}
	return l, checkNoOther(dir, names)
}

// checkNoOther finds directories of nodes that the plan does not have: partitions
// would miss their replicas.
func checkNoOther(dir string, known []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return usageError("--from: %w", err)
	}
	for _, e := range entries {
		isNode := strings.HasPrefix(e.Name(), brokerDirs) || strings.HasPrefix(e.Name(), controllerDirs)
		if isNode && !slices.Contains(known, e.Name()) {
			return usageError("--from: %s has %s, which the cluster of the plan has not: write cluster brokers=N controllers=N in the file", dir, e.Name())
		}
	}
	return nil
}

// readNode copies the directory of one node.
func readNode(l *scenarios.Left, dir string, id kafka.BrokerID, room *int64) error {
	found, err := readIdentity(dir)
	switch {
	case err != nil:
		return err
	case found.cluster.IsZero():
		return fmt.Errorf("%s is no directory of a node: it has no %s", dir, identityFile)
	case found.node != fmt.Sprint(id):
		return fmt.Errorf("%s: node.id is %s, not %d: give each node its own directory", filepath.Join(dir, identityFile), found.node, id)
	case !l.ClusterID.IsZero() && found.cluster != l.ClusterID:
		return fmt.Errorf("%s: cluster.id is %v, not %v: give each node the directory of its own cluster", filepath.Join(dir, identityFile), found.cluster, l.ClusterID)
	}
	l.ClusterID = found.cluster
	held, err := osdisk.Open(dir) // nobody writes meanwhile
	if err != nil {
		return err
	}
	defer held.Close()
	l.Disks[id], err = readFiles(dir, room)
	return err
}

// readFiles reads every file below a directory, but the lock.
func readFiles(dir string, room *int64) (files []simdisk.Content, err error) {
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || e.Name() == osdisk.LockName {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if *room -= info.Size(); *room < 0 {
			return fmt.Errorf("%s: the cluster's files are larger than %d MiB, which is what a simulated cluster may start with", dir, largestLeft>>20)
		}
		content, err := os.ReadFile(name)
		below, _ := filepath.Rel(dir, name)
		files = append(files, simdisk.Content{Path: filepath.ToSlash(below), Bytes: content})
		return err
	})
	return files, err
}
