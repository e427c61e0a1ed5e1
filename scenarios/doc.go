// Package scenarios runs plans on simulated clusters: it builds the nodes that a
// plan asks for, lets the World run it under chosen rules and a seed, feeds every
// event to the checker, and returns trace and verdict.
//
// It also holds the catalogue of stories (historical failures as scenario files,
// each with the verdict and the output that it must have) and the generator of
// random plans that a seed expands into.
package scenarios
