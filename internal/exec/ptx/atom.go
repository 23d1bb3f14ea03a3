package ptx

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: atom and red. The lanes of a warp execute in lane order, one whole
// operation each. Blocks that use them on global memory run in turn (image.ordered),
// so that every run gives the same results.

func init() {
	families["atom"] = decodeAtom
	families["red"] = decodeAtom
}

// rmw is the function that an atomic operation applies to the old value in memory.
type rmw uint8

const (
	rmwAnd rmw = iota
	rmwOr
	rmwXor
	rmwExch
	rmwCAS
	rmwAdd // integers of every width
	rmwInc
	rmwDec
	rmwMinU
	rmwMaxU
	rmwMinS32
	rmwMaxS32
	rmwMinS64
	rmwMaxS64
	rmwAddF32
	rmwAddF32Flush // subnormal operands and results become zero
	rmwAddF64
	rmwAddF16
	rmwMinF16
	rmwMaxF16
	rmwAddBF16
	rmwMinBF16
	rmwMaxBF16
	rmwAddF16x2
	rmwMinF16x2
	rmwMaxF16x2
	rmwAddBF16x2
	rmwMinBF16x2
	rmwMaxBF16x2
)

// rmwOf returns the operation of a name and a type; false if there is none.
func rmwOf(name string, t ptx.Type) (rmw, bool) {
	switch name {
	case "and":
		return rmwAnd, !t.Float()
	case "or":
		return rmwOr, !t.Float()
	case "xor":
		return rmwXor, !t.Float()
	case "exch":
		return rmwExch, true
	case "cas":
		return rmwCAS, true
	case "inc":
		return rmwInc, t.Bits() == 32 && !t.Float()
	case "dec":
		return rmwDec, t.Bits() == 32 && !t.Float()
	}
	op := -1 // add, min, max
	for i, n := range []string{"add", "min", "max"} {
		if n == name {
			op = i
		}
	}
	if op < 0 {
		return 0, false
	}
	var three [3]rmw
	switch t {
	case "f32":
		three = [3]rmw{rmwAddF32}
	case "f64":
		three = [3]rmw{rmwAddF64}
	case "f16":
		three = [3]rmw{rmwAddF16, rmwMinF16, rmwMaxF16}
	case "bf16":
		three = [3]rmw{rmwAddBF16, rmwMinBF16, rmwMaxBF16}
	case "f16x2":
		three = [3]rmw{rmwAddF16x2, rmwMinF16x2, rmwMaxF16x2}
	case "bf16x2":
		three = [3]rmw{rmwAddBF16x2, rmwMinBF16x2, rmwMaxBF16x2}
	case "s32":
		three = [3]rmw{rmwAdd, rmwMinS32, rmwMaxS32}
	case "s64":
		three = [3]rmw{rmwAdd, rmwMinS64, rmwMaxS64}
	case "u32", "u64", "b32", "b64":
		three = [3]rmw{rmwAdd, rmwMinU, rmwMaxU}
	}
	return three[op], three[op] != 0
}

// apply returns the new value for an old one. c is the value that cas stores if old
// equals b. The caller truncates the result to the operation's width.
func (o rmw) apply(old, b, c uint64) uint64 {
	switch o {
	case rmwAnd:
		return old & b
	case rmwOr:
		return old | b
	case rmwXor:
		return old ^ b
	case rmwExch:
		return b
	case rmwCAS:
		if old == b {
			return c
		}
		return old
	case rmwAdd:
		return old + b
	case rmwInc:
		if old >= b {
			return 0
		}
		return old + 1
	case rmwDec:
		if old == 0 || old > b {
			return b
		}
		return old - 1
	case rmwMinU:
		return min(old, b)
	case rmwMaxU:
		return max(old, b)
	case rmwMinS32:
		return uint64(uint32(min(int32(old), int32(b))))
	case rmwMaxS32:
		return uint64(uint32(max(int32(old), int32(b))))
	case rmwMinS64:
		return uint64(min(int64(old), int64(b)))
	case rmwMaxS64:
		return uint64(max(int64(old), int64(b)))
	case rmwAddF32:
		return uint64(addF32(uint32(old), uint32(b)))
	case rmwAddF32Flush:
		return uint64(num.FTZF32(addF32(num.FTZF32(uint32(old)), num.FTZF32(uint32(b)))))
	case rmwAddF64:
		return math.Float64bits(num.Add64(math.Float64frombits(old), math.Float64frombits(b)))
	case rmwAddF16:
		return uint64(num.AddF16(uint16(old), uint16(b)))
	case rmwMinF16:
		return uint64(num.MinF16(uint16(old), uint16(b), 0))
	case rmwMaxF16:
		return uint64(num.MaxF16(uint16(old), uint16(b), 0))
	case rmwAddBF16:
		return uint64(num.AddBF16(uint16(old), uint16(b)))
	case rmwMinBF16:
		return uint64(num.MinBF16(uint16(old), uint16(b), 0))
	case rmwMaxBF16:
		return uint64(num.MaxBF16(uint16(old), uint16(b), 0))
	}
	// The packed types: the same operation on each half.
	var h rmw
	switch o {
	case rmwAddF16x2:
		h = rmwAddF16
	case rmwMinF16x2:
		h = rmwMinF16
	case rmwMaxF16x2:
		h = rmwMaxF16
	case rmwAddBF16x2:
		h = rmwAddBF16
	case rmwMinBF16x2:
		h = rmwMinBF16
	case rmwMaxBF16x2:
		h = rmwMaxBF16
	default:
		return old
	}
	return h.apply(old&0xffff, b&0xffff, 0)&0xffff | h.apply(old>>16&0xffff, b>>16&0xffff, 0)&0xffff<<16
}

