package core

import (
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plug"
)

// This file: warp schedulers that a program registers in place of a model's own.

// Scheduler is a warp scheduler. Each scheduler of each SM is a separate instance.
// SMs run in parallel, so instances must not share mutable state. Decisions may depend
// only on the arguments, or results differ from run to run.
type Scheduler interface {
	// Order is called in each cycle in which the scheduler has a warp to try. It
	// appends the slots of warps to order, which is empty, and returns it. The core
	// tries them in this order and issues from the first that can issue. It skips slots
	// that are not in Try, and does not try warps that are left out. If none of them
	// can issue, the cycle issues nothing.
	Order(w *Warps, order []uint8) []uint8
}

// Schedulers is their registry. A function makes the instance for one scheduler, by
// number, of one SM.
var Schedulers = plug.New[func(sm, scheduler int) Scheduler]("warp scheduler")

// Warps are the warps of one scheduler in one cycle. Sets of warps have a bit for
// each slot of the SM; they never contain warps of other schedulers. Warps is valid
// during the call of Order.
type Warps struct {
	// Cycle is the chip's core cycle.
	Cycle uint64
	// ByAge are the slots of resident warps, the oldest warp first. Order must not
	// change it.
	ByAge []uint8
	// Last is the slot that issued last, or an initial one, -1 for none; LastCycle is
	// the cycle in which it issued, 0 if none has. A younger warp may be in it now.
	Last      int
	LastCycle uint64
	// Try has the warps with a decoded instruction that no known condition holds back.
	// Can has those of them that would issue now; in the modern core it equals Try,
	// because the remaining conditions are only checked when a warp is tried. Trying a
	// warp that cannot issue has effects: the core notes what it waits for, and the SIMT
	// core refills the instruction buffer of a warp that has branched.
	Try, Can uint64
	// What the warps that cannot issue wait for, tried or not: Memory are those that
	// wait for loads through a cache, atomics or fences; Result for another result;
	// Barrier for other warps of their block or lanes of the same warp; Fetch for
	// instructions.
	Memory, Result, Barrier, Fetch uint64

	of interface{ WarpInfo(slot int) WarpInfo }
}

// WarpInfo is what a scheduler can look up about a warp.
type WarpInfo struct {
	// Kernel is the launch that it belongs to, Block its block's index in the grid,
	// InBlock its number in the block.
	Kernel  string
	Block   uint64
	InBlock int
	// Age is the number of warps launched on the SM before it. It distinguishes warps
	// that follow each other in a slot.
	Age uint64
	// Issued counts the instructions that it has issued.
	Issued uint64
	// PC is the address of its next instruction, Next that instruction, nil if it waits
	// at a barrier or has ended.
	PC   uint64
	Next *isa.Inst
}

// NewWarps returns the warps of a scheduler of a core.
func NewWarps(of interface{ WarpInfo(slot int) WarpInfo }) Warps { return Warps{of: of} }

// Info returns the information about the warp in a slot of ByAge; zero values for other
// slots.
func (w *Warps) Info(slot int) WarpInfo { return w.of.WarpInfo(slot) }

// Info returns the information about the warp in a slot for a scheduler. Issued has, by
// slot, the number of instructions issued since the core was made.
func (r *Residents[K]) Info(slot int, issued []uint64) WarpInfo {
	if slot < 0 || slot >= len(r.Warps) || r.Warps[slot].X == nil {
		return WarpInfo{}
	}
	w := r.Warps[slot]
	b := &r.Blocks[w.Block]
	i := WarpInfo{Kernel: b.Work.Name(), Block: b.X.Linear(), InBlock: slot - b.First, Age: w.Age, Issued: issued[slot] - w.Before}
	i.Next, _, i.PC, _ = w.X.Next()
	return i
}
