package ptx

import (
	"errors"
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: products of Blackwell's data-centre GPUs (tcgen05.mma). One thread issues a product of a block, or of a
// pair of blocks of a cluster. D is in tensor memory, A in shared or tensor memory, B in shared memory. Of a pair, each
// block has half of the rows of A and D, and half of the columns of B. Descriptors of matrices are those of wgmma but
// for a few bits. Floats are added as wgmma adds f16, which is assumed for all types: nothing is published.

// tcFormat is a format of elements.
type tcFormat struct {
	bits   int  // of an element where it is stored; 6 and 4 lie packed at the start of 16 bytes of 16 elements,
	dense  bool // and here in all of 16 bytes
	bf16   bool
	tf32   bool
	narrow num.Narrow // of 8 bits and less
	emin   int32      // smallest exponent of a normal number
	signed bool       // of integers
}

// tcKinds are the formats of A and B of each kind, by their number in the instruction descriptor (PTX manual,
// instruction descriptor of tcgen05).
var tcKinds = map[string]map[uint32]tcFormat{
	"kind::f16":  {0: {bits: 16, emin: -14}, 1: {bits: 16, bf16: true, emin: -126}},
	"kind::tf32": {2: {bits: 32, tf32: true, emin: -126}},
	"kind::f8f6f4": {0: {bits: 8, narrow: num.E4M3, emin: -6}, 1: {bits: 8, narrow: num.E5M2, emin: -14}, 3: {bits: 6, narrow: num.E2M3, emin: 0},
		4: {bits: 6, narrow: num.E3M2, emin: -2}, 5: {bits: 4, narrow: num.E2M1, emin: 0}},
	"kind::i8":       {0: {bits: 8}, 1: {bits: 8, signed: true}},
	"kind::mxf4":     {1: {bits: 4, dense: true, narrow: num.E2M1}},
	"kind::mxf4nvf4": {1: {bits: 4, dense: true, narrow: num.E2M1}},
}

func init() { tcKinds["kind::mxf8f6f4"] = tcKinds["kind::f8f6f4"] }

// tcgenOp is a decoded tcgen05.mma.
type tcgenOp struct {
	kind   map[uint32]tcFormat
	ints   bool
	wide   bool // elements of 16 bits and more
	pair   bool
	d      *inst
	a      *inst // in tensor memory; nil: descA
	descA  ref
	descB  ref
	desc   ref   // of the instruction
	masks  []ref // lanes of D that stay as they are
	enable ref
	neg    bool
	scale  uint64 // D is divided by 2 to this before it is added
	blocks int    // elements that share a scale; 0: none
	scales [2]*inst
}

func (d *dec) tcgenMMA(in *ptx.Inst, o *inst) error {
	op := &tcgenOp{pair: in.Has("cta_group::2"), ints: in.Has("kind::i8")}
	for _, m := range in.Mods {
		if k := tcKinds[m]; k != nil {
			op.kind = k
			op.wide = m == "kind::f16" || m == "kind::tf32"
		}
	}
	if op.kind == nil || in.Has("sp") || in.Has("ws") || in.Has("ashift") {
		return errUnsupported
	}
	if in.Has("block_scale") {
		if op.blocks = 32; in.Has("scale_vec::4X") || in.Has("block16") {
			op.blocks = 16
		}
	}
	args := in.Args
	if len(args) < 5 {
		return errors.New("takes D, A, B, an instruction descriptor and a predicate")
	}
	var err error
	if op.d, err = d.address2(&args[0], isa.Shared); err != nil {
		return err
	}
	if args[1].Kind == ptx.OpAddr {
		op.a, err = d.address2(&args[1], isa.Shared)
	} else {
		op.descA, err = d.src64(&args[1], "b64")
	}
	if err != nil {
		return err
	}
	if op.descB, err = d.src64(&args[2], "b64"); err != nil {
		return err
	}
	if op.desc, err = d.src32(&args[3], "b32"); err != nil {
		return err
	}
	args = args[4:]
	if op.blocks > 0 {
		if len(args) != 3 {
			return errors.New("takes D, A, B, an instruction descriptor, scales of A and B, and a predicate")
		}
		for i := range op.scales {
			if op.scales[i], err = d.address2(&args[i], isa.Shared); err != nil {
				return err
			}
		}
		args = args[2:]
	}
	if args[0].Kind == ptx.OpVec {
		want := 4
		if op.pair {
			want = 8
		}
		if op.masks, err = d.fragRegs(&args[0], want, false, false); err != nil {
			return err
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return errors.New("needs a predicate that says whether D is added")
	}
	if op.enable, op.neg, err = d.srcPred(&args[0]); err != nil {
		return err
	}
	if len(args) > 1 {
		if args[1].Kind != ptx.OpImm || args[1].Imm.Bits > 15 || !op.wide {
			return errors.New("needs a constant from 0 to 15 as scale of D, which only the kinds f16 and tf32 have")
		}
		op.scale = args[1].Imm.Bits
	}
	o.x = &extra{any: op}
	o.run = func(w *warp, in *inst, m uint32) {
		for ; m != 0 && w.fault == nil; m &= m - 1 {
			w.tcgenProduct(in.x.any.(*tcgenOp), bits.TrailingZeros32(m)&31)
		}
	}
	return nil
}

// tcgenDescriptor decodes a descriptor of a matrix in shared memory (PTX manual, shared memory descriptor of
// tcgen05); false after a fault.
func (w *warp) tcgenDescriptor(v uint64, what string) (m matrixDesc, ok bool) {
	if m = matrixOf(v); v>>61&1 != 0 {
		w.failf(full, "the descriptor %#x of %s has swizzle %d, which is not supported", v, what, v>>61)
		return m, false
	}
	if v>>49&7 != 0 || v>>52&1 != 0 {
		w.failf(full, "the descriptor %#x of %s has a base offset or an absolute leading offset, which are not supported", v, what)
		return m, false
	}
	return m, true
}

// tcRows are rows of A or columns of B: elements as they are stored.
type tcRows [][64]uint32

// gather takes rows of a matrix out of a block's shared memory, and notes what it reads there; false after a fault.
func (w *warp) gather(b *block, to tcRows, m *matrixDesc, f tcFormat, k int, across bool, what string, reads *chunks) bool {
	size := max(1, f.bits/8)
	per := 16 / size // elements in 16 bytes
	if f.dense {
		per = 128 / f.bits
	}
	if !across {
		for r := range to {
			for c := 0; c < k; c += per {
				at := m.chunkAt(r, c/per, false)
				p := w.chunkOf(b, at, what)
				if p == nil {
					return false
				}
				*reads = append(*reads, at)
				for i := range per {
					to[r][c+i] = f.stored(p, i)
				}
			}
		}
		return true
	}
	for r := 0; r < len(to); r += per {
		for c := range k {
			at := m.across(r, c, size)
			p := w.chunkOf(b, at, what)
			if p == nil {
				return false
			}
			*reads = append(*reads, at)
			for i := range per {
				if r+i < len(to) {
					to[r+i][c] = f.stored(p, i)
				}
			}
		}
	}
	return true
}

// stored is element i of 16 bytes.
func (f tcFormat) stored(p *[16]byte, i int) uint32 {
	switch f.bits {
	case 32:
		return le.Uint32(p[4*i:])
	case 16:
		return uint32(le.Uint16(p[2*i:]))
	case 8:
		return uint32(p[i])
	}
	at := i * f.bits
	return uint32(uint16(p[at/8])|uint16(p[(at/8+1)&15])<<8) >> (at % 8) & (1<<f.bits - 1)
}

// f32 is the value of an element.
func (f tcFormat) f32(x uint32) uint32 {
	switch {
	case f.tf32:
		return num.TF32ToF32(x)
	case f.bf16:
		return x << 16
	case f.bits == 16:
		return num.F16ToF32(uint16(x))
	}
	return num.NarrowToF32(uint8(x), f.narrow)
}

// tcShape is what an instruction descriptor says.
type tcShape struct {
	m, n, k    int
	a, b       tcFormat
	out        uint32 // 0 f16, 1 f32, 2 s32
	negA, negB bool
	acrossA    bool // MN-major
	acrossB    bool
	saturates  bool
	sfA, sfB   uint32 // the first byte of a word that has a scale
	powers     bool   // scales are powers of two (ue8m0), not ue4m3
}

// tcgenShape decodes an instruction descriptor; false after a fault.
func (w *warp) tcgenShape(op *tcgenOp, v uint32) (s tcShape, ok bool) {
	s = tcShape{m: int(v >> 24 & 31 * 16), n: int(v >> 17 & 63 * 8), out: v >> 4 & 3, negA: v>>13&1 != 0, negB: v>>14&1 != 0,
		acrossA: v>>15&1 != 0, acrossB: v>>16&1 != 0, saturates: v>>3&1 != 0}
	if op.blocks > 0 { // D is f32
		s.out, s.sfB, s.sfA, s.powers, s.saturates = 1, v>>4&3, v>>29&3, v>>23&1 != 0, false
	}
	var okA, okB bool
	s.a, okA = op.kind[v>>7&7]
	s.b, okB = op.kind[v>>10&7]
	rows, step, wrong := s.m, 8, ""
	if op.pair {
		rows /= 2
	}
	if rows == 128 && op.blocks == 0 {
		step = 16
	}
	switch {
	case !okA || !okB:
		wrong = "a format that its kind lacks"
	case op.ints != (s.out == 2) || s.out == 3 || s.out == 0 && s.a.tf32:
		wrong = "a format of D that its kind lacks"
	case v>>2&1 != 0:
		wrong = "sparse A, which is not supported"
	case op.blocks == 0 && v>>30 != 0 || op.blocks > 0 && v>>31 != 0:
		wrong = "a shift of A or 96 elements along K, which are not supported"
	case op.blocks > 0 && rows != 128:
		wrong = "scales with fewer than 128 rows in a block, which are not supported"
	case op.blocks > 0 && (s.a.dense && (s.sfA|s.sfB)&1 != 0 || op.blocks == 16 && s.sfA|s.sfB != 0):
		wrong = "scales at bytes that its blocks do not have"
	case op.blocks == 32 && !s.powers:
		wrong = "scales of ue4m3 for blocks of 32, which are not supported"
	case op.ints && (s.negA || s.negB || s.n > 32 && s.n%16 != 0):
		wrong = "a shape or sign that integers do not have"
	case s.out == 0 && (s.a.bf16 || s.b.bf16):
		wrong = "sums in f16 of bf16"
	case rows != 64 && rows != 128 || s.n < 8 || s.n > 256 || s.n%step != 0 || op.pair && s.n%16 != 0:
		wrong = "a shape that the manual does not have"
	case (s.acrossA || s.acrossB) && (s.a.bits == 32 || s.a.bits < 8 || s.b.bits < 8):
		wrong = "a transposition that is not supported"
	}
	if wrong != "" {
		w.failf(full, "the instruction descriptor %#x of %s (M %d, N %d) asks for %s", v, w.info().Op, s.m, s.n, wrong)
		return s, false
	}
	if s.k = 32; op.wide || s.a.dense { // 32 bytes
		s.k = 256 / s.a.bits
	}
	return s, true
}

// note tells a core model what a product takes of each of its SMs. A row of A and a column of B are 32 bytes; formats of 6
// and 4 bits beside those of 8 are multiplied as these.
func (s *tcShape) note(b *exec.Bulk, blocks int, shared bool) {
	b.Pair = blocks > 1
	size := max(8, s.a.bits)
	if s.a.dense {
		size = s.a.bits
	}
	b.Products += max(s.m/blocks, 128) * s.n * s.k * size / 16 // fewer rows leave units idle (assumed)
	if b.Operands += 32 * s.n / blocks; shared {
		b.Operands += 32 * s.m / blocks
	}
}

// tcgenProduct computes the product that lane i issues.
func (w *warp) tcgenProduct(op *tcgenOp, i int) {
	s, ok := w.tcgenShape(op, w.u32(op.desc)[i])
	if !ok {
		return
	}
	group := w.ctaGroup(op.pair)
	if group == nil {
		return
	}
	if w.blk.postpones {
		s.note(w.bulk.begin(), len(group), op.a == nil)
	}
	columns := make(tcRows, s.n)
	db, ok := w.tcgenDescriptor(w.u64(op.descB)[i], "B")
	if !ok {
		return
	}
	part := s.n / len(group)
	var reads [2]chunks // by blocks of the group
	for g, b := range group {
		if !w.gather(b, columns[g*part:][:part], &db, s.b, s.k, s.acrossB, "B", &reads[g]) {
			return
		}
	}
	w.addresses(op.d, 1<<i)
	at := uint32(w.addr[i])
	keep := w.pr[op.enable]>>i&1 != 0 != op.neg
	for g, b := range group {
		rows := make(tcRows, s.m/len(group))
		if op.a != nil {
			ok = w.tmemRows(b, op, &s, rows, i)
		} else {
			var da matrixDesc
			if da, ok = w.tcgenDescriptor(w.u64(op.descA)[i], "A"); ok {
				ok = w.gather(b, rows, &da, s.a, s.k, s.acrossA, "A", &reads[g])
			}
		}
		if !ok {
			return
		}
		var masks [4]uint32 // lanes that stay
		for k := range masks {
			if op.masks != nil {
				masks[k] = w.u32(op.masks[4*g+k])[i]
			}
		}
		var scales [2]uint32
		for k, x := range op.scales {
			if x != nil {
				w.addresses(x, 1<<i)
				scales[k] = uint32(w.addr[i])
			}
		}
		paired := len(group) == 2
		if !w.tcgenBlock(b, op, scales, &s, rows, columns, at, keep, paired, &masks) {
			return
		}
		if w.blk.probe != nil {
			w.seenProduct(b, op, &s, i, len(rows), reads[g], scales, at, keep, paired && len(rows) == 64, &masks)
		}
	}
}

// tmemRows takes rows of A out of tensor memory: a row is a lane, and elements lie along it.
func (w *warp) tmemRows(b *block, op *tcgenOp, s *tcShape, rows tcRows, i int) bool {
	w.addresses(op.a, 1<<i)
	lane, column := int(w.addr[i]>>16&0xffff), int(w.addr[i]&0xffff)
	for r := range rows {
		cells := w.tmemCells(b, lane+tmemLane(r, len(rows)), column, 8)
		if cells == nil {
			return false
		}
		var p [16]byte
		per := s.k / 2
		for half := range 2 {
			for k := range 4 {
				le.PutUint32(p[4*k:], cells[4*half+k])
			}
			for e := range per {
				rows[r][half*per+e] = s.a.stored(&p, e)
			}
		}
	}
	return true
}

// tmemLane is the lane of a row, of 64 or 128: 64 rows take half of the lanes that each warp reaches (PTX manual, data
// path layouts of tcgen05.mma).
func tmemLane(row, rows int) int {
	if rows == 64 {
		return row%16 + row/16*32
	}
	return row
}

// tcgenBlock computes the part of a product whose rows a block has; false after a fault.
func (w *warp) tcgenBlock(b *block, op *tcgenOp, scales [2]uint32, s *tcShape, rows, columns tcRows, at uint32, keep, paired bool, masks *[4]uint32) bool {
	var right []num.Terms
	if !op.ints {
		right = make([]num.Terms, len(columns))
		for n := range right {
			s.b.terms(&right[n], columns[n][:s.k], s.negB)
			if op.blocks > 0 && !w.scaled(b, &right[n], scales[1], n, s.sfB, op.blocks, s) {
				return false
			}
		}
	}
	lane0, column0 := int(at>>16), int(at&0xffff)
	split := paired && len(rows) == 64 // the second half of the columns is in the lanes from 64 on
	for r := range rows {
		var left num.Terms
		if !op.ints {
			s.a.terms(&left, rows[r][:s.k], s.negA)
			if op.blocks > 0 && !w.scaled(b, &left, scales[0], r, s.sfA, op.blocks, s) {
				return false
			}
		}
		for n := range columns {
			lane, column := lane0+tmemLane(r, len(rows)), column0+n
			if split {
				half := len(columns) / 2
				lane, column = lane0+r+64*(n/half), column0+n%half
			}
			cells := w.tmemCells(b, lane, column, 1)
			if cells == nil {
				return false
			}
			if masks[lane/32]>>(lane%32)&1 != 0 {
				continue
			}
			acc := uint32(0)
			if keep {
				acc = cells[0]
			}
			switch s.out {
			case 0:
				if op.scale != 0 {
					acc = uint32(num.F32ToF16(scaledDown(num.F16ToF32(uint16(acc)), op.scale), num.RN))
				}
				acc = uint32(num.HopperF16(uint16(acc), &left, &right[n], s.k, num.HopperBits))
			case 1:
				if op.scale != 0 {
					acc = scaledDown(acc, op.scale)
				}
				acc = num.HopperF32(acc, &left, &right[n], s.k, num.HopperBits)
			default:
				acc = s.integers(acc, &rows[r], &columns[n])
			}
			cells[0] = acc
		}
	}
	return true
}

// scaledDown is an f32 divided by a power of two.
func scaledDown(x uint32, by uint64) uint32 {
	return math.Float32bits(float32(math.Ldexp(float64(math.Float32frombits(x)), -int(by))))
}

// scaled multiplies the blocks of a row of A or column of B by their scales: bytes of a word of tensor memory, in lane
// row%32 and column row/32 from an address on (PTX manual, scale factors; the layout is that which tcgen05.cp makes of
// 32x128b.warpx4). It reports whether there was no fault.
func (w *warp) scaled(b *block, t *num.Terms, at uint32, row int, first uint32, block int, s *tcShape) bool {
	cells := w.tmemCells(b, int(at>>16)+row%32, int(at&0xffff)+row/32, 1)
	if cells == nil {
		return false
	}
	for k := range s.k {
		x := uint8(cells[0] >> (8 * (first + uint32(k/block)) & 31))
		by := math.Ldexp(1, int(x)-127)
		switch {
		case s.powers && x == 0xff:
			by = math.NaN()
		case !s.powers:
			by = float64(math.Float32frombits(num.NarrowToF32(x&0x7f, num.E4M3)))
		}
		t.Scale(k, by)
	}
	return true
}

// terms widens elements.
func (f tcFormat) terms(to *num.Terms, from []uint32, neg bool) {
	sign := uint32(0)
	if neg {
		sign = 1 << 31
	}
	to.Begin()
	for i, x := range from {
		to.Set(i, f.f32(x)^sign, f.emin)
	}
}

// integers adds products of integers to a sum, which wraps or saturates.
func (s *tcShape) integers(acc uint32, a, b *[64]uint32) uint32 {
	sum := int64(int32(acc))
	for k := range s.k {
		sum += int64(signed8(a[k], s.a.signed)) * int64(signed8(b[k], s.b.signed))
	}
	if s.saturates {
		sum = min(max(sum, -1<<31), 1<<31-1)
	}
	return uint32(sum)
}
