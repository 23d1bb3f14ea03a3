package gpu

import "github.com/heddle-sim/heddle/internal/mem"

// Tick does what happens at the next time at which a clock domain fires.
func (g *GPU) Tick() { g.step() }

// Begin starts the actions whose turn it is.
func (g *GPU) Begin() error { return g.begin() }

// Pool returns the requests of a chip.
func (g *GPU) Pool() *mem.Pool { return &g.pool }

// StopDRAM makes the clock of the DRAM stand still.
func (g *GPU) StopDRAM() { g.clk.at[dramDomain] = 1 << 62 }
