package simdisk

import (
	"fmt"
	"slices"
	"strings"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
)

// Sync names one asynchronous sync; numbers are never used twice on a disk.
type Sync = faultdisk.Sync

// Loss says what a power loss leaves: faultdisk.LoseAll, LoseNone, LoseRandom.
type Loss = faultdisk.Loss

// Side is a content to audit: faultdisk.Cached or faultdisk.Durable.
type Side = faultdisk.Side

// Stats counts the faults of a disk.
type Stats = faultdisk.Stats

// Host is the world that a view lives in; one for each lane and incarnation.
type Host interface {
	// Now is the stamp of the running callback: its start plus its cost so far, ns.
	Now() int64
	// Charge adds cost to the running callback, ns.
	Charge(ns int64)
	// Step counts an operation of the lane before its effect. It may panic: the
	// lane dies there and nothing has happened.
	Step()
	// Complete is told of a sync that the lane asked for at the stamp Now: the
	// World calls Disk.Finish at the instant at, ns, and delivers what it says.
	Complete(t disk.Token, at int64, s Sync)
}

// Disk is the disk of one node. It is not safe for concurrent use.
type Disk struct {
	fd   *faultdisk.Disk
	base faultdisk.Base
	life uint64
	busy int64 // the device is done with every sync so far at this instant, ns
	// owners has the lane of each file or directory in the root that was changed
	// in this incarnation. Inodes follow a rename and are never used again.
	owners map[faultdisk.Inode]string
	shared []string // directories in the root whose entries have owners each
}

// New returns an empty disk in memory.
func New() *Disk { return Over(newMemory()) }

// Over returns a disk whose durable side is in base, such as faultdisk.OnFiles has
// it in real files. It panics on an error of base.
func Over(base faultdisk.Base) *Disk {
	return &Disk{fd: faultdisk.New(base), base: base, owners: map[faultdisk.Inode]string{}}
}

// View returns the disk as a lane sees it. It fails with disk.ErrClosed once
// the incarnation is over. The name of the lane is for ownership.
func (d *Disk) View(lane string, h Host) disk.FS {
	return &view{d: d, lane: lane, host: h, life: d.life}
}

// Outcome is what the World does at the event of a sync.
type Outcome struct {
	// Again is not 0 if a stall came in between: ask again at this instant, ns.
	Again int64
	// Gone says that a power loss or a wipe took the sync: deliver nothing.
	Gone bool
	// Err is what Synced delivers.
	Err error
}

// Finish makes durable what a sync covers, at instant now, ns.
func (d *Disk) Finish(s Sync, now int64) Outcome {
	if wait := d.fd.Delay(now); wait > 0 {
		again := now + wait + FsyncNanos
		d.busy = max(d.busy, again)
		return Outcome{Again: again}
	}
	known, err := d.fd.Finish(s)
	return Outcome{Gone: !known, Err: err}
}

// queue puts work of the given cost on the device at instant now and returns
// when it is done, ns.
func (d *Disk) queue(now, cost int64) int64 {
	start := max(now, d.busy)
	start += d.fd.Delay(start)
	d.busy = start + cost
	return d.busy
}

// Kill ends the incarnation and loses nothing: the process was killed, crashed
// or stopped, the kernel lives and goes on syncing.
func (d *Disk) Kill() { d.end(d.fd.Kill()) }

// PowerLoss ends the incarnation and loses what was not synced, as loss says.
// choose draws from [0, n); it is used for faultdisk.LoseRandom only.
func (d *Disk) PowerLoss(loss Loss, choose func(n uint64) uint64) {
	d.end(d.fd.PowerLoss(loss, choose))
}

// Wipe ends the incarnation and empties the disk.
func (d *Disk) Wipe() { d.end(d.fd.Wipe()) }

// end begins the next incarnation.
func (d *Disk) end(err error) {
	if err != nil {
		panic(fmt.Sprintf("simdisk: the base failed: %v", err))
	}
	d.life++
	clear(d.owners)
}

// Stall keeps the device from answering until the given instant, ns. The longest
// stall wins; a reboot does not end it.
func (d *Disk) Stall(until int64) { d.fd.Stall(until) }

// Stats returns the counts of faults since New.
func (d *Disk) Stats() Stats { return d.fd.Stats() }

// Faults is where faults are ordered, and where the page cache
// gets its bound.
func (d *Disk) Faults() Faults { return d.fd }

// Paths lists every path of one side, sorted, directories with a trailing slash.
func (d *Disk) Paths(s Side) []string { return d.fd.Paths(s) }

// ReadFile returns the whole content of a file of one side, without cost.
func (d *Disk) ReadFile(s Side, path string) ([]byte, error) { return d.fd.ReadFile(s, path) }

// Survey looks at what a power loss could leave now.
func (d *Disk) Survey() faultdisk.Survey { return d.fd.Survey() }

// Digest writes the whole state in one fixed form: what is durable, what is
// cached, what is on its way, when the device is free.
func (d *Disk) Digest(write func([]byte)) {
	if m, ok := d.base.(*memory); ok {
		m.digest(write)
	} else {
		d.digestDurable(write)
	}
	d.fd.Digest(write)
	write(fmt.Appendf(nil, "busy %d", d.busy))
}

// digestDurable writes the files of a base that has no digest of its own.
func (d *Disk) digestDurable(write func([]byte)) {
	for _, path := range d.fd.Paths(faultdisk.Durable) {
		write([]byte(path))
		if path[len(path)-1] == '/' {
			continue
		}
		content, err := d.fd.ReadFile(faultdisk.Durable, path)
		if err != nil {
			panic(fmt.Sprintf("simdisk: the base failed: %v", err))
		}
		write(content)
	}
}

// Share says that the entries of some directories in the root, such as Kafka's
// log.dirs, have owners of their own, as those of the root itself have.
func (d *Disk) Share(dirs []string) { d.shared = dirs }

// owned is what a path is owned by way of: a file or directory in the root or in
// a shared directory. 0: it does not exist.
func (d *Disk) owned(path string) faultdisk.Inode {
	depth := 1
	if top, _, below := strings.Cut(path, "/"); below && slices.Contains(d.shared, top) {
		depth = 2
	}
	return d.fd.Top(path, depth)
}

// claim makes lane the owner of what a path is owned by way of, on account of
// path; 0 is none.
func (d *Disk) claim(lane string, top faultdisk.Inode, path string) {
	if top == 0 {
		return
	}
	owner, taken := d.owners[top]
	if !taken {
		d.owners[top] = lane
		return
	}
	if owner != lane {
		panic(fmt.Sprintf("simdisk: lane %s changes %q, which lane %s owns: every path has one owning lane",
			lane, path, owner))
	}
}
