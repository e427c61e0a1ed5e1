package simdisk

// What an operation costs, ns of simulated time: a small server with a SATA SSD.
// The page cache is memory and costs processor time; the device is one queue, in
// which each takes its turn. Sizes of cold reads are whole pages of 4 KiB, sizes
// of syncs dirty sectors of 512 bytes.
const (
	ReadNanos        = 1_500 // page-cache read, and per KiB:
	ReadNanosPerKiB  = 100
	WriteNanos       = 2_000 // page-cache write, and per KiB:
	WriteNanosPerKiB = 300
	MetadataNanos    = 5_000   // open, create, rename, remove, mkdir, list, truncate
	CallNanos        = 500     // size, close, asking for a sync
	ColdNanos        = 100_000 // read that must go to the device, and per KiB:
	ColdNanosPerKiB  = 2_048   // 500 MB/s
	FsyncNanos       = 500_000 // sync of a file, and per KiB of dirty sectors:
	FsyncNanosPerKiB = 2_560   // 400 MB/s
	SyncDirNanos     = 400_000
	// What a writer waits for when the page cache must write back first, and per
	// KiB of dirty sectors as for a sync:
	WriteBackNanos = 200_000
)

// perKiB is the share of n bytes in a cost per KiB, rounded up.
func perKiB(nanos, n int64) int64 { return (n*nanos + 1023) / 1024 }
