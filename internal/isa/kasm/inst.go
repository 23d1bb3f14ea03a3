package kasm

// Lanes of a warp, registers of a thread that an instruction can name, and
// words of a warp's program memory.
const (
	Lanes        = 32
	Registers    = 64
	Predicates   = 7 // P0 to P6; P7 reads as true
	ProgramWords = 256
)

// Guards that do not test a predicate register.
const (
	Always = 7  // P7: every lane
	Never  = 15 // !P7: no lane
)

// Inst is an unpacked instruction word. The fields hold the raw bits: register fields have
// eight bits, of which the core uses the low six to find a register and all eight to find
// hazards.
type Inst struct {
	Op    Op
	Rd    uint8
	Rs1   uint8
	Rs2   uint8
	Rs3   uint8
	Guard uint8 // bit 3 negates, bits 2 to 0 are the predicate
	Imm   int32 // sign-extended from 20 bits
}

// The immediate's range.
const (
	MinImm = -1 << 19
	MaxImm = 1<<19 - 1
)

// Decode unpacks a word. Every word decodes, and Word returns it again.
func Decode(w uint64) Inst {
	return Inst{
		Op:    Op(w >> 56),
		Rd:    uint8(w >> 48),
		Rs1:   uint8(w >> 40),
		Rs2:   uint8(w >> 32),
		Guard: uint8(w >> 28 & 15),
		Rs3:   uint8(w >> 20),
		Imm:   int32(w<<12) >> 12,
	}
}

// Word returns the instruction's encoding; bits of Guard and Imm beyond their
// fields are dropped.
func (i Inst) Word() uint64 {
	return uint64(i.Op)<<56 | uint64(i.Rd)<<48 | uint64(i.Rs1)<<40 | uint64(i.Rs2)<<32 |
		uint64(i.Guard&15)<<28 | uint64(i.Rs3)<<20 | uint64(uint32(i.Imm)&0xfffff)
}

// Comparison is the comparison of ISETP and FSETP: the low three bits of their immediate.
type Comparison uint8

// The comparisons. The two remaining numbers are never true.
const (
	EQ Comparison = iota
	NE
	LT
	LE
	GT
	GE
)

var comparisons = [...]string{"EQ", "NE", "LT", "LE", "GT", "GE"}
