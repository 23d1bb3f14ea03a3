package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// The machine of the table below: a cycle of the core clock is a nanosecond, so
// that a rate of 1000 MB/s is a byte per cycle. Its DRAM moves 12 channels × 2
// bytes × 4 transfers × 3125 MHz = 300 bytes per cycle, of which copies get 80 %:
// 240.
var timedCopies = []string{
	"clocks.core=1000", "clocks.dram=3125", "run.launch_latency=50", "run.copies=timed",
	"link.latency=100", "link.to_device=1000", "link.to_host=500", "link.dram_share=80",
}

// The durations of copies of all 4096 bytes of a buffer there.
const (
	fromHost = 100 + 4096     // a byte in a cycle
	toHost   = 100 + 2*4096   // a byte in two cycles
	onDevice = 100 + 35       // 8192 bytes read and written, 240 in a cycle, rounded up
	filling  = 100 + 18       // 4096 bytes written, 240 in a cycle, rounded up
	symbol   = 100 + 64       // 64 bytes from the host
	kernel   = ^uint64(0)     // the duration of a kernel depends on the core
	latency  = uint64(50)     // of a launch
	instant  = ^uint64(0) - 1 // as a step that takes no time
)

// expect says when a step must start and how long it must take.
type expect struct {
	after []int  // it starts when the last of these has ended, or in cycle 0 if there is none
	first bool   // when the first of these has
	lasts uint64 // cycles
}

// orderJob writes a job of steps over buffers of 1024 words.
func orderJob(t *testing.T, steps string) string {
	t.Helper()
	dir := t.TempDir()
	text := "program = \"work.ptx\"\n"
	for _, b := range []string{"a", "b", "c", "d"} {
		text += fmt.Sprintf("[buffers.%s]\ntype = \"u32\"\ncount = 1024\n", b)
	}
	files := map[string]string{
		"work.ptx": strings.Replace(workPTX, ".visible .entry work", ".const .align 4 .b32 table[16];\n.visible .entry work", 1),
		"job.toml": text + steps, "in.bin": strings.Repeat("\x03\x00\x00\x00", 1024),
	}
	for name, s := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "job.toml")
}

func copyStep(stream int, from, to string) string {
	return host("copy = { from = %q, to = %q, stream = %d }", from, to, stream)
}

func upload(stream int, to string) string { return copyStep(stream, "host:in.bin", to) }

func download(stream int, from string) string { return copyStep(stream, from, "host:out.bin") }

func record(stream int, event string) string {
	return host("record = { event = %q, stream = %d }", event, stream)
}

func wait(stream int, event string) string {
	return host("wait = { event = %q, stream = %d }", event, stream)
}

