package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/sample"
)

// sampledPTX has kernels of many launches: step adds the number of the launch to a buffer, talk
// prints and counts, clocked stores how long it took, numbered stores %gridid.
const sampledPTX = `.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[6] = {104, 101, 108, 108, 10, 0};
.visible .entry step(.param .u64 out, .param .u32 rounds)
{
 .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p;
 ld.param.u64 %d0, [out]; ld.param.u32 %r6, [rounds];
 mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;
 mul.wide.u32 %d1, %r3, 4; add.u64 %d2, %d0, %d1;
 mov.u32 %r5, 0;
L: ld.global.u32 %r4, [%d2]; mad.lo.u32 %r4, %r4, 3, 1; st.global.u32 [%d2], %r4;
 add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, %r6; @%p bra L;
 ret;
}
.visible .entry talk(.param .u64 out, .param .u32 rounds)
{
 .reg .b32 %r; .reg .b64 %d<4>; .reg .pred %p;
 ld.param.u64 %d0, [out]; mov.u32 %r, %tid.x; setp.ne.u32 %p, %r, 0; @%p bra E;
 atom.global.add.u32 %r, [%d0], 1;
 { .param .b64 f; .param .b64 a; .param .b32 v;
 mov.u64 %d1, text; cvta.global.u64 %d1, %d1; st.param.b64 [f], %d1; mov.u64 %d2, 0; st.param.b64 [a], %d2;
 call.uni (v), vprintf, (f, a); }
E: ret;
}
.visible .entry clocked(.param .u64 out, .param .u32 rounds)
{
 .reg .b32 %r<3>; .reg .b64 %d;
 ld.param.u64 %d, [out]; mov.u32 %r0, %clock; st.global.u32 [%d+4], %r0; mov.u32 %r1, %clock; sub.u32 %r0, %r1, %r0; st.global.u32 [%d], %r0;
 ret;
}
.visible .entry numbered(.param .u64 out, .param .u32 rounds)
{
 .reg .b32 %r<5>; .reg .b64 %d<2>; .reg .pred %p;
 mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; or.b32 %r2, %r2, %r3; setp.ne.u32 %p, %r2, 0; @%p ret;
 ld.param.u64 %d0, [out]; mov.u32 %r0, %gridid; ld.global.u32 %r1, [%d0]; mad.lo.u32 %r1, %r1, 7, %r0; st.global.u32 [%d0], %r1;
 ld.param.u32 %r4, [rounds];
L: sub.u32 %r4, %r4, 1; setp.ne.u32 %p, %r4, 0; @%p bra L;
 ret;
}
`

// sampledJob writes a job whose launches call a kernel with these numbers of rounds, on streams
// in turn.
func sampledJob(t *testing.T, kernel string, streams int, rounds ...int) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("program = \"sampled.ptx\"\n[buffers.out]\ntype = \"u32\"\ncount = 4096\n")
	for i, n := range rounds {
		fmt.Fprintf(&b, "[[steps]]\nlaunch = { kernel = %q, grid = [4, 1, 1], block = [128, 1, 1], args = [{ buffer = \"out\" }, { u32 = %d }], stream = %d }\n", kernel, n, streams-1-i%streams+min(1, streams-1))
	}
	file := filepath.Join(dir, "sampled.toml")
	for name, text := range map[string]string{"sampled.toml": b.String(), "sampled.ptx": sampledPTX} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// sampled runs a job, and returns its result, what buffer out holds, and what it printed.
func sampled(t *testing.T, file string, threads int, s *sample.Options, set ...string) (res *report.Run, values, printed string) {
	t.Helper()
	dump := filepath.Join(t.TempDir(), "out")
	var out bytes.Buffer
	o := Options{GPU: "rtx-2060", Timing: true, Threads: threads, Sample: s, Out: &out, Dumps: []Dump{{Buffer: "out", File: dump}}}
	o.Settings.Core = "simt"
	for _, x := range set {
		if err := o.Settings.Set(x); err != nil {
			t.Fatal(err)
		}
	}
	ready, err := Load(file, o)
	if err != nil {
		t.Fatal(err)
	}
	res, err = ready.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	res.Seconds, res.Dumps = 0, nil
	return res, string(b), out.String()
}

