package sample

import "math"

// This file: launches of many blocks, of which a part is simulated. Once the chip is full, it takes about as
// many cycles for each instruction from one wave to the next (a wave is the blocks that the chip holds at a
// time). So waves are measured until two agree, then waves are passed over, one is simulated so that things settle, one
// measured, and so on; the last ones are simulated, so that the chip empties as it does in a whole run. A passage ends early when its blocks are of another kind than those
// at its begin: they issue more or fewer instructions, or move more or less between L2 and DRAM, as when the L2 is full
// and lines that were written go to the DRAM to make place for others. Blocks that are passed over are counted by
// that, and leave in the L2 what they read and write.

// Our choices.
const (
	// leastWaves is how many waves a launch must have.
	leastWaves = 5
	// leastBlocks is how many blocks are measured at least: with few, the chip stays in step for long.
	leastBlocks = 48
	// leastCycles is how long a measurement takes at least: less than the latency of memory says little.
	leastCycles = 256
	// first is the most waves of the first passage, and least that of any. The next one may have twice as many if
	// the rate after it is as before it, within agreed times the target, and half as many otherwise.
	first, least, agreed = 32, 2, 2
	// another is how much blocks may differ from those at the begin of a passage: in their warp instructions, and
	// in what they move for each; differences of less than little requests an instruction do not count.
	another, little = 0.2, 0.02
	// blockBias is the part of the passed cycles that the interval has on each side beside what the
	// rates say: the rate may change unseen.
	blockBias = 0.08
	// tail is the part of the time of a wave that the interval has for the end of the launch, where the chip
	// empties: blocks may end in another order.
	tail = 0.1
)

// Blocks follows the blocks of a launch.
type Blocks struct {
	target   float64
	wave     uint64 // blocks
	need     uint64 // blocks of a measurement
	stride   uint64 // the most waves of the next passage
	mark     Stand  // at the last look
	runs     []run  // simulated between passages; one more than these
	passages []passage
	before   run    // of the first run: the wave before
	left     uint64 // waves of the passage that is under way
}

// run is what is simulated between passages.
type run struct {
	begun                 bool // what follows is measured
	blocks, cycles, insts float64
}

func (r *run) add(blocks, cycles, insts float64) {
	r.blocks += blocks
	r.cycles += cycles
	r.insts += insts
}

// rate is the cycles of a warp instruction.
func (r *run) rate() float64 { return r.cycles / max(1, r.insts) }

// passage is a number of blocks that are passed over, in pieces of a wave.
type passage struct {
	pieces []piece
	insts  float64
	ends   bool // early, since the last piece is of another kind
}

// piece is what some blocks that were passed over have done.
type piece struct{ blocks, insts, sent float64 }

// size is the number of instructions of a block, traffic what one moves.
func (p *piece) size() float64    { return p.insts / p.blocks }
func (p *piece) traffic() float64 { return p.sent / max(1, p.insts) }

// Stand is how far a launch is.
type Stand struct {
	Cycle             uint64 // of the chip
	Completed, Issued uint64 // blocks that have been simulated, and warp instructions issued since the start of the run
	Next, Total       uint64 // the next block, and the number of blocks
	Resident          uint64 // blocks that the chip holds at a time
}

// NewBlocks returns nil if a launch that begins has too few blocks.
func (s *Sampler) NewBlocks(x Stand) *Blocks {
	if x.Resident == 0 || x.Total < leastWaves*x.Resident {
		return nil
	}
	return &Blocks{target: s.opt.Target, wave: x.Resident, need: max(leastBlocks, x.Resident), stride: first, runs: make([]run, 1)}
}

// First returns after how many completed blocks to look first: until then the chip fills.
func (b *Blocks) First() uint64 { return (b.need + 1) / 2 }

// Look notes what has been simulated. If pass is set, the blocks that Piece returns are to be passed over, until it
// returns none. Again is after how many completed blocks to look again, 0 for never.
func (b *Blocks) Look(x Stand) (pass bool, again uint64) {
	r, o := &b.runs[len(b.runs)-1], b.mark
	b.mark = x
	if o.Cycle == 0 || len(b.runs) > 1 && !r.begun {
		r.begun = true
	} else {
		r.add(float64(x.Completed-o.Completed), float64(x.Cycle-o.Cycle), float64(x.Issued-o.Issued))
	}
	need := uint64(max(0, float64(b.need)-r.blocks))
	b.left = min((x.Total-x.Next)/b.wave, b.stride)
	if need > 0 {
		if x.Total-x.Next < need { // the chip is not full until then
			return false, 0
		}
		return false, x.Completed + need
	}
	if b.left == 0 {
		return false, 0
	}
	if r.cycles < leastCycles || len(b.runs) == 1 && !b.settled(r) {
		return false, x.Completed + b.need
	}
	b.adapt()
	b.left = min(b.left, b.stride)
	b.passages = append(b.passages, passage{})
	b.runs = append(b.runs, run{})
	return true, x.Completed + b.need
}

