package sass

import (
	"math"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: conversions.

func init() {
	putLanes(decodeF2F, sass.OpF2F, sass.OpFRND, sass.OpUF2F, sass.OpUFRND)
	putLanes(decodeF2I, sass.OpF2I, sass.OpUF2I)
	putLanes(decodeI2F, sass.OpI2F, sass.OpI2FP, sass.OpUI2F, sass.OpUI2FP)
	putLanes(decodeF2FP, sass.OpF2FP)
	putLanes(decodeI2I, sass.OpI2I)
	putLanes(decodeI2IP, sass.OpI2IP)
	putLanes(decodeF2IP, sass.OpF2IP)
}

// format is a floating-point format, in inst.mode (result) and inst.arg (source).
const (
	fmtF32 = iota
	fmtF16
	fmtBF16
	fmtF64
)

var formats = map[string]uint8{"F32": fmtF32, "F16": fmtF16, "BF16": fmtBF16, "F64": fmtF64}

// intType is an integer type of a conversion.
type intType struct {
	width  uint
	signed bool
}

var intTypes = map[string]intType{
	"U8": {8, false}, "S8": {8, true}, "U16": {16, false}, "S16": {16, true},
	"U32": {32, false}, "S32": {32, true}, "U64": {64, false}, "S64": {64, true},
}

// shift is the bit position of the part of a register that a suffix names.
func shift(o *sass.Operand) (uint8, bool) {
	switch o.Suffix {
	case "", "B0", "H0", "H0_H0":
		return 0, true
	case "B1":
		return 8, true
	case "B2", "H1", "H1_H1":
		return 16, true
	case "B3":
		return 24, true
	}
	return 0, false
}

// floatSourceOf decodes the only source, a number in a format; count is the shift to it.
func (d *dec) floatSourceOf(format uint8) error {
	v := d.values()
	if len(v) != 1 {
		return errForm
	}
	o := v[0]
	s, ok := shift(o)
	if !ok {
		return errForm
	}
	d.o.count = int(s)
	switch format {
	case fmtF64:
		return d.addF64(o)
	case fmtF32:
		return d.addF32(o)
	}
	r, err := d.word(o, 0)
	if err != nil {
		return err
	}
	return d.add(floatSource(r, o, 0x80008000))
}

// toF64 widens lane i of the source, which is exact; with .FTZ a binary32 is flushed
// first.
func (in *inst) toF64(p *pending, i int) uint64 {
	switch in.arg {
	case fmtF64:
		return p.pair(0, i)
	case fmtF16:
		return num.F16ToF64(uint16(p.s[0][i] >> in.count))
	case fmtBF16:
		return num.BF16ToF64(uint16(p.s[0][i] >> in.count))
	}
	return num.F32ToF64(in.flush(p.s[0][i]))
}

// decodeF2F: between formats of floats, and FRND to a whole number in one.
func decodeF2F(d *dec) error {
	if err := d.only("F32", "F16", "BF16", "F64", "RN", "RM", "RP", "RZ", "FTZ", "FLOOR", "CEIL", "TRUNC", "ROUND"); err != nil {
		return err
	}
	d.floatFlags()
	o := d.o
	var f []uint8
	for _, m := range d.in.Mods {
		if x, ok := formats[m]; ok {
			f = append(f, x)
		}
	}
	switch {
	case d.in.Op == sass.OpFRND || d.in.Op == sass.OpUFRND:
		switch len(f) {
		case 0:
		case 1:
			o.mode, o.arg = f[0], f[0]
		default:
			return errForm
		}
		o.run = opFRND
	case len(f) != 2:
		return errForm
	default:
		o.mode, o.arg = f[0], f[1]
		o.run = opF2F
		if o.mode == fmtF32 && o.arg == fmtF32 {
			return errForm
		}
	}
	n := 1
	if o.mode == fmtF64 {
		n = 2
	}
	if err := d.result(n); err != nil {
		return err
	}
	d.once()
	return d.floatSourceOf(o.arg)
}

// opF2F converts through binary64, which holds every source exactly; a NaN keeps its bits
// only between binary32 and binary64.
func opF2F(w *warp, in *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		v := in.toF64(p, i)
		switch in.mode {
		case fmtF64:
			p.setPair(0, i, v)
		case fmtF32:
			p.d[0][i] = in.flush(num.F64ToF32(v, in.round))
		case fmtF16:
			p.d[0][i] = uint32(num.F64ToF16(v, in.round))
		default:
			p.d[0][i] = uint32(num.F64ToBF16(v, in.round))
		}
	}
}

