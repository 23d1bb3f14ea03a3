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

// teamPTX never ends: it copies, waits for mbarriers, reads the memory of another block, multiplies, and
// meets it.
const teamPTX = `.version 8.4
.target sm_90a
.address_size 64
.visible .entry load(.param .u64 buf) .reqnctapercluster 2
{
 .shared .align 1024 .b8 s[4096];
 .shared .align 8 .b64 bar;
 .reg .b64 %rd<8>;
 .reg .b32 %r<10>;
 .reg .f32 %d<4>;
 .reg .pred %p<4>;
 ld.param.u64 %rd1, [buf];
 mov.u32 %r1, %tid.x;
 setp.eq.u32 %p0, %r1, 0;
 mov.u32 %r2, bar;
 mov.u32 %r3, s;
 @%p0 mbarrier.init.shared.b64 [%r2], 1;
 mov.u32 %r4, %cluster_ctarank;
 xor.b32 %r4, %r4, 1;
 mad.lo.u32 %r5, %r1, 4, %r3;
 mapa.shared::cluster.u32 %r5, %r5, %r4;
 mov.b64 %rd2, 0;
 mov.u32 %r6, 0;
 barrier.cluster.arrive;
 barrier.cluster.wait;
LOOP:
 @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 2048;
 @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 2048, [%r2];
WAIT:
 mbarrier.try_wait.parity.shared.b64 %p1, [%r2], %r6;
 @!%p1 bra WAIT;
 xor.b32 %r6, %r6, 1;
 ld.shared::cluster.u32 %r7, [%r5];
 st.shared::cluster.u32 [%r5+2048], %r7;
 wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %rd2, %rd2, 0, 1, 1, 0, 0;
 wgmma.commit_group.sync.aligned;
 wgmma.wait_group.sync.aligned 0;
 barrier.cluster.arrive;
 barrier.cluster.wait;
 bra LOOP;
}
`

// TestNoAllocations runs a busy chip: once its queues have grown, nothing is
// allocated.
func TestNoAllocations(t *testing.T) {
	for _, x := range []struct {
		gpu            string
		threads, ticks int
	}{{"rtx-2060", 1, 200_000}, {"gtx-480", 1, 200_000}, {"rtx-2060", 2, 20_000}, {"rtx-2070-super", 1, 100_000}, {"h100-pcie", 1, 40_000}} {
		text, blocks, threads := loadPTX, uint32(64), uint32(256)
		if x.gpu == "h100-pcie" {
			text, blocks, threads = teamPTX, 8, 128
		}
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
		chip, _ := loadOn(t, cfg, text, blocks, threads, params, nil)
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
