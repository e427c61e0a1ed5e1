package faultdisk

// Count tells how often a fault took place and how often it mattered.
type Count struct {
	Fired     uint64
	Effective uint64 // ≤ Fired
}

// Stats has one count for each kind of fault.
type Stats struct {
	PowerLoss Count // effective: readers find other bytes, sizes or names than before
	Stall     Count // effective: an operation or a sync was delayed
	Wipe      Count // effective: the disk was not empty
}

// Stats returns the counts since New.
func (d *Disk) Stats() Stats { return d.stats }
