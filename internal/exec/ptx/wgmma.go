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

// This file: products of a warp group (wgmma). A warp group is four warps, the first of which has a
// number that is a multiple of four; each has 16 rows of the 64 of A and D, and reads all of B from
// shared memory. The product is computed when the fourth of them has issued the instruction, as the
// hardware's begins then: what each has written before is there. Only then they go on, since the
// first may let A and B be overwritten once it has waited. A program may not look at D before it has
// waited. Fragments are
// those of mma for 16 rows (PTX manual, register fragments of wgmma). Floats are added as
// num.HopperF32 has it.

func init() { families["wgmma"] = decodeWgmma }

// wgmmaOp is a decoded wgmma.mma_async, kept in extra.any.
type wgmmaOp struct {
	mmaOp       // n, k, types, class, sparse, sat, c and d
	ka      int // stored elements of a row of A: half of k with sparse A
	descA   ref // 64 bits; none: A is in registers
	descB   ref
	aAt     []int16
	scaled  ref // predicate: D is added; otherwise it is zero
	neg     bool
	negA    bool // A, B with the other sign
	negB    bool
	transA  bool // rows of k instead of along k: MN-major
	transB  bool
	emin    [2]int32 // smallest exponents of A's and B's format
	bits    int32
	element int // bits of an element of A and B
}

// leastExponents are the smallest normal exponents of the formats.
var leastExponents = map[ptx.Type]int32{"f16": -14, "bf16": -126, "tf32": -126, "e4m3": -6, "e5m2": -14}

func decodeWgmma(d *dec, in *ptx.Inst, o *inst) error {
	d.info.Unit = isa.UnitTensor
	if !in.Has("mma_async") { // fence, commit_group, wait_group: products are complete
		d.together(o)
		a := &d.info.Async
		switch {
		case in.Has("commit_group"):
			*a = isa.Async{Does: isa.AsyncCommit, Done: isa.ByProduct}
		case in.Has("wait_group"):
			*a = isa.Async{Does: isa.AsyncWait, Done: isa.ByProduct}
			if len(in.Args) > 0 {
				a.Leave = int32(min(in.Args[0].Imm.Bits, math.MaxInt32))
			}
		}
		o.run = func(w *warp, in *inst, m uint32) { w.needAll(in, m) }
		return nil
	}
	types, args := in.Types(), in.Args
	op := &wgmmaOp{descA: none}
	want := 4
	if in.Has("sp") {
		op.sparse, want = &sparsity{}, 6
	}
	if len(types) != 3 || len(args) < want {
		return fmt.Errorf("takes three types and at least %d operands", want)
	}
	op.dt, op.at, op.bt, op.ct = types[0], types[1], types[2], types[0]
	if _, op.n, op.k, _ = shapeOf(in); op.k == 0 {
		return errors.New("has no shape")
	}
	if err := op.classify(); err != nil {
		return err
	}
	op.m, op.ka, op.sat = 16, op.k, in.Has("satfinite")
	op.signA, op.signB = op.at.Signed(), op.bt.Signed()
	op.emin, op.bits = [2]int32{leastExponents[op.at], leastExponents[op.bt]}, num.HopperBits
	switch op.element = op.at.Bits(); {
	case op.at == "tf32":
		op.element = 32
	case op.element == 8:
		op.bits = num.HopperBitsByte
	}
	if op.sparse != nil {
		op.ka /= 2
	}
	if err := d.wgmmaOperands(in, op); err != nil {
		return err
	}
	if op.sparse != nil {
		last := *in // the selector follows the metadata, as in mma.sp
		last.Args = append(make([]ptx.Operand, 4), args[3], args[4])
		if err := d.sparsity(&last, &op.mmaOp); err != nil {
			return err
		}
	}
	d.im.hopper = "wgmma"
	d.info.Space, d.info.Tensor = isa.Shared, op.shape()
	d.together(o)
	o.flags |= fGroup
	o.x, o.run = &extra{any: op}, wgmma
	return nil
}

