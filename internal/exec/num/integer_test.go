package num

import (
	"math"
	"math/big"
	"testing"
)

var corners32 = []uint32{0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 255, 256, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff, 0x10000,
	0x7fffff, 0x800000, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0xaaaaaaaa, 0x12345678}

var corners64 = []uint64{0, 1, 2, 31, 32, 63, 64, 65, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
	0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001, 0xfffffffffffffffe, 0xffffffffffffffff, 0x123456789abcdef0}

// forWords calls do with n words: all corners (a share of them for three), then
// random ones of random length.
func forWords(name string, n, count int, do func(x []uint32)) {
	g := rng(name)
	x := make([]uint32, n)
	total := 1
	for range n {
		total *= len(corners32)
	}
	for k := 0; k < total; k++ {
		for i, m := 0, k; i < n; i++ {
			x[i] = corners32[m%len(corners32)]
			m /= len(corners32)
		}
		do(x)
	}
	for range count {
		for i := range x {
			x[i] = g.Uint32() >> g.IntN(32)
			if g.IntN(2) == 0 {
				x[i] = -x[i]
			}
		}
		do(x)
	}
}

func bigU(a uint64) *big.Int { return new(big.Int).SetUint64(a) }
func bigS(a int64) *big.Int  { return big.NewInt(a) }

func TestWide(t *testing.T) {
	g := rng("wide")
	pairs := func(do func(a, b uint64)) {
		for _, a := range corners64 {
			for _, b := range corners64 {
				do(a, b)
			}
		}
		for range 20000 {
			do(g.Uint64()>>g.IntN(64), -(g.Uint64() >> g.IntN(64)))
		}
	}
	pairs(func(a, b uint64) {
		p := new(big.Int).Mul(bigU(a), bigU(b))
		if got, want := MulHiU64(a, b), low64(p.Rsh(p, 64)); got != want {
			t.Fatalf("MulHiU64(%#x, %#x) = %#x, want %#x", a, b, got, want)
		}
		p.Mul(bigS(int64(a)), bigS(int64(b)))
		if got, want := uint64(MulHiS64(int64(a), int64(b))), low64(p.Rsh(p, 64)); got != want {
			t.Fatalf("MulHiS64(%#x, %#x) = %#x, want %#x", a, b, got, want)
		}
		for carry := range uint32(2) {
			s := new(big.Int).Add(bigU(a), bigU(b))
			s.Add(s, bigU(uint64(carry)))
			if d, c := AddC64(a, b, carry); d != low64(s) || uint(c) != s.Bit(64) {
				t.Fatalf("AddC64(%#x, %#x, %d) = %#x, %d", a, b, carry, d, c)
			}
			s.Sub(bigU(a), bigU(b))
			s.Sub(s, bigU(uint64(carry)))
			if d, c := SubC64(a, b, carry); d != low64(s) || (c == 1) != (s.Sign() < 0) {
				t.Fatalf("SubC64(%#x, %#x, %d) = %#x, %d", a, b, carry, d, c)
			}
		}
		for _, c := range []uint64{0, 5, math.MaxUint64, 1 << 63} {
			d := new(big.Int).Sub(bigU(a), bigU(b))
			d.Add(d.Abs(d), bigU(c))
			if got := SadU64(a, b, c); got != low64(d) {
				t.Fatalf("SadU64(%#x, %#x, %#x) = %#x", a, b, c, got)
			}
			d.Sub(bigS(int64(a)), bigS(int64(b)))
			d.Add(d.Abs(d), bigU(c))
			if got := uint64(SadS64(int64(a), int64(b), int64(c))); got != low64(d) {
				t.Fatalf("SadS64(%#x, %#x, %#x) = %#x", a, b, c, got)
			}
		}
		q, r := uint64(math.MaxUint64), a
		sq, sr := uint64(math.MaxUint64), a
		if b != 0 {
			x, y := new(big.Int).QuoRem(bigU(a), bigU(b), new(big.Int))
			q, r = low64(x), low64(y)
			x, y = new(big.Int).QuoRem(bigS(int64(a)), bigS(int64(b)), new(big.Int))
			sq, sr = low64(x), low64(y)
		}
		if DivU64(a, b) != q || RemU64(a, b) != r || uint64(DivS64(int64(a), int64(b))) != sq || uint64(RemS64(int64(a), int64(b))) != sr {
			t.Fatalf("div and rem of %#x, %#x", a, b)
		}
	})
}

