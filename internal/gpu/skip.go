package gpu

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/mem/part"
)

// skip skips the core cycles in which nothing can happen. The clocks still tick, so
// that every counter of cycles is right. Blocks that found no room find none until
// an SM does something. It reports whether there were such cycles.
func (g *GPU) skip() bool {
	if g.team.busy > 0 || g.placed > 0 || g.declined || g.fresh || g.ended || g.offered || g.mem.Moving() {
		return false
	}
	until := uint64(part.Never)
	for i, a := range g.awake {
		if !a {
			continue
		}
		t := g.cores[i].NextEvent(g.now - 1)
		if t <= g.now {
			return false
		}
		until = min(until, t)
	}
	for _, k := range g.active {
		if k.next < k.total && k.latency > 0 {
			// The first block is placed at the end of the cycle in which the
			// latency is zero before it is counted down.
			until = min(until, g.now+k.latency)
		}
	}
	until = min(g.nextPlace(until), g.mail.next())
	if g.copies.n > 0 {
		until = min(until, g.copies.next)
	}
	if t := g.mem.NextEvent(g.now); t < until {
		until = t
	}
	// The watch checks the same cycles whether any are skipped or not.
	until = min(until, (g.now/watchEvery+1)*watchEvery)
	for _, s := range g.see.samplers {
		until = min(until, s.next)
	}
	until = min(until, g.until)
	if g.lookAt > g.now {
		until = min(until, g.lookAt)
	}
	if until <= g.now {
		return false
	}
	n := until - g.now
	if m := g.cfg.Run.MaxCycles; m > 0 {
		// The last cycle before the limit is simulated. A sum could wrap.
		if n = min(n, m-1-(g.now-g.limitFrom)); n == 0 {
			return false
		}
	}
	net, l2, dram := g.clk.skip(n)
	g.now += n
	for i, a := range g.awake {
		if a {
			g.cores[i].Skip(n)
		}
	}
	g.mem.Skip(net, l2, dram)
	if per := g.cfg.SMsPerCluster; per > 1 && g.cfg.RotateSMs {
		more := g.moreBlocks()
		for c := range g.clusters {
			if more || slices.Contains(g.awake[c*per:(c+1)*per], true) {
				g.clusters[c].first = (g.clusters[c].first + int(n%uint64(per))) % per
			}
		}
	}
	for _, k := range g.active {
		if k.latency > 0 {
			k.latency -= n
		}
	}
	g.skipped += n
	return true
}
