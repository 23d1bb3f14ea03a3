package isa

// This file: what SASS says beyond data flow. Since Volta the compiler, not the hardware,
// ensures that an instruction finds its operands: each instruction carries control bits
// that say how long its warp waits and for what. "MICRO'25" is Huerta et al., "Dissecting
// and Modeling the Architecture of Modern GPU Cores", MICRO 2025.

// Counters is the number of dependence counters of a warp (measured, MICRO'25).
const Counters = 6

// NoCounter means that an instruction uses no dependence counter; it is also the encoding
// in the control bits.
const NoCounter = 7

// Control holds the control bits of an instruction.
type Control struct {
	// Stall is the stall counter, 0 to 15: the minimum number of cycles until the warp's
	// next instruction issues.
	Stall uint8
	// Yield keeps the warp from issuing in the next cycle.
	Yield bool
	// Write and Read are the dependence counters, 0 to 5, that the instruction raises when
	// it issues. It lowers Write when its results have been written, and Read when its
	// sources have been read; NoCounter if none.
	Write, Read uint8
	// Wait has a bit per counter that must be zero before it issues.
	Wait uint8
	// Reuse has bit i set if the i-th general register among the instruction's Srcs stays
	// in the register-file cache.
	Reuse uint8
}

// String formats the control bits, except those of reuse, as SASS text does:
// [B0-2---:R1:W-:Y:S04].
func (c Control) String() string {
	b := []byte("[B------:R-:W-:-:S00]")
	for n := range Counters {
		if c.Wait>>n&1 == 1 {
			b[2+n] = byte('0' + n)
		}
	}
	if c.Read != NoCounter {
		b[10] = '0' + c.Read
	}
	if c.Write != NoCounter {
		b[13] = '0' + c.Write
	}
	if c.Yield {
		b[15] = 'Y'
	}
	b[18], b[19] = '0'+c.Stall/10, '0'+c.Stall%10
	return string(b)
}

// Class is a class of opcodes that share pipeline and latency on cores since
// Turing (MICRO'25 and the configuration of its simulator).
type Class uint8

// The classes, each with opcodes that belong to it.
const (
	ClassNone        Class = iota
	ClassInt               // IADD3, LOP3, SHF, LEA, PRMT, SEL, MOV, IMNMX, CS2R, F2FP, I2FP
	ClassIntSlow           // POPC, FLO, BREV
	ClassFP32              // FADD, FMUL, FFMA, FMNMX, FSEL, FSET
	ClassIMAD              // IMAD and its variants
	ClassHalf              // HADD2, HMUL2, HFMA2, HSET2, HMNMX2
	ClassSetp              // ISETP, FSETP, HSETP2: compare into predicates
	ClassPred              // PLOP3, P2R, R2P: predicates alone
	ClassSFU               // MUFU, F2I, I2F, FRND, F2F, FCHK
	ClassUniform           // the uniform datapath: UIADD3, USHF, R2UR
	ClassUniformMove       // UMOV, ULDC, VOTEU: nothing to compute there
	ClassBranch            // BRA, BSSY, BSYNC, CALL, RET, EXIT, WARPSYNC, BMOV
	ClassMisc              // NOP, VOTE, BAR, DEPBAR, NANOSLEEP: no queue
	ClassMiscQ             // S2UR, REDUX, B2R, ERRBAR: misc with a queue
	ClassMio               // S2R, SHFL, MATCH: through the memory queue
	ClassFP64              // DADD, DMUL, DFMA, DSETP, F2F with doubles
	ClassTensor            // HMMA, IMMA, BMMA
	ClassDMMA              // DMMA
	ClassTexture           // TEX, TLD
	ClassFence             // MEMBAR
	ClassLoad              // LD, LDG, LDL, LDS, LDSM
	ClassStore             // ST, STG, STL, STS
	ClassAtomic            // ATOM, ATOMG, ATOMS, RED
	ClassConstant          // LDC
	ClassCopy              // LDGSTS
	Classes                // number of classes
)

var classNames = [Classes]string{
	"none", "int", "int_slow", "fp32", "imad", "half", "setp", "pred", "sfu", "uniform", "uniform_move", "branch", "misc", "misc_queued",
	"mio", "fp64", "tensor", "dmma", "texture", "fence", "load", "store", "atomic", "constant", "copy",
}

func (c Class) String() string { return classNames[c] }

// Uniform reports whether instructions of the class execute in the uniform datapath.
func (c Class) Uniform() bool { return c == ClassUniform || c == ClassUniformMove }

// Tensor is the shape of a matrix instruction: D = A·B + C with A of M×K and B
// of K×N elements.
type Tensor struct {
	M, N, K uint16
	Elem    uint8 // bits of an element of A and B
	// Bits is the size of an element as in the mnemonic; for floating-point forms, that of
	// the accumulator (F16 or F32).
	Bits   uint8
	Sparse bool
	F32    bool // accumulates in binary32
	// Group says that the four warps of a warp group compute it together (wgmma), FromRegs
	// that A is then in registers.
	Group, FromRegs bool
}

// ConstRef is a place in a constant bank.
type ConstRef struct {
	Bank   uint8
	Offset uint32 // bytes
}

// Depbar is what a DEPBAR.LE waits for: counter SB is at most AtMost, and the
// counters of the mask Zero are zero.
type Depbar struct {
	SB     uint8
	AtMost uint8
	Zero   uint8
}
