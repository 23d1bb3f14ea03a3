package ptx

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: cache policies and the stack of a frame.

func init() {
	families["createpolicy"] = decodeCreatePolicy
	families["alloca"] = decodeAlloca
	families["stacksave"] = decodeStackSave
	families["stackrestore"] = decodeStackRestore
}

// Kinds of cache policy, in the low bits of the value that createpolicy makes.
// PTX leaves the encoding open, and only a timing model would use it.
var policyKinds = map[string]int64{"L2::evict_normal": 0, "L2::evict_first": 1, "L2::evict_last": 2, "L2::evict_unchanged": 3}

// decodeCreatePolicy makes a cache policy: the priorities of the primary and the
// secondary accesses. The fraction or range that is primary is dropped.
func decodeCreatePolicy(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) == 0 {
		return errors.New("needs a destination")
	}
	var err error
	if o.d, err = d.dst64(&in.Args[0]); err != nil {
		return err
	}
	rest := in.Args[1:]
	if in.Has("cvt") {
		if len(rest) != 1 {
			return errors.New("takes a destination and a policy")
		}
		o.a, err = d.src64(&rest[0], "b64")
		o.run = mov64
		return err
	}
	for i := range rest {
		switch a := &rest[i]; {
		case a.Kind == ptx.OpAddr:
			_, err = d.memAddress(a, o, spaceOf(in))
		case in.Has("fractional"):
			_, err = d.src32(a, "f32")
		default:
			_, err = d.src32(a, "u32")
		}
		if err != nil {
			return err
		}
	}
	shift := 0
	for _, m := range in.Mods {
		if k, ok := policyKinds[m]; ok {
			o.imm |= k << shift
			shift += 2
		}
	}
	o.a = d.const64(uint64(o.imm))
	o.run = mov64
	return nil
}

// Each lane of a frame has its own stack pointer once it uses alloca, since lanes may
// allocate separately in a divergent program. The frames of called functions begin
// above the highest of them.

// stack returns the stack pointers of the running frame.
func (w *warp) stack() *[32]int {
	fr := w.fr
	if fr.sp == nil {
		fr.sp = new([32]int)
		for i := range fr.sp {
			fr.sp[i] = fr.top
		}
	}
	return fr.sp
}

// retop moves the end of the running frame above every live lane's stack.
func (w *warp) retop() {
	fr := w.fr
	fr.top = fr.base + fr.f.local
	for m := w.live; m != 0; m &= m - 1 {
		fr.top = max(fr.top, fr.sp[bits.TrailingZeros32(m)&31])
	}
	fr.top = alignUp(fr.top, 16)
}

// decodeAlloca allocates bytes on the frame's stack and returns their address in local
// memory.
func decodeAlloca(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(in.Args) < 2 || len(in.Args) > 3 || len(types) != 1 {
		return errors.New("takes a destination, a size and an alignment")
	}
	t := types[0]
	align := 8
	if len(in.Args) == 3 {
		a := &in.Args[2]
		if a.Kind != ptx.OpImm || a.Imm.Bits > isa.MaxLocal || a.Imm.Bits&(a.Imm.Bits-1) != 0 {
			return errors.New("needs an alignment that is a power of two")
		}
		if a.Imm.Bits > 0 { // clang writes 0 for the default
			align = int(a.Imm.Bits)
		}
	}
	wide := t.Bits() == 64
	var err error
	if wide {
		if o.d, err = d.dst64(&in.Args[0]); err == nil {
			o.a, err = d.src64(&in.Args[1], t)
		}
	} else if o.d, err = d.dst32(&in.Args[0]); err == nil {
		o.a, err = d.src32(&in.Args[1], t)
	}
	if err != nil {
		return err
	}
	o.kind = kMem
	d.info.Space = isa.Local
	o.run = func(w *warp, in *inst, m uint32) {
		sp := w.stack()
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			var n uint64
			if wide {
				n = w.u64(in.a)[i&31]
			} else {
				n = uint64(w.u32(in.a)[i&31])
			}
			at := alignUp(sp[i&31], align)
			if n > isa.MaxLocal || at+int(n) > isa.MaxLocal {
				w.failf(1<<i, "stack overflow: alloca of %d bytes with %d in use; a thread has %d in all", n, sp[i&31], isa.MaxLocal)
				return
			}
			w.growLocal(i, at, at+int(n))
			sp[i&31] = at + int(n)
			if wide {
				w.r64[in.d][i&31] = uint64(at)
			} else {
				w.r32[in.d][i&31] = uint32(at)
			}
		}
		w.retop()
	}
	return nil
}

// decodeStackSave reads the stack pointer.
func decodeStackSave(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 1 {
		return errors.New("takes one operand")
	}
	var err error
	wide := in.Types()[0].Bits() == 64
	if wide {
		o.d, err = d.dst64(&in.Args[0])
	} else {
		o.d, err = d.dst32(&in.Args[0])
	}
	o.run = func(w *warp, in *inst, m uint32) {
		sp := w.stack()
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			if wide {
				w.r64[in.d][i] = uint64(sp[i])
			} else {
				w.r32[in.d][i] = uint32(sp[i])
			}
		}
	}
	return err
}

// decodeStackRestore frees what alloca has allocated since the matching stacksave.
func decodeStackRestore(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 1 {
		return errors.New("takes one operand")
	}
	var err error
	t := in.Types()[0]
	wide := t.Bits() == 64
	if wide {
		o.a, err = d.src64(&in.Args[0], t)
	} else {
		o.a, err = d.src32(&in.Args[0], t)
	}
	o.kind = kMem
	o.run = func(w *warp, in *inst, m uint32) {
		sp, low := w.stack(), w.fr.base+w.fr.f.local
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			var v uint64
			if wide {
				v = w.u64(in.a)[i&31]
			} else {
				v = uint64(w.u32(in.a)[i&31])
			}
			if v < uint64(low) || v > uint64(sp[i&31]) {
				w.failf(1<<i, "stackrestore to %#x, which is not from a stacksave of this function: its stack extends from %#x to %#x", v, low, sp[i&31])
				return
			}
			sp[i&31] = int(v)
		}
		w.retop()
	}
	if err != nil {
		return fmt.Errorf("needs a value of stacksave: %w", err)
	}
	return nil
}
