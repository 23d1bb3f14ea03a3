package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// work counts down: a block takes the time of its loop.
const workPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry work(.param .u64 out, .param .u32 rounds)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<8>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r1, [rounds];
 mov.u32 %r2, 0;
LOOP:
 add.u32 %r2, %r2, 1;
 setp.lt.u32 %p1, %r2, %r1;
 @%p1 bra LOOP;
 ld.global.u32 %r3, [%rd1];
 add.u32 %r3, %r3, %r2;
 st.global.u32 [%rd1], %r3;
 exit;
}
.visible .entry hang()
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
.visible .entry forever()
{
LOOP:
 bra LOOP;
}
.visible .entry counts()
{
 .reg .b32 %r;
 .shared .b32 s;
 mov.u32 %r, 0;
LOOP:
 add.u32 %r, %r, 1;
 st.shared.u32 [s], %r;
 bra LOOP;
}
`

// write makes a job of steps with two buffers of one number.
func write(t *testing.T, steps string) string {
	t.Helper()
	dir := t.TempDir()
	text := "program = \"work.ptx\"\n[buffers.a]\ntype = \"u32\"\ncount = 1\n[buffers.b]\ntype = \"u32\"\ncount = 1\n" + steps
	for name, s := range map[string]string{"work.ptx": workPTX, "job.toml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "job.toml")
}

func launch(stream int, buffer string, rounds, blocks int) string {
	return fmt.Sprintf("[[steps]]\nlaunch = { kernel = \"work\", grid = [%d, 1, 1], block = [32, 1, 1], stream = %d, args = [{ buffer = %q }, { u32 = %d }] }\n", blocks, stream, buffer, rounds)
}

func host(format string, args ...any) string {
	return "[[steps]]\n" + fmt.Sprintf(format, args...) + "\n"
}

// TestStreams checks which actions overlap and which wait for others.
func TestStreams(t *testing.T) {
	// A relation of two numbered steps: "0 before 1" (one ends before the other
	// starts), "0 with 1" (both run at the same time), "0 at 1" (they start in the
	// same cycle).
	for _, c := range []struct {
		name, steps string
		relations   []string
		set         []string
	}{
		{"one stream", launch(1, "a", 400, 1) + launch(1, "b", 100, 1), []string{"0 before 1"}, nil},
		{"two streams", launch(1, "a", 400, 1) + launch(2, "b", 100, 1), []string{"0 at 1", "0 with 1"}, nil},
		{"more streams than kernels may run", launch(1, "a", 400, 1) + launch(2, "b", 400, 1) + launch(3, "b", 100, 1),
			[]string{"0 with 1", "0 before 2"}, []string{"chip.kernels=2"}},
		{"one kernel at a time", launch(1, "a", 400, 1) + launch(2, "b", 100, 1), []string{"0 before 1"}, []string{"chip.kernels=1"}},
		{"stream 0 waits for all", launch(1, "a", 400, 1) + launch(0, "b", 100, 1), []string{"0 before 1"}, nil},
		{"all wait for stream 0", launch(0, "a", 400, 1) + launch(1, "b", 100, 1), []string{"0 before 1"}, nil},
		{"stream 0 between two", launch(1, "a", 400, 1) + launch(0, "b", 100, 1) + launch(2, "a", 100, 1), []string{"0 before 1", "1 before 2"}, nil},
		{"wait for an event", launch(1, "a", 400, 1) + host(`record = { event = "e", stream = 1 }`) +
			host(`wait = { event = "e", stream = 2 }`) + launch(2, "b", 100, 1) + launch(3, "b", 100, 1),
			[]string{"0 before 3", "0 with 4", "1 at 2"}, nil},
		{"an event before the work", host(`record = { event = "e", stream = 1 }`) + launch(1, "a", 400, 1) +
			host(`wait = { event = "e", stream = 2 }`) + launch(2, "b", 100, 1), []string{"1 with 3", "1 at 3"}, nil},
		{"the host waits", launch(1, "a", 400, 1) + host("sync = true") + launch(2, "b", 100, 1), []string{"0 before 2"}, nil},
		{"a copy waits for its stream", launch(1, "a", 400, 1) + host(`copy = { from = "a", to = "b", stream = 1 }`) + launch(2, "b", 1000, 1),
			[]string{"0 before 1", "0 at 2"}, nil},
		{"a copy overlaps another stream", launch(1, "a", 400, 1) + host(`copy = { from = "b", to = "b", stream = 2 }`), []string{"0 at 1"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := runJob(t, write(t, c.steps), true, job.Options{GPU: "rtx-2060"}, c.set...)
			for _, r := range c.relations {
				var i, j int
				var how string
				if _, err := fmt.Sscan(r, &i, &how, &j); err != nil {
					t.Fatal(err)
				}
				a, b := res.Steps[i], res.Steps[j]
				ok := map[string]bool{
					"before": *a.EndCycle <= *b.StartCycle,
					"with":   *a.StartCycle < *b.EndCycle && *b.StartCycle < *a.EndCycle,
					"at":     *a.StartCycle == *b.StartCycle,
				}[how]
				if !ok {
					t.Errorf("not %s: %d..%d and %d..%d", r, *a.StartCycle, *a.EndCycle, *b.StartCycle, *b.EndCycle)
				}
			}
		})
	}
}

// TestStreamValues checks that a copy sees the writes of earlier launches, and
// later launches see the data of the copy.
func TestStreamValues(t *testing.T) {
	res := runJob(t, write(t, launch(1, "a", 40, 1)+host(`copy = { from = "a", to = "b", stream = 1 }`)+launch(1, "b", 2, 1)+
		"[[checks]]\nbuffer = \"a\"\nvalues = [40]\n[[checks]]\nbuffer = \"b\"\nvalues = [42]\n"), true, job.Options{GPU: "rtx-2060"})
	if !res.OK {
		t.Errorf("%+v", res.Checks)
	}
}

// TestLaunchLatency checks when the first block is placed.
func TestLaunchLatency(t *testing.T) {
	for _, c := range []struct {
		set   []string
		first uint64
	}{
		{[]string{"run.launch_latency=0"}, 1}, {[]string{"run.launch_latency=1"}, 2}, {[]string{"run.launch_latency=700"}, 701},
		{[]string{"run.launch_latency=700", "run.block_latency=10"}, 731}, {[]string{"run.launch_latency=9000", "run.idle_skip=false"}, 9001},
	} {
		res := runJob(t, write(t, launch(0, "a", 40, 3)), true, job.Options{GPU: "rtx-2060"}, c.set...)
		if got := res.Kernels[0].FirstBlockCycle; got != c.first {
			t.Errorf("%v: the first block is placed in cycle %d, want %d", c.set, got, c.first)
		}
	}
}

// TestPlacing checks the distribution of blocks, and how many run at a time.
func TestPlacing(t *testing.T) {
	alone := runJob(t, write(t, launch(0, "a", 400, 1)), true, job.Options{GPU: "rtx-2060"})
	cycles := func(blocks int, set ...string) float64 {
		res := runJob(t, write(t, launch(0, "a", 400, blocks)), true, job.Options{GPU: "rtx-2060"}, set...)
		return float64(res.Kernels[0].Cycles-res.Kernels[0].FirstBlockCycle) / float64(alone.Kernels[0].Cycles-alone.Kernels[0].FirstBlockCycle)
	}
	one := []string{"sm.blocks=1"}
	if x := cycles(30, one...); x > 1.2 {
		t.Errorf("30 blocks on 30 SMs take %.2f times as long as one", x)
	}
	if x := cycles(31, one...); x < 1.8 || x > 2.2 {
		t.Errorf("31 blocks, one on each of 30 SMs at a time, take %.2f times as long as one", x)
	}
	if x := cycles(31); x > 1.6 {
		t.Errorf("31 blocks on 30 SMs take %.2f times as long as one", x)
	}
}

// TestEnds checks the ends of runs that do not complete by themselves.
func TestEnds(t *testing.T) {
	step := func(kernel string) string {
		return fmt.Sprintf("[[steps]]\nlaunch = { kernel = %q, grid = [2, 1, 1], block = [64, 1, 1], args = [] }\n", kernel)
	}
	for _, c := range []struct {
		name, kernel string
		set          []string
		max          uint64
		check        func(err error, r *report.Run) string
	}{
		{"barriers that wait for each other", "hang", nil, 0, func(err error, r *report.Run) string {
			var e *exec.StuckError
			if !errors.As(err, &e) {
				return "no StuckError"
			}
			if e.Kernel != "hang" || !strings.Contains(strings.Join(e.Waits, "\n"), "barrier") {
				return "it does not say who waits for what"
			}
			return ""
		}},
		{"a limit on cycles", "forever", []string{"run.launch_latency=0"}, 5000, func(err error, r *report.Run) string {
			var e *exec.LimitError
			if !errors.As(err, &e) || e.Limit != 5000 {
				return "no LimitError"
			}
			if len(r.Kernels) != 1 || r.Kernels[0].EndCycle != 5000 || r.Kernels[0].WarpInstructions == 0 {
				return "the results so far are missing"
			}
			return ""
		}},
		{"a limit on blocks", "forever", []string{"run.max_blocks=1"}, 0, func(err error, r *report.Run) string {
			var e *exec.LimitError
			if !errors.As(err, &e) {
				return "no LimitError"
			}
			return ""
		}},
	} {
		for _, x := range []struct{ gpu, skip string }{
			{"rtx-2060", "run.idle_skip=true"}, {"rtx-2060", "run.idle_skip=false"}, {"rtx-2070-super", "run.idle_skip=true"}, {"rtx-2070-super", "run.idle_skip=false"},
		} {
			t.Run(c.name+" "+x.gpu+" "+x.skip, func(t *testing.T) {
				ready, err := job.Load(write(t, step(c.kernel)), job.Options{})
				if err != nil {
					t.Fatal(err)
				}
				o := job.Options{Timing: true, GPU: x.gpu, MaxInsts: c.max}
				for _, s := range append(c.set, x.skip) {
					if err := o.Settings.Set(s); err != nil {
						t.Fatal(err)
					}
				}
				res, err := ready.Run(context.Background(), o)
				if msg := c.check(err, res); msg != "" {
					t.Errorf("%s: %v", msg, err)
				}
			})
		}
	}
}

// TestInterrupt interrupts an endless run, which makes progress all the time; its results so
// far exist. A busy computer may not have begun by then: then it is interrupted later.
func TestInterrupt(t *testing.T) {
	ready, err := job.Load(write(t, "[[steps]]\nlaunch = { kernel = \"counts\", grid = [2, 1, 1], block = [64, 1, 1], args = [] }\n"), job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for wait := 50 * time.Millisecond; ; wait *= 4 {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		res, err := ready.Run(ctx, job.Options{Timing: true, GPU: "rtx-2060"})
		cancel()
		switch {
		case !errors.Is(err, context.DeadlineExceeded):
			t.Fatal(err)
		case len(res.Kernels) == 1 && res.Kernels[0].WarpInstructions > 0:
			return
		case wait > 10*time.Second:
			t.Fatalf("no progress within %v: %d kernels", wait, len(res.Kernels))
		}
	}
}

// TestGridIDs runs a job whose launches are prepared before any of them begins:
// each still has its own number, in the order in which they begin.
func TestGridIDs(t *testing.T) {
	dir := t.TempDir()
	for name, s := range map[string]string{
		"which.ptx": `.version 7.0
