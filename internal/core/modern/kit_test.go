package modern

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/ring"
)

// inst is an instruction of a test program: the core's view of it, and its effect on
// registers, which hold one number for all lanes.
type inst struct {
	isa.Inst
	f    func(a []float64) float64 // result from sources; nil: none
	addr *[32]uint64               // of memory instructions; nil: none
	mem  float64                   // value that a load reads
	loop int                       // of a branch: how often it is taken
	// dead are the lanes whose guard is false.
	dead isa.LaneMask
}

func gpr(n, count int) isa.Reg {
	return isa.Reg{File: isa.RegGPR, Count: uint8(count), Index: uint32(n)}
}

// op makes an instruction with neutral control bits: stall 1.
func mk(name string, class isa.Class, dst int, src ...int) *inst {
	in := &inst{Inst: isa.Inst{Op: name, Class: class, Control: &isa.Control{Stall: 1, Write: isa.NoCounter, Read: isa.NoCounter}, Private: true}}
	if dst >= 0 {
		in.Dsts = []isa.Reg{gpr(dst, 1)}
	}
	for _, r := range src {
		in.Srcs = append(in.Srcs, gpr(r, 1))
	}
	return in
}

func (in *inst) stall(n int) *inst   { in.Control.Stall = uint8(n); return in }
func (in *inst) yield() *inst        { in.Control.Yield = true; return in }
func (in *inst) wr(n int) *inst      { in.Control.Write = uint8(n); return in }
func (in *inst) rd(n int) *inst      { in.Control.Read = uint8(n); return in }
func (in *inst) wait(m uint8) *inst  { in.Control.Wait = m; return in }
func (in *inst) reuse(m uint8) *inst { in.Control.Reuse = m; return in }

func (in *inst) does(f func(a []float64) float64) *inst { in.f = f; return in }

func fadd(d, a, b int) *inst {
	return mk("FADD", isa.ClassFP32, d, a, b).does(func(a []float64) float64 { return a[0] + a[1] })
}

func fmul(d, a, b int) *inst {
	return mk("FMUL", isa.ClassFP32, d, a, b).does(func(a []float64) float64 { return a[0] * a[1] })
}

func ffma(d, a, b, x int) *inst {
	return mk("FFMA", isa.ClassFP32, d, a, b, x).does(func(a []float64) float64 { return a[0]*a[1] + a[2] })
}

func hadd2(d, a, b int) *inst {
	return mk("HADD2", isa.ClassHalf, d, a, b).does(func(a []float64) float64 { return a[0] + a[1] })
}

func iadd3(d int, src ...int) *inst {
	return mk("IADD3", isa.ClassInt, d, src...).does(func(a []float64) float64 {
		s := 0.0
		for _, x := range a {
			s += x
		}
		return s
	})
}

func mov(d, a int) *inst {
	return mk("MOV", isa.ClassInt, d, a).does(func(a []float64) float64 { return a[0] })
}

// set writes a constant.
func set(d int, v float64) *inst {
	return mk("MOV", isa.ClassInt, d).does(func([]float64) float64 { return v })
}

func nop() *inst { return mk("NOP", isa.ClassMisc, -1) }

func exit() *inst {
	in := mk("EXIT", isa.ClassBranch, -1)
	in.Flow = isa.FlowExit
	return in
}

func clock(d int) *inst {
	in := mk("CS2R.32", isa.ClassInt, d)
	in.Clock = true
	return in
}

func bra(to, times int) *inst {
	in := mk("BRA", isa.ClassBranch, -1)
	in.Flow, in.Targets, in.loop = isa.FlowBranch, []int32{int32(to)}, times
	return in
}

func bar() *inst {
	in := mk("BAR.SYNC", isa.ClassMisc, -1)
	in.Barrier = true
	return in
}

// ld is a load of the given number of bits from a space; the address is in register a
// and, for global memory, a+1, or in uniform registers (a < 0).
func ld(sp isa.Space, bits, d, a int) *inst {
	in := mk("LDG.E", isa.ClassLoad, d)
	in.Dsts[0].Count = uint8(max(1, bits/32))
	in.Load, in.Space, in.Width, in.Elem, in.Unit = true, sp, uint8(bits/8), uint8(bits/8), isa.UnitLSU
	in.Private = sp == isa.Shared
	in.addr = strided(0x1000, uint64(bits/8))
	n := 2
	if sp == isa.Shared {
		in.Op, n = "LDS", 1
		in.addr = strided(0, uint64(bits/8))
	}
	in.address(a, n)
	return in
}

func (in *inst) address(a, n int) {
	if a < 0 {
		in.Uniform = true
		in.Srcs = append(in.Srcs, isa.Reg{File: isa.RegUGPR, Count: 2, Index: 4})
		return
	}
	in.Srcs = append(in.Srcs, gpr(a, n))
}