// wgmmaOperands decodes the operands of wgmma.mma_async but the metadata.
func (d *dec) wgmmaOperands(in *ptx.Inst, op *wgmmaOp) error {
	args := in.Args
	regs := op.n / 2
	if op.dt == "f16" {
		regs /= 2
	}
	var err error
	if op.d, err = d.fragRegs(&args[0], regs, false, true); err != nil {
		return err
	}
	if op.c, err = d.fragRegs(&args[0], regs, false, false); err != nil {
		return err
	}
	if args[1].Kind == ptx.OpVec {
		f := newFragment(16, op.ka, perReg(op.at), false)
		if op.a, err = d.fragRegs(&args[1], f.regs, false, false); err != nil {
			return err
		}
		op.aAt = f.places(1)
	} else if op.descA, err = d.src64(&args[1], "b64"); err != nil {
		return err
	}
	if op.descB, err = d.src64(&args[2], "b64"); err != nil {
		return err
	}
	rest := args[3:]
	if op.sparse != nil {
		rest = rest[2:]
	}
	if op.scaled, op.neg, err = d.srcPred(&rest[0]); err != nil {
		return err
	}
	scales := []*bool{&op.negA, &op.negB}
	for i, a := range rest[1:] {
		switch {
		case a.Kind != ptx.OpImm:
			return errors.New("needs constants for scales and transposition")
		case i < 2:
			if v := int64(a.Imm.Bits); v != 1 && v != -1 {
				return fmt.Errorf("has a scale of %d; it must be 1 or -1", v)
			}
			*scales[i] = int64(a.Imm.Bits) < 0
		case a.Imm.Bits > 1:
			return fmt.Errorf("has %d for a transposition; it must be 0 or 1", int64(a.Imm.Bits))
		case len(rest) == 5 && i == 2:
			op.transA = a.Imm.Bits != 0
		default:
			op.transB = a.Imm.Bits != 0
		}
	}
	switch {
	case op.descA == none && len(rest) == 5 && op.transA:
		return errors.New("cannot transpose A in registers")
	case op.element != 16 && len(rest) > 3:
		return errors.New("can only transpose elements of 16 bits")
	}
	return nil
}

// matrixDesc is a descriptor of a matrix in shared memory (PTX manual, matrix descriptor of wgmma).
type matrixDesc struct {
	start, leading, stride uint64 // bytes
	width                  uint64 // of the swizzle: 16 for none
	mask                   uint64 // of the bits 7 to 9 that are added to the bits 4 to 6
}

// matrixOf is what descriptors of wgmma and of tcgen05 have in common; the swizzle is in the two highest bits.
func matrixOf(v uint64) matrixDesc {
	m := matrixDesc{start: v & 0x3fff << 4, leading: v >> 16 & 0x3fff << 4, stride: v >> 32 & 0x3fff << 4}
	switch v >> 62 {
	case 0:
		m.width = 16
	case 1:
		m.width, m.mask = 128, 7
	case 2:
		m.width, m.mask = 64, 3
	case 3:
		m.width, m.mask = 32, 1
	}
	return m
}

// descriptor decodes a matrix descriptor; false after a fault.
func (w *warp) descriptor(v uint64, what string) (m matrixDesc, ok bool) {
	m = matrixOf(v)
	if base := v >> 49 & 7; base != 0 {
		w.failf(full, "the descriptor %#x of %s has base offset %d, which is not supported: the matrix must begin where the pattern of its swizzle does", v, what, base)
		return m, false
	}
	return m, true
}

// chunk returns the 16 bytes of a matrix at chunk i of row mn (K-major), or at chunk i of rows of
// 8 elements of k (MN-major); nil after a fault.
func (w *warp) chunk(m *matrixDesc, mn, k int, trans bool, what string) *[16]byte {
	return w.chunkOf(w.blk, m.chunkAt(mn, k, trans), what)
}

// chunkOf returns 16 bytes of a block's shared memory; nil after a fault.
func (w *warp) chunkOf(b *block, a uint64, what string) *[16]byte {
	if a+16 <= uint64(len(b.Shared)) {
		return (*[16]byte)(b.Shared[a:])
	}
	w.failAs(exec.BadAddress, full, "%s reads matrix %s at shared address %#x: the block has %d bytes of shared memory", w.info().Op, what, a, len(b.Shared))
	return nil
}

// chunkAt is the shared address of a chunk; elements of an MN-major matrix have two bytes.
func (m *matrixDesc) chunkAt(mn, k int, trans bool) uint64 {
	if trans {
		return m.across(mn, k, 2)
	}
	a := m.start
	switch row, col := uint64(mn), uint64(k); {
	case m.mask == 0: // k in chunks
		a += row/8*m.stride + row%8*16 + col*m.leading
	default:
		a += row/8*m.stride + row%8*m.width + col*16
	}
	return m.swizzled(a)
}

