package sass

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// trait is what models need to know about an opcode.
type trait struct {
	class isa.Class
	unit  isa.Unit
	kind  isa.Kind
	data  isa.Data
}

// traits groups the opcodes by class. An opcode's pipe, and whether its latency is fixed,
// come from the sm_75 forms. A result of fixed latency must not be in a class that lowers a
// dependence counter, because compilers raise none for it. F2FP, I2FP and the packing
// conversions are therefore with the integers and not with the other conversions.
var traits = func() (t [Ops]trait) {
	add := func(class isa.Class, unit isa.Unit, ops ...Op) {
		for _, op := range ops {
			t[op] = trait{class: class, unit: unit}
		}
	}
	add(isa.ClassInt, isa.UnitALU, OpIADD3, OpLOP3, OpSHF, OpLEA, OpPRMT, OpSEL, OpMOV, OpIMNMX, OpIABS, OpVABSDIFF, OpVABSDIFF4,
		OpBMSK, OpSGXT, OpCS2R, OpI2I, OpI2IP, OpF2FP, OpF2IP, OpI2FP, OpP2R, OpIADD, OpVIADD, OpVIMNMX, OpVIADDMNMX, OpRPCMOV)
	add(isa.ClassIntSlow, isa.UnitALU, OpPOPC, OpFLO, OpBREV)
	add(isa.ClassFP32, isa.UnitFP32, OpFADD, OpFMUL, OpFFMA, OpFMNMX, OpFMNMX3, OpFSEL, OpFSET, OpFSWZADD)
	add(isa.ClassIMAD, isa.UnitFP32, OpIMAD, OpIDP)
	add(isa.ClassHalf, isa.UnitFP16, OpHADD2, OpHMUL2, OpHFMA2, OpHSET2, OpHMNMX2)
	add(isa.ClassSetp, isa.UnitALU, OpISETP, OpFSETP, OpHSETP2)
	add(isa.ClassPred, isa.UnitALU, OpPLOP3, OpR2P)
	add(isa.ClassSFU, isa.UnitSFU, OpMUFU, OpF2I, OpI2F, OpFRND, OpF2F, OpFCHK)
	add(isa.ClassUniform, isa.UnitALU, OpUIADD3, OpUIMAD, OpULEA, OpULOP3, OpUSHF, OpUPRMT, OpUSGXT, OpUBMSK, OpUISETP, OpUSEL, OpUFLO,
		OpUBREV, OpUPOPC, OpUP2UR, OpUPLOP3, OpR2UR, OpUIMNMX, OpUVIMNMX, OpUFADD, OpUFMUL, OpUFFMA, OpUFSEL, OpUFSETP,
		OpUI2F, OpUI2FP, OpUF2F, OpUF2I, OpUFRND, OpCS2UR)
	add(isa.ClassUniformMove, isa.UnitALU, OpUMOV, OpULDC, OpVOTEU)
	add(isa.ClassBranch, isa.UnitBranch, OpBRA, OpBRX, OpBRXU, OpJMP, OpJMX, OpCALL, OpRET, OpEXIT, OpKILL, OpBSSY, OpBSYNC, OpBREAK,
		OpWARPSYNC, OpENDCOLLECTIVE, OpYIELD, OpBMOV, OpBPT)
	add(isa.ClassMisc, isa.UnitNone, OpNOP, OpVOTE, OpDEPBAR, OpLDGDEPBAR, OpARRIVES, OpNANOSLEEP, OpLEPC, OpBAR, OpELECT, OpPREEXIT,
		OpACQBULK, OpWARPGROUP, OpUCGABAR_ARV, OpUCGABAR_WAIT, OpUSETMAXREG, OpUSETSHMSZ)
	// NVIDIA's compiler waits for a counter after REDUX and B2R, as after S2UR.
	add(isa.ClassMiscQ, isa.UnitNone, OpS2UR, OpREDUX, OpB2R, OpERRBAR, OpCGAERRBAR, OpLDCU)
	add(isa.ClassMio, isa.UnitLSU, OpS2R, OpSHFL, OpMATCH, OpQSPC, OpCCTL, OpMOVM, OpSYNCS, OpSTAS, OpREDAS,
		OpUBLKCP, OpUBLKRED, OpUBLKPF, OpUTMALDG, OpUTMASTG, OpUTMAREDG, OpUTMAPF, OpUTMACCTL, OpUTMACMDFLUSH)
	add(isa.ClassFP64, isa.UnitFP64, OpDADD, OpDMUL, OpDFMA, OpDSETP)
	add(isa.ClassTensor, isa.UnitTensor, OpHMMA, OpIMMA, OpBMMA, OpQMMA, OpOMMA, OpHGMMA, OpQGMMA, OpIGMMA, OpBGMMA)
	add(isa.ClassDMMA, isa.UnitTensor, OpDMMA)
	add(isa.ClassTexture, isa.UnitTex, OpTEX, OpTLD, OpTLD4, OpTXD, OpTXQ, OpSULD, OpSUST)
	add(isa.ClassFence, isa.UnitBar, OpMEMBAR, OpFENCE)
	add(isa.ClassLoad, isa.UnitLSU, OpLD, OpLDG, OpLDL, OpLDS, OpLDSM)
	add(isa.ClassStore, isa.UnitLSU, OpST, OpSTG, OpSTL, OpSTS, OpSTSM)
	add(isa.ClassAtomic, isa.UnitLSU, OpATOM, OpATOMG, OpATOMS, OpRED, OpREDG)
	add(isa.ClassConstant, isa.UnitLSU, OpLDC)
	add(isa.ClassCopy, isa.UnitLSU, OpLDGSTS)

	for _, op := range []Op{OpVOTE, OpREDUX, OpB2R, OpELECT} {
		t[op].unit = isa.UnitALU
	}
	t[OpBAR].unit = isa.UnitBar
	t[OpS2R].unit = isa.UnitALU
	kinds := map[isa.Kind][]Op{
		isa.KindAdd: {OpIADD, OpIADD3, OpVIADD, OpUIADD3, OpFADD, OpUFADD, OpDADD, OpHADD2},
		isa.KindMax: {OpIMNMX, OpVIMNMX, OpUIMNMX, OpUVIMNMX, OpFMNMX, OpFMNMX3, OpHMNMX2},
		isa.KindMul: {OpFMUL, OpUFMUL, OpDMUL, OpHMUL2},
		isa.KindMad: {OpFFMA, OpUFFMA, OpIMAD, OpUIMAD, OpDFMA, OpHFMA2, OpIDP},
	}
	for kind, ops := range kinds {
		for _, op := range ops {
			t[op].kind = kind
		}
	}
	t[OpSHFL].kind, t[OpMEMBAR].kind = isa.KindShfl, isa.KindFence
	data := map[isa.Data][]Op{
		isa.DataFloat:  {OpFADD, OpFMUL, OpFFMA, OpFMNMX, OpFMNMX3, OpFSEL, OpFSET, OpFSETP, OpFSWZADD, OpFCHK, OpMUFU},
		isa.DataDouble: {OpDADD, OpDMUL, OpDFMA, OpDSETP, OpDMMA},
		isa.DataHalf:   {OpHADD2, OpHMUL2, OpHFMA2, OpHSET2, OpHSETP2, OpHMNMX2, OpHMMA},
	}
	for d, ops := range data {
		for _, op := range ops {
			t[op].data = d
		}
	}
	return t
}()