func opFRND(w *warp, in *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		switch in.mode {
		case fmtF64:
			p.setPair(0, i, num.RintF64(p.pair(0, i), in.round))
		case fmtF32:
			p.d[0][i] = num.RintF32(in.flush(p.s[0][i]), in.round)
		case fmtF16:
			p.d[0][i] = uint32(num.RintF16(uint16(p.s[0][i]>>in.count), in.round))
		default:
			p.d[0][i] = uint32(num.RintBF16(uint16(p.s[0][i]>>in.count), in.round))
		}
	}
}

// decodeF2I: to integers; out-of-range values saturate. NaN becomes 0 with .NTZ, else the
// integer with only its highest bit set (as in PTX for the types for which the compiler
// uses .NTZ, and for the others).
func decodeF2I(d *dec) error {
	if err := d.only("F16", "BF16", "F32", "F64", "U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64", "FTZ", "NTZ", "FLOOR", "CEIL", "TRUNC", "ROUND"); err != nil {
		return err
	}
	d.floatFlags()
	o := d.o
	t := intTypes["S32"]
	for _, m := range d.in.Mods {
		if f, ok := formats[m]; ok {
			o.arg = f
		}
		if x, ok := intTypes[m]; ok {
			t = x
		}
	}
	o.imm, o.flag, o.sat = uint64(t.width), t.signed, d.in.Has("NTZ")
	n := 1
	if t.width == 64 {
		n = 2
	}
	if err := d.result(n); err != nil {
		return err
	}
	o.run = opF2I
	d.once()
	return d.floatSourceOf(o.arg)
}

func opF2I(w *warp, in *inst, p *pending, m uint32) {
	width := uint(in.imm)
	for _, i := range w.lanes(m) {
		i &= 31
		f := in.toF64(p, i)
		var v uint64
		switch {
		case isNaN64(f):
			if !in.sat {
				v = 1 << (width - 1)
			}
		case in.flag:
			v = num.F64ToS(f, in.round, width)
		default:
			v = num.F64ToU(f, in.round, width)
		}
		if width == 64 {
			p.setPair(0, i, v)
		} else {
			p.d[0][i] = uint32(v)
		}
	}
}

// decodeI2F: from integers, rounded once.
func decodeI2F(d *dec) error {
	if err := d.only("F16", "BF16", "F32", "F64", "U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64", "RN", "RM", "RP", "RZ"); err != nil {
		return err
	}
	d.floatFlags()
	o := d.o
	t := intTypes["S32"]
	for _, m := range d.in.Mods {
		if f, ok := formats[m]; ok {
			o.mode = f
		}
		if x, ok := intTypes[m]; ok {
			t = x
		}
	}
	o.imm, o.flag = uint64(t.width), t.signed
	n := 1
	if o.mode == fmtF64 {
		n = 2
	}
	if err := d.result(n); err != nil {
		return err
	}
	v := d.values()
	if len(v) != 1 {
		return errForm
	}
	s, ok := shift(v[0])
	if !ok || v[0].Neg && t.width == 64 {
		return errForm
	}
	o.count = int(s)
	o.run = opI2F
	if o.mode == fmtF32 && t.signed && t.width <= 32 && o.round == num.RN {
		o.run = opI2FNearest
	}
	d.once()
	if t.width == 64 {
		return d.addWords(v[0], 2)
	}
	return d.addBits(v[0])
}

// opI2FNearest is I2F of signed numbers of at most 32 bits to the nearest binary32, the most
// frequent conversion.
func opI2FNearest(w *warp, in *inst, p *pending, m uint32) {
	d, s, low, high := p.d[0], p.s[0], in.count&31, (32-int(in.imm))&31
	for _, i := range w.lanes(m) {
		i &= 31
		d[i] = math.Float32bits(float32(int32(s[i]>>low<<high) >> high))
	}
}