// TestOrder checks to the cycle the starts of jobs' steps and the durations of
// copies: the start of a step follows from the ends of those that it must wait for,
// and the duration of a copy from the machine.
func TestOrder(t *testing.T) {
	alltests.Only(t, "orders of copies and kernels")
	for _, c := range []struct {
		name, steps string
		set         []string
		want        []expect
	}{
		// Engines.
		{"from the host", upload(1, "a"), nil, []expect{{nil, false, fromHost}}},
		{"to the host", download(1, "a"), nil, []expect{{nil, false, toHost}}},
		{"on the device", copyStep(1, "a", "b"), nil, []expect{{nil, false, onDevice}}},
		{"a fill", host(`fill = { to = "a", value = 7, stream = 1 }`), nil, []expect{{nil, false, filling}}},
		{"a symbol", host(`copy = { from = "host:in.bin", to = "symbol:table", bytes = 64, stream = 1 }`), nil, []expect{{nil, false, symbol}}},
		{"part of a buffer", host(`copy = { from = "host:in.bin", to = "a", bytes = 12, stream = 1 }`), nil, []expect{{nil, false, 112}}},
		{"one way: one after the other", upload(1, "a") + upload(2, "b") + upload(3, "c"), nil,
			[]expect{{nil, false, fromHost}, {[]int{0}, false, fromHost}, {[]int{1}, false, fromHost}}},
		{"three ways: at the same time", upload(1, "a") + download(2, "b") + copyStep(3, "c", "d"), nil,
			[]expect{{nil, false, fromHost}, {nil, false, toHost}, {nil, false, onDevice}}},
		{"copies and fills on the device share an engine", copyStep(1, "a", "b") + host(`fill = { to = "c", value = 0, stream = 2 }`), nil,
			[]expect{{nil, false, onDevice}, {[]int{0}, false, filling}}},
		{"one engine for both directions", upload(1, "a") + download(2, "b"), []string{"link.one_engine=true"},
			[]expect{{nil, false, fromHost}, {[]int{0}, false, toHost}}},
		{"times are rounded up", upload(1, "a") + download(2, "b"), []string{"clocks.core=1500", "link.latency=101", "link.to_device=7000", "link.to_host=7001"},
			// 101 × 1.5 = 151.5; 4096 × 1.5 / 7 = 877.7; 4096 × 1500 / 7001 = 877.6
			[]expect{{nil, false, 152 + 878}, {nil, false, 152 + 878}}},
		{"no latency, one cycle", host(`copy = { from = "host:in.bin", to = "a", bytes = 4, stream = 1 }`), []string{"link.latency=0", "link.to_device=4000"},
			[]expect{{nil, false, 1}}},
		{"instant copies", upload(1, "a") + download(1, "a") + copyStep(2, "a", "b"), []string{"run.copies=instant"},
			[]expect{{nil, false, instant}, {nil, false, instant}, {nil, false, instant}}},

		// Copies and kernels.
		{"a copy beside a kernel", launch(1, "a", 400, 1) + upload(2, "b"), nil, []expect{{nil, false, kernel}, {nil, false, fromHost}}},
		{"a stream is a queue", upload(1, "a") + launch(1, "a", 40, 1) + download(1, "a"), nil,
			[]expect{{nil, false, fromHost}, {[]int{0}, false, kernel}, {[]int{1}, false, toHost}}},
		{"two streams, half the copies hidden", upload(1, "a") + launch(1, "a", 40, 1) + download(1, "a") + upload(2, "b") + launch(2, "b", 400, 1) + download(2, "b"), nil,
			[]expect{{nil, false, fromHost}, {[]int{0}, false, kernel}, {[]int{1}, false, toHost}, {[]int{0}, false, fromHost}, {[]int{3}, false, kernel}, {[]int{4, 2}, false, toHost}}},
		{"who is ready first is copied first", upload(1, "a") + launch(2, "b", 1, 1) + upload(2, "b") + upload(3, "c"), nil,
			// The kernel ends before the first copy does, so both wait, and the
			// earlier in the file goes first.
			[]expect{{nil, false, fromHost}, {nil, false, kernel}, {[]int{0, 1}, false, fromHost}, {[]int{2}, false, fromHost}}},
		{"who is not ready lets others pass", upload(1, "a") + launch(2, "b", 400, 1) + upload(2, "b") + upload(3, "c"), nil,
			// The kernel ends during the second copy.
			[]expect{{nil, false, fromHost}, {nil, false, kernel}, {[]int{1, 3}, false, fromHost}, {[]int{0}, false, fromHost}}},

		// The default stream.
		{"stream 0 waits for copies", upload(1, "a") + download(2, "b") + launch(0, "a", 40, 1), nil,
			[]expect{{nil, false, fromHost}, {nil, false, toHost}, {[]int{0, 1}, false, kernel}}},
		{"all wait for a copy of stream 0", upload(0, "a") + launch(1, "b", 40, 1) + download(2, "c"), nil,
			[]expect{{nil, false, fromHost}, {[]int{0}, false, kernel}, {[]int{0}, false, toHost}}},
		{"stream 0 between two streams", launch(1, "a", 400, 1) + upload(0, "b") + launch(2, "c", 40, 1), nil,
			[]expect{{nil, false, kernel}, {[]int{0}, false, fromHost}, {[]int{1}, false, kernel}}},
		{"an event of stream 0", launch(1, "a", 400, 1) + record(0, "e") + wait(2, "e") + upload(2, "b"), nil,
			[]expect{{nil, false, kernel}, {[]int{0}, false, instant}, {[]int{1}, false, instant}, {[]int{2}, false, fromHost}}},

		// Events.
		{"a kernel waits for another stream's copy", upload(1, "a") + record(1, "e") + wait(2, "e") + launch(2, "a", 40, 1), nil,
			[]expect{{nil, false, fromHost}, {[]int{0}, false, instant}, {[]int{1}, false, instant}, {[]int{2}, false, kernel}}},
		{"a copy waits for another stream's kernel", launch(1, "a", 400, 1) + record(1, "e") + wait(2, "e") + download(2, "a"), nil,
			[]expect{{nil, false, kernel}, {[]int{0}, false, instant}, {[]int{1}, false, instant}, {[]int{2}, false, toHost}}},
		{"an event before the copy is not the copy's", record(1, "e") + upload(1, "a") + wait(2, "e") + download(2, "b"), nil,
			[]expect{{nil, false, instant}, {nil, false, fromHost}, {[]int{0}, false, instant}, {[]int{0}, false, toHost}}},
		{"a wait refers to the last record before it", upload(1, "a") + record(1, "e") + wait(2, "e") + upload(1, "b") + record(1, "e") + wait(3, "e") + copyStep(2, "a", "c") + copyStep(3, "b", "d"), nil,
			[]expect{{nil, false, fromHost}, {[]int{0}, false, instant}, {[]int{1}, false, instant}, {[]int{0}, false, fromHost}, {[]int{3}, false, instant},
				{[]int{4}, false, instant}, {[]int{2}, false, onDevice}, {[]int{5}, false, onDevice}}},
		{"a wait before its record in the file refers to the first one", wait(2, "e") + copyStep(2, "c", "d") + upload(1, "a") + record(1, "e") + upload(1, "b") + record(1, "e"), nil,
			[]expect{{[]int{3}, false, instant}, {[]int{0}, false, onDevice}, {nil, false, fromHost}, {[]int{2}, false, instant}, {[]int{2}, false, fromHost}, {[]int{4}, false, instant}}},
		{"a wait for two events", upload(1, "a") + record(1, "e") + download(2, "b") + record(2, "f") + wait(3, "e") + wait(3, "f") + copyStep(3, "c", "d"), nil,
			[]expect{{nil, false, fromHost}, {[]int{0}, false, instant}, {nil, false, toHost}, {[]int{2}, false, instant}, {[]int{1}, false, instant}, {[]int{3, 4}, false, instant}, {[]int{5}, false, onDevice}}},
		{"a wait holds up its own stream only", upload(1, "a") + record(1, "e") + wait(2, "e") + copyStep(2, "a", "b") + download(3, "c"), nil,
			[]expect{{nil, false, fromHost}, {[]int{0}, false, instant}, {[]int{1}, false, instant}, {[]int{2}, false, onDevice}, {nil, false, toHost}}},

		// The host.
		{"the host waits for all", upload(1, "a") + download(2, "b") + host("sync = true") + launch(3, "c", 40, 1), nil,
			[]expect{{nil, false, fromHost}, {nil, false, toHost}, {[]int{0, 1}, false, instant}, {[]int{2}, false, kernel}}},

		// Kernels.
		{"as many kernels as may run", launch(1, "a", 400, 1) + launch(2, "b", 100, 1) + launch(3, "c", 40, 1), []string{"chip.kernels=2"},
			[]expect{{nil, false, kernel}, {nil, false, kernel}, {[]int{0, 1}, true, kernel}}},
		{"a kernel that waits for a place does not delay copies", launch(1, "a", 400, 1) + launch(2, "b", 40, 1) + upload(3, "c"), []string{"chip.kernels=1"},
			[]expect{{nil, false, kernel}, {[]int{0}, false, kernel}, {nil, false, fromHost}}},
		{"warm caches: one after the other", upload(1, "a") + upload(2, "b"), []string{"run.caches=warm"},
			[]expect{{nil, false, fromHost}, {[]int{0}, false, fromHost}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := sameResult(t, orderJob(t, c.steps), append(slices.Clone(timedCopies), c.set...))
			if len(res.Steps) != len(c.want) {
				t.Fatalf("%d steps, want %d", len(res.Steps), len(c.want))
			}
			at := map[int]*report.Step{}
			for i := range res.Steps {
				at[res.Steps[i].Step] = &res.Steps[i]
			}
			for i, w := range c.want {
				s := at[i]
				var start uint64
				for j, a := range w.after {
					end := *at[a].EndCycle
					switch {
					case j == 0:
						start = end
					case w.first:
						start = min(start, end)
					default:
						start = max(start, end)
					}
				}
				if *s.StartCycle != start {
					t.Errorf("step %d starts in cycle %d, want %d", i, *s.StartCycle, start)
				}
				n := *s.EndCycle - *s.StartCycle
				switch {
				case w.lasts == kernel && n <= latency, w.lasts == instant && n != 0, w.lasts < instant && n != w.lasts:
					t.Errorf("step %d, a %s, takes %d cycles, want %d", i, s.Kind, n, w.lasts)
				}
			}
		})
	}
}

