// Package isa holds the types that all front ends and models share: what a decoded
// instruction is, which registers and memory it names, which unit executes it, and where
// control may go after it.
//
// It is not an instruction set: text and binary forms live in isa/ptx, isa/sass and
// isa/kasm, and what an instruction does to data lives in exec. Timing models only see the
// types of this package.
package isa

import "math/bits"

// WarpSize is the number of lanes of a warp on every GPU that Heddle models.
const WarpSize = 32

// LaneMask has one bit per lane of a warp; bit i stands for lane i.
type LaneMask uint32

// FullMask selects all 32 lanes.
const FullMask LaneMask = 0xffffffff

// Count returns the number of selected lanes.
func (m LaneMask) Count() int { return bits.OnesCount32(uint32(m)) }

// First returns the lowest selected lane, 32 if there is none.
func (m LaneMask) First() int { return bits.TrailingZeros32(uint32(m)) }

// Space is a memory state space.
type Space uint8

// The state spaces. Generic addresses are resolved to one of the others per
// lane when the instruction executes.
const (
	NoSpace Space = iota
	Generic
	Global
	Shared
	Local
	Const
	Param
	Texture
	Surface
	TensorMem // tensor memory of Blackwell: a lane has 2 KiB, a column 4 bytes
)

var spaceNames = [...]string{"none", "generic", "global", "shared", "local", "const", "param", "texture", "surface", "tensor"}

func (s Space) String() string { return spaceNames[s] }

// Unit is the kind of execution unit that an instruction occupies.
type Unit uint8

// The units. Which of them a machine has, and how wide they are, is part of its
// configuration.
const (
	UnitNone   Unit = iota // control flow and instructions without a data path
	UnitALU                // integer, logic, moves, predicates
	UnitFP32               // single precision (and half precision scalars)
	UnitFP64               // double precision
	UnitFP16               // packed half precision
	UnitSFU                // transcendental approximations
	UnitTensor             // mma, wmma
	UnitLSU                // loads, stores, atomics, shuffles through the memory pipeline
	UnitTex                // textures and surfaces
	UnitBranch             // branches, calls, returns
	UnitBar                // barriers and fences
)

var unitNames = [...]string{"none", "alu", "fp32", "fp64", "fp16", "sfu", "tensor", "lsu", "tex", "branch", "barrier"}

func (u Unit) String() string { return unitNames[u] }

// Kind refines what a unit does, as far as latencies and counters distinguish it.
type Kind uint8

// The kinds of work. KindOther is everything else.
const (
	KindOther Kind = iota
	KindAdd        // add, sub, with carry too
	KindMax        // min, max
	KindMul
	KindMad // mad, fma
	KindDiv // div, rem
	KindMul24
	KindMad24
	KindShfl
	KindFence // membar, fence
)

// Data is the kind of number that an arithmetic instruction works on.
type Data uint8

// The kinds of number.
const (
	DataInt Data = iota
	DataHalf
	DataFloat
	DataDouble
)

// CacheOp is the cache operator of a memory instruction.
type CacheOp uint8

// The cache operators of PTX. CacheDefault is .ca for loads, .wb for stores
// and .cg for atomics.
const (
	CacheDefault CacheOp = iota
	CacheCA              // all levels
	CacheCG              // global level: the L2 only
	CacheCS              // streaming
	CacheLU              // last use
	CacheCV              // volatile: fetched again
	CacheNC              // non-coherent: read-only data
	CacheWB              // write back
	CacheWT              // write through
)

// RegFile names a register file.
type RegFile uint8

// The register files. PTX has predicates and general registers of 32 bits; a 64-bit value
// takes two general registers, as on hardware.
const (
	NoReg    RegFile = iota
	RegGPR           // general, 32 bits a lane
	RegPred          // predicate, one bit a lane
	RegUGPR          // uniform general (SASS)
	RegUPred         // uniform predicate (SASS)
)

// Reg is a reference to Count consecutive registers of one file, starting at
// Index. Indices are those of the executor's allocation for the function.
type Reg struct {
	File  RegFile
	Count uint8
	// Number is one more than the first number in the name that the program
	// gives the register (%rd12: 13), 0 if the name has none.
	Number uint16
	Index  uint32
}

// Flow is how an instruction changes control flow.
type Flow uint8

// The kinds of control flow.
const (
	FlowNext     Flow = iota // falls through
	FlowBranch               // to Targets[0]; falls through too if guarded
	FlowIndirect             // to one of Targets (a branch table)
	FlowCall                 // to a function, and then to the next instruction
	FlowReturn               // leaves the function
	FlowExit                 // ends the thread
)

var flowNames = [...]string{"next", "branch", "indirect", "call", "return", "exit"}

func (f Flow) String() string { return flowNames[f] }

// Inst is a static instruction, decoded once when a program is loaded. Models
// hold pointers to it and never change it.
type Inst struct {
	PC      int32   // index in its function's code
	Op      string  // opcode with its modifiers, as the source writes it
	Unit    Unit    // what executes it
	Kind    Kind    // what the unit does
	Data    Data    // on which kind of number
	Flow    Flow    // where control goes
	Guarded bool    // has a guard predicate (@p, @!p)
	Targets []int32 // branch targets as PCs
	Dsts    []Reg   // written registers
	Srcs    []Reg   // read registers, the guard predicate included
	Space   Space   // memory space, NoSpace if it touches no memory
	Width   uint8   // bytes a lane moves, vectors included
	Elem    uint8   // bytes of one element of it
	Cache   CacheOp // cache operator
	Load    bool    // reads memory (an atomic reads and writes)
	Store   bool    // writes memory
	Atomic  bool    // reads and writes memory in one step
	Barrier bool    // waits for other warps of the block
	Named   uint8   // one more than the barrier number in the text, 0 if it has none
	Private bool    // neither visible to nor affected by other blocks
	Order   Order   // what an access or a fence means for the order of others
	Scope   Scope   // the threads for which it does, ScopeNone for a weak access
	// Bases are the Srcs that are addresses of memory, a bit each.
	Bases uint32
	// Then and Else are the Srcs of which each lane takes one: Then if the last of Srcs, a
	// predicate, is true. Other instructions have neither.
	Then, Else uint32
	// Control is the compiler's information on when the instruction may issue, nil if the
	// instruction set has none (PTX).
	Control *Control
	// Class is the class of the opcode by its latency on cores since Turing, ClassNone if
	// the front end does not know it.
	Class Class
	// Pipe is the opcode's class in Accel-Sim's table for the trace's architecture, which
	// decides unit and latency on the SIMT core; PipeNone if the instruction does not come
	// from a trace.
	Pipe Pipe
	// Quick halves the interval between two such instructions in a unit (Accel-Sim, half
	// precision and the forms with 32-bit immediates).
	Quick   bool
	Tensor  *Tensor   // shape of a matrix instruction
	Const   *ConstRef // constant operand of an instruction other than a load
	Depbar  *Depbar   // what a DEPBAR waits for
	Uniform bool      // the address comes from uniform registers alone
	Clock   bool      // an instruction of machine code that reads the clock
	Time    bool      // its result depends on the time
	Async   Async     // its part in asynchronous operations
	Keeps   uint16    // registers that a thread has after it (setmaxnreg); 0: as many as before
	File    int32     // source file of its .loc, 0 if none (index given by the .file directive)
	Line    int32     // source line of its .loc, 0 if none
	Pos     Pos       // position in the program text
}

// Pos is a position in a program text; lines and columns count from one.
type Pos struct {
	Line, Col int32
}
