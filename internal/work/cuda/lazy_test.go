package cuda

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
)

// TestBrokenKernel: a kernel whose text has a mistake is refused, with the place, once; the
// other kernels of its module run, as a kernel is parsed when it is first launched.
func TestBrokenKernel(t *testing.T) {
	text := strings.Replace(code, "mul.lo.u32 %r4, %r2, %r3;", "mul.lo.u32 %r4 %r2, %r3;", 1)
	if text == code {
		t.Fatal("there is no such line")
	}
	b := start(t, nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(text)})
	out := b.malloc(4)
	b.want("a sound kernel", b.run("add", 1, 0, out, 7), Success)
	b.want("the broken kernel", b.run("scale", 1, 0, out), InvalidPTX)
	b.want("the broken kernel again", b.run("scale", 1, 0, out), InvalidPTX)
	b.want("the sound kernel again", b.run("add", 1, 0, out, 9), Success)
	b.want("copy", b.Copy(stack, out, 4, DeviceToHost, 0, false), Success)
	if got := b.words(stack, 1)[0]; got != 9 {
		t.Errorf("the sound kernel wrote %d, want 9", got)
	}
	if log := b.log.String(); strings.Count(log, "app.ptx:31:") != 1 || !strings.Contains(log, "mul.lo.u32 %r4 %r2") {
		t.Errorf("the mistake is in line 31: %s", log)
	}
}

// TestAddressOfAnotherKernel: a kernel calls a function whose address only another kernel
// takes, which is first needed after it.
func TestAddressOfAnotherKernel(t *testing.T) {
	b := start(t, nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(`
.version 7.0
.target sm_70
.address_size 64
.func (.reg .b32 out) twice(.reg .b32 in)
{
	add.u32 out, in, in;
	ret;
}
.visible .entry scale(.param .u64 to) // keeps the address
{
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [to];
	mov.u64 %rd1, twice;
	st.global.u64 [%rd0], %rd1;
	ret;
}
.visible .entry add(.param .u64 from, .param .u32 n) // calls it
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<3>;
	.reg .pred %p;
	ld.param.u64 %rd0, [from];
	ld.param.u32 %r0, [n];
	setp.eq.u32 %p, %r0, 0;
	@%p ret;
	ld.global.u64 %rd1, [%rd0];
	P: .callprototype (.reg .b32 _) _ (.reg .b32 _);
	call (%r1), %rd1, (%r0), P;
	st.global.u32 [%rd0], %r1;
	ret;
}
`)})
	place := b.malloc(8)
	b.want("the one that calls it, without a call", b.run("add", 1, 0, place, 0), Success)
	b.want("the one that keeps it", b.run("scale", 1, 0, place), Success)
	b.want("the one that calls it", b.run("add", 1, 0, place, 21), Success)
	b.want("copy", b.Copy(stack, place, 4, DeviceToHost, 0, false), Success)
	if got := b.words(stack, 1)[0]; got != 42 {
		t.Errorf("twice 21 is %d", got)
	}
}
