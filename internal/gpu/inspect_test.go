package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// watch runs a job and calls look after every simulated cycle.
func watch(t *testing.T, file string, o job.Options, look func(in *run.Inside)) error {
	t.Helper()
	ready, err := job.Load(file, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.Timing = true
	o.Inside = func(in *run.Inside) func() error {
		return func() error {
			look(in)
			return nil
		}
	}
	_, err = ready.Run(context.Background(), o)
	return err
}

// TestEveryRequestIsSomewhere inspects the chip after many cycles: every request
// that was made and not returned is in some queue or table, and the requests found
// for a load are the accesses that it waits for.
func TestEveryRequestIsSomewhere(t *testing.T) {
	for _, c := range alltests.Some([]struct{ gpu, job string }{
		{"gtx-480", "../../examples/histogram/histogram.toml"},
		{"rtx-2060", "../../examples/compact/compact.toml"},
		{"rtx-2080-ti", "../../examples/texture/texture.toml"},
		{"v100", "../../examples/texture/texture.toml"},
		{"rtx-3080", "../../examples/compact/compact.toml"},
	}, 1) {
		t.Run(c.gpu, func(t *testing.T) {
			t.Parallel()
			checked, found := 0, 0
			var bad error
			var o job.Options
			o.GPU = c.gpu
			for _, s := range []string{"run.launch_latency=10", "run.copies_fill_l2=false"} {
				if err := o.Settings.Set(s); err != nil {
					t.Fatal(err)
				}
			}
			cycles := 0
			err := watch(t, c.job, o, func(in *run.Inside) {
				cycles++
				if bad != nil || cycles%61 != 0 { // a prime, to meet every phase
					return
				}
				checked++
				bad = somewhere(in.Chip)
				found += in.Chip.LiveRequests()
			})
			if err != nil {
				t.Fatal(err)
			}
			if bad != nil {
				t.Fatal(bad)
			}
			if checked < 20 || found < 100 {
				t.Errorf("looked at %d cycles and found %d requests: too few for a test", checked, found)
			}
			t.Logf("%d cycles, %d requests", checked, found)
		})
	}
}

func somewhere(g *gpu.GPU) error {
	q := g.Requests()
	if q.Count() != g.LiveRequests() {
		return fmt.Errorf("cycle %d: %d requests found, %d were made and not returned", g.Now(), q.Count(), g.LiveRequests())
	}
	var err error
	q.Each(func(r *mem.Req) {
		if p := q.Place(r); strings.Contains(p, "nowhere") || strings.Contains(p, "behind many") {
			err = fmt.Errorf("cycle %d: %v at %#x is %s", g.Now(), r.Kind, r.Addr, p)
		}
	})
	for sm := range g.Config().SMs() {
		for _, v := range g.Core(sm).Views() {
			for _, f := range v.Flights {
				if f.Unanswered == 0 {
					continue
				}
				list := q.Of(sm, v.Slot, func(r *mem.Req) bool {
					return int(r.Owner) == f.ID && !r.Write && r.Kind != mem.InstRead && r.Kind != mem.L1WriteAlloc
				})
				// An instruction in write-back has no more requests.
				if have, want := len(list), f.Unanswered-f.Unsent; have != want && !(have == want-1 && strings.Contains(f.Place, "write-back")) {
					err = fmt.Errorf("cycle %d: warp %d.%d %s (%s): %d requests found, %d accesses sent and not answered",
						g.Now(), sm, v.Slot, gpu.Line(v.Work, f.At), f.Place, have, want)
				}
			}
		}
	}
	return err
}

// TestLookingChangesNothing compares a run with one inspected after every cycle,
// and with one that skips no idle cycles.
func TestLookingChangesNothing(t *testing.T) {
	for _, c := range []struct{ gpu, job string }{
		{"rtx-2060", "../../testdata/reference/gpgpusim/vecadd.toml"},
		{"gtx-480", "../../testdata/reference/gpgpusim/vecadd.toml"},
		{"rtx-2070-super", "../../testdata/reference/gpgpusim/vecadd.toml"},
	} {
		t.Run(c.gpu, func(t *testing.T) {
			t.Parallel()
			o := job.Options{GPU: c.gpu}
			want := json(t, runJob(t, c.job, true, o))
			looks := 0
			o.Inside = func(in *run.Inside) func() error {
				return func() error {
					in.Chip.LookAt(in.Chip.Now() + 7)
					core := in.Chip.Core(looks % in.Chip.Config().SMs())
					core.Views()
					core.Queues()
					if looks%256 == 0 {
						in.Chip.Requests()
					}
					looks++
					return nil
				}
			}
			if got := json(t, runJob(t, c.job, true, o)); got != want {
				t.Error("the result differs when the run is inspected")
			}
			if looks < 1000 {
				t.Errorf("looked %d times only", looks)
			}
		})
	}
}

// stuckPTX has kernels that wait forever: at a barrier that expects more threads
// than there are, at two barriers crosswise, and, with a stopped memory, for a
// load, a store with a fence and an atomic.
const stuckPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry alone()
{
 bar.sync 0, 64;
 exit;
}
.visible .entry cross()
{
 .reg .b32 %r<4>;
 .reg .pred %p<2>;
 mov.u32 %r1, %tid.x;
 setp.ge.u32 %p1, %r1, 32;
 @%p1 bra SECOND;
 bar.sync 1, 64;
 exit;
SECOND:
 bar.sync 2, 64;
 exit;
}
.visible .entry load(.param .u64 a)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<4>;
 ld.param.u64 %rd1, [a];
 ld.global.u32 %r1, [%rd1];
 add.u32 %r1, %r1, 1;
 st.global.u32 [%rd1], %r1;
 exit;
}
.visible .entry fence(.param .u64 a)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<4>;
 ld.param.u64 %rd1, [a];
 st.global.u32 [%rd1], 1;
 membar.gl;
 exit;
}
.visible .entry atomic(.param .u64 a)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<4>;
 ld.param.u64 %rd1, [a];
 atom.global.add.u32 %r1, [%rd1], 1;
 add.u32 %r2, %r1, 1;
 exit;
}
`

// graphOf describes who waits for whom: each warp with its line, and either the barrier with
// the warps that have not come or the lanes that it waits for.
func graphOf(s *exec.Standstill) string {
	var list []string
	for _, w := range s.Warps {
		text := fmt.Sprintf("%d at %d: ", w.Warp, w.Where.Pos.Line)
		if w.Barrier < 0 {
			list = append(list, fmt.Sprintf("%slanes %#08x", text, w.For))
			continue
		}
		b := s.Barriers[w.Barrier]
		absent := []int{}
		for i, lanes := range b.Missing {
			if lanes != 0 {
				absent = append(absent, i)
			}
		}
		list = append(list, fmt.Sprintf("%sbarrier %d of %d without %v", text, b.ID, b.Need, absent))
	}
	return strings.Join(list, "; ")
}

// TestNoProgress checks that a run in which nothing moves ends with a message that
// says what every warp waits for, down to the queue and the source line.
func TestNoProgress(t *testing.T) {
	dir := t.TempDir()
	file := func(kernel, args string, threads int) string {
		name := filepath.Join(dir, kernel+".toml")
		for path, text := range map[string]string{
			filepath.Join(dir, "stuck.ptx"): stuckPTX,
			name: fmt.Sprintf("program = \"stuck.ptx\"\n[buffers.a]\ntype = \"u32\"\ncount = 1\n[[launches]]\nkernel = %q\ngrid = 1\nblock = %d\nargs = [%s]\n",
				kernel, threads, args),
		} {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return name
	}
	// Requests on their way to the DRAM stay there.
	still := []string{"run.copies_fill_l2=false", "run.launch_latency=10"}
	const a = `{ buffer = "a" }`
	for _, c := range []struct {
		kernel, args string
		threads      int
		set          []string
		want         []string // of the lines, one after the other
		graph        string   // who waits for whom, where that are not requests
	}{
		{"alone", "", 32, nil, []string{"warp 0 of block (0,0,0) (SM 0, slot 0): barrier: lanes 0xffffffff at pc 0 bar.sync (stuck.ptx:6) waits at barrier 0, where 32 of 64 threads have arrived"},
			"0 at 6: barrier 0 of 64 without []"},
		{"cross", "", 64, nil, []string{
			"slot 0): barrier: lanes 0xffffffff at pc 3 bar.sync (stuck.ptx:16) waits at barrier 1, where 32 of 64",
			"slot 1): barrier: lanes 0xffffffff at pc 5 bar.sync (stuck.ptx:19) waits at barrier 2, where 32 of 64",
		}, "0 at 16: barrier 1 of 64 without [1]; 1 at 19: barrier 2 of 64 without [0]"},
		{"load", a, 32, still, []string{
			"next pc 2 add.u32 (stuck.ptx:28): long_scoreboard: pc 1 ld.global.u32 (stuck.ptx:27), in ", "memory", ", 1 not answered: 0xc0000000, sent in cycle ",
			"L2 slice 0 to the DRAM",
			"SM 0, L1D miss table: 1 of ",
			"slice 0: 0 before the L2, 0 to the L2, 1 misses, 1 to",
		}, ""},
		{"fence", a, 32, append([]string{"l2.enabled=false"}, still...), []string{
			"pc 3 exit (stuck.ptx:39): membar: ", "the acknowledgement of 1 stores: 0xc0000000", "slice 0"}, ""},
		{"atomic", a, 32, still, []string{"pc 1 atom.global.add.u32 (stuck.ptx:46)", "32 not answered: 0xc0000000", "L2 slice 0"}, ""},
	} {
		for _, gpu := range []string{"rtx-2060", "rtx-a6000"} {
			t.Run(c.kernel+"/"+gpu, func(t *testing.T) {
				var o job.Options
				o.GPU = gpu
				set := c.set
				if gpu == "rtx-a6000" { // its instructions come from the DRAM, too
					set = append([]string{"modern.perfect_icache=true", "modern.perfect_const=true"}, set...)
				}
				for _, s := range set {
					if err := o.Settings.Set(s); err != nil {
						t.Fatal(err)
					}
				}
				err := watch(t, file(c.kernel, c.args, c.threads), o, func(in *run.Inside) {
					if c.args != "" {
						in.Chip.StopDRAM()
					}
				})
				var e *exec.StuckError
				if !errors.As(err, &e) {
					t.Fatalf("got %v, want a StuckError", err)
				}
				if e.Kernel != c.kernel {
					t.Errorf("kernel %q", e.Kernel)
				}
				text := strings.Join(e.Waits, "\n")
				rest := text
				for _, w := range c.want {
					_, after, ok := strings.Cut(rest, w)
					if !ok {
						t.Fatalf("no %q (in order) in\n%s", w, text)
					}
					rest = after
				}
				if got := graphOf(e.Standstill); c.graph != "" && got != c.graph {
					t.Errorf("the graph is %q, want %q", got, c.graph)
				}
			})
		}
	}
}
