package ptx_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// wgSwizzle is a layout of a matrix in shared memory: its code in descriptors and its width.
type wgSwizzle struct {
	name  string
	code  uint64
	width int // bytes
	bits  int // address bits from 7 on that change those from 4 on
}

var wgSwizzles = []wgSwizzle{{"none", 0, 16, 0}, {"32", 3, 32, 1}, {"64", 2, 64, 2}, {"128", 1, 128, 3}}

// wgLayout places a matrix of mn × k elements (rows of A, columns of B) as a sequence of core
// matrices: eight rows of 16 bytes each without a swizzle; with one, eight rows as wide as the swizzle.
type wgLayout struct {
	wgSwizzle
	base, mn, k, bits int // address, extents, bits of an element
	trans             bool
}

// tiles returns the numbers of tiles along mn and along k, and the bytes of one.
func (l *wgLayout) tiles() (mn, k, size int) {
	across := l.width * 8 / l.bits // elements in a row of a tile
	if l.trans {
		return (l.mn + across - 1) / across, l.k / 8, 8 * l.width
	}
	return l.mn / 8, (l.k + across - 1) / across, 8 * l.width
}

// descriptor encodes the layout. Tiles lie one after another, those along mn first.
func (l *wgLayout) descriptor() uint64 {
	nmn, nk, size := l.tiles()
	_ = nk
	alongMN, alongK := uint64(size), uint64(size*nmn)
	lbo, sbo := alongK, alongMN
	switch {
	case l.trans && l.width > 16:
		lbo, sbo = alongMN, alongK
	case !l.trans && l.width > 16:
		lbo = 16 // ignored
	}
	return uint64(l.base)>>4 | lbo>>4<<16 | sbo>>4<<32 | l.code<<62
}

// bit is the place of an element in shared memory, in bits.
func (l *wgLayout) bit(mn, k int) int {
	nmn, _, size := l.tiles()
	across := l.width * 8 / l.bits
	var tile, row, col int
	if l.trans {
		tile, row, col = mn/across+k/8*nmn, k%8, mn%across
	} else {
		tile, row, col = mn/8+k/across*nmn, mn%8, k%across
	}
	b := 8*(l.base+tile*size+row*l.width) + col*l.bits
	a := b / 8
	for i := range l.bits3() {
		a ^= a >> 3 & (1 << (4 + i))
	}
	return 8*a + b%8
}

func (l *wgLayout) bits3() int { return l.wgSwizzle.bits }

func (l *wgLayout) put(mem []byte, mn, k int, v uint64) {
	at := l.bit(mn, k)
	if l.bits < 8 {
		mem[at/8] |= byte(v) << (at % 8)
		return
	}
	for i := range l.bits / 8 {
		mem[at/8+i] = byte(v >> (8 * i))
	}
}

// wgCase is one product.
type wgCase struct {
	name           string
	n, k           int
	dt, at, bt     tcType
	sat, sp        bool
	sa, sb         wgSwizzle
	regs           bool // A is in registers
	transA, transB bool
	negA, negB     bool
	keep           bool // D is added
	floats         bool // operands are random floats, else small integers
	selector       int  // of sparse A: which pair of four lanes has the metadata; 0 for 8 bits
}

// wgOperands are the bits of the matrices; A is as it is multiplied, packed as it is stored.
type wgOperands struct {
	a, b, d [][]uint64
	packed  [][]uint64
	kept    [][]bool // of sparse A: whether an element is stored
	meta    [128]uint32
}

