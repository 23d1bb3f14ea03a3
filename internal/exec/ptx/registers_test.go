package ptx_test

import (
	"os"
	"testing"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// linked parses and links a text.
func linked(t *testing.T, name string, src []byte) *xptx.Program {
	t.Helper()
	mod, err := ptx.Parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	p, err := xptx.Link(mod)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRegisterRules estimates kernels for which the assembler's result is known: R1 is the
// stack pointer, and from sm_70 on two registers are added.
func TestRegisterRules(t *testing.T) {
	const decls = ".reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>; .reg .pred %p<9>; .shared .align 4 .b8 s[4096];\n"
	for _, c := range []struct {
		name, target, head, body string
		want                     int
	}{
		{"nothing", "sm_61", "", "", 1},
		{"two hidden ones", "sm_70", "", "", 3},
		// The address is a pair, what is stored another register: R0, R1, R2:R3.
		{"a constant to a parameter's place", "sm_61", "", "ld.param.u64 %rd1, [p]; mov.u32 %r1, 7; st.global.u32 [%rd1], %r1;", 4},
		{"cvta is nothing", "sm_61", "", "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, 7; st.global.u32 [%rd2], %r1;", 4},
		{"predicates are elsewhere", "sm_61", "", `ld.param.u64 %rd1, [p]; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x;
			setp.eq.u32 %p1, %r1, %r9; setp.ne.u32 %p2, %r1, 3; setp.gt.u32 %p3, %r1, 5;
			@%p1 st.global.u32 [%rd1], %r1; @%p2 st.global.u32 [%rd1], %r1; @%p3 st.global.u32 [%rd1], %r1;`, 4},
		// %tid.x stays 32 bits wide, and the product goes into the sum.
		{"index and sum are one", "sm_61", "", `ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1; shl.b64 %rd3, %rd2, 2;
			add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1;`, 4},
		// The sum with 8 goes into the second access: one pair for two stores.
		{"offsets go into the access", "sm_61", "", `ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
			add.s64 %rd5, %rd4, 8; st.global.u32 [%rd4], %r1; st.global.u32 [%rd5], %r1;`, 4},
		// An address in shared memory has 32 bits, even if PTX widens it: R0 and the stack
		// pointer.
		{"half an address", "sm_61", "", `mov.u32 %r1, %tid.x; mov.u64 %rd1, s; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.shared.u32 [%rd3], %r1;`, 3},
		// Eight loads are in flight at a time: eight values, the address that they share, R1;
		// %tid.x is dead by then.
		{"loads go first", "sm_61", "", `ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
			ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd4+4]; add.f32 %f2, %f1, %f2;
			ld.global.f32 %f3, [%rd4+8]; ld.global.f32 %f4, [%rd4+12]; add.f32 %f4, %f3, %f4;
			ld.global.f32 %f5, [%rd4+16]; ld.global.f32 %f6, [%rd4+20]; add.f32 %f6, %f5, %f6;
			ld.global.f32 %f7, [%rd4+24]; ld.global.f32 %f8, [%rd4+28]; add.f32 %f8, %f7, %f8;
			add.f32 %f2, %f2, %f4; add.f32 %f6, %f6, %f8; add.f32 %f2, %f2, %f6; st.global.f32 [%rd4], %f2;`, 12},
		// The same with a barrier between: a pair of loads at a time, two sums.
		{"but not over a barrier", "sm_61", "", `ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
			ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd4+4]; add.f32 %f2, %f1, %f2; bar.sync 0;
			ld.global.f32 %f3, [%rd4+8]; ld.global.f32 %f4, [%rd4+12]; add.f32 %f4, %f3, %f4;
			add.f32 %f2, %f2, %f4; st.global.f32 [%rd4], %f2;`, 6},
		{".maxnreg", "sm_61", ".maxnreg 8", `ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
			ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4]; ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd4+16];
			st.global.v4.f32 [%rd4+32], {%f1, %f2, %f3, %f4}; st.global.v4.f32 [%rd4+64], {%f5, %f6, %f7, %f8};`, 8},
	} {
		src := ".version 7.0\n.target " + c.target + "\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) " + c.head + "\n{\n" + decls + c.body + "\nret;\n}\n"
		k, _ := linked(t, c.name, []byte(src)).Kernel("k")
		if got := k.Registers(); got != c.want {
			t.Errorf("%s: %d registers, want %d", c.name, got, c.want)
		}
	}
}

// TestRegistersAgainstTraces compares an estimate with the registers of real machine code,
// which the header of a trace states: the trace simple-trace-example, compute capability 8.0.
// The PTX comes from another compiler than the traced code, so within a quarter is close.
func TestRegistersAgainstTraces(t *testing.T) {
	const file, kernel, want = "../../../examples/vecadd/vecadd.ptx", "vecadd", 12
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	k, ok := linked(t, file, src).Kernel(kernel)
	if !ok {
		t.Fatalf("%s: no %s", file, kernel)
	}
	if got := k.Registers(); 4*got < 3*want || 4*got > 5*want {
		t.Errorf("%s: %d registers, %d in the trace", kernel, got, want)
	}
}