// sameResult runs a job in all ways that must not affect the result, and returns
// it.
func sameResult(t *testing.T, file string, set []string) *report.Run {
	t.Helper()
	var first *report.Run
	var want string
	for _, way := range []struct {
		skip    string
		threads int
	}{{"true", 1}, {"false", 1}, {"true", 2}} {
		res := runJob(t, file, true, job.Options{GPU: "rtx-2060", Threads: way.threads}, append(slices.Clone(set), "run.idle_skip="+way.skip)...)
		delete(res.Conditions, "run.idle_skip")
		got := json(t, res)
		if first == nil {
			first, want = res, got
		} else if got != want {
			t.Errorf("skip %s, %d threads: %s", way.skip, way.threads, cmp.Diff(want, got))
		}
	}
	return first
}

// TestKernelsTogether checks when the first blocks of two kernels are placed.
// An SM takes one block of these kernels at a time, a cluster one block in a
// cycle, and the first block of a kernel with a launch latency of L is placed
// in cycle L + 1 after its start.
func TestKernelsTogether(t *testing.T) {
	alltests.Only(t, "kernels beside each other")
	const sms = 30
	base := []string{"clocks.core=1000", "run.launch_latency=50", "run.block_log=true", "sm.blocks=1"}
	two := func(first, second, blocks1, blocks2 int) string {
		return launch(first, "a", 400, blocks1) + launch(second, "b", 40, blocks2)
	}
	for _, c := range []struct {
		name, steps string
		set         []string
		// The first kernel's start is cycle 0. The second starts in cycle 0 too
		// unless behind says that it starts with the first one's end; its first
		// block is placed the given cycles after that start or, with full, as soon
		// as an SM has no more blocks of the first kernel.
		behind, full bool
		gap          uint64
	}{
		{"both fit", two(1, 2, 15, 15), nil, false, false, 51},
		{"one SM is left", two(1, 2, sms-1, 15), nil, false, false, 51},
		{"no SM is left", two(1, 2, sms, 15), nil, false, true, 0},
		{"SMs are shared", two(1, 2, sms, 15), []string{"sm.blocks=2", "chip.shared_sms=true"}, false, false, 52},
		{"SMs are not shared", two(1, 2, sms, 15), []string{"sm.blocks=2"}, false, true, 0},
		{"one stream", two(1, 1, 15, 15), nil, true, false, 51},
		{"no latency, one stream", two(1, 1, 15, 15), []string{"run.launch_latency=0"}, true, false, 1},
		{"latency of blocks, two streams", two(1, 2, 10, 10), []string{"run.block_latency=7"}, false, false, 51 + 70},
		{"latency of blocks, one stream", two(1, 1, 10, 10), []string{"run.block_latency=7"}, true, false, 51 + 70},
		{"one kernel at a time", two(1, 2, 15, 15), []string{"chip.kernels=1"}, true, false, 51},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := sameResult(t, orderJob(t, c.steps), append(slices.Clone(base), c.set...))
			a, b := &res.Kernels[0], &res.Kernels[1]
			start := uint64(0)
			if c.behind {
				start = a.EndCycle
			}
			if a.StartCycle != 0 || b.StartCycle != start {
				t.Errorf("the kernels start in cycles %d and %d, want 0 and %d", a.StartCycle, b.StartCycle, start)
			}
			free := ^uint64(0) // the first SM is free
			for _, x := range a.BlockLog {
				free = min(free, *x.EndCycle)
			}
			want := start + c.gap
			if c.full {
				want = free
			}
			if b.FirstBlockCycle != want {
				t.Errorf("the second kernel's first block is placed in cycle %d, want %d", b.FirstBlockCycle, want)
			}
			if b.Shared == c.behind || a.Shared == c.behind {
				t.Errorf("the kernels overlap: %v, %v", a.Shared, b.Shared)
			}
		})
	}
}