// settled reports whether the last two waves of the first run agree. Otherwise it begins anew.
func (b *Blocks) settled(r *run) bool {
	was := b.before
	b.before = *r
	if was.blocks > 0 && apart(r.rate(), was.rate()) <= 2*agreed*b.target {
		r.add(was.blocks, was.cycles, was.insts)
		return true
	}
	*r = run{begun: true}
	return false
}

// adapt lets passages be longer or shorter, by whether the last one has missed a change.
func (b *Blocks) adapt() {
	n := len(b.passages)
	switch {
	case n == 0 || b.passages[n-1].ends:
	case apart(b.runs[n].rate(), b.runs[n-1].rate()) <= agreed*b.target:
		b.stride *= 2
	default:
		b.stride = max(least, b.stride/2)
	}
}

// Piece returns how many blocks are passed over next, 0 for none.
func (b *Blocks) Piece() uint64 {
	if b.left == 0 {
		return 0
	}
	b.left--
	return b.wave
}

// Passed notes what the blocks of a piece did: their warp instructions, and the requests that they would have
// sent to the DRAM.
func (b *Blocks) Passed(blocks, insts, sent uint64) {
	p := &b.passages[len(b.passages)-1]
	x := piece{float64(blocks), float64(insts), float64(sent)}
	p.pieces = append(p.pieces, x)
	p.insts += x.insts
	o := &p.pieces[0]
	if apart(x.size(), o.size()) > another || math.Abs(x.traffic()-o.traffic()) > another*max(o.traffic(), little) {
		b.left, p.ends = 0, true
	}
}

// Estimate returns, when all blocks have ended, the cycles that all passages are estimated to take, and half the width
// of the interval of them. A block that ran on when the others had ended would have run beside those that were passed
// over: that time does not count twice, and may be off as much.
func (b *Blocks) Estimate(now uint64) (cycles, margin float64) {
	if len(b.passages) == 0 {
		return 0, 0
	}
	cycles, margin = b.passed()
	p, r := &b.passages[len(b.passages)-1], &b.runs[len(b.passages)-1]
	rest := float64(b.mark.Total-b.mark.Next)/float64(b.wave) + 1 // waves since the last look
	alone := min(cycles, max(0, float64(now-b.mark.Cycle)-2*rest*r.rate()*p.insts/float64(len(p.pieces))))
	return cycles - alone/2, margin + alone/2
}

// passed is Estimate as if blocks were all alike.
func (b *Blocks) passed() (cycles, margin float64) {
	for i := range b.passages {
		p, before, after := &b.passages[i], &b.runs[i], &b.runs[i+1]
		rate, off := before.rate(), b.target*before.rate()
		if after.blocks >= float64(b.need) {
			step := after.rate() - rate
			rate += p.between() * step
			off = max(off, math.Abs(step)/2)
		}
		cycles += rate * p.insts
		margin += (off + blockBias*rate) * p.insts
		if i == 0 {
			margin += tail * rate * p.insts / float64(len(p.pieces))
		}
	}
	return cycles, margin
}

// between returns where between the rates before and after it a passage lies, from 0 to 1, by what has changed from its
// first blocks to the last.
func (p *passage) between() float64 {
	a, z := &p.pieces[0], &p.pieces[len(p.pieces)-1]
	if !p.ends {
		return 0.5
	}
	feature := (*piece).size
	if apart(z.size(), a.size()) < math.Abs(z.traffic()-a.traffic())/max(a.traffic(), little) {
		feature = (*piece).traffic
	}
	sum := 0.0
	for i := range p.pieces {
		sum += feature(&p.pieces[i]) * p.pieces[i].insts
	}
	return min(1, max(0, (sum/max(1, p.insts)-feature(a))/(feature(z)-feature(a))))
}
