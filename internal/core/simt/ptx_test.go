package simt

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
)

// everything is a kernel that diverges, loops a different number of times in every
// thread, synchronises at barriers, exchanges values through shared memory, calls a
// function with parameters in local memory, adds atomically to shared and global memory,
// uses the SFU and doubles, stores wide values, and has threads that exit early.
const everything = `
.version 7.0
.target sm_70
.address_size 64
.const .u32 table[4] = {3, 5, 7, 11};
.func (.param .b32 r) step (.param .b32 a, .param .b32 n)
{
 .reg .u32 %x<4>; .reg .pred %p;
 .local .u32 keep[8];
 .reg .u64 %at;
 ld.param.u32 %x0, [a]; ld.param.u32 %x1, [n];
 mov.u64 %at, keep;
 st.local.u32 [%at+4], %x0;
 setp.eq.u32 %p, %x1, 0;
 @%p bra done;
 mad.lo.u32 %x0, %x0, 17, %x1;
 ld.local.u32 %x2, [%at+4];
 xor.b32 %x0, %x0, %x2;
done:
 st.param.b32 [r], %x0;
 ret;
}
.visible .entry everything(.param .u64 out, .param .u64 sum)
{
 .reg .u32 %r<24>; .reg .u64 %d<8>; .reg .f32 %f<4>; .reg .f64 %g<4>; .reg .pred %p<4>;
 .shared .u32 box[128]; .shared .u32 total;
 mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
 mad.lo.u32 %r3, %r1, %r2, %r0;
 setp.ge.u32 %p0, %r0, 120;
 @%p0 exit;
 setp.ne.u32 %p1, %r0, 0;
 @%p1 bra ready;
 st.shared.u32 [total], 0;
ready:
 mov.u32 %r5, box; shl.b32 %r4, %r0, 2; add.u32 %r5, %r5, %r4;
 and.b32 %r6, %r0, 7; add.u32 %r6, %r6, 1; mov.u32 %r7, %r3;
loop:
 and.b32 %r8, %r6, 3; shl.b32 %r8, %r8, 2; mov.u64 %d4, table; cvt.u64.u32 %d5, %r8; add.u64 %d4, %d4, %d5;
 ld.const.u32 %r9, [%d4];
 add.u32 %r7, %r7, %r9;
 {
 .param .b32 pa; .param .b32 pn; .param .b32 pr;
 st.param.b32 [pa], %r7; st.param.b32 [pn], %r6;
 call (pr), step, (pa, pn);
 ld.param.b32 %r7, [pr];
 }
 sub.u32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 0;
 @%p2 bra loop;
 st.shared.u32 [%r5], %r7;
 bar.sync 0;
 xor.b32 %r10, %r0, 1; mov.u32 %r11, box; shl.b32 %r10, %r10, 2; add.u32 %r11, %r11, %r10;
 ld.shared.u32 %r12, [%r11];
 and.b32 %r13, %r12, 255; atom.shared.add.u32 %r14, [total], %r13;
 membar.cta;
 bar.sync 0;
 ld.shared.u32 %r15, [total];
 cvt.rn.f32.u32 %f0, %r13; sqrt.rn.f32 %f1, %f0; cvt.rzi.u32.f32 %r16, %f1;
 cvt.rn.f64.u32 %g0, %r16; fma.rn.f64 %g1, %g0, %g0, %g0; cvt.rzi.u32.f64 %r17, %g1;
 shfl.sync.bfly.b32 %r18, %r17, 2, 31, 0xffffffff;
 ld.param.u64 %d0, [out]; cvta.to.global.u64 %d0, %d0; mul.wide.u32 %d1, %r3, 16; add.u64 %d0, %d0, %d1;
 st.global.v4.u32 [%d0], {%r12, %r15, %r17, %r7};
 ld.param.u64 %d2, [sum]; and.b32 %r19, %r0, 3; mul.wide.u32 %d3, %r19, 4; add.u64 %d2, %d2, %d3;
 red.global.add.u32 [%d2], %r13;
 ld.global.v2.u32 {%r20, %r21}, [%d0];
 add.u32 %r20, %r20, %r21;
 st.global.u32 [%d0], %r20;
 exit;
}
`

// TestValues: on every core, the results are those of functional execution.
func TestValues(t *testing.T) {
	p, _ := program(t, "everything.ptx", []byte(everything))
	k, ok := p.Kernel("everything")
	if !ok {
		t.Fatal("no kernel")
	}
	const blocks, threads, outBytes = 7, 128, 7 * 128 * 16
	run := func(do func(m *xptx.Machine, l xptx.Launch)) []byte {
		dev := device.New(device.Config{Base: 0xc000_0000})
		m, err := xptx.NewMachine(p, dev)
		if err != nil {
			t.Fatal(err)
		}
		var params []byte
		var at []uint64
		for _, n := range []uint64{outBytes, 16} {
			a, err := dev.Alloc(n, "m")
			if err != nil {
				t.Fatal(err)
			}
			if err := dev.Write(a, make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			at = append(at, a)
			params = binary.LittleEndian.AppendUint64(params, a)
		}
		do(m, xptx.Launch{Kernel: k, Grid: exec.Dim3{X: blocks, Y: 1, Z: 1}, Block: exec.Dim3{X: threads, Y: 1, Z: 1}, Params: params})
		got := make([]byte, outBytes+16)
		if err := dev.Read(at[0], got[:outBytes]); err != nil {
			t.Fatal(err)
		}
		if err := dev.Read(at[1], got[outBytes:]); err != nil {
			t.Fatal(err)
		}
		return got
	}
	var insts, lanes uint64
	want := run(func(m *xptx.Machine, l xptx.Launch) {
		res, err := m.Run(context.Background(), l, xptx.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		insts, lanes = res.WarpInsts, res.ThreadInsts
	})
	if n := bytes.Count(want, []byte{0}); n > len(want)*3/4 {
		t.Fatalf("%d of %d bytes of the results are zero", n, len(want))
	}
	for name, cfg := range map[string]func(testing.TB) Config{"rtx2060": rtx2060, "gtx480": gtx480, "qv100": qv100} {
		for pol := range policies {
			for _, compat := range []Compat{{}, GPGPUSim()} {
				cfg := cfg(t)
				cfg.Policy, cfg.PolicyWarps, cfg.Compat = pol, 4, compat
				cfg.MaxIssue = 2
				g := newRig(t, cfg)
				got := run(func(m *xptx.Machine, l xptx.Launch) {
					w, err := m.NewWork(l, nil)
					if err != nil {
						t.Fatal(err)
					}
					g.runWork(w, 0, 2_000_000)
				})
				if !bytes.Equal(got, want) {
					t.Errorf("%s %s %+v: the results differ from functional execution", name, pol, compat)
				}
				if st := &g.core.Stats; st.WarpInsts != insts || st.ThreadInsts != lanes {
					t.Errorf("%s %s: %d warp and %d thread instructions, functional execution has %d and %d", name, pol, st.WarpInsts, st.ThreadInsts, insts, lanes)
				}
				for range 2000 {
					g.tick()
				}
				if g.pool.Live != 0 || g.core.Busy() {
					t.Errorf("%s %s: %d requests are left, busy %v", name, pol, g.pool.Live, g.core.Busy())
				}
			}
		}
	}
}
