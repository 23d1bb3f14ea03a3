package ptx_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// matrixKernel writes the body that all tests of ldmatrix and stmatrix share: shared memory is
// filled from %in0, each lane reads its address within it from %in1 and values from %in2, the
// instruction runs, registers %r go to %out, followed by shared memory.
func matrixKernel(inst string, shared, regs int) (decls, body string) {
	decls = fmt.Sprintf(`.reg .b64 %%x, %%y, %%m, %%g, %%a;
.reg .b32 %%i, %%v, %%o, %%a32, %%r<4>;
.reg .pred %%p;
.shared .align 16 .b8 sm[%d];`, shared)
	body = fmt.Sprintf(`mov.u64 %%m, sm;
mov.u32 %%i, %%t;
fill:
setp.ge.u32 %%p, %%i, %[1]d;
@%%p bra filled;
mul.wide.u32 %%x, %%i, 4;
add.u64 %%y, %%x, %%in0;
ld.global.u32 %%v, [%%y];
add.u64 %%x, %%x, %%m;
st.shared.u32 [%%x], %%v;
add.u32 %%i, %%i, 32;
bra fill;
filled:
bar.sync 0;
mul.wide.u32 %%x, %%t, 4;
add.u64 %%y, %%x, %%in1;
ld.global.u32 %%o, [%%y];
cvt.u64.u32 %%a, %%o;
add.u64 %%a, %%a, %%m;
cvt.u32.u64 %%a32, %%a;
cvta.shared.u64 %%g, %%a;
mul.wide.u32 %%x, %%t, 16;
add.u64 %%y, %%x, %%in2;
ld.global.v4.u32 {%%r0, %%r1, %%r2, %%r3}, [%%y];
%[2]s
add.u64 %%y, %%x, %%out;
st.global.v4.u32 [%%y], {%%r0, %%r1, %%r2, %%r3};
bar.sync 0;
mov.u32 %%i, %%t;
back:
setp.ge.u32 %%p, %%i, %[1]d;
@%%p bra done;
mul.wide.u32 %%x, %%i, 4;
add.u64 %%y, %%x, %%m;
ld.shared.u32 %%v, [%%y];
add.u64 %%x, %%x, %%out;
st.global.u32 [%%x+512], %%v;
add.u32 %%i, %%i, 32;
bra back;
done:`, shared/4, inst)
	return decls, body
}

// registers names the first n of %r0 … %r3 as a vector.
func registers(n int) string {
	return "{" + strings.Join([]string{"%r0", "%r1", "%r2", "%r3"}[:n], ", ") + "}"
}

// matrixInput is random shared memory, row addresses in a random order (a row
// of 16 bytes for each lane), and random registers.
func matrixInput(name string, shared int) (mem, addr, regs []byte, rows []int) {
	rnd := tcRand(name)
	mem, addr, regs = make([]byte, shared), make([]byte, 128), make([]byte, 512)
	for _, b := range [][]byte{mem, regs} {
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
	}
	for lane, row := range rnd.Perm(shared / 16)[:32] {
		rows = append(rows, 16*row)
		binary.LittleEndian.PutUint32(addr[4*lane:], uint32(16*row))
	}
	return mem, addr, regs, rows
}

// TestLdmatrix loads 1, 2 and 4 matrices whose rows lie anywhere. Element
// (r, c) of matrix j is at the address of lane 8j+r, c elements further.
func TestLdmatrix(t *testing.T) {
	const shared = 2048
	for _, n := range []int{1, 2, 4} {
		for _, trans := range []string{"", ".trans"} {
			for _, space := range []string{"", ".shared", ".shared::cta", "32"} {
				a := map[string]string{"": "%g", "32": "%a32"}[space]
				if a == "" {
					a = "%a"
				}
				inst := fmt.Sprintf("ldmatrix.sync.aligned.m8n8.x%d%s%s.b16 %s, [%s];", n, trans, strings.Replace(space, "32", ".shared", 1), registers(n), a)
				mem, addr, regs, rows := matrixInput(inst, shared)
				decls, body := matrixKernel(inst, shared, n)
				out := runBody(t, bodyOpts{}, decls, body, [][]byte{mem, addr, regs}, 512+shared)
				for lane := range 32 {
					for j := range 4 {
						got, want := binary.LittleEndian.Uint32(out[16*lane+4*j:]), binary.LittleEndian.Uint32(regs[16*lane+4*j:])
						if j < n {
							want = 0
							for e := range 2 {
								r, c := lane/4, lane%4*2+e
								if trans != "" {
									r, c = c, r
								}
								want |= uint32(binary.LittleEndian.Uint16(mem[rows[8*j+r]+2*c:])) << (16 * e)
							}
						}
						if got != want {
							t.Fatalf("%s lane %d register %d: %#x, want %#x", inst, lane, j, got, want)
						}
					}
				}
			}
		}
	}
}