.target sm_70
.address_size 64
.visible .entry which(.param .u64 out)
{
 .reg .b64 %rd<3>;
 ld.param.u64 %rd1, [out];
 mov.u64 %rd2, %gridid;
 st.global.u64 [%rd1], %rd2;
 exit;
}
`,
		"job.toml": `program = "which.ptx"
[buffers.out]
type = "u64"
count = 3
[[launches]]
kernel = "which"
grid = [1, 1, 1]
block = [32, 1, 1]
args = [{ buffer = "out" }]
[[launches]]
kernel = "which"
grid = [4, 1, 1]
block = [32, 1, 1]
args = [{ buffer = "out", offset = 8 }]
[[launches]]
kernel = "which"
grid = [1, 1, 1]
block = [32, 1, 1]
args = [{ buffer = "out", offset = 16 }]
[[checks]]
buffer = "out"
values = [1, 2, 3]
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range []string{"run.caches=l2-kept", "run.caches=warm"} {
		for _, gpu := range []string{"rtx-2060", "rtx-2070-super"} {
			if res := runJob(t, filepath.Join(dir, "job.toml"), true, job.Options{GPU: gpu}, set); !res.OK {
				t.Errorf("%s, %s: %+v", gpu, set, res.Checks)
			}
		}
	}
	if res := runJob(t, filepath.Join(dir, "job.toml"), false, job.Options{}); !res.OK {
		t.Errorf("functional: %+v", res.Checks)
	}
}

