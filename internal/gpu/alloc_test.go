package gpu_test

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
)

// loadPTX never ends: it loads, adds, stores and counts throughout its buffer.
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

// TestNoAllocations runs a busy chip: once its queues have grown, nothing is
// allocated.
func TestNoAllocations(t *testing.T) {
	for _, x := range []struct {
		gpu            string
		threads, ticks int
	}{{"rtx-2060", 1, 200_000}, {"gtx-480", 1, 200_000}, {"rtx-2060", 2, 20_000}, {"rtx-2070-super", 1, 100_000}} {
		if x.threads > 1 {
			together(t, x.threads)
		}
		c, err := config.Load(x.gpu)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"run.launch_latency=0", "run.idle_skip=false"} {
			if err := c.Set(s); err != nil {
				t.Fatal(err)
			}
		}
		cfg := c.ChipConfig()
		cfg.Run.Threads = x.threads
		params, _ := buffers(t, 1<<20)
		chip, _ := loadOn(t, cfg, loadPTX, 64, 256, params, nil)
		if err := chip.Begin(); err != nil {
			t.Fatal(err)
		}
		chip.Hire()
		defer chip.Dismiss()
		for range x.ticks {
			chip.Tick()
		}
		if n := testing.AllocsPerRun(1, func() {
			for range x.ticks / 20 {
				chip.Tick()
			}
		}); n > 10 { // a queue may still grow to twice its size
			t.Errorf("%s, %d threads: %.0f allocations in %d ticks", x.gpu, x.threads, n, x.ticks/20)
		}
	}
}
