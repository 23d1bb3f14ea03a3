package findings_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/findings"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// kernel is a small kernel: PTX if it is not text for sm_86. %rd1 is a buffer of 4 MiB, %rd2
// the address of the thread's element of 4 bytes in it, %r1 the number of the thread in the
// grid, %r2 that in its block, %r3 the address of 32 KiB of shared memory.
type kernel struct {
	body        string
	sass        bool
	grid, block int
	set         []string // configuration
	steps       string   // in place of one launch
}

// loop repeats instructions.
func loop(n int, body string) string {
	return fmt.Sprintf("mov.u32 %%r20, %d;\nL%d:\n%s\nsub.u32 %%r20, %%r20, 1;\nsetp.ne.u32 %%p9, %%r20, 0;\n@%%p9 bra L%d;\n", n, n, body, n)
}

// times writes instructions several times; $ is the number of the copy from 0 on.
func times(n int, body string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(body, "$", fmt.Sprint(i)) + "\n")
	}
	return b.String()
}

const (
	// chase loads what it then needs to go on: the buffer holds zeros.
	chase = "ld.global.u32 %r10, [%rd2];\ncvt.u64.u32 %rd3, %r10;\nadd.u64 %rd2, %rd2, %rd3;"
	// compute is independent arithmetic, most of the time.
	compute = "fma.rn.f32 %f1, %f1, %f9, %f9;\nfma.rn.f32 %f2, %f2, %f9, %f9;\nfma.rn.f32 %f3, %f3, %f9, %f9;\nfma.rn.f32 %f4, %f4, %f9, %f9;"
	// apart makes addresses of neighbouring threads 128 bytes apart.
	apart = "mul.lo.u32 %r10, %r1, 128;\nand.b32 %r10, %r10, 4194176;\ncvt.u64.u32 %rd3, %r10;\nadd.u64 %rd2, %rd1, %rd3;\n"
)

// sines keeps the special function units busy.
var sines = loop(8, times(16, "sin.approx.f32 %f2$, %f1;"))

// cold leaves in the DRAM what the host has copied.
var cold = []string{"run.copies_fill_l2=false"}

// stream loads 64 bytes a thread, strided one word a thread from another row of the DRAM.
var (
	stream = "shl.b32 %r10, %r1, 6;\nand.b32 %r10, %r10, 4194240;\ncvt.u64.u32 %rd3, %r10;\nadd.u64 %rd2, %rd1, %rd3;\n" +
		times(4, "ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd2 + $*16];")
	strided = "mul.lo.u32 %r10, %r1, 16448;\nand.b32 %r10, %r10, 4194272;\ncvt.u64.u32 %rd3, %r10;\nadd.u64 %rd2, %rd1, %rd3;\nld.global.u32 %r11, [%rd2];\nadd.u32 %r12, %r12, %r11;\n"
)

// busy is a kernel in which nothing but arithmetic happens.
var busy = kernel{body: loop(8, times(64, compute)), grid: 8, block: 256}

func (k kernel) program() (name, text string) {
	if k.sass {
		return "k.sass", ".arch sm_86\n.kernel k\n.param data, 8\n.regs 64\n.shared 32768\n" + k.body + "[B------:R-:W-:-:S05] EXIT ;\n"
	}
	return "k.ptx", `.version 7.8
.target sm_80
.address_size 64
.const .b8 table[1024];
.visible .entry k(.param .u64 data)
{
.reg .b64 %rd<20>;
.reg .b32 %r<1100>;
.reg .f32 %f<300>;
.reg .pred %p<10>;
.shared .align 16 .b8 s[32768];
.local .align 16 .b8 l[1024];
ld.param.u64 %rd1, [data];
mov.u32 %r2, %tid.x;
mov.u32 %r4, %ctaid.x;
mov.u32 %r5, %ntid.x;
mad.lo.u32 %r1, %r4, %r5, %r2;
mul.lo.u32 %r6, %r1, 4;
and.b32 %r6, %r6, 4194303;
cvt.u64.u32 %rd3, %r6;
add.u64 %rd2, %rd1, %rd3;
mov.u32 %r3, s;
` + k.body + "exit;\n}\n"
}

