package num

import "math/bits"

// MulHiU64 returns the upper half of a 64×64-bit product.
func MulHiU64(a, b uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }

// MulHiS64 returns the upper half of a signed 64×64-bit product.
func MulHiS64(a, b int64) int64 {
	hi, _ := bits.Mul64(uint64(a), uint64(b))
	return int64(hi) - a>>63&b - b>>63&a
}

// MulHiU32 returns the upper half of a 32×32-bit product.
func MulHiU32(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }

// MulHiS32 returns the upper half of a signed 32×32-bit product.
func MulHiS32(a, b int32) int32 { return int32(int64(a) * int64(b) >> 32) }

func low24U(a uint32) uint64 { return uint64(a & 0xffffff) }
func low24S(a int32) int64   { return int64(a << 8 >> 8) }

// Mul24LoU is mul24.lo.u32: bits 31..0 of the 48-bit product of the low 24 bits.
func Mul24LoU(a, b uint32) uint32 { return uint32(low24U(a) * low24U(b)) }

// Mul24HiU is mul24.hi.u32: bits 47..16 of that product.
func Mul24HiU(a, b uint32) uint32 { return uint32(low24U(a) * low24U(b) >> 16) }

// Mul24LoS is mul24.lo.s32.
func Mul24LoS(a, b int32) int32 { return int32(low24S(a) * low24S(b)) }

// Mul24HiS is mul24.hi.s32.
func Mul24HiS(a, b int32) int32 { return int32(low24S(a) * low24S(b) >> 16) }

func clampS32(v int64) int32 { return int32(min(max(v, -1<<31), 1<<31-1)) }

// AddSatS32 is add.sat.s32.
func AddSatS32(a, b int32) int32 { return clampS32(int64(a) + int64(b)) }

// SubSatS32 is sub.sat.s32.
func SubSatS32(a, b int32) int32 { return clampS32(int64(a) - int64(b)) }

// MadHiSatS32 is mad.hi.sat.s32: the addition saturates.
func MadHiSatS32(a, b, c int32) int32 { return AddSatS32(MulHiS32(a, b), c) }

// Mad24HiSatS32 is mad24.hi.sat.s32: the addition saturates.
func Mad24HiSatS32(a, b, c int32) int32 { return AddSatS32(Mul24HiS(a, b), c) }

// AddC32 adds with carry; carry and carryOut are 0 or 1. It implements add.cc (carry
// 0), addc, mad.cc and madc.
func AddC32(a, b, carry uint32) (d, carryOut uint32) { return bits.Add32(a, b, carry&1) }

// SubC32 subtracts with borrow: a - (b + borrow), as sub.cc and subc do. CC.CF
// holds the borrow of a subtraction, per the manual's "borrow-out written to
// CC.CF".
func SubC32(a, b, carry uint32) (d, carryOut uint32) { return bits.Sub32(a, b, carry&1) }

// AddC64 is AddC32 for 64 bits.
func AddC64(a, b uint64, carry uint32) (d uint64, carryOut uint32) {
	d, c := bits.Add64(a, b, uint64(carry&1))
	return d, uint32(c)
}

// SubC64 is SubC32 for 64 bits.
func SubC64(a, b uint64, carry uint32) (d uint64, carryOut uint32) {
	d, c := bits.Sub64(a, b, uint64(carry&1))
	return d, uint32(c)
}

// The quotient of a division by zero has all bits set, and its remainder is the
// dividend. The manual leaves both open; GPUs are observed to return this for 32 and
// 64 bits. The most negative integer divided by -1 wraps.

// DivU32 is div.u32.
func DivU32(a, b uint32) uint32 {
	if b == 0 {
		return ^uint32(0)
	}
	return a / b
}

// RemU32 is rem.u32.
func RemU32(a, b uint32) uint32 {
	if b == 0 {
		return a
	}
	return a % b
}

// DivS32 is div.s32.
func DivS32(a, b int32) int32 {
	if b == 0 {
		return -1
	}
	return a / b
}

