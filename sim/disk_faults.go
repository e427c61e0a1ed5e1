package sim

import (
	"fmt"

	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/plan"
)

// DiskFaultPrefix begins the trace event of every fault of a disk; the node's
// name and the fault, as plan.DiskFault prints it, follow.
const DiskFaultPrefix = "disk "

// diskFaults are the counts of the faults that BreakDisk orders.
var diskFaults = map[string]FaultKind{
	plan.DiskReadError: FaultReadError, plan.DiskWriteError: FaultWriteError, plan.DiskSyncError: FaultSyncError,
	plan.DiskLyingSync: FaultLyingSync, plan.DiskLoseWrites: FaultLoseWrites, plan.DiskMisdirect: FaultMisdirect,
	plan.DiskRot: FaultRot, plan.DiskCapacity: FaultCapacity,
}

// addDisk adds what one disk counts as effective.
func (s *Stats) addDisk(d simdisk.Stats) {
	for _, c := range []struct {
		kind  FaultKind
		count faultdisk.Count
	}{{FaultStall, d.Stall}, {FaultReadError, d.ReadError}, {FaultWriteError, d.WriteError}, {FaultSyncError, d.SyncError},
		{FaultLyingSync, d.LyingSync}, {FaultLoseWrites, d.LostWrite}, {FaultMisdirect, d.Misdirected}, {FaultRot, d.Rot},
		{FaultCapacity, d.NoSpace}} {
		s.Faults[c.kind].Effective += c.count.Effective
	}
}

// BreakDisk orders a fault of a node's disk, up or down, ends all of them, or
// gives its page cache a size.
func (w *World) BreakDisk(id kafka.BrokerID, f plan.DiskFault) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	if m.disk == nil {
		return fmt.Errorf("node %s has no disk to break", m.cfg.Name)
	}
	if k, counted := diskFaults[f.Kind]; counted {
		w.order(k)
	}
	done := w.breakDisk(m, f)
	w.fault(id, kafka.NoBroker, DiskFaultPrefix+"%s %s", m.cfg.Name, done)
	return nil
}

// breakDisk returns what was ordered; a rot that was drawn says where.
func (w *World) breakDisk(m *machine, f plan.DiskFault) string {
	d := m.disk.Faults()
	at := faultdisk.Target{Path: f.Path, From: f.From, To: f.To, Op: f.Op}
	switch f.Kind {
	case plan.DiskReadError:
		d.FailReads(at)
	case plan.DiskWriteError:
		d.FailWrites(at, f.Short)
	case plan.DiskSyncError:
		d.FailSyncs(at, aftermathOf(f.After))
	case plan.DiskLyingSync:
		d.LieOnSyncs(at)
	case plan.DiskLoseWrites:
		d.LoseWrites(at)
	case plan.DiskMisdirect:
		d.MisdirectWrites(at)
	case plan.DiskRot:
		return w.rot(m, f)
	case plan.DiskCapacity:
		d.LimitSpace(f.Bytes)
	case plan.DiskPageCache:
		d.SetPageCache(f.Bytes)
	case plan.DiskHeal:
		d.Heal()
	}
	return f.String()
}

func aftermathOf(after string) faultdisk.Aftermath {
	switch after {
	case "reverts":
		return faultdisk.Reverts
	case "gone":
		return faultdisk.Gone
	}
	return faultdisk.Keeps
}

// rot flips a bit of the first file that the pattern stands for, or of a drawn
// one at a drawn place.
func (w *World) rot(m *machine, f plan.DiskFault) string {
	side := faultdisk.Durable
	if f.Cached {
		side = faultdisk.Cached
	}
	var names []string
	var sizes []int64
	for _, name := range m.disk.Faults().Files(f.Path) {
		if p, err := m.disk.ReadFile(side, name); err == nil && len(p) > 0 {
			names, sizes = append(names, name), append(sizes, int64(len(p)))
		}
	}
	if len(names) == 0 {
		return f.String() + ": there is no such file with a byte in it"
	}
	name, off, bit := names[0], f.Offset, uint8(0)
	if off == plan.RandomOffset {
		i := w.Rand("rot") % uint64(len(names))
		name, off, bit = names[i], int64(w.Rand("rot")%uint64(sizes[i])), uint8(w.Rand("rot")%8)
	}
	hit, err := m.disk.Faults().Rot(side, name, off, bit)
	if err != nil {
		panic(fmt.Sprintf("sim: memory failed: %v", err))
	}
	if !hit {
		return fmt.Sprintf("%s: there is no byte %d in %s", f, off, name)
	}
	return fmt.Sprintf("%s: bit %d of byte %d of %s", f, bit, off, name)
}
