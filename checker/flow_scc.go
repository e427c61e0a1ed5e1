package checker

// components finds the strongly connected components of a graph of n nodes
// (Tarjan, 1972), without recursion, because a history may hold a chain of any
// length. Nodes of one component have one number; follow says which edges count.
func components(g [][]flow, follow func(flow) bool) []int {
	t := tarjan{g: g, follow: follow, index: make([]int, len(g)), low: make([]int, len(g)), of: make([]int, len(g))}
	for v := range g {
		if t.index[v] == 0 {
			t.walk(v)
		}
	}
	return t.of
}

type tarjan struct {
	g          [][]flow
	follow     func(flow) bool
	index, low []int // index: when the node was met, from 1; 0: not yet
	of         []int // its component, from 1; 0: not decided
	met, found int
	stack      []int
}

// step is a node on the way and its next edge to look at.
type step struct{ node, edge int }

func (t *tarjan) walk(root int) {
	way := []step{t.enter(root)}
	for len(way) > 0 {
		s := &way[len(way)-1]
		if s.edge < len(t.g[s.node]) {
			e := t.g[s.node][s.edge]
			s.edge++
			if !t.follow(e) {
				continue
			}
			if t.index[e.to] == 0 {
				way = append(way, t.enter(e.to))
			} else if t.of[e.to] == 0 {
				t.low[s.node] = min(t.low[s.node], t.index[e.to])
			}
			continue
		}
		v := s.node
		way = way[:len(way)-1]
		if len(way) > 0 {
			above := way[len(way)-1].node
			t.low[above] = min(t.low[above], t.low[v])
		}
		if t.low[v] == t.index[v] {
			t.close(v)
		}
	}
}

func (t *tarjan) enter(v int) step {
	t.met++
	t.index[v], t.low[v] = t.met, t.met
	t.stack = append(t.stack, v)
	return step{v, 0}
}

// close makes a component of what was met since v.
func (t *tarjan) close(v int) {
	t.found++
	for {
		u := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.of[u] = t.found
		if u == v {
			return
		}
	}
}
