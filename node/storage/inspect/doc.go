// Package inspect reads Kafka's log directories without being a broker: Verify
// checks everything in them that can be checked, Dump prints it. It writes
// nothing, and it shares no code with the engine of package storage, so that
// neither can hide a mistake of the other; directories of Apache Kafka are read
// by the same rules.
//
// A segment's files say the same thing several times, which is what is compared:
//
//	.log        batch │ batch │ batch │ batch …       every byte below a CRC-32C
//	.index        last offset of a batch → where it starts
//	.timeindex    largest timestamp so far → an offset of the batch that has it
//	.txnindex     what each abort marker in .log ends
//	<o>.snapshot  what the batches below o tell of their producers
//	leader-epoch-checkpoint   where the epoch in the batches changes
//	*-offset-checkpoint       offsets between log start and log end
//
// One pass over the batches drives a cursor in each of the other files, so memory
// is bounded by the largest batch, the number of producers and the text files, not
// by the size of a segment. No length that was read is believed before bytes
// stand for it.
//
// Base offset and leader epoch of a batch are under no CRC. So each batch is held against
// the one behind before the other files are asked: where the two contradict each other,
// the one that alone could be mended is the wrong one, and its field in the .log is the
// byte that is told. Where nothing decides, the line names both bytes; and where another
// file disagrees with a batch that its neighbours do not vouch for, the byte in the .log
// besides its own.
//
// What is sound depends on how the directory was left. Behind a clean stop
// (.kafka_cleanshutdown) everything must agree. A process that was killed leaves
// indexes that are preallocated (zeros at the end), an epoch file that is behind,
// half a batch at the end of the log, markers without index entries in a segment that the
// next start walks, half a snapshot, and snapshots and checkpoints that a truncation made
// stale; these are told as notes, as the next start mends them. Bytes that no writer leaves are faults in both.
//
// A broker may be at work meanwhile: it appends, rolls, deletes, cleans and replaces
// files by renames. So a replica's files are opened together, between two listings
// that are the same, and read from there whatever becomes of their names:
//
//	list ─▶ open every .log ─▶ open what tells of them ─▶ list ─▶ walk, up to the
//	  ▲                                                    │      ends at that time
//	  └────────────────────────────────────────────────────┘ other names
//
// What looks wrong is looked at again from the start, with a pause, until the same
// fault is found once more while nothing changed, or four times whatever changed;
// then it is one. A directory that is different with each of eight looks is told of
// as changing (ErrChanging).
package inspect
