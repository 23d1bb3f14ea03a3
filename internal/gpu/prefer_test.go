package gpu_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// walk reads the same n words again and again, each address from the word
// before: the second round hits if the L1D holds them.
const walk = `.version 7.0
.target sm_60
.address_size 64
.visible .entry walk(.param .u64 a, .param .u32 n)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.reg .pred %p<2>;
	.shared .align 4 .b8 buf[8192];
	ld.param.u64 %rd1, [a];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, 0;
	mov.u32 %r3, 0;
loop:
	mul.wide.u32 %rd2, %r3, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.ca.u32 %r4, [%rd3];
	add.u32 %r3, %r3, %r4;
	add.u32 %r3, %r3, 32;
	and.b32 %r3, %r3, 4095;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p1, %r2, %r1;
	@%p1 bra loop;
	st.shared.u32 [buf], %r3;
	ret;
}
`

func runWalk(t *testing.T, launches string, blocks, steps int, settings string) *report.Run {
	t.Helper()
	dir := t.TempDir()
	text := "program = \"walk.ptx\"\n[buffers.a]\ntype = \"u32\"\ncount = 4096\n"
	for prefer := range strings.FieldsSeq(launches) {
		text += fmt.Sprintf("[[launches]]\ngrid = [%d, 1, 1]\nblock = [32, 1, 1]\nargs = [{ buffer = \"a\" }, { u32 = %d }]\n", blocks, steps)
		if prefer != "-" {
			text += "prefer = \"" + prefer + "\"\n"
		}
	}
	for name, s := range map[string]string{"walk.ptx": walk, "walk.toml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ready, err := job.Load(filepath.Join(dir, "walk.toml"), job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := job.Options{Timing: true, GPU: "titan-x-pascal"}
	for s := range strings.FieldsSeq(settings) {
		if err := o.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	res, err := ready.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A launch that prefers L1 gets the L1D of the preference, one without a preference
// that of the SM, whatever the launch before it had. The walk goes three times
// through 128 lines.
func TestPreferredL1(t *testing.T) {
	// Without a preference 64 lines, which the walk misses every time; 256 with
	// one.
	const sms, lines, rounds = 4, 128, 3
	res := runWalk(t, "- l1 - none l1 l1", sms, rounds*lines,
		fmt.Sprintf("chip.clusters=%d ", sms)+"l1d.skip_global=false l1d.sets=4 l1d.ways=16 l1d.prefer_l1.sets=4 l1d.prefer_l1.ways=64 run.flush_l1=true")
	for i, want := range []uint64{rounds, 1, rounds, rounds, 1, 1} {
		if m := res.Kernels[i].Memory.L1.Misses; m != want*lines*sms {
			t.Errorf("launch %d: %d misses, want %d", i, m, want*lines*sms)
		}
	}
}

// Preferences change the shared memory that blocks of 8 KiB share.
func TestPreferredShared(t *testing.T) {
	res := runWalk(t, "- l1 shared none", 28*16, 1,
		"sm.shared=65536 sm.shared_per_block=16384 sm.shared_prefer_l1=16384 sm.shared_prefer_smem=32768 sm.shared_prefer_none=49152 sm.shared_reserved=0")
	for i, want := range []int{8, 2, 4, 6} {
		if n := res.Kernels[i].BlocksPerSM; n != want {
			t.Errorf("launch %d: %d blocks an SM, want %d", i, n, want)
		}
	}
}

// flood is a prefetcher whose requests are on their way when a kernel ends: it asks
// for as many far lines as there is room for, with every access.
type flood struct{}

func (flood) Access(a *cache.Access, list []uint64) []uint64 {
	for i := range uint64(256) {
		list = append(list, a.Addr+1<<20+(a.Cycle+i)<<7)
	}
	return list
}

func init() {
	cache.Prefetchers.Register("flood", func(line, fetch int) cache.Prefetcher { return flood{} })
}

// An L1D changes its size while what its prefetcher asked for is on its way: later
// kernels run, on both core models.
func TestPreferredL1WithPrefetcher(t *testing.T) {
	for _, core := range []string{"simt", "modern"} {
		t.Run(core, func(t *testing.T) {
			launches, blocks, steps, clusters := "- l1 -", 4, 128, 4
			if alltests.On() {
				launches, blocks, steps, clusters = "- l1 - none l1 l1", 28, 3*128, 28
			}
			res := runWalk(t, launches, blocks, steps, fmt.Sprintf("chip.clusters=%d core=", clusters)+core+
				" l1d.skip_global=false l1d.sets=4 l1d.ways=16 l1d.prefer_l1.sets=4 l1d.prefer_l1.ways=64 run.flush_l1=true"+
				" l1d.prefetcher=flood compat.chip.drain_between=false")
			for i, k := range res.Kernels {
				p := k.Memory.L1Prefetch
				// Those that the change gave up are unused.
				if k.Memory.L1.Misses == 0 || p == nil || p.Issued == 0 || i > 0 && p.Unused == 0 {
					t.Errorf("launch %d: %d misses, prefetches %+v", i, k.Memory.L1.Misses, p)
				}
			}
		})
	}
}
