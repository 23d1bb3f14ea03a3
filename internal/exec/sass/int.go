package sass

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: integers, bits and moves. A vector instruction and its uniform counterpart
// share one operation: the uniform one runs in lane 0.

func init() {
	putLanes(decodeIADD3, sass.OpIADD3, sass.OpUIADD3)
	putLanes(decodeIMAD, sass.OpIMAD, sass.OpUIMAD)
	putLanes(decodeLEA, sass.OpLEA, sass.OpULEA)
	putLanes(decodeLOP3, sass.OpLOP3, sass.OpULOP3)
	putLanes(decodeSHF, sass.OpSHF, sass.OpUSHF)
	putLanes(decodePRMT, sass.OpPRMT, sass.OpUPRMT)
	putLanes(decodeBits, sass.OpBMSK, sass.OpUBMSK, sass.OpSGXT, sass.OpUSGXT, sass.OpPOPC, sass.OpUPOPC, sass.OpFLO, sass.OpUFLO,
		sass.OpBREV, sass.OpUBREV, sass.OpIABS)
	putLanes(decodeIADD, sass.OpIADD)
	putLanes(decodeVIADD, sass.OpVIADD)
	putLanes(decodeIMNMX, sass.OpIMNMX, sass.OpVIMNMX, sass.OpUIMNMX, sass.OpUVIMNMX)
	putLanes(decodeISETP, sass.OpISETP, sass.OpUISETP)
	putLanes(decodeSEL, sass.OpSEL, sass.OpUSEL)
	putLanes(decodeMOV, sass.OpMOV, sass.OpUMOV)
	putLanes(decodeIDP, sass.OpIDP)
	putLanes(decodeVABSDIFF, sass.OpVABSDIFF, sass.OpVABSDIFF4)
}

// once marks the instructions of the uniform datapath: their result is uniform, and
// nothing in them differs from lane to lane.
func (d *dec) once() {
	if rd := d.in.Find(sass.Rd); rd != nil {
		d.o.uniform = rd.Kind == sass.UReg
	} else {
		d.o.uniform = d.in.Guard.Uniform || d.o.toUP
	}
}

// sources appends n values, each with its sign or inversion.
func (d *dec) sources(n int) error {
	v := d.values()
	if len(v) < n {
		return errForm
	}
	for _, o := range v[:n] {
		if err := d.addBits(o); err != nil {
			return err
		}
	}
	return nil
}

// decodeIADD3: the sum of three terms. A negated term counts as its inverse plus
// one, in 33 bits, so that the negation of 0 carries out; with .X it is only
// inverted, and two predicates are added (hardware tests of a Mesa driver).
func decodeIADD3(d *dec) error {
	if d.in.Op == sass.OpUIADD3 && d.in.Has("64") {
		return d.sumWide(3)
	}
	if err := d.only("X"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	if err := d.terms(d.values(), 3); err != nil {
		return err
	}
	d.predResult(0, sass.Pu)
	d.predResult(1, sass.Pv)
	d.o.lanes = opIADD3
	d.predSource(0, sass.Pp, false)
	d.predSource(1, sass.Pq, false)
	d.once()
	o, never := d.o, predicate{predTrue, true}
	if o.ps[0] != never || o.ps[1] != never || o.pd != [2]uint8{noPredicate, noPredicate} {
		return nil
	}
	o.lanes, o.ps = opSum, [3]predicate{{at: predTrue}, {at: predTrue}, {at: predTrue}}
	if z := o.src[2]; z == plain(z.row) && z.row == d.literal(0) && o.count == 0 {
		o.lanes = opIADD
	}
	return nil
}

// terms appends n terms of a sum.
func (d *dec) terms(v []*sass.Operand, n int) error {
	if len(v) != n {
		return errForm
	}
	for _, o := range v {
		r, err := d.word(o, 0)
		if err != nil {
			return err
		}
		s := plain(r)
		if o.Neg || o.Not {
			s.xor = full
			if !d.in.Has("X") {
				d.o.count++
			}
		}
		if err := d.add(s); err != nil {
			return err
		}
	}
	return nil
}

func opIADD3(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _, _ = d[0], a[0], b[0], c[0]
	n := uint64(in.count)
	if !in.sets {
		if y == 0 && m == full { // the high half of a sum, with one carry; opSum has those without
			for i := range d {
				d[i] = a[i] + b[i] + c[i] + uint32(n) + x>>i&1
			}
			return 0, 0
		}
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = a[i] + b[i] + c[i] + uint32(n) + x>>i&1 + y>>i&1
		}
		return 0, 0
	}
	var u, v uint32
	if x|y == 0 && m == full {
		for i := range d {
			s := uint64(a[i]) + uint64(b[i]) + uint64(c[i]) + n
			d[i] = uint32(s)
			h := uint32(s >> 32) // at most 3
			u |= (h | h>>1) & 1 << i
			v |= h >> 1 << i
		}
		return u, v
	}
	for _, i := range w.lanes(m) {
		i &= 31
		s := uint64(a[i]) + uint64(b[i]) + uint64(c[i]) + n + uint64(x>>i&1) + uint64(y>>i&1)
		d[i] = uint32(s)
		h := uint32(s >> 32) // at most 3
		u |= (h | h>>1) & 1 << i
		v |= h >> 1 << i
	}
	return u, v
}

