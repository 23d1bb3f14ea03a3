package modern

import (
	"math"
	"testing"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

func fp64(d, a, b int) *inst {
	return mk("DFMA", isa.ClassFP64, d, a, b).does(func(a []float64) float64 { return a[0] })
}

func mufu(d, a int) *inst {
	return mk("MUFU.RCP", isa.ClassSFU, d, a).does(func(a []float64) float64 { return a[0] })
}

// chain returns the cycles between the n-th and the m-th of many copies of an
// instruction, which f makes.
func chain(t *testing.T, cfg Config, n, m int, f func(i int) *inst) uint64 {
	t.Helper()
	var code []*inst
	for i := range m + 2 {
		code = append(code, f(i))
	}
	return distance(t, cfg, n, m, code...)
}

// Rates and latencies of pipes, from the measurements and configurations that Config
// cites.
func TestPipes(t *testing.T) {
	turing := Turing()
	turing.PerfectICache, turing.PerfectConst = true, true
	fmnmx := func(i int) *inst {
		in := mk("FMNMX", isa.ClassFP32, 10+i%8, 2, 3).does(func(a []float64) float64 { return max(a[0], a[1]) })
		in.Kind = isa.KindMax
		return in
	}
	hmma := func(f32 bool, bits uint8) func(i int) *inst {
		return func(i int) *inst {
			in := mk("HMMA.16816", isa.ClassTensor, 40, 8, 12, 40).does(func(a []float64) float64 { return a[2] })
			in.Tensor = &isa.Tensor{M: 16, N: 8, K: 16, Elem: 16, Bits: bits, F32: f32}
			return in
		}
	}
	for _, c := range []struct {
		name string
		cfg  Config
		n    int // instructions
		f    func(i int) *inst
		want uint64 // cycles for n
	}{
		{"FADD on Ampere", warm(), 32, func(i int) *inst { return fadd(10+i%8, 2, 3) }, 32},
		{"FADD on Turing", turing, 32, func(i int) *inst { return fadd(10+i%8, 2, 3) }, 64},
		{"IADD3 on Ampere", warm(), 32, func(i int) *inst { return iadd3(10+i%8, 2, 3) }, 64},
		{"IADD3 and FADD on Turing", turing, 32, func(i int) *inst {
			if i%2 == 0 {
				return iadd3(10+i%8, 2, 3)
			}
			return fadd(20+i%8, 2, 3)
		}, 32},
		// What compares and chooses executes beside the integers.
		{"FMNMX on Ampere", warm(), 32, fmnmx, 64},
		{"FSEL on Ampere", warm(), 32, func(i int) *inst {
			return mk("FSEL", isa.ClassFP32, 10+i%8, 2, 3).does(func(a []float64) float64 { return a[0] })
		}, 64},
		{"FMNMX and FADD on Turing", turing, 32, func(i int) *inst {
			if i%2 == 0 {
				return fmnmx(i)
			}
			return fadd(20+i%8, 2, 3)
		}, 32},
		{"MUFU", warm(), 16, func(i int) *inst { return mufu(10+i%8, 2) }, 16 * 8},
		{"DFMA", warm(), 16, func(i int) *inst { return fp64(10+i%8, 2, 3) }, 16 * 16},
		{"chain of FFMA", warm(), 16, func(i int) *inst { return ffma(10, 10, 3, 5).stall(4) }, 64},
		{"chain of MUFU", warm(), 16, func(i int) *inst { return mufu(10, 10).wr(0).wait(1).stall(2) }, 16 * 17},
		{"chain of DFMA", warm(), 16, func(i int) *inst { return fp64(10, 10, 3).wr(0).wait(1).stall(2) }, 16 * 54},
		// 16·8·16·32/2048 = 32 cycles; the interval on the A6000 is half of that.
		{"HMMA.16816.F32", warm(), 16, hmma(true, 32), 16 * 16},
		// 512 products per cycle and SM on consumer chips, by their data sheets.
		{"HMMA.16816.F16", warm(), 16, hmma(false, 16), 16 * (16 * 8 * 16) / (512 / 4)},
	} {
		if got := chain(t, c.cfg, 10, 10+c.n, c.f); got != c.want {
			t.Errorf("%s: %d instructions in %d cycles, want %d", c.name, c.n, got, c.want)
		}
	}
	geforce := warm()
	geforce.TensorExtra = 16
	if got := chain(t, geforce, 10, 26, hmma(true, 32)); got != 16*32 {
		t.Errorf("HMMA.16816.F32 on a GeForce: 16 instructions in %d cycles, want %d", got, 16*32)
	}
	// NVIDIA's compiler leaves 24 cycles before what depends on an HMMA.16816, whatever its
	// accumulators are, and 16 and 24 after IMMA.16816 and IMMA.16832. On a GeForce, an HMMA
	// with binary32 accumulators holds the pipe longer than that (33 measured, DocumentSASS).
	for _, c := range []struct {
		name  string
		cfg   Config
		shape isa.Tensor
		want  uint64
	}{
		{"HMMA.16816.F16", warm(), isa.Tensor{M: 16, N: 8, K: 16, Elem: 16, Bits: 16}, 24},
		{"HMMA.16816.F32", warm(), isa.Tensor{M: 16, N: 8, K: 16, Elem: 16, Bits: 32, F32: true}, 24},
		{"HMMA.16816.F32 on a GeForce", geforce, isa.Tensor{M: 16, N: 8, K: 16, Elem: 16, Bits: 32, F32: true}, 32},
		{"HMMA.1688.F32.TF32", warm(), isa.Tensor{M: 16, N: 8, K: 8, Elem: 32, Bits: 32, F32: true}, 24},
		{"IMMA.16816.S8.S8", warm(), isa.Tensor{M: 16, N: 8, K: 16, Elem: 8, Bits: 8}, 16},
		{"IMMA.16832.S8.S8", warm(), isa.Tensor{M: 16, N: 8, K: 32, Elem: 8, Bits: 8}, 24},
	} {
		c.cfg.Dependences = Scoreboard
		in := func(i int) *inst {
			in := hmma(true, 32)(i)
			in.Tensor = &c.shape
			return in
		}
		if got := chain(t, c.cfg, 3, 4, in); got != c.want {
			t.Errorf("after %s: %d cycles, want %d", c.name, got, c.want)
		}
	}
}

// An instruction with more sources than fit in the window gets a longer window.
func TestManySources(t *testing.T) {
	in := mk("mma", isa.ClassTensor, 40, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20).does(func(a []float64) float64 { return a[0] })
	if got := distance(t, warm(), 0, 2, in, nop(), nop()); got != 2 {
		t.Errorf("the second instruction after it issues after %d cycles", got)
	}
}

// The four sub-cores share the FP64 unit.
func TestSharedFP64(t *testing.T) {
	var code []*inst
	for i := range 24 {
		code = append(code, fp64(10+i%8, 2, 3))
	}
	p := prog(append(code, exit())...)
	p.warps = 4
	newRig(t, warm()).run(p, 5000)
	if got := p.at(0, 20, 0) - p.at(0, 10, 0); got != 10*64 {
		t.Errorf("10 DFMAs of each of four sub-cores take %d cycles, want 640", got)
	}
}

// ext_rtx4090_maxflops_float: FFMA R0,R1,R2,R0 takes two cycles, because two sources
// share a bank. A second port makes it faster; without reuse bits the register-file
// cache makes no difference.
func TestMaxFlops(t *testing.T) {
	run := func(cfg Config) float64 {
		var code []*inst
		for range 512 {
			code = append(code, ffma(0, 1, 2, 0).stall(4))
		}
		p := prog(append(code, exit())...)
		p.warps = 32
		newRig(t, cfg).run(p, 20_000)
		first, last := uint64(math.MaxUint64), uint64(0)
		for _, x := range p.log {
			if x.warp%4 == 0 {
				first, last = min(first, x.cycle), max(last, x.cycle)
			}
		}
		return float64(last-first) / (8 * 512)
	}
	base := run(warm())
	if base < 2 || base > 2*1.02 {
		t.Errorf("%.3f cycles per FFMA, the bound is 2", base)
	}
	off := warm()
	off.RFC = false
	if got := run(off); got < base*0.995 || got > base*1.005 {
		t.Errorf("without the register-file cache: %.3f cycles per FFMA, with it %.3f", got, base)
	}
	two := warm()
	two.Ports = 2
	if got := base / run(two); got < 1.4 || got > 2.05 {
		t.Errorf("with two read ports %.2f times as fast", got)
	}
}

// With reuse bits an inner product reads one source of each instruction from the
// register-file cache.
func TestReuseBits(t *testing.T) {
	f := func(i int) *inst { return ffma(20+i%8, 2, 4+i%4*2, 20+i%8).reuse(1) }
	on := chain(t, warm(), 10, 40, f)
	cfg := warm()
	cfg.RFC = false
	if off := chain(t, cfg, 10, 40, f); on*5 > off*4 {
		t.Errorf("%d cycles with the register-file cache, %d without", on, off)
	}
}

// Bank conflicts in shared memory: one pass for each word that one bank must supply.
func TestSharedConflicts(t *testing.T) {
	for _, c := range []struct {
		bits   int
		stride uint64
		more   uint64
	}{{32, 4, 0}, {32, 0, 0}, {32, 8, 1}, {32, 16, 3}, {32, 128, 31}, {64, 8, 0}, {64, 16, 2}, {128, 16, 0}, {128, 32, 4}} {
		in := ld(isa.Shared, c.bits, 8, 2).wr(0).stall(2)
		in.addr = strided(0, c.stride)
		base := map[int]uint64{32: 23, 64: 23, 128: 25}[c.bits]
		if got := distance(t, warm(), 0, 1, in, nop().wait(1)); got != base+c.more {
			t.Errorf("%d bits, %d bytes apart: %d cycles, want %d", c.bits, c.stride, got, base+c.more)
		}
	}
}

// A load of 32 lines expands one line per cycle.
func TestUncoalesced(t *testing.T) {
	in := func() *inst {
		x := ld(isa.Global, 32, 8, 2).wr(0).stall(2)
		x.addr = strided(0, 128)
		return x
	}
	if got := distance(t, warm(), 2, 3, in(), nop().wait(1), in(), nop().wait(1)); got != 31+31 {
		t.Errorf("a load of 32 lines that hit: %d cycles, want 62", got)
	}
	g := newRig(t, warm())
	g.keep = true
	p := prog(in(), nop().wait(1), exit())
	g.run(p, 5000)
	if len(g.sent) != 32 {
		t.Errorf("%d requests for 32 lines", len(g.sent))
	}
	for _, r := range g.sent {
		if r.Size != 32 || r.Addr%128 != 0 || r.Write {
			t.Errorf("request %+v", r)
		}
	}
}

// Stores are acknowledged before a memory barrier ends.
func TestFence(t *testing.T) {
	for _, c := range []struct {
		name string
		want uint64 // at least
	}{{"MEMBAR.SC.CTA", 53}, {"MEMBAR.SC.GPU", 186}, {"MEMBAR.SC.SYS", 2900}} {
		f := mk(c.name, isa.ClassFence, -1)
		if got := distance(t, warm(), 0, 1, f, nop()); got != c.want {
			t.Errorf("%s without stores: %d cycles, want %d", c.name, got, c.want)
		}
	}
	cfg := warm()
	p := prog(st(isa.Global, 32, 2, 4), mk("MEMBAR.SC.CTA", isa.ClassFence, -1), nop(), exit())
	g := newRig(t, cfg)
	g.delay = 1000
	g.run(p, 5000)
	if got := p.at(0, 2, 0) - p.at(0, 0, 0); got < 1000 {
		t.Errorf("a store that is acknowledged after 1000 cycles: the barrier ends after %d", got)
	}
}

// Groups of asynchronous copies end in order and decrement their counter.
func TestCopyGroups(t *testing.T) {
	copyOf := func(at uint64) *inst {
		in := ld(isa.Global, 128, 8, 2)
		in.Op, in.Class, in.Dsts = "LDGSTS.E.128", isa.ClassCopy, nil
		in.Async = asyncStart
		in.addr = strided(at, 16)
		return in.stall(2)
	}
	commit := func() *inst { return closeGroup().wr(0).stall(2) }
	// The first group misses; the second requests nothing and would be complete sooner.
	p := prog(copyOf(0x1000), commit(), copyOf(0x9000), commit(), waitSB(0, 1).stall(4), nop(), waitSB(0, 0).stall(4), nop(), exit())
	g := newRig(t, warm())
	g.delay = 300
	g.run(p, 5000)
	first, second := p.at(0, 5, 0)-p.at(0, 0, 0), p.at(0, 7, 0)-p.at(0, 2, 0)
	if first < 300 || first > 400 || second < 300 || second > 400 {
		t.Errorf("the groups are complete %d and %d cycles after their copies", first, second)
	}
	if got := distance(t, warm(), 0, 2, commit(), waitSB(0, 0).stall(4), nop()); got > 10 {
		t.Errorf("an empty group takes %d cycles", got)
	}
}

// Atomics go to the L2; lanes on one address are serialised.
func TestAtomics(t *testing.T) {
	in := ld(isa.Global, 32, 8, 2).wr(0).stall(2)
	in.Op, in.Class, in.Atomic, in.Store = "ATOMG.E.ADD", isa.ClassAtomic, true, true
	in.addr = strided(0x1000, 0)
	g := newRig(t, warm())
	g.keep = true
	p := prog(in, nop().wait(1), exit())
	g.run(p, 5000)
	if len(g.sent) != 32 {
		t.Errorf("%d requests for 32 lanes on one address", len(g.sent))
	}
	for _, r := range g.sent {
		if !r.Atomic || !r.L2Only || r.Lanes.Count() != 1 {
			t.Errorf("request %+v", r)
		}
	}
}

// The stream buffer: longer is faster on straight-line code, and 8 lines are close to a
// perfect cache if several warps share the code.
func TestPrefetch(t *testing.T) {
	run := func(n int, perfect bool) uint64 {
		cfg := Ampere()
		cfg.Prefetch, cfg.PerfectICache = n, perfect
		var code []*inst
		for i := range 2000 {
			code = append(code, fadd(10+i%8, 2, 3))
		}
		p := prog(append(code, exit())...)
		p.warps = 16
		newRig(t, cfg).run(p, 200_000)
		return p.log[len(p.log)-1].cycle
	}
	ideal := run(0, true)
	last := uint64(math.MaxUint64)
	for _, n := range []int{0, 1, 2, 4, 8, 16, 32} {
		got := run(n, false)
		t.Logf("stream buffer of %d: %d cycles", n, got)
		if got > last {
			t.Errorf("a stream buffer of %d lines: %d cycles, a shorter one %d", n, got, last)
		}
		last = got
	}
	t.Logf("perfect: %d cycles", ideal)
}

// A taken branch leaves three cycles without issue.
func TestBranch(t *testing.T) {
	p := prog(nop(), nop(), bra(0, 3), exit())
	newRig(t, warm()).run(p, 500)
	if got := p.at(0, 0, 1) - p.at(0, 2, 0); got != 4 {
		t.Errorf("the target issues %d cycles after the branch, want 4", got)
	}
}

// The storage of the dependence mechanisms (Table 7).
func TestStorage(t *testing.T) {
	c := Ampere()
	if s := c.Guard(true); s.Warp != 41 || s.SM != 1968 || math.Abs(s.Percent-0.09) > 0.005 {
		t.Errorf("control bits: %+v", s)
	}
	for n, want := range map[int]float64{1: 1.52, 3: 2.28, 63: 5.32} {
		c.Consumers = n
		if s := c.Guard(false); math.Abs(s.Percent-want) > 0.005 {
			t.Errorf("%d consumers: %+v, want %v %%", n, s, want)
		}
	}
}

// The stages of every instruction are in order.
func TestLog(t *testing.T) {
	g := newRig(t, Ampere())
	var list []core.Record
	g.core.Log(func(l []core.Record) { list = append(list, l...) })
	p := mixed(2)
	g.run(p, 100_000)
	g.core.FlushLog()
	if uint64(len(list)) != g.core.Stats.WarpInsts {
		t.Errorf("%d records of %d instructions", len(list), g.core.Stats.WarpInsts)
	}
	for i := range list {
		r := &list[i]
		at := uint64(0)
		for j, x := range r.Times[:stages] {
			if x < at {
				t.Fatalf("instruction %d: stage %d in cycle %d, but the previous stage in %d: %+v", r.At, j, x, at, *r)
			}
			at = x
		}
		if x := &r.Times; x[stageFetch] == 0 || x[stageIssue] < x[stageFetch]+fetchStages || x[stageControl] != x[stageIssue]+1 {
			t.Fatalf("instruction %d: %+v", r.At, *r)
		}
	}
}

// Programs that the core cannot run are refused.
func TestRefused(t *testing.T) {
	cfg := Ampere()
	cfg.Dependences = ControlBits
	some := prog(nop(), exit())
	some.code[0].Control = nil
	none := prog(nop(), exit())
	none.code[0].Control, none.code[1].Control = nil, nil
	wrong := prog(nop().wr(6), exit())
	big := prog(nop(), exit())
	big.smem = 1 << 20
	for i, p := range []*program{some, none, wrong, big} {
		_, err := NewKernel(&cfg, p, core.KernelOptions{})
		if _, ok := err.(*exec.LaunchError); !ok {
			t.Errorf("program %d: %v", i, err)
		}
	}
	cfg.Dependences = Hybrid
	if k, err := NewKernel(&cfg, none, core.KernelOptions{}); err != nil || k.ControlBits {
		t.Errorf("hybrid, without control bits: %v", err)
	}
}

func TestConfigCheck(t *testing.T) {
	for _, c := range []Config{Ampere(), Turing()} {
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
	for i, f := range []func(c *Config){
		func(c *Config) { c.Warps = 65 }, func(c *Config) { c.Buffer = 0 }, func(c *Config) { c.Time[isa.ClassInt].Pipe = Memory },
		func(c *Config) { c.L0I.Line = 100 }, func(c *Config) { c.Load.RegularRAW[0] = 5 }, func(c *Config) { c.L1D.Sets = 0 },
		func(c *Config) { c.LinkUp = 1 << 20 }, func(c *Config) { c.Window = 0 }, func(c *Config) { c.SharedBanks = 33 },
	} {
		c := Ampere()
		f(&c)
		_, err := New(c, 0, Env{Pool: nil})
		if err == nil || c.Check() == nil && i != 5 {
			t.Errorf("change %d is not refused", i)
		}
	}
}

// Results that are far in the future, after thousands of passes through shared memory,
// arrive on time: one pass per cycle.
func TestPassesAddUp(t *testing.T) {
	const warps, loads, ways = 32, 16, 32
	for _, table := range []int{128, 4096} {
		var code []*inst
		for i := range loads {
			in := ld(isa.Shared, 32, 8+i, 2)
			in.addr = strided(0, 4*32)
			code = append(code, in)
		}
		p := prog(append(code, exit())...)
		p.warps, p.smem = warps, 1<<13
		cfg := warm()
		cfg.PRT = table
		g := newRig(t, cfg)
		g.once = true
		g.run(p, 100_000)
		if least, most := uint64(warps*loads*ways), uint64(warps*loads*ways+100); g.cycle < least || g.cycle > most {
			t.Errorf("%d entries: %d loads of %d passes each end after %d cycles", table, warps*loads, ways, g.cycle)
		}
	}
}

// With every latency of loads, the instructions that wait for them continue.
func TestLeastLatencies(t *testing.T) {
	for _, mode := range []Dependences{ControlBits, Scoreboard} {
		cfg := warm()
		cfg.Dependences, cfg.Texture, cfg.AddressStart, cfg.AddressCycles = mode, 2, 3, 1
		for _, a := range cfg.accesses() {
			if a.raw != nil {
				*a.raw = 6 // the minimum that Check accepts
			}
		}
		tex := ld(isa.Texture, 32, 8, 2).wr(0).stall(2)
		tex.Op, tex.Class = "TEX", isa.ClassTexture
		p := prog(tex, ld(isa.Global, 32, 9, 2).wr(1).stall(2), ld(isa.Shared, 32, 10, 2).wr(2).stall(2), ldc(11, 2).wr(3).stall(2),
			mk("S2R", isa.ClassMio, 12).wr(4).stall(2), iadd3(13, 8, 9, 10).wait(31), iadd3(14, 11, 12), exit())
		p.smem = 256
		newRig(t, cfg).run(p, 3000)
	}
}

// Instructions that have begun to request lines from the L1D have at most as many lines
// as it has ways, except for a single instruction.
func TestLinesInProgress(t *testing.T) {
	for _, c := range []struct{ each, ways, most int }{{1, 4, 4}, {2, 4, 4}, {3, 4, 3}, {8, 4, 8}, {8, 256, 128}} {
		var code []*inst
		for i := range 4 {
			in := ld(isa.Global, 32, 8+2*i, 2)
			in.addr = strided(uint64(0x10000*(i+1)), uint64(128*c.each/32))
			code = append(code, in)
		}
		p := prog(append(code, exit())...)
		p.warps = 4
		cfg := warm()
		cfg.L1D.Ways = c.ways
		g := newRig(t, cfg)
		g.delay, g.once = 400, true
		k, err := NewKernel(g.core.Config(), p, core.KernelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p.rig = g
		g.core.Launch(k, p.Block(0))
		most := 0
		for range 40_000 {
			g.tick()
			most = max(most, g.core.ls.lines)
		}
		if most != c.most || g.core.ls.lines != 0 || g.core.ls.prt != 0 || g.ended != 1 {
			t.Errorf("%d lines each, %d ways: %d at a time, want %d; at the end %d in %d entries", c.each, c.ways, most, c.most, g.core.ls.lines, g.core.ls.prt)
		}
	}
}
