package gpu_test

import (
	"encoding/binary"
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/device"
	"github.com/heddle-sim/heddle/internal/exec"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// loadPTX never ends: it loads, adds, stores and counts all over its buffer.
const loadPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry load(.param .u64 buf)
{
 .reg .b64 %rd<8>;
 .reg .b32 %r<10>;
 ld.param.u64 %rd1, [buf];
 mov.u32 %r1, %ctaid.x;
 mov.u32 %r2, %tid.x;
 mad.lo.u32 %r3, %r1, 256, %r2;
LOOP:
 and.b32 %r4, %r3, 262143;
 mul.wide.u32 %rd2, %r4, 4;
 add.u64 %rd3, %rd1, %rd2;
 ld.global.u32 %r5, [%rd3];
 add.u32 %r5, %r5, 1;
 st.global.u32 [%rd3], %r5;
 atom.global.add.u32 %r6, [%rd1], 1;
 add.u32 %r3, %r3, 8209;
 bra LOOP;
}
`

// TestNoAllocations runs a busy chip: once its queues have grown nothing is
// allocated any more.
func TestNoAllocations(t *testing.T) {
	for _, name := range []string{"rtx-2060", "gtx-480"} {
		c, err := config.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"run.launch_latency=0", "run.idle_skip=false"} {
			if err := c.Set(s); err != nil {
				t.Fatal(err)
			}
		}
		chip, err := gpu.New(c.ChipConfig())
		if err != nil {
			t.Fatal(err)
		}
		mod, err := ptx.Parse("load.ptx", []byte(loadPTX))
		if err != nil {
			t.Fatal(err)
		}
		prog, err := xptx.Link(mod)
		if err != nil {
			t.Fatal(err)
		}
		mem := device.New(device.Config{})
		addr, err := mem.Alloc(1<<20, "buf")
		if err != nil {
			t.Fatal(err)
		}
		m, err := xptx.NewMachine(prog, mem)
		if err != nil {
			t.Fatal(err)
		}
		l := xptx.Launch{
			Kernel: prog.Kernels()[0], Grid: exec.Dim3{X: 64, Y: 1, Z: 1}, Block: exec.Dim3{X: 256, Y: 1, Z: 1},
			Params: binary.LittleEndian.AppendUint64(nil, addr),
		}
		op := &gpu.Op{Kind: gpu.OpLaunch, Make: func(bool) (exec.Work, error) { return m.NewWork(l, nil) }}
		if err := chip.Add(op); err != nil {
			t.Fatal(err)
		}
		if err := chip.Begin(); err != nil {
			t.Fatal(err)
		}
		for range 200_000 {
			chip.Tick()
		}
		if n := testing.AllocsPerRun(1, func() {
			for range 10_000 {
				chip.Tick()
			}
		}); n > 10 { // a queue may still grow to twice its size
			t.Errorf("%s: %.0f allocations in 10,000 ticks", name, n)
		}
	}
}