// opSum is opIADD3 without predicates.
func opSum(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _, _ = d[0], a[0], b[0], c[0]
	n := uint32(in.count)
	if m == full {
		for i := range d {
			d[i] = a[i] + b[i] + c[i] + n
		}
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = a[i] + b[i] + c[i] + n
	}
	return 0, 0
}

// decodeIADD: the sum of two terms, of 32 or 64 bits; either may be negated.
func decodeIADD(d *dec) error {
	if d.in.Has("64") {
		return d.sumWide(2)
	}
	if err := d.only("X"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	if p := d.in.Find(sass.Pu); !d.in.Has("X") && (p == nil || p.Reg == sass.PT) {
		d.o.lanes = opIADD
		return d.sources(2)
	}
	// As IADD3 with a third term of 0.
	if err := d.terms(d.values(), 2); err != nil {
		return err
	}
	if err := d.add(plain(d.literal(0))); err != nil {
		return err
	}
	d.predResult(0, sass.Pu)
	d.predSource(0, sass.Pp, false)
	d.o.ps[1] = predicate{predTrue, true}
	d.o.lanes = opIADD3
	return nil
}

func opIADD(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _ = d[0], a[0], b[0]
	if m == full {
		for i := range d {
			d[i] = a[i] + b[i]
		}
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = a[i] + b[i]
	}
	return 0, 0
}

// sumWide: the sum of two or three 64-bit terms, some of which may be negated. The meaning of
// its predicate results is not known.
func (d *dec) sumWide(terms int) error {
	if err := d.only("64"); err != nil {
		return err
	}
	if err := d.result(2); err != nil {
		return err
	}
	v := d.values()
	if len(v) != terms {
		return errForm
	}
	for _, o := range v {
		at := d.o.nsrc
		if err := d.addWords(o, 2); err != nil {
			return err
		}
		if o.Neg {
			d.o.src[at].xor, d.o.src[at+1].xor = full, full
			d.o.imm++
		}
	}
	for range 3 - terms {
		if err := d.addWords(&sass.Operand{Kind: sass.Imm}, 2); err != nil {
			return err
		}
	}
	d.o.run = opSumWide
	d.once()
	return nil
}

func opSumWide(w *warp, in *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		p.setPair(0, i, p.pair(0, i)+p.pair(2, i)+p.pair(4, i)+in.imm)
	}
}

// laneBits is the width of the numbers that a word is made of, by the modifiers of VIADD and
// VIMNMX.
func (d *dec) laneBits() (width int, signed bool) {
	switch {
	case d.in.Has("16x2"), d.in.Has("U16x2"):
		return 16, false
	case d.in.Has("S16x2"):
		return 16, true
	case d.in.Has("U8x4"):
		return 8, false
	case d.in.Has("S8x4"):
		return 8, true
	case d.in.Has("U32"):
		return 32, false
	}
	return 32, true
}

// decodeVIADD: sums of words, half words or bytes; the second term may be negated. .ISAT clamps
// a sum of words as signed numbers (PTX manual, add.sat.s32).
func decodeVIADD(d *dec) error {
	if err := d.only("16x2", "S32", "U8x4", "S8x4", "ISAT"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	v := d.values()
	if len(v) != 2 || v[0].Neg || v[0].Not || v[0].Abs {
		return errForm
	}
	o := d.o
	o.count, _ = d.laneBits()
	o.flag, o.sat = v[1].Neg, d.in.Has("ISAT")
	if o.sat && o.count != 32 {
		return errForm
	}
	o.lanes = opVIADD
	for _, op := range v {
		if err := d.addWords(op, 1); err != nil {
			return err
		}
	}
	return nil
}

func opVIADD(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		if in.sat {
			x, y := int64(int32(a[i])), int64(int32(b[i]))
			if in.flag {
				y = -y
			}
			d[i] = uint32(max(-1<<31, min(x+y, 1<<31-1)))
			continue
		}
		v := uint32(0)
		for at := 0; at < 32; at += in.count {
			x, y := a[i]>>at, b[i]>>at
			if in.flag {
				y = -y
			}
			v |= (x + y) & (full >> (32 - in.count)) << at
		}
		d[i] = v
	}
	return 0, 0
}

// The forms of IMAD, in inst.mode.
const (
	imadLow = iota
	imadWide
	imadHigh
)

