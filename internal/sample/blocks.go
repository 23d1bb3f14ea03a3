package sample

import "math"

// This file: launches of many blocks, of which a part is simulated. Once the chip is full, it takes about as
// many cycles for each instruction from one wave to the next (a wave is the blocks that the chip holds at a
// time). So one wave is measured, many are passed over, one is simulated so that things settle, one
// measured, and so on; the last ones are simulated, so that the chip empties as it does in a whole run. A passage ends
// early when its blocks have become of another kind than those measured: they issue more or fewer
// instructions, or move more or less between L2 and DRAM, as when the L2 is full and lines that were written go to the
// DRAM to make place for others. Blocks that are passed over are counted by that, and leave in the L2 what they read
// and write.

// Our choices.
const (
	// leastWaves is how many waves a launch must have: of fewer, too many are simulated for it to pay.
	leastWaves = 10
	// leastBlocks is how many blocks are measured at least: with few, the chip stays in step for long.
	leastBlocks = 48
	// leastCycles is how long a measurement takes at least: less than the latency of memory says little.
	leastCycles = 256
	// begin is how many waves are simulated before the first measurement: the first blocks all begin together, and
	// find no code in the caches.
	begin = 1.5
	// first is the most waves of the first passage, changed that of one after a change, and least that of any. The next
	// one may have twice as many if the rate after it is as before it, within agreed times the target, and half as many
	// otherwise.
	first, changed, least, agreed = 32, 8, 2, 4
	// another is how much blocks may differ from those that were measured: in the sectors that they move for each warp
	// instruction, and in half of their warp instructions; differences of less than little sectors an instruction do not
	// count.
	another, little = 0.2, 0.02
	// steady is how much pieces of a wave may differ for a change to be over, and most how many pieces a change
	// may have.
	steady, most = 0.07, 4
	// busy is from which share of its peak on the DRAM may set the pace. After a change two waves are then measured whose
	// cycles for a sector agree within alike; at most patience waves are looked at.
	busy, alike, patience = 0.35, 0.1, 4
	// sure is by how much more or fewer sectors for an instruction correct the cycles of blocks, at most.
	sure = 1.12
	// close is the difference of blocks below which that of their rates is chance.
	close = 0.03
	// blockBias is the part of the passed cycles that the interval has on each side beside what the
	// rates say: the rate may change unseen.
	blockBias = 0.1
	// tail is the part of the time of a wave that the interval has for the end of the launch, where the chip
	// empties: blocks may end in another order.
	tail = 0.1
)

// Blocks follows the blocks of a launch.
type Blocks struct {
	target   float64
	wave     uint64  // blocks
	need     uint64  // blocks of a measurement
	peak     float64 // sectors that the DRAM moves in a cycle, at most
	stride   uint64  // the most waves of the next passage
	mark     Stand   // at the last look
	begun    bool    // something is measured
	waves    []run   // since the last passage
	runs     []run   // measured before and after passages; at most one more than these
	passages []passage
	like     piece  // what blocks of the next passage are compared with
	left     uint64 // waves of the passage that is under way
}

// run is something that is simulated.
type run struct {
	cycles float64
	piece
}

// rate is the cycles of a warp instruction.
func (r *run) rate() float64 { return r.cycles / max(1, r.insts) }

// join adds another run.
func (r *run) join(o *run) {
	r.cycles += o.cycles
	r.blocks += o.blocks
	r.insts += o.insts
	r.fetched += o.fetched
	r.written += o.written
}

// passage is a number of blocks that are passed over, in pieces of a wave.
type passage struct {
	pieces []piece
	insts  float64
	change int  // pieces of another kind at its end
	ends   bool // early
}

// piece is what some blocks have done; fetched and written are sectors that moved between L2 and DRAM.
type piece struct{ blocks, insts, fetched, written float64 }

// size is the number of instructions of a block, traffic the sectors that one instruction moves.
func (p *piece) size() float64    { return p.insts / p.blocks }
func (p *piece) reads() float64   { return p.fetched / max(1, p.insts) }
func (p *piece) traffic() float64 { return (p.fetched + p.written) / max(1, p.insts) }

