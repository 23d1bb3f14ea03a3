package ptx

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: cvt in all its forms.
//
// The common scalar conversions are rows of the generated table. All others run as a
// pipeline over rows of 32 values of 64 bits, one row per element of the result:
// elements are loaded from their registers, pass through a list of stages, each a loop
// over the lanes, and are packed into the destination. The rows are slots of the
// frame, shared by all conversions of a function.

func init() { families["cvt"] = decodeCvt }

// cvtRows is the key of the rows in the decoder's map of slots.
var cvtRows = &ptx.Var{Name: "(cvt)", Space: ptx.SpaceReg, Type: "b64"}

// cvtStage is one step of a conversion, applied to every lane of a row.
type cvtStage struct {
	run   cvtFunc
	round num.Round
	width uint       // of an integer
	sat   bool       // .satfinite if the step itself depends on it
	fmt   num.Narrow // of a narrow format
	rbits ref        // register of random bits
	shift uint       // where this row's random bits begin
}

// cvtElem is one row: its source and its stages.
type cvtElem struct {
	row    ref
	src    ref
	wide   bool // src is a 64-bit slot
	shift  uint
	width  uint
	signed bool
	stages []cvtStage
}

// cvtPlan is a decoded conversion.
type cvtPlan struct {
	elems  []cvtElem // lowest first
	bits   uint      // of each element in the destination
	signed bool      // the destination is a signed integer
	wide   bool      // the destination is a 64-bit slot
	reg    uint      // bits of the destination register
}

func runCvt(w *warp, in *inst, m uint32) {
	p := in.x.any.(*cvtPlan)
	for k := range p.elems {
		e := &p.elems[k]
		v := &w.r64[e.row]
		e.load(v, w, m)
		for s := range e.stages {
			e.stages[s].run(v, &e.stages[s], w, m)
		}
	}
	// The rows now hold the elements of the result. Everything below depends
	// on the plan only, not on the lane.
	v := &w.r64[p.elems[0].row]
	if p.signed {
		n := 64 - p.bits
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			v[i] = uint64(int64(v[i]<<n) >> n)
		}
	} else {
		mask := ^uint64(0) >> (64 - p.bits)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			v[i] &= mask
		}
		for n := 1; n < len(p.elems); n++ {
			e, at := &w.r64[p.elems[n].row], uint(n)*p.bits
			for k := m; k != 0; k &= k - 1 {
				i := bits.TrailingZeros32(k) & 31
				v[i] |= e[i] & mask << at
			}
		}
	}
	if p.wide {
		d := &w.r64[in.d]
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = v[i]
		}
		return
	}
	d, mask := &w.r32[in.d], uint32(1<<p.reg-1)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint32(v[i]) & mask
	}
}

// load fills the row: the element's bits, sign-extended if it is signed.
func (e *cvtElem) load(v *[32]uint64, w *warp, m uint32) {
	n := 64 - e.width
	if e.wide {
		a := w.u64(e.src)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			v[i] = a[i] >> e.shift << n >> n
		}
	} else {
		a := w.u32(e.src)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			v[i] = uint64(a[i]) >> e.shift << n >> n
		}
	}
	if e.signed {
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			v[i] = uint64(int64(v[i]<<n) >> n)
		}
	}
}

// cvtRound maps rounding modifiers; those that end in i round to an integer.
var cvtRound = map[string]num.Round{
	"rn": num.RN, "rz": num.RZ, "rm": num.RM, "rp": num.RP, "rna": num.RNA,
	"rni": num.RN, "rzi": num.RZ, "rmi": num.RM, "rpi": num.RP,
}

