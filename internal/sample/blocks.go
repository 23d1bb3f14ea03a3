package sample

import "math"

// This file: launches of many blocks, of which a part is simulated. Once the chip is full, it
// completes blocks at a rate that hardly changes in most kernels. When the last stretches of half
// a wave (the blocks that the chip holds at a time) agree, whole waves are passed over, so that the
// end of the launch, where the chip empties, is simulated as it is. A passage is bounded, and the
// rate is looked at again after it.

// Our choices.
const (
	// leastWaves is how many waves a launch must have.
	leastWaves = 5
	// leastBlocks is how many blocks a stretch has at least: with few the chip stays in step for long.
	leastBlocks = 48
	// leastHalves and lastHalves are how many stretches say what the rate is, the last ones: fewer agree by
	// chance too often.
	leastHalves, lastHalves = 4, 8
	// patience is how many stretches are looked at before an error of slack times the target is
	// good enough.
	patience, slack = 12, 2
	// stride bounds a passage: it has at most stride times the blocks that have been simulated.
	stride = 8
	// filled is how many times the capacity of the L2 must have been fetched into it before the rate
	// counts, if the launch comes to fetch as much: lines that are written go to the DRAM only
	// when others need their place.
	filled = 1.25
	// blockBias is the part of the passed cycles that the interval has on each side beside what the
	// spread says: the rate may change unseen.
	blockBias = 0.02
	// tail is the part of the time of a wave that the interval has for the end of the launch, where the chip
	// empties: blocks may end in another order.
	tail = 0.1
)

// Blocks follows the blocks of a launch.
type Blocks struct {
	target float64
	wave   uint64 // blocks
	half   uint64 // blocks of a stretch
	first  uint64 // bytes that had been fetched into the L2 when the launch began
	room   uint64 // bytes that it did not hold then
	from   Stand  // at the last look
	begun  bool
	rates  []float64 // cycles per warp instruction of each stretch
	margin float64   // of all passages, in cycles
	last   float64   // margin of the rate, as a part of it
}

// Stand is how far a launch is.
type Stand struct {
	Cycle                uint64 // of the chip
	Completed, WarpInsts uint64 // blocks that have been simulated, and their warp instructions
	Next, Total          uint64 // the next block, and the number of blocks
	Resident             uint64 // blocks that the chip holds at a time
	Fetched              uint64 // bytes that were ever fetched into the L2
	L2, Held             uint64 // bytes that the L2 has room for, and that it holds
}

// NewBlocks returns nil if a launch that begins has too few blocks.
func (s *Sampler) NewBlocks(x Stand) *Blocks {
	if x.Resident == 0 || x.Total < leastWaves*x.Resident {
		return nil
	}
	return &Blocks{target: s.opt.Target, wave: x.Resident, half: max(leastBlocks, (x.Resident+1)/2), first: x.Fetched, room: x.L2 - min(x.L2, x.Held)}
}

// First returns after how many completed blocks to look first: the first wave fills the caches.
func (b *Blocks) First() uint64 { return max(b.wave, b.half) }

// Look returns how many blocks to pass over now, and after how many completed ones to look again, 0 for
// never.
func (b *Blocks) Look(x Stand) (pass, again uint64) {
	if o := &b.from; b.begun && x.WarpInsts > o.WarpInsts {
		b.rates = append(b.rates, float64(x.Cycle-o.Cycle)/float64(x.WarpInsts-o.WarpInsts))
	}
	b.begun, b.from = true, x
	left := (x.Total - x.Next) / b.wave
	if left == 0 {
		return 0, 0
	}
	if b.filling(x) {
		b.rates = b.rates[:0]
	}
	waves := min(left, max(1, stride*x.Completed/b.wave))
	b.last = b.spread(waves)
	if b.last <= b.target || len(b.rates) >= patience && b.last <= slack*b.target {
		pass = waves * b.wave
	}
	return pass, x.Completed + b.half
}

// filling reports whether the L2 does not yet hold what it holds for most of the launch: the launch will
// fetch more than there was room for, and has not yet replaced all that was there. A sixteenth of the L2 does
// no harm.
func (b *Blocks) filling(x Stand) bool {
	now := float64(x.Fetched - b.first)
	all := now / float64(max(1, x.Completed)) * float64(x.Total)
	return now < filled*float64(x.L2) && all >= max(float64(b.room), float64(x.L2)/16)
}

// spread returns how far the mean of the last rates may be off that of the next waves, as a part of it: by
// what stretches vary, or pairs of them, if neighbours differ as the blocks of a wave end together, and by
// their trend.
func (b *Blocks) spread(waves uint64) float64 {
	list := b.recent()
	pairs := make([]float64, 0, lastHalves/2)
	for i := len(list) % 2; i+1 < len(list); i += 2 {
		pairs = append(pairs, (list[i]+list[i+1])/2)
	}
	m := min(off(list), off(pairs))
	if !math.IsInf(m, 1) {
		m += trend(list) * float64(waves)
	}
	return m
}

// trend is the slope of the line through numbers, for two of them and as a part of their mean, from their
// middle on; 0 if it may be chance.
func trend(list []float64) float64 {
	n := float64(len(list))
	mean, slope, squares, rest := 0.0, 0.0, 0.0, 0.0
	for _, v := range list {
		mean += v / n
	}
	for i, v := range list {
		at := float64(i) - (n-1)/2
		squares += at * at
		slope += at * v
	}
	slope /= squares
	for i, v := range list {
		d := v - mean - slope*(float64(i)-(n-1)/2)
		rest += d * d
	}
	if mean == 0 || math.Abs(slope) <= student(uint64(n)-2)*math.Sqrt(rest/(n-2)/squares) {
		return 0
	}
	return math.Abs(slope) / mean
}

// recent returns the last rates.
func (b *Blocks) recent() []float64 { return b.rates[max(0, len(b.rates)-lastHalves):] }

// off is the half width of the interval of a mean in 95 of 100 cases, as a part of it; infinite for fewer
// than leastHalves.
func off(list []float64) float64 {
	var x stretch
	for _, v := range list {
		x.add(v)
	}
	if x.n < leastHalves {
		return math.Inf(1)
	}
	return student(x.n-1) * x.spread() / math.Sqrt(float64(x.n))
}

// Pass notes that blocks with these warp instructions have been passed over, and returns the cycles that they
// are estimated to take.
func (b *Blocks) Pass(insts uint64) uint64 {
	var x stretch
	for _, v := range b.recent() {
		x.add(v)
	}
	cycles := math.Round(x.mean * float64(insts))
	b.margin += cycles*(b.last+blockBias) + tail*x.mean*float64(b.from.WarpInsts)/float64(b.from.Completed)*float64(b.wave)
	return uint64(cycles)
}

// Margin is half the width of the interval of the cycles of all passages.
func (b *Blocks) Margin() float64 { return b.margin }
