package num

import (
	"math/big"
	"testing"
)

var vsels = []VSel{VWord, VB0, VB1, VB2, VB3, VH0, VH1}

// selField is where a selector points, written out.
func selField(s VSel) (at, width uint) {
	return [...]uint{0, 0, 8, 16, 24, 0, 16}[s], [...]uint{32, 8, 8, 8, 8, 16, 16}[s]
}

func TestVideoScalar(t *testing.T) {
	g := rng("video")
	forWords("video", 2, 3000, func(x []uint32) {
		c := g.Uint32()
		asel, bsel, dsel := vsels[g.IntN(7)], vsels[g.IntN(7)], vsels[g.IntN(7)]
		as, bs := g.IntN(2) == 0, g.IntN(2) == 0
		p := VParams{Signed: g.IntN(2) == 0, Sat: g.IntN(2) == 0, Second: VSecond(g.IntN(5)), Dst: dsel, Wrap: g.IntN(2) == 0}
		for op := VAdd; op <= VShr; op++ {
			if op == VAvrg {
				continue
			}
			at, width := selField(asel)
			ta := bigS(partOf(x[0], at, width, as))
			at, width = selField(bsel)
			tb := bigS(partOf(x[1], at, width, bs && op < VShl))
			v := new(big.Int)
			n := uint(min(tb.Uint64(), 32))
			if p.Wrap {
				n = uint(tb.Uint64() % 32)
			}
			switch op {
			case VAdd:
				v.Add(ta, tb)
			case VSub:
				v.Sub(ta, tb)
			case VAbsDiff:
				v.Abs(v.Sub(ta, tb))
			case VMin:
				v = ta
				if tb.Cmp(ta) < 0 {
					v = tb
				}
			case VMax:
				v = ta
				if tb.Cmp(ta) > 0 {
					v = tb
				}
			case VShl:
				v.Lsh(ta, n)
			case VShr:
				v.Rsh(ta, n)
			}
			dat, dwidth := uint(0), uint(32)
			if p.Second == VMerge {
				dat, dwidth = selField(dsel)
			}
			if p.Sat {
				lo, hi := bounds(p.Signed, dwidth)
				v = clampBig(v, lo, hi)
			}
			cc := bigU(uint64(c))
			if p.Signed {
				cc = bigS(int64(int32(c)))
			}
			var want uint32
			switch p.Second {
			case VNone:
				want = uint32(low64(v))
			case VSecondAdd:
				want = uint32(low64(new(big.Int).Add(v, cc)))
			case VSecondMin:
				want = uint32(low64(v))
				if cc.Cmp(v) < 0 {
					want = c
				}
			case VSecondMax:
				want = uint32(low64(v))
				if cc.Cmp(v) > 0 {
					want = c
				}
			case VMerge:
				want = c
				for i := range dwidth {
					want = want&^(1<<(dat+i)) | uint32(low64(v))>>i&1<<(dat+i)
				}
			}
			got := VFinish(VScalar(op, VSelect(x[0], asel, as), VSelect(x[1], bsel, bs && op < VShl), p), c, p)
			if got != want {
				t.Fatalf("video op %d of %#x.%d (signed %v), %#x.%d (signed %v), c %#x, %+v = %#x, want %#x", op, x[0], asel, as, x[1], bsel, bs, c, p, got, want)
			}
		}
	})
	for _, c := range []struct {
		op   Cmp
		a, b int64
		want int64
	}{{LT, -1, 0, 1}, {LT, 1 << 31, -1 << 31, 0}, {EQ, 5, 5, 1}, {NE, 5, 5, 0}, {GE, 5, 5, 1}, {GT, 5, 5, 0}} {
		if got := VSet(c.op, c.a, c.b); got != c.want {
			t.Errorf("VSet(%d, %d, %d) = %d", c.op, c.a, c.b, got)
		}
	}
}