// RemS32 is rem.s32; the remainder has the sign of the dividend.
func RemS32(a, b int32) int32 {
	if b == 0 {
		return a
	}
	return a % b
}

// DivU64 is div.u64.
func DivU64(a, b uint64) uint64 {
	if b == 0 {
		return ^uint64(0)
	}
	return a / b
}

// RemU64 is rem.u64.
func RemU64(a, b uint64) uint64 {
	if b == 0 {
		return a
	}
	return a % b
}

// DivS64 is div.s64.
func DivS64(a, b int64) int64 {
	if b == 0 {
		return -1
	}
	return a / b
}

// RemS64 is rem.s64; the remainder has the sign of the dividend.
func RemS64(a, b int64) int64 {
	if b == 0 {
		return a
	}
	return a % b
}

// DivU16 is div.u16.
func DivU16(a, b uint16) uint16 { return uint16(DivU32(uint32(a), uint32(b))) }

// RemU16 is rem.u16.
func RemU16(a, b uint16) uint16 { return uint16(RemU32(uint32(a), uint32(b))) }

// DivS16 is div.s16.
func DivS16(a, b int16) int16 { return int16(DivS32(int32(a), int32(b))) }

// RemS16 is rem.s16.
func RemS16(a, b int16) int16 { return int16(RemS32(int32(a), int32(b))) }

// SadU64 is sad on zero-extended operands: c + |a-b|, modulo the width.
func SadU64(a, b, c uint64) uint64 {
	if a < b {
		return c + b - a
	}
	return c + a - b
}

// SadS64 is sad on sign-extended operands.
func SadS64(a, b, c int64) int64 {
	if a < b {
		return c + b - a
	}
	return c + a - b
}

// Shifts clamp: an amount beyond the width gives zeros or copies of the sign, exactly
// as Go's shifts do.

// ShlB16 is shl.b16.
func ShlB16(a uint16, n uint32) uint16 { return a << n }

// ShrU16 is shr.u16.
func ShrU16(a uint16, n uint32) uint16 { return a >> n }

// ShrS16 is shr.s16.
func ShrS16(a int16, n uint32) int16 { return a >> n }

// ShlB32 is shl.b32.
func ShlB32(a, n uint32) uint32 { return a << n }

// ShrU32 is shr.u32.
func ShrU32(a, n uint32) uint32 { return a >> n }

// ShrS32 is shr.s32.
func ShrS32(a int32, n uint32) int32 { return a >> n }

// ShlB64 is shl.b64.
func ShlB64(a uint64, n uint32) uint64 { return a << n }

// ShrU64 is shr.u64.
func ShrU64(a uint64, n uint32) uint64 { return a >> n }

// ShrS64 is shr.s64.
func ShrS64(a int64, n uint32) int64 { return a >> n }

func funnel(c uint32, clamp bool) uint32 {
	if clamp {
		return min(c, 32)
	}
	return c & 31
}

// ShfL is shf.l: the upper half of the 64 bits {b, a} (b above a) shifted left.
func ShfL(a, b, c uint32, clamp bool) uint32 {
	return uint32((uint64(b)<<32 | uint64(a)) << funnel(c, clamp) >> 32)
}

// ShfR is shf.r: the lower half of the 64 bits {b, a} (b above a) shifted right.
func ShfR(a, b, c uint32, clamp bool) uint32 {
	return uint32((uint64(b)<<32 | uint64(a)) >> funnel(c, clamp))
}

// BfeU32 is bfe.u32; only the low eight bits of pos and length count.
func BfeU32(a, pos, length uint32) uint32 {
	pos &= 0xff
	return a >> pos & (1<<(length&0xff) - 1)
}

// BfeS32 is bfe.s32: the upper bits are filled with the field's sign bit, or with bit
// 31 if the field reaches beyond it; an empty field is 0.
func BfeS32(a, pos, length uint32) uint32 {
	return uint32(bfeS(uint64(int64(int32(a))), pos&0xff, length&0xff, 32))
}

