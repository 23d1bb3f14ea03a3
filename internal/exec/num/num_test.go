package num

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

func TestSatReluFTZ(t *testing.T) {
	for _, c := range []struct{ in, sat, relu, ftz uint32 }{
		{0x00000000, 0, 0, 0},
		{0x80000000, 0, 0, 0x80000000},
		{0x3f000000, 0x3f000000, 0x3f000000, 0x3f000000},
		{0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000},
		{0x3f800001, 0x3f800000, 0x3f800001, 0x3f800001},
		{0xbf800000, 0, 0, 0xbf800000},
		{0x7f800000, 0x3f800000, 0x7f800000, 0x7f800000},
		{0xff800000, 0, 0, 0xff800000},
		{0x7fc00001, 0, 0x7fffffff, 0x7fc00001},
		{0xffc00001, 0, 0x7fffffff, 0xffc00001},
		{0x007fffff, 0x007fffff, 0x007fffff, 0},
		{0x807fffff, 0, 0, 0x80000000},
		{0x00800000, 0x00800000, 0x00800000, 0x00800000},
	} {
		if d := SatF32(c.in); d != c.sat {
			t.Errorf("SatF32(%#x) = %#x, want %#x", c.in, d, c.sat)
		}
		if d := ReluF32(c.in); d != c.relu {
			t.Errorf("ReluF32(%#x) = %#x, want %#x", c.in, d, c.relu)
		}
		if d := FTZF32(c.in); d != c.ftz {
			t.Errorf("FTZF32(%#x) = %#x, want %#x", c.in, d, c.ftz)
		}
		if d := b32(FTZ32(f32(c.in))); d != c.ftz {
			t.Errorf("FTZ32(%#x) = %#x, want %#x", c.in, d, c.ftz)
		}
	}
	// The 16-bit forms, exhaustively, and the f64 ones, against plain values.
	clamp := func(v float64) float64 {
		if v != v || v <= 0 {
			return 0
		}
		return min(v, 1)
	}
	for i := range 1 << 16 {
		a := uint16(i)
		for _, f := range []struct {
			name           string
			value          float64
			sat, relu, ftz uint16
			back           func(uint16) uint32
			minNormal      float64
		}{
			{"f16", float64(f32(F16ToF32(a))), SatF16(a), ReluF16(a), FTZF16(a), F16ToF32, 0x1p-14},
			{"bf16", float64(f32(BF16ToF32(a))), SatBF16(a), ReluBF16(a), FTZBF16(a), BF16ToF32, 0x1p-126},
		} {
			if got := float64(f32(f.back(f.sat))); got != clamp(f.value) || f.sat>>15 != 0 {
				t.Fatalf("%s: sat %#x = %#x", f.name, a, f.sat)
			}
			want := max(f.value, 0)
			if got := float64(f32(f.back(f.relu))); f.value != f.value && f.relu != 0x7fff || f.value == f.value && (got != want || f.relu>>15 != 0) {
				t.Fatalf("%s: relu %#x = %#x", f.name, a, f.relu)
			}
			flushed := a
			if math.Abs(f.value) < f.minNormal {
				flushed &= 0x8000
			}
			if f.ftz != flushed {
				t.Fatalf("%s: ftz %#x = %#x", f.name, a, f.ftz)
			}
		}
	}
	for _, a := range refF64.corners() {
		if got, want := f64(SatF64(a)), clamp(f64(a)); got != want || math.Signbit(got) {
			t.Errorf("SatF64(%#x) = %v, want %v", a, got, want)
		}
		want := a
		if math.Abs(f64(a)) < 0x1p-1022 {
			want &= 1 << 63
		}
		if got := FTZF64(a); got != want {
			t.Errorf("FTZF64(%#x) = %#x, want %#x", a, got, want)
		}
	}
}