// TestJobAgain runs an interrupted job again: the result is that of a first run.
func TestJobAgain(t *testing.T) {
	alltests.Only(t, "jobs run twice")
	steps := launch(1, "a", 400, 40) + launch(2, "b", 400, 40) + launch(0, "a", 10, 1)
	for i, gpu := range []string{"rtx-2060", "rtx-2070-super"} {
		for k, threads := range []int{1, 2} {
			if i != k && !alltests.On() {
				continue
			}
			opt := job.Options{Timing: true, GPU: gpu, Threads: threads}
			want := runJob(t, write(t, steps), true, opt)
			ready, err := job.Load(write(t, steps), job.Options{})
			if err != nil {
				t.Fatal(err)
			}
			cut := opt
			cut.MaxInsts = want.Cycles / 2
			var limit *exec.LimitError
			if _, err := ready.Run(context.Background(), cut); !errors.As(err, &limit) {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cut = opt
			cut.Progress = func(run.Progress) { cancel() }
			if _, err := ready.Run(ctx, cut); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			got, err := ready.Run(context.Background(), opt)
			if err != nil {
				t.Fatal(err)
			}
			want.Seconds, got.Seconds, want.Input = 0, 0, got.Input
			if diff := cmp.Diff(want.Kernels, got.Kernels, cmpopts.IgnoreFields(report.Line{}, "File")); diff != "" {
				t.Errorf("%s, %d threads: not as in a first run:\n%s", gpu, threads, diff)
			}
		}
	}
}

// TestRefused makes launches that no SM can take.
func TestRefused(t *testing.T) {
	ready, err := job.Load(write(t, "[[steps]]\nlaunch = { kernel = \"forever\", grid = [1, 1, 1], block = [64, 1, 1], shared = 1000000, args = [] }\n"), job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ready.Run(context.Background(), job.Options{Timing: true, GPU: "rtx-2060"})
	var le *exec.LaunchError
	if !errors.As(err, &le) {
		t.Errorf("%v", err)
	}
}

// TestCaches checks the L2's contents for a launch under each condition, that a
// rehearsal leaves no values, and what copies leave in the L2.
func TestCaches(t *testing.T) {
	steps := launch(0, "a", 40, 1) + launch(0, "a", 2, 1) + "[[checks]]\nbuffer = \"a\"\nvalues = [42]\n"
	for _, c := range []struct {
		caches, fill string
		misses       [2]uint64
	}{
		{"l2-kept", "false", [2]uint64{1, 0}}, {"flushed", "false", [2]uint64{1, 1}}, {"warm", "false", [2]uint64{0, 0}},
		{"l2-kept", "true", [2]uint64{0, 0}}, {"flushed", "true", [2]uint64{1, 1}},
	} {
		res := runJob(t, write(t, steps), true, job.Options{GPU: "rtx-2060"}, "run.caches="+c.caches, "run.copies_fill_l2="+c.fill)
		if !res.OK || len(res.Kernels) != 2 {
			t.Errorf("%s: %d launches, %+v", c.caches, len(res.Kernels), res.Checks)
			continue
		}
		got := [2]uint64{res.Kernels[0].Memory.DRAM.Reads, res.Kernels[1].Memory.DRAM.Reads}
		if got != c.misses {
			t.Errorf("%s, copies fill the L2: %s: %v sectors are read from DRAM, want %v", c.caches, c.fill, got, c.misses)
		}
	}
}

// TestICache checks that a warm instruction cache saves the misses of the code.
func TestICache(t *testing.T) {
	misses := func(set ...string) uint64 {
		res := runJob(t, write(t, launch(0, "a", 40, 1)), true, job.Options{GPU: "gtx-480"}, set...)
		return res.Kernels[0].Memory.L1Inst.Misses
	}
	if cold, warm := misses("run.icache=cold"), misses("run.icache=warm"); cold == 0 || warm != 0 {
		t.Errorf("%d misses with a cold instruction cache, %d with a warm one", cold, warm)
	}
}
