// Package apache has tests that put tidemark's files before Apache Kafka itself,
// and Kafka's before tidemark: only Kafka can tell that they are the same files.
//
//	a workload of node/storage ──▶ Kafka's DumpLogSegments: no fault
//	a broker under real clients, at work, stopped and killed
//	  ──▶ tidemark log verify: no fault
//	  ──▶ tidemark log dump: what DumpLogSegments prints, line by line
//	  ──▶ our log engine goes on with every replica; tidemark serve refuses the
//	      directory, as it cannot replay all of Kafka's metadata log
//	directory of tidemark serve, with transactions and a compacted topic
//	  ──▶ a broker starts on it and serves the same records, read as committed too
//	one produce sequence ──▶ both ──▶ the files byte by byte
//	one segment ──▶ both cleaners ──▶ the files byte by byte
//	groups and transactions on a broker ──▶ kgohistory ──▶ tidemark check: pass
//
// # A timestamp mismatch that is none
//
// Of the .timeindex of a compacted partition DumpLogSegments may say
//
//	Found timestamp mismatch in :…/00000000000000000000.timeindex
//	  Index timestamp: 1700000000000, log timestamp: -1
//
// though Kafka's live cleaner writes the entry, tidemark's writes the same bytes, and a
// rebuild makes the same again:
//
//	Cleaner.cleanInto       lets MemoryRecords.filterTo drop records. A batch that loses
//	                        all of them is BatchRetention.RETAIN_EMPTY if it is its
//	                        producer's last one, for its sequence, or ends the pass: its
//	                        header stays, with lastOffset and maxTimestamp
//	LogSegment.append       looks at headers alone: such a batch may raise
//	                        maxTimestampSoFar, with its lastOffset as
//	                        shallowOffsetOfMaxTimestampSoFar, and TimeIndex.maybeAppend
//	                        writes both, at the next entry or in onBecomeInactiveSegment;
//	                        LogSegment.recover does the same
//	dumpTimeIndex           finds the batch by the entry's offset and asks its records for
//	                        the largest timestamp: there is none, NO_TIMESTAMP, -1
//
// It compares so with --deep-iteration, with --verify-index-only and when it just prints;
// --index-sanity-check looks at the entries alone and says that they pass. The entry is
// right, as no record up to its offset is younger (KIP-33), and tidemark log verify
// compares with the header. Tests leave out these lines of the compacted topic, and no
// others; one has Kafka's own classes clean what tidemark's engine cleans, and compares
// the files (TestTheTimeIndexOfEmptiedBatchesIsWhatKafkasCleanerWrites).
//
// The jars come by Maven (pom.xml has the version); conformance.sh fetches them
// into a cache and runs the tests.
package apache
