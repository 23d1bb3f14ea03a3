package compile_test

import (
	"strings"
	"testing"
)

// TestUniformBranches: lanes have places to meet after branches at which they may part, and only there.
func TestUniformBranches(t *testing.T) {
	const head = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o, .param .u32 n) { .reg .b32 %r<9>; .reg .b64 %o; .reg .pred %p<4>; " +
		"ld.param.u64 %o, [o]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r4, 0; "
	const add = "red.global.add.u32 [%o], 1; " // no guard in place of a branch around it
	const big = "setp.gt.u32 %p0, "
	for _, c := range []struct {
		name, text string
		places     int
	}{
		{"on a parameter", big + "%r0, 9; @%p0 bra L; " + add + "L: ", 0},
		{"on the number of the block", big + "%r2, %r0; @%p0 bra L; " + add + "L: ", 0},
		{"on that of the thread", big + "%r1, %r0; @%p0 bra L; " + add + "L: ", 1},
		{"a loop to a parameter", "L: " + add + "add.u32 %r4, %r4, 3; setp.lt.u32 %p0, %r4, %r0; @%p0 bra L; ", 0},
		{"a loop from the number of the thread", "mov.u32 %r4, %r1; L: " + add + "add.u32 %r4, %r4, 3; setp.lt.u32 %p0, %r4, %r0; @%p0 bra L; ", 1},
		{"what a branch of lanes has chosen", "mov.u32 %r5, 1; " + big + "%r1, %r0; @%p0 bra L; " + add + "mov.u32 %r5, 2; L: " + add + big + "%r5, 1; @%p0 bra M; " + add + "M: ", 2},
		{"what a branch of the warp has chosen", "mov.u32 %r5, 1; " + big + "%r2, %r0; @%p0 bra L; " + add + "mov.u32 %r5, 2; L: " + add + big + "%r5, 1; @%p0 bra M; " + add + "M: ", 0},
		{"rounds of a loop that lanes leave one after the other", "L: " + add + "add.u32 %r4, %r4, 3; setp.lt.u32 %p0, %r4, %r1; @%p0 bra L; " + big + "%r4, 9; @%p0 bra M; " + add + "M: ", 2},
		{"rounds of a loop that the warp leaves", "L: " + add + "add.u32 %r4, %r4, 3; setp.lt.u32 %p0, %r4, %r0; @%p0 bra L; " + big + "%r4, 9; @%p0 bra M; " + add + "M: ", 0},
		{"a loop of the warp in one of lanes", "M: mov.u32 %r4, 0; L: " + add + "add.u32 %r4, %r4, 3; setp.lt.u32 %p0, %r4, %r0; @%p0 bra L; add.u32 %r1, %r1, 5; setp.lt.u32 %p0, %r1, %r0; @%p0 bra M; ", 1},
		{"a counter that some lanes raise", "L: " + add + big + "%r1, %r4; @%p0 bra N; " + add + "add.u32 %r4, %r4, 1; N: " + add + "add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, %r0; @%p0 bra L; ", 2},
		{"by which way lanes have left a loop in different rounds", "L: add.u32 %r4, %r4, 1; " + big + "%r1, %r4; @%p0 bra N; setp.gt.u32 %p1, %r4, %r0; @%p1 bra P; setp.gt.u32 %p2, %r4, %r2; @%p2 bra Q; " +
			"N: " + add + "bra.uni L; P: " + add + "mov.u32 %r5, 7; bra.uni J; Q: mov.u32 %r5, 8; J: " + add + big + "%r5, 7; @%p0 bra M; " + add + "M: ", 2},
		{"the round in which lanes meet in a loop", "L: " + add + "add.u32 %r4, %r4, 1; add.u32 %r1, %r1, %r1; " + big + "%r1, 9; @%p0 bra L; " + add + big + "%r4, 4; @%p0 bra M; " + add + "M: " + add + "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r0; @%p1 bra L; ", 3},
		{"the same, with one way back", "L: " + add + "add.u32 %r4, %r4, 1; add.u32 %r1, %r1, %r1; " + big + "%r1, 9; @%p0 bra N; " + add + big + "%r4, 4; @%p0 bra M; " + add + "M: " + add + "add.u32 %r5, %r5, 1; setp.gt.u32 %p1, %r5, %r0; @%p1 bra P; N: bra.uni L; P: ", 2},
		{"after lanes have ended", big + "%r1, %r0; @%p0 ret; " + big + "%r2, %r0; @%p0 bra L; " + add + "L: ", 0},
		{"a constant load from one address", "ld.global.nc.u32 %r5, [%o]; " + big + "%r5, %r0; @%p0 bra L; " + add + "L: ", 0},
		{"a constant load from many", "mad.wide.u32 %o, %r1, 4, %o; ld.global.nc.u32 %r5, [%o]; " + big + "%r5, %r0; @%p0 bra L; " + add + "L: ", 1},
		{"a load of what others may write", "ld.global.u32 %r5, [%o]; " + big + "%r5, %r0; @%p0 bra L; " + add + "L: ", 1},
		{"under a guard of lanes", big + "%r1, %r0; mov.u32 %r5, 1; @%p0 mov.u32 %r5, 2; " + big + "%r5, 1; @%p0 bra L; " + add + "L: ", 1},
		{"around two of lanes that end with it", "setp.gt.u32 %p1, %r1, 3; setp.gt.u32 %p2, %r1, 5; " + big + "%r2, %r0; @%p0 bra M; @%p1 bra L; " + add + "bra.uni L; M: @%p2 bra L; " + add + add + "L: ", 1},
		{"around one that ends with it", "setp.gt.u32 %p1, %r1, 3; " + big + "%r2, %r0; @%p0 bra M; @%p1 bra L; " + add + "bra.uni L; M: " + add + add + "L: ", 1},
	} {
		text := compiled(t, head+c.text+"st.global.u32 [%o+4], %r0; ret; }").Text()
		if n := strings.Count(text, "BSSY"); n != c.places {
			t.Errorf("%s: lanes meet at %d places, want %d:\n%s", c.name, n, c.places, text)
		}
	}
}
