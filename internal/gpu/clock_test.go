package gpu

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/internal/core/simt"
)

// TestClockOrder compares the ticks of random clocks with exact fractions.
func TestClockOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var hz [domains]int64
		for i := range hz {
			hz[i] = 500_000 * rapid.Int64Range(1, 8000).Draw(t, "half MHz")
		}
		k, err := newClock(Clocks{hz[0], hz[1], hz[2], hz[3]})
		if err != nil {
			t.Skip(err)
		}
		var n [domains]int64 // times that each domain has fired
		at := func(d domain) *big.Rat { return big.NewRat(n[d], hz[d]) }
		for range 200 {
			s := at(coreDomain)
			for _, d := range []domain{netDomain, dramDomain} {
				if x := at(d); x.Cmp(s) < 0 {
					s = x
				}
			}
			var want fired
			if x := at(l2Domain); x.Cmp(s) <= 0 {
				s, want = x, 1<<l2Domain
			}
			for _, d := range []domain{coreDomain, netDomain, dramDomain} {
				if at(d).Cmp(s) <= 0 {
					want |= 1 << d
				}
			}
			got := k.tick()
			if got != want {
				t.Fatalf("%v Hz: after %v ticks %04b fire, want %04b", hz, n, got, want)
			}
			for d := range domains {
				if got.has(d) {
					n[d]++
				}
			}
		}
	})
}

// TestClockSkip compares skip with single ticks.
func TestClockSkip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var hz [domains]int64
		for i := range hz {
			hz[i] = 500_000 * rapid.Int64Range(1, 8000).Draw(t, "half MHz")
		}
		a, err := newClock(Clocks{hz[0], hz[1], hz[2], hz[3]})
		if err != nil {
			t.Skip(err)
		}
		if rapid.Bool().Draw(t, "late") {
			for d := range a.at {
				a.at[d] = math.MaxUint64/2 - uint64(rapid.IntRange(0, 1000).Draw(t, "phase"))
			}
		}
		b := a
		for range 5 {
			for range rapid.IntRange(0, 20).Draw(t, "ticks") {
				a.tick()
				b.tick()
			}
			n := uint64(rapid.IntRange(0, 300).Draw(t, "cycles"))
			var want [domains]uint64
			for want[coreDomain] < n {
				f := a.tick()
				for d := range domains {
					if f.has(d) {
						want[d]++
					}
				}
			}
			net, l2, dram := b.skip(n)
			if got := [domains]uint64{coreDomain: n, netDomain: net, l2Domain: l2, dramDomain: dram}; got != want {
				t.Fatalf("%v Hz, %d cycles: %v fire, want %v", hz, n, got, want)
			}
			for d := range domains {
				if a.at[d]-a.at[coreDomain] != b.at[d]-b.at[coreDomain] {
					t.Fatalf("%v Hz, %d cycles: times %v, want %v", hz, n, b.at, a.at)
				}
			}
		}
	})
}

// TestClockRebase lets times reach the point at which they are rebased.
func TestClockRebase(t *testing.T) {
	c := Clocks{Core: 1365e6, Net: 1365e6, L2: 1365e6, DRAM: 3500.5e6}
	a, err := newClock(c)
	if err != nil {
		t.Fatal(err)
	}
	b := a
	for i := range b.at {
		b.at[i] += 1<<63 + 1
	}
	for i := range 20_000 {
		if x, y := a.tick(), b.tick(); x != y {
			t.Fatalf("tick %d: %04b and, late in a run, %04b", i, x, y)
		}
	}
	if b.at[coreDomain] > 1<<62 {
		t.Error("times were not rebased")
	}
}

func TestClockRefuses(t *testing.T) {
	for _, c := range []Clocks{
		{0, 1e9, 1e9, 1e9}, {1e9, -1, 1e9, 1e9}, {1e9, 1e9, 1e13, 1e9},
		{999_999_937, 1_000_000_007, 1_000_000_009, 1_000_000_021}, // primes: no common measure
	} {
		if _, err := newClock(c); err == nil {
			t.Errorf("%v is taken", c)
		}
	}
}

// TestAdaptiveWays checks the L1D's ways on both sides of each size.
func TestAdaptiveWays(t *testing.T) {
	sm := &simt.Config{}
	c := &Config{Core: sm, Adaptive: Adaptive{Enabled: true, Unified: 128, Sizes: []int{0, 8, 16, 32, 64, 96}}}
	sm.L1D.Sets, sm.L1D.Line, sm.L1D.Ways = 4, 128, 64 // 32 KiB
	for _, x := range []struct{ shared, ways int }{
		{0, 256}, {1, 240}, {8192, 240}, {8193, 224}, {16384, 224}, {16385, 192}, {32768, 192}, {32769, 128},
		{65536, 128}, {65537, 64}, {98304, 64}, {98305, 64},
	} {
		if got := c.Adaptive.ways(c, x.shared); got != x.ways {
			t.Errorf("%d bytes of shared memory leave %d ways, want %d", x.shared, got, x.ways)
		}
	}
}

// TestRoundedTime compares periods and sums with those of double precision.
func TestRoundedTime(t *testing.T) {
	same := func(t *rapid.T, what string, a rounded, b float64) {
		if got := math.Ldexp(float64(a.mant), a.exp); got != b || a.mant != 0 && (a.mant < 1<<52 || a.mant >= 1<<53) {
			t.Fatalf("%s: %g (%d·2^%d), want %g", what, got, a.mant, a.exp, b)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var a, b rounded
		var x, y float64
		f, g := rapid.Int64Range(1, maxClock).Draw(t, "f"), rapid.Int64Range(1, maxClock).Draw(t, "g")
		p, q := roundedPeriod(f), roundedPeriod(g)
		same(t, "period", p, 1/float64(f))
		same(t, "period", q, 1/float64(g))
		for i := range rapid.IntRange(1, 3000).Draw(t, "sums") {
			a, x = a.add(p), x+1/float64(f)
			b, y = b.add(q), y+1/float64(g)
			same(t, fmt.Sprint("sum ", i), a, x)
			if a.after(b) != (x > y) || b.after(a) != (y > x) {
				t.Fatalf("%g and %g are in the wrong order", x, y)
			}
		}
		same(t, "sum of both", a.add(b), x+y)
	})
}
