package ptx_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"
)

// A second implementation of the atomic operations, on byte strings, that
// shares nothing with the executor's.

// halfFormat describes f16 and bf16 by all their finite values.
type halfFormat struct {
	man  int // mantissa bits
	bias int
	pos  []float64 // of the codes 0 … infinity-1, ascending
}

func newHalf(man, bias int) *halfFormat {
	h := &halfFormat{man: man, bias: bias}
	for code := 0; code < h.inf(); code++ {
		h.pos = append(h.pos, h.decode(uint16(code)))
	}
	return h
}

func (h *halfFormat) inf() int { return 0x7fff &^ (1<<h.man - 1) }

func (h *halfFormat) nan(c uint16) bool { return int(c&0x7fff) > h.inf() }

func (h *halfFormat) decode(c uint16) float64 {
	e, m := int(c&0x7fff)>>h.man, int(c)&(1<<h.man-1)
	v := math.Ldexp(float64(m), 1-h.bias-h.man)
	if e > 0 {
		v = math.Ldexp(float64(m|1<<h.man), e-h.bias-h.man)
	}
	if int(c&0x7fff) == h.inf() {
		v = math.Inf(1)
	}
	if c&0x8000 != 0 {
		v = -v
	}
	return v
}

// add rounds the exact sum to the nearest value, ties to even codes.
func (h *halfFormat) add(a, b uint16) uint16 {
	x, y := h.decode(a), h.decode(b)
	switch {
	case h.nan(a) || h.nan(b) || math.IsInf(x, 0) && x == -y:
		return 0x7fff
	case math.IsInf(x, 0):
		return a
	case math.IsInf(y, 0):
		return b
	case x == 0 && y == 0:
		return a & b // -0 only if both are
	}
	sum := new(big.Float).SetPrec(600).SetFloat64(x)
	sum.Add(sum, new(big.Float).SetFloat64(y))
	sign := uint16(0)
	if sum.Sign() < 0 {
		sign = 0x8000
		sum.Neg(sum)
	}
	if sum.Sign() == 0 {
		return 0
	}
	n := sort.Search(len(h.pos), func(i int) bool { return sum.Cmp(big.NewFloat(h.pos[i])) < 0 })
	lo := n - 1 // the largest not above the sum
	next := math.Ldexp(1, h.inf()>>h.man-h.bias)
	if n < len(h.pos) {
		next = h.pos[n]
	}
	mid := new(big.Float).SetPrec(600).SetFloat64(h.pos[lo])
	mid.Add(mid, big.NewFloat(next))
	mid.Quo(mid, big.NewFloat(2))
	if c := sum.Cmp(mid); c > 0 || c == 0 && lo%2 == 1 {
		lo++
	}
	return sign | uint16(lo)
}

// less orders numbers, -0 below +0.
func (h *halfFormat) less(a, b uint16) bool {
	x, y := h.decode(a), h.decode(b)
	if x == y {
		return a&0x8000 > b&0x8000
	}
	return x < y
}

func (h *halfFormat) pick(a, b uint16, wantMin bool) uint16 {
	switch {
	case h.nan(a) && h.nan(b):
		return 0x7fff
	case h.nan(a):
		return b
	case h.nan(b):
		return a
	case h.less(a, b) == wantMin:
		return a
	}
	return b
}

var refF16, refBF16 = newHalf(10, 15), newHalf(7, 127)

func flushF32(v float32) float32 {
	if a := math.Abs(float64(v)); a < 0x1p-126 {
		return float32(math.Copysign(0, float64(v)))
	}
	return v
}

