package sass

import (
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: two half-precision numbers per register, binary16 or bfloat16.

func init() {
	putLanes(decodeHADD2, sass.OpHADD2, sass.OpHMUL2, sass.OpHFMA2)
	putLanes(decodeHSETP2, sass.OpHSETP2, sass.OpHSET2)
	putLanes(decodeHMNMX2, sass.OpHMNMX2)
}

// halves decodes n operands of packed halves; a literal is two operands.
func (d *dec) halves(n int) error {
	v := d.values()
	k := 0
	for i := 0; i < len(v); i++ {
		var low *sass.Operand
		if o := v[i]; o.Kind == sass.FImm && o.Width == 16 && i+1 < len(v) && v[i+1].Kind == sass.FImm {
			low = v[i+1]
		}
		if err := d.addHalves(v[i], low); err != nil {
			return err
		}
		if low != nil {
			i++
		}
		k++
	}
	if k != n {
		return errForm
	}
	return nil
}

// decodeHADD2: HADD2, HMUL2 and HFMA2, each half rounded once. .F32 gives the
// sum of the chosen halves as a binary32. .MMA names the pipe that executes it.
func decodeHADD2(d *dec) error {
	if err := d.only("FTZ", "SAT", "RELU", "F32", "MMA", "BF16_V2", "BF16"); err != nil {
		return err
	}
	d.floatFlags()
	o := d.o
	o.flag = d.in.Has("BF16_V2") || d.in.Has("BF16")
	if d.in.Has("RELU") {
		o.arg = 1
	}
	if p := d.in.Find(sass.Pp); p != nil && (p.Reg != sass.PT || p.Not) {
		return errForm
	}
	if err := d.result(1); err != nil {
		return err
	}
	if d.in.Op == sass.OpHADD2 && len(d.in.Mods) == 0 {
		if done, err := d.narrowing(); done || err != nil {
			return err
		}
	}
	n := 2
	switch d.in.Op {
	case sass.OpHADD2:
		o.lanes = opHADD2
		if d.in.Has("F32") {
			if o.flag || o.sat {
				return errForm
			}
			o.lanes = opHADD2Wide
		}
	case sass.OpHMUL2:
		o.lanes = opHMUL2
	default:
		n, o.lanes = 3, opHFMA2
	}
	if d.in.Has("F32") && d.in.Op != sass.OpHADD2 {
		return errForm
	}
	return d.halves(n)
}

// narrowing decodes HADD2 of a number of 32 bits (.F32) and zero, as NVIDIA's compiler converts one to
// binary16 for sm_75; the result is in both halves. It reports whether it is this form.
func (d *dec) narrowing() (bool, error) {
	v := d.values()
	if len(v) != 2 || (v[0].Suffix == "F32") == (v[1].Suffix == "F32") {
		return false, nil
	}
	for _, o := range v {
		switch {
		case o.Suffix == "F32":
			if err := d.addF32(o); err != nil {
				return true, err
			}
		case o.Kind != sass.Reg || o.Reg != sass.RZ: // rounded once or twice: not known
			return true, errForm
		case o.Neg:
			d.o.imm = 1 << 31
		}
	}
	d.o.lanes = opNarrow
	return true, nil
}

func opNarrow(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = 0x10001 * uint32(num.F32ToF16(num.AddF32(a[i], uint32(in.imm), num.RN), num.RN))
	}
	return 0, 0
}

// halfIn applies .FTZ to an operand.
func (in *inst) halfIn(v uint32) uint16 {
	h := uint16(v)
	if !in.ftz {
		return h
	}
	if in.flag {
		return num.FTZBF16(h)
	}
	return num.FTZF16(h)
}

// halfOut applies .FTZ, .SAT and .RELU to a result.
func (in *inst) halfOut(h uint16) uint32 {
	h = in.halfIn(uint32(h))
	if in.flag {
		if in.sat {
			h = num.SatBF16(h)
		}
		if in.arg == 1 {
			h = num.ReluBF16(h)
		}
		return uint32(h)
	}
	if in.sat {
		h = num.SatF16(h)
	}
	if in.arg == 1 {
		h = num.ReluF16(h)
	}
	return uint32(h)
}

func (in *inst) halfAdd(a, b uint32) uint32 {
	if in.flag {
		return in.halfOut(num.AddBF16(in.halfIn(a), in.halfIn(b)))
	}
	return in.halfOut(num.AddF16(in.halfIn(a), in.halfIn(b)))
}

func (in *inst) halfMul(a, b uint32) uint32 {
	if in.flag {
		return in.halfOut(num.MulBF16(in.halfIn(a), in.halfIn(b)))
	}
	return in.halfOut(num.MulF16(in.halfIn(a), in.halfIn(b)))
}

func (in *inst) halfFMA(a, b, c uint32) uint32 {
	if in.flag {
		return in.halfOut(num.FMABF16(in.halfIn(a), in.halfIn(b), in.halfIn(c)))
	}
	return in.halfOut(num.FMAF16(in.halfIn(a), in.halfIn(b), in.halfIn(c)))
}

func opHADD2(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := a[i], b[i]
		d[i] = in.halfAdd(a, b) | in.halfAdd(a>>16, b>>16)<<16
	}
	return 0, 0
}

