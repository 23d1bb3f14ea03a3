package ptx_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// tcMemory is a matrix in memory: rows (or columns) stride elements apart.
type tcMemory struct {
	t      tcType
	row    bool
	stride int
	off    int // bytes
}

func (m tcMemory) bit(r, c int) int {
	if !m.row {
		r, c = c, r
	}
	return 8*m.off + (r*m.stride+c)*m.t.bits
}

func (m tcMemory) put(mem []byte, x matrix) {
	for r := range x {
		for c := range x[r] {
			v, bit := m.t.encode(x[r][c]), m.bit(r, c)
			for i := range m.t.bits {
				mem[(bit+i)/8] |= byte(v>>i&1) << ((bit + i) % 8)
			}
		}
	}
}

func (m tcMemory) get(mem []byte, r, c int) (v uint64) {
	bit := m.bit(r, c)
	for i := range m.t.bits {
		v |= uint64(mem[(bit+i)/8]>>((bit+i)%8)&1) << i
	}
	return v
}

// TestWMMA loads, multiplies and stores matrices for every combination of
// wmma.mma, through every space, with and without strides, and with C and D by
// rows and by columns. Every combination of wmma.load and wmma.store must have
// come up in it.
func TestWMMA(t *testing.T) {
	alltests.Only(t, "matrix products of every form")
	done := map[string]bool{}
	index := 0
	keep := func(mods []string) bool { return mods[0] == "mma" }
	eachMMA(t, "wmma", keep, func(t *testing.T, c mmaCase) {
		index++
		for v := range 8 {
			c.runWMMA(t, done, []string{"", ".global", ".shared", ".shared::cta"}[v%4], v < 4, (v+index)%2 == 0, (v+v/4)%2 == 0, v >= 4)
		}
	})
	missing, n := 0, 0
	for _, form := range ptx.Forms() {
		if form.Op != "wmma" {
			continue
		}
		form.Expand(func(mods []string) bool {
			if name := "wmma." + strings.Join(mods, "."); mods[0] != "mma" {
				n++
				if !done[name] {
					missing++
					t.Errorf("%s was not executed", name)
				}
			}
			return missing < 10
		})
	}
	t.Logf("%d combinations of wmma.load and wmma.store", n)
}

