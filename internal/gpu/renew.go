package gpu

// This file: a machine as new. Actions that end early leave blocks on SMs,
// requests on their way and clocks in between; none of it may meet the next
// launch.

// renew makes the machine anew if a run of kernels has ended early. What it
// counted stays.
func (g *GPU) renew() error {
	if !g.stale {
		return nil
	}
	g.FlushLog()
	g.found, g.foundLeft = g.Hazards()
	cores, mem, req, rep := g.cores, g.part, g.req.Stats, g.rep.Stats
	if err := g.build(); err != nil {
		return err
	}
	g.stale, g.last.good = false, false
	g.watched()
	g.req.Stats, g.rep.Stats = req, rep
	for i, c := range g.cores {
		o := cores[i]
		o.Settle()
		c.Inherit(o)
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
		*s = *mem.SubStats(i)
		s.Vanished = s.Requests - s.Replies // what was under way
		if a := g.part.L2Stats(i); a != nil {
			*a = *mem.L2Stats(i)
		}
	}
	for i := range g.part.Channels() {
		*g.part.ChannelStats(i) = *mem.ChannelStats(i)
		if d := g.part.DRAM(i); d != nil {
			d.Inherit(mem.DRAM(i))
		}
	}
	return nil
}

// LimitFromHere has a limit on cycles count from now on.
func (g *GPU) LimitFromHere() { g.limitFrom = g.now }
