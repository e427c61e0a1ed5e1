package sim

import (
	"fmt"

	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
)

// NodeConfig describes a node to the World.
type NodeConfig struct {
	ID   kafka.BrokerID
	Name string // as scenario files write it; "" stands for the id
	// Boot composes a new life. It is called at every start.
	Boot func(BootInfo) node.Spec
	Disk bool // whether the machine has a disk
}

// BootInfo is what a life may know of the ones before it.
type BootInfo struct {
	Life uint32 // from 1
}

// machine is a node as the World keeps it: what outlives a process.
type machine struct {
	cfg   NodeConfig
	index uint16
	disk  *simdisk.Disk
	clock clock

	life   uint32
	alive  bool
	paused bool
	// stopping tells that the process was asked to stop; again, that it was
	// asked to start meanwhile and boots as soon as it is down.
	stopping, again bool
	booted          int64   // instant of the last boot
	deaths          []int64 // by life-1: when it ended
	lanes           []*lane // of this life, else of the last one, in order of start
	byLane          []*lane // by node.Lane; nil: this life has none
	slots           []*lane // by node.Lane: those of all lives
}

// listener is who accepts at an address.
type listener struct {
	machine *machine
	lane    node.Lane
	life    uint32 // the life that listens
}

// AddNode makes a node known; Start boots it. It panics on an id that is taken.
func (w *World) AddNode(cfg NodeConfig) {
	if _, err := w.machine(cfg.ID); err == nil {
		panic(fmt.Sprintf("sim: node %d is added twice", cfg.ID))
	}
	if cfg.Name == "" {
		cfg.Name = fmt.Sprint(cfg.ID)
	}
	m := &machine{cfg: cfg, index: uint16(len(w.machines))}
	if cfg.Disk {
		m.disk = simdisk.New()
	}
	w.machines = append(w.machines, m)
}

func (w *World) machine(id kafka.BrokerID) (*machine, error) {
	for _, m := range w.machines {
		if m.cfg.ID == id {
			return m, nil
		}
	}
	return nil, fmt.Errorf("there is no node %d", id)
}

func (m *machine) lane(id node.Lane) *lane {
	if int(id) < len(m.byLane) {
		return m.byLane[id]
	}
	return nil
}

// boot begins a life: every lane's first callback is Start.
func (w *World) boot(m *machine) {
	m.life++
	m.alive, m.paused, m.booted = true, false, w.now
	spec := m.cfg.Boot(BootInfo{Life: m.life})
	if m.disk != nil {
		m.disk.Share(spec.LogDirs)
	}
	m.lanes, m.byLane = m.lanes[:0], m.byLane[:0]
	w.net.PowerOn(int32(m.cfg.ID), w.now)
	e := event.New(event.Boot)
	e.Node = m.cfg.ID
	w.trace(&e)
	for _, s := range spec.Lanes {
		l := w.laneOf(m, s.Lane)
		l.begin(s)
		m.lanes = append(m.lanes, l)
		for int(s.Lane) >= len(m.byLane) {
			m.byLane = append(m.byLane, nil)
		}
		m.byLane[s.Lane] = l
	}
	for _, s := range spec.Listen {
		if m.lane(s.Lane) == nil {
			panic(fmt.Sprintf("sim: node %d listens at %s with lane %v, which it does not have", m.cfg.ID, s.Addr, s.Lane))
		}
		w.listeners[s.Addr] = listener{m, s.Lane, m.life}
	}
	for _, l := range m.lanes {
		w.deliver(l, mail{kind: mailStart})
	}
}

// laneOf returns the lane's record, which is made once and used by all lives.
func (w *World) laneOf(m *machine, id node.Lane) *lane {
	for int(id) >= len(m.slots) {
		m.slots = append(m.slots, nil)
	}
	if m.slots[id] == nil {
		m.slots[id] = &lane{w: w, m: m, id: id, index: uint16(len(w.lanes))}
		w.lanes = append(w.lanes, m.slots[id])
	}
	return m.slots[id]
}

// diedBefore tells whether a life that is over ended before an instant.
func (m *machine) diedBefore(life uint32, stamp int64) bool {
	return int(life) <= len(m.deaths) && m.deaths[life-1] < stamp
}

// ending is how a life ends.
type ending struct {
	text  string
	power bool
	wipe  bool
	loss  simdisk.Loss
}

// die ends the process now. What it did after this instant never happened.
func (w *World) die(m *machine, how ending) {
	m.alive, m.paused = false, false
	m.deaths = append(m.deaths, w.now)
	for _, l := range m.lanes {
		w.stale += l.timers.live
		l.end()
	}
	if how.power {
		w.net.PowerOff(int32(m.cfg.ID), w.now)
	} else {
		w.net.Kill(int32(m.cfg.ID), w.now)
	}
	w.endDisk(m, how)
	e := event.New(event.Died)
	e.Node, e.Text = m.cfg.ID, how.text
	w.trace(&e)
	if m.again {
		w.schedule(entry{at: w.now, kind: evBoot, lane: m.index})
	}
	m.stopping, m.again = false, false
}

func (w *World) endDisk(m *machine, how ending) {
	switch {
	case m.disk == nil:
	case how.wipe:
		m.disk.Wipe()
	case how.power:
		s := stream{key: streamKey(w.opts.Seed, int32(m.cfg.ID), m.life, uint8(node.Outside), "power")}
		m.disk.PowerLoss(how.loss, func(n uint64) uint64 { return below(s.next(), n) })
	default:
		m.disk.Kill()
	}
}
