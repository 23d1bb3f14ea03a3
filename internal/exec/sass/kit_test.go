package sass

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// header begins every program of the tests.
const header = ".arch sm_86\n.kernel k\n.regs 128\n.shared 4096\n.local 64\n.param p, 8\n.param q, 8\n.param n, 4\n"

// load assembles and decodes the instructions of one kernel.
func load(t testing.TB, text string) *Kernel {
	t.Helper()
	if !strings.Contains(text, ".kernel") {
		text = header + text
	}
	f, err := sass.Parse("t.sass", text, 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return Load(f).Kernels()[0]
}

// begin makes a block of one launch of a kernel that can run.
func begin(t testing.TB, k *Kernel, l Launch, mem *device.Memory) *block {
	t.Helper()
	l.Kernel = k
	if l.Grid.X == 0 {
		l.Grid = exec.Dim3{X: 1, Y: 1, Z: 1}
	}
	if l.Block.X == 0 {
		l.Block = exec.Dim3{X: 32, Y: 1, Z: 1}
	}
	if l.Params == nil {
		l.Params = make([]byte, k.ParamBytes())
	}
	if mem == nil {
		mem = device.New(device.Config{})
	}
	w, err := NewMachine(mem).NewWork(l, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.Block(0).(*block)
}

// finish steps a warp to its end.
func finish(t testing.TB, w *warp) {
	t.Helper()
	var e exec.Effects
	for range 100_000 {
		if !w.ready() {
			if w.live != 0 {
				t.Fatalf("the warp is stuck: %v", w.blk.Waits())
			}
			return
		}
		if err := w.Step(&e); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the warp does not end")
}

// launch runs a grid to its end on the given memory.
func launch(t testing.TB, k *Kernel, l Launch, mem *device.Memory) (Result, error) {
	t.Helper()
	l.Kernel = k
	return NewMachine(mem).Run(context.Background(), l, Options{MaxInsts: 20_000_000})
}

// Corner values of a word: as integer, as binary32, as two halves.
var corners = []uint32{
	0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 255, 256, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
	0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fc00001, 0xffc12345, 0x7f7fffff, 0xff7fffff, 0x00800000, 0x007fffff, 0x80000001,
	0x3f000000, 0x4b000000, 0x4b800001, 0xcf000000, 0x4f000000, 0x4f7fffff, 0x33800000, 0x34000000,
	0x3c003c00, 0x7c00fc00, 0x7e007bff, 0x00010400, 0x03ff8001, 0xbc00c000,
	0x40490fdb, 0x7ff00000, 0xfff80000, 0x3ff00000, 0x000fffff, 0x7fefffff, 0x41dfffff, 0xc1e00000,
}

// word draws a word for the kind of operand: integers, floats near each other,
// anything.
func word(r *rand.Rand, kind byte) uint32 {
	if r.IntN(4) == 0 {
		return corners[r.IntN(len(corners))]
	}
	switch kind {
	case 'f': // of moderate size
		return r.Uint32()&0x807fffff | uint32(127-20+r.IntN(40))<<23
	case 'h':
		return r.Uint32()
	case 'd': // the upper word of a double of moderate size
		return r.Uint32()&0x800fffff | uint32(1023-20+r.IntN(40))<<20
	case 's': // a shift
		return r.Uint32N(80)
	case 'm': // small
		return r.Uint32N(256)
	}
	return r.Uint32()
}

// lane is what one lane of an instruction reads: R4 to R15 and P2 to P4.
type lane struct {
	r [12]uint32
	p [3]bool
}

func (l *lane) pair(k int) uint64     { return uint64(l.r[k]) | uint64(l.r[k+1])<<32 }
func (l *lane) f32(k int) float32     { return math.Float32frombits(l.r[k]) }
func (l *lane) f64(k int) float64     { return math.Float64frombits(l.pair(k)) }
func (l *lane) half(k, h int) float64 { return halfValue(uint16(l.r[k] >> (16 * h))) }

// result is what it writes: R0 to R3, P0 and P1.
type result struct {
	r [4]uint32
	p [2]bool
}

// opCase is an instruction with a reference for one lane.
type opCase struct {
	text  string
	kinds string // of R4 on, see word; the last counts for the rest
	regs  int    // how many of R0 to R3 are compared
	preds int    // and of P0, P1
	want  func(l *lane) result
}

// headerOf is the header for another architecture.
func headerOf(arch string) string { return strings.Replace(header, "sm_86", arch, 1) }

// check runs each case on random and corner operands, all lanes and some.
func check(t *testing.T, cases []opCase) {
	t.Helper()
	checkOn(t, "sm_86", cases)
}

// checkOn is check for another architecture.
func checkOn(t *testing.T, arch string, cases []opCase) {
	t.Helper()
	for n, c := range cases {
		k := load(t, headerOf(arch)+"@P5 "+c.text+"\nEXIT\n")
		if len(k.bad) > 0 {
			t.Errorf("%s: %v", c.text, k.bad)
			continue
		}
		r := rand.New(rand.NewPCG(uint64(n), 7))
		b := begin(t, k, Launch{}, nil)
		bad := 0
		for round := range 60 {
			w := &b.warps[0]
			w.live = full
			w.start(b.im)
			var in [32]lane
			guard := r.Uint32()
			if round%2 == 0 {
				guard = full
			}
			w.pr[5] = guard
			var before [32]result
			for i := range in {
				for j := range in[i].r {
					in[i].r[j] = word(r, c.kinds[min(j, len(c.kinds)-1)])
					w.rows[4+j][i] = in[i].r[j]
				}
				for j := range in[i].p {
					in[i].p[j] = r.IntN(2) == 0
					if in[i].p[j] {
						w.pr[2+j] |= 1 << i
					}
				}
				for j := range 4 {
					before[i].r[j] = r.Uint32()
					w.rows[j][i] = before[i].r[j]
				}
			}
			finish(t, w)
			for i := range in {
				want := before[i]
				if guard>>i&1 != 0 {
					want = c.want(&in[i])
				}
				for j := range c.regs {
					if got := w.rows[j][i]; got != want.r[j] && bad < 3 {
						bad++
						t.Errorf("%s: lane %d of %x, %v: R%d = %#x, want %#x", c.text, i, in[i].r, in[i].p, j, got, want.r[j])
					}
				}
				for j := range c.preds {
					if got := w.pr[j]>>i&1 != 0; got != want.p[j] && bad < 3 {
						bad++
						t.Errorf("%s: lane %d of %x, %v: P%d = %v, want %v", c.text, i, in[i].r, in[i].p, j, got, want.p[j])
					}
				}
			}
		}
	}
}

func word1(v uint32) result { return result{r: [4]uint32{v}} }
func word2(v uint64) result { return result{r: [4]uint32{uint32(v), uint32(v >> 32)}} }

// ieee is a binary floating-point format: bits of the fraction, exponent of
// the smallest normal number and of the largest.
type ieee struct{ frac, least, most int }

var (
	b16 = ieee{10, -14, 15}
	bbf = ieee{7, -126, 127}
	b32 = ieee{23, -126, 127}
	b64 = ieee{52, -1022, 1023}
)

// Rounding modes of the reference.
const (
	nearest = iota
	zero
	down
	up
)

// round rounds an exact number to a format and returns its bits; sign says which
// zero a zero is.
func (f ieee) round(x *big.Float, mode int, negative bool) uint64 {
	expBits := 0
	for 1<<expBits < f.most+2 {
		expBits++
	}
	signBit := uint64(1) << (f.frac + expBits)
	sign := uint64(0)
	if x.Sign() < 0 || x.Sign() == 0 && negative {
		sign = signBit
	}
	inf := uint64(1<<expBits-1) << f.frac
	if x.Sign() == 0 {
		return sign
	}
	if x.IsInf() {
		return sign | inf
	}
	a := new(big.Float).Abs(x)
	e := max(a.MantExp(nil)-1, f.least)
	// In units of the last place.
	a.SetMantExp(a, f.frac-e)
	n, _ := a.Int(nil)
	rest := new(big.Float).SetPrec(4000).Sub(a, new(big.Float).SetPrec(4000).SetInt(n))
	half := rest.Cmp(big.NewFloat(0.5))
	more := false
	switch mode {
	case nearest:
		more = half > 0 || half == 0 && n.Bit(0) == 1
	case down:
		more = sign != 0 && rest.Sign() > 0
	case up:
		more = sign == 0 && rest.Sign() > 0
	}
	if more {
		n.Add(n, big.NewInt(1))
	}
	v := n.Uint64()
	if v>>(f.frac+1) != 0 {
		v >>= 1
		e++
	}
	if e > f.most {
		if mode == zero || mode == down && sign == 0 || mode == up && sign != 0 {
			return sign | inf - 1
		}
		return sign | inf
	}
	if v>>f.frac == 0 {
		return sign | v
	}
	return sign | uint64(e-f.least+1)<<f.frac | v&(1<<f.frac-1)
}

func exact(x float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(x) }

// fma is a·b + c rounded once, by exact arithmetic; nan is the bits of no
// number.
func (f ieee) fma(a, b, c float64, mode int, nan uint64) uint64 {
	if math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsInf(c, 0) || math.IsNaN(a) || math.IsNaN(b) || math.IsNaN(c) {
		s := c
		if math.IsInf(a, 0) || math.IsInf(b, 0) {
			s = a*b + c
		}
		if math.IsNaN(s) || math.IsNaN(a) || math.IsNaN(b) || math.IsNaN(c) {
			return nan
		}
		return f.round(new(big.Float).SetInf(s < 0), mode, false)
	}
	x := exact(a)
	x.Mul(x, exact(b))
	negProduct := math.Signbit(a) != math.Signbit(b)
	zeroProduct := x.Sign() == 0
	x.Add(x, exact(c))
	negative := mode == down // of x + -x
	if zeroProduct && c == 0 && negProduct == math.Signbit(c) {
		negative = negProduct
	}
	return f.round(x, mode, negative)
}

// add is fma for sums: 1·a + b.
func (f ieee) add(a, b float64, mode int, nan uint64) uint64 { return f.fma(1, a, b, mode, nan) }

// mul is a·b.
func (f ieee) mul(a, b float64, mode int, nan uint64) uint64 {
	p := a * b
	switch {
	case math.IsNaN(a) || math.IsNaN(b) || math.IsNaN(p) && (math.IsInf(a, 0) || math.IsInf(b, 0)):
		return nan
	case math.IsInf(a, 0) || math.IsInf(b, 0):
		return f.round(new(big.Float).SetInf(p < 0), mode, false)
	}
	x := exact(a)
	return f.round(x.Mul(x, exact(b)), mode, math.Signbit(a) != math.Signbit(b))
}

// halfValue is the value of a binary16.
func halfValue(h uint16) float64 {
	e, m := int(h>>10&31), float64(h&0x3ff)
	v := 0.0
	switch e {
	case 0:
		v = math.Ldexp(m, -24)
	case 31:
		v = math.Inf(1)
		if m != 0 {
			return math.NaN()
		}
	default:
		v = math.Ldexp(1024+m, e-25)
	}
	if h>>15 != 0 {
		v = -v
	}
	return v
}

// brainValue is the value of a bfloat16.
func brainValue(h uint16) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }

func flushed(v float32) float32 {
	if b := math.Float32bits(v); b&0x7f800000 == 0 {
		return math.Float32frombits(b & 0x80000000)
	}
	return v
}

func flushedBits(b uint32) uint32 { return math.Float32bits(flushed(math.Float32frombits(b))) }

func clamped(b uint32) uint32 {
	v := math.Float32frombits(b)
	switch {
	case !(v > 0):
		return 0
	case v > 1:
		return 0x3f800000
	}
	return b
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func pick(c bool, a, b uint32) uint32 {
	if c {
		return a
	}
	return b
}