// BfeU64 is bfe.u64.
func BfeU64(a uint64, pos, length uint32) uint64 {
	pos &= 0xff
	return a >> pos & (1<<(length&0xff) - 1)
}

// BfeS64 is bfe.s64.
func BfeS64(a uint64, pos, length uint32) uint64 {
	return bfeS(a, pos&0xff, length&0xff, 64)
}

// bfeS extracts from a sign-extended value, whose bits above the width already follow
// the rule for fields that reach beyond it.
func bfeS(a uint64, pos, length, width uint32) uint64 {
	if length == 0 {
		return 0
	}
	v := int64(a) >> pos
	if length >= width {
		return uint64(v)
	}
	return uint64(v << (64 - length) >> (64 - length))
}

// BfiB32 is bfi.b32: the low length bits of a replace those of b at pos; only
// the low eight bits of pos and length count.
func BfiB32(a, b, pos, length uint32) uint32 {
	pos &= 0xff
	mask := uint32(1<<(length&0xff)-1) << pos
	return b&^mask | a<<pos&mask
}

// BfiB64 is bfi.b64.
func BfiB64(a, b uint64, pos, length uint32) uint64 {
	pos &= 0xff
	mask := uint64(1<<(length&0xff)-1) << pos
	return b&^mask | a<<pos&mask
}

func bfind(a uint64, width int, shiftamt bool) uint32 {
	if a == 0 {
		return ^uint32(0)
	}
	n := bits.Len64(a) - 1
	if shiftamt {
		n = width - 1 - n
	}
	return uint32(n)
}

// BfindU32 is bfind.u32: the position of the highest set bit, or with shiftamt
// the shift that takes it to the top; all ones if there is none.
func BfindU32(a uint32, shiftamt bool) uint32 { return bfind(uint64(a), 32, shiftamt) }

// BfindS32 is bfind.s32: the highest bit that differs from the sign.
func BfindS32(a uint32, shiftamt bool) uint32 {
	return bfind(uint64(a^uint32(int32(a)>>31)), 32, shiftamt)
}

// BfindU64 is bfind.u64.
func BfindU64(a uint64, shiftamt bool) uint32 { return bfind(a, 64, shiftamt) }

// BfindS64 is bfind.s64.
func BfindS64(a uint64, shiftamt bool) uint32 {
	return bfind(a^uint64(int64(a)>>63), 64, shiftamt)
}

// Bmsk is bmsk: b set bits from bit a upwards. Clamp treats amounts from 32 on
// as 32, wrap takes them modulo 32.
func Bmsk(a, b uint32, clamp bool) uint32 {
	a, b = funnel(a, clamp), funnel(b, clamp)
	return uint32((uint64(1)<<b - 1) << a)
}

// SzextU32 is szext.u32: the low b bits of a. With clamp an amount from 32 on
// keeps all of a; with wrap it counts modulo 32. An amount of 0 gives 0.
func SzextU32(a, b uint32, clamp bool) uint32 {
	return a & uint32(uint64(1)<<funnel(b, clamp)-1)
}

// SzextS32 is szext.s32: the low b bits of a, sign-extended.
func SzextS32(a, b uint32, clamp bool) uint32 {
	s := 32 - funnel(b, clamp)
	return uint32(int32(a<<s) >> s)
}

// Fns is fns.b32: the position of a set bit of mask, counted from base. With offset 0
// it is base if that bit is set; with n > 0 it is the n-th set bit at or above base,
// with n < 0 the n-th at or below it. It is all ones if there is none.
func Fns(mask, base uint32, offset int32) uint32 {
	const none = ^uint32(0)
	if base > 31 {
		return none
	}
	switch {
	case offset == 0:
		if mask>>base&1 != 0 {
			return base
		}
		return none
	case offset > 0:
		mask &= ^uint32(0) << base
		for ; offset > 1 && mask != 0; offset-- {
			mask &= mask - 1
		}
		if mask == 0 {
			return none
		}
		return uint32(bits.TrailingZeros32(mask))
	default:
		mask &= uint32(uint64(2)<<base - 1)
		for ; offset < -1 && mask != 0; offset++ {
			mask &^= 1 << (bits.Len32(mask) - 1)
		}
		if mask == 0 {
			return none
		}
		return uint32(bits.Len32(mask)) - 1
	}
}

