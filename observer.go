package heddle

import (
	"errors"

	"github.com/heddle-sim/heddle/internal/exec/replay"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace/record"
)

// This file: observing runs.

// Observers and their events.
type (
	// Observer has functions that are called for events of a timing run: see Watch.
	// Functions that are nil cost nothing.
	Observer = run.Watch
	// LaunchEvent is the beginning or the end of a launch, BlockEvent that of a
	// block on an SM, InstEvent a warp instruction with its lanes and addresses,
	// MemoryEvent a request that has reached a place.
	LaunchEvent = run.LaunchEvent
	BlockEvent  = run.BlockEvent
	InstEvent   = run.InstEvent
	MemoryEvent = run.MemoryEvent
	// MemoryPlace is a place on a request's way.
	MemoryPlace = gpu.Where
	// Space is a kind of memory.
	Space = isa.Space
)

// The places of requests.
const (
	LeavesSM = gpu.LeavesSM
	AtL2     = gpu.AtL2   // it has reached its slice
	AtDRAM   = gpu.AtDRAM // it leaves the slice for the DRAM
	BackAtSM = gpu.BackAtSM
)

// The kinds of memory. Generic means several in one access.
const (
	Generic = isa.Generic
	Global  = isa.Global
	Shared  = isa.Shared
	Local   = isa.Local
	Const   = isa.Const
	Param   = isa.Param
)

// Watch adds an observer. It needs Machine: a functional run has no cycles, SMs or
// requests. For jobs and traces use the field Watch of RunOptions.
func Watch(o Observer) Option { return func(x *options) { x.Watch = &o } }

// The types of fields of RunOptions.
type (
	// RunSettings are changed values of the machine and of the conditions of a run:
	// see Set.
	RunSettings = run.Settings
	// Inside is the view of a timing run between two cycles, Buffer a named piece
	// of device memory.
	Inside = run.Inside
	Buffer = run.Buffer
	// Recorder records a trace of a run.
	Recorder = record.Recorder
	// Listing is a disassembly that adds control bits to a trace.
	Listing = replay.Listing
)

// fit refuses options that do not apply to a Go program's own launches.
func (o *options) fit() error {
	switch {
	case o.Select != nil:
		return errors.New("heddle: Select is for jobs and traces; to run a launch without timing, use a GPU without Machine")
	case len(o.Dumps) > 0:
		return errors.New("heddle: Dumps is for jobs; to read memory, use Download")
	case o.Listing != nil:
		return errors.New("heddle: Listing is for traces: see RunTrace")
	}
	return nil
}

// progress returns the progress function of a functional launch.
func (g *GPU) progress(kernel string) func(blocks, total, warpInsts uint64) {
	if g.opt.Progress == nil {
		return nil
	}
	return func(blocks, total, insts uint64) {
		g.ses.Show(JobProgress{Launch: g.count, Kernel: kernel, Blocks: blocks, Total: total, WarpInsts: g.ses.Res.WarpInstructions + insts}, 0)
	}
}
