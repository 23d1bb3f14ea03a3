package program_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/program"
)

// leastNormal and largest are those of binary32.
const (
	leastNormal = 0x1p-126
	largest     = math.MaxFloat32
)

// approximation is an instruction whose results the PTX manual bounds. The truth is computed in binary64, whose error is
// a millionth of the bounds.
type approximation struct {
	truth func(a, b float64) float64
	// bound is the largest error for operands, given the truth.
	bound func(a, b, want float64) float64
	// open reports operands for which the manual promises nothing.
	open func(a, b float64) bool
}

// ulps is a bound in units of the last place of the truth.
func ulps(n float64) func(a, b, want float64) float64 {
	return func(_, _, want float64) float64 {
		_, e := math.Frexp(want)
		return n * math.Ldexp(1, max(e-24, -149))
	}
}

// relative is a bound relative to the truth.
func relative(x float64) func(a, b, want float64) float64 {
	return func(_, _, want float64) float64 { return x * math.Abs(want) }
}

// circular is the bound of sines and cosines, absolute.
func circular(a, _, _ float64) float64 {
	if math.Abs(a) <= 2*math.Pi {
		return math.Exp2(-20.5)
	}
	return math.Exp2(-14.7)
}

func farTurned(a, _ float64) bool { return math.Abs(a) > 100*math.Pi && !math.IsInf(a, 0) }

// approximations are those of binary32, without .f32; the bounds are the manual's.
var approximations = map[string]approximation{
	"rcp.approx":  {truth: func(a, _ float64) float64 { return 1 / a }, bound: ulps(1)},
	"sqrt.approx": {truth: func(a, _ float64) float64 { return math.Sqrt(a) }, bound: relative(0x1p-23)},
	"rsqrt.approx": {truth: func(a, _ float64) float64 {
		if a == 0 {
			return 1 / a
		}
		return 1 / math.Sqrt(a)
	}, bound: relative(math.Exp2(-22.9))},
	"ex2.approx": {truth: func(a, _ float64) float64 { return math.Exp2(a) }, bound: ulps(2)},
	"lg2.approx": {truth: func(a, _ float64) float64 { return math.Log2(a) }, bound: func(a, _, want float64) float64 {
		if a > 0.5 && a < 2 {
			return 0x1p-22
		}
		return 0x1p-22 * math.Abs(want)
	}},
	"sin.approx":  {truth: func(a, _ float64) float64 { return math.Sin(a) }, bound: circular, open: farTurned},
	"cos.approx":  {truth: func(a, _ float64) float64 { return math.Cos(a) }, bound: circular, open: farTurned},
	"tanh.approx": {truth: func(a, _ float64) float64 { return math.Tanh(a) }, bound: relative(0x1p-11)},
	"div.approx": {truth: func(a, b float64) float64 {
		switch m := math.Abs(b); {
		case m <= 0x1p126 || math.IsInf(b, 0) || m != m || a != a:
			return a / b
		case math.IsInf(a, 0):
			return math.NaN()
		}
		return math.Copysign(0, a) * math.Copysign(1, b)
	}, bound: ulps(2), open: func(_, b float64) bool { return b != 0 && math.Abs(b) < leastNormal }},
	"div.full": {truth: func(a, b float64) float64 { return a / b }, bound: ulps(2)},
}

// outside says how a result is not what the manual allows, "" if it is; part is how much of the bound the error takes.
func (x *approximation) outside(ftz bool, a, b, got float64) (what string, part float64) {
	flush := func(v float64) float64 {
		if ftz && math.Abs(v) < leastNormal {
			return math.Copysign(0, v)
		}
		return v
	}
	a, b = flush(a), flush(b)
	if x.open != nil && x.open(a, b) {
		return "", 0
	}
	want := x.truth(a, b)
	bound := x.bound(a, b, want)
	off := math.Abs(got - want)
	switch {
	case want != want || got != got:
		if want == want || got == got {
			return "a NaN, or none", 0
		}
		return "", 0
	case ftz && math.Abs(want) < leastNormal+bound && got == 0, got == want:
		off = 0
	case math.IsInf(got, 0) && math.Abs(want)+bound > largest:
		off = 0
	case ftz && math.Abs(got) < leastNormal:
		return "a subnormal result", 0
	}
	if math.Signbit(got) != math.Signbit(want) && (got == 0 || off > 0 && want != 0 && math.Abs(want) > bound) {
		return "the other sign", 0
	}
	if bound = max(bound, 0x1p-149); off > bound { // what is exact may still be rounded to a subnormal number
		return fmt.Sprintf("off by %.3g of the bound", off/bound), off / bound
	}
	return "", off / bound
}

// boundedInput are operands of approximations: any, corner cases, and numbers near one and of a few turns.
func boundedInput(r *rand.Rand) (b []byte) {
	for i := range 3 * rowThreads {
		w := r.Uint32()
		switch r.IntN(5) {
		case 0:
			w = uint32(corners[r.IntN(len(corners))] >> (32 * r.IntN(2)))
			w += uint32(r.IntN(5) - 2)
		case 1:
			w = math.Float32bits(float32(math.Exp2(r.Float64()*8-4)) * float32(1-2*r.IntN(2)))
		case 2:
			w = math.Float32bits(float32((r.Float64() - 0.5) * 600))
		case 3: // to and from subnormal numbers
			w = w&0x807fffff | uint32([]int{0, 1, 2, 125, 126, 252, 253, 254}[r.IntN(8)])<<23
		}
		if i%3 == 0 && r.IntN(8) == 0 { // quotients at the ends of the range
			w = w&0x807fffff | uint32(r.IntN(4)*84)<<23
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(w))
	}
	return b
}

// TestCompiledBounds: approximations are within the bounds of the PTX manual, as machine code and as PTX, and all that
// the compiler knows of binary32 are in the table.
func TestCompiledBounds(t *testing.T) {
	var names []string
	for _, name := range compile.Rows() {
		if bounded(name) {
			names = append(names, name)
		}
	}
	text := ".version 8.0\n.target sm_86\n.address_size 64\n"
	for n, name := range names {
		text += rowKernel(n, name)
	}
	r := rand.New(rand.NewPCG(2, 9))
	for _, code := range []program.Code{program.PTXCode, program.CompiledCode} {
		worst := make([]float64, len(names))
		for range alltests.Count(4, 200) {
			input := boundedInput(r)
			out := outputs(t, code, text, names, input)
			for n, name := range names {
				base := strings.TrimSuffix(strings.TrimSuffix(name, ".f32"), ".ftz")
				x, known := approximations[base]
				if !known {
					t.Fatalf("%s is not in the table", name)
				}
				number := func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
				for i := range rowThreads {
					a, b, got := number(input[24*i:]), number(input[24*i+8:]), number(out[n][8*i:])
					what, part := x.outside(strings.Contains(name, "ftz"), a, b, got)
					if worst[n] = max(worst[n], part); what != "" {
						t.Errorf("%s, %s of %g and %g is %g, want %g: %s", code, name, a, b, got, x.truth(a, b), what)
						break
					}
				}
			}
			if t.Failed() {
				break
			}
		}
		for n, name := range names {
			t.Logf("%s, %s: at most %.3f of the bound", code, name, worst[n])
		}
	}
}
