package ptx_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
)

// tcFormatOf is a format as TestTcgen knows it: how a small value is encoded, and in how many bits.
type tcFormatOf struct {
	number, bits int
	dense        bool
	unsigned     bool
	encode       func(v float64) uint32
}

func narrowly(n num.Narrow) func(v float64) uint32 {
	return func(v float64) uint32 { return uint32(num.F32ToNarrow(math.Float32bits(float32(v)), n)) }
}

var (
	tcF16    = tcFormatOf{0, 16, false, false, func(v float64) uint32 { return uint32(num.F32ToF16(math.Float32bits(float32(v)), num.RN)) }}
	tcBF16   = tcFormatOf{1, 16, false, false, func(v float64) uint32 { return math.Float32bits(float32(v)) >> 16 }}
	tcTF32   = tcFormatOf{2, 32, false, false, func(v float64) uint32 { return math.Float32bits(float32(v)) }}
	tcE4M3   = tcFormatOf{0, 8, false, false, narrowly(num.E4M3)}
	tcE5M2   = tcFormatOf{1, 8, false, false, narrowly(num.E5M2)}
	tcE2M3   = tcFormatOf{3, 6, false, false, narrowly(num.E2M3)}
	tcE3M2   = tcFormatOf{4, 6, false, false, narrowly(num.E3M2)}
	tcE2M1   = tcFormatOf{5, 4, false, false, narrowly(num.E2M1)}
	tcE2M1x2 = tcFormatOf{1, 4, true, false, narrowly(num.E2M1)}
	tcU8     = tcFormatOf{0, 8, false, true, func(v float64) uint32 { return uint32(uint8(v)) }}
	tcS8     = tcFormatOf{1, 8, false, false, func(v float64) uint32 { return uint32(uint8(int8(v))) }}
)

// tcMatrix is a matrix of small whole numbers in shared memory.
type tcMatrix struct {
	rows, k int
	format  tcFormatOf
	across  bool // MN-major
	swizzle int  // bytes; 0: none
	start   int
	v       [][]float64
}

func (m *tcMatrix) fill(r *rand.Rand) {
	for range m.rows {
		row := make([]float64, m.k)
		for i := range row {
			if row[i] = float64(r.IntN(5) - 2); m.format.unsigned {
				row[i] += 2
			}
		}
		m.v = append(m.v, row)
	}
}

// bitOf is where an element is, in bits from the start of shared memory (PTX manual, canonical layouts).
func (m *tcMatrix) bitOf(row, k int) int {
	size, bit := max(1, m.format.bits/8), 0
	at := m.start
	if m.across {
		t := 16 / size
		if m.swizzle == 0 {
			at += row/t*(m.k/8*128) + row%t*size + k%8*16 + k/8*128
		} else {
			c := m.swizzle / size
			at += row/c*(m.k*m.swizzle) + row%c*size + k%8*m.swizzle + k/8*(8*m.swizzle)
		}
	} else {
		per := 16 / size
		if m.format.dense {
			per = 32
		}
		chunk := k / per
		bit = k % per * m.format.bits
		if m.format.bits >= 8 {
			bit = k % per * size * 8
		}
		if m.swizzle == 0 {
			at += row/8*256 + row%8*16 + chunk*128
		} else {
			at += row/8*(8*m.swizzle) + row%8*m.swizzle + chunk*16
		}
	}
	switch m.swizzle {
	case 128:
		at ^= at >> 7 & 7 << 4
	case 64:
		at ^= at >> 7 & 3 << 4
	case 32:
		at ^= at >> 7 & 1 << 4
	}
	return 8*at + bit
}

// store puts rows from first on into shared memory.
func (m *tcMatrix) store(shared []byte, first, rows int) {
	for r := range rows {
		for k, v := range m.v[first+r] {
			x, at := uint64(m.format.encode(v)), m.bitOf(r, k)
			for b := range m.format.bits {
				if x>>b&1 != 0 {
					shared[(at+b)/8] |= 1 << ((at + b) % 8)
				}
			}
		}
	}
}

