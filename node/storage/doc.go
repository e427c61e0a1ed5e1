// Package storage is Kafka's log engine: one replica's log as segments, indexes
// and epoch checkpoint in a directory, over the file system of package disk.
//
// It answers what the rest of Kafka's replication rests on: which bytes a
// replica has, which of them a crash leaves, where its history parts from a
// leader's, whether a batch is one that it has already, and which transactions
// are decided (KIP-98). The high watermark is the business of whoever owns a Log,
// and is told to it.
//
//	orders-0/
//	  00000000000000000000.log        batches back to back
//	  00000000000000000000.index      offset → position, an entry every 4 KiB
//	  00000000000000000000.timeindex  largest timestamp so far → offset
//	  00000000000000000000.txnindex   aborted transactions, if any ended here
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
// of a segment, fsync in the background, and the recovery point follows. If more than
// sixteen rolled segments wait for their fsync, an append waits too, as with
// flush.messages: else tiny segments on a slow device would take descriptors without
// bound (TestRollsDoNotOutrunTheirFsyncs). Kafka
// blocks a thread in an fsync where this package takes a continuation; callers
// that must not go on before (raft, flush.messages, a fetcher after a
// truncation) wait for it. Kafka's indexes are preallocated and mapped into
// memory, so that an entry costs no system call; here entries are written by
// sixteens, and all that are left before a flush syncs the file and when the
// segment ends; the bytes are the same then. Files of deleted segments are renamed
// to .deleted, and unlinked after file.delete.delay.ms.
//
// # What may be on disk
//
// After a kill, or a power loss that keeps any part of what was not synced, a
// start that is not clean makes one of these out of what it finds. The tests that are
// named show one each; TestEveryCrashOfEveryShortWorkload looks for others, in all
// workloads of up to three operations. It walks the segments from the one on that holds
// the last offset below the recovery point, though that one may end there:
//
//  1. An append in progress: a torn batch at the end. It is cut off, at the first
//     bad length, magic, CRC or offset
//     (TestRecoveryCutsAtTheFirstBatchThatNoWriterLeft). If the log was rolled right
//     at a cut, the torn bytes may come back in front of the next segment: they are cut
//     again, and what follows stays where it begins at the cut
//     (TestATornEndThatComesBackInFrontOfASegmentIsCutAgain).
//  2. Segments, or names of segments, that are not there though later ones are:
//     the log ends before the hole, the later ones go
//     (TestRecoveryDropsWhatFollowsALostSegment). So does a segment that lost its end
//     at a batch. A gap is none of these, and stays, below the recovery point or what
//     the cleaner's checkpoint tells, where a compacted log's recovery point may be lost
//     (TestAGapThatCompactionLeftIsNoHoleWhereTheRecoveryPointIsLost), and where the
//     segment before could not have counted so far
//     (TestAGapThatNoSegmentCanSpanIsNoHole). It is taken for a hole if it falls short
//     of that by less than the batch behind it has offsets, and was not flushed. Of a
//     log that was never flushed the first segments may be missing: that cannot be told
//     from retention, and the log begins at the first that is there, as in Kafka.
//  3. Indexes behind, ahead of or beside the log from the recovery point on:
//     rebuilt. Behind by up to fifteen entries they are after any kill, as the last
//     ones were in memory alone
//     (TestAKillTakesHeldIndexEntriesAndTheStartMakesThemAnew). In a segment that ends
//     at the recovery point as well: the roll after the flush wrote to its time index,
//     and a start before that to all of them
//     (TestWhatARollOrAStartWroteBelowTheRecoveryPointIsMadeAnew). In the segments
//     before they were flushed with the log and are trusted: only what is cut, made anew
//     (4) or cleaned (17) is written to below the active segment, and no flush begins to
//     sync before they are whole
//     (TestRecoveryWalksFromTheSegmentWithTheLastOffsetBelowTheRecoveryPoint).
//  4. Indexes without a log, or a segment without an index, because a removal or
//     a creation was cut short: removed, or rebuilt even after a clean stop
//     (TestAMissingOrOddIndexIsRebuiltEvenAfterACleanStop). In a segment that the next
//     start will trust, a part of an index can look like a whole one: so the new ones
//     are written under .tmp, and get their names, and let the next flush complete, once
//     they are durable. Any crash leaves the old ones, which are rebuilt again, or the
//     new ones
//     (TestIndexesMadeAnewBelowTheRecoveryPointAreWholeAfterAnyCrash). A time index
//     alone that is missing is made, empty, and stays so, as in Kafka.
//  5. The old end of a log whose truncation was not durable, whole or behind new
//     batches: kept if nothing follows that contradicts it (the next leader has
//     it cut again), cut if offsets or leader epochs would fall
//     (TestRecoveryCutsAtTheFirstBatchThatNoWriterLeft). Until it is durable the
//     recovery point stays at the base of the segment that was cut, so that the
//     next start walks it, and writes its snapshots anew, even if a later segment
//     begins at the cut by then (TestACutSegmentIsWalkedUntilTheCutIsDurable).
//  6. The same, with a hole, if the recovery point in the checkpoint is still the
//     one from before the truncation: old batches, in order
//     (TestAfterACrashInATruncationWhatIsFoundIsOld).
//  7. An epoch file older than the log, or newer than a truncation that was lost:
//     corrected by the batches; no flush completes before the file that tells of
//     its batches' epochs, no log start that rises moves the recovery point, and no
//     file is written before the truncation that it tells of
//     (TestRecoveryBelievesTheBatchesNotTheEpochFile, TestARaisedLogStartVouchesForNothing,
//     TestTheEpochFileWaitsForATruncationToBeDurable).
//  8. A topic id in a temporary file alone: it counts if it is complete
//     (TestATopicIDIsKnownAfterAKillBeforeItsFileIsComplete), else the replica is
//     stray and had nothing flushed (TestATornTopicIDIsNone).
//  9. A checkpoint file as it was or as it was to be, never a part of one
//     (TestACheckpointIsOldOrNewAfterAnyCrash).
//  10. Any of these again, because the recovery itself was cut short
//     (TestARecoveryMayCrashAsWell), or before a flush made durable what it wrote
//     (TestWhatARollOrAStartWroteBelowTheRecoveryPointIsMadeAnew).
//  11. A producer snapshot that is torn, of a part of the log that was cut off, or
//     missing: the newest whole one at or below the walked segments counts, and
//     the batches behind it; a snapshot behind the recovery point is written anew
//     (TestAStartFindsItsProducersInTheNewestSnapshotThatIsWhole,
//     TestAnUncleanStartBelievesNoSnapshotBehindItsRecoveryPoint). So what a log
//     knows of its producers is always what its batches tell, though perhaps the
//     last batch of each alone. Only a clean stop whose snapshots are all gone is
//     believed to have had no producers, as in Kafka
//     (TestACleanStartWithoutAnySnapshotForgetsItsProducers). Package inspect
//     compares every snapshot with the batches after any death
//     (TestWhatTheEngineWritesIsSound there).
//  12. An index of aborted transactions behind, ahead of or beside the log: as the
//     other indexes, rebuilt in the segments that are walked; what was open comes back
//     from snapshots and batches (TestOpenTransactionsComeBackHoweverALifeEnds,
//     TestAnIndexOfAbortedTransactionsThatCannotBeIsRebuiltEvenAfterACleanStop).
//  13. Files under .deleted: removed (TestAStartRemovesWhatAnEarlierLifeDeleted).
//     If it is an index whose log is still there under its own name, the segment
//     is walked first (TestALogThatComesBackWithoutAnIndexIsWalked). A segment that is
//     walked for its indexes alone keeps the epochs and producers of what follows it
//     (TestASegmentThatIsWalkedForItsIndexesLeavesTheOthersTheirEpochs,
//     TestACleanStartThatWalksAnEmptySegmentKnowsItsProducers).
//  14. Segments that retention deleted: the youngest of them, as each is renamed
//     only when the name of the one before is durable; they are part of the log
//     again (TestSegmentsAreDeletedOneAfterAnother), with the leader epochs that
//     the epoch file may not tell any more
//     (TestTheEpochsOfSegmentsThatComeBackAreReadAgain). The first is renamed only
//     when the name of the segment that takes its place is durable; until then the
//     log start has a line in the checkpoint. So with a log that begins anew, after a
//     truncation or because it ended below its start. There is always a segment to
//     tell which offsets were used
//     (TestNoSegmentGoesBeforeTheNameOfTheFirstThatStaysIsDurable). A directory without
//     any, which something else emptied, begins at the log start of the checkpoint, as
//     in Kafka, not at the recovery point: a follower that began there would lack what
//     its leader still has below, and never fetch it.
//  15. Segments below the log start of the checkpoint, in any state: they are left
//     to retention and never read (TestNothingBelowTheLogStartIsRecovered).
//  16. A segment that the cleaner was writing, under .cleaned: it goes, and with it
//     what has .swap already of it
//     (TestAStartDropsWhatIsNotCompleteAndFinishesWhatIs).
//  17. A segment under .swap beside all or some of those that it replaces: it
//     counts, they are set aside once its names are durable
//     (TestAStartSetsNothingAsideBeforeTheNamesAreDurable). So every group of
//     segments is found as it was or as the cleaner made it
//     (TestAfterACrashInACleaningEachGroupIsOldOrNew). No gap that it left is taken
//     for 2, as it cleans only below the recovery point that is checkpointed. If that is
//     lost, the cleaner's own checkpoint tells, or the policy of the log.
//  18. Indexes under .swap whose log has its name, or was truncated away: they go,
//     and the segment is walked
//     (TestTheStartAfterACrashInACleaningMayCrashAsWell).
//
// In every case the log is a prefix of what was appended, with everything that
// was flushed (TestAfterACrashTheLogIsAPrefixWithEverythingFlushed) and that the
// cleaner did not take; but for a compacted log that may have lost its recovery point,
// and then may have holes. Kafka does not look for 2 and for falling epochs: it relies
// on file systems whose journal keeps creations, renames and truncations in order,
// which package disk does not promise.
//
// # Beside Apache Kafka
//
// The same produce sequence, with all codecs and idempotent producers over several
// segments, was sent to Apache Kafka 4.1.2 and to tidemark, which were then stopped
// cleanly; and a follower of this package was fed, batch by batch, with what Kafka's
// leader had appended, transactions among it. net/interop/apache does so again, and
// compares byte by byte. Equal or not, and what differs in other cases:
//
//	.log                       equal. A segment is named by the log end at the roll,
//	                           Kafka's by the base offset of the next batch: another
//	                           one after a gap that compaction left. A fetched set is
//	                           split where single batches would be; Kafka looks once
//	                           for each append
//	.index, .timeindex         equal: entries for each batch, as Kafka's from 4.1 on.
//	                           While a segment is active, and after a kill, Kafka's
//	                           have 10 MiB, zeros behind the last entry; here a file
//	                           ends with it, or up to fifteen entries before
//	.txnindex                  equal. The last stable offset is that of the marker's
//	                           turn in a fetched set, Kafka's that of the whole set
//	<offset>.snapshot          equal. Producers are by id, Kafka's in the order of a
//	                           hash map, which is that of ids while these are small
//	leader-epoch-checkpoint    equal. An epoch that a crash took out of the file is
//	                           read again from the batches
//	partition.metadata         equal but for the drawn id
//	recovery-point-, log-start-, replication-offset-checkpoint
//	                           equal for one topic; Kafka's lines are in no order
//	cleaner-offset-checkpoint  Kafka makes it, empty, at its first start; here it
//	                           comes with the first log that was cleaned
//	meta.properties            the same keys; Kafka's begins with the date as a comment,
//	                           and keys are in no order
//	quorum-state               equal
//	.kafka_cleanshutdown       equal but for the broker epoch
//	.lock                      Kafka unlinks it at a stop, here the lock alone goes
//	bootstrap.checkpoint       only Kafka has it: what its format tool leaves for the
//	                           first controller, which writes its first records
//	                           without one here
package storage