// TestSampled: a sampled run computes what the whole run does, simulates few launches, and its
// interval holds the true cycles; two workers sample alike.
func TestSampled(t *testing.T) {
	many := func(n int, rounds ...int) (list []int) {
		for i := range n {
			list = append(list, rounds[i%len(rounds)])
		}
		return list
	}
	for _, c := range []struct {
		name, kernel string
		streams      int
		rounds       []int
		timed        uint64 // the most launches that are simulated
		whole        bool   // all are
	}{
		{"one kernel", "step", 1, many(60, 20), 12, false},
		{"two sizes in turn", "step", 1, many(60, 20, 100), 20, false},
		{"kernels that print", "talk", 1, many(40, 1), 12, false},
		{"kernels that read the clock", "clocked", 1, many(20, 1), 20, true},
		{"numbers of grids", "numbered", 1, many(60, 1), 12, false},
		{"numbers of grids, two sizes", "numbered", 1, many(60, 1, 40), 26, false},
		{"streams side by side", "step", 3, many(30, 20), 30, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := sampledJob(t, c.kernel, c.streams, c.rounds...)
			whole, values, printed := sampled(t, file, 1, nil)
			part, got, said := sampled(t, file, 1, &sample.Options{Target: 0.02})
			if got != values || said != printed {
				t.Errorf("other values, or other output: %q, want %q", said, printed)
			}
			s := part.Sampling
			if s == nil || s.Launches != uint64(len(c.rounds)) || s.Timed > c.timed || (s.Timed == s.Launches) != c.whole {
				t.Fatalf("%+v, want at most %d of %d launches simulated", s, c.timed, len(c.rounds))
			}
			if c.whole {
				part.Sampling = nil
				if d := cmp.Diff(asJSON(t, whole), asJSON(t, part)); d != "" {
					t.Errorf("all launches were simulated, but the result differs: %s", d)
				}
				return
			}
			var cycles uint64
			passed := 0
			for i := range whole.Kernels {
				a, b := &whole.Kernels[i], &part.Kernels[i]
				cycles += a.Cycles
				if a.WarpInstructions != b.WarpInstructions || a.ThreadInstructions != b.ThreadInstructions || a.Blocks != b.Blocks {
					t.Errorf("launch %d: %d warp instructions, want %d", i, b.WarpInstructions, a.WarpInstructions)
				}
				if b.Sampled {
					passed++
				}
			}
			if passed != int(s.Launches-s.Timed) {
				t.Errorf("%d launches are marked as estimated, want %d", passed, s.Launches-s.Timed)
			}
			if off := math.Abs(float64(s.TimedCycles+s.EstimatedCycles) - float64(cycles)); off > float64(s.MarginCycles) {
				t.Errorf("%d cycles ± %d, in truth %d", s.TimedCycles+s.EstimatedCycles, s.MarginCycles, cycles)
			}
			if off := math.Abs(float64(part.Cycles)/float64(whole.Cycles) - 1); off > 0.02 {
				t.Errorf("the run takes %d cycles, in truth %d", part.Cycles, whole.Cycles)
			}
			if two, _, _ := sampled(t, file, 2, &sample.Options{Target: 0.02}); asJSON(t, two) != asJSON(t, part) {
				t.Errorf("two workers: %s", cmp.Diff(asJSON(t, part), asJSON(t, two)))
			}
			if b := new(strings.Builder); part.WriteText(b) != nil || !strings.Contains(b.String(), fmt.Sprintf("sampled: %d of %d launches were simulated", s.Timed, s.Launches)) {
				t.Errorf("the report does not say that it was sampled: %s", b)
			}
		})
	}
}