func TestMultiplyAdd32(t *testing.T) {
	sat := func(v *big.Int) int32 {
		lo, hi := bounds(true, 32)
		return int32(low64(clampBig(v, lo, hi)))
	}
	forWords("multiply", 2, 20000, func(x []uint32) {
		a, b := x[0], x[1]
		sa, sb := int32(a), int32(b)
		p := new(big.Int).Mul(bigU(uint64(a)), bigU(uint64(b)))
		if got := MulHiU32(a, b); uint64(got) != low64(p.Rsh(p, 32)) {
			t.Fatalf("MulHiU32(%#x, %#x) = %#x", a, b, got)
		}
		p.Mul(bigS(int64(sa)), bigS(int64(sb)))
		hi := int32(low64(p.Rsh(p, 32)))
		if got := MulHiS32(sa, sb); got != hi {
			t.Fatalf("MulHiS32(%#x, %#x) = %#x", a, b, got)
		}
		// 24 bits: the low ones, read unsigned or signed.
		u := func(a uint32) *big.Int { return bigU(uint64(a) % (1 << 24)) }
		s := func(a uint32) *big.Int {
			v := u(a)
			if v.Bit(23) == 1 {
				v.Sub(v, bigU(1<<24))
			}
			return v
		}
		p.Mul(u(a), u(b))
		if got, got2 := Mul24LoU(a, b), Mul24HiU(a, b); got != uint32(low64(p)) || got2 != uint32(low64(new(big.Int).Rsh(p, 16))) {
			t.Fatalf("mul24.u32 of %#x, %#x = %#x, %#x", a, b, got, got2)
		}
		p.Mul(s(a), s(b))
		hi24 := int32(low64(new(big.Int).Rsh(p, 16)))
		if got, got2 := Mul24LoS(sa, sb), Mul24HiS(sa, sb); got != int32(low64(p)) || got2 != hi24 {
			t.Fatalf("mul24.s32 of %#x, %#x = %#x, %#x", a, b, got, got2)
		}
		if got := AddSatS32(sa, sb); got != sat(new(big.Int).Add(bigS(int64(sa)), bigS(int64(sb)))) {
			t.Fatalf("AddSatS32(%d, %d) = %d", sa, sb, got)
		}
		if got := SubSatS32(sa, sb); got != sat(new(big.Int).Sub(bigS(int64(sa)), bigS(int64(sb)))) {
			t.Fatalf("SubSatS32(%d, %d) = %d", sa, sb, got)
		}
		for _, c := range []int32{0, 1, -1, math.MaxInt32, math.MinInt32} {
			if got := MadHiSatS32(sa, sb, c); got != sat(new(big.Int).Add(bigS(int64(hi)), bigS(int64(c)))) {
				t.Fatalf("MadHiSatS32(%d, %d, %d) = %d", sa, sb, c, got)
			}
			if got := Mad24HiSatS32(sa, sb, c); got != sat(new(big.Int).Add(bigS(int64(hi24)), bigS(int64(c)))) {
				t.Fatalf("Mad24HiSatS32(%d, %d, %d) = %d", sa, sb, c, got)
			}
		}
		for carry := range uint32(2) {
			sum := uint64(a) + uint64(b) + uint64(carry)
			if d, c := AddC32(a, b, carry); d != uint32(sum) || uint64(c) != sum>>32 {
				t.Fatalf("AddC32(%#x, %#x, %d) = %#x, %d", a, b, carry, d, c)
			}
			diff := int64(a) - int64(b) - int64(carry)
			if d, c := SubC32(a, b, carry); d != uint32(diff) || (c == 1) != (diff < 0) {
				t.Fatalf("SubC32(%#x, %#x, %d) = %#x, %d", a, b, carry, d, c)
			}
		}
	})
}

