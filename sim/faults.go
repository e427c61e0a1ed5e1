package sim

import (
	"fmt"
	"strings"
	"time"

	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
)

// FaultKind names a fault for the counts.
type FaultKind uint8

// The faults that the World can do.
const (
	FaultKill FaultKind = iota
	FaultPower
	FaultWipe
	FaultStop
	FaultStart
	FaultPause
	FaultResume
	FaultCrash
	FaultCut
	FaultHeal
	FaultHold
	FaultRelease
	FaultReset
	FaultHalfOpen
	FaultFail
	FaultStall
	FaultClock
	FaultReadError
	FaultWriteError
	FaultSyncError
	FaultLyingSync
	FaultLoseWrites
	FaultMisdirect
	FaultRot
	FaultCapacity
	FaultKinds // how many there are
)

var faultNames = [FaultKinds]string{"kill", "power", "wipe", "stop", "start", "pause", "resume", "crash", "cut", "heal",
	"hold", "release", "reset", "half-open", "fail", "stall", "clock",
	"read-error", "write-error", "fsync-error", "lying-fsync", "lose-writes", "misdirect-writes", "rot", "capacity"}

// String names the fault as scenario files do.
func (k FaultKind) String() string { return faultNames[k] }

// FaultCount tells how often a fault was ordered, and how often it changed what
// happened. A run whose faults had no effect proves nothing.
type FaultCount struct{ Fired, Effective uint64 }

func (w *World) order(k FaultKind) { w.stats.Faults[k].Fired++ }

func (w *World) count(k FaultKind, effective bool) {
	if effective {
		w.stats.Faults[k].Effective++
	}
}

// fault writes a fault into the trace, as a scenario file would.
func (w *World) fault(node, peer kafka.BrokerID, format string, args ...any) {
	e := event.New(event.Fault)
	e.Node, e.Peer, e.Text = node, peer, fmt.Sprintf(format, args...)
	w.trace(&e)
}

// Start boots a node that is down. One that is stopping boots as soon as it is
// down; on any other it has no effect.
func (w *World) Start(id kafka.BrokerID) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	w.order(FaultStart)
	switch {
	case !m.alive:
		w.count(FaultStart, true)
		w.boot(m)
	case m.stopping:
		w.count(FaultStart, true)
		m.again = true
	}
	return nil
}

// Kill ends a node's process as kill -9 does: its page cache and its kernel
// live. On a node that is down it has no effect.
func (w *World) Kill(id kafka.BrokerID) error {
	return w.end(id, FaultKill, ending{text: "kill"})
}

// Power cuts the power of a node's machine: the disk loses what loss says, and
// no peer is told. On a node that is down the page cache still is lost.
func (w *World) Power(id kafka.BrokerID, loss simdisk.Loss) error {
	return w.end(id, FaultPower, ending{text: "power", power: true, loss: loss})
}

// Wipe kills a node that is up and empties its disk.
func (w *World) Wipe(id kafka.BrokerID) error {
	return w.end(id, FaultWipe, ending{text: "wipe", wipe: true})
}

func (w *World) end(id kafka.BrokerID, k FaultKind, how ending) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	w.order(k)
	if m.alive {
		w.count(k, true)
		w.die(m, how)
		return nil
	}
	if how.power {
		w.net.PowerOff(int32(id), w.now)
	}
	if how.power || how.wipe {
		w.endDisk(m, how)
	}
	return nil
}

// Stop asks a node for a controlled shutdown, as SIGTERM does.
func (w *World) Stop(id kafka.BrokerID) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	w.order(FaultStop)
	for _, to := range []node.Lane{node.Lifecycle, node.App, node.Quorum} {
		if m.alive && m.lane(to) != nil {
			w.count(FaultStop, true)
			m.stopping = true
			return w.Post(id, to, node.Stop{})
		}
	}
	return nil
}

// Pause stops a node's process as SIGSTOP does: connections stay, mail gathers.
// A callback that has begun ends first.
func (w *World) Pause(id kafka.BrokerID) error {
	return w.suspend(id, FaultPause, event.Paused, true)
}

// Resume lets a paused process go on.
func (w *World) Resume(id kafka.BrokerID) error {
	return w.suspend(id, FaultResume, event.Resumed, false)
}

func (w *World) suspend(id kafka.BrokerID, k FaultKind, kind event.Kind, paused bool) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	w.order(k)
	if !m.alive || m.paused == paused {
		return nil
	}
	w.count(k, true)
	m.paused = paused
	e := event.New(kind)
	e.Node = id
	w.trace(&e)
	for _, l := range m.lanes {
		w.offer(l)
	}
	return nil
}

// Crash orders a death inside a callback: from now on the lane's operations are
// counted, and the process dies before the effect of the op-th, from 1. All
// calls of FS, File and Env count that do something: reads and writes, timers,
// dials, sends, releases, closes, posts; not clocks, draws and trace events. With
// power the machine dies with it and loses a random part of what is not synced.
//
// On a node that is down the order is for its next life, from its first callback
// on, so that a death can be set before any operation of recovery. It ends with
// that life in any case; a node that never booted has no lanes to count in.
func (w *World) Crash(id kafka.BrokerID, laneName string, op int, power bool) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	w.order(FaultCrash)
	if m.life == 0 {
		return fmt.Errorf("crash %s/%s: node %s was never started", m.cfg.Name, laneName, m.cfg.Name)
	}
	if op < 1 {
		return fmt.Errorf("crash %s/%s op %d: operations count from 1", m.cfg.Name, laneName, op)
	}
	for _, l := range m.lanes {
		if l.id.String() == laneName {
			how := "kill"
			if power {
				how = "power"
			}
			text := fmt.Sprintf("crash %s op %d %s", laneName, op, how)
			l.crash = crash{ops: op, how: ending{text: text, power: power, loss: faultdisk.LoseRandom}}
			w.fault(id, kafka.NoBroker, "crash %s/%s op %d %s", m.cfg.Name, laneName, op, how)
			return nil
		}
	}
	return noLane(m, laneName)
}

func noLane(m *machine, name string) error {
	names := make([]string, len(m.lanes))
	for i, l := range m.lanes {
		names[i] = l.id.String()
	}
	return fmt.Errorf("node %s has no lane %q: it has %s", m.cfg.Name, name, strings.Join(names, ", "))
}

// Stall keeps a node's disk from answering for that long.
func (w *World) Stall(id kafka.BrokerID, d time.Duration) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	if m.disk == nil {
		return fmt.Errorf("node %s has no disk to stall", m.cfg.Name)
	}
	w.order(FaultStall)
	m.disk.Stall(w.now + int64(d))
	w.fault(id, kafka.NoBroker, "stall %s for %v", m.cfg.Name, d)
	return nil
}

// ClockJump moves a node's wall clock by d, back if d is negative.
func (w *World) ClockJump(id kafka.BrokerID, d time.Duration) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	w.order(FaultClock)
	w.count(FaultClock, d != 0)
	m.clock.jump(w.now, int64(d))
	w.fault(id, kafka.NoBroker, "clock %s jump %v", m.cfg.Name, d)
	return nil
}

// ClockDrift lets a node's wall clock run fast by ppm parts in a million from
// now on, slow if negative.
func (w *World) ClockDrift(id kafka.BrokerID, ppm int64) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	w.order(FaultClock)
	w.count(FaultClock, ppm != m.clock.ppm)
	m.clock.drift(w.now, ppm)
	w.fault(id, kafka.NoBroker, "clock %s drift %d ppm", m.cfg.Name, ppm)
	return nil
}