// refAtomic returns the new value of one element.
func refAtomic(op, typ string, old, b, c []byte, flush bool) []byte {
	le := binary.LittleEndian
	out := make([]byte, len(old))
	switch op {
	case "exch":
		return append(out[:0], b...)
	case "cas":
		if string(old) == string(b) {
			return append(out[:0], c...)
		}
		return append(out[:0], old...)
	case "and", "or", "xor":
		for i := range out {
			out[i] = map[string]byte{"and": old[i] & b[i], "or": old[i] | b[i], "xor": old[i] ^ b[i]}[op]
		}
		return out
	case "inc", "dec":
		x, y := le.Uint32(old), le.Uint32(b)
		z := x + 1
		if op == "inc" && x >= y {
			z = 0
		} else if op == "dec" {
			if z = x - 1; x == 0 || x > y {
				z = y
			}
		}
		le.PutUint32(out, z)
		return out
	}
	half := func(h *halfFormat) {
		for i := 0; i < len(out); i += 2 {
			x, y := le.Uint16(old[i:]), le.Uint16(b[i:])
			z := uint16(0)
			switch op {
			case "add":
				z = h.add(x, y)
			case "min":
				z = h.pick(x, y, true)
			case "max":
				z = h.pick(x, y, false)
			}
			le.PutUint16(out[i:], z)
		}
	}
	switch typ {
	case "f16", "f16x2":
		half(refF16)
	case "bf16", "bf16x2":
		half(refBF16)
	case "f32":
		x, y := math.Float32frombits(le.Uint32(old)), math.Float32frombits(le.Uint32(b))
		if flush {
			x, y = flushF32(x), flushF32(y)
		}
		z := x + y
		if flush {
			z = flushF32(z)
		}
		if z != z {
			le.PutUint32(out, 0x7fffffff)
		} else {
			le.PutUint32(out, math.Float32bits(z))
		}
	case "f64":
		z := math.Float64frombits(le.Uint64(old)) + math.Float64frombits(le.Uint64(b))
		le.PutUint64(out, math.Float64bits(z))
	default: // integers, by big numbers
		num := func(p []byte) *big.Int {
			v := new(big.Int)
			for i := len(p) - 1; i >= 0; i-- {
				v.Or(v.Lsh(v, 8), big.NewInt(int64(p[i])))
			}
			if typ[0] == 's' && p[len(p)-1]&0x80 != 0 {
				v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(p))))
			}
			return v
		}
		x, y := num(old), num(b)
		z := x
		switch {
		case op == "add":
			z = new(big.Int).Add(x, y)
		case op == "min" && y.Cmp(x) < 0, op == "max" && y.Cmp(x) > 0:
			z = y
		}
		z = new(big.Int).And(z, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*len(old))), big.NewInt(1)))
		for i, v := range z.FillBytes(make([]byte, len(old))) {
			out[len(old)-1-i] = v
		}
	}
	return out
}

// atomCase is one form of atom or red.
type atomCase struct {
	inst  string // atom, red
	op    string
	typ   string
	vec   int
	space string // as in the instruction; "" is generic, on memory named by in
	in    string // global or shared
	quals string // sem and scope
	hint  bool
	guard bool
}

