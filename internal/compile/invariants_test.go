package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// TestInvariants: what is the same in each round is computed before the loop, as far as there are registers, and
// stays where it is in a loop with calls.
func TestInvariants(t *testing.T) {
	const head = ".version 7.0\n.target sm_80\n.address_size 64\n"
	const function = ".func (.param .b32 d) f(.param .b32 a) { .reg .b32 %x<2>; .reg .pred %q; ld.param.u32 %x0, [a]; setp.gt.u32 %q, %x0, 9; @%q ret; call (d), f, (a); ret; }\n"
	const kernel = ".visible .entry k(.param .u64 o, .param .u32 n) { .reg .b32 %r<9>; .reg .b32 %v<99>; .reg .b64 %o; .reg .pred %p; ld.param.u64 %o, [o]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; "
	var much, sum strings.Builder // values that are needed in the loop and after it
	for i := range 40 {
		fmt.Fprintf(&much, "ld.global.u32 %%v%d, [%%o+%d]; ", i, 4*i)
		fmt.Fprintf(&sum, "mul.lo.u32 %%r1, %%r1, %%v%d; ", i)
	}
	const tail = "st.global.u32 [%o], %r1; ret; }"
	for _, c := range []struct {
		name, text string
		inside     int // instructions of a division by a parameter that are in the loop
	}{
		{"a division by a parameter", kernel + "L: mad.lo.u32 %r1, %r1, 5, 7; rem.u32 %r1, %r1, %r0; setp.gt.u32 %p, %r1, 3; @%p bra L; " + tail, 0},
		{"in the inner of two loops", kernel + "mov.u32 %r3, 0; M: mov.u32 %r4, 0; L: mad.lo.u32 %r1, %r1, 5, 7; rem.u32 %r1, %r1, %r0; add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, %r1; @%p bra L; add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 9; @%p bra M; " + tail, 0},
		{"a division by what changes", kernel + "L: add.u32 %r0, %r0, 1; mad.lo.u32 %r1, %r1, 5, 7; rem.u32 %r1, %r1, %r0; setp.gt.u32 %p, %r1, 3; @%p bra L; " + tail, 3},
		{"no registers left", kernel + much.String() + "L: mad.lo.u32 %r1, %r1, 5, 7; rem.u32 %r1, %r1, %r0; " + sum.String() + "setp.gt.u32 %p, %r1, 3; @%p bra L; " + tail, 3},
		{"a loop with a call", function + kernel + "L: mad.lo.u32 %r1, %r1, 5, 7; rem.u32 %r1, %r1, %r0; { .param .b32 p; .param .b32 s; st.param.b32 [p], %r1; call (s), f, (p); ld.param.b32 %r1, [s]; } setp.gt.u32 %p, %r1, 3; @%p bra L; " + tail, 3},
		{"a loop with a call, and one with the same number", function + kernel + "M: mad.lo.u32 %r1, %r1, 0x12345678, 7; { .param .b32 p; .param .b32 s; st.param.b32 [p], %r1; call (s), f, (p); ld.param.b32 %r1, [s]; } setp.gt.u32 %p, %r1, 3; @%p bra M; L: mad.lo.u32 %r5, %r0, 0x12345678, 0x9abcdef1; xor.b32 %r1, %r1, %r5; setp.gt.u32 %p, %r1, 3; @%p bra L; " + tail, 0},
	} {
		code := compiled(t, head+c.text).Kernels[0].Code
		first := len(code) // of the loop
		for i := range code {
			for _, o := range code[i].Operands {
				if o.Kind == sass.Target && o.Index >= 0 && int(o.Index) < i {
					first = min(first, int(o.Index))
				}
			}
		}
		inside := 0
		for i := range code {
			if text := code[i].Text(); i >= first && (strings.HasPrefix(text, "I2F") || strings.HasPrefix(text, "MUFU.RCP") || strings.HasPrefix(text, "F2I")) {
				inside++
			}
		}
		if first == len(code) || inside != c.inside {
			t.Errorf("%s: from %d on %d instructions are in the loop, want %d", c.name, first, inside, c.inside)
		}
	}
}

// TestBranchAroundLoad: a branch around what has moved out of the loop, and little else, becomes a guard.
func TestBranchAroundLoad(t *testing.T) {
	const text = ".version 7.0\n.target sm_80\n.address_size 64\n" + `
.const .b32 table[31] = {1, 2, 3};
.visible .entry k(.param .u64 o, .param .u32 n) {
	.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
	ld.param.u64 %rd0, [o]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, table; add.u64 %rd2, %rd2, %rd1; mov.u32 %r2, 0;
L:	and.b32 %r3, %r1, 1; setp.eq.u32 %p0, %r3, 0; @%p0 bra M;
	ld.const.u32 %r4, [%rd2]; xor.b32 %r2, %r2, %r4;
M:	and.b32 %r3, %r1, 2; setp.eq.u32 %p1, %r3, 0; @%p1 bra N;
	ld.const.u32 %r4, [%rd2+4]; xor.b32 %r2, %r2, %r4;
N:	add.u32 %r1, %r1, 3; setp.lt.u32 %p2, %r1, %r0; @%p2 bra L;
	add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r2; ret;
}`
	branches := 0
	for _, in := range compiled(t, text).Kernels[0].Code {
		if in.Op == sass.OpBRA && !in.Guard.Always() {
			branches++
		}
	}
	if branches != 1 {
		t.Errorf("%d branches have guards, want the loop's only", branches)
	}
}
