package compile_test

import (
	"fmt"
	"testing"
)

// TestFewer: what a body becomes has as many of an operation as it needs.
func TestFewer(t *testing.T) {
	for _, c := range []struct {
		name, body, op string
		want           int
	}{
		{"logic of three", "and.b32 %r3, %r0, %r1; or.b32 %r4, %r3, %r2;", "LOP3", 1},
		{"logic with two numbers", "and.b32 %r3, %r0, 12; or.b32 %r4, %r3, 3;", "LOP3", 2},
		{"logic with zero", "mov.u32 %r3, 0; or.b32 %r4, %r0, %r3;", "LOP3", 0},
		{"a sum of three", "add.u32 %r3, %r0, %r1; sub.u32 %r4, %r2, %r3;", "IADD3", 1},
		{"a sum with two numbers", "add.u32 %r3, %r0, 5; add.u32 %r4, %r3, 6;", "IADD3", 1},
		{"offsets in shared memory", "add.u32 %r3, %r0, 64; ld.shared.u32 %r4, [%r3+4];", "IADD3", 0},
		{"offsets in global memory", "add.s64 %d1, %out, 64; ld.global.u32 %r4, [%d1];", "IADD3", 0},
		{"a comparison joined", "setp.lt.s32 %p1, %r0, %r1; setp.lt.s32 %p2, %r1, %r2; or.pred %p3, %p1, %p2; selp.u32 %r4, 1, 0, %p3;", "PLOP3", 0},
		{"a magnitude compared", "mov.b32 %f0, %r0; abs.ftz.f32 %f1, %f0; setp.neu.ftz.f32 %p1, %f1, 0f7F800000; selp.u32 %r4, 1, 0, %p1;", "LOP3", 0},
		{"a selection of a selection", "add.u32 %r5, %r0, %r1; setp.lt.s32 %p1, %r5, 0; setp.gt.s32 %p2, %r5, 8; selp.b32 %r3, 1, 2, %p1; selp.b32 %r4, %r5, %r3, %p2;", "SEL", 1},
		{"a shuffle of a number", "mov.u32 %r3, 7; shfl.sync.idx.b32 %r4, %r3, 0, 31, -1;", "SHFL", 0},
		{"zeros", "mov.u32 %r4, 0; mov.u32 %r5, 0; setp.lt.s32 %p1, %r0, 0; @%p1 ld.global.v2.u32 {%r4, %r5}, [%out+8]; add.u32 %r4, %r4, %r5;", "CS2R", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := compiled(t, fmt.Sprintf(".version 7.8\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) { .reg .b64 %%out, %%d<4>; .reg .b32 %%r<8>; .reg .f32 %%f<4>; .reg .pred %%p<4>;\n"+
				"ld.param.u64 %%out, [p]; ld.global.u32 %%r0, [%%out]; ld.global.u32 %%r1, [%%out+4]; ld.global.u32 %%r2, [%%out+8]; %s st.global.u32 [%%out], %%r4; ret; }\n", c.body))
			n := 0
			for i := range f.Kernels[0].Code {
				if f.Kernels[0].Code[i].Op.String() == c.op {
					n++
				}
			}
			if n != c.want {
				t.Errorf("%d %s, want %d:\n%s", n, c.op, c.want, f.Text())
			}
		})
	}
}
