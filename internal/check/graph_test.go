package check

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// done is an action that a clock may cover.
type done struct {
	lane  int64
	n     uint64
	clock Clock
}

// act is work of a stream, or of the node that runs there.
func act(s *Set, stream int64) done {
	lane, c := s.order.lane(stream), s.order.submit(stream)
	return done{lane, c[lane], c}
}

func (d done) before(e done) bool { return e.clock.Before(d.lane, d.n) }

// TestGraphOrder holds the order of the nodes of random graphs against paths of edges.
func TestGraphOrder(t *testing.T) {
	const stream, other = 5, 6
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		s := NewSet()
		s.Private(stream)
		s.Private(other)
		var all []done // of launches before
		for launch := range 3 {
			before := act(s, stream)
			s.GraphBegin(stream, 1)
			n := 1 + r.IntN(12)
			reach := make([][]bool, n)
			var nodes []done
			for j := range n {
				reach[j] = make([]bool, n)
				var after []int
				for i := range j {
					if r.IntN(3) == 0 {
						after, reach[j][i] = append(after, i), true
						for k := range i {
							reach[j][k] = reach[j][k] || reach[i][k]
						}
					}
				}
				s.GraphNode(stream, after)
				if r.IntN(4) == 0 { // a graph within the node, of two nodes
					s.GraphBegin(stream, 0)
					s.GraphNode(stream, nil)
					x := act(s, stream)
					s.GraphNode(stream, nil)
					if y := act(s, stream); x.before(y) || y.before(x) {
						t.Fatalf("round %d: two nodes of a graph in node %d are ordered", round, j)
					}
					s.GraphEnd(stream)
				}
				d := act(s, stream)
				for i := range j {
					if got := nodes[i].before(d); got != reach[j][i] {
						t.Fatalf("round %d, launch %d: node %d before node %d: %v, want %v", round, launch, i, j, got, reach[j][i])
					}
				}
				if nodes = append(nodes, d); !before.before(d) || slices.ContainsFunc(all, func(x done) bool { return !x.before(d) }) {
					t.Fatalf("round %d, launch %d: node %d is not after what the stream did before", round, launch, j)
				}
			}
			s.GraphEnd(stream)
			all = append(all, nodes...)
			after, apart := act(s, stream), act(s, other)
			for i, x := range nodes {
				if !x.before(after) || x.before(apart) {
					t.Fatalf("round %d: node %d before the stream's next work %v and another's %v, want true and false", round, i, x.before(after), x.before(apart))
				}
			}
		}
		s.GraphBegin(other, 1) // the same graph on another stream waits for its last launch
		s.GraphNode(other, nil)
		if d := act(s, other); slices.ContainsFunc(all, func(x done) bool { return !x.before(d) }) {
			t.Fatalf("round %d: a launch of the graph on another stream is not after its last one", round)
		}
		s.GraphEnd(other)
	}
}