// decodeIMAD: a·b + c. MOV, SHL, IADD and U32 in the mnemonic are hints for readers. .HI
// is assumed to add a whole pair c to the product, as .WIDE does.
func decodeIMAD(d *dec) error {
	if err := d.only("X", "WIDE", "HI", "U32", "MOV", "SHL", "IADD", "S32"); err != nil {
		return err
	}
	v := d.values()
	if len(v) != 3 {
		return errForm
	}
	o, n, words := d.o, 1, 1
	switch {
	case d.in.Has("WIDE"):
		o.mode, n, words = imadWide, 2, 2
	case d.in.Has("HI"):
		o.mode, words = imadHigh, 2
	}
	o.flag = !d.in.Has("U32") // signed
	if err := d.result(n); err != nil {
		return err
	}
	x := d.in.Has("X")
	for i, op := range v {
		switch {
		case i == 2 && words == 2:
			if op.Kind == sass.Imm { // 32 bits, not more
				if err := d.addWords(op, 1); err != nil {
					return err
				}
				if err := d.add(plain(d.literal(uint32(int32(op.Imm) >> 31)))); err != nil {
					return err
				}
				break
			}
			if err := d.addWords(op, 2); err != nil {
				return err
			}
			if op.Neg || op.Not {
				o.src[2].xor, o.src[3].xor = full, full
				if !x {
					o.imm = 1
				}
			}
		case x && (op.Neg || op.Not):
			r, err := d.word(op, 0)
			if err != nil {
				return err
			}
			s := plain(r)
			s.xor = full
			if err := d.add(s); err != nil {
				return err
			}
		default:
			if i < 2 && op.Neg && o.mode != imadLow {
				return errForm
			}
			if err := d.addBits(op); err != nil {
				return err
			}
		}
	}
	d.predResult(0, sass.Pu)
	d.predSource(0, sass.Pp, false)
	if !x {
		o.ps[0] = predicate{predTrue, true}
	}
	o.lanes = opIMAD
	if o.mode != imadLow {
		o.lanes = opIMADWide
	}
	d.once()
	return nil
}

func opIMAD(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _, _ = d[0], a[0], b[0], c[0]
	switch {
	case x == 0 && m == full:
		for i := range d {
			d[i] = a[i]*b[i] + c[i]
		}
		return 0, 0
	case x == 0:
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = a[i]*b[i] + c[i]
		}
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = a[i]*b[i] + c[i] + x>>i&1
	}
	return 0, 0
}

// opIMADWide: Pu is the carry out of the sum (assumed).
func opIMADWide(w *warp, in *inst, d, a, b, lo *[32]uint32, x, _, m uint32) (uint32, uint32) {
	up, hi := w.second, w.fourth
	sign := uint64(0) // extends a and b
	if in.flag {
		sign = ^uint64(0)
	}
	if in.mode == imadWide && x == 0 && !in.sets {
		_, _, _, _, _, _ = d[0], up[0], a[0], b[0], lo[0], hi[0]
		if m == full {
			for i := range d {
				s := product(a[i], b[i], sign) + (uint64(lo[i]) | uint64(hi[i])<<32) + in.imm
				d[i], up[i] = uint32(s), uint32(s>>32)
			}
			return 0, 0
		}
		for _, i := range w.lanes(m) {
			i &= 31
			s := product(a[i], b[i], sign) + (uint64(lo[i]) | uint64(hi[i])<<32) + in.imm
			d[i], up[i] = uint32(s), uint32(s>>32)
		}
		return 0, 0
	}
	var u uint32
	for _, i := range w.lanes(m) {
		i &= 31
		s, c1 := bits.Add64(product(a[i], b[i], sign), uint64(lo[i])|uint64(hi[i])<<32, uint64(x>>i&1))
		s, c2 := bits.Add64(s, in.imm, 0)
		u |= uint32(c1|c2) << i
		if in.mode == imadHigh {
			d[i] = uint32(s >> 32)
		} else {
			d[i], up[i] = uint32(s), uint32(s>>32)
		}
	}
	return u, 0
}

// product multiplies two words as signed numbers if sign is all ones, else as unsigned ones.
func product(a, b uint32, sign uint64) uint64 {
	x := uint64(a) | uint64(int64(int32(a))>>32<<32)&sign
	y := uint64(b) | uint64(int64(int32(b))>>32<<32)&sign
	return x * y
}

// What LEA shifts, in inst.mode.
const (
	leaLow      = iota // a
	leaHigh            // the pair {c, a}, of which it takes the upper half
	leaExtended        // the same with the sign of a for c
)