func TestDivide(t *testing.T) {
	forWords("divide", 2, 20000, func(x []uint32) {
		a, b := x[0], x[1]
		q, r := uint32(math.MaxUint32), a
		sq, sr := int32(-1), int32(a)
		if b != 0 {
			q, r = uint32(uint64(a)/uint64(b)), uint32(uint64(a)%uint64(b))
			sq, sr = int32(int64(int32(a))/int64(int32(b))), int32(int64(int32(a))%int64(int32(b)))
		}
		if DivU32(a, b) != q || RemU32(a, b) != r || DivS32(int32(a), int32(b)) != sq || RemS32(int32(a), int32(b)) != sr {
			t.Fatalf("div and rem of %#x, %#x", a, b)
		}
		h, k := uint16(a), uint16(b)
		q, r = math.MaxUint16, uint32(h)
		sq, sr = -1, int32(int16(h))
		if k != 0 {
			q, r = uint32(h)/uint32(k), uint32(h)%uint32(k)
			sq, sr = int32(int16(h))/int32(int16(k)), int32(int16(h))%int32(int16(k))
		}
		if uint32(DivU16(h, k)) != q || uint32(RemU16(h, k)) != r || DivS16(int16(h), int16(k)) != int16(sq) || int32(RemS16(int16(h), int16(k))) != sr {
			t.Fatalf("div and rem of 16 bits %#x, %#x", h, k)
		}
	})
}

func TestShifts(t *testing.T) {
	forWords("shifts", 2, 5000, func(x []uint32) {
		a, n := x[0], x[1]
		wide := uint64(a)<<32 | uint64(x[1])
		shift := func(v *big.Int, left bool) uint64 {
			k := uint(min(n, 128))
			if left {
				return low64(new(big.Int).Lsh(v, k))
			}
			return low64(new(big.Int).Rsh(v, k)) // rounds down, as >> does
		}
		for _, c := range []struct {
			name      string
			got, want uint64
		}{
			{"ShlB16", uint64(ShlB16(uint16(a), n)), shift(bigU(uint64(uint16(a))), true) & 0xffff},
			{"ShlB32", uint64(ShlB32(a, n)), shift(bigU(uint64(a)), true) & 0xffffffff},
			{"ShlB64", ShlB64(wide, n), shift(bigU(wide), true)},
			{"ShrU16", uint64(ShrU16(uint16(a), n)), shift(bigU(uint64(uint16(a))), false)},
			{"ShrU32", uint64(ShrU32(a, n)), shift(bigU(uint64(a)), false)},
			{"ShrU64", ShrU64(wide, n), shift(bigU(wide), false)},
			{"ShrS16", uint64(ShrS16(int16(a), n)), shift(bigS(int64(int16(a))), false)},
			{"ShrS32", uint64(ShrS32(int32(a), n)), shift(bigS(int64(int32(a))), false)},
			{"ShrS64", uint64(ShrS64(int64(wide), n)), shift(bigS(int64(wide)), false)},
		} {
			if c.got != c.want {
				t.Fatalf("%s of %#x by %d = %#x, want %#x", c.name, a, n, c.got, c.want)
			}
		}
	})
	forWords("funnel", 3, 20000, func(x []uint32) {
		v := bigU(uint64(x[1])<<32 | uint64(x[0]))
		for _, clamp := range []bool{false, true} {
			n := uint(x[2] % 32)
			if clamp {
				n = uint(min(x[2], 32))
			}
			l := new(big.Int).Lsh(v, n)
			l.Rsh(l, 32)
			if got := ShfL(x[0], x[1], x[2], clamp); got != uint32(low64(l)) {
				t.Fatalf("ShfL(%#x, %v) = %#x", x, clamp, got)
			}
			if got := ShfR(x[0], x[1], x[2], clamp); got != uint32(low64(new(big.Int).Rsh(v, n))) {
				t.Fatalf("ShfR(%#x, %v) = %#x", x, clamp, got)
			}
		}
	})
}

