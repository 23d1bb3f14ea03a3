package gpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// Kernels with many independent loads: eight in a round, each into its own
// register. A round of sweep takes a warp through 1 KiB; anywhere loads one word
// after the other, at a different address in each lane.
const widePTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry sweep(.param .u64 in, .param .u32 lane, .param .u32 warp, .param .u32 step, .param .u32 mask, .param .u32 rounds)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<24>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [in];
 ld.param.u32 %r1, [lane];
 ld.param.u32 %r2, [warp];
 ld.param.u32 %r3, [step];
 ld.param.u32 %r4, [mask];
 ld.param.u32 %r5, [rounds];
 mov.u32 %r6, %ctaid.x;
 mov.u32 %r7, %ntid.x;
 mov.u32 %r8, %tid.x;
 mad.lo.u32 %r6, %r6, %r7, %r8;
 shr.u32 %r7, %r6, 5;
 mul.lo.u32 %r7, %r7, %r2;
 and.b32 %r8, %r6, 31;
 mad.lo.u32 %r7, %r8, %r1, %r7;
LOOP:
 and.b32 %r9, %r7, %r4;
 cvt.u64.u32 %rd2, %r9;
 add.u64 %rd2, %rd1, %rd2;
 ld.global.u32 %r10, [%rd2];
 ld.global.u32 %r11, [%rd2+128];
 ld.global.u32 %r12, [%rd2+256];
 ld.global.u32 %r13, [%rd2+384];
 ld.global.u32 %r14, [%rd2+512];
 ld.global.u32 %r15, [%rd2+640];
 ld.global.u32 %r16, [%rd2+768];
 ld.global.u32 %r17, [%rd2+896];
 add.u32 %r7, %r7, %r3;
 sub.u32 %r5, %r5, 1;
 setp.ne.u32 %p1, %r5, 0;
 @%p1 bra LOOP;
 exit;
}
.visible .entry anywhere(.param .u64 in, .param .u32 mask, .param .u32 rounds)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<16>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [in];
 ld.param.u32 %r1, [mask];
 ld.param.u32 %r2, [rounds];
 shl.b32 %r2, %r2, 3;
 mov.u32 %r3, %ctaid.x;
 mov.u32 %r4, %ntid.x;
 mov.u32 %r5, %tid.x;
 mad.lo.u32 %r3, %r3, %r4, %r5;