func TestSigns(t *testing.T) {
	if d := CopysignF32(0x0bda2a2c, 0xe31a8fd7); d != 0x631a8fd7 {
		t.Errorf("CopysignF32 = %#x", d)
	}
	for _, a := range refF64.corners() {
		for _, b := range refF64.corners() {
			want := b64(math.Copysign(f64(b), f64(a)))
			if got := CopysignF64(a, b); got != want {
				t.Errorf("CopysignF64(%#x, %#x) = %#x, want %#x", a, b, got, want)
			}
		}
		if NegF64(a) != a^1<<63 || AbsF64(a) != a&(1<<63-1) {
			t.Errorf("sign of %#x", a)
		}
	}
	for _, a := range refF32.corners() {
		x := uint32(a)
		if NegF32(x) != x^0x80000000 || AbsF32(x) != x&0x7fffffff {
			t.Errorf("sign of %#x", x)
		}
		h := uint16(a >> 16)
		if NegF16(h) != h^0x8000 || AbsF16(h) != h&0x7fff || NegBF16(h) != h^0x8000 || AbsBF16(h) != h&0x7fff {
			t.Errorf("sign of %#x", h)
		}
	}
}

func TestTestp(t *testing.T) {
	// finite infinite number notanumber normal subnormal
	for _, c := range []struct {
		f32  uint32
		f64  uint64
		want string
	}{
		{0x00000000, 0, "101010"},
		{0x80000000, 1 << 63, "101010"},
		{0x00000001, 1, "101001"},
		{0x807fffff, 0x800fffffffffffff, "101001"},
		{0x00800000, 0x0010000000000000, "101010"},
		{0x7f7fffff, 0x7fefffffffffffff, "101010"},
		{0x7f800000, 0x7ff0000000000000, "011000"},
		{0xff800000, 0xfff0000000000000, "011000"},
		{0x7f800001, 0x7ff0000000000001, "000100"},
		{0xffffffff, 0xffffffffffffffff, "000100"},
	} {
		for p := TestpFinite; p <= TestpSubnormal; p++ {
			want := c.want[p] == '1'
			if TestpF32(p, c.f32) != want || TestpF64(p, c.f64) != want {
				t.Errorf("testp %d of %#x, %#x is not %v", p, c.f32, c.f64, want)
			}
		}
	}
}

func TestCmp(t *testing.T) {
	for _, c := range []struct {
		op                            Cmp
		less, equal, greater, unorder bool
	}{
		{EQ, false, true, false, false}, {NE, true, false, true, false},
		{LT, true, false, false, false}, {LE, true, true, false, false},
		{GT, false, false, true, false}, {GE, false, true, true, false},
		{EQU, false, true, false, true}, {NEU, true, false, true, true},
		{LTU, true, false, false, true}, {LEU, true, true, false, true},
		{GTU, false, false, true, true}, {GEU, false, true, true, true},
		{NUM, true, true, true, false}, {NAN, false, false, false, true},
	} {
		want := func(a, b float64) bool {
			switch {
			case math.IsNaN(a) || math.IsNaN(b):
				return c.unorder
			case a < b:
				return c.less
			case a > b:
				return c.greater
			}
			return c.equal
		}
		for _, a := range refF32.corners() {
			for _, b := range refF32.corners() {
				x, y := uint32(a), uint32(b)
				if got, w := CmpF32(c.op, x, y), want(float64(f32(x)), float64(f32(y))); got != w {
					t.Errorf("cmp %d f32 %#x %#x = %v", c.op, x, y, got)
				}
				h, k := uint16(a>>16), uint16(b>>16)
				if got, w := CmpBF16(c.op, h, k), want(float64(f32(uint32(h)<<16)), float64(f32(uint32(k)<<16))); got != w {
					t.Errorf("cmp %d bf16 %#x %#x = %v", c.op, h, k, got)
				}
			}
		}
		for _, a := range refF64.corners() {
			for _, b := range refF64.corners() {
				if got, w := CmpF64(c.op, a, b), want(f64(a), f64(b)); got != w {
					t.Errorf("cmp %d f64 %#x %#x = %v", c.op, a, b, got)
				}
			}
		}
		for _, a := range refF16.corners() {
			for _, b := range refF16.corners() {
				if got, w := CmpF16(c.op, uint16(a), uint16(b)), want(halfValue(a), halfValue(b)); got != w {
					t.Errorf("cmp %d f16 %#x %#x = %v", c.op, a, b, got)
				}
			}
		}
		for _, a := range []int64{0, 1, -1, math.MinInt64, math.MaxInt64} {
			for _, b := range []int64{0, 1, -1, math.MinInt64, math.MaxInt64} {
				if got, w := CmpS(c.op, a, b), a < b && c.less || a == b && c.equal || a > b && c.greater; got != w {
					t.Errorf("cmp %d s %d %d = %v", c.op, a, b, got)
				}
				u, v := uint64(a), uint64(b)
				if got, w := CmpU(c.op, u, v), u < v && c.less || u == v && c.equal || u > v && c.greater; got != w {
					t.Errorf("cmp %d u %d %d = %v", c.op, u, v, got)
				}
			}
		}
	}
}

