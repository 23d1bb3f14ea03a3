package gpu_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// Small kernels whose behaviour on a machine with these settings can be predicted.
const microPTX = `.version 7.0
.target sm_70
.address_size 64
.const .align 4 .b32 table[1024];
.visible .entry chase(.param .u64 ring, .param .u64 out, .param .u32 steps)
{
 .reg .b64 %rd<5>;
 .reg .b32 %r<2>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [ring];
 ld.param.u64 %rd2, [out];
 ld.param.u32 %r1, [steps];
 mov.u64 %rd3, 0;
LOOP:
 add.u64 %rd4, %rd1, %rd3;
 ld.global.u64 %rd3, [%rd4];
 sub.u32 %r1, %r1, 1;
 setp.ne.u32 %p1, %r1, 0;
 @%p1 bra LOOP;
 setp.eq.u64 %p1, %rd3, 1;
 @%p1 st.global.u64 [%rd2], %rd3;
 exit;
}
.visible .entry banks(.param .u64 out, .param .u32 stride, .param .u32 rounds)
{
 .reg .b64 %rd<2>;
 .reg .b32 %r<8>;
 .reg .pred %p<2>;
 .shared .align 4 .b8 s[4096];
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r1, [stride];
 ld.param.u32 %r2, [rounds];
 mov.u32 %r3, %tid.x;
 mul.lo.u32 %r3, %r3, %r1;
 shl.b32 %r3, %r3, 2;
 mov.u32 %r4, s;
 add.u32 %r4, %r4, %r3;
 st.shared.u32 [%r4], %r4;
LOOP:
 ld.shared.u32 %r4, [%r4];
 sub.u32 %r2, %r2, 1;
 setp.ne.u32 %p1, %r2, 0;
 @%p1 bra LOOP;
 st.global.u32 [%rd1], %r4;
 exit;
}
.visible .entry constants(.param .u64 out, .param .u32 mask, .param .u32 stride, .param .u32 rounds)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<8>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r1, [mask];
 ld.param.u32 %r5, [stride];
 ld.param.u32 %r2, [rounds];
 mov.u32 %r3, %tid.x;
 and.b32 %r3, %r3, %r1;
 mul.lo.u32 %r3, %r3, %r5;
 cvt.u64.u32 %rd2, %r3;
 mov.u64 %rd3, table;
 add.u64 %rd2, %rd3, %rd2;
LOOP:
 ld.const.u32 %r4, [%rd2];
 cvt.u64.u32 %rd3, %r4;
 add.u64 %rd2, %rd2, %rd3;
 sub.u32 %r2, %r2, 1;
 setp.ne.u32 %p1, %r2, 0;
 @%p1 bra LOOP;
 st.global.u32 [%rd1], %r4;
 exit;
}
.visible .entry count(.param .u64 out, .param .u32 stride, .param .u32 rounds)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<8>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r1, [stride];
 ld.param.u32 %r2, [rounds];
 mov.u32 %r3, %tid.x;
 mul.wide.u32 %rd2, %r3, %r1;
 add.u64 %rd1, %rd1, %rd2;
LOOP:
 red.global.add.u32 [%rd1], 1;
 sub.u32 %r2, %r2, 1;
 setp.ne.u32 %p1, %r2, 0;
 @%p1 bra LOOP;
 exit;
}
.visible .entry meet(.param .u64 n)
{
 .reg .b64 %rd<2>;
 .reg .b32 %r<4>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [n];
 mov.u32 %r1, %tid.x;
 mov.u32 %r2, %nctaid.x;
 setp.ne.u32 %p1, %r1, 0;
 @%p1 bra DONE;
 red.global.add.u32 [%rd1], 1;
LOOP:
 ld.volatile.global.u32 %r3, [%rd1];
 setp.lt.u32 %p1, %r3, %r2;
 @%p1 bra LOOP;
DONE:
 bar.sync 0;
 exit;
}
.visible .entry later(.param .u64 n, .param .u32 rounds)
{
 .reg .b64 %rd<2>;
 .reg .b32 %r<4>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [n];
 ld.param.u32 %r1, [rounds];
 mov.u32 %r2, %ctaid.x;
 setp.ne.u32 %p1, %r2, 0;
 @%p1 bra LOOP;
COUNT:
 sub.u32 %r1, %r1, 1;
 setp.ne.u32 %p1, %r1, 0;
 @%p1 bra COUNT;
 st.volatile.global.u32 [%rd1], 7;
 exit;
LOOP:
 ld.volatile.global.u32 %r3, [%rd1];
 setp.ne.u32 %p1, %r3, 7;
 @%p1 bra LOOP;
 exit;
}
.visible .entry until(.param .u64 n, .param .u64 cycles)
{
 .reg .b64 %rd<8>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [n];
 ld.param.u64 %rd2, [cycles];
 mov.u64 %rd3, %globaltimer;
 mov.u64 %rd4, %clock64;
LOOP:
 mov.u64 %rd5, %clock64;
 sub.u64 %rd6, %rd5, %rd4;
 setp.lt.u64 %p1, %rd6, %rd2;
 @%p1 bra LOOP;
 mov.u64 %rd7, %globaltimer;
 sub.u64 %rd7, %rd7, %rd3;
 st.global.u64 [%rd1], %rd6;
 st.global.u64 [%rd1+8], %rd7;
 exit;
}
.visible .entry nothing()
{
 exit;
}
.visible .entry stride(.param .u64 in, .param .u32 stride)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<8>;
 ld.param.u64 %rd1, [in];
 ld.param.u32 %r1, [stride];
 mov.u32 %r2, %ctaid.x;
 mov.u32 %r3, %ntid.x;
 mov.u32 %r4, %tid.x;
 mad.lo.u32 %r4, %r2, %r3, %r4;
 mul.wide.u32 %rd2, %r4, %r1;
 add.u64 %rd1, %rd1, %rd2;
 ld.global.u32 %r5, [%rd1];
 st.global.u32 [%rd1], %r5;
 exit;
}
`

