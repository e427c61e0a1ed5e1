// Package simdisk is the simulated disk of one node: faultdisk over memory, with
// a cost in simulated time for every operation.
//
// The disk belongs to the node and outlives its incarnations. Every lane sees it
// through a View of its own, which counts the lane's operations, charges their
// cost to the lane's running callback and hands its syncs to the World:
//
//	lane ── File.Sync(token) ──▶ view ── Host.Complete(token, at, sync) ──▶ World
//	                                                                    event at `at`
//	lane ◀── Synced(token, error) ── World ◀── Outcome ── Disk.Finish(sync, at) ──┘
//
// Over puts the durable side elsewhere than in memory, such as into real files. What
// a node sees is the same.
//
// Nothing is durable before Finish, so a power loss between the call and the
// event finds the writes unsynced. The kernel finishes the syncs of a killed
// process: the World then calls Finish and delivers nothing. A sync that was
// asked after the instant of death never took place: the World forgets it.
//
// # Cost
//
// The page cache costs processor time (see the constants in cost.go). The device
// is one queue: a sync starts when the one before it is done. It is paid for by
// nobody's callback, only the wait for it shows. Bytes that are not in the page
// cache must come from the device (a cold read). A stall delays whatever touches
// the device, and writes and changes of names, which a kernel blocks when it
// cannot write back; warm reads go on.
//
// A page cache without a bound holds what was used since the machine booted, and
// its cold reads pass the queue by, as on a device with many channels that is
// hardly ever asked. SetPageCache makes the machine small: cold reads then stand
// in the queue with syncs and forced write-back, and whoever reads cold holds the
// others up. So one consumer that lags behind slows down acknowledgements.
//
// # Ownership
//
// Lanes share the disk but no file. The first lane of an incarnation that
// changes something below a name of the root owns that name; another lane that
// does is a bug and panics. Reading and syncing is free for all, as is the root
// itself.
package simdisk