func decodeCvt(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if in.Has("pack") {
		return d.cvtPack(in, o, types)
	}
	if len(types) != 2 || len(in.Args) < 2 {
		return errors.New("needs two types, a destination and a source")
	}
	for _, m := range in.Mods {
		if strings.HasPrefix(m, "scaled") {
			return fmt.Errorf("%w: the order of scaling and rounding is not known well enough", errUnsupported)
		}
	}
	dt, st := types[0], types[1]
	if dt.Elem() == "s2f6" || st.Elem() == "s2f6" {
		return fmt.Errorf("%w: the NaN behaviour of format s2f6 is not known", errUnsupported)
	}
	if dt == st && in.Rounding() == "" && !in.Has("sat") && !in.Has("ftz") && dt.Float() {
		// A conversion to the same type keeps even the payload of a NaN.
		return d.cvtPipeline(in, o, dt, st, nil)
	}
	if d.cvtInTable(in, dt) {
		return d.tableOp(in, o)
	}
	stages, err := cvtStages(in, dt.Elem(), st.Elem())
	if err != nil {
		return err
	}
	return d.cvtPipeline(in, o, dt, st, stages)
}

// cvtInTable reports whether the generated table has the conversion and the
// registers are as wide as their types.
func (d *dec) cvtInTable(in *ptx.Inst, dt ptx.Type) bool {
	e, ok := opTable[key(in)]
	if !ok || len(in.Args) != len(e.sig) {
		return false
	}
	for i := range in.Args {
		a := &in.Args[i]
		if a.Kind != ptx.OpReg || a.Var == nil || (classOf(a.Var.Type) == c64) != (e.sig[i] == 'W') {
			return false
		}
	}
	return in.Args[0].Var.Type.Bits() == dt.Bits()
}

// cvtPipeline resolves the operands of a conversion from st to dt and plans it;
// every element goes through the same stages.
func (d *dec) cvtPipeline(in *ptx.Inst, o *inst, dt, st ptx.Type, stages []cvtStage) error {
	p := &cvtPlan{bits: uint(dt.Elem().Bits()), signed: dt.Signed()}
	if dt.Elem().Bits() < 8 && dt.Lanes() == 1 {
		return errUnsupported
	}
	if b := dt.Bits() / dt.Lanes(); dt.Lanes() > 1 {
		p.bits = uint(b)
	}
	r, wide, reg, err := d.dst(&in.Args[0])
	if err != nil {
		return err
	}
	o.d, p.wide, p.reg = r, wide, uint(reg)
	if reg < dt.Bits() {
		return fmt.Errorf("needs a destination of %d bits", dt.Bits())
	}
	srcs := in.Args[1:]
	rbits := none
	if in.Rounding() == "rs" {
		if rbits, err = d.src32(&srcs[len(srcs)-1], "b32"); err != nil {
			return err
		}
		srcs = srcs[:len(srcs)-1]
	}
	if len(srcs) == 1 && srcs[0].Kind == ptx.OpVec {
		srcs = srcs[0].List
	}
	n := dt.Lanes()
	switch {
	case st.Lanes() == n && n > 1:
		if len(srcs) != 1 {
			return errors.New("takes one packed source")
		}
	case st.Lanes() != 1 || len(srcs) != n:
		return fmt.Errorf("takes %d sources, not %d", n, len(srcs))
	}
	for k := range n {
		e := cvtElem{row: d.slot(cvtRows, k, 0), width: uint(st.Bits()), signed: st.Signed()}
		a := &srcs[0]
		if st.Lanes() > 1 {
			e.width = uint(st.Bits() / st.Lanes())
			e.shift = uint(k) * e.width
		} else {
			a = &srcs[n-1-k] // the first source becomes the highest element
		}
		if e.src, e.wide, err = d.src(a, st); err != nil {
			return err
		}
		e.stages = append(e.stages, stages...)
		for s := range e.stages {
			e.stages[s].rbits, e.stages[s].shift = rbits, rbitsAt(dt, k)
		}
		p.elems = append(p.elems, e)
	}
	d.info.Unit = cvtUnit(dt, st)
	o.x = &extra{any: p}
	o.run = runCvt
	return nil
}

