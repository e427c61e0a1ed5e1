// Package apache has tests that put tidemark's files before Apache Kafka itself,
// and Kafka's before tidemark: only Kafka can tell that they are the same files.
//
//	a workload of node/storage ──▶ Kafka's DumpLogSegments: no fault
//	a broker under real clients, stopped and killed ──▶ tidemark log verify: no fault
//	directory of tidemark serve ──▶ a broker starts on it and serves the same records
//	one produce sequence ──▶ both ──▶ the files byte by byte
//
// The jars come by Maven (pom.xml has the version); conformance.sh fetches them
// into a cache and runs the tests.
package apache