// PrmtMode is the mode of prmt.
type PrmtMode uint8

// The modes. PrmtIndex is the one that PTX writes without a modifier.
const (
	PrmtIndex PrmtMode = iota
	PrmtF4E            // four bytes forward from c
	PrmtB4E            // four bytes backward from c
	PrmtRC8            // byte c, four times
	PrmtECL            // edge clamp left
	PrmtECR            // edge clamp right
	PrmtRC16           // half word c, twice
)

// The selectors of the fixed modes, by the low two bits of c; the lowest
// nibble is that of the lowest result byte.
var prmtSelectors = [...][4]uint32{
	PrmtF4E:  {0x3210, 0x4321, 0x5432, 0x6543},
	PrmtB4E:  {0x5670, 0x6701, 0x7012, 0x0123},
	PrmtRC8:  {0x0000, 0x1111, 0x2222, 0x3333},
	PrmtECL:  {0x3210, 0x3211, 0x3222, 0x3333},
	PrmtECR:  {0x0000, 0x1110, 0x2210, 0x3210},
	PrmtRC16: {0x1010, 0x3232, 0x1010, 0x3232},
}

// Prmt is prmt.b32: picks four of the eight bytes {b, a} (b above a). In index
// mode bit 3 of a selector replicates the sign of the byte it picks.
func Prmt(a, b, c uint32, m PrmtMode) uint32 {
	src := uint64(b)<<32 | uint64(a)
	if m != PrmtIndex {
		c = prmtSelectors[m][c&3]
	}
	var d uint32
	for i := 0; i < 32; i += 8 {
		x := uint32(src >> (c & 7 * 8) & 0xff)
		if c&8 != 0 {
			x = uint32(int32(x<<24)>>31) & 0xff
		}
		d |= x << i
		c >>= 4
	}
	return d
}

// Lop3 is lop3.b32: per bit, the entry of lut whose index has a's bit as bit 2,
// b's as bit 1 and c's as bit 0.
func Lop3(a, b, c uint32, lut uint8) uint32 {
	// Bit k of lut, spread over a word, chosen by the minterm it belongs to.
	t := func(k uint) uint32 { return -uint32(lut >> k & 1) }
	notA := ^a & (^b&(^c&t(0)|c&t(1)) | b&(^c&t(2)|c&t(3)))
	return notA | a&(^b&(^c&t(4)|c&t(5))|b&(^c&t(6)|c&t(7)))
}

func part(a uint32, at, width uint, signed bool) int32 {
	if signed {
		return int32(a<<(32-at-width)) >> (32 - width)
	}
	return int32(a << (32 - at - width) >> (32 - width))
}

// Dp4a is dp4a: the sum of four byte products added to c, modulo 2^32.
func Dp4a(a, b, c uint32, aSigned, bSigned bool) uint32 {
	for i := uint(0); i < 32; i += 8 {
		c += uint32(part(a, i, 8, aSigned) * part(b, i, 8, bSigned))
	}
	return c
}

// Dp2a is dp2a: the two half words of a times two bytes of b (the upper two
// with hi), added to c, modulo 2^32.
func Dp2a(a, b, c uint32, aSigned, bSigned, hi bool) uint32 {
	if hi {
		b >>= 16
	}
	c += uint32(part(a, 0, 16, aSigned) * part(b, 0, 8, bSigned))
	c += uint32(part(a, 16, 16, aSigned) * part(b, 8, 8, bSigned))
	return c
}