func (m *tcMatrix) descriptor() uint64 {
	leading, stride := 128, 256
	switch {
	case m.across && m.swizzle == 0:
		stride = m.k / 8 * 128
	case m.across:
		leading, stride = m.k*m.swizzle, 8*m.swizzle
	case m.swizzle > 0:
		stride = 8 * m.swizzle
	}
	swizzle := map[int]uint64{0: 0, 128: 2, 64: 4, 32: 6}[m.swizzle]
	return uint64(m.start>>4) | uint64(leading>>4)<<16 | uint64(stride>>4)<<32 | 1<<46 | swizzle<<61
}

type tcCase struct {
	kind          string
	a, b          tcFormatOf
	m, n          int
	acrossA       bool
	acrossB       bool
	swizzle       int
	tensorA, pair bool
	half          bool // D is f16
	block         int  // elements of a scale
	ue4m3         bool
}

// TestTcgen multiplies random small whole numbers, of which every sum is exact, in all kinds, shapes, layouts, with A in
// shared and in tensor memory, by one block and by pairs, with scales and without.
func TestTcgen(t *testing.T) {
	cases := []tcCase{}
	for _, swizzle := range []int{0, 32, 64, 128} {
		for _, across := range []int{0, 1, 2, 3} {
			cases = append(cases, tcCase{kind: "f16", a: tcF16, b: tcF16, m: 128, n: 64, swizzle: swizzle, acrossA: across&1 != 0, acrossB: across&2 != 0})
		}
		cases = append(cases, tcCase{kind: "tf32", a: tcTF32, b: tcTF32, m: 128, n: 32, swizzle: swizzle}, tcCase{kind: "i8", a: tcS8, b: tcU8, m: 128, n: 32, swizzle: swizzle},
			tcCase{kind: "f8f6f4", a: tcE4M3, b: tcE5M2, m: 128, n: 32, swizzle: swizzle, acrossA: swizzle > 0, acrossB: swizzle > 32})
	}
	cases = append(cases,
		tcCase{kind: "f16", a: tcBF16, b: tcBF16, m: 128, n: 256, swizzle: 128}, tcCase{kind: "f16", a: tcF16, b: tcBF16, m: 64, n: 8, swizzle: 128},
		tcCase{kind: "f16", a: tcF16, b: tcF16, m: 64, n: 24, half: true}, tcCase{kind: "f16", a: tcF16, b: tcF16, m: 128, n: 16, half: true, tensorA: true},
		tcCase{kind: "f16", a: tcF16, b: tcF16, m: 128, n: 64, swizzle: 128, tensorA: true}, tcCase{kind: "f16", a: tcF16, b: tcF16, m: 64, n: 64, swizzle: 128, tensorA: true},
		tcCase{kind: "tf32", a: tcTF32, b: tcTF32, m: 128, n: 16, tensorA: true}, tcCase{kind: "i8", a: tcU8, b: tcS8, m: 64, n: 16, tensorA: true},
		tcCase{kind: "f8f6f4", a: tcE2M3, b: tcE3M2, m: 128, n: 32, swizzle: 128}, tcCase{kind: "f8f6f4", a: tcE2M1, b: tcE4M3, m: 128, n: 32},
		tcCase{kind: "f16", a: tcF16, b: tcF16, m: 256, n: 64, swizzle: 128, pair: true}, tcCase{kind: "f16", a: tcF16, b: tcF16, m: 128, n: 64, swizzle: 64, pair: true},
		tcCase{kind: "f16", a: tcF16, b: tcF16, m: 256, n: 256, swizzle: 128, pair: true, tensorA: true},
		tcCase{kind: "mxf8f6f4", a: tcE4M3, b: tcE2M1, m: 128, n: 64, swizzle: 128, block: 32}, tcCase{kind: "mxf4", a: tcE2M1x2, b: tcE2M1x2, m: 128, n: 64, swizzle: 128, block: 32},
		tcCase{kind: "mxf4nvf4", a: tcE2M1x2, b: tcE2M1x2, m: 128, n: 128, swizzle: 64, block: 16, ue4m3: true}, tcCase{kind: "mxf4nvf4", a: tcE2M1x2, b: tcE2M1x2, m: 128, n: 32, block: 32},
	)
	for _, c := range cases {
		name := fmt.Sprintf("%s m%d n%d swizzle %d %v %v %v %v %v", c.kind, c.m, c.n, c.swizzle, c.acrossA, c.acrossB, c.tensorA, c.pair, c.block)
		t.Run(name, func(t *testing.T) { c.run(t, tcRand(name)) })
	}
}