// TestLdmatrixUnpack: rows of sixteen elements of 6 or 4 bits become bytes.
func TestLdmatrixUnpack(t *testing.T) {
	const shared = 2048
	for _, n := range []int{1, 2, 4} {
		for format, width := range map[string]int{"b6x16_p32": 6, "b4x16_p64": 4} {
			inst := fmt.Sprintf("ldmatrix.sync.aligned.m8n16.x%d.shared.b8x16.%s %s, [%%a];", n, format, registers(n))
			mem, addr, regs, rows := matrixInput(inst, shared)
			decls, body := matrixKernel(inst, shared, n)
			out := runBody(t, bodyOpts{version: "8.8", target: "sm_100a"}, decls, body, [][]byte{mem, addr, regs}, 512+shared)
			for lane := range 32 {
				for j := range n {
					for e := range 4 {
						var want byte
						for bit := range width {
							at := (lane%4*4+e)*width + bit
							want |= mem[rows[8*j+lane/4]+at/8] >> (at % 8) & 1 << bit
						}
						if got := out[16*lane+4*j+e]; got != want {
							t.Fatalf("%s lane %d register %d byte %d: %#x, want %#x", inst, lane, j, e, got, want)
						}
					}
				}
			}
		}
	}
}

// TestStmatrix stores 1, 2 and 4 matrices; nothing else of shared memory
// changes.
func TestStmatrix(t *testing.T) {
	const shared = 2048
	for _, n := range []int{1, 2, 4} {
		for _, trans := range []string{"", ".trans"} {
			for _, space := range []string{"", ".shared", ".shared::cta"} {
				a := map[string]string{"": "%g"}[space]
				if a == "" {
					a = "%a"
				}
				inst := fmt.Sprintf("stmatrix.sync.aligned.m8n8.x%d%s%s.b16 [%s], %s;", n, trans, space, a, registers(n))
				mem, addr, regs, rows := matrixInput(inst, shared)
				decls, body := matrixKernel(inst, shared, n)
				out := runBody(t, bodyOpts{}, decls, body, [][]byte{mem, addr, regs}, 512+shared)
				want := append([]byte(nil), mem...)
				for lane := range 32 {
					for j := range n {
						for e := range 2 {
							r, c := lane/4, lane%4*2+e
							if trans != "" {
								r, c = c, r
							}
							copy(want[rows[8*j+r]+2*c:][:2], regs[16*lane+4*j+2*e:])
						}
					}
				}
				if got := out[512:]; string(got) != string(want) {
					for i := range got {
						if got[i] != want[i] {
							t.Fatalf("%s: byte %d of shared memory is %#x, want %#x", inst, i, got[i], want[i])
						}
					}
				}
			}
		}
	}
}

// TestMovmatrix transposes an 8×8 matrix held in a register of every lane, also
// onto itself.
func TestMovmatrix(t *testing.T) {
	_, _, regs, _ := matrixInput("movmatrix", 512)
	elem := func(b []byte, r, c int) uint16 { return binary.LittleEndian.Uint16(b[4*(4*r+c/2)+c%2*2:]) }
	for _, dst := range []string{"%d", "%s"} {
		out := runBody(t, bodyOpts{}, ".reg .b32 %d, %s; .reg .b64 %p;", `mad.wide.u32 %p, %t, 4, %in0;
ld.global.b32 %s, [%p];
movmatrix.sync.aligned.m8n8.trans.b16 `+dst+`, %s;
mad.wide.u32 %p, %t, 4, %out;
st.global.b32 [%p], `+dst+`;`, [][]byte{regs[:128]}, 128)
		for r := range 8 {
			for c := range 8 {
				if got, want := elem(out, r, c), elem(regs, c, r); got != want {
					t.Fatalf("element (%d, %d) = %#x, want %#x", r, c, got, want)
				}
			}
		}
	}
}

