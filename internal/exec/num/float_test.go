package num

import (
	"math"
	"testing"
)

func TestF32(t *testing.T) {
	bin := map[string]func(a, b uint32, r Round) uint32{"add": AddF32, "sub": SubF32, "mul": MulF32, "div": DivF32}
	for op, fn := range bin {
		g := rng(op)
		refF32.forOperands(g, 2, 20000, func(x []uint64) {
			for _, r := range modes {
				refF32.checkOp(t, op, r, uint64(fn(uint32(x[0]), uint32(x[1]), r)), uint64(NaNF32), x...)
			}
		})
	}
	refF32.forOperands(rng("fma"), 3, 40000, func(x []uint64) {
		for _, r := range modes {
			refF32.checkOp(t, "fma", r, uint64(FMAF32(uint32(x[0]), uint32(x[1]), uint32(x[2]), r)), uint64(NaNF32), x...)
		}
	})
	refF32.forOperands(rng("sqrt"), 1, 20000, func(x []uint64) {
		for _, r := range modes {
			refF32.checkOp(t, "sqrt", r, uint64(SqrtF32(uint32(x[0]), r)), uint64(NaNF32), x...)
			refF32.checkOp(t, "div", r, uint64(RcpF32(uint32(x[0]), r)), uint64(NaNF32), 0x3f800000, x[0])
		}
	})
}

// The f64 sum of an exact product and an addend may be a tie of f32, in the
// normal or in the subnormal range, although the exact sum is not.
func TestFMA32DoubleRounding(t *testing.T) {
	g := rng("tie")
	naive := 0
	for range 5000 {
		// (1+ε)(1-ε) = 1-ε²: the product is a power of two less a tail.
		a, b := float32(0x1.000002p0), float32(0x1.fffffcp-1)
		c := f32(0x3f800000 | g.Uint32()&(1<<23-1)) // an addend in [1, 2)
		scale := float32(0x1p-12)                   // product at half its last place
		if g.IntN(2) == 0 {
			c = f32(g.Uint32() & (1<<23 - 1)) // a subnormal addend
			scale = 0x1p-75
		}
		a *= scale
		b *= scale
		if g.IntN(2) == 0 {
			a = -a
		}
		x := []uint64{uint64(b32(a)), uint64(b32(b)), uint64(b32(c))}
		got := FMA32(a, b, c)
		refF32.checkOp(t, "fma", RN, uint64(b32(got)), uint64(NaNF32), x...)
		if float32(float64(a)*float64(b)+float64(c)) != got {
			naive++
		}
	}
	if naive == 0 {
		t.Error("no case needs more than f64 arithmetic")
	}
}

func TestF64(t *testing.T) {
	bin := map[string]func(a, b uint64, r Round) uint64{"add": AddF64, "sub": SubF64, "mul": MulF64, "div": DivF64}
	for op, fn := range bin {
		refF64.forOperands(rng(op), 2, 12000, func(x []uint64) {
			for _, r := range modes {
				refF64.checkOp(t, op, r, fn(x[0], x[1], r), wantNaN64(x...), x...)
			}
		})
	}
	refF64.forOperands(rng("fma"), 3, 25000, func(x []uint64) {
		for _, r := range modes {
			refF64.checkOp(t, "fma", r, FMAF64(x[0], x[1], x[2], r), wantNaN64(x...), x...)
		}
	})
	refF64.forOperands(rng("sqrt"), 1, 20000, func(x []uint64) {
		for _, r := range modes {
			refF64.checkOp(t, "sqrt", r, SqrtF64(x[0], r), wantNaN64(x...), x...)
			refF64.checkOp(t, "div", r, RcpF64(x[0], r), wantNaN64(x...), one64, x[0])
		}
	})
}

// wantNaN64 is the first NaN operand, quieted, or the generated one.
func wantNaN64(x ...uint64) uint64 {
	for _, a := range x {
		if math.IsNaN(math.Float64frombits(a)) {
			return a | 0x0008000000000000
		}
	}
	return 0xfff8000000000000
}