// st is a store of registers from s on.
func st(sp isa.Space, bits, a, s int) *inst {
	in := mk("STG.E", isa.ClassStore, -1)
	in.Store, in.Space, in.Width, in.Elem, in.Unit = true, sp, uint8(bits/8), uint8(bits/8), isa.UnitLSU
	in.Private = sp == isa.Shared
	in.addr = strided(0x1000, uint64(bits/8))
	n := 2
	if sp == isa.Shared {
		in.Op, n = "STS", 1
		in.addr = strided(0, uint64(bits/8))
	}
	in.address(a, n)
	in.Srcs = append(in.Srcs, gpr(s, max(1, bits/32)))
	return in
}

func ldc(d, a int) *inst {
	in := mk("LDC", isa.ClassConstant, d)
	in.Load, in.Space, in.Width, in.Elem = true, isa.Const, 4, 4
	in.addr = strided(0x160, 0)
	if a >= 0 {
		in.Srcs = append(in.Srcs, gpr(a, 1))
	}
	return in
}

// asyncStart is the asynchronous part of an LDGSTS.
var asyncStart = isa.Async{Does: isa.AsyncStart, Done: isa.ByGroup}

// closeGroup is an LDGDEPBAR.
func closeGroup() *inst {
	in := mk("LDGDEPBAR", isa.ClassMisc, -1)
	in.Async = isa.Async{Does: isa.AsyncCommit, Done: isa.ByGroup}
	return in
}

func waitSB(sb, most int) *inst {
	in := mk("DEPBAR.LE", isa.ClassMisc, -1)
	in.Depbar = &isa.Depbar{SB: uint8(sb), AtMost: uint8(most)}
	return in
}

// strided gives lane i the address base+i·by.
func strided(base, by uint64) *[32]uint64 {
	var a [32]uint64
	for i := range a {
		a[i] = base + uint64(i)*by
	}
	return &a
}

// program is a test program and the exec.Work that runs it.
type program struct {
	code   []*inst
	infos  []*isa.Inst
	warps  int // of a block
	blocks uint64
	regs   int
	smem   int
	init   map[int]float64 // registers at start
	plain  bool            // its warps are not exec.Deferred
	rig    *rig
	only   map[int]int // by instruction: the only warp that executes it
	log    []issued
	ended  []*fakeWarp
}

type issued struct {
	block uint64
	warp  int
	pc    int
	cycle uint64
}

func prog(code ...*inst) *program {
	p := &program{code: code, warps: 1, blocks: 1, regs: 64}
	for i, in := range code {
		in.PC = int32(i)
		in.Pos.Line = int32(i + 1)
		p.infos = append(p.infos, &in.Inst)
	}
	return p
}

func (p *program) Traits() exec.Traits { return exec.Traits{} }
func (p *program) Name() string        { return "test" }
func (p *program) Blocks() uint64      { return p.blocks }
func (p *program) Threads() int        { return 32 * p.warps }
func (p *program) Registers() int      { return p.regs }
func (p *program) Shared() int         { return p.smem }
func (p *program) Code() []*isa.Inst   { return p.infos }
func (p *program) Block(n uint64) exec.Block {
	b := &fakeBlock{p: p, n: n}
	for i := range p.warps {
		w := &fakeWarp{b: b, id: i, live: isa.FullMask, taken: make([]int, len(p.code))}
		for r, v := range p.init {
			w.reg[r] = v
		}
		b.warps = append(b.warps, w)
	}
	return b
}

type fakeBlock struct {
	p     *program
	n     uint64
	warps []*fakeWarp
	came  int
}

func (b *fakeBlock) Index() exec.Dim3 { return exec.Dim3{X: uint32(b.n)} }
func (b *fakeBlock) Linear() uint64   { return b.n }
func (b *fakeBlock) Warps() int       { return len(b.warps) }
func (b *fakeBlock) Warp(i int) exec.Warp {
	if b.p.plain {
		return plainWarp{b.warps[i]}
	}
	return b.warps[i]
}
func (b *fakeBlock) Unblock() bool            { return false }
func (b *fakeBlock) Counts() (uint64, uint64) { return 0, 0 }
func (b *fakeBlock) Release()                 {}

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

// fakeWarp is a warp whose results become visible when the core commits them.
type fakeWarp struct {
	b     *fakeBlock
	id    int
	pc    int
	live  isa.LaneMask
	atBar bool
	taken []int
	reg   [256]float64
	pend  [256]pending
	used  [256]bool
	at    exec.Pending // where the search for a free one starts
	seq   int
}

// pending is an instruction that has issued.
type pending struct {
	in       *inst
	a        [8]float64
	n        int
	value    float64
	accessed bool
	seq      int
}

