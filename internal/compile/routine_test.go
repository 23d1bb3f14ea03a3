package compile_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// TestRoutines: divisions of 64 bits that stand in several places are calls of a routine.
func TestRoutines(t *testing.T) {
	const head = " { .reg .b64 %o, %d<9>; .reg .b32 %r, %i; .reg .pred %p, %q; ld.param.u64 %o, [o]; ld.param.u64 %d8, [n]; mov.u32 %r, %tid.x; cvt.u64.u32 %d0, %r; add.u64 %d1, %d0, %d8; setp.gt.u32 %q, %r, 7; "
	const tail = " add.u64 %d2, %d2, %d3; add.u64 %d2, %d2, %d4; st.global.u64 [%o], %d2; ret; }"
	const rest = "mov.u64 %d3, 1; mov.u64 %d4, 1; "
	const round = "add.u32 %i, %i, 1; add.u64 %d0, %d0, 3; setp.lt.u32 %p, %i, 9; @%p bra L; "
	for _, c := range []struct {
		name, directives, body string
		calls                  []string
	}{
		{"one", "", "div.u64 %d2, %d0, %d1; " + rest, nil},
		{"two", "", "div.u64 %d2, %d0, %d1; div.u64 %d3, %d2, %d8; mov.u64 %d4, 1; ", []string{"div.u64", "div.u64"}},
		{"one of each sort", "", "div.u64 %d2, %d0, %d1; div.s64 %d3, %d1, %d8; mov.u64 %d4, 1; ", nil},
		{"a remainder and a quotient", "", "rem.s64 %d2, %d0, %d1; div.s64 %d3, %d1, %d8; mov.u64 %d4, 1; ", []string{"div.s64", "div.s64"}},
		{"quotient and remainder of the same numbers", "", "div.u64 %d2, %d0, %d1; rem.u64 %d3, %d0, %d1; mov.u64 %d4, 1; ", nil},
		{"these, and another one", "", "div.u64 %d2, %d0, %d1; rem.u64 %d3, %d0, %d1; div.u64 %d4, %d1, %d8; ", []string{"div.u64", "div.u64"}},
		{"a result that nobody reads", "", "div.u64 %d2, %d0, %d1; div.u64 %d3, %d0, %d8; mov.u64 %d3, 1; mov.u64 %d4, 1; ", []string{"div.u64"}},
		{"under a guard", "", rest + "mov.u64 %d2, 5; @%q div.u64 %d2, %d0, %d1; @!%q div.u64 %d3, %d1, %d8; ", []string{"div.u64", "div.u64"}},
		{"by a number", "", "div.u64 %d2, %d0, 10; div.u64 %d3, %d2, 10; mov.u64 %d4, 1; ", nil},
		{"in each round by what the loop keeps", "", rest + "mov.u64 %d2, 0; mov.u32 %i, 0; L: rem.u64 %d5, %d0, %d1; div.u64 %d6, %d5, %d8; add.u64 %d2, %d2, %d6; " + round, nil},
		{"in each round by what changes", "", rest + "mov.u64 %d2, 0; mov.u32 %i, 0; L: rem.u64 %d5, %d1, %d0; div.u64 %d6, %d8, %d0; add.u64 %d2, %d2, %d6; add.u64 %d2, %d2, %d5; " + round, []string{"div.u64", "div.u64"}},
		{"in some rounds by what the loop keeps", "", rest + "mov.u64 %d2, 0; mov.u32 %i, 0; L: and.b64 %d5, %d0, 4294967296; setp.eq.u64 %p, %d5, 0; @%p bra M; rem.u64 %d5, %d0, %d1; div.u64 %d6, %d5, %d8; add.u64 %d2, %d2, %d6; M: " + round, []string{"div.u64", "div.u64"}},
		{"with too few registers", ".maxnreg 24", "div.u64 %d2, %d0, %d1; div.u64 %d3, %d2, %d8; mul.lo.u64 %d4, %d0, %d0; mul.lo.u64 %d5, %d1, %d1; mul.lo.u64 %d6, %d8, %d1; mul.lo.u64 %d7, %d5, %d6; div.u64 %d4, %d4, %d7; add.u64 %d4, %d4, %d5; add.u64 %d4, %d4, %d6; ", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := compiled(t, ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o, .param .u64 n) "+c.directives+head+c.body+tail).Kernels[0]
			var got []string
			for i := range k.Code {
				if _, to, ok := strings.Cut(k.Code[i].Text(), "CALL.REL.NOINC "); ok {
					at, err := strconv.ParseInt(strings.Trim(to, " ;"), 0, 64)
					if err != nil {
						t.Fatal(k.Code[i].Text())
					}
					for _, l := range k.Labels {
						if l.Index == int(at/sass.InstBytes) {
							got = append(got, l.Name)
						}
					}
				}
			}
			if strings.Join(got, " ") != strings.Join(c.calls, " ") {
				t.Errorf("calls of %q, want %q", got, c.calls)
			}
			if k.Local != 0 {
				t.Errorf("%d bytes of local memory for calls of routines", k.Local)
			}
		})
	}
}

// TestRoutineBesideCopies: a routine leaves the counter alone that counts groups of asynchronous copies.
func TestRoutineBesideCopies(t *testing.T) {
	k := compiled(t, `.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 o, .param .u64 n) { .shared .align 16 .b8 room[512]; .reg .b64 %o, %d<4>; .reg .b32 %r<4>;
 ld.param.u64 %o, [o]; ld.param.u64 %d1, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, room; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; cvt.u64.u32 %d0, %r1;
 cp.async.ca.shared.global [%r2], [%o], 4; cp.async.commit_group;
 div.u64 %d2, %d1, %d0; div.u64 %d3, %d0, %d2;
 cp.async.wait_group 0; ld.shared.u32 %r3, [%r2]; cvt.u64.u32 %d0, %r3; add.u64 %d3, %d3, %d0; st.global.u64 [%o], %d3; ret; }`).Kernels[0]
	entry := -1
	for _, l := range k.Labels {
		if l.Name == "div.u64" {
			entry = l.Index
		}
	}
	if entry < 0 {
		t.Fatal("no routine")
	}
	for i := entry; i < len(k.Code); i++ {
		if c := k.Code[i].Ctl; c.Write == 0 || c.Read == 0 || c.Wait&1 != 0 {
			t.Errorf("%s uses counter 0: %v", k.Code[i].Text(), c)
		}
	}
}
