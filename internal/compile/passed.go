package compile

import (
	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: parameters of calls. They are in registers, a word each.

// passed is a parameter of a call that an address leads to, and the byte in it.
func (b *builder) passed(o *ptx.Operand) (v *ptx.Var, at int64, ok bool) {
	base := &o.List[0]
	if base.Kind != ptx.OpSym || base.Var == nil || base.Var.Space != ptx.SpaceParam {
		return nil, 0, false
	}
	if _, kernel := b.lay.param[base.Var]; kernel {
		return nil, 0, false
	}
	at = int64(base.Imm.Bits) + o.Offset
	if at < 0 || at >= max(1, base.Var.Size()) {
		stop(b.inst.FullName(), "beyond a parameter of a call "+notYet)
	}
	return base.Var, at, true
}

// word is where a word of a parameter is.
func word(v *ptx.Var, n int64) slot { return slot{v: v, index: int(n)} }

// passedWord is a word of a parameter, zero if nothing was stored there.
func (b *builder) passedWord(v *ptx.Var, n int64) ir.Arg { return ir.R(b.read(word(v, n))) }

// loadPassed is ld.param of a parameter of a call.
func (b *builder) loadPassed(v *ptx.Var, at int64, list []*ptx.Operand, t ptx.Type) {
	size := int64(t.Bytes())
	b.aligned(at, size)
	for _, o := range list {
		if size >= 4 {
			for n := range size / 4 {
				if x := b.value(b.passedWord(v, at/4+n)); size == 4 {
					b.assignWide(o, x, t.Signed())
				} else {
					b.assign(o, int(n), x)
				}
			}
		} else {
			x := b.f.NewValue(ir.GPR)
			sel := ir.I(selector(t.Bits(), int(at%4), t.Signed()))
			b.emit("PRMT", ir.D(x), b.passedWord(v, at/4), sel, ir.RZ())
			b.assignWide(o, x, t.Signed())
		}
		at += size
	}
}

// storePassed is st.param.
func (b *builder) storePassed(v *ptx.Var, at int64, list []*ptx.Operand, t ptx.Type) {
	size := int64(t.Bytes())
	b.aligned(at, size)
	for _, o := range list {
		if size >= 4 {
			for n := range size / 4 {
				b.set(word(v, at/4+n), b.value(b.source(o, t, int(n))))
			}
		} else {
			x := b.f.NewValue(ir.GPR)
			sel := uint32(0x3210)
			for n := range size {
				shift := 4 * (at%4 + n)
				sel = sel&^(15<<shift) | uint32(4+n)<<shift
			}
			b.emit("PRMT", ir.D(x), ir.R(b.value(b.passedWord(v, at/4))), ir.I(sel), ir.R(b.value(b.source(o, t, 0))))
			b.set(word(v, at/4), x)
		}
		at += size
	}
}

// aligned refuses an access that is not aligned.
func (b *builder) aligned(at, size int64) {
	if at%min(size, 4) != 0 {
		stop(b.inst.FullName(), "at such a byte of a parameter "+notYet)
	}
}
