package ptx

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/num"
)

// This file: matrix multiply-accumulate of a warp (mma.sync, wmma.mma) and the
// loads and stores of wmma fragments.
//
// Which element of a matrix a lane's register holds is, for mma.sync, as the
// PTX manual's section on matrix fragments defines it; its figures all follow
// one rule, written down in fragment.at and accum.at. The fragments of wmma are
// opaque by the manual; here they are those of mma.sync put side by side, which
// is what hardware from sm_75 on is known to use for 16×16×16. Registers that
// the manual gives a fragment beyond what the matrix needs (f16: twice as many)
// hold the same elements again.

func init() {
	families["mma"] = decodeMMA
	families["wmma"] = decodeWMMA
}

// fragment is how the registers of A or B hold their matrix: rows (of A, or
// columns of B) by groups of four lanes, along k in pieces of one register.
type fragment struct {
	dim  int // M or N
	k    int // in elements
	per  int // elements of a 32-bit register (1 for f64)
	b    bool
	regs int // registers that hold different elements
}

func newFragment(dim, k, per int, b bool) fragment {
	return fragment{dim: dim, k: k, per: per, b: b, regs: dim * k / (32 * per)}
}

// at returns the row of A (or column of B) and the first position along k of
// register r of a lane.
func (f *fragment) at(r, lane int) (dim, k int) {
	r %= f.regs
	chunks := f.k / (4 * f.per) // registers along k
	switch {
	case f.b || f.dim == 8: // tiles of 8
		dim, k = r/chunks*8, r%chunks
	default: // tiles of 16, whose two halves alternate
		t := 2 * chunks
		dim, k = r/t*16+8*(r%t&1), r%t>>1
	}
	return dim + lane>>2, (k*4 + lane&3) * f.per
}

// accum is how the registers of C or D hold an M×N matrix.
type accum struct{ m, n int }

