//go:build !js

package main

import (
	"hash/crc32"
	"math/rand/v2"
)

// benchMemory is memory of a log's size: what a disk of no cost would be.
type benchMemory struct {
	bytes []byte
	at    int
}

func newBenchMemory(size int) *benchMemory {
	m := &benchMemory{bytes: make([]byte, max(size, fetchBytes))}
	for i := range m.bytes {
		m.bytes[i] = byte(i) // and so it is there
	}
	return m
}

// next is where the next n bytes are, in order, and from the start again.
func (m *benchMemory) next(n int) []byte {
	if m.at+n > len(m.bytes) {
		m.at = 0
	}
	m.at += n
	return m.bytes[m.at-n : m.at]
}

// filling copies b to the memory, n times.
func (m *benchMemory) filling(b []byte, n int) slice {
	return slice{name: "memory copy", bytes: n * len(b), operations: n, do: func() error {
		for range n {
			copy(m.next(len(b)), b)
		}
		return nil
	}}
}

// emptying copies the memory to b, n times.
func (m *benchMemory) emptying(b []byte, n int) slice {
	return slice{name: "memory copy", bytes: n * len(b), operations: n, do: func() error {
		for range n {
			copy(b, m.next(len(b)))
		}
		return nil
	}}
}

// picking copies random places of the memory to b, n times.
func (m *benchMemory) picking(b []byte, n int, random *rand.Rand) slice {
	return slice{name: "memory copy of 4 KiB", bytes: n * len(b), operations: n, do: func() error {
		for range n {
			copy(b, m.bytes[random.IntN(len(m.bytes)-len(b)+1):])
		}
		return nil
	}}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// checking takes the CRC-32C of b, n times.
func (m *benchMemory) checking(b []byte, n int) slice {
	return slice{name: "CRC-32C", bytes: n * len(b), operations: n, do: func() error {
		for range n {
			checksum(b)
		}
		return nil
	}}
}

// checkingAll takes the CRC-32C of the whole memory, for so many batches.
func (m *benchMemory) checkingAll(batches int) slice {
	return slice{name: "CRC-32C", bytes: len(m.bytes), operations: batches, do: func() error {
		checksum(m.bytes)
		return nil
	}}
}