// refBfe goes bit by bit, as the manual's pseudo-code does.
func refBfe(a uint64, pos, length uint32, width int, signed bool) (d uint64) {
	p, n := int(pos&0xff), int(length&0xff)
	var sbit uint64
	if signed && n != 0 {
		sbit = a >> min(p+n-1, width-1) & 1
	}
	for i := range width {
		bit := sbit
		if i < n && p+i < width {
			bit = a >> (p + i) & 1
		}
		d |= bit << i
	}
	return d
}

func refBfi(a, b uint64, pos, length uint32, width int) uint64 {
	p, n := int(pos&0xff), int(length&0xff)
	d := b
	for i := 0; i < n && p+i < width; i++ {
		d = d&^(1<<(p+i)) | a>>i&1<<(p+i)
	}
	return d
}

func TestBitFields(t *testing.T) {
	forWords("fields", 3, 50000, func(x []uint32) {
		a, pos, length := x[0], x[1], x[2]
		wide := uint64(a)<<31 ^ uint64(a)*0x9e3779b97f4a7c15
		for _, c := range []struct {
			name      string
			got, want uint64
		}{
			{"BfeU32", uint64(BfeU32(a, pos, length)), refBfe(uint64(a), pos, length, 32, false)},
			{"BfeS32", uint64(BfeS32(a, pos, length)), refBfe(uint64(a), pos, length, 32, true)},
			{"BfeU64", BfeU64(wide, pos, length), refBfe(wide, pos, length, 64, false)},
			{"BfeS64", BfeS64(wide, pos, length), refBfe(wide, pos, length, 64, true)},
			{"BfiB32", uint64(BfiB32(a, ^a*3, pos, length)), refBfi(uint64(a), uint64(^a*3), pos, length, 32)},
			{"BfiB64", BfiB64(wide, ^wide*3, pos, length), refBfi(wide, ^wide*3, pos, length, 64)},
		} {
			if c.got != c.want {
				t.Fatalf("%s of %#x at %d, %d bits = %#x, want %#x", c.name, a, pos, length, c.got, c.want)
			}
		}
	})
	// Every position and length that differs, on one pattern of each sign.
	for _, a := range []uint32{0x5a5a1234, 0xa5a51234} {
		for pos := range uint32(70) {
			for n := range uint32(70) {
				if got, want := BfeS32(a, pos, n), uint32(refBfe(uint64(a), pos, n, 32, true)); got != want {
					t.Fatalf("BfeS32(%#x, %d, %d) = %#x, want %#x", a, pos, n, got, want)
				}
				wide := uint64(a)<<32 | 0x9abcdef0
				if got, want := BfeS64(wide, pos, n), refBfe(wide, pos, n, 64, true); got != want {
					t.Fatalf("BfeS64(%#x, %d, %d) = %#x, want %#x", wide, pos, n, got, want)
				}
				if got, want := BfiB32(a, 0xc001d00d, pos, n), uint32(refBfi(uint64(a), 0xc001d00d, pos, n, 32)); got != want {
					t.Fatalf("BfiB32(%#x, %d, %d) = %#x, want %#x", a, pos, n, got, want)
				}
			}
		}
	}
}

