package gpu

// This file: resetting the machine. Actions that end early leave blocks on SMs,
// requests in transit and clocks between ticks; the next launch must not see them.

// renew rebuilds the machine if a run of kernels has ended early. Its counters
// stay.
func (g *GPU) renew() error {
	if !g.stale {
		return nil
	}
	g.FlushLog()
	g.found, g.foundLeft = g.Hazards()
	cores, old := g.cores, g.mem
	if err := g.build(); err != nil {
		return err
	}
	g.stale, g.last.good = false, false
	g.watched()
	g.giveLedgers()
	g.mem.Inherit(old)
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
	return nil
}

// LimitFromHere makes a limit on cycles count from now on.
func (g *GPU) LimitFromHere() { g.limitFrom = g.now }
