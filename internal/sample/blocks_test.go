package sample_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/sample"
)

// blocksCase is a launch of blocks with 100 warp instructions each, on a chip that holds 100 of them.
type blocksCase struct {
	name    string
	total   uint64
	rate    func(done, all uint64) float64 // cycles per warp instruction, after done of all blocks
	fetched uint64                         // bytes into an L2 of 1 MiB, by each block
	held    uint64                         // bytes that it holds at the start
	passed  [2]uint64                      // the least and the most blocks that are passed over
}

// TestBlocks: waves are passed over once the rate is steady, and the interval of their cycles holds the truth.
func TestBlocks(t *testing.T) {
	noisy := func(part float64) func(_, _ uint64) float64 { // of each half wave
		return func(done, _ uint64) float64 { return 2 + 2*part*rand.New(rand.NewPCG(1, done/50)).NormFloat64() }
	}
	flat := func(_, _ uint64) float64 { return 2 }
	for _, c := range []blocksCase{
		{"steady", 2000, flat, 0, 0, [2]uint64{1500, 1700}},
		{"very many blocks: passages are bounded", 100_000, flat, 0, 0, [2]uint64{90_000, 99_000}},
		{"four waves", 499, flat, 0, 0, [2]uint64{0, 0}},
		{"five waves and a half", 550, flat, 0, 0, [2]uint64{100, 100}},
		{"noise of one part in a hundred", 5000, noisy(0.01), 0, 0, [2]uint64{3500, 4800}},
		{"noise of a fifth: never sure", 2000, noisy(0.2), 0, 0, [2]uint64{0, 0}},
		{"halves of a wave in turn", 5000, func(done, _ uint64) float64 { return 1.5 + float64(done/50%2) }, 0, 0, [2]uint64{3500, 4800}},
		{"slower and slower", 3000, func(done, all uint64) float64 { return 1 + 3*float64(done)/float64(all) }, 0, 0, [2]uint64{0, 1500}},
		{"slower once the L2 is full", 4000, func(done, _ uint64) float64 {
			if done < 800 {
				return 1
			}
			return 2
		}, 1250, 0, [2]uint64{2000, 3000}},
		{"an L2 that is never full", 700, flat, 1250, 0, [2]uint64{200, 500}},
		{"an L2 that earlier launches have filled", 700, flat, 1250, 1 << 20, [2]uint64{0, 0}},
		{"the same, replaced by the launch", 2000, flat, 1250, 1 << 20, [2]uint64{500, 900}},
		{"the same, of which the launch needs little", 700, flat, 50, 1 << 20, [2]uint64{200, 500}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := sample.Stand{Total: c.total, Resident: 100, L2: 1 << 20, Held: c.held, Fetched: 77}
			b := sample.New(sample.Options{Target: 0.02, Blocks: true}).NewBlocks(x)
			if b == nil {
				if c.passed[1] > 0 {
					t.Fatal("the launch is too small")
				}
				return
			}
			var cycle, passed, truth, estimate float64 // all cycles in truth, those of passages in truth and estimated
			again := b.First()
			x.Next = 100
			for x.Completed+uint64(passed) < c.total {
				done := x.Completed + uint64(passed)
				cycle += 100 * c.rate(done, c.total)
				x.Completed++
				x.WarpInsts += 100
				x.Fetched += c.fetched
				x.Next = min(c.total, x.Next+1)
				x.Cycle = uint64(cycle)
				if x.Completed != again || x.Next == c.total {
					continue
				}
				pass, next := b.Look(x)
				again = next
				if pass == 0 {
					continue
				}
				if pass%100 != 0 || x.Next+pass > c.total || pass > 8*x.Completed {
					t.Fatalf("%d blocks are passed over after %d, next %d", pass, x.Completed, x.Next)
				}
				for i := range pass {
					truth += 100 * c.rate(done+i, c.total)
				}
				estimate += float64(b.Pass(100 * pass))
				x.Next += pass
				passed += float64(pass)
			}
			if n := uint64(passed); n < c.passed[0] || n > c.passed[1] {
				t.Errorf("%d blocks were passed over, want %d to %d", n, c.passed[0], c.passed[1])
			}
			if off := math.Abs(estimate - truth); c.name != "slower and slower" && off > b.Margin() {
				t.Errorf("%.0f cycles ± %.0f, in truth %.0f", estimate, b.Margin(), truth)
			}
		})
	}
}
