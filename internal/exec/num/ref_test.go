package num

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// The reference for rounding: exact values as big.Float, rounded by integer
// arithmetic that shares nothing with the package.

// binary describes an IEEE format: significand bits, smallest normal exponent,
// exponent bits.
type binary struct {
	p, emin int
	ebits   uint
}

var (
	refF64  = binary{53, -1022, 11}
	refF32  = binary{24, -126, 8}
	refF16  = binary{11, -14, 5}
	refBF16 = binary{8, -126, 8}
	refTF32 = binary{11, -126, 8}
)

var modes = []Round{RN, RZ, RM, RP}

func (r Round) String() string { return [...]string{"rn", "rz", "rm", "rp", "rna"}[r] }

func (f binary) inf() uint64  { return (1<<f.ebits - 1) << (f.p - 1) }
func (f binary) sign() uint64 { return 1 << (int(f.ebits) + f.p - 1) }

// value decodes a finite number.
func (f binary) value(bits uint64) *big.Float {
	exp := int(bits >> (f.p - 1) & (1<<f.ebits - 1))
	frac := int64(bits & (1<<(f.p-1) - 1))
	if exp == 0 {
		exp = 1
	} else {
		frac |= 1 << (f.p - 1)
	}
	v := new(big.Float).SetPrec(64).SetInt64(frac)
	v.SetMantExp(v, exp-1+f.emin-(f.p-1))
	if bits&f.sign() != 0 {
		v.Neg(v)
	}
	return v
}

func (f binary) isNaN(bits uint64) bool { return bits&^f.sign() > f.inf() }
func (f binary) isInf(bits uint64) bool { return bits&^f.sign() == f.inf() }

// round encodes an exact value; zero keeps the sign that neg gives.
func (f binary) round(v *big.Float, neg bool, r Round) uint64 {
	var sign uint64
	if v.Sign() < 0 || v.Sign() == 0 && neg {
		sign = f.sign()
	}
	if v.Sign() == 0 {
		return sign
	}
	neg = sign != 0
	e := v.MantExp(nil) - 1
	q := max(e, f.emin) - (f.p - 1) // exponent of the last place
	y := new(big.Float).SetMantExp(new(big.Float).Abs(v), -q)
	i, _ := y.Int(nil)
	rest := new(big.Float).SetPrec(y.Prec()+64).Sub(y, new(big.Float).SetInt(i))
	up := false
	switch c := rest.Cmp(big.NewFloat(0.5)); r {
	case RN:
		up = c > 0 || c == 0 && i.Bit(0) == 1
	case RNA:
		up = c >= 0
	case RM:
		up = neg && rest.Sign() != 0
	case RP:
		up = !neg && rest.Sign() != 0
	}
	if up {
		i.Add(i, big.NewInt(1))
	}
	if i.BitLen() > f.p {
		i.Rsh(i, 1)
		q++
	}
	mag := i.Uint64()
	if i.BitLen() == f.p {
		mag = uint64(q+f.p-1-f.emin+1)<<(f.p-1) | mag&(1<<(f.p-1)-1)
	}
	if mag >= f.inf() {
		mag = f.inf()
		if r == RZ || r == RM && !neg || r == RP && neg {
			mag--
		}
	}
	return sign | mag
}

// refOp computes one operation exactly where it has a finite exact result;
// ok is false for operands that are infinite or NaN and for divisions by zero.
func (f binary) refOp(op string, r Round, x ...uint64) (d uint64, ok bool) {
	var v [3]*big.Float
	for i, b := range x {
		if f.isNaN(b) || f.isInf(b) {
			return 0, false
		}
		v[i] = f.value(b)
	}
	neg := func(i int) bool { return x[i]&f.sign() != 0 }
	const exact = 4800 // bits: enough for any f64 product and sum
	z := new(big.Float).SetPrec(exact)
	switch op {
	case "add", "sub":
		b, bneg := v[1], neg(1)
		if op == "sub" {
			b, bneg = new(big.Float).Neg(b), !bneg
		}
		z.Add(v[0], b)
		return f.round(z, zeroSign(neg(0), bneg, r), r), true
	case "mul":
		return f.round(z.Mul(v[0], v[1]), neg(0) != neg(1), r), true
	case "fma":
		z.Mul(v[0], v[1])
		z.Add(z, v[2])
		return f.round(z, zeroSign(neg(0) != neg(1), neg(2), r), r), true
	case "div":
		if v[1].Sign() == 0 {
			return 0, false
		}
		// 300 bits distinguish every quotient from a tie.
		return f.round(z.SetPrec(300).Quo(v[0], v[1]), neg(0) != neg(1), r), true
	case "sqrt":
		if v[0].Sign() < 0 {
			return 0, false
		}
		return f.round(z.SetPrec(300).Sqrt(v[0]), neg(0), r), true
	}
	panic(op)
}

// zeroSign tells whether an exact zero sum is negative.
func zeroSign(a, b bool, r Round) bool {
	if a == b {
		return a
	}
	return r == RM
}

