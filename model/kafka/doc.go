// Package kafka holds the vocabulary of Apache Kafka that every other package
// speaks: offsets, epochs, ids, error codes and configuration keys.
//
// Each quantity has a type of its own, because an offset that is added to an
// epoch, or a broker id that is compared with a leader epoch, is a bug that the
// compiler can find. The package has no behaviour beyond parsing, printing and
// validating those values, and imports nothing of tidemark.
package kafka
