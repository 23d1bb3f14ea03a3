package compile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestVectors: loads of words side by side in shared memory become one where their place is known to be aligned and
// nothing between them may write there.
func TestVectors(t *testing.T) {
	const head = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o, .param .u32 n) { .shared .align 16 .b8 room[4096]; .reg .b32 %r<20>; .reg .b64 %o; .reg .pred %p; ld.param.u64 %o, [o]; ld.param.u32 %r10, [n]; mov.u32 %r0, %tid.x; mov.u32 %r9, room; "
	const tail = " add.u32 %r1, %r1, %r2; add.u32 %r3, %r3, %r4; sub.u32 %r1, %r1, %r3; st.global.u32 [%o], %r1; ret; }"
	const aligned = "shl.b32 %r0, %r0, 4; add.u32 %r0, %r0, %r9; "
	const pairs = "ld.shared.u32 %r1, [%r0]; ld.shared.u32 %r2, [%r0+4]; "
	for _, c := range []struct {
		name, body string
		want       []string // the loads
	}{
		{"four words", aligned + pairs + "ld.shared.u32 %r3, [%r0+8]; ld.shared.u32 %r4, [%r0+12];", []string{"LDS.128"}},
		{"the last first", aligned + "ld.shared.u32 %r4, [%r0+12]; ld.shared.u32 %r3, [%r0+8]; ld.shared.u32 %r2, [%r0+4]; ld.shared.u32 %r1, [%r0];", []string{"LDS.128"}},
		{"three words", aligned + pairs + "ld.shared.u32 %r3, [%r0+8]; mov.u32 %r4, 5;", []string{"LDS", "LDS.64"}},
		{"a word and a pair", aligned + pairs + "ld.shared.v2.u32 {%r3, %r4}, [%r0+8];", []string{"LDS.128"}},
		{"from the second word on", aligned + "ld.shared.u32 %r1, [%r0+4]; ld.shared.u32 %r2, [%r0+8]; ld.shared.u32 %r3, [%r0+12]; ld.shared.u32 %r4, [%r0+16];", []string{"LDS", "LDS", "LDS.64"}},
		{"a line and a column", "mov.u32 %r9, %tid.y; shl.b32 %r9, %r9, 6; " + aligned + pairs + "ld.shared.u32 %r3, [%r0+8]; ld.shared.u32 %r4, [%r0+12];", []string{"LDS.128"}},
		{"a value that is assigned on some ways only", "setp.gt.u32 %p, %r10, 5; @%p bra L; and.b32 %r11, %r10, 0xff0; bar.warp.sync -1; L: ld.shared.u32 %r1, [%r11]; ld.shared.u32 %r2, [%r11+4]; mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
		{"anywhere", "shl.b32 %r0, %r0, 2; add.u32 %r0, %r0, %r9; " + pairs + "mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
		{"a multiple of what is not known", "mul.lo.u32 %r0, %r0, %r10; add.u32 %r0, %r0, %r9; " + pairs + "mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
		{"the lowest bits cleared", "and.b32 %r0, %r10, 0xff8; " + pairs + "mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS.64"}},
		{"in a loop by steps of 8", aligned + "mov.u32 %r3, 0; mov.u32 %r4, 0; L: " + pairs + "add.u32 %r3, %r3, %r1; xor.b32 %r4, %r4, %r2; add.u32 %r0, %r0, 8; setp.lt.u32 %p, %r0, %r10; @%p bra L; ", []string{"LDS.64"}},
		{"in a loop by steps of 4", aligned + "mov.u32 %r3, 0; mov.u32 %r4, 0; L: " + pairs + "add.u32 %r3, %r3, %r1; xor.b32 %r4, %r4, %r2; add.u32 %r0, %r0, 4; setp.lt.u32 %p, %r0, %r10; @%p bra L; ", []string{"LDS", "LDS"}},
		{"a store between", aligned + "ld.shared.u32 %r1, [%r0]; st.shared.u32 [%r9], %r1; ld.shared.u32 %r2, [%r0+4]; mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
		{"a store to global memory between", aligned + "ld.shared.u32 %r1, [%r0]; st.global.u32 [%o+8], %r1; ld.shared.u32 %r2, [%r0+4]; mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS.64"}},
		{"a generic store between", aligned + "ld.shared.u32 %r1, [%r0]; st.u32 [%o+8], %r1; ld.shared.u32 %r2, [%r0+4]; mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
		{"an atomic between", aligned + "ld.shared.u32 %r1, [%r0]; atom.shared.add.u32 %r3, [%r9], 1; ld.shared.u32 %r2, [%r0+4]; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
		{"an asynchronous copy between", aligned + "ld.shared.u32 %r1, [%r0]; cp.async.ca.shared.global [%r9], [%o], 4; ld.shared.u32 %r2, [%r0+4]; mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
		{"a barrier between", aligned + "ld.shared.u32 %r1, [%r0]; bar.sync 0; ld.shared.u32 %r2, [%r0+4]; mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
		{"a barrier of the warp between", aligned + "ld.shared.u32 %r1, [%r0]; bar.warp.sync -1; ld.shared.u32 %r2, [%r0+4]; mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
		{"volatile ones", aligned + "ld.volatile.shared.u32 %r1, [%r0]; ld.volatile.shared.u32 %r2, [%r0+4]; mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
		{"in some lanes", aligned + "mov.u32 %r2, 3; setp.gt.u32 %p, %r10, 5; ld.shared.u32 %r1, [%r0]; @%p ld.shared.u32 %r2, [%r0+4]; mov.u32 %r3, 1; mov.u32 %r4, 1;", []string{"LDS", "LDS"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code := compiled(t, head+c.body+tail).Kernels[0].Code
			var got []string
			for i := range code {
				for _, name := range strings.Fields(code[i].Text()) {
					if strings.HasPrefix(name, "LDS") {
						got = append(got, name)
					}
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// TestVectorsAreGivenUp: where vectors need more registers than there are, and words do not, nothing goes to local memory.
func TestVectorsAreGivenUp(t *testing.T) {
	var body strings.Builder
	for word := range 4 {
		for group := range 12 {
			fmt.Fprintf(&body, "ld.shared.u32 %%r2, [%%r0+%d]; mad.lo.u32 %%r1, %%r1, 5, %%r2; ", 16*group+4*word)
		}
	}
	text := ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o) .maxnreg 24 { .shared .align 16 .b8 room[4096]; .reg .b32 %r<4>; .reg .b64 %o; ld.param.u64 %o, [o]; mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 4; mov.u32 %r1, 0; " +
		body.String() + "st.global.u32 [%o], %r1; ret; }"
	k := compiled(t, text).Kernels[0]
	for i := range k.Code {
		if text := k.Code[i].Text(); strings.Contains(text, "STL") || strings.Contains(text, "LDS.128") {
			t.Errorf("the code has %s", text)
		}
	}
}