// run returns the result of a kernel.
func (k kernel) run(t *testing.T) *report.Run {
	t.Helper()
	dir := t.TempDir()
	name, text := k.program()
	steps := k.steps
	if steps == "" {
		steps = launch
	}
	steps = strings.NewReplacer("GRID", fmt.Sprint(k.grid), "BLOCK", fmt.Sprint(k.block)).Replace(steps)
	for name, text := range map[string]string{name: text, "k.toml": fmt.Sprintf("program = %q\n[buffers.data]\ntype = \"u32\"\ncount = 1048576\n", name) + steps} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	o := job.Options{Timing: true, GPU: "rtx-a6000"}
	for _, s := range append([]string{"chip.clusters=8", "chip.channels=4", "run.launch_latency=0", "run.icache=warm"}, k.set...) {
		if err := o.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	ready, err := job.Load(filepath.Join(dir, "k.toml"), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ready.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const launch = "[[launches]]\nkernel = \"k\"\ngrid = [GRID, 1, 1]\nblock = [BLOCK, 1, 1]\nargs = [{ buffer = \"data\" }]\n"

// Each rule, with a kernel in which it finds its cause and one in which it does not.
var cases = []struct {
	rule      string
	with, not kernel
}{
	{
		"uncoalesced-accesses",
		kernel{body: apart + loop(8, "ld.global.u32 %r11, [%rd2];\nadd.u32 %r12, %r12, %r11;\nadd.u64 %rd2, %rd2, 4;"), grid: 8, block: 256},
		kernel{body: loop(8, "ld.global.u32 %r11, [%rd2];\nadd.u32 %r12, %r12, %r11;"), grid: 8, block: 256},
	},
	{
		"atomic-contention",
		kernel{body: loop(8, "atom.global.add.u32 %r11, [%rd1], 1;\nadd.u32 %r12, %r12, %r11;"), grid: 8, block: 64},
		kernel{body: loop(8, "atom.global.add.u32 %r11, [%rd2], 1;\nadd.u32 %r12, %r12, %r11;"), grid: 8, block: 64},
	},
	{ // nobody waits for the results, but the ends of the warps do
		"atomic-contention",
		kernel{body: times(4, "red.global.add.u32 [%rd1], 1;"), grid: 8, block: 64},
		kernel{body: times(4, "red.global.add.u32 [%rd2], 1;"), grid: 8, block: 64},
	},
	{
		"uncoalesced-accesses",
		kernel{body: apart + times(4, "st.global.u32 [%rd2 + $*4], %r12;"), grid: 8, block: 256},
		kernel{body: times(4, "st.global.u32 [%rd2 + $*4096], %r12;"), grid: 8, block: 256},
	},
	{
		"bank-conflicts",
		kernel{body: "shl.b32 %r10, %r2, 7;\nadd.u32 %r10, %r10, %r3;\n" + loop(16, "ld.shared.u32 %r11, [%r10];\nadd.u32 %r12, %r12, %r11;"), grid: 8, block: 128},
		kernel{body: "shl.b32 %r10, %r2, 2;\nadd.u32 %r10, %r10, %r3;\n" + loop(16, "ld.shared.u32 %r11, [%r10];\nadd.u32 %r12, %r12, %r11;"), grid: 8, block: 128},
	},
	{
		"constants-apart",
		kernel{body: "and.b32 %r10, %r2, 31;\nshl.b32 %r10, %r10, 2;\nmov.u32 %r13, table;\nadd.u32 %r10, %r10, %r13;\n" + loop(16, "ld.const.u32 %r11, [%r10];\nadd.u32 %r12, %r12, %r11;"), grid: 8, block: 256},
		kernel{body: "shr.b32 %r10, %r2, 5;\nshl.b32 %r10, %r10, 2;\nmov.u32 %r13, table;\nadd.u32 %r10, %r10, %r13;\n" + loop(16, "ld.const.u32 %r11, [%r10];\nadd.u32 %r12, %r12, %r11;"), grid: 8, block: 256},
	},
	{
		"memory-bandwidth",
		kernel{body: stream, grid: 32, block: 1024, set: append(cold, "clocks.dram=500")},
		busy,
	},
	{"memory-latency", kernel{body: loop(16, chase), grid: 8, block: 64}, busy},
	{"few-warps", kernel{body: loop(16, chase), grid: 8, block: 32}, kernel{body: loop(16, chase), grid: 8, block: 1024}},
	{"small-grid", kernel{body: busy.body, grid: 2, block: 256}, busy},
	{"tail", kernel{body: loop(8, compute), grid: 9, block: 1024}, kernel{body: loop(8, compute), grid: 8, block: 1024}},
	{
		"divergence",
		kernel{body: "and.b32 %r10, %r2, 31;\nsetp.ne.u32 %p1, %r10, 0;\n@%p1 bra END;\n" + busy.body + "END:\n", grid: 8, block: 256},
		kernel{body: "shr.u32 %r10, %r2, 5;\nsetp.ne.u32 %p1, %r10, 0;\n@%p1 bra END;\n" + busy.body + "END:\n", grid: 8, block: 8},
	},
	{"partial-warps", kernel{body: busy.body, grid: 8, block: 8}, busy},
	{
		"barriers",
		kernel{body: "setp.ge.u32 %p1, %r2, 32;\n@%p1 bra WAIT;\n" + busy.body + "WAIT:\nbar.sync 0;\n", grid: 8, block: 256},
		busy,
	},
	{
		"shared-units-latency",
		kernel{body: "mov.u32 %r10, %r3;\n" + loop(32, "ld.shared.u32 %r11, [%r10];\nadd.u32 %r10, %r10, %r11;"), grid: 8, block: 32},
		busy,
	},
	{
		"memory-queue",
		kernel{body: "shl.b32 %r10, %r2, 2;\nadd.u32 %r10, %r10, %r3;\n" + loop(8, times(16, "ld.shared.u32 %r10$, [%r10];")), grid: 8, block: 512},
		busy,
	},
	{
		"too-many-loads",
		kernel{body: apart + times(16, "ld.global.u32 %r10$, [%rd2 + $*4];"), grid: 8, block: 512},
		busy,
	},
	{
		"busy-pipe",
		kernel{body: sines, grid: 8, block: 512},
		kernel{body: loop(16, chase), grid: 8, block: 64},
	},
	{
		"dependent-instructions",
		kernel{body: loop(64, times(8, "fma.rn.f32 %f1, %f1, %f9, %f9;")), grid: 8, block: 32},
		kernel{sass: true, body: times(200, "[B------:R-:W-:-:S01] FFMA R20, R2, R5, R2 ;"), grid: 8, block: 256},
	},
	{
		"instruction-fetch",
		kernel{body: times(4000, "fma.rn.f32 %f1, %f1, %f9, %f9;"), grid: 8, block: 32, set: []string{"run.icache=cold"}},
		busy,
	},
	{"branches", kernel{body: loop(500, ""), grid: 8, block: 32}, busy},
	{
		"constant-misses",
		kernel{sass: true, body: times(200, "[B------:R-:W-:-:S04] FADD R2, R3, c[0x3][$00] ;"), grid: 8, block: 32},
		kernel{sass: true, body: times(200, "[B------:R-:W-:-:S04] FADD R2, R3, 1 ;"), grid: 8, block: 32},
	},
	{
		"register-ports",
		kernel{sass: true, body: times(200, "[B------:R-:W-:-:S01] FFMA R20, R2, R4, R6 ;"), grid: 8, block: 128},
		kernel{sass: true, body: times(200, "[B------:R-:W-:-:S01] FFMA R20, R2, R5, R2 ;"), grid: 8, block: 128},
	},
	{
		"spills",
		kernel{body: "mov.u32 %r10, l;\n" + loop(16, "st.local.u32 [%r10], %r1;\nld.local.u32 %r11, [%r10];\nadd.u32 %r12, %r12, %r11;"), grid: 8, block: 256},
		busy,
	},
	{"fences", kernel{body: loop(8, "st.global.u32 [%rd2], %r1;\nmembar.gl;"), grid: 8, block: 64}, busy},
	{"ends-of-warps", kernel{body: apart + times(4, "st.global.u32 [%rd2 + $*4], %r1;"), grid: 8, block: 256}, busy},
	{"row-misses", kernel{body: strided, grid: 8, block: 256, set: cold}, kernel{body: stream, grid: 32, block: 256, set: cold}},
	{"launch-latency", kernel{body: loop(16, compute), grid: 8, block: 64, set: []string{"run.launch_latency=3000"}}, busy},
	{
		"many-launches",
		kernel{body: compute, grid: 8, block: 64, steps: strings.Repeat(launch, 12), set: []string{"run.launch_latency=3000"}},
		kernel{body: busy.body, grid: 8, block: 64, steps: strings.Repeat(launch, 12)},
	},
	{
		"copies",
		kernel{body: compute, grid: 8, block: 64, steps: steps, set: []string{"run.copies=timed"}},
		kernel{body: compute, grid: 8, block: 64, steps: steps},
	},
	{
		"uneven-sms",
		kernel{body: "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra END;\n" + busy.body + "END:\n", grid: 8, block: 256},
		busy,
	},
	{
		"uneven-slices",
		kernel{body: loop(64, "ld.global.cg.u32 %r11, [%rd1];"), grid: 8, block: 512},
		kernel{body: loop(16, "ld.global.cg.u32 %r11, [%rd2];"), grid: 8, block: 512},
	},
	{
		// GPGPU-Sim's mapping for 3 channels sends twice as much to one of them.
		"uneven-channels",
		kernel{body: stream, grid: 16, block: 512, set: append(cold, "clocks.dram=200", "chip.channels=3")},
		kernel{body: stream, grid: 16, block: 512, set: append(cold, "clocks.dram=200")},
	},
}

const steps = `
[[steps]]
copy = { from = "host:k.toml", to = "data", bytes = 128 }
[[steps]]
launch = { kernel = "k", grid = [GRID, 1, 1], block = [BLOCK, 1, 1], args = [{ buffer = "data" }] }
`

func TestRules(t *testing.T) {
	for i, c := range cases {
		if i%4 != 0 && !alltests.On() {
			continue
		}
		t.Run(c.rule, func(t *testing.T) {
			found := func(k kernel) *report.Finding {
				r := k.run(t)
				for i := range r.Findings {
					if r.Findings[i].Rule == c.rule {
						return &r.Findings[i]
					}
				}
				var b strings.Builder
				for _, f := range r.Findings {
					fmt.Fprintf(&b, "%s %.0f %%: %s\n", f.Rule, 100*f.Share, f.Seen)
				}
				t.Logf("%v\n%v\n%s", r.Kernels[0].Stalls, r.Kernels[0].SlotStalls, b.String())
				return nil
			}
			if found(c.with) == nil {
				t.Error("is not found")
			}
			if f := found(c.not); f != nil {
				t.Errorf("is found where it is not: %.0f %%, %s", 100*f.Share, f.Seen)
			}
		})
	}
	for _, r := range findings.Rules() {
		if !slices.ContainsFunc(cases, func(c struct {
			rule      string
			with, not kernel
		}) bool {
			return c.rule == r.Name
		}) {
			t.Errorf("no kernel for %s", r.Name)
		}
	}
}

var update = flag.Bool("update", false, "rewrite docs/findings.md")

const preface = `# What costs time

A timing run ends with the causes that cost most: how much of the run at most, at which line, what was seen, and what may help. The JSON result has all of them as
[` + "`findings`" + `](results.md#the-result-as-json).

The cost is an upper bound. Schedulers issue nothing in a part of their cycles; this part is divided among the states in which warps wait, in proportion to the warps' cycles. So much would be saved if
one cause were gone and no other took its place, which others often do. A run without progress has no findings. A cause is reported from 3 % of a launch's cycles on. If a kernel is launched several times, the launch that the cause costs most
speaks for all, and the share is that of all; of the time in which several of them run, it is the mean.

[What the rules say of 52 examples](findings-examples.md) was checked by hand.

<!-- Generated by go test ./internal/report/findings -update -->

| finding | cause | what may help |
| --- | --- | --- |
`

const keplerPreface = `
## The Kepler-style core

Its fetch is in exactly one state in each cycle, so the cost of a state is its share of the cycles of all SMs. The cycles of the scoreboard are divided as the warps' waits for results are.

| finding | cause | what may help |
| --- | --- | --- |
`

// TestSourceLines: instructions of one line of the source count together in a finding.
func TestSourceLines(t *testing.T) {
	const rule = "dependent-instructions"
	var r *report.Run
	for _, c := range cases {
		if c.rule == rule {
			r = c.with.run(t)
		}
	}
	lines := func() []report.LineCost {
		for _, f := range findings.Of(r) {
			if f.Rule == rule {
				return f.Lines
			}
		}
		t.Fatal("is not found")
		return nil
	}
	alone := lines()
	if len(alone) < 2 || alone[0].Share > 0.9 {
		t.Fatalf("the kernel has one line: %+v", alone)
	}
	for i := range r.Kernels[0].Lines {
		x := &r.Kernels[0].Lines[i]
		x.SourceFile, x.SourceLine = "k.cu", 7
	}
	got := lines()
	if len(got) != 1 || got[0].Share != 1 || got[0].Line != alone[0].Line || got[0].SourceLine != 7 {
		t.Errorf("got %+v, want all at k.cu:7 and its heaviest instruction, of line %d", got, alone[0].Line)
	}
}

// What a launch that was cut short would have done does not depend on where it was cut.
func TestCut(t *testing.T) {
	found := func(grid int64, ended uint64) string {
		r := &report.Run{Mode: "timing", Timing: &report.Timing{SMs: 10, Cycles: 1000}, Kernels: []report.Kernel{{
			Name: "k", Grid: [3]int64{grid, 1, 1}, Block: [3]int64{32, 1, 1}, Blocks: ended, WarpInstructions: 100,
			KernelTiming: &report.KernelTiming{Cycles: 1000, BlocksPerSM: 2, Stalls: map[string]uint64{"selected": 100, "wait": 900}, SlotStalls: map[string]uint64{"wait": 900}},
		}}}
		for _, f := range findings.Of(r) {
			if f.Rule == "tail" || f.Rule == "small-grid" {
				return f.Rule + ": " + f.Seen
			}
		}
		return ""
	}
	for _, c := range []struct {
		name  string
		grid  int64
		ended uint64
		want  string
	}{
		{"a full round, one block over ended", 40, 21, ""},
		{"one block over, none ended", 21, 0, "tail: 21 blocks make 1.05 rounds of 20 that fit at once; the last one is filled to 5 %"},
		{"all ended", 21, 21, "tail: 21 blocks make 1.05 rounds of 20 that fit at once; the last one is filled to 5 %"},
		{"a large grid, few ended", 40, 3, ""},
		{"a small grid, none ended", 3, 0, "small-grid: 3 blocks for 10 SMs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := found(c.grid, c.ended); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Copies that go on at the same time take their time once.
func TestCopiesAtATime(t *testing.T) {
	at := func(n uint64) *uint64 { return &n }
	step := func(from, to uint64) report.Step {
		return report.Step{Kind: "copy", Bytes: 1024, StartCycle: at(from), EndCycle: at(to)}
	}
	r := &report.Run{Mode: "timing", Timing: &report.Timing{Cycles: 1000}, Steps: []report.Step{step(500, 900), step(0, 400), step(0, 300), step(100, 600)}}
	list := findings.Of(r)
	if len(list) != 1 || list[0].Share != 0.9 || list[0].Seen != "copies of 4 KiB take 900 cycles, 90 % of the time" {
		t.Errorf("%+v", list)
	}
}

// Launches at the same time cost the run their mean, those one after the other their sum.
func TestLaunchesAtATime(t *testing.T) {
	for _, c := range []struct {
		name        string
		second, all uint64 // start of the second launch, cycles of the run
		want        float64
	}{
		{"together", 0, 1000, 0.9},
		{"half", 500, 1500, 0.9},
		{"one after the other", 1000, 2000, 0.9},
		{"with time between", 2000, 3000, 0.6},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &report.Run{Mode: "timing", Timing: &report.Timing{SMs: 1, Cycles: c.all}}
			for i, start := range []uint64{0, c.second} {
				r.Kernels = append(r.Kernels, report.Kernel{
					Name: "k", Launch: i, Grid: [3]int64{1, 1, 1}, Block: [3]int64{32, 1, 1}, WarpInstructions: 100,
					KernelTiming: &report.KernelTiming{StartCycle: start, FirstBlockCycle: start, Cycles: 1000, Occupancy: 1, Stalls: map[string]uint64{"wait": 900}, SlotStalls: map[string]uint64{"wait": 900}},
				})
			}
			list := findings.Of(r)
			if len(list) != 1 || list[0].Launches != 2 || math.Abs(list[0].RunShare-c.want) > 1e-9 {
				t.Errorf("%+v, want a share of %g", list, c.want)
			}
		})
	}
}

// A busy unit is named by an instruction, and not by its guard.
func TestGuarded(t *testing.T) {
	for text, want := range map[string]string{"@!%p1 sin.approx.f32 %f1, %f2": "that of sin.approx.f32", "MUFU.SIN R1, R2": "that of MUFU.SIN", "ret": "that of ret"} {
		r := &report.Run{Mode: "timing", Timing: &report.Timing{SMs: 1, Cycles: 1000}, Kernels: []report.Kernel{{
			Name: "k", Grid: [3]int64{1, 1, 1}, Block: [3]int64{32, 1, 1}, WarpInstructions: 100,
			KernelTiming: &report.KernelTiming{
				Cycles: 1000, Occupancy: 1, Stalls: map[string]uint64{"math_pipe_throttle": 900}, SlotStalls: map[string]uint64{"math_pipe_throttle": 900},
				Lines: []report.Line{{Text: text, Stalls: map[string]uint64{"math_pipe_throttle": 900}}},
			},
		}}}
		if list := findings.Of(r); len(list) != 1 || !strings.HasSuffix(list[0].Seen, want) {
			t.Errorf("%s: %+v, want %q", text, list, want)
		}
	}
}

func TestDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(preface)
	rows := func(list []findings.Rule) {
		for _, r := range list {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.ReplaceAll(r.Name, "-", " "), r.Explain, r.Try)
		}
	}
	rows(findings.Rules())
	b.WriteString(keplerPreface)
	rows(findings.KeplerRules())
	const file = "../../../docs/findings.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != b.String() {
		t.Errorf("%s is not what the rules are (%v); -update rewrites it", file, err)
	}
}
