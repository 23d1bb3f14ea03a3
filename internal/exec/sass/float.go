package sass

import (
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"math"
)

// This file: single precision. Subnormal numbers are kept without .FTZ; a NaN result is
// 0x7fffffff (PTX manual).

func init() {
	putLanes(decodeFADD, sass.OpFADD, sass.OpFMUL, sass.OpFFMA, sass.OpUFADD, sass.OpUFMUL, sass.OpUFFMA)
	putLanes(decodeFMNMX, sass.OpFMNMX, sass.OpFMNMX3)
	putLanes(decodeFSETP, sass.OpFSETP, sass.OpFSET, sass.OpUFSETP)
	putLanes(decodeFSEL, sass.OpFSEL, sass.OpUFSEL)
	putLanes(decodeFCHK, sass.OpFCHK)
	putLanes(decodeFSWZADD, sass.OpFSWZADD)
	putLanes(decodeMUFU, sass.OpMUFU)
}

// scales are the factors of FMUL, as powers of two.
var scales = map[string]int{"D2": -1, "D4": -2, "D8": -3, "M2": 1, "M4": 2, "M8": 3}

// decodeFADD: FADD, FMUL and FFMA, each rounded once. With .FMZ and .DNZ a
// product with a zero is zero.
func decodeFADD(d *dec) error {
	if err := d.only("FTZ", "SAT", "RN", "RM", "RP", "RZ", "FMZ", "DNZ", "D2", "D4", "D8", "M2", "M4", "M8"); err != nil {
		return err
	}
	d.floatFlags()
	o := d.o
	o.flag = d.in.Has("FMZ") || d.in.Has("DNZ")
	if d.in.Has("FMZ") {
		o.ftz = true
	}
	n := 2
	plainCase := o.round == num.RN && !o.sat && !o.flag
	switch d.in.Op {
	case sass.OpFADD, sass.OpUFADD:
		o.lanes = opFADDAny
		if plainCase {
			o.lanes = either(o.ftz, opFADDFTZ, opFADD)
		}
	case sass.OpFMUL, sass.OpUFMUL:
		for _, m := range d.in.Mods {
			o.count += scales[m]
		}
		o.lanes = opFMULAny
		if plainCase && o.count == 0 {
			o.lanes = either(o.ftz, opFMULFTZ, opFMUL)
		}
	default:
		n = 3
		o.lanes = opFFMAAny
		if plainCase {
			o.lanes = either(o.ftz, opFFMAFTZ, opFFMA)
		}
	}
	if err := d.floats(n); err != nil {
		return err
	}
	if b := &o.src[1]; d.in.Op == sass.OpFADD && plainCase && !o.ftz && *b == (source{row: b.row, and: full, xor: 1 << 31}) {
		*b = plain(b.row)
		o.lanes = opFSUB
	}
	return nil
}

// either returns the operation for .FTZ or the other one.
func either(ftz bool, a, b laneOp) laneOp {
	if ftz {
		return a
	}
	return b
}

// floats decodes a result and n binary32 sources.
func (d *dec) floats(n int) error {
	if err := d.result(1); err != nil {
		return err
	}
	d.once()
	return d.floatSources(n)
}

func (d *dec) floatSources(n int) error {
	v := d.values()
	if len(v) != n {
		return errForm
	}
	for _, o := range v {
		if err := d.addF32(o); err != nil {
			return err
		}
	}
	return nil
}

func f32(b uint32) float32 { return math.Float32frombits(b) }

// finish applies .FTZ and .SAT to a result.
func (in *inst) finish(v uint32) uint32 {
	if in.ftz {
		v = num.FTZF32(v)
	}
	if in.sat {
		v = num.SatF32(v)
	}
	return v
}

// flush applies .FTZ to an operand.
func (in *inst) flush(v uint32) uint32 {
	if in.ftz {
		return num.FTZF32(v)
	}
	return v
}

func opFADD(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _ = d[0], a[0], b[0]
	if m == full {
		for i := range d {
			d[i] = math.Float32bits(num.Add32(f32(a[i]), f32(b[i])))
		}
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = math.Float32bits(num.Add32(f32(a[i]), f32(b[i])))
	}
	return 0, 0
}