func addF32(a, b uint32) uint32 {
	return math.Float32bits(num.Add32(math.Float32frombits(a), math.Float32frombits(b)))
}

// atomicOp is a decoded atom or red, kept in extra.any.
type atomicOp struct {
	op    rmw
	flush bool // on global memory the operation is rmwAddF32Flush
	size  int  // bytes per element
	total int
	dst   *memOp // nil for red, and if the result is discarded
	b     *memOp
	c     *memOp // cas only
	mbar  *inst  // red.async: address of the mbarrier; nil otherwise
}

var rmwNames = []string{"and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max"}

// rmwName finds the operation among an instruction's modifiers.
func rmwName(in *ptx.Inst) string {
	for _, m := range in.Mods {
		for _, n := range rmwNames {
			if m == n {
				return n
			}
		}
	}
	return ""
}

// decodeAtom decodes atom, red and red.async (on the block's own shared memory).
func decodeAtom(d *dec, in *ptx.Inst, o *inst) error {
	name, types := rmwName(in), in.Types()
	if name == "" || len(types) != 1 {
		return errors.New("needs an operation and one type")
	}
	t := types[0]
	op, ok := rmwOf(name, t)
	if !ok {
		return errUnsupported
	}
	a := &atomicOp{op: op, flush: op == rmwAddF32}
	args := in.Args
	want := 2
	if in.Op == "atom" {
		want++
	}
	if op == rmwCAS {
		want++
	}
	if len(args) < want {
		return fmt.Errorf("needs at least %d operands", want)
	}
	var err error
	if in.Op == "atom" {
		if args[0].Kind != ptx.OpSink {
			if a.dst, err = d.memElems(in, &args[0], true); err != nil {
				return err
			}
		}
		args = args[1:]
	}
	space, err := d.memAddress(&args[0], o, spaceOf(in))
	if err != nil {
		return err
	}
	if space != isa.Global && space != isa.Shared && space != isa.Generic {
		return fmt.Errorf("needs global or shared memory, not .%s", space)
	}
	if a.b, err = d.memElems(in, &args[1], false); err != nil {
		return err
	}
	args = args[2:]
	if op == rmwCAS {
		if a.c, err = d.memElems(in, &args[0], false); err != nil {
			return err
		}
		args = args[1:]
	}
	if in.Op == "red" && in.Has("async") && in.Has("mbarrier::complete_tx::bytes") {
		if len(args) == 0 {
			return errors.New("needs the address of an mbarrier")
		}
		if space == isa.Generic {
			space = isa.Shared
		}
		if a.mbar, err = d.address2(&args[0], isa.Shared); err != nil {
			return err
		}
	} else if err := d.policy(in, args); err != nil {
		return err
	}
	a.size, a.total = a.b.size, a.b.total
	o.kind, o.x, o.mode, o.size = kMem, &extra{any: a}, uint8(space), uint8(a.total)
	d.describe(space, a.total, true, true)
	d.info.Atomic = true
	if space != isa.Shared {
		// In every scope: the bytes are updated in place, which a block's
		// private copy of memory does not offer.
		d.im.ordered = true
	}
	acquire := in.Has("acquire") || in.Has("acq_rel")
	if a.dst != nil || acquire {
		o.flags |= fSpin
	}
	if space != isa.Shared && (op == rmwCAS || op == rmwExch || acquire || polls(in, op)) {
		d.im.spins = true
	}
	o.run = atomAny
	if t.Bits() == 32 && !a.vector() && a.mbar == nil && a.b.elems[0].class == c32 && (a.dst == nil || a.dst.elems[0].class == c32) {
		a.on32(o, space)
	}
	return nil
}

