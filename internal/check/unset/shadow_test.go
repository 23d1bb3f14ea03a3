package unset

import (
	"math/rand/v2"
	"testing"
)

// TestShadow holds the shadow against a naive model: one bool a byte.
func TestShadow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s, model := shadow{}, [3 * pageBytes]bool{}
	for range 3000 {
		at := r.Uint64N(uint64(len(model)))
		n := 1 + r.Uint64N(uint64(len(model))-at)
		if r.IntN(2) == 0 {
			n = min(n, 1+r.Uint64N(40))
		}
		want := uint64(0)
		for _, u := range model[at : at+n] {
			if u {
				want++
			}
		}
		if got := s.unset(at, n); got != want {
			t.Fatalf("bytes %d to %d: %d are unset, want %d", at, at+n, got, want)
		}
		unset := r.IntN(2) == 0
		s.mark(at, n, unset)
		for i := range n {
			model[at+i] = unset
		}
	}
}
