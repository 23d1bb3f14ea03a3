package whatif_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	model "github.com/heddle-sim/heddle/internal/report/whatif"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/whatif"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// cause is a kernel that is bound by one cause, on a small machine.
type cause struct {
	name     string // of the idealisation that must save most
	kernel   string
	blocks   int
	threads  int
	shared   int
	launches int      // 0: one
	set      []string // settings beyond those of small
	body     func() string
	want     func(thread uint32) uint32 // result of a thread
}

// small is a part of the rtx-a6000 that is quick to simulate, with nothing left to load
// when a kernel begins, except for what a kernel is about.
var small = []string{"chip.clusters=2", "chip.channels=2", "run.icache=warm", "run.launch_latency=0", "modern.perfect_icache=true", "modern.perfect_const=true"}

// words is the number of words of data.
const words = 1 << 17

// loop returns a kernel that repeats a text, with registers that it may use. %r4 is the
// thread in the grid and %r5 the result; %r6 counts.
func loop(times int, begin, text string) string {
	return fmt.Sprintf(`
	.reg .b64 %%rd<8>;
	.reg .b32 %%r<80>;
	.reg .f32 %%f<80>;
	.reg .f64 %%d<40>;
	.reg .pred %%p<8>;
	ld.param.u64 %%rd1, [out];
	mov.u32 %%r1, %%tid.x;
	mov.u32 %%r2, %%ctaid.x;
	mov.u32 %%r3, %%ntid.x;
	mad.lo.u32 %%r4, %%r2, %%r3, %%r1;
	mov.u32 %%r5, %%r4;
	mov.u32 %%r6, 0;
%s
L:
%s
	add.u32 %%r6, %%r6, 1;
	setp.lt.u32 %%p7, %%r6, %d;
	@%%p7 bra L;
	mul.wide.u32 %%rd4, %%r4, 4;
	add.u64 %%rd4, %%rd1, %%rd4;
	st.global.u32 [%%rd4], %%r5;
	ret;
`, begin, text, times)
}

// repeat repeats a text in which $ is replaced by a running number from a list.
func repeat(times int, text string, numbers ...int) string {
	var b strings.Builder
	for i := range times {
		b.WriteString(strings.ReplaceAll(text, "$", fmt.Sprint(numbers[i%len(numbers)])) + "\n")
	}
	return b.String()
}

// roam is code whose pieces of a line each run in an order far from that of their addresses.
func roam() string {
	const pieces, step = 509, 101 // prime to each other
	var b strings.Builder
	b.WriteString("\tbra.uni P0;\n")
	for i := range pieces {
		next := fmt.Sprintf("P%d", (i+step)%pieces)
		if (i+step)%pieces == 0 {
			next = "END"
		}
		fmt.Fprintf(&b, "P%d:\n%s\tbra.uni %s;\n", i, strings.Repeat("\tadd.u32 %r5, %r5, 1;\n", 7), next)
	}
	b.WriteString("END:\n")
	return b.String()
}

// sum adds up n results of f.
func sum(n int, f func(i uint32) uint32) (s uint32) {
	for i := range n {
		s += f(uint32(i))
	}
	return s
}

func same(t uint32) uint32 { return t }

// grown is the result of n times x·3 + 1.
func grown(x uint32, n int) uint32 {
	for range n {
		x = 3*x + 1
	}
	return x
}