// TestSampledStreams: a launch is not passed over if another one could begin before its end. The result is that of the whole
// run then; launches that wait for each other are passed over.
func TestSampledStreams(t *testing.T) {
	launch := func(stream int) string {
		return fmt.Sprintf("[[steps]]\nlaunch = { kernel = \"step\", grid = [4, 1, 1], block = [128, 1, 1], args = [{ buffer = \"out\" }, { u32 = 20 }], stream = %d }\n", stream)
	}
	fetch := func(stream int) string {
		return fmt.Sprintf("[[steps]]\ncopy = { from = \"out\", to = \"other\", bytes = 16384, stream = %d }\n", stream)
	}
	alone := strings.Repeat(launch(1), 8) // so that launches are of a known kind
	for _, c := range []struct {
		name, steps string
		set         []string
		whole       bool
	}{
		{"a copy before the launch of the other stream", alone + "[[steps]]\nsync = true\n" + strings.Repeat(launch(1)+fetch(2)+launch(2)+fetch(1), 6), nil, true},
		{"one that takes time", alone + "[[steps]]\nsync = true\n" + strings.Repeat(launch(1)+fetch(2)+launch(2)+fetch(1), 6), []string{"run.copies=timed"}, true},
		{"events one way and the other", alone + strings.Repeat("[[steps]]\nrecord = { event = \"a\", stream = 1 }\n[[steps]]\nwait = { event = \"a\", stream = 2 }\n"+launch(2)+
			"[[steps]]\nrecord = { event = \"b\", stream = 2 }\n[[steps]]\nwait = { event = \"b\", stream = 1 }\n"+launch(1), 6), nil, false},
		{"copies beside launches that wait", alone + strings.Repeat(fetch(2)+launch(1), 6), nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "sampled.toml")
			for name, text := range map[string]string{"sampled.ptx": sampledPTX, "sampled.toml": "program = \"sampled.ptx\"\n[buffers.out]\ntype = \"u32\"\ncount = 4096\n[buffers.other]\ntype = \"u32\"\ncount = 4096\n" + c.steps} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			whole, values, _ := sampled(t, file, 1, nil, c.set...)
			part, got, _ := sampled(t, file, 1, &sample.Options{Target: 0.02}, c.set...)
			if got != values {
				t.Error("other values")
			}
			over := 0 // of the launches after the first ones
			for i := range part.Kernels {
				if i >= 8 && part.Kernels[i].Sampled {
					over++
				}
			}
			if (over == 0) != c.whole {
				t.Errorf("%d launches beside others were passed over", over)
			}
			if off := math.Abs(float64(part.Cycles)/float64(whole.Cycles) - 1); off > 0.01 {
				t.Errorf("%d cycles, in truth %d", part.Cycles, whole.Cycles)
			}
		})
	}
}

// TestBlocksBeside: blocks are passed over only if no other launch could begin before the end of theirs.
func TestBlocksBeside(t *testing.T) {
	const large = "[[steps]]\nlaunch = { kernel = \"step\", grid = [2048, 1, 1], block = [256, 1, 1], args = [{ buffer = \"out\" }, { u32 = 20 }], stream = 1 }\n"
	const after = "[[steps]]\ncopy = { from = \"out\", to = \"other\", bytes = 65536, stream = 2 }\n[[steps]]\nlaunch = { kernel = \"step\", grid = [1, 1, 1], block = [32, 1, 1], args = [{ buffer = \"out\" }, { u32 = 20 }], stream = 2 }\n"
	for _, c := range []struct {
		name, steps string
		passed      bool
	}{
		{"alone", large, true},
		{"a launch after a copy that takes time", large + after, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "sampled.toml")
			for name, text := range map[string]string{"sampled.ptx": sampledPTX, "sampled.toml": "program = \"sampled.ptx\"\n[buffers.out]\ntype = \"u32\"\ncount = 524288\n[buffers.other]\ntype = \"u32\"\ncount = 524288\n" + c.steps} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			part, _, _ := sampled(t, file, 1, &sample.Options{Target: 0.02, Blocks: true}, "run.copies=timed")
			if got := part.Kernels[0].PassedBlocks > 0; got != c.passed {
				t.Errorf("%d blocks were passed over", part.Kernels[0].PassedBlocks)
			}
		})
	}
}