// opFSUB is FADD with a negated second term.
func opFSUB(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _ = d[0], a[0], b[0]
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = math.Float32bits(num.Sub32(f32(a[i]), f32(b[i])))
	}
	return 0, 0
}

func opFMUL(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _ = d[0], a[0], b[0]
	if m == full {
		for i := range d {
			d[i] = math.Float32bits(num.Mul32(f32(a[i]), f32(b[i])))
		}
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = math.Float32bits(num.Mul32(f32(a[i]), f32(b[i])))
	}
	return 0, 0
}

func opFADDFTZ(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _ = d[0], a[0], b[0]
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = math.Float32bits(num.FTZ32(num.Add32(num.FTZ32(f32(a[i])), num.FTZ32(f32(b[i])))))
	}
	return 0, 0
}

func opFMULFTZ(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _ = d[0], a[0], b[0]
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = math.Float32bits(num.FTZ32(num.Mul32(num.FTZ32(f32(a[i])), num.FTZ32(f32(b[i])))))
	}
	return 0, 0
}

func opFFMAFTZ(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _, _ = d[0], a[0], b[0], c[0]
	if m == full {
		num.FMALanesFTZ(d, a, b, c)
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = math.Float32bits(num.FTZ32(num.FMA32(num.FTZ32(f32(a[i])), num.FTZ32(f32(b[i])), num.FTZ32(f32(c[i])))))
	}
	return 0, 0
}

func opFFMA(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _, _ = d[0], a[0], b[0], c[0]
	if m == full {
		num.FMALanes(d, a, b, c)
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = math.Float32bits(num.FMA32(f32(a[i]), f32(b[i]), f32(c[i])))
	}
	return 0, 0
}

func opFADDAny(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = in.finish(num.AddF32(in.flush(a[i]), in.flush(b[i]), in.round))
	}
	return 0, 0
}

// isZero reports whether a binary32 is a zero.
func isZero(a uint32) bool { return a<<1 == 0 }

// opFMULAny: .D2 to .M8 multiply the rounded product, as the multiplications by 0.5 and so on do
// that NVIDIA's compiler replaces (measured): what has overflowed stays infinite.
func opFMULAny(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := in.flush(a[i]), in.flush(b[i])
		switch {
		case in.flag && (isZero(a) || isZero(b)):
			d[i] = 0
		case in.count != 0:
			v := in.flush(num.MulF32(a, b, in.round))
			d[i] = in.finish(num.MulF32(v, math.Float32bits(float32(math.Ldexp(1, in.count))), in.round))
		default:
			d[i] = in.finish(num.MulF32(a, b, in.round))
		}
	}
	return 0, 0
}

func opFFMAAny(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		a, b, c := in.flush(a[i]), in.flush(b[i]), in.flush(c[i])
		if in.flag && (isZero(a) || isZero(b)) {
			d[i] = in.finish(num.AddF32(0, c, in.round))
			continue
		}
		d[i] = in.finish(num.FMAF32(a, b, c, in.round))
	}
	return 0, 0
}

// decodeFMNMX: the minimum if the predicate holds, else the maximum. A number wins over a
// NaN, unless .NAN is there; -0 is below +0.
func decodeFMNMX(d *dec) error {
	if err := d.only("FTZ", "NAN"); err != nil {
		return err
	}
	d.floatFlags()
	if d.in.Has("NAN") {
		d.o.arg = uint8(num.PropagateNaN)
	}
	d.predSource(0, sass.Pp, true)
	d.o.lanes = opFMNMX
	if d.in.Op == sass.OpFMNMX3 { // of three
		d.o.lanes = opFMNMX3
		return d.floats(3)
	}
	return d.floats(2)
}

func opFMNMX3(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	f := num.MaxF32
	for _, i := range w.lanes(m) {
		i &= 31
		if f = num.MaxF32; x>>i&1 != 0 {
			f = num.MinF32
		}
		mode := num.MinMax(in.arg)
		v := f(in.flush(a[i]), in.flush(b[i]), mode)
		d[i] = in.finish(f(v, in.flush(c[i]), mode))
	}
	return 0, 0
}

