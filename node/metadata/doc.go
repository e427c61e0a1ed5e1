// Package metadata is the content of Kafka's metadata log: the records that the
// controller writes into __cluster_metadata, and the image of the cluster into
// which every node replays them (KIP-500, KIP-631).
//
// The controller and every broker hold the same image because they replay the
// same records in the same order; nothing else is told between them. A record
// says what is new, never how it was decided, so that a broker of any release can
// follow. An Image is immutable and shares with its predecessor all that a
// record did not touch, so lanes pass it around without copies, and the
// difference of two images is found by comparing pointers.
//
// The value of one record in the log (KIP-631, "frame version 1"):
//
//	uvarint 1 │ uvarint api key │ uvarint version │ body, flexible encoding
//
//	body: fields in order, then the tag section
//	      uvarint count │ { uvarint tag │ uvarint size │ bytes } ascending by tag
//
// All integers in a body are big-endian; strings and arrays carry a uvarint of
// their length + 1, 0 standing for null.
package metadata