// decodeLEA: a shifted left, plus b. .HI takes the upper half of the shifted
// pair {c, a}, .SX32 the sign of a for c. Pu is the carry out of any step; with
// .X a negated term is inverted and a predicate added (hardware tests of a Mesa
// driver).
func decodeLEA(d *dec) error {
	if err := d.only("HI", "X", "SX32"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	v := d.values()
	o := d.o
	hi, sx := d.in.Has("HI"), d.in.Has("SX32")
	want := 3
	if hi && !sx {
		want = 4
	}
	if len(v) != want || v[want-1].Kind != sass.Imm {
		return errForm
	}
	o.count = int(v[want-1].Imm) & 31
	negated := uint64(0)
	for i, op := range v[:want-1] {
		r, err := d.word(op, 0)
		if err != nil {
			return err
		}
		s := plain(r)
		if i == 1 && (op.Neg || op.Not) {
			s.xor = full
			negated++
		}
		if i == 0 && (op.Neg || op.Not) {
			o.arg = 1 // the shifted operand is negated
			negated++
		}
		if err := d.add(s); err != nil {
			return err
		}
	}
	switch {
	case sx:
		o.mode = leaExtended
	case hi:
		o.mode = leaHigh
	}
	d.predResult(0, sass.Pu)
	d.predSource(0, sass.Pp, false)
	if !d.in.Has("X") {
		o.ps[0] = predicate{predTrue, true}
		o.imm = negated
	}
	o.lanes = opLEA
	d.once()
	return nil
}

func opLEA(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _ = d[0], a[0], b[0]
	n := in.count
	var u uint32
	switch {
	case in.arg == 0 && in.imm == 0 && in.mode == leaLow && m == full:
		for i := range d {
			s := uint64(a[i]<<(n&31)) + uint64(b[i]) + uint64(x>>i&1)
			d[i] = uint32(s)
			u |= uint32(s>>32) << i
		}
	case in.arg == 0 && in.imm == 0 && in.mode == leaLow:
		for _, i := range w.lanes(m) {
			i &= 31
			s := uint64(a[i]<<(n&31)) + uint64(b[i]) + uint64(x>>i&1)
			d[i] = uint32(s)
			u |= uint32(s>>32) << i
		}
	case in.arg == 0 && in.imm == 0 && in.mode == leaHigh:
		for _, i := range w.lanes(m) {
			i &= 31
			s := (uint64(a[i])|uint64(c[i])<<32)>>((32-n)&63)&uint64(full) + uint64(b[i]) + uint64(x>>i&1)
			d[i] = uint32(s)
			u |= uint32(s>>32) << i
		}
	default:
		for _, i := range w.lanes(m) {
			i &= 31
			u |= in.shiftAdd(d, i, a[i], b[i], c[i], x>>i&1) << i
		}
	}
	return u, 0
}

// shiftAdd is any LEA in lane i; it returns the carry.
func (in *inst) shiftAdd(d *[32]uint32, i int, a, b, c, x uint32) (carry uint32) {
	var t uint32
	switch in.mode {
	case leaLow:
		t = a << in.count
	case leaHigh:
		t = uint32((uint64(a) | uint64(c)<<32) >> (32 - in.count))
	default:
		t = uint32(int64(int32(a)) >> (32 - in.count))
	}
	if in.arg&1 != 0 {
		t = ^t
	}
	s, carry := bits.Add32(t, b, x)
	for range in.imm { // completes the negation
		var more uint32
		s, more = bits.Add32(s, 1, 0)
		carry |= more
	}
	d[i] = s
	return carry
}

// decodeLOP3: any function of three bits. Pu reports that the result is not 0, or that
// the predicate holds; with .PAND that both are true (assumed).
func decodeLOP3(d *dec) error {
	if err := d.only("LUT", "PAND"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	v := d.values()
	if len(v) != 4 || v[3].Kind != sass.Imm {
		return errForm
	}
	if err := d.sources(3); err != nil {
		return err
	}
	d.o.lut, d.o.flag = uint8(v[3].Imm), d.in.Has("PAND")
	d.predResult(0, sass.Pu)
	d.predSource(0, sass.Pp, false)
	d.o.lanes = opLOP3
	d.once()
	return nil
}

func opLOP3(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _, _ = d[0], a[0], b[0], c[0]
	switch in.lut {
	case 0xc0: // a & b
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = a[i] & b[i]
		}
	case 0xfc: // a | b
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = a[i] | b[i]
		}
	case 0x3c: // a ^ b
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = a[i] ^ b[i]
		}
	case 0x96: // a ^ b ^ c
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = a[i] ^ b[i] ^ c[i]
		}
	case 0xe4: // c ? a : b
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = b[i] ^ (a[i]^b[i])&c[i]
		}
	case 0xe8: // what two of three have
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = a[i]&b[i] | (a[i]|b[i])&c[i]
		}
	case 0xea: // a & b | c
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = a[i]&b[i] | c[i]
		}
	default:
		// As a sum modulo 2 of products of a, b and c, whose factors are masks: those of the table
		// with, for each operand, the entries without it added to those with it.
		var t [8]uint32
		for k := range t {
			t[k] = -(uint32(in.lut) >> k & 1)
		}
		for _, bit := range [3]int{1, 2, 4} {
			for k := range t {
				if k&bit != 0 {
					t[k] ^= t[k-bit]
				}
			}
		}
		for _, i := range w.lanes(m) {
			i &= 31
			x, y, z := a[i], b[i], c[i]
			d[i] = t[0] ^ t[1]&z ^ (t[2]^t[3]&z)&y ^ (t[4]^t[5]&z^(t[6]^t[7]&z)&y)&x
		}
	}
	if in.pd[0] != noPredicate {
		u := uint32(0)
		for _, i := range w.lanes(m) {
			i &= 31
			if d[i] != 0 {
				u |= 1 << i
			}
		}
		if in.flag {
			u &= x
		} else {
			u |= x
		}
		return u, 0
	}
	return 0, 0
}