// TestSampledExamples: examples of several launches, whole and sampled. The sum of all launches' cycles is within the interval,
// and off by 2 % at most if only launches are passed over, by 5 % if blocks are, too.
func TestSampledExamples(t *testing.T) {
	alltests.Only(t, "whole runs of examples beside sampled ones")
	for _, c := range []struct {
		name, gpu string
		most      float64
	}{
		{"hotspot", "rtx-2060", 0.02},
		{"pathfinder", "rtx-2060", 0.02},
		{"pathfinder", "rtx-a6000", 0.02},
		{"stencil3d", "rtx-2060", 0.02},
		{"texture", "rtx-2060", 0.02},
		{"vecadd", "rtx-2060", 0.05},
		{"streams", "rtx-a6000", 0.02},
	} {
		t.Run(c.name+" "+c.gpu, func(t *testing.T) {
			run := func(s *sample.Options) *report.Run {
				o := Options{GPU: c.gpu, Timing: true, Threads: 1, Sample: s}
				ready, err := Load(filepath.Join("..", "..", "..", "examples", c.name, c.name+".toml"), o)
				if err != nil {
					t.Fatal(err)
				}
				res, err := ready.Run(context.Background(), o)
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			var cycles uint64
			for _, k := range run(nil).Kernels {
				cycles += k.Cycles
			}
			s := run(&sample.Options{Target: 0.02, Blocks: true}).Sampling
			got := s.TimedCycles + s.EstimatedCycles
			off := math.Abs(float64(got) - float64(cycles))
			if off > float64(s.MarginCycles) || off > c.most*float64(cycles) {
				t.Errorf("%d cycles ± %d, in truth %d", got, s.MarginCycles, cycles)
			}
			t.Logf("%d of %d launches, off by %.1f %%", s.Timed, s.Launches, 100*off/float64(cycles))
		})
	}
}

// TestSampledCut: a run that is ended while the time of a launch passes has no more cycles than
// passed.
func TestSampledCut(t *testing.T) {
	file := sampledJob(t, "step", 1, slices.Repeat([]int{20}, 60)...)
	whole, _, _ := sampled(t, file, 1, &sample.Options{Target: 0.02})
	cut := 0
	for i := range whole.Kernels {
		k := &whole.Kernels[i]
		if !k.Sampled || i%7 != 0 {
			continue
		}
		o := Options{GPU: "rtx-2060", Timing: true, Threads: 1, Sample: &sample.Options{Target: 0.02}, MaxInsts: k.StartCycle + k.Cycles/2}
		o.Settings.Core = "simt"
		ready, err := Load(file, o)
		if err != nil {
			t.Fatal(err)
		}
		res, err := ready.Run(context.Background(), o)
		var limit *exec.LimitError
		if !errors.As(err, &limit) {
			t.Fatalf("launch %d: %v, want that the limit ended it", i, err)
		}
		last := &res.Kernels[len(res.Kernels)-1]
		if last.Launch != i || last.EndCycle != res.Cycles || last.Cycles > k.Cycles {
			t.Errorf("launch %d: the last one is %d, of %d cycles, and ends in cycle %d of %d", i, last.Launch, last.Cycles, last.EndCycle, res.Cycles)
		}
		cut++
	}
	if cut == 0 {
		t.Error("no run was cut")
	}
}

// turnsPTX has a kernel whose blocks wait for each other.
const turnsPTX = `.visible .entry turns(.param .u64 out, .param .u32 rounds)
{
 .reg .b32 %r<4>; .reg .b64 %d; .reg .pred %p;
 ld.param.u64 %d, [out]; mov.u32 %r0, %tid.x; setp.ne.u32 %p, %r0, 0; @%p ret;
 mov.u32 %r1, %ctaid.x; add.u32 %r2, %r1, 1;
L: ld.volatile.global.u32 %r3, [%d]; setp.ne.u32 %p, %r3, %r1; @%p bra L;
 st.volatile.global.u32 [%d], %r2;
 ret;
}
`

// bulkPTX has a kernel whose blocks fetch what they add to with bulk copies.
const bulkPTX = `.visible .entry bulk(.param .u64 out, .param .u32 rounds)
{
 .shared .align 128 .b8 s[256]; .shared .align 8 .b64 bar;
 .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<3>;
 ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, s; mov.u32 %r3, bar;
 setp.eq.u32 %p1, %r0, 0;
 @%p1 mbarrier.init.shared.b64 [%r3], 1;
 bar.sync 0;
 mul.wide.u32 %d1, %r1, 256; add.u64 %d1, %d1, %d0;
 @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;
 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 256, [%r3];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra W;
 mad.lo.u32 %r4, %r0, 4, %r2; ld.shared.u32 %r5, [%r4]; add.u32 %r5, %r5, %r1;
 mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r5;
 ret;
}
`

// blocksJob writes a job of three launches, the second one of 1000 blocks of a kernel.
func blocksJob(t *testing.T, kernel string, rounds int) string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf(`program = "sampled.ptx"
[buffers.out]
type = "u32"
count = 65536
[[launches]]
kernel = "numbered"
grid = [1, 1, 1]
block = [32, 1, 1]
args = [{ buffer = "out" }, { u32 = 1 }]
[[launches]]
kernel = %q
grid = [1000, 1, 1]
block = [64, 1, 1]
args = [{ buffer = "out" }, { u32 = %d }]
[[launches]]
kernel = "numbered"
grid = [1, 1, 1]
block = [32, 1, 1]
args = [{ buffer = "out" }, { u32 = 1 }]
`, kernel, rounds)
	if kernel == "turns" { // the first block waits for zero
		text = strings.ReplaceAll(text, `"numbered"`, `"talk"`)
		text = strings.Replace(text, `{ buffer = "out" }`, `{ buffer = "other" }`, 1)
		text = strings.Replace(text, "[[launches]]", "[buffers.other]\ntype = \"u32\"\ncount = 8\n[[launches]]", 1)
	}
	file := filepath.Join(dir, "sampled.toml")
	for name, text := range map[string]string{"sampled.toml": text, "sampled.ptx": sampledPTX + turnsPTX + bulkPTX} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// TestSampledBlocks: of a launch of many waves few blocks are simulated. The values, what is printed and the
// numbers of instructions are those of the whole run, the interval holds the true cycles, and two workers
// sample alike.
func TestSampledBlocks(t *testing.T) {
	for _, c := range []struct {
		name, kernel string
		rounds       int
		whole        bool // all blocks are simulated
	}{
		{"loops", "step", 8, false},
		{"blocks that print", "talk", 1, false},
		{"number of the grid", "numbered", 1, false},
		{"blocks that read the clock", "clocked", 1, true},
		{"blocks that wait for others", "turns", 1, true},
		{"bulk copies", "bulk", 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := blocksJob(t, c.kernel, c.rounds)
			set := "chip.clusters=2"
			whole, values, printed := sampled(t, file, 1, nil, set)
			full := &sample.Options{Target: 0.02, Blocks: true}
			part, got, said := sampled(t, file, 1, full, set)
			if got != values || said != printed {
				t.Errorf("other values, or other output: %d bytes, want %d", len(said), len(printed))
			}
			a, b, s := &whole.Kernels[1], &part.Kernels[1], part.Sampling
			if a.WarpInstructions != b.WarpInstructions || a.ThreadInstructions != b.ThreadInstructions || a.Blocks != b.Blocks {
				t.Errorf("%d blocks, %d warp instructions, %d thread instructions; want %d, %d, %d", b.Blocks, b.WarpInstructions, b.ThreadInstructions, a.Blocks, a.WarpInstructions, a.ThreadInstructions)
			}
			if c.whole {
				if b.PassedBlocks > 0 || b.Cycles != a.Cycles || s.TimedInPart > 0 {
					t.Errorf("%d blocks were not simulated, and the launch takes %d cycles; want none, and %d", b.PassedBlocks, b.Cycles, a.Cycles)
				}
				return
			}
			if b.PassedBlocks < 300 || s.TimedInPart != 1 || s.EstimatedCycles != b.PassedCycles {
				t.Fatalf("%d blocks were not simulated: %+v", b.PassedBlocks, s)
			}
			if off := math.Abs(float64(b.Cycles) - float64(a.Cycles)); off > float64(s.MarginCycles) || float64(s.MarginCycles) > 0.1*float64(a.Cycles) {
				t.Errorf("%d cycles ± %d, in truth %d", b.Cycles, s.MarginCycles, a.Cycles)
			}
			if two, _, _ := sampled(t, file, 2, full, set); asJSON(t, two) != asJSON(t, part) {
				t.Errorf("two workers: %s", cmp.Diff(asJSON(t, part), asJSON(t, two)))
			}
			if b := new(strings.Builder); part.WriteText(b) != nil || !strings.Contains(b.String(), "3 of 3 launches were simulated, 1 of them in part") {
				t.Errorf("the report does not say that it was sampled: %s", b)
			}
		})
	}
}