const tcShared = 49152 // bytes of the matrices of a block

func (c tcCase) run(t *testing.T, r *rand.Rand) {
	blocks := 1
	if c.pair {
		blocks = 2
	}
	k := 256 / max(8, c.a.bits)
	if c.a.dense {
		k = 64
	}
	a := &tcMatrix{rows: c.m, k: k, format: c.a, across: c.acrossA, swizzle: c.swizzle}
	b := &tcMatrix{rows: c.n, k: k, format: c.b, across: c.acrossB, swizzle: c.swizzle, start: 16384}
	a.fill(r)
	b.fill(r)
	shared := make([]byte, blocks*tcShared)
	rows := c.m / blocks
	tensor := make([]byte, blocks*128*64*4) // 64 columns of a block, from column 256 on
	scaleA, scaleB := c.scales(r, a, tensor, 32), c.scales(r, b, tensor, 48)
	for i := range blocks {
		a.store(shared[i*tcShared:][:tcShared], i*rows, rows)
		b.store(shared[i*tcShared:][:tcShared], i*c.n/blocks, c.n/blocks)
		for row := range rows {
			if c.tensorA {
				at := tensor[(i*128+c.lane(row, rows))*256:]
				for e, v := range a.v[i*rows+row] {
					x := c.a.encode(v)
					for n := range c.a.bits / 8 {
						at[e*c.a.bits/8+n] = byte(x >> (8 * n))
					}
				}
			}
		}
	}
	out := 1
	switch {
	case c.kind == "i8":
		out = 2
	case c.half:
		out = 0
	}
	bit := func(on bool, n int) uint32 {
		if on {
			return 1 << n
		}
		return 0
	}
	desc := uint32(out<<4|c.a.number<<7|c.b.number<<10|c.n/8<<17|c.m/16<<24) | bit(c.acrossA, 15) | bit(c.acrossB, 16)
	if c.block > 0 {
		desc = desc&^(3<<4) | bit(!c.ue4m3, 23)
	}
	got := runBody(t, bodyOpts{version: "8.7", target: "sm_100a", block: 128, grid: uint32(blocks), cluster: exec.Dim3{X: uint32(blocks), Y: 1, Z: 1}, shared: tcShared + 16, module: ".extern .shared .align 1024 .b8 s[];"},
		".reg .b32 %d<32>, %x, %y, %rank, %tm, %ta, %lane, %row;\n.reg .b64 %a<6>;\n.reg .pred %p<4>;", c.body(a, b, desc), [][]byte{shared, tensor}, blocks*128*256*4)
	for row := range c.m {
		for n := range c.n {
			block, lane, column := row/rows, c.lane(row%rows, rows), n
			if c.pair && rows == 64 {
				lane, column = row%rows+64*(n/(c.n/2)), n%(c.n/2)
			}
			x, want := word(got, (block*128+lane)*256+column), 0.0
			for e := range k {
				p := a.v[row][e] * b.v[n][e]
				if c.block > 0 {
					p *= scaleA[row][e/c.block] * scaleB[n][e/c.block]
				}
				want += 2 * p
			}
			have := float64(math.Float32frombits(x))
			switch out {
			case 0:
				have = float64(math.Float32frombits(num.F16ToF32(uint16(x))))
			case 2:
				have = float64(int32(x))
			}
			if have != want {
				t.Fatalf("row %d column %d is %g, want %g", row, n, have, want)
			}
		}
	}
}

