package faultdisk

// Count tells how often a fault took place and how often it mattered.
type Count struct {
	Fired     uint64
	Effective uint64 // ≤ Fired
}

// Stats has one count for each kind of fault. An ordered fault fires when it is
// ordered and is effective once at most, however many operations it strikes.
type Stats struct {
	PowerLoss Count // effective: readers find other bytes, sizes or names than before
	Stall     Count // effective: an operation or a sync was delayed
	Wipe      Count // effective: the disk was not empty

	ReadError   Count // effective: a read failed
	WriteError  Count // effective: a write failed
	SyncError   Count // effective: a sync failed
	LyingSync   Count // effective: a power loss took what a sync had said to be durable
	NoSpace     Count // effective: an operation failed for want of space
	LostWrite   Count // effective: a reader got what stood there before
	Misdirected Count // effective: a reader got another place's bytes, or what stood there before
	Rot         Count // effective: a reader got the flipped bit
}

// Stats returns the counts since New.
func (d *Disk) Stats() Stats { return d.stats }

// of is the count of an ordered fault.
func (s *Stats) of(k kind) *Count {
	return [kinds]*Count{readError: &s.ReadError, writeError: &s.WriteError, syncError: &s.SyncError, lyingSync: &s.LyingSync,
		noSpace: &s.NoSpace, lostWrite: &s.LostWrite, misdirected: &s.Misdirected, rot: &s.Rot}[k]
}
