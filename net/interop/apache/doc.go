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
//	groups and transactions on a broker ──▶ kgohistory ──▶ tidemark check: pass
//
// The jars come by Maven (pom.xml has the version); conformance.sh fetches them
// into a cache and runs the tests.
package apache
