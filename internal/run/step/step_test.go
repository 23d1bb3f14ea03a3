package step_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/step"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// program has a kernel with a loop, divergence, a barrier, memory and printing,
// and a second one.
const program = `.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[10] = {98, 108, 111, 99, 107, 32, 37, 117, 10, 0};
.visible .entry first(.param .u64 out)
{
 .local .align 8 .b8 args[8];
 .reg .b64 %rd<8>;
 .reg .u32 %r<8>;
 .reg .f32 %f<2>;
 .reg .pred %p<3>;
 .shared .align 4 .b8 s[256];
 ld.param.u64 %rd1, [out];
 mov.u32 %r1, %tid.x;
 mov.u32 %r2, %ctaid.x;
 mad.lo.u32 %r3, %r2, 64, %r1;
 cvt.rn.f32.u32 %f1, %r1;
 mov.u32 %r4, 0;
LOOP:
 add.u32 %r4, %r4, 1;
 setp.lt.u32 %p1, %r4, 5;
 @%p1 bra LOOP;
 setp.lt.u32 %p2, %r1, 40;
 @%p2 bra SMALL;
 add.u32 %r4, %r4, 100;
SMALL:
 shl.b32 %r5, %r1, 2;
 cvt.u64.u32 %rd2, %r5;
 mov.u64 %rd3, s;
 add.u64 %rd3, %rd3, %rd2;
 st.shared.u32 [%rd3], %r4;
 bar.sync 0;
 mul.wide.u32 %rd4, %r3, 4;
 add.u64 %rd5, %rd1, %rd4;
 ld.global.u32 %r6, [%rd5];
 add.u32 %r6, %r6, %r4;
 st.global.u32 [%rd5], %r6;
 setp.ne.u32 %p1, %r1, 0;
 @%p1 bra DONE;
 mov.u64 %rd6, args;
 cvta.local.u64 %rd6, %rd6;
 st.u32 [%rd6], %r2;
 mov.u64 %rd7, text;
 cvta.global.u64 %rd7, %rd7;
 {
 .param .b64 a;
 .param .b64 b;
 .param .b32 c;
 st.param.b64 [a], %rd7;
 st.param.b64 [b], %rd6;
 call (c), vprintf, (a, b);
 }
DONE:
 exit;
}
.visible .entry second(.param .u64 out)
{
 .reg .b64 %rd<3>;
 .reg .b32 %r<4>;
 ld.param.u64 %rd1, [out];
 atom.global.add.u32 %r1, [%rd1], 1;
 exit;
}
`

const steps = `program = "p.ptx"
[buffers.out]
type = "u32"
count = 512
init = "iota"
[[launches]]
kernel = "first"
grid = 8
block = 64
args = [{ buffer = "out" }]
[[launches]]
kernel = "second"
grid = 2
block = 32
args = [{ buffer = "out" }]
`

// write makes the job and returns its name.
func write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"p.ptx": program, "job.toml": steps} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "job.toml")
}