LOOP:
 mad.lo.u32 %r3, %r3, 1664525, 1013904223;
 shr.u32 %r6, %r3, 16;
 xor.b32 %r6, %r6, %r3;
 mul.lo.u32 %r6, %r6, 0x85ebca6b;
 shr.u32 %r7, %r6, 13;
 xor.b32 %r6, %r6, %r7;
 mul.lo.u32 %r6, %r6, 0xc2b2ae35;
 shr.u32 %r7, %r6, 16;
 xor.b32 %r6, %r6, %r7;
 and.b32 %r6, %r6, %r1;
 cvt.u64.u32 %rd2, %r6;
 add.u64 %rd2, %rd1, %rd2;
 ld.global.u32 %r7, [%rd2];
 sub.u32 %r2, %r2, 1;
 setp.ne.u32 %p1, %r2, 0;
 @%p1 bra LOOP;
 exit;
}
.visible .entry ways(.param .u64 out, .param .u32 n, .param .u32 rounds)
{
 .reg .b64 %rd<2>;
 .reg .b32 %r<12>;
 .reg .pred %p<3>;
 .shared .align 4 .b8 s[4096];
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r1, [n];
 ld.param.u32 %r2, [rounds];
 mov.u32 %r3, %tid.x;
 setp.lt.u32 %p1, %r3, %r1;
 shl.b32 %r4, %r3, 7;
 shl.b32 %r5, %r3, 2;
 selp.b32 %r4, %r4, %r5, %p1;
 mov.u32 %r6, s;
 add.u32 %r6, %r6, %r4;
 st.shared.u32 [%r6], %r6;
LOOP:
 ld.shared.u32 %r6, [%r6];
 sub.u32 %r2, %r2, 1;
 setp.ne.u32 %p2, %r2, 0;
 @%p2 bra LOOP;
 st.global.u32 [%rd1], %r6;
 exit;
}
.visible .entry sharedsweep(.param .u32 stride, .param .u32 rounds)
{
 .reg .b32 %r<16>;
 .reg .pred %p<2>;
 .shared .align 4 .b8 s[4096];
 ld.param.u32 %r1, [stride];
 ld.param.u32 %r2, [rounds];
 mov.u32 %r3, %laneid;
 mul.lo.u32 %r3, %r3, %r1;
 mov.u32 %r4, s;
 add.u32 %r4, %r4, %r3;
LOOP:
 ld.shared.u32 %r5, [%r4];
 ld.shared.u32 %r6, [%r4];
 ld.shared.u32 %r7, [%r4];
 ld.shared.u32 %r8, [%r4];
 ld.shared.u32 %r9, [%r4];
 ld.shared.u32 %r10, [%r4];
 ld.shared.u32 %r11, [%r4];
 ld.shared.u32 %r12, [%r4];
 sub.u32 %r2, %r2, 1;
 setp.ne.u32 %p1, %r2, 0;
 @%p1 bra LOOP;
 exit;
}
`

// newWide is a job over these kernels, all clocks alike.
func newWide(t *testing.T, gpu string, set ...string) *micro {
	m := newMicro(t, gpu, append(append([]string{}, sameClocks...), set...)...)
	m.files["micro.ptx"] = []byte(widePTX)
	return m
}

// TestL1Bandwidth loads from an L1 that has all the data, on one SM. Its banks
// deliver one sector each per cycle, and a load takes as long as the bank with most
// of its sectors.
func TestL1Bandwidth(t *testing.T) {
	const warps, rounds = 32, 8
	for _, banks := range alltests.Some([]int{4, 1, 2}, 1) {
		for _, stride := range []int{4, 8, 16, 32, 64, 128} {
			m := newWide(t, "rtx-2060", "l1d.adaptive=false", fmt.Sprintf("l1d.banks=%d", banks)).zeros("data", 2048)
			for _, n := range []int{1, rounds, 2 * rounds} {
				m.launch("sweep", 1, 32*warps, fmt.Sprintf(`{ buffer = "data" }, { u32 = %d }, { u32 = 0 }, { u32 = 0 }, { u32 = 4095 }, { u32 = %d }`, stride, n))
			}
			k := m.run()
			// The sectors of a load lie in every bank, in every second or fourth one:
			// sector i is in bank i modulo the number of banks.
			sectors, used := min(32, stride), min(banks, stride)
			if stride > 32 {
				used = max(1, banks*32/stride)
			}
			want := uint64(rounds * 8 * warps * sectors / used)
			got := k[2].Cycles - k[1].Cycles
			if k[2].Memory.L1.Misses-k[1].Memory.L1.Misses != 0 {
				t.Fatalf("%d misses", k[2].Memory.L1.Misses-k[1].Memory.L1.Misses)
			}
			if got < want*99/100 || got > want*102/100 {
				t.Errorf("%d banks, stride %d: %d loads of %d sectors in %d banks take %d cycles, want %d", banks, stride, rounds*8*warps, sectors, used, got, want)
			}
		}
	}
}

// TestSharedBandwidth loads from shared memory, one SM with 32 warps: a load takes
// one cycle, or as many cycles as it has words in one bank.
func TestSharedBandwidth(t *testing.T) {
	const warps, rounds = 32, 8
	for stride, ways := range map[int]uint64{0: 1, 4: 1, 8: 2, 16: 4, 32: 8, 64: 16, 128: 32} {
		m := newWide(t, "v100")
		for _, n := range []int{rounds, 2 * rounds} {
			m.launch("sharedsweep", 1, 32*warps, fmt.Sprintf(`{ u32 = %d }, { u32 = %d }`, stride, n))
		}
		k := m.run()
		want := rounds * 8 * warps * ways
		if got := k[1].Cycles - k[0].Cycles; got < want*99/100 || got > want*102/100 {
			t.Errorf("stride %d: %d loads take %d cycles, want %d", stride, rounds*8*warps, got, want)
		}
	}
}

// TestWays reads shared memory with each number of words in one bank.
func TestWays(t *testing.T) {
	const rounds = 50
	m := newWide(t, "rtx-2060").zeros("out", 1)
	for ways := 1; ways <= 32; ways++ {
		for _, n := range []int{rounds, 2 * rounds} {
			m.launch("ways", 1, 32, fmt.Sprintf(`{ buffer = "out" }, { u32 = %d }, { u32 = %d }`, ways, n))
		}
	}
	k := m.run()
	one := k[1].Cycles - k[0].Cycles
	for ways := 1; ways <= 32; ways++ {
		a, b := &k[2*ways-2], &k[2*ways-1]
		want := uint64(rounds * (ways - 1))
		if got := b.Cycles - a.Cycles - one; got != want {
			t.Errorf("%d words in a bank: %d loads take %d cycles more than without a conflict, want %d", ways, rounds, got, want)
		}
		if got := b.Memory.SharedConflictCycles - a.Memory.SharedConflictCycles; got != want {
			t.Errorf("%d words in a bank: %d cycles of conflict in %d loads, want %d", ways, got, rounds, want)
		}
	}
}

// l2Rate returns the sectors per cycle that an L2 with all the data delivers,
// bypassing the L1, in the steady state of a kernel.
func l2Rate(t *testing.T, clusters, kib int, set []string, kernel string, args func(rounds int) string) float64 {
	t.Helper()
	set = append([]string{"l1d.skip_global=true", "run.copies_fill_l2=true", fmt.Sprintf("chip.clusters=%d", clusters)}, set...)
	m := newWide(t, "rtx-2060", set...).zeros("data", kib<<8)
	for _, n := range []int{1, 1, 3} {
		m.launch(kernel, clusters, 1024, args(n))
	}
	k := m.run()
	if n := k[2].Memory.DRAM.Reads; n != 0 {
		t.Fatalf("%d reads of the DRAM", n)
	}
	return float64(k[2].Memory.L2.Accesses-k[1].Memory.L2.Accesses) / float64(k[2].Cycles-k[1].Cycles)
}

// TestL2Bandwidth has each cluster read from its own slice, without conflicts: each
// delivers a sector a cycle.
func TestL2Bandwidth(t *testing.T) {
	const own = 32 // KiB that a block reads; bits 15 to 17 select them
	set := []string{"chip.channels=8", "chip.slices_per_channel=1", "partition.mapping=dramid@15;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS"}
	for _, clusters := range []int{1, 4, 8} {
		rate := l2Rate(t, clusters, own*clusters, set, "sweep", func(rounds int) string {
			return fmt.Sprintf(`{ buffer = "data" }, { u32 = 4 }, { u32 = 1024 }, { u32 = 0 }, { u32 = %d }, { u32 = %d }`, own*clusters<<10-1, rounds)
		})
		t.Logf("%d clusters: %.3f sectors a cycle", clusters, rate)
		if bound := float64(clusters); rate > 1.001*bound || rate < 0.97*bound {
			t.Errorf("%d clusters: %.3f sectors a cycle, want %d", clusters, rate, clusters)
		}
	}
}

// heads returns the packets that the crossbar moves per cycle if its inputs are
// endless queues of packets with uniformly distributed outputs. Only the first of a
// queue can go, so some outputs are idle while several packets wait for another
// one; outputs choose in order, and the packet after a moved one may go to a later
// output in the same cycle.
func heads(inputs, outputs int) float64 {
	const cycles = 20_000
	r := rand.New(rand.NewPCG(1, 2))
	wanted := make([]int, outputs)
	for range inputs {
		wanted[r.IntN(outputs)]++
	}
	moved := 0
	for range cycles {
		for o := range wanted {
			if wanted[o] > 0 {
				wanted[o]--
				moved++
				wanted[r.IntN(outputs)]++
			}
		}
	}
	return float64(moved) / cycles
}

// TestL2Crowded has each lane read a random sector, and an SM send at most one per
// cycle. Replies, and with many SMs requests, then queue after others for different
// places; with 30 SMs neither network always has the packets that the other one
// delays.
func TestL2Crowded(t *testing.T) {
	// Two by two: before a cycle both packets want the first output in 2 cycles
	// of 5, which then moves 1.5 on average; they want both in 2, which moves 2,
	// and the second in 1, which moves 1.
	if got := heads(2, 2); math.Abs(got-1.6) > 0.01 {
		t.Fatalf("two inputs move %.3f packets to two outputs, want 1.6", got)
	}
	const kib, slices = 512, 24
	for _, c := range alltests.Some([]struct {
		clusters int
		least    float64 // of the bound
	}{{1, 0.97}, {4, 0.97}, {2, 0.97}, {8, 0.97}, {30, 0.9}}, 2) {
		rate := l2Rate(t, c.clusters, kib, nil, "anywhere", func(rounds int) string {
			return fmt.Sprintf(`{ buffer = "data" }, { u32 = %d }, { u32 = %d }`, kib<<10-32, rounds)
		})
		bound := min(float64(c.clusters), heads(c.clusters, slices), heads(slices, c.clusters))
		t.Logf("%d clusters: %.3f sectors a cycle of %.3f", c.clusters, rate, bound)
		// Warps that wait for their own replies balance the destinations: with few
		// SMs that is a little better than chance.
		if rate > 1.03*bound || rate < c.least*bound {
			t.Errorf("%d clusters: %.3f sectors a cycle, want %.3f to %.3f", c.clusters, rate, c.least*bound, bound)
		}
	}
}

// TestDRAMBandwidth reads memory once, in the order of its addresses and with
// strides. The pins never exceed their peak, and are nearly always busy if all
// words of a row are read; the bytes are those of the pins.
func TestDRAMBandwidth(t *testing.T) {
	alltests.Only(t, "bandwidth of the DRAM")
	// A burst of the GTX 480's DRAM has two sectors, and each of them causes one.
	for _, gpu := range alltests.Some([]string{"gtx-480", "rtx-2060", "v100"}, 1) {
		burst := uint64(1)
		if gpu == "gtx-480" {
			burst = 2
		}
		for _, dram := range []int{500, 1000} {
			const mib = 4
			m := newWide(t, gpu, "run.copies_fill_l2=false", "clocks.core=2000", "clocks.noc=2000", "clocks.l2=2000", fmt.Sprintf("clocks.dram=%d", dram)).zeros("data", mib<<18)
			const blocks, asked = 60, mib * 960 << 10
			m.launch("sweep", blocks, 512, fmt.Sprintf(`{ buffer = "data" }, { u32 = 4 }, { u32 = 1024 }, { u32 = %d }, { u32 = %d }, { u32 = %d }`, 1024*blocks*16, mib<<20-1, mib))
			res := runJob(t, m.file(), true, job.Options{GPU: gpu}, m.set...)
			k, d := &res.Kernels[0], &res.Kernels[0].Memory.DRAM
			seconds := float64(k.Cycles) / 2000e6
			rate := float64(d.BytesRead) / seconds / 1e9
			t.Logf("%s, DRAM at %d MHz: pins busy %.1f %%, %.0f GB/s of %.0f", gpu, dram, 100*float64(d.BusyCycles)/float64(d.Cycles), rate, d.Peak)
			if d.BusyCycles > d.Cycles || rate > d.Peak || d.BytesRead < burst*asked || d.BytesRead > burst*asked*101/100 {
				t.Errorf("%s: pins busy in %d of %d cycles, %.0f GB/s of %.0f", gpu, d.BusyCycles, d.Cycles, rate, d.Peak)
			}
			if rate < 0.85*d.Peak {
				t.Errorf("%s: %.0f GB/s of %.0f", gpu, rate, d.Peak)
			}
		}
	}
}
