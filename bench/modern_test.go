package bench

import (
	"context"
	"encoding/binary"
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// sm is one modern core of the RTX A6000 and a memory with a fixed latency.
type sm struct {
	core   *modern.Core
	pool   mem.Pool
	cycle  uint64
	flying []flying // in the order in which they come back
	first  int
}

type flying struct {
	r   *mem.Req
	due uint64
}

// latency is the latency of that memory (our choice: about a hit in the L2).
const latency = 200

func newSM(tb testing.TB) *sm {
	tb.Helper()
	gpu, err := config.Load("rtx-a6000")
	if err != nil {
		tb.Fatal(err)
	}
	s := &sm{}
	s.core, err = modern.New(*gpu.CoreConfig().(*modern.Config), 0, modern.Env{
		Pool:    &s.pool,
		HasRoom: func(int) bool { return true },
		Send: func(r *mem.Req, _ int) {
			if r.IsWriteBack() {
				s.pool.Put(r)
				return
			}
			if s.first > 4096 {
				s.flying = s.flying[:copy(s.flying, s.flying[s.first:])]
				s.first = 0
			}
			s.flying = append(s.flying, flying{r, s.cycle + latency})
		},
		BlockDone: func(_ core.Kernel, b exec.Block, _ uint64) { b.Release() },
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func (s *sm) run(cycles int) {
	for range cycles {
		s.cycle++
		for s.first < len(s.flying) && s.flying[s.first].due <= s.cycle {
			r := s.flying[s.first].r
			if r.Reply = true; !s.core.Deliver(r) {
				break
			}
			s.first++
		}
		s.core.Cycle(s.cycle)
	}
}

// work prepares a block of 1024 threads of a kernel of busy.sass.
func work(tb testing.TB, kernel string) exec.Work {
	tb.Helper()
	text, err := os.ReadFile("busy.sass")
	if err != nil {
		tb.Fatal(err)
	}
	f, err := sass.Parse("busy.sass", string(text), 0)
	if err != nil {
		tb.Fatal(err)
	}
	k, ok := xsass.Load(f).Kernel(kernel)
	if !ok || len(k.Unusable()) > 0 {
		tb.Fatalf("kernel %s: %v", kernel, k.Unusable())
	}
	dev := device.New(device.Config{})
	at, err := dev.Alloc(1<<21, "out")
	if err != nil {
		tb.Fatal(err)
	}
	if err := dev.Write(at, make([]byte, 1<<21)); err != nil {
		tb.Fatal(err)
	}
	w, err := xsass.NewMachine(dev).NewWork(xsass.Launch{
		Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 1024, Y: 1, Z: 1}, Params: binary.LittleEndian.AppendUint64(nil, at),
	}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// timing is a launch whose warps compute nothing: they go from one instruction to the next
// and take every branch. Control bits still apply.
type timing struct{ exec.Work }

func (w timing) Block(n uint64) exec.Block {
	b := &timingBlock{code: w.Code()}
	for range (w.Threads() + 31) / 32 {
		b.warps = append(b.warps, timingWarp{b: b})
	}
	return b
}

type timingBlock struct {
	code  []*isa.Inst
	warps []timingWarp
}

func (b *timingBlock) Index() exec.Dim3         { return exec.Dim3{} }
func (b *timingBlock) Linear() uint64           { return 0 }
func (b *timingBlock) Warps() int               { return len(b.warps) }
func (b *timingBlock) Warp(i int) exec.Warp     { return &b.warps[i] }
func (b *timingBlock) Unblock() bool            { return false }
func (b *timingBlock) Counts() (uint64, uint64) { return 0, 0 }
func (b *timingBlock) Release()                 {}

type timingWarp struct {
	b  *timingBlock
	pc int
}

func (w *timingWarp) Live() isa.LaneMask { return isa.FullMask }

func (w *timingWarp) Next() (*isa.Inst, isa.LaneMask, uint64, exec.WarpState) {
	return w.b.code[w.pc], isa.FullMask, 16 * uint64(w.pc), exec.Ready
}

func (w *timingWarp) Step(e *exec.Effects) error {
	in := w.b.code[w.pc]
	*e = exec.Effects{Inst: in, Active: isa.FullMask, Lanes: isa.FullMask, Space: in.Space}
	if w.pc++; in.Flow == isa.FlowBranch {
		w.pc = int(in.Targets[0])
	}
	return nil
}

// busy runs a block of 32 warps on a core, cycle by cycle, and reports how fast;
// it fails if a cycle allocates.
func busy(b *testing.B, w exec.Work) {
	b.Helper()
	s := newSM(b)
	k, err := modern.NewKernel(s.core.Config(), w, core.KernelOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if !s.core.Launch(k, w.Block(0)) {
		b.Fatal("no room for a block")
	}
	s.run(20_000)
	if n := testing.AllocsPerRun(20, func() { s.run(1000) }); n >= 1 {
		b.Errorf("%.1f allocations in 1000 cycles", n)
	}
	from, cycles := s.core.Stats.WarpInsts, s.cycle
	b.ReportAllocs()
	for b.Loop() {
		s.run(1000)
	}
	s.core.Sync()
	if err := s.core.Err(); err != nil {
		b.Fatal(err)
	}
	n := float64(s.core.Stats.WarpInsts - from)
	b.ReportMetric(32*n/b.Elapsed().Seconds()/1e6, "Mthread-instr/s")
	b.ReportMetric(n/b.Elapsed().Seconds()/1e6, "Mwarp-instr/s")
	b.ReportMetric(n/float64(s.cycle-cycles), "warp-instr/cycle")
}

// BenchmarkModernTiming times four busy sub-cores and computes nothing.
func BenchmarkModernTiming(b *testing.B) { busy(b, timing{work(b, "busy")}) }

// BenchmarkModernValues computes what it times.
func BenchmarkModernValues(b *testing.B) { busy(b, work(b, "busy")) }

// BenchmarkModernMisses is BenchmarkModernValues with one load in eleven instructions that
// misses the L1 data cache.
func BenchmarkModernMisses(b *testing.B) { busy(b, work(b, "misses")) }

// BenchmarkModernIdle runs the pointer chase, one warp, on all 84 SMs of the RTX A6000, 83
// of which are idle; BenchmarkModernAlone does on one.
func BenchmarkModernIdle(b *testing.B) { chase(b) }

// BenchmarkModernAlone is the reference for BenchmarkModernIdle.
func BenchmarkModernAlone(b *testing.B) { chase(b, "chip.clusters=1") }

func chase(b *testing.B, keys ...string) {
	b.Helper()
	r, err := job.Load("../examples/sass/chase.toml", job.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var warp, thread uint64
	for b.Loop() {
		opt := job.Options{Timing: true, GPU: "rtx-a6000", Threads: 1}
		for _, k := range keys {
			if err := opt.Settings.Set(k); err != nil {
				b.Fatal(err)
			}
		}
		res, err := r.Run(context.Background(), opt)
		if err != nil || !res.OK {
			b.Fatal(err)
		}
		warp += res.WarpInstructions
		thread += res.ThreadInstructions
	}
	sec := b.Elapsed().Seconds()
	b.ReportMetric(float64(thread)/sec/1e6, "Mthread-instr/s")
	b.ReportMetric(float64(warp)/sec/1e6, "Mwarp-instr/s")
}
