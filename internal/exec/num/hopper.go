package num

import "math"

// This file: sums of the tensor cores of compute capability 9.0, as wgmma has them. Products are
// exact. The accumulator and all products of an instruction are aligned to the largest exponent and
// truncated to a number of fraction bits below it, added as integers, and the sum is truncated to an
// f32. The exponent of a product is that of its factors added, without normalising; subnormal factors
// have the smallest exponent of their format. Source: the public simulator "Hawkeye" of
// badasherez/gpu-simulator, which states that the rule agrees with an H100 bit by bit for f16 and bf16
// (26 bits) and for e4m3 (14 bits). For tf32 and for accumulators of f16 it is assumed. So are the
// sign of a zero sum (plus) and that sums beyond the largest f32 are infinite.

// Fraction bits below the largest exponent.
const (
	HopperBits     = 25 // f16, bf16; assumed for tf32
	HopperBitsByte = 13 // formats of eight bits
)

// TermsMax is the largest number of products of an instruction: wgmma.sp with eight bits.
const TermsMax = 64

// hopperLeast is the exponent of a zero: no term is aligned to less.
const hopperLeast = -133

// Terms are a row of A or a column of B.
type Terms struct {
	v       [TermsMax]float64
	e       [TermsMax]int32
	special uint32 // not zero: an infinity or a NaN is among them
	left    uint64 // terms that do not count, bit by bit
}

// Clear removes all terms.
func (t *Terms) Clear() {
	t.Begin()
	for i := range t.e {
		t.v[i], t.e[i] = 0, 2*hopperLeast
	}
}

// Begin is Clear for a caller that sets all terms that it uses.
func (t *Terms) Begin() { t.special, t.left = 0, 0 }

// Choose says which terms of sparse A count, bit by bit, until Clear. The others must be zero. What they
// meet in B does not affect a sum, not even if it is an infinity or a NaN.
func (t *Terms) Choose(counted uint64) { t.left = ^counted }

// without returns the terms without some, which become zero.
func (t *Terms) without(left uint64, k int) (x Terms) {
	x.Begin()
	for i := range k {
		if left>>i&1 != 0 {
			x.e[i] = 2 * hopperLeast
			continue
		}
		x.v[i], x.e[i] = t.v[i], t.e[i]
		if t.e[i] > 127 {
			x.special = 1
		}
	}
	return x
}

// Set makes x, an f32 that was widened from a format whose smallest normal exponent is emin, term i.
// Special terms stay until Clear.
func (t *Terms) Set(i int, x uint32, emin int32) {
	mag := x &^ sign32
	e := max(int32(mag>>23)-127, emin)
	if mag == 0 {
		e = 2 * hopperLeast
	}
	if mag >= inf32 {
		t.special = 1
	}
	t.v[i&(TermsMax-1)], t.e[i&(TermsMax-1)] = float64(f32(x)), e
}

// Scale multiplies term i by a power of two or another number of few digits, so that it stays exact.
func (t *Terms) Scale(i int, by float64) {
	i &= TermsMax - 1
	switch {
	case math.IsNaN(by):
		t.special = 1
	case t.v[i] == 0:
		return
	case by == 0:
		t.e[i] = 2 * hopperLeast
	default:
		_, e := math.Frexp(by)
		t.e[i] += int32(e - 1)
	}
	t.v[i] *= by
}

// powers are the powers of two from 2^-300 on.
var powers = func() (t [601]float64) {
	for i := range t {
		t[i] = math.Ldexp(1, i-300)
	}
	return t
}()

// hopper returns the sum of c, whose exponent is ec, and of k products in units of 2^(e-bits).
func hopper(c float64, ec int32, a, b *Terms, k int, bits int32) (sum int64, e int32) {
	e = max(ec, hopperLeast)
	ae, be := a.e[:k], b.e[:k]
	be = be[:len(ae)]
	for i, x := range ae {
		e = max(e, x+be[i])
	}
	scale := powers[300+bits-e]
	sum = int64(c * scale)
	av, bv := a.v[:k], b.v[:k]
	bv = bv[:len(av)]
	for i, x := range av {
		sum += int64(mul(x, bv[i]) * scale)
	}
	return sum, e
}

// HopperF32 adds the products of the first k terms to an f32.
func HopperF32(acc uint32, a, b *Terms, k int, bits int32) uint32 {
	mag := acc &^ sign32
	if a.left != 0 && b.special != 0 {
		chosen := b.without(a.left, k)
		b = &chosen
	}
	if mag >= inf32 || a.special|b.special != 0 {
		return F64ToF32(b64(hopperSpecial(float64(f32(acc)), a, b, k)), RN)
	}
	ec := max(int32(mag>>23)-127, -126)
	if mag == 0 {
		ec = hopperLeast
	}
	sum, e := hopper(float64(f32(acc)), ec, a, b, k, bits)
	if sum == 0 {
		return 0
	}
	v := b64(float64(sum) * powers[300+e-bits])
	switch exp := int32(v>>52&0x7ff) - 1023; {
	case exp > 127:
		return uint32(v>>63)<<31 | inf32
	case exp < -126:
		return F64ToF32(v, RZ)
	default:
		return uint32(v>>63)<<31 | uint32(exp+127)<<23 | uint32(v>>29)&(1<<23-1)
	}
}

// HopperF16 adds the products to an f16; the sum is rounded to nearest even (assumed).
func HopperF16(acc uint16, a, b *Terms, k int, bits int32) uint16 {
	x := F16ToF32(acc)
	mag := x &^ sign32
	if a.left != 0 && b.special != 0 {
		chosen := b.without(a.left, k)
		b = &chosen
	}
	if mag >= inf32 || a.special|b.special != 0 {
		return F64ToF16(b64(hopperSpecial(float64(f32(x)), a, b, k)), RN)
	}
	ec := max(int32(mag>>23)-127, -14)
	if mag == 0 {
		ec = hopperLeast
	}
	sum, e := hopper(float64(f32(x)), ec, a, b, k, bits)
	return F64ToF16(b64(float64(sum)*powers[300+e-bits]), RN)
}

// hopperSpecial is the sum where a term is an infinity or a NaN.
func hopperSpecial(c float64, a, b *Terms, k int) float64 {
	for i := range k {
		c += mul(a.v[i], b.v[i])
	}
	return c
}