// TestBlockLog compares the log of blocks with other results.
func TestBlockLog(t *testing.T) {
	const sms, blocks = 30, 100
	res := sameResult(t, orderJob(t, launch(0, "a", 40, blocks)), []string{"sm.blocks=2", "run.block_log=true"})
	k := &res.Kernels[0]
	if len(k.BlockLog) != blocks {
		t.Fatalf("%d blocks, want %d", len(k.BlockLog), blocks)
	}
	on := make([]uint64, sms)
	last, perCycle := uint64(0), map[uint64]int{}
	for i, b := range k.BlockLog {
		if b.Block != uint64(i) || b.StartCycle < k.FirstBlockCycle || b.EndCycle == nil || *b.EndCycle <= b.StartCycle {
			t.Fatalf("block %d: %+v", i, b)
		}
		on[b.SM]++
		perCycle[b.StartCycle]++
		last = max(last, *b.EndCycle)
		// Never more than two at a time on an SM.
		same := 0
		for _, o := range k.BlockLog {
			if o.SM == b.SM && o.StartCycle <= b.StartCycle && b.StartCycle < *o.EndCycle {
				same++
			}
		}
		if same > 2 {
			t.Errorf("SM %d holds %d blocks in cycle %d", b.SM, same, b.StartCycle)
		}
	}
	if k.BlockLog[0].StartCycle != k.FirstBlockCycle || last != k.EndCycle {
		t.Errorf("the blocks run from cycle %d to %d, the kernel's first block begins in %d and it ends in %d", k.BlockLog[0].StartCycle, last, k.FirstBlockCycle, k.EndCycle)
	}
	// A cluster of one SM takes a block in a cycle.
	if n := perCycle[k.FirstBlockCycle]; n != sms {
		t.Errorf("%d blocks are placed in the first cycle, want %d", n, sms)
	}
	for sm, n := range on {
		if n != res.PerSM[sm].Blocks {
			t.Errorf("SM %d: %d blocks in the log, %d counted", sm, n, res.PerSM[sm].Blocks)
		}
	}
	off := runJob(t, orderJob(t, launch(0, "a", 40, blocks)), true, job.Options{GPU: "rtx-2060"}, "sm.blocks=2")
	if off.Kernels[0].BlockLog != nil || off.Cycles != res.Cycles {
		t.Errorf("without a log: %d entries, %d cycles; with one %d cycles", len(off.Kernels[0].BlockLog), off.Cycles, res.Cycles)
	}
}