func opFMNMX(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := in.flush(a[i]), in.flush(b[i])
		if x>>i&1 != 0 {
			d[i] = in.finish(num.MinF32(a, b, num.MinMax(in.arg)))
		} else {
			d[i] = in.finish(num.MaxF32(a, b, num.MinMax(in.arg)))
		}
	}
	return 0, 0
}

// decodeFSETP: FSETP compares into predicates, FSET into a register: all ones, or with
// .BF 1.0.
func decodeFSETP(d *dec) error {
	if err := d.comparison(); err != nil {
		return err
	}
	d.floatFlags()
	d.predSource(0, sass.Pp, true)
	if d.in.Op == sass.OpFSET {
		d.o.lanes = opFSET
		d.o.imm = uint64(full)
		if d.in.Has("BF") {
			d.o.imm = 0x3f800000
		}
		return d.floats(2)
	}
	d.predResult(0, sass.Pu)
	d.predResult(1, sass.Pv)
	d.o.lanes = opFSETP
	d.o.uniform = d.in.Op == sass.OpUFSETP
	return d.floatSources(2)
}

func (w *warp) compareF32(in *inst, a, b *[32]uint32, m uint32) (r uint32) {
	if !in.ftz {
		switch in.cmp {
		case num.LT:
			return w.lessF32(a, b, m)
		case num.GT:
			return w.lessF32(b, a, m)
		}
	}
	for _, i := range w.lanes(m) {
		i &= 31
		if num.CmpF32(in.cmp, in.flush(a[i]), in.flush(b[i])) {
			r |= 1 << i
		}
	}
	return r
}

// lessF32 returns the lanes in which a is less than b.
func (w *warp) lessF32(a, b *[32]uint32, m uint32) (r uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		if f32(a[i]) < f32(b[i]) {
			r |= 1 << i
		}
	}
	return r
}

func opFSETP(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	r := w.compareF32(in, a, b, m)
	return combine(in.mode, r, x), combine(in.mode, ^r, x)
}

func opFSET(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	r := combine(in.mode, w.compareF32(in, a, b, m), x)
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = -(r >> i & 1) & uint32(in.imm)
	}
	return 0, 0
}

// decodeFSEL: a if the predicate holds, else b.
func decodeFSEL(d *dec) error {
	if err := d.only("FTZ"); err != nil {
		return err
	}
	d.floatFlags()
	d.predSource(0, sass.Pp, true)
	d.o.lanes = opSEL
	if d.o.ftz {
		d.o.lanes = opFSELFlush
	}
	return d.floats(2)
}

func opFSELFlush(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	opSEL(w, in, d, a, b, c, x, y, m)
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = num.FTZF32(d[i])
	}
	return 0, 0
}

// The signs that FSWZADD gives a and b.
const (
	swzBoth  = iota // a + b
	swzLeft         // a - b
	swzRight        // b - a
	swzMove         // b alone
)

var swzSigns = map[string]uint64{"PP": swzBoth, "PN": swzLeft, "NP": swzRight, "ZP": swzMove}

// decodeFSWZADD: a sum whose signs depend on the lane's position in its quad; the first
// two letters of the last operand are those of position 0 (a Mesa driver, which computes
// derivatives with it). .NDV says that the lanes of a quad agree, and changes no value.
func decodeFSWZADD(d *dec) error {
	if err := d.only("FTZ", "RN", "RM", "RP", "RZ", "NDV"); err != nil {
		return err
	}
	d.floatFlags()
	o := d.in.Find(sass.Extra)
	if o == nil || o.Kind != sass.Word || len(o.Suffix) != 8 {
		return errForm
	}
	for i := range 4 {
		sign, ok := swzSigns[o.Suffix[2*i:2*i+2]]
		if !ok {
			return errForm
		}
		d.o.imm |= sign << (2 * i)
	}
	d.o.lanes = opFSWZADD
	return d.floats(2)
}

func opFSWZADD(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := a[i], b[i]
		switch in.imm >> (i % 4 * 2) & 3 {
		case swzLeft:
			b ^= 1 << 31
		case swzRight:
			a ^= 1 << 31
		case swzMove:
			a = b & (1 << 31) // a zero whose addition does not change b
		}
		d[i] = in.finish(num.AddF32(in.flush(a), in.flush(b), in.round))
	}
	return 0, 0
}

