//go:build !js

package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"tidemark/model/kafka"
)

// identify gives the nodes the cluster id: the one asked for, else that of the
// directories, else, if fresh is set, a new one. A directory of another cluster or
// node is refused; the nodes look again when they start.
func (p servePlan) identify(asked string, fresh bool) error {
	if err := p.inDirectory(); err != nil {
		return err
	}
	known := make([]identity, len(p.nodes))
	for i, n := range p.nodes {
		var err error
		if known[i], err = p.identityOf(n); err != nil {
			return err
		}
	}
	id, err := chooseClusterID(asked, known)
	if err != nil {
		return err
	}
	if id.IsZero() {
		id = newClusterID()
		if !fresh {
			return usageError("directory %s is new: say which cluster it is for, --cluster-id ID; a new cluster may take %v", p.data, id)
		}
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		n.cfg.ClusterID = id
		if err := known[i].check(n); err != nil {
			return usageError("%v: %s: %w", n, filepath.Join(p.path(*n), identityFile), err)
		}
		if p.data == "" {
			continue
		}
		for _, check := range []func(string) error{notForeign, noLinkOut} {
			if err := check(p.path(*n)); err != nil {
				return err
			}
		}
		if err := notUnformatted(p.path(*n), n.cfg.Properties.Text(kafka.LogDirs)); err != nil {
			return err
		}
	}
	if err := p.notANodes(); err != nil {
		return err
	}
	return p.noOtherBrokers()
}

// notANodes refuses to put nodes' directories into one that is a node's own: Apache
// Kafka would take broker-1 for a partition.
func (p servePlan) notANodes() error {
	if p.data == "" || p.path(p.nodes[0]) == p.data {
		return nil
	}
	if _, err := os.Stat(filepath.Join(p.data, identityFile)); err == nil {
		return usageError("%s is the directory of one node, it has %s: --brokers keeps each node in a directory below --data, give it another one", p.data, identityFile)
	}
	return nil
}

// check tells whether the directory is that of node n.
func (i identity) check(n *servedNode) error {
	switch {
	case i.cluster.IsZero():
		return nil
	case i.cluster != n.cfg.ClusterID:
		return fmt.Errorf("cluster.id is %v, not %v: give the node the directory of its own cluster", i.cluster, n.cfg.ClusterID)
	case i.node != strconv.Itoa(int(n.cfg.ID)):
		return fmt.Errorf("node.id is %s, not %d: give each node its own directory", i.node, n.cfg.ID)
	}
	return nil
}

func chooseClusterID(asked string, known []identity) (kafka.UUID, error) {
	if asked != "" {
		id, err := kafka.ParseUUID(asked)
		if err != nil || id.IsZero() {
			return kafka.UUID{}, usageError("--cluster-id is %q: write 22 characters of base64, such as %v", asked, newClusterID())
		}
		return id, nil
	}
	for _, k := range known {
		if !k.cluster.IsZero() {
			return k.cluster, nil
		}
	}
	return kafka.UUID{}, nil
}

// identityOf reads the identity in a node's directory.
func (p servePlan) identityOf(n servedNode) (identity, error) {
	if p.data == "" {
		return identity{}, nil
	}
	return readIdentity(p.path(n))
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
