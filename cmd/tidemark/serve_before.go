//go:build !js

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// canListen refuses addresses that nodes cannot listen at before any of them has
// written a file: a controller's directory would be left of a cluster that never was.
// Somebody else may still be quicker; then the node says so.
func (p servePlan) canListen() error {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	for _, n := range p.nodes {
		for _, addr := range []string{n.cfg.ControllerAddr, n.cfg.ClientAddr} {
			if addr == "" {
				continue
			}
			l, err := net.Listen("tcp", addr)
			if err != nil {
				return usageError("%v: listen at %s: %w", n, addr, portError(inner(err)))
			}
			held = append(held, l)
		}
	}
	return nil
}

// portError says what to do about a port.
func portError(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: stop what listens there, or choose other ports with --listen HOST:PORT", err)
	}
	return err
}

// inDirectory refuses a --data that is a file, or below one.
func (p servePlan) inDirectory() error {
	info, err := os.Stat(p.data)
	if p.data != "" && (errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir()) {
		return usageError("--data %s is no directory: name one, it is made if there is none", p.data)
	}
	return nil
}

// noOtherBrokers refuses a directory of a cluster that has more brokers: partitions
// would miss their replicas without a word.
func (p servePlan) noOtherBrokers() error {
	if p.data == "" || p.path(p.nodes[0]) == p.data {
		return nil
	}
	entries, err := os.ReadDir(p.data)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return usageError("--data: %w", err)
	}
	last := 0
	for _, e := range entries {
		id, isBroker := strings.CutPrefix(e.Name(), brokerDirs)
		n, err := strconv.Atoi(id)
		if isBroker && err == nil && !slices.ContainsFunc(p.nodes, func(n servedNode) bool { return n.dir == e.Name() }) {
			last = max(last, n)
		}
	}
	if last > 0 {
		return usageError("%s holds a cluster with %s%d, and --brokers is %d: give --brokers %d, or another directory", p.data, brokerDirs, last, p.brokers(), last)
	}
	return nil
}
