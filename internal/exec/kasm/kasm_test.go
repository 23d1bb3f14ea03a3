package kasm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	xkasm "github.com/heddle-sim/heddle/internal/exec/kasm"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

func splat(x uint32) *xkasm.Vector {
	v := new(xkasm.Vector)
	for l := range v {
		v[l] = x
	}
	return v
}

func TestInteger(t *testing.T) {
	const top = 1 << 31
	for _, c := range []struct {
		op      kasm.Op
		imm     int32
		a, b, c uint32
		want    uint32
	}{
		{kasm.NOP, 7, 1, 2, 3, 0},
		{kasm.Op(0xab), 7, 1, 2, 3, 0},
		{kasm.ADD, -1, 5, 7, 0, 11},
		{kasm.SUB, 2, 5, 7, 0, 0xfffffffc},
		{kasm.MUL, 1, 3, 4, 0, 15},
		{kasm.IMAD, 100, 3, 4, 5, 17},
		{kasm.NEG, 0, 5, 0, 0, 0xfffffffb},
		{kasm.MOV, 6, 9, 0, 0, 15},
		{kasm.IDIV, 0, 0xfffffff9, 2, 0, 0xfffffffd}, // -7/2
		{kasm.IREM, 0, 0xfffffff9, 2, 0, 0xffffffff},
		{kasm.IDIV, 3, 9, 0xfffffffd, 0, 0}, // by zero
		{kasm.IDIV, 0, top, 0xffffffff, 0, 0},
		{kasm.IABS, 0, 0xfffffffb, 0, 0, 5},
		{kasm.IABS, 0, top, 0, 0, top},
		{kasm.IMIN, 0, 0xffffffff, 1, 0, 0xffffffff},
		{kasm.IMAX, 5, 0xffffffff, 1, 0, 6},
		{kasm.SLT, 0, 0xffffffff, 1, 0, 0}, // unsigned
		{kasm.SLT, 1, 1, 1, 0, 1},
		{kasm.SLE, 0, 0xffffffff, 1, 0, 1}, // signed
		{kasm.SEQ, 1, 3, 2, 0, 1},
		{kasm.AND, 8, 12, 5, 0, 12},
		{kasm.OR, 1, 4, 2, 0, 7},
		{kasm.XOR, 1, 7, 2, 0, 4},
		{kasm.NOT, 0, 0xffff0000, 0, 0, 0xffff},
		{kasm.SHL, 0, 1, 31, 0, top},
		{kasm.SHL, 0, 1, 32, 0, 0},
		{kasm.SHR, -1, top, 32, 0, 1},
		{kasm.SHR, 0, top, 0xffffffff, 0, 0},
		{kasm.SHA, 0, top, 4, 0, 0xf8000000},
		{kasm.SHA, 0, top, 99, 0, 0xffffffff},
		{kasm.POPC, 0, 0xf0f0, 0, 0, 8},
		{kasm.CLZ, 0, 0, 0, 0, 32},
		{kasm.CLZ, 0, 1, 0, 0, 31},
		{kasm.BREV, 0, 1, 0, 0, top},
		{kasm.CNOT, 0, 0, 0, 0, 1},
		{kasm.CNOT, 0, 2, 0, 0, 0},
		{kasm.ISETP, 2, 0xffffffff, 1, 0, 1},
		{kasm.ISETP, 6, 1, 1, 0, 0},
		{kasm.FSETP, 0, top, 0, 0, 1},                 // -0 == 0
		{kasm.FSETP, 2, top, 0, 0, 1},                 // and -0 < 0
		{kasm.FSETP, 5, top, 0, 0, 1},                 // and -0 >= 0
		{kasm.FSETP, 4, 0x7fc00000, 0x3f800000, 0, 1}, // a NaN is a large number
		{kasm.FSETP, 2, 0xc0000000, 0xbf800000, 0, 1}, // -2 < -1
		{kasm.FMIN, 0, 0xc0000000, 0x3f800000, 0, 0xc0000000},
		{kasm.FMAX, 0, 0xc0000000, 0x3f800000, 0, 0x3f800000},
		{kasm.FABS, 0, 0xc0000000, 0, 0, 0x40000000},
		{kasm.FNEG, 0, 0xc0000000, 0, 0, 0x40000000},
		{kasm.ITOF, 0, 0xffffffff, 0, 0, 0xbf800000},
		{kasm.ITOF, 0, top, 0, 0, 0xcf000000},
		{kasm.ITOF, 0, 0x01ffffff, 0, 0, 0x4bffffff}, // truncated
	} {
		out := new(xkasm.Vector)
		xkasm.Integer(c.op, c.imm, 0, splat(c.a), splat(c.b), splat(c.c), out)
		if out[0] != c.want || out[31] != c.want {
			t.Errorf("%v of %#x, %#x, %#x, immediate %d: %#x, want %#x", c.op, c.a, c.b, c.c, c.imm, out[0], c.want)
		}
	}
	out := new(xkasm.Vector)
	xkasm.Integer(kasm.TID, 0, 0, splat(9), splat(9), splat(9), out)
	if out[0] != 0 || out[31] != 31 {
		t.Errorf("TID: %v", out)
	}
	xkasm.Integer(kasm.SELP, 0, 1<<5, splat(1), splat(2), splat(3), out)
	if out[5] != 1 || out[6] != 2 {
		t.Errorf("SELP: %v", out)
	}
}

