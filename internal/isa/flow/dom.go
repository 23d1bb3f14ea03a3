package flow

// digraph is a directed graph with edges in both directions, packed by node.
type digraph struct {
	out, in     []int32
	outAt, inAt []int32 // where a node's edges begin; one more entry than nodes
}

// newDigraph builds the graph with n nodes and the edges returned by next.
func newDigraph(n int, next func(int) []int) digraph {
	var d digraph
	d.outAt = make([]int32, n+1)
	d.inAt = make([]int32, n+1)
	for v := range n {
		for _, w := range next(v) {
			d.out = append(d.out, int32(w))
			d.inAt[w+1]++
		}
		d.outAt[v+1] = int32(len(d.out))
	}
	for v := range n {
		d.inAt[v+1] += d.inAt[v]
	}
	d.in = make([]int32, len(d.out))
	fill := make([]int32, n)
	copy(fill, d.inAt)
	for v := range n {
		for _, w := range d.succs(v) {
			d.in[fill[w]] = int32(v)
			fill[w]++
		}
	}
	return d
}

func (d *digraph) len() int            { return len(d.outAt) - 1 }
func (d *digraph) succs(v int) []int32 { return d.out[d.outAt[v]:d.outAt[v+1]] }
func (d *digraph) preds(v int) []int32 { return d.in[d.inAt[v]:d.inAt[v+1]] }

// walk numbers the nodes that can be reached from root in depth-first order. It returns the
// number of each node, -1 if it cannot be reached, and by number the node and the number of
// its parent in the walk's tree.
func (d *digraph) walk(root int) (number, node, parent []int32) {
	number = make([]int32, d.len())
	for v := range number {
		number[v] = -1
	}
	visit := func(v, from int32) {
		number[v] = int32(len(node))
		node = append(node, v)
		parent = append(parent, from)
	}
	type frame struct{ num, next int32 }
	visit(int32(root), -1)
	stack := []frame{{0, 0}}
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		succs := d.succs(int(node[f.num]))
		if int(f.next) == len(succs) {
			stack = stack[:len(stack)-1]
			continue
		}
		s := succs[f.next]
		f.next++
		if number[s] < 0 {
			from := f.num
			visit(s, from)
			stack = append(stack, frame{number[s], 0})
		}
	}
	return number, node, parent
}

// dominators returns each node's immediate dominator in the graph entered at root, -1 for
// the root and for unreachable nodes. It is the algorithm of Lengauer and Tarjan with path
// compression: its time is nearly linear on every graph, including those on which iterative
// methods are slow.
func dominators(d digraph, root int) []int32 {
	n := d.len()
	idom := make([]int32, n)
	for v := range idom {
		idom[v] = -1
	}
	if n == 0 {
		return idom
	}
	// From here on, nodes are identified by their number in a depth-first walk.
	number, node, parent := d.walk(root)
	m := len(node)
	semi := make([]int32, m)     // semidominator
	best := make([]int32, m)     // node with the least semidominator on the compressed path
	ancestor := make([]int32, m) // in the forest of nodes already processed, -1 at a root
	dom := make([]int32, m)
	bucketHead := make([]int32, m) // nodes whose semidominator this is, as a list
	bucketNext := make([]int32, m)
	for i := range int32(m) {
		semi[i], best[i] = i, i
		ancestor[i], bucketHead[i] = -1, -1
	}
	var path []int32
	eval := func(v int32) int32 {
		if ancestor[v] < 0 {
			return v
		}
		path = path[:0]
		u := v
		for ancestor[ancestor[u]] >= 0 {
			path = append(path, u)
			u = ancestor[u]
		}
		for i := len(path) - 1; i >= 0; i-- {
			w := path[i]
			a := ancestor[w]
			if semi[best[a]] < semi[best[w]] {
				best[w] = best[a]
			}
			ancestor[w] = ancestor[a]
		}
		return best[v]
	}
	for w := int32(m - 1); w > 0; w-- {
		for _, p := range d.preds(int(node[w])) {
			if number[p] < 0 {
				continue
			}
			if s := semi[eval(number[p])]; s < semi[w] {
				semi[w] = s
			}
		}
		bucketNext[w] = bucketHead[semi[w]]
		bucketHead[semi[w]] = w
		p := parent[w]
		ancestor[w] = p
		for v := bucketHead[p]; v >= 0; v = bucketNext[v] {
			if u := eval(v); semi[u] < semi[v] {
				dom[v] = u
			} else {
				dom[v] = p
			}
		}
		bucketHead[p] = -1
	}
	for w := int32(1); w < int32(m); w++ {
		if dom[w] != semi[w] {
			dom[w] = dom[dom[w]]
		}
		idom[node[w]] = node[dom[w]]
	}
	return idom
}

// interval is a node's number range in a forest: a node's descendants are those whose
// interval lies within its own.
type interval struct{ enter, leave []int32 }

// numberTree numbers the forest given by parents, -1 at its roots.
func numberTree(parent []int32) interval {
	n := len(parent)
	first := make([]int32, n+1) // first child; the roots are children of n
	next := make([]int32, n)
	for v := range first {
		first[v] = -1
	}
	for v := n - 1; v >= 0; v-- {
		p := parent[v]
		if p < 0 {
			p = int32(n)
		}
		next[v] = first[p]
		first[p] = int32(v)
	}
	iv := interval{make([]int32, n), make([]int32, n)}
	clock := int32(0)
	for root := first[n]; root >= 0; root = next[root] {
		v := root
		for {
			iv.enter[v] = clock
			clock++
			if first[v] >= 0 {
				v = first[v]
				continue
			}
			iv.leave[v] = clock
			for v != root && next[v] < 0 {
				v = parent[v]
				iv.leave[v] = clock
			}
			if v == root {
				break
			}
			v = next[v]
		}
	}
	return iv
}

// contains reports whether b is a or below it.
func (iv *interval) contains(a, b int) bool {
	return iv.enter[a] <= iv.enter[b] && iv.leave[b] <= iv.leave[a]
}

// components returns the strongly connected component of each node and their number.
func components(n int, next func(int) []int) (comp []int32, count int) {
	comp = make([]int32, n)
	index := make([]int32, n) // order of discovery plus one, zero if undiscovered
	low := make([]int32, n)
	open := make([]bool, n) // discovered, component not yet closed
	var path []int32        // open nodes in order of discovery
	type frame struct{ v, next int32 }
	var stack []frame
	clock := int32(0)
	enter := func(v int32) {
		clock++
		index[v], low[v] = clock, clock
		open[v] = true
		path = append(path, v)
		stack = append(stack, frame{v, 0})
	}
	for root := range int32(n) {
		if index[root] != 0 {
			continue
		}
		enter(root)
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			v := f.v
			if succs := next(int(v)); int(f.next) < len(succs) {
				s := int32(succs[f.next])
				f.next++
				if index[s] == 0 {
					enter(s)
				} else if open[s] {
					low[v] = min(low[v], index[s])
				}
				continue
			}
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				up := stack[len(stack)-1].v
				low[up] = min(low[up], low[v])
			}
			if low[v] != index[v] {
				continue
			}
			for {
				w := path[len(path)-1]
				path = path[:len(path)-1]
				open[w] = false
				comp[w] = int32(count)
				if w == v {
					break
				}
			}
			count++
		}
	}
	return comp, count
}
