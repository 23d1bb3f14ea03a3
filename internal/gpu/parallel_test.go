package gpu_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/mem/part"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// together lets n goroutines run at a time, whatever the host's cores, and makes
// chips call their workers in every cycle.
func together(t testing.TB, n int) {
	old := runtime.GOMAXPROCS(max(n, runtime.GOMAXPROCS(0)))
	end := gpu.AlwaysTogether()
	t.Cleanup(func() {
		runtime.GOMAXPROCS(old)
		end()
	})
}

// racePTX has all threads of all blocks load, store and count in the same few
// words, take memory from the device heap and give some back, and print.
const racePTX = `.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.global .align 1 .b8 text[] = {37, 117, 32, 37, 117, 10, 0};
.const .align 4 .b32 primes[4] = {3, 5, 7, 11};
// words: 16 words that all threads write; count: one; order, seen, heap: one or
// eight entries for each thread and round.
.visible .entry race(.param .u64 words, .param .u64 count, .param .u64 order, .param .u64 seen, .param .u64 heap)
{
 .reg .b64 %rd<24>;
 .reg .b32 %r<24>;
 .reg .pred %p<4>;
 .shared .align 4 .b32 mine[64];
 .local .align 8 .b8 args[8];
 ld.param.u64 %rd1, [words];
 ld.param.u64 %rd2, [count];
 ld.param.u64 %rd3, [order];
 ld.param.u64 %rd4, [seen];
 ld.param.u64 %rd5, [heap];
 mov.u32 %r1, %ctaid.x;
 mov.u32 %r2, %tid.x;
 mad.lo.u32 %r3, %r1, 64, %r2;
 mov.u32 %r4, 0;
LOOP:
 mad.lo.u32 %r5, %r4, 13, %r3;
 and.b32 %r5, %r5, 15;
 mul.wide.u32 %rd6, %r5, 4;
 add.u64 %rd6, %rd1, %rd6;
 ld.global.u32 %r6, [%rd6];
 and.b32 %r7, %r4, 3;
 mul.wide.u32 %rd7, %r7, 4;
 mov.u64 %rd8, primes;
 add.u64 %rd8, %rd8, %rd7;
 ld.const.u32 %r8, [%rd8];
 mad.lo.u32 %r9, %r6, %r8, %r3;
 add.u32 %r10, %r5, %r4;
 and.b32 %r10, %r10, 15;
 mul.wide.u32 %rd9, %r10, 4;
 add.u64 %rd9, %rd1, %rd9;
 st.global.u32 [%rd9], %r9;
 atom.global.add.u32 %r11, [%rd2], 1;
 mul.wide.u32 %rd10, %r11, 4;
 add.u64 %rd10, %rd3, %rd10;
 st.global.u32 [%rd10], %r3;
 mad.lo.u32 %r12, %r3, 8, %r4;
 mul.wide.u32 %rd11, %r12, 4;
 add.u64 %rd11, %rd4, %rd11;
 st.u32 [%rd11], %r9;
 mul.wide.u32 %rd12, %r2, 4;
 mov.u64 %rd13, mine;
 add.u64 %rd13, %rd13, %rd12;
 st.shared.u32 [%rd13], %r9;
 add.u32 %r4, %r4, 1;
 setp.lt.u32 %p1, %r4, 8;
 @%p1 bra LOOP;
 and.b32 %r13, %r2, 15;
 setp.ne.u32 %p2, %r13, 3;
 @%p2 bra END;
 add.u32 %r14, %r1, 16;
 cvt.u64.u32 %rd14, %r14;
 {
 .param .b64 n;
 st.param.b64 [n], %rd14;
 .param .b64 p;
 call.uni (p), malloc, (n);
 ld.param.b64 %rd15, [p];
 }
 st.u32 [%rd15], %r3;
 mul.wide.u32 %rd16, %r3, 8;
 add.u64 %rd16, %rd5, %rd16;
 st.global.u64 [%rd16], %rd15;
 st.local.u32 [args], %r3;
 st.local.u32 [args+4], %r11;
 mov.u64 %rd17, text;
 cvta.global.u64 %rd17, %rd17;
 mov.u64 %rd18, args;
 cvta.local.u64 %rd18, %rd18;
 {
 .param .b64 f;
 st.param.b64 [f], %rd17;
 .param .b64 a;
 st.param.b64 [a], %rd18;
 .param .b32 n;
 call.uni (n), vprintf, (f, a);
 }
 and.b32 %r15, %r2, 16;
 setp.eq.u32 %p3, %r15, 0;
 @%p3 bra END;
 {
 .param .b64 p;
 st.param.b64 [p], %rd15;
 call.uni free, (p);
 }
END:
 ret;
}
`

const raceBlocks = 40

