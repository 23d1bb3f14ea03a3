package sample_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/sample"
)

// blocksCase is a launch of blocks with 100 warp instructions each, on a chip that holds 100 of them.
type blocksCase struct {
	name   string
	total  uint64
	rate   func(at, all uint64) float64                   // cycles per warp instruction of a block
	insts  func(at uint64) uint64                         // its warp instructions; nil: 100
	sent   func(at uint64) uint64                         // the sectors that it reads from the DRAM; nil: none
	dram   func(at uint64) (written uint64, peak float64) // the sectors that it writes there, and the most that the DRAM moves in a cycle; nil: none, not known
	passed [2]uint64                                      // the least and the most blocks that are passed over
	off    float64                                        // the most that their cycles may be off, as a part of them
}

// TestBlocks: waves are passed over, passages end where blocks become others, and the interval of their cycles
// holds the truth.
func TestBlocks(t *testing.T) {
	noisy := func(part float64) func(_, _ uint64) float64 { // of each half wave
		return func(at, _ uint64) float64 { return 2 + 2*part*rand.New(rand.NewPCG(1, at/50)).NormFloat64() }
	}
	flat := func(_, _ uint64) float64 { return 2 }
	step := func(at, _ uint64) float64 { // when the L2 is full
		if at < 1500 {
			return 1
		}
		return 2
	}
	for _, c := range []blocksCase{
		{"steady", 2000, flat, nil, nil, nil, [2]uint64{1500, 1700}, 0},
		{"very many blocks", 100_000, flat, nil, nil, nil, [2]uint64{97_000, 99_500}, 0},
		{"nine waves", 999, flat, nil, nil, nil, [2]uint64{0, 0}, 0},
		{"ten waves and a half", 1050, flat, nil, nil, nil, [2]uint64{600, 800}, 0},
		{"noise of one part in a hundred", 5000, noisy(0.01), nil, nil, nil, [2]uint64{4000, 4800}, 0.02},
		{"halves of a wave in turn", 5000, func(at, _ uint64) float64 { return 1.5 + float64(at/50%2) }, nil, nil, nil, [2]uint64{4000, 4800}, 0.001},
		{"slower and slower", 10_000, func(at, all uint64) float64 { return 1 + float64(at)/float64(all) }, nil, nil, nil, [2]uint64{5000, 9500}, 0.15},
		{"slower once lines are written back", 4000, step, nil, func(at uint64) uint64 {
			if at < 1500 {
				return 50
			}
			return 100
		}, nil, [2]uint64{2800, 3500}, 0.02},
		{"slower with larger blocks", 4000, step, func(at uint64) uint64 { return 100 + 100*(at/1500) }, nil, nil, [2]uint64{2000, 3500}, 0.1},
		{"lines are written back, which makes the DRAM busy", 4000, step, nil, nil, func(at uint64) (uint64, float64) { return 100 * (at / 1500), 1 }, [2]uint64{2400, 3300}, 0.03},
		{"lines are written back, for which the DRAM has time", 4000, flat, nil, nil, func(at uint64) (uint64, float64) { return 100 * (at / 1500), 100 }, [2]uint64{3300, 3700}, 0.001},
		{"a busy wave is measured when it moves more than others", 3000, func(at, _ uint64) float64 {
			if at >= 150 && at < 250 {
				return 1.1
			}
			return 1
		}, nil, nil, func(at uint64) (uint64, float64) {
			if at >= 150 && at < 250 {
				return 110, 1.2
			}
			return 100, 1.2
		}, [2]uint64{2500, 2700}, 0.001},
	} {
		t.Run(c.name, func(t *testing.T) { c.through(t) })
	}
}

// through runs the launch, block by block.
func (c *blocksCase) through(t *testing.T) {
	if c.insts == nil {
		c.insts = func(uint64) uint64 { return 100 }
	}
	if c.sent == nil {
		c.sent = func(uint64) uint64 { return 0 }
	}
	if c.dram == nil {
		c.dram = func(uint64) (uint64, float64) { return 0, 0 }
	}
	x := sample.Stand{Total: c.total, Resident: 100, Next: 100}
	_, x.Peak = c.dram(0)
	b := sample.New(sample.Options{Target: 0.02, Blocks: true}).NewBlocks(x)
	if b == nil {
		if c.passed[1] > 0 {
			t.Fatal("the launch is too small")
		}
		return
	}
	var cycle, truth float64 // of all that is simulated, and of what is passed over
	passed := uint64(0)
	for again := b.First(); x.Completed+passed < c.total; {
		at := x.Completed + passed // about the one that completes
		cycle += c.rate(at, c.total) * float64(c.insts(at))
		x.Issued += c.insts(at)
		x.Fetched += c.sent(at)
		written, _ := c.dram(at)
		x.Written += written
		x.Completed++
		x.Next = min(c.total, x.Next+1)
		x.Cycle = uint64(cycle)
		if x.Completed != again {
			continue
		}
		var pass bool
		if pass, again = b.Look(x); !pass {
			continue
		}
		for n := b.Piece(); n > 0; n = b.Piece() {
			if n != 100 || x.Next+n > c.total {
				t.Fatalf("%d blocks are passed over, next is %d of %d", n, x.Next, c.total)
			}
			insts, sent, written := uint64(0), uint64(0), uint64(0)
			for i := range n {
				insts += c.insts(x.Next + i)
				sent += c.sent(x.Next + i)
				more, _ := c.dram(x.Next + i)
				written += more
				truth += c.rate(x.Next+i, c.total) * float64(c.insts(x.Next+i))
			}
			b.Passed(n, insts, sent, written)
			x.Next += n
			passed += n
		}
	}
	if passed < c.passed[0] || passed > c.passed[1] {
		t.Errorf("%d blocks were passed over, want %d to %d", passed, c.passed[0], c.passed[1])
	}
	cycles, margin := b.Estimate(x.Cycle)
	if off := math.Abs(cycles - truth); off > c.off*truth+float64(c.total)/100 || off > margin {
		t.Errorf("%.0f cycles ± %.0f, in truth %.0f", cycles, margin, truth)
	}
}
