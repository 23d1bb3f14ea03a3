package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The order in which edges are added, by how many cores, does not matter.
func TestEdges(t *testing.T) {
	type add struct {
		at, from int32
		n        uint64
	}
	all := []add{{3, 1, 5}, {3, 2, 7}, {0, 3, 1}, {3, 1, 4}, {3, 0, 9}, {2, 2, 2}}
	one, two, sum := NewEdges(4), NewEdges(4), NewEdges(4)
	for i, x := range all {
		one.add(x.at, x.from, x.n)
		if y := all[len(all)-1-i]; i%2 == 0 {
			two.add(y.at, y.from, y.n)
		} else {
			sum.add(y.at, y.from, y.n)
		}
	}
	sum.Add(two)
	sum.Add(nil)
	for at, want := range [][]Edge{{{From: 3, Cycles: 1}}, nil, {{From: 2, Cycles: 2}}, {{From: 0, Cycles: 9}, {From: 1, Cycles: 9}, {From: 2, Cycles: 7}}} {
		for name, e := range map[string]*Edges{"one": one, "sum": sum} {
			if d := cmp.Diff(want, e.Of(at), cmpopts.IgnoreUnexported(Edge{})); d != "" {
				t.Errorf("%s, instruction %d: %s", name, at, d)
			}
		}
	}
	if list := (*Edges)(nil).Of(2); list != nil {
		t.Errorf("no edges have %v", list)
	}
}

// Adding as many edges as there is room for does not allocate.
func TestEdgesAllocate(t *testing.T) {
	e := NewEdges(100)
	at := int32(0)
	if n := testing.AllocsPerRun(99, func() {
		e.add(at, 1, 1)
		e.add(at, 2, 1)
		e.add(at, 1, 1)
		at++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