var causes = []cause{
	{name: "l1", kernel: "reread", blocks: 8, threads: 128, want: func(t uint32) uint32 {
		return sum(128, func(i uint32) uint32 { return (1024*i + t) & 65535 })
	}},
	{name: "l2", kernel: "once", blocks: 16, threads: 256, set: []string{"run.copies_fill_l2=false"}, want: once},
	// Without an L2, misses of which are otherwise the larger cause.
	{name: "dram_bandwidth", kernel: "once", blocks: 16, threads: 256, set: []string{"l2.enabled=false"}, want: once},
	{name: "dram_latency", kernel: "chase", blocks: 1, threads: 32, set: []string{"l2.enabled=false"}, want: func(uint32) uint32 {
		x := uint32(0)
		for range 64 {
			x = (x + 12345) & (words - 1)
		}
		return x
	}},
	{name: "network", kernel: "same", blocks: 16, threads: 256, set: []string{"noc.kind=mesh", "noc.flit_bytes=8"}, want: few},
	// Loads that hit the L2, of which an SM may have two pending.
	{name: "mshrs", kernel: "same", blocks: 16, threads: 256, set: []string{"modern.prt=2"}, want: few},
	{name: "shared_banks", kernel: "onebank", blocks: 8, threads: 256, want: func(t uint32) uint32 { return t % 32 * 64 }},
	{name: "coalescing", kernel: "apart", blocks: 24, threads: 128, want: func(t uint32) uint32 {
		return sum(128, func(i uint32) uint32 { return i%32 + 32*(t%128) })
	}},
	{name: "icache", kernel: "roam", blocks: 1, threads: 32, set: []string{"modern.perfect_icache=false"},
		body: func() string { return loop(4, "", roam()) }, want: func(t uint32) uint32 { return t + 4*509*7 }},
	{name: "const", kernel: "consts", blocks: 2, threads: 64, set: []string{"modern.perfect_const=false"}, want: same},
	{name: "register_ports", kernel: "ports", blocks: 8, threads: 512,
		body: func() string {
			return loop(32, "", repeat(16, "\tfma.rn.f32 %f$, %f60, %f62, %f64;", 10, 12, 14, 16, 18, 20, 22, 24))
		}, want: same},
	{name: "occupancy", kernel: "chain", blocks: 24, threads: 32, shared: 90_000, want: func(t uint32) uint32 { return grown(t, 256) }},
	{name: "launch_latency", kernel: "short", blocks: 2, threads: 64, launches: 8, set: []string{"run.launch_latency=2000"}, want: same},
	{name: "divergence", kernel: "ways", blocks: 4, threads: 128,
		body: func() string { return loop(32, "", ways(8, 24)) }, want: func(t uint32) uint32 { return t + 32*24 }},
	{name: "issue_width", kernel: "mix", blocks: 8, threads: 512,
		body: func() string {
			return loop(32, "", repeat(16, "\tadd.f32 %f$, %f60, 0f3F800000;\n\txor.b32 %r$, %r60, 3;\n\tsetp.ne.u32 %p2, %r61, 3;", 10, 12, 14, 16, 18, 20, 22, 24))
		}, want: same},
	{name: "double.fp64", kernel: "fp64", blocks: 4, threads: 256,
		body: func() string {
			return loop(16, "", repeat(8, "\tfma.rn.f64 %d$, %d30, %d31, %d32;", 10, 12, 14, 16))
		}, want: same},
	{name: "double.sfu", kernel: "sfu", blocks: 4, threads: 512,
		body: func() string {
			return loop(32, "", repeat(16, "\tsin.approx.f32 %f$, %f30;", 10, 12, 14, 16, 18, 20, 22, 24))
		}, want: same},
}

func once(t uint32) uint32 {
	return sum(32, func(i uint32) uint32 { return 4096*i + t })
}

func few(t uint32) uint32 {
	return sum(64, func(i uint32) uint32 { return (256*i + t) & 16383 })
}

// ways is a switch by the lane with n cases of equal length.
func ways(n, length int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\tand.b32 %%r7, %%r1, %d;\n", n-1)
	for i := range n - 1 {
		fmt.Fprintf(&b, "\tsetp.eq.u32 %%p1, %%r7, %d;\n\t@%%p1 bra W%d;\n", i, i)
	}
	fmt.Fprintf(&b, "\tbra.uni W%d;\n", n-1)
	for i := range n {
		fmt.Fprintf(&b, "W%d:\n%s\tbra.uni END;\n", i, strings.Repeat("\tadd.u32 %r5, %r5, 1;\n", length))
	}
	b.WriteString("END:\n")
	return b.String()
}

// jobOf writes the job of a cause, and its program if that is not among those of the file.
func jobOf(t *testing.T, c *cause) string {
	t.Helper()
	dir := t.TempDir()
	program, err := os.ReadFile("testdata/causes.ptx")
	if err != nil {
		t.Fatal(err)
	}
	if c.body != nil {
		program = fmt.Appendf(program, ".visible .entry %s(.param .u64 out, .param .u64 data)\n{%s}\n", c.kernel, c.body())
	}
	n := c.blocks * c.threads
	var b strings.Builder
	fmt.Fprintf(&b, "program = \"causes.ptx\"\n[buffers.out]\ntype = \"u32\"\ncount = %d\n[buffers.data]\ntype = \"u32\"\ncount = %d\ninit = \"iota\"\n", n, words)
	for range max(1, c.launches) {
		fmt.Fprintf(&b, "[[launches]]\nkernel = %q\ngrid = [%d]\nblock = [%d]\nshared = %d\nargs = [{ buffer = \"out\" }, { buffer = \"data\" }]\n", c.kernel, c.blocks, c.threads, c.shared)
	}
	b.WriteString("[[checks]]\nbuffer = \"out\"\nvalues = [")
	for i := range n {
		fmt.Fprintf(&b, "%d,", c.want(uint32(i)))
	}
	b.WriteString("]\n")
	for name, text := range map[string]string{"causes.ptx": string(program), "job.toml": b.String()} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir + "/job.toml"
}