func (c *mmaCase) runWMMA(t *testing.T, done map[string]bool, space string, cRow, dRow, strided, genericShared bool) {
	t.Helper()
	rnd := tcRand(fmt.Sprint(c.name, space, cRow, dRow))
	var layouts []string
	for _, m := range c.mods {
		if m == "row" || m == "col" {
			layouts = append(layouts, m)
		}
	}
	a, b, cc := randomMatrix(rnd, c.m, c.k, c.at), randomMatrix(rnd, c.k, c.n, c.bt), randomMatrix(rnd, c.m, c.n, c.ct)
	if c.ct.name == "s32" {
		tcNear(cc, rnd)
	}
	want := tcProduct(a, b, cc, c.combine)
	end := 0
	place := func(ty tcType, rows, cols int, row bool) tcMemory {
		m := tcMemory{t: ty, row: row, off: end, stride: when(row, cols, rows)}
		if strided {
			m.stride += max(8, 256/ty.bits) // the manual wants multiples of 16 bytes
		}
		end += (when(row, rows, cols)*m.stride*ty.bits/8 + 127) &^ 127
		return m
	}
	ma, mb := place(c.at, c.m, c.k, layouts[0] == "row"), place(c.bt, c.k, c.n, layouts[1] == "row")
	mc, md := place(c.ct, c.m, c.n, cRow), place(c.dt, c.m, c.n, dRow)
	mem := make([]byte, end)
	ma.put(mem, a)
	mb.put(mem, b)
	mc.put(mem, cc)
	width := c.regs()
	count := func(ty tcType, n int) int { return n * ty.bits / width / 32 }
	na, nb := count(c.at, c.m*c.k), count(c.bt, c.k*c.n)
	if c.at.name == "f16" {
		na, nb = 8, 8
	}
	var decls, body strings.Builder
	fmt.Fprintf(&decls, ".reg .b64 %%m, %%s, %%x;\n.reg .b32 %%i, %%v, %%ld<4>;\n.reg .pred %%p;\n.shared .align 128 .b8 sm[%d];\n", end)
	frag := func(r string, n int) string {
		fmt.Fprintf(&decls, ".reg .b%d %%%s<%d>;\n", width, r, n)
		var l []string
		for i := range n {
			l = append(l, fmt.Sprintf("%%%s%d", r, i))
		}
		return "{" + strings.Join(l, ", ") + "}"
	}
	fa, fb, fc, fd := frag("a", na), frag("b", nb), frag("c", count(c.ct, c.m*c.n)), frag("d", count(c.dt, c.m*c.n))
	inShared := strings.HasPrefix(space, ".shared") || space == "" && genericShared
	loop := func(label, dst, src string, bytes int) {
		fmt.Fprintf(&body, "mov.u32 %%i, %%t;\n%[1]s:\nsetp.ge.u32 %%p, %%i, %[2]d;\n@%%p bra %[1]s_end;\n%[3]s\n%[4]s\nadd.u32 %%i, %%i, 32;\nbra %[1]s;\n%[1]s_end:\nbar.sync 0;\n",
			label, bytes/4, src, dst)
	}
	switch {
	case inShared:
		fmt.Fprintf(&body, "mov.u64 %%m, sm;\n")
		loop("in", "add.u64 %x, %x, %m; st.shared.u32 [%x], %v;",
			"mul.wide.u32 %x, %i, 4; add.u64 %s, %x, %in0; ld.global.u32 %v, [%s];", end)
		if space == "" {
			fmt.Fprintf(&body, "cvta.shared.u64 %%m, %%m;\n")
		}
	default:
		fmt.Fprintf(&body, "mov.u64 %%m, %%in0;\n")
	}
	ld := func(i int, m tcMemory) string {
		if !strided {
			return ""
		}
		fmt.Fprintf(&body, "mov.u32 %%ld%d, %d;\n", i, m.stride)
		return fmt.Sprintf(", %%ld%d", i)
	}
	layout := func(m tcMemory) string { return map[bool]string{true: "row", false: "col"}[m.row] }
	move := func(what string, m tcMemory) string {
		s := fmt.Sprintf("wmma.%s.sync.aligned.%s.%s%s.%s", what, layout(m), c.shape, space, m.t.name)
		done[s] = true
		return s
	}
	for i, x := range []struct {
		what, regs string
		m          tcMemory
	}{{"load.a", fa, ma}, {"load.b", fb, mb}, {"load.c", fc, mc}} {
		tail := ld(i, x.m)
		fmt.Fprintf(&body, "%s %s, [%%m+%d]%s;\n", move(x.what, x.m), x.regs, x.m.off, tail)
	}
	fmt.Fprintf(&body, "%s %s, %s, %s, %s;\n", c.name, fd, fa, fb, fc)
	tail := ld(3, md)
	base, size := fmt.Sprintf("%%m+%d", md.off), end-md.off
	if !inShared {
		base = "%out"
	}
	fmt.Fprintf(&body, "%s [%s], %s%s;\n", move("store.d", md), base, fd, tail)
	if inShared {
		fmt.Fprintf(&body, "bar.sync 0;\nmov.u64 %%m, sm;\n")
		loop("back", "mul.wide.u32 %x, %i, 4; add.u64 %s, %x, %out; st.global.u32 [%s], %v;",
			fmt.Sprintf("mul.wide.u32 %%x, %%i, 4; add.u64 %%x, %%x, %%m; ld.shared.u32 %%v, [%%x+%d];", md.off), size)
	}
	got := runBody(t, tcOpts, decls.String(), body.String(), [][]byte{mem}, size)
	md.off = 0
	for r := range want {
		for col := range want[r] {
			if g, x := md.get(got, r, col), tcResult(md.t, want[r][col], c.sat); !c.equal(g, x) {
				t.Fatalf("%s, C by rows %v, D by rows %v, strided %v: D[%d][%d] = %#x, want %#x", space, cRow, dRow, strided, r, col, g, x)
			}
		}
	}
	// Between rows nothing was written.
	for r := range want {
		for col := range want[r] {
			bit := md.bit(r, col)
			clear(got[bit/8 : bit/8+md.t.bits/8])
		}
	}
	if i := slices.IndexFunc(got, func(b byte) bool { return b != 0 }); i >= 0 {
		t.Errorf("%s wrote byte %d, which is not of its matrix", space, i)
	}
}

