// Package osdisk is the disk of a real node: disk.FS over the files of one
// directory, which is Kafka's log.dirs with a single entry.
//
// The lanes of a node share one Disk and each has a view of it. Page-cache
// operations are system calls on the lane's own thread, so a device that stalls
// holds up the lanes that touch it and no other. fsync is not for that thread:
//
//	lane ── File.Sync(token) ──▶ queue of its view ──▶ up to 4 workers ── fsync
//	lane ◀── Synced(token, error) ── deliver ◀──────────────────┘
//
// A file that its lane closed stays open while a region of it waits for a
// socket or a sync of it runs, so a connection can send the end of a segment
// that retention has just deleted, as Kafka does.
//
// A small region that the page cache holds is read on the spot where the system can tell
// (ReadPrompt: preadv2 with RWF_NOWAIT); one that is on the device alone never holds up
// whoever asked.
//
// One process has the directory: Open takes an exclusive lock on the file
// ".lock" in it, which the kernel drops when the process dies, however it dies.
// Two brokers that append to one log would each see the other's bytes as
// corruption. The lock file is no lane's business and no listing shows it.
//
// Real files keep what they are told and fail when they like. To have them lose power
// or break on demand, lay faultdisk over a view (faultdisk.OnFiles).
//
// Names cannot leave the directory, not even through a symbolic link: they are
// resolved below an os.Root.
package osdisk