// across is the same for elements of a number of bytes whose rows along k lie apart (MN-major), at row mn, a multiple of
// the elements in 16 bytes.
func (m *matrixDesc) across(mn, k, size int) uint64 {
	a, row, col := m.start, uint64(mn), uint64(k)
	if m.mask == 0 {
		a += row/uint64(16/size)*m.stride + col%8*16 + col/8*m.leading
	} else {
		n := m.width / uint64(size)
		a += row/n*m.leading + row%n*uint64(size) + col%8*m.width + col/8*m.stride
	}
	return m.swizzled(a)
}

func (m *matrixDesc) swizzled(a uint64) uint64 { return a ^ a>>3&(m.mask<<4) }

// wgTile is the storage of a product: A, eight columns of B.
type wgTile struct {
	raw   [16][64]uint32 // elements of A as they are stored, b1 in words
	a     [16]num.Terms
	b     [8]num.Terms
	ai    [16][num.PanelRows]int32
	bi    [8 * num.PanelRows]int32
	panel num.IntPanel
	rows  [8][64]uint32 // elements of eight columns of B
}

// wgmma checks what a warp can know when it issues a product; meetGroup computes it.
func wgmma(w *warp, in *inst, m uint32) {
	if n := len(w.blk.warps); w.id|(exec.GroupWarps-1) >= n {
		w.failf(m, "%s needs a warp group, four warps from a multiple of four on: the block has %d warps", w.info().Op, n)
		return
	}
	w.needAll(in, m)
}

// multiply computes a warp's rows of a product.
func (w *warp) multiply(op *wgmmaOp) {
	wk := w.blk.wk
	if wk.wide == nil {
		wk.wide = new(wgTile)
	}
	t := wk.wide
	db, ok := w.descriptor(w.u64(op.descB)[0], "B")
	if !ok {
		return
	}
	if n := uint64(op.k * op.element / 8); !op.transB && db.mask != 0 && n > db.width {
		w.failf(full, "the columns of B have %d bytes along k, but the swizzle of their descriptor has rows of %d", n, db.width)
		return
	}
	if !w.wgmmaA(op, t) {
		return
	}
	keep := w.pr[op.scaled]
	if op.neg {
		keep = ^keep
	}
	for col := 0; col < op.n; col += 8 {
		if !w.wgmmaB(op, t, &db, col) {
			return
		}
		w.wgmmaColumns(op, t, col, keep&1 != 0)
	}
	if w.blk.probe != nil {
		w.wgmmaSeen(op, &db)
	}
}

// wgmmaSeen tells the probe of what the product reads of shared memory: each warp of its rows of A, and the first
// one of B. Lanes stand for chunks of 16 bytes.
func (w *warp) wgmmaSeen(op *wgmmaOp, db *matrixDesc) {
	own := w.addr
	defer func() { w.addr = own }()
	n := 0
	flush := func() {
		if n == 0 {
			return
		}
		a := &w.blk.access
		*a = exec.Access{Warp: w.id, Site: w.site(), Depth: w.fr.depth, Inst: w.info(), Addr: &w.addr, Bytes: 16, Read: true, Flight: true, By: isa.ByProduct}
		w.tellAccess(a, isa.Shared, full>>(32-n))
		n = 0
	}
	matrix := func(m *matrixDesc, from, to, k int, trans bool) {
		per := 128 / op.element // elements in a chunk
		mn, inner := 1, per
		if trans {
			mn, inner = per, 1
		}
		for i := from; i < to; i += mn {
			for c := 0; c < k; c += inner {
				col := c
				if !trans {
					col /= per
				}
				w.addr[n] = m.chunkAt(i, col, trans)
				if n++; n == 32 {
					flush()
				}
			}
		}
	}
	if op.descA != none {
		if da, ok := w.descriptor(w.u64(op.descA)[0], "A"); ok {
			row := w.id % exec.GroupWarps * 16
			matrix(&da, row, row+16, op.ka, op.transA)
		}
	}
	if w.id%exec.GroupWarps == 0 {
		matrix(db, 0, op.n, op.k, op.transB)
	}
	flush()
}

