package exec

import "github.com/heddle-sim/heddle/internal/isa"

// This file: the contract between function and timing. A core model drives warps through
// it: it inspects the instruction at a warp's pc, steps it when it issues, and gets its
// effects. One call per warp instruction.

// WarpState is what a warp can do next.
type WarpState uint8

// The states.
const (
	Ready     WarpState = iota // Next has an instruction
	AtBarrier                  // waits for other warps of its block
	AtSync                     // parts of it wait for each other and none can run
	Done                       // all threads have exited
)

// Effects describes what a step did. The executor fills it; it is valid until the warp's
// next step.
type Effects struct {
	Inst   *isa.Inst
	Active isa.LaneMask // lanes of the fragment that executed it
	Lanes  isa.LaneMask // those whose guard held
	Space  isa.Space    // memory space after generic addresses were resolved
	// Shared and Local are the lanes in shared and in local memory of an access whose lanes
	// lie in several spaces; the others are in global memory. Only such accesses have
	// isa.Generic as their Space.
	Shared, Local isa.LaneMask
	Addr          *[32]uint64  // addresses of Lanes, for instructions with Load or Store; generic ones unresolved
	Exited        isa.LaneMask // lanes that ended
	Blocked       bool         // the warp now waits at a barrier
	Wrote         bool         // memory may have changed
	Timed         bool         // it has read the time
	Bulk          *Bulk        // what goes on after it, for a Postponer; nil: nothing
}

// Resolve determines where the lanes of a generic access lie. Shared and local memory begin
// at the given addresses, multiples of size, and have that size.
func (e *Effects) Resolve(shared, local, size uint64) {
	var inShared, inLocal isa.LaneMask
	for m := e.Lanes; m != 0; m &= m - 1 {
		l := m.First() & 31
		switch e.Addr[l] &^ (size - 1) {
		case shared:
			inShared |= 1 << l
		case local:
			inLocal |= 1 << l
		}
	}
	e.Lie(inShared, inLocal)
}

// Lie records that the given lanes of a generic access lie in shared and in local memory,
// and the others in global memory.
func (e *Effects) Lie(shared, local isa.LaneMask) {
	switch {
	case shared|local == 0:
		e.Space = isa.Global
	case shared == e.Lanes:
		e.Space = isa.Shared
	case local == e.Lanes:
		e.Space = isa.Local
	default:
		e.Space, e.Shared, e.Local = isa.Generic, shared, local
	}
}

// Warp is a warp of a running block, as a core model sees it.
type Warp interface {
	// Next returns the instruction that the next Step executes, the lanes that will be
	// active, and the byte address of the instruction. It is nil unless the state is
	// Ready. Calling it has no effect visible to the program.
	Next() (*isa.Inst, isa.LaneMask, uint64, WarpState)
	// Step executes that instruction. The error is a *Fault. Warps of different blocks
	// may be stepped concurrently as long as the instructions are private. While an
	// instruction that is not private is stepped, no other step may be running.
	Step(e *Effects) error
	// Live returns the lanes that have not exited.
	Live() isa.LaneMask
}

// Block is a running thread block.
type Block interface {
	Index() Dim3
	Linear() uint64 // index in the grid, x fastest
	Warps() int
	Warp(i int) Warp
	// Unblock releases lanes that wait for others of their own warp which cannot arrive
	// first. It reports whether there were any. A core model calls it when none of the
	// block's warps can run. It may execute instructions that are not private.
	Unblock() bool
	Counts() (warpInsts, threadInsts uint64)
	// Release returns the block's storage; all warps must be Done, or the launch
	// abandoned.
	Release()
}

// Teller is implemented by a Block that buffers output until it ends: what device code
// printed, and warnings.
type Teller interface {
	// Tell passes on the buffered output. Release does so too; for a block that does not
	// end, Tell is called when its launch is abandoned.
	Tell()
}

