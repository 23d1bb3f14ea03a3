package lint

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// orders reports whether adding numbers to one in every order, in single precision, gives one sum.
func orders(old float32, list []float32) bool {
	sums := map[uint32]bool{}
	var try func(sum float32, left []float32)
	try = func(sum float32, left []float32) {
		if len(left) == 0 {
			sums[math.Float32bits(sum+0)] = true // both zeros are equal
			return
		}
		for i := range left {
			rest := append(append([]float32{}, left[:i]...), left[i+1:]...)
			try(sum+left[i], rest)
		}
	}
	try(old, list)
	return len(sums) == 1
}

// TestOrders compares what is said of few random numbers with all their orders. TestMany is about more.
func TestOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draws := map[string]func() float32{
		"wholes":    func() float32 { return float32(r.IntN(2001) - 1000) },
		"large":     func() float32 { return float32(r.IntN(1<<24) - 1<<23) },
		"fractions": func() float32 { return r.Float32() },
		"eighths":   func() float32 { return float32(r.IntN(200)) / 8 },
		"few":       func() float32 { return []float32{0, 0.1, 3, 1e8}[r.IntN(4)] },
		"powers":    func() float32 { return float32(math.Ldexp(1, r.IntN(60)-30)) },
	}
	for name, draw := range draws {
		t.Run(name, func(t *testing.T) {
			said := 0
			for range 400 {
				old := draw() * float32(r.IntN(2))
				list := make([]float32, 1+r.IntN(5))
				g := begin(float64(old), 0, 0, 0)
				depends := false
				for i := range list {
					list[i] = draw()
					depends = g.add(float64(list[i]), &exec.Sum{Digits: 24, Least: 0x1p-126}, uint64(i))
				}
				one := orders(old, list)
				if !depends && !one {
					t.Fatalf("%v and %v: orders differ, and nothing is said", old, list)
				}
				if depends && one {
					t.Fatalf("%v and %v: all orders have one sum, and something is said", old, list)
				}
				if depends {
					said++
				}
			}
			if exact := name == "wholes" || name == "eighths"; exact == (said > 0) && name != "powers" {
				t.Errorf("said of %d of 400 sums", said)
			}
		})
	}
}

// TestUnit: the last digit of numbers.
func TestUnit(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want int
	}{{1, 0}, {-1, 0}, {6, 1}, {0.75, -2}, {0x1p-126, -126}, {0x1.8p1000, 999}, {1 + 0x1p-52, -52}, {0x1p-1074, -1074}} {
		if got := unitOf(c.x); got != c.want {
			t.Errorf("%g: %d, want %d", c.x, got, c.want)
		}
	}
}

// TestMany: of more numbers than are tried, those that are exact are known, and so are those that are
// equal.
func TestMany(t *testing.T) {
	for _, c := range []struct {
		name string
		old  float64
		n    int
		x    func(i int) float64
		want bool
	}{
		{"wholes", 0, 1000, func(i int) float64 { return float64(i) }, false},
		{"wholes beyond the digits", 0, 1000, func(i int) float64 { return 1001 * float64(i) }, true},
		{"thirds", 0, 20, func(i int) float64 { return float64(float32(i) / 3) }, true},
		{"equal", 7, 1000, func(i int) float64 { return float64(float32(0.1)) }, false},
		{"zeros", 0.1, 1000, func(i int) float64 { return 0 }, false},
		{"more than are tried", 0, 1000, func(i int) float64 { return float64(float32(i) / 3) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := begin(c.old, 0, 0, 0)
			got := false
			for i := range c.n {
				got = g.add(c.x(i), &exec.Sum{Digits: 24, Least: 0x1p-126}, uint64(i)) || got
			}
			if got != c.want {
				t.Errorf("it is said: %v, want %v", got, c.want)
			}
		})
	}
}