// decodeSHF: a funnel shift of the pair {c, a}; the amount is clamped to the
// width, or taken modulo it with .W (hardware tests of a Mesa driver).
func decodeSHF(d *dec) error {
	if err := d.only("L", "R", "W", "U32", "S32", "U64", "S64", "HI"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	if err := d.sources(3); err != nil {
		return err
	}
	o := d.o
	o.count = 32
	if d.in.Has("U64") || d.in.Has("S64") {
		o.count = 64
	}
	o.flag = d.in.Has("W")
	switch {
	case d.in.Has("L"):
		o.mode = 0
	case d.in.Has("S32") || d.in.Has("S64"):
		o.mode = 2
	case d.in.Has("R"):
		o.mode = 1
	default:
		return errForm
	}
	if d.in.Has("HI") {
		o.arg = 32
	}
	o.lanes = opSHF
	d.once()
	return nil
}

func opSHF(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _, _ = d[0], a[0], b[0], c[0]
	most, keep, arg := uint32(in.count), full, in.arg&63
	if in.flag {
		most, keep = full, uint32(in.count)-1
	}
	if s := min(b[0]&keep, most); in.src[1].row < 0 && s <= 32 { // the same amount in all lanes
		in.funnel(d, a, c, s, w.lanes(m))
		return 0, 0
	}
	switch in.mode {
	case 0:
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = uint32((uint64(a[i]) | uint64(c[i])<<32) << min(b[i]&keep, most) >> arg)
		}
	case 1:
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = uint32((uint64(a[i]) | uint64(c[i])<<32) >> min(b[i]&keep, most) >> arg)
		}
	default:
		for _, i := range w.lanes(m) {
			i &= 31
			d[i] = uint32(int64(uint64(a[i])|uint64(c[i])<<32) >> min(b[i]&keep, most) >> arg)
		}
	}
	return 0, 0
}

// funnel is opSHF with the same amount, at most 32, in the given lanes.
func (in *inst) funnel(d, a, c *[32]uint32, s uint32, lanes []int) {
	_, _, _ = d[0], a[0], c[0]
	switch left, high := in.mode == 0, in.arg == 32; {
	case left && !high:
		for _, i := range lanes {
			i &= 31
			d[i] = a[i] << s
		}
	case left && a == c:
		for _, i := range lanes {
			i &= 31
			d[i] = bits.RotateLeft32(a[i], int(s))
		}
	case high && in.mode == 1:
		for _, i := range lanes {
			i &= 31
			d[i] = c[i] >> s
		}
	case high && in.mode == 2:
		for _, i := range lanes {
			i &= 31
			d[i] = uint32(int32(c[i]) >> s)
		}
	default: // to the left, the high half is that of a shift to the right by the rest
		if left {
			s = 32 - s
		}
		for _, i := range lanes {
			i &= 31
			d[i] = uint32((uint64(a[i]) | uint64(c[i])<<32) >> (s & 63))
		}
	}
}

var prmtModes = map[string]num.PrmtMode{
	"F4E": num.PrmtF4E, "B4E": num.PrmtB4E, "RC8": num.PrmtRC8, "ECL": num.PrmtECL, "ECR": num.PrmtECR, "RC16": num.PrmtRC16,
}

// decodePRMT: four bytes out of eight; the sources are a, the selector and c.
func decodePRMT(d *dec) error {
	if err := d.only("F4E", "B4E", "RC8", "ECL", "ECR", "RC16", "IDX"); err != nil {
		return err
	}
	for _, m := range d.in.Mods {
		d.o.mode = uint8(prmtModes[m])
	}
	if err := d.result(1); err != nil {
		return err
	}
	d.o.lanes = opPRMT
	d.once()
	return d.sources(3)
}

func opPRMT(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	if in.mode == 0 && in.src[1].row < 0 { // one selector for all lanes
		permute(d, a, c, b[0], w.lanes(m))
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = num.Prmt(a[i], c[i], b[i], num.PrmtMode(in.mode))
	}
	return 0, 0
}

