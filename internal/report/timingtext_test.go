package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func timedSample() *Run {
	return &Run{
		Heddle: "1.2.3", Input: "job.toml", Programs: []string{"k.ptx"}, GPU: "v100", Mode: "timing", OK: true,
		Conditions:       map[string]any{"caches": "flushed"},
		WarpInstructions: 1200, ThreadInstructions: 19_200, Seconds: 0.002,
		Timing: &Timing{
			Core: "simt", SMs: 80, Clocks: Clocks{Core: 1000, Network: 1000, L2: 1000, DRAM: 850.5}, Cycles: 4000,
			Memory: Memory{
				L1:      Cache{Accesses: 200, Hits: 50, PendingHits: 30, Misses: 120},
				L2:      Cache{Accesses: 120, Hits: 60, Misses: 60, WriteBacks: 1234},
				DRAM:    DRAM{Requests: 80, RowHits: 20, BytesRead: 2048, BytesWritten: 512, Peak: 10},
				Replies: 7, MeanLatencyCycles: 410.4, SharedConflictCycles: 1000,
			},
		},
		Kernels: []Kernel{
			{
				Name: "first", Launch: 0, Grid: [3]int64{64, 1, 1}, Block: [3]int64{256, 1, 1}, Registers: 20, SharedBytes: 2048,
				WarpInstructions: 1000, ThreadInstructions: 16_000,
				KernelTiming: &KernelTiming{
					Cycles: 3000, Occupancy: 0.5, BlocksPerSM: 4, LimitedBy: "threads", WarpCycles: 10_000,
					Stalls: map[string]uint64{"selected": 1000, "long_scoreboard": 8000, "wait": 1000, "drain": 0},
					Lines: []Line{
						{File: "a/k.ptx", Line: 7, PC: 1, Instruction: "ld.global.f32", Text: "ld.global.f32 %f1, [%rd1+16], and a rest", SourceFile: "b/k.cu", SourceLine: 3, Issues: 500, WarpCycles: 700, Stalls: map[string]uint64{"selected": 500, "wait": 200}},
						{File: "a/k.ptx", Line: 8, PC: 2, Instruction: "add.f32", Issues: 500, WarpCycles: 9300, Stalls: map[string]uint64{"selected": 500, "long_scoreboard": 8000, "wait": 800}},
					},
				},
			},
			{
				Name: "second", Launch: 1, Grid: [3]int64{1, 1, 1}, Block: [3]int64{32, 1, 1}, Registers: 8,
				WarpInstructions: 200, ThreadInstructions: 3200,
				KernelTiming: &KernelTiming{Cycles: 1000, Occupancy: 0.125, BlocksPerSM: 1, LimitedBy: "grid", WarpCycles: 0},
			},
		},
	}
}

