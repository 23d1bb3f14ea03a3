package sass

import (
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: double precision, in pairs of registers, the even one low.

func init() {
	putLanes(decodeDADD, sass.OpDADD, sass.OpDMUL, sass.OpDFMA)
	putLanes(decodeDSETP, sass.OpDSETP)
}

// pair is lane i of two words.
func (p *pending) pair(k, i int) uint64 { return uint64(p.s[k][i]) | uint64(p.s[k+1][i])<<32 }

// setPair writes lane i of two result words.
func (p *pending) setPair(k, i int, v uint64) { p.d[k][i], p.d[k+1][i] = uint32(v), uint32(v>>32) }

func decodeDADD(d *dec) error {
	if err := d.only("RN", "RM", "RP", "RZ"); err != nil {
		return err
	}
	d.o.round = d.rounding()
	if err := d.result(2); err != nil {
		return err
	}
	n := 2
	switch d.in.Op {
	case sass.OpDADD:
		d.o.run = opDADD
	case sass.OpDMUL:
		d.o.run = opDMUL
	default:
		n, d.o.run = 3, opDFMA
	}
	return d.doubles(n)
}

func (d *dec) doubles(n int) error {
	v := d.values()
	if len(v) != n {
		return errForm
	}
	for _, o := range v {
		if err := d.addF64(o); err != nil {
			return err
		}
	}
	return nil
}

func opDADD(w *warp, in *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		p.setPair(0, i, num.AddF64(p.pair(0, i), p.pair(2, i), in.round))
	}
}

func opDMUL(w *warp, in *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		p.setPair(0, i, num.MulF64(p.pair(0, i), p.pair(2, i), in.round))
	}
}

func opDFMA(w *warp, in *inst, p *pending, m uint32) {
	for _, i := range w.lanes(m) {
		i &= 31
		p.setPair(0, i, num.FMAF64(p.pair(0, i), p.pair(2, i), p.pair(4, i), in.round))
	}
}

// decodeDSETP: comparisons into predicates. .MIN and .MAX report which operand is the
// smaller or larger, for selections that follow: the first predicate says that it is a;
// the second, that neither is a number and the result is b made quiet. (Compilers build
// min.f64 and max.f64 from them; the meaning of the predicates is inferred from the
// results. Of equal operands b is taken.)
func decodeDSETP(d *dec) error {
	d.predResult(0, sass.Pu)
	d.predResult(1, sass.Pv)
	d.predSource(0, sass.Pp, true)
	if least := d.in.Has("MIN"); least || d.in.Has("MAX") {
		if err := d.only("MIN", "MAX", "AND"); err != nil {
			return err
		}
		d.o.flag = least
		d.o.run = opDSETPPick
		return d.doubles(2)
	}
	if err := d.comparison(); err != nil {
		return err
	}
	d.o.run = opDSETP
	return d.doubles(2)
}

func opDSETPPick(w *warp, in *inst, p *pending, m uint32) {
	var first, none uint32
	for _, i := range w.lanes(m) {
		i &= 31
		a, b := p.pair(0, i), p.pair(2, i)
		switch aNone, bNone := isNaN64(a), isNaN64(b); {
		case aNone && bNone:
			none |= 1 << i
		case aNone:
		case bNone, in.flag == below(a, b) && a != b:
			first |= 1 << i
		}
	}
	p.pout = [2]uint32{first & p.ps[0], none & p.ps[0]}
}

func isNaN64(a uint64) bool { return a<<1 > 0xffe0000000000000 }

// below compares two binary64 numbers, neither of them NaN; -0 is below +0.
func below(a, b uint64) bool {
	order := func(v uint64) uint64 { // as unsigned numbers in the same order
		if v>>63 != 0 {
			return ^v
		}
		return v | 1<<63
	}
	return order(a) < order(b)
}

func opDSETP(w *warp, in *inst, p *pending, m uint32) {
	r := uint32(0)
	for _, i := range w.lanes(m) {
		i &= 31
		if num.CmpF64(in.cmp, p.pair(0, i), p.pair(2, i)) {
			r |= 1 << i
		}
	}
	p.pout = [2]uint32{combine(in.mode, r, p.ps[0]), combine(in.mode, ^r, p.ps[0])}
}