// corners are operands of a format at which arithmetic goes wrong.
func (f binary) corners() []uint64 {
	one := uint64(1-f.emin) << (f.p - 1) // the bias is 1-emin
	c := []uint64{
		0, 1, 2, 3, 1<<(f.p-1) - 1, 1 << (f.p - 1), 1<<(f.p-1) + 1, 1 << (f.p - 2),
		one, one + 1, one - 1, one + 1<<(f.p-1), one | 1<<(f.p-2), one - 1<<(f.p-1), one + 1<<(f.p-3) + 1,
		f.inf() - 1, f.inf() - 2, f.inf() - 1<<(f.p-1), f.inf(), f.inf() + 1, f.inf() | 1<<(f.p-2),
		one + uint64(f.p)<<(f.p-1), one - uint64(f.p)<<(f.p-1), one + uint64(f.p+1)<<(f.p-1) + 1,
	}
	for _, x := range c[:len(c):len(c)] {
		c = append(c, x|f.sign())
	}
	return c
}

// random draws operands that interact: close exponents, few bits, or anything.
func (f binary) random(g *rand.Rand) uint64 {
	x := g.Uint64() & (f.sign()<<1 - 1)
	one := uint64(1-f.emin) << (f.p - 1)
	switch g.IntN(6) {
	case 0, 1: // around one
		x = x&(f.sign()|1<<(f.p-1)-1) | (one + uint64(g.IntN(2*f.p))<<(f.p-1) - uint64(f.p)<<(f.p-1))
	case 2: // few bits
		x &= ^uint64(0) << g.IntN(f.p)
	case 3: // small
		x &= f.sign() | 1<<(f.p+1) - 1
	case 4: // runs of ones
		x |= 1<<g.IntN(f.p) - 1
	}
	return x
}

func rng(name string) *rand.Rand {
	var seed uint64 = 14695981039346656037
	for _, c := range []byte(name) {
		seed = (seed ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, 1))
}

// sameFloat compares a result with the host's f64 arithmetic for infinities and NaNs, which
// refOp does not handle.
func (f binary) special(op string, x ...uint64) float64 {
	var v [3]float64
	for i, b := range x {
		switch {
		case f.isNaN(b):
			v[i] = math.NaN()
		case f.isInf(b):
			v[i] = math.Inf(1)
			if b&f.sign() != 0 {
				v[i] = math.Inf(-1)
			}
		default:
			// Only zero or not, and the sign, matter beside an infinity.
			s := f.value(b).Sign()
			v[i] = float64(s)
			if s == 0 && b&f.sign() != 0 {
				v[i] = math.Copysign(0, -1)
			}
		}
	}
	switch op {
	case "add":
		return v[0] + v[1]
	case "sub":
		return v[0] - v[1]
	case "mul":
		return v[0] * v[1]
	case "div":
		return v[0] / v[1]
	case "sqrt":
		return math.Sqrt(v[0])
	case "fma":
		return v[0]*v[1] + v[2]
	}
	panic(op)
}

// checkOp compares one result with the reference. nan is the NaN expected
// where the result is one.
func (f binary) checkOp(t *testing.T, op string, r Round, got, nan uint64, x ...uint64) {
	t.Helper()
	want, ok := f.refOp(op, r, x...)
	if !ok {
		switch s := f.special(op, x...); {
		case s != s:
			want = nan
		case math.IsInf(s, 1):
			want = f.inf()
		case math.IsInf(s, -1):
			want = f.inf() | f.sign()
		case s == 0 && math.Signbit(s):
			want = f.sign()
		case s == 0:
			want = 0
		default:
			t.Fatalf("%s %x: reference is finite", op, x)
		}
	}
	if got != want {
		t.Errorf("%s.%s %s = %#x, want %#x", op, r, hex(x), got, want)
	}
}

func hex(x []uint64) string { return fmt.Sprintf("%#x", x) }

// forOperands calls do with n operands: all corners, then count random ones, by default a
// quarter of them.
func (f binary) forOperands(g *rand.Rand, n, count int, do func(x []uint64)) {
	c := f.corners()
	x := make([]uint64, n)
	total := 1
	for range n {
		total *= len(c)
	}
	// Three operands have too many corners for every mode: take a share.
	step := 1
	if n == 3 {
		step = 7
	}
	for k := 0; k < total; k += step {
		for i, m := 0, k; i < n; i++ {
			x[i] = c[m%len(c)]
			m /= len(c)
		}
		do(x)
	}
	for range alltests.Count(count/4, count) {
		for i := range x {
			x[i] = f.random(g)
		}
		if n == 3 && g.IntN(3) == 0 {
			// An addend that cancels the product but for its tail.
			if p, ok := f.refOp("mul", RN, x[0], x[1]); ok {
				x[2] = p ^ f.sign() + uint64(g.IntN(3)) - 1
				x[2] &= f.sign()<<1 - 1
			}
		}
		do(x)
	}
}
