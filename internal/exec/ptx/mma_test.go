package ptx_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// The reference of the tests of tensor cores: three loops over matrices of small
// integers, whose sums are exact in every accumulator, and for each shape the
// PTX manual's formulas of which lane holds which element.

// lanePlace gives row and column of element i of a lane's fragment.
type lanePlace func(i, lane int) (row, col int)

// when is c ? a : b.
func when(c bool, a, b int) int {
	if c {
		return a
	}
	return b
}

// mmaPlaces gives the formulas of mma.sync for A, B and C by shape and by the bits of an
// element of A (f16 of m8n8k4 is a separate case).
func mmaPlaces(shape string, bits int) (a, b, c lanePlace) {
	group := func(lane int) int { return lane >> 2 }
	thread := func(lane int) int { return lane % 4 }
	c = func(i, l int) (int, int) { return when(i < 2, group(l), group(l)+8), thread(l)*2 + i&1 }
	switch fmt.Sprintf("%s/%d", shape, bits) {
	case "m8n8k4/64":
		a = func(_, l int) (int, int) { return group(l), thread(l) }
		b = func(_, l int) (int, int) { return thread(l), group(l) }
		c = func(i, l int) (int, int) { return group(l), thread(l)*2 + i&1 }
	case "m16n8k4/64", "m16n8k4/32":
		a = func(i, l int) (int, int) { return when(i == 0, group(l), group(l)+8), thread(l) }
		b = func(_, l int) (int, int) { return thread(l), group(l) }
	case "m16n8k8/64", "m16n8k8/32":
		a = func(i, l int) (int, int) {
			return when(i == 0 || i == 2, group(l), group(l)+8), when(i < 2, thread(l), thread(l)+4)
		}
		b = func(i, l int) (int, int) { return when(i == 0, thread(l), thread(l)+4), group(l) }
	case "m16n8k16/64":
		a = func(i, l int) (int, int) {
			return when(i%2 == 0, group(l), group(l)+8), when(i%2 == 0, i*2, i*2-2) + thread(l)
		}
		b = func(i, l int) (int, int) { return thread(l) + i*4, group(l) }
	case "m16n8k8/16":
		a = func(i, l int) (int, int) { return when(i < 2, group(l), group(l)+8), thread(l)*2 + i&1 }
		b = func(i, l int) (int, int) { return thread(l)*2 + i, group(l) }
	case "m16n8k16/16":
		a = func(i, l int) (int, int) {
			return when(i < 2 || i >= 4 && i < 6, group(l), group(l)+8), when(i < 4, thread(l)*2+i&1, thread(l)*2+i&1+8)
		}
		b = func(i, l int) (int, int) { return when(i < 2, thread(l)*2+i&1, thread(l)*2+i&1+8), group(l) }
	case "m8n8k16/8":
		a = func(i, l int) (int, int) { return group(l), thread(l)*4 + i }
		b = func(i, l int) (int, int) { return thread(l)*4 + i, group(l) }
		c = func(i, l int) (int, int) { return group(l), thread(l)*2 + i }
	case "m16n8k16/8":
		a = func(i, l int) (int, int) { return when(i < 4, group(l), group(l)+8), thread(l)*4 + i&3 }
		b = func(i, l int) (int, int) { return thread(l)*4 + i, group(l) }
	case "m16n8k32/8":
		a = func(i, l int) (int, int) {
			return when(i < 4 || i >= 8 && i < 12, group(l), group(l)+8), when(i < 8, thread(l)*4+i&3, thread(l)*4+i&3+16)
		}
		b = func(i, l int) (int, int) { return when(i < 4, thread(l)*4+i&3, thread(l)*4+i&3+16), group(l) }
	case "m8n8k32/4":
		a = func(i, l int) (int, int) { return group(l), thread(l)*8 + i }
		b = func(i, l int) (int, int) { return thread(l)*8 + i, group(l) }
		c = func(i, l int) (int, int) { return group(l), thread(l)*2 + i }
	case "m16n8k32/4":
		a = func(i, l int) (int, int) { return when(i < 8, group(l), group(l)+8), thread(l)*8 + i&7 }
		b = func(i, l int) (int, int) { return thread(l)*8 + i, group(l) }
	case "m16n8k64/4":
		a = func(i, l int) (int, int) {
			return when(i < 8 || i >= 16 && i < 24, group(l), group(l)+8), when(i < 16, thread(l)*8+i&7, thread(l)*8+i&7+32)
		}
		b = func(i, l int) (int, int) { return when(i < 8, thread(l)*8+i&7, thread(l)*8+i&7+32), group(l) }
	case "m8n8k128/1":
		a = func(i, l int) (int, int) { return group(l), thread(l)*32 + i }
		b = func(i, l int) (int, int) { return thread(l)*32 + i, group(l) }
		c = func(i, l int) (int, int) { return group(l), thread(l)*2 + i }
	case "m16n8k128/1":
		a = func(i, l int) (int, int) { return when(i < 32, group(l), group(l)+8), thread(l)*32 + i&31 }
		b = func(i, l int) (int, int) { return thread(l)*32 + i, group(l) }
	case "m16n8k256/1":
		a = func(i, l int) (int, int) {
			return when(i < 32 || i >= 64 && i < 96, group(l), group(l)+8), when(i < 64, thread(l)*32+i&31, thread(l)*32+i&31+128)
		}
		b = func(i, l int) (int, int) { return when(i < 32, thread(l)*32+i, thread(l)*32+i&31+128), group(l) }
	default:
		return nil, nil, nil
	}
	return a, b, c
}

