package gpu_test

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/core"
)

// limits are the vendor's figures for an SM of a compute capability: the tables of
// the CUDA programming guide ("Technical Specifications per Compute Capability")
// and of the occupancy calculator that comes with the toolkit.
type limits struct {
	gpu                       string
	warps, blocks             int
	registers, registerUnit   int // of an SM; allocated to a warp in multiples
	warpUnit                  int // registers are allocated to groups of warps
	shared, sharedUnit, extra int // bytes of an SM; allocated to a block in multiples; overhead of each block
}

var published = []limits{
	{"gtx-480", 48, 8, 32768, 64, 2, 49152, 128, 0},          // 2.0
	{"titan-x-pascal", 64, 32, 65536, 256, 4, 98304, 256, 0}, // 6.1
	{"v100", 64, 32, 65536, 256, 4, 98304, 256, 0},           // 7.0
	{"rtx-2060", 32, 16, 65536, 256, 4, 65536, 256, 0},       // 7.5
	{"rtx-3070", 48, 16, 65536, 256, 4, 102400, 128, 1024},   // 8.6
	{"rtx-a6000", 48, 16, 65536, 256, 4, 102400, 128, 1024},  // 8.6
}

// blocksBy computes the calculator's columns: the limit of each resource.
func (l *limits) blocksBy(threads, registers, shared int) map[core.Limit]int {
	up := func(n, to int) int {
		for n%to != 0 {
			n++
		}
		return n
	}
	warps := up(threads, 32) / 32
	by := map[core.Limit]int{core.ByThreads: l.warps / warps, core.ByBlocks: l.blocks}
	if registers > 0 {
		ofWarp := up(32*registers, l.registerUnit)
		by[core.ByRegisters] = (l.registers / ofWarp / l.warpUnit * l.warpUnit) / warps
	}
	if n := up(shared+l.extra, l.sharedUnit); n > 0 {
		by[core.ByShared] = l.shared / n
	}
	return by
}

// TestOccupancyRules compares the blocks of an SM, and their limit, with the
// vendor's rules over all sizes of blocks.
func TestOccupancyRules(t *testing.T) {
	for i := range published {
		l := &published[i]
		c, err := config.Load(l.gpu)
		if err != nil {
			t.Fatal(err)
		}
		sm := c.ChipConfig()
		n, wrong := 0, 0
		seen := map[core.Limit]int{}
		for threads := 1; threads <= 1024; threads += 31 {
			for registers := 0; registers <= 255; registers += 3 {
				for _, shared := range []int{0, 1, 128, 129, 256, 257, 1000, 3072, 4096, 7168, 7169, 8192, 12288, 12289, 16384, 32768, 32769, 49152} {
					by := l.blocksBy(threads, registers, shared)
					want := by[core.ByThreads]
					for _, x := range by {
						want = min(want, x)
					}
					got, why := sm.Occupancy(threads, registers, shared)
					n++
					seen[why]++
					if (got != want || by[why] != want) && wrong < 5 {
						wrong++
						t.Errorf("%s: %d threads, %d registers, %d bytes: %d blocks by %v, want %d of %v", l.gpu, threads, registers, shared, got, why, want, by)
					}
				}
			}
		}
		if len(seen) != 4 {
			t.Errorf("%s: of %d cases only some limits decide: %v", l.gpu, n, seen)
		}
	}
}