// micro is a job with the kernels above.
type micro struct {
	t        *testing.T
	gpu      string
	set      []string
	files    map[string][]byte
	text     strings.Builder
	launches int
}

func newMicro(t *testing.T, gpu string, set ...string) *micro {
	t.Helper()
	m := &micro{t: t, gpu: gpu, set: append([]string{"run.launch_latency=0"}, set...), files: map[string][]byte{"micro.ptx": []byte(microPTX)}}
	m.text.WriteString("program = \"micro.ptx\"\n")
	return m
}

// zeros adds a buffer of n numbers that are zero.
func (m *micro) zeros(name string, n int) *micro {
	fmt.Fprintf(&m.text, "[buffers.%s]\ntype = \"u32\"\ncount = %d\n", name, n)
	return m
}

// ring adds a buffer in which the offset of the next element starts at every
// stride-th byte, in a ring.
func (m *micro) ring(name string, stride, n int) *micro {
	b := make([]byte, n*stride)
	for i := range n {
		binary.LittleEndian.PutUint64(b[i*stride:], uint64((i+1)%n*stride))
	}
	m.files[name] = b
	fmt.Fprintf(&m.text, "[buffers.%s]\ntype = \"u8\"\ncount = %d\ninit = \"file\"\nfile = %q\n", name, len(b), name)
	return m
}

// launch adds a launch; args is the text between the brackets in the job.
func (m *micro) launch(kernel string, blocks, threads int, args string, more ...string) *micro {
	fmt.Fprintf(&m.text, "[[launches]]\nkernel = %q\ngrid = [%d, 1, 1]\nblock = [%d, 1, 1]\nargs = [%s]\n%s\n", kernel, blocks, threads, args, strings.Join(more, "\n"))
	m.launches++
	return m
}

// file writes the job.
func (m *micro) file() string {
	m.t.Helper()
	dir := m.t.TempDir()
	m.files["job.toml"] = []byte(m.text.String())
	for name, b := range m.files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			m.t.Fatal(err)
		}
	}
	return filepath.Join(dir, "job.toml")
}

