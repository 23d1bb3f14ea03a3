package device

import (
	"math/rand/v2"
	"testing"
)

// Sets of ranges hold what a set of single addresses holds, in as few ranges as can be.
func TestSpans(t *testing.T) {
	const n = 40
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s spans
		var want [n + 1]bool
		for range 30 {
			lo := rng.Uint64N(n)
			end := lo + 1 + rng.Uint64N(n-lo)
			add := rng.IntN(2) == 0
			if add {
				s = s.with(lo, end)
			} else {
				s = s.without(lo, end)
			}
			for i := lo; i < end; i++ {
				want[i] = add
			}
			ranges := 0
			for i := range uint64(n) {
				if want[i] && !want[i+1] {
					ranges++
				}
				r, ok := s.at(i)
				if ok != want[i] || ok && (i < r.lo || i >= r.end) {
					t.Fatalf("%v: address %d is in %v, %v; want %v", s, i, r, ok, want[i])
				}
			}
			if len(s) != ranges {
				t.Fatalf("%v has %d ranges, want %d", s, len(s), ranges)
			}
		}
	}
}
