package ptx_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// arithmetic is a loop of dependent FFMA and IADD, all lanes active.
const arithmetic = `.version 7.0
.target sm_80
.address_size 64
.visible .entry loop(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .f32 %f<8>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mov.b32 %f1, %r2;
	mov.f32 %f2, 0f3F800001;
	mov.f32 %f3, 0f3A000000;
	mov.u32 %r3, 0;
L:
	fma.rn.f32 %f1, %f1, %f2, %f3;
	add.s32 %r4, %r2, %r3;
	fma.rn.f32 %f4, %f1, %f2, %f3;
	add.s32 %r5, %r4, %r2;
	fma.rn.f32 %f5, %f4, %f2, %f1;
	add.s32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, %r1;
	@%p1 bra L;
	add.f32 %f1, %f1, %f5;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.f32 [%rd3], %f1;
	ret;
}`

// machine parses, links and places one module.
func machine(tb testing.TB, name, src string) (*xptx.Machine, *xptx.Program, *device.Memory) {
	tb.Helper()
	mod, err := ptx.Parse(name, []byte(src))
	if err != nil {
		tb.Fatal(err)
	}
	p, err := xptx.Link(mod)
	if err != nil {
		tb.Fatal(err)
	}
	mem := device.New(device.Config{})
	m, err := xptx.NewMachine(p, mem)
	if err != nil {
		tb.Fatal(err)
	}
	return m, p, mem
}

// BenchmarkArithmetic measures thread instructions per second of a full warp on one
// goroutine.
func BenchmarkArithmetic(b *testing.B) {
	m, p, mem := machine(b, "loop.ptx", arithmetic)
	out, err := mem.Alloc(4*1024, "out")
	if err != nil {
		b.Fatal(err)
	}
	k, _ := p.Kernel("loop")
	params := make([]byte, k.ParamBytes())
	binary.LittleEndian.PutUint64(params, out)
	binary.LittleEndian.PutUint32(params[8:], 2000)
	l := xptx.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 256, Y: 1, Z: 1}, Params: params}
	insts := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		r, err := m.Run(context.Background(), l, xptx.Options{Threads: 1})
		if err != nil {
			b.Fatal(err)
		}
		insts += r.ThreadInsts
	}
	b.ReportMetric(float64(insts)/b.Elapsed().Seconds()/1e6, "Mthread-insts/s")
}
