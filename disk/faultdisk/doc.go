// Package faultdisk is a page cache that can lose what was not synced, and the
// place where every disk fault enters.
//
// A log that is never cut off from its page cache proves nothing about fsync:
// the durability questions of Kafka begin where the bytes that a broker reads
// back differ from the bytes that a power loss would leave. The package keeps
// both and moves data from one to the other only where the contract of package
// disk says so.
//
//	          cached                                durable
//	readers ──▶ names  ── journal of changes ──▶  names   ┐
//	writers ──▶ pages  ── dirty 512 B sectors ─▶  bytes   ├ Base
//	            size, cut                         size    ┘
//
// The cached side lives here: a tree of names, and per file the 4 KiB pages that
// hold unsynced sectors. Everything clean is read through to the Base, which is
// memory in simulation, and with OnFiles real files or any other disk.FS: every
// fault strikes there as it does in memory, and what the files hold is what a power loss
// with LoseAll would leave.
//
// A file's history since its last sync is a chain of versions,
//
//	durable ── sync 1 asked ── sync 2 asked ── now
//
// where each version is the sectors written since the one before, the size, and
// the cut: the lowest size that the file was truncated to in between. Asking for
// a sync freezes a version; a later write to a frozen page goes to a copy of it.
// Finishing a sync applies the chain up to its version to the Base, so it covers
// exactly the writes before the call, and syncs that were asked earlier with it.
// A sync that nobody finishes is as if it was never asked.
//
// # What a power loss leaves
//
// Of each file: a size and a cut from one version of the chain (or a size on the
// way to it, as a kernel extends a file sector by sector), and of every unsynced
// sector any of its versions or the durable bytes. A sector is never torn, a
// write of several sectors is. Bytes that no surviving sector covers
// are the durable ones, zeros where the file had none. Which subset, is drawn
// per file from five shapes that real file systems produce: nothing, all, cut
// short at a sector, full size with a tail of zeros, sectors scattered at will.
//
// Of the names: each create, mkdir, rename and unlink since the last SyncDir of
// its directory survives or not, as a whole (a rename never leaves a file
// without a name), by itself, with three dependencies that keep every outcome a
// legal tree. A change survives only if these earlier ones did:
//
//   - every change of the same name in the same directory,
//   - for the removal of a directory: every change inside that directory,
//   - for a directory moved to another parent: every earlier such move.
//
// Survey shows such outcomes to a caller who chooses, and loses nothing.
//
// SyncDir makes the changes of its directory durable, and what they depend on.
// Nothing else does: syncing a file says nothing about its name, and a change in
// one directory nothing about another.
//
// # The page cache
//
// Reads of what is in memory cost no device. Unbounded, which is the start, that
// is all that was used since the machine booted; SetPageCache gives the cache a
// size, and with it eviction and forced write-back.
//
// A clean page normally has no copy here, since the base has the same bytes. It
// has one where the base does not: after a failed sync, after a write that the
// device lost or misplaced, and where the base was damaged under a page that was
// in memory. Such a copy hides the truth from readers until it is evicted or the
// machine reboots.
//
// # Faults
//
// Each is a file of its own with a counter in Stats. Those that are ordered
// (Fail..., Lie..., Lose..., Misdirect..., LimitSpace) strike the operations that
// their Target matches, until Heal.
//
//	read      ReadError    from the device only         File.ReadAt, regions
//	write     WriteError   into the cache, maybe half   File.WriteAt, Truncate
//	          NoSpace      as far as there is space     the same, and new names
//	sync      SyncError    three aftermaths             settle
//	          LyingSync    done, nothing durable        Finish
//	device    LostWrite    a page is not written        storePage
//	          Misdirected  it is, over the page before  storePage
//	medium    Rot          a bit flips                  at once
//
// A fault of the last three is effective once a reader gets wrong bytes: scars
// remember which sectors of the base are wrong, and by whose fault.
//
// The package has no clock and knows no lanes: the driver says when a sync
// finishes, what time it is and until when a stall lasts.
package faultdisk