// lane is where a row is: 64 rows take 16 of each 32 lanes.
func (c tcCase) lane(row, rows int) int {
	if rows == 64 {
		return row%16 + row/16*32
	}
	return row
}

// scales makes scales of rows, and puts them into tensor memory of a block at a column.
func (c tcCase) scales(r *rand.Rand, m *tcMatrix, tensor []byte, column int) (s [][4]float64) {
	for row := range m.rows {
		var x [4]float64
		for i := range x {
			e := r.IntN(5) - 2
			x[i] = math.Ldexp(1, e)
			code := byte(127 + e)
			if c.ue4m3 {
				code = num.F32ToNarrow(math.Float32bits(float32(x[i])), num.E4M3)
			}
			if c.block > 0 {
				tensor[row%32*256+4*(column+row/32)+i] = code
			}
		}
		s = append(s, x)
	}
	return s
}

func (c tcCase) body(a, b *tcMatrix, desc uint32) string {
	group, rest, operand := "cta_group::1", "", "%a2"
	if c.pair {
		group = "cta_group::2"
	}
	if c.tensorA {
		operand = "[%ta]"
	}
	if c.block > 0 {
		rest = ".block_scale"
		if c.kind == "mxf4nvf4" {
			rest += map[int]string{16: ".scale_vec::4X", 32: ".scale_vec::2X"}[c.block]
		}
	}
	mma := "tcgen05.mma." + group + ".kind::" + c.kind + rest + " [%tm], " + operand + ", %a3, %x, "
	if c.block > 0 {
		mma += "[%ta+32], [%ta+48], "
	}
	var s strings.Builder
	fmt.Fprintf(&s, `mov.u32 %%rank, %%cluster_ctarank; mul.wide.u32 %%a0, %%rank, %d; add.u64 %%a0, %%a0, %%in0; mul.wide.u32 %%a1, %%t, 16; add.u64 %%a0, %%a0, %%a1;
	mov.u32 %%y, s; mad.lo.u32 %%y, %%t, 16, %%y; mov.u32 %%x, 0;
	fill: ld.global.v4.u32 {%%d0, %%d1, %%d2, %%d3}, [%%a0]; st.shared.v4.u32 [%%y], {%%d0, %%d1, %%d2, %%d3}; add.u64 %%a0, %%a0, 2048; add.u32 %%y, %%y, 2048;
	add.u32 %%x, %%x, 2048; setp.lt.u32 %%p0, %%x, %d; @%%p0 bra fill;
	shr.u32 %%x, %%t, 5; setp.eq.u32 %%p1, %%x, 0; shl.b32 %%lane, %%x, 21; setp.eq.u32 %%p2, %%t, 0; mad.lo.u32 %%row, %%rank, 128, %%t;
	@!%%p1 bra allocated; tcgen05.alloc.%s.sync.aligned.shared::cta.b32 [s+%d], 512; tcgen05.relinquish_alloc_permit.%s.sync.aligned; allocated: bar.sync 0;
	ld.shared.u32 %%tm, [s+%d]; mul.wide.u32 %%a0, %%row, 256; add.u64 %%a0, %%a0, %%in1; add.u32 %%ta, %%tm, %%lane; add.u32 %%ta, %%ta, 256;
	`, tcShared, tcShared, group, tcShared, group, tcShared)
	for half := range 2 {
		for i := range 32 {
			fmt.Fprintf(&s, "ld.global.u32 %%d%d, [%%a0+%d];\n", i, 128*half+4*i)
		}
		fmt.Fprintf(&s, "tcgen05.st.sync.aligned.32x32b.x32.b32 [%%ta+%d], {%s};\n", 32*half, tcRegs(32))
	}
	fmt.Fprintf(&s, `tcgen05.wait::st.sync.aligned; add.u32 %%ta, %%tm, 256; barrier.cluster.arrive; barrier.cluster.wait;
	setp.eq.and.u32 %%p2, %%rank, 0, %%p2; mov.b64 %%a2, %#x; mov.b64 %%a3, %#x; mov.u32 %%x, %#x; setp.ne.u32 %%p0, %%x, %%x; setp.eq.u32 %%p3, %%x, %%x;
	@%%p2 %s%%p0;
	@%%p2 %s%%p3;
	barrier.cluster.arrive; barrier.cluster.wait;
	mul.wide.u32 %%a0, %%row, 1024; add.u64 %%out, %%out, %%a0; add.u32 %%ta, %%tm, %%lane;
	`, a.descriptor(), b.descriptor(), desc, mma, mma)
	for col := 0; col < 256; col += 32 {
		fmt.Fprintf(&s, "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%s}, [%%ta+%d];\ntcgen05.wait::ld.sync.aligned;\n", tcRegs(32), col)
		for i := range 32 {
			fmt.Fprintf(&s, "st.global.u32 [%%out+%d], %%d%d;\n", 4*(col+i), i)
		}
	}
	fmt.Fprintf(&s, "bar.sync 0; @!%%p1 bra over; tcgen05.dealloc.%s.sync.aligned.b32 %%tm, 512; over:", group)
	return s.String()
}