// decodeFCHK: whether a/b needs the slow path of a division.
func decodeFCHK(d *dec) error {
	if err := d.only("DIVIDE"); err != nil {
		return err
	}
	d.predResult(0, sass.Pu)
	d.o.lanes = opFCHK
	return d.floatSources(2)
}

// opFCHK: hardware's rule is not known. The fast path multiplies with a reciprocal and
// corrects the quotient with the remainder, which is correct if none of them leaves the
// normal range. The rule here is conservative: the slow path is always correct.
func opFCHK(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	u := uint32(0)
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := int(a[i]>>23&0xff), int(b[i]>>23&0xff)
		if a < 26 || a > 252 || b < 3 || b > 250 || a-b < -120 || a-b > 120 {
			u |= 1 << i
		}
	}
	return u, 0
}

// The functions of MUFU, in inst.mode.
const (
	mufuCOS = iota
	mufuSIN
	mufuEX2
	mufuLG2
	mufuRCP
	mufuRSQ
	mufuRCP64H
	mufuRSQ64H
	mufuSQRT
	mufuTANH
)

var mufuModes = map[string]uint8{
	"COS": mufuCOS, "SIN": mufuSIN, "EX2": mufuEX2, "LG2": mufuLG2, "RCP": mufuRCP, "RSQ": mufuRSQ,
	"RCP64H": mufuRCP64H, "RSQ64H": mufuRSQ64H, "SQRT": mufuSQRT, "TANH": mufuTANH,
}

// decodeMUFU: approximations. Subnormal operands and results are zero. The exact results
// of hardware are not public; the errors here are, for normal results:
//
//	RCP            1 ulp
//	EX2            2 ulp
//	RSQ, SQRT      2^-22.9 and 2^-23, relative
//	LG2            2^-22, absolute in (0.5, 2), relative elsewhere
//	SIN, COS       2^-20, absolute, of 2π times the operand
//	TANH           2^-11, relative
//	RCP64H, RSQ64H 2^-20, relative, of the number whose upper word it is
func decodeMUFU(d *dec) error {
	if len(d.in.Mods) != 1 {
		return errForm
	}
	mode, ok := mufuModes[d.in.Mods[0]]
	if !ok {
		return errForm
	}
	d.o.mode = mode
	d.o.lanes = opMUFU
	if err := d.result(1); err != nil {
		return err
	}
	v := d.values()
	if len(v) != 1 {
		return errForm
	}
	if v[0].Kind == sass.FImm && v[0].Width == 64 { // the upper word of a double
		r, err := d.word(v[0], 1)
		if err != nil {
			return err
		}
		return d.add(floatSource(r, v[0], 1<<31))
	}
	return d.addF32(v[0])
}

// turn converts an angle in fractions of a full turn to radians in [-π, π]; all steps but
// the last are exact.
func turn(a uint32) uint32 {
	x := float64(f32(a))
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return num.NaNF32
	}
	if x == 0 {
		return a // the sine of -0 is -0
	}
	x -= math.RoundToEven(x)
	return math.Float32bits(float32(x * (2 * math.Pi)))
}

func opMUFU(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		a := a[i]
		var v uint32
		switch in.mode {
		case mufuRCP64H:
			d[i] = uint32(num.RcpApproxFTZF64(uint64(a)<<32) >> 32)
			continue
		case mufuRSQ64H:
			d[i] = uint32(num.RsqrtApproxFTZF64(uint64(a)<<32) >> 32)
			continue
		}
		a = num.FTZF32(a)
		switch in.mode {
		case mufuCOS:
			v = num.CosApproxF32(turn(a))
		case mufuSIN:
			v = num.SinApproxF32(turn(a))
		case mufuEX2:
			v = num.Ex2ApproxF32(a)
		case mufuLG2:
			v = num.Lg2ApproxF32(a)
		case mufuRCP:
			v = num.RcpApproxF32(a)
		case mufuRSQ:
			v = num.RsqrtApproxF32(a)
		case mufuSQRT:
			v = num.SqrtApproxF32(a)
		case mufuTANH:
			v = num.TanhApproxF32(a)
		}
		d[i] = num.FTZF32(v)
	}
	return 0, 0
}
