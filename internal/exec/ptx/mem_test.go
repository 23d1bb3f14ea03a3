package ptx_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// extend returns the bytes that a register of the given number of bits holds after a load of
// type typ.
func extend(typ string, p []byte, bits int) []byte {
	out := make([]byte, bits/8)
	copy(out, p)
	if typ[0] == 's' && p[len(p)-1]&0x80 != 0 {
		for i := len(p); i < len(out); i++ {
			out[i] = 0xff
		}
	}
	return out
}

// TestLoadsAndStores moves every type, in vectors of every length, through
// registers of every width, in every space, directly and by generic address.
func TestLoadsAndStores(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 32))
	types := []string{"b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64"}
	ran := 0
	for _, typ := range types {
		bits, _ := strconv.Atoi(typ[1:])
		size := bits / 8
		for _, vec := range []int{1, 2, 4, 8} {
			total := size * vec
			if total > 16 && (vec != 8 || size != 4) && (vec != 4 || size != 8) || vec == 8 && size < 4 {
				continue
			}
			for _, reg := range []int{16, 32, 64, 128} {
				if reg < bits || (reg == 128) != (bits == 128) || typ[0] == 'f' && reg != bits {
					continue
				}
				for _, space := range []string{"global", "shared", "local", "", "shared in ", "local in "} {
					if total == 32 && space != "global" {
						continue
					}
					in := make([]byte, 32*total)
					for i := range in {
						in[i] = byte(rnd.Uint32())
					}
					ldq := []string{"", ".volatile", ".weak", ".ca", ".cg", ".cs", ".cv", ".relaxed.gpu", ".acquire.sys", ".relaxed.cta"}
					stq := []string{"", ".volatile", ".weak", ".wb", ".cg", ".cs", ".wt", ".relaxed.gpu", ".release.sys", ".relaxed.cta"}
					q := rnd.IntN(len(ldq))
					if strings.HasPrefix(space, "local") && q >= 7 || q >= 7 && (bits == 128 || total == 32) || q == 1 && total == 32 {
						q = 0
					}
					mem, generic := space, false
					if strings.HasSuffix(space, " in ") {
						mem, generic = strings.TrimSuffix(space, " in "), true
					}
					name := "." + mem
					if mem == "" {
						mem, name, generic = "global", "", true
					}
					if generic {
						name = ""
					}
					qual := func(s string) string { // cache operators follow the space, orders precede it
						if q >= 3 && q <= 6 {
							return name + s
						}
						return s + name
					}
					vecName := ""
					if vec > 1 {
						vecName = fmt.Sprintf(".v%d", vec)
					}
					var b strings.Builder
					fmt.Fprintf(&b, "mul.wide.u32 %%a0, %%t, %d;\nadd.u64 %%a1, %%in0, %%a0;\nmul.wide.u32 %%a2, %%t, %d;\nadd.u64 %%a2, %%out, %%a2;\n", total, vec*reg/8)
					switch mem {
					case "global":
						fmt.Fprintf(&b, "mul.wide.u32 %%a3, %%t, %d;\nadd.u64 %%a3, %%out, %%a3;\nadd.u64 %%a3, %%a3, %d;\n", 2*total, 32*vec*reg/8+32*total)
					case "shared":
						fmt.Fprintf(&b, "mul.wide.u32 %%a3, %%t, %d;\nmov.u64 %%a4, s;\nadd.u64 %%a3, %%a3, %%a4;\n", 2*total)
					case "local":
						b.WriteString("mov.u64 %a3, l;\n")
					}
					for i := range total {
						fmt.Fprintf(&b, "ld.global.u8 %%h, [%%a1+%d];\nst.%s.u8 [%%a3+%d], %%h;\n", i, mem, i)
					}
					addr := "%a3"
					if generic {
						addr = "%a5"
						fmt.Fprintf(&b, "cvta.%s.u64 %%a5, %%a3;\n", mem)
					}
					var list []string
					for i := range vec {
						list = append(list, fmt.Sprintf("%%v%d", i))
					}
					operand := strings.Join(list, ", ")
					if vec > 1 {
						operand = "{" + operand + "}"
					}
					ldInst := "ld" + qual(ldq[q]) + vecName + "." + typ
					stInst := "st" + qual(stq[q]) + vecName + "." + typ
					fmt.Fprintf(&b, "%s %s, [%s];\n", ldInst, operand, addr)
					for i := range vec {
						fmt.Fprintf(&b, "st.global.b%d [%%a2+%d], %%v%d;\n", reg, i*reg/8, i)
					}
					fmt.Fprintf(&b, "%s [%s+%d], %s;\n", stInst, addr, total, operand)
					fmt.Fprintf(&b, "add.u64 %%a6, %%out, %%a0;\n")
					for i := range total {
						fmt.Fprintf(&b, "ld.%s.u8 %%h, [%%a3+%d];\nst.global.u8 [%%a6+%d], %%h;\n", mem, total+i, 32*vec*reg/8+i)
					}
					decls := fmt.Sprintf(".reg .b64 %%a<8>; .reg .b16 %%h; .reg .b%d %%v<8>; .shared .align 32 .b8 s[%d]; .local .align 32 .b8 l[%d];", reg, 64*total, 2*total)
					n := 32 * vec * reg / 8
					got := runBody(t, bodyOpts{version: "9.0", target: "sm_100"}, decls, b.String(), [][]byte{in}, n+32*total+64*total)
					for lane := range 32 {
						for e := range vec {
							k := lane*total + e*size
							want := extend(typ, in[k:k+size], reg)
							at := (lane*vec + e) * reg / 8
							if g := got[at : at+reg/8]; !bytes.Equal(g, want) {
								t.Fatalf("%s into %d bits: %x gives %x, want %x", ldInst, reg, in[k:k+size], g, want)
							}
						}
					}
					if g := got[n : n+32*total]; !bytes.Equal(g, in) {
						t.Fatalf("%s from %d bits: %x, want %x", stInst, reg, g, in)
					}
					ran++
				}
			}
		}
	}
	t.Logf("%d shapes", ran)
	if ran < 300 {
		t.Errorf("only %d shapes ran", ran)
	}
}

