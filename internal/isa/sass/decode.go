package sass

import (
	"fmt"
	"math/bits"
)

// A WordError is a word that the tables do not describe.
type WordError struct {
	Arch  Arch
	Words [2]uint64
	Why   string
}

func (e *WordError) Error() string {
	return fmt.Sprintf("%016x %016x is not a supported instruction of %s: %s", e.Words[0], e.Words[1], e.Arch, e.Why)
}

// Decode decodes two words at an address, including the control bits. Its error is a
// *WordError.
func Decode(a Arch, words [2]uint64, addr uint32) (Inst, error) {
	in, err := decodeBody(a, words, addr)
	if err != nil {
		return in, err
	}
	if in.Ctl, err = decodeControl(word128(words)); err != nil {
		return in, &WordError{a, words, err.Error()}
	}
	for i := range in.Operands {
		if in.Operands[i].Reuse && in.Ctl.Yield && controlled(words) {
			return in, &WordError{a, words, "reuse and yield are both set"}
		}
	}
	return in, nil
}

// controlled reports whether a word has any control bits but those of reuse.
func controlled(words [2]uint64) bool { return word128(words).and(controlMask) != word128{} }

// decodeBody reads all but the control bits.
func decodeBody(a Arch, words [2]uint64, addr uint32) (Inst, error) {
	w := word128(words)
	code := opcodeSpan.get(w)
	rows := tableOf(a).byOpcode[code]
	if len(rows) == 0 {
		return Inst{}, &WordError{a, words, fmt.Sprintf("opcode 0x%x is unknown", code)}
	}
	why := ""
	for _, r := range rows {
		in, problem := r.decode(w, addr)
		if problem == "" {
			in.Words, in.Addr = words, addr
			return in, nil
		}
		if why == "" || len(problem) > len(why) {
			why = r.op.String() + ": " + problem
		}
	}
	return Inst{}, &WordError{a, words, why}
}

// named is the instruction that a word with control bits is, by the form whose text listings show: the first
// one that the word fits. That is in, of form r, or one of the forms before r.
func (r *row) named(w word128, in Inst) Inst {
	for _, q := range r.before {
		if first, problem := q.decode(w, in.Addr); problem == "" {
			in = first
			break
		}
	}
	in.Words = w
	return in
}

// decode decodes a word in this form. The second result says why it is not one.
func (r *row) decode(w word128, addr uint32) (Inst, string) {
	if w.and(r.mask) != r.value {
		return Inst{}, "its form differs"
	}
	in := Inst{Op: r.op, Addr: addr}
	in.Guard = Guard{Pred: uint8(guardSpan.get(w)), Not: w.bit(guardNot) == 1, Uniform: r.guard}
	known := r.known
	in.Operands = make([]Operand, 0, len(r.operands)+1)
	for i := range r.mods {
		m := &r.mods[i]
		if m.enum == nil {
			if m.at == nil || m.at.get(w) == 1 {
				in.Mods = appendMods(in.Mods, m.text)
			}
			continue
		}
		names, ok := m.enum.names[m.at.get(w)]
		if !ok {
			return in, fmt.Sprintf("%s has no value %d", m.enum.name, m.at.get(w))
		}
		in.Mods = appendMods(in.Mods, names[0])
	}
	hidden := -1 // optional operands omitted since the last one present
	for i := range r.operands {
		f := &r.operands[i]
		var o Operand
		if problem := f.decode(w, addr, &o); problem != "" {
			return in, problem
		}
		if f.reuse >= 0 {
			known.setBit(f.reuse, 1)
		}
		o.Role, o.Dst, o.Tail = f.role, f.dst, f.tail
		if f.left(&o) {
			if hidden < 0 {
				hidden = i
			}
			continue
		}
		// Of two adjacent optional results the first is present if the second is.
		if hidden >= 0 && f.opt == unlessPT && f.dst && r.operands[hidden].dst {
			var first Operand
			r.operands[hidden].decode(w, addr, &first)
			first.Role, first.Dst = r.operands[hidden].role, true
			in.Operands = append(in.Operands, first)
		}
		hidden = -1
		in.Operands = append(in.Operands, o)
		if f.pair() {
			in.Operands = append(in.Operands, Operand{Kind: FImm, Role: half2(f.role), Bits: w[0] >> 32 & 0xffff, Width: 16, Brain: f.imm == immB2})
		}
		if r.shl && f.kind == fImm && !isShift(uint32(o.Imm)) {
			return in, "the immediate is not a power of two"
		}
	}
	if rest := w.and(known.not()); rest != (word128{}) {
		n := bits.TrailingZeros64(rest[0])
		if rest[0] == 0 {
			n = 64 + bits.TrailingZeros64(rest[1])
		}
		return in, fmt.Sprintf("bit %d belongs to no field", n)
	}
	r.count(&in)
	return in, ""
}

