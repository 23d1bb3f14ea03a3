package cuda

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/report"
)

// TestNamedRanges: a launch counts in the ranges of its thread and in those that belong
// to none, in both modes.
func TestNamedRanges(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		p := b.malloc(128)
		launch := func(th *Thread) {
			t.Helper()
			x := *b
			x.Thread = th
			x.want("launch", x.run("scale", 32, 0, p), Success)
		}
		other := b.r.Thread(2)
		mine := b.CreateDomain("mine")
		var levels []int
		level := func(n int) { levels = append(levels, n) }

		level(b.PopRange(0))
		level(b.PushRange(0, "outer"))
		launch(b.Thread)
		level(b.PushRange(mine, "inner")) // the first of its domain
		launch(b.Thread)
		launch(other) // in no range
		id := other.StartRange(0, "all threads")
		launch(b.Thread)
		launch(other)
		level(b.PushRange(0, "third"))
		level(b.PopRange(mine)) // not the innermost
		level(b.PopRange(7))
		launch(b.Thread)
		level(b.PopRange(0))
		b.EndRange(id)
		b.EndRange(id)
		b.EndRange(77)
		level(b.PopRange(0))
		level(b.PopRange(0))
		launch(b.Thread)
		if want := []int{-1, 0, 0, 1, 0, -1, 1, 0, -1}; !slices.Equal(levels, want) {
			t.Errorf("levels %d; want %d", levels, want)
		}

		res := b.r.Result()
		each := res.Kernels[0].WarpInstructions
		var got []string
		var walk func(list []*report.Range, path string)
		walk = func(list []*report.Range, path string) {
			for _, r := range list {
				if r.WarpInstructions != uint64(r.Launches)*each || (r.Cycles > 0) != (res.Timing != nil && r.Launches > 0) {
					t.Errorf("%s: %d launches with %d warp instructions, %d cycles", r.Name, r.Launches, r.WarpInstructions, r.Cycles)
				}
				got = append(got, fmt.Sprintf("%s%s %d", path, r.Name, r.Launches))
				walk(r.Ranges, path+r.Name+"/")
			}
		}
		walk(res.Ranges, "")
		want := []string{"outer 4", "outer/mine: inner 3", "outer/mine: inner/third 1", "all threads 3"}
		if !slices.Equal(got, want) {
			t.Errorf("ranges %q; want %q", got, want)
		}
	})
}

// TestRangeLimits: a program that never ends its ranges is stopped from beginning more.
func TestRangeLimits(t *testing.T) {
	b := start(t, nil)
	for i := range deepestRanges {
		if level := b.PushRange(0, "deep"); level != i {
			t.Fatalf("push %d: level %d", i, level)
		}
		if b.StartRange(0, "wide") == 0 {
			t.Fatalf("start %d has no id", i)
		}
	}
	if level, id := b.PushRange(0, "deep"), b.StartRange(0, "wide"); level >= 0 || id != 0 {
		t.Errorf("beyond the limit: level %d, id %d", level, id)
	}
	b.want("launch", b.run("scale", 32, 0, b.malloc(128)), Success)
	if res := b.r.Result(); res.Ranges[0].Launches != 1 {
		t.Errorf("the outermost range has %d launches", res.Ranges[0].Launches)
	}
}

// TestRangeWhileBarred: a function that the device calls may use ranges, without effect.
func TestRangeWhileBarred(t *testing.T) {
	b := start(t, timing)
	b.Thread.barred.Store(true)
	th := b.r.Thread(1)
	if th.PushRange(0, "a") != -1 || th.PopRange(0) != -1 || th.StartRange(0, "a") != 0 || th.RegisterString("a") != 0 || th.CreateDomain("a") != 0 {
		t.Error("ranges have an effect")
	}
	th.NameStream(0, "a")
	th.EndRange(1)
}
