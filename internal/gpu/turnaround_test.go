package gpu

import "testing"

// The time that a block has waited for its stores is part of its turnaround.
func TestTurnaroundOverlapsStores(t *testing.T) {
	for _, c := range []struct {
		name      string
		ago, want uint64
	}{{"no stores", 0, 561}, {"some", 100, 461}, {"as long", 548, 13}, {"longer", 900, 13}} {
		t.Run(c.name, func(t *testing.T) {
			g := &GPU{now: 12}
			g.rate = rate{resident: []int{1}, closing: make([][]closing, 1)}
			g.cfg.Run.BlockTurnaround, g.cfg.Run.WarpTurnaround = 500, 6
			if g.vacated(0, &Kernel{on: []int32{1}}, 8, c.ago); g.rate.closing[0][0].until != c.want {
				t.Errorf("the place is free at %d, want %d", g.rate.closing[0][0].until, c.want)
			}
		})
	}
}
