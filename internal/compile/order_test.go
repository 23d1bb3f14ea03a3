package compile_test

import (
	"slices"
	"strings"
	"testing"
)

// TestOrder: what comes before what in the code of a block.
func TestOrder(t *testing.T) {
	const head = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o, .param .u32 n) { .shared .align 4 .b8 room[512]; .reg .b64 %o, %a; .reg .b32 %r<12>; .reg .pred %p; ld.param.u64 %o, [o]; ld.param.u32 %r1, [n]; mov.u32 %r0, %tid.x; mul.wide.u32 %a, %r0, 4; add.u64 %a, %a, %o; mov.u32 %r9, room; shl.b32 %r8, %r0, 2; add.u32 %r9, %r9, %r8; "
	const tail = " st.global.u32 [%a], %r3; ret; }"
	for _, c := range []struct {
		name, body    string
		first, second string
	}{
		{"a load of what nobody writes before a barrier", "ld.global.u32 %r2, [%a]; st.shared.u32 [%r9], %r2; bar.sync 0; ld.global.nc.u32 %r3, [%a+512]; ld.shared.u32 %r4, [room]; add.u32 %r3, %r3, %r4;", "LDG.E.CONSTANT", "BAR"},
		{"another load after it", "ld.global.u32 %r2, [%a]; st.shared.u32 [%r9], %r2; bar.sync 0; ld.global.u32 %r3, [%a+512]; ld.shared.u32 %r4, [room]; add.u32 %r3, %r3, %r4;", "BAR", "LDG.E"},
		{"a load of what nobody writes after an exit", "mul.lo.u32 %r4, %r0, %r1; mul.lo.u32 %r4, %r4, %r4; setp.gt.u32 %p, %r4, 100; @%p exit; ld.global.nc.u32 %r3, [%a];", "EXIT", "LDG.E.CONSTANT"},
		{"a load of what nobody writes after a trap", "mul.lo.u32 %r4, %r0, %r1; mul.lo.u32 %r4, %r4, %r4; setp.gt.u32 %p, %r4, 100; @%p trap; ld.global.nc.u32 %r3, [%a];", "BPT", "LDG.E.CONSTANT"},
		{"arithmetic after an exit that does not need it", "xor.b32 %r3, %r1, 85; shl.b32 %r4, %r3, 3; xor.b32 %r3, %r3, %r4; shl.b32 %r4, %r3, 5; xor.b32 %r3, %r3, %r4; setp.gt.u32 %p, %r0, 100; @%p exit;", "EXIT", "LOP3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code := compiled(t, head+c.body+tail).Kernels[0].Code
			var list []string
			for i := range code {
				list = append(list, code[i].Text())
			}
			last := func(name string) int {
				for i, text := range slices.Backward(list) {
					if fields := strings.Fields(text); slices.ContainsFunc(fields[:min(2, len(fields))], func(s string) bool { return s == name || strings.HasPrefix(s, name+".") }) && (name != "EXIT" || fields[0][0] == '@') {
						return i
					}
				}
				t.Fatalf("no %s in\n%s", name, strings.Join(list, "\n"))
				return 0
			}
			if last(c.first) > last(c.second) {
				t.Errorf("%s comes before %s in\n%s", c.second, c.first, strings.Join(list, "\n"))
			}
		})
	}
}
