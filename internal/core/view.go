package core

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: what is shown of a core from outside, between two cycles.

// WaitKind is what a warp's state means for those who ask what it waits for.
type WaitKind uint8

// The kinds.
const (
	WaitsOther   WaitKind = iota
	WaitsFetch            // for instructions
	WaitsResult           // for results
	WaitsPlace            // for a place behind issue
	WaitsAll              // for all that is under way
	WaitsAtomics          // for atomics
)

// WarpView is a resident warp.
type WarpView struct {
	Slot    int
	Work    exec.Work
	Block   exec.Block
	InBlock int // warp of its block
	Exec    exec.Warp
	State   string   // in the last cycle
	Waits   WaitKind // what that means
	// At is the instruction that it executes next, in the order of the work's
	// code; -1 if it waits for others or has ended. Active are the lanes that
	// will be active, Live those that have not exited.
	At           int
	Active, Live isa.LaneMask
	// Buffer holds the instructions in its instruction buffer; Missed says that
	// the instruction cache has missed.
	Buffer []int
	Missed bool
	// Issued counts the instructions that were issued from its slot, by this
	// warp and those before it. Age tells warps of a slot apart.
	Issued, Age uint64
	// Reserved is the number of registers that wait for their results; Stores,
	// Atomics and Copies count what has not been acknowledged: stores, lanes of
	// atomics, asynchronous copies.
	Reserved, Stores, Atomics, Copies int
	// Counters are its dependence counters, nil where it has none.
	Counters []int
	// Flights are its instructions between issue and completion, the oldest
	// first.
	Flights []Flight
	// Stuck says that no warp of its block can ever step again by itself.
	Stuck bool
}

// Flight is an instruction between issue and completion.
type Flight struct {
	ID    int    // the core's record: Owner of its requests
	At    int    // instruction, in the order of the work's code
	Age   uint64 // instructions that the core issued before it
	Lanes isa.LaneMask
	Place string // where it is
	// Blocks says that the warp's next instruction waits for a register that
	// this one writes, or uses, or for a counter that it has raised.
	Blocks bool
	// Unsent is the number of its accesses that have not been sent, Unanswered
	// those that a load still waits for, those included.
	Unsent, Unanswered int
}

// AddFlight puts a flight into a list in the order of age.
func AddFlight(list []Flight, f Flight) []Flight {
	at := len(list)
	for at > 0 && list[at-1].Age > f.Age {
		at--
	}
	list = append(list, Flight{})
	copy(list[at+1:], list[at:])
	list[at] = f
	return list
}

// BlockView is a resident block.
type BlockView struct {
	Work  exec.Work
	Block exec.Block
	First int // its first warp slot
	Left  int // warps that have not retired
	Stuck bool
}

// Stands is where a warp is: enough to tell that it has moved.
type Stands struct {
	Work        exec.Work
	Age, Issued uint64
	Next, Last  int32 // instruction: the next one, and the one issued last in this cycle (-1: none)
}

// QueueView is a place of a core that instructions or requests pass, and how
// full it is.
type QueueView struct {
	Name     string
	Len, Cap int    // Cap 0: no bound of its own
	What     string // what is in it
}