// permute is num.Prmt with the same selector in the given lanes.
func permute(d, a, c *[32]uint32, s uint32, lanes []int) {
	var at [4]uint32   // the first bit of each byte
	var sign [4]uint32 // all ones where the sign of the byte is wanted
	for k := range at {
		at[k], sign[k] = s>>(4*k)&7*8, -(s >> (4*k + 3) & 1)
	}
	for _, i := range lanes {
		i &= 31
		x := uint64(a[i]) | uint64(c[i])<<32
		b0, b1, b2, b3 := uint32(x>>(at[0]&63)), uint32(x>>(at[1]&63)), uint32(x>>(at[2]&63)), uint32(x>>(at[3]&63))
		if s&0x8888 != 0 {
			b0 = b0&^sign[0] | uint32(int32(b0<<24)>>31)&sign[0]
			b1 = b1&^sign[1] | uint32(int32(b1<<24)>>31)&sign[1]
			b2 = b2&^sign[2] | uint32(int32(b2<<24)>>31)&sign[2]
			b3 = b3&^sign[3] | uint32(int32(b3<<24)>>31)&sign[3]
		}
		d[i] = b0&0xff | b1&0xff<<8 | b2&0xff<<16 | b3<<24
	}
}

// decodeBits: operations on the bits of a word. BMSK and SGXT clamp amounts of 32 and
// more, or with .W take them modulo 32 (assumed, as in PTX).
func decodeBits(d *dec) error {
	if err := d.result(1); err != nil {
		return err
	}
	n, o := 1, d.o
	switch d.in.Op {
	case sass.OpBMSK, sass.OpUBMSK:
		n, o.lanes = 2, opBMSK
		if err := d.only("W", "C"); err != nil {
			return err
		}
	case sass.OpSGXT, sass.OpUSGXT:
		n, o.lanes = 2, opSGXT
		if err := d.only("W", "U32"); err != nil {
			return err
		}
	case sass.OpFLO, sass.OpUFLO:
		o.lanes = opFLO
		if err := d.only("U32", "SH"); err != nil {
			return err
		}
		o.arg = 0
		if d.in.Has("SH") {
			o.arg = 1
		}
		d.predResult(0, sass.Pu)
	default:
		o.lanes = map[sass.Op]laneOp{
			sass.OpPOPC: opPOPC, sass.OpUPOPC: opPOPC, sass.OpBREV: opBREV, sass.OpUBREV: opBREV, sass.OpIABS: opIABS,
		}[d.in.Op]
		if err := d.only(); err != nil {
			return err
		}
	}
	o.flag = d.in.Has("U32")
	if d.in.Has("W") {
		o.mode = 1
	}
	d.once()
	return d.sources(n)
}

func opBMSK(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = num.Bmsk(a[i], b[i], in.mode == 0)
	}
	return 0, 0
}

func opSGXT(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		if in.flag {
			d[i] = num.SzextU32(a[i], b[i], in.mode == 0)
		} else {
			d[i] = num.SzextS32(a[i], b[i], in.mode == 0)
		}
	}
	return 0, 0
}

// opFLO: the position of the highest bit that differs from the sign; Pu reports that
// there is one (assumed).
func opFLO(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	u := uint32(0)
	for _, i := range w.lanes(m) {
		i &= 31
		v := a[i]
		if in.flag {
			v = num.BfindU32(v, in.arg == 1)
		} else {
			v = num.BfindS32(v, in.arg == 1)
		}
		d[i] = v
		if v != full {
			u |= 1 << i
		}
	}
	return u, 0
}

func opPOPC(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = uint32(bits.OnesCount32(a[i]))
	}
	return 0, 0
}

func opBREV(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = bits.Reverse32(a[i])
	}
	return 0, 0
}

// opIABS: the absolute value of the smallest integer is itself.
func opIABS(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		v := int32(a[i])
		d[i] = uint32(max(v, -v))
		if v == -1<<31 {
			d[i] = 1 << 31
		}
	}
	return 0, 0
}

