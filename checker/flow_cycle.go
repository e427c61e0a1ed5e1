package checker

import (
	"cmp"
	"slices"
	"strings"
)

// flowCycle is a cycle of the graph of transactions: from nodes[i] an edge leads
// to nodes[i+1], and from the last to the first.
type flowCycle struct {
	nodes []int
	edges []flow
}

// maxStarts is how many edges of a component a shortest cycle is looked for
// through, so that one large component does not take quadratic time.
const maxStarts = 64

// cyclesOf finds, for each component of the edges that follow allows, a shortest
// cycle through an edge that must is true of.
func cyclesOf(g [][]flow, follow, must func(flow) bool) []flowCycle {
	of := components(g, follow)
	starts := map[int]int{}     // edges tried, by component
	best := map[int]flowCycle{} // by component
	var found []int             // components with a cycle, in order of discovery
	search := newFlowSearch(g, of, follow)
	for v := range g {
		for _, e := range g[v] {
			c := of[v]
			if !must(e) || !follow(e) || of[e.to] != c || starts[c] >= maxStarts || len(best[c].nodes) == 2 {
				continue
			}
			starts[c]++
			way := search.shortest(e.to, v)
			if old := len(best[c].nodes); old == 0 || len(way.nodes)+1 < old {
				if old == 0 {
					found = append(found, c)
				}
				best[c] = flowCycle{append([]int{v}, way.nodes...), append([]flow{e}, way.edges...)}
			}
		}
	}
	cycles := make([]flowCycle, len(found))
	for i, c := range found {
		cycles[i] = best[c]
	}
	return cycles
}

// flowSearch looks for shortest ways within a component, breadth first.
type flowSearch struct {
	g      [][]flow
	of     []int
	follow func(flow) bool
	met    []int // the search that met the node last
	from   []int // and from where
	by     []flow
	search int
}

func newFlowSearch(g [][]flow, of []int, follow func(flow) bool) *flowSearch {
	return &flowSearch{g: g, of: of, follow: follow, met: make([]int, len(g)), from: make([]int, len(g)), by: make([]flow, len(g))}
}

// shortest is the way from one node to another of its component: its nodes
// without the last, and the edges that leave them.
func (s *flowSearch) shortest(from, to int) flowCycle {
	s.search++
	s.met[from] = s.search
	queue := []int{from}
	for len(queue) > 0 && s.met[to] != s.search {
		v := queue[0]
		queue = queue[1:]
		for _, e := range s.g[v] {
			if s.follow(e) && s.of[e.to] == s.of[v] && s.met[e.to] != s.search {
				s.met[e.to], s.from[e.to], s.by[e.to] = s.search, v, e
				queue = append(queue, e.to)
			}
		}
	}
	var way flowCycle
	for v := to; v != from; v = s.from[v] {
		way.nodes = append(way.nodes, s.from[v])
		way.edges = append(way.edges, s.by[v])
	}
	slices.Reverse(way.nodes)
	slices.Reverse(way.edges)
	return way
}

// story tells the cycle in one sentence.
func (c *flowCycle) story(t *txnIndex) string {
	var parts []string
	for i, e := range c.edges {
		parts = append(parts, e.story(t.order[c.nodes[i]], t.order[e.to]))
	}
	return strings.Join(parts, ", ")
}

// count is how many edges of a kind the cycle has.
func (c *flowCycle) count(k flowKind) int {
	n := 0
	for _, e := range c.edges {
		if e.kind == k {
			n++
		}
	}
	return n
}

// last is the edge that came last.
func (c *flowCycle) last() flow {
	return slices.MaxFunc(c.edges, func(a, b flow) int { return cmp.Compare(a.when(), b.when()) })
}

// witness lists the sends and polls that make the cycle.
func (c *flowCycle) witness() []uint64 {
	var seqs []uint64
	for _, e := range c.edges {
		seqs = append(seqs, e.wrote, e.seq)
	}
	return witnesses(seqs...)
}

// when is the last event of the edge.
func (e flow) when() uint64 { return max(e.seq, e.wrote) }