// TestLimits ends runs at their limits: the results up to there exist.
func TestLimits(t *testing.T) {
	const forever = `launch = { kernel = "forever", grid = [2, 1, 1], block = [64, 1, 1], stream = 1, args = [] }`
	for _, c := range []struct {
		name, steps, set string
		limit            uint64 // 0: the run comes to its end
		what             string
		check            func(r *report.Run) bool
	}{
		{"cycles", host(forever), "run.max_cycles=3000", 3000, "cycles", func(r *report.Run) bool {
			return r.Cycles == 3000 && r.Kernels[0].EndCycle == 3000 && r.Kernels[0].Blocks == 0 && r.Steps[0].Unfinished
		}},
		{"cycles, in a copy", upload(1, "a") + launch(1, "a", 40, 1), "run.max_cycles=3000", 3000, "cycles", func(r *report.Run) bool {
			return r.Cycles == 3000 && *r.Steps[0].EndCycle == 3000 && r.Steps[0].Unfinished && r.Steps[1].StartCycle == nil && len(r.Kernels) == 0
		}},
		{"cycles, after a copy", upload(1, "a") + host(forever), "run.max_cycles=5000", 5000, "cycles", func(r *report.Run) bool {
			return *r.Steps[0].EndCycle == fromHost && !r.Steps[0].Unfinished && r.Steps[1].Unfinished && r.Kernels[0].Cycles == 5000-fromHost
		}},
		{"a cycle more than the run has", upload(1, "a"), fmt.Sprintf("run.max_cycles=%d", fromHost+1), 0, "", func(r *report.Run) bool {
			return r.Cycles == fromHost && !r.Steps[0].Unfinished
		}},
		// Four warps issue at most 128 thread instructions in a cycle.
		{"instructions", host(forever), "run.max_insts=100000", 100000, "thread instructions", func(r *report.Run) bool {
			return r.ThreadInstructions >= 100000 && r.ThreadInstructions < 100128 && r.Kernels[0].Blocks == 0
		}},
		{"instructions of two kernels", launch(1, "a", 100, 1) + host(forever), "run.max_insts=100000", 100000, "thread instructions", func(r *report.Run) bool {
			return r.ThreadInstructions >= 100000 && r.ThreadInstructions < 100128 && r.Kernels[0].Blocks == 1 && !r.Steps[0].Unfinished && r.Steps[1].Unfinished
		}},
		{"instructions of two kernels at a time", host(forever) + strings.Replace(host(forever), "stream = 1", "stream = 2", 1), "run.max_insts=100000", 100000, "thread instructions", func(r *report.Run) bool {
			a, b := &r.Kernels[0], &r.Kernels[1]
			return r.ThreadInstructions >= 100000 && r.ThreadInstructions < 100256 && a.ThreadInstructions > 40000 && b.ThreadInstructions > 40000
		}},
		{"placed blocks", launch(1, "a", 40, 2) + launch(1, "a", 40, 60), "run.max_blocks=3", 3, "placed blocks", func(r *report.Run) bool {
			return r.Kernels[0].Blocks == 2 && len(r.Kernels) == 2 && r.Kernels[1].Blocks == 0 && r.Steps[1].Unfinished
		}},
		{"as many blocks as there are, less one", launch(1, "a", 40, 2), "run.max_blocks=3", 0, "", func(r *report.Run) bool { return r.Kernels[0].Blocks == 2 }},
		{"ended blocks", launch(1, "a", 40, 2) + launch(1, "a", 40, 600), "run.max_done=12", 12, "ended blocks", func(r *report.Run) bool {
			return r.Kernels[0].Blocks == 2 && r.Kernels[1].Blocks >= 10 && r.Kernels[1].Blocks < 600 && r.Steps[1].Unfinished
		}},
		{"fewer blocks end", launch(1, "a", 40, 2), "run.max_done=3", 0, "", func(r *report.Run) bool { return r.Kernels[0].Blocks == 2 }},
	} {
		for _, skip := range []string{"run.idle_skip=true", "run.idle_skip=false"} {
			t.Run(c.name+" "+skip, func(t *testing.T) {
				ready, err := job.Load(orderJob(t, c.steps), job.Options{})
				if err != nil {
					t.Fatal(err)
				}
				o := job.Options{Timing: true, GPU: "rtx-2060"}
				for _, s := range append(slices.Clone(timedCopies), c.set, skip) {
					if err := o.Settings.Set(s); err != nil {
						t.Fatal(err)
					}
				}
				res, err := ready.Run(context.Background(), o)
				var le *exec.LimitError
				switch {
				case c.limit == 0 && err != nil, c.limit > 0 && (!errors.As(err, &le) || le.Limit != c.limit || le.What != c.what):
					t.Errorf("%v", err)
				}
				if !c.check(res) {
					t.Errorf("%s", json(t, res))
				}
			})
		}
	}
}