// TestConstantsAndParameters: constant memory by name, by address and by
// generic address; parameters with an index.
func TestConstantsAndParameters(t *testing.T) {
	module := `
	.const .align 4 .u32 c[4] = {10, 20, 30, 40};
	.const .align 2 .s16 h = -5;
	.global .align 8 .u64 g[2] = {generic(c), 7};
	.global .u32 w = 99;`
	got := runBody(t, bodyOpts{module: module}, ".reg .b64 %a<8>; .reg .b32 %r<16>;", `
		ld.const.u32 %r0, [c+4];
		and.b32 %r1, %t, 3;
		mul.wide.u32 %a0, %r1, 4;
		mov.u64 %a1, c;
		add.u64 %a1, %a1, %a0;
		ld.const.u32 %r2, [%a1];
		ld.global.u64 %a2, [g];
		add.u64 %a2, %a2, %a0;
		ld.u32 %r3, [%a2];
		ld.const.s16 %r4, [h];
		ld.global.u32 %r5, [g+8];
		ld.global.nc.u32 %r6, [w];
		ldu.global.u32 %r7, [w];
		ld.u32 %r8, [w];
		cvta.const.u64 %a3, %a1;
		ld.u32 %r9, [%a3];
		cvta.to.const.u64 %a3, %a3;
		ld.const.u32 %r10, [%a3];
		add.u32 %r0, %r0, %r2;
		mad.lo.u32 %r0, %r3, 1000, %r0;
		add.u32 %r0, %r0, %r4;
		add.u32 %r0, %r0, %r5;
		add.u32 %r0, %r0, %r6;
		add.u32 %r0, %r0, %r7;
		add.u32 %r0, %r0, %r8;
		add.u32 %r0, %r0, %r9;
		add.u32 %r0, %r0, %r10;
	`+strings.ReplaceAll(at("%r0"), "%a9", "%a7"), nil, 128)
	expect(t, got, func(i int) uint32 {
		c := uint32(10 * (i%4 + 1))
		return 20 + c + 1000*c - 5 + 7 + 3*99 + 2*c
	})
}

