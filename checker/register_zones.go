package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/kafka"
)

// zones judge a register each of whose values is written once, in near-linear
// time (Gibbons and Korach, 1997). The operations on one value make a cluster:
// its commit and the fetches that saw it. A cluster's zone lies between the first
// end and the last call among them:
//
//	first end ≤ last call    the register held the value all that time
//	          |▓▓▓▓▓▓▓▓|     (a forward zone)
//	last call < first end    it held it for some instant in between
//	          |░░░|          (a backward zone)
//
// An order exists if and only if no fetch ends before its commit is called, no
// two forward zones overlap, and no backward zone lies within a forward one.
type zones struct{ list []zone }

type zone struct {
	value kafka.Offset
	write *offsetOp // nil for the value that was there before
	// The operation that ends first and the one that is called last; from and to
	// are those instants.
	first, last *offsetOp
	from, to    uint64
	future      *offsetOp // a fetch that ended before the commit was called
	foreign     bool      // nothing in this part or before it explains the value
}

// zonesOf gathers the clusters of a part of a register's history.
func zonesOf(ops []offsetOp, g *offsetRegister) *zones {
	z := &zones{list: []zone{{value: g.initial, write: g.last, first: g.last}}}
	at := map[kafka.Offset]int{g.initial: 0}
	for i := range ops {
		if op := &ops[i]; op.kind != offsetFetch {
			at[op.value] = len(z.list)
			z.list = append(z.list, zone{value: op.value, write: op, first: op, last: op, from: op.ret, to: op.call})
		}
	}
	for i := range ops {
		op := &ops[i]
		if op.kind != offsetFetch {
			continue
		}
		k, ok := at[op.value]
		if !ok {
			k = len(z.list)
			at[op.value] = k
			z.list = append(z.list, zone{value: op.value, from: never, foreign: true})
		}
		z.list[k].add(op)
	}
	return z
}

func (c *zone) add(op *offsetOp) {
	if c.write != nil && op.ret < c.write.call {
		c.future = op
	}
	if op.ret < c.from {
		c.first, c.from = op, op.ret
	}
	if op.call >= c.to {
		c.last, c.to = op, op.call
	}
}

// forward reports whether the register held the value for a stretch of time.
func (c *zone) forward() bool { return c.last != nil && c.from <= c.to }

// judge returns what does not fit, nil if all does.
func (z *zones) judge() *Finding {
	var forward []*zone
	for i := range z.list {
		c := &z.list[i]
		switch {
		case c.future != nil:
			return offsetFinding(c.future, c.future.String()+" before "+c.write.String(), c.write, c.future)
		case c.foreign:
			return offsetFinding(c.last, c.last.String()+", which nobody had committed since the offset before", c.last)
		case c.forward():
			forward = append(forward, c)
		}
	}
	slices.SortStableFunc(forward, func(a, b *zone) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(forward); i++ {
		if a, b := forward[i-1], forward[i]; b.from < a.to {
			return a.clash(b)
		}
	}
	for i := range z.list {
		c := &z.list[i]
		if c.last == nil || c.forward() {
			continue
		}
		k, _ := slices.BinarySearchFunc(forward, c.to, func(x *zone, at uint64) int { return cmp.Compare(x.from, at) })
		if k > 0 && c.from < forward[k-1].to {
			return forward[k-1].clash(c)
		}
	}
	return nil
}

// clash tells of two values that the register held at once.
func (c *zone) clash(b *zone) *Finding {
	last := c.last
	for _, op := range []*offsetOp{b.first, b.last} {
		if op.ret != never && op.ret > last.ret {
			last = op
		}
	}
	held := "it was there from the beginning"
	if c.first != nil {
		held = c.first.String()
	}
	between := b.first.String()
	if b.first != b.last {
		between += " and " + b.last.String()
	}
	var ops []*offsetOp
	for _, op := range []*offsetOp{c.first, c.last, b.first, b.last} {
		if op != nil {
			ops = append(ops, op)
		}
	}
	return offsetFinding(last, fmt.Sprintf("%s and %s, and in between %s", held, c.last.String(), between), ops...)
}