// meetGroup makes the running fragment, which has issued a product of its warp group, wait until the other
// warps of the group have, and computes it then.
func (w *warp) meetGroup() {
	b, i := w.blk, exec.GroupBarriers+w.id/exec.GroupWarps
	if wrong := b.Arrive(i, w.id, full, 32*exec.GroupWarps, true); wrong != "" {
		w.failf(w.mask, "%s", wrong)
		return
	}
	w.pc--
	w.waitAt(i, w.mask)
	if b.Complete(i) {
		first := w.id / exec.GroupWarps * exec.GroupWarps
		for k := range b.warps[first : first+exec.GroupWarps] {
			if x := &b.warps[first+k]; !x.multiplyAt(i) {
				w.fault = x.fault // so that this warp stops, too
				return
			}
		}
	}
	b.tryRelease(i)
}

// multiplyAt computes the warp's part of the product at which it waits, at barrier i of the block. It reports whether
// there was no fault.
func (w *warp) multiplyAt(i int) bool {
	for n := range w.frags {
		f := &w.frags[n]
		if f.st != atBarrier || int(f.bar) != i {
			continue
		}
		w.pc, w.mask = f.pc, f.mask
		w.enter(f.fr)
		w.multiply(w.code[f.pc].x.any.(*wgmmaOp))
	}
	return w.fault == nil
}

// wgmmaA gathers the warp's rows of A.
func (w *warp) wgmmaA(op *wgmmaOp, t *wgTile) bool {
	if op.descA == none {
		w.wgmmaRegs(op, t)
	} else {
		da, ok := w.descriptor(w.u64(op.descA)[0], "A")
		if !ok || !w.wgmmaShared(op, t, &da) {
			return false
		}
	}
	for r := range t.raw {
		counted := ^uint64(0)
		if op.sparse != nil {
			if counted = w.spread(op, t, r); counted == 0 {
				return false
			}
		}
		row := t.raw[r][:op.stored(op.k)]
		switch op.class {
		case mmaBit:
		case mmaInt8:
			for i, x := range row {
				t.ai[r][i] = signed8(x, op.signA)
			}
		default:
			op.terms(&t.a[r], row, &op.wa, op.emin[0], op.negA)
			t.a[r].Choose(counted)
		}
	}
	return true
}

// stored is the number of elements of n in raw: b1 comes in words.
func (op *wgmmaOp) stored(n int) int {
	if op.class == mmaBit {
		return n / 32
	}
	return n
}

func signed8(x uint32, signed bool) int32 {
	if signed {
		return int32(int8(x))
	}
	return int32(x & 0xff)
}

// terms widens elements.
func (op *wgmmaOp) terms(to *num.Terms, from []uint32, wd *widening, emin int32, neg bool) {
	sign := uint32(0)
	if neg {
		sign = 1 << 31
	}
	to.Begin()
	for i, x := range from {
		switch {
		case wd.bits == 32:
			x = num.TF32ToF32(x)
		case wd.bf16:
			x <<= 16
		case wd.bits == 16:
			x = num.F16ToF32(uint16(x))
		default:
			x = num.NarrowToF32(uint8(x), wd.format)
		}
		to.Set(i, x^sign, emin)
	}
}

// wgmmaRegs takes A out of registers.
func (w *warp) wgmmaRegs(op *wgmmaOp, t *wgTile) {
	per := perReg(op.at)
	for r, reg := range op.a {
		v := w.u32(reg)
		for lane, x := range v {
			at := int(op.aAt[32*r+lane])
			row, k := at/op.ka, at%op.ka
			if op.class == mmaBit {
				t.raw[row][k/32] = x
				continue
			}
			for e := range per {
				t.raw[row][k+e] = x >> (e * op.element) & (1<<op.element - 1)
			}
		}
	}
}

// wgmmaShared takes A out of shared memory.
func (w *warp) wgmmaShared(op *wgmmaOp, t *wgTile, m *matrixDesc) bool {
	first := 16 * (w.id & 3)
	if op.transA {
		for k := range op.ka {
			for half := range 2 {
				p := w.chunk(m, first+8*half, k, true, "A")
				if p == nil {
					return false
				}
				for i := range 8 {
					t.raw[8*half+i][k] = uint32(le.Uint16(p[2*i:]))
				}
			}
		}
		return true
	}
	for r := range t.raw {
		if !w.wgmmaRow(op, &t.raw[r], m, first+r, op.ka, "A") {
			return false
		}
	}
	return true
}

