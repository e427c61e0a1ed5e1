package simdisk

import "tidemark/disk/faultdisk"

// Faults are the faults that can be ordered at any time and need no instant; see
// package faultdisk for what each does.
type Faults interface {
	FailReads(t faultdisk.Target)
	FailWrites(t faultdisk.Target, short bool)
	FailSyncs(t faultdisk.Target, after faultdisk.Aftermath)
	LieOnSyncs(t faultdisk.Target)
	LoseWrites(t faultdisk.Target)
	MisdirectWrites(t faultdisk.Target)
	Rot(s faultdisk.Side, name string, off int64, bit uint8) (bool, error)
	LimitSpace(capacity int64)
	Heal()
	// SetPageCache bounds the page cache, bytes.
	SetPageCache(bytes int64)
	// Files lists the files, not empty, that a pattern stands for.
	Files(pattern string) []string
}
