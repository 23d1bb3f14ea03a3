package num

import "math/bits"

// VSel selects the part of a word that a scalar video instruction reads or
// writes.
type VSel uint8

// The selectors; VWord is the whole word, written without a suffix.
const (
	VWord VSel = iota
	VB0
	VB1
	VB2
	VB3
	VH0
	VH1
)

// field returns the position and the width of the selected part.
func (s VSel) field() (at, width uint) {
	switch {
	case s >= VH0:
		return uint(s-VH0) * 16, 16
	case s >= VB0:
		return uint(s-VB0) * 8, 8
	}
	return 0, 32
}

// VOp is the operation of a video instruction.
type VOp uint8

// The operations. VAvrg exists for the SIMD instructions only, the shifts for
// the scalar ones only.
const (
	VAdd VOp = iota
	VSub
	VAbsDiff
	VMin
	VMax
	VAvrg
	VShl
	VShr
)

// VSecond is what a scalar video instruction does with its operand c.
type VSecond uint8

// The secondary operations. VMerge writes the result into the selected part of c;
// without a secondary operation c is not read.
const (
	VNone VSecond = iota
	VSecondAdd
	VSecondMin
	VSecondMax
	VMerge
)

// VParams are the parameters that scalar video instructions share.
type VParams struct {
	Signed bool    // .dtype is s32
	Sat    bool    // clamp to .dtype, narrowed to the merged part
	Second VSecond // secondary operation
	Dst    VSel    // part written by VMerge
	Wrap   bool    // shifts: amount modulo 32; otherwise it is clamped to 32
}

// VSelect extracts an operand of a scalar video instruction.
func VSelect(a uint32, s VSel, signed bool) int64 {
	at, width := s.field()
	v := uint64(a>>at) << (64 - width)
	if signed {
		return int64(v) >> (64 - width)
	}
	return int64(v >> (64 - width))
}

// VScalar is the primary operation of vadd, vsub, vabsdiff, vmin, vmax, vshl and vshr,
// before VFinish. Of p it only reads Wrap.
func VScalar(op VOp, a, b int64, p VParams) int64 {
	switch op {
	case VSub:
		return a - b
	case VAbsDiff:
		return max(a-b, b-a)
	case VMin:
		return min(a, b)
	case VMax:
		return max(a, b)
	case VShl, VShr:
		n := uint64(b) // the amount's type is u32
		if p.Wrap {
			n &= 31
		} else {
			n = min(n, 32)
		}
		if op == VShl {
			if n == 32 && a >= 1<<31 {
				return 1 << 62 // as many zeros below, and out of any range
			}
			return a << n
		}
		return a >> n
	}
	return a + b
}

// VSet is the comparison of vset: 1 if it holds, else 0. Its result is
// unsigned for VFinish.
func VSet(c Cmp, a, b int64) int64 {
	if CmpS(c, a, b) {
		return 1
	}
	return 0
}

// VFinish saturates the primary result, then combines it with c. Minimum and maximum
// use the whole primary result, as in the manual's pseudo-code, and keep its low 32
// bits.
func VFinish(v int64, c uint32, p VParams) uint32 {
	at, width := uint(0), uint(32)
	if p.Second == VMerge {
		at, width = p.Dst.field()
	}
	if p.Sat {
		if p.Signed {
			v = int64(SatSToS(v, width))
		} else {
			v = int64(SatSToU(v, width))
		}
	}
	d := uint32(v)
	switch p.Second {
	case VSecondAdd:
		return d + c
	case VSecondMin:
		return uint32(min(v, VSelect(c, VWord, p.Signed)))
	case VSecondMax:
		return uint32(max(v, VSelect(c, VWord, p.Signed)))
	case VMerge:
		mask := uint32(uint64(1)<<width-1) << at
		return c&^mask | d<<at&mask
	}
	return d
}

// VMadParams are the parameters of vmad.
type VMadParams struct {
	ASigned, BSigned bool // .atype, .btype
	ASel, BSel       VSel
	NegProduct       bool // exactly one of a and b is negated
	NegC             bool // c is negated
	PlusOne          bool // .po: adds one
	Shift            uint // .shr7, .shr15 or 0
	Sat              bool
}

