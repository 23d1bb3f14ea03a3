package gpu

import (
	"cmp"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
)

// This file: the chip's view of its cores, whatever their model.

// The chip passes on these views of its cores unchanged.
type (
	// Core is an SM, for inspection.
	Core = core.SM
	// Record is a warp instruction that has left a core.
	Record = core.Record
	// WarpView is a resident warp.
	WarpView = core.WarpView
	// Flight is an instruction between issue and completion.
	Flight = core.Flight
	// BlockView is a resident block.
	BlockView = core.BlockView
	// Stands is a warp's position: enough to see that it has moved.
	Stands = core.Stands
	// QueueView is a queue of a core for instructions or requests, and its fill.
	QueueView = core.QueueView
)

// placesOf sums the counters of a kernel's instructions over all SMs.
func (g *GPU) placesOf(k *Kernel) core.Places {
	sum := make(core.Places, len(k.work.Code()))
	for _, c := range g.cores {
		c.TakePlaces(k.core, sum)
	}
	return sum
}

// SlotStalls returns the cycles of schedulers that issued nothing, by the reason.
func (c *Counters) SlotStalls() map[string]uint64 {
	m := map[string]uint64{}
	if c.Own != nil {
		c.Own.SlotStalls(m)
	}
	return m
}

// States are the names of the states of warps.
func (g *GPU) States() []string { return g.cfg.Core.Model().States }

// Stages are the names of the pipeline stages in Records.
func (g *GPU) Stages() []string { return g.cfg.Core.Model().Stages }

// fits prepares a launch for the chip's cores.
func (g *GPU) fits(w exec.Work, shared, registers, maxBlocks int, base uint64) (core.Kernel, error) {
	cfg := g.cfg.Core.Clone()
	cfg.Base().Shared = shared
	return cfg.Prepare(w, core.KernelOptions{Registers: registers, MaxBlocks: maxBlocks, CodeBase: base, InstBytes: instBytes(w)})
}

// instBytes is the size of a work's instructions in its addresses: 8 if it does not
// say, as with PTX.
func instBytes(w exec.Work) int {
	return cmp.Or(w.Traits().InstBytes, 8)
}

// cachedBytes is the size of an instruction of a work in instruction caches.
func (c *Config) cachedBytes(w exec.Work) uint64 { return uint64(c.Core.CodeBytes(instBytes(w))) }

// Warps returns the warps that can be resident on an SM.
func (c *Config) Warps() int { return c.Core.Base().Warps }

// Occupancy returns the number of blocks of a kernel that fit on an SM, and the
// limit for the next one.
func (c *Config) Occupancy(threads, registers, shared int) (int, core.Limit) {
	return c.Core.Occupancy(threads, registers, shared)
}
