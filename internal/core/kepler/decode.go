package kepler

import "github.com/heddle-sim/heddle/internal/isa/kasm"

// unit is the unit in which an operation executes. Control operations share the integer
// pipe's queue.
type unit uint8

const (
	unitALU unit = iota
	unitLSU
	unitFPU
	unitControl
)

// pipe returns the queue for the unit's operations.
func (u unit) pipe() int {
	if u == unitControl {
		return int(unitALU)
	}
	return int(u)
}

// opRule is how the pipeline treats an operation, whatever its operands. The fields are
// independent: each stage of the hardware has its own list of operations, with its own
// omissions.
type opRule struct {
	unit     unit
	collects uint8 // operands that the collector reads: bit 0 rs1, bit 1 rs2, bit 2 rs3
	checks   uint8 // registers that the scoreboard checks: bits as above, bit 3 rd
	free     bool  // is not checked by the scoreboard
	marks    bool  // marks rd in the scoreboard
	writes   bool  // writes its result to rd
	ahead    bool  // its rd holds back the warp's next selection
	pairs    bool  // its rd prevents pairing with an instruction that names it
	setp     bool  // writes a predicate
	selp     bool  // reads a predicate as an operand
	global   bool  // needs a transaction slot
}

// Operand bits of opRule.
const (
	useRs1 = 1 << iota
	useRs2
	useRs3
	useRd
)

// rules holds the rule of every operation.
var rules = func() (r [256]opRule) {
	each := func(f func(*opRule), list ...kasm.Op) {
		for _, op := range list {
			f(&r[op])
		}
	}
	for i := range r {
		r[i] = opRule{collects: useRs1 | useRs2, checks: useRd, writes: true}
	}
	alu := []kasm.Op{
		kasm.ADD, kasm.SUB, kasm.MUL, kasm.IMAD, kasm.NEG, kasm.MOV, kasm.IDIV, kasm.IREM, kasm.IABS, kasm.IMIN, kasm.IMAX,
		kasm.SLT, kasm.SLE, kasm.SEQ, kasm.AND, kasm.OR, kasm.XOR, kasm.NOT, kasm.SHL, kasm.SHR, kasm.SHA,
		kasm.POPC, kasm.CLZ, kasm.BREV, kasm.CNOT, kasm.TID, kasm.ISETP, kasm.FSETP, kasm.SELP,
		kasm.FMIN, kasm.FMAX, kasm.FABS, kasm.FNEG, kasm.ITOF,
	}
	sfu := []kasm.Op{kasm.SIN, kasm.COS, kasm.EX2, kasm.LG2, kasm.RCP, kasm.RSQ, kasm.SQRT, kasm.TANH}
	fpu := append([]kasm.Op{kasm.FADD, kasm.FSUB, kasm.FMUL, kasm.FDIV, kasm.FTOI, kasm.FFMA}, sfu...)
	lsu := []kasm.Op{kasm.LDR, kasm.STR, kasm.LDS, kasm.STS}
	control := []kasm.Op{kasm.BEQ, kasm.BNE, kasm.BRA, kasm.SSY, kasm.JOIN, kasm.BAR, kasm.CALL, kasm.RET, kasm.EXIT}

	each(func(o *opRule) { o.unit = unitFPU }, fpu...)
	each(func(o *opRule) { o.unit = unitLSU }, lsu...)
	each(func(o *opRule) { o.unit = unitControl }, control...)
	each(func(o *opRule) { o.setp = true }, kasm.ISETP, kasm.FSETP)
	each(func(o *opRule) { o.selp = true }, kasm.SELP)
	each(func(o *opRule) { o.global = true }, kasm.LDR, kasm.STR)
	each(func(o *opRule) { o.free = true }, kasm.NOP, kasm.EXIT)
	each(func(o *opRule) { o.writes = false }, kasm.BRA, kasm.BEQ, kasm.BNE, kasm.EXIT, kasm.BAR, kasm.SSY, kasm.JOIN)

	each(func(o *opRule) { o.collects = useRs1 },
		kasm.MOV, kasm.TID, kasm.LDR, kasm.LDS, kasm.FABS, kasm.FNEG, kasm.NEG, kasm.NOT, kasm.ITOF, kasm.FTOI,
		kasm.SIN, kasm.COS, kasm.RCP, kasm.RSQ, kasm.SQRT, kasm.EX2, kasm.LG2, kasm.POPC, kasm.CLZ, kasm.BREV, kasm.CNOT)
	each(func(o *opRule) { o.collects = useRs1 | useRs2 | useRs3 }, kasm.FFMA, kasm.IMAD)
	each(func(o *opRule) { o.collects = 0 }, kasm.NOP, kasm.EXIT, kasm.BRA, kasm.JOIN, kasm.BAR, kasm.SSY)

	each(func(o *opRule) { o.checks |= useRs1 }, alu...)
	each(func(o *opRule) { o.checks |= useRs1 }, lsu...)
	each(func(o *opRule) { o.checks |= useRs1 }, fpu...)
	each(func(o *opRule) { o.checks |= useRs1 }, kasm.BEQ, kasm.BNE)
	each(func(o *opRule) { o.checks &^= useRs1 }, kasm.TANH)
	each(func(o *opRule) { o.checks |= useRs2 },
		kasm.ADD, kasm.SUB, kasm.MUL, kasm.SLT, kasm.STR, kasm.STS, kasm.BEQ, kasm.BNE, kasm.FADD, kasm.FSUB, kasm.FMUL, kasm.FDIV, kasm.FFMA,
		kasm.IDIV, kasm.IREM, kasm.IMIN, kasm.IMAX, kasm.FMIN, kasm.FMAX, kasm.AND, kasm.OR, kasm.XOR, kasm.SHL, kasm.SHR, kasm.SHA,
		kasm.SLE, kasm.SEQ, kasm.ISETP, kasm.FSETP)
	each(func(o *opRule) { o.checks |= useRs3 }, kasm.FFMA, kasm.IMAD)
	each(func(o *opRule) { o.checks &^= useRd }, kasm.STR, kasm.STS, kasm.BEQ, kasm.BNE, kasm.BRA, kasm.BAR)

	each(func(o *opRule) { o.marks = true }, alu...)
	each(func(o *opRule) { o.marks = true }, fpu...)
	each(func(o *opRule) { o.marks = true }, kasm.LDR, kasm.LDS)
	each(func(o *opRule) { o.marks = false }, kasm.SELP, kasm.ISETP, kasm.FSETP)

	each(func(o *opRule) { o.ahead = true }, alu...)
	each(func(o *opRule) { o.ahead = true }, fpu...)
	each(func(o *opRule) { o.ahead = true }, lsu...)
	each(func(o *opRule) { o.ahead = false }, kasm.TANH)

	each(func(o *opRule) { o.pairs = true },
		kasm.ADD, kasm.SUB, kasm.MUL, kasm.IMAD, kasm.SLT, kasm.LDR, kasm.MOV, kasm.TID, kasm.FADD, kasm.FSUB, kasm.FMUL, kasm.FDIV, kasm.FFMA,
		kasm.SIN, kasm.COS, kasm.ITOF, kasm.FTOI, kasm.IDIV, kasm.IREM, kasm.AND, kasm.OR, kasm.XOR, kasm.NOT, kasm.SHL, kasm.SHR, kasm.SHA,
		kasm.ISETP, kasm.FSETP, kasm.LDS)
	return r
}()