// plainWarp hides that a warp implements exec.Deferred.
type plainWarp struct{ w *fakeWarp }

func (w plainWarp) Next() (*isa.Inst, isa.LaneMask, uint64, exec.WarpState) { return w.w.Next() }
func (w plainWarp) Step(e *exec.Effects) error                              { return w.w.Step(e) }
func (w plainWarp) Live() isa.LaneMask                                      { return w.w.live }

func (w *fakeWarp) Live() isa.LaneMask { return w.live }

func (w *fakeWarp) Next() (*isa.Inst, isa.LaneMask, uint64, exec.WarpState) {
	switch {
	case w.live == 0:
		return nil, 0, 0, exec.Done
	case w.atBar:
		return nil, 0, 0, exec.AtBarrier
	}
	if g, some := w.b.p.only[w.pc]; some && g != w.id {
		w.pc++
	}
	in := &w.b.p.code[w.pc].Inst
	size := uint64(16)
	if in.Control == nil {
		size = 8
	}
	return in, w.live, size * uint64(w.pc), exec.Ready
}

func (w *fakeWarp) Step(e *exec.Effects) error {
	p, err := w.Issue(e)
	if err != nil || p < 0 {
		return err
	}
	if w.Late(p) {
		if err := w.Access(p, e); err != nil {
			return err
		}
	}
	w.Commit(p)
	return nil
}

// late reports which classes have variable latency in the test executor.
func late(in *isa.Inst) bool {
	switch in.Class {
	case isa.ClassLoad, isa.ClassStore, isa.ClassConstant, isa.ClassAtomic, isa.ClassCopy, isa.ClassMio, isa.ClassSFU, isa.ClassFP64, isa.ClassMiscQ, isa.ClassIntSlow:
		return true
	}
	return in.Class == isa.ClassNone && (in.Load || in.Store)
}

func (w *fakeWarp) Late(p exec.Pending) bool { return late(&w.pend[p].in.Inst) }

func (w *fakeWarp) Issue(e *exec.Effects) (exec.Pending, error) {
	b := w.b
	in := b.p.code[w.pc]
	if g := b.p.rig; g != nil {
		b.p.log = append(b.p.log, issued{b.n, w.id, w.pc, g.cycle})
	}
	*e = exec.Effects{Inst: &in.Inst, Active: w.live, Lanes: w.live &^ in.dead, Space: in.Space}
	w.pc++
	switch {
	case in.Flow == isa.FlowExit && e.Lanes == 0:
		return exec.NoPending, nil
	case in.Flow == isa.FlowExit:
		e.Exited = w.live
		w.live = 0
		b.p.ended = append(b.p.ended, w)
		b.open()
		return exec.NoPending, nil
	case in.Flow == isa.FlowBranch:
		if w.taken[w.pc-1] < in.loop {
			w.taken[w.pc-1]++
			w.pc = int(in.Targets[0])
		}
		return exec.NoPending, nil
	case in.Barrier:
		w.atBar = true
		b.came++
		b.open()
		e.Blocked = w.atBar
		return exec.NoPending, nil
	case in.f == nil && !in.Clock && !late(&in.Inst):
		return exec.NoPending, nil
	}
	p := w.at
	for w.used[p] {
		p = (p + 1) % exec.Pending(len(w.used))
	}
	w.at = (p + 1) % exec.Pending(len(w.used))
	w.used[p] = true
	x := &w.pend[p]
	w.seq++
	*x = pending{in: in, seq: w.seq}
	for _, r := range in.Srcs {
		if r.File == isa.RegGPR && x.n < len(x.a) {
			x.a[x.n] = w.reg[r.Index]
			x.n++
		}
	}
	if in.Clock {
		x.value = float64(b.p.rig.cycle)
	} else if !late(&in.Inst) {
		x.value = in.f(x.a[:x.n])
	}
	return p, nil
}

func (w *fakeWarp) Access(p exec.Pending, e *exec.Effects) error {
	x := &w.pend[p]
	if x.accessed {
		panic("accessed twice")
	}
	x.accessed = true
	*e = exec.Effects{Inst: &x.in.Inst, Active: isa.FullMask, Lanes: isa.FullMask &^ x.in.dead, Space: x.in.Space, Addr: x.in.addr}
	x.value = x.in.mem
	if x.in.f != nil {
		x.value = x.in.f(x.a[:x.n])
	}
	return nil
}