// TestSampledBlocksCut: a run that is ended before, between and after the passages of a launch, or in the
// estimated time of its blocks, has no more cycles and instructions than were executed and passed.
func TestSampledBlocksCut(t *testing.T) {
	file := blocksJob(t, "step", 8)
	full := &sample.Options{Target: 0.02, Blocks: true}
	whole, _, _ := sampled(t, file, 1, full, "chip.clusters=2")
	k := &whole.Kernels[1]
	ran := k.Cycles - k.PassedCycles // of the chip
	for _, c := range []struct {
		name  string
		limit uint64
	}{
		{"before the first passage", k.StartCycle + ran/8},
		{"half of what is simulated", k.StartCycle + ran/2},
		{"all but little of it", k.StartCycle + ran - ran/16},
		{"in the estimated time", k.StartCycle + ran + k.PassedCycles/2},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{GPU: "rtx-2060", Timing: true, Threads: 1, Sample: full, MaxInsts: c.limit}
			o.Settings.Core = "simt"
			if err := o.Settings.Set("chip.clusters=2"); err != nil {
				t.Fatal(err)
			}
			ready, err := Load(file, o)
			if err != nil {
				t.Fatal(err)
			}
			res, err := ready.Run(context.Background(), o)
			var limit *exec.LimitError
			if !errors.As(err, &limit) {
				t.Fatalf("%v, want that the limit ended it", err)
			}
			x, s := &res.Kernels[len(res.Kernels)-1], res.Sampling
			if x.Launch != 1 || x.Cycles > c.limit-k.StartCycle || x.PassedCycles > x.Cycles || x.EndCycle != res.Cycles {
				t.Errorf("launch %d has %d cycles, %d of them estimated, and ends in cycle %d of %d", x.Launch, x.Cycles, x.PassedCycles, x.EndCycle, res.Cycles)
			}
			if x.PassedWarpInstructions > x.WarpInstructions || x.WarpInstructions > k.WarpInstructions || x.ThreadInstructions > k.ThreadInstructions {
				t.Errorf("%d warp instructions, %d of them passed over, of %d", x.WarpInstructions, x.PassedWarpInstructions, k.WarpInstructions)
			}
			if s.TimedCycles > res.Cycles || s.EstimatedCycles > res.Cycles || s.TimedWarpInstructions > s.WarpInstructions {
				t.Errorf("%+v", s)
			}
			for _, p := range x.Peaks {
				if p.Used > 1.001*p.Most {
					t.Errorf("%s: %v of %v", p.Part, p.Used, p.Most)
				}
			}
		})
	}
}