var spaces = map[Op]isa.Space{
	OpLDG: isa.Global, OpSTG: isa.Global, OpATOMG: isa.Global, OpRED: isa.Global, OpREDG: isa.Global, OpLDGSTS: isa.Global,
	OpLD: isa.Generic, OpST: isa.Generic, OpATOM: isa.Generic,
	OpLDS: isa.Shared, OpSTS: isa.Shared, OpATOMS: isa.Shared, OpLDSM: isa.Shared, OpSTSM: isa.Shared,
	OpLDL: isa.Local, OpSTL: isa.Local, OpLDC: isa.Const,
	OpTEX: isa.Texture, OpTLD: isa.Texture, OpTLD4: isa.Texture, OpTXD: isa.Texture, OpSULD: isa.Surface, OpSUST: isa.Surface,
}

// Infos describes the kernel's instructions in the types that all models share.
func (k *Kernel) Infos() []isa.Inst {
	list := make([]isa.Inst, len(k.Code))
	for i := range k.Code {
		k.Code[i].info(&list[i], int32(i))
		if k.Control {
			c := k.Code[i].Ctl
			c.Reuse = k.Code[i].reuseMask()
			list[i].Control = &c
		}
	}
	return list
}

func (in *Inst) info(o *isa.Inst, pc int32) {
	t := &traits[in.Op]
	o.PC, o.Pos, o.Class, o.Unit, o.Kind, o.Data = pc, in.Pos, t.class, t.unit, t.kind, t.data
	o.Op = in.Op.String()
	if len(in.Mods) > 0 {
		o.Op += "." + strings.Join(in.Mods, ".")
	}
	if in.Op == OpF2F && in.Has("F64") { // doubles use the shared unit
		o.Class, o.Unit, o.Data = isa.ClassFP64, isa.UnitFP64, isa.DataDouble
	}
	in.flow(o)
	for i := range in.Operands {
		in.operand(o, &in.Operands[i])
	}
	in.choice(o)
	if p := in.Find(Pu); p != nil && in.Op == OpR2UR && in.Has("OR") && p.Reg != PT { // it adds to the predicate
		o.Srcs = append(o.Srcs, register(isa.RegPred, p.Reg, 1))
	}
	if in.Guard.Pred != PT {
		file := isa.RegPred
		if in.Guard.Uniform {
			file = isa.RegUPred
		}
		o.Srcs = append(o.Srcs, register(file, in.Guard.Pred, 1))
	}
	in.memory(o)
	switch in.Op {
	case OpHMMA, OpIMMA, OpBMMA, OpDMMA, OpQMMA, OpOMMA:
		m, n, kk := in.Shape()
		ab, acc := in.elementBits()
		o.Tensor = &isa.Tensor{M: uint16(m), N: uint16(n), K: uint16(kk), Elem: uint8(ab), Bits: uint8(ab), Sparse: in.Has("SP"), F32: in.Has("F32")}
		if in.Op == OpHMMA {
			o.Tensor.Bits = uint8(acc)
		}
	case OpBAR:
		o.Barrier = !in.Has("ARV")
		if p := in.Find(A); p != nil && p.Kind == Imm {
			o.Named = uint8(p.Imm) + 1
		}
	case OpMEMBAR:
		o.Order, o.Scope = isa.AcqRel, in.scope()
		if in.Has("SC") {
			o.Order = isa.SeqCst
		}
	case OpCCTL:
		if in.Has("IVALL") { // what was loaded before is loaded again: the acquiring half of a fence
			o.Order, o.Scope = isa.Acquire, isa.ScopeSystem
		}
	case OpLDGSTS:
		o.Async = isa.Async{Does: isa.AsyncStart, Done: isa.ByGroup}
	case OpLDGDEPBAR:
		o.Async = isa.Async{Does: isa.AsyncCommit, Done: isa.ByGroup}
	case OpDEPBAR:
		o.Depbar = &isa.Depbar{SB: isa.NoCounter}
		for i := range in.Operands {
			switch p := &in.Operands[i]; p.Kind {
			case SB:
				o.Depbar.SB = p.Reg
			case Imm:
				o.Depbar.AtMost = uint8(p.Imm)
			case Mask:
				o.Depbar.Zero = uint8(p.Imm)
			}
		}
	case OpS2R, OpS2UR, OpCS2R, OpCS2UR:
		if p := in.Find(A); p != nil {
			o.Clock = p.Reg == SRClock || p.Reg >= SRClockLo && p.Reg <= SRTimerHi
			o.Time = o.Clock
		}
	}
}