// at returns row and column of element i of a lane.
func (c accum) at(i, lane int) (row, col int) {
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

// mmaOp is a decoded matrix multiplication, kept in extra.any.
type mmaOp struct {
	m, n, k    int
	at, bt     ptx.Type
	ct, dt     ptx.Type
	fa, fb     fragment
	acc        accum
	a, b, c, d []ref
	sat        bool
	and        bool // b1: and, else xor
	rnd        num.Round
	volta      bool // m8n8k4 of f16: four multiplications side by side
	rowA, rowB bool
}

// shapeOf parses mMnNkK.
func shapeOf(in *ptx.Inst) (m, n, k int, ok bool) {
	for _, s := range in.Mods {
		if len(s) < 6 || s[0] != 'm' {
			continue
		}
		ni, ki := strings.IndexByte(s, 'n'), strings.IndexByte(s, 'k')
		if ni < 2 || ki < ni {
			continue
		}
		var err [3]error
		m, err[0] = strconv.Atoi(s[1:ni])
		n, err[1] = strconv.Atoi(s[ni+1 : ki])
		k, err[2] = strconv.Atoi(s[ki+1:])
		if err[0] == nil && err[1] == nil && err[2] == nil {
			return m, n, k, true
		}
	}
	return 0, 0, 0, false
}

// perReg is the number of elements of a type in one register.
func perReg(t ptx.Type) int {
	switch t {
	case "e2m3", "e3m2", "e2m1":
		return 4 // each in a byte of its own
	case "f64":
		return 1
	}
	return 32 / t.Bits()
}

// fragRegs decodes a fragment operand: n registers in one slab.
func (d *dec) fragRegs(o *ptx.Operand, n int, wide, dst bool) ([]ref, error) {
	list := []ptx.Operand{*o}
	if o.Kind == ptx.OpVec {
		list = o.List
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

// together makes an instruction one that all lanes of a warp execute at once.
func (d *dec) together(o *inst) {
	o.kind = kWarpSync
	o.e = d.const32(full)
}

// needAll faults if a warp executes an aligned instruction in part.
func (w *warp) needAll(in *inst, m uint32) bool {
	if m == full {
		return true
	}
	w.failf(m, "%s needs all 32 lanes of its warp, only lanes %#08x execute it", w.fr.f.info[w.pc].Op, m)
	return false
}

func decodeMMA(d *dec, in *ptx.Inst, o *inst) error {
	for _, m := range in.Mods {
		if strings.HasPrefix(m, "sp") || m == "block_scale" {
			return errUnsupported
		}
	}
	types := in.Types()
	if len(types) != 4 || len(in.Args) != 4 {
		return errors.New("takes four types and four fragments")
	}
	op := &mmaOp{dt: types[0], at: types[1], bt: types[2], ct: types[3]}
	return d.multiply(in, o, op, false)
}

// multiply decodes what mma and wmma.mma share. The fragments of wmma may
// have more registers than the matrix needs.
func (d *dec) multiply(in *ptx.Inst, o *inst, op *mmaOp, wmma bool) error {
	var ok bool
	if op.m, op.n, op.k, ok = shapeOf(in); !ok {
		return errors.New("has no shape")
	}
	d.info.Unit = isa.UnitTensor
	d.together(o)
	op.sat, op.and = in.Has("satfinite"), in.Has("and")
	op.rnd = num.RN
	for s, r := range map[string]num.Round{"rz": num.RZ, "rm": num.RM, "rp": num.RP} {
		if in.Has(s) {
			op.rnd = r
		}
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
	f64 := op.at == "f64"
	var na, nb, nc, nd int
	if op.volta = !wmma && op.m == 8 && op.n == 8 && op.k == 4 && op.at == "f16"; op.volta {
		na, nb, nc, nd = 2, 2, 8, 8
	} else {
		op.fa = newFragment(op.m, op.k, perReg(op.at), false)
		op.fb = newFragment(op.n, op.k, perReg(op.bt), true)
		op.acc = accum{op.m, op.n}
		na, nb, nc, nd = op.fa.regs, op.fb.regs, op.acc.elems(), op.acc.elems()
		if na == 0 || nb == 0 || nc == 0 {
			return errUnsupported
		}
	}
	if op.ct == "f16" {
		nc /= 2
	}
	if op.dt == "f16" {
		nd /= 2
	}
	if wmma {
		na, nb = wmmaRegs(op.at, op.fa), wmmaRegs(op.bt, op.fb)
	}
	var err error
	if op.d, err = d.fragRegs(&in.Args[0], nd, f64, true); err != nil {
		return err
	}
	if op.a, err = d.fragRegs(&in.Args[1], na, f64, false); err != nil {
		return err
	}
	if op.b, err = d.fragRegs(&in.Args[2], nb, f64, false); err != nil {
		return err
	}
	if op.c, err = d.fragRegs(&in.Args[3], nc, f64, false); err != nil {
		return err
	}
	if op.kernel() == nil {
		return errUnsupported
	}
	o.x = &extra{any: op}
	o.run = mma
	if op.volta {
		o.run = mmaVolta
	}
	return nil
}

// wmmaRegs is the number of registers of an A or B fragment of wmma: eight for
// f16 whatever the shape, else what the matrix needs.
func wmmaRegs(t ptx.Type, f fragment) int {
	if t == "f16" {
		return 8
	}
	return f.regs
}

// tile is the storage of a multiplication: A by rows, B by columns, C by rows.
// A warp has one.
type tile struct {
	a8, b8   [32 * 64]uint8
	a16, b16 [32 * 32]uint16
	a32, b32 [32 * 32]uint32
	a64, b64 [16 * 16]uint64
	c        [16 * 16]uint64
}

// kernel returns the dot product for the operation's types: of row i of A and
// column j of B, with accumulator c. nil if there is none.
func (op *mmaOp) kernel() func(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	fp8 := func(t ptx.Type) bool { _, ok := narrowOf[t]; return ok }
	half := op.ct == "f16" && op.dt == "f16"
	switch {
	case op.at == "f64":
		return dotF64
	case op.at == "f16" && half:
		return dotF16F16
	case op.at == "f16":
		return dotF16
	case op.at == "bf16":
		return dotBF16
	case op.at == "tf32":
		return dotTF32
	case fp8(op.at) && fp8(op.bt) && half:
		return dotFP8F16
	case fp8(op.at) && fp8(op.bt):
		return dotFP8
	case op.at == "s8" || op.at == "u8":
		return dotS8
	case op.at == "s4" || op.at == "u4":
		return dotS4
	case op.at == "b1":
		return dotB1
	}
	return nil
}

func dotF64(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	k := op.k
	return num.DotF64(c, t.a64[i*k:i*k+k], t.b64[j*k:j*k+k], op.rnd)
}

func dotF16(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	k := op.k
	return uint64(num.DotF16(uint32(c), t.a16[i*k:i*k+k], t.b16[j*k:j*k+k]))
}

func dotF16F16(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	k := op.k
	return uint64(num.DotF16F16(uint16(c), t.a16[i*k:i*k+k], t.b16[j*k:j*k+k]))
}

func dotBF16(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	k := op.k
	return uint64(num.DotBF16(uint32(c), t.a16[i*k:i*k+k], t.b16[j*k:j*k+k]))
}

func dotTF32(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	k := op.k
	return uint64(num.DotTF32(uint32(c), t.a32[i*k:i*k+k], t.b32[j*k:j*k+k]))
}

func dotFP8(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	k := op.k
	return uint64(num.DotFP8(uint32(c), t.a8[i*k:i*k+k], t.b8[j*k:j*k+k], narrowOf[op.at], narrowOf[op.bt]))
}

func dotFP8F16(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	k := op.k
	return uint64(num.DotFP8F16(uint16(c), t.a8[i*k:i*k+k], t.b8[j*k:j*k+k], narrowOf[op.at], narrowOf[op.bt]))
}

func dotS8(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	k := op.k / 4
	return uint64(uint32(num.DotS8(int32(c), t.a32[i*k:i*k+k], t.b32[j*k:j*k+k], op.at == "s8", op.bt == "s8", op.sat)))
}

func dotS4(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	k := op.k / 8
	return uint64(uint32(num.DotS4(int32(c), t.a32[i*k:i*k+k], t.b32[j*k:j*k+k], op.at == "s4", op.bt == "s4", op.sat)))
}

func dotB1(op *mmaOp, t *tile, i, j int, c uint64) uint64 {
	k := op.k / 32
	return uint64(uint32(num.DotB1(int32(c), t.a32[i*k:i*k+k], t.b32[j*k:j*k+k], op.and)))
}

// gather puts the registers of a fragment into rows of k elements.
func (w *warp) gather(f *fragment, refs []ref, t ptx.Type, a8 []uint8, a16 []uint16, a32 []uint32, a64 []uint64) {
	for r := range f.regs {
		if t == "f64" {
			v := w.u64(refs[r])
			for lane := range 32 {
				dim, k := f.at(r, lane)
				a64[dim*f.k+k] = v[lane]
			}
			continue
		}
		v := w.u32(refs[r])
		for lane := range 32 {
			dim, k := f.at(r, lane)
			x := v[lane]
			switch {
			case f.per >= 8, t == "s8", t == "u8": // packed integers stay together
				a32[(dim*f.k+k)/f.per] = x
			case f.per == 4:
				p := a8[dim*f.k+k:]
				p[0], p[1], p[2], p[3] = uint8(x), uint8(x>>8), uint8(x>>16), uint8(x>>24)
			case f.per == 2:
				p := a16[dim*f.k+k:]
				p[0], p[1] = uint16(x), uint16(x>>16)
			default:
				a32[dim*f.k+k] = x
			}
		}
	}
}

// accIn reads element i of a lane's accumulator c as the type that the
// multiplication accumulates in.
func (w *warp) accIn(op *mmaOp, i, lane int) uint64 {
	switch {
	case op.ct == "f64":
		return w.u64(op.c[i])[lane]
	case op.ct == "f16":
		h := uint16(w.u32(op.c[i/2])[lane] >> (16 * (i & 1)))
		if op.dt == "f16" {
			return uint64(h)
		}
		return uint64(num.F16ToF32(h))
	}
	return uint64(w.u32(op.c[i])[lane])
}

// accOut writes element i of a lane's result.
func (w *warp) accOut(op *mmaOp, i, lane int, v uint64) {
	switch {
	case op.dt == "f64":
		w.r64[op.d[i]][lane] = v
	case op.dt == "f16":
		h := uint32(uint16(v))
		if op.ct != "f16" {
			h = uint32(num.F32ToF16(uint32(v), num.RN))
		}
		p := &w.r32[op.d[i/2]][lane]
		if i&1 == 0 {
			*p = h
		} else {
			*p = *p&0xffff | h<<16
		}
	default:
		w.r32[op.d[i]][lane] = uint32(v)
	}
}

func (w *warp) tileOf() *tile {
	if w.tile == nil {
		w.tile = new(tile)
	}
	return w.tile
}

func mma(w *warp, in *inst, m uint32) {
	if !w.needAll(in, m) {
		return
	}
	op := in.x.any.(*mmaOp)
	t := w.tileOf()
	w.gather(&op.fa, op.a, op.at, t.a8[:], t.a16[:], t.a32[:], t.a64[:])
	w.gather(&op.fb, op.b, op.bt, t.b8[:], t.b16[:], t.b32[:], t.b64[:])
	n := op.acc.elems()
	dot := op.kernel()
	// All of C is read before D is written: they may be the same registers.
	for lane := range 32 {
		for i := range n {
			row, col := op.acc.at(i, lane)
			t.c[row*op.n+col] = dot(op, t, row, col, w.accIn(op, i, lane))
		}
	}
	for lane := range 32 {
		for i := range n {
			row, col := op.acc.at(i, lane)
			w.accOut(op, i, lane, t.c[row*op.n+col])
		}
	}
}

// mmaVolta is m8n8k4 of f16: lanes 4q…4q+3 and 16+4q…16+4q+3 multiply a pair
// of matrices of their own, for q from 0 to 3.
func mmaVolta(w *warp, in *inst, m uint32) {
	if !w.needAll(in, m) {
		return
	}
	op := in.x.any.(*mmaOp)
	half := func(refs []ref, i, lane int) uint16 { return uint16(w.u32(refs[i/2])[lane] >> (16 * (i & 1))) }
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
		var a, b [8][4]uint16 // rows of A, columns of B
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
				if op.ct == "f16" && op.dt == "f16" {
					out[lane][i] = uint64(num.DotF16F16(uint16(c[row][col]), a[row][:], b[col][:]))
				} else {
					out[lane][i] = uint64(num.DotF16(uint32(c[row][col]), a[row][:], b[col][:]))
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
	t      ptx.Type
	which  byte // a, b or c (d of a store)
	frag   fragment
	acc    accum
	row    bool
	refs   []ref
	stride ref // none: rows lie tight
	tight  int
	space  isa.Space
	store  bool
}

func decodeWMMA(d *dec, in *ptx.Inst, o *inst) error {
	if in.Has("mma") {
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
	m, n, k, ok := shapeOf(in)
	types := in.Types()
	if !ok || len(types) != 1 || len(in.Args) < 2 {
		return errors.New("needs a shape, a type, a fragment and an address")
	}
	op := &wmmaMem{t: types[0], row: in.Has("row"), stride: none, store: in.Has("store")}
	f64 := op.t == "f64"
	frag, addr := &in.Args[0], &in.Args[1]
	if op.store {
		frag, addr = addr, frag
	}
	var regs int
	switch {
	case slices.Contains(in.Mods, "a"):
		op.which, op.frag = 'a', newFragment(m, k, perReg(op.t), false)
		regs, op.tight = wmmaRegs(op.t, op.frag), k
		if !op.row {
			op.tight = m
		}
	case slices.Contains(in.Mods, "b"):
		op.which, op.frag = 'b', newFragment(n, k, perReg(op.t), true)
		regs, op.tight = wmmaRegs(op.t, op.frag), n
		if !op.row {
			op.tight = k
		}
	default:
		op.which, op.acc = 'c', accum{m, n}
		regs, op.tight = op.acc.elems(), n
		if !op.row {
			op.tight = m
		}
		if op.t == "f16" {
			regs /= 2
		}
	}
	var err error
	if op.refs, err = d.fragRegs(frag, regs, f64, !op.store); err != nil {
		return err
	}
	if op.space, err = d.memAddress(addr, o, spaceOf(in)); err != nil {
		return err
	}
	if len(in.Args) > 2 {
		if op.stride, err = d.src32(&in.Args[2], "u32"); err != nil {
			return err
		}
	}
	d.together(o)
	d.describe(op.space, 4*regs, !op.store, op.store)
	o.x = &extra{any: op}
	o.run = wmmaMove
	return nil
}

// wmmaMove loads or stores a fragment, lane by lane and element by element;
// sub-byte elements move in words of 32 bits.
func wmmaMove(w *warp, in *inst, m uint32) {
	if !w.needAll(in, m) {
		return
	}
	op := in.x.any.(*wmmaMem)
	w.addresses(in, m)
	base := w.addr
	bitsPer := op.t.Bits()
	for lane := range 32 {
		ld := op.tight
		if op.stride != none {
			ld = int(w.u32(op.stride)[lane])
		}
		// offset of element (row, col) in bits
		at := func(row, col int) int {
			if op.row {
				return (row*ld + col) * bitsPer
			}
			return (col*ld + row) * bitsPer
		}
		move := func(bit, size int, load func() uint64, give func(uint64)) bool {
			w.addr[lane] = base[lane] + uint64(int64(bit/8))
			if w.addr[lane]&uint64(size-1) != 0 {
				w.misaligned(1<<lane, size, "access")
				return false
			}
			b := w.lane(op.space, lane, size, op.store)
			if b == nil {
				return false
			}
			var buf [8]byte
			if op.store {
				le.PutUint64(buf[:], load())
				copy(b[:size], buf[:])
			} else {
				copy(buf[:], b[:size])
				give(le.Uint64(buf[:]))
			}
			return true
		}
		if op.which == 'c' {
			for i := range op.acc.elems() {
				row, col := op.acc.at(i, lane)
				ok := false
				switch op.t {
				case "f64":
					ok = move(at(row, col), 8, func() uint64 { return w.u64(op.refs[i])[lane] }, func(v uint64) { w.r64[op.refs[i]][lane] = v })
				case "f16":
					sh := 16 * (i & 1)
					ok = move(at(row, col), 2, func() uint64 { return uint64(w.u32(op.refs[i/2])[lane] >> sh) },
						func(v uint64) { p := &w.r32[op.refs[i/2]][lane]; *p = *p&^(0xffff<<sh) | uint32(v)<<sh })
				default:
					ok = move(at(row, col), 4, func() uint64 { return uint64(w.u32(op.refs[i])[lane]) }, func(v uint64) { w.r32[op.refs[i]][lane] = uint32(v) })
				}
				if !ok {
					return
				}
			}
			continue
		}
		for r := range op.refs {
			dim, k := op.frag.at(r, lane)
			if op.t == "f64" {
				row, col := dim, k
				if op.which == 'b' {
					row, col = k, dim
				}
				if !move(at(row, col), 8, nil, func(v uint64) { w.r64[op.refs[r]][lane] = v }) {
					return
				}
				continue
			}
			x := uint32(0)
			each, step := bitsPer, 1
			if bitsPer < 8 {
				each, step = 32, op.frag.per // a whole word of consecutive elements
			}
			for e := 0; e < op.frag.per; e += step {
				row, col := dim, k+e
				if op.which == 'b' {
					row, col = k+e, dim
				}
				if !move(at(row, col), each/8, nil, func(v uint64) { x |= uint32(v) << (e * bitsPer % 32) }) {
					return
				}
			}
			w.r32[op.refs[r]][lane] = x
		}
	}
}

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
	var f func(a, b uint32) uint32
	switch {
	case in.Has("add"):
		f = func(a, b uint32) uint32 { return a + b }
	case in.Has("and"):
		f = func(a, b uint32) uint32 { return a & b }
	case in.Has("or"):
		f = func(a, b uint32) uint32 { return a | b }
	case in.Has("xor"):
		f = func(a, b uint32) uint32 { return a ^ b }
	case t == "f32":
		var mm num.MinMax
		if in.Has("NaN") {
			mm = num.PropagateNaN
		}
		f = func(a, b uint32) uint32 { return num.MinF32(a, b, mm) }
		if in.Has("max") {
			f = func(a, b uint32) uint32 { return num.MaxF32(a, b, mm) }
		}
	case in.Has("min") && t == "s32":
		f = func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) }
	case in.Has("max") && t == "s32":
		f = func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) }
	case in.Has("min"):
		f = func(a, b uint32) uint32 { return min(a, b) }
	case in.Has("max"):
		f = func(a, b uint32) uint32 { return max(a, b) }
	default:
		return errUnsupported
	}
	abs := t == "f32" && in.Has("abs")
	o.run = func(w *warp, in *inst, m uint32) {
		a := w.u32(in.a)
		get := func(i int) uint32 {
			if abs {
				return a[i] &^ (1 << 31)
			}
			return a[i]
		}
		v := get(bits.TrailingZeros32(m))
		for k := m & (m - 1); k != 0; k &= k - 1 {
			v = f(v, get(bits.TrailingZeros32(k)))
		}
		w.fill32(in.d, v, m)
	}
	return d.member(in, o, &in.Args[2])
}