// TestInterruptedCopy interrupts a run while only a copy is in progress: its bytes
// have not arrived, and the results before it exist.
func TestInterruptedCopy(t *testing.T) {
	file := orderJob(t, launch(1, "a", 40, 1)+download(1, "a"))
	ready, err := job.Load(file, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := job.Options{Timing: true, GPU: "rtx-2060"}
	for _, s := range append(slices.Clone(timedCopies), "link.to_host=1", "link.latency=1000000000", "run.idle_skip=false") {
		if err := o.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	res, err := ready.Run(ctx, o)
	if !errors.Is(err, context.DeadlineExceeded) || len(res.Kernels) != 1 || res.Kernels[0].Blocks != 1 {
		t.Fatalf("%v, %s", err, json(t, res))
	}
	if s := &res.Steps[1]; s.StartCycle == nil || !s.Unfinished || *s.EndCycle != res.Cycles || *s.EndCycle <= *s.StartCycle {
		t.Errorf("%+v", s)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), "out.bin")); !os.IsNotExist(err) {
		t.Error("the copy has written its file")
	}
}

// TestCopyValues checks that every kind of copy moves the right bytes, with and
// without time, and before the next step of its stream.
func TestCopyValues(t *testing.T) {
	word := func(buffer string, at int, values string) string {
		return fmt.Sprintf("[[checks]]\nbuffer = %q\noffset = %d\nvalues = %s\n", buffer, at, values)
	}
	for _, mode := range []string{"timed", "instant"} {
		file := orderJob(t, upload(1, "a")+ // 3 everywhere
			launch(1, "a", 40, 1)+ // adds 40 to the first word
			copyStep(1, "a", "b")+
			host(`fill = { to = "a", value = 9, bytes = 8, stream = 1 }`)+
			host(`copy = { from = "b", to = "symbol:table", bytes = 64, stream = 1 }`)+
			host(`copy = { from = "symbol:table", to = "c", stream = 1 }`)+
			host(`copy = { from = "symbol:table", to = "host:out.bin", stream = 1 }`)+
			host(`fill = { to = "symbol:table", value = 5, stream = 1 }`)+
			host(`copy = { from = "host:out.bin", to = "d", bytes = 8, stream = 1 }`)+
			word("a", 0, "[9, 9, 3]")+word("a", 1023, "[3]")+word("b", 0, "[43, 3]")+word("b", 1023, "[3]")+
			word("c", 0, "[43, 3]")+word("c", 15, "[3, 0]")+word("d", 0, "[43, 3, 0]")+
			"[[checks]]\nsymbol = \"table\"\nvalues = [5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5]\n")
		// The file that a step writes must be there when the job is opened.
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "out.bin"), make([]byte, 64), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, timing := range []bool{true, false} {
			res := runJob(t, file, timing, job.Options{GPU: "rtx-2060"}, "run.copies="+mode)
			if !res.OK {
				t.Errorf("%s, timing %v: %+v", mode, timing, res.Checks)
			}
		}
	}
}