func (m *micro) run() []report.Kernel {
	m.t.Helper()
	res := runJob(m.t, m.file(), true, job.Options{GPU: m.gpu}, m.set...)
	if len(res.Kernels) != m.launches {
		m.t.Fatalf("%d of %d launches", len(res.Kernels), m.launches)
	}
	return res.Kernels
}

// same are settings with which all clock domains tick together.
var sameClocks = []string{"clocks.core=1000", "clocks.noc=1000", "clocks.l2=1000", "clocks.dram=1000"}

// chase measures a step of a pointer chase around n lines of 128 bytes with warm
// caches, and the misses of a round in each cache.
func chase(t *testing.T, lines int, set ...string) (cycles float64, l1, l2 uint64) {
	t.Helper()
	m := newMicro(t, "rtx-2060", append(append([]string{}, sameClocks...), set...)...).ring("ring", 128, lines).zeros("out", 2)
	for _, rounds := range []int{2, 2, 4} {
		m.launch("chase", 1, 1, fmt.Sprintf(`{ buffer = "ring" }, { buffer = "out" }, { u32 = %d }`, rounds*lines))
	}
	k := m.run()
	a, b := &k[1], &k[2]
	// The last launch makes two rounds more than the one before, and finds the
	// caches in the same state.
	return float64(b.Cycles-a.Cycles) / float64(2*lines), (b.Memory.L1.Misses - a.Memory.L1.Misses) / 2, (b.Memory.L2.Misses - a.Memory.L2.Misses) / 2
}

// TestChase walks through rings that just fit a cache and that just do not. A step
// takes the sum of the latencies on its path. To check this, each latency is
// increased: steps on its path must grow by exactly that much, and others not at
// all.
func TestChase(t *testing.T) {
	alltests.Only(t, "latencies of a chain of loads")
	small := []string{"l1d.adaptive=false", "l1d.sets=4", "l1d.ways=8", "run.flush_l1=true", "run.copies_fill_l2=true"}
	noL1 := []string{"l1d.skip_global=true", "l2.index=linear", "l2.sets=4", "l2.ways=4"}
	const l1Lines, l2Lines = 4 * 8, 24 * 4 * 4
	type row struct {
		name   string
		lines  int
		set    []string
		l1, l2 uint64 // misses in a round
		want   float64
		adds   []string
		leaves []string
	}
	// The cost of a step by the settings. The next address depends on the load
	// through an addition, which takes its 4 cycles and 5 to the next issue. A hit
	// in the L1 takes the L1's 32 and 4 to issue; a request beyond it the 194 of
	// the ROP and 12 for the network in both directions, the look-up and the ends;
	// one that has missed the L1 first 13. A miss in the L2 costs 101 more, 96 of
	// them the latency before the DRAM, and the 24 of a read of an open row.
	const (
		add  = 4 + 5
		hit  = 32 + 4
		l2   = 194 + 12
		dram = 101 + 24
	)
	rows := []row{
		{"fits the L1", l1Lines, small, 0, 0, hit + add, []string{"l1d.latency"}, []string{"partition.rop_latency", "partition.dram_latency"}},
		{"a line too many for every set of the L1", l1Lines + 4, small, l1Lines + 4, 0, 32 + l2 + 1 + add,
			[]string{"l1d.latency", "partition.rop_latency"}, []string{"partition.dram_latency"}},
		{"fits the L2", l2Lines, noL1, 0, 0, l2 + add, []string{"partition.rop_latency"}, []string{"partition.dram_latency", "l1d.latency"}},
		{"a line too many for every set of the L2", l2Lines + 24*4, noL1, 0, l2Lines + 24*4, l2 + dram + add,
			[]string{"partition.rop_latency", "partition.dram_latency"}, []string{"l1d.latency"}},
	}
	for _, r := range rows {
		base, l1, l2 := chase(t, r.lines, r.set...)
		if l1 != r.l1 || l2 != r.l2 {
			t.Errorf("%s: %d misses in the L1 and %d in the L2 in a round of %d, want %d and %d", r.name, l1, l2, r.lines, r.l1, r.l2)
		}
		if base != r.want {
			t.Errorf("%s: a step takes %.3f cycles, want %.0f", r.name, base, r.want)
		}
		for _, more := range []int{1, 17} {
			for i, key := range append(append([]string{}, r.adds...), r.leaves...) {
				was := map[string]int{"l1d.latency": 32, "partition.rop_latency": 194, "partition.dram_latency": 96}[key]
				got, _, _ := chase(t, r.lines, append(append([]string{}, r.set...), fmt.Sprintf("%s=%d", key, was+more))...)
				want := base
				if i < len(r.adds) {
					want += float64(more)
				}
				if got != want {
					t.Errorf("%s: %s larger by %d: a step takes %.3f cycles, want %.3f", r.name, key, more, got, want)
				}
			}
		}
	}
}

