package gpu

// This file: the rates at which blocks follow each other, on the chip and in a
// block slot of an SM. Both were measured with empty kernels on an H100: one block
// leaves the dispatcher every 1.15 cycles, and a slot is reused some hundred cycles
// after its block has ended, later the more warps the block had.

// rate is the chip's state for these rates.
type rate struct {
	next     uint64      // earliest time of the next block, in thousandths of a core cycle
	resident []int       // by SM: blocks that have not ended
	closing  [][]closing // by SM: slots that are not free yet, the first to be first
	launches uint64      // begun so far
}

// closing is a slot whose block has ended.
type closing struct {
	until  uint64 // core cycle from which it is free
	launch uint64 // of its block
}

func newRate(cfg *Config) rate {
	r := rate{resident: make([]int, cfg.SMs())}
	if cfg.Run.BlockTurnaround > 0 || cfg.Run.WarpTurnaround > 0 {
		r.closing = make([][]closing, cfg.SMs())
	}
	return r
}

// mayDispatch reports whether the chip's dispatcher can place a block in this
// cycle.
func (g *GPU) mayDispatch() bool { return g.rate.next < (g.now+1)*1000 }

// hasPlace reports whether an SM has a free slot for a kernel that is not closing. The slots of other kernels do not
// count against a number of blocks that is limited by the grid alone.
func (g *GPU) hasPlace(sm int, k *Kernel) bool {
	if g.rate.closing == nil {
		return true
	}
	list := g.rate.closing[sm]
	n := 0
	for n < len(list) && list[n].until <= g.now {
		n++
	}
	if n > 0 {
		list = list[:copy(list, list[n:])]
		g.rate.closing[sm] = list
	}
	own, all := int(k.on[sm]), int(k.on[sm])+len(list)
	if !g.cfg.SharedSMs {
		return all < k.MaxBlocks
	}
	for _, x := range list {
		if x.launch == k.launch {
			own++
		}
	}
	return own < k.MaxBlocks && all < k.most
}

// dispatched records that an SM has taken a block.
func (g *GPU) dispatched(sm int, k *Kernel) {
	g.rate.resident[sm]++
	k.on[sm]++
	if n := g.cfg.Run.BlockInterval; n > 0 {
		g.rate.next = max(g.rate.next, g.now*1000) + uint64(n)
	}
}

// vacated records that a block with the given number of warps has ended, whose lanes had all ended
// some core cycles ago. What it waited for then is part of the turnaround.
func (g *GPU) vacated(sm int, k *Kernel, warps int, ago uint64) {
	g.rate.resident[sm]--
	k.on[sm]--
	if g.rate.closing == nil {
		return
	}
	turnaround := uint64(g.cfg.Run.BlockTurnaround + g.cfg.Run.WarpTurnaround*warps)
	at := g.now + 1 + turnaround - min(turnaround, ago)
	list := append(g.rate.closing[sm], closing{at, k.launch})
	for i := len(list) - 1; i > 0 && list[i-1].until > at; i-- {
		list[i], list[i-1] = list[i-1], list[i]
	}
	g.rate.closing[sm] = list
}

// nextPlace returns the core cycle up to which cycles can be skipped: at most
// until, and before the two rates allow the next block.
func (g *GPU) nextPlace(until uint64) uint64 {
	if !g.moreBlocks() {
		return until
	}
	if t := g.rate.next / 1000; t > g.now {
		until = min(until, t-1)
	}
	for _, list := range g.rate.closing {
		if len(list) > 0 && list[0].until > g.now {
			until = min(until, list[0].until-1)
		}
	}
	return until
}