// random makes operands.
func (c *wgCase) random(rnd *rand.Rand) (o wgOperands) {
	element := func(t tcType) uint64 {
		if !c.floats {
			return t.encode(t.random(rnd))
		}
		if rnd.IntN(400) == 0 {
			return rnd.Uint64() & (1<<t.bits - 1) // infinities and NaN among them
		}
		switch t.name {
		case "f16":
			return rnd.Uint64()&0x83ff | uint64(5+rnd.IntN(16))<<10
		case "bf16":
			return rnd.Uint64()&0x807f | uint64(110+rnd.IntN(30))<<7
		case "tf32":
			return rnd.Uint64()&0x807fffff | uint64(110+rnd.IntN(30))<<23
		}
		return rnd.Uint64() & 0xbf
	}
	fill := func(rows, cols int, t tcType) [][]uint64 {
		m := make([][]uint64, rows)
		for r := range m {
			m[r] = make([]uint64, cols)
			for i := range m[r] {
				m[r][i] = element(t)
			}
		}
		return m
	}
	o.a, o.b = fill(64, c.k, c.at), fill(c.n, c.k, c.bt)
	o.d = make([][]uint64, 64)
	for r := range o.d {
		o.d[r] = make([]uint64, c.n)
		for i := range o.d[r] {
			switch {
			case c.dt.name == "s32" && rnd.IntN(4) == 0:
				o.d[r][i] = uint64(uint32(math.MaxInt32 - rnd.IntN(3)*math.MaxInt32))
			case c.dt.name == "s32":
				o.d[r][i] = uint64(uint32(rnd.IntN(2000) - 1000))
			case c.dt.name == "f16":
				o.d[r][i] = formats["f16"].round(intReal(big.NewInt(int64(rnd.IntN(40)-20))), "rn", 0)
			case c.floats:
				o.d[r][i] = uint64(math.Float32bits(float32(rnd.NormFloat64())))
			default:
				o.d[r][i] = uint64(math.Float32bits(float32(rnd.IntN(200) - 100)))
			}
		}
	}
	o.packed = o.a
	if c.sp {
		c.thin(rnd, &o)
	}
	return o
}

// thin makes A sparse: in each group of four elements two are kept, of tf32 one in two.
func (c *wgCase) thin(rnd *rand.Rand, o *wgOperands) {
	group, bits := 4, 2
	if c.at.name == "tf32" {
		group, bits = 2, 4
	}
	o.packed, o.kept = make([][]uint64, 64), make([][]bool, 64)
	for r := range o.a {
		o.kept[r] = make([]bool, c.k)
		var places []uint32
		for g := 0; g < c.k; g += group {
			kept := []int{rnd.IntN(2)}
			if group == 4 {
				x := rnd.IntN(3)
				kept = []int{x, x + 1 + rnd.IntN(3-x)}
			}
			for i := range group {
				if i != kept[0] && i != kept[len(kept)-1] {
					o.a[r][g+i] = 0
				}
			}
			for _, i := range kept {
				o.kept[r][g+i] = true
				o.packed[r] = append(o.packed[r], o.a[r][g+i])
				if group == 2 {
					places = append(places, []uint32{0b0100, 0b1110}[i])
				} else {
					places = append(places, uint32(i))
				}
			}
		}
		// Where the metadata of a row lie: see mma_sparse.go.
		lane0 := 32*(r/16) + r%8*4 + 2*c.selector
		for i, v := range places {
			bit := i * bits
			if c.at.bits == 8 {
				o.meta[lane0+bit/32*2+r%16/8] |= v << (bit % 32)
			} else {
				o.meta[lane0+bit/16] |= v << (16*(r%16/8) + bit%16)
			}
		}
	}
}