// isShift reports whether a factor is written as a shift: a positive power of two. Disassemblers
// omit 0x10000.
func isShift(v uint32) bool { return bits.OnesCount32(v) == 1 && v != 1<<16 && v != 1<<31 }

// half2 is the role of the second half of a packed immediate.
func half2(r Role) Role {
	if r == C {
		return C2
	}
	return B2
}

// appendMods adds the parts of a modifier, which may contain dots.
func appendMods(mods []string, text string) []string {
	from := 0
	for i := 0; i <= len(text); i++ {
		if i == len(text) || text[i] == '.' {
			if i > from {
				mods = append(mods, text[from:i])
			}
			from = i + 1
		}
	}
	return mods
}

// left reports whether the text omits an operand.
func (f *operandField) left(o *Operand) bool {
	switch f.opt {
	case unlessPT:
		if o.Kind == Imm || o.Kind == Mask {
			return o.Imm == 0
		}
		return o.Reg == PT && !o.Not
	case unlessNot:
		return o.Reg == PT && o.Not
	}
	return false
}

func (f *operandField) flag(w word128, n int) bool { return n >= 0 && w.bit(n) == 1 }

// decode decodes one operand; the result says what is wrong with it.
func (f *operandField) decode(w word128, addr uint32, o *Operand) string {
	v := uint64(0)
	if f.at != nil {
		v = f.at.get(w)
	}
	o.Neg, o.Abs, o.Not = f.flag(w, f.neg), f.flag(w, f.abs), f.flag(w, f.not) || f.flag(w, f.inv)
	o.Reuse = f.flag(w, f.reuse)
	if f.suffix != nil && f.kind != fEnum {
		names, ok := f.suffix.names[f.suffAt.get(w)]
		if !ok {
			return fmt.Sprintf("%s has no value %d", f.suffix.name, f.suffAt.get(w))
		}
		o.Suffix = names[0]
	}
	switch f.kind {
	case fGPR:
		o.Kind, o.Reg = Reg, uint8(v)
		if o.Reuse && o.Reg == RZ {
			return "RZ has its reuse bit set"
		}
	case fUGPR:
		o.Kind, o.Reg = UReg, uniformNumber(v, f.at.width())
	case fDesc:
		o.Kind, o.Reg = Desc, uniformNumber(v, f.at.width())
	case fGDesc:
		o.Kind, o.Reg = GDesc, uniformNumber(v, f.at.width())
	case fPred:
		o.Kind, o.Reg = Pred, uint8(v)
	case fUPred:
		o.Kind, o.Reg = UPred, uint8(v)
	case fPnz:
		o.Kind, o.Reg, o.Not = Pred, uint8(7-v&7), v&8 != 0
	case fUPnz:
		o.Kind, o.Reg, o.Not = UPred, uint8(7-v&7), v&8 != 0
	case fBReg:
		o.Kind, o.Reg = BReg, uint8(v)
		if v > 15 {
			return fmt.Sprintf("B%d does not exist", v)
		}
	case fSB:
		o.Kind, o.Reg = SB, uint8(v)
		if v > 5 {
			return fmt.Sprintf("SB%d does not exist", v)
		}
	case fSReg:
		o.Kind, o.Reg = SReg, uint8(v)
	case fImm:
		o.fromImm(f, v)
	case fConst, fCX, fLDC, fULDC, fLDCU:
		return f.decodeConst(w, v, o)
	case fTarget:
		o.Kind, o.Imm, o.Index, o.Reg = Target, signed(v, f.at.width())*f.scale+int64(addr)+InstBytes, -1, RZ
	case fAbs:
		o.Kind, o.Imm, o.Index, o.Reg = Target, int64(v)*f.scale, -1, RZ
	case fMask:
		o.Kind, o.Imm = Mask, int64(v)
	case fWord:
		o.Kind, o.Suffix = Word, f.word
	case fEnum:
		names, ok := f.suffix.names[f.suffAt.get(w)]
		if !ok {
			return fmt.Sprintf("%s has no value %d", f.suffix.name, f.suffAt.get(w))
		}
		o.Kind, o.Suffix = Word, names[0]
	case fMem:
		return f.decodeMem(w, addr, o)
	}
	return ""
}

