package gpu

// Tick does what happens at the next time at which a clock domain fires.
func (g *GPU) Tick() { g.step() }

// Begin starts the actions whose turn it is.
func (g *GPU) Begin() error { return g.begin() }

// Hire gives the chip's workers goroutines, Dismiss ends them.
func (g *GPU) Hire()    { g.hire() }
func (g *GPU) Dismiss() { g.dismiss() }

// StopDRAM makes the clock of the DRAM stand still.
func (g *GPU) StopDRAM() { g.clk.at[dramDomain] = 1 << 62 }

// AlwaysTogether has workers called for every cycle from now on, and has who
// waits sleep soon. The function that it returns ends that.
func AlwaysTogether() func() {
	w, l := worthwhile, looks
	worthwhile, looks = 0, 1<<8
	return func() { worthwhile, looks = w, l }
}
