package ptx_test

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVariablesInBodies: a body may declare variables of every space (PTX ISA, "Kernel and
// Function Directives": a body has declarations in its scope). Each is a separate variable,
// even if another has its name: outside, in a sibling block or in an enclosing one.
func TestVariablesInBodies(t *testing.T) {
	for _, c := range []struct {
		name, module, decls, body string
		want                      []uint32
	}{
		{"global", "", ".global .align 4 .b32 from[4] = {1, 2, 3, 4};\n.reg .b32 %a<2>;",
			"ld.global.u32 %a0, [from]; ld.global.u32 %a1, [from+12]; st.global.u32 [%out], %a0; st.global.u32 [%out+4], %a1;", []uint32{1, 4}},
		{"global without values is zero and can be written", "", ".global .align 4 .u32 x;\n.reg .b32 %a<2>;",
			"ld.global.u32 %a0, [x]; st.global.u32 [x], 7; ld.global.u32 %a1, [x]; st.global.u32 [%out], %a0; st.global.u32 [%out+4], %a1;", []uint32{0, 7}},
		{"read by cp.async", "", ".global .align 16 .b32 from[4] = {1, 2, 3, 4};\n.shared .align 16 .b8 to[16];\n.reg .b32 %a<2>;",
			"cp.async.ca.shared.global [to], [from], 16; cp.async.wait_all; ld.shared.u32 %a0, [to+4]; ld.shared.u32 %a1, [to+8]; st.global.u32 [%out], %a0; st.global.u32 [%out+4], %a1;",
			[]uint32{2, 3}},
		{"const", "", ".const .align 4 .u32 c[2] = {5, 6};\n.reg .b32 %a<2>;",
			"ld.const.u32 %a0, [c]; ld.const.u32 %a1, [c+4]; st.global.u32 [%out], %a0; st.global.u32 [%out+4], %a1;", []uint32{5, 6}},
		{"the same name in two blocks and around them", ".global .u32 x = 1;", ".reg .b32 %a<4>;",
			`ld.global.u32 %a0, [x];
			{ .global .u32 x = 2; ld.global.u32 %a1, [x]; st.global.u32 [x], 20; }
			{ .const .u32 x = 3; ld.const.u32 %a2, [x]; { .global .u32 x = 4; ld.global.u32 %a3, [x]; } }
			st.global.u32 [%out], %a0; st.global.u32 [%out+4], %a1; st.global.u32 [%out+8], %a2; st.global.u32 [%out+12], %a3;
			ld.global.u32 %a0, [x]; st.global.u32 [%out+16], %a0;`, []uint32{1, 2, 3, 4, 1}},
		{"shared, the same name in two blocks and around them", ".shared .u32 x;", ".reg .b32 %a<4>;",
			`st.shared.u32 [x], 1;
			{ .shared .u32 x; st.shared.u32 [x], 2; { .shared .u32 x; st.shared.u32 [x], 3; ld.shared.u32 %a2, [x]; } ld.shared.u32 %a1, [x]; }
			ld.shared.u32 %a0, [x];
			st.global.u32 [%out], %a0; st.global.u32 [%out+4], %a1; st.global.u32 [%out+8], %a2;`, []uint32{1, 2, 3}},
		{"the address of another of the body in an initialiser", ".global .u32 x = 1;", ".global .u32 x = 8;\n.global .u64 at = generic(x);\n.reg .b32 %a;\n.reg .b64 %p;",
			"ld.global.u64 %p, [at]; ld.u32 %a, [%p]; st.global.u32 [%out], %a;", []uint32{8}},
		{"generic addresses", "", ".global .u32 x = 9;\n.reg .b32 %a;\n.reg .b64 %p;",
			"mov.u64 %p, x; cvta.global.u64 %p, %p; ld.u32 %a, [%p]; st.global.u32 [%out], %a;", []uint32{9}},
		{"in a function, which finds what it left", `.func (.param .b32 r) count()
			{ .global .u32 n = 10; .reg .b32 %a; ld.global.u32 %a, [n]; add.u32 %a, %a, 1; st.global.u32 [n], %a; st.param.b32 [r], %a; ret; }`,
			".reg .b32 %a<2>;",
			`{ .param .b32 r; call.uni (r), count, (); ld.param.b32 %a0, [r]; }
			{ .param .b32 r; call.uni (r), count, (); ld.param.b32 %a1, [r]; }
			st.global.u32 [%out], %a0; st.global.u32 [%out+4], %a1;`, []uint32{11, 12}},
		{"external, of the module", ".visible .global .u32 y = 6;", ".extern .global .u32 y;\n.reg .b32 %a;", "ld.global.u32 %a, [y]; st.global.u32 [%out], %a;", []uint32{6}},
	} {
		for _, stepped := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				// One thread: with more, each would count.
				b, err := tryBody(t, bodyOpts{module: c.module, block: 1, stepped: stepped}, c.decls, c.body, nil, 4*len(c.want))
				if err != nil {
					t.Fatal(err)
				}
				got := make([]uint32, len(c.want))
				for i := range got {
					got[i] = binary.LittleEndian.Uint32(b[4*i:])
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
