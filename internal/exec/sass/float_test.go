package sass

import (
	"math"
	"math/big"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec/num"
)

const nan32, nan16 = 0x7fffffff, 0x7fff

func f32result(v uint64) result { return word1(uint32(v)) }

// related compares as a relation of SETP says, its letters being less, equal,
// greater and unordered.
func related(a, b float64, letters string) bool {
	c := 'u'
	switch {
	case a < b:
		c = 'l'
	case a == b:
		c = 'e'
	case a > b:
		c = 'g'
	}
	for _, l := range letters {
		if l == c {
			return true
		}
	}
	return false
}

// least is the smaller of two numbers, -0 below +0; a number wins over none.
func least(a, b float32) float32 {
	switch {
	case a != a && b != b:
		return math.Float32frombits(nan32)
	case a != a:
		return b
	case b != b:
		return a
	case a == 0 && b == 0:
		if math.Signbit(float64(a)) {
			return a
		}
		return b
	}
	return min(a, b)
}

func greatest(a, b float32) float32 {
	v := least(-a, -b)
	if v != v {
		return math.Float32frombits(nan32)
	}
	return -v
}

// value32 is the number of bits of a binary32.
func value32[T uint32 | uint64](b T) float64 { return float64(math.Float32frombits(uint32(b))) }

