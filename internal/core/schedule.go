package core

import (
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plug"
)

// This file: warp schedulers that a program puts in the place of a model's own.

// Scheduler is a warp scheduler. Every scheduler of every SM has one of its own.
// SMs run in parallel, so schedulers must not share anything that changes; what one
// does may depend on nothing but what it is shown, or results differ from run to run.
type Scheduler interface {
	// Order is called in each cycle in which the scheduler has a warp to try. It
	// appends the slots of warps to order, which is empty, and returns it: the core
	// tries them from the first on and issues from the first that can. A slot that is
	// not in Try is passed over; a warp that is left out is not tried. A cycle in
	// which Order names none that can issue issues nothing.
	Order(w *Warps, order []uint8) []uint8
}

// Schedulers is where they are registered. The functions make that of a scheduler,
// by its number, of an SM.
var Schedulers = plug.New[func(sm, scheduler int) Scheduler]("warp scheduler")

// Warps are the warps of one scheduler in one cycle. Sets of warps have a bit for
// each slot of the SM; those of other schedulers are in none of them. It is valid
// during the call of Order.
type Warps struct {
	// Cycle is the chip's core cycle.
	Cycle uint64
	// ByAge are the slots of resident warps, the oldest warp first. It is the core's:
	// Order reads it only.
	ByAge []uint8
	// Last is the slot that issued last, or one to begin with, -1 for none; LastCycle
	// the cycle in which it issued, 0 if none has. A younger warp may be in it now.
	Last      int
	LastCycle uint64
	// Try has the warps with a decoded instruction that nothing holds back as far as
	// the core has found out. Can has those of them that would issue now; in the
	// modern core they are the same, since it learns the rest when it tries them.
	// Trying a warp in vain is not free of effects: the core learns what it waits for,
	// and the SIMT core refills the buffer of one that has branched elsewhere.
	Try, Can uint64
	// What warps wait for that cannot issue, tried or not: Memory has those that wait
	// for loads through a cache, atomics or fences, Result for another result, Barrier
	// for other warps of their block or lanes of their own, Fetch for instructions.
	Memory, Result, Barrier, Fetch uint64

	of interface{ WarpInfo(slot int) WarpInfo }
}

// WarpInfo is what a scheduler may ask about a warp.
type WarpInfo struct {
	// Kernel is the launch that it belongs to, Block its block's index in the grid,
	// InBlock its number in the block.
	Kernel  string
	Block   uint64
	InBlock int
	// Age tells warps of a slot apart: the warps that the SM took before it.
	Age uint64
	// Issued counts the instructions that it has issued.
	Issued uint64
	// PC is the address of the instruction that it executes next, and Next that
	// instruction; nil if it waits at a barrier or has ended.
	PC   uint64
	Next *isa.Inst
}

// NewWarps returns the warps of a scheduler of a core.
func NewWarps(of interface{ WarpInfo(slot int) WarpInfo }) Warps { return Warps{of: of} }

// Info returns what there is to know of the warp in a slot of ByAge; zero values for
// other slots.
func (w *Warps) Info(slot int) WarpInfo { return w.of.WarpInfo(slot) }

// Info returns what a scheduler may know of the warp in a slot. Issued counts, by slot,
// the instructions that have been issued since the core was made.
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
