package checker

import (
	"iter"
	"math/bits"
)

// blocks is a list that grows by blocks: what is in it is never copied and stays
// where it is. The first blocks double, for most lists are short:
//
//	block    0      1       2       3            7          8
//	        [0,16) [16,32) [32,64) [64,128) ... [1024,2048) [2048,3072) ...
type blocks[T any] struct {
	all  [][]T
	tail []T // what is free of the last block
	n    int
}

// Sizes of the first block and of the largest ones, as powers of two.
const firstBlock, fullBlock = 4, 10

func (b *blocks[T]) len() int { return b.n }

// add makes room for one more.
func (b *blocks[T]) add() *T {
	if len(b.tail) == 0 {
		b.tail = make([]T, min(max(b.n, 1<<firstBlock), 1<<fullBlock))
		b.all = append(b.all, b.tail)
	}
	x := &b.tail[0]
	b.tail = b.tail[1:]
	b.n++
	return x
}

// at is the i-th, from 0 to len-1.
func (b *blocks[T]) at(i int) *T {
	if i >= 1<<fullBlock {
		return &b.all[i>>fullBlock+fullBlock-firstBlock][i&(1<<fullBlock-1)]
	}
	block := bits.Len(uint(i) >> firstBlock)
	if block == 0 {
		return &b.all[0][i]
	}
	return &b.all[block][i-1<<(firstBlock+block-1)]
}

// each goes over the list.
func (b *blocks[T]) each() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		left := b.n
		for _, block := range b.all {
			for i := range block[:min(left, len(block))] {
				if !yield(&block[i]) {
					return
				}
			}
			left -= len(block)
		}
	}
}