// explore asks about a job on a machine.
func explore(t *testing.T, file, gpu string, set, only []string) *model.Result {
	t.Helper()
	options := func(set []string) run.Options {
		o := run.Options{Timing: true, GPU: gpu, Threads: 1}
		for _, s := range set {
			if err := o.Settings.Set(s); err != nil {
				t.Error(err)
			}
		}
		return o
	}
	base := options(set)
	ready, err := job.Load(file, base)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := base.Settings.GPUOf(ready.Job.Machine(base))
	if err != nil {
		t.Fatal(err)
	}
	res, err := whatif.Explore(context.Background(), whatif.Options{
		Input: file, Machine: machine, Workers: 2, Only: only,
		Run: func(ctx context.Context, more []string) (*report.Run, string, error) {
			o := options(slices.Concat(set, more))
			ready, err := job.Load(file, o)
			if err != nil {
				return nil, "", err
			}
			res, err := ready.Run(ctx, o)
			return res, "", err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestLargestSavingNamesTheCause runs kernels that are each bound by one cause on all
// idealised machines: the largest saving names that cause, and all values stay right.
//
// With -update it writes the document's table of them.
func TestLargestSavingNamesTheCause(t *testing.T) {
	var table strings.Builder
	table.WriteString("| kernel | machine | largest | second | third |\n| --- | --- | --- | --- | --- |\n")
	all := alltests.On() || *update
	for i, c := range causes {
		if i != 0 && !all {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			res := explore(t, jobOf(t, &c), "rtx-a6000", slices.Concat(small, c.set), nil)
			var rows []string
			for _, x := range res.Ideals {
				if x.Error != "" || !x.SameOutput {
					t.Errorf("%s: %s, same output: %v", x.Name, x.Error, x.SameOutput)
				}
				rows = append(rows, fmt.Sprintf("%s %.1f %%", x.Name, x.SavedPercent))
			}
			t.Logf("%d cycles: %s", res.Cycles, strings.Join(rows[:5], ", "))
			machine := "–"
			if len(c.set) > 0 {
				machine = "`" + strings.Join(c.set, "`, `") + "`"
			}
			fmt.Fprintf(&table, "| %s | %s | %s |\n", c.kernel, machine, strings.Join(rows[:3], " | "))
			if top := res.Ideals[0]; top.Name != c.name || top.SavedPercent < 10 {
				t.Errorf("the largest saving is that of %s, %.1f %%", top.Name, top.SavedPercent)
			}
			if res.Checks != 1 {
				t.Errorf("%d checks of values, want 1", res.Checks)
			}
		})
	}
	if *update && !t.Failed() {
		write(t, "causes", table.String())
	}
}

// TestIdealRunsAreReproducible checks that with all idealisations at once, workers and skipped
// cycles change nothing, and values stay right.
func TestIdealRunsAreReproducible(t *testing.T) {
	alltests.Only(t, "ideal runs again and with two workers")
	for _, gpu := range []string{"rtx-a6000", "rtx-3070", "gtx-480"} {
		for _, name := range []string{"l1", "coalescing", "divergence"} {
			c := causes[slices.IndexFunc(causes, func(c cause) bool { return c.name == name })]
			t.Run(gpu+" "+c.kernel, func(t *testing.T) {
				file := jobOf(t, &c)
				machine, err := (&run.Settings{}).GPUOf(gpu)
				if err != nil {
					t.Fatal(err)
				}
				set := []string{"chip.clusters=4", "chip.channels=2"}
				for _, x := range machine.Idealisations() {
					set = append(set, x.Key+"=true")
				}
				var first uint64
				for i, o := range []run.Options{{Threads: 1}, {Threads: 3}, {Threads: 1}} {
					o.Timing, o.GPU = true, gpu
					for _, s := range append(slices.Clone(set), fmt.Sprintf("run.idle_skip=%v", i < 2)) {
						if err := o.Settings.Set(s); err != nil {
							t.Fatal(err)
						}
					}
					ready, err := job.Load(file, o)
					if err != nil {
						t.Fatal(err)
					}
					res, err := ready.Run(context.Background(), o)
					if err != nil || !res.OK {
						t.Fatalf("run %d: %v, values right: %v", i, err, res.OK)
					}
					if first == 0 {
						first = res.Cycles
					}
					if res.Cycles != first {
						t.Errorf("run %d takes %d cycles, the first %d", i, res.Cycles, first)
					}
				}
			})
		}
	}
}