// tcType is an element type of a matrix as the tests see it.
type tcType struct {
	name     string
	bits     int // in a register
	shift    int // of the value in its bits
	min, max int // values that the tests use
}

func tcTypeOf(t string) tcType {
	switch t {
	case "f64":
		return tcType{t, 64, 0, -100, 100}
	case "f32", "s32":
		return tcType{t, 32, 0, -100, 100}
	case "tf32":
		return tcType{t, 32, 0, -9, 9}
	case "f16", "bf16":
		return tcType{t, 16, 0, -4, 4}
	case "e4m3", "e5m2", "e3m2", "e2m3":
		return tcType{t, 8, 0, -4, 4}
	case "e2m1":
		return tcType{t, 8, 2, -4, 4}
	case "s8":
		return tcType{t, 8, 0, -128, 127}
	case "u8":
		return tcType{t, 8, 0, 0, 255}
	case "s4":
		return tcType{t, 4, 0, -8, 7}
	case "u4":
		return tcType{t, 4, 0, 0, 15}
	}
	return tcType{"b1", 1, 0, 0, 1}
}

// encode gives the bits of an integer in a type, which must hold it exactly.
func (t tcType) encode(v int) uint64 {
	f := formats[t.name]
	switch {
	case t.name == "tf32": // with low bits that must be ignored
		return formats["f32"].round(intReal(big.NewInt(int64(v))), "rn", 0) | 0x1abc
	case f != nil:
		return f.round(intReal(big.NewInt(int64(v))), "rn", 0) << t.shift
	case t.bits == 32:
		return uint64(uint32(v))
	}
	return uint64(v) & (1<<t.bits - 1)
}

// random gives a value of the range, often one of its ends.
func (t tcType) random(rnd *rand.Rand) int {
	switch rnd.IntN(16) {
	case 0:
		return t.min
	case 1:
		return t.max
	}
	return t.min + rnd.IntN(t.max-t.min+1)
}

// matrix is a matrix of integers.
type matrix [][]int

func randomMatrix(rnd *rand.Rand, rows, cols int, t tcType) matrix {
	x := make(matrix, rows)
	for r := range x {
		x[r] = make([]int, cols)
		for c := range x[r] {
			x[r][c] = t.random(rnd)
		}
	}
	return x
}

// tcProduct is C + A·B; bit types combine by bit instead of multiplying.
func tcProduct(a, b, c matrix, combine func(x, y int) int) matrix {
	d := make(matrix, len(a))
	for r := range a {
		d[r] = make([]int, len(b[0]))
		for j := range d[r] {
			d[r][j] = c[r][j]
			for k := range b {
				d[r][j] += combine(a[r][k], b[k][j])
			}
		}
	}
	return d
}

// tcResult gives the bits of an element of D: integers of 32 bits wrap or
// saturate.
func tcResult(t tcType, v int, sat bool) uint64 {
	if t.name == "s32" && sat {
		v = min(max(v, math.MinInt32), math.MaxInt32)
	}
	return t.encode(v)
}