// outcome is everything that a run produces.
type outcome struct {
	words, order, seen, heap []byte
	printed                  string
	counters                 gpu.Counters
	end                      uint64
	log                      []gpu.Record
	err                      string
}

// linked makes a machine for a program.
func linked(t testing.TB, text string) (*xptx.Program, *xptx.Machine, *device.Memory) {
	t.Helper()
	mod, err := ptx.Parse("test.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	prog, err := xptx.Link(mod)
	if err != nil {
		t.Fatal(err)
	}
	mem := device.New(device.Config{})
	m, err := xptx.NewMachine(prog, mem)
	if err != nil {
		t.Fatal(err)
	}
	return prog, m, mem
}

// loadOn makes a chip and adds a launch of the only kernel of a program.
func loadOn(t testing.TB, cfg gpu.Config, text string, grid, block uint32, params func(*device.Memory) []byte, out *bytes.Buffer) (*gpu.GPU, *device.Memory) {
	t.Helper()
	chip, err := gpu.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	prog, m, mem := linked(t, text)
	l := xptx.Launch{
		Kernel: prog.Kernels()[0], Grid: exec.Dim3{X: grid, Y: 1, Z: 1}, Block: exec.Dim3{X: block, Y: 1, Z: 1}, Params: params(mem),
	}
	op := &gpu.Op{Kind: gpu.OpLaunch, Make: func(bool) (exec.Work, error) {
		if out == nil {
			return m.NewWork(l, nil)
		}
		return m.NewWork(l, out)
	}}
	if err := chip.Add(op); err != nil {
		t.Fatal(err)
	}
	return chip, mem
}

// buffers allocates memory and returns the parameters that point to it.
func buffers(t testing.TB, sizes ...uint64) (func(*device.Memory) []byte, *[]uint64) {
	var addrs []uint64
	return func(mem *device.Memory) []byte {
		var p []byte
		for i, n := range sizes {
			a, err := mem.Alloc(n, fmt.Sprint("buffer ", i))
			if err != nil {
				t.Fatal(err)
			}
			addrs = append(addrs, a)
			p = binary.LittleEndian.AppendUint64(p, a)
		}
		return p
	}, &addrs
}

// race runs the racing kernel. change, if not nil, changes the chip.
func race(t testing.TB, name string, threads int, logged bool, change func(*gpu.Config)) outcome {
	t.Helper()
	const n = raceBlocks * 64
	c, err := config.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Set("run.launch_latency=0"); err != nil {
		t.Fatal(err)
	}
	cfg := c.ChipConfig()
	cfg.Run.Threads = threads
	if change != nil {
		change(&cfg)
	}
	sizes := []uint64{64, 4, n * 8 * 4, n * 8 * 4, n * 8}
	params, addrs := buffers(t, sizes...)
	var out bytes.Buffer
	chip, mem := loadOn(t, cfg, racePTX, raceBlocks, 64, params, &out)
	var o outcome
	if logged {
		for sm := range cfg.SMs() {
			chip.Log(sm, func(list []gpu.Record) {
				for _, r := range list {
					r.Work = nil
					o.log = append(o.log, r)
				}
			})
		}
	}
	o.finish(t, chip)
	for i, b := range []*[]byte{&o.words, nil, &o.order, &o.seen, &o.heap} {
		if b == nil {
			continue
		}
		*b = make([]byte, sizes[i])
		if err := mem.Read((*addrs)[i], *b); err != nil {
			t.Fatal(err)
		}
	}
	o.printed = out.String()
	if n := chip.LiveRequests(); n != 0 && o.err == "" {
		t.Errorf("%s, %d threads: %d requests are still in flight", name, threads, n)
	}
	return o
}

// finish runs a chip to the end and reads its counters.
func (o *outcome) finish(t testing.TB, chip *gpu.GPU) {
	if err := chip.Finish(t.Context()); err != nil {
		o.err = err.Error()
	}
	chip.FlushLog()
	o.counters, o.end = chip.Totals(), chip.Now()
	o.counters.Chip.Skipped = 0
}

// compare reports the differences of two outcomes.
func (o *outcome) compare(t testing.TB, want *outcome, what string) {
	t.Helper()
	if reflect.DeepEqual(o, want) {
		return
	}
	t.Errorf("%s: different outcome: end %d, was %d; words the same: %v, order: %v, seen: %v, heap: %v, printed: %v, log: %v, counters: %v, error %q, was %q", what,
		o.end, want.end, bytes.Equal(o.words, want.words), bytes.Equal(o.order, want.order), bytes.Equal(o.seen, want.seen), bytes.Equal(o.heap, want.heap),
		o.printed == want.printed, slices.Equal(o.log, want.log), reflect.DeepEqual(o.counters, want.counters), o.err, want.err)
}

// TestRacesHaveOneOutcome runs a kernel whose results depend on the order of
// all accesses to memory, with workers at work in every cycle.
func TestRacesHaveOneOutcome(t *testing.T) {
	together(t, 3)
	for _, name := range []string{"gtx-480", "rtx-2060", "v100", "rtx-3080"} {
		if !alltests.On() && name != "gtx-480" {
			continue
		}
		base := race(t, name, 1, true, nil)
		// Of every thread eight, in some order.
		seen := map[uint32]int{}
		for i := 0; i < len(base.order); i += 4 {
			seen[binary.LittleEndian.Uint32(base.order[i:])]++
		}
		for i := range uint32(raceBlocks * 64) {
			if seen[i] != 8 {
				t.Fatalf("%s: thread %d has counted %d times", name, i, seen[i])
			}
		}
		if n := strings.Count(base.printed, "\n"); n != raceBlocks*4 {
			t.Fatalf("%s: %d lines printed", name, n)
		}
		if base.err != "" || len(base.log) != int(base.counters.SM.WarpInsts) {
			t.Fatalf("%s: %q, %d of %d instructions logged", name, base.err, len(base.log), base.counters.SM.WarpInsts)
		}
		got := race(t, name, 3, true, nil)
		got.compare(t, &base, name+", 3 threads")
		if !alltests.On() {
			continue
		}
		base.log = nil
		got = race(t, name, 2, false, func(c *gpu.Config) { c.Run.IdleSkip = false })
		got.compare(t, &base, name+", 2 threads, no idle skip, no log")
	}
}

// TestRunsStopAlike ends the racing kernel early, runs it with memory unlike that
// of any GPU, and runs a kernel that faults on many SMs in the same cycle.
func TestRunsStopAlike(t *testing.T) {
	alltests.Only(t, "limits and stops on every core")
	together(t, 3)
	const name = "rtx-2060"
	for what, change := range map[string]func(*gpu.Config){
		"cycles":       func(c *gpu.Config) { c.Run.MaxCycles = 2000 },
		"instructions": func(c *gpu.Config) { c.Run.MaxInsts = 100_000 },
		"placed":       func(c *gpu.Config) { c.Run.MaxBlocks = 33 },
		"ended":        func(c *gpu.Config) { c.Run.MaxDone = 7 },
		"perfect":      func(c *gpu.Config) { c.PerfectMemory = true },
		"remembering": func(c *gpu.Config) {
			c.Mem.Indexing, c.Mem.Compat.LibraryRandom = part.RandomIndex, true
		},
	} {
		base := race(t, name, 1, true, change)
		if (base.err == "") != (what == "perfect" || what == "remembering") {
			t.Errorf("%s: %q", what, base.err)
		}
		got := race(t, name, 3, true, change)
		got.compare(t, &base, what)
	}
	const wrong = `.version 7.0
.target sm_70
.address_size 64
.visible .entry wrong(.param .u64 p)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<4>;
 .reg .pred %p;
 ld.param.u64 %rd1, [p];
 mov.u32 %r1, %ctaid.x;
 setp.lt.u32 %p, %r1, 3;
 @%p bra END;
 mul.wide.u32 %rd2, %r1, 4096;
 add.u64 %rd1, %rd1, %rd2;
 st.global.u32 [%rd1], %r1;
END:
 ret;
}
`
	var base outcome
	for threads := 1; threads <= 3; threads++ {
		c, err := config.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg := c.ChipConfig()
		cfg.Run.Threads = threads
		params, _ := buffers(t, 4096)
		chip, _ := loadOn(t, cfg, wrong, 60, 64, params, nil)
		var o outcome
		if o.finish(t, chip); threads > 1 {
			o.compare(t, &base, fmt.Sprint("fault, ", threads, " threads"))
			continue
		}
		if base = o; !strings.Contains(o.err, "out-of-bounds write") || !strings.Contains(o.err, "block (3,0,0)") {
			t.Errorf("fault: %s", o.err)
		}
	}
}

// TestThreadsChangeNothing runs examples with workers at work in every cycle.
func TestThreadsChangeNothing(t *testing.T) {
	together(t, 2)
	for _, x := range onGPUs([]string{"transpose", "compact", "convolution", "texref"}, []string{"gtx-480", "rtx-2070-super", "rtx-2060", "v100"}) {
		t.Run(filepath.Base(x.file)+"/"+x.gpu, func(t *testing.T) {
			base := json(t, runJob(t, x.file, true, job.Options{GPU: x.gpu, Threads: 1}))
			if got := json(t, runJob(t, x.file, true, job.Options{GPU: x.gpu, Threads: 2})); got != base {
				t.Error(firstDifference(base, got))
			}
		})
	}
}
