package sass

import "github.com/heddle-sim/heddle/internal/isa"

// InstBytes is the size of an instruction.
const InstBytes = 16

// Numbers that do not name a register: reads give zero (true for predicates), writes are
// discarded.
const (
	RZ  = 255 // general registers
	URZ = 255 // uniform registers; URZ6 in traces and in fields of six bits
	PT  = 7   // predicates and uniform predicates
)

// URZ6 is the number of URZ before sm_100, where uniform registers have six bits.
const URZ6 = 63

// Inst is one instruction, from text or from words.
type Inst struct {
	Op    Op
	Mods  []string // modifiers of the mnemonic in text order, without dots
	Guard Guard
	// Operands are in text order. Optional operands that the text omits (a predicate result
	// PT, a carry-in !PT) are not listed: see Find.
	Operands []Operand
	Ctl      isa.Control // control bits; meaningless if the kernel has none (Kernel.Control)
	Words    [2]uint64   // low word first
	Addr     uint32      // bytes from the kernel's start
	Pos      isa.Pos     // position in the text, zero if it comes from words
}

// Guard is the predicate before an instruction.
type Guard struct {
	Pred    uint8 // PT if always
	Not     bool
	Uniform bool // a uniform predicate: the uniform datapath's instructions
}

// Always reports whether the instruction runs in every active lane.
func (g Guard) Always() bool { return g.Pred == PT && !g.Not }

// Kind is the kind of an operand.
type Kind uint8

// The kinds of operands.
const (
	NoOperand Kind = iota
	Reg            // general register: Reg, Count
	UReg           // uniform register: Reg, Count
	Pred           // predicate: Reg
	UPred          // uniform predicate: Reg
	BReg           // convergence barrier register B0..B15: Reg
	SB             // dependence counter SB0..SB5: Reg
	SReg           // special register: Reg is its number
	Imm            // integer: Imm
	FImm           // floating-point immediate: Bits, Width
	Const          // constant bank: Bank or UReg (cx), Imm, and a general index register if Reg is not RZ
	Mem            // address: Reg, UReg, Desc, Imm
	Desc           // descriptor in uniform registers, desc[UR8]: Reg, Count
	GDesc          // descriptors of matrices in uniform registers, gdesc[UR8]: Reg, Count
	Target         // place in the code: Imm is its address in bytes, Index its instruction
	Mask           // set of dependence counters {4,3,2}: Imm has a bit for each
	Word           // keyword (PR, UPR: all predicates as a value; PPPPPPPP): Suffix is its text
)

// Role is the part that an operand plays; the names are those of the tables.
type Role uint8

// The roles. Executors look operands up by role, so that omitted operands do not shift the
// others.
const (
	NoRole Role = iota
	Rd          // result register, general or uniform (or what BMOV and B2R write)
	Pu          // first predicate result
	Pv          // second predicate result
	A           // first source
	B           // second source
	C           // third source
	Pp          // first predicate source
	Pq          // second predicate source
	Pr          // third predicate source
	Lut         // LOP3 and PLOP3 function table, mask of P2R and R2P
	Lut2        // PLOP3: table of the second result
	Addr        // address of a memory instruction
	Addr2       // second address: LDGSTS's global side
	Dest        // branch target
	Bar         // B register
	B2          // low half of a packed-half immediate in B's place
	C2          // low half of a packed-half immediate in C's place
	Extra       // others, in text order
)

// Operand is one operand of an instruction.
type Operand struct {
	Kind  Kind
	Role  Role
	Dst   bool  // written
	Reg   uint8 // register number; for Mem and Const the base, RZ if none
	Count uint8 // number of consecutive registers read or written; 0 for other operands
	Neg   bool  // - before it
	Abs   bool  // |…|
	Not   bool  // ! before a predicate, ~ before a register
	Reuse bool
	// Suffix is what follows the name, without the dot: H0_H0, H1_H1, F32, B1, 64, U32, X4,
	// X8, X16, ROW, COL. For Mem it belongs to the base register.
	Suffix string
	// Imm is an integer immediate, the byte offset of Const and Mem, or the byte
	// address of Target.
	Imm    int64
	Index  int32  // Target: number of the instruction in the kernel, -1 if outside
	Bits   uint64 // FImm: the number's bits
	Width  uint8  // FImm: 16, 32 or 64; Imm: 64 if it is written as its 64 bits
	Brain  bool   // FImm of 16 bits: bfloat16
	Bank   uint8  // Const
	UReg   uint8  // Mem and Const (cx): uniform register added, URZ if none
	HasU   bool   // Mem, Const: UReg is present
	UCount uint8  // registers of UReg
	Desc   uint8  // Mem: uniform register pair of the descriptor
	HasD   bool   // Mem: Desc is present (desc[URn])
	Index0 bool   // Const: an offset of 0 is written as the index register RZ (LDC)
	CX     bool   // Const: UReg names the bank, cx[URn][…]; otherwise it is added to the offset
	Hidden bool   // Mem: the descriptor is one that older disassemblers do not print (desc0)
	// Tail says that a space, not a comma, separates the operand from the previous one:
	// RET.REL R2 0x0.
	Tail bool
}