// TestCopiesFillL2 checks what a kernel finds in the L2 after a copy, and before
// its end: its one atomic reads a sector of DRAM, or none.
func TestCopiesFillL2(t *testing.T) {
	for _, c := range []struct {
		name         string
		way          gpu.CopyWay
		copies, fill string
		stream       int64 // of the kernel; the copy is on stream 1
		reads        uint64
	}{
		{"after an instant copy", gpu.ToDevice, "instant", "true", 1, 0},
		{"after a timed copy", gpu.ToDevice, "timed", "true", 1, 0},
		{"after a copy on the device", gpu.OnDevice, "timed", "true", 1, 0},
		{"after a fill", gpu.Filling, "timed", "true", 1, 0},
		{"instant copies do not fill", gpu.ToDevice, "instant", "false", 1, 1},
		{"timed copies do not fill", gpu.ToDevice, "timed", "false", 1, 1},
		{"after a copy to the host", gpu.ToHost, "timed", "true", 1, 1},
		{"beside a timed copy", gpu.ToDevice, "timed", "true", 2, 1},
		{"beside an instant copy", gpu.ToDevice, "instant", "true", 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "rtx-2060", 4096, "run.launch_latency=0", "run.copies="+c.copies, "run.copies_fill_l2="+c.fill, "link.latency=100000")
			o := &gpu.Op{Kind: gpu.OpCopy, Stream: 1, Way: c.way, Bytes: 4096}
			all := []gpu.Range{{Addr: m.data, Bytes: 4096}}
			if c.way == gpu.ToHost {
				o.ToHost = all
			} else {
				o.Fills = all
			}
			k := m.op(c.stream, "count", 1, 1, 4, 1)
			m.finish(o, k)
			if got := k.Kernel.DRAMReads(); got != c.reads {
				t.Errorf("%d sectors are read from DRAM, want %d", got, c.reads)
			}
			if beside := k.Start < o.End; beside != (c.stream == 2 && c.copies == "timed") {
				t.Errorf("the copy takes cycles %d to %d, the kernel starts in %d", o.Start, o.End, k.Start)
			}
		})
	}
}
