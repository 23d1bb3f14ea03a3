package ptx

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: arithmetic that the generated table cannot express: predicate results,
// four sources, forms that differ only in the number of operands.

func init() {
	families["testp"] = decodeTestp
	families["bfi"] = decodeBfi
	families["min"] = decodeMinMax
	families["max"] = decodeMinMax
	families["shl"] = decodeShift
	families["shr"] = decodeShift
}

// decodeShift reads a literal amount as 32 bits, for every shifted type.
func decodeShift(d *dec, in *ptx.Inst, o *inst) error {
	err := d.tableOp(in, o)
	if err == nil && in.Args[2].Kind == ptx.OpImm {
		o.b = d.const32(uint32(in.Args[2].Imm.Bits))
	}
	return err
}

// decodeMinMax distinguishes three-source min and max from the two-source forms.
func decodeMinMax(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) == 4 {
		three := *in
		three.Op += "3"
		return d.tableOp(&three, o)
	}
	return d.tableOp(in, o)
}

var testps = map[string]num.Testp{
	"finite": num.TestpFinite, "infinite": num.TestpInfinite, "number": num.TestpNumber,
	"notanumber": num.TestpNotANumber, "normal": num.TestpNormal, "subnormal": num.TestpSubnormal,
}

func decodeTestp(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(in.Args) != 2 || len(types) != 1 {
		return errors.New("takes a predicate and a source")
	}
	found := false
	for _, m := range in.Mods {
		if t, ok := testps[m]; ok {
			o.mode, found = uint8(t), true
		}
	}
	if !found {
		return errUnsupported
	}
	var err error
	if o.d, err = d.dstPred(&in.Args[0]); err != nil {
		return err
	}
	if types[0] == "f64" {
		d.info.Unit = isa.UnitFP64
		o.a, err = d.src64(&in.Args[1], types[0])
		o.run = testp64
		return err
	}
	d.info.Unit = isa.UnitFP32
	o.a, err = d.src32(&in.Args[1], types[0])
	o.run = testp32
	return err
}

func testp32(w *warp, in *inst, m uint32) {
	a, r := w.u32(in.a), uint32(0)
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		if num.TestpF32(num.Testp(in.mode), a[i]) {
			r |= 1 << i
		}
	}
	w.setPred(in.d, r, m)
}

func testp64(w *warp, in *inst, m uint32) {
	a, r := w.u64(in.a), uint32(0)
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		if num.TestpF64(num.Testp(in.mode), a[i]) {
			r |= 1 << i
		}
	}
	w.setPred(in.d, r, m)
}

// decodeBfi is bfi: field a into base b at position c, length e.
func decodeBfi(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(in.Args) != 5 || len(types) != 1 {
		return fmt.Errorf("takes 5 operands, not %d", len(in.Args))
	}
	var err error
	get := d.src32
	if types[0].Bits() == 64 {
		get = d.src64
		o.run = bfi64
		o.d, err = d.dst64(&in.Args[0])
	} else {
		o.run = bfi32
		o.d, err = d.dst32(&in.Args[0])
	}
	if err != nil {
		return err
	}
	if o.a, err = get(&in.Args[1], types[0]); err != nil {
		return err
	}
	if o.b, err = get(&in.Args[2], types[0]); err != nil {
		return err
	}
	if o.c, err = d.src32(&in.Args[3], "u32"); err != nil {
		return err
	}
	o.e, err = d.src32(&in.Args[4], "u32")
	return err
}

func bfi32(w *warp, in *inst, m uint32) {
	d, a, b, c, e := &w.r32[in.d], w.u32(in.a), w.u32(in.b), w.u32(in.c), w.u32(in.e)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = num.BfiB32(a[i], b[i], c[i], e[i])
	}
}

func bfi64(w *warp, in *inst, m uint32) {
	d, a, b, c, e := &w.r64[in.d], w.u64(in.a), w.u64(in.b), w.u32(in.c), w.u32(in.e)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = num.BfiB64(a[i], b[i], c[i], e[i])
	}
}