// rbitsAt returns the bit at which the random bits of element k begin in the operand
// rbits: each of two elements has a half word, each of four a byte (the order of the
// bytes is an assumption: that of the elements).
func rbitsAt(dt ptx.Type, k int) uint {
	if dt.Lanes() == 4 {
		return uint(k) * 8
	}
	return uint(k) * 16
}

func cvtUnit(dt, st ptx.Type) isa.Unit {
	switch {
	case dt == "f64" || st == "f64":
		return isa.UnitFP64
	case dt.Float() || st.Float():
		return isa.UnitFP32
	}
	return isa.UnitALU
}

// cvtStages lists what is done to one element on its way from st to dt.
func cvtStages(in *ptx.Inst, dt, st ptx.Type) ([]cvtStage, error) {
	rnd := in.Rounding()
	p := cvtSteps{in: in, next: cvtStage{round: cvtRound[rnd], width: uint(dt.Bits()), sat: in.Has("satfinite")}}
	if in.Has("ftz") && st == "f32" {
		p.add(stFTZ32)
	}
	dn, toNarrow := narrowOf[dt]
	sn, fromNarrow := narrowOf[st]
	switch {
	case toNarrow:
		if p.single(st) != "f32" {
			return nil, errUnsupported
		}
		if in.Has("relu") {
			p.add(stRelu32)
		}
		p.next.fmt = dn
		if rnd == "rs" {
			p.add(stToNarrowRS)
		} else {
			p.add(stToNarrow)
		}
		return p.list, nil
	case dt == "ue8m0":
		if st == "f16" || p.single(st) != "f32" {
			return nil, errUnsupported
		}
		p.add(stToUE8M0)
		return p.list, nil
	case st == "ue8m0":
		if dt != "bf16" {
			return nil, errUnsupported
		}
		p.add(stUE8M0ToBF16)
		return p.list, nil
	case fromNarrow:
		from := p.next
		p.next.fmt = sn
		p.add(stNarrowToF32)
		st, p.next = "f32", from
		p.next.round = num.RN
	}
	switch {
	case dt.Float():
		err := p.toFloat(dt, st)
		return p.list, err
	case st.Float(): // to an integer, clamped with and without .sat
		err := p.named(string(p.single(st)) + ">" + integerOf(dt))
		return p.list, err
	case in.Has("sat"):
		p.add(cvtSaturate[integerOf(st)+integerOf(dt)])
	}
	return p.list, nil
}

// cvtSteps collects the stages of a conversion.
type cvtSteps struct {
	in   *ptx.Inst
	list []cvtStage
	next cvtStage // without its function
}

type cvtFunc = func(v *[32]uint64, s *cvtStage, w *warp, m uint32)

func (p *cvtSteps) add(f cvtFunc) {
	p.next.run = f
	p.list = append(p.list, p.next)
}

// named adds a stage of cvtFuncs.
func (p *cvtSteps) named(name string) error {
	f, ok := cvtFuncs[name]
	if !ok {
		return errUnsupported
	}
	p.add(f)
	return nil
}

// single makes an f32 of a 16-bit float, and returns the type that the element has then.
func (p *cvtSteps) single(t ptx.Type) ptx.Type {
	switch t {
	case "f16":
		p.add(stF16ToF32)
	case "bf16":
		p.add(stBF16ToF32)
	default:
		return t
	}
	return "f32"
}

// toFloat converts to a float of at least 16 bits.
func (p *cvtSteps) toFloat(dt, st ptx.Type) (err error) {
	rnd, from, to := p.in.Rounding(), string(st), string(dt)
	if !st.Float() {
		from = integerOf(st)
	}
	switch {
	case st == dt:
		if strings.HasSuffix(rnd, "i") {
			err = p.named("rint " + to)
		}
	case rnd == "rs":
		err = p.named(from + ">" + to + " rs")
	default:
		err = p.named(from + ">" + to)
		if err == nil && p.in.Has("satfinite") {
			err = p.named("satfinite " + to)
		}
	}
	if p.in.Has("ftz") && dt == "f32" {
		p.add(stFTZ32)
	}
	for _, clamp := range []string{"sat", "relu"} {
		if err == nil && p.in.Has(clamp) {
			err = p.named(clamp + " " + to)
		}
	}
	return err
}

