package gpu_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// warmed executes 64 blocks of 256 threads without a chip, and returns how many sectors its L2 fetches and writes
// back. Parameters are a buffer of a word of each thread, and one of four.
func warmed(t *testing.T, run func(l exec.Launch, params func(*device.Memory) []byte, o exec.Options) error) [2]uint64 {
	t.Helper()
	chip, err := gpu.New(*teamConfig(t, "rtx-3080", 1))
	if err != nil {
		t.Fatal(err)
	}
	params, _ := buffers(t, 64*256*4, 64*256*16)
	l := exec.Launch{Grid: exec.Dim3{X: 64, Y: 1, Z: 1}, Block: exec.Dim3{X: 256, Y: 1, Z: 1}}
	if err := run(l, params, exec.Options{See: chip.Warm().See}); err != nil {
		t.Fatal(err)
	}
	fetched, written := chip.Warm().Settle()
	return [2]uint64{fetched, written}
}

// TestWarmingCopies: a copy from global to shared memory that a passed block starts reads the L2 like a load.
func TestWarmingCopies(t *testing.T) {
	inPTX := func(body string) [2]uint64 {
		text := fmt.Sprintf(`.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{
 .shared .align 16 .b8 s[4096];
 .reg .b32 %%r<9>; .reg .b64 %%d<4>; .reg .pred %%p0;
 ld.param.u64 %%d0, [out]; ld.param.u64 %%d1, [in];
 mov.u32 %%r0, %%tid.x; mov.u32 %%r1, %%ctaid.x; mad.lo.u32 %%r2, %%r1, 256, %%r0;
 mul.wide.u32 %%d2, %%r2, 16; add.u64 %%d1, %%d1, %%d2;
 mov.u32 %%r3, s; mad.lo.u32 %%r3, %%r0, 16, %%r3;
 %s
 mul.wide.u32 %%d2, %%r2, 4; add.u64 %%d0, %%d0, %%d2; st.global.u32 [%%d0], %%r4;
 ret;
}
`, body)
		return warmed(t, func(l exec.Launch, params func(*device.Memory) []byte, o exec.Options) error {
			prog, m, mem := linked(t, text)
			l.Kernel, l.Params = prog.Kernels()[0], params(mem)
			_, err := m.Run(context.Background(), l, o)
			return err
		})
	}
	inSASS := func(body string) [2]uint64 {
		text := ".arch sm_80\n.kernel k\n.regs 24\n.shared 4096\n.param out, 8\n.param in, 8\n" +
			"S2R R0, SR_TID.X\nS2R R1, SR_CTAID.X\nMOV R2, 0x100\nIMAD R2, R1, R2, R0\nMOV R3, 0x10\nMOV R5, 0x4\n" +
			"IMAD.WIDE.U32 R6, R2, R3, c[0x0][0x168]\nIMAD.WIDE.U32 R8, R2, R5, c[0x0][0x160]\nIMAD R10, R0, R3, RZ\n" +
			body + "\nSTG.E [R8.64], R12\nEXIT\n"
		return warmed(t, func(l exec.Launch, params func(*device.Memory) []byte, o exec.Options) error {
			f, err := sass.Parse("k.sass", text, 0)
			if err != nil {
				return err
			}
			mem := device.New(device.Config{})
			prog := xsass.Load(f)
			l.Kernel, l.Params = prog.Kernels()[0], params(mem)
			_, err = xsass.NewMachine(mem).Run(context.Background(), l, o)
			return err
		})
	}
	for _, c := range []struct {
		name       string
		copy, load [2]uint64
	}{
		{
			"cp.async", inPTX("cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r4, [%r3];"),
			inPTX("ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1];"),
		},
		{
			"LDGSTS", inSASS("LDGSTS.E.BYPASS.128 [R10], [R6.64]\nLDGDEPBAR\nDEPBAR.LE SB0, 0x0\nLDS R12, [R10]"),
			inSASS("LDG.E.128 R12, [R6.64]"),
		},
		{
			"cp.async of which half of the lanes ignore their source",
			inPTX("setp.ge.u32 %p0, %r0, 128; cp.async.cg.shared.global [%r3], [%d1], 16, %p0; cp.async.wait_all; ld.shared.u32 %r4, [%r3];"),
			inPTX("setp.lt.u32 %p0, %r0, 128; @%p0 ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1];"),
		},
		{
			"cp.async of which half of the lanes read nothing",
			inPTX("setp.lt.u32 %p0, %r0, 128; selp.b32 %r5, 16, 0, %p0; cp.async.cg.shared.global [%r3], [%d1], 16, %r5; cp.async.wait_all; ld.shared.u32 %r4, [%r3];"),
			inPTX("setp.lt.u32 %p0, %r0, 128; @%p0 ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1];"),
		},
	} {
		if want := uint64(64 * 128 * 16 / 32); c.load[0] < want {
			t.Errorf("%s: a load fetches %d sectors, want %d", c.name, c.load[0], want)
		}
		if c.copy != c.load {
			t.Errorf("%s fetches %d sectors and writes back %d, a load %d and %d", c.name, c.copy[0], c.copy[1], c.load[0], c.load[1])
		}
	}
}