// TestAddressSpaces: isspacep and cvta on addresses of every space.
func TestAddressSpaces(t *testing.T) {
	decls := ".reg .b64 %a<8>; .reg .b32 %r<8>; .reg .pred %p<8>; .shared .b32 s[4]; .local .b32 l[4];"
	for k, space := range []string{"global", "shared", "local", "const"} {
		sym := []string{"g", "s", "l", "c"}[k]
		body := fmt.Sprintf("mov.u64 %%a0, %s;\nadd.u64 %%a0, %%a0, 4;\ncvta.%s.u64 %%a1, %%a0;\nmov.u32 %%r0, 0;\n", sym, space)
		for i, q := range []string{"global", "shared", "local", "const"} {
			body += fmt.Sprintf("isspacep.%s %%p%d, %%a1;\n@%%p%d or.b32 %%r0, %%r0, %d;\n", q, i, i, 1<<i)
		}
		body += fmt.Sprintf("cvta.to.%s.u64 %%a2, %%a1;\nsub.u64 %%a2, %%a2, %%a0;\ncvt.u32.u64 %%r1, %%a2;\nshl.b32 %%r1, %%r1, 8;\nor.b32 %%r0, %%r0, %%r1;\nst.global.u32 [%%out], %%r0;\n", space)
		got := runBody(t, bodyOpts{module: ".global .b32 g[4];\n.const .b32 c[4];", block: 1}, decls, body, nil, 4)
		if g, w := word(got, 0), uint32(1)<<k; g != w {
			t.Errorf("address of .%s: isspacep says %#x, want %#x", space, g, w)
		}
	}
}

// TestNullAddress: the null pointer has address 0 in every space.
func TestNullAddress(t *testing.T) {
	decls := ".reg .b64 %a<2>; .reg .b32 %r<2>; .shared .b32 s[4]; .local .b32 l[4];"
	for _, space := range []string{"global", "shared", "local", "const"} {
		body := "mov.u64 %a0, 0;\ncvta.to." + space + ".u64 %a1, %a0;\ncvt.u32.u64 %r0, %a1;\nst.global.u32 [%out], %r0;\n"
		if g := word(runBody(t, bodyOpts{block: 1}, decls, body, nil, 4), 0); g != 0 {
			t.Errorf("the null pointer has address %#x in .%s, want 0", g, space)
		}
	}
}

// TestAlignedFrame: a variable of a called function has the alignment that it asks for, as tensor maps
// need, wherever the caller's frame ends.
func TestAlignedFrame(t *testing.T) {
	module := `
	.func (.param .b32 ret) f()
	{
		.local .align 64 .b8 map[128];
		.reg .b64 %m; .reg .u32 %x;
		mov.u64 %m, map;
		cvt.u32.u64 %x, %m;
		and.b32 %x, %x, 63;
		st.local.u32 [map], %x;
		st.param.b32 [ret], %x;
		ret;
	}`
	body := `{ .param .b32 r; call (r), f, (); ld.param.b32 %r0, [r]; }
	st.global.u32 [%out], %r0;`
	got := runBody(t, bodyOpts{module: module, block: 1}, ".reg .b32 %r<1>; .local .align 4 .b8 mine[20];", "st.local.u32 [mine], 1;\n"+body, nil, 4)
	if x := word(got, 0); x != 0 {
		t.Errorf("the variable lies %d bytes after a multiple of 64", x)
	}
}

// TestLocalMemory: every thread has its own, also in recursion and through a generic address
// passed down.
func TestLocalMemory(t *testing.T) {
	module := `
	.func sum(.param .b64 list, .param .b32 n, .param .b64 to)
	{
		.local .align 8 .b8 box[16];
		.reg .b64 %l, %to, %mine; .reg .u32 %n, %x, %y; .reg .pred %p;
		ld.param.u64 %l, [list];
		ld.param.u32 %n, [n];
		ld.param.u64 %to, [to];
		mov.u32 %x, 0;
		setp.eq.u32 %p, %n, 0;
		@%p bra OUT;
		sub.u32 %n, %n, 1;
		mov.u64 %mine, box;
		cvta.local.u64 %mine, %mine;
		add.u64 %mine, %mine, 8;
		{
			.param .b64 a; .param .b32 b; .param .b64 c;
			st.param.b64 [a], %l;
			st.param.b32 [b], %n;
			st.param.b64 [c], %mine;
			call sum, (a, b, c);
		}
		ld.u32 %x, [%mine];
		mul.wide.u32 %mine, %n, 4;
		add.u64 %l, %l, %mine;
		ld.u32 %y, [%l];
		add.u32 %x, %x, %y;
	OUT:
		st.u32 [%to], %x;
		ret;
	}`
	got := runBody(t, bodyOpts{module: module, block: 64}, regs+".local .align 8 .b32 list[8]; .local .b32 res;", `
		mov.u64 %a0, list;
		mov.u32 %r0, 0;
	L:	mad.lo.u32 %r1, %t, %r0, 3;
		st.local.u32 [%a0], %r1;
		add.u64 %a0, %a0, 4;
		add.u32 %r0, %r0, 1;
		setp.lt.u32 %p0, %r0, 8;
		@%p0 bra L;
		mov.u64 %a1, generic(list);
		mov.u64 %a2, res;
		cvta.local.u64 %a2, %a2;
		and.b32 %r2, %t, 7;
		{
			.param .b64 a; .param .b32 b; .param .b64 c;
			st.param.b64 [a], %a1;
			st.param.b32 [b], %r2;
			st.param.b64 [c], %a2;
			call sum, (a, b, c);
		}
		ld.local.u32 %r3, [res];
	`+at("%r3"), nil, 256)
	expect(t, got, func(i int) uint32 {
		v := uint32(0)
		for k := range uint32(i % 8) {
			v += uint32(i)*k + 3
		}
		return v
	})
}

