package unset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/unset"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/ptx"
	parser "github.com/heddle-sim/heddle/internal/isa/ptx"
)

// find runs a kernel of one block of 32 threads under the checker, and returns what it finds,
// a line each: rule, level, count, the lines in the body of read and use, and the use. In
// the kernel, %out is memory that is set, %bare memory that is not, of 256 bytes each, and
// %t the thread.
func find(t *testing.T, atReads bool, functions, body string) string {
	t.Helper()
	head := ".version 7.8\n.target sm_80\n.address_size 64\n" + functions + `
.visible .entry k(.param .u64 p0, .param .u64 p1) {
.reg .b64 %out, %bare, %a<9>; .reg .b32 %t, %r<9>; .reg .b16 %h<5>; .reg .pred %p<5>;
.shared .align 16 .b8 sm[256]; .local .align 16 .b8 lo[64];
ld.param.u64 %out, [p0]; ld.param.u64 %bare, [p1]; mov.u32 %t, %tid.x;
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
	c := unset.New(atReads)
	var params []byte
	for i := range 2 {
		at, err := mem.Alloc(256, "memory")
		if err != nil {
			t.Fatal(err)
		}
		for k := range 8 {
			params = append(params, byte(at>>(8*k)))
		}
		c.Host(&check.HostEvent{Kind: check.HostAlloc, Addr: at, Bytes: 256, Set: i == 0})
	}
	l := exec.Launch{Kernel: prog.Kernels()[0], Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 32, Y: 1, Z: 1}, Params: params}
	l.Probe = c.Launch(&check.Launch{})
	if _, err := machine.Run(t.Context(), l, exec.Options{Threads: 1}); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range c.Findings() {
		s := fmt.Sprintf("%s %v x%d:", f.Rule.ID, f.Level, f.Count)
		for _, x := range f.Steps {
			what, _, _ := strings.Cut(x.Text, " by thread")
			s += fmt.Sprintf(" %d %s", x.Place.Line-strings.Count(head, "\n"), what)
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// own makes %a1 the thread's word of shared memory, and %a2 that of the memory that is set, at
// lines 1 to 4.
const own = `mov.u64 %a0, sm;
mul.wide.u32 %a1, %t, 4;
add.u64 %a2, %a1, %out;
add.u64 %a1, %a1, %a0;
`

// TestUses: each way to use an unset value, and its clean twin.
func TestUses(t *testing.T) {
	for _, c := range []struct{ name, functions, body, want string }{
		{"shared memory, stored", "", own + "ld.shared.u32 %r0, [%a1];\nadd.u32 %r0, %r0, 1;\nst.global.u32 [%a2], %r0;",
			"uninit-shared error x32: 5 read of 4 bytes 7 stored"},
		{"shared memory, read only", "", own + "ld.shared.u32 %r0, [%a1];\nadd.u32 %r0, %r0, 1;", ""},
		{"shared memory, written first", "", own + "st.shared.u32 [%a1], %t;\nld.shared.u32 %r0, [%a1];\nst.global.u32 [%a2], %r0;", ""},
		{"some lanes", "", own + "setp.lt.u32 %p0, %t, 5;\n@%p0 st.shared.u32 [%a1], %t;\nld.shared.u32 %r0, [%a1];\nst.global.u32 [%a2], %r0;",
			"uninit-shared error x27: 7 read of 4 bytes 8 stored"},
		{"those lanes do not store", "", own + "setp.lt.u32 %p0, %t, 5;\n@%p0 st.shared.u32 [%a1], %t;\nld.shared.u32 %r0, [%a1];\n@%p0 st.global.u32 [%a2], %r0;", ""},
		{"global memory, as an address", "", "ld.global.u64 %a0, [%bare];\nadd.u64 %a0, %a0, %out;\nld.global.u32 %r0, [%a0];",
			"uninit-global error x32: 1 read of 8 bytes 3 used as an address"},
		{"as an address of a store", "", "ld.global.u32 %r0, [%bare];\nand.b32 %r0, %r0, 1;\ncvt.u64.u32 %a0, %r0;\nmul.lo.u64 %a0, %a0, 4;\nadd.u64 %a0, %a0, %out;\nst.global.u32 [%a0], 1;",
			"uninit-global error x32: 1 read of 4 bytes 6 used as an address"},
		{"a branch", "", "ld.global.u32 %r0, [%bare];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra ON;\nmov.u32 %r1, 1;\nON:",
			"uninit-global error x32: 1 read of 4 bytes 3 decides a branch"},
		{"a branch that nobody takes", "", "ld.global.u32 %r0, [%bare];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra ON;\nmov.u32 %r1, 1;\nON:",
			"uninit-global error x32: 1 read of 4 bytes 3 decides a branch"},
		{"a branch on the half of a pair that has a value", "", "ld.global.u32 %r0, [%bare];\ncvt.u64.u32 %a0, %r0;\nshl.b64 %a0, %a0, 32;\ncvt.u64.u32 %a1, %t;\nor.b64 %a0, %a0, %a1;\ncvt.u32.u64 %r1, %a0;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra ON;\nmov.u32 %r1, 1;\nON:", ""},
		{"an exit", "", "ld.global.u32 %r0, [%bare];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 exit;",
			"uninit-global error x32: 1 read of 4 bytes 3 decides a branch"},
		{"a guard of a store", "", "ld.global.u32 %r0, [%bare];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 st.global.u32 [%out], 1;",
			"uninit-global error x32: 1 read of 4 bytes 3 decides whether memory is accessed"},
		{"an index of a branch", "", "ld.global.u32 %r0, [%bare];\nA: .branchtargets B, C;\nbrx.idx %r0, A;\nB: mov.u32 %r1, 1;\nC:",
			"uninit-global error x32: 1 read of 4 bytes 3 selects where a branch goes"},
		{"an operand of an atomic", "", "ld.global.u32 %r0, [%bare];\nred.global.add.u32 [%out], %r0;",
			"uninit-global error x32: 1 read of 4 bytes 2 operand of an atomic operation"},
		{"an atomic on unset memory", "", "setp.eq.u32 %p0, %t, 0;\n@%p0 red.global.add.u32 [%bare], 1;", "uninit-global error x1: 2 read of 4 bytes"},
		{"an exchange, whose result nobody uses", "", "atom.global.exch.b32 %r0, [%bare], 1;", ""},
		{"an exchange, whose result is stored", "", "setp.eq.u32 %p0, %t, 0;\n@%p0 atom.global.exch.b32 %r0, [%bare], 1;\n@%p0 st.global.u32 [%out], %r0;",
			"uninit-global error x1: 2 read of 4 bytes 3 stored"},
		{"selp that takes it", "", "ld.global.u32 %r0, [%bare];\nsetp.lt.u32 %p0, %t, 3;\nselp.b32 %r1, %r0, 7, %p0;\nst.global.u32 [%out], %r1;",
			"uninit-global error x3: 1 read of 4 bytes 4 stored"},
		{"selp that does not", "", "ld.global.u32 %r0, [%bare];\nsetp.lt.u32 %p0, %t, 64;\nselp.b32 %r1, 7, %r0, %p0;\nselp.b32 %r1, %r0, %r1, !%p0;\nst.global.u32 [%out], %r1;", ""},
		{"selp decided by it", "", "ld.global.u32 %r0, [%bare];\nsetp.eq.u32 %p0, %r0, 3;\nselp.b32 %r1, 7, 8, %p0;\nst.global.u32 [%out], %r1;",
			"uninit-global error x32: 1 read of 4 bytes 4 stored"},
		{"a condition that another one decides", "", "ld.global.u32 %r0, [%bare];\nsetp.eq.u32 %p0, %r0, 0;\nsetp.gt.u32 %p1, %t, 64;\nand.pred %p2, %p0, %p1;\n@%p2 bra ON;\nnot.pred %p1, %p1;\nor.pred %p3, %p0, %p1;\n@%p3 bra ON;\nON:", ""},
		{"a condition that it decides", "", "ld.global.u32 %r0, [%bare];\nsetp.eq.u32 %p0, %r0, 0;\nsetp.lt.u32 %p1, %t, 8;\nand.pred %p2, %p0, %p1;\n@%p2 bra ON;\nON:",
			"uninit-global error x8: 1 read of 4 bytes 5 decides a branch"},
		{"padding", "", own + "mov.u32 %r1, 1;\nst.shared.u8 [%a1], %r1;\nld.shared.u32 %r0, [%a1];\nst.global.u32 [%a2], %r0;", "uninit-shared note x32: 7 read of 4 bytes"},
		{"half of a register", "", "mov.u16 %h0, 1;\nmov.b32 %r0, {%h0, %h1};\nst.global.u32 [%out], %r0;", ""},
		{"a whole register in halves", "", "mov.b32 %r0, {%h0, %h1};\nst.global.u32 [%out], %r0;", "uninit-register error x32: 1 read 2 stored"},
		{"through shared memory, by another thread", "", own + "ld.global.u32 %r0, [%bare];\nst.shared.u32 [%a1], %r0;\nld.shared.u32 %r1, [sm+4];\nst.global.u32 [%a2], %r1;",
			"uninit-global error x32: 5 read of 4 bytes 8 stored"},
		{"through shared memory, overwritten", "", own + "ld.global.u32 %r0, [%bare];\nst.shared.u32 [%a1], %r0;\nst.shared.u32 [%a1], %t;\nld.shared.u32 %r1, [sm+4];\nst.global.u32 [%a2], %r1;", ""},
		{"one of two elements", "", own + "ld.shared.u32 %r0, [%a1];\nst.local.v2.u32 [lo], {%t, %r0};\nld.local.u32 %r1, [lo];\nst.global.u32 [%a2], %r1;", ""},
		{"the other one", "", own + "ld.shared.u32 %r0, [%a1];\nst.local.v2.u32 [lo], {%t, %r0};\nld.local.u32 %r1, [lo+4];\nst.global.u32 [%a2], %r1;",
			"uninit-shared error x32: 5 read of 4 bytes 8 stored"},
		{"local memory", "", "ld.local.u32 %r0, [lo+8];\nst.global.u32 [%out], %r0;", "uninit-local error x32: 1 read of 4 bytes 2 stored"},
		{"local memory, written first", "", "st.local.v2.u32 [lo+8], {%t, 2};\nld.local.v2.u32 {%r0, %r1}, [lo+8];\nst.global.v2.u32 [%out], {%r0, %r1};", ""},
		{"local memory of some lanes, each its own", "", "mov.u64 %a0, lo;\nand.b32 %r1, %t, 7;\nmul.wide.u32 %a1, %r1, 4;\nadd.u64 %a0, %a0, %a1;\nsetp.lt.u32 %p0, %t, 8;\n@%p0 st.local.u32 [%a0], %t;\nld.local.u32 %r0, [%a0];\nst.global.u32 [%out], %r0;",
			"uninit-local error x24: 7 read of 4 bytes 8 stored"},
		{"a register", "", "add.u32 %r1, %r0, 1;\nmov.u32 %r2, %r1;\nst.global.u32 [%out], %r2;", "uninit-register error x32: 1 read 3 stored"},
		{"a register, in the store itself", "", "st.global.u32 [%out], %r0;", "uninit-register error x32: 1 read 1 stored"},
		{"a register, not used", "", "add.u32 %r1, %r0, 1;\nmov.u32 %r1, 1;\nst.global.u32 [%out], %r1;", ""},
		{"a register that some lanes write", "", "setp.lt.u32 %p0, %t, 10;\n@%p0 mov.u32 %r0, 1;\nst.global.u32 [%out], %r0;", "uninit-register error x22: 3 read 3 stored"},
		{"a shuffle", "", own + "setp.lt.u32 %p0, %t, 16;\n@%p0 st.shared.u32 [%a1], %t;\nld.shared.u32 %r0, [%a1];\nshfl.sync.down.b32 %r1, %r0, 8, 31, -1;\nsetp.lt.u32 %p1, %t, 12;\n@%p1 st.global.u32 [%a2], %r1;",
			"uninit-shared error x4: 7 read of 4 bytes 10 stored"},
		{"a shuffle among those that are set", "", own + "setp.lt.u32 %p0, %t, 16;\n@%p0 st.shared.u32 [%a1], %t;\nld.shared.u32 %r0, [%a1];\nshfl.sync.down.b32 %r1, %r0, 8, 31, -1;\nsetp.lt.u32 %p1, %t, 8;\n@%p1 st.global.u32 [%a2], %r1;", ""},
		{"a call that sets its result", ".func (.param .b32 r) f(.param .b32 a, .reg .b32 %b) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, %b; st.param.b32 [r], %x; ret; }",
			"{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t; call (r), f, (a, %t); ld.param.b32 %r0, [r]; }\nst.global.u32 [%out], %r0;", ""},
		{"registers and local memory of a function called again", ".func f(.param .b64 a, .reg .b32 %w) { .reg .b32 %x, %y; .reg .b64 %q; .reg .pred %p; .local .b32 z; ld.param.b64 %q, [a]; setp.eq.u32 %p, %w, 0; @%p mov.u32 %x, 1; @%p st.local.b32 [z], 1; st.global.u32 [%q], %x; ld.local.b32 %y, [z]; st.global.u32 [%q], %y; ret; }",
			"{ .param .b64 a; st.param.b64 [a], %out; call f, (a, 0); call f, (a, 1); }",
			"uninit-local error x32: -4 read of 4 bytes -4 stored\nuninit-register error x32: -4 read -4 stored"},
		{"an asynchronous copy takes the state along", "", "mov.u64 %a0, sm;\ncp.async.ca.shared.global [%a0], [%bare], 8;\ncp.async.ca.shared.global [%a0+8], [%out], 8;\ncp.async.wait_all;\nld.shared.u32 %r0, [%a0+4];\nld.shared.u32 %r1, [%a0+8];\nst.global.u32 [%out], %r1;\nst.global.u32 [%out], %r0;",
			"uninit-shared error x32: 5 read of 4 bytes 8 stored"},
		{"loops count each use, not each store of one value", "", own + "mov.u32 %r1, 0;\nAGAIN: ld.shared.u32 %r0, [%a1];\nst.global.u32 [%a2], %r0;\nst.global.u32 [%a2], %r0;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 3;\n@%p0 bra AGAIN;",
			"uninit-shared error x96: 6 read of 4 bytes 7 stored"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := find(t, false, c.functions, c.body); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestReads: with the switch, reads count, used or not.
func TestReads(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"shared memory", own + "ld.shared.u32 %r0, [%a1];", "uninit-shared error x32: 5 read of 4 bytes"},
		{"global memory, stored", own + "ld.global.u32 %r0, [%bare];\nst.global.u32 [%out], %r0;", "uninit-global error x32: 5 read of 4 bytes"},
		{"local memory", "ld.local.u32 %r0, [lo];", "uninit-local error x32: 1 read of 4 bytes"},
		{"a register", "mov.u32 %r1, %r0;\nst.global.u32 [%out], %r1;", "uninit-register error x32: 1 read"},
		{"what is set", own + "st.shared.u32 [%a1], %t;\nld.shared.u32 %r0, [%a1];\nst.global.u32 [%a2], %r0;", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := find(t, true, "", c.body); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