// inst is a decoded instruction with the rule of its operation.
type inst struct {
	kasm.Inst
	opRule
	reg   [3]uint8 // rs1, rs2, rs3 as register numbers
	rd    uint8    // rd as a register number
	watch uint64   // registers that must be free in the scoreboard
	named uint64   // registers that any field names
	pred  uint8    // guard's predicate; 7 is none
	sfu   bool     // paired as a separate unit
	full  bool     // hazards are between registers, not raw fields
	known bool     // the machine has the operation
	extra bool     // only the simulated machine has the operation
}

func decode(w uint64, sw *Switches) inst {
	i := inst{Inst: kasm.Decode(w)}
	i.opRule = rules[i.Op]
	i.known = sw.knows(i.Op)
	if i.extra = i.known && i.Op.Extra(); i.extra {
		i.opRule = extraRule(i.Op)
	}
	if sw.NoSideEffects {
		i.writes = i.writes && i.known && !i.setp && i.Op != kasm.NOP && i.Op != kasm.CALL && i.Op != kasm.RET && i.Op != kasm.STS && i.Op != kasm.STR
	}
	if sw.FullScoreboard {
		i.complete()
	}
	i.sfu = sw.SeparateSFU && i.Op >= kasm.SIN && i.Op <= kasm.TANH
	i.reg = [3]uint8{i.Rs1 % kasm.Registers, i.Rs2 % kasm.Registers, i.Rs3 % kasm.Registers}
	i.rd = i.Rd % kasm.Registers
	for k, r := range i.reg {
		if i.checks>>k&1 != 0 {
			i.watch |= 1 << r
		}
	}
	if i.checks&useRd != 0 {
		i.watch |= 1 << i.rd
	}
	i.pred = i.Guard & 7
	i.named = 1<<i.rd | 1<<i.reg[0] | 1<<i.reg[1] | 1<<i.reg[2]
	return i
}

// complete fills the gaps of the scoreboard's lists: every register that is read or
// written is checked, and every one that is written is marked.
func (i *inst) complete() {
	i.full = true
	i.checks = 0
	if i.known && i.Op != kasm.CALL && i.Op != kasm.RET {
		i.checks = i.collects
	}
	if i.Op == kasm.IABS || i.Op == kasm.TANH {
		i.checks = useRs1
	}
	i.marks, i.ahead, i.pairs = i.writes, i.writes, i.writes
	if i.writes {
		i.checks |= useRd
	}
	i.free = i.Op == kasm.NOP || i.Op == kasm.EXIT && i.Guard == kasm.Always
}

// names reports whether the instruction names a raw register field, used or not.
func (i *inst) names(r uint8) bool {
	return r == i.Rs1 || r == i.Rs2 || r == i.Rs3 || r == i.Rd
}

// needsPredPaired is needsPred in the pairing stage, where a guard of !P7 counts.
func (i *inst) needsPredPaired(p uint8) bool {
	return i.Guard != kasm.Always && i.pred == p || i.selp && uint8(i.Imm&7) == p
}

// needsPred reports whether the instruction depends on predicate p as its
// guard or as SELP's operand.
func (i *inst) needsPred(p uint8) bool {
	return i.pred != kasm.Always && i.pred == p || i.selp && uint8(i.Imm&7) == p
}