func opHADD2Wide(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := num.F16ToF32(in.halfIn(a[i])), num.F16ToF32(in.halfIn(b[i]))
		d[i] = num.AddF32(a, b, num.RN)
	}
	return 0, 0
}

func opHMUL2(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := a[i], b[i]
		d[i] = in.halfMul(a, b) | in.halfMul(a>>16, b>>16)<<16
	}
	return 0, 0
}

func opHFMA2(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _, _ = d[0], a[0], b[0], c[0]
	if in.simple() {
		for _, i := range w.lanes(m) {
			i &= 31
			a, b, c := a[i], b[i], c[i]
			d[i] = uint32(num.FMAF16(uint16(a), uint16(b), uint16(c))) | uint32(num.FMAF16(uint16(a>>16), uint16(b>>16), uint16(c>>16)))<<16
		}
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		a, b, c := a[i], b[i], c[i]
		d[i] = in.halfFMA(a, b, c) | in.halfFMA(a>>16, b>>16, c>>16)<<16
	}
	return 0, 0
}

// simple reports whether numbers are binary16, and neither .FTZ nor .SAT nor .RELU is there.
func (in *inst) simple() bool { return !in.flag && !in.ftz && !in.sat && in.arg != 1 }

// decodeHSETP2: the comparison of the lower halves goes to one predicate, that of the
// upper halves to the other. With .H_AND the first predicate says that both hold, and the
// second is its opposite. HSET2 gives half words of ones, or 1.0.
func decodeHSETP2(d *dec) error {
	if err := d.comparison(); err != nil {
		return err
	}
	d.floatFlags()
	o := d.o
	o.flag = d.in.Has("BF16_V2") || d.in.Has("BF16")
	if d.in.Has("H_AND") {
		o.arg = 1
	}
	d.predSource(0, sass.Pp, true)
	if d.in.Op == sass.OpHSET2 {
		o.lanes = opHSET2
		o.imm = 0xffff
		if d.in.Has("BF") {
			o.imm = 0x3c00
			if o.flag {
				o.imm = 0x3f80
			}
		}
		if err := d.result(1); err != nil {
			return err
		}
		return d.halves(2)
	}
	d.predResult(0, sass.Pu)
	d.predResult(1, sass.Pv)
	o.lanes = opHSETP2
	return d.halves(2)
}

func (w *warp) compareHalves(in *inst, a, b *[32]uint32, m uint32) (lo, hi uint32) {
	f := num.CmpF16
	if in.flag {
		f = num.CmpBF16
	}
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := a[i], b[i]
		if f(in.cmp, in.halfIn(a), in.halfIn(b)) {
			lo |= 1 << i
		}
		if f(in.cmp, in.halfIn(a>>16), in.halfIn(b>>16)) {
			hi |= 1 << i
		}
	}
	return lo, hi
}

func opHSETP2(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	lo, hi := w.compareHalves(in, a, b, m)
	if in.arg == 1 {
		lo &= hi
		hi = ^lo
	}
	return combine(in.mode, lo, x), combine(in.mode, hi, x)
}

func opHSET2(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	lo, hi := w.compareHalves(in, a, b, m)
	lo, hi = combine(in.mode, lo, x), combine(in.mode, hi, x)
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = -(lo>>i&1)&uint32(in.imm) | -(hi>>i&1)&uint32(in.imm)<<16
	}
	return 0, 0
}

// decodeHMNMX2: minima if the predicate holds, else maxima.
func decodeHMNMX2(d *dec) error {
	if err := d.only("FTZ", "NAN", "BF16_V2", "BF16"); err != nil {
		return err
	}
	d.floatFlags()
	d.o.flag = d.in.Has("BF16_V2") || d.in.Has("BF16")
	if d.in.Has("NAN") {
		d.o.lut = uint8(num.PropagateNaN)
	}
	d.predSource(0, sass.Pp, true)
	d.o.lanes = opHMNMX2
	if err := d.result(1); err != nil {
		return err
	}
	return d.halves(2)
}

func (in *inst) halfMinMax(a, b uint32, least bool) uint32 {
	x, y, m := in.halfIn(a), in.halfIn(b), num.MinMax(in.lut)
	switch {
	case in.flag && least:
		return in.halfOut(num.MinBF16(x, y, m))
	case in.flag:
		return in.halfOut(num.MaxBF16(x, y, m))
	case least:
		return in.halfOut(num.MinF16(x, y, m))
	}
	return in.halfOut(num.MaxF16(x, y, m))
}

func opHMNMX2(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (uint32, uint32) {
	_, _, _ = d[0], a[0], b[0]
	if mode := num.MinMax(in.lut); in.simple() && m&x == 0 {
		for _, i := range w.lanes(m) {
			i &= 31
			a, b := a[i], b[i]
			d[i] = uint32(num.MaxF16(uint16(a), uint16(b), mode)) | uint32(num.MaxF16(uint16(a>>16), uint16(b>>16), mode))<<16
		}
		return 0, 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		a, b, least := a[i], b[i], x>>i&1 != 0
		d[i] = in.halfMinMax(a, b, least) | in.halfMinMax(a>>16, b>>16, least)<<16
	}
	return 0, 0
}