func tcRegs(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%%d%d", i))
	}
	return strings.Join(list, ", ")
}

// TestTensorMemory stores and loads in all shapes: what thread t has in register r lies in the lane and column that
// CUTLASS's copy atoms give (as bits of 16 or 32 lanes).
func TestTensorMemory(t *testing.T) {
	for _, c := range []struct {
		shape, half string
		n           int                               // registers
		bit         func(t, r int) (lane, column int) // by the strides of CUTLASS's layouts
	}{
		{"32x32b.x4", "", 4, func(t, r int) (int, int) { return t, r }},
		{"16x64b.x4", "", 4, func(t, r int) (int, int) { at := t%2*512 + t/2%2*32 + t/4*64; return at / 64, at%64/32 + 2*r }},
		{"16x128b.x2", "", 4, func(t, r int) (int, int) { at := t%4*32 + t/4*128 + r%2*1024; return at / 128, at%128/32 + r/2*4 }},
		{"16x256b.x2", "", 8, func(t, r int) (int, int) {
			at := t%4*64 + t/4*256 + r%2*32 + r/2%2*2048
			return at / 256, at%256/32 + r/4*8
		}},
		{"16x32bx2.x4", ", 8", 4, func(t, r int) (int, int) { return t % 16, t/16*8 + r }},
	} {
		for _, way := range []string{"ld", "st"} {
			t.Run(c.shape+" "+way, func(t *testing.T) {
				var regs []string
				var fill, save strings.Builder
				for i := range 32 {
					fmt.Fprintf(&fill, "mad.lo.u32 %%d%d, %%t, 1000, %d;\n", i, i)
				}
				for i := range c.n {
					regs = append(regs, fmt.Sprintf("%%e%d", i))
					fmt.Fprintf(&fill, "mad.lo.u32 %%e%d, %%t, 1000, %d;\n", i, i)
				}
				vec := "{" + strings.Join(regs, ", ") + "}"
				whole := "tcgen05.st.sync.aligned.32x32b.x32.b32 [%ta], {" + tcRegs(32) + "};\n"
				n, show := c.n, "%e"
				body := "mov.u32 %ta, 0; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32;\n" + fill.String()
				if way == "ld" {
					body += whole + "tcgen05.ld.sync.aligned." + c.shape + ".b32 " + vec + ", [%ta]" + c.half + ";\n"
				} else {
					n, show = 32, "%d"
					body += "tcgen05.st.sync.aligned." + c.shape + ".b32 [%ta]" + c.half + ", " + vec + ";\ntcgen05.ld.sync.aligned.32x32b.x32.b32 {" + tcRegs(32) + "}, [%ta];\n"
				}
				fmt.Fprintf(&save, "mad.wide.u32 %%out, %%t, %d, %%out;\n", 4*n)
				for i := range n {
					fmt.Fprintf(&save, "st.global.u32 [%%out+%d], %s%d;\n", 4*i, show, i)
				}
				got := runBody(t, bodyOpts{version: "8.7", target: "sm_100a", block: 32}, ".reg .b32 %d<32>, %e<8>, %ta;\n.shared .b32 s;", body+save.String(), nil, 32*4*n)
				for th := range 32 {
					for r := range c.n {
						lane, column := c.bit(th, r)
						have, want := word(got, th*n+r), uint32(1000*lane+column)
						if way == "st" {
							have, want = word(got, lane*n+column), uint32(1000*th+r)
						}
						if have != want {
							t.Fatalf("thread %d register %d: %d, want %d", th, r, have, want)
						}
					}
				}
			})
		}
	}
}