// VMad is vmad: ±(a·b) ± c + po, exact, shifted right and then saturated to 32 bits.
// The product, and with it c, is unsigned if both factors are unsigned and it is not
// negated; the result is unsigned if the product is and c is not negated.
func VMad(a, b, c uint32, p VMadParams) uint32 {
	// {hi, lo} is the value in 128 bits.
	lo := uint64(VSelect(a, p.ASel, p.ASigned) * VSelect(b, p.BSel, p.BSigned))
	hi, addend, addendHi := uint64(0), uint64(c), uint64(0)
	if p.ASigned || p.BSigned {
		hi = uint64(int64(lo) >> 63)
	}
	signed := p.ASigned || p.BSigned || p.NegProduct
	if signed {
		addend = uint64(int64(int32(c)))
		addendHi = uint64(int64(addend) >> 63)
	}
	var carry uint64
	if p.NegProduct {
		lo, carry = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, carry)
	}
	if p.NegC {
		signed = true
		lo, carry = bits.Sub64(lo, addend, 0)
		hi, _ = bits.Sub64(hi, addendHi, carry)
	} else {
		lo, carry = bits.Add64(lo, addend, 0)
		hi, _ = bits.Add64(hi, addendHi, carry)
	}
	if p.PlusOne {
		lo, carry = bits.Add64(lo, 1, 0)
		hi += carry
	}
	lo = lo>>p.Shift | hi<<1<<(63-p.Shift)
	hi = uint64(int64(hi) >> p.Shift)
	if p.Sat {
		least, most := int64(0), int64(1)<<32-1
		if signed {
			least, most = -1<<31, 1<<31-1
		}
		switch top := int64(hi); {
		case top < -1 || top == -1 && int64(lo) < least || top == -1 && lo>>63 == 0:
			return uint32(least)
		case top > 0 || top == 0 && lo > uint64(most):
			return uint32(most)
		}
	}
	return uint32(lo)
}

// VSimdParams are the parameters of the SIMD video instructions.
type VSimdParams struct {
	Lanes            uint     // 2 half words or 4 bytes (any value but 2)
	ASigned, BSigned bool     // .atype, .btype
	DSigned          bool     // .dtype
	Sat              bool     // clamp each result to .dtype
	Add              bool     // .add: accumulate into c, otherwise merge with it
	Mask             uint8    // bit i: lane i of the result is active
	ASel, BSel       [4]uint8 // lane i reads this element of {b, a}, a lowest
}

// width returns the bits of a lane.
func (p *VSimdParams) width() uint {
	if p.Lanes == 2 {
		return 16
	}
	return 8
}

// element reads element i of {b, a}.
func (p *VSimdParams) element(a, b uint32, i uint8, signed bool) int32 {
	w := p.width()
	v := uint32((uint64(b)<<32 | uint64(a)) >> (uint(i) * w & 63))
	return part(v, 0, w, signed)
}

// VSimd is vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2 and their four-lane
// forms.
func VSimd(op VOp, a, b, c uint32, p VSimdParams) uint32 {
	w := p.width()
	d := c
	for i := uint(0); i*p.width() < 32; i++ {
		if p.Mask>>i&1 == 0 {
			continue
		}
		x := p.element(a, b, p.ASel[i], p.ASigned)
		y := p.element(a, b, p.BSel[i], p.BSigned)
		var t int32
		switch op {
		case VAdd:
			t = x + y
		case VSub:
			t = x - y
		case VAbsDiff:
			t = max(x-y, y-x)
		case VMin:
			t = min(x, y)
		case VMax:
			t = max(x, y)
		case VAvrg:
			// Rounds away from zero at a half: up if the sum is not negative.
			t = x + y
			if t >= 0 {
				t++
			}
			t >>= 1
		}
		if p.Sat {
			if p.DSigned {
				t = int32(SatSToS(int64(t), w))
			} else {
				t = int32(SatSToU(int64(t), w))
			}
		}
		d = p.combine(d, uint32(t), i)
	}
	return d
}

// VSimdSet is vset2 and vset4: each result is 1 or 0.
func VSimdSet(cmp Cmp, a, b, c uint32, p VSimdParams) uint32 {
	d := c
	for i := uint(0); i*p.width() < 32; i++ {
		if p.Mask>>i&1 == 0 {
			continue
		}
		x := p.element(a, b, p.ASel[i], p.ASigned)
		y := p.element(a, b, p.BSel[i], p.BSigned)
		d = p.combine(d, uint32(VSet(cmp, int64(x), int64(y))), i)
	}
	return d
}

// combine accumulates t into d, or writes it as lane i.
func (p *VSimdParams) combine(d, t uint32, i uint) uint32 {
	if p.Add {
		return d + t
	}
	w := p.width()
	mask := uint32(1<<w-1) << (i * w)
	return d&^mask | t<<(i*w)&mask
}
