package ptx

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/flow"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// ref locates an operand's 32 lanes: a slot of the current frame (≥ 0), or an entry of
// the function's constants (< 0, stored as ^index). The operation that holds the ref
// knows which slab it indexes (32-bit, 64-bit, predicates). Predicates have no
// constants.
type ref = int32

// none is the ref of an operand that is absent.
const none ref = -1 << 31

// runFunc executes one operation for the lanes of m; m is never zero. A fault is left
// in w.fault.
type runFunc func(w *warp, in *inst, m uint32)

// kind is how the interpreter loop handles an instruction.
type kind uint8

const (
	kRun      kind = iota // call run, continue
	kMem                  // call run, then check for a fault
	kBranch               // to target where the guard holds; rpc is its reconvergence point
	kCounted              // kBranch, and counts who goes where or calls the probe
	kBranchIx             // brx.idx
	kCall                 // call, direct or indirect
	kRet                  // ret
	kExit                 // exit
	kSync                 // bar, barrier: may block (run decides through w.block*)
	kWarpSync             // needs the lanes of its member mask together (shfl.sync, vote.sync …)
	kYield                // call run, then let other warps run (nanosleep, failed try_wait)
)

// Flags of an inst; which apply depends on the operation.
const (
	fNegGuard uint16 = 1 << iota // @!p
	fAddr32                      // address base is a 32-bit register
	fFtz                         // .ftz
	fSat                         // .sat, .satfinite
	fRelu                        // .relu
	fNaN                         // .NaN
	fXorSign                     // .xorsign.abs
	fNegC                        // third operand is a negated predicate
	fSpin                        // may be part of a spin loop
	fSigned                      // sign-extends
	fD64                         // destination register is 64 bits wide
	fA64                         // first source register is 64 bits wide
	fVolatile                    // volatile, or ordered stronger than weak
	fAnyPC                       // bar.warp.sync: lanes need not be at the same place
	fLow32                       // the address space has 32-bit addresses
	fGroup                       // the warps of a warp group go on from it together
)

// fPair is a flag of mbarrier operations: addresses without the bit of the window lie in the even block of the pair.
const fPair = fXorSign

// inst is a decoded instruction. Its run function defines the meaning of the fields.
type inst struct {
	run    runFunc
	d      ref // destination
	a      ref // sources
	b      ref
	c      ref
	e      ref
	guard  ref // predicate slot, none if unguarded
	target int32
	rpc    int32 // reconvergence point of a branch, -1 for the function's end
	imm    int64 // address offset or other constant
	flags  uint16
	kind   kind
	size   uint8 // bytes per element of a memory operation, or an operation's own code
	mode   uint8 // rounding mode, comparison or another selector of the operation
	mode2  uint8
	x      *extra
}

// extra holds what only some instructions need.
type extra struct {
	refs  []ref // vector elements and further operands
	call  *callSite
	table []int32 // branch targets
	any   any     // private to a family of instructions
}

// fn is a decoded function.
type fn struct {
	ast    *ptx.Func
	name   string
	index  int // in image.fns
	code   []inst
	info   []isa.Inst
	graph  *flow.Graph
	base   uint64 // byte address of its first instruction, for instruction caches
	n32    int    // slots of each slab
	n64    int
	np     int
	c32    [][32]uint32 // constants
	c64    [][32]uint64
	sregs  []sregSlot // slots filled when a frame is made
	local  int        // bytes of local memory of a frame, a multiple of 16
	align  int        // of a frame: at least 16
	params []paramSlot
	rets   []paramSlot
	err    []error // why it cannot run

	slots     map[slotKey]ref    // of the registers that it uses, by name
	registers func() []namedSlot // the same in the order of their declarations, made once
}

// paramSlot is where a function's formal parameter or return value lives:
// in local memory (off ≥ 0) or in a register (r, 32 or 64 bits or predicate).
type paramSlot struct {
	off   int // in the frame's local memory, -1 for a register
	size  int // bytes, of each element of a vector register
	r     ref
	class regClass
	vec   int // elements of a vector register, 0 for a scalar
}

// regClass is the slab that a register lives in.
type regClass uint8

const (
	c32   regClass = iota // up to 32 bits
	c64                   // 64 bits
	cPred                 // predicate
	c128                  // two 64-bit slots
)

// callSite is a call's operands.
type callSite struct {
	fns   map[uint64]*fn // by function address, for indirect calls
	fn    *fn            // direct callee
	addr  ref            // register with the address, 64 bits (32 with fAddr32)
	args  []paramSlot
	rets  []paramSlot
	built exec.Function // vprintf, malloc …
	name  string
}

// sregSlot is a slot that is filled with a special register or the address of a local
// variable when a frame is made.
type sregSlot struct {
	slot ref
	wide bool // 64-bit slab
	kind sreg
	off  int64 // local variables: offset in the frame
}