func TestFloats(t *testing.T) {
	fl := func(l *lane, k int) float64 { return float64(l.f32(k)) }
	fz := func(l *lane, k int) float64 { return float64(flushed(l.f32(k))) }
	check(t, []opCase{
		{"FADD R0, R4, R5", "f", 1, 0, func(l *lane) result { return f32result(b32.add(fl(l, 0), fl(l, 1), nearest, nan32)) }},
		{"FADD R0, -R4, |R5|", "f", 1, 0, func(l *lane) result {
			return f32result(b32.add(-fl(l, 0), math.Abs(fl(l, 1)), nearest, nan32))
		}},
		{"FADD R0, R4, -R5", "f", 1, 0, func(l *lane) result { return f32result(b32.add(fl(l, 0), -fl(l, 1), nearest, nan32)) }},
		{"FADD.RZ R0, R4, R5", "f", 1, 0, func(l *lane) result { return f32result(b32.add(fl(l, 0), fl(l, 1), zero, nan32)) }},
		{"FADD.RM R0, R4, R5", "f", 1, 0, func(l *lane) result { return f32result(b32.add(fl(l, 0), fl(l, 1), down, nan32)) }},
		{"FADD.FTZ.SAT R0, R4, R5", "f", 1, 0, func(l *lane) result {
			return word1(clamped(flushedBits(uint32(b32.add(fz(l, 0), fz(l, 1), nearest, nan32)))))
		}},
		{"FMUL R0, R4, R5", "f", 1, 0, func(l *lane) result { return f32result(b32.mul(fl(l, 0), fl(l, 1), nearest, nan32)) }},
		{"FMUL.RP R0, R4, R5", "i", 1, 0, func(l *lane) result { return f32result(b32.mul(fl(l, 0), fl(l, 1), up, nan32)) }},
		{"FMUL.FTZ R0, R4, R5", "i", 1, 0, func(l *lane) result {
			return word1(flushedBits(uint32(b32.mul(fz(l, 0), fz(l, 1), nearest, nan32))))
		}},
		// NVIDIA's compiler makes one of mul.ftz.f32 by a number and another by 0.5: both round.
		{"FMUL.D4 R0, R4, R5", "f", 1, 0, func(l *lane) result {
			return f32result(b32.mul(value32(b32.mul(fl(l, 0), fl(l, 1), nearest, nan32)), 0.25, nearest, nan32))
		}},
		{"FMUL.FTZ.D2 R0, R4, R5", "i", 1, 0, func(l *lane) result {
			p := flushed(float32(value32(b32.mul(fz(l, 0), fz(l, 1), nearest, nan32))))
			return word1(flushedBits(uint32(b32.mul(float64(p), 0.5, nearest, nan32))))
		}},
		{"FMUL.M8 R0, R4, R5", "f", 1, 0, func(l *lane) result {
			return f32result(b32.mul(value32(b32.mul(fl(l, 0), fl(l, 1), nearest, nan32)), 8, nearest, nan32))
		}},
		{"FFMA R0, R4, R5, R6", "f", 1, 0, func(l *lane) result {
			return f32result(b32.fma(fl(l, 0), fl(l, 1), fl(l, 2), nearest, nan32))
		}},
		{"FFMA R0, -R4, R5, -R6", "i", 1, 0, func(l *lane) result {
			return f32result(b32.fma(-fl(l, 0), fl(l, 1), -fl(l, 2), nearest, nan32))
		}},
		{"FFMA.RZ R0, R4, R5, R6", "f", 1, 0, func(l *lane) result {
			return f32result(b32.fma(fl(l, 0), fl(l, 1), fl(l, 2), zero, nan32))
		}},
		{"FFMA.FTZ R0, R4, 1.5, R6", "i", 1, 0, func(l *lane) result {
			return word1(flushedBits(uint32(b32.fma(fz(l, 0), 1.5, fz(l, 2), nearest, nan32))))
		}},
		{"FMNMX R0, R4, R5, P2", "f", 1, 0, func(l *lane) result {
			v := greatest(l.f32(0), l.f32(1))
			if l.p[0] {
				v = least(l.f32(0), l.f32(1))
			}
			return word1(math.Float32bits(v))
		}},
		{"FMNMX.NAN R0, R4, R5, PT", "f", 1, 0, func(l *lane) result {
			a, b := l.f32(0), l.f32(1)
			if a != a || b != b {
				return word1(nan32)
			}
			return word1(math.Float32bits(least(a, b)))
		}},
		{"FSETP.LT.AND P0, P1, R4, R5, P2", "f", 0, 2, func(l *lane) result {
			c := related(fl(l, 0), fl(l, 1), "l")
			return result{p: [2]bool{c && l.p[0], !c && l.p[0]}}
		}},
		{"FSETP.GT.AND P0, PT, R4, R5, PT", "f", 0, 1, func(l *lane) result { return result{p: [2]bool{fl(l, 0) > fl(l, 1)}} }},
		{"FSETP.NEU.OR P0, P1, |R4|, R5, P2", "f", 0, 2, func(l *lane) result {
			c := related(math.Abs(fl(l, 0)), fl(l, 1), "lgu")
			return result{p: [2]bool{c || l.p[0], !c || l.p[0]}}
		}},
		{"FSETP.NAN.AND P0, PT, R4, R5, PT", "f", 0, 1, func(l *lane) result { return result{p: [2]bool{related(fl(l, 0), fl(l, 1), "u")}} }},
		{"FSETP.GEU.FTZ.XOR P0, PT, R4, R5, P2", "i", 0, 1, func(l *lane) result {
			return result{p: [2]bool{related(fz(l, 0), fz(l, 1), "geu") != l.p[0]}}
		}},
		{"FSET.BF.GE.AND R0, R4, R5, P2", "f", 1, 0, func(l *lane) result {
			return word1(pick(related(fl(l, 0), fl(l, 1), "ge") && l.p[0], 0x3f800000, 0))
		}},
		{"FSEL R0, -R4, R5, P2", "f", 1, 0, func(l *lane) result { return word1(pick(l.p[0], l.r[0]^1<<31, l.r[1])) }},
	})
}

// TestDivisionCheck: if FCHK allows the fast path, that gives the quotient rounded once.
func TestDivisionCheck(t *testing.T) {
	fast := 0
	check(t, []opCase{{"FCHK P0, R4, R5", "f", 0, 1, func(l *lane) result {
		a, b := l.f32(0), l.f32(1)
		r := num.Rcp32(b)
		e := num.FMA32(-b, r, 1)
		r = num.FMA32(r, e, r)
		q := num.FMA32(a, r, 0)
		rest := num.FMA32(-b, q, a)
		q = num.FMA32(r, rest, q)
		rest = num.FMA32(-b, q, a)
		q = num.FMA32(r, rest, q)
		good := math.Float32bits(q) == uint32(b32.round(new(big.Float).SetPrec(200).Quo(exact(nonzero(float64(a))), exact(nonzero(float64(b)))), nearest, false))
		ea, eb := l.r[0]>>23&0xff, l.r[1]>>23&0xff
		slow := ea < 26 || ea > 252 || eb < 3 || eb > 250 || int(ea)-int(eb) < -120 || int(ea)-int(eb) > 120
		if !slow {
			fast++
			if !good {
				t.Errorf("%x / %x: the fast way gives %v", l.r[0], l.r[1], q)
			}
		}
		return result{p: [2]bool{slow}}
	}}})
	if fast == 0 {
		t.Error("the fast way never serves")
	}
}

