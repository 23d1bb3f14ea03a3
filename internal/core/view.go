package core

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: views of a core for observers, between two cycles.

// WaitKind is the kind of wait that a warp's state stands for.
type WaitKind uint8

// The kinds.
const (
	WaitsOther   WaitKind = iota
	WaitsFetch            // for instructions
	WaitsResult           // for results
	WaitsPlace            // for a free place after issue
	WaitsAll              // for everything in flight
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
	Waits   WaitKind // its kind
	// At is its next instruction, an index into the work's code; -1 if it waits for
	// others or has ended. Active are the lanes active in it, Live those that have not
	// exited.
	At           int
	Active, Live isa.LaneMask
	// Buffer holds the instructions in its instruction buffer; Missed says that its
	// fetch has missed in the instruction cache.
	Buffer []int
	Missed bool
	// Issued counts the instructions issued from its slot, by this warp and those
	// before it. Age distinguishes warps that follow each other in a slot.
	Issued, Age uint64
	// Reserved is the number of registers that wait for results; Stores, Atomics and
	// Copies count unacknowledged stores, lanes of atomics and asynchronous copies.
	Reserved, Stores, Atomics, Copies int
	// Counters are its dependence counters, nil if it has none.
	Counters []int
	// Flights are its instructions between issue and completion, the oldest first.
	Flights []Flight
	// Stuck says that no warp of its block can step again by itself.
	Stuck bool
}

// Flight is an instruction between issue and completion.
type Flight struct {
	ID    int    // the core's record, the Owner of its requests
	At    int    // index into the work's code
	Age   uint64 // instructions that the core issued before it
	Lanes isa.LaneMask
	Place string // where it is
	// Blocks says that the warp's next instruction waits for a register that this one
	// writes or reads, or for a counter that it has incremented.
	Blocks bool
	// Unsent is the number of its accesses that have not been sent, Unanswered the
	// number of those that a load still waits for, including the unsent ones.
	Unsent, Unanswered int
}

// AddFlight inserts a flight into a list sorted by age.
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

// Stands is the position of a warp, enough to detect that it has moved.
type Stands struct {
	Work        exec.Work
	Age, Issued uint64
	Next, Last  int32 // the next instruction, and the one issued last in this cycle (-1: none)
}

// QueueView is a queue of instructions or requests in a core.
type QueueView struct {
	Name     string
	Len, Cap int    // Cap 0: no bound of its own
	What     string // what it holds
}