// TestMatrixFaults: addresses and lanes that ldmatrix, stmatrix and related instructions
// reject.
func TestMatrixFaults(t *testing.T) {
	const shared = 1024
	mem, _, regs, _ := matrixInput("faults", shared)
	rows := func(lane int, addr uint32) []byte {
		b := make([]byte, 128)
		for l := range 32 {
			binary.LittleEndian.PutUint32(b[4*l:], uint32(16*l))
		}
		binary.LittleEndian.PutUint32(b[4*lane:], addr)
		return b
	}
	for _, c := range []struct {
		inst string
		lane int
		addr uint32
		want string // "" if it runs
	}{
		{"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a];", 5, 24, "misaligned read of 16 bytes"},
		{"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];", 31, shared, "out-of-bounds read of 16 bytes"},
		{"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%a];", 16, shared, ""}, // lane 16 gives no row
		{"ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%g];", 2, 0x2000_0000, "not in shared memory"},
		{"ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%out];", 0, 0, "not in shared memory"},
		{"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%a], {%r0};", 7, 8, "misaligned write of 16 bytes"},
		{"stmatrix.sync.aligned.m8n8.x2.b16 [%g], {%r0, %r1};", 15, shared, "out-of-bounds write of 16 bytes"},
		{"setp.lt.u32 %p, %t, 16; @%p ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a];", 0, 0, "needs all 32 lanes of its warp, but only lanes 0x0000ffff"},
		{"setp.ge.u32 %p, %t, 4; @%p movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", 0, 0, "needs all 32 lanes of its warp, but only lanes 0xfffffff0"},
		// A division of the warp that meets again at the instruction is fine.
		{"setp.lt.u32 %p, %t, 9; @%p bra low; mov.u32 %v, 1; bra both; low: mov.u32 %v, 2; both: movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", 0, 0, ""},
		// Lanes that have exited do not come back.
		{"setp.lt.u32 %p, %t, 1; @%p exit; movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", 0, 0, "needs all 32 lanes of its warp, but only lanes 0xfffffffe"},
	} {
		decls, body := matrixKernel(c.inst, shared, 4)
		_, err := tryBody(t, bodyOpts{}, decls, body, [][]byte{mem, rows(c.lane, c.addr), regs}, 512+shared)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.inst, err, c.want)
		}
	}
}

// TestMatrixPartialWarp: the second warp of a block of 48 threads has sixteen lanes,
// which cannot execute what a whole warp must; the first one can.
func TestMatrixPartialWarp(t *testing.T) {
	for _, c := range []struct{ inst, decls string }{
		{"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r0, %r1}, {%r2}, {%r0, %r1};", ""},
		{"wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3}, [%in0];", ""},
		{"movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", ""},
		{"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [sm];", ".shared .align 16 .b8 sm[512];"},
	} {
		decls := ".reg .b32 %r<4>; .reg .pred %p;" + c.decls
		name := strings.Fields(c.inst)[0]
		_, err := tryBody(t, bodyOpts{block: 48}, decls, c.inst, [][]byte{make([]byte, 512)}, 4)
		if err == nil || !strings.Contains(err.Error(), name+" needs all 32 lanes of its warp, but only lanes 0x0000ffff execute it") {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := tryBody(t, bodyOpts{block: 48}, decls, "setp.ge.u32 %p, %t, 32; @%p exit;\n"+c.inst, [][]byte{make([]byte, 512)}, 4); err != nil {
			t.Errorf("%s by the whole warp only: %v", name, err)
		}
	}
}

// TestDivergedMMA: lanes of a warp that reach one mma on different paths wait for each other
// from sm_70 on.
func TestDivergedMMA(t *testing.T) {
	for name, way := range map[string]string{
		// Sixteen lanes wait for a flag that the others set before the mma.
		"flag": `wait:
ld.volatile.shared.u32 %f, [flag];
setp.eq.u32 %q, %f, 0;
@%q bra wait;
bra together;
other:
st.volatile.shared.u32 [flag], 1;`,
		// Sixteen lanes spin for so long that the others reach the mma alone meanwhile, and
		// must wait there.
		"late": `mov.u32 %r0, 0;
wait:
ld.volatile.shared.u32 %f, [flag];
add.u32 %r0, %r0, 1;
setp.lt.u32 %q, %r0, 20000;
@%q bra wait;
bra together;
other:`,
	} {
		decls := ".reg .b32 %r<4>, %f; .reg .pred %p, %q; .shared .b32 flag;"
		body := `st.shared.u32 [flag], 0;
setp.lt.u32 %p, %t, 16;
@%p bra other;
` + way + `
together:
mov.b32 %r0, 0x3c003c00;
mov.b32 %r1, %r0;
mov.b32 %r2, %r0;
mov.b32 %r3, 0;
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r0, %r1}, {%r2}, {%r3, %r3};
mad.wide.u32 %out, %t, 4, %out;
st.global.b32 [%out], %r0;`
		out := runBody(t, bodyOpts{target: "sm_80"}, decls, body, nil, 128)
		for l := range 32 {
			if v := binary.LittleEndian.Uint32(out[4*l:]); v != 0x48004800 { // 8.0 twice
				t.Fatalf("%s: lane %d has %#x", name, l, v)
			}
		}
	}
}