// TestTensorMemoryFaults: misuse has words.
func TestTensorMemoryFaults(t *testing.T) {
	for _, c := range []struct{ name, body, says string }{
		{"columns", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 48;", "want a power of two from 32 to 512"},
		{"full", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 512; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32;", "waits for ever"},
		{"not allocated", "tcgen05.ld.sync.aligned.32x32b.x1.b32 %d0, [0];", "which is not allocated"},
		{"beyond", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 512; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%d0, %d1}, [511];", "has 128 lanes and 512 columns"},
		{"another warp's lanes", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; tcgen05.ld.sync.aligned.32x32b.x1.b32 %d0, [0x200000];", "warp 0 of the block reaches lanes 0 to 31"},
		{"given back twice", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; tcgen05.dealloc.cta_group::1.sync.aligned.b32 0, 32; tcgen05.dealloc.cta_group::1.sync.aligned.b32 0, 32;", "not allocated"},
		{"shape", "mov.b32 %d0, 0x1000010; mov.b64 %a0, 0; tcgen05.mma.cta_group::1.kind::f16 [0], %a0, %a0, %d0, 1;", "a shape that the manual does not have"},
		{"scale of integers", "mov.b32 %d0, 0x8040020; mov.b64 %a0, 0; tcgen05.mma.cta_group::1.kind::i8 [0], %a0, %a0, %d0, 1, 2;", "only the kinds f16 and tf32 have"},
		{"half of the lanes", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; tcgen05.ld.sync.aligned.32x32b.x1.b32 %d0, [0x110000];", "from a multiple of 32 on"},
		{"f16 sums of bf16", "mov.b32 %d0, 0x8040480; mov.b64 %a0, 0; tcgen05.mma.cta_group::1.kind::f16 [0], %a0, %a0, %d0, 1;", "sums in f16 of bf16"},
		{"pair", "mov.b32 %d0, 0x10100010; mov.b64 %a0, 0; tcgen05.mma.cta_group::2.kind::f16 [0], %a0, %a0, %d0, 1;", "a cluster of pairs"},
		{"part of a warp", "setp.lt.u32 %p0, %t, 5; @%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32;", "needs all 32 lanes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tryBody(t, bodyOpts{version: "8.7", target: "sm_100a", block: 32}, ".reg .b32 %d<32>;\n.reg .b64 %a0;\n.reg .pred %p0;\n.shared .b32 s;", c.body, nil, 4)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// TestTensorMemoryOptions: packed halves, copies from shared memory, and what a product of zeros leaves of D. Word i of
// shared memory is i; warp 0 shows what its lanes have in columns 0 to 7.
func TestTensorMemoryOptions(t *testing.T) {
	const prepare = `mov.u32 %x, s; mad.lo.u32 %x, %t, 4, %x; mov.u32 %y, %t;
	fill: st.shared.u32 [%x], %y; add.u32 %x, %x, 128; add.u32 %y, %y, 32; setp.lt.u32 %p0, %y, 1024; @%p0 bra fill;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 64; setp.eq.u32 %p1, %t, 0; setp.ne.u32 %p2, %t, %t;
	mov.b64 %a0, 0x0000401000080000; mov.b64 %a1, 0x0000401000080100; mov.b32 %z, 0; mov.b32 %d0, 0x41000000; mov.b32 %d1, 0x41000000; mov.b32 %d2, 7; mov.b32 %d3, 0x4800;
	`
	const zeros = `zero: st.shared.u32 [%x+-4096], %z; add.u32 %x, %x, 128; sub.u32 %y, %y, 32; setp.ge.s32 %p0, %y, 32; @%p0 bra zero; bar.sync 0;
	tcgen05.st.sync.aligned.32x32b.x4.b32 [0], {%d0, %d1, %d2, %d3}; mov.b32 %e0, 2;
	`
	core := func(lane, column int) uint32 { return uint32(lane/8*256+lane%8*16+column/4*128+column%4*4) / 4 }
	for _, c := range []struct {
		name, body string
		want       func(lane, column int) uint32
		columns    int
	}{
		{"unpack", "mov.b32 %d0, 0x20001; mov.b32 %d1, 0x40003; tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [0], {%d0, %d1};", func(_, c int) uint32 { return uint32(c + 1) }, 4},
		{"pack", "mov.b32 %d0, 0x90001; mov.b32 %d1, 0x90002; tcgen05.st.sync.aligned.32x32b.x2.b32 [0], {%d0, %d1}; tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 %d0, [0]; tcgen05.st.sync.aligned.32x32b.x1.b32 [0], %d0;",
			func(int, int) uint32 { return 0x20001 }, 1},
		{"copy of rows", "@%p1 tcgen05.cp.cta_group::1.128x256b [0], %a0;", core, 8},
		{"copy of 32 rows", "@%p1 tcgen05.cp.cta_group::1.32x128b.warpx4 [0], %a0;", core, 4},
		{"copy of 64 rows", "@%p1 tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [0], %a0;", core, 4},
		{"D is kept", zeros + "@%p1 tcgen05.mma.cta_group::1.kind::f16 [0], %a0, %a0, 0x4020010, 1;", func(_, c int) uint32 { return 0x41000000 }, 2},
		{"D is not added", zeros + "@%p1 tcgen05.mma.cta_group::1.kind::f16 [0], %a0, %a0, 0x4020010, 0;", func(_, c int) uint32 { return 0 }, 2},
		{"D is divided by 4", zeros + "@%p1 tcgen05.mma.cta_group::1.kind::f16 [0], %a0, %a0, 0x4020010, 1, 2;", func(_, c int) uint32 { return 0x40000000 }, 2},
		{"lanes stay", zeros + "@%p1 tcgen05.mma.cta_group::1.kind::f16 [0], %a0, %a0, 0x4020010, {%e0, %z, %z, %z}, 0;", func(l, c int) uint32 {
			if l == 1 {
				return 0x41000000
			}
			return 0
		}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := prepare + c.body + "\nmad.wide.u32 %out, %t, 32, %out; tcgen05.ld.sync.aligned.32x32b.x8.b32 {" + tcRegs(8) + "}, [0];\n"
			for i := range 8 {
				body += fmt.Sprintf("st.global.u32 [%%out+%d], %%d%d;\n", 4*i, i)
			}
			got := runBody(t, bodyOpts{version: "8.7", target: "sm_100a", block: 32}, ".reg .b32 %d<32>, %e<8>, %x, %y, %z;\n.reg .b64 %a<2>;\n.reg .pred %p<4>;\n.shared .align 1024 .b8 s[4096];\n.shared .b32 base;", body, nil, 32*32)
			for lane := range 16 { // of 64 rows, warp 0 has 16
				for column := range c.columns {
					if have, want := word(got, lane*8+column), c.want(lane, column); have != want {
						t.Fatalf("lane %d column %d: %#x, want %#x", lane, column, have, want)
					}
				}
			}
		})
	}
}