// TestAddressesOf32Bits: shared, local and parameter memory have 32-bit addresses. Only the low
// half of a 64-bit register counts, as the PTX manual says for ld and st. A pointer minus 64
// whose offset was zero-extended gives such a register. Generic addresses use all 64 bits.
func TestAddressesOf32Bits(t *testing.T) {
	const beyond = "0x3ffffffc0" // 4 times 2^32 - 16
	for _, c := range []struct{ name, body string }{
		{"ld.shared", "st.shared.u32 [s+8], 77;\nmov.u64 %a0, s;\nadd.u64 %a0, %a0, " + beyond + ";\nld.shared.u32 %r0, [%a0+72];"},
		{"st.shared", "mov.u64 %a0, s;\nadd.u64 %a0, %a0, " + beyond + ";\nst.shared.u32 [%a0+72], 77;\nld.shared.u32 %r0, [s+8];"},
		{"vector", "st.shared.u32 [s+8], 77;\nmov.u64 %a0, s;\nadd.u64 %a0, %a0, " + beyond + ";\nld.shared.v2.u32 {%r0, %r1}, [%a0+72];"},
		{"some lanes", "st.shared.u32 [s+8], 77;\nmov.u32 %r0, 77;\nmov.u64 %a0, s;\nadd.u64 %a0, %a0, " + beyond + ";\nsetp.lt.u32 %p0, %t, 7;\n@%p0 ld.shared.u32 %r0, [%a0+72];"},
		{"atomic", "st.shared.u32 [s+8], 77;\nmov.u64 %a0, s;\nadd.u64 %a0, %a0, " + beyond + ";\natom.shared.or.b32 %r0, [%a0+72], 0;"},
		{"cluster", "st.shared.u32 [s+8], 77;\nmov.u64 %a0, s;\nadd.u64 %a0, %a0, " + beyond + ";\nld.shared::cluster.u32 %r0, [%a0+72];"},
		{"asynchronous copy", "mov.u64 %a0, s;\nadd.u64 %a0, %a0, " + beyond + ";\ncp.async.ca.shared.global [%a0+72], [%in0], 4;\ncp.async.wait_all;\nld.shared.u32 %r0, [s+8];"},
		{"ld.local", "st.local.u32 [l+8], 77;\nmov.u64 %a0, l;\nadd.u64 %a0, %a0, " + beyond + ";\nld.local.u32 %r0, [%a0+72];"},
		{"st.local", "mov.u64 %a0, l;\nadd.u64 %a0, %a0, " + beyond + ";\nst.local.u32 [%a0+72], 77;\nld.local.u32 %r0, [l+8];"},
		{"ld.param", "mov.u64 %a0, p_in0;\nadd.u64 %a0, %a0, " + beyond + ";\nld.param.u64 %a1, [%a0+64];\nld.global.u32 %r0, [%a1];"},
		{"an absolute address", "st.shared.u32 [s+8], 77;\nld.shared.u32 %r0, [0x400000008];"},
		{"symbol and constant, ld.shared", "st.shared.u32 [s+8], 77;\nld.shared.u32 %r0, [s+0x400000008];"},
		{"symbol and constant, st.shared", "st.shared.u32 [s+0x400000008], 77;\nld.shared.u32 %r0, [s+8];"},
		{"symbol and constant, atomic", "st.shared.u32 [s+8], 77;\natom.shared.or.b32 %r0, [s+0x400000008], 0;"},
		{"symbol and constant, ld.local", "st.local.u32 [l+8], 77;\nld.local.u32 %r0, [l+0x400000008];"},
		{"symbol and constant, st.local", "st.local.u32 [l+0x400000008], 77;\nld.local.u32 %r0, [l+8];"},
		{"symbol and constant, ld.param", "ld.param.u64 %a1, [p_in0+0x400000000];\nld.global.u32 %r0, [%a1];"},
		{"to generic", "st.shared.u32 [s+8], 77;\nmov.u64 %a0, s;\nadd.u64 %a0, %a0, " + beyond + ";\nadd.u64 %a0, %a0, 72;\ncvta.shared.u64 %a0, %a0;\nld.u32 %r0, [%a0];"},
		{"from generic", "st.shared.u32 [s+8], 77;\nmov.u64 %a0, s;\ncvta.shared.u64 %a0, %a0;\nadd.u64 %a0, %a0, " + beyond + ";\ncvta.to.shared.u64 %a0, %a0;\nld.shared.u32 %r0, [%a0+72];"},
	} {
		in := binary.LittleEndian.AppendUint32(nil, 77)
		decls := regs + ".shared .align 8 .b32 s[4]; .local .align 8 .b32 l[4];"
		for _, stepped := range []bool{false, true} {
			got, err := tryBody(t, bodyOpts{stepped: stepped}, decls, c.body+at("%r0"), [][]byte{in}, 128)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				break
			}
			expect(t, got, func(int) uint32 { return 77 })
		}
	}
	_, err := tryBody(t, bodyOpts{}, regs+".shared .b32 s[4];", "mov.u64 %a0, s;\ncvta.shared.u64 %a0, %a0;\nadd.u64 %a0, %a0, "+beyond+";\nld.u32 %r0, [%a0+64];", nil, 4)
	if err == nil || !strings.Contains(err.Error(), "out-of-bounds read of 4 bytes at 0x401000000") {
		t.Errorf("a generic address beyond the window: %v", err)
	}
}