var typeBytes = map[string]int{"b16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16}

const atomCells = 5 // cells that 32 lanes share

func (c atomCase) name() string {
	s := c.inst + c.quals
	if c.space != "" {
		s += "." + c.space
	}
	s += "." + c.op
	switch c.typ {
	case "f16", "f16x2", "bf16", "bf16x2":
		s += ".noftz"
	}
	if c.hint {
		s += ".L2::cache_hint"
	}
	if c.vec > 1 {
		s += fmt.Sprintf(".v%d", c.vec)
	}
	return s + "." + c.typ
}

// body writes the program: cells are filled from in0, every lane does the
// operation on cell t mod 5 with operands from in1 and in2, old values go to
// the output, then the cells.
func (c atomCase) body() (decls, body string) {
	size := typeBytes[c.typ]
	total := size * max(1, c.vec)
	n := max(1, c.vec)
	bt := fmt.Sprintf("b%d", 8*size)
	var b strings.Builder
	decls = fmt.Sprintf(".reg .%s %%b<8>, %%c<8>, %%d<8>;\n.reg .b32 %%r<8>;\n.reg .b64 %%a<12>;\n.reg .pred %%p<4>;\n.shared .align 16 .b8 sm[%d];\n", bt, atomCells*total)
	list := func(r string) string {
		var l []string
		for e := range n {
			l = append(l, fmt.Sprintf("%%%s%d", r, e))
		}
		if c.vec > 1 {
			return "{" + strings.Join(l, ", ") + "}"
		}
		return l[0]
	}
	fmt.Fprintf(&b, "mul.wide.u32 %%a0, %%t, %d;\nadd.u64 %%a1, %%in1, %%a0;\nadd.u64 %%a2, %%in2, %%a0;\nadd.u64 %%a3, %%out, %%a0;\n", total)
	fmt.Fprintf(&b, "rem.u32 %%r0, %%t, %d;\nmul.wide.u32 %%a4, %%r0, %d;\n", atomCells, total)
	if c.in == "shared" {
		b.WriteString("mov.u64 %a5, sm;\n")
	} else {
		fmt.Fprintf(&b, "add.u64 %%a5, %%out, %d;\n", 32*total)
	}
	// Lanes below 5 fill the cells.
	fmt.Fprintf(&b, "setp.lt.u32 %%p0, %%t, %d;\nadd.u64 %%a6, %%in0, %%a0;\nadd.u64 %%a7, %%a5, %%a0;\n", atomCells)
	for e := range n {
		fmt.Fprintf(&b, "@%%p0 ld.global.%s %%d%d, [%%a6+%d];\n@%%p0 st.%s.%s [%%a7+%d], %%d%d;\n", bt, e, e*size, c.in, bt, e*size, e)
		fmt.Fprintf(&b, "ld.global.%s %%b%d, [%%a1+%d];\nld.global.%s %%c%d, [%%a2+%d];\n", bt, e, e*size, bt, e, e*size)
	}
	b.WriteString("bar.sync 0;\nadd.u64 %a8, %a5, %a4;\n")
	if c.space == "" && c.in == "shared" {
		b.WriteString("cvta.shared.u64 %a8, %a8;\n")
	}
	guard := ""
	if c.guard {
		b.WriteString("setp.ne.u32 %p1, %r0, 2;\n")
		guard = "@%p1 "
	}
	args := "[%a8], " + list("b")
	if c.inst == "atom" {
		args = list("d") + ", " + args
		for e := range n { // what a guarded lane leaves alone
			if size == 16 {
				fmt.Fprintf(&b, "mov.b128 %%d%d, {%%a0, %%a0};\n", e)
			} else {
				fmt.Fprintf(&b, "mov.%s %%d%d, 0;\n", bt, e)
			}
		}
	}
	if c.op == "cas" {
		args += ", " + list("c")
	}
	if c.hint {
		b.WriteString("createpolicy.fractional.L2::evict_last.b64 %a9, 0.5;\n")
		args += ", %a9"
	}
	fmt.Fprintf(&b, "%s%s %s;\n", guard, c.name(), args)
	if c.inst == "atom" {
		for e := range n {
			fmt.Fprintf(&b, "%sst.global.%s [%%a3+%d], %%d%d;\n", guard, bt, e*size, e)
		}
	}
	b.WriteString("bar.sync 0;\n")
	if c.in == "shared" {
		fmt.Fprintf(&b, "add.u64 %%a3, %%a3, %d;\n", 32*total)
		for e := range n {
			fmt.Fprintf(&b, "@%%p0 ld.shared.%s %%d%d, [%%a7+%d];\n@%%p0 st.global.%s [%%a3+%d], %%d%d;\n", bt, e, e*size, bt, e*size, e)
		}
	}
	return decls, b.String()
}

func (c atomCase) check(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	size, n := typeBytes[c.typ], max(1, c.vec)
	total := size * n
	cells := interesting(rnd, c.typ, atomCells*n)
	bs := interesting(rnd, c.typ, 32*n)
	cs := interesting(rnd, c.typ, 32*n)
	if c.op == "cas" { // let comparisons hold now and then
		for i := range 32 * n {
			if rnd.IntN(2) == 0 {
				src := cells[(i%atomCells)*size:]
				if i > atomCells && rnd.IntN(2) == 0 {
					src = cs[(i-atomCells)*size:]
				}
				n := size
				if size == 16 && rnd.IntN(3) == 0 {
					n = 8 // only the low half is equal
					binary.LittleEndian.PutUint64(bs[i*size+8:], rnd.Uint64())
				}
				copy(bs[i*size:i*size+n], src)
			}
		}
	}
	decls, body := c.body()
	got := runBody(t, bodyOpts{version: "9.0", target: "sm_100"}, decls, body, [][]byte{cells, bs, cs}, (32+atomCells)*total)
	want := make([]byte, (32+atomCells)*total)
	copy(want[32*total:], cells)
	for l := range 32 {
		cell := l % atomCells
		if c.guard && cell == 2 {
			continue
		}
		for e := range n {
			at := want[32*total+cell*total+e*size:][:size]
			if c.inst == "atom" {
				copy(want[l*total+e*size:], at)
			}
			k := l*total + e*size
			copy(at, refAtomic(c.op, c.typ, at, bs[k:k+size], cs[k:k+size], c.in == "global"))
		}
	}
	for i := 0; i < len(want); i += size {
		g, w := got[i:i+size], want[i:i+size]
		if string(g) != string(w) {
			if c.typ == "f64" {
				x, y := math.Float64frombits(binary.LittleEndian.Uint64(g)), math.Float64frombits(binary.LittleEndian.Uint64(w))
				if x != x && y != y {
					continue
				}
			}
			t.Fatalf("%s: element %d: got %x, want %x (bytes, low first)\n%s", c.name(), i/size, g, w, body)
		}
	}
}

// interesting gives n elements of a type: corners and random bits.
func interesting(rnd *rand.Rand, typ string, n int) []byte {
	corners := map[string][]uint64{
		"f32":  {0, 1 << 31, 1, 0x80000001, 0x007fffff, 0x00800000, 0x00800001, 0x80800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001},
		"f64":  {0, 1 << 63, 1, 0x000fffffffffffff, 0x0010000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000},
		"f16":  {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01},
		"bf16": {0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81},
		"":     {0, 1, 2, 3, 7, 31, 32, 0x7f, 0x7fff, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 1 << 32, 1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 1, 1<<64 - 2},
	}
	size := typeBytes[typ]
	elem := strings.TrimSuffix(typ, "x2")
	list := corners[elem]
	if list == nil {
		elem, list = "", corners[""]
	}
	step := size
	if elem != typ && elem != "" {
		step = size / 2
	}
	out := make([]byte, n*size)
	for i := 0; i < len(out); i += step {
		var v [8]byte
		x := rnd.Uint64()
		switch rnd.IntN(4) {
		case 0, 1:
			x = list[rnd.IntN(len(list))]
		case 2:
			if elem == "" {
				x = rnd.Uint64N(64)
			} else { // numbers of like size, whose sums are not trivial
				shift := map[string]int{"f32": 23, "f64": 52, "f16": 10, "bf16": 7}[elem]
				bias := map[string]uint64{"f32": 127, "f64": 1023, "f16": 15, "bf16": 127}[elem]
				x = (bias+rnd.Uint64N(8))<<shift | rnd.Uint64()&(1<<shift-1)
				if rnd.IntN(2) == 0 {
					x |= 1 << (8*min(step, 8) - 1)
				}
			}
		}
		binary.LittleEndian.PutUint64(v[:], x)
		copy(out[i:i+step], v[:])
		if step == 16 {
			copy(out[i+8:i+16], v[:])
		}
	}
	return out
}

// TestAtomics runs every operation and type in every space against the
// reference, with varying orders, scopes, cache hints and guards.
func TestAtomics(t *testing.T) {
	scalar := map[string]string{
		"and": "b32 b64", "or": "b32 b64", "xor": "b32 b64", "exch": "b32 b64 b128", "cas": "b16 b32 b64 b128",
		"add": "u32 s32 u64 s64 f32 f64 f16 f16x2 bf16 bf16x2", "inc": "u32", "dec": "u32",
		"min": "u32 s32 u64 s64", "max": "u32 s32 u64 s64",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	ran := 0
	for _, op := range []string{"and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max"} {
		for _, typ := range strings.Fields(scalar[op]) {
			for _, where := range [][2]string{{"global", "global"}, {"", "global"}, {"shared", "shared"}, {"shared::cta", "shared"}, {"shared::cluster", "shared"}, {"", "shared"}} {
				for _, inst := range []string{"atom", "red"} {
					if inst == "red" && (op == "exch" || op == "cas") {
						continue
					}
					c := atomCase{inst: inst, op: op, typ: typ, space: where[0], in: where[1]}
					sems := []string{"", ".relaxed", ".acquire", ".release", ".acq_rel"}
					if inst == "red" {
						sems = []string{"", ".relaxed", ".release"}
					}
					c.quals = sems[rnd.IntN(len(sems))] + []string{".cta", ".cluster", ".gpu", ".sys"}[rnd.IntN(4)]
					if rnd.IntN(4) == 0 {
						c.quals = ""
					}
					c.guard = rnd.IntN(3) == 0
					c.hint = where[0] == "global" && rnd.IntN(2) == 0 && (op != "cas" || typ == "b32" || typ == "b64")
					c.check(t, rnd)
					ran++
				}
			}
		}
	}
	for _, typ := range []string{"f32", "f16", "bf16", "f16x2", "bf16x2"} {
		for _, op := range []string{"add", "min", "max"} {
			for _, vec := range []int{2, 4, 8} {
				if typ == "f32" && (op != "add" || vec == 8) || typ[len(typ)-1] == '2' && vec == 8 && typ != "f32" {
					continue
				}
				for _, inst := range []string{"atom", "red"} {
					for _, space := range []string{"global", ""} {
						atomCase{inst: inst, op: op, typ: typ, vec: vec, space: space, in: "global", hint: space == "global" && vec == 2}.check(t, rnd)
						ran++
					}
				}
			}
		}
	}
	if ran < 330 {
		t.Errorf("only %d forms ran", ran)
	}
	t.Logf("%d forms", ran)
}

// TestAtomicOperands: registers that are both, literals, sinks.
func TestAtomicOperands(t *testing.T) {
	le := binary.LittleEndian
	in := make([]byte, 64)
	le.PutUint32(in[0:], math.Float32bits(1))
	le.PutUint32(in[4:], math.Float32bits(10))
	got := runBody(t, bodyOpts{block: 1}, ".reg .f32 %f<4>; .reg .b32 %r<4>; .reg .pred %p; .shared .b32 s[2];", `
		mov.f32 %f0, 0f40000000;
		mov.f32 %f1, 0f40400000;
		atom.global.add.v2.f32 {%f1, %f0}, [%in0], {%f0, %f1};
		st.global.f32 [%out], %f0;
		st.global.f32 [%out+4], %f1;
		atom.global.add.f32 _, [%in0], 0f3F800000;
		ld.global.f32 %f2, [%in0];
		st.global.f32 [%out+8], %f2;
		ld.global.f32 %f2, [%in0+4];
		st.global.f32 [%out+12], %f2;
		mov.u32 %r0, 5;
		atom.global.exch.b32 %r0, [%in0+8], %r0;
		atom.global.cas.b32 %r1, [%in0+8], 5, -1;
		atom.global.add.u32 %r2, [%in0+8], 3;
		st.global.u32 [%out+16], %r0;
		st.global.u32 [%out+20], %r1;
		st.global.u32 [%out+24], %r2;
		atom.global.add.s32 %r3, [%in0+8], -2;
		st.global.u32 [%out+28], %r3;
		mov.u32 %r0, s;
		st.shared.u32 [s+4], 40;
		atom.shared.add.u32 %r1, [%r0+4], 2;
		atom.shared.max.u32 %r2, [s+4], 99;
		red.shared.inc.u32 [%r0+4], 1;
		ld.shared.u32 %r3, [s+4];
		st.global.v4.u32 [%out+32], {%r0, %r1, %r2, %r3};`, [][]byte{in}, 48)
	for i, w := range []uint32{math.Float32bits(10), math.Float32bits(1), math.Float32bits(4), math.Float32bits(13), 0, 5, 0xffffffff, 2, 0, 40, 42, 0} {
		if g := le.Uint32(got[4*i:]); g != w {
			t.Errorf("word %d is %#x, want %#x", i, g, w)
		}
	}
}

// TestNoAllocationsInMemory: a loop with a thousand times as many rounds allocates no more,
// for atomics, barriers in memory, copies, shuffles and calls.
func TestNoAllocationsInMemory(t *testing.T) {
	module := ".func (.reg .u32 %r) f(.reg .u32 %x) { add.u32 %r, %x, 1; ret; }"
	for name, body := range map[string]string{
		"atomics": `atom.global.add.u32 %r1, [%out], 1;
atom.global.max.u64 %a0, [%out+8], %a1;
red.global.add.f32 [%out+16], 0f3F800000;
atom.shared.cas.b32 %r2, [s], %r2, 7;
red.global.add.v2.f32 [%out+24], {0f3F800000, 0f3F800000};`,
		"copies": `mul.wide.u32 %a0, %t, 4;
mov.u64 %a1, s;
add.u64 %a1, %a1, %a0;
add.u64 %a2, %out, %a0;
cp.async.ca.shared.global [%a1], [%a2], 4;
cp.async.wait_all;
cp.async.bulk.global.shared::cta.bulk_group [%out], [s], 16;`,
		"barrier": `bar.sync 0;
bar.red.popc.u32 %r1, 0, %p0;
mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1;
@%p0 bar.warp.sync 0xff;`,
		"lanes": `shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;
vote.sync.any.pred %p1, %p0, -1;
match.any.sync.b32 %r2, %r1, -1;
vote.sync.ballot.b32 %r3, %p0, %r4;`,
		"calls": `@%p0 call (%r1), f, (%r1);
call (%r1), f, (%r1);`,
		"memory": `ld.volatile.global.v4.u32 {%r1, %r2, %r3, %r5}, [%out];
st.global.v4.u32 [%out], {%r1, %r2, %r3, %r5};
st.local.u32 [l], %r1;
ld.u32 %r2, [generic(l)];`,
	} {
		count := func(rounds int) float64 {
			return testing.AllocsPerRun(2, func() {
				runBody(t, bodyOpts{module: module, maxInsts: 1 << 22}, regs+".reg .b32 %n; .reg .pred %q; .shared .align 16 .b32 s[64]; .shared .align 8 .b64 bar; .local .b32 l;", fmt.Sprintf(`
				setp.lt.u32 %%p0, %%t, 8;
				and.b32 %%r4, %%t, 16;
				shl.b32 %%r4, 0xffff, %%r4;
				setp.eq.u32 %%q, %%t, 0;
				@%%q mbarrier.init.shared.b64 [bar], 1;
				mov.u32 %%n, %d;
			ROUND:
				%s
				sub.u32 %%n, %%n, 1;
				setp.ne.u32 %%q, %%n, 0;
				@%%q bra ROUND;`, rounds, body), nil, 128)
			})
		}
		if few, many := count(5), count(5000); many > few+20 {
			t.Errorf("%s: 5 rounds allocate %.0f times, 5000 rounds %.0f times", name, few, many)
		}
	}
}

// TestAtomicFaults: what an atomic operation rejects.
func TestAtomicFaults(t *testing.T) {
	for _, c := range []struct{ name, decls, body, want string }{
		{"misaligned", "", "add.u64 %out, %out, 2;\natom.global.add.u32 %r0, [%out], 1;", "misaligned atomic operation of 4 bytes"},
		{"misaligned vector", "", "add.u64 %out, %out, 4;\nred.global.add.v2.f32 [%out], {0f3F800000, 0f3F800000};", "misaligned atomic operation of 8 bytes"},
		{"misaligned 128", ".reg .b128 %q<3>;", "add.u64 %out, %out, 8;\natom.global.exch.b128 %q0, [%out], %q1;", "misaligned atomic operation of 16 bytes"},
		{"misaligned shared", ".shared .b8 s[16];", "mov.u64 %out, s;\natom.shared.add.u32 %r0, [%out+1], 1;", "misaligned atomic operation of 4 bytes"},
		{"out of bounds", "", "red.global.add.u32 [%out+64], 1;", "out-of-bounds write of 4 bytes"},
		{"out of bounds 64", "", "atom.global.min.u64 %a0, [%out+64], 1;", "out-of-bounds write of 8 bytes"},
		{"null", "", "mov.u64 %a0, 0;\natom.add.u32 %r0, [%a0], 1;", "write of 4 bytes at 0x0"},
		{"shared bounds", ".shared .b8 s[16];", "mov.u64 %out, s;\natom.shared.add.u32 %r0, [%out+16], 1;", "out-of-bounds write of 4 bytes at shared address 0x10"},
		{"shared bounds 64", ".shared .b8 s[16];", "mov.u64 %out, s;\nred.shared.add.u64 [%out+16], 1;", "out-of-bounds write of 8 bytes at shared address 0x10"},
		{"local", ".local .b8 l[16];", "mov.u64 %a0, l;\ncvta.local.u64 %a0, %a0;\natom.add.u32 %r0, [%a0], 1;", "neither global nor shared"},
		{"constant", "", "mov.u64 %a0, konst;\natom.global.add.u32 %r0, [%a0], 1;", "read-only"},
	} {
		_, err := tryBody(t, bodyOpts{module: ".const .u32 konst = 7;"}, ".reg .b32 %r<2>; .reg .b64 %a<2>;"+c.decls, c.body, nil, 64)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// TestAtomicsBetweenBlocks: every thread of many blocks adds to one counter;
// tickets are unique, and more workers change nothing.
func TestAtomicsBetweenBlocks(t *testing.T) {
	const grid, block = 40, 96
	var first []byte
	for _, threads := range []int{1, 4} {
		got := runBody(t, bodyOpts{grid: grid, block: block, threads: threads}, ".reg .b32 %r<4>; .reg .b64 %a<4>; .reg .f32 %f<3>; .reg .pred %p0;", `
			mov.u32 %r0, %ctaid.x;
			mov.u32 %r1, %ntid.x;
			mad.lo.u32 %r2, %r0, %r1, %t;
			atom.global.inc.u32 %r3, [%out], 0xffffffff;
			mul.wide.u32 %a0, %r3, 4;
			add.u64 %a1, %out, %a0;
			st.global.u32 [%a1+8], %r2;
			cvt.rn.f32.u32 %f0, %r2;
			rcp.rn.f32 %f1, %f0;
			setp.eq.u32 %p0, %r2, 0;
			@!%p0 red.global.add.f32 [%out+4], %f1;`, nil, 8+4*grid*block)
		if n := binary.LittleEndian.Uint32(got); n != grid*block {
			t.Errorf("counter is %d, want %d", n, grid*block)
		}
		seen := map[uint32]bool{}
		for i := range grid * block {
			seen[binary.LittleEndian.Uint32(got[8+4*i:])] = true
		}
		if len(seen) != grid*block {
			t.Errorf("%d different threads took tickets, want %d", len(seen), grid*block)
		}
		if first == nil {
			first = got
		} else if string(first) != string(got) {
			t.Errorf("%d workers give another result than one", threads)
		}
	}
}

// BenchmarkAtomics measures lanes per second of atomics executed by every lane of a warp, to
// separate words and to one word.
func BenchmarkAtomics(b *testing.B) {
	for _, c := range []struct{ name, inst string }{
		{"red.global.own", "red.global.add.u32 [%a1], 1;"}, {"red.global.one", "red.global.add.u32 [%out], 1;"},
		{"atom.global.own", "atom.global.add.u32 %r1, [%a1], 1;"}, {"red.shared.own", "red.shared.add.u32 [%a0], 1;"},
		{"red.global.f32", "red.global.add.f32 [%a1], 0f3F800000;"}, {"atom.global.min.s32", "atom.global.min.s32 %r1, [%a1], %t;"},
		{"atom.shared.cas", "atom.shared.cas.b32 %r1, [%a0], %t, %r1;"},
	} {
		b.Run(c.name, func(b *testing.B) {
			const rounds = 10000
			body := fmt.Sprintf(`
				mul.wide.u32 %%a0, %%t, 4;
				add.u64 %%a1, %%out, %%a0;
				mov.u64 %%a2, s;
				add.u64 %%a0, %%a0, %%a2;
				mov.u32 %%r0, %d;
			L:	%s
				%s
				%s
				%s
				sub.u32 %%r0, %%r0, 1;
				setp.ne.u32 %%p0, %%r0, 0;
				@%%p0 bra L;`, rounds, c.inst, c.inst, c.inst, c.inst)
			for b.Loop() {
				runBody(b, bodyOpts{}, regs+".shared .b32 s[32];", body, nil, 128)
			}
			b.ReportMetric(float64(b.N)*rounds*4*32/b.Elapsed().Seconds(), "lanes/s")
		})
	}
}