func halfValue(a uint64) float64 {
	switch {
	case refF16.isNaN(a):
		return math.NaN()
	case refF16.isInf(a):
		return math.Inf(1 - int(a>>15)*2)
	}
	v, _ := refF16.value(a).Float64()
	if a>>15 != 0 {
		return math.Copysign(v, -1)
	}
	return v
}

// refMinMax follows the manual: magnitudes first, then NaN, then order with
// -0 below +0, then the sign.
func refMinMax(f binary, a, b uint64, m MinMax, greatest bool, nan uint64) uint64 {
	sign := f.sign()
	xor := (a ^ b) & sign
	if m&(XorSign|Magnitude) != 0 {
		a, b = a&^sign, b&^sign
	}
	an, bn := f.isNaN(a), f.isNaN(b)
	var d uint64
	switch {
	case an && bn, m&PropagateNaN != 0 && (an || bn):
		return nan
	case an:
		d = b
	case bn:
		d = a
	default:
		less := func(a, b uint64) bool {
			an, bn := a&sign != 0, b&sign != 0
			if an != bn {
				return an
			}
			if an {
				return a > b
			}
			return a < b
		}
		d = a
		if less(b, a) != greatest && a != b {
			d = b
		}
	}
	if m&XorSign != 0 {
		d |= xor
	}
	return d
}