// on32 chooses the function for an operation on one 32-bit number, whose operands are in the
// instruction itself.
func (a *atomicOp) on32(o *inst, space isa.Space) {
	o.b, o.c, o.d = a.b.elems[0].r, a.b.elems[0].r, none
	if a.c != nil {
		o.c = a.c.elems[0].r
	}
	if a.dst != nil {
		o.d = a.dst.elems[0].r
	}
	switch {
	case a.op == rmwAdd && space == isa.Global:
		o.run = atomAdd32Global
	case a.op == rmwAdd && space == isa.Shared:
		o.run = atomAdd32Shared
	default:
		o.run = atom32
	}
}

func (a *atomicOp) vector() bool { return len(a.b.elems) != 1 }

// polls reports whether an operation with a literal operand only reads, as in
// programs that wait for another thread.
func polls(in *ptx.Inst, op rmw) bool {
	last := in.Args[len(in.Args)-1]
	if in.Op != "atom" || last.Kind != ptx.OpImm || last.Imm.Bits != 0 {
		return false
	}
	return op == rmwAdd || op == rmwOr || op == rmwXor || op == rmwMaxU
}

// policy decodes the cache policy operand of .L2::cache_hint; its value is ignored.
func (d *dec) policy(in *ptx.Inst, args []ptx.Operand) error {
	if !in.Has("L2::cache_hint") {
		if len(args) > 0 {
			return errors.New("has too many operands")
		}
		return nil
	}
	if len(args) != 1 {
		return errors.New("needs a cache policy")
	}
	_, err := d.src64(&args[0], "b64")
	return err
}

// address2 decodes an address operand after the instruction's first; the result is
// valid only for warp.addresses. It may also be a generic address of shared memory.
func (d *dec) address2(a *ptx.Operand, space isa.Space) (*inst, error) {
	at := &inst{d: none, a: none, b: none, c: none, e: none, guard: none}
	if a.Kind != ptx.OpAddr {
		return nil, errors.New("needs an address in brackets")
	}
	got, err := d.memAddress(a, at, space)
	if err == nil && got != space && got != isa.Generic {
		err = fmt.Errorf("needs an address in .%s memory, not .%s", space, got)
	}
	at.mode = uint8(space)
	return at, err
}

// atomBytes returns the bytes that lane i updates, nil after a fault, and whether they
// are in global memory. Global bytes are those of device memory itself: kernels with
// atomics run on a direct view.
func (w *warp) atomBytes(space isa.Space, i, size int) (b []byte, global bool) {
	global = space == isa.Global
	if space == isa.Generic {
		switch s, _ := isa.Resolve(w.addr[i]); s {
		case isa.Shared:
		case isa.Local, isa.Param:
			w.failAs(exec.BadAddress, 1<<i, "atomic operation on %d bytes at generic address %#x, which is neither global nor shared memory", size, w.addr[i])
			return nil, false
		default:
			global = true
		}
	}
	return w.lane(space, i, size, true), global
}

// value reads element k of a source for lane i; for a 128-bit element, its low half.
func (w *warp) value(op *memOp, k, i int) uint64 {
	e := &op.elems[k]
	if e.class == c32 {
		return uint64(w.u32(e.r)[i&31])
	}
	return w.u64(e.r)[i&31]
}

// give writes element k of a destination for lane i.
func (w *warp) give(op *memOp, k, i int, v uint64) {
	e := &op.elems[k]
	switch {
	case e.skip:
	case e.class == c32:
		w.r32[e.r][i&31] = uint32(v)
	default:
		w.r64[e.r][i&31] = v
	}
}

// atomAny is an atomic operation of any kind.
func atomAny(w *warp, in *inst, m uint32) {
	a := in.x.any.(*atomicOp)
	w.wrote = true // even if the value did not change
	if w.addresses(in, m)&uint64(a.total-1) != 0 {
		w.misaligned(m, a.total, "atomic operation")
		return
	}
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k)
		p, global := w.atomBytes(isa.Space(in.mode), i, a.total)
		if p == nil {
			return
		}
		if a.size == 16 {
			w.atom128(a, p, i)
			continue
		}
		op := a.op
		if a.flush && global {
			op = rmwAddF32Flush
		}
		// All elements are read before any is written: a source register may
		// be another element's destination.
		var old [8]uint64
		for e := range a.b.elems {
			b, c := w.value(a.b, e, i), uint64(0)
			if a.c != nil {
				c = w.value(a.c, e, i)
			}
			old[e&7] = updateAt(p[e*a.size:], a.size, op, b, c)
		}
		if a.dst == nil {
			continue
		}
		for e := range a.dst.elems {
			w.give(a.dst, e, i, old[e&7])
		}
	}
	if a.mbar != nil {
		w.storeNote(m, a.total)
		w.completeTx(a.mbar, m, int64(a.total))
	}
}