// TestBanks reads shared memory with strides that have known conflicts: two
// lanes of a warp meet in a bank if the distance of their words divides by 32.
func TestBanks(t *testing.T) {
	const rounds = 100
	for _, gpu := range []string{"rtx-2060", "v100"} {
		for stride, ways := range map[int]uint64{1: 1, 2: 2, 3: 1, 4: 4, 6: 2, 8: 8, 12: 4, 16: 16, 17: 1, 24: 8, 31: 1, 32: 32} {
			m := newMicro(t, gpu).zeros("out", 1)
			for _, n := range []int{rounds, 2 * rounds} {
				for _, s := range []int{1, stride} {
					m.launch("banks", 1, 32, fmt.Sprintf(`{ buffer = "out" }, { u32 = %d }, { u32 = %d }`, s, n))
				}
			}
			k := m.run()
			if got, want := k[3].Memory.SharedConflictCycles-k[1].Memory.SharedConflictCycles, rounds*(ways-1); got != want {
				t.Errorf("%s: stride %d: %d cycles of conflict in %d loads, want %d", gpu, stride, got, rounds, want)
			}
			free, met := k[2].Cycles-k[0].Cycles, k[3].Cycles-k[1].Cycles
			if met-free != rounds*(ways-1) {
				t.Errorf("%s: stride %d: %d loads take %d cycles more than without conflicts, want %d", gpu, stride, rounds, met-free, rounds*(ways-1))
			}
		}
	}
}

// TestConstants reads constants: one word for all lanes is one access. On the SIMT core
// words of different lines are accessed one after the other, on the modern core all
// different words.
func TestConstants(t *testing.T) {
	const rounds = 64
	for _, c := range []struct {
		gpu    string
		stride int
		lines  func(words uint64) uint64 // accesses of a load
		times  func(words uint64) uint64 // cycles of a load after its first
	}{
		{"gtx-480", 64, func(n uint64) uint64 { return n }, func(n uint64) uint64 { return n - 1 }},
		{"gtx-480", 4, func(n uint64) uint64 { return (n + 15) / 16 }, func(n uint64) uint64 { return (n+15)/16 - 1 }},
		{"rtx-a6000", 64, nil, func(n uint64) uint64 { return n - 1 }},
		{"rtx-a6000", 4, nil, func(n uint64) uint64 { return n - 1 }},
	} {
		cost := func(mask, warps int) report.Kernel {
			m := newMicro(t, c.gpu).zeros("out", 1)
			for _, n := range []int{1, rounds, 3 * rounds} {
				m.launch("constants", 1, 32*warps, fmt.Sprintf(`{ buffer = "out" }, { u32 = %d }, { u32 = %d }, { u32 = %d }`, mask, c.stride, n))
			}
			k := m.run()
			d := k[2]
			d.Cycles -= k[1].Cycles
			d.Memory.L1Const.Accesses -= k[1].Memory.L1Const.Accesses
			d.Memory.ConstConflictCycles -= k[1].Memory.ConstConflictCycles
			return d
		}
		base := cost(0, 1)
		for _, mask := range []int{0, 1, 3, 7, 15, 31} {
			words := uint64(mask + 1)
			what := fmt.Sprintf("%s, %d words %d bytes apart", c.gpu, words, c.stride)
			d := cost(mask, 1)
			if c.lines != nil && d.Memory.L1Const.Accesses != 2*rounds*c.lines(words) {
				t.Errorf("%s: %d accesses for %d loads", what, d.Memory.L1Const.Accesses, 2*rounds)
			}
			if got, want := d.Cycles-base.Cycles, 2*rounds*c.times(words); got != want || d.Memory.ConstConflictCycles != want {
				t.Errorf("%s: %d loads take %d cycles more than those of one word, of which %d are counted, want %d", what, 2*rounds, got, d.Memory.ConstConflictCycles, want)
			}
		}
		// Several warps share the cache. Where it serves few words a load, they wait for latency instead.
		if got, least := cost(31, 8).Cycles, 2*rounds*8*(1+c.times(32)); c.times(32) == 31 && (got < least || got > least+least/50) {
			t.Errorf("%s: %d loads by 8 warps of 32 words %d bytes apart take %d cycles, want %d", c.gpu, 2*rounds, c.stride, got, least)
		}
	}
}

