package program_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/program"
)

// double draws an operand of binary64: of any exponent, with few or with many bits, and often at an end
// of a range.
func double(r *rand.Rand) uint64 {
	w := r.Uint64()
	switch r.IntN(8) {
	case 0: // few bits
		w &^= 1<<r.IntN(53) - 1
	case 1: // all bits but few
		w |= 1<<r.IntN(53) - 1
	case 2: // beside a power of two
		w = w&^(1<<52-1) + uint64(r.IntN(5)) - 2
	case 3: // subnormal
		w &= 1<<63 | (1<<r.IntN(53) - 1)
	case 4: // the ends of the exponents
		w = w&^(0x7ff<<52) | uint64(r.IntN(120)+[]int{0, 1927, 960, 1000}[r.IntN(4)])<<52
	case 5:
		w = corners[r.IntN(len(corners))]
	}
	return w
}

// pairOfDoubles are operands whose quotient is a number of few bits, times a little more or less, or any.
func pairOfDoubles(r *rand.Rand) (a, b uint64) {
	if a, b = double(r), double(r); r.IntN(3) == 0 {
		q := math.Float64frombits(double(r)&^(1<<r.IntN(53)-1)) * math.Float64frombits(b)
		a = math.Float64bits(q) + uint64(r.IntN(3)) - 1
	}
	return a, b
}

// rootBesideMiddle is a number whose root is closest to the middle between two of binary64.
func rootBesideMiddle(r *rand.Rand) uint64 {
	m := 1<<53 + r.Uint64()>>11 | 1 // of 54 bits
	x := float64(m) * (1. / (1 << 53))
	return math.Float64bits(math.Ldexp(x*x, r.IntN(900)*2-900))
}

// TestCompiledDoubles: quotients, reciprocals and roots of binary64 in all roundings are those of PTX, where they are
// subnormal or too large, too, and where they are close to the middle between two numbers.
func TestCompiledDoubles(t *testing.T) {
	var names []string
	for _, op := range []string{"div", "rcp", "sqrt"} {
		for _, round := range []string{"rn", "rz", "rm", "rp"} {
			names = append(names, op+"."+round+".f64")
		}
	}
	text := ".version 8.0\n.target sm_86\n.address_size 64\n"
	for n, name := range names {
		text += rowKernel(n, name)
	}
	r := rand.New(rand.NewPCG(6, 4))
	fixed := [][2]uint64{{0x3ff0000000000000, 0x3fffffffffffffff}, {0x3ff0000000000000, 0x7fdfffffffffffff}, {0x3ff0000000000001, 0}, {0x400fffffffffffff, 0}, {0x400ffffffffffffe, 0}, {0x0010000000000000, 0x4000000000000000}, {1, 0x4000000000000000}, {3, 0x4000000000000000}, {1, 0x4000000000000001}, {0x000fffffffffffff, 0x3fefffffffffffff}}
	for range alltests.Count(6, 100) {
		var input []byte
		for i := range rowThreads {
			a, b := pairOfDoubles(r)
			switch {
			case i < len(fixed):
				a, b = fixed[i][0], fixed[i][1]
			case i%8 == 0:
				a = rootBesideMiddle(r)
			}
			for _, w := range []uint64{a, b, 0} {
				input = binary.LittleEndian.AppendUint64(input, w)
			}
		}
		want, got := outputs(t, program.PTXCode, text, names, input), outputs(t, program.CompiledCode, text, names, input)
		for n, name := range names {
			bad := 0
			for i := range rowThreads {
				w, g := binary.LittleEndian.Uint64(want[n][8*i:]), binary.LittleEndian.Uint64(got[n][8*i:])
				if w != g && !(w&^(1<<63) > 0x7ff<<52 && g&^(1<<63) > 0x7ff<<52) { // the manual leaves open which NaN it is
					if bad++; bad <= 3 {
						t.Errorf("%s of %#x, %#x: got %#x, want %#x", name, binary.LittleEndian.Uint64(input[24*i:]), binary.LittleEndian.Uint64(input[24*i+8:]), g, w)
					}
				}
			}
			if bad > 3 {
				t.Errorf("%s: %d of %d", name, bad, rowThreads)
			}
		}
		if t.Failed() {
			return
		}
	}
}
