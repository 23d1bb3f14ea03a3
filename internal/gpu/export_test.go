package gpu

import "github.com/heddle-sim/heddle/internal/mem"

// Pool returns the requests of a chip.
func (g *GPU) Pool() *mem.Pool { return &g.pool }