func nonzero(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 1
	}
	return v
}

// TestApproximations: the bounds that decodeMUFU states, against the host's
// functions in double precision.
func TestApproximations(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name     string
		f        func(float64) float64
		lo, hi   float64 // operands
		abs, rel float64
	}{
		{"RCP", func(x float64) float64 { return 1 / x }, 0x1p-120, 0x1p120, 0, 0x1p-23},
		{"RSQ", func(x float64) float64 { return 1 / math.Sqrt(x) }, 0x1p-120, 0x1p120, 0, math.Pow(2, -22.9)},
		{"SQRT", math.Sqrt, 0x1p-120, 0x1p120, 0, 0x1p-23},
		{"EX2", math.Exp2, -120, 120, 0, 0x1p-22},
		{"LG2", math.Log2, 2, 0x1p120, 0, 0x1p-22},
		{"LG2", math.Log2, 0.5, 2, 0x1p-22, inf},
		{"SIN", func(x float64) float64 { return math.Sin(2 * math.Pi * x) }, -1, 1, 0x1p-20, inf},
		{"COS", func(x float64) float64 { return math.Cos(2 * math.Pi * x) }, -1, 1, 0x1p-20, inf},
		{"TANH", math.Tanh, -8, 8, 0, 0x1p-11},
	} {
		k := load(t, "MUFU."+c.name+" R0, R4\nEXIT\n")
		if len(k.bad) > 0 {
			t.Fatal(k.bad)
		}
		b := begin(t, k, Launch{}, nil)
		w := &b.warps[0]
		for round := range 500 {
			w.live = full
			w.start(b.im)
			var x [32]float32
			for i := range x {
				u := (float64(round*32+i) + 0.5) / 16000
				v := c.lo + u*(c.hi-c.lo)
				if c.lo > 0 && c.hi > 0x1p60 {
					v = c.lo * math.Pow(c.hi/c.lo, u)
				}
				x[i] = float32(v)
				w.rows[4][i] = math.Float32bits(x[i])
			}
			finish(t, w)
			for i, v := range x {
				got, want := float64(math.Float32frombits(w.rows[0][i])), c.f(float64(v))
				d := math.Abs(got - want)
				bound := c.abs
				if c.abs == 0 {
					bound = c.rel * math.Abs(want)
				}
				if !(d <= bound) {
					t.Fatalf("MUFU.%s of %v: %v, want %v within %v", c.name, v, got, want, bound)
				}
			}
		}
	}
	// Subnormal operands are zero, and so are subnormal results.
	check(t, []opCase{
		{"MUFU.RCP R0, R7", "iiii", 1, 0, func(l *lane) result {
			v := float64(flushed(l.f32(3)))
			w := b32.round(new(big.Float).SetPrec(300).Quo(exact(1), exact(nonzero(v))), nearest, false)
			switch {
			case math.IsNaN(v):
				w = nan32
			case v == 0:
				w = 0x7f800000 | uint64(math.Float32bits(l.f32(3))&0x80000000)
			case math.IsInf(v, 0):
				w = uint64(math.Float32bits(l.f32(3)) & 0x80000000)
			}
			return word1(flushedBits(uint32(w)))
		}},
	})
}