func (w *fakeWarp) Commit(p exec.Pending) {
	x := &w.pend[p]
	if !w.used[p] {
		panic("committed twice")
	}
	w.used[p] = false
	if late(&x.in.Inst) && !x.accessed {
		panic("committed before its access: " + x.in.Op)
	}
	for _, d := range x.in.Dsts {
		if d.File != isa.RegGPR {
			continue
		}
		w.reg[d.Index] = x.value
		// Operands that have not been read yet take the new values of their registers.
		for i := range w.pend {
			q := &w.pend[i]
			if !w.used[i] || q.accessed || q.seq > x.seq || !late(&q.in.Inst) {
				continue
			}
			k := 0
			for _, r := range q.in.Srcs {
				if r.File == isa.RegGPR && k < q.n {
					if r.Index == d.Index {
						q.a[k] = x.value
					}
					k++
				}
			}
		}
	}
}

// rig is a core with a memory of fixed latency.
type rig struct {
	t      testing.TB
	core   *Core
	pool   mem.Pool
	cycle  uint64
	delay  uint64 // from Send to Deliver, in cycles
	flying ring.Ring[inFlight]
	sent   []mem.Req // copies of all requests, if keep is set
	keep   bool
	every  uint64 // the network accepts packets once in this number of cycles; 0: always
	ended  int
	once   bool // run runs programs in one way only
}

type inFlight struct {
	r   *mem.Req
	due uint64
}

func newRig(t testing.TB, cfg Config) *rig {
	t.Helper()
	g := &rig{t: t, delay: 100}
	core, err := New(cfg, 0, Env{
		Pool:    &g.pool,
		HasRoom: func(int) bool { return g.every == 0 || g.cycle%g.every == 0 },
		Send: func(r *mem.Req, _ int) {
			if g.keep {
				g.sent = append(g.sent, *r)
			}
			if r.IsWriteBack() {
				g.pool.Put(r)
				return
			}
			g.flying.Push(inFlight{r, g.cycle + g.delay})
		},
		BlockDone: func(_ core.Kernel, b exec.Block, _ uint64) { g.ended++; b.Release() },
	})
	if err != nil {
		t.Fatal(err)
	}
	g.core = core
	return g
}

// tick delivers the replies that are due and simulates a cycle.
func (g *rig) tick() {
	g.cycle++
	for g.flying.Len() > 0 && g.flying.Front().due <= g.cycle {
		r := g.flying.Front().r
		r.Reply = true
		if !g.core.Deliver(r) {
			break
		}
		g.flying.Pop()
	}
	g.core.Cycle(g.cycle)
}

// run runs the blocks of a program to the end. A program with control bits takes the
// same time whether its results become visible when the core commits them or at once, as
// those of a trace do; on a new core it is run in both ways.
func (g *rig) run(p *program, limit int) {
	g.t.Helper()
	p.rig = g
	k, err := NewKernel(g.core.Config(), p, core.KernelOptions{})
	if err != nil {
		g.t.Fatal(err)
	}
	fresh, from := g.cycle == 0 && !g.once && !p.plain && k.ControlBits, len(p.log)
	g.runKernel(p, k, limit)
	if !fresh {
		return
	}
	q := *p
	q.plain, q.log, q.ended = true, nil, nil
	h := newRig(g.t, *g.core.Config())
	h.delay, h.every = g.delay, g.every
	h.run(&q, limit)
	if log := p.log[from:]; !slices.Equal(log, q.log) {
		i := 0
		for i < len(log) && i < len(q.log) && log[i] == q.log[i] {
			i++
		}
		g.t.Errorf("issue %d with results that are visible at once: %+v; with others: %+v\n%s", i, q.log[i:min(i+1, len(q.log))], log[i:min(i+1, len(log))], dump(p))
	}
}

func (g *rig) runKernel(p *program, k *Kernel, limit int) {
	g.t.Helper()
	next, ended := uint64(0), g.ended
	for range limit {
		g.tick()
		if err := g.core.Err(); err != nil {
			g.t.Fatal(err)
		}
		for next < p.blocks && g.core.CanTake(k) {
			g.core.Launch(k, p.Block(next))
			next++
		}
		if g.ended-ended == int(p.blocks) {
			return
		}
	}
	g.t.Fatalf("not at the end after %d cycles; %d blocks ended, %d requests in flight; states %v", limit, g.ended-ended, g.flying.Len(), g.core.Stats.States)
}

// at returns the cycle of a warp's n-th issue of instruction pc.
func (p *program) at(warp, pc, n int) uint64 {
	for _, x := range p.log {
		if x.warp == warp && x.pc == pc {
			if n == 0 {
				return x.cycle
			}
			n--
		}
	}
	p.rig.t.Helper()
	p.rig.t.Fatalf("warp %d does not issue instruction %d so often", warp, pc)
	return 0
}

// warm returns Ampere with perfect instruction and constant caches.
func warm() Config {
	c := Ampere()
	c.PerfectICache, c.PerfectConst = true, true
	return c
}
