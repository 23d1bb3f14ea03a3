package unset

import (
	"math/rand/v2"
	"testing"
)

// TestShadow holds the shadows against a naive model: one bool a byte.
func TestShadow(t *testing.T) {
	t.Run("pages", func(t *testing.T) { testShadow(t, shadow{}, false) })
	t.Run("flat", func(t *testing.T) { testShadow(t, &flat{}, true) })
}

func testShadow(t *testing.T, s memory, unset bool) {
	r := rand.New(rand.NewPCG(1, 2))
	model := [3 * pageBytes]bool{}
	for i := range model {
		model[i] = unset
	}
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
		few, mask := min(n, 64), uint64(0)
		for i, u := range model[at : at+few] {
			if u {
				mask |= 1 << i
			}
		}
		if got := s.bits(at, few); got != mask {
			t.Fatalf("bytes %d to %d: %b are unset, want %b", at, at+few, got, mask)
		}
		unset := r.IntN(2) == 0
		s.mark(at, n, unset)
		for i := range n {
			model[at+i] = unset
		}
	}
}

// TestForget holds that a reset of a whole device, whose addresses are far more than its memory,
// goes by what was allocated.
func TestForget(t *testing.T) {
	s := shadow{}
	const device = 1 << 46
	s.mark(device-pageBytes, 3*pageBytes, true)
	s.forget(device, device)
	if got := s.unset(device-pageBytes, 3*pageBytes); got != pageBytes {
		t.Fatalf("%d bytes are unset, want those below the device, %d", got, pageBytes)
	}
}