func TestDoubles(t *testing.T) {
	const no = 0xfff8000000000000
	// The operands of an instruction with their signs; the first NaN is the result, made
	// quiet.
	op := func(text string, signs []float64, f func(v []float64) uint64) opCase {
		return opCase{text, "id", 2, 0, func(l *lane) result {
			v := make([]float64, len(signs))
			for k, s := range signs {
				bits := l.pair(2 * k)
				if s < 0 {
					bits ^= 1 << 63
				}
				if v[k] = math.Float64frombits(bits); math.IsNaN(v[k]) {
					return word2(bits | 1<<51)
				}
			}
			return word2(f(v))
		}}
	}
	check(t, []opCase{
		op("DADD R0, R4, R6", []float64{1, 1}, func(v []float64) uint64 { return b64.add(v[0], v[1], nearest, no) }),
		op("DADD.RM R0, R4, -R6", []float64{1, -1}, func(v []float64) uint64 { return b64.add(v[0], v[1], down, no) }),
		op("DMUL R0, R4, R6", []float64{1, 1}, func(v []float64) uint64 { return b64.mul(v[0], v[1], nearest, no) }),
		op("DMUL.RZ R0, R4, R6", []float64{1, 1}, func(v []float64) uint64 { return b64.mul(v[0], v[1], zero, no) }),
		op("DFMA R0, R4, R6, R8", []float64{1, 1, 1}, func(v []float64) uint64 { return b64.fma(v[0], v[1], v[2], nearest, no) }),
		op("DFMA.RP R0, -R4, R6, R8", []float64{-1, 1, 1}, func(v []float64) uint64 { return b64.fma(v[0], v[1], v[2], up, no) }),
		{"DSETP.GTU.AND P0, P1, R4, |R6|, P2", "id", 0, 2, func(l *lane) result {
			c := related(l.f64(0), math.Abs(l.f64(2)), "gu")
			return result{p: [2]bool{c && l.p[0], !c && l.p[0]}}
		}},
	})
}

// halves gives the result of f for both half words.
func halves(f func(h int) uint64) result { return word1(uint32(f(0)&0xffff | f(1)<<16)) }

func TestHalves(t *testing.T) {
	h := func(l *lane, k, n int) float64 { return l.half(k, n) }
	br := func(l *lane, k, n int) float64 { return brainValue(uint16(l.r[k] >> (16 * n))) }
	check(t, []opCase{
		{"HADD2 R0, R4, R5", "h", 1, 0, func(l *lane) result {
			return halves(func(n int) uint64 { return b16.add(h(l, 0, n), h(l, 1, n), nearest, nan16) })
		}},
		{"HADD2 R0, -R4.H0_H0, R5.H1_H1", "h", 1, 0, func(l *lane) result {
			return halves(func(int) uint64 { return b16.add(-h(l, 0, 0), h(l, 1, 1), nearest, nan16) })
		}},
		{"HADD2 R0, R4, 1, -0.5", "h", 1, 0, func(l *lane) result {
			return halves(func(n int) uint64 { return b16.add(h(l, 0, n), []float64{-0.5, 1}[n], nearest, nan16) })
		}},
		{"HADD2.F32 R0, -RZ, R5.H1_H1", "h", 1, 0, func(l *lane) result {
			return f32result(b32.add(math.Copysign(0, -1), h(l, 1, 1), nearest, nan32))
		}},
		{"HMUL2 R0, R4, |R5|", "h", 1, 0, func(l *lane) result {
			return halves(func(n int) uint64 { return b16.mul(h(l, 0, n), math.Abs(h(l, 1, n)), nearest, nan16) })
		}},
		{"HFMA2 R0, R4, R5, R6", "h", 1, 0, func(l *lane) result {
			return halves(func(n int) uint64 { return b16.fma(h(l, 0, n), h(l, 1, n), h(l, 2, n), nearest, nan16) })
		}},
		{"HFMA2.MMA R0, -RZ, RZ, 1.875, 2", "h", 1, 0, func(l *lane) result { return word1(0x3f804000) }},
		{"HFMA2.BF16_V2 R0, R4, R5, R6", "h", 1, 0, func(l *lane) result {
			return halves(func(n int) uint64 { return bbf.fma(br(l, 0, n), br(l, 1, n), br(l, 2, n), nearest, nan16) })
		}},
		{"HSETP2.GT.AND P0, P1, R4, R5, P2", "h", 0, 2, func(l *lane) result {
			return result{p: [2]bool{related(h(l, 0, 0), h(l, 1, 0), "g") && l.p[0], related(h(l, 0, 1), h(l, 1, 1), "g") && l.p[0]}}
		}},
		{"HSET2.BF.EQ.AND R0, R4, R5, P2", "h", 1, 0, func(l *lane) result {
			return halves(func(n int) uint64 {
				return uint64(pick(related(h(l, 0, n), h(l, 1, n), "e") && l.p[0], 0x3c00, 0))
			})
		}},
		{"HMNMX2 R0, R4, R5, P2", "h", 1, 0, func(l *lane) result {
			return halves(func(n int) uint64 {
				a, b := float32(h(l, 0, n)), float32(h(l, 1, n))
				v := greatest(a, b)
				if l.p[0] {
					v = least(a, b)
				}
				if v != v {
					return nan16
				}
				return b16.round(exact(float64(v)), nearest, math.Signbit(float64(v)))
			})
		}},
	})
}

