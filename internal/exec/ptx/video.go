package ptx

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: the scalar and SIMD video instructions. Selectors are stored in the
// operands' element: %r1.b2, %r1.h10.

var videoOps = map[string]num.VOp{
	"vadd": num.VAdd, "vsub": num.VSub, "vabsdiff": num.VAbsDiff, "vmin": num.VMin, "vmax": num.VMax,
	"vshl": num.VShl, "vshr": num.VShr, "vavrg": num.VAvrg,
}

func init() {
	for _, op := range []string{"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"} {
		families[op] = decodeVideo
	}
	families["vmad"] = decodeVmad
	for _, op := range []string{"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"} {
		families[op+"2"] = decodeVideoSimd
		families[op+"4"] = decodeVideoSimd
	}
}

var videoSelectors = map[string]num.VSel{
	"": num.VWord, "b0": num.VB0, "b1": num.VB1, "b2": num.VB2, "b3": num.VB3, "h0": num.VH0, "h1": num.VH1,
}

var videoCmps = map[string]num.Cmp{"eq": num.EQ, "ne": num.NE, "lt": num.LT, "le": num.LE, "gt": num.GT, "ge": num.GE}

// videoCmp returns the comparison of vset and similar instructions.
func videoCmp(in *ptx.Inst) (num.Cmp, error) {
	for _, m := range in.Mods {
		if c, ok := videoCmps[m]; ok {
			return c, nil
		}
	}
	return 0, errors.New("needs a comparison")
}

// videoArgs resolves destination and sources, with c zero if absent, and returns the
// selectors as written.
func (d *dec) videoArgs(in *ptx.Inst, o *inst) (sel [3]string, err error) {
	if n := len(in.Args); n != 3 && n != 4 {
		return sel, fmt.Errorf("takes a destination and two or three sources, not %d operands", n)
	}
	if o.d, err = d.dst32(&in.Args[0]); err != nil {
		return sel, err
	}
	o.c = d.const32(0)
	for i, r := range []*ref{&o.a, &o.b, &o.c}[:len(in.Args)-1] {
		a := in.Args[1+i]
		a.Neg = false
		if *r, err = d.src32(&a, "b32"); err != nil {
			return sel, err
		}
	}
	for i := range sel {
		sel[i] = in.Args[i].Elem
	}
	if len(in.Args) == 4 && in.Args[3].Elem != "" {
		return sel, errors.New("takes no selector on the last source")
	}
	return sel, nil
}

// video is a decoded scalar video instruction.
type video struct {
	op     num.VOp
	cmp    num.Cmp
	as, bs num.VSel
	sa, sb bool // atype and btype are signed
	p      num.VParams
}

func decodeVideo(d *dec, in *ptx.Inst, o *inst) error {
	sel, err := d.videoArgs(in, o)
	if err != nil {
		return err
	}
	v := &video{op: videoOps[in.Op]}
	types := in.Types()
	o.run = runVideo
	if in.Op == "vset" {
		if v.cmp, err = videoCmp(in); err != nil {
			return err
		}
		types = append([]ptx.Type{"u32"}, types...)
		o.run = runVideoSet
	}
	if len(types) != 3 {
		return errors.New("needs the types of destination and sources")
	}
	v.sa, v.sb = types[1].Signed(), types[2].Signed()
	v.p.Signed, v.p.Sat, v.p.Wrap = types[0].Signed(), in.Has("sat"), in.Has("wrap")
	var ok [3]bool
	v.p.Dst, ok[0] = videoSelectors[sel[0]]
	v.as, ok[1] = videoSelectors[sel[1]]
	v.bs, ok[2] = videoSelectors[sel[2]]
	for i := range ok {
		if !ok[i] {
			return fmt.Errorf("does not take the selector .%s", sel[i])
		}
	}
	second := num.VNone
	switch {
	case in.Has("add"):
		second = num.VSecondAdd
	case in.Has("min"):
		second = num.VSecondMin
	case in.Has("max"):
		second = num.VSecondMax
	case len(in.Args) == 4:
		second = num.VMerge
	}
	switch v.p.Second = second; {
	case second != num.VNone && len(in.Args) != 4:
		return errors.New("needs a third source for its secondary operation")
	case second != num.VMerge && sel[0] != "":
		return errors.New("can have a selector on the destination only with a third source to merge into")
	}
	o.x = &extra{any: v}
	return nil
}

func runVideo(w *warp, in *inst, m uint32) {
	v := in.x.any.(*video)
	d, a, b, c := &w.r32[in.d], w.u32(in.a), w.u32(in.b), w.u32(in.c)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		r := num.VScalar(v.op, num.VSelect(a[i], v.as, v.sa), num.VSelect(b[i], v.bs, v.sb), v.p)
		d[i] = num.VFinish(r, c[i], v.p)
	}
}

func runVideoSet(w *warp, in *inst, m uint32) {
	v := in.x.any.(*video)
	d, a, b, c := &w.r32[in.d], w.u32(in.a), w.u32(in.b), w.u32(in.c)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		r := num.VSet(v.cmp, num.VSelect(a[i], v.as, v.sa), num.VSelect(b[i], v.bs, v.sb))
		d[i] = num.VFinish(r, c[i], v.p)
	}
}

