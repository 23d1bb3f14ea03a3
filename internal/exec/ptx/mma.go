package ptx

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: matrix multiply-accumulate of a warp (mma.sync, wmma.mma), the
// loads and stores of wmma fragments, and redux.sync.
//
// For mma.sync, the PTX manual's section on matrix fragments defines which element a
// lane's register holds; its figures all follow one rule, given in fragment.at and
// accum.at. The manual calls the fragments of wmma opaque; here they are those of
// mma.sync side by side, which is what hardware from sm_75 on is known to use for
// 16×16×16; those of 8×32×16 are those of 32×8×16 for the matrices turned over the
// diagonal (our choice). If the manual gives a fragment more registers than the matrix needs (f16:
// twice as many), they hold the same elements again.

func init() {
	families["mma"] = decodeMMA
	families["wmma"] = decodeWMMA
}

// fragment describes how registers hold A or B: rows of A, or columns of B, by groups
// of four lanes; along k in pieces of one register.
type fragment struct {
	dim  int // M or N
	k    int // in elements
	per  int // elements of a register (1 for f64, whose registers have 64 bits)
	b    bool
	regs int // registers that hold different elements
}

// newFragment returns the fragment of a matrix; its regs are 0 if a matrix of this size
// does not fill the registers of a warp.
func newFragment(dim, k, per int, b bool) fragment {
	f := fragment{dim: dim, k: k, per: per, b: b}
	if dim%8 == 0 && k%(4*per) == 0 {
		f.regs = dim * k / (32 * per)
	}
	return f
}

// at returns the row of A (or column of B) and the first position along k of
// register r of a lane.
func (f *fragment) at(r, lane int) (dim, k int) {
	r %= f.regs
	chunks := f.k / (4 * f.per) // registers along k
	switch {
	case f.b && f.dim != 32 || f.dim == 8: // tiles of 8
		dim, k = r/chunks*8, r%chunks
	default: // tiles of 16, whose two halves alternate
		t := 2 * chunks
		dim, k = r/t*16+8*(r%t&1), r%t>>1
	}
	return dim + lane>>2, (k*4 + lane&3) * f.per
}

// places lists for every register and lane the index of its first element in the
// matrix stored by rows of k (columns of B), in units of `unit` elements.
func (f *fragment) places(unit int) []int16 {
	var out []int16
	for r := range f.regs {
		for lane := range 32 {
			dim, k := f.at(r, lane)
			out = append(out, int16((dim*f.k+k)/unit))
		}
	}
	return out
}

// accum describes how registers hold an M×N matrix C or D.
type accum struct{ m, n int }

// at returns the row and column of element i of a lane.
func (c accum) at(i, lane int) (row, col int) {
	if c.n == 32 {
		col, row = accum{c.n, c.m}.at(i, lane)
		return row, col
	}
	per := 4
	if c.m == 8 {
		per = 2
	}
	t := i / per
	i %= per
	row, col = lane>>2+8*(i>>1), (lane&3)*2+i&1
	if c.n > 8 {
		return row, col + 8*t
	}
	return row + 16*t, col
}

// elems is the number of elements of a lane.
func (c accum) elems() int { return c.m * c.n / 32 }

// mmaClass is the arithmetic of a multiplication.
type mmaClass uint8

const (
	mmaFloat mmaClass = iota // operands widened to f32, f32 accumulator
	mmaHalf                  // the same, f16 accumulator
	mmaF64
	mmaInt8
	mmaInt4
	mmaBit
)

// mmaOp is a decoded matrix multiplication, kept in extra.any.
type mmaOp struct {
	m, n, k      int
	at, bt       ptx.Type
	ct, dt       ptx.Type
	class        mmaClass
	wa, wb       widening
	acc          accum
	a, b, c, d   []ref
	aAt, bAt     []int16 // fragment.places of A and B
	cAt          []int16 // place of element i of a lane in C by rows: [32*i+lane]
	sat          bool
	and          bool // b1: and, else xor
	rnd          num.Round
	rowA, rowB   bool
	signA, signB bool      // of integers
	sparse       *sparsity // of A, nil if it is dense
}

