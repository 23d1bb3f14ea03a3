package rand

import (
	"encoding/binary"
)

// streams are those of a generator with states (kernels/rand.cuh).
const streams = 4096

// stateBytes is the size of the states of curand_kernel.h: six words, and room for a
// normal number.
const stateBytes = 48

// pack returns the states of all streams. The generator is at a number: the first streams
// are one step ahead of the last.
func pack(offset uint64, first func(stream int) [6]uint32, skip func(state [6]uint32, steps uint64) [6]uint32) []byte {
	b := make([]byte, streams*stateBytes)
	for i := range streams {
		steps := offset / streams
		if uint64(i) < offset%streams {
			steps++
		}
		for j, v := range skip(first(i), steps) {
			binary.LittleEndian.PutUint32(b[i*stateBytes+4*j:], v)
		}
	}
	return b
}

// polynomial is one over GF(2), below the degree of xorwowModulus: 160 bits.
type polynomial [5]uint32

// xorwowModulus is the characteristic polynomial of XORWOW's linear part, without its
// leading term (curand_xorwow_jump.h).
var xorwowModulus = polynomial{0x00060001, 0x08610030, 0x00062121, 0x0f3c0035, 0x00000f0e}

// times multiplies modulo xorwowModulus.
func (a polynomial) times(b polynomial) (r polynomial) {
	for i := range 160 {
		if b[i/32]>>(i%32)&1 != 0 {
			for j := range r {
				r[j] ^= a[j]
			}
		}
		over := a[4] >> 31
		for j := 4; j > 0; j-- {
			a[j] = a[j]<<1 | a[j-1]>>31
		}
		a[0] <<= 1
		if over != 0 {
			for j := range a {
				a[j] ^= xorwowModulus[j]
			}
		}
	}
	return r
}

// power is x to the power of 2^squarings times n.
func power(squarings int, n uint64) polynomial {
	r, x := polynomial{1}, polynomial{2}
	for range squarings {
		x = x.times(x)
	}
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			r = r.times(x)
		}
		x = x.times(x)
	}
	return r
}

// apply replaces a state by a polynomial of the step, applied to it.
func (a polynomial) apply(v [5]uint32) (r [5]uint32) {
	for i := range 160 {
		if a[i/32]>>(i%32)&1 != 0 {
			for j := range r {
				r[j] ^= v[j]
			}
		}
		t := v[0] ^ v[0]>>2
		v = [5]uint32{v[1], v[2], v[3], v[4], v[4] ^ v[4]<<4 ^ t ^ t<<1}
	}
	return r
}

// xorwowStates are the states of XORWOW's streams, 2^67 numbers apart. The seed enters as
// in curand_init.
func xorwowStates(seed, offset uint64) []byte {
	a, b := 1099087573*(uint32(seed)^0xaad26b49), 2591861531*(uint32(seed>>32)^0xf7dcefdd)
	d := 6615241 + b + a
	v := [5]uint32{123456789 + a, 362436069 ^ a, 521288629 + b, 88675123 ^ b, 5783321 + a}
	jump := power(67, 1)
	skips := [2]polynomial{power(0, offset/streams), power(0, offset/streams+1)}
	return pack(offset, func(stream int) [6]uint32 {
		if stream > 0 {
			v = jump.apply(v)
		}
		return [6]uint32{d, v[0], v[1], v[2], v[3], v[4]}
	}, func(s [6]uint32, steps uint64) [6]uint32 {
		w := skips[steps-offset/streams].apply([5]uint32(s[1:]))
		return [6]uint32{s[0] + uint32(steps)*362437, w[0], w[1], w[2], w[3], w[4]} // each step adds the number to the counter
	})
}

// matrix is one of a recurrence of MRG32k3a.
type matrix [9]uint64

// mrg are the recurrences of MRG32k3a (L'Ecuyer 1999): moduli and steps.
var mrg = [2]struct {
	modulus uint64
	step    matrix
}{
	{4294967087, matrix{0, 1, 0, 0, 0, 1, 4294967087 - 810728, 1403580, 0}},
	{4294944443, matrix{0, 1, 0, 0, 0, 1, 4294944443 - 1370589, 0, 527612}},
}

// times is a product of matrices.
func (a matrix) times(b matrix, m uint64) (r matrix) {
	for i := range r {
		for k := range 3 {
			r[i] = (r[i] + a[i/3*3+k]*b[3*k+i%3]%m) % m
		}
	}
	return r
}

// power is a to the power of 2^squarings times n.
func (a matrix) power(squarings int, n, m uint64) matrix {
	r := matrix{1, 0, 0, 0, 1, 0, 0, 0, 1}
	for range squarings {
		a = a.times(a, m)
	}
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			r = r.times(a, m)
		}
		a = a.times(a, m)
	}
	return r
}

// apply multiplies a state.
func (a matrix) apply(v []uint32, m uint64) (r [3]uint32) {
	for i := range r {
		sum := uint64(0)
		for k := range 3 {
			sum = (sum + a[3*i+k]*uint64(v[k])%m) % m
		}
		r[i] = uint32(sum)
	}
	return r
}

