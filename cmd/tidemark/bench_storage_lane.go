//go:build !js

package main

import (
	"errors"
	"os"

	"tidemark/disk"
	"tidemark/disk/osdisk"
	"tidemark/disk/simdisk"
	"tidemark/node"
	"tidemark/node/storage"
)

// benchLane is as much of a lane as the engine needs: a disk, and the ends of syncs,
// which come when they are waited for.
type benchLane struct {
	name  string
	fs    disk.FS
	syncs *node.Syncs
	next  func() error // waits for the end of one sync
	close func() error

	signals  <-chan os.Signal // one ends the measurement; nil: none comes
	progress *progress
}

// syncEnd is the end of one sync.
type syncEnd struct {
	token disk.Token
	err   error
}

func newFileLane(dir string) (*benchLane, error) {
	d, err := osdisk.Open(dir)
	if err != nil {
		return nil, err
	}
	l := &benchLane{name: "files", syncs: node.NewSyncs(), close: d.Close}
	ends := make(chan syncEnd, 1<<16)
	l.fs = d.View(func(t disk.Token, err error) { ends <- syncEnd{t, err} })
	l.next = func() error {
		end := <-ends
		l.syncs.Synced(end.token, end.err)
		return nil
	}
	return l, nil
}

// simulatedHost is a lane on the simulated disk that takes no note of time.
type simulatedHost struct {
	now  int64
	dues []simulatedDue
}

type simulatedDue struct {
	token disk.Token
	sync  simdisk.Sync
}

func (h *simulatedHost) Now() int64      { return h.now }
func (h *simulatedHost) Charge(ns int64) { h.now += ns }
func (h *simulatedHost) Step()           {}
func (h *simulatedHost) Complete(t disk.Token, _ int64, s simdisk.Sync) {
	h.dues = append(h.dues, simulatedDue{t, s})
}

func newSimulatedLane() *benchLane {
	d, h := simdisk.New(), &simulatedHost{}
	l := &benchLane{name: "simulated", fs: d.View("data-0", h), syncs: node.NewSyncs(), close: func() error { return nil }}
	l.next = func() error {
		if len(h.dues) == 0 {
			return errors.New("the engine waits for a sync that it did not ask for")
		}
		due := h.dues[0]
		h.dues = h.dues[1:]
		l.syncs.Synced(due.token, d.Finish(due.sync, h.now).Err)
		return nil
	}
	return l
}

// open opens a log as a start after a kill finds it: everything is scanned.
func (l *benchLane) open(dir string, cfg storage.Config) (*storage.Log, error) {
	log, _, err := storage.Open(l.fs, dir, cfg, storage.Opening{Syncs: l.syncs})
	return log, err
}

// flush makes a log durable.
func (l *benchLane) flush(log *storage.Log) error {
	over, failed := false, error(nil)
	log.Flush(func(err error) { over, failed = true, err })
	for !over {
		if err := l.next(); err != nil {
			return err
		}
	}
	return failed
}