// TestContention adds to shared and private counters of lanes. All adds to one word
// go to the L2 one by one.
func TestContention(t *testing.T) {
	const rounds, warps = 10, 4
	for _, c := range []struct {
		stride   int
		accesses uint64 // to the L2, for a warp's instruction
	}{{0, 32}, {4, 4}, {32, 32}, {128, 32}, {8, 8}} {
		m := newMicro(t, "rtx-2060").zeros("out", 32*warps*32)
		m.launch("count", 1, 32*warps, fmt.Sprintf(`{ buffer = "out" }, { u32 = %d }, { u32 = %d }`, c.stride, rounds))
		if c.stride == 0 {
			fmt.Fprintf(&m.text, "[[checks]]\nbuffer = \"out\"\nvalues = [%d, 0]\n", 32*warps*rounds)
		} else {
			fmt.Fprintf(&m.text, "[[checks]]\nbuffer = \"out\"\nvalues = [%d]\n", rounds)
		}
		k := m.run()
		if got, want := k[0].Memory.L2.Accesses, c.accesses*rounds*warps; got != want {
			t.Errorf("stride %d: %d accesses to the L2, want %d", c.stride, got, want)
		}
	}
}

// TestStrides reads and writes back one word of every stride. A warp moves the
// sectors of its words, and the DRAM never more than its pins can.
func TestStrides(t *testing.T) {
	alltests.Only(t, "sectors and DRAM reads of five strides")
	const blocks, threads = 240, 256
	for stride, sectors := range map[int]uint64{4: 4, 8: 8, 16: 16, 32: 32, 64: 32} {
		for _, gpu := range alltests.Some([]string{"rtx-2060", "v100"}, 1) {
			m := newMicro(t, gpu, "run.copies_fill_l2=false").zeros("data", blocks*threads*stride/4)
			m.launch("stride", blocks, threads, fmt.Sprintf(`{ buffer = "data" }, { u32 = %d }`, stride))
			k := &m.run()[0]
			const warps = blocks * threads / 32
			if got, want := k.Memory.L2.Accesses, 2*warps*sectors; got != want {
				t.Errorf("%s: stride %d: %d accesses to the L2, want %d", gpu, stride, got, want)
			}
			if got := k.Memory.DRAM.Reads; got != warps*sectors {
				t.Errorf("%s: stride %d: %d reads of the DRAM, want %d", gpu, stride, got, warps*sectors)
			}
			if m := &k.Memory.DRAM; m.BusyCycles > m.Cycles {
				t.Errorf("%s: stride %d: pins busy in %d of %d cycles", gpu, stride, m.BusyCycles, m.Cycles)
			}
		}
	}
}