// wgmmaRow takes k elements of a row of A or a column of B, which lie along k.
func (w *warp) wgmmaRow(op *wgmmaOp, to *[64]uint32, m *matrixDesc, mn, k int, what string) bool {
	for c := range k * op.element / 128 {
		p := w.chunk(m, mn, c, false, what)
		if p == nil {
			return false
		}
		switch op.element {
		case 16:
			for i := range 8 {
				to[(8*c+i)&63] = uint32(le.Uint16(p[2*i:]))
			}
		case 8:
			for i, x := range p {
				to[(16*c+i)&63] = uint32(x)
			}
		default: // 32, and bits in words
			for i := range 4 {
				to[(4*c+i)&63] = le.Uint32(p[4*i:])
			}
		}
	}
	return true
}

// spread puts the elements of a row of sparse A at their places, which it returns as bits; none if the
// metadata are wrong.
func (w *warp) spread(op *wgmmaOp, t *wgTile, r int) (counted uint64) {
	var at [sparseMax]int
	if !w.places(&op.mmaOp, r, &at) {
		return 0
	}
	packed := t.raw[r]
	t.raw[r] = [64]uint32{}
	for i := range op.sparse.count {
		t.raw[r][at[i]&63] = packed[i]
		counted |= 1 << (at[i] & 63)
	}
	return counted
}

// wgmmaB gathers eight columns of B.
func (w *warp) wgmmaB(op *wgmmaOp, t *wgTile, m *matrixDesc, col int) bool {
	if op.transB {
		for k := range op.k {
			p := w.chunk(m, col, k, true, "B")
			if p == nil {
				return false
			}
			for i := range 8 {
				t.rows[i][k&63] = uint32(le.Uint16(p[2*i:]))
			}
		}
	} else {
		for i := range t.rows {
			if !w.wgmmaRow(op, &t.rows[i], m, col+i, op.k, "B") {
				return false
			}
		}
	}
	switch op.class {
	case mmaBit:
	case mmaInt8:
		for i := range t.rows {
			for k, x := range t.rows[i][:op.k] {
				t.bi[i*op.k+k] = signed8(x, op.signB)
			}
		}
		t.panel.Fill(t.bi[:], op.k, op.signA || op.signB)
	default:
		for i := range t.rows {
			op.terms(&t.b[i], t.rows[i][:op.k], &op.wb, op.emin[1], op.negB)
		}
	}
	return true
}

// wgmmaColumns computes eight columns of D from col on. A lane has columns 2t and 2t+1 of rows g and
// g+8, where t is its place in its group of four, and g the group.
func (w *warp) wgmmaColumns(op *wgmmaOp, t *wgTile, col int, keep bool) {
	for row := range 16 {
		var acc [8]uint32
		if keep {
			for i := range acc {
				acc[i] = w.wgmmaIn(op, row, col, i)
			}
		}
		switch op.class {
		case mmaInt8:
			t.panel.Row(&acc, t.ai[row][:op.k], op.sat)
		case mmaBit:
			for i := range acc {
				acc[i] = uint32(num.DotB1(int32(acc[i]), t.raw[row][:op.k/32], t.rows[i][:op.k/32], true))
			}
		case mmaHalf:
			for i := range acc {
				acc[i] = uint32(num.HopperF16(uint16(acc[i]), &t.a[row], &t.b[i], op.k, op.bits))
			}
		default:
			for i := range acc {
				acc[i] = num.HopperF32(acc[i], &t.a[row], &t.b[i], op.k, op.bits)
			}
		}
		for i, v := range acc {
			w.wgmmaOut(op, row, col, i, v)
		}
	}
}

// wgmmaAt returns the lane and the element of D of a row and column col+i.
func wgmmaAt(row, col, i int) (lane, v int) { return row&7*4 + i>>1, col/8*4 + row>>3*2 + i&1 }

func (w *warp) wgmmaIn(op *wgmmaOp, row, col, i int) uint32 {
	lane, v := wgmmaAt(row, col, i)
	if op.dt == "f16" {
		return w.r32[op.c[v/2]][lane&31] >> (16 * (v & 1)) & 0xffff
	}
	return w.r32[op.c[v]][lane&31]
}

func (w *warp) wgmmaOut(op *wgmmaOp, row, col, i int, x uint32) {
	lane, v := wgmmaAt(row, col, i)
	if op.dt != "f16" {
		w.r32[op.d[v]][lane&31] = x
		return
	}
	p, shift := &w.r32[op.d[v/2]][lane&31], 16*(v&1)
	*p = bits.RotateLeft32(bits.RotateLeft32(*p, -shift)&^0xffff|x, shift)
}
