package checkers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/check/checkers"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/ptx"
	parser "github.com/heddle-sim/heddle/internal/isa/ptx"
)

// find runs a kernel of 2 blocks of 64 threads under checkers, and returns what they find: rule,
// level, count and line in the body. %m is memory of 64 KiB, %t the thread in its block, and %f
// a number that differs from thread to thread.
func find(t *testing.T, names []string, body string) string {
	t.Helper()
	return findIn(t, names, "sm_80", exec.Launch{Grid: exec.Dim3{X: 2, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}}, body)
}

// findIn is find for a target and a launch.
func findIn(t *testing.T, names []string, target string, l exec.Launch, body string) string {
	t.Helper()
	head := `.version 8.7
.target ` + target + `
.address_size 64
.visible .entry k(.param .u64 p0) {
.reg .b64 %m, %a<9>; .reg .b32 %t, %r<9>; .reg .f32 %f, %v<9>; .reg .b16 %h<3>; .reg .pred %p<5>;
.shared .align 1024 .b8 sm[16384];
ld.param.u64 %m, [p0]; mov.u32 %t, %tid.x; cvt.rn.f32.u32 %f, %t; mul.f32 %f, %f, 0f3DCCCCCD;
`
	m, err := parser.Parse("k.ptx", []byte(head+strings.TrimSpace(body)+"\nret;\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	prog, err := ptx.Link(m)
	if err != nil {
		t.Fatal(err)
	}
	mem := device.New(device.Config{})
	machine, err := ptx.NewMachine(prog, mem)
	if err != nil {
		t.Fatal(err)
	}
	at, err := mem.Alloc(64<<10, "memory")
	if err != nil {
		t.Fatal(err)
	}
	var params []byte
	for k := range 8 {
		params = append(params, byte(at>>(8*k)))
	}
	set, err := checkers.New(names, checkers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.Kernel, l.Params, l.Probe = prog.Kernels()[0], params, set.Launch(0, 0, nil)
	if _, err := machine.Run(t.Context(), l, exec.Options{Threads: 1}); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range set.Findings() {
		out = append(out, fmt.Sprintf("%s %v x%d line %d", f.Rule.ID, f.Level, f.Count, f.At().Line-strings.Count(head, "\n")))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestHints: what is no error, but may surprise or be slow, and its clean twins.
func TestHints(t *testing.T) {
	for _, c := range []struct{ name, checkers, body, want string }{
		{"sums, asked for", "lint", "red.global.add.f32 [%m], %f;", "order-float-atomic warning x1 line 1"},
		{"sums, among all", "all", "red.global.add.f32 [%m], %f;", "order-float-atomic note x1 line 1"},
		{"sums of generic addresses", "lint", "atom.add.f32 %v1, [%m], %f;", "order-float-atomic warning x1 line 1"},
		{"sums of the second halves of pairs", "lint", "cvt.rn.f16x2.f32 %r1, %f, %f;\nshl.b32 %r1, %r1, 16;\nred.global.add.noftz.f16x2 [%m], %r1;", "order-float-atomic warning x1 line 3"},
		{"sums of whole numbers", "lint", "cvt.rn.f32.u32 %f, %t;\nred.global.add.f32 [%m], %f;", ""},
		{"integers", "lint", "red.global.add.u32 [%m], %t;", ""},
		{"a number for each thread", "lint", "mul.wide.u32 %a1, %t, 4;\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %a2, %r1, 256;\nadd.u64 %a1, %a1, %a2;\nadd.u64 %a1, %a1, %m;\nred.global.add.f32 [%a1], %f;\nred.global.add.f32 [%a1], 0f3DCCCCCD;", ""},
		{"shared numbers in turn", "lint", "mov.u64 %a1, sm;\nsetp.eq.u32 %p1, %t, 9;\nsetp.eq.u32 %p2, %t, 50;\n@%p1 red.shared.add.f32 [%a1], %f;\n@%p2 red.shared.add.f32 [%a1], 0f3F000000;\nbar.sync 0;\n@%p1 red.shared.add.f32 [%a1], %f;", ""},
		{"shared numbers", "lint", "mov.u64 %a1, sm;\nred.shared.add.f32 [%a1], %f;", "order-float-atomic warning x2 line 2"},

		{"words apart", "perf", "mul.wide.u32 %a1, %t, 64;\nadd.u64 %a1, %a1, %m;\nld.global.u32 %r1, [%a1];", "uncoalesced-accesses note x4 line 3"},
		{"neighbours", "perf", "mul.wide.u32 %a1, %t, 4;\nadd.u64 %a1, %a1, %m;\nld.global.u32 %r1, [%a1];", ""},
		{"vectors", "perf", "mul.wide.u32 %a1, %t, 16;\nadd.u64 %a1, %a1, %m;\nld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a1];", ""},
		{"one bank", "perf", "mul.wide.u32 %a1, %t, 128;\nmov.u64 %a2, sm;\nadd.u64 %a1, %a1, %a2;\nst.shared.u32 [%a1], %t;", "bank-conflicts note x4 line 4"},
		{"all banks", "perf", "mul.wide.u32 %a1, %t, 132;\nmov.u64 %a2, sm;\nadd.u64 %a1, %a1, %a2;\nst.shared.u32 [%a1], %t;", ""},
		{"vectors in shared memory", "perf", "mul.wide.u32 %a1, %t, 16;\nmov.u64 %a2, sm;\nadd.u64 %a1, %a1, %a2;\nst.shared.v4.u32 [%a1], {%t, %t, %t, %t};", ""},
		{"odd lanes", "perf", "and.b32 %r1, %t, 1;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra L;\nadd.u32 %r1, %r1, 3;\nadd.u32 %r1, %r1, 3;\nadd.u32 %r1, %r1, 3;\nL:", "divergence note x4 line 3"},
		{"odd warps", "perf", "and.b32 %r1, %t, 32;\nsetp.eq.u32 %p1, %r1, 32;\n@%p1 bra L;\nadd.u32 %r1, %r1, 3;\nadd.u32 %r1, %r1, 3;\nadd.u32 %r1, %r1, 3;\nL:", ""},
		{"hints are not among all", "all", "mul.wide.u32 %a1, %t, 64;\nadd.u64 %a1, %a1, %m;\nst.global.u32 [%a1], 7;", "race-global-interblock note x256 line 3"},
		{"hints beside all", "all,perf", "and.b32 %r1, %t, 1;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra L;\nadd.u32 %r1, %r1, 3;\nadd.u32 %r1, %r1, 3;\nadd.u32 %r1, %r1, 3;\nL:\n@!%p1 bra M;\nadd.u32 %r2, %r3, 1;\nsetp.eq.u32 %p2, %r2, 1;\n@%p2 bra M;\nM:", "divergence note x4 line 3\ndivergence note x4 line 8\nuninit-register error x64 line 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := find(t, strings.Split(c.checkers, ","), c.body); got != c.want {
				t.Errorf("found\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
