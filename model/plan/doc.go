// Package plan is workload and faults as data, and the text that they are
// written in.
//
// A plan is what a seed expands into, what a user writes by hand, what the
// minimiser shrinks and what a bug report holds: one format for all, so that
// every failure ends as a short file that anyone can read, edit and run. It
// prints as the text that it is parsed from. The same verbs drive simulated
// and real clusters.
//
// The grammar is in Help; `tidemark run --help` prints it.
package plan