func options(t testing.TB) job.Options {
	t.Helper()
	o := job.Options{GPU: "rtx-2060", Timing: true, MaxInsts: 100_000}
	for _, s := range []string{"run.launch_latency=20", "run.copies_fill_l2=false"} {
		if err := o.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// walk runs a job with commands and returns what was printed, the result of the
// last run, and its error.
func walk(t testing.TB, file, script string) (string, *report.Run, error) {
	t.Helper()
	ready, err := job.Load(file, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := step.New(context.Background(), strings.NewReader(script), &out, false)
	o := options(t)
	o.Out = s.Output(&out)
	var res *report.Run
	err = s.Run(func(inside func(*run.Inside) func() error) error {
		o.Inside = inside
		var err error
		res, err = ready.Run(context.Background(), o)
		return err
	})
	return out.String(), res, err
}

// answers splits a transcript into what was printed for each command.
func answers(out string) []string {
	parts := strings.Split("\n"+out, "\n> ")
	for i, p := range parts[1:] {
		_, parts[i], _ = strings.Cut(p, "\n")
	}
	return parts[:len(parts)-1]
}

var cycleOf = regexp.MustCompile(`(?m)^cycle (\d+):`)

// cycle returns the last cycle that an answer names.
func cycle(t *testing.T, answer string) string {
	t.Helper()
	m := cycleOf.FindAllStringSubmatch(answer, -1)
	if len(m) == 0 {
		t.Fatalf("no cycle in %q", answer)
	}
	return m[len(m)-1][1]
}

// look prints everything there is.
const look = "warp 0.1; where; warps; warps 0; warp 0.0; regs; regs 0.1; regs 0.1 7; queues; caches; mem out 64\n"

// TestBack goes forward and back in many ways, and compares all that is printed
// with what was printed there the first time.
func TestBack(t *testing.T) {
	file := write(t)
	n := strings.Count(look, ";") + 1
	for _, at := range []int{1, 25, 60, 131, 250, 400} {
		there := fmt.Sprintf("until cycle %d\n", at)
		script := there + look + // 0: as it is
			"step 37\nback 37\n" + look + // 1: forward and back
			"back\nstep\n" + look + // 2: back and forward
			fmt.Sprintf("back %d\nstep %d\n", at, at) + look + // 3: from the start
			"run\nback 0\n" + "back 1\nquit\n"
		out, _, err := walk(t, file, script)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cycle %d: quit gave %v", at, err)
		}
		a := answers(out)
		first := a[1 : 1+n]
		if !strings.Contains(first[1], fmt.Sprintf("cycle %d:", at)) {
			t.Fatalf("cycle %d: where says %q", at, first[1])
		}
		for k := 1; k < 4; k++ {
			from := 1 + n + (k-1)*(n+2) + 2
			for i, want := range first {
				if got := a[from+i]; got != want {
					t.Errorf("cycle %d, way %d, command %d: printed\n%s\nthe first time\n%s", at, k, i, got, want)
				}
			}
		}
		// From the end, no cycle back is the last one.
		end := a[len(a)-4:]
		if !strings.Contains(end[0], "the run has ended") || cycle(t, end[0]) != cycle(t, end[1]) {
			t.Errorf("cycle %d: at the end %q, then %q", at, end[0], end[1])
		}
		var last, before int
		fmt.Sscan(cycle(t, end[1]), &last)
		fmt.Sscan(cycle(t, end[2]), &before)
		if before != last-1 {
			t.Errorf("one back from cycle %d is %d", last, before)
		}
		// What the kernels print is there once, however often they run.
		for b := range 8 {
			if n := strings.Count(out, fmt.Sprintf("block %d\n", b)); n != 1 {
				t.Errorf("cycle %d: block %d has printed %d times", at, b, n)
			}
		}
	}
}

// TestSteps compares walking cycle by cycle with going there at once.
func TestSteps(t *testing.T) {
	file := write(t)
	slow, _, _ := walk(t, file, strings.Repeat("step\n", 150)+look)
	fast, _, _ := walk(t, file, "until cycle 150\n"+look)
	a, b := answers(slow), answers(fast)
	n := strings.Count(look, ";") + 1
	if got, want := strings.Join(a[150:], "\n"), strings.Join(b[1:], "\n"); got != want || len(b) != n+1 {
		t.Errorf("cycle by cycle:\n%s\nat once:\n%s", got, want)
	}
	for i, x := range a[:150] {
		if got, want := cycle(t, x), fmt.Sprint(i+1); got != want {
			t.Fatalf("step %d led to cycle %s", i+1, got)
		}
	}
}

// TestSameResult compares the result of a run that was walked through with one
// that was not.
func TestSameResult(t *testing.T) {
	file := write(t)
	ready, err := job.Load(file, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	o := options(t)
	o.Out = &printed
	want, err := ready.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	out, got, err := walk(t, file, "step 30\n"+look+"stepi 4\nuntil pc 20\n"+look+"back 33\nuntil block 1\nuntil line 31\nrun\nquit\n")
	if err == nil {
		err = same(got, want)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n := strings.Count(printed.String(), "block"); n != 8 {
		t.Errorf("the plain run printed %q", printed.String())
	}
}

func same(a, b *report.Run) error {
	text := func(r *report.Run) string {
		c := *r
		c.Seconds = 0
		b, err := json.Marshal(&c)
		if err != nil {
			return err.Error()
		}
		return string(b)
	}
	if x, y := text(a), text(b); x != y {
		return fmt.Errorf("another result:\n%s\nwant\n%s", x, y)
	}
	return nil
}

// arrivals finds, cycle by cycle, when a warp first stands at an instruction,
// and when a block is first resident.
func arrivals(t *testing.T, file string) (pc map[string]uint64, block map[uint64]uint64) {
	t.Helper()
	ready, err := job.Load(file, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pc, block = map[string]uint64{}, map[uint64]uint64{}
	o := options(t)
	if err := o.Settings.Set("run.idle_skip=false"); err != nil {
		t.Fatal(err)
	}
	o.Out = io.Discard
	o.Inside = func(in *run.Inside) func() error {
		return func() error {
			g := in.Chip
			for sm := range g.Config().SMs() {
				for _, b := range g.Core(sm).ResidentBlocks() {
					if _, ok := block[b.Block.Linear()]; !ok {
						block[b.Block.Linear()] = g.Now()
					}
				}
				for _, v := range g.Core(sm).Views() {
					if v.At < 0 {
						continue
					}
					w := gpu.Source(v.Work, v.At)
					for _, key := range []string{fmt.Sprint(w.Function, ":", w.PC), fmt.Sprint("line ", w.Pos.Line)} {
						if _, ok := pc[key]; !ok {
							pc[key] = g.Now()
						}
					}
				}
			}
			return nil
		}
	}
	if _, err := ready.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	return pc, block
}

// TestUntil compares where until stops with where a look at every cycle finds
// the first warp, or the block.
func TestUntil(t *testing.T) {
	file := write(t)
	pc, block := arrivals(t, file)
	for _, c := range []struct {
		until string
		want  uint64
	}{
		{"pc 5", pc["first:5"]}, {"pc 9", pc["first:9"]}, {"pc first:18", pc["first:18"]}, {"pc second:1", pc["second:1"]},
		{"line 25", pc["line 25"]}, {"line p.ptx:36", pc["line 36"]}, {"line 62", pc["line 62"]},
		{"block 0", block[0]}, {"block 7", block[7]}, {"block 3,0,0", block[3]},
	} {
		out, _, _ := walk(t, file, "until "+c.until+"\n")
		if c.want == 0 {
			t.Fatalf("%s: never seen", c.until)
		}
		if got := cycle(t, answers(out)[0]); got != fmt.Sprint(c.want) {
			t.Errorf("until %s stops at cycle %s, want %d\n%s", c.until, got, c.want, out)
		}
	}
	// A loop's instruction stops once for every arrival of a warp: 16 warps of
	// five rounds each, some of which come in the same cycle.
	out, _, _ := walk(t, file, strings.Repeat("until pc 6\n", 90))
	stops := strings.Count(out, "has reached pc 6")
	if stops < 5 || stops > 80 {
		t.Errorf("%d stops in a loop of five rounds by 16 warps", stops)
	}
	if !strings.Contains(out, "the run ended before this goal: until pc 6") {
		t.Errorf("the run does not end:\n%s", out)
	}
	// The end of each kernel.
	out, _, _ = walk(t, file, "until end\nuntil end\nrun\n")
	a := answers(out)
	if !strings.Contains(a[0], "the last block of kernel first has ended") || !strings.Contains(a[1], "the last block of kernel second has ended") || !strings.Contains(a[2], "the run has ended") {
		t.Errorf("until end:\n%s", out)
	}
}

// TestCommandsOnALine goes on in the middle of a line.
func TestCommandsOnALine(t *testing.T) {
	out, _, _ := walk(t, write(t), "step 3; step 4; back; where # and no more; step\n")
	a := answers(out)
	if len(a) != 4 || cycle(t, a[0]) != "3" || cycle(t, a[1]) != "7" || cycle(t, a[2]) != "6" || cycle(t, a[3]) != "6" {
		t.Errorf("got:\n%s", out)
	}
}

// TestStepi counts instructions.
func TestStepi(t *testing.T) {
	out, _, _ := walk(t, write(t), "until pc 0\nwarp 0.0\nstepi\nwarp\nstepi 3\nwarp\nstepi 1000 0.0\nwarps 0\n")
	a := answers(out)
	for i, n := range map[int]int{1: 0, 3: 1, 5: 4} {
		if want := fmt.Sprintf("%d instruction", n); !strings.Contains(a[i], want) {
			t.Errorf("answer %d has no %q:\n%s", i, want, a[i])
		}
	}
	if !strings.Contains(a[2], "warp 0.0 has issued pc 0 ld.param.u64") || !strings.Contains(a[4], "warp 0.0 has issued pc 3 mad.lo.u32") || !strings.Contains(a[6], "warp 0.0 has ended") {
		t.Errorf("stepi:\n%s", out)
	}
}

// TestPrints checks what there is to see against what the program does.
func TestPrints(t *testing.T) {
	out, _, _ := walk(t, write(t), "until pc 17\nregs 0.0 %r1 %r4 %f1 %p2\nregs 0.1 %r4\nregs 0.1 9 %r1 %r4\nmem out 3\nmem out+8 2 x\nmem out+8 2 s16\nrun\nmem out 42\nmem out+160 2 u32\n")
	a := answers(out)
	for i, want := range map[int][]string{
		1: {"0-31: 0 to 31 by 1", "0-31: 5\n", "0: 0 (0x00000000)   1: 1 (0x3f800000)", "holds in ffffffff"},
		2: {"0-7: 5   8-31: 105"},
		3: {"function first, lane 9", "%r1  .u32  41", "%r4  .u32  105"},
		4: {": 0 1 2"},
		5: {`unknown type "x"`},
		6: {": 2 0"},
		// The first kernel adds 5, from thread 40 on 105; the second 64 to out[0].
		8: {": 69 6 7 8 9"},
		9: {" 145 146"},
	} {
		for _, w := range want {
			if !strings.Contains(a[i], w) {
				t.Errorf("answer %d has no %q:\n%s", i, w, a[i])
			}
		}
	}
}

// TestMistakes checks that wrong commands are explained and change nothing.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"setp", `unknown command "setp"; did you mean "step"?`},
		{"frobnicate", "help lists them"},
		{"wh", ""}, {"u", "until needs a goal"}, {"war", `"war" may be warps or warp`},
		{"step x", `"x" is not a number`}, {"step -1", "not a number"}, {"step 1 2", `unexpected "2"`},
		{"stepi 1 99.0", "no SM 99; the SMs are 0 to 29"}, {"stepi 0.31", "no warp 0.31"}, {"stepi 1 0.32", "slots 0 to 31"},
		{"stepi 1 2 3", "unexpected"}, {"warp a.b", `"a.b" is not a warp`},
		{"until", "until needs a goal"}, {"until moon 3", "until needs a goal"}, {"until cycle", "takes one value"}, {"until cycle 1", "this is already cycle 40; back 39"},
		{"until cycle 99999999999999999999", "not a number"},
		{"until pc 99", "first has 0 to "}, {"until pc nobody:1", "no kernel has a function nobody"}, {"until pc x", "not an instruction"},
		{"until line 1", "the nearest is on line 14"}, {"until line q.cu:3", `no instruction of any kernel comes from a file "q.cu"`}, {"until line", "takes one value"},
		{"until block 8", "block 8 is not waiting to be placed; the largest grid has blocks 0 to 7"}, {"until block 1,2,3,4", "not a block"}, {"until block -1", "not a block"},
		{"until end 3", "unexpected"}, {"run 5", "unexpected"},
		{"back 41", "this is cycle 40; fewer than 41 precede it"}, {"back x", "not a number"},
		{"warps 30", "no SM 30"}, {"warps x", "not the number of an SM"}, {"queues 1 2", "unexpected"}, {"caches -1", "no SM -1"},
		{"regs 0.0 32", "from 0 to 31"}, {"regs 0.0 1 2", "single lane"}, {"regs 0.0 %r9", "no register \"%r9\"; did you mean %r"}, {"regs 0.30", "no warp 0.30"},
		{"mem", "mem needs an address"}, {"mem nowhere", "the buffers are out"}, {"mem 0x10", "0x10"}, {"mem out+x", "not a number of bytes"},
		{"mem out 5000", "exceed the limit of 4096"}, {"mem out 8 u32 9", "unexpected"}, {"mem out+2047 1", ""}, {"help me", "unexpected"}, {"where now", "unexpected"},
		{"# a comment", ""}, {" ; ;", ""},
	} {
		out, _, _ := walk(t, write(t), "until cycle 40\n"+c.command+"\nwhere\n")
		a := answers(out)
		if c.want != "" && (len(a) != 3 || !strings.HasPrefix(a[1], "error: ") || !strings.Contains(a[1], c.want)) {
			t.Errorf("%q: %q, want an error with %q", c.command, a[1], c.want)
		}
		if got := cycle(t, a[len(a)-1]); got != "40" {
			t.Errorf("%q led to cycle %s", c.command, got)
		}
	}
}

// TestAfterFault looks into a run that has ended badly.
func TestAfterFault(t *testing.T) {
	dir := t.TempDir()
	text := ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry bad()\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\nmov.u64 %rd1, 16;\nld.global.u32 %r1, [%rd1];\nexit;\n}\n.visible .entry hang()\n{\nbar.sync 0, 64;\nexit;\n}\n"
	for name, s := range map[string]string{
		"bad.ptx":   text,
		"bad.toml":  "program = \"bad.ptx\"\n[[launches]]\nkernel = \"bad\"\ngrid = 1\nblock = 32\nargs = []\n",
		"hang.toml": "program = \"bad.ptx\"\n[[launches]]\nkernel = \"hang\"\ngrid = 1\nblock = 32\nargs = []\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out, _, err := walk(t, filepath.Join(dir, "bad.toml"), "run\nwarps\nregs 0.0 %rd1\nstep\nback 1\nwarps\nrun\nquit\n")
	var fault *exec.Fault
	if !errors.As(err, &fault) {
		t.Errorf("got %v, want a fault", err)
	}
	a := answers(out)
	if !strings.Contains(a[0], "the run has ended: null-pointer read") || !strings.Contains(a[2], "0x0000000000000010") || !strings.Contains(a[3], "error: the run has ended; back") ||
		!strings.Contains(a[5], "pc 1 ld.global.u32 (bad.ptx:9)") {
		t.Errorf("after a fault:\n%s", out)
	}
	out, _, err = walk(t, filepath.Join(dir, "hang.toml"), "run\nwarp 0.0\nquit\n")
	var stuck *exec.StuckError
	if !errors.As(err, &stuck) {
		t.Errorf("got %v, want a StuckError", err)
	}
	if a := answers(out); !strings.Contains(a[1], "barrier 0, where 32 of 64 threads have arrived") {
		t.Errorf("after a run without progress:\n%s", out)
	}
}

// TestCancel interrupts a session that waits for a command.
func TestCancel(t *testing.T) {
	ready, err := job.Load(write(t), job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	in, w := io.Pipe()
	defer w.Close()
	s := step.New(ctx, in, io.Discard, true)
	o := options(t)
	go func() {
		fmt.Fprintln(w, "step 10")
		cancel()
	}()
	err = s.Run(func(inside func(*run.Inside) func() error) error {
		o.Inside = inside
		_, err := ready.Run(ctx, o)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// FuzzCommands feeds command lines: nothing may panic or hang.
func FuzzCommands(f *testing.F) {
	for _, s := range []string{look, "step 3\nback 2\nuntil pc 4\nrun\nback 5", "until line 30;until block 2;stepi 2 0.1", "mem out+4 2 f64", "help\nquit"} {
		f.Add(s)
	}
	file := write(f)
	f.Fuzz(func(t *testing.T, script string) {
		if len(script) > 200 || strings.Count(script, "b") > 6 { // going back takes its time
			return
		}
		walk(t, file, script)
	})
}