func TestBfind(t *testing.T) {
	ref := func(a uint64, width int, signed, shiftamt bool) uint32 {
		sign := uint64(0)
		if signed {
			sign = a >> (width - 1) & 1
		}
		for i := width - 1; i >= 0; i-- {
			if a>>i&1 != sign {
				if shiftamt {
					return uint32(width - 1 - i)
				}
				return uint32(i)
			}
		}
		return math.MaxUint32
	}
	forWords("bfind", 2, 10000, func(x []uint32) {
		wide := uint64(x[0])<<32 | uint64(x[1])
		for _, amt := range []bool{false, true} {
			for _, c := range []struct {
				name      string
				got, want uint32
			}{
				{"u32", BfindU32(x[0], amt), ref(uint64(x[0]), 32, false, amt)},
				{"s32", BfindS32(x[0], amt), ref(uint64(x[0]), 32, true, amt)},
				{"u64", BfindU64(wide, amt), ref(wide, 64, false, amt)},
				{"s64", BfindS64(wide, amt), ref(wide, 64, true, amt)},
			} {
				if c.got != c.want {
					t.Fatalf("bfind.%s of %#x (%v) = %#x, want %#x", c.name, wide, amt, c.got, c.want)
				}
			}
		}
	})
}

func TestMasks(t *testing.T) {
	forWords("masks", 2, 5000, func(x []uint32) {
		a, b := x[0], x[1]
		for _, clamp := range []bool{false, true} {
			pos, n := a%32, b%32
			if clamp {
				pos, n = min(a, 32), min(b, 32)
			}
			var mask uint32
			for i := pos; i < min(pos+n, 32); i++ {
				mask |= 1 << i
			}
			if got := Bmsk(a, b, clamp); got != mask {
				t.Fatalf("Bmsk(%d, %d, %v) = %#x, want %#x", a, b, clamp, got, mask)
			}
			var u uint32
			for i := range n {
				u |= a & (1 << i)
			}
			s := u
			if n > 0 && u>>(n-1)&1 != 0 {
				for i := n; i < 32; i++ {
					s |= 1 << i
				}
			}
			if got := SzextU32(a, b, clamp); got != u {
				t.Fatalf("SzextU32(%#x, %d, %v) = %#x, want %#x", a, b, clamp, got, u)
			}
			if got := SzextS32(a, b, clamp); got != s {
				t.Fatalf("SzextS32(%#x, %d, %v) = %#x, want %#x", a, b, clamp, got, s)
			}
		}
	})
}

func TestFns(t *testing.T) {
	ref := func(mask, base uint32, offset int32) uint32 {
		if offset == 0 {
			if base < 32 && mask>>base&1 == 1 {
				return base
			}
			return math.MaxUint32
		}
		step, count := 1, int64(offset)
		if offset < 0 {
			step, count = -1, -count
		}
		for pos := int(base); pos >= 0 && pos < 32; pos += step {
			if mask>>pos&1 == 1 {
				if count--; count == 0 {
					return uint32(pos)
				}
			}
		}
		return math.MaxUint32
	}
	offsets := []int32{0, 1, 2, 3, 5, 16, 31, 32, 33, math.MaxInt32, -1, -2, -3, -5, -16, -31, -32, -33, math.MinInt32}
	g := rng("fns")
	for range 2000 {
		mask := g.Uint32() & g.Uint32()
		if g.IntN(20) == 0 {
			mask = []uint32{0, math.MaxUint32, 1, 1 << 31}[g.IntN(4)]
		}
		for base := range uint32(34) {
			for _, o := range offsets {
				if got, want := Fns(mask, base, o), ref(mask, base, o); got != want {
					t.Fatalf("Fns(%#x, %d, %d) = %#x, want %#x", mask, base, o, got, want)
				}
			}
		}
	}
	if got := Fns(1, math.MaxUint32, 1); got != math.MaxUint32 {
		t.Errorf("Fns beyond the word = %#x", got)
	}
}

