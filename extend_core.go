package heddle

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: parts of SMs and of the chip that a program registers. See
// docs/extending.md.

// A warp scheduler and its input.
type (
	// Scheduler is a warp scheduler: see RegisterScheduler.
	Scheduler = core.Scheduler
	// Warps are the warps of one scheduler in one cycle.
	Warps = core.Warps
	// WarpInfo is what a scheduler can learn about a warp.
	WarpInfo = core.WarpInfo
	// Inst is a decoded instruction: its unit, its registers, the memory that it
	// accesses, where control may go after it. It must not be changed.
	Inst = isa.Inst
	// LaneMask is a set of lanes of a warp: bit i is lane i.
	LaneMask = isa.LaneMask
)

// RegisterScheduler adds a warp scheduler, which simt.scheduler and
// modern.scheduler then choose by its name. maker is called for each scheduler of
// each SM, both counted from 0. Register in an init function or at the start of
// main: machines loaded earlier do not know the name. RegisterScheduler panics if
// the name is empty or taken.
func RegisterScheduler(name string, maker func(sm, scheduler int) Scheduler) {
	core.Schedulers.Register(name, maker)
}

// A block scheduler and its input.
type (
	// BlockScheduler decides which SM takes the next block, and of which kernel:
	// see RegisterBlockScheduler.
	BlockScheduler = gpu.BlockScheduler
	// Offer is the input of a block scheduler: kernels with blocks to place, and
	// SMs.
	Offer = gpu.Offer
	// OfferedKernel is a running kernel.
	OfferedKernel = gpu.OfferedKernel
)

// RegisterBlockScheduler adds a block scheduler, which chip.block_scheduler then
// chooses by its name. maker is called once for a chip. RegisterBlockScheduler
// panics if the name is empty or taken.
func RegisterBlockScheduler(name string, maker func() BlockScheduler) {
	gpu.BlockSchedulers.Register(name, maker)
}
