package gpu

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCalendar compares a calendar with a list of units that are booked or free.
func TestCalendar(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var c calendar
		var busy [400]bool // beyond it all is free
		now := 0
		for range 60 {
			at, units := now+random.IntN(200-now), 1+random.IntN(6)
			want := at
			for slices.Contains(busy[want:want+units], true) {
				want++
			}
			if want+units > 300 {
				break
			}
			got := c.free(uint64(at), uint64(units))
			if got != uint64(want) {
				t.Fatalf("%d units from %d: free at %d, not %d: %v", units, at, got, want, c.busy)
			}
			c.book(period{got, got + uint64(units)})
			for i := range units {
				busy[want+i] = true
			}
			if now += random.IntN(4); random.IntN(3) == 0 {
				c.forget(uint64(now))
			}
			for i := 1; i < len(c.busy); i++ {
				if c.busy[i-1].end >= c.busy[i].from {
					t.Fatalf("no time between %v", c.busy)
				}
			}
		}
	}
}