// widening is the conversion of an element of A or B to f32.
type widening struct {
	bits   int // 8, 16 or 32 of the register
	bf16   bool
	format num.Narrow // of 8 bits
	shift  uint8      // its first bit in the byte
}

// wideningOf returns the widening of a float type; ok is false for others. In the
// bytes of .kind::f8f6f4, six bits lie low and four in the middle.
func wideningOf(t ptx.Type) (wd widening, ok bool) {
	switch t {
	case "f16", "bf16":
		return widening{bits: 16, bf16: t == "bf16"}, true
	case "tf32":
		return widening{bits: 32}, true
	}
	n, ok := narrowOf[t]
	wd = widening{bits: 8, format: n}
	if t == "e2m1" {
		wd.shift = 2
	}
	return wd, ok
}

// perReg is the number of elements of a type in one register.
func perReg(t ptx.Type) int {
	switch t {
	case "e2m3", "e3m2", "e2m1":
		return 4 // each in its own byte
	case "f64":
		return 1
	}
	return 32 / t.Bits()
}

// shapeOf returns the instruction's mMnNkK.
func shapeOf(in *ptx.Inst) (m, n, k int, ok bool) {
	for _, s := range in.Mods {
		if m, n, k, ok = ptx.ParseShape(s); ok && k > 0 {
			return m, n, k, true
		}
	}
	return 0, 0, 0, false
}