func opI2F(w *warp, in *inst, p *pending, m uint32) {
	width := uint(in.imm)
	for _, i := range w.lanes(m) {
		i &= 31
		var v uint64
		switch {
		case width == 64:
			v = p.pair(0, i)
		case in.flag:
			v = num.SignExtend(uint64(p.s[0][i]>>in.count), width)
		default:
			v = num.ZeroExtend(uint64(p.s[0][i]>>in.count), width)
		}
		if in.flag {
			n := int64(v)
			switch in.mode {
			case fmtF64:
				p.setPair(0, i, num.SToF64(n, in.round))
			case fmtF32:
				p.d[0][i] = num.SToF32(n, in.round)
			case fmtF16:
				p.d[0][i] = uint32(num.SToF16(n, in.round))
			default:
				p.d[0][i] = uint32(num.SToBF16(n, in.round))
			}
			continue
		}
		switch in.mode {
		case fmtF64:
			p.setPair(0, i, num.UToF64(v, in.round))
		case fmtF32:
			p.d[0][i] = num.UToF32(v, in.round)
		case fmtF16:
			p.d[0][i] = uint32(num.UToF16(v, in.round))
		default:
			p.d[0][i] = uint32(num.UToBF16(v, in.round))
		}
	}
}

// narrows are the formats of eight bits and fewer.
var narrows = map[string]num.Narrow{"E4M3": num.E4M3, "E5M2": num.E5M2, "E2M3": num.E2M3, "E3M2": num.E3M2, "E2M1": num.E2M1}

// decodeF2FP: two numbers as halves, a above b.
func decodeF2FP(d *dec) error {
	switch {
	case d.in.Has("PACK_AB_MERGE_C"):
		return d.packNarrow()
	case d.in.Has("UNPACK_B"):
		return d.unpackNarrow()
	}
	if err := d.only("PACK_AB", "BF16", "F16", "F32", "RN", "RZ", "RELU"); err != nil {
		return err
	}
	if !d.in.Has("PACK_AB") {
		return errForm
	}
	d.floatFlags()
	d.o.flag = d.in.Has("BF16")
	if d.in.Has("RELU") {
		d.o.arg = 1
	}
	d.o.run = opF2FP
	return d.floats(2)
}

func opF2FP(w *warp, in *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		p.d[0][i] = in.pack(p.s[0][i])<<16 | in.pack(p.s[1][i])
	}
}

func (in *inst) pack(v uint32) uint32 {
	if in.arg == 1 {
		v = num.ReluF32(v)
	}
	if in.flag {
		return uint32(num.F32ToBF16(v, in.round))
	}
	return uint32(num.F32ToF16(v, in.round))
}

// packNarrow: two numbers as bytes, or as the two halves of a byte if they have four bits, a
// above b. The other bits of the result are those of c. The numbers are the lowest bits, with
// .H1 the lower ones of the upper half. Numbers out of range become the largest, NaN without a
// place in the format too (PTX manual, cvt with .satfinite).
func (d *dec) packNarrow() error {
	if err := d.only("PACK_AB_MERGE_C", "SATFINITE", "RELU", "E4M3", "E5M2", "E2M3", "E3M2", "E2M1", "F32", "H1"); err != nil {
		return err
	}
	o := d.o
	o.count, o.imm = 8, 0xffff
	for _, m := range d.in.Mods {
		if n, ok := narrows[m]; ok {
			o.mode = uint8(n)
		}
	}
	if num.Narrow(o.mode) == num.E2M1 {
		o.count, o.imm = 4, 0xff
	}
	o.flag = d.in.Has("RELU")
	if d.in.Has("H1") {
		o.arg = 16
	}
	if err := d.result(1); err != nil {
		return err
	}
	v := d.values()
	if len(v) != 3 {
		return errForm
	}
	o.run = opPackNarrow
	for _, op := range v[:2] {
		if err := d.addF32(op); err != nil {
			return err
		}
	}
	return d.addWords(v[2], 1)
}

func opPackNarrow(w *warp, in *inst, p *pending, m uint32) {
	mask := uint32(in.imm) << in.arg
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := p.s[0][i], p.s[1][i]
		if in.flag {
			a, b = num.ReluF32(a), num.ReluF32(b)
		}
		v := uint32(num.F32ToNarrow(a, num.Narrow(in.mode)))<<in.count | uint32(num.F32ToNarrow(b, num.Narrow(in.mode)))
		p.d[0][i] = p.s[2][i]&^mask | v<<in.arg
	}
}

