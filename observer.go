package heddle

import (
	"errors"

	"github.com/heddle-sim/heddle/internal/exec/replay"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace/record"
)

// This file: watching runs.

// What an observer sees.
type (
	// Observer has functions that are called with what happens in a timing run: see
	// Watch. Those that are nil cost nothing.
	Observer = run.Watch
	// LaunchEvent is the begin or the end of a launch, BlockEvent that of a block on
	// an SM, InstEvent a warp instruction with its lanes and addresses, MemoryEvent a
	// request that has come to a place.
	LaunchEvent = run.LaunchEvent
	BlockEvent  = run.BlockEvent
	InstEvent   = run.InstEvent
	MemoryEvent = run.MemoryEvent
	// MemoryPlace is a place on the way of a request.
	MemoryPlace = gpu.Where
	// Space is a kind of memory.
	Space = isa.Space
)

// The places of requests.
const (
	LeavesSM = gpu.LeavesSM
	AtL2     = gpu.AtL2   // it has come to its slice
	AtDRAM   = gpu.AtDRAM // it leaves the slice for the DRAM
	BackAtSM = gpu.BackAtSM
)

// The kinds of memory. Generic stands for several in one access.
const (
	Generic = isa.Generic
	Global  = isa.Global
	Shared  = isa.Shared
	Local   = isa.Local
	Const   = isa.Const
	Param   = isa.Param
)

// Watch has an observer called with what happens. It needs Machine: a run that only
// computes has no cycles, SMs or requests. RunOptions have the same for jobs and
// traces: their field Watch.
func Watch(o Observer) Option { return func(x *options) { x.Watch = &o } }

// What RunOptions mention.
type (
	// RunSettings are the values of the machine and of the conditions of a run that
	// were set: see Set.
	RunSettings = run.Settings
	// Inside is a timing run as seen by those who look into it between two cycles,
	// Buffer a piece of device memory with a name.
	Inside = run.Inside
	Buffer = run.Buffer
	// Recorder makes a trace of what runs.
	Recorder = record.Recorder
	// Listing is a disassembly that adds control bits to a trace.
	Listing = replay.Listing
)

// fit refuses options that a Go program's own launches cannot have.
func (o *options) fit() error {
	switch {
	case o.Select != nil:
		return errors.New("heddle: Select picks launches of a job or a trace; a Go program that does not want a launch to be timed makes it on a GPU without Machine")
	case len(o.Dumps) > 0:
		return errors.New("heddle: Dumps are of buffers of a job; a Go program reads memory with Download")
	case o.Listing != nil:
		return errors.New("heddle: Listing is for traces: see RunTrace")
	}
	return nil
}

// progress is called by a launch that only computes.
func (g *GPU) progress(kernel string) func(blocks, total, warpInsts uint64) {
	if g.opt.Progress == nil {
		return nil
	}
	return func(blocks, total, insts uint64) {
		g.opt.Progress(JobProgress{Launch: g.count, Kernel: kernel, Blocks: blocks, Total: total, WarpInsts: g.ses.Res.WarpInstructions + insts})
	}
}