// Traits holds optional properties of a Work. The zero value is that of a launch without a
// program text, whose code lies anywhere.
type Traits struct {
	Kernel      Kernel // what it launches, nil if it is not a kernel of a program
	Arch        int    // of machine code: 86 for sm_86
	Cooperative bool   // blocks may wait for each other: all must be resident at once
	Spins       bool   // blocks wait in loops for what other blocks write
	Cluster     int    // blocks of a cluster, which must be resident together; 0 and 1: none
	Rest        *Rest  // from which its blocks take; nil if they do not
	Hopper      string // an instruction of the kernel that only some core models time; "": none
	// InstBytes is the size of an instruction in the addresses that Next returns;
	// 0 means 8, as in PTX.
	InstBytes int
	// CodeBase is where the code begins among all of its program's, in such
	// addresses, if Placed.
	CodeBase uint64
	Placed   bool
	// Source returns the source location of instruction i of Code: everything in Where but
	// the thread. Text is the instruction as the program writes it, on one line. Both are
	// nil if there is no program text.
	Source func(i int) Where
	Text   func(i int) string
	// Assembled, if set, returns what an assembler for machine code makes of each instruction of
	// Code, which is in an instruction set that is not executed as it is (PTX).
	Assembled func() []Assembled
	// SetTime, if set, is called before the first block with the location of the current
	// time in clock cycles, which programs read as their clock.
	SetTime func(cycles *uint64, hertz uint64)
}

// Assembled is what an assembler makes of an instruction. A core model may time code with what it says,
// but executes all instructions.
type Assembled struct {
	Gone       bool      // it has no part in machine code: it changes only registers of its own thread, and waits for nothing
	Dsts, Srcs []isa.Reg // the registers that it writes and reads in machine code, in the numbering of the program
}

// Work is a launch prepared for a core model. Wrappers between an executor and a core model
// pass its Traits on. Warps and blocks with further capabilities implement Deferred,
// Foreseen, Digester, Inspector and Teller.
type Work interface {
	Traits() Traits
	Name() string
	Blocks() uint64
	Threads() int   // of a block
	Registers() int // per thread, an estimate
	Shared() int    // bytes of a block, static and dynamic
	Code() []*isa.Inst
	// Block starts block n; blocks are started in any order, each once.
	Block(n uint64) Block
}

// Foreseen is implemented by a Warp whose path is known beforehand, as in a trace. A core
// model may then fetch what executes next instead of what follows in the code.
type Foreseen interface {
	// Ahead returns the byte address of the n-th instruction from the next one on, which is
	// number 0, whether or not the warp can step; false after the last.
	Ahead(n int) (addr uint64, ok bool)
}

// Passer is implemented by a Warp in an instruction set that is not executed as it is; see Assembled.
type Passer interface {
	// Pass is Step for an instruction that machine code does not have: it counts as none.
	Pass(e *Effects) error
}

// Digester is implemented by a Warp that supports the detection of endless loops.
type Digester interface {
	// Digest returns a number that summarises everything that decides what the warp does
	// next except memory, other warps and clocks. It is false if that is not possible.
	Digest() (uint64, bool)
}

// Inspector is implemented by a Warp that can be inspected between two steps. Inspecting
// changes nothing.
type Inspector interface {
	// Fragments returns the sets of lanes that execute separately, the one that runs next
	// first.
	Fragments() []Fragment
	// Joins returns the places where lanes wait for others to reconverge, the
	// outermost first.
	Joins() []Join
	// Frame returns the function that a lane executes, the lanes in the same call of it,
	// and their registers by name; false for a lane that has exited.
	Frame(lane int) (Frame, bool)
	// Changed is Frame with only those registers that may have changed since the last call
	// with the same Seen, of this warp. The next call uses their list again.
	Changed(lane int, since *Seen) (Frame, bool)
}

// Sharer is implemented by a Block whose shared memory can be inspected.
type Sharer interface {
	// SharedBytes returns it, for reading only, until the block's release.
	SharedBytes() []byte
}

// Meeter is implemented by a Block whose named barriers can be inspected.
type Meeter interface {
	// Meeting returns how many threads have arrived at a barrier, how many it waits for,
	// and by warp the lanes that have neither arrived nor exited.
	Meeting(barrier int) (came, need int, missing []isa.LaneMask)
}

// Fragment is a set of lanes of a warp that execute together.
type Fragment struct {
	Lanes    isa.LaneMask
	Function string
	PC       int          // instruction in its function
	Waits    string       // what for; "" if it can run
	Barrier  int          // named barrier at which it waits, -1 if it does not
	For      isa.LaneMask // lanes of its warp for which it waits
}

// Join is a place where lanes wait for others.
type Join struct {
	Function string
	PC       int // -1: the end of the function
	Came     isa.LaneMask
	Missing  isa.LaneMask
}

// Frame is a call of a function with its registers.
type Frame struct {
	Function  string
	Lanes     isa.LaneMask
	Registers []Register
}

// Register is a register with the values of all lanes.
type Register struct {
	Name string
	Type string // as the program declares it, such as .f32; .pred for a predicate
	Bits int    // 1 for a predicate, up to 128
	Lo   [32]uint64
	Hi   [32]uint64 // the upper 64 of 128 bits
}