func TestMinMax(t *testing.T) {
	all := []MinMax{0, PropagateNaN, XorSign, XorSign | PropagateNaN, Magnitude, Magnitude | PropagateNaN}
	for _, m := range all {
		refF32.forOperands(rng("minmax"), 2, 5000, func(x []uint64) {
			a, b := uint32(x[0]), uint32(x[1])
			for greatest, fn := range map[bool]func(a, b uint32, m MinMax) uint32{false: MinF32, true: MaxF32} {
				if got, want := fn(a, b, m), uint32(refMinMax(refF32, x[0], x[1], m, greatest, 0x7fffffff)); got != want {
					t.Fatalf("max %v %d f32 %#x %#x = %#x, want %#x", greatest, m, a, b, got, want)
				}
			}
		})
		for _, f := range []struct {
			ref  binary
			name string
			fn   map[bool]func(a, b uint16, m MinMax) uint16
		}{
			{refF16, "f16", map[bool]func(a, b uint16, m MinMax) uint16{false: MinF16, true: MaxF16}},
			{refBF16, "bf16", map[bool]func(a, b uint16, m MinMax) uint16{false: MinBF16, true: MaxBF16}},
		} {
			f.ref.forOperands(rng(f.name), 2, 5000, func(x []uint64) {
				for greatest, fn := range f.fn {
					if got, want := fn(uint16(x[0]), uint16(x[1]), m), uint16(refMinMax(f.ref, x[0], x[1], m, greatest, 0x7fff)); got != want {
						t.Fatalf("max %v %d %s %#x = %#x, want %#x", greatest, m, f.name, x, got, want)
					}
				}
			})
		}
	}
	refF64.forOperands(rng("minmax"), 2, 5000, func(x []uint64) {
		nan := wantNaN64(x...)
		if got, want := MinF64(x[0], x[1]), refMinMax(refF64, x[0], x[1], 0, false, nan); got != want {
			t.Fatalf("min f64 %#x = %#x, want %#x", x, got, want)
		}
		if got, want := MaxF64(x[0], x[1]), refMinMax(refF64, x[0], x[1], 0, true, nan); got != want {
			t.Fatalf("max f64 %#x = %#x, want %#x", x, got, want)
		}
		if got, want := b64(Min64(f64(x[0]), f64(x[1]))), MinF64(x[0], x[1]); got != want {
			t.Fatalf("Min64 %#x = %#x, want %#x", x, got, want)
		}
		if got, want := b64(Max64(f64(x[0]), f64(x[1]))), MaxF64(x[0], x[1]); got != want {
			t.Fatalf("Max64 %#x = %#x, want %#x", x, got, want)
		}
	})
	refF32.forOperands(rng("minmax"), 2, 5000, func(x []uint64) {
		a, b := f32(uint32(x[0])), f32(uint32(x[1]))
		if got, want := b32(Min32(a, b)), uint32(refMinMax(refF32, x[0], x[1], 0, false, 0x7fffffff)); got != want {
			t.Fatalf("Min32 %#x = %#x, want %#x", x, got, want)
		}
		if got, want := b32(Max32(a, b)), uint32(refMinMax(refF32, x[0], x[1], 0, true, 0x7fffffff)); got != want {
			t.Fatalf("Max32 %#x = %#x, want %#x", x, got, want)
		}
	})
	const one, two, three, nan = 0x3f800000, 0x40000000, 0x40400000, 0x7fc00000
	for _, c := range []struct {
		a, b, c  uint32
		m        MinMax
		min, max uint32
	}{
		{two, one, three, 0, one, three},
		{three, two, one, 0, one, three},
		{nan, two, one, 0, one, two},
		{nan, nan, one, 0, one, one},
		{nan, nan, nan, 0, NaNF32, NaNF32},
		{one, two, nan, PropagateNaN, NaNF32, NaNF32},
		{nan, two, one, PropagateNaN, NaNF32, NaNF32},
		{one | sign32, two, three | sign32, Magnitude, one, three},
	} {
		if d := Min3F32(c.a, c.b, c.c, c.m); d != c.min {
			t.Errorf("min3 %#x %#x %#x %d = %#x, want %#x", c.a, c.b, c.c, c.m, d, c.min)
		}
		if d := Max3F32(c.a, c.b, c.c, c.m); d != c.max {
			t.Errorf("max3 %#x %#x %#x %d = %#x, want %#x", c.a, c.b, c.c, c.m, d, c.max)
		}
	}
}

// The overview in doc.go names every exported function, and no other.
func TestOverview(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var text string
	exported, constant := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if name == "doc.go" {
			text = file.Doc.Text()
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					exported[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok {
						for _, n := range v.Names {
							constant[n.Name] = true
						}
					}
				}
			}
		}
	}
	listed := map[string]bool{}
	for line := range strings.Lines(text[strings.Index(text, "# Functions"):]) {
		if !strings.HasPrefix(line, "\t") {
			continue
		}
		// Names stand before a parenthesis or a comma, outside parentheses.
		depth, word := 0, ""
		for _, c := range strings.TrimSpace(line) + "," {
			switch {
			case c == '(' || c == ',':
				if depth == 0 && word != "" && exported[word] {
					listed[word] = true
				} else if depth == 0 && ast.IsExported(word) && !constant[word] {
					t.Errorf("doc.go names %s, which does not exist", word)
				}
				if c == '(' {
					depth++
				}
				word = ""
			case c == ')':
				depth--
			case c == ' ':
				word = ""
			default:
				word += string(c)
			}
		}
	}
	for name := range exported {
		if !listed[name] {
			t.Errorf("doc.go does not name %s", name)
		}
	}
}
