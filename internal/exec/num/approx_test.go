package num

import (
	"math"
	"math/big"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// References of 200 bits, by plain series.
const refPrec = 200

func bf(x float64) *big.Float { return new(big.Float).SetPrec(refPrec).SetFloat64(x) }

// bigExp is e^x by halving the argument and squaring back.
func bigExp(x *big.Float) *big.Float {
	const halvings = 16
	y := new(big.Float).SetPrec(refPrec+40).SetMantExp(x, -halvings)
	sum, term := bf(1).SetPrec(refPrec+40), bf(1).SetPrec(refPrec+40)
	for k := int64(1); k < 40; k++ {
		term.Mul(term, y)
		term.Quo(term, bf(float64(k)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigAtanh is the series x + x³/3 + …, for |x| ≤ 1/3.
func bigAtanh(x *big.Float) *big.Float {
	x2 := new(big.Float).Mul(x, x)
	sum, power := new(big.Float).SetPrec(refPrec+20), new(big.Float).SetPrec(refPrec+20).Set(x)
	for k := 1; k < 150; k += 2 {
		sum.Add(sum, new(big.Float).Quo(power, bf(float64(k))))
		power.Mul(power, x2)
	}
	return sum
}

// bigLog is the natural logarithm of x in [1/2, 2], as 2·atanh((x-1)/(x+1)).
func bigLog(x *big.Float) *big.Float {
	q := new(big.Float).SetPrec(refPrec+20).Quo(new(big.Float).Sub(x, bf(1)), new(big.Float).Add(x, bf(1)))
	return q.Mul(bigAtanh(q), bf(2))
}

var (
	bigLn2 = bigLog(bf(2))
	bigPi  = func() *big.Float {
		// Machin: π = 16·atan(1/5) - 4·atan(1/239).
		const prec = 600
		atan := func(n int64) *big.Float {
			x := new(big.Float).SetPrec(prec).Quo(big.NewFloat(1).SetPrec(prec), new(big.Float).SetInt64(n))
			x2 := new(big.Float).Mul(x, x)
			sum, power := new(big.Float).SetPrec(prec), new(big.Float).Copy(x)
			for k := int64(1); k < 300; k += 2 {
				term := new(big.Float).SetPrec(prec).Quo(power, new(big.Float).SetInt64(k))
				if k%4 == 3 {
					term.Neg(term)
				}
				sum.Add(sum, term)
				power.Mul(power, x2)
			}
			return sum
		}
		a := atan(5)
		a.Mul(a, big.NewFloat(16))
		b := atan(239)
		return a.Sub(a, b.Mul(b, big.NewFloat(4)))
	}()
)

func bigSin(x float64) *big.Float {
	// Reduce by multiples of π, the sign following the parity, then Taylor.
	y := new(big.Float).SetPrec(600).SetFloat64(x)
	q := new(big.Float).SetPrec(600).Quo(y, bigPi)
	q.Add(q, big.NewFloat(math.Copysign(0.5, x)))
	n, _ := q.Int(nil)
	y.Sub(y, new(big.Float).SetPrec(600).Mul(bigPi, new(big.Float).SetPrec(600).SetInt(n)))
	return taylorSin(y, n.Bit(0) == 1)
}

func bigCos(x float64) *big.Float {
	// cos x = sin(x + π/2)
	y := new(big.Float).SetPrec(600).SetFloat64(x)
	y.Add(y, new(big.Float).Quo(bigPi, big.NewFloat(2)))
	q := new(big.Float).SetPrec(600).Quo(y, bigPi)
	q.Add(q, big.NewFloat(math.Copysign(0.5, x)))
	n, _ := q.Int(nil)
	y.Sub(y, new(big.Float).SetPrec(600).Mul(bigPi, new(big.Float).SetPrec(600).SetInt(n)))
	return taylorSin(y, n.Bit(0) == 1)
}

func taylorSin(y *big.Float, neg bool) *big.Float {
	y = new(big.Float).SetPrec(refPrec).Set(y)
	y2 := new(big.Float).Mul(y, y)
	sum, term := new(big.Float).SetPrec(refPrec), new(big.Float).Copy(y)
	for k := 1; k < 60; k += 2 {
		sum.Add(sum, term)
		term.Mul(term, y2)
		term.Quo(term, bf(-float64(k+1)*float64(k+2)))
	}
	if neg {
		sum.Neg(sum)
	}
	return sum
}

func bigExp2(x float64) *big.Float { return bigExp(new(big.Float).Mul(bf(x), bigLn2)) }

func bigLog2(x float64) *big.Float {
	m, e := math.Frexp(x)
	l := new(big.Float).Quo(bigLog(bf(m)), bigLn2)
	return l.Add(l, bf(float64(e)))
}

func bigTanh(x float64) *big.Float {
	if math.Abs(x) < 0x1p-60 {
		return bf(x)
	}
	e := bigExp(new(big.Float).Mul(bf(x), bf(2)))
	e.SetPrec(refPrec + 120)
	return new(big.Float).Quo(new(big.Float).Sub(e, bf(1)), new(big.Float).Add(e, bf(1)))
}

// errors returns the absolute error, the relative one, and that in units of the
// last place of f32 (that of the reference, subnormals included).
func errors(got float64, want *big.Float) (abs, rel, ulp float64) {
	d := new(big.Float).SetPrec(refPrec).Sub(bf(got), want)
	abs, _ = d.Abs(d).Float64()
	w, _ := want.Float64()
	w = math.Abs(w)
	_, e := math.Frexp(w)
	return abs, abs / w, abs / math.Ldexp(1, max(e-24, -149))
}

// worst keeps the largest error seen and where.
type worst struct {
	err float64
	at  uint32
}

func (w *worst) see(err float64, at uint32) {
	if err > w.err || err != err {
		w.err, w.at = err, at
	}
}

// samples are operands of an f32 function: corners and n random ones of each kind, by
// default a third of them.
func samples(name string, n int, do func(a uint32)) {
	for _, c := range refF32.corners() {
		do(uint32(c))
	}
	for _, x := range []float64{math.Pi, math.Pi / 2, math.Pi / 4, 2 * math.Pi, 100 * math.Pi, 0.1, 0.5, 2, 10, 127, 128, 0.25, 1e-5,
		math.Ln2, math.E, math.Sqrt2, math.Sqrt2 / 2} {
		for _, v := range []float64{x, -x} {
			b := b32(float32(v))
			for d := range uint32(5) {
				do(b + d - 2)
			}
		}
	}
	g := rng(name)
	for range alltests.Count(n/3, n) {
		do(uint32(refF32.random(g)))
		do(b32(float32(g.Float64()*4 - 2)))
		do(b32(float32(g.Float64()*300 - 150)))
	}
}

func isFinite(a uint32) bool { return a&inf32 != inf32 }

func TestApproxF32(t *testing.T) {
	// Each bound is the manual's; slack is what we guarantee in addition: within one unit in
	// the last place of the exact value, in fact about half of one.
	const ours = 0.5001
	// Below the smallest subnormal the last place is still that of 2^-149.
	report := func(name string, manual, own *worst, bound, ownBound float64) {
		t.Helper()
		t.Logf("%s: worst %.3g of the manual's bound %.3g at %#x, worst %.4f ulp at %#x", name, manual.err, bound, manual.at, own.err, own.at)
		if !(manual.err <= bound) || manual.at == 0 && manual.err == 0 {
			t.Errorf("%s: error %g at %#x exceeds the manual's %g", name, manual.err, manual.at, bound)
		}
		if !(own.err <= ownBound) {
			t.Errorf("%s: error of %g ulp at %#x", name, own.err, own.at)
		}
	}

	var manual, older, own worst
	samples("ex2", 2500, func(a uint32) {
		x := float64(f32(a))
		if !isFinite(a) || x >= 128 || x < -152 {
			return
		}
		_, rel, ulp := errors(float64(f32(Ex2ApproxF32(a))), bigExp2(x))
		manual.see(ulp, a)
		if x >= -126 {
			older.see(rel, a)
		}
		own.see(ulp, a)
	})
	report("ex2 ulp", &manual, &own, 2, ours)
	report("ex2 relative", &older, &own, math.Exp2(-22.5), ours)

	var near, far worst
	own = worst{}
	samples("lg2", 2500, func(a uint32) {
		a &^= sign32
		x := float64(f32(a))
		if !isFinite(a) || x == 0 || x == 1 {
			return
		}
		abs, rel, ulp := errors(float64(f32(Lg2ApproxF32(a))), bigLog2(x))
		if x > 0.5 && x < 2 {
			near.see(abs, a)
		} else {
			far.see(rel, a)
		}
		own.see(ulp, a)
	})
	report("lg2 in (0.5, 2)", &near, &own, 0x1p-22, ours)
	report("lg2 elsewhere", &far, &own, 0x1p-22, ours)

	for _, f := range []struct {
		name string
		fn   func(uint32) uint32
		ref  func(float64) *big.Float
	}{{"sin", SinApproxF32, bigSin}, {"cos", CosApproxF32, bigCos}} {
		near, far, own = worst{}, worst{}, worst{}
		samples(f.name, 1500, func(a uint32) {
			x := float64(f32(a))
			if !isFinite(a) || x == 0 {
				return
			}
			abs, _, ulp := errors(float64(f32(f.fn(a))), f.ref(x))
			if math.Abs(x) <= 2*math.Pi {
				near.see(abs, a)
			}
			far.see(abs, a)
			own.see(ulp, a)
		})
		report(f.name+" in ±2π", &near, &own, math.Exp2(-20.5), ours)
		report(f.name+" anywhere", &far, &own, math.Exp2(-14.7), ours)
	}

	manual, own = worst{}, worst{}
	samples("tanh", 2000, func(a uint32) {
		x := float64(f32(a))
		if !isFinite(a) || x == 0 {
			return
		}
		if math.Abs(x) > 30 {
			if got, want := float64(f32(TanhApproxF32(a))), math.Copysign(1, x); got != want {
				t.Errorf("tanh(%v) = %v", x, got)
			}
			return
		}
		_, rel, ulp := errors(float64(f32(TanhApproxF32(a))), bigTanh(x))
		if math.Abs(x) >= 0x1p-126 {
			manual.see(rel, a)
		}
		own.see(ulp, a)
	})
	report("tanh", &manual, &own, 0x1p-11, ours)

	var rcp, rsqrt, sqrt, rsqrtOwn, sqrtOwn worst
	samples("roots", 3000, func(a uint32) {
		x := float64(f32(a))
		if !isFinite(a) || x == 0 {
			return
		}
		one := bf(1)
		if q := new(big.Float).Quo(one, bf(x)); math.Abs(1/x) < 0x1.ffffffp127 {
			_, _, ulp := errors(float64(f32(RcpApproxF32(a))), q)
			rcp.see(ulp, a)
		}
		if x < 0 {
			return
		}
		root := new(big.Float).Sqrt(bf(x))
		_, rel, ulp := errors(float64(f32(SqrtApproxF32(a))), root)
		sqrt.see(rel, a)
		sqrtOwn.see(ulp, a)
		_, rel, ulp = errors(float64(f32(RsqrtApproxF32(a))), new(big.Float).Quo(one, root))
		rsqrt.see(rel, a)
		rsqrtOwn.see(ulp, a)
	})
	report("rcp", &rcp, &rcp, 1, ours)
	report("sqrt", &sqrt, &sqrtOwn, 0x1p-23, ours)
	report("rsqrt", &rsqrt, &rsqrtOwn, math.Exp2(-22.9), ours)

	var div, full worst
	refF32.forOperands(rng("div"), 2, 8000, func(x []uint64) {
		a, b := uint32(x[0]), uint32(x[1])
		if !isFinite(a) || !isFinite(b) || b&^sign32 == 0 || a&^sign32 == 0 {
			return
		}
		q := new(big.Float).Quo(bf(float64(f32(a))), bf(float64(f32(b))))
		if v, _ := q.Float64(); math.Abs(v) >= 0x1.ffffffp127 {
			return
		}
		if m := math.Abs(float64(f32(b))); m >= 0x1p-126 && m <= 0x1p126 {
			_, _, ulp := errors(float64(f32(DivApproxF32(a, b))), q)
			div.see(ulp, a)
		} else if m > 0x1p126 {
			if got := DivApproxF32(a, b); got != (a^b)&sign32 {
				t.Errorf("div.approx %#x, %#x = %#x, want a zero", a, b, got)
			}
		}
		_, _, ulp := errors(float64(f32(DivFullF32(a, b))), q)
		full.see(ulp, a)
	})
	report("div.approx", &div, &div, 2, ours)
	report("div.full", &full, &full, 2, ours)
}

// Large and awkward arguments: f32 values whose distance from a multiple of
// π/2 is smallest, and every exponent.
func TestSinCosReduction(t *testing.T) {
	check := func(a uint32) {
		x := float64(f32(a))
		for _, f := range []struct {
			name string
			got  uint32
			want *big.Float
		}{{"sin", SinApproxF32(a), bigSin(x)}, {"cos", CosApproxF32(a), bigCos(x)}} {
			if _, _, ulp := errors(float64(f32(f.got)), f.want); !(ulp < 0.5001) {
				t.Fatalf("%s %#x = %v, off by %g ulp", f.name, a, f32(f.got), ulp)
			}
		}
	}
	g := rng("reduction")
	for exp := uint32(1); exp < 255; exp++ {
		for range 8 {
			check(exp<<23 | g.Uint32()&(sign32|1<<23-1))
		}
		check(exp << 23)
		check(exp<<23 | 1<<23 - 1)
	}
	// The f32 nearest to k·π/2, where the reduced argument is small.
	half := new(big.Float).Quo(bigPi, big.NewFloat(2))
	for range 1500 {
		k := new(big.Float).SetPrec(600).SetInt64(1 + g.Int64N(1<<uint(1+g.IntN(60))))
		v, _ := k.Mul(k, half).Float32()
		check(b32(v))
	}
}

func TestApproxSpecial(t *testing.T) {
	const (
		ninf, nan, one, none = inf32 | sign32, NaNF32, 0x3f800000, 0xbf800000
		pz, nz               = 0, sign32
		psub, nsub           = 0x00400000, 0x80400000 // ±2^-127
		in                   = 0x7fc12345             // some NaN
	)
	for _, c := range []struct {
		name string
		fn   func(uint32) uint32
		io   map[uint32]uint32
	}{
		{"ex2", Ex2ApproxF32, map[uint32]uint32{ninf: pz, nz: one, pz: one, inf32: inf32, in: nan, nsub: one, psub: one,
			b32(128): inf32, b32(-127): psub, b32(-149): 1, b32(-200): 0}},
		{"lg2", Lg2ApproxF32, map[uint32]uint32{ninf: nan, none: nan, nsub: nan, nz: ninf, pz: ninf, inf32: inf32, in: nan, one: pz,
			psub: b32(-127), 1: b32(-149), in | sign32: nan}},
		{"sin", SinApproxF32, map[uint32]uint32{ninf: nan, nz: nz, pz: pz, inf32: nan, in: nan, nsub: nsub, psub: psub}},
		{"cos", CosApproxF32, map[uint32]uint32{ninf: nan, nz: one, pz: one, inf32: nan, in: nan, nsub: one, psub: one}},
		{"tanh", TanhApproxF32, map[uint32]uint32{ninf: none, nz: nz, pz: pz, inf32: one, in: nan, nsub: nsub, psub: psub, in | sign32: nan}},
		{"rcp", RcpApproxF32, map[uint32]uint32{ninf: nz, nz: ninf, pz: inf32, inf32: pz, in: nan, psub: b32(0x1p127), nsub: b32(-0x1p127),
			b32(0x1p127): psub, 1: inf32}},
		{"rsqrt", RsqrtApproxF32, map[uint32]uint32{ninf: nan, none: nan, nsub: nan, nz: ninf, pz: inf32, inf32: pz, in: nan, b32(4): b32(0.5)}},
		{"sqrt", SqrtApproxF32, map[uint32]uint32{ninf: nan, none: nan, nsub: nan, nz: nz, pz: pz, inf32: inf32, in: nan, b32(4): b32(2)}},
	} {
		for a, want := range c.io {
			if got := c.fn(a); got != want {
				t.Errorf("%s(%#x) = %#x, want %#x", c.name, a, got, want)
			}
		}
	}
	for _, c := range []struct{ a, b, approx, full uint32 }{
		{inf32, b32(0x1.8p126), nan, inf32},
		{ninf, b32(0x1.8p126), nan, ninf},
		{in, b32(0x1.8p126), nan, nan},
		{b32(0x1p127), b32(-0x1p127), nz, none},
		{b32(0x1p126), b32(0x1p126), one, one},
		{inf32, inf32, nan, nan},
		{one, inf32, pz, pz},
		{one, nz, ninf, ninf},
		{pz, pz, nan, nan},
	} {
		if got := DivApproxF32(c.a, c.b); got != c.approx {
			t.Errorf("div.approx %#x, %#x = %#x, want %#x", c.a, c.b, got, c.approx)
		}
		if got := DivFullF32(c.a, c.b); got != c.full {
			t.Errorf("div.full %#x, %#x = %#x, want %#x", c.a, c.b, got, c.full)
		}
	}
}

func TestApproxF64(t *testing.T) {
	const inf, sign, nan = inf64, uint64(1 << 63), uint64(0x7fffffff00000000)
	for _, c := range []struct{ a, rcp, rsqrt uint64 }{
		{inf | sign, sign, nan}, {sign | 5, inf | sign, inf | sign}, {sign, inf | sign, inf | sign}, {0, inf, inf},
		{0x000fffff00000000, inf, inf}, {inf, 0, 0}, {0x7ff8000000000001, nan, nan}, {0xffffffffffffffff, nan, nan},
		{0xbff0000000000000, 0xbff0000000000000, nan}, {0x4010000000000000, 0x3fd0000000000000, 0x3fe0000000000000},
	} {
		if got := RcpApproxFTZF64(c.a); got != c.rcp {
			t.Errorf("rcp.approx.ftz.f64 %#x = %#x, want %#x", c.a, got, c.rcp)
		}
		if got := RsqrtApproxFTZF64(c.a); got != c.rsqrt {
			t.Errorf("rsqrt.approx.ftz.f64 %#x = %#x, want %#x", c.a, got, c.rsqrt)
		}
	}
	if got := RcpApproxFTZF64(b64(-0x1p1023)); got != sign {
		t.Errorf("rcp.approx.ftz.f64 does not flush its result: %#x", got)
	}
	g := rng("f64")
	for range 20000 {
		a := refF64.random(g) &^ sign
		up := math.Float64frombits(a &^ (1<<32 - 1))
		if up < 0x1p-1022 || up > 0x1p1021 {
			continue
		}
		r, s := RcpApproxFTZF64(a), RsqrtApproxFTZF64(a)
		if uint32(r)|uint32(s) != 0 {
			t.Fatalf("low half of %#x or %#x is not zero", r, s)
		}
		if e := math.Abs(f64(r)*up - 1); e > 0x1p-20 {
			t.Fatalf("rcp.approx.ftz.f64 %#x: relative error %g", a, e)
		}
		if e := math.Abs(f64(s)*math.Sqrt(up) - 1); e > 0x1p-20 {
			t.Fatalf("rsqrt.approx.ftz.f64 %#x: relative error %g", a, e)
		}
		x := refF64.value(a)
		if refF64.isInf(a) || refF64.isNaN(a) || x.Sign() == 0 {
			continue
		}
		want := new(big.Float).Quo(bf(1), new(big.Float).SetPrec(refPrec).Sqrt(x))
		if _, rel, _ := errors(f64(RsqrtApproxF64(a)), want); rel > 0x1p-52 {
			t.Fatalf("rsqrt.approx.f64 %#x: relative error %g", a, rel)
		}
	}
	for _, c := range []struct{ a, want uint64 }{{0, inf}, {sign, inf | sign}, {inf, 0}, {0xbff0000000000000, NaNF64}, {0x7ff0000000000001, 0x7ff8000000000001}} {
		if got := RsqrtApproxF64(c.a); got != c.want {
			t.Errorf("rsqrt.approx.f64 %#x = %#x, want %#x", c.a, got, c.want)
		}
	}
}

// Every operand of the 16-bit approximations, against math in f64, whose error
// is far below the bounds.
func TestApproxHalf(t *testing.T) {
	for x := range uint64(1 << 16) {
		a := uint16(x)
		v := halfValue(x)
		ex2, tanh := halfValue(uint64(Ex2ApproxF16(a))), halfValue(uint64(TanhApproxF16(a)))
		switch {
		case v != v:
			if Ex2ApproxF16(a) != 0x7fff || TanhApproxF16(a) != 0x7fff {
				t.Fatalf("f16 NaN %#x", a)
			}
		default:
			// Below the normal range the last place bounds the error.
			if want := math.Exp2(v); want < 65520 && math.Abs(ex2-want) > max(want*math.Exp2(-9.9), 0x1p-25) || want >= 65520 && !math.IsInf(ex2, 1) {
				t.Fatalf("ex2.f16 %v = %v, want %v", v, ex2, want)
			}
			if want := math.Tanh(v); math.Abs(tanh-want) > math.Exp2(-10.987) || math.Signbit(tanh) != math.Signbit(v) {
				t.Fatalf("tanh.f16 %v = %v, want %v", v, tanh, want)
			}
		}
		w := float64(f32(uint32(a) << 16))
		ex2, tanh = float64(f32(uint32(Ex2ApproxBF16(a))<<16)), float64(f32(uint32(TanhApproxBF16(a))<<16))
		if w != w {
			if Ex2ApproxBF16(a) != 0x7fff || TanhApproxBF16(a) != 0x7fff {
				t.Fatalf("bf16 NaN %#x", a)
			}
			continue
		}
		if want := math.Exp2(w); want < 0x1.ffp127 && math.Abs(ex2-want) > max(want*0x1p-7, 0x1p-134) || want >= 0x1.ffp127 && !math.IsInf(ex2, 1) {
			t.Fatalf("ex2.bf16 %v = %v, want %v", w, ex2, want)
		}
		if want := math.Tanh(w); math.Abs(tanh-want) > max(math.Abs(want)*0x1p-8, 0x1p-134) || math.Signbit(tanh) != math.Signbit(w) {
			t.Fatalf("tanh.bf16 %v = %v, want %v", w, tanh, want)
		}
	}
}
