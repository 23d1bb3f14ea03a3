package races

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// limited is a checker with few numbers.
func limited(times, names uint32) *Checker {
	c := New().(*Checker)
	c.mostTime, c.mostNames = times, names
	return c
}

// hasForgotten reports whether a note says that the checker has forgotten something.
func hasForgotten(all []*check.Finding) bool {
	return slices.ContainsFunc(all, func(f *check.Finding) bool { return f.Rule == forgotten })
}

// TestLimits: a checker that runs out of numbers says so, finds what it has not forgotten, and
// makes nothing up. Each barrier of a warp takes a time.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name, program string
		times         uint32
		races         int
		forgets       bool
	}{
		{"enough numbers", "A:w0 G:m0 E:r0", 100, 1, false},
		{"a race after it has forgotten", "G:m0 G:m0 G:m0 G:m0 A:w0 E:r0", 4, 1, true},
		{"a race with what it has forgotten", "A:w0 G:m0 G:m0 G:m0 G:m0 E:r0", 4, 0, true},
		{"a release that it has forgotten", "A:w1 A:Wrg0 G:m0 G:m0 G:m0 E:Rag0 E:r1", 4, 0, true},
		{"half of a barrier", "A:w0 A:i0 G:m0 G:m0 G:m0 C:j0 C:r0", 4, 0, true},
		{"a copy in flight", "A:f0 G:m0 G:m0 G:m0 A:v0 A:|0 C:r0", 4, 0, true},
		{"a fence, and then the signal", "A:w1 A:Fbg G:m0 G:m0 A:Wxg0 E:Rxg0 E:Fbg E:r1", 4, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, all := checkedBy(limited(c.times, mostNames), parse(c.program), isa.Global)
			if len(got) != c.races || hasForgotten(all) != c.forgets {
				t.Errorf("%d races, want %d; it says that it has forgotten: %v, want %v", len(got), c.races, hasForgotten(all), c.forgets)
			}
		})
	}
}

// TestLimitsOfNames: records and sets have numbers, too.

func TestLimitsOfNames(t *testing.T) {
	program := ""
	for i := range 64 {
		program += fmt.Sprintf("A:r%d C:Rxg%[1]d E:Rxg%[1]d! ", i%8)
	}
	got, all := checkedBy(limited(mostTime, 16), parse(program+"A:w9 E:r9"), isa.Global)
	if len(got) != 1 || !hasForgotten(all) {
		t.Errorf("%v, it says that it has forgotten: %v; want the last race, and that", got, hasForgotten(all))
	}
}

// TestLimitsOfRandomPrograms: whenever the checker forgets, every race that it reports is one.
func TestLimitsOfRandomPrograms(t *testing.T) {
	alltests.Only(t, "random programs within the limits of shadow memory")
	forgot := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 2))
		list := random(r, 2+r.IntN(24), true)
		times, names := uint32(2+r.IntN(20)), uint32(4+r.IntN(40))
		got, all := checkedBy(limited(times, names), list, isa.Global)
		want := oracle(list, isa.Global)
		for p, kind := range got {
			if _, ok := want[p]; !ok {
				t.Fatalf("seed %d, %d times, %d names: %v: no race, but reported: %v %s", seed, times, names, list, p, kind)
			}
		}
		if hasForgotten(all) {
			forgot++
		}
	}
	if forgot < 1000 {
		t.Errorf("only %d of 4000 programs came to the limit", forgot)
	}
}

// TestManyLaunches: a launch costs the same however many came before it, also where no launch of
// one stream is ordered with those of the other.
func TestManyLaunches(t *testing.T) {
	c := New()
	code, start := []*isa.Inst{{Elem: 4}}, user(t)
	at := [3]check.Clock{1: {}, 2: {}}
	for n := range 200_000 {
		s := int64(1 + n%2)
		at[s] = check.Clock{s: at[s][s] + 1}
		p := c.Launch(&check.Launch{Number: n, Stream: s, At: at[s]})
		p.Begin(&exec.Launch{Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}}, code, func(int) exec.Where { return exec.Where{} }, func(int) string { return "" })
	}
	if used := (user(t) - start).Seconds(); used > 10 { // 0.3 s where it was measured
		t.Errorf("200,000 launches took %.1f s", used)
	}
}