// fragRegs decodes a fragment operand: n registers in one slab.
func (d *dec) fragRegs(o *ptx.Operand, n int, wide, dst bool) ([]ref, error) {
	list := []ptx.Operand{*o}
	if o.Kind == ptx.OpVec {
		list = o.List
	}
	// A whole vector register stands for its elements.
	if n > 1 && o.Kind == ptx.OpReg && o.Var != nil && o.Var.Vec == n && n <= 4 && o.Elem == "" {
		list = slices.Repeat(list, n)
		for i := range list {
			list[i].Elem = "xyzw"[i : i+1]
		}
	}
	if len(list) != n {
		return nil, fmt.Errorf("needs %d registers in a fragment, not %d", n, len(list))
	}
	var out []ref
	for i := range list {
		var r ref
		var err error
		switch {
		case wide && dst:
			r, err = d.dst64(&list[i])
		case wide:
			r, err = d.src64(&list[i], "f64")
		case dst:
			r, err = d.dst32(&list[i])
		default:
			r, err = d.src32(&list[i], "b32")
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// together marks an instruction that all lanes of a warp execute together.
func (d *dec) together(o *inst) {
	o.kind = kWarpSync
	o.e = d.const32(full)
}

// needAll faults if only part of a warp executes an aligned instruction.
func (w *warp) needAll(in *inst, m uint32) bool {
	if m == full {
		return true
	}
	w.failf(m, "%s needs all 32 lanes of its warp, but only lanes %#08x execute it", w.fr.f.info[w.pc].Op, m)
	return false
}

func decodeMMA(d *dec, in *ptx.Inst, o *inst) error {
	if in.Has("block_scale") {
		return errUnsupported
	}
	op := &mmaOp{}
	args := 4
	if in.Has("sp") || in.Has("sp::ordered_metadata") {
		op.sparse = &sparsity{ordered: !in.Has("sp")}
		args = 6
	}
	types := in.Types()
	if len(types) != 4 || len(in.Args) != args {
		return fmt.Errorf("takes four types and %d operands", args)
	}
	op.dt, op.at, op.bt, op.ct = types[0], types[1], types[2], types[3]
	return d.multiply(in, o, op, false)
}

// classify selects the arithmetic for the types of a multiplication.
func (op *mmaOp) classify() error {
	var okA, okB bool
	op.wa, okA = wideningOf(op.at)
	op.wb, okB = wideningOf(op.bt)
	switch {
	case okA && okB && op.wa.bits == op.wb.bits:
		op.class = mmaFloat
		if op.ct == "f16" && op.dt == "f16" {
			op.class = mmaHalf
		}
	case op.at == "f64":
		op.class = mmaF64
	case op.at == "s8", op.at == "u8":
		op.class = mmaInt8
	case op.at == "s4", op.at == "u4":
		op.class = mmaInt4
	case op.at == "b1":
		op.class = mmaBit
	default:
		return errUnsupported
	}
	return nil
}

// multiply decodes what mma and wmma.mma share. The fragments of wmma may have more
// registers than the matrix needs.
func (d *dec) multiply(in *ptx.Inst, o *inst, op *mmaOp, wmma bool) error {
	var ok bool
	if op.m, op.n, op.k, ok = shapeOf(in); !ok {
		return errors.New("has no shape")
	}
	if err := op.classify(); err != nil {
		return err
	}
	d.info.Unit = isa.UnitTensor
	d.together(o)
	op.sat, op.and = in.Has("satfinite"), in.Has("and")
	switch in.Rounding() {
	case "rz":
		op.rnd = num.RZ
	case "rm":
		op.rnd = num.RM
	case "rp":
		op.rnd = num.RP
	default:
		op.rnd = num.RN
	}
	layouts := []string{}
	for _, m := range in.Mods {
		if m == "row" || m == "col" {
			layouts = append(layouts, m)
		}
	}
	if len(layouts) != 2 {
		return errors.New("needs two layouts")
	}
	op.rowA, op.rowB = layouts[0] == "row", layouts[1] == "row"
	op.signA, op.signB = op.at.Signed(), op.bt.Signed()
	volta := !wmma && op.m == 8 && op.n == 8 && op.k == 4 && op.at == "f16"
	regs := mmaRegs{2, 2, 8, 8}
	if !volta {
		var err error
		if regs, err = op.place(wmma); err != nil {
			return err
		}
	}
	if op.ct == "f16" {
		regs.c /= 2
	}
	if op.dt == "f16" {
		regs.d /= 2
	}
	f64 := op.class == mmaF64
	var err error
	if op.d, err = d.fragRegs(&in.Args[0], regs.d, f64, true); err != nil {
		return err
	}
	if op.a, err = d.fragRegs(&in.Args[1], regs.a, f64, false); err != nil {
		return err
	}
	if op.b, err = d.fragRegs(&in.Args[2], regs.b, f64, false); err != nil {
		return err
	}
	if op.c, err = d.fragRegs(&in.Args[3], regs.c, f64, false); err != nil {
		return err
	}
	o.x = &extra{any: op}
	switch {
	case volta:
		o.run = mmaVolta
	case op.sparse != nil:
		o.run = mmaSparse
		return d.sparsity(in, op)
	default:
		o.run = mma
	}
	return nil
}

// mmaRegs are the registers of each fragment.
type mmaRegs struct{ a, b, c, d int }

// place works out where each element of the fragments lies in the matrices, and the registers of
// the fragments, an accumulator of f16 counted as f32.
func (op *mmaOp) place(wmma bool) (mmaRegs, error) {
	ka := op.k
	if op.sparse != nil {
		ka /= 2
	}
	fa := newFragment(op.m, ka, perReg(op.at), false)
	fb := newFragment(op.n, op.k, perReg(op.bt), true)
	op.acc = accum{op.m, op.n}
	regs := mmaRegs{fa.regs, fb.regs, op.acc.elems(), op.acc.elems()}
	if regs.a == 0 || regs.b == 0 || regs.c == 0 || op.m*ka > fa.per*tileRegs || op.n*op.k > fb.per*tileRegs || op.m*op.n > tileElems {
		return regs, errUnsupported
	}
	if op.class != mmaBit && op.sparse == nil && op.k > num.PanelRows {
		return regs, errUnsupported
	}
	unit := 1
	if op.class == mmaBit {
		unit = fa.per // bits stay together
	}
	op.aAt, op.bAt = fa.places(unit), fb.places(unit)
	for i := range regs.c {
		for lane := range 32 {
			row, col := op.acc.at(i, lane)
			op.cAt = append(op.cAt, int16(row*op.n+col))
		}
	}
	if wmma {
		regs.a, regs.b = wmmaRegs(op.at, fa), wmmaRegs(op.bt, fb)
	}
	return regs, nil
}

// wmmaRegs is the number of registers of an A or B fragment of wmma: eight for f16 in
// every shape, otherwise what the matrix needs.
func wmmaRegs(t ptx.Type, f fragment) int {
	if t == "f16" {
		return 8
	}
	return f.regs
}

// Sizes of the largest fragments: registers times lanes of A or B, elements of C.
const (
	tileRegs  = 8 * 32
	tileElems = 16 * 16
)

// tile is the storage of a multiplication: A by rows, B by columns, C by rows. The
// class determines which pair holds A and B: widened floats, unpacked integers, words
// of bits or f64. A worker has one tile.
type tile struct {
	af, bf [4 * tileRegs]float32
	ai, bi [8 * tileRegs]int32
	aw, bw [tileRegs]uint32 // of b1
	ad, bd [tileRegs]uint64
	c      [tileElems]uint64
	float  num.FloatPanel
	int    num.IntPanel
}

func (w *warp) tileOf() *tile {
	wk := w.blk.wk
	if wk.tile == nil {
		wk.tile = new(tile)
	}
	return wk.tile
}

// f32of returns the f32 with the given bits.
func f32of(b uint32) float32 { return math.Float32frombits(b) }

// widen puts the floats of a fragment into dst.
func (w *warp) widen(dst *[4 * tileRegs]float32, refs []ref, at []int16, wd widening) {
	for r := range len(at) / 32 {
		v := w.u32(refs[r])
		at := at[32*r : 32*r+32]
		switch {
		case wd.bits == 32:
			for lane, x := range v {
				dst[at[lane]] = f32of(num.TF32ToF32(x))
			}
		case wd.bf16:
			for lane, x := range v {
				p := dst[at[lane]:][:2]
				p[0], p[1] = f32of(x<<16), f32of(x&0xffff0000)
			}
		case wd.bits == 16:
			for lane, x := range v {
				p := dst[at[lane]:][:2]
				p[0], p[1] = f32of(num.F16ToF32(uint16(x))), f32of(num.F16ToF32(uint16(x>>16)))
			}
		default:
			for lane, x := range v {
				p := dst[at[lane]:][:4]
				for i := range p {
					p[i] = f32of(num.NarrowToF32(uint8(x>>(8*i))>>wd.shift, wd.format))
				}
			}
		}
	}
}

// unpack puts the integers of a fragment, of 8 or 4 bits, into dst.
func (w *warp) unpack(dst *[8 * tileRegs]int32, refs []ref, at []int16, width int, signed bool) {
	for r := range len(at) / 32 {
		v := w.u32(refs[r])
		at := at[32*r : 32*r+32]
		for lane, x := range v {
			if p := dst[at[lane]:]; width == 8 {
				num.Unpack8((*[4]int32)(p), x, signed)
			} else {
				num.Unpack4((*[8]int32)(p), x, signed)
			}
		}
	}
}

// operands gathers A and B from their registers.
func (w *warp) operands(op *mmaOp, t *tile) {
	switch op.class {
	case mmaFloat, mmaHalf:
		w.widen(&t.af, op.a, op.aAt, op.wa)
		w.widen(&t.bf, op.b, op.bAt, op.wb)
	case mmaInt8, mmaInt4:
		width := 8
		if op.class == mmaInt4 {
			width = 4
		}
		w.unpack(&t.ai, op.a, op.aAt, width, op.signA)
		w.unpack(&t.bi, op.b, op.bAt, width, op.signB)
	case mmaF64:
		for i, at := range op.aAt {
			t.ad[at] = w.u64(op.a[i/32])[i%32]
		}
		for i, at := range op.bAt {
			t.bd[at] = w.u64(op.b[i/32])[i%32]
		}
	default:
		for i, at := range op.aAt {
			t.aw[at] = w.u32(op.a[i/32])[i%32]
		}
		for i, at := range op.bAt {
			t.bw[at] = w.u32(op.b[i/32])[i%32]
		}
	}
}

// accIn reads element i of a lane's accumulator C in the type of the accumulation.
func (w *warp) accIn(op *mmaOp, i, lane int) uint64 {
	switch {
	case op.class == mmaF64:
		return w.u64(op.c[i])[lane]
	case op.ct == "f16":
		h := uint16(w.u32(op.c[i/2])[lane] >> (16 * (i & 1)))
		if op.class == mmaHalf {
			return uint64(h)
		}
		return uint64(num.F16ToF32(h))
	}
	return uint64(w.u32(op.c[i])[lane])
}

// accOut writes element i of a lane's result.
func (w *warp) accOut(op *mmaOp, i, lane int, v uint64) {
	switch {
	case op.class == mmaF64:
		w.r64[op.d[i]][lane] = v
	case op.dt == "f16":
		h := uint16(v)
		if op.class != mmaHalf {
			h = num.F32ToF16(uint32(v), num.RN)
		}
		if op.sat {
			h = finiteF16(h)
		}
		p := &w.r32[op.d[i/2]][lane]
		if i&1 == 0 {
			*p = uint32(h)
		} else {
			*p = *p&0xffff | uint32(h)<<16
		}
	case op.sat && op.dt == "f32":
		w.r32[op.d[i]][lane] = finiteF32(uint32(v))
	default:
		w.r32[op.d[i]][lane] = uint32(v)
	}
}

// finiteF16 and finiteF32 are .satfinite of a float result, which wmma had until PTX
// 6.4: infinities become the largest finite number, NaN becomes +0.
func finiteF16(h uint16) uint16 {
	switch mag := h & 0x7fff; {
	case mag > 0x7c00:
		return 0
	case mag == 0x7c00:
		return h - 1
	}
	return h
}

func finiteF32(v uint32) uint32 {
	switch mag := v & 0x7fffffff; {
	case mag > 0x7f800000:
		return 0
	case mag == 0x7f800000:
		return v - 1
	}
	return v
}

func mma(w *warp, in *inst, m uint32) {
	if !w.needAll(in, m) {
		return
	}
	op := in.x.any.(*mmaOp)
	t := w.tileOf()
	w.operands(op, t)
	// All of C is read before D is written: they may be the same registers.
	w.takeC(op, t)
	switch op.class {
	case mmaF64, mmaBit:
		op.dots(t)
	default:
		op.panels(t)
	}
	w.giveD(op, t)
}

// takeC gathers the accumulator C from its registers.
func (w *warp) takeC(op *mmaOp, t *tile) {
	if op.class == mmaF64 || op.ct == "f16" {
		for i, at := range op.cAt {
			t.c[at] = w.accIn(op, i/32, i%32)
		}
		return
	}
	for i, r := range op.c {
		at := op.cAt[32*i:][:32]
		for lane, v := range w.u32(r) {
			t.c[at[lane]] = uint64(v)
		}
	}
}

// giveD writes the result to its registers.
func (w *warp) giveD(op *mmaOp, t *tile) {
	if op.class == mmaF64 || op.dt == "f16" || op.sat {
		for i, at := range op.cAt {
			w.accOut(op, i/32, i%32, t.c[at])
		}
		return
	}
	for i, r := range op.d {
		at := op.cAt[32*i:][:32]
		d := &w.r32[r]
		for lane := range d {
			d[lane] = uint32(t.c[at[lane]])
		}
	}
}

// panels adds the product of A and B to C, eight columns of B at a time.
func (op *mmaOp) panels(t *tile) {
	k := op.k
	for col := 0; col < op.n; col += num.Columns {
		whole := op.class == mmaInt8 || op.class == mmaInt4
		if whole {
			t.int.Fill(t.bi[col*k:], k, op.signA || op.signB)
		} else {
			t.float.Fill(t.bf[col*k:], k)
		}
		for row := range op.m {
			c := t.c[row*op.n+col:][:num.Columns]
			var acc [num.Columns]uint32
			for i := range acc {
				acc[i] = uint32(c[i])
			}
			switch {
			case whole:
				t.int.Row(&acc, t.ai[row*k:][:k], op.sat)
			case op.class == mmaHalf:
				t.float.RowF16(&acc, t.af[row*k:][:k])
			default:
				t.float.RowF32(&acc, t.af[row*k:][:k])
			}
			for i, v := range acc {
				c[i] = uint64(v)
			}
		}
	}
}

// dots is panels for f64 and single bits, element by element.
func (op *mmaOp) dots(t *tile) {
	k := op.k
	if op.class == mmaBit {
		k /= 32
	}
	for row := range op.m {
		a := row * k
		for col := range op.n {
			b := col * k
			p := &t.c[row*op.n+col]
			if op.class == mmaF64 {
				*p = num.DotF64(*p, t.ad[a:a+k], t.bd[b:b+k], op.rnd)
			} else {
				*p = uint64(uint32(num.DotB1(int32(*p), t.aw[a:a+k], t.bw[b:b+k], op.and)))
			}
		}
	}
}

// mmaVolta is m8n8k4 of f16: for each q from 0 to 3, lanes 4q…4q+3 and 16+4q…16+4q+3
// multiply their own pair of matrices.
func mmaVolta(w *warp, in *inst, m uint32) {
	if !w.needAll(in, m) {
		return
	}
	op := in.x.any.(*mmaOp)
	half := func(refs []ref, i, lane int) float32 {
		return f32of(num.F16ToF32(uint16(w.u32(refs[i/2])[lane] >> (16 * (i & 1)))))
	}
	var out [32][8]uint64
	f32 := op.dt == "f32"
	cAt := func(f32 bool, i, lane int) (row, col int) {
		hi := lane >> 4 * 4
		if f32 {
			return lane&1 + i&2 + hi, i&4 + lane&2 + i&1
		}
		return lane&3 + hi, i
	}
	for q := range 4 {
		var a, b [8][4]float32 // rows of A, columns of B
		for l := range 8 {
			lane := l&3 + 4*q + l>>2*16
			hi := l >> 2 * 4
			for i := range 4 {
				if op.rowA {
					a[l&3+hi][i] = half(op.a, i, lane)
				} else {
					a[i+hi][l&3] = half(op.a, i, lane)
				}
				if op.rowB {
					b[i+hi][l&3] = half(op.b, i, lane)
				} else {
					b[l&3+hi][i] = half(op.b, i, lane)
				}
			}
		}
		var c [8][8]uint64
		for l := range 8 {
			lane := l&3 + 4*q + l>>2*16
			for i := range 8 {
				row, col := cAt(op.ct == "f32", i, lane)
				c[row][col] = w.accIn(op, i, lane)
			}
		}
		for l := range 8 {
			lane := l&3 + 4*q + l>>2*16
			for i := range 8 {
				row, col := cAt(f32, i, lane)
				if op.class == mmaHalf {
					out[lane][i] = uint64(num.DotF32F16(uint16(c[row][col]), a[row][:], b[col][:]))
				} else {
					out[lane][i] = uint64(num.DotF32(uint32(c[row][col]), a[row][:], b[col][:]))
				}
			}
		}
	}
	for lane := range out {
		for i, v := range out[lane] {
			w.accOut(op, i, lane, v)
		}
	}
}

// wmmaMem is a decoded fragment load or store, kept in extra.any.
type wmmaMem struct {
	pieces []wmmaPiece
	row    bool // the matrix lies in memory by rows
	store  bool
	space  isa.Space
	stride ref // none: rows are contiguous
	tight  int
	bits   int // of an element
	size   int // bytes of a piece
}

// wmmaPiece is the part of a register moved by one access: an element, or a whole
// register if elements are smaller than a byte.
type wmmaPiece struct {
	r     ref
	shift uint8 // its first bit in the register
	at    [32]struct{ row, col uint8 }
}

func decodeWMMA(d *dec, in *ptx.Inst, o *inst) error {
	if !in.Has("mma") {
		return decodeWMMAMove(d, in, o)
	}
	op := &mmaOp{}
	types := in.Types()
	switch len(types) {
	case 2:
		op.dt, op.ct, op.at, op.bt = types[0], types[1], "f16", "f16"
	case 4:
		op.dt, op.at, op.bt, op.ct = types[0], types[1], types[2], types[3]
	default:
		return errors.New("takes two or four types")
	}
	if len(in.Args) != 4 {
		return errors.New("takes four fragments")
	}
	return d.multiply(in, o, op, true)
}

// decodeWMMAMove decodes loads and stores of fragments.
func decodeWMMAMove(d *dec, in *ptx.Inst, o *inst) error {
	m, n, k, ok := shapeOf(in)
	types := in.Types()
	if !ok || len(types) != 1 || len(in.Args) < 2 {
		return errors.New("needs a shape, a type, a fragment and an address")
	}
	t := types[0]
	op := &wmmaMem{row: in.Has("row"), stride: none, store: in.Has("store"), bits: t.Bits(), size: t.Bytes()}
	if t == "tf32" {
		op.bits, op.size = 32, 4
	}
	frag, addr := &in.Args[0], &in.Args[1]
	if op.store {
		frag, addr = addr, frag
	}
	var rows, cols, regs int
	var f fragment
	a, b := slices.Contains(in.Mods, "a"), slices.Contains(in.Mods, "b")
	switch {
	case a:
		rows, cols, f = m, k, newFragment(m, k, perReg(t), false)
	case b:
		rows, cols, f = k, n, newFragment(n, k, perReg(t), true)
	default:
		rows, cols = m, n
	}
	acc := accum{m, n}
	per := 1 // elements of a register
	if a || b {
		if f.regs == 0 {
			return errUnsupported
		}
		regs, per = wmmaRegs(t, f), f.per
	} else {
		if t == "f16" {
			per = 2
		}
		regs = acc.elems() / per
	}
	op.tight = cols
	if !op.row {
		op.tight = rows
	}
	refs, err := d.fragRegs(frag, regs, t == "f64", !op.store)
	if err != nil {
		return err
	}
	op.cut(refs, per, func(r, e, lane int) (row, col int) {
		switch {
		case a:
			row, col = f.at(r, lane)
			col += e
		case b:
			col, row = f.at(r, lane)
			row += e
		default:
			row, col = acc.at(r*per+e, lane)
		}
		return row, col
	})
	if op.space, err = d.memAddress(addr, o, spaceOf(in)); err != nil {
		return err
	}
	if len(in.Args) > 2 {
		if op.stride, err = d.src32(&in.Args[2], "u32"); err != nil {
			return err
		}
	}
	d.together(o)
	d.describe(op.space, regs*max(4, t.Bytes()), !op.store, op.store)
	o.x = &extra{any: op}
	o.run = wmmaMove
	return nil
}

// cut makes the pieces of a fragment: registers of per elements each. at is where an element
// of a register and a lane is in the matrix.
func (op *wmmaMem) cut(refs []ref, per int, at func(r, e, lane int) (row, col int)) {
	step := 1 // elements of a piece
	if op.bits < 8 {
		op.size, step = 4, per
	}
	for r := range refs {
		for e := 0; e < per; e += step {
			p := wmmaPiece{r: refs[r], shift: uint8(e * op.bits)}
			for lane := range p.at {
				row, col := at(r, e, lane)
				p.at[lane].row, p.at[lane].col = uint8(row), uint8(col)
			}
			op.pieces = append(op.pieces, p)
		}
	}
}

// wmmaMove loads or stores a fragment piece by piece.
func wmmaMove(w *warp, in *inst, m uint32) {
	if !w.needAll(in, m) {
		return
	}
	op := in.x.any.(*wmmaMem)
	w.addresses(in, m)
	base := w.addr
	// The stride is copied: a load may write its register.
	var stride [32]uint32
	if op.stride != none {
		stride = *w.u32(op.stride)
	} else {
		for lane := range stride {
			stride[lane] = uint32(op.tight)
		}
	}
	what := "read"
	if op.store {
		what = "write"
	}
	size := op.size
	for i := range op.pieces {
		p := &op.pieces[i]
		for lane := range p.at {
			// Offset of the element in elements, then in bytes.
			major, minor := int64(p.at[lane].row), int64(p.at[lane].col)
			if !op.row {
				major, minor = minor, major
			}
			off := (major*int64(stride[lane]) + minor) * int64(op.bits) / 8
			w.addr[lane] = base[lane] + uint64(off)
			if w.addr[lane]&uint64(size-1) != 0 {
				w.misaligned(1<<lane, size, what)
				return
			}
			mem := w.lane(op.space, lane, size, op.store)
			if mem == nil {
				return
			}
			if op.store {
				switch size {
				case 2:
					le.PutUint16(mem, uint16(w.u32(p.r)[lane]>>p.shift))
				case 4:
					le.PutUint32(mem, w.u32(p.r)[lane])
				case 8:
					le.PutUint64(mem, w.u64(p.r)[lane])
				}
				continue
			}
			switch size {
			case 1:
				x := &w.r32[p.r][lane]
				*x = *x&^(0xff<<p.shift) | uint32(mem[0])<<p.shift
			case 2:
				x := &w.r32[p.r][lane]
				*x = *x&^(0xffff<<p.shift) | uint32(le.Uint16(mem))<<p.shift
			case 4:
				w.r32[p.r][lane] = le.Uint32(mem)
			case 8:
				w.r64[p.r][lane] = le.Uint64(mem)
			}
		}
		if w.blk.probe != nil {
			w.seen(op.space, full, size, !op.store, op.store, &w.addr)
		}
	}
}

// The operations of redux.sync.
const (
	reduxAdd uint8 = iota
	reduxAnd
	reduxOr
	reduxXor
	reduxMinS
	reduxMaxS
	reduxMinU
	reduxMaxU
	reduxMinF
	reduxMaxF
)

// decodeRedux is redux.sync.
func decodeRedux(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(in.Args) != 3 || len(types) != 1 {
		return errors.New("takes a destination, a source and a member mask")
	}
	t := types[0]
	var err error
	if o.d, err = d.dst32(&in.Args[0]); err != nil {
		return err
	}
	if o.a, err = d.src32(&in.Args[1], t); err != nil {
		return err
	}
	maximum := in.Has("max")
	pick := func(least, most uint8) uint8 {
		if maximum {
			return most
		}
		return least
	}
	switch {
	case in.Has("add"):
		o.mode = reduxAdd
	case in.Has("and"):
		o.mode = reduxAnd
	case in.Has("or"):
		o.mode = reduxOr
	case in.Has("xor"):
		o.mode = reduxXor
	case !maximum && !in.Has("min"):
		return errUnsupported
	case t == "f32":
		o.mode = pick(reduxMinF, reduxMaxF)
		if in.Has("abs") {
			o.imm = 1 << 31 // bits to clear
		}
		if in.Has("NaN") {
			o.mode2 = uint8(num.PropagateNaN)
		}
	case t.Signed():
		o.mode = pick(reduxMinS, reduxMaxS)
	default:
		o.mode = pick(reduxMinU, reduxMaxU)
	}
	o.run = redux
	return d.member(in, o, &in.Args[2])
}

// redux reduces the values of lanes m and gives each of them the result.
func redux(w *warp, in *inst, m uint32) {
	a := w.u32(in.a)
	first := a[bits.TrailingZeros32(m)&31]
	v := first
	clr, mm := uint32(in.imm), num.MinMax(in.mode2)
	if in.mode == reduxMinF || in.mode == reduxMaxF {
		v = num.MinF32(first&^clr, first&^clr, mm) // a NaN in its canonical form
	}
	for k := m & (m - 1); k != 0; k &= k - 1 {
		x := a[bits.TrailingZeros32(k)&31]
		switch in.mode {
		case reduxAdd:
			v += x
		case reduxAnd:
			v &= x
		case reduxOr:
			v |= x
		case reduxXor:
			v ^= x
		case reduxMinS:
			v = uint32(min(int32(v), int32(x)))
		case reduxMaxS:
			v = uint32(max(int32(v), int32(x)))
		case reduxMinU:
			v = min(v, x)
		case reduxMaxU:
			v = max(v, x)
		case reduxMinF:
			v = num.MinF32(v, x&^clr, mm)
		case reduxMaxF:
			v = num.MaxF32(v, x&^clr, mm)
		}
	}
	w.fill32(in.d, v, m)
}
