package checker

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// reachable says which nodes each node reaches, by following every edge again
// and again.
func reachable(g [][]flow) [][]bool {
	r := make([][]bool, len(g))
	for v := range g {
		r[v] = make([]bool, len(g))
		for _, e := range g[v] {
			r[v][e.to] = true
		}
	}
	for k := range g {
		for i := range g {
			for j := range g {
				r[i][j] = r[i][j] || r[i][k] && r[k][j]
			}
		}
	}
	return r
}

func randomFlows(rnd *rand.Rand, n int) [][]flow {
	g := make([][]flow, n)
	for range n + rnd.IntN(n) {
		from, to := rnd.IntN(n), rnd.IntN(n)
		if from != to {
			g[from] = append(g[from], flow{to: to, kind: []flowKind{wr, ww, rw}[rnd.IntN(3)], seq: 1})
		}
	}
	return g
}

func TestComponentsAreNodesThatReachEachOther(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 3))
	for range 2000 {
		g := randomFlows(rnd, 2+rnd.IntN(9))
		r, of := reachable(g), components(g, func(flow) bool { return true })
		for i := range g {
			for j := range g {
				if both := i == j || r[i][j] && r[j][i]; both != (of[i] == of[j]) {
					t.Fatalf("nodes %d and %d: reach each other %v, components %d and %d of %v", i, j, both, of[i], of[j], g)
				}
			}
		}
	}
}

func TestComponentsOfALongChainTakeNoStack(t *testing.T) {
	g := make([][]flow, 300_000)
	for i := range g {
		g[i] = []flow{{to: (i + 1) % len(g), kind: ww}}
	}
	of := components(g, func(flow) bool { return true })
	if of[0] != of[len(g)-1] {
		t.Error("a ring of nodes is more than one component")
	}
}

// A cycle is told where there is one, closes, holds an edge of the kind that was
// asked for, and no shorter one goes through any such edge.
func TestCyclesAreFoundAndShortest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 4))
	told := 0
	for range 3000 {
		g := randomFlows(rnd, 2+rnd.IntN(7))
		isRW := func(e flow) bool { return e.kind == rw }
		shortest := shortestThrough(g, isRW)
		cycles := cyclesOf(g, func(flow) bool { return true }, isRW)
		if (shortest > 0) != (len(cycles) > 0) {
			t.Fatalf("a cycle of length %d and %d found in %v", shortest, len(cycles), g)
		}
		best := 0
		for _, c := range cycles {
			for i, e := range c.edges {
				if e.to != c.nodes[(i+1)%len(c.nodes)] || !slices.Contains(g[c.nodes[i]], e) {
					t.Fatalf("%v is no cycle of %v", c, g)
				}
			}
			if c.count(rw) == 0 {
				t.Fatalf("%v has no edge of the kind asked for", c)
			}
			if best == 0 || len(c.edges) < best {
				best = len(c.edges)
			}
			told++
		}
		if best != shortest {
			t.Fatalf("the shortest cycle found has %d edges, want %d: %v", best, shortest, g)
		}
	}
	if told < 500 {
		t.Errorf("%d cycles, want 500", told)
	}
}

// shortestThrough is the length of the shortest cycle through an edge of a kind,
// by walking from each edge's end until its start is met; 0 for none.
func shortestThrough(g [][]flow, must func(flow) bool) int {
	best := 0
	for v := range g {
		for _, e := range g[v] {
			if !must(e) {
				continue
			}
			at := map[int]bool{e.to: true}
			for length := 1; length <= len(g); length++ {
				if at[v] {
					if best == 0 || length < best {
						best = length
					}
					break
				}
				next := map[int]bool{}
				for u := range at {
					for _, x := range g[u] {
						next[x.to] = true
					}
				}
				at = next
			}
		}
	}
	return best
}