// TestOccupancy compares the blocks on an SM with the vendor's rules, computed by
// hand.
func TestOccupancy(t *testing.T) {
	for _, c := range []struct {
		gpu                        string
		threads, registers, shared int
		blocks                     int
		by                         string
	}{
		// 1024 threads, 16 blocks, 65536 registers, 64 KiB.
		{"rtx-2060", 32, 16, 0, 16, "blocks"},
		{"rtx-2060", 64, 16, 0, 16, "threads"},           // 1024/64
		{"rtx-2060", 96, 16, 0, 10, "threads"},           // 32 warps / 3
		{"rtx-2060", 256, 64, 0, 4, "threads"},           // 64·32·8 = 16384 of a block, 4 of them; 4 by threads too
		{"rtx-2060", 256, 65, 0, 3, "registers"},         // 72·32·8 = 18432
		{"rtx-2060", 1024, 65, 0, 0, "registers"},        // 72·1024 > 65536
		{"rtx-2060", 96, 88, 0, 6, "registers"},          // 65536/(88·32) = 23 warps, 20 in fours
		{"rtx-2060", 128, 16, 16129, 4, "shared memory"}, // allocated in units of 256 bytes
		{"rtx-2060", 128, 16, 16384, 4, "shared memory"},
		{"rtx-2060", 128, 16, 16385, 3, "shared memory"},
		// 1536 threads, 16 blocks, 65536 registers, 100 KiB, of which every
		// block takes 1 KiB more than it requests.
		{"rtx-3070", 32, 16, 0, 16, "blocks"},
		{"rtx-3070", 32, 16, 8192, 11, "shared memory"},
		{"rtx-3070", 32, 16, 7168, 12, "shared memory"},
		// 1536 threads, 8 blocks, 32768 registers, 48 KiB.
		{"gtx-480", 32, 16, 0, 8, "blocks"},
		{"gtx-480", 512, 20, 0, 3, "threads"},   // 20·512 = 10240
		{"gtx-480", 512, 22, 0, 2, "registers"}, // 22·512 = 11264
		{"gtx-480", 64, 16, 12288, 4, "shared memory"},
		{"gtx-480", 64, 16, 12289, 3, "shared memory"},
		// 2048 threads, 32 blocks, 65536 registers, 96 KiB.
		{"v100", 32, 16, 0, 32, "blocks"},
		{"v100", 1024, 32, 0, 2, "threads"},
		{"v100", 1024, 33, 0, 1, "registers"}, // 40·1024 = 40960
	} {
		m := newMicro(t, c.gpu)
		m.launch("nothing", 3000, c.threads, "", fmt.Sprintf("registers = %d\nshared = %d", c.registers, c.shared))
		what := fmt.Sprintf("%s: %d threads, %d registers, %d bytes", c.gpu, c.threads, c.registers, c.shared)
		if c.blocks == 0 {
			refused(t, m, c.by)
			continue
		}
		k := &m.run()[0]
		if k.BlocksPerSM != c.blocks || k.LimitedBy != c.by {
			t.Errorf("%s: %d blocks (%s), want %d (%s)", what, k.BlocksPerSM, k.LimitedBy, c.blocks, c.by)
		}
	}
}

// refused checks that a job is refused with the given words in the message.
func refused(t *testing.T, m *micro, word string) {
	t.Helper()
	ready, err := job.Load(m.file(), job.Options{})
	if err == nil {
		o := job.Options{Timing: true, GPU: m.gpu}
		_, err = ready.Run(t.Context(), o)
	}
	if err == nil || !strings.Contains(err.Error(), word) {
		t.Errorf("the error is %v, want one about %q", err, word)
	}
}

// TestCooperative launches blocks that wait for each other: as many as can be
// resident, and one more.
func TestCooperative(t *testing.T) {
	for _, c := range oneEach {
		for _, more := range []int{0, 1} {
			m := newMicro(t, c.gpu).zeros("n", 1)
			m.launch("meet", 4*c.sms+more, 256, `{ buffer = "n" }`, "cooperative = true\nregisters = 16")
			if more > 0 {
				refused(t, m, fmt.Sprintf("%d can be resident", 4*c.sms))
				continue
			}
			if k := &m.run()[0]; k.BlocksPerSM != 4 {
				t.Errorf("%s: %d blocks on an SM", c.gpu, k.BlocksPerSM)
			}
		}
	}
}