// The fast functions are the RN case of the others, which TestF32 and TestF64
// check; here NaNs and the ones without a mode.
func TestFastFloats(t *testing.T) {
	g := rng("fast")
	for range 8000 {
		a, b, c := f32(uint32(refF32.random(g))), f32(uint32(refF32.random(g))), f32(uint32(refF32.random(g)))
		x := []uint64{uint64(b32(a)), uint64(b32(b)), uint64(b32(c))}
		nan := uint64(0x7fffffff)
		refF32.checkOp(t, "add", RN, uint64(b32(Add32(a, b))), nan, x[:2]...)
		refF32.checkOp(t, "sub", RN, uint64(b32(Sub32(a, b))), nan, x[:2]...)
		refF32.checkOp(t, "mul", RN, uint64(b32(Mul32(a, b))), nan, x[:2]...)
		refF32.checkOp(t, "div", RN, uint64(b32(Div32(a, b))), nan, x[:2]...)
		refF32.checkOp(t, "div", RN, uint64(b32(Rcp32(a))), nan, 0x3f800000, x[0])
		refF32.checkOp(t, "sqrt", RN, uint64(b32(Sqrt32(a))), nan, x[0])
		refF32.checkOp(t, "fma", RN, uint64(b32(FMA32(a, b, c))), nan, x...)
	}
	for range 500 { // of warps
		var a, b, c, d, flushed [32]uint32
		for i := range a {
			a[i], b[i], c[i] = uint32(refF32.random(g)), uint32(refF32.random(g)), uint32(refF32.random(g))
		}
		FMALanes(&d, &a, &b, &c)
		FMALanesFTZ(&flushed, &a, &b, &c)
		for i := range a {
			x, y, z := f32(a[i]), f32(b[i]), f32(c[i])
			if want := b32(FMA32(x, y, z)); d[i] != want {
				t.Fatalf("FMALanes of %#x, %#x, %#x = %#x, want %#x", a[i], b[i], c[i], d[i], want)
			}
			if want := b32(FTZ32(FMA32(FTZ32(x), FTZ32(y), FTZ32(z)))); flushed[i] != want {
				t.Fatalf("FMALanesFTZ of %#x, %#x, %#x = %#x, want %#x", a[i], b[i], c[i], flushed[i], want)
			}
		}
	}
	for range 5000 {
		x := []uint64{refF64.random(g), refF64.random(g), refF64.random(g)}
		a, b, c := f64(x[0]), f64(x[1]), f64(x[2])
		refF64.checkOp(t, "add", RN, b64(Add64(a, b)), wantNaN64(x[:2]...), x[:2]...)
		refF64.checkOp(t, "sub", RN, b64(Sub64(a, b)), wantNaN64(x[:2]...), x[:2]...)
		refF64.checkOp(t, "mul", RN, b64(Mul64(a, b)), wantNaN64(x[:2]...), x[:2]...)
		refF64.checkOp(t, "div", RN, b64(Div64(a, b)), wantNaN64(x[:2]...), x[:2]...)
		refF64.checkOp(t, "div", RN, b64(Rcp64(a)), wantNaN64(x[0]), one64, x[0])
		refF64.checkOp(t, "sqrt", RN, b64(Sqrt64(a)), wantNaN64(x[0]), x[0])
		refF64.checkOp(t, "fma", RN, b64(FMA64(a, b, c)), wantNaN64(x...), x...)
	}
}

func TestHalf(t *testing.T) {
	for _, f := range []struct {
		name          string
		ref           binary
		add, sub, mul func(a, b uint16) uint16
		fma           func(a, b, c uint16) uint16
	}{
		{"f16", refF16, AddF16, SubF16, MulF16, FMAF16},
		{"bf16", refBF16, AddBF16, SubBF16, MulBF16, FMABF16},
	} {
		t.Run(f.name, func(t *testing.T) {
			g := rng(f.name)
			f.ref.forOperands(g, 2, 30000, func(x []uint64) {
				a, b := uint16(x[0]), uint16(x[1])
				f.ref.checkOp(t, "add", RN, uint64(f.add(a, b)), 0x7fff, x...)
				f.ref.checkOp(t, "sub", RN, uint64(f.sub(a, b)), 0x7fff, x...)
				f.ref.checkOp(t, "mul", RN, uint64(f.mul(a, b)), 0x7fff, x...)
			})
			f.ref.forOperands(g, 3, 60000, func(x []uint64) {
				f.ref.checkOp(t, "fma", RN, uint64(f.fma(uint16(x[0]), uint16(x[1]), uint16(x[2]))), 0x7fff, x...)
			})
		})
	}
}

// Any bits at all: f64 in the directed modes against exact arithmetic.
func FuzzF64(f *testing.F) {
	f.Add(uint64(one64), uint64(one64+1), uint64(1), uint8(0))
	f.Add(uint64(0x7fefffffffffffff), uint64(0x3ff0000000000001), uint64(0xffefffffffffffff), uint8(3))
	f.Fuzz(func(t *testing.T, a, b, c uint64, mode uint8) {
		r := modes[mode%4]
		refF64.checkOp(t, "fma", r, FMAF64(a, b, c, r), wantNaN64(a, b, c), a, b, c)
		refF64.checkOp(t, "add", r, AddF64(a, b, r), wantNaN64(a, b), a, b)
		refF64.checkOp(t, "mul", r, MulF64(a, b, r), wantNaN64(a, b), a, b)
		refF64.checkOp(t, "div", r, DivF64(a, b, r), wantNaN64(a, b), a, b)
		refF64.checkOp(t, "sqrt", r, SqrtF64(a, r), wantNaN64(a), a)
		x, y, z := uint32(a), uint32(b), uint32(c)
		refF32.checkOp(t, "fma", r, uint64(FMAF32(x, y, z, r)), uint64(NaNF32), uint64(x), uint64(y), uint64(z))
		refF32.checkOp(t, "div", r, uint64(DivF32(x, y, r)), uint64(NaNF32), uint64(x), uint64(y))
		refF16.checkOp(t, "fma", RN, uint64(FMAF16(uint16(a), uint16(b), uint16(c))), 0x7fff, a&0xffff, b&0xffff, c&0xffff)
		refBF16.checkOp(t, "fma", RN, uint64(FMABF16(uint16(a), uint16(b), uint16(c))), 0x7fff, a&0xffff, b&0xffff, c&0xffff)
	})
}