func TestPrmt(t *testing.T) {
	const a, b = 0x03020100, 0x07060504 // byte i has the value i
	for _, c := range []struct {
		mode PrmtMode
		want [4]uint32
	}{
		{PrmtF4E, [4]uint32{0x03020100, 0x04030201, 0x05040302, 0x06050403}},
		{PrmtB4E, [4]uint32{0x05060700, 0x06070001, 0x07000102, 0x00010203}},
		{PrmtRC8, [4]uint32{0x00000000, 0x01010101, 0x02020202, 0x03030303}},
		{PrmtECL, [4]uint32{0x03020100, 0x03020101, 0x03020202, 0x03030303}},
		{PrmtECR, [4]uint32{0x00000000, 0x01010100, 0x02020100, 0x03020100}},
		{PrmtRC16, [4]uint32{0x01000100, 0x03020302, 0x01000100, 0x03020302}},
	} {
		for s := range uint32(8) {
			if got := Prmt(a, b, s|0xfff0, c.mode); got != c.want[s&3] {
				t.Errorf("prmt mode %d, %d = %#x, want %#x", c.mode, s, got, c.want[s&3])
			}
		}
	}
	forWords("prmt", 3, 30000, func(x []uint32) {
		var src [8]byte
		for i := range 4 {
			src[i], src[i+4] = byte(x[0]>>(8*i)), byte(x[1]>>(8*i))
		}
		var want uint32
		for i := range 4 {
			s := x[2] >> (4 * i) & 15
			v := src[s%8]
			if s >= 8 {
				v = byte(int8(v) >> 7)
			}
			want |= uint32(v) << (8 * i)
		}
		if got := Prmt(x[0], x[1], x[2], PrmtIndex); got != want {
			t.Fatalf("Prmt(%#x) = %#x, want %#x", x, got, want)
		}
	})
}

func TestLop3(t *testing.T) {
	g := rng("lop3")
	for lut := range 256 {
		for range 20 {
			a, b, c := g.Uint32(), g.Uint32(), g.Uint32()
			var want uint32
			for i := range 32 {
				k := a>>i&1<<2 | b>>i&1<<1 | c>>i&1
				want |= uint32(lut) >> k & 1 << i
			}
			if got := Lop3(a, b, c, uint8(lut)); got != want {
				t.Fatalf("Lop3(%#x, %#x, %#x, %#x) = %#x, want %#x", a, b, c, lut, got, want)
			}
		}
	}
}

// partOf reads a field of a word as an integer.
func partOf(a uint32, at, width uint, signed bool) int64 {
	v := int64(a>>at) & (1<<width - 1)
	if signed && v>>(width-1) != 0 {
		v -= 1 << width
	}
	return v
}

func TestDotProductsOfBytes(t *testing.T) {
	forWords("dp", 3, 20000, func(x []uint32) {
		for k := range 4 {
			as, bs := k&1 != 0, k&2 != 0
			d4, lo, hi := int64(x[2]), int64(x[2]), int64(x[2])
			for i := range uint(4) {
				d4 += partOf(x[0], 8*i, 8, as) * partOf(x[1], 8*i, 8, bs)
			}
			for i := range uint(2) {
				lo += partOf(x[0], 16*i, 16, as) * partOf(x[1], 8*i, 8, bs)
				hi += partOf(x[0], 16*i, 16, as) * partOf(x[1], 8*i+16, 8, bs)
			}
			if got := Dp4a(x[0], x[1], x[2], as, bs); got != uint32(d4) {
				t.Fatalf("Dp4a(%#x, %v, %v) = %#x, want %#x", x, as, bs, got, uint32(d4))
			}
			if got := Dp2a(x[0], x[1], x[2], as, bs, false); got != uint32(lo) {
				t.Fatalf("Dp2a.lo(%#x, %v, %v) = %#x, want %#x", x, as, bs, got, uint32(lo))
			}
			if got := Dp2a(x[0], x[1], x[2], as, bs, true); got != uint32(hi) {
				t.Fatalf("Dp2a.hi(%#x, %v, %v) = %#x, want %#x", x, as, bs, got, uint32(hi))
			}
		}
	})
}
