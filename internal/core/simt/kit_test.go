package simt

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// step is one dynamic instruction of a scripted warp: the instruction, the next pc, and
// the addresses that it accesses.
type step struct {
	pc    int
	addr  *[32]uint64
	lanes isa.LaneMask // 0: all
}

// script is a scripted program: its code, and the instructions that each warp of a block
// executes.
type script struct {
	code  []*isa.Inst
	warps [][]step
	regs  int
	smem  int
	n     uint64
	// The executed steps in order: block, warp and pc.
	log []issued
}

type issued struct {
	block uint64
	warp  int
	pc    int
}

func (s *script) Traits() exec.Traits { return exec.Traits{} }
func (s *script) Name() string        { return "script" }
func (s *script) Blocks() uint64      { return s.n }
func (s *script) Threads() int        { return 32 * len(s.warps) }
func (s *script) Registers() int      { return s.regs }
func (s *script) Shared() int         { return s.smem }
func (s *script) Code() []*isa.Inst   { return s.code }
func (s *script) Block(n uint64) exec.Block {
	b := &fakeBlock{s: s, n: n}
	for i := range s.warps {
		b.warps = append(b.warps, &fakeWarp{b: b, id: i, live: isa.FullMask})
	}
	return b
}

type fakeBlock struct {
	s     *script
	n     uint64
	warps []*fakeWarp
	came  int
	done  bool
}

func (b *fakeBlock) Index() exec.Dim3         { return exec.Dim3{X: uint32(b.n)} }
func (b *fakeBlock) Linear() uint64           { return b.n }
func (b *fakeBlock) Warps() int               { return len(b.warps) }
func (b *fakeBlock) Warp(i int) exec.Warp     { return b.warps[i] }
func (b *fakeBlock) Unblock() bool            { return false }
func (b *fakeBlock) Counts() (uint64, uint64) { return 0, 0 }
func (b *fakeBlock) Release()                 { b.done = true }

type fakeWarp struct {
	b     *fakeBlock
	id    int
	at    int
	live  isa.LaneMask
	atBar bool
}

func (w *fakeWarp) Live() isa.LaneMask { return w.live }

func (w *fakeWarp) Next() (*isa.Inst, isa.LaneMask, uint64, exec.WarpState) {
	steps := w.b.s.warps[w.id]
	switch {
	case w.live == 0:
		return nil, 0, 0, exec.Done
	case w.atBar:
		return nil, 0, 0, exec.AtBarrier
	case w.at >= len(steps):
		panic("the script has no exit")
	}
	st := steps[w.at]
	return w.b.s.code[st.pc], w.live, 8 * uint64(st.pc), exec.Ready
}

func (w *fakeWarp) Step(e *exec.Effects) error {
	st := w.b.s.warps[w.id][w.at]
	in := w.b.s.code[st.pc]
	w.b.s.log = append(w.b.s.log, issued{w.b.n, w.id, st.pc})
	*e = exec.Effects{Inst: in, Active: w.live, Lanes: w.live, Space: in.Space, Addr: st.addr}
	if st.lanes != 0 {
		e.Lanes = st.lanes
	}
	w.at++
	switch {
	case in.Flow == isa.FlowExit:
		e.Exited = w.live
		w.live = 0
		w.b.open()
	case in.Barrier:
		w.atBar = true
		w.b.came++
		w.b.open()
		e.Blocked = w.atBar
	}
	return nil
}

// open opens the barrier if all live warps have arrived.
func (b *fakeBlock) open() {
	live := 0
	for _, w := range b.warps {
		if w.live != 0 {
			live++
		}
	}
	if b.came == 0 || b.came < live {
		return
	}
	b.came = 0
	for _, w := range b.warps {
		w.atBar = false
	}
}

// The instructions of the scripts.

func gpr(i int) isa.Reg {
	return isa.Reg{File: isa.RegGPR, Count: 1, Number: uint16(i + 1), Index: uint32(i)}
}

func regs(list ...int) []isa.Reg {
	var r []isa.Reg
	for _, i := range list {
		r = append(r, gpr(i))
	}
	return r
}

// alu is an integer operation of KindMad.
func alu(dst int, src ...int) *isa.Inst {
	return &isa.Inst{Op: "mad", Unit: isa.UnitALU, Kind: isa.KindMad, Dsts: regs(dst), Srcs: regs(src...)}
}

func fma(dst int, src ...int) *isa.Inst {
	return &isa.Inst{Op: "fma", Unit: isa.UnitFP32, Kind: isa.KindMad, Data: isa.DataFloat, Dsts: regs(dst), Srcs: regs(src...)}
}

