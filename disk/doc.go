// Package disk is the contract between the storage engine and whatever holds
// its bytes: a simulated disk (disk/simdisk), real files (disk/osdisk), either
// of them behind a layer that injects faults (disk/faultdisk).
//
// The contract is that of a POSIX file system with a page cache, no more:
//
//   - Reads and writes go to the page cache, are synchronous, and are seen at
//     once by every later read. They say nothing about the medium.
//   - File.Sync and FS.SyncDir are asynchronous. They take a token that is
//     unique in the lane, and the driver brings it back as Synced(token, error),
//     in any order, once or (if the process dies) never. Success covers every
//     write to that file before the call; for a directory, every create, rename
//     and unlink in it before the call. An fsync of a file does not make its
//     name durable, and an fsync of a directory does not make contents durable.
//   - A rename replaces its target at once in the cache; after a power loss the
//     old name, the new name or both states may be found until SyncDir.
//   - A write that fails has written the bytes that it says, none or a part; a read
//     or a write that fails leaves the handle usable, and the rest of the file as
//     it was. A full disk takes what fits, overwrites and truncations.
//   - After any error of Sync nothing is known about the writes that it covered;
//     a later success proves nothing about them.
//
// Names are slash-separated paths relative to the root of the file system,
// without "." or ".." elements; the root is "". Every path has one owning lane.
package disk
