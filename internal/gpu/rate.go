package gpu

// This file: the rates at which blocks follow each other, on the chip and in a
// block slot of an SM. Both were measured with empty kernels on an H100: one block
// leaves the dispatcher every 1.15 cycles, and a slot is reused some hundred cycles
// after its block has ended, later the more warps the block had.

// rate is the chip's state for these rates.
type rate struct {
	next     uint64     // earliest time of the next block, in thousandths of a core cycle
	resident []int      // by SM: blocks that have not ended
	closing  [][]uint64 // by SM: core cycles until which slots are not free, ascending
}

func newRate(cfg *Config) rate {
	r := rate{resident: make([]int, cfg.SMs())}
	if cfg.Run.BlockTurnaround > 0 || cfg.Run.WarpTurnaround > 0 {
		r.closing = make([][]uint64, cfg.SMs())
	}
	return r
}

// mayDispatch reports whether the chip's dispatcher can place a block in this
// cycle.
func (g *GPU) mayDispatch() bool { return g.rate.next < (g.now+1)*1000 }

// hasPlace reports whether an SM has a free slot that is not closing.
func (g *GPU) hasPlace(sm int, k *Kernel) bool {
	if g.rate.closing == nil {
		return true
	}
	list := g.rate.closing[sm]
	n := 0
	for n < len(list) && list[n] <= g.now {
		n++
	}
	if n > 0 {
		list = list[:copy(list, list[n:])]
		g.rate.closing[sm] = list
	}
	return g.rate.resident[sm]+len(list) < k.MaxBlocks
}

// dispatched records that an SM has taken a block.
func (g *GPU) dispatched(sm int) {
	g.rate.resident[sm]++
	if n := g.cfg.Run.BlockInterval; n > 0 {
		g.rate.next = max(g.rate.next, g.now*1000) + uint64(n)
	}
}

// vacated records that a block with the given number of warps has ended, whose lanes had all ended
// some core cycles ago. What it waited for then is part of the turnaround.
func (g *GPU) vacated(sm, warps int, ago uint64) {
	g.rate.resident[sm]--
	if g.rate.closing == nil {
		return
	}
	turnaround := uint64(g.cfg.Run.BlockTurnaround + g.cfg.Run.WarpTurnaround*warps)
	at := g.now + 1 + turnaround - min(turnaround, ago)
	list := append(g.rate.closing[sm], at)
	for i := len(list) - 1; i > 0 && list[i-1] > at; i-- {
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
		if len(list) > 0 && list[0] > g.now {
			until = min(until, list[0]-1)
		}
	}
	return until
}