func decodeVmad(d *dec, in *ptx.Inst, o *inst) error {
	sel, err := d.videoArgs(in, o)
	if err != nil {
		return err
	}
	types := in.Types()
	if len(types) != 3 || len(in.Args) != 4 || sel[0] != "" {
		return errors.New("takes three types, a destination without selector and three sources")
	}
	as, okA := videoSelectors[sel[1]]
	bs, okB := videoSelectors[sel[2]]
	if !okA || !okB {
		return errors.New("takes the selectors .b0 to .b3, .h0 and .h1")
	}
	p := &num.VMadParams{
		ASigned: types[1].Signed(), BSigned: types[2].Signed(), ASel: as, BSel: bs,
		NegProduct: in.Args[1].Neg != in.Args[2].Neg, NegC: in.Args[3].Neg,
		PlusOne: in.Has("po"), Sat: in.Has("sat"),
	}
	switch {
	case in.Has("shr7"):
		p.Shift = 7
	case in.Has("shr15"):
		p.Shift = 15
	}
	if p.PlusOne && (in.Args[1].Neg || in.Args[2].Neg || in.Args[3].Neg) {
		return errors.New("cannot negate an operand with .po")
	}
	o.x = &extra{any: p}
	o.run = func(w *warp, in *inst, m uint32) {
		p := in.x.any.(*num.VMadParams)
		d, a, b, c := &w.r32[in.d], w.u32(in.a), w.u32(in.b), w.u32(in.c)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = num.VMad(a[i], b[i], c[i], *p)
		}
	}
	return nil
}

// simdVideo is a decoded SIMD video instruction.
type simdVideo struct {
	op  num.VOp
	cmp num.Cmp
	p   num.VSimdParams
}

func decodeVideoSimd(d *dec, in *ptx.Inst, o *inst) error {
	sel, err := d.videoArgs(in, o)
	if err != nil {
		return err
	}
	if len(in.Args) != 4 {
		return errors.New("takes a destination and three sources")
	}
	name, lanes := in.Op[:len(in.Op)-1], int(in.Op[len(in.Op)-1]-'0')
	v := &simdVideo{op: videoOps[name]}
	types := in.Types()
	o.run = runVideoSimd
	if name == "vset" {
		if v.cmp, err = videoCmp(in); err != nil {
			return err
		}
		types = append([]ptx.Type{"u32"}, types...)
		o.run = runVideoSimdSet
	}
	if len(types) != 3 {
		return errors.New("needs the types of destination and sources")
	}
	v.p = num.VSimdParams{Lanes: uint(lanes), DSigned: types[0].Signed(), ASigned: types[1].Signed(), BSigned: types[2].Signed(),
		Sat: in.Has("sat"), Add: in.Has("add")}
	if v.p.Mask, err = simdMask(sel[0], lanes); err != nil {
		return err
	}
	if v.p.ASel, err = simdSelector(sel[1], lanes, 0); err != nil {
		return err
	}
	if v.p.BSel, err = simdSelector(sel[2], lanes, lanes); err != nil {
		return err
	}
	o.x = &extra{any: v}
	return nil
}

// simdDigits checks a selector's letter and returns its digits, highest lane first, as
// written.
func simdDigits(s string, lanes, limit int) (string, error) {
	letter := byte('b')
	if lanes == 2 {
		letter = 'h'
	}
	if len(s) < 2 || len(s) > 1+lanes || s[0] != letter {
		return "", fmt.Errorf("does not take the selector .%s", s)
	}
	for _, c := range []byte(s[1:]) {
		if c < '0' || int(c-'0') >= limit {
			return "", fmt.Errorf("does not take the selector .%s", s)
		}
	}
	return s[1:], nil
}

// simdMask reads the destination's selector: the lanes that are written.
func simdMask(s string, lanes int) (uint8, error) {
	if s == "" {
		return 1<<lanes - 1, nil
	}
	digits, err := simdDigits(s, lanes, lanes)
	mask := uint8(0)
	for i := range len(digits) {
		mask |= 1 << (digits[i] - '0')
	}
	return mask, err
}

// simdSelector reads a source's selector: for each lane the element of the eight bytes
// or four half words of both sources. The default is those from first on.
func simdSelector(s string, lanes, first int) (sel [4]uint8, err error) {
	if s == "" {
		for i := range lanes {
			sel[i] = uint8(first + i)
		}
		return sel, nil
	}
	digits, err := simdDigits(s, lanes, 2*lanes)
	if err == nil && len(digits) != lanes {
		err = fmt.Errorf("needs %d digits in the selector .%s", lanes, s)
	}
	for i := range len(digits) {
		sel[len(digits)-1-i] = digits[i] - '0'
	}
	return sel, err
}

func runVideoSimd(w *warp, in *inst, m uint32) {
	v := in.x.any.(*simdVideo)
	d, a, b, c := &w.r32[in.d], w.u32(in.a), w.u32(in.b), w.u32(in.c)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = num.VSimd(v.op, a[i], b[i], c[i], v.p)
	}
}

func runVideoSimdSet(w *warp, in *inst, m uint32) {
	v := in.x.any.(*simdVideo)
	d, a, b, c := &w.r32[in.d], w.u32(in.a), w.u32(in.b), w.u32(in.c)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = num.VSimdSet(v.cmp, a[i], b[i], c[i], v.p)
	}
}
