package gpu

// Tick simulates the next time at which a clock domain fires.
func (g *GPU) Tick() { g.step() }

// Begin starts the actions whose turn it is.
func (g *GPU) Begin() error { return g.begin() }

// Hire starts the goroutines of the chip's workers, Dismiss ends them.
func (g *GPU) Hire()    { g.hire() }
func (g *GPU) Dismiss() { g.dismiss() }

// StopDRAM stops the clock of the DRAM.
func (g *GPU) StopDRAM() { g.clk.at[dramDomain] = 1 << 62 }

// AlwaysTogether makes chips call workers in every cycle from now on, and waiters
// block soon. The returned function ends that.
func AlwaysTogether() func() {
	w, l := worthwhile, looks
	worthwhile, looks = 0, 1<<8
	return func() { worthwhile, looks = w, l }
}