// TestMemoryFaults: the lane, the space and the size are named.
func TestMemoryFaults(t *testing.T) {
	for _, c := range []struct{ body, want, thread string }{
		{"mul.wide.u32 %a0, %t, 4;\nadd.u64 %a0, %out, %a0;\nld.global.u32 %r0, [%a0];", "out-of-bounds read of 4 bytes", "thread (16,0,0)"},
		{"mul.wide.u32 %a0, %t, 4;\nadd.u64 %a0, %out, %a0;\nst.global.u32 [%a0], %t;", "out-of-bounds write of 4 bytes", "thread (16,0,0)"},
		{"mul.wide.u32 %a0, %t, 8;\nadd.u64 %a0, %out, %a0;\nld.global.u64 %a1, [%a0];", "out-of-bounds read of 8 bytes", "thread (8,0,0)"},
		{"mul.wide.u32 %a0, %t, 16;\nadd.u64 %a0, %out, %a0;\nst.global.v4.u32 [%a0], {%t, %t, %t, %t};", "out-of-bounds write of 16 bytes", "thread (4,0,0)"},
		{"cvt.u64.u32 %a0, %t;\nadd.u64 %a0, %out, %a0;\nld.global.u16 %r0, [%a0];", "misaligned read of 2 bytes", "thread (1,0,0)"},
		{"add.u64 %a0, %out, 8;\nst.global.v2.u64 [%a0], {%a0, %a0};", "misaligned write of 16 bytes", "thread (0,0,0)"},
		{"setp.eq.u32 %p0, %t, 30;\n@%p0 ld.global.u32 %r0, [%out+2];", "misaligned read of 4 bytes", "thread (30,0,0)"},
		{"mov.u64 %a0, 0;\nld.u32 %r0, [%a0];", "read of 4 bytes at 0x0", "thread (0,0,0)"},
		{"mov.u64 %a0, 0xfffffffffffffffc;\nld.global.u32 %r0, [%a0];", "read of 4 bytes at 0xfffffffffffffffc", ""},
		{"mov.u64 %a0, 0xffffffffffffffff;\nst.shared.u8 [%a0], 1;", "out-of-bounds write of 1 bytes at shared address 0xffffffff:", ""},
		{"mov.u64 %a0, 0xfffffffffffffff8;\nld.shared.u64 %a1, [%a0];", "out-of-bounds read of 8 bytes at shared address", ""},
		{"mul.wide.u32 %a0, %t, 4;\nmov.u64 %a1, s;\nadd.u64 %a0, %a0, %a1;\nst.shared.u32 [%a0], 1;", "out-of-bounds write of 4 bytes at shared address 0x20", "thread (8,0,0)"},
		{"mov.u64 %a1, s;\nld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%a1+8];", "misaligned read of 16 bytes", ""},
		{"mul.wide.u32 %a0, %t, 4;\nmov.u64 %a1, l;\nadd.u64 %a0, %a0, %a1;\nld.local.u32 %r0, [%a0];", "out-of-bounds read of 4 bytes at local address 0x10", "thread (4,0,0)"},
		{"mov.u64 %a0, c;\nst.global.u32 [%a0], 1;", "read-only", ""},
		{"ld.param.u64 %a0, [p_out+8];", "parameters", ""},
		{"trap;", "trap", "thread (0,0,0)"},
		{"mov.u64 %a0, 0x04000000;\nst.u32 [%a0], 1;", "read-only", ""},
	} {
		_, err := tryBody(t, bodyOpts{module: ".const .b32 c[4];"}, regs+".shared .align 16 .b32 s[8]; .local .align 16 .b32 l[4];", c.body, nil, 64)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.thread) || !strings.Contains(err.Error(), "test.ptx:") {
			t.Errorf("%s\nerror %v\nwant one with %q and %q", c.body, err, c.want, c.thread)
		}
	}
}

