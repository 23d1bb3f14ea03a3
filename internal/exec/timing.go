package exec

import "github.com/heddle-sim/heddle/internal/isa"

// This file: the contract between function and timing. A core model drives
// warps through it: it looks at the instruction at a warp's pc, steps it when
// it issues, and gets its effects. One call per warp instruction.

// WarpState says what a warp can do next.
type WarpState uint8

// The states.
const (
	Ready     WarpState = iota // Next has an instruction
	AtBarrier                  // waits for other warps of its block
	AtSync                     // parts of it wait for each other and none can run
	Done                       // all threads have exited
)

// Effects is what a step did. It is filled by the executor and valid until the
// warp's next step.
type Effects struct {
	Inst   *isa.Inst
	Active isa.LaneMask // lanes of the fragment that executed it
	Lanes  isa.LaneMask // those whose guard held
	Space  isa.Space    // memory space after generic addresses were resolved
	// Shared and Local are the lanes in shared and in local memory of an access
	// whose lanes lie in several spaces, the others being in global memory. Its
	// Space is isa.Generic, and that of no other.
	Shared, Local isa.LaneMask
	Addr          *[32]uint64  // addresses of Lanes, for instructions with Load or Store; generic ones as they are
	Exited        isa.LaneMask // lanes that ended
	Blocked       bool         // the warp waits at a barrier now
	Wrote         bool         // memory may hold other values than before
	Timed         bool         // it read the time
}

// Resolve tells where the lanes of a generic access lie. Shared and local memory
// begin at these addresses, multiples of size, and are of that size.
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

// Lie tells that these lanes of a generic access lie in shared and in local
// memory, and the others in global memory.
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
	// Next returns the instruction that the next Step executes, the lanes that
	// will be active, and the byte address of the instruction. It is nil unless
	// the state is Ready. Calling it has no effect that the program could see.
	Next() (*isa.Inst, isa.LaneMask, uint64, WarpState)
	// Step executes that instruction. The error is a *Fault. Warps of different
	// blocks may be stepped side by side as long as the instructions are
	// private; whoever steps another sees to it that no other of them is under
	// way.
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
	// Unblock lets lanes go on that wait for others of their own warp which
	// cannot come first. It reports whether there were any. A core model calls
	// it when none of the block's warps can run. It may have instructions
	// executed that are not private.
	Unblock() bool
	Counts() (warpInsts, threadInsts uint64)
	// Release gives the block's storage back; all warps must be Done, or the
	// launch abandoned.
	Release()
}

// Teller is what a Block may also be that keeps words for people until it ends:
// what device code printed, and warnings.
type Teller interface {
	// Tell hands on what has not been. Release does so too; a block that does not
	// end is asked for it when its launch is abandoned.
	Tell()
}

// Traits is what a Work says of itself beyond what every Work has. The zero value
// is that of a launch without a program text, whose code lies anywhere.
type Traits struct {
	Kernel      Kernel // what it launches, nil if it is no kernel of a program
	Cooperative bool   // blocks may wait for each other: all must be resident at a time
	// InstBytes is the size of an instruction in the addresses that Next returns;
	// 0 stands for 8, as in PTX.
	InstBytes int
	// CodeBase is where the code begins among all of its program's, in such
	// addresses, if Placed.
	CodeBase uint64
	Placed   bool
	// Source says where instruction i of Code stands: everything of Where but the
	// thread. Text is the instruction as the program writes it, on one line. Both
	// are nil if there is no program text.
	Source func(i int) Where
	Text   func(i int) string
	// SetTime, if set, is called before the first block with the place where the
	// time is kept, in cycles of a clock: what programs read as their clock.
	SetTime func(cycles *uint64, hertz uint64)
}

// Work is a launch made ready for a core model. What stands between an executor
// and a core model passes its Traits on; what warps and blocks can do beyond their
// interfaces they say by implementing Deferred, Foreseen, Digester, Inspector and
// Teller.
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

// Foreseen is what a Warp may also be whose way is known beforehand: that of a
// trace. A core model may then fetch what comes next instead of what stands
// next.
type Foreseen interface {
	// Ahead returns the byte address of the n-th instruction from the next one
	// on, which is number 0, whether the warp can step or waits; false behind
	// the last.
	Ahead(n int) (addr uint64, ok bool)
}

// Digester is what a Warp may also be, for those who look for endless loops.
type Digester interface {
	// Digest returns a number for all that decides what the warp does next but
	// memory, other warps and clocks. It is false if that cannot be said.
	Digest() (uint64, bool)
}

// Inspector is what a Warp may also be, for those who look into it between two
// steps. Looking changes nothing.
type Inspector interface {
	// Fragments returns the sets of lanes that go their own ways, the one that
	// runs next first.
	Fragments() []Fragment
	// Joins returns the places where lanes wait for others to reconverge, the
	// outermost first.
	Joins() []Join
	// Frame returns the function that a lane executes, the lanes that are in
	// the same call of it, and their registers by name; false for a lane that
	// has exited.
	Frame(lane int) (Frame, bool)
}

// Fragment is a set of lanes of a warp that execute together.
type Fragment struct {
	Lanes    isa.LaneMask
	Function string
	PC       int    // instruction in its function
	Waits    string // what for; "" if it can run
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
	Hi   [32]uint64 // of 128 bits, the upper 64
}