func TestVMad(t *testing.T) {
	g := rng("vmad")
	forWords("vmad", 3, 30000, func(x []uint32) {
		p := VMadParams{
			ASigned: g.IntN(2) == 0, BSigned: g.IntN(2) == 0, ASel: vsels[g.IntN(7)], BSel: vsels[g.IntN(7)],
			Shift: []uint{0, 7, 15}[g.IntN(3)], Sat: g.IntN(2) == 0,
		}
		if g.IntN(3) != 0 {
			p.ASel, p.BSel = VWord, VWord
		}
		switch g.IntN(4) {
		case 0:
			p.NegProduct = true
		case 1:
			p.NegC = true
		case 2:
			p.PlusOne = true
		}
		at, width := selField(p.ASel)
		v := bigS(partOf(x[0], at, width, p.ASigned))
		at, width = selField(p.BSel)
		v.Mul(v, bigS(partOf(x[1], at, width, p.BSigned)))
		signed := p.ASigned || p.BSigned || p.NegProduct
		c := bigU(uint64(x[2]))
		if signed {
			c = bigS(int64(int32(x[2])))
		}
		if p.NegProduct {
			v.Neg(v)
		}
		if p.NegC {
			signed = true
			c.Neg(c)
		}
		v.Add(v, c)
		if p.PlusOne {
			v.Add(v, big.NewInt(1))
		}
		v.Rsh(v, p.Shift)
		if p.Sat {
			lo, hi := bounds(signed, 32)
			v = clampBig(v, lo, hi)
		}
		if got := VMad(x[0], x[1], x[2], p); got != uint32(low64(v)) {
			t.Fatalf("VMad(%#x, %+v) = %#x, want %#x", x, p, got, uint32(low64(v)))
		}
	})
}

func TestVideoSIMD(t *testing.T) {
	g := rng("simd")
	forWords("simd", 3, 10000, func(x []uint32) {
		lanes := 2 + 2*g.IntN(2)
		width := uint(32 / lanes)
		p := VSimdParams{
			Lanes: uint(lanes), ASigned: g.IntN(2) == 0, BSigned: g.IntN(2) == 0, DSigned: g.IntN(2) == 0,
			Add: g.IntN(3) == 0, Mask: uint8(g.IntN(1 << lanes)),
		}
		p.Sat = !p.Add && g.IntN(2) == 0
		src := uint64(x[1])<<32 | uint64(x[0])
		var ta, tb [4]int64
		for i := range lanes {
			p.ASel[i], p.BSel[i] = uint8(g.IntN(2*lanes)), uint8(g.IntN(2*lanes))
			ta[i] = partOf(uint32(src>>(uint(p.ASel[i])*width)), 0, width, p.ASigned)
			tb[i] = partOf(uint32(src>>(uint(p.BSel[i])*width)), 0, width, p.BSigned)
		}
		finish := func(result func(a, b int64) int64) uint32 {
			want := int64(x[2])
			for i := range lanes {
				if p.Mask>>i&1 == 0 {
					continue
				}
				v := result(ta[i], tb[i])
				if p.Sat {
					lo, hi := bounds(p.DSigned, width)
					v = clampBig(bigS(v), lo, hi).Int64()
				}
				if p.Add {
					want += v
					continue
				}
				for k := range width {
					bit := uint(i)*width + k
					want = want&^(1<<bit) | v>>k&1<<bit
				}
			}
			return uint32(want)
		}
		for op, f := range map[VOp]func(a, b int64) int64{
			VAdd:     func(a, b int64) int64 { return a + b },
			VSub:     func(a, b int64) int64 { return a - b },
			VMin:     func(a, b int64) int64 { return min(a, b) },
			VMax:     func(a, b int64) int64 { return max(a, b) },
			VAbsDiff: func(a, b int64) int64 { return max(a, b) - min(a, b) },
			VAvrg: func(a, b int64) int64 { // half, ties away from zero
				s := a + b
				if s < 0 {
					return -((-s + 1) / 2)
				}
				return (s + 1) / 2
			},
		} {
			if got, want := VSimd(op, x[0], x[1], x[2], p), finish(f); got != want {
				t.Fatalf("VSimd(%d, %#x, %+v) = %#x, want %#x", op, x, p, got, want)
			}
		}
		p.Sat = false
		for cmp, f := range map[Cmp]func(a, b int64) bool{
			EQ: func(a, b int64) bool { return a == b },
			LT: func(a, b int64) bool { return a < b },
			GE: func(a, b int64) bool { return a >= b },
		} {
			want := finish(func(a, b int64) int64 {
				if f(a, b) {
					return 1
				}
				return 0
			})
			if got := VSimdSet(cmp, x[0], x[1], x[2], p); got != want {
				t.Fatalf("VSimdSet(%d, %#x, %+v) = %#x, want %#x", cmp, x, p, got, want)
			}
		}
	})
}