// Has reports whether the mnemonic has a modifier.
func (in *Inst) Has(mod string) bool {
	for _, m := range in.Mods {
		if m == mod {
			return true
		}
	}
	return false
}

// Find returns the operand of a role, nil if the text omits it (then it is PT, !PT or RZ,
// whichever has no effect).
func (in *Inst) Find(r Role) *Operand {
	for i := range in.Operands {
		if in.Operands[i].Role == r {
			return &in.Operands[i]
		}
	}
	return nil
}

// File is a program: kernels of one architecture, and what they keep in memory.
type File struct {
	Name    string
	Arch    Arch
	Kernels []*Kernel

	// What a compiler's file has besides.
	Data      []Data
	Banks     [ConstBanks][]byte // constants that all kernels share, with the values that they begin with
	Variables []Variable
	Addresses []Address

	index *index // of the latter two, once they are complete
}

// ConstBanks is the number of constant banks that a program or a launch fills.
const ConstBanks = 8

// Data is a piece of device memory.
type Data struct {
	Name  string
	Init  []byte // nil: zeros
	Bytes uint64
	Align uint64 // 0: any
}

// Variable is a named part of device memory or of a constant bank that all kernels share.
type Variable struct {
	Name   string
	Data   int // index into Data, -1 for a constant
	Bank   int // of a constant
	Offset uint64
	Bytes  uint64
	Local  bool // only its own file sees it
}

// Address is a place that gets an address once the program is in memory.
type Address struct {
	// The place: in a piece of device memory, in a constant bank that all kernels share, or, if
	// Kernel is not empty, an instruction's number in its code.
	Data   int // -1: in none
	Bank   int
	Kernel string
	Owner  string // the kernel whose own constant bank it is in
	Offset uint64 // bytes
	Part   Part
	// Type is that of a relocation that is not supported: kernels that may read the place cannot
	// run. Then Function is its symbol, and Undefined says that no file defines it.
	Type      uint32
	Undefined bool
	// What is there: a byte of a piece of device memory or of a shared constant bank, a
	// function that the machine provides, or code of the kernel.
	To       AddressOf
	ToData   int
	ToBank   int
	Function string
	Addend   uint64 // the byte; for functions and code, what is added to their beginning
}

// AddressOf is what an address leads to.
type AddressOf uint8

// What addresses lead to.
const (
	OfData AddressOf = iota
	OfBank
	OfFunction
	OfCode
	OfPointer // a function in the code of kernels, by the name of its label, wherever it is there
)

// Part is how much of an address a place gets.
type Part uint8

// The parts. In memory and constants all addresses are whole.
const (
	Whole Part = iota // 64 bits
	Lower             // bits 31 to 0
	Upper             // bits 63 to 32
)

// Kernel returns the kernel of a name, nil if there is none.
func (f *File) Kernel(name string) *Kernel {
	for _, k := range f.Kernels {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Kernel is one kernel.
type Kernel struct {
	Name     string
	Arch     Arch
	Regs     int // general registers per thread
	Shared   int // bytes of static shared memory
	Reserved int // of them, those before the kernel's own, which the system uses
	Local    int // bytes of local memory per thread
	Barriers int // named barriers
	// MaxThreads is the most threads of a block by dimension, 0 if the GPU decides.
	MaxThreads [3]uint32
	Block      [3]uint32 // the block that a launch must have, 0 if any may be
	Params     []Param
	Consts     []ConstData
	Code       []Inst
	Labels     []Label
	// Binary is the code as words, for a kernel that has not been decoded: SetCode does it.
	Binary []byte
	Lines  []Line // where instructions come from, in the order of their numbers
	// Source returns the source line of an instruction by its number, 0 if it is unknown; nil if
	// there are none.
	Source func(i int) (file string, line int)
	// Refused says why the kernel cannot run, as far as its file tells; nil if it can.
	Refused error
	Weak    bool // another definition may replace it
	// Control says that the text has control codes. Without them Ctl is meaningless and the
	// hardware must guard dependences itself.
	Control bool
	Pos     isa.Pos // of its .kernel directive
	// declared says that the program specifies Regs; otherwise it is counted from the code.
	declared bool
}

// Param is a kernel parameter.
type Param struct {
	Name   string
	Bytes  int
	Offset int // in constant bank 0
}

// ConstData are bytes that a program puts into a constant bank.
type ConstData struct {
	Bank   int
	Offset int
	Bytes  []byte
}

// Line is where an instruction comes from, and those after it up to the next Line.
type Line struct {
	Index int // number of the instruction
	File  string
	Line  int // 0: unknown
}

// Label is a name for an instruction.
type Label struct {
	Name  string
	Index int // number of the instruction; len(Code) for the end
}

// Arch is an architecture: 75 for sm_75.
type Arch int

// ParamBase is the byte offset of the first parameter in constant bank 0 (measured on cubins
// and listings of each architecture).
func (a Arch) ParamBase() int {
	switch {
	case a >= 100:
		return 0x380
	case a >= 90:
		return 0x210
	}
	return 0x160
}