// TestWMMASatfinite: .satfinite of float results as PTX had it until 6.4:
// infinities become the largest finite number, NaN becomes +0.
func TestWMMASatfinite(t *testing.T) {
	const a = 0x7c00fc00 // +inf, -inf; as f16 of A's first row
	for _, c := range []struct{ sat, typ, want string }{
		{"", "f16", "7c00 fc00 7fff 3c00"},
		{".satfinite", "f16", "7bff fbff 0000 3c00"},
		{"", "f32", "7f800000 ff800000 7fffffff 3f800000"},
		{".satfinite", "f32", "7f7fffff ff7fffff 00000000 3f800000"},
	} {
		mem := make([]byte, 3*1024)
		set16 := func(off int, v uint16) { binary.LittleEndian.PutUint16(mem[off:], v) }
		set16(0, a>>16)       // A[0][0] = +inf
		set16(2*16, a&0xffff) // A[1][0] = -inf
		set16(2*32, 0x7e00)   // A[2][0] = NaN
		set16(2*48, 0x3c00)   // A[3][0] = 1
		set16(1024, 0x3c00)   // B[0][0] = 1
		body := fmt.Sprintf(`wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%%a0,%%a1,%%a2,%%a3,%%a4,%%a5,%%a6,%%a7}, [%%in0];
wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%%b0,%%b1,%%b2,%%b3,%%b4,%%b5,%%b6,%%b7}, [%%in0+1024];
`)
		regs := 8
		if c.typ == "f16" {
			regs = 4
		}
		var l []string
		for i := range regs {
			l = append(l, fmt.Sprintf("%%c%d", i))
			body += fmt.Sprintf("mov.b32 %%c%d, 0;\n", i)
		}
		frag := "{" + strings.Join(l, ",") + "}"
		body += fmt.Sprintf("wmma.mma.sync.aligned.row.row.m16n16k16.%s.%s%s %s, {%%a0,%%a1,%%a2,%%a3,%%a4,%%a5,%%a6,%%a7}, {%%b0,%%b1,%%b2,%%b3,%%b4,%%b5,%%b6,%%b7}, %s;\n", c.typ, c.typ, c.sat, frag, frag)
		body += fmt.Sprintf("wmma.store.d.sync.aligned.row.m16n16k16.global.%s [%%out], %s;\n", c.typ, frag)
		got := runBody(t, bodyOpts{version: "6.4", target: "sm_70"}, ".reg .b32 %a<8>, %b<8>, %c<8>;", body, [][]byte{mem}, 1024)
		var out []string
		for row := range 4 {
			if c.typ == "f16" {
				out = append(out, fmt.Sprintf("%04x", binary.LittleEndian.Uint16(got[32*row:])))
			} else {
				out = append(out, fmt.Sprintf("%08x", binary.LittleEndian.Uint32(got[64*row:])))
			}
		}
		if s := strings.Join(out, " "); s != c.want {
			t.Errorf("%s%s: column 0 is %s, want %s", c.typ, c.sat, s, c.want)
		}
	}
}

// TestWMMAFaults: addresses that a fragment's load or store cannot take. The
// matrix of 16×16 f16 has 512 bytes, and so has the buffer.
func TestWMMAFaults(t *testing.T) {
	const regs = "{%r0, %r1, %r2, %r3}"
	for _, c := range []struct{ inst, want string }{
		{"wmma.load.c.sync.aligned.row.m16n16k16.global.f16 " + regs + ", [%out];", ""},
		{"wmma.load.c.sync.aligned.row.m16n16k16.global.f16 " + regs + ", [%out+2];", `out-of-bounds read of 2 bytes`},
		{"wmma.load.c.sync.aligned.col.m16n16k16.f16 " + regs + ", [%out+1];", "misaligned read of 2 bytes"},
		{"wmma.load.c.sync.aligned.row.m16n16k16.global.f16 " + regs + ", [%out], 17;", "out-of-bounds read of 2 bytes"},
		{"wmma.load.c.sync.aligned.row.m16n16k16.global.f16 " + regs + ", [%out], 0;", ""}, // every row is the first
		{"wmma.store.d.sync.aligned.col.m16n16k16.global.f16 [%out], " + regs + ", 24;", "out-of-bounds write of 2 bytes"},
		{"wmma.store.d.sync.aligned.row.m16n16k16.f16 [%out+3], " + regs + ";", "misaligned write of 2 bytes"},
		{"wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [sm], " + regs + ";", "out-of-bounds write of 2 bytes at shared address"},
		{"wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r0}, [%out], 33;", "misaligned read of 4 bytes"},
		{"setp.ne.u32 %p, %t, 31; @%p wmma.store.d.sync.aligned.row.m16n16k16.f16 [%out], " + regs + ";", "needs all 32 lanes of its warp, but only lanes 0x7fffffff"},
	} {
		_, err := tryBody(t, bodyOpts{}, ".reg .b32 %r<4>; .reg .pred %p; .shared .align 32 .b8 sm[256];", c.inst, nil, 512)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.inst, err, c.want)
		}
	}
}
