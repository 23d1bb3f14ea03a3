// Package machine describes what an architecture demands of code: how long a result takes to reach
// each kind of reader, how far apart instructions of a kind issue, how many counters, registers and
// banks there are. It is the compiler's only source of such numbers.
package machine

// Class is a kind of instruction by its timing.
type Class uint8

// The classes. Those up to Fixed have results after a fixed number of cycles, which code must wait by
// stall counters; the others need a dependence counter.
const (
	ALU         Class = iota // integers, logic, moves, comparisons
	FMA                      // FFMA, FADD, FMUL, IMAD
	Wide                     // IMAD.WIDE and IMAD.HI
	Half                     // packed halves
	Vote                     // VOTE: beside the pipes
	Disp                     // CS2R, NOP
	UniformMove              // the uniform datapath's moves
	Fixed                    // the end of those
)

// The classes of variable latency.
const (
	SFU     Class = Fixed + iota // MUFU, conversions, POPC
	Matrix                       // HMMA, IMMA: on hardware fixed, but longer than a stall
	Double                       // binary64
	Special                      // S2R
	Constant
	Memory  // loads, stores and atomics of all spaces, SHFL
	Control // branches, barriers
	Classes
)

// Late reports whether results of a class come after a variable time.
func (c Class) Late() bool { return c >= Fixed }

// Reader is how an instruction reads a register.
type Reader uint8

// The kinds of readers.
const (
	ByALU     Reader = iota // an operand of the ALU's
	ByFMA                   // an operand of FFMA's or IMAD's
	ByWide                  // an operand of IMAD.WIDE's
	ByHalf                  // an operand of packed halves
	ByDouble                // an operand of binary64's
	ByMatrix                // an operand of HMMA's
	ByQueue                 // an operand of an instruction that waits in a queue
	ByAddress               // an operand of an instruction that goes through the address unit
	ByGuard                 // a guard, or a predicate of an instruction without a pipe
	readers
)

// Machine is an architecture.
type Machine struct {
	SM         int
	Registers  int // general registers of a thread that code may name
	Reserved   int // registers that a thread has beyond those
	File       int // registers of an SM
	SubCores   int // of an SM, among which its registers and a block's warps are divided
	Granule    int // registers of a thread are given out in such pieces
	Predicates int
	Uniform    int // uniform registers that code may name, of which the first are the descriptor's
	Counters   int // dependence counters of a warp
	CounterGap int // cycles after which a counter that an instruction raises can be waited for
	LongestStall,
	YieldFrom int // the stall from which on the yield bit must be set
	Banks, ReuseSlots int // of the register file

	// Need is after how many cycles a reader may issue, by the class that writes a register; Predicate
	// is the same of a predicate.
	Need, Predicate [Fixed][readers]uint8
	// Spacing is after how many cycles an instruction of the same class may issue.
	Spacing [Classes]uint8
	// After is the same for the next instruction, whatever it is.
	After [Classes]uint8
}

// Of returns the description of an architecture, nil if there is none.
func Of(sm int) *Machine {
	switch sm {
	case 80, 86, 87, 89:
		m := ampere
		m.SM = sm
		if sm == 80 {
			m.Spacing[FMA] = 2 // an FP32 unit of 16 lanes
		}
		return &m
	}
	return nil
}

// ampere is sm_80 to sm_89. Latencies are those of Mesa's compiler for sm_80 (MIT, "provided by
// NVIDIA"), which agree with the least distances in ptxas's code; spacings are the least distances in
// ptxas's code for sm_86. Where a class joins several of their classes, the longest counts.
var ampere = Machine{
	Registers: 253, Reserved: 2, // R0 to R252 (Mesa: two are the hardware's)
	File: 65536, SubCores: 4, Granule: 8, // CUDA programming guide, "Technical Specifications per Compute Capability"; occupancy calculator
	Predicates: 7, Uniform: 63, Counters: 6, CounterGap: 2, LongestStall: 15, YieldFrom: 12, Banks: 2, ReuseSlots: 3,
	Need: [Fixed][readers]uint8{
		//       ALU FMA Wide Half DP MMA queue address guard
		ALU:         {4, 5, 5, 5, 6, 7, 4, 5, 13},
		FMA:         {5, 4, 5, 5, 6, 7, 4, 5, 13},
		Wide:        {5, 4, 6, 5, 6, 7, 4, 5, 13},
		Half:        {5, 5, 5, 5, 6, 7, 4, 5, 13},
		Vote:        {6, 6, 6, 6, 6, 7, 4, 5, 13},
		Disp:        {6, 6, 6, 6, 6, 7, 4, 5, 13},
		UniformMove: {2, 2, 2, 2, 2, 2, 2, 2, 12},
	},
	Predicate: [Fixed][readers]uint8{
		ALU:  {4, 5, 5, 5, 13, 13, 13, 13, 13},
		FMA:  {5, 4, 5, 5, 13, 13, 13, 13, 13},
		Wide: {5, 4, 5, 5, 13, 13, 13, 13, 13},
		Half: {5, 5, 5, 7, 13, 13, 13, 13, 13},
		Vote: {13, 13, 13, 13, 13, 13, 13, 13, 13},
	},
	Spacing: [Classes]uint8{ALU: 2, FMA: 1, Wide: 4, Half: 2, Vote: 1, Disp: 1, UniformMove: 2, Matrix: 8, SFU: 8, Double: 1, Special: 1, Constant: 1, Memory: 4, Control: 1},
	After:   [Classes]uint8{ALU: 1, FMA: 1, Wide: 1, Half: 1, Vote: 1, Disp: 1, UniformMove: 2, Matrix: 1, SFU: 1, Double: 1, Special: 1, Constant: 1, Memory: 1, Control: 5},
}