// The RTL's arithmetic where it is not IEEE-754, worked out by hand from its
// description.
func TestFloat(t *testing.T) {
	f := math.Float32bits
	for _, c := range []struct {
		name    string
		op      kasm.Op
		a, b, c uint32
		want    uint32
	}{
		{"exact sum", kasm.FADD, f(1.5), f(2.25), 0, f(3.75)},
		{"exact difference", kasm.FSUB, f(1.5), f(2.25), 0, f(-0.75)},
		{"exact product", kasm.FMUL, f(1.5), f(2.5), 0, f(3.75)},
		{"exact fma", kasm.FFMA, f(1.5), f(2), f(4), f(7)},
		{"x-x is 2^(e-24)", kasm.FSUB, f(1), f(1), 0, (127 - 24) << 23},
		{"infinity first", kasm.FADD, 0x7f800000, f(1), 0, f(1)}, // its product with one is zero
		{"infinity second", kasm.FADD, f(1), 0x7f800000, 0, 0},
		{"NaN", kasm.FMUL, 0x7fc00000, f(1), 0, 0},
		{"negative product without mantissa", kasm.FMUL, f(-2), f(2), 0, f(-4)},
		{"negative product with one", kasm.FMUL, f(-1.25), f(1), 0, 0xbfe00000}, // mantissa 2^23 - 0.25·2^23
		{"lost in alignment", kasm.FADD, f(1 << 24), f(0.5), 0, f(1 << 24)},
		{"five", kasm.FDIV, f(10), f(2), 0, 0x409fffff},
		{"zero times", kasm.FMUL, 0, f(-3), 0, 1 << 31}, // -0 + 0: nothing subtracted, the sign stays
		{"FTOI 1", kasm.FTOI, f(1), 0, 0, f(1)},
		{"FTOI 6.75", kasm.FTOI, f(6.75), 0, 0, 0x40a00000},
		{"SIN 0", kasm.SIN, 0, 0, 0, 0},
		{"SIN of a quarter", kasm.SIN, 0x4000, 0, 0, 0x7ffe},
		{"SIN of three quarters", kasm.SIN, 0xc000, 0, 0, 0xffff8000},
		{"only 16 bits count", kasm.SIN, 0xabcd4000, 0, 0, 0x7ffe},
		{"COS 0", kasm.COS, 0, 0, 0, 0x7ffe},
		{"TANH's middle", kasm.TANH, 0x8000, 0, 0, 0},
		{"RCP of one", kasm.RCP, 0, 0, 0, 0x7ffe},
		{"LG2 of one", kasm.LG2, 0, 0, 0, 0},
		{"EX2 of the last", kasm.EX2, 0xffff, 0, 0, 0x7ffe}, // 255/256 of the distance from table 0x7fa6 to 0x7fff
		{"not of this unit", kasm.ADD, 1, 2, 3, 0},
	} {
		out := new(xkasm.Vector)
		xkasm.Float(c.op, splat(c.a), splat(c.b), splat(c.c), out)
		if out[0] != c.want || out[31] != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, out[0], c.want)
		}
	}
}

// IEEE operations agree with double precision rounded once, which is exact for
// sums, products and quotients of binary32 numbers.
func TestIEEE(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	same := func(op kasm.Op, got uint32, want float64) {
		w := float32(want)
		if g := math.Float32frombits(got); g != w && !(g != g && w != w) {
			t.Errorf("%v: %v, want %v", op, g, w)
		}
	}
	for range 20_000 {
		var a, b, out xkasm.Vector
		a[0], b[0] = r.Uint32(), r.Uint32()
		if r.IntN(2) == 0 {
			b[0] = a[0] ^ uint32(r.IntN(1<<24))
		}
		x, y := float64(math.Float32frombits(a[0])), float64(math.Float32frombits(b[0]))
		for op, want := range map[kasm.Op]float64{kasm.FADD: x + y, kasm.FSUB: x - y, kasm.FMUL: x * y, kasm.FDIV: x / y} {
			if !xkasm.IEEE(op, 0, &a, &b, &a, &out) {
				t.Fatalf("%v is not IEEE", op)
			}
			same(op, out[0], want)
		}
		for cc, want := range []bool{x == y, x != y, x < y, x <= y, x > y, x >= y, false, false} {
			xkasm.IEEE(kasm.FSETP, int32(cc), &a, &b, &a, &out)
			if (out[0] == 1) != want {
				t.Errorf("FSETP %d of %v and %v: %d", cc, x, y, out[0])
			}
		}
		xkasm.IEEE(kasm.ITOF, 0, &a, &b, &a, &out)
		same(kasm.ITOF, out[0], float64(int32(a[0])))
		xkasm.IEEE(kasm.FTOI, 0, &a, &b, &a, &out)
		want := int64(0)
		if x == x {
			want = int64(math.Trunc(min(max(x, math.MinInt32), math.MaxInt32)))
		}
		if int64(int32(out[0])) != want {
			t.Errorf("FTOI of %v: %d, want %d", x, int32(out[0]), want)
		}
	}
	var a, out xkasm.Vector
	if xkasm.IEEE(kasm.SIN, 0, &a, &a, &a, &out) || xkasm.IEEE(kasm.ADD, 0, &a, &a, &a, &out) {
		t.Error("SIN and ADD are not IEEE operations here")
	}
	// fused: (1+2^-23)² - (1+2^-22) is 2^-46
	v, w := splat(0x3f800001), splat(0xbf800002)
	if xkasm.IEEE(kasm.FFMA, 0, v, v, w, &out); out[0] != math.Float32bits(1.0/(1<<46)) {
		t.Errorf("FFMA: %#x", out[0])
	}
}