// decodeIMNMX: the minimum if the predicate holds, else the maximum; of words, of the half words
// or bytes of words, or of 64 bits. .RELU puts 0 in the place of negative results.
func decodeIMNMX(d *dec) error {
	if d.in.Has("S64") || d.in.Has("U64") {
		return d.decodeIMNMXWide()
	}
	if err := d.only("U32", "S32", "U16x2", "S16x2", "U8x4", "S8x4", "RELU"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	o := d.o
	o.count, o.flag = d.laneBits()
	o.sat = d.in.Has("RELU")
	d.predSource(0, sass.Pp, true)
	o.lanes = opIMNMX
	if o.count != 32 || o.sat {
		o.lanes = opIMNMXLanes
	}
	d.once()
	return d.sources(2)
}

func opIMNMXLanes(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	mask := full >> (32 - in.count)
	sign := uint32(0)
	if in.flag {
		sign = 1 << (in.count - 1)
	}
	for _, i := range w.lanes(m) {
		i &= 31
		v := uint32(0)
		for at := 0; at < 32; at += in.count {
			p, q := a[i]>>at&mask, b[i]>>at&mask
			if (p^sign < q^sign) != (x>>i&1 != 0) {
				p = q
			}
			if in.sat && p&sign != 0 {
				p = 0
			}
			v |= p << at
		}
		d[i] = v
	}
	return 0, 0
}

// decodeIMNMXWide: the meaning of its predicate results, and of its second predicate, is not
// known.
func (d *dec) decodeIMNMXWide() error {
	if err := d.only("S64", "U64"); err != nil {
		return err
	}
	if p := d.in.Find(sass.Pq); p == nil || p.Reg != sass.PT || !p.Not {
		return errForm
	}
	if err := d.result(2); err != nil {
		return err
	}
	d.o.flag = d.in.Has("S64")
	d.predSource(0, sass.Pp, true)
	d.o.run = opIMNMXWide
	d.once()
	return d.pairs(2)
}

// pairs appends n values of 64 bits; a number is sign-extended.
func (d *dec) pairs(n int) error {
	v := d.values()
	if len(v) < n {
		return errForm
	}
	for _, o := range v[:n] {
		if o.Neg || o.Not || o.Abs || o.Kind == sass.Imm && d.slot >= 0 {
			return errForm
		}
		if err := d.addWords(o, 2); err != nil {
			return err
		}
	}
	return nil
}

func opIMNMXWide(w *warp, in *inst, p *pending, m uint32) {
	flip := uint64(0)
	if in.flag {
		flip = 1 << 63
	}
	for _, i := range w.lanes(m) {
		i &= 31
		v, y := p.pair(0, i), p.pair(2, i)
		if (v^flip < y^flip) != (p.ps[0]>>i&1 != 0) {
			v = y
		}
		p.setPair(0, i, v)
	}
}

func opIMNMX(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _ = d[0], a[0], b[0]
	flip := uint32(0)
	if in.flag {
		flip = 1 << 31
	}
	for _, i := range w.lanes(m) {
		i &= 31
		lo, hi := min(a[i]^flip, b[i]^flip), max(a[i]^flip, b[i]^flip)
		t := -(x >> i & 1)
		d[i] = (lo&t | hi&^t) ^ flip
	}
	return 0, 0
}

// decodeISETP: with .EX it compares the upper halves of 64-bit numbers; a third predicate
// holds the comparison of the lower halves and decides if the upper ones are equal.
func decodeISETP(d *dec) error {
	if err := d.comparison(); err != nil {
		return err
	}
	d.o.flag = !d.in.Has("U32")
	d.predResult(0, sass.Pu)
	d.predResult(1, sass.Pv)
	d.predSource(0, sass.Pp, true)
	if d.in.Has("EX") {
		d.predSource(1, sass.Pr, true)
		d.o.arg = 1
	}
	d.o.lanes = opISETP
	d.o.uniform = d.in.Op == sass.OpUISETP
	if d.in.Has("S64") || d.in.Has("U64") {
		if d.o.arg == 1 {
			return errForm
		}
		d.o.run, d.o.flag = opISETPWide, d.in.Has("S64")
		return d.pairs(2)
	}
	return d.sources(2)
}

func opISETPWide(w *warp, in *inst, p *pending, m uint32) {
	flip := uint64(0)
	if in.flag {
		flip = 1 << 63
	}
	r := uint32(0)
	for _, i := range w.lanes(m) {
		i &= 31
		c := num.GT
		switch x, y := p.pair(0, i)^flip, p.pair(2, i)^flip; {
		case x < y:
			c = num.LT
		case x == y:
			c = num.EQ
		}
		if in.cmp&c != 0 {
			r |= 1 << i
		}
	}
	p.pout = [2]uint32{combine(in.mode, r, p.ps[0]), combine(in.mode, ^r, p.ps[0])}
}

func opISETP(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _ = a[0], b[0]
	flip := uint32(0)
	if in.flag {
		flip = 1 << 31
	}
	more := in.arg == 1 && in.cmp != 0 && in.cmp != num.NUM|num.NAN
	var lt, eq uint32
	if in.cmp&num.LT != 0 != (in.cmp&num.GT != 0) {
		lt = w.less(a, b, flip, m)
	}
	if more || in.cmp&num.EQ != 0 != (in.cmp&num.GT != 0) {
		eq = w.equal(a, b, m)
	}
	r := uint32(0) // where it is greater
	if in.cmp&num.GT != 0 {
		r = full
	}
	if in.cmp&num.LT != 0 != (in.cmp&num.GT != 0) {
		r ^= lt
	}
	if in.cmp&num.EQ != 0 != (in.cmp&num.GT != 0) {
		r ^= eq
	}
	if more {
		r = r&^eq | y&eq
	}
	return combine(in.mode, r, x), combine(in.mode, ^r, x)
}

// less returns the lanes in which a is less than b, both with their sign flipped by flip.
func (w *warp) less(a, b *[32]uint32, flip, m uint32) (lt uint32) {
	if m == full {
		for i := range a {
			lt |= uint32((uint64(a[i]^flip)-uint64(b[i]^flip))>>63) << i
		}
		return lt
	}
	for _, i := range w.lanes(m) {
		i &= 31
		lt |= uint32((uint64(a[i]^flip)-uint64(b[i]^flip))>>63) << i
	}
	return lt
}

// equal returns the lanes in which a is b.
func (w *warp) equal(a, b *[32]uint32, m uint32) (eq uint32) {
	if m == full {
		for i := range a {
			eq |= uint32((uint64(a[i]^b[i])-1)>>63) << i
		}
		return eq
	}
	for _, i := range w.lanes(m) {
		i &= 31
		eq |= uint32((uint64(a[i]^b[i])-1)>>63) << i
	}
	return eq
}

// decodeSEL: a if the predicate holds, else b.
func decodeSEL(d *dec) error {
	if err := d.only("64"); err != nil {
		return err
	}
	n := 1
	if d.in.Has("64") {
		n = 2
	}
	if err := d.result(n); err != nil {
		return err
	}
	d.predSource(0, sass.Pp, true)
	d.o.lanes = opSEL
	d.once()
	if n == 2 {
		d.o.run = opSELWide
		return d.pairs(2)
	}
	return d.sources(2)
}

func opSELWide(w *warp, _ *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		k := 2
		if p.ps[0]>>i&1 != 0 {
			k = 0
		}
		p.setPair(0, i, p.pair(k, i))
	}
}

