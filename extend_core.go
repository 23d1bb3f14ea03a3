package heddle

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: parts of SMs and of the chip that a program brings along. See
// docs/extending.md.

// What a warp scheduler is and what it sees.
type (
	// Scheduler is a warp scheduler: see RegisterScheduler.
	Scheduler = core.Scheduler
	// Warps are the warps of one scheduler in one cycle.
	Warps = core.Warps
	// WarpInfo is what a scheduler may ask about a warp.
	WarpInfo = core.WarpInfo
	// Inst is a decoded instruction: its unit, its registers, the memory that it
	// accesses, where control may go after it. Nobody changes one.
	Inst = isa.Inst
	// LaneMask is a set of lanes of a warp: bit i stands for lane i.
	LaneMask = isa.LaneMask
)

// RegisterScheduler adds a warp scheduler, which simt.scheduler and
// modern.scheduler then choose by its name. Maker makes that of each scheduler of
// each SM, both counted from 0. Register in an init function or at the beginning of
// main: machines that have been loaded do not know names that come later. It panics
// if the name is empty or taken.
func RegisterScheduler(name string, maker func(sm, scheduler int) Scheduler) {
	core.Schedulers.Register(name, maker)
}

// What a block scheduler is and what it sees.
type (
	// BlockScheduler decides which SM takes the next block of which kernel: see
	// RegisterBlockScheduler.
	BlockScheduler = gpu.BlockScheduler
	// Offer is what a block scheduler sees: kernels with blocks to give, and SMs.
	Offer = gpu.Offer
	// OfferedKernel is a kernel that runs.
	OfferedKernel = gpu.OfferedKernel
)

// RegisterBlockScheduler adds a block scheduler, which chip.block_scheduler then
// chooses by its name. Maker makes that of a chip. It panics if the name is empty or
// taken.
func RegisterBlockScheduler(name string, maker func() BlockScheduler) {
	gpu.BlockSchedulers.Register(name, maker)
}
