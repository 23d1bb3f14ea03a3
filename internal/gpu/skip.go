package gpu

import "github.com/heddle-sim/heddle/internal/mem/part"

// skip jumps over the core cycles in which nothing can happen. The clocks tick
// all the same, so that every counter of cycles is right.
func (g *GPU) skip() {
	if g.placed > 0 || g.ended || g.held > 0 || g.req.Busy() || g.rep.Busy() {
		return
	}
	for _, a := range g.awake {
		if a {
			return
		}
	}
	until := uint64(part.Never)
	for _, k := range g.slots {
		if k != nil && k.next < k.total {
			if k.latency == 0 {
				return
			}
			// The first block is placed at the end of the cycle in which the
			// latency is zero before it is counted down.
			until = min(until, g.now+k.latency)
		}
	}
	if t := g.part.NextEvent(g.now); t < until {
		until = t
	}
	if m := g.cfg.Run.MaxCycles; m > 0 {
		until = min(until, m-1)
	}
	if until == part.Never || until <= g.now {
		return
	}
	n := until - g.now
	var net, l2, dram uint64
	for g.now < until {
		f := g.clk.tick()
		dram += uint64(f >> dramDomain & 1)
		l2 += uint64(f >> l2Domain & 1)
		net += uint64(f >> netDomain & 1)
		g.now += uint64(f >> coreDomain & 1)
	}
	g.part.Skip(l2, dram)
	g.req.Skip(net)
	g.rep.Skip(net)
	if per := g.cfg.SMsPerCluster; per > 1 && g.cfg.RotateSMs && g.moreBlocks() {
		for c := range g.first {
			g.first[c] = (g.first[c] + int(n%uint64(per))) % per
		}
	}
	for _, k := range g.slots {
		if k != nil && k.latency > 0 {
			k.latency -= n
		}
	}
	g.Stats.Skipped += n
}