// The numbers of the clocks among the special registers: cycles, and nanoseconds.
const (
	SRClock   = 1 // the lower half of the cycles
	SRClockLo = 80
	SRClockHi = 81
	SRTimerLo = 82
	SRTimerHi = 83
)

// flow determines where control goes.
func (in *Inst) flow(o *isa.Inst) {
	o.Guarded = !in.Guard.Always()
	switch in.Op {
	case OpBRA, OpJMP:
		o.Flow = isa.FlowBranch
	case OpBRX, OpBRXU, OpJMX:
		o.Flow = isa.FlowIndirect
	case OpCALL:
		o.Flow = isa.FlowCall
	case OpRET:
		o.Flow = isa.FlowReturn
	case OpEXIT, OpKILL:
		o.Flow = isa.FlowExit
	default:
		return
	}
	// A branch has its own predicate besides the guard, and its conditions (.DIV, .CONV)
	// decide too.
	if in.Find(Pp) != nil || in.Op == OpBRA && (in.Has("DIV") || in.Has("CONV") || in.Find(Extra) != nil) {
		o.Guarded = true
	}
	if t := in.Find(Dest); t != nil && t.Kind == Target && t.Index >= 0 {
		o.Targets = []int32{t.Index}
	}
}

func register(file isa.RegFile, n, count uint8) isa.Reg {
	return isa.Reg{File: file, Count: count, Number: uint16(n) + 1, Index: uint32(n)}
}

