package cache

import (
	"fmt"
	"math/bits"
)

// polynomials are the irreducible polynomials of IPoly by degree, without
// their leading term. Degrees 4 to 6 give the tables of GPGPU-Sim,
// which has no others; the others are the lowest primitive trinomials and
// pentanomials, after the construction of Rau (ISCA 1991), which those tables also
// follow.
var polynomials = [...]uint32{
	1: 0x1, 2: 0x3, 3: 0x3, 4: 0x3, 5: 0x5, 6: 0x3, 7: 0x3, 8: 0x1d, 9: 0x11, 10: 0x9,
	11: 0x5, 12: 0x53, 13: 0x1b, 14: 0x2b, 15: 0x3, 16: 0x2d,
}

// ipolyMasks[d][i] has the bits of the upper part of the address whose parity
// goes into bit i of an index of d bits.
var ipolyMasks = func() (m [len(polynomials)][16]uint64) {
	// GPGPU-Sim's tables end at these bits of the upper part.
	last := map[int]int{4: 12, 5: 14, 6: 18}
	for d := 1; d < len(polynomials); d++ {
		end, ok := last[d]
		if !ok {
			end = 63
		}
		// rem is the remainder of x^(d+j): multiply by x, reduce.
		rem := polynomials[d]
		for j := 0; j <= end; j++ {
			for i := range d {
				m[d][i] |= uint64(rem>>i&1) << j
			}
			rem <<= 1
			if rem>>d&1 != 0 {
				rem = rem&(1<<d-1) ^ polynomials[d]
			}
		}
	}
	return m
}()

// HasIPoly reports whether the polynomial hash exists for n places.
func HasIPoly(n int) bool {
	return n >= 1 && n&(n-1) == 0 && log2(n) < len(polynomials)
}

// IPolyHash folds the upper part of an address into an index below n, n being
// a size for which HasIPoly is true.
func IPolyHash(upper uint64, index, n int) int {
	d := log2(n)
	m := &ipolyMasks[d]
	for i := range d {
		index ^= (bits.OnesCount64(upper&m[i]) & 1) << i
	}
	return index
}

// Index returns the place among n (sets of a cache, banks of an L1) for an
// address whose lowest shift bits lie within one place. n must be a power of two
// except for Linear and Custom, and 32 or 64 for Fermi.
func Index(kind IndexKind, n int, shift uint, addr uint64) int {
	a := addr >> shift
	switch kind {
	case Linear:
		if n&(n-1) != 0 {
			return int(a % uint64(n))
		}
		return int(a) & (n - 1)
	case Xor:
		return int(a^a>>log2(n)) & (n - 1)
	case IPoly:
		return IPolyHash(a>>log2(n), int(a)&(n-1), n)
	case Fermi:
		up := addr>>13&7 | addr>>17&1<<3 | addr>>19&1<<4
		set := a&31 ^ up
		if n == 64 {
			set |= addr >> 12 & 1 << 5
		}
		return int(set)
	}
	return 0
}

// CheckIndex reports why Index cannot be used with n places, nil if it can.
func CheckIndex(kind IndexKind, n int) error {
	pow2 := n > 0 && n&(n-1) == 0
	switch {
	case n < 1:
		return fmt.Errorf("an index over %d places: want at least 1", n)
	case kind > Custom:
		return fmt.Errorf("unknown index function %d", kind)
	case kind == Xor && !pow2:
		return fmt.Errorf("the xor index (X) needs a power of two, not %d", n)
	case kind == IPoly && !HasIPoly(n):
		return fmt.Errorf("the polynomial index (P) needs a power of two up to %d, not %d", 1<<(len(polynomials)-1), n)
	case kind == Fermi && n != 32 && n != 64:
		return fmt.Errorf("the Fermi index (H) needs 32 or 64, not %d", n)
	}
	return nil
}