// tcPack lays out a fragment: n registers of `width` bits, whose elements get
// gives lane by lane.
func tcPack(n, width int, t tcType, get func(i, lane int) uint64) [][32]uint64 {
	regs := make([][32]uint64, n)
	per := width / t.bits
	for r := range regs {
		for l := range 32 {
			for e := range per {
				regs[r][l] |= get(r*per+e, l) << (e * t.bits)
			}
		}
	}
	return regs
}

// tcRand returns a separate generator for every case.
func tcRand(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// tcOpts is a target that has every form tested here.
var tcOpts = bodyOpts{version: "8.8", target: "sm_120a"}

// runMMA executes an instruction on fragments in registers of wa bits; D has nd
// registers of wd bits. The fragments after C are single registers; tail is what
// follows the operands.
func runMMA(t *testing.T, name string, frags [][][32]uint64, nd, wa, wd int, tail string) [][32]uint64 {
	t.Helper()
	out, err := tryMMA(t, name, frags, nd, wa, wd, tail)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryMMA(t *testing.T, name string, frags [][][32]uint64, nd, wa, wd int, tail string) ([][32]uint64, error) {
	t.Helper()
	var in []byte
	var decls, load, ops strings.Builder
	fmt.Fprintf(&decls, ".reg .b64 %%p, %%q;\n.reg .b%d %%d<%d>;\n", wd, nd)
	total := 0
	for _, f := range frags {
		total += len(f)
	}
	fmt.Fprintf(&load, "mad.wide.u32 %%p, %%t, %d, %%in0;\nmad.wide.u32 %%q, %%t, %d, %%out;\n", total*wa/8, nd*wd/8)
	at := 0
	in = make([]byte, 32*total*wa/8)
	for k, f := range frags {
		fmt.Fprintf(&decls, ".reg .b%d %%r%c<%d>;\n", wa, 'a'+k, len(f))
		var list []string
		for r := range f {
			list = append(list, fmt.Sprintf("%%r%c%d", 'a'+k, r))
			fmt.Fprintf(&load, "ld.global.b%d %s, [%%p+%d];\n", wa, list[r], (at+r)*wa/8)
			for l := range 32 {
				b := in[(l*total+at+r)*wa/8:]
				if wa == 64 {
					binary.LittleEndian.PutUint64(b, f[r][l])
				} else {
					binary.LittleEndian.PutUint32(b, uint32(f[r][l]))
				}
			}
		}
		at += len(f)
		if k < 3 {
			fmt.Fprintf(&ops, ", {%s}", strings.Join(list, ", "))
		} else {
			fmt.Fprintf(&ops, ", %s", list[0])
		}
	}
	var ds []string
	var store strings.Builder
	for r := range nd {
		ds = append(ds, fmt.Sprintf("%%d%d", r))
		fmt.Fprintf(&store, "st.global.b%d [%%q+%d], %s;\n", wd, r*wd/8, ds[r])
	}
	body := load.String() + fmt.Sprintf("%s {%s}%s%s;\n", name, strings.Join(ds, ", "), ops.String(), tail) + store.String()
	raw, err := tryBody(t, tcOpts, decls.String(), body, [][]byte{in}, 32*nd*wd/8)
	if err != nil {
		return nil, err
	}
	out := make([][32]uint64, nd)
	for l := range 32 {
		for r := range nd {
			b := raw[(l*nd+r)*wd/8:]
			if wd == 64 {
				out[r][l] = binary.LittleEndian.Uint64(b)
			} else {
				out[r][l] = uint64(binary.LittleEndian.Uint32(b))
			}
		}
	}
	return out, nil
}

// mmaCase is one combination of modifiers of mma or wmma.mma.
type mmaCase struct {
	name           string
	shape          string
	m, n, k        int
	dt, at, bt, ct tcType
	sat, and       bool
	mods           []string
}

// newCase reads a combination from the instruction table; the types of D, A, B
// and C come in this order except in wmma.mma of f16, which names D and C.
func newCase(op string, mods []string) mmaCase {
	c := mmaCase{name: op + "." + strings.Join(mods, "."), mods: mods}
	var types []string
	for _, m := range mods {
		if ptx.Type(m).Known() {
			types = append(types, m)
		}
		if a, b, k, ok := ptx.ParseShape(m); ok && k > 0 {
			c.shape, c.m, c.n, c.k = m, a, b, k
		}
	}
	if len(types) == 2 {
		types = []string{types[0], "f16", "f16", types[1]}
	}
	c.dt, c.at, c.bt, c.ct = tcTypeOf(types[0]), tcTypeOf(types[1]), tcTypeOf(types[2]), tcTypeOf(types[3])
	c.sat, c.and = slices.Contains(mods, "satfinite"), slices.Contains(mods, "and")
	return c
}

// tcTested reports whether Heddle executes a row: all of PTX 8.0, and the formats of eight bits
// and below without block scaling.
func tcTested(mods []string) bool { return !slices.Contains(mods, "block_scale") }

func (c *mmaCase) combine(x, y int) int {
	if c.at.name != "b1" {
		return x * y
	}
	if c.and {
		return x & y
	}
	return x ^ y
}

// tcNear replaces C by values near the ends of s32, where sums wrap or saturate.
func tcNear(c matrix, rnd *rand.Rand) {
	for r := range c {
		for j := range c[r] {
			switch rnd.IntN(3) {
			case 0:
				c[r][j] += math.MaxInt32 - 100
			case 1:
				c[r][j] += math.MinInt32 + 100
			}
		}
	}
}

// eachMMA calls f for every tested combination of the rows of op for which
// keep holds, as a subtest.
func eachMMA(t *testing.T, op string, keep func(mods []string) bool, f func(t *testing.T, c mmaCase)) {
	n := 0
	for _, form := range ptx.Forms() {
		if form.Op != op {
			continue
		}
		form.Expand(func(mods []string) bool {
			if keep(mods) {
				n++
				c := newCase(op, mods)
				t.Run(strings.ReplaceAll(c.name, "::", "-"), func(t *testing.T) { f(t, c) })
			}
			return true
		})
	}
	t.Logf("%d combinations of %s", n, op)
}

// TestMMA executes every combination of mma.sync on random matrices.
func TestMMA(t *testing.T) {
	keep := func(mods []string) bool {
		return tcTested(mods) && mods[0] != "sp" && mods[0] != "sp::ordered_metadata"
	}
	eachMMA(t, "mma", keep, func(t *testing.T, c mmaCase) {
		if c.shape == "m8n8k4" && c.at.name == "f16" {
			testVolta(t, c)
			return
		}
		pa, pb, pc := mmaPlaces(c.shape, c.at.bits)
		if pa == nil {
			t.Fatal("the test knows no fragments of this shape")
		}
		rnd := tcRand(c.name)
		for round := range 3 {
			a, b, cc := randomMatrix(rnd, c.m, c.k, c.at), randomMatrix(rnd, c.k, c.n, c.bt), randomMatrix(rnd, c.m, c.n, c.ct)
			if c.ct.name == "s32" && round > 0 {
				tcNear(cc, rnd)
			}
			want := tcProduct(a, b, cc, c.combine)
			got := c.run(t, a, b, cc, pa, pb, pc, nil, "")
			c.compare(t, got, want, pc)
		}
	})
}

// regs is the width of the registers of A, B and C, and of the elements of one
// of C or D.
func (c *mmaCase) regs() int {
	if c.at.bits == 64 {
		return 64
	}
	return 32
}

// run executes the case on matrices; extra fragments (metadata) follow C.
func (c *mmaCase) run(t *testing.T, a, b, cc matrix, pa, pb, pc lanePlace, more [][][32]uint64, tail string) [][32]uint64 {
	t.Helper()
	out, err := c.try(t, a, b, cc, pa, pb, pc, more, tail)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *mmaCase) try(t *testing.T, a, b, cc matrix, pa, pb, pc lanePlace, more [][][32]uint64, tail string) ([][32]uint64, error) {
	t.Helper()
	get := func(x matrix, ty tcType, at lanePlace) func(i, l int) uint64 {
		return func(i, l int) uint64 { r, k := at(i, l); return ty.encode(x[r][k]) }
	}
	w := c.regs()
	count := func(x matrix, ty tcType) int { return len(x) * len(x[0]) * ty.bits / w / 32 }
	frags := [][][32]uint64{
		tcPack(count(a, c.at), w, c.at, get(a, c.at, pa)),
		tcPack(count(b, c.bt), w, c.bt, get(b, c.bt, pb)),
		tcPack(count(cc, c.ct), w, c.ct, get(cc, c.ct, pc)),
	}
	return tryMMA(t, c.name, append(frags, more...), c.m*c.n*c.dt.bits/w/32, w, w, tail)
}

// equal compares elements of D. Terms that cancel give -0 when f64 is rounded
// down, which the integers of these tests do not show.
func (c *mmaCase) equal(got, want uint64) bool {
	return got == want || slices.Contains(c.mods, "rm") && want == 0 && got == 1<<63
}

// compare checks the fragments of D.
func (c *mmaCase) compare(t *testing.T, got [][32]uint64, want matrix, pc lanePlace) {
	t.Helper()
	per := c.regs() / c.dt.bits
	for r := range got {
		for l := range 32 {
			for e := range per {
				row, col := pc(r*per+e, l)
				g, x := got[r][l]>>(e*c.dt.bits)&(1<<c.dt.bits-1), tcResult(c.dt, want[row][col], c.sat)
				if c.dt.bits == 64 {
					g = got[r][l]
				}
				if !c.equal(g, x) {
					t.Fatalf("D[%d][%d] = %#x, want %#x (%d)", row, col, g, x, want[row][col])
				}
			}
		}
	}
}

// testVolta is m8n8k4 of f16: four products, each of the lanes of two quads.
func testVolta(t *testing.T, c mmaCase) {
	var layouts []string
	for _, m := range c.mods {
		if m == "row" || m == "col" {
			layouts = append(layouts, m)
		}
	}
	low := func(l int) bool { return l < 16 }
	pa := func(i, l int) (int, int) {
		if layouts[0] == "row" {
			return when(low(l), l%4, l%4+4), i
		}
		return when(low(l), i, i+4), l % 4
	}
	pb := func(i, l int) (int, int) {
		if layouts[1] == "row" {
			return l % 4, when(low(l), i, i+4)
		}
		return i, when(low(l), l%4, l%4+4)
	}
	places := func(ty tcType) lanePlace {
		if ty.name == "f16" {
			return func(i, l int) (int, int) { return when(low(l), l%4, l%4+4), i }
		}
		return func(i, l int) (int, int) {
			x := l&1 + i&2
			return when(low(l), x, x+4), i&4 + l&2 + i&1
		}
	}
	quad := func(l int) int { return l % 16 / 4 }
	rnd := tcRand(c.name)
	var a, b, cc, want [4]matrix
	for q := range 4 {
		a[q], b[q], cc[q] = randomMatrix(rnd, 8, 4, c.at), randomMatrix(rnd, 4, 8, c.bt), randomMatrix(rnd, 8, 8, c.ct)
		want[q] = tcProduct(a[q], b[q], cc[q], c.combine)
	}
	get := func(x *[4]matrix, ty tcType, at lanePlace) func(i, l int) uint64 {
		return func(i, l int) uint64 { r, k := at(i, l); return ty.encode(x[quad(l)][r][k]) }
	}
	got := runMMA(t, c.name, [][][32]uint64{
		tcPack(2, 32, c.at, get(&a, c.at, pa)), tcPack(2, 32, c.bt, get(&b, c.bt, pb)),
		tcPack(8*c.ct.bits/32, 32, c.ct, get(&cc, c.ct, places(c.ct))),
	}, 8*c.dt.bits/32, 32, 32, "")
	x := tcPack(8*c.dt.bits/32, 32, c.dt, get(&want, c.dt, places(c.dt)))
	for r := range x {
		for l := range 32 {
			if got[r][l] != x[r][l] {
				t.Fatalf("register %d of lane %d is %#x, want %#x", r, l, got[r][l], x[r][l])
			}
		}
	}
}

// places gives the formulas of the case.
func (c *mmaCase) places() (a, b, d lanePlace) { return mmaPlaces(c.shape, c.at.bits) }

// rawMMA executes a combination on elements given as bits, and returns D.
func rawMMA(t *testing.T, name string, a, b, cc func(row, col int) uint64) func(row, col int) uint64 {
	t.Helper()
	c := newCase("mma", strings.Split(name, ".")[1:])
	pa, pb, pc := c.places()
	w := c.regs()
	elem := func(x func(row, col int) uint64, at lanePlace) func(i, l int) uint64 {
		return func(i, l int) uint64 { return x(at(i, l)) }
	}
	count := func(rows, cols int, ty tcType) int { return rows * cols * ty.bits / w / 32 }
	got := runMMA(t, name, [][][32]uint64{
		tcPack(count(c.m, c.k, c.at), w, c.at, elem(a, pa)),
		tcPack(count(c.k, c.n, c.bt), w, c.bt, elem(b, pb)),
		tcPack(count(c.m, c.n, c.ct), w, c.ct, elem(cc, pc)),
	}, count(c.m, c.n, c.dt), w, w, "")
	out := map[[2]int]uint64{}
	per := w / c.dt.bits
	for r := range got {
		for l := range 32 {
			for e := range per {
				row, col := pc(r*per+e, l)
				v := got[r][l] >> (e * c.dt.bits)
				if c.dt.bits < 64 {
					v &= 1<<c.dt.bits - 1
				}
				out[[2]int{row, col}] = v
			}
		}
	}
	return func(row, col int) uint64 { return out[[2]int{row, col}] }
}

// TestMMASpecial: infinities, NaN, overflow and underflow of the float types.
// Row r of A meets the identity in B, so that D[r][c] is A[r][c]·B + C[r][c].
func TestMMASpecial(t *testing.T) {
	f16, f32, f64, bf := formats["f16"], formats["f32"], formats["f64"], formats["bf16"]
	for _, c := range []struct {
		name         string
		in, acc, out *floatFormat
		shift        int
	}{
		{"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", f16, f16, f16, 0},
		{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", f16, f32, f32, 0},
		{"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32", f16, f32, f16, 0},
		{"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", bf, f32, f32, 0},
		{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", formats["tf32"], f32, f32, 13},
		{"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", f64, f64, f64, 0},
		{"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32", formats["e4m3"], f32, f32, 0},
		{"mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16", formats["e5m2"], f16, f16, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBits := map[bool]uint{true: 32, false: c.in.bits}[c.in == formats["tf32"]]
			sign := uint64(1) << (inBits - 1)
			enc := func(v float64) uint64 {
				r := real{neg: math.Signbit(v), x: newBig().SetFloat64(math.Abs(v))}
				if r.neg { // round puts the sign where the format has it
					r.neg = false
					return c.in.round(r, "rn", 0)<<c.shift | sign
				}
				return c.in.round(r, "rn", 0) << c.shift
			}
			inf, nan := c.in.inf<<c.shift, uint64(0)
			switch c.in {
			case f16:
				nan = 0x7e01
			case bf:
				nan = 0x7fc1
			case f64:
				nan = 0x7ff8000000000001
			case formats["tf32"]:
				nan = 0x7fc02000
			default:
				nan = 0x7f
			}
			hasInf := c.in != formats["e4m3"]
			if !hasInf {
				inf = nan
			}
			accEnc := func(v float64) uint64 {
				switch {
				case math.IsNaN(v):
					return c.acc.inf | 1
				case math.IsInf(v, 0):
					return c.acc.infinity(when64(v < 0, 1<<(c.acc.bits-1), 0))
				}
				return c.acc.round(real{neg: math.Signbit(v), x: newBig().SetFloat64(math.Abs(v))}, "rn", 0)
			}
			// a, its factor in B (1 or 0), what is added, and the result.
			type probe struct {
				a    uint64
				b    float64
				c    float64
				want float64
			}
			probes := []probe{
				{enc(2), 1, 3, 5},
				{inf, 1, 3, math.Inf(1)},
				{inf | sign, 1, 3, math.Inf(-1)},
				{inf, 0, 3, math.NaN()},
				{inf, 1, math.Inf(-1), math.NaN()},
				{inf, -1, math.Inf(-1), math.Inf(-1)},
				{nan, 1, 3, math.NaN()},
				{nan, 0, 3, math.NaN()},
				{enc(2), 1, math.NaN(), math.NaN()},
				{enc(2), 1, math.Inf(1), math.Inf(1)},
			}
			if !hasInf { // its largest value is NaN instead
				for i := range probes {
					if probes[i].a&^sign == inf {
						probes[i].want = math.NaN()
					}
				}
			}
			for i, p := range probes {
				d := rawMMA(t, c.name,
					func(row, col int) uint64 {
						if row == 3 && col == 2 {
							return p.a
						}
						return enc(1)
					},
					func(row, col int) uint64 {
						if row == 2 {
							return enc(p.b)
						}
						return enc(0)
					},
					func(row, col int) uint64 {
						if row == 3 {
							return accEnc(p.c)
						}
						return accEnc(0)
					})
				got := d(3, 5)
				want := c.out.round(real{neg: math.Signbit(p.want), nan: math.IsNaN(p.want), inf: math.IsInf(p.want, 0), x: bigOf(p.want)}, "rn", 0)
				ok := got == want
				if math.IsNaN(p.want) {
					ok = c.out.decode(got).nan
				}
				if !ok {
					t.Errorf("probe %d: D = %#x, want %v (%#x)", i, got, p.want, want)
				}
				// The other rows are not touched by it.
				if got, want := d(4, 5), c.out.round(real{neg: p.b < 0, x: bigOf(math.Abs(p.b))}, "rn", 0); got != want && p.b != 0 {
					t.Errorf("probe %d: another row has %#x, want %#x", i, got, want)
				}
			}
		})
	}
}

func when64(c bool, a, b uint64) uint64 {
	if c {
		return a
	}
	return b
}

// bigOf is |v| of a finite number, 0 of others.
func bigOf(v float64) *big.Float {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return newBig()
	}
	return newBig().SetFloat64(math.Abs(v))
}

// TestMMARounding: if each sum has one nonzero product, D is that product and C rounded once,
// in any order: in f64 as the modifier says, in the others to nearest even (which is Heddle's
// choice; PTX leaves it open).
func TestMMARounding(t *testing.T) {
	for _, c := range []struct{ name, in, acc, out, mode string }{
		{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "f64", "f64", "f64", "rn"},
		{"mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64", "f64", "f64", "f64", "rz"},
		{"mma.sync.aligned.m16n8k4.row.col.rm.f64.f64.f64.f64", "f64", "f64", "f64", "rm"},
		{"mma.sync.aligned.m16n8k16.row.col.rp.f64.f64.f64.f64", "f64", "f64", "f64", "rp"},
		{"mma.sync.aligned.m16n8k8.row.col.rn.f64.f64.f64.f64", "f64", "f64", "f64", "rn"},
		{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f16", "f32", "f32", "rn"},
		{"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "f16", "f16", "f16", "rn"},
		{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "bf16", "f32", "f32", "rn"},
		{"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16", "e4m3", "f16", "f16", "rn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rnd := tcRand(c.name)
			cs := newCase("mma", strings.Split(c.name, ".")[1:])
			bIn := formats[cs.bt.name]
			in, acc, out := formats[c.in], formats[c.acc], formats[c.out]
			finite := func(f *floatFormat) uint64 {
				for {
					// Exponents around 1, so that sums meet.
					v := operand(rnd, f.bits, f)
					if r := f.decode(v); !r.nan && !r.inf && !r.zero() && abs(r.x.MantExp(nil)) < 12 {
						return v
					}
				}
			}
			for range 3 {
				a := make([]uint64, cs.m)
				b := make([]uint64, cs.n)
				cc := make([]uint64, cs.m*cs.n)
				for i := range a {
					a[i] = finite(in)
				}
				for i := range b {
					b[i] = finite(bIn)
				}
				for i := range cc {
					cc[i] = finite(acc)
				}
				d := rawMMA(t, c.name,
					func(row, col int) uint64 { return when64(col == row%cs.k, a[row], 0) },
					func(_, col int) uint64 { return b[col] },
					func(row, col int) uint64 { return cc[row*cs.n+col] })
				for row := range cs.m {
					for col := range cs.n {
						sum := sumOf(productOf(in.decode(a[row]), bIn.decode(b[col])), acc.decode(cc[row*cs.n+col]), c.mode)
						if want, got := out.round(sum, c.mode, 0), d(row, col); got != want {
							t.Fatalf("%#x · %#x + %#x = %#x, want %#x", a[row], b[col], cc[row*cs.n+col], got, want)
						}
					}
				}
			}
		})
	}
}

func abs(v int) int { return max(v, -v) }

// TestMMAOperands: fragments that share registers, vector registers as a whole,
// constants and the sink give what four registers of their own give.
func TestMMAOperands(t *testing.T) {
	const (
		decls = ".reg .b32 %a<4>, %b<2>, %c<4>, %d<4>; .reg .v4 .b32 va, vc; .reg .v2 .b32 vb; .reg .b64 %p;"
		load  = `mad.wide.u32 %p, %t, 40, %in0;
ld.global.v2.b32 {%a0, %a1}, [%p];
ld.global.v2.b32 {%a2, %a3}, [%p+8];
ld.global.v2.b32 {%b0, %b1}, [%p+16];
ld.global.v2.b32 {%c0, %c1}, [%p+24];
ld.global.v2.b32 {%c2, %c3}, [%p+32];
mov.b32 va.x, %a0; mov.b32 va.y, %a1; mov.b32 va.z, %a2; mov.b32 va.w, %a3;
mov.b32 vb.x, %b0; mov.b32 vb.y, %b1;
mov.b32 vc.x, %c0; mov.b32 vc.y, %c1; mov.b32 vc.z, %c2; mov.b32 vc.w, %c3;
mov.b32 %d1, 0;
mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 `
		store = `;
mad.wide.u32 %p, %t, 16, %out;
st.global.v2.b32 [%p], {R0, R1};
st.global.v2.b32 [%p+8], {R2, R3};`
	)
	rnd := tcRand("operands")
	in := make([]byte, 32*40)
	for i := range in {
		in[i] = byte(rnd.Uint32())
	}
	run := func(ops string, result ...string) []byte {
		t.Helper()
		body := load + ops + store
		for i, r := range result {
			body = strings.Replace(body, fmt.Sprintf("R%d", i), r, 1)
		}
		return runBody(t, bodyOpts{}, decls, body, [][]byte{in}, 512)
	}
	want := run("{%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}", "%d0", "%d1", "%d2", "%d3")
	for _, c := range []struct {
		ops    string
		result []string
	}{
		{"{%a0, %a1, %a2, %a3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}", []string{"%a0", "%a1", "%a2", "%a3"}},
		{"{%b0, %b1, %c3, %a0}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}", []string{"%b0", "%b1", "%c3", "%a0"}},
		{"vc, va, vb, vc", []string{"vc.x", "vc.y", "vc.z", "vc.w"}},
		{"{%c3, %c2, %c1, %c0}, va, {%b0, vb.y}, vc", []string{"%c3", "%c2", "%c1", "%c0"}},
	} {
		if got := run(c.ops, c.result...); !slices.Equal(got, want) {
			t.Errorf("%s gives other results than registers of their own", c.ops)
		}
	}
	// The sink drops one register of D; %d1 stays zero.
	got := run("{%d0, _, %d2, %d3}, va, vb, vc", "%d0", "%d1", "%d2", "%d3")
	for l := range 32 {
		copy(want[16*l+4:16*l+8], []byte{0, 0, 0, 0})
	}
	if !slices.Equal(got, want) {
		t.Error("with a sink the other registers differ")
	}
	// Unimplemented forms are rejected by name.
	_, err := tryBody(t, tcOpts, ".reg .b32 %a<8>, %b<2>; .reg .b16 %h<4>;", `mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0
{%a0, %a1, %a2, %a3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%a4, %a5, %a6, %a7}, %b0, {%h0, %h1}, %b1, {%h2, %h3};`, nil, 4)
	if err == nil || !strings.Contains(err.Error(), "block_scale") {
		t.Errorf("block scaling: error %v", err)
	}
}

// BenchmarkMMA runs a loop of 1000 instructions in one warp; an operation is
// the whole loop, so that its allocations are those of a launch.
func BenchmarkMMA(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"f16 m16n8k16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%a4,%a5}, {%d0,%d1,%d2,%d3};"},
		{"s8 m16n8k32", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%a4,%a5}, {%d0,%d1,%d2,%d3};"},
		{"sparse f16 m16n8k32", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%a4,%a5,%a6,%a7}, {%d0,%d1,%d2,%d3}, %e, 0;"},
		{"ldmatrix.x4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0,%a1,%a2,%a3}, [sm];"},
	} {
		b.Run(c.name, func(b *testing.B) {
			src := `.version 8.0
.target sm_80
.address_size 64
.entry k() {
.reg .b32 %a<8>, %d<4>, %e, %i;
.reg .pred %p;
.shared .align 16 .b8 sm[512];
mov.b32 %e, 0x44444444;
mov.b32 %i, 1000;
top:
` + c.text + `
sub.u32 %i, %i, 1;
setp.ne.u32 %p, %i, 0;
@%p bra top;
ret;
}
`
			m, p, _ := machine(b, "bench.ptx", src)
			k, _ := p.Kernel("k")
			one := exec.Dim3{X: 1, Y: 1, Z: 1}
			l := xptx.Launch{Kernel: k, Grid: one, Block: exec.Dim3{X: 32, Y: 1, Z: 1}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Run(context.Background(), l, xptx.Options{Threads: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
