// Package machine describes what an architecture demands of code: how long a result takes to reach
// each kind of reader, how far apart instructions of a kind issue, how many counters and registers there
// are. It is the compiler's only source of such numbers. Those that a core model has as parameters are a
// [Contract], which the model's settings fill in: code is made for the machine that runs it.
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
	Matrix                       // HMMA, IMMA, BMMA, QMMA: on hardware fixed, but longer than a stall
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
	Readers                 // the number of those
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
	Banks      int // of the register file: a register is in the bank of its number modulo this
	ReuseSlots int // operands of an instruction that the register-file cache keeps; 0: there is none

	// Need is after how many cycles a reader may issue, by the class that writes a register; Predicate
	// is the same of a predicate.
	Need, Predicate [Fixed][Readers]uint8
	// Spacing is after how many cycles an instruction of the same class may issue.
	Spacing [Classes]uint8
	// After is the same for the next instruction, whatever it is.
	After [Classes]uint8
}

// Contract is what a core leaves to the code that it runs.
type Contract struct {
	Counters int // dependence counters of a warp

	// Cycles from an instruction to one of the same pipe that reads its result.
	Integer, Float, Product, Half, UniformMove int
	Predicate                                  int // to a guard that reads a predicate
	GuardExtra                                 int // how much sooner an operand of the integer pipe may read it
	Reuse                                      bool
}

// Ampere is the contract of sm_80 to sm_89, and of sm_75 as far as its latencies are the same: six counters (MICRO 2025), and the latencies of Mesa's
// compiler for sm_80 (MIT, "provided by NVIDIA"), which agree with the least distances in ptxas's code.
var Ampere = Contract{Counters: 6, Integer: 4, Float: 4, Product: 4, Half: 5, UniformMove: 2, Predicate: 13, GuardExtra: 9, Reuse: true}

// Of returns the description of an architecture whose cores have a contract, nil if there is none.
func Of(sm int, c Contract) *Machine {
	late := &ampereLater
	switch sm {
	case 75:
		late = &turingLater
	case 80, 86, 87, 89:
	default:
		return nil
	}
	m := ampere
	m.SM, m.Counters = sm, c.Counters
	if !c.Reuse {
		m.ReuseSlots = 0
	}
	if sm <= 80 {
		m.Spacing[FMA] = 2 // an FP32 unit of 16 lanes
	}
	latency := [Fixed]int{ALU: c.Integer, FMA: max(c.Float, c.Product), Wide: c.Product, Half: c.Half, Vote: beside, Disp: beside, UniformMove: c.UniformMove}
	for w := range Fixed {
		for r := range Readers {
			n, p := latency[w]+int(late.registers[w][r]), c.Predicate+int(late.guards[w])
			if r == ByGuard {
				n = c.Predicate
			}
			if r < ByDouble && w < Vote {
				p = c.Predicate - c.GuardExtra
				if w != Half {
					p = max(p, latency[w]) // a carry comes with its sum
				}
				p += int(late.predicates[w][r])
			}
			if w != Half {
				p = max(p, latency[w])
			}
			m.Need[w][r], m.Predicate[w][r] = uint8(min(max(1, n), 255)), uint8(min(max(1, p), 255))
		}
	}
	return &m
}

// Newest is the newest architecture with a description that is not newer than a GPU's, given as ten times its
// compute capability; 0 if there is none.
func Newest(sm int) int {
	for ; sm > 0; sm-- {
		if Of(sm, Ampere) != nil {
			return sm
		}
	}
	return 0
}

// beside is the latency of what has no pipe (Mesa).
const beside = 6

// later is how many cycles later than an instruction of the same pipe each kind of reader may issue, by
// the class that writes a register; the same of predicates, and of readers in the pipes; and how many cycles
// later than after a comparison of integers on sm_80 other readers of a predicate may. Where a class joins
// several of Mesa's, the longest counts.
type later struct {
	registers  [Fixed][Readers]int8
	predicates [Vote][ByDouble]int8
	guards     [Fixed]int8
}

// ampereLater is that of sm_80 to sm_89, turingLater that of sm_75, where the contract's latencies are those of
// sm_80. Loads and stores there wait for 8 cycles, as in ptxas's code; so does all that waits in a queue, of which
// Mesa's table has two kinds, with 6 and 8.
var (
	ampereLater = later{
		registers: [Fixed][Readers]int8{
			//       ALU FMA Wide Half DP MMA queue address
			ALU:         {0, 1, 1, 1, 2, 3, 0, 1},
			FMA:         {1, 0, 1, 1, 2, 3, 0, 1},
			Wide:        {1, 0, 2, 1, 2, 3, 0, 1},
			Half:        {0, 0, 0, 0, 1, 2, -1, 0},
			Vote:        {0, 0, 0, 0, 0, 1, -2, -1},
			Disp:        {0, 0, 0, 0, 0, 1, -2, -1},
			UniformMove: {},
		},
		predicates: [Vote][ByDouble]int8{
			ALU:  {0, 1, 1, 1},
			FMA:  {1, 0, 1, 1},
			Wide: {1, 0, 1, 1},
			Half: {1, 1, 1, 3},
		},
	}
	turingLater = later{
		registers: [Fixed][Readers]int8{
			//       ALU FMA Wide Half DP MMA queue address
			ALU:         {0, 1, 1, 2, 2, 4, 4, 4},
			FMA:         {1, 0, 0, 2, 2, 4, 4, 4},
			Wide:        {1, 0, 2, 2, 2, 4, 4, 4},
			Half:        {3, 3, 3, 1, 3, 3, 3, 3},
			Vote:        {0, 0, 0, 0, 0, 2, 2, 2},
			Disp:        {0, 0, 0, 0, 0, 2, 2, 2},
			UniformMove: {},
		},
		predicates: [Vote][ByDouble]int8{
			ALU:  {0, 1, 1, 8},
			FMA:  {1, 0, 1, 8},
			Wide: {1, 0, 1, 8},
			Half: {4, 4, 4, 2},
		},
		guards: [Fixed]int8{ALU: -1, FMA: -1, Wide: -1, Half: 1, Vote: -1, Disp: -1, UniformMove: -1},
	}
)

// ampere is sm_75 to sm_89; spacings are the least distances in ptxas's code for sm_86.
var ampere = Machine{
	Registers: 253, Reserved: 2, // R0 to R252 (Mesa: two are the hardware's)
	File: 65536, SubCores: 4, Granule: 8, // CUDA programming guide, "Technical Specifications per Compute Capability"; occupancy calculator
	Predicates: 7, Uniform: 63, CounterGap: 2, LongestStall: 15, YieldFrom: 12, Banks: 2, ReuseSlots: 3, // banks: MICRO 2025
	Spacing: [Classes]uint8{ALU: 2, FMA: 1, Wide: 4, Half: 2, Vote: 1, Disp: 1, UniformMove: 2, Matrix: 8, SFU: 8, Double: 1, Special: 1, Constant: 1, Memory: 4, Control: 1},
	After:   [Classes]uint8{ALU: 1, FMA: 1, Wide: 1, Half: 1, Vote: 1, Disp: 1, UniformMove: 2, Matrix: 1, SFU: 1, Double: 1, Special: 1, Constant: 1, Memory: 1, Control: 5},
}
