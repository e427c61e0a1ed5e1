// Package storage is Kafka's log engine: one replica's log as segments, indexes
// and epoch checkpoint in a directory, over the file system of package disk.
//
// It answers what the rest of Kafka's replication rests on: which bytes a
// replica has, which of them a crash leaves, where its history parts from a
// leader's, and whether a batch is one that it has already (KIP-98). The high watermark is not its business; whoever owns a Log bounds
// reads by it.
//
//	orders-0/
//	  00000000000000000000.log        batches back to back
//	  00000000000000000000.index      offset → position, an entry every 4 KiB
//	  00000000000000000000.timeindex  largest timestamp so far → offset
//	  00000000000000004711.log …      the active segment
//	  00000000000000004711.snapshot   what the batches before tell of their producers
//	  leader-epoch-checkpoint         epoch → start offset (KIP-101)
//	  partition.metadata              the topic id (KIP-516)
//
//	  log start          recovery point                    log end
//	      │                    │                              │
//	──────┴── flushed ─────────┴── in the page cache ─────────┘
//
// Writes are synchronous and not durable, as in Kafka; a Flush, and the rolling
// of a segment, fsync in the background, and the recovery point follows. Kafka
// blocks a thread in an fsync where this package takes a continuation; callers
// that must not go on before (raft, flush.messages, a fetcher after a
// truncation) wait for it. Kafka's indexes are preallocated and mapped into
// memory, here they are written through; the bytes are the same. Files of
// segments are unlinked at once, where Kafka renames them to .deleted and waits
// a minute: an open region keeps its bytes here.
//
// # What may be on disk
//
// After a kill, or a power loss that keeps any part of what was not synced, a
// start that is not clean makes one of these out of what it finds:
//
//  1. An append in progress: a torn batch at the end. It is cut off, at the first
//     bad length, magic, CRC or offset
//     (TestRecoveryCutsAtTheFirstBatchThatNoWriterLeft).
//  2. Segments, or names of segments, that are not there though later ones are:
//     the log ends before the hole, the later ones go
//     (TestRecoveryDropsWhatFollowsALostSegment).
//  3. Indexes behind, ahead of or beside the log from the recovery point on:
//     rebuilt. Before it they were flushed with the log and are trusted
//     (TestRecoveryWalksFromTheSegmentWithTheRecoveryPoint).
//  4. Indexes without a log, or a segment without an index, because a removal or
//     a creation was cut short: removed, or rebuilt even after a clean stop
//     (TestAMissingOrOddIndexIsRebuiltEvenAfterACleanStop).
//  5. The old end of a log whose truncation was not durable, whole or behind new
//     batches: kept if nothing follows that contradicts it (the next leader has
//     it cut again), cut if offsets or leader epochs would fall
//     (TestRecoveryCutsAtTheFirstBatchThatNoWriterLeft).
//  6. The same, with a hole, if the recovery point in the checkpoint is still the
//     one from before the truncation: old batches, in order
//     (TestAfterACrashInATruncationWhatIsFoundIsOld).
//  7. An epoch file older than the log, or newer than a truncation that was lost:
//     corrected by the batches; no flush completes before the file that tells of
//     its batches' epochs, and no file is written before the truncation that it
//     tells of (TestRecoveryBelievesTheBatchesNotTheEpochFile,
//     TestTheEpochFileWaitsForATruncationToBeDurable).
//  8. A topic id in a temporary file alone: it counts if it is complete
//     (TestATopicIDIsKnownAfterAKillBeforeItsFileIsComplete), else the replica is
//     stray and had nothing flushed (TestATornTopicIDIsNone).
//  9. A checkpoint file as it was or as it was to be, never a part of one
//     (TestACheckpointIsOldOrNewAfterAnyCrash).
//  10. Any of these again, because the recovery itself was cut short
//     (TestARecoveryMayCrashAsWell).
//  11. A producer snapshot that is torn, of a part of the log that was cut off, or
//     missing: the newest whole one at or below the walked segments counts, and
//     the batches behind it; a snapshot behind the recovery point is written anew
//     (TestAStartFindsItsProducersInTheNewestSnapshotThatIsWhole,
//     TestAnUncleanStartBelievesNoSnapshotBehindItsRecoveryPoint). So what a log
//     knows of its producers is always what its batches tell, though perhaps the
//     last batch of each alone. Only a clean stop whose snapshots are all gone is
//     believed to have had no producers, as in Kafka
//     (TestACleanStartWithoutAnySnapshotForgetsItsProducers).
//
// In every case the log is a prefix of what was appended, with everything that
// was flushed (TestAfterACrashTheLogIsAPrefixWithEverythingFlushed). Kafka does
// not look for 2 and for falling epochs: it relies on file systems whose journal
// keeps creations, renames and truncations in order, which package disk does not
// promise.
package storage