// updateAt applies op to the element of the given size at the beginning of p
// and returns its old value.
func updateAt(p []byte, size int, op rmw, b, c uint64) (old uint64) {
	switch size {
	case 2:
		old = uint64(le.Uint16(p))
		le.PutUint16(p, uint16(op.apply(old, b&0xffff, c)))
	case 4:
		old = uint64(le.Uint32(p))
		le.PutUint32(p, uint32(op.apply(old, b&0xffffffff, c)))
	case 8:
		old = le.Uint64(p)
		le.PutUint64(p, op.apply(old, b, c))
	}
	return old
}

// atom128 is exch and cas on 16 bytes.
func (w *warp) atom128(a *atomicOp, p []byte, i int) {
	pair := func(op *memOp) (lo, hi uint64) {
		r := op.elems[0].r
		return w.u64(r)[i&31], w.u64(r + 1)[i&31]
	}
	lo, hi := le.Uint64(p), le.Uint64(p[8:])
	nlo, nhi := pair(a.b)
	store := true
	if a.op == rmwCAS {
		store = nlo == lo && nhi == hi
		nlo, nhi = pair(a.c)
	}
	if store {
		le.PutUint64(p, nlo)
		le.PutUint64(p[8:], nhi)
	}
	if a.dst != nil && !a.dst.elems[0].skip {
		r := a.dst.elems[0].r
		w.r64[r][i&31], w.r64[r+1][i&31] = lo, hi
	}
}

// atom32 is an atomic operation on one element of 32 bits: in.b, in.c and in.d
// are its registers.
func atom32(w *warp, in *inst, m uint32) {
	a := in.x.any.(*atomicOp)
	if w.addresses(in, m)&3 != 0 {
		w.misaligned(m, 4, "atomic operation")
		return
	}
	b, c, v := w.u32(in.b), w.u32(in.c), w.blk.View
	space, op := isa.Space(in.mode), a.op
	if a.flush && space == isa.Global {
		op = rmwAddF32Flush
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		var p []byte
		do := op
		if space == isa.Global {
			if p = v.WriteSpan(w.addr[i&31], 4); p == nil {
				if p = w.stray(i&31, 4, true); p == nil {
					return
				}
			}
		} else {
			var global bool
			if p, global = w.atomBytes(space, i, 4); p == nil {
				return
			}
			if a.flush && global {
				do = rmwAddF32Flush
			}
		}
		old := le.Uint32(p)
		v := uint32(do.apply(uint64(old), uint64(b[i&31]), uint64(c[i&31])))
		le.PutUint32(p, v)
		w.wrote = w.wrote || v != old
		if in.d != none {
			w.r32[in.d][i&31] = old
		}
	}
}

// atomAdd32Global is atom.add and red.add on 32-bit integers in global memory.
func atomAdd32Global(w *warp, in *inst, m uint32) {
	if w.addresses(in, m)&3 != 0 {
		w.misaligned(m, 4, "atomic operation")
		return
	}
	b, v := w.u32(in.b), w.blk.View
	if in.d == none {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			p := v.WriteSpan(w.addr[i&31], 4)
			if p == nil {
				if p = w.stray(i&31, 4, true); p == nil {
					return
				}
			}
			le.PutUint32(p, le.Uint32(p)+b[i&31])
			w.wrote = w.wrote || b[i&31] != 0
		}
		return
	}
	d := &w.r32[in.d]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		p := v.WriteSpan(w.addr[i&31], 4)
		if p == nil {
			if p = w.stray(i&31, 4, true); p == nil {
				return
			}
		}
		old, add := le.Uint32(p), b[i&31]
		le.PutUint32(p, old+add)
		w.wrote = w.wrote || add != 0
		d[i&31] = old
	}
}

// atomAdd32Shared is the same in shared memory.
func atomAdd32Shared(w *warp, in *inst, m uint32) {
	if w.addresses(in, m)&3 != 0 {
		w.misaligned(m, 4, "atomic operation")
		return
	}
	b, mem := w.u32(in.b), w.blk.Shared
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		at := w.addr[i&31]
		p := mem
		if at >= uint64(len(mem)) || at+4 > uint64(len(mem)) {
			if p = w.distributed(i, at, 4, true); p == nil {
				return
			}
			at = 0
		}
		old, add := le.Uint32(p[at:]), b[i&31]
		le.PutUint32(p[at:], old+add)
		w.wrote = w.wrote || add != 0
		if in.d != none {
			w.r32[in.d][i&31] = old
		}
	}
}