// oneEach has a GPU of each core model, whose SMs hold 1024 threads, and its number
// of SMs.
var oneEach = []struct {
	gpu string
	sms int
}{{"rtx-2060", 30}, {"rtx-2070-super", 40}}

// TestSpin launches blocks that loop on two SMs: until a block that has no room arrives,
// which must be detected; until a long count has ended; until a given time.
func TestSpin(t *testing.T) {
	const sms = 2
	for _, c := range oneEach {
		m := newMicro(t, c.gpu).zeros("n", 1)
		m.launch("meet", 4*sms+1, 256, `{ buffer = "n" }`, "registers = 16")
		for _, skip := range alltests.Some([]bool{true, false}, 1) {
			ready, err := job.Load(m.file(), job.Options{})
			if err != nil {
				t.Fatal(err)
			}
			o := job.Options{Timing: true, GPU: m.gpu, MaxInsts: 1_000_000}
			o.Settings.Assignments = []string{fmt.Sprintf("run.idle_skip=%v", skip), fmt.Sprintf("chip.clusters=%d", sms)}
			_, err = ready.Run(t.Context(), o)
			var stuck *exec.StuckError
			if want := fmt.Sprintf("1 of its %d blocks cannot start", 4*sms+1); !errors.As(err, &stuck) || stuck.Kernel != "meet" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: a barrier with one block more than have room: %v", c.gpu, err)
				continue
			}
			s, warps := stuck.Standstill, map[[2]int]bool{}
			for _, w := range s.Warps {
				warps[[2]int{int(w.Where.Block.X), w.Warp}] = true
			}
			if !s.Loops || len(s.Grids) != 1 || s.Grids[0].Total-s.Grids[0].Placed != 1 || len(warps) != 8*4*sms {
				t.Errorf("%s: loops %v, grids %+v, %d warps", c.gpu, s.Loops, s.Grids, len(warps))
			}
		}
		if !alltests.On() {
			continue
		}
		m = newMicro(t, c.gpu, fmt.Sprintf("chip.clusters=%d", sms)).zeros("n", 4)
		m.launch("later", sms+1, 32, `{ buffer = "n" }, { u32 = 100000 }`)
		m.launch("until", 1, 32, `{ buffer = "n" }, { u64 = 500000 }`)
		if k := m.run(); k[0].Cycles < 5*firstLook || k[1].Cycles < 5*firstLook {
			t.Errorf("%s: the loops end after %d and %d cycles, before the first check", c.gpu, k[0].Cycles, k[1].Cycles)
		}
	}
}

// firstLook is the minimum number of cycles before a loop is checked.
const firstLook = 1 << 16

// TestTime reads both clocks in a kernel: core cycles, and nanoseconds.
func TestTime(t *testing.T) {
	const cycles = 20_000
	m := newMicro(t, "rtx-2060", "clocks.core=1250").zeros("n", 4)
	m.launch("until", 1, 1, fmt.Sprintf(`{ buffer = "n" }, { u64 = %d }`, cycles))
	out := filepath.Join(t.TempDir(), "n")
	res := runJob(t, m.file(), true, job.Options{GPU: m.gpu, Dumps: []job.Dump{{Buffer: "n", File: out}}}, m.set...)
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	took, ns := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if took < cycles || took > cycles+200 || took > res.Kernels[0].Cycles {
		t.Errorf("a loop of %d cycles took %d by its clock, the launch %d", cycles, took, res.Kernels[0].Cycles)
	}
	// A cycle is 0.8 ns; the other clock is read some cycles before and after.
	if lo, hi := took*8/10-1, (took+300)*8/10+1; ns < lo || ns > hi {
		t.Errorf("%d cycles at 1.25 GHz are %d ns by the other clock", took, ns)
	}
}