// unpackNarrow: the two numbers of packNarrow as halves; every number of these formats is one of
// binary16. The powers of two of E8 become numbers of bfloat16.
func (d *dec) unpackNarrow() error {
	if err := d.only("UNPACK_B", "F16", "BF16", "E4M3", "E5M2", "E2M3", "E3M2", "E2M1", "E8"); err != nil {
		return err
	}
	v := d.values()
	if d.in.Has("BF16") != d.in.Has("E8") || len(v) != 1 || v[0].Neg || v[0].Abs {
		return errForm
	}
	o := d.o
	s, ok := shift(v[0])
	if !ok {
		return errForm
	}
	o.arg, o.count, o.flag = s, 8, d.in.Has("E8")
	for _, m := range d.in.Mods {
		if n, ok := narrows[m]; ok {
			o.mode = uint8(n)
		}
	}
	if num.Narrow(o.mode) == num.E2M1 {
		o.count = 4
	}
	if err := d.result(1); err != nil {
		return err
	}
	o.run = opUnpackNarrow
	return d.addWords(v[0], 1)
}

func opUnpackNarrow(w *warp, in *inst, p *pending, m uint32) {
	half := func(v uint32) uint32 {
		if in.flag {
			return uint32(num.UE8M0ToBF16(uint8(v)))
		}
		return uint32(num.F32ToF16(num.NarrowToF32(uint8(v), num.Narrow(in.mode)), num.RN))
	}
	mask := full >> (32 - in.count)
	for _, i := range w.lanes(m) {
		i &= 31
		v := p.s[0][i] >> in.arg
		p.d[0][i] = half(v&mask) | half(v>>in.count&mask)<<16
	}
}

// decodeI2I: .SAT clamps to the type of the result.
func decodeI2I(d *dec) error {
	if err := d.only("U8", "S8", "U16", "S16", "S32", "SAT"); err != nil {
		return err
	}
	if !d.in.Has("SAT") || !d.in.Has("S32") {
		return errForm
	}
	t, ok := intTypes[d.in.Mods[0]]
	if !ok {
		return errForm
	}
	d.o.imm, d.o.flag = uint64(t.width), t.signed
	if err := d.result(1); err != nil {
		return err
	}
	d.o.run = opI2I
	return d.sources(1)
}

func opI2I(w *warp, in *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		v := int64(int32(p.s[0][i]))
		if in.flag {
			p.d[0][i] = uint32(num.SatSToS(v, uint(in.imm)))
		} else {
			p.d[0][i] = uint32(num.SatSToU(v, uint(in.imm)))
		}
	}
}

// decodeI2IP: two clamped integers above the low bits of a third.
func decodeI2IP(d *dec) error {
	if err := d.only("U8", "S8", "U16", "S16", "S32", "SAT"); err != nil {
		return err
	}
	t, ok := intTypes[d.in.Mods[0]]
	if !ok || !d.in.Has("SAT") {
		return errForm
	}
	d.o.imm, d.o.flag = uint64(t.width), t.signed
	if err := d.result(1); err != nil {
		return err
	}
	d.o.run = opI2IP
	return d.sources(3)
}

func opI2IP(w *warp, in *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		p.d[0][i] = num.CvtPack(int32(p.s[0][i]), int32(p.s[1][i]), p.s[2][i], uint(in.imm), in.flag)
	}
}

// decodeF2IP: two numbers, each rounded to the nearest integer and clamped, above the low bits of a third
// operand. NVIDIA's compiler makes cvt.rni.sat.u8.f32 an F2IP.U8 whose other operands are RZ; that A is
// above B and C above both is assumed, as in I2IP.
func decodeF2IP(d *dec) error {
	if err := d.only("U8", "S8", "F32", "NTZ", "RELU"); err != nil {
		return err
	}
	d.o.flag = d.in.Has("S8")
	if d.in.Has("RELU") {
		d.o.arg = 1
	}
	v := d.values()
	if len(v) != 3 {
		return errForm
	}
	if err := d.result(1); err != nil {
		return err
	}
	d.o.run = opF2IP
	for _, o := range v[:2] {
		if err := d.addF32(o); err != nil {
			return err
		}
	}
	return d.addBits(v[2])
}

func opF2IP(w *warp, in *inst, p *pending, m uint32) {
	least := int32(math.MinInt32)
	if in.arg == 1 {
		least = 0
	}
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := int32(num.F32ToS(p.s[0][i], num.RN, 32)), int32(num.F32ToS(p.s[1][i], num.RN, 32))
		p.d[0][i] = num.CvtPack(max(a, least), max(b, least), p.s[2][i], 8, in.flag)
	}
}