// TestDynamicSharedMemory begins after the declared variables, at the same place for every
// name.
func TestDynamicSharedMemory(t *testing.T) {
	got := runBody(t, bodyOpts{module: ".extern .shared .align 16 .b8 dyn[];\n.extern .shared .b32 dyn2[];", shared: 128}, regs+".shared .b8 odd[3];", `
		st.shared.u8 [odd+2], 200;
		mov.u64 %a0, dyn;
		mul.wide.u32 %a1, %t, 4;
		add.u64 %a0, %a0, %a1;
		st.shared.u32 [%a0], %t;
		bar.sync 0;
		xor.b32 %r0, %t, 31;
		mul.wide.u32 %a1, %r0, 4;
		mov.u64 %a2, dyn2;
		add.u64 %a2, %a2, %a1;
		ld.shared.u32 %r1, [%a2];
		ld.shared.u8 %r2, [odd+2];
		add.u32 %r1, %r1, %r2;
	`+at("%r1"), nil, 128)
	expect(t, got, func(i int) uint32 { return uint32(31-i) + 200 })
	_, err := tryBody(t, bodyOpts{module: ".extern .shared .b32 dyn[];", shared: 128}, regs, "st.shared.u32 [dyn+128], 1;", nil, 4)
	if err == nil || !strings.Contains(err.Error(), "the block has 128 bytes") {
		t.Errorf("beyond the end: %v", err)
	}
	_, err = tryBody(t, bodyOpts{shared: 1 << 20}, regs, "", nil, 4)
	if err == nil || !strings.Contains(err.Error(), "shared memory") {
		t.Errorf("a megabyte: %v", err)
	}
}

// TestMemoryOperands: `_` in vectors, an address register that is
// also a destination, stores of literals and of registers plus a constant.
func TestMemoryOperands(t *testing.T) {
	in := make([]byte, 32)
	for i := range 8 {
		binary.LittleEndian.PutUint32(in[4*i:], uint32(100+i))
	}
	got := runBody(t, bodyOpts{block: 1}, regs+".reg .v2 .b32 %v; .reg .v4 .f32 %w; .shared .b32 s[2]; .local .b32 l;", `
		ld.global.v4.u32 {%r0, _, %r1, _}, [%in0];
		ld.global.v2.b32 %v, [%in0+16];
		st.global.v4.u32 [%out], {%r0, %r1, %v.x, %v.y};
		mov.u64 %a0, %in0;
		ld.global.u32 %r2, [%a0+28];
		st.global.u64 [%in0], %out;
		ld.global.u64 %a0, [%a0];
		st.global.u32 [%a0+16], %r2;
		st.global.u16 [%out+20], -2;
		st.global.u8 [%out+22], 511;
		st.global.f32 [%out+24], 1.5;
		ld.global.v4.f32 %w, [%in0+16];
		st.global.v2.f32 [%out+32], {%w.y, %w.x};
		st.shared.u32 [s+4], 55;
		ld.u32 %r3, [generic(s)+4];
		st.u32 [l], 66;
		ld.u32 %r4, [generic(l)];
		st.global.v2.u32 [%out+40], {%r3, %r4};`, [][]byte{in}, 48)
	for i, w := range []uint32{100, 102, 104, 105, 107, 0x00fffffe, 0x3fc00000, 0, 105, 104, 55, 66} {
		if g := word(got, i); g != w {
			t.Errorf("word %d is %#x, want %#x", i, g, w)
		}
	}
}
