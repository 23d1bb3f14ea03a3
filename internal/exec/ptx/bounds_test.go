package ptx_test

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// TestOutside: accesses that leave the variable or allocation from which their address was made
// are reported once, and the run goes on; what else is done with addresses is not reported.
func TestOutside(t *testing.T) {
	const decls = regs + ".shared .align 16 .b8 a[128];\n.shared .align 16 .b8 b[128];\n"
	const index = "mul.wide.u32 %a1, %t, 4;\nmov.u64 %a0, a;\nadd.u64 %a0, %a0, %a1;\n" // &a[tid]
	for _, c := range []struct{ name, body, want string }{
		{"the last element", index + "ld.shared.u32 %r0, [%a0];", ""},
		{"one after", index + "st.shared.u32 [%a0+4], 1;\nld.shared.u32 %r0, [b];", "write of 4 bytes at shared address 0x80, which was made from a: 0 bytes after the last of its 128 bytes, in b"},
		{"a constant index", "ld.shared.u32 %r0, [a+132];\nld.shared.u32 %r0, [b];", "read of 4 bytes at shared address 0x84, which was made from a: 4 bytes after the last of its 128 bytes, in b"},
		{"across", "ld.shared.u32 %r0, [b];\nld.shared.v2.u32 {%r0,%r1}, [a+124];", "misaligned"},
		{"before", "ld.shared.u32 %r0, [a];\nmov.u64 %a0, b;\nadd.s64 %a0, %a0, -4;\nld.shared.u32 %r0, [%a0];", "read of 4 bytes at shared address 0x7c, which was made from b: 4 bytes before the first of its 128 bytes, in a"},
		{"generic", index + "cvta.shared.u64 %a0, %a0;\nld.u32 %r0, [%a0+4];\nld.shared.u32 %r0, [b];", "read of 4 bytes at shared address 0x80, which was made from a: 0 bytes after the last of its 128 bytes, in b"},
		{"atomic", index + "atom.shared.add.u32 %r0, [%a0+4], 1;\nld.shared.u32 %r0, [b];", "write of 4 bytes at shared address 0x80, which was made from a: 0 bytes after the last of its 128 bytes, in b"},
		{"copied in flight", index + "cvt.u32.u64 %r0, %a0;\nld.shared.u32 %r1, [b];\ncp.async.ca.shared.global [%r0+4], [%in0], 4;\ncp.async.wait_all;", "write of 4 bytes at shared address 0x80, which was made from a: 0 bytes after the last of its 128 bytes, in b"},
		{"selected", index + "mov.u64 %a2, b;\nselp.u64 %a2, %a2, %a0, %p0;\nld.shared.u32 %r0, [%a2+4];", ""},
		{"a distance", "mov.u64 %a0, a;\nmov.u64 %a1, b;\nsub.u64 %a1, %a1, %a0;\nadd.u64 %a0, %a0, %a1;\nld.shared.u32 %r0, [%a0];", ""},
		{"xor", "mov.u64 %a0, a;\nmov.u64 %a1, b;\nxor.b64 %a1, %a1, %a0;\nxor.b64 %a0, %a0, %a1;\nld.shared.u32 %r0, [%a0];", ""},
		{"through memory", "mov.u64 %a0, b;\nst.shared.u64 [a], %a0;\nld.shared.u64 %a1, [a];\nld.shared.u32 %r0, [%a1];", ""},
		{"a parameter, then from memory", "st.shared.u64 [a], %in1;\nmov.u64 %a0, %in0;\n@%p0 bra past;\nld.shared.u64 %a0, [a];\npast:\nadd.u64 %a0, %a0, 4;\nld.global.u32 %r0, [%a0];", ""},
		{"another allocation", "mul.lo.u64 %a2, %in0, 1;\nmul.lo.u64 %a3, %in1, 1;\nsub.u64 %a1, %a3, %a2;\nadd.u64 %a0, %in0, %a1;\nld.global.u32 %r0, [%a0];", `which was made from buffer "in0" (256 bytes`},
		{"by a distance", "sub.u64 %a1, %in1, %in0;\nadd.u64 %a0, %in0, %a1;\nld.global.u32 %r0, [%a0];", ""},
		{"rounded down", "mov.u64 %a0, b;\nadd.u64 %a0, %a0, 7;\nand.b64 %a0, %a0, -8;\nld.shared.u32 %r0, [%a0+128];\nld.shared.u32 %r0, [a];", "read of 4 bytes at shared address 0x80, which was made from b: 0 bytes after the last of its 128 bytes, in a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, stepped := range []bool{false, true} {
				var told []string
				o := bodyOpts{grid: 3, stepped: stepped, outside: func(f *exec.Fault) { told = append(told, f.What) }}
				_, err := tryBody(t, o, decls, "mov.u32 %r0, 1;\nsetp.ne.u32 %p0, %r0, 1;\n"+c.body, [][]byte{make([]byte, 256), make([]byte, 256)}, 8)
				if err != nil {
					told = append(told, err.Error())
				}
				if got := strings.Join(told, "; "); (c.want == "") != (got == "") || !strings.Contains(got, c.want) || strings.Count(got, "made from") > 1 {
					t.Errorf("stepped %v: told %q, want %q", stepped, got, c.want)
				}
			}
		})
	}
}