// operand adds what an operand reads or writes. RZ and PT are not registers and are not
// listed.
func (in *Inst) operand(o *isa.Inst, p *Operand) {
	add := func(file isa.RegFile, n, none, count uint8) {
		if n == none || count == 0 {
			return
		}
		r := register(file, n, count)
		if p.Dst {
			o.Dsts = append(o.Dsts, r)
		} else {
			if p.Kind == Mem || p.Kind == Const && p.Role == Addr {
				o.Bases |= 1 << len(o.Srcs)
			}
			o.Srcs = append(o.Srcs, r)
		}
	}
	switch p.Kind {
	case Reg:
		add(isa.RegGPR, p.Reg, RZ, p.Count)
	case UReg, Desc, GDesc:
		add(isa.RegUGPR, p.Reg, URZ, p.Count)
	case Pred:
		add(isa.RegPred, p.Reg, PT, 1)
	case UPred:
		add(isa.RegUPred, p.Reg, PT, 1)
	case Mem:
		add(isa.RegGPR, p.Reg, RZ, p.Count)
		if p.HasU {
			add(isa.RegUGPR, p.UReg, URZ, max(p.UCount, 1))
		}
		if p.HasD {
			add(isa.RegUGPR, p.Desc, URZ, 2)
		}
		o.Uniform = o.Uniform || p.Reg == RZ && p.HasU
	case Const:
		if p.Role == Addr {
			add(isa.RegGPR, p.Reg, RZ, p.Count)
			if p.HasU {
				add(isa.RegUGPR, p.UReg, URZ, 1)
			}
			if in.Op == OpULDC && !p.HasU || in.Op == OpLDCU && p.UReg == URZ {
				o.Const = &isa.ConstRef{Bank: p.Bank, Offset: uint32(p.Imm)}
			}
			return
		}
		if p.CX {
			add(isa.RegUGPR, p.UReg, URZ, 2)
			return
		}
		o.Const = &isa.ConstRef{Bank: p.Bank, Offset: uint32(p.Imm)}
	case Word:
		in.predicates(o, p)
	}
}

// choice says of an instruction that selects one of two registers which of them each value of the
// predicate takes. Those with a guard or with an operand that is no register are left out.
func (in *Inst) choice(o *isa.Inst) {
	p := in.Find(Pp)
	if in.Op != OpSEL && in.Op != OpFSEL || p == nil || len(o.Srcs) != 3 || o.Guarded {
		return
	}
	if o.Then, o.Else = 1, 2; p.Not {
		o.Then, o.Else = 2, 1
	}
}

// predicates lists the predicates of the mask, which P2R and UP2UR read and R2P writes.
func (in *Inst) predicates(o *isa.Inst, p *Operand) {
	file := isa.RegPred
	switch p.Suffix {
	case "PR":
	case "UPR":
		file = isa.RegUPred
	default:
		return
	}
	mask := int64(0x7f)
	if m := in.Find(B); m != nil && m.Kind == Imm {
		mask = m.Imm
	}
	for n := range uint8(PT) {
		if mask>>n&1 == 0 {
			continue
		}
		if r := register(file, n, 1); in.Op == OpR2P {
			o.Dsts = append(o.Dsts, r)
		} else {
			o.Srcs = append(o.Srcs, r)
		}
	}
}