// want computes D.
func (c *wgCase) want(o *wgOperands) [][]uint64 {
	value := func(t tcType, v uint64) int64 {
		if t.name == "s8" {
			return int64(int8(v))
		}
		return int64(v)
	}
	emin := map[string]int{"f16": -14, "bf16": -126, "tf32": -126, "e4m3": -6, "e5m2": -14}
	widened := func(t tcType, v uint64, neg bool) uint32 {
		var x uint32
		switch t.name {
		case "f16":
			x = num.F16ToF32(uint16(v))
		case "bf16":
			x = uint32(v) << 16
		case "tf32":
			x = num.TF32ToF32(uint32(v))
		case "e4m3":
			x = num.NarrowToF32(uint8(v), num.E4M3)
		case "e5m2":
			x = num.NarrowToF32(uint8(v), num.E5M2)
		}
		if neg {
			x ^= 1 << 31
		}
		return x
	}
	bits := int32(num.HopperBits)
	if c.at.bits == 8 {
		bits = num.HopperBitsByte
	}
	d := make([][]uint64, 64)
	terms := func(rows [][]uint64, t tcType, neg bool) []num.Terms {
		list := make([]num.Terms, len(rows))
		for r := range rows {
			list[r].Clear()
			for i, v := range rows[r] {
				list[r].Set(i, widened(t, v, neg), int32(emin[t.name]))
			}
		}
		return list
	}
	var ta, tb []num.Terms
	if emin[c.at.name] != 0 {
		ta, tb = terms(o.a, c.at, c.negA), terms(o.b, c.bt, c.negB)
	}
	for r := range d {
		d[r] = make([]uint64, c.n)
		for j := range d[r] {
			acc := uint64(0)
			if c.keep {
				acc = o.d[r][j]
			}
			if c.sp && tb != nil { // elements of B that meet no stored element of A do not count, not even NaN
				column := slices.Clone(o.b[j])
				for k, kept := range o.kept[r] {
					if !kept {
						column[k] = 0
					}
				}
				tb[j] = terms([][]uint64{column}, c.bt, c.negB)[0]
			}
			switch {
			case c.dt.name == "s32":
				s := int64(int32(acc))
				for k := range c.k {
					if c.at.name == "b1" {
						s += int64(o.a[r][k] & o.b[j][k])
					} else {
						s += value(c.at, o.a[r][k]) * value(c.bt, o.b[j][k])
					}
				}
				if c.sat {
					s = min(max(s, math.MinInt32), math.MaxInt32)
				}
				d[r][j] = uint64(uint32(s))
			case c.dt.name == "f16":
				d[r][j] = uint64(num.HopperF16(uint16(acc), &ta[r], &tb[j], c.k, bits))
			default:
				d[r][j] = uint64(num.HopperF32(uint32(acc), &ta[r], &tb[j], c.k, bits))
			}
		}
	}
	return d
}

// place is the row and column of element v of D (of A in registers, with per elements of 8 to 32 bits) of
// thread t, as PTX documents it.
func wgPlaceD(t, v int) (row, col int) {
	return 16*(t/32) + t%32/4 + 8*(v/2%2), 8*(v/4) + 2*(t%4) + v%2
}

func wgPlaceA(t, v, bits int) (row, k int) {
	row = 16*(t/32) + t%32/4
	switch bits {
	case 32:
		return row + 8*(v%2), 4*(v/2) + t%4
	case 16:
		return row + 8*(v/2%2), 8*(v/4) + 2*(t%4) + v%2
	case 8:
		return row + 8*(v/4%2), 16*(v/8) + 4*(t%4) + v%4
	}
	return row + 8*(v/32%2), 128*(v/64) + 32*(t%4) + v%32
}

