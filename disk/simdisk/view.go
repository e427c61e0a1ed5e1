package simdisk

import "tidemark/disk"

// view is the disk.FS of one lane.
type view struct {
	d    *Disk
	lane string
	host Host
	life uint64
}

// begin counts an operation; false if the incarnation is over.
func (v *view) begin() bool {
	if v.life != v.d.life {
		return false
	}
	v.host.Step()
	return true
}

// pay charges an operation that a stall delays.
func (v *view) pay(cost int64) {
	v.host.Charge(v.d.fd.Delay(v.host.Now()) + cost)
}

// cold charges a read of so many bytes from the device, over what it costs in
// memory. With a bounded page cache it takes its turn on the device, and what
// comes later waits for it.
func (v *view) cold(cost, missed int64) {
	device := ColdNanos + perKiB(ColdNanosPerKiB, missed)
	if !v.d.fd.Bounded() {
		v.pay(cost + device)
		return
	}
	v.host.Charge(cost)
	v.wait(device)
}

// writeBack charges the writer that made too much dirty with the bytes that the
// page cache wrote back.
func (v *view) writeBack(forced int64) {
	if forced > 0 {
		v.wait(WriteBackNanos + perKiB(FsyncNanosPerKiB, forced))
	}
}

// wait puts work on the device and holds the lane until it is done.
func (v *view) wait(cost int64) {
	now := v.host.Now()
	v.host.Charge(v.d.queue(now, cost) - now)
}

// claim makes the lane the owner of what path is in or below, if that exists.
func (v *view) claim(path string) { v.d.claim(v.lane, v.d.owned(path), path) }

// Open implements disk.FS.
func (v *view) Open(name string) (disk.File, error) {
	if !v.begin() {
		return nil, disk.ErrClosed
	}
	v.host.Charge(MetadataNanos)
	f, err := v.d.fd.Open(name)
	if err != nil {
		return nil, err
	}
	return &file{File: f, v: v, name: name, top: v.d.owned(name)}, nil
}

// Create implements disk.FS.
func (v *view) Create(name string) (disk.File, error) {
	if !v.begin() {
		return nil, disk.ErrClosed
	}
	v.claim(name)
	v.pay(MetadataNanos)
	f, err := v.d.fd.Create(name)
	if err != nil {
		return nil, err
	}
	v.claim(name)
	return &file{File: f, v: v, name: name, owned: true}, nil
}

// Mkdir implements disk.FS.
func (v *view) Mkdir(name string) error {
	if !v.begin() {
		return disk.ErrClosed
	}
	v.claim(name)
	v.pay(MetadataNanos)
	if err := v.d.fd.Mkdir(name); err != nil {
		return err
	}
	v.claim(name)
	return nil
}

// Rename implements disk.FS.
func (v *view) Rename(from, to string) error {
	if !v.begin() {
		return disk.ErrClosed
	}
	v.pay(MetadataNanos)
	v.claim(from)
	v.claim(to)
	return v.d.fd.Rename(from, to)
}

// Remove implements disk.FS.
func (v *view) Remove(name string) error {
	if !v.begin() {
		return disk.ErrClosed
	}
	v.pay(MetadataNanos)
	v.claim(name)
	return v.d.fd.Remove(name)
}

// List implements disk.FS.
func (v *view) List(dir string) ([]string, error) {
	if !v.begin() {
		return nil, disk.ErrClosed
	}
	v.host.Charge(MetadataNanos)
	return v.d.fd.List(dir)
}

// SyncDir implements disk.FS.
func (v *view) SyncDir(token disk.Token, dir string) {
	if !v.begin() {
		return
	}
	v.complete(token, v.d.fd.SyncDir(dir), SyncDirNanos)
}

// complete queues a sync on the device and tells the World of it.
func (v *view) complete(token disk.Token, s Sync, cost int64) {
	v.host.Complete(token, v.d.queue(v.host.Now(), cost), s)
	v.host.Charge(CallNanos)
}