// toInt is the integer that a conversion gives: rounded and clamped; none for NaN.
func toInt(v float64, mode int, lo, hi float64, none uint64) uint64 {
	if math.IsNaN(v) {
		return none
	}
	switch mode {
	case nearest:
		v = math.RoundToEven(v)
	case zero:
		v = math.Trunc(v)
	case down:
		v = math.Floor(v)
	case up:
		v = math.Ceil(v)
	}
	switch {
	case v <= lo:
		return uint64(int64(lo))
	case v >= hi:
		if hi > 0x1p63 {
			return math.MaxUint64
		}
		if hi == 0x1p63 {
			return math.MaxInt64
		}
		return uint64(int64(hi))
	case v >= 0x1p63:
		return uint64(v)
	}
	return uint64(int64(v))
}

func TestConversions(t *testing.T) {
	fl := func(l *lane, k int) float64 { return float64(l.f32(k)) }
	narrow := func(f ieee, nan uint64, v float64, mode int) uint64 {
		if math.IsNaN(v) {
			return nan
		}
		if math.IsInf(v, 0) {
			return f.round(new(big.Float).SetInf(v < 0), mode, false)
		}
		return f.round(exact(v), mode, math.Signbit(v))
	}
	check(t, []opCase{
		{"F2I.TRUNC.NTZ R0, R4", "f", 1, 0, func(l *lane) result {
			return word1(uint32(toInt(fl(l, 0), zero, math.MinInt32, math.MaxInt32, 0)))
		}},
		{"F2I.NTZ R0, R4", "f", 1, 0, func(l *lane) result {
			return word1(uint32(toInt(fl(l, 0), nearest, math.MinInt32, math.MaxInt32, 0)))
		}},
		{"F2I.U32.FLOOR.NTZ R0, R4", "f", 1, 0, func(l *lane) result {
			return word1(uint32(toInt(fl(l, 0), down, 0, math.MaxUint32, 0)))
		}},
		{"F2I.S8.NTZ R0, R4", "f", 1, 0, func(l *lane) result { return word1(uint32(toInt(fl(l, 0), nearest, -128, 127, 0))) }},
		{"F2I.U64.TRUNC R0, R4", "f", 2, 0, func(l *lane) result { return word2(toInt(fl(l, 0), zero, 0, 0x1p64, 1<<63)) }},
		{"F2I.S64.F64 R0, R4", "id", 2, 0, func(l *lane) result { return word2(toInt(l.f64(0), nearest, -0x1p63, 0x1p63, 1<<63)) }},
		{"F2I.F64.TRUNC R0, R4", "id", 1, 0, func(l *lane) result {
			return word1(uint32(toInt(l.f64(0), zero, math.MinInt32, math.MaxInt32, 1<<31)))
		}},
		{"I2F R0, R4", "i", 1, 0, func(l *lane) result { return f32result(narrow(b32, 0, float64(int32(l.r[0])), nearest)) }},
		{"I2F.U32.RP R0, R4", "i", 1, 0, func(l *lane) result { return f32result(narrow(b32, 0, float64(l.r[0]), up)) }},
		{"I2FP.F32.S32 R0, R4", "i", 1, 0, func(l *lane) result { return f32result(narrow(b32, 0, float64(int32(l.r[0])), nearest)) }},
		{"I2F.S8 R0, R4.B2", "i", 1, 0, func(l *lane) result { return f32result(narrow(b32, 0, float64(int8(l.r[0]>>16)), nearest)) }},
		{"I2F.F64 R0, R4", "i", 2, 0, func(l *lane) result { return word2(math.Float64bits(float64(int32(l.r[0])))) }},
		{"I2F.F64.S64 R0, R4", "i", 2, 0, func(l *lane) result {
			return word2(b64.round(new(big.Float).SetPrec(200).SetInt64(int64(l.pair(0))), nearest, false))
		}},
		{"I2F.U64 R0, R4", "i", 1, 0, func(l *lane) result {
			return f32result(b32.round(new(big.Float).SetPrec(200).SetUint64(l.pair(0)), nearest, false))
		}},
		{"I2F.F16 R0, R4", "i", 1, 0, func(l *lane) result { return f32result(narrow(b16, 0, float64(int32(l.r[0])), nearest)) }},
		{"F2F.F32.F64.RZ R0, R4", "id", 1, 0, func(l *lane) result { return f32result(narrow(b32, nan32, l.f64(0), zero)) }},
		{"F2F.F16.F32 R0, |R4|", "f", 1, 0, func(l *lane) result { return f32result(narrow(b16, nan16, math.Abs(fl(l, 0)), nearest)) }},
		{"F2F.F32.F16 R0, R4.H1", "h", 1, 0, func(l *lane) result { return f32result(narrow(b32, nan32, l.half(0, 1), nearest)) }},
		{"F2F.BF16.F32 R0, R4", "f", 1, 0, func(l *lane) result { return f32result(narrow(bbf, nan16, fl(l, 0), nearest)) }},
		{"F2FP.PACK_AB R0, R4, R5", "f", 1, 0, func(l *lane) result {
			return word1(uint32(narrow(b16, nan16, fl(l, 0), nearest)<<16 | narrow(b16, nan16, fl(l, 1), nearest)))
		}},
		{"F2FP.BF16.PACK_AB R0, R4, R5", "f", 1, 0, func(l *lane) result {
			return word1(uint32(narrow(bbf, nan16, fl(l, 0), nearest)<<16 | narrow(bbf, nan16, fl(l, 1), nearest)))
		}},
		{"FRND.FLOOR R0, R4", "f", 1, 0, func(l *lane) result { return f32result(narrow(b32, nan32, math.Floor(fl(l, 0)), nearest)) }},
		{"FRND.TRUNC R0, R4", "f", 1, 0, func(l *lane) result { return f32result(narrow(b32, nan32, math.Trunc(fl(l, 0)), nearest)) }},
		{"I2I.U8.S32.SAT R0, R4", "m", 1, 0, func(l *lane) result {
			return word1(uint32(min(max(int32(l.r[0]), 0), 255)))
		}},
		{"HADD2 R0, R4.F32, -RZ.H0_H0", "f", 1, 0, func(l *lane) result {
			return word1(0x10001 * uint32(narrow(b16, nan16, fl(l, 0), nearest)))
		}},
		{"HADD2 R0, -RZ.H0_H0, -R4.F32", "f", 1, 0, func(l *lane) result {
			return word1(0x10001 * uint32(narrow(b16, nan16, -fl(l, 0), nearest)))
		}},
		{"F2IP.U8.F32.NTZ R0, R4, R5, R6", "f", 1, 0, func(l *lane) result { return word1(packed(l, 0, 255, 0)) }},
		{"F2IP.S8.F32.NTZ R0, R4, R5, R6", "f", 1, 0, func(l *lane) result { return word1(packed(l, -128, 127, -128)) }},
		{"F2IP.S8.F32.NTZ.RELU R0, R4, R5, R6", "f", 1, 0, func(l *lane) result { return word1(packed(l, -128, 127, 0)) }},
		{"I2IP.S8.S32.SAT R0, R4, R5, R6", "m", 1, 0, func(l *lane) result {
			c := func(v uint32) uint32 { return uint32(min(max(int32(v), -128), 127)) & 0xff }
			return word1(l.r[2]<<16 | c(l.r[0])<<8 | c(l.r[1]))
		}},
	})
}

// packed is F2IP of a lane: two numbers rounded and clamped, one not below least, and a third operand.
func packed(l *lane, low, high, least float64) uint32 {
	whole := func(n int) uint32 {
		v := math.RoundToEven(float64(math.Float32frombits(l.r[n])))
		if math.IsNaN(v) {
			v = 0
		}
		return uint32(int32(max(min(max(v, low), high), least))) & 0xff
	}
	return l.r[2]<<16 | whole(0)<<8 | whole(1)
}