func dfma(dst int, src ...int) *isa.Inst {
	return &isa.Inst{Op: "dfma", Unit: isa.UnitFP64, Kind: isa.KindMad, Data: isa.DataDouble, Dsts: regs(dst), Srcs: regs(src...)}
}

func mov(dst int, src ...int) *isa.Inst {
	return &isa.Inst{Op: "mov", Unit: isa.UnitALU, Dsts: regs(dst), Srcs: regs(src...)}
}

func sin(dst, src int) *isa.Inst {
	return &isa.Inst{Op: "sin", Unit: isa.UnitSFU, Dsts: regs(dst), Srcs: regs(src)}
}

func exit() *isa.Inst { return &isa.Inst{Op: "exit", Unit: isa.UnitBranch, Flow: isa.FlowExit} }

func bra(to int) *isa.Inst {
	return &isa.Inst{Op: "bra", Unit: isa.UnitBranch, Flow: isa.FlowBranch, Targets: []int32{int32(to)}}
}

func bar() *isa.Inst { return &isa.Inst{Op: "bar.sync", Unit: isa.UnitBar, Barrier: true} }

func fenceInst() *isa.Inst {
	return &isa.Inst{Op: "membar.gl", Unit: isa.UnitBar, Kind: isa.KindFence}
}

func load(sp isa.Space, width, dst, addr int) *isa.Inst {
	return &isa.Inst{Op: "ld", Unit: isa.UnitLSU, Load: true, Space: sp, Width: uint8(width), Elem: uint8(width), Dsts: regs(dst), Srcs: regs(addr)}
}

func store(sp isa.Space, width, addr, src int) *isa.Inst {
	return &isa.Inst{Op: "st", Unit: isa.UnitLSU, Store: true, Space: sp, Width: uint8(width), Elem: uint8(width), Srcs: regs(addr, src)}
}

func atom(sp isa.Space, dst, addr, src int) *isa.Inst {
	return &isa.Inst{Op: "atom", Unit: isa.UnitLSU, Load: true, Store: true, Atomic: true, Space: sp, Width: 4, Elem: 4, Dsts: regs(dst), Srcs: regs(addr, src)}
}

// with sets a cache operator.
func with(in *isa.Inst, op isa.CacheOp) *isa.Inst { in.Cache = op; return in }

// strided gives lane i the address base+i·by.
func strided(base, by uint64) *[32]uint64 {
	var a [32]uint64
	for i := range a {
		a[i] = base + uint64(i)*by
	}
	return &a
}

