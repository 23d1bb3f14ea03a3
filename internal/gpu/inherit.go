package gpu

// Inherit takes over the time and the counters of a chip of the same settings
// that has come to an end, as a device does that is reset: its caches are empty
// and nothing is under way, but time goes on. A limit on cycles counts from here.
func (g *GPU) Inherit(old *GPU) {
	g.now, g.clk = old.now, old.clk
	g.code, g.codeEnd = old.code, old.codeEnd
	g.blocks, g.blocksEnd = old.blocks, old.blocksEnd
	if g.cfg.Run.MaxCycles > 0 {
		g.cfg.Run.MaxCycles += g.now
	}
	for i, c := range g.cores {
		o := old.cores[i]
		o.states() // up to now
		c.inherit(o)
		if a, b := c.L1D(), o.L1D(); a != nil {
			a.Stats = b.Stats
		}
		if a, b := c.L1C(), o.L1C(); a != nil {
			a.Stats = b.Stats
		}
		if a, b := c.L1I(), o.L1I(); a != nil {
			a.Stats = b.Stats
		}
		if a, b := c.L1T(), o.L1T(); a != nil {
			a.Stats = b.Stats
		}
	}
	for i := range g.part.Subs() {
		s := g.part.SubStats(i)
		*s = *old.part.SubStats(i)
		s.Vanished = s.Requests - s.Replies // what was under way
		if a := g.part.L2Stats(i); a != nil {
			*a = *old.part.L2Stats(i)
		}
	}
	for i := range g.part.Channels() {
		*g.part.ChannelStats(i) = *old.part.ChannelStats(i)
		if d := g.part.DRAM(i); d != nil {
			*d.Stats() = *old.part.DRAM(i).Stats()
		}
	}
	g.req.Stats, g.rep.Stats, g.Stats = old.req.Stats, old.rep.Stats, old.Stats
}