// sways is how much the traffic of blocks differs.
func (p *piece) sways(o *piece) float64 {
	return math.Abs(p.traffic()-o.traffic()) / max(o.traffic(), little)
}

// unlike is how much blocks differ from others. What is written counts only if the DRAM may set the pace.
func (b *Blocks) unlike(p, o *piece) float64 {
	d := max(apart(p.size(), o.size())/2, math.Abs(p.reads()-o.reads())/max(o.reads(), little))
	if b.paces(p) || b.paces(o) {
		d = max(d, p.sways(o))
	}
	return d
}

// paces reports whether the DRAM may set the pace of blocks, if they run as fast as those that were measured last.
func (b *Blocks) paces(p *piece) bool {
	return b.peak == 0 || p.traffic() > busy*b.peak*b.runs[len(b.runs)-1].rate()
}

// paced is the same of a run itself.
func (b *Blocks) paced(r *run) bool { return b.peak == 0 || r.traffic() > busy*b.peak*r.rate() }

// known reports whether blocks are like some that were measured, or like the last ones passed over before these.
func (b *Blocks) known(p *piece) bool {
	for i := range b.runs {
		if b.unlike(p, &b.runs[i].piece) <= another {
			return true
		}
	}
	return b.unlike(p, &b.like) <= another
}

// Stand is how far a launch is.
type Stand struct {
	Cycle             uint64  // of the chip
	Completed, Issued uint64  // blocks that have been simulated, and warp instructions issued since the start of the run
	Fetched, Written  uint64  // sectors read from and written to the DRAM since then
	Next, Total       uint64  // the next block, and the number of blocks
	Resident          uint64  // blocks that the chip holds at a time
	Peak              float64 // sectors that the DRAM moves in a cycle, at most; 0: not known
}

// NewBlocks returns nil if a launch that begins has too few blocks.
func (s *Sampler) NewBlocks(x Stand) *Blocks {
	if x.Resident == 0 || x.Total < leastWaves*x.Resident {
		return nil
	}
	return &Blocks{target: s.opt.Target, wave: x.Resident, need: max(leastBlocks, x.Resident), peak: x.Peak, stride: first}
}

// First returns after how many completed blocks to look first: until then the chip fills.
func (b *Blocks) First() uint64 { return uint64(begin * float64(b.need)) }

// Look notes what has been simulated. If pass is set, the blocks that Piece returns are to be passed over, until it
// returns none. Again is after how many completed blocks to look again, 0 for never.
func (b *Blocks) Look(x Stand) (pass bool, again uint64) {
	o := b.mark
	b.mark = x
	if !b.begun {
		b.begun = true
		return b.more(x)
	}
	b.waves = append(b.waves, run{float64(x.Cycle - o.Cycle), piece{
		float64(x.Completed - o.Completed), float64(x.Issued - o.Issued), float64(x.Fetched - o.Fetched), float64(x.Written - o.Written),
	}})
	r, ok := b.measured()
	if !ok {
		return b.more(x)
	}
	b.runs = append(b.runs, r)
	if len(b.passages) == 0 {
		b.like = r.piece
	}
	b.adapt()
	b.left = min((x.Total-x.Next)/b.wave, b.stride)
	if b.left == 0 {
		return false, 0
	}
	b.passages = append(b.passages, passage{})
	b.waves = b.waves[:0]
	return true, x.Completed + b.need
}

// more asks for another look after a wave, unless the chip empties before.
func (b *Blocks) more(x Stand) (pass bool, again uint64) {
	if x.Total-x.Next < b.need {
		return false, 0
	}
	return false, x.Completed + b.need
}

