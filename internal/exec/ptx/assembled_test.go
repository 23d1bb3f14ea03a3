package ptx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
)

// assembledFrame is a kernel whose body is %s.
const assembledFrame = `.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b64 %%d<12>, %%out;
	.reg .b32 %%r<20>;
	.reg .f32 %%f<40>;
	.reg .pred %%p<6>;
	.shared .align 1024 .b8 s[8192];
	ld.param.u64 %%out, [out];
	mov.u32 %%r0, %%tid.x;
%s
	exit;
}
`

// goneOf returns the instructions of a body that machine code does not have.
func goneOf(t *testing.T, body string) (gone []string, work exec.Work) {
	t.Helper()
	prog := linked(t, "assembled.ptx", fmt.Appendf(nil, assembledFrame, body))
	k, ok := prog.Kernel("k")
	if !ok {
		t.Fatal("no kernel")
	}
	one := exec.Dim3{X: 1, Y: 1, Z: 1}
	m, err := xptx.NewMachine(prog, device.New(device.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	work, err = m.NewWork(xptx.Launch{Kernel: k, Grid: one, Block: exec.Dim3{X: 128, Y: 1, Z: 1}, Params: make([]byte, 8)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := work.Traits().Assembled()
	if len(list) != len(work.Code()) {
		t.Fatalf("%d results for %d instructions", len(list), len(work.Code()))
	}
	for i, a := range list {
		if text := strings.Join(strings.Fields(work.Traits().Text(i)), " "); a.Gone && !strings.Contains(text, "%tid") {
			gone = append(gone, text+";")
		}
	}
	return gone, work
}

// sums are the registers of a product's sums from one on.
func sums(from, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%%f%d", from+i))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

func TestWhatAnAssemblerLeavesOut(t *testing.T) {
	product := "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + sums(0, 4) + ", %d0, %d1, %p0, 1, 1, 0, 0;\n"
	store := func(list ...string) (s string) {
		for i, r := range list {
			s += fmt.Sprintf("st.global.b32 [%%out+%d], %s;\n", 4*i, r)
		}
		return s
	}
	for _, c := range []struct{ name, body, gone string }{
		{"a copy whose source ends", "add.u32 %r1, %r0, 1; mov.b32 %r2, %r1; add.u32 %r2, %r2, 3;" + store("%r2"), "mov.b32 %r2, %r1;"},
		{"a copy whose source is read after it changes", "add.u32 %r1, %r0, 1; mov.b32 %r2, %r1; add.u32 %r2, %r2, 3;" + store("%r2", "%r1"), ""},
		{"a copy of two values into one register", "setp.eq.u32 %p1, %r0, 5; add.u32 %r1, %r0, 1; mov.b32 %r3, %r1; @%p1 bra l; add.u32 %r2, %r0, 2; mov.b32 %r3, %r2; l:" + store("%r3"),
			"mov.b32 %r3, %r1; mov.b32 %r3, %r2;"},
		{"a guarded copy", "setp.eq.u32 %p1, %r0, 5; add.u32 %r1, %r0, 1; @%p1 mov.b32 %r0, %r1;" + store("%r0"), ""},
		{"a special register", "mov.u32 %r1, %laneid;" + store("%r1"), ""},
		{"a value that nobody reads", "add.u32 %r1, %r0, 1; mul.lo.u32 %r2, %r1, %r1;" + store("%r0"), "add.u32 %r1, %r0, 1; mul.lo.u32 %r2, %r1, %r1;"},
		{"a sum of which only the carry is read", "add.cc.u32 %r1, %r0, %r0; addc.u32 %r2, %r0, 0;" + store("%r2"), ""},
		{"a vote that nobody reads", "setp.eq.u32 %p1, %r0, 5; vote.sync.any.pred %p2, %p1, -1; match.any.sync.b32 %r1, %r0, -1; redux.sync.add.u32 %r2, %r0, -1;" + store("%r0"), ""},
		{"a clock that nobody reads", "mov.u32 %r1, %clock;" + store("%r0"), ""},
		{"a load that nobody reads", "ld.global.u32 %r1, [%out];" + store("%r0"), ""},
		{"a literal", "mov.b32 %r1, 7; add.u32 %r2, %r0, %r1;" + store("%r2"), "mov.b32 %r1, 7;"},
		{"zero", "mov.b32 %r1, 0; add.u32 %r2, %r0, 1;" + store("%r1", "%r2"), "mov.b32 %r1, 0;"},
		{"two literals in one instruction", "mov.b32 %r1, 7; mov.b32 %r2, 9; mad.lo.u32 %r3, %r0, %r1, %r2;" + store("%r3"), "mov.b32 %r1, 7;"},
		{"a literal that is stored", "mov.b32 %r1, 7;" + store("%r1"), ""},
		{"a register with two constants", "setp.eq.u32 %p1, %r0, 5; mov.b32 %r1, 0; @%p1 mov.b32 %r1, 1;" + store("%r1"), ""},
		{"halves of a wide register", "cvt.u32.u64 %r1, %out; add.u32 %r1, %r1, 1;" + store("%r1"), ""},
		{"the low half of one that ends", "add.u64 %d0, %out, 8; cvt.u32.u64 %r1, %d0; add.u32 %r1, %r1, 1;" + store("%r1"), "cvt.u32.u64 %r1, %d0;"},
		{"two halves", "add.u64 %d0, %out, 8; mov.b64 {%r1, %r2}, %d0;" + store("%r1", "%r2"), "mov.b64 {%r1, %r2}, %d0;"},
		{"two halves exchanged", "add.u64 %d0, %out, 8; mov.b64 {%r1, %r2}, %d0; mov.b64 %d2, {%r2, %r1}; st.global.b64 [%out], %d2;", "mov.b64 {%r1, %r2}, %d0;"},
		{"a register at two places in vectors", "ld.global.v2.b32 {%r1, %r2}, [%out]; mov.b32 %r3, %r2; mov.b32 %r4, %r1; st.global.v2.b32 [%out+8], {%r3, %r4};", ""},
		{"a register at one place in vectors", "ld.global.v2.b32 {%r1, %r2}, [%out]; mov.b32 %r3, %r1; mov.b32 %r4, %r2; st.global.v2.b32 [%out+8], {%r3, %r4};", "mov.b32 %r3, %r1; mov.b32 %r4, %r2;"},
		{"the first sums of a product", "mov.b64 %d0, 1; mov.b64 %d1, 2; mov.b32 %r1, 0; mov.b32 %f0, %r1; mov.b32 %f1, %r1; mov.b32 %f2, %r1; mov.b32 %f3, %r1; setp.ne.b32 %p0, %r1, 0;" + product + store("%f0", "%f1", "%f2", "%f3"),
			"mov.b32 %r1, 0; mov.b32 %f0, %r1; mov.b32 %f1, %r1; mov.b32 %f2, %r1; mov.b32 %f3, %r1; setp.ne.b32 %p0, %r1, 0;"},
		{"sums that are added", "mov.b64 %d0, 1; mov.b64 %d1, 2; mov.b32 %r1, 1; mov.b32 %f0, %r0; mov.b32 %f1, %r0; mov.b32 %f2, %r0; mov.b32 %f3, %r0; setp.ne.b32 %p0, %r1, 0;" + product + store("%f0", "%f1", "%f2", "%f3"),
			"mov.b32 %r1, 1; mov.b32 %f0, %r0; setp.ne.b32 %p0, %r1, 0;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			gone, _ := goneOf(t, c.body)
			if got := strings.Join(gone, " "); got != c.gone {
				t.Errorf("gone: %q\nwant: %q", got, c.gone)
			}
		})
	}
}

// Both registers of a copy that is left out have one name.
func TestRegistersOfACopyAreOne(t *testing.T) {
	_, work := goneOf(t, "add.u32 %r1, %r0, 1; mov.b32 %r2, %r1; add.u32 %r2, %r2, 3; st.global.b32 [%out], %r2;")
	list := work.Traits().Assembled()
	if first, last := list[2].Dsts[0].Index, list[4].Srcs[0].Index; first != last {
		t.Errorf("the second sum reads register %d, but the first writes %d", last, first)
	}
}