func TestTimingText(t *testing.T) {
	var b strings.Builder
	if err := timedSample().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	// 2,560 bytes in 4,000 cycles at 1 GHz are 0.64 GB/s.
	want := `heddle 1.2.3  job.toml  timing  (k.ptx)
v100: 80 SMs, simt core; MHz: core 1000, network 1000, L2 1000, DRAM 850.5
conditions  caches=flushed

launch  kernel  grid  block  regs  shared  cycles  warp instr   IPC   lanes  occupancy  blocks/SM  limited by  main stall
     0  first     64    256    20   2 KiB   3,000       1,000  0.33  50.0 %     50.0 %          4  threads     long scoreboard 80 %
     1  second     1     32     8     0 B   1,000         200  0.20  50.0 %     12.5 %          1  grid
───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
        total                               4,000       1,200  0.30  50.0 %

what warps did   cycles   share
long scoreboard   8,000  80.0 %  █████████████████████████▋
selected          1,000  10.0 %  ███▎
wait              1,000  10.0 %  ███▎

memory   accesses    hits  pending  misses  written back
L1 data       200  25.0 %   15.0 %  60.0 %             0
L2            120  50.0 %    0.0 %  50.0 %         1,234
DRAM  2 KiB read, 512 B written, 0.6 GB/s of 10.0 (6.4 %); row hits 25.0 %
average memory round trip: 410 cycles
shared memory: 1,000 cycles lost to bank conflicts

hottest lines  source  instruction                           issues   share  waiting for
k.ptx:8                add.f32                                  500  93.0 %  long scoreboard 86 %
k.ptx:7        k.cu:3  ld.global.f32 %f1, [%rd1+16], and a…     500   7.0 %  wait 29 %

done in 2.0 ms, 2.0 million cycles and 600.0 thousand warp instructions a second; the job has no checks
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// Many launches become few rows whose figures are those of all of them, and
// only the hottest lines are shown.
func TestTimingTextLong(t *testing.T) {
	r := timedSample()
	k := r.Kernels[0]
	lines := k.Lines
	r.Kernels = nil
	for i := range 40 {
		x := k
		tm := *k.KernelTiming
		tm.Occupancy, tm.Cycles, tm.WarpCycles = 0.25, 1000, 10_000
		if i%2 == 1 {
			tm.Occupancy, tm.Cycles, tm.LimitedBy = 0.75, 3000, "registers"
		}
		tm.Lines = nil
		for n := range 20 {
			l := lines[1]
			l.PC, l.Line, l.WarpCycles = n, 100+n, 500
			tm.Lines = append(tm.Lines, l)
		}
		x.Launch, x.KernelTiming = i, &tm
		r.Kernels = append(r.Kernels, x)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	// 20 × 1,000 cycles at a quarter and 20 × 3,000 at three quarters.
	if want := "  0–39  first     64    256    20   2 KiB  80,000      40,000  0.50  50.0 %     62.5 %          4  various     long scoreboard 80 %\n"; !strings.Contains(text, want) {
		t.Errorf("no row %q in\n%s", want, text)
	}
	if n := strings.Count(text, "k.ptx:1"); n != mostLines {
		t.Errorf("%d hot lines, want %d:\n%s", n, mostLines, text)
	}
	if n := strings.Count(text, "\n"); n > 40 {
		t.Errorf("%d lines are more than a screen", n)
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		part, of uint64
		want     string
	}{
		{0, 5, ""}, {5, 0, ""}, {1, 1_000_000, "▏"}, {1, 32, "█"}, {3, 64, "█▌"}, {7, 7, strings.Repeat("█", barWidth)},
	} {
		if got := Bar(c.part, c.of); got != c.want {
			t.Errorf("Bar(%d, %d) = %q, want %q", c.part, c.of, got, c.want)
		}
	}
}

// TestSteps checks what is said of steps and of blocks.
func TestSteps(t *testing.T) {
	at := func(n uint64) *uint64 { return &n }
	two := 2
	r := Run{Timing: &Timing{SMs: 3}, Kernels: []Kernel{{Name: "k", Launch: 2, KernelTiming: &KernelTiming{
		BlockLog: []BlockRun{{0, 0, 100, at(300)}, {1, 2, 100, at(400)}, {2, 0, 301, nil}},
	}}, {Name: "none", KernelTiming: &KernelTiming{BlockLog: []BlockRun{{0, 1, 7, nil}}}}}}
	r.Steps = []Step{
		{Step: 1, Kind: "copy", Stream: 3, From: "host:in", To: "a", Bytes: 2048, StartCycle: at(0), EndCycle: at(1234)},
		{Step: 0, Kind: "fill", From: "9", To: "symbol:s", Bytes: 12, StartCycle: at(5), EndCycle: at(5)},
		{Step: 2, Kind: "launch", Launch: &two, StartCycle: at(1234), EndCycle: at(2000), Unfinished: true},
		{Step: 3, Kind: "wait", Stream: 1, Event: "e"},
		{Step: 4, Kind: "sync"},
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"   1       3  copy host:in → a, 2 KiB         0  1,234   1,234\n",
		"   0       0  fill symbol:s with 9, 12 B      5      5\n",
		"   2       0  launch 2: k, unfinished     1,234  2,000     766\n",
		"   3       1  wait e                          –      –\n",
		"   4     all  sync                            –      –\n",
		"     2  k            3    2              0     2           100         400       200   250      300\n",
		"     0  none         1    1              0     1             7           –         –     –        –\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	for i := range 40 {
		r.Steps = append(r.Steps, Step{Step: 5 + i, Kind: "sync"})
		r.Kernels = append(r.Kernels, r.Kernels[1])
	}
	b.Reset()
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "sync"); n != 20 || !strings.Contains(b.String(), "and 21 more steps in the JSON result\n") {
		t.Errorf("%d steps of one kind are shown:\n%s", n, b.String())
	}
	if !strings.Contains(b.String(), "and 18 more launches in the JSON result\n") {
		t.Errorf("not said how many of 42 launches are left out:\n%s", b.String())
	}
}