// parse reads a cache string of a shipped configuration.
func parse(t testing.TB, s string) cache.Config {
	t.Helper()
	c, err := cache.ParseConfig(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func same(t Timing) Timings { return Timings{t, t, t, t, t, t} }

// subcore returns the settings that the Volta, Turing and Ampere files share.
func subcore(t testing.TB) Config {
	widths := [Sets]int{SP: 4, DP: 4, Int: 4, SFU: 4, Tensor: 4, Mem: 4}
	c := Config{
		Shape: core.Shape{
			SMs: 1, Warps: 64, Blocks: 32, Registers: 65536, Shared: 98304, RegisterGranule: 4, LocalBase: 0x1F88_0000,
			L1I: parse(t, "N:64:128:16,L:R:f:N:L,S:2:48,4"), L1C: parse(t, "N:128:64:8,L:R:f:N:L,S:2:64,4"),
			L1T: parse(t, "N:4:128:256,L:R:m:N:L,T:512:8,128:2"),
		},
		L1Path:     core.L1Path{L1Banks: 4, L1BankBytes: 32, L1BankHash: cache.Linear, FlushL1: true},
		Schedulers: 4, Policy: LRR, MaxIssue: 1, DualDiffer: true, SubCore: true, FetchWidth: 4,
		IssueWidth: widths, ExecWidth: widths, WriteWidth: 8,
		Units: [Sets]int{SP: 4, DP: 4, Int: 4, SFU: 4, Tensor: 4, Mem: 1}, OtherTime: Timing{1, 1},
		TraceTime: TraceTimes{Int: Timing{2, 2}, SP: Timing{2, 1}, DP: Timing{64, 64}, SFU: Timing{21, 8}, Tensor: Timing{32, 32}}, // SM86_RTX3070
		Generic:   Collectors{8, 8, 8}, RegisterBanks: 16, RegisterPorts: 2,
		SharedBanks: 32, WarpParts: 1, MemPorts: 1,
		PerfectInstConst: true, ResponseQueue: 2, Compat: GPGPUSim(),
	}
	return c
}

// qv100 returns the core of SM7_QV100, with its integer timings in PTX mode.
func qv100(t testing.TB) Config {
	c := subcore(t)
	c.IntTime = Timings{Timing{4, 2}, Timing{13, 2}, Timing{4, 2}, Timing{5, 2}, Timing{145, 8}, Timing{21, 4}}
	c.FloatTime = Timings{Timing{4, 2}, Timing{13, 2}, Timing{4, 2}, Timing{5, 2}, Timing{39, 4}, Timing{1, 1}}
	c.DoubleTime = Timings{Timing{8, 4}, Timing{19, 4}, Timing{8, 4}, Timing{8, 4}, Timing{330, 130}, Timing{1, 1}}
	c.SFUTime, c.TensorTime = Timing{100, 8}, Timing{64, 64}
	c.L1D = parse(t, "S:4:128:64,L:T:m:L:L,A:512:8,16:0,32")
	c.L1Latency, c.SharedLatency, c.CoalesceArch = 20, 20, 70
	c.L1D.WriteRatio = 25
	c.L1D.Compat = cache.GPGPUSim()
	return c
}

// rtx2060 returns the core of SM75_RTX2060.
func rtx2060(t testing.TB) Config {
	c := qv100(t)
	c.Warps, c.Blocks, c.Shared, c.RegisterBanks = 32, 16, 65536, 8
	c.IntTime = Timings{Timing{4, 2}, Timing{4, 2}, Timing{4, 2}, Timing{4, 2}, Timing{21, 2}, Timing{1, 1}}
	c.FloatTime = Timings{Timing{4, 2}, Timing{4, 2}, Timing{4, 2}, Timing{4, 2}, Timing{39, 4}, Timing{1, 1}}
	c.DoubleTime = Timings{Timing{64, 64}, Timing{64, 64}, Timing{64, 64}, Timing{64, 64}, Timing{330, 130}, Timing{1, 1}}
	c.SFUTime = Timing{21, 8}
	c.L1D = parse(t, "S:4:128:64,L:T:m:L:L,A:256:32,16:0,32")
	c.L1D.WriteRatio = 25
	c.L1D.Compat = cache.GPGPUSim()
	c.L1Latency, c.SharedLatency, c.CoalesceArch = 32, 30, 75
	return c
}

// rtx3070 returns the core of SM86_RTX3070 with the latencies of its trace.config, for
// which there are measured distances.
func rtx3070(t testing.TB) Config {
	c := qv100(t)
	c.RegisterBanks = 8
	c.IntTime, c.FloatTime, c.DoubleTime = same(Timing{2, 2}), same(Timing{2, 1}), same(Timing{64, 64})
	c.SFUTime, c.TensorTime = Timing{21, 8}, Timing{32, 32}
	c.OtherTime = Timing{2, 2}
	c.L1Latency, c.SharedLatency, c.CoalesceArch = 39, 29, 86
	c.L1D = parse(t, "S:4:128:256,L:T:m:L:L,A:384:48,16:0,32")
	c.L1D.WriteRatio = 25
	c.L1D.Compat = cache.GPGPUSim()
	c.Warps = 48
	return c
}

// gtx480 returns the core of SM2_GTX480.
func gtx480(t testing.TB) Config {
	c := qv100(t)
	c.Warps, c.Blocks, c.Registers, c.Shared = 48, 8, 32768, 49152
	c.Schedulers, c.Policy, c.SubCore, c.FetchWidth = 2, GTO, false, 1
	c.IssueWidth = [Sets]int{SP: 2, SFU: 1, Mem: 1, Tensor: 0}
	c.ExecWidth = [Sets]int{SP: 2, SFU: 1, Mem: 1, Tensor: 0}
	c.WriteWidth = 2
	c.Units = [Sets]int{SP: 2, SFU: 1, Mem: 1}
	c.IntTime = Timings{Timing{4, 1}, Timing{13, 2}, Timing{4, 2}, Timing{5, 1}, Timing{145, 8}, Timing{32, 4}}
	c.FloatTime = Timings{Timing{4, 1}, Timing{13, 2}, Timing{4, 1}, Timing{5, 1}, Timing{39, 4}, Timing{1, 1}}
	c.DoubleTime = Timings{Timing{8, 8}, Timing{19, 16}, Timing{8, 8}, Timing{8, 8}, Timing{330, 130}, Timing{1, 1}}
	c.SFUTime = Timing{8, 8}
	c.Generic = Collectors{}
	c.Special = [Sets]Collectors{SP: {6, 2, 2}, SFU: {8, 1, 1}, Mem: {2, 1, 1}}
	c.RegisterBanks, c.RegisterPorts = 16, 1
	c.L1D = parse(t, "N:32:128:4,L:L:m:N:H,S:64:8,8")
	c.L1D.Compat = cache.GPGPUSim()
	c.L1I, c.L1C = parse(t, "N:4:128:4,L:R:f:N:L,S:2:32,4"), parse(t, "N:64:64:2,L:R:f:N:L,S:2:32,4")
	c.L1T = parse(t, "N:4:128:24,L:R:m:N:L,T:128:4,128:2")
	c.PerfectInstConst = false
	c.L1Latency, c.SharedLatency, c.CoalesceArch = 35, 26, 20
	c.L1Banks = 1
	return c
}

// rig is a core with a memory of fixed latency.
type rig struct {
	t      testing.TB
	core   *Core
	pool   mem.Pool
	cycle  uint64
	delay  uint64            // from Send to Deliver, in cycles
	more   [mem.Kinds]uint64 // in addition, by kind of request
	flying []inFlight
	sent   []mem.Req // copies of all requests, if keep is set
	keep   bool
	refuse bool // the network accepts nothing
	ended  int
	held   int  // ticks in which the core refused a reply
	issues []at // steps with their cycles
}

type inFlight struct {
	r   *mem.Req
	due uint64
}

type at struct {
	issued
	cycle uint64
}

func newRig(t testing.TB, cfg Config) *rig {
	t.Helper()
	g := &rig{t: t, delay: 100}
	core, err := New(cfg, 0, Env{
		Pool:    &g.pool,
		HasRoom: func(int) bool { return !g.refuse },
		Send: func(r *mem.Req, _ int) {
			if g.keep {
				g.sent = append(g.sent, *r)
			}
			if r.IsWriteBack() {
				g.pool.Put(r)
				return
			}
			g.put(r, g.cycle+g.delay+g.more[r.Kind])
		},
		BlockDone: func(_ core.Kernel, b exec.Block, _ uint64) { g.ended++; b.Release() },
	})
	if err != nil {
		t.Fatal(err)
	}
	g.core = core
	return g
}

// put keeps requests in flight in the order in which they are answered.
func (g *rig) put(r *mem.Req, due uint64) {
	i := len(g.flying)
	for i > 0 && g.flying[i-1].due > due {
		i--
	}
	g.flying = slices.Insert(g.flying, i, inFlight{r, due})
}

// tick delivers the replies that are due and simulates a cycle.
func (g *rig) tick() {
	g.cycle++
	for len(g.flying) > 0 && g.flying[0].due <= g.cycle {
		r := g.flying[0].r
		r.Reply = true
		if !g.core.Deliver(r) {
			g.held++
			break
		}
		g.flying = g.flying[1:]
	}
	g.core.Cycle(g.cycle)
}

// run launches the blocks of a script when there is room and runs them to the end.
func (g *rig) run(s *script, limit int) {
	g.t.Helper()
	if s.n == 0 {
		s.n = 1
	}
	if s.regs == 0 {
		s.regs = 16
	}
	k, err := NewKernel(g.core.Config(), s, core.KernelOptions{})
	if err != nil {
		g.t.Fatal(err)
	}
	next, ended := uint64(0), g.ended
	for range limit {
		g.tick()
		for len(g.issues) < len(s.log) {
			g.issues = append(g.issues, at{s.log[len(g.issues)], g.cycle})
		}
		if err := g.core.Err(); err != nil {
			g.t.Fatal(err)
		}
		if next < s.n && g.core.CanTake(k) {
			g.core.Launch(k, s.Block(next))
			next++
		}
		if g.ended-ended == int(s.n) {
			return
		}
	}
	g.t.Fatalf("not at the end after %d cycles; %d blocks ended, %d requests in flight", limit, g.ended-ended, len(g.flying))
}

// chain makes a one-warp program of n copies of an instruction, made by f.
func chain(n int, f func(i int) (*isa.Inst, *[32]uint64)) *script {
	s := &script{warps: make([][]step, 1)}
	for i := range n {
		in, addr := f(i)
		s.code = append(s.code, in)
		s.warps[0] = append(s.warps[0], step{pc: i, addr: addr})
	}
	s.code = append(s.code, exit())
	s.warps[0] = append(s.warps[0], step{pc: n})
	return s
}

// slope returns the cycles from the issue of instruction a to the issue of b, divided by
// their distance, which must divide it.
func (g *rig) slope(a, b int) uint64 {
	g.t.Helper()
	d := g.issues[b].cycle - g.issues[a].cycle
	if d%uint64(b-a) != 0 {
		g.t.Fatalf("%d cycles over %d instructions: not a whole number per instruction", d, b-a)
	}
	return d / uint64(b-a)
}
