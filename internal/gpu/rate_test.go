package gpu_test

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/work/job"
)

// TestRates checks when blocks are placed by the two rates: at the given distance
// on the chip, in thousandths of a cycle, and after the given time since the block
// before them in the same slot.
func TestRates(t *testing.T) {
	for _, skip := range []string{"run.idle_skip=true", "run.idle_skip=false"} {
		base := []string{skip, "run.launch_latency=0", "run.block_log=true"}
		starts := func(rounds, blocks int, set ...string) (start, end []uint64) {
			res := runJob(t, write(t, launch(0, "a", rounds, blocks)), true, job.Options{GPU: "rtx-2060"}, slices.Concat(base, set)...)
			for _, b := range res.Kernels[0].BlockLog {
				start, end = append(start, b.StartCycle), append(end, *b.EndCycle)
			}
			return start, end
		}
		for _, c := range []struct {
			interval string
			want     []uint64
		}{
			{"0", []uint64{1, 1, 1, 1, 1}}, // 30 clusters take one each
			{"500", []uint64{1, 1, 2, 2, 3}},
			{"1000", []uint64{1, 2, 3, 4, 5}},
			{"2500", []uint64{1, 3, 6, 8, 11}},
			{"700000", []uint64{1, 701, 1401, 2101, 2801}},
		} {
			if got, _ := starts(40, 5, "run.block_interval="+c.interval); !slices.Equal(got, c.want) {
				t.Errorf("%s, interval %s: blocks begin in cycles %v, want %v", skip, c.interval, got, c.want)
			}
		}

		// One SM with one slot; blocks of one warp.
		one := []string{"chip.clusters=1", "sm.blocks=1"}
		for _, c := range []struct {
			set  []string
			wait uint64
		}{
			{nil, 0},
			{[]string{"run.block_turnaround=1"}, 1},
			{[]string{"run.block_turnaround=700"}, 700},
			{[]string{"run.warp_turnaround=30"}, 30},
			{[]string{"run.block_turnaround=700", "run.warp_turnaround=30"}, 730},
		} {
			start, end := starts(400, 3, slices.Concat(one, c.set)...)
			for i := 1; i < 3; i++ {
				if got := start[i] - end[i-1]; got != c.wait {
					t.Errorf("%s %v: block %d begins %d cycles after the end of the one before it, want %d", skip, c.set, i, got, c.wait)
				}
			}
		}

		// Two slots: the third block waits only for the first one.
		start, end := starts(400, 3, "chip.clusters=1", "sm.blocks=2", "run.block_turnaround=500")
		if first := min(end[0], end[1]); start[2] != first+500 {
			t.Errorf("%s: the third block begins in cycle %d, want 500 after %d", skip, start[2], first)
		}
	}
}

// TestWarmCode checks that warm caches of the modern core hold a kernel's code and
// its parameters: nothing is requested from the next level.
func TestWarmCode(t *testing.T) {
	for _, c := range []struct {
		icache string
		misses bool
	}{{"cold", true}, {"warm", false}} {
		res := runJob(t, write(t, launch(0, "a", 4, 3)), true, job.Options{GPU: "rtx-a6000"}, "run.icache="+c.icache)
		if n := res.Kernels[0].Memory.L1Inst.Misses; (n > 0) != c.misses {
			t.Errorf("icache %s: %d misses of instructions and parameters", c.icache, n)
		}
	}
}