// integerOf is the name of an integer type in cvtFuncs.
func integerOf(t ptx.Type) string {
	if t.Signed() {
		return "s"
	}
	return "u"
}

// cvtSaturate has the clamps between integers, by the signs of source and destination.
var cvtSaturate = map[string]cvtFunc{"ss": stSatSToS, "su": stSatSToU, "us": stSatUToS, "uu": stSatUToU}

var narrowOf = map[ptx.Type]num.Narrow{"e4m3": num.E4M3, "e5m2": num.E5M2, "e2m3": num.E2M3, "e3m2": num.E3M2, "e2m1": num.E2M1}

// cvtFuncs names the stages: "from>to", where s and u are integers of either sign
// already extended to 64 bits; modifiers follow their type.
var cvtFuncs = map[string]cvtFunc{
	"f32>s": stF32ToS, "f32>u": stF32ToU, "f64>s": stF64ToS, "f64>u": stF64ToU,
	"s>f16": stSToF16, "u>f16": stUToF16, "s>bf16": stSToBF16, "u>bf16": stUToBF16,
	"s>f32": stSToF32, "u>f32": stUToF32, "s>f64": stSToF64, "u>f64": stUToF64,
	"f16>f32": stF16ToF32, "f16>f64": stF16ToF64, "f16>bf16": stF16ToBF16,
	"bf16>f32": stBF16ToF32, "bf16>f64": stBF16ToF64, "bf16>f16": stBF16ToF16,
	"f32>f16": stF32ToF16, "f32>bf16": stF32ToBF16, "f32>f64": stF32ToF64, "f32>tf32": stF32ToTF32,
	"f64>f16": stF64ToF16, "f64>bf16": stF64ToBF16, "f64>f32": stF64ToF32,
	"f32>f16 rs": stF32ToF16RS, "f32>bf16 rs": stF32ToBF16RS,
	"rint f16": stRint16, "rint bf16": stRintBF, "rint f32": stRint32, "rint f64": stRint64,
	"sat f16": stSat16, "sat bf16": stSatBF, "sat f32": stSat32, "sat f64": stSat64,
	"relu f16": stRelu16, "relu bf16": stReluBF, "relu tf32": stRelu32,
	"satfinite f16": stFinite16, "satfinite bf16": stFiniteBF, "satfinite tf32": stFiniteTF,
}

// cvtPack is cvt.pack.sat: two s32 clamped to a narrower type and packed, above
// the low bits of c where there is one.
func (d *dec) cvtPack(in *ptx.Inst, o *inst, types []ptx.Type) error {
	if len(types) < 2 || len(in.Args) != len(types)+1 {
		return errors.New("takes a destination, two sources, and a third below 16 bits")
	}
	var err error
	if o.d, err = d.dst32(&in.Args[0]); err != nil {
		return err
	}
	o.c = d.const32(0)
	for i, r := range []*ref{&o.a, &o.b, &o.c}[:len(in.Args)-1] {
		if *r, err = d.src32(&in.Args[1+i], "b32"); err != nil {
			return err
		}
	}
	o.size = uint8(types[0].Bits())
	if types[0].Signed() {
		o.flags |= fSigned
	}
	o.run = func(w *warp, in *inst, m uint32) {
		d, a, b, c := &w.r32[in.d], w.u32(in.a), w.u32(in.b), w.u32(in.c)
		width, signed := uint(in.size), in.flags&fSigned != 0
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = num.CvtPack(int32(a[i]), int32(b[i]), c[i], width, signed)
		}
	}
	return nil
}