func opSEL(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _ = d[0], a[0], b[0]
	for _, i := range w.lanes(m) {
		i &= 31
		t := -(x >> i & 1)
		d[i] = a[i]&t | b[i]&^t
	}
	return 0, 0
}

// decodeMOV: a second literal has a bit for each lane of a quad that is written
// (assumed).
func decodeMOV(d *dec) error {
	if d.in.Has("64") {
		if err := d.only("64"); err != nil {
			return err
		}
		if err := d.result(2); err != nil {
			return err
		}
		d.o.run = opMOVWide
		d.once()
		return d.pairs(1)
	}
	if err := d.only("SPILL"); err != nil { // why a compiler has placed it
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	v := d.values()
	d.o.lanes = opMOV
	if len(v) == 2 {
		if v[1].Kind != sass.Imm || v[1].Imm < 0 || v[1].Imm > 0xf {
			return errForm
		}
		d.o.imm = uint64(v[1].Imm) * 0x11111111
		d.o.run = opMOVPart
	}
	d.once()
	return d.sources(1)
}

func opMOV(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	if m == full {
		*d = *a
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = a[i]
	}
	return 0, 0
}

func opMOVWide(w *warp, _ *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		p.setPair(0, i, p.pair(0, i))
	}
}

func opMOVPart(w *warp, in *inst, p *pending, m uint32) {
	p.mask &= uint32(in.imm)
	opMOV(w, in, p.d[0], p.s[0], nil, nil, 0, 0, m&uint32(in.imm))
}

// decodeIDP: dot products of bytes, and of half words with bytes.
func decodeIDP(d *dec) error {
	if err := d.only("4A", "2A", "LO", "HI", "U8", "S8", "U16", "S16"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	var types []string
	for _, m := range d.in.Mods {
		switch m {
		case "U8", "S8", "U16", "S16":
			types = append(types, m)
		}
	}
	if len(types) != 2 {
		return errForm
	}
	d.o.flag = types[0][0] == 'S'
	d.o.sat = types[1][0] == 'S'
	switch {
	case d.in.Has("4A"):
		d.o.mode = 0
	case d.in.Has("HI"):
		d.o.mode = 2
	default:
		d.o.mode = 1
	}
	d.o.lanes = opIDP
	return d.sources(3)
}

func opIDP(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		if in.mode == 0 {
			d[i] = num.Dp4a(a[i], b[i], c[i], in.flag, in.sat)
		} else {
			d[i] = num.Dp2a(a[i], b[i], c[i], in.flag, in.sat, in.mode == 2)
		}
	}
	return 0, 0
}

// decodeVABSDIFF: |a - b| + c; of VABSDIFF4 byte by byte, with .ACC their sum.
func decodeVABSDIFF(d *dec) error {
	if err := d.only("U8", "ACC", "U32", "S32"); err != nil {
		return err
	}
	if err := d.result(1); err != nil {
		return err
	}
	d.o.flag = !d.in.Has("U32")
	switch {
	case d.in.Op == sass.OpVABSDIFF:
		d.o.lanes = opVABSDIFF
	default:
		d.o.lanes = opVABSDIFF4
		d.o.flag = d.in.Has("ACC")
		if v := d.values(); !d.o.flag && (len(v) != 3 || v[2].Kind != sass.Reg || v[2].Reg != sass.RZ) {
			return errForm
		}
	}
	return d.sources(3)
}

func opVABSDIFF(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		x, y := int64(a[i]), int64(b[i])
		if in.flag {
			x, y = int64(int32(a[i])), int64(int32(b[i]))
		}
		d[i] = uint32(max(x-y, y-x)) + c[i]
	}
	return 0, 0
}

func opVABSDIFF4(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		s := c[i]
		for k := 0; k < 32; k += 8 {
			x, y := int32(a[i]>>k&0xff), int32(b[i]>>k&0xff)
			v := uint32(max(x-y, y-x))
			if !in.flag {
				v <<= k
			}
			s += v
		}
		d[i] = s
	}
	return 0, 0
}