// memory describes the access.
func (in *Inst) memory(o *isa.Inst) {
	space, ok := spaces[in.Op]
	o.Private = private(in.Op, space)
	if !ok {
		return
	}
	o.Space = space
	switch o.Class {
	case isa.ClassLoad, isa.ClassConstant:
		o.Load = true
	case isa.ClassStore:
		o.Store = true
	case isa.ClassAtomic:
		o.Atomic, o.Store, o.Load = true, true, in.Op != OpRED && in.Op != OpREDG
	case isa.ClassCopy:
		o.Load = true
	case isa.ClassTexture:
		o.Load, o.Store = in.Op != OpSUST, in.Op == OpSUST
		o.Width = 16 // of a texel; at most
		if space == isa.Surface && in.Has("D") {
			o.Width = uint8(in.Bytes())
		}
		o.Elem = o.Width
		return
	}
	o.Width = uint8(in.Bytes())
	o.Elem = o.Width
	if in.Op == OpLDSM || in.Op == OpSTSM {
		o.Elem = 4
	}
	for _, m := range in.Mods {
		switch m {
		case "BYPASS":
			o.Cache = isa.CacheCG
		case "EF":
			o.Cache = isa.CacheCS
		case "LU":
			o.Cache = isa.CacheLU
		case "CONSTANT":
			o.Cache = isa.CacheNC
		}
	}
	in.order(o)
	// Strong accesses beyond the SM go to the L2.
	if in.Has("STRONG") && (in.Has("GPU") || in.Has("SYS")) || in.Has("MMIO") {
		o.Cache = isa.CacheCG
	}
}

// scope is the scope among the modifiers, that of the GPU if there is none: what is in an SM is the
// block's alone, as far as a program can know.
func (in *Inst) scope() isa.Scope {
	for _, m := range in.Mods {
		switch m {
		case "CTA", "SM":
			return isa.ScopeCTA
		case "SYS", "VC":
			return isa.ScopeSystem
		}
	}
	return isa.ScopeGPU
}

// order says what a load, a store or an atomic operation means for the order of others: strong
// accesses are relaxed, since what makes them acquire or release are instructions of their own (MEMBAR
// before, CCTL.IVALL after). Within a block no instruction is needed after a read, so that such a read
// may be meant to acquire.
func (in *Inst) order(o *isa.Inst) {
	switch {
	case o.Atomic && o.Space == isa.Shared:
		o.Order, o.Scope = isa.Acquire, isa.ScopeCTA
	case o.Atomic, in.Has("STRONG"):
		o.Order, o.Scope = isa.Relaxed, in.scope()
		if o.Scope == isa.ScopeCTA && o.Load {
			o.Order = isa.Acquire
		}
	case in.Has("MMIO"):
		o.Order, o.Scope = isa.Relaxed, isa.ScopeSystem
	}
}

// private reports whether an instruction neither affects nor depends on other blocks.
func private(op Op, s isa.Space) bool {
	switch s {
	case isa.Global, isa.Generic, isa.Surface, isa.Texture:
		return false
	}
	switch op {
	case OpMEMBAR, OpERRBAR, OpCCTL, OpNANOSLEEP:
		return false
	}
	return true
}

// Bytes is the number of bytes that a lane moves, 4 if the instruction does not say.
func (in *Inst) Bytes() int {
	if in.Op == OpLDSM || in.Op == OpSTSM {
		return 4 * in.registers("n", Rd)
	}
	for _, m := range in.Mods {
		switch m {
		case "U8", "S8":
			return 1
		case "U16", "S16":
			return 2
		case "64", "S64", "U64", "F64":
			return 8
		case "128":
			return 16
		case "256":
			return 32
		}
	}
	return 4
}

// reuseMask has bit i set if the i-th general register among the sources stays in the
// register-file cache.
func (in *Inst) reuseMask() uint8 {
	mask, n := uint8(0), 0
	for i := range in.Operands {
		p := &in.Operands[i]
		if p.Dst || p.Reg == RZ || p.Kind != Reg && p.Kind != Mem && p.Kind != Const {
			continue
		}
		if p.Reuse {
			mask |= 1 << n
		}
		n++
	}
	return mask
}