// measured returns the run from which the next blocks are estimated, once it is known. The first wave after a passage
// does not count: blocks from before it are under way.
func (b *Blocks) measured() (r run, ok bool) {
	list := b.waves
	n := len(b.passages)
	if n > 0 {
		list = list[1:]
	}
	k := len(list)
	if k == 0 {
		return r, false
	}
	for i := range list {
		r.join(&list[i])
	}
	if r.cycles < leastCycles {
		return r, false
	}
	last := list[k-1]
	if n == 0 || !b.passages[n-1].ends || !b.paces(&b.like) && !b.paced(&last) {
		return r, true
	}
	if k < 2 {
		return r, false
	}
	o := &list[k-2]
	agree := apart(last.cycles/(last.fetched+last.written), o.cycles/(o.fetched+o.written)) <= alike
	last.join(o)
	return last, agree || k >= patience
}

// adapt lets passages be longer or shorter, by whether the last one has missed a change.
func (b *Blocks) adapt() {
	n := len(b.passages)
	switch {
	case n == 0:
	case b.passages[n-1].ends:
		b.stride = changed
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

// Passed notes what the blocks of a piece did: their warp instructions, and the sectors that they would have
// moved between L2 and DRAM.
func (b *Blocks) Passed(blocks, insts, fetched, written uint64) {
	p := &b.passages[len(b.passages)-1]
	x := piece{float64(blocks), float64(insts), float64(fetched), float64(written)}
	p.pieces = append(p.pieces, x)
	p.insts += x.insts
	n := len(p.pieces)
	if b.known(&x) {
		p.change = 0
	} else if p.change++; p.change == most || p.change > 1 && b.unlike(&x, &p.pieces[n-2]) <= steady {
		b.left, p.ends = 0, true
	}
	if b.left == 0 {
		b.like = x
	}
}

// Estimate returns, when all blocks have ended, the cycles that all passages are estimated to take, and half the width
// of the interval of them. A block that ran on when the others had ended would have run beside those that were passed
// over: that time does not count twice, and may be off as much.
func (b *Blocks) Estimate(now uint64) (cycles, margin float64) {
	n := len(b.passages)
	if n == 0 {
		return 0, 0
	}
	cycles, margin = b.passed()
	p, r := &b.passages[n-1], &b.runs[n-1]
	rest := float64(b.mark.Total-b.mark.Next)/float64(b.wave) + 1 // waves since the last look
	alone := min(cycles, max(0, float64(now-b.mark.Cycle)-2*rest*r.rate()*p.insts/float64(len(p.pieces))))
	return cycles - alone/2, margin + alone/2
}

// passed is Estimate as if blocks were all alike.
func (b *Blocks) passed() (cycles, margin float64) {
	for i := range b.passages {
		p := &b.passages[i]
		for k := range p.pieces {
			rate, off := b.rate(&p.pieces[k], i)
			cycles += rate * p.pieces[k].insts
			margin += (max(b.target*rate, off) + blockBias*rate) * p.pieces[k].insts
		}
		if i == 0 {
			margin += tail * b.runs[0].rate() * p.insts / float64(len(p.pieces))
		}
	}
	return cycles, margin
}

// rate returns the cycles for an instruction of blocks of passage i: the mean of all runs until the one after it, by how
// near they are in kind and in time, and how much these differ. If there is one such run, it may have been lucky in when it
// began and ended: more or fewer sectors than such blocks move correct it, if the DRAM sets the pace.
func (b *Blocks) rate(p *piece, i int) (rate, off float64) {
	runs := b.runs[:min(i+2, len(b.runs))]
	alike := 0
	for j := range runs {
		if p.from(&runs[j]) <= 2*another {
			alike++
		}
	}
	weights, squares, moved := 0.0, 0.0, 0.0
	for j := range runs {
		r := &runs[j]
		w := 1 / (close + p.from(r))
		w *= w
		if j < i {
			w /= 4
		}
		v := r.rate()
		if b.paced(r) && alike == 1 {
			v *= min(sure, max(1/sure, p.traffic()/r.traffic()))
			moved += w * math.Abs(v-r.rate())
		}
		weights += w
		rate += w * v
		squares += w * v * v
	}
	rate /= weights
	return rate, math.Sqrt(max(0, squares/weights-rate*rate)) + moved/weights
}

// from is how far blocks are from a run in kind.
func (p *piece) from(r *run) float64 { return max(apart(p.size(), r.size())/2, p.sways(&r.piece)) }