// mrgStates are the states of MRG32k3a's streams, 2^76 numbers apart. The seed enters as
// in curand_init.
func mrgStates(seed, offset uint64) []byte {
	x, y := uint64(1), uint64(1)
	if seed != 0 {
		x, y = uint64(uint32(seed)^0x55555555), uint64(uint32(seed>>32)^0xaaaaaaaa)
	}
	var v [2][3]uint32
	var jumps [2]matrix
	var skips [2][2]matrix
	for r, of := range mrg {
		for i := range 3 {
			from := x
			if (i == 1) != (r == 1) {
				from = y
			}
			v[r][i] = uint32(12345 * from % of.modulus)
		}
		jumps[r] = of.step.power(76, 1, of.modulus)
		for k := range skips {
			skips[k][r] = of.step.power(0, offset/streams+uint64(k), of.modulus)
		}
	}
	join := func(a, b [3]uint32) [6]uint32 { return [6]uint32{a[0], a[1], a[2], b[0], b[1], b[2]} }
	return pack(offset, func(stream int) [6]uint32 {
		if stream > 0 {
			for r, of := range mrg {
				v[r] = jumps[r].apply(v[r][:], of.modulus)
			}
		}
		return join(v[0], v[1])
	}, func(s [6]uint32, steps uint64) [6]uint32 {
		by := skips[steps-offset/streams]
		return join(by[0].apply(s[:3], mrg[0].modulus), by[1].apply(s[3:], mrg[1].modulus))
	})
}

// mtSize is the number of words of MT19937's state.
const mtSize = 624

// mtState is the state of MT19937 before its first number, seeded as by init_genrand of its
// authors. Both halves of the seed enter.
func mtState(seed uint64) []byte {
	v := uint32(seed) ^ uint32(seed>>32)
	b := binary.LittleEndian.AppendUint32(nil, v)
	for i := uint32(1); i < mtSize; i++ {
		v = 1812433253*(v^v>>30) + i
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// joeKuo are the primitive polynomials and initial numbers of the second dimension and the
// following (S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better
// two-dimensional projections", 2008; the set new-joe-kuo-6): the inner coefficients of the
// polynomial in bits, and one number for each degree. The first dimension needs none.
var joeKuo = []struct {
	inner uint32
	first []uint64
}{
	{0, []uint64{1}},
	{1, []uint64{1, 3}},
	{1, []uint64{1, 3, 1}},
	{2, []uint64{1, 1, 1}},
	{1, []uint64{1, 1, 3, 3}},
	{4, []uint64{1, 3, 5, 13}},
	{2, []uint64{1, 1, 5, 5, 17}},
	{4, []uint64{1, 1, 5, 5, 5}},
	{7, []uint64{1, 1, 7, 11, 19}},
	{11, []uint64{1, 1, 5, 1, 1}},
	{13, []uint64{1, 1, 1, 3, 11}},
	{14, []uint64{1, 3, 5, 5, 31}},
	{1, []uint64{1, 3, 3, 9, 7, 49}},
	{13, []uint64{1, 1, 1, 15, 21, 21}},
	{16, []uint64{1, 3, 1, 13, 27, 49}},
	{19, []uint64{1, 1, 1, 15, 7, 5}},
	{22, []uint64{1, 3, 1, 15, 13, 25}},
	{25, []uint64{1, 1, 5, 5, 19, 61}},
	{1, []uint64{1, 3, 7, 11, 23, 15, 103}},
	{4, []uint64{1, 3, 7, 13, 13, 15, 69}},
	{7, []uint64{1, 1, 3, 13, 7, 35, 63}},
	{8, []uint64{1, 3, 5, 9, 1, 25, 53}},
	{14, []uint64{1, 3, 1, 13, 9, 35, 107}},
	{19, []uint64{1, 3, 1, 5, 27, 61, 31}},
	{21, []uint64{1, 1, 5, 11, 19, 41, 61}},
	{28, []uint64{1, 3, 5, 3, 3, 13, 69}},
	{31, []uint64{1, 1, 7, 13, 1, 19, 1}},
	{32, []uint64{1, 3, 7, 5, 13, 19, 59}},
	{37, []uint64{1, 1, 3, 9, 25, 29, 41}},
	{41, []uint64{1, 3, 5, 13, 23, 1, 55}},
	{42, []uint64{1, 3, 7, 3, 13, 59, 17}},
	{50, []uint64{1, 3, 1, 3, 5, 53, 69}},
	{55, []uint64{1, 1, 5, 5, 23, 33, 13}},
	{56, []uint64{1, 1, 7, 7, 1, 61, 123}},
	{59, []uint64{1, 1, 7, 9, 13, 61, 49}},
	{62, []uint64{1, 3, 3, 5, 3, 55, 33}},
}

// directions are the direction vectors of dimensions, in words of 32 or 64 bits.
func directions(dims uint32, size int) []byte {
	var b []byte
	for d := range dims {
		v := make([]uint64, size) // with the point after the highest bit
		for k := range v {
			if d == 0 {
				v[k] = 1 << (63 - k)
				continue
			}
			of := joeKuo[d-1]
			degree := len(of.first)
			if k < degree {
				v[k] = of.first[k] << (63 - k)
				continue
			}
			v[k] = v[k-degree] ^ v[k-degree]>>degree
			for i := range degree - 1 {
				if of.inner>>i&1 != 0 {
					v[k] ^= v[k-degree+1+i]
				}
			}
		}
		for _, v := range v {
			if size == 64 {
				b = binary.LittleEndian.AppendUint64(b, v)
			} else {
				b = binary.LittleEndian.AppendUint32(b, uint32(v>>32))
			}
		}
	}
	return b
}