// decodeConst decodes a constant, v is what its own field holds.
func (f *operandField) decodeConst(w word128, v uint64, o *Operand) string {
	o.Kind, o.Reg, o.UReg = Const, RZ, URZ
	if f.kind != fCX {
		o.Bank = uint8(constBank.get(w))
	}
	switch f.kind {
	case fConst:
		o.Imm = int64(constWord.get(w)) * 4
	case fCX:
		o.UReg, o.HasU, o.CX, o.Imm = uniformNumber(cxReg.get(w), cxReg.width()), true, true, int64(constWord.get(w))*4
	case fLDC:
		o.Reg, o.Index0 = uint8(ldcReg.get(w)), true
		o.Imm = signed(ldcBytes.get(w), 16)
		if o.Reg == RZ {
			o.Imm &= 0xffff
		}
	case fULDC:
		o.Imm = int64(ldcBytes.get(w))
		if f.at != nil {
			o.UReg, o.HasU = uniformNumber(v, f.at.width()), true
			o.Imm = signed(uint64(o.Imm), 16)
		}
	case fLDCU:
		o.Imm = int64(ldcuBytes.get(w))
		if f.at != nil {
			o.UReg, o.HasU = uniformNumber(v, f.at.width()), true
			o.Imm = signed(uint64(o.Imm), ldcuBytes.width())
		} else if o.Imm == 0 { // written with URZ
			return "an offset of 0 has its own form"
		}
	}
	return ""
}

func (o *Operand) fromImm(f *operandField, v uint64) {
	switch f.imm {
	case immUnsigned:
		o.Kind, o.Imm = Imm, int64(v)
		if f.at.width() == 64 {
			o.Width = 64
		}
	case immSigned:
		o.Kind, o.Imm = Imm, signed(v, f.at.width())
	case immF32:
		o.Kind, o.Bits, o.Width = FImm, v, 32
	case immF16:
		o.Kind, o.Bits, o.Width = FImm, v, 16
	case immF64:
		o.Kind, o.Bits, o.Width = FImm, v<<32, 64
	case immH2, immB2:
		o.Kind, o.Bits, o.Width, o.Brain = FImm, v>>16, 16, f.imm == immB2
	}
	if o.Kind == Imm {
		o.Imm *= f.scale
	}
}

// eBit is the .E of memory instructions: addresses of 64 bits.
const eBit = 72

// uniformNumber is the uniform register in a field of n bits.
func uniformNumber(v uint64, n int) uint8 {
	if n == 6 && v == URZ6 {
		return URZ
	}
	return uint8(v)
}

// uniformBits is the inverse of uniformNumber. It fails if the field is too narrow.
func uniformBits(reg uint8, n int) (uint64, error) {
	switch {
	case n > 6:
		return uint64(reg), nil
	case reg == URZ:
		return URZ6, nil
	case reg >= URZ6:
		return 0, fmt.Errorf("UR%d does not exist; the highest is UR%d", reg, URZ6-1)
	}
	return uint64(reg), nil
}

func (f *operandField) decodeMem(w word128, addr uint32, o *Operand) string {
	o.Kind, o.Reg, o.UReg = Mem, RZ, URZ
	if f.base != nil {
		var b Operand
		if problem := f.base.decode(w, addr, &b); problem != "" {
			return problem
		}
		o.Reg, o.Suffix = b.Reg, b.Suffix
	}
	if f.ureg != nil {
		var u Operand
		if problem := f.ureg.decode(w, addr, &u); problem != "" {
			return problem
		}
		o.UReg, o.HasU = u.Reg, u.Reg != URZ || f.keepURZ
	}
	if f.desc != nil {
		var d Operand
		f.desc.decode(w, addr, &d)
		if f.desc.next {
			if d.Reg++; d.Reg == 0 || d.Reg >= URZ6 {
				return "no register is left for the descriptor"
			}
		}
		o.Desc, o.HasD, o.Hidden = d.Reg, true, f.descOld
	}
	if f.offset != nil {
		var i Operand
		f.offset.decode(w, addr, &i)
		o.Imm = i.Imm
	}
	if o.Reg == RZ && f.base != nil {
		if f.keepURZ && f.wide {
			return "an address without a register has its own form"
		}
		if f.wide && f.ureg != nil && !o.HasU {
			return "an address without any register has its own form"
		}
		if f.wide && f.desc == nil {
			switch {
			case f.base.suffAt.get(w) == w.bit(eBit):
				o.Suffix = ""
			case !f.zeroShown:
				return "an address without a register must have the width of .E"
			}
		}
		if !o.HasU && f.ureg == nil && f.desc == nil && f.offset != nil {
			o.Imm &= 1<<f.offset.at.width() - 1 // an absolute address is not negative
		}
	}
	return ""
}