// run executes the product and compares D.
func (c *wgCase) run(t *testing.T, rnd *rand.Rand) {
	o := c.random(rnd)
	ka := c.k
	if c.sp {
		ka /= 2
	}
	la := wgLayout{wgSwizzle: c.sa, base: 1024, mn: 64, k: ka, bits: c.at.bits, trans: c.transA}
	lb := wgLayout{wgSwizzle: c.sb, base: 1024 + 32768, mn: c.n, k: c.k, bits: c.bt.bits, trans: c.transB}
	mem := make([]byte, 1024+32768+65536)
	for r := range o.packed {
		for k, v := range o.packed[r] {
			la.put(mem, r, k, v)
		}
	}
	for j := range o.b {
		for k, v := range o.b[j] {
			lb.put(mem, j, k, v)
		}
	}
	perD := 32 / c.dt.bits
	nd, na := c.n/2/perD, 64*ka*c.at.bits/32/128
	// One record of words per thread: D, A, the metadata.
	rec := nd + na + 1
	in := make([]byte, 128*4*rec)
	word := func(t, i int) []byte { return in[4*(t*rec+i):] }
	for th := range 128 {
		for v := range nd * perD {
			r, col := wgPlaceD(th, v)
			x := le.Uint32(word(th, v/perD)) | uint32(o.d[r][col])<<(c.dt.bits*(v%perD))
			le.PutUint32(word(th, v/perD), x)
		}
		per := 32 / c.at.bits
		for v := range na * per {
			r, k := wgPlaceA(th, v, c.at.bits)
			le.PutUint32(word(th, nd+v/per), le.Uint32(word(th, nd+v/per))|uint32(o.packed[r][k])<<(c.at.bits*(v%per)))
		}
		le.PutUint32(word(th, nd+na), o.meta[th])
	}
	list := func(name string, n int) string {
		var s []string
		for i := range n {
			s = append(s, name+strconv.Itoa(i))
		}
		return "{" + strings.Join(s, ", ") + "}"
	}
	var body strings.Builder
	body.WriteString(`
	mov.u32 %x, ` + strconv.Itoa(len(mem)/16/128) + `;
	mul.wide.u32 %p, %t, 16; add.u64 %p, %p, %in0;
	mul.lo.u32 %y, %t, 16; mov.u32 %z, s; add.u32 %y, %y, %z;
copy:
	ld.global.v4.b32 {%m0, %m1, %m2, %m3}, [%p]; st.shared.v4.b32 [%y], {%m0, %m1, %m2, %m3};
	add.u64 %p, %p, 2048; add.u32 %y, %y, 2048; sub.u32 %x, %x, 1; setp.ne.u32 %q, %x, 0; @%q bra copy;
	bar.sync 0;
`)
	fmt.Fprintf(&body, "mad.wide.u32 %%p, %%t, %d, %%in1;\n", 4*rec)
	for i := range nd {
		fmt.Fprintf(&body, "ld.global.b32 %%d%d, [%%p+%d];\n", i, 4*i)
	}
	for i := range na {
		fmt.Fprintf(&body, "ld.global.b32 %%a%d, [%%p+%d];\n", i, 4*(nd+i))
	}
	fmt.Fprintf(&body, "ld.global.b32 %%meta, [%%p+%d];\n", 4*(nd+na))
	a := "%da"
	if c.regs {
		a = list("%a", na)
	}
	fmt.Fprintf(&body, "mov.b64 %%da, %#x; mov.b64 %%db, %#x; setp.ne.u32 %%q, %d, 0;\n", la.descriptor(), lb.descriptor(), btoi(c.keep))
	ops := []string{list("%d", nd), a, "%db"}
	if c.sp {
		ops = append(ops, "%meta", strconv.Itoa(c.selector))
	}
	ops = append(ops, "%q")
	sign := func(neg bool) string { return map[bool]string{false: "1", true: "-1"}[neg] }
	if c.dt.name != "s32" {
		ops = append(ops, sign(c.negA), sign(c.negB))
	}
	if c.at.bits == 16 {
		if !c.regs {
			ops = append(ops, strconv.Itoa(btoi(c.transA)))
		}
		ops = append(ops, strconv.Itoa(btoi(c.transB)))
	}
	body.WriteString("wgmma.fence.sync.aligned;\n" + c.name + " " + strings.Join(ops, ", ") + ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n")
	fmt.Fprintf(&body, "mad.wide.u32 %%p, %%t, %d, %%out;\n", 4*nd)
	for i := range nd {
		fmt.Fprintf(&body, "st.global.b32 [%%p+%d], %%d%d;\n", 4*i, i)
	}
	decls := fmt.Sprintf(".reg .b32 %%x, %%y, %%z, %%m<4>, %%d<%d>, %%a<%d>, %%meta;\n.reg .b64 %%p, %%da, %%db;\n.reg .pred %%q;\n.shared .align 1024 .b8 s[%d];", nd, max(1, na), len(mem))
	out := runBody(t, bodyOpts{version: "8.4", target: "sm_90a", block: 128}, decls, body.String(), [][]byte{mem, in}, 128*4*nd)
	want := c.want(&o)
	for th := range 128 {
		for v := range nd * perD {
			r, col := wgPlaceD(th, v)
			got := uint64(le.Uint32(out[4*(th*nd+v/perD):])) >> (c.dt.bits * (v % perD)) & (1<<c.dt.bits - 1)
			if got != want[r][col] {
				t.Fatalf("row %d, column %d: %#x, want %#x", r, col, got, want[r][col])
			}
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestWgmma executes products of all types with operands of all kinds: small integers, where every
// sum is exact, and floats. By default a few shapes of each; all with HEDDLE_ALL=1.
func TestWgmma(t *testing.T) {
	count := 0
	for _, f := range ptx.Forms() {
		if f.Op != "wgmma" {
			continue
		}
		f.Expand(func(mods []string) bool {
			var types []string
			c := wgCase{name: "wgmma." + strings.Join(mods, ".")}
			for _, m := range mods {
				if ptx.Type(m).Known() {
					types = append(types, m)
				}
				if _, n, k, ok := ptx.ParseShape(m); ok && k > 0 {
					c.n, c.k = n, k
				}
				c.sp, c.sat = c.sp || m == "sp", c.sat || m == "satfinite"
			}
			if len(types) != 3 {
				return true
			}
			c.dt, c.at, c.bt = tcTypeOf(types[0]), tcTypeOf(types[1]), tcTypeOf(types[2])
			if !alltests.On() && c.n != 8 && c.n != 24 && (c.n != 256 || count%5 != 0) {
				count++
				return true
			}
			count++
			rnd := tcRand(c.name)
			t.Run(c.name, func(t *testing.T) {
				for round := range 4 {
					c.sa, c.sb = wgSwizzles[rnd.IntN(4)], wgSwizzles[rnd.IntN(4)]
					c.regs, c.keep = rnd.IntN(3) == 0, rnd.IntN(3) != 0
					c.negA, c.negB = c.dt.name != "s32" && rnd.IntN(3) == 0, c.dt.name != "s32" && rnd.IntN(3) == 0
					c.floats = c.dt.name != "s32" && round%2 == 1
					c.transA, c.transB, c.selector = false, false, 0
					if c.sp && c.at.bits > 8 {
						c.selector = round % 2
					}
					if c.at.bits == 16 {
						c.transA, c.transB = !c.regs && rnd.IntN(2) == 0, rnd.IntN(2) == 0
					}
					if c.sp && !c.transB && c.sb.name == "32" { // too narrow for the columns of B
						c.sb = wgSwizzles[0]
					}
					if alltests.On() || round < 2 {
						c.run(t, rnd)
					}
				}
			})
			return true
		})
	}
}

// TestWgmmaLayouts multiplies with every swizzle and both majors of A and of B.
func TestWgmmaLayouts(t *testing.T) {
	for _, dt := range []string{"f16", "s8", "tf32", "b1"} {
		for _, sa := range wgSwizzles {
			for _, sb := range wgSwizzles {
				for trans := range 4 {
					c := wgCase{n: 64, k: 16, dt: tcTypeOf("f32"), at: tcTypeOf(dt), bt: tcTypeOf(dt), sa: sa, sb: sb, keep: true, transA: trans&1 != 0, transB: trans&2 != 0}
					c.name = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
					switch dt {
					case "s8":
						c.k, c.dt, c.name = 32, tcTypeOf("s32"), "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8"
					case "tf32":
						c.k, c.name = 8, "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32"
					case "b1":
						c.k, c.dt, c.name = 256, tcTypeOf("s32"), "wgmma.mma_async.sync.aligned.m64n64k256.s32.b1.b1.and.popc"
					}
					if dt != "f16" && trans != 0 {
						continue
					}
					t.Run(fmt.Sprint(dt, " ", sa.name, " ", sb.name, " ", trans), func(t *testing.T) { c.run(t, tcRand(sa.name+sb.name)) })
				}
			}
		}
	}
}

// TestWgmmaFaults: what is refused, at decoding and at run time.
func TestWgmmaFaults(t *testing.T) {
	const mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, "
	const decls = ".reg .b32 %d<4>;\n.reg .b64 %a<4>;\n.reg .pred %p<2>;\n.shared .align 1024 .b8 s[8192];"
	desc := func(v uint64) string { return fmt.Sprintf("mov.b64 %%a0, %#x; mov.b64 %%a1, %#x; ", v, 8<<16|16<<32) }
	for _, c := range []struct {
		name, body, says string
		block            uint32
	}{
		{"beyond", desc(0x3ff0>>4|0x3fff<<32) + mma + "%a0, %a1, 1, 1, 1, 0, 0;", "reads matrix A at shared address", 128},
		{"base offset", desc(1<<49|1<<62) + mma + "%a0, %a1, 1, 1, 1, 0, 0;", "base offset 1", 128},
		{"one warp", desc(8<<16|16<<32) + mma + "%a0, %a1, 1, 1, 1, 0, 0;", "needs a warp group", 32},
		{"part of a warp", desc(8<<16|16<<32) + "setp.lt.u32 %p0, %t, 5; @%p0 " + mma + "%a0, %a1, 1, 1, 1, 0, 0;", "needs all 32 lanes", 128},
		{"narrow", "mov.u32 %t, 0x44444444; mov.b64 %a0, 0; mov.b64 %a1, 0xc000000000000000; wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a0, %a1, %t, 0, 1, 1, 1, 0, 0;", "64 bytes along k", 128},
		{"scale", desc(0) + mma + "%a0, %a1, 1, 2, 1, 0, 0;", "it must be 1 or -1", 128},
		{"transposition", desc(0) + mma + "%a0, %a1, 1, 1, 1, 0, 7;", "it must be 0 or 1", 128},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tryBody(t, bodyOpts{version: "8.4", target: "sm_90a", block: c.block}, decls, c.body, nil, 4)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// TestWgmmaGroup: the warps of a group go on from a product together, so that the first may overwrite
// its operands as soon as it has waited; one that does not come is missed.
func TestWgmmaGroup(t *testing.T) {
	const decls = ".reg .b32 %d<4>, %x, %w;\n.reg .b64 %a<2>;\n.reg .pred %p<2>;\n.shared .align 1024 .b8 s[1024];"
	body := func(before string) string {
		return `shr.u32 %w, %t, 5; setp.eq.u32 %p0, %w, 0; mov.u32 %x, s; mad.lo.u32 %x, %t, 4, %x; mov.b64 %a0, 0;
		@%p0 st.shared.u32 [%x], 0x3c003c00;
		bar.sync 0;
		` + before + `
		wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a0, %a0, 0, 1, 1, 0, 0;
		wgmma.commit_group.sync.aligned;
		wgmma.wait_group.sync.aligned 0;
		@%p0 st.shared.u32 [%x], 0;
		mul.wide.u32 %a1, %t, 4; add.u64 %out, %out, %a1; st.global.u32 [%out], %d3;`
	}
	o := bodyOpts{version: "8.4", target: "sm_90a", block: 256}
	got := runBody(t, o, decls, body(""), nil, 4*256)
	for i := range 256 {
		if x := math.Float32frombits(word(got, i)); x != 16 {
			t.Errorf("thread %d has %g, want 16", i, x)
		}
	}
	for _, order := range []exec.Sequence{{Reverse: true}, {Seed: 3}, {Seed: 4}} {
		o.order = order
		if again := runBody(t, o, decls, body(""), nil, 4*256); !bytes.Equal(again, got) {
			t.Errorf("in order %v: another result", order)
		}
	}
	o.order = exec.Sequence{}
	const says = "waits for the others of its warp group, of which 96 of 128 threads have come"
	if _, err := tryBody(t, o, decls, body("setp.eq.u32 %p1, %w, 6; @%p1 exit;"), nil, 4*256); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %q", err, says)
	}
}

// TestWgmmaBegins: a product begins when the last warp of its group has issued it, so that it has what that one
// has written before, in every order of warps.
func TestWgmmaBegins(t *testing.T) {
	const decls = ".reg .b32 %d<4>, %x, %w;\n.reg .b64 %a<2>;\n.reg .pred %p<2>;\n.shared .align 1024 .b8 s[1024];"
	const body = `shr.u32 %w, %t, 5; setp.eq.u32 %p0, %w, WRITER; and.b32 %x, %t, 31; mad.lo.u32 %x, %x, 16, s; mov.b64 %a0, 0;
		@%p0 st.shared.v4.u32 [%x], {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};
		@%p0 fence.proxy.async;
		wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a0, %a0, 0, 1, 1, 0, 0;
		wgmma.commit_group.sync.aligned;
		wgmma.wait_group.sync.aligned 0;
		mul.wide.u32 %a1, %t, 4; add.u64 %out, %out, %a1; st.global.u32 [%out], %d3;`
	for writer := range 4 {
		for _, order := range []exec.Sequence{{}, {Reverse: true}, {Seed: 3}} {
			o := bodyOpts{version: "8.4", target: "sm_90a", block: 128, order: order}
			got := runBody(t, o, decls, strings.Replace(body, "WRITER", fmt.Sprint(writer), 1), nil, 4*128)
			for i := range 128 {
				if x := math.Float32frombits(word(got, i)); x != 16 {
					t.Fatalf("warp %d writes, in order %v: thread %d has %g, want 16", writer, order, i, x)
				}
			}
		}
	}
}

// BenchmarkWgmma counts products of m64n256k16, four warps each.
func BenchmarkWgmma(b *testing.B) {
	var ds []string
	for i := range 128 {
		ds = append(ds, fmt.Sprintf("%%d%d", i))
	}
	body := fmt.Sprintf(`mov.b64 %%a0, %#x; mov.b64 %%a1, %#x; mov.u32 %%x, 0;
	mov.u32 %%y, s; mad.lo.u32 %%y, %%t, 4, %%y; mov.u32 %%z, %%t;
fill:
	mad.lo.u32 %%z, %%z, 1664525, 1013904223; and.b32 %%z, %%z, 0x9fff9fff; or.b32 %%z, %%z, 0x24002400;
	st.shared.u32 [%%y], %%z; add.u32 %%y, %%y, 512; add.u32 %%x, %%x, 1; setp.lt.u32 %%p0, %%x, 48; @%%p0 bra fill;
	bar.sync 0; mov.u32 %%x, 0;
next: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%s}, %%a0, %%a1, 1, 1, 1, 0, 0;
	add.u32 %%x, %%x, 1; setp.lt.u32 %%p0, %%x, %d; @%%p0 bra next;`, uint64(0)|1<<16|64<<32|1<<62, uint64(512)|1<<16|16<<32, strings.Join(ds, ", "), b.N)
	b.ResetTimer()
	runBody(b, bodyOpts{version: "8.4", target: "sm_90a", block: 128, maxInsts: 1 << 40}, ".reg .b32 %d<128>, %x, %y, %z;\n.reg .b64 %a<4>;\n.reg .pred %p<2>;\n.shared .align 1024 .b8 s[24576];", body, nil, 4)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "products/s")
}
